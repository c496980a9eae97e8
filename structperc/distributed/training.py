"""Training on more than one machine: shards on Dask's workers, weights at the caller, mixed after each epoch.

Every round each shard makes one pass from the weights w, and answers by how much it has changed which rows of them (`Weights.changes`).
A pass is a function of w, the shard's data, the seed and the number of the epoch alone. So a worker may die at any time: its shards are
read and trained again elsewhere, and the result has the same bits. Shards live on workers as long as the caller holds the futures of their
slots; nobody waits for a worker to let go of them.
"""

from __future__ import annotations

import pickle

import numpy as np

from structperc.core.errors import OptionError
from structperc.core.loop import PassResult
from structperc.distributed.messages import Parcel, blueprint_of, with_zeros, without_zeros
from structperc.distributed.parts import Loader, first_of, joined, parts_of
from structperc.distributed.workers import Slot, empty, same, survey, train_shard, wanted
from structperc.engine.context import SHARDS_ELSEWHERE
from structperc.engine.shards import ShardPass
from structperc.extras import require

__all__ = ["fit"]

LOOKS_AT_ALL = {"scale": False, "calibrate": False, "class_weight": None}       # options that need all examples, and their other values


def fit(model, X, y=None, *, sample_weight=None, client=None, read=None, stream=False, dtype="float32", resume=False):
    """Trains an engine or an estimator on data in parts, shard by shard on Dask's workers.

    Shard i is made of the parts len(parts) * i // n_shards to len(parts) * (i + 1) // n_shards, in their order. Labels that `classes` does
    not name, and names of features that are not hashed (`n_hashed`), are learned from all parts by a pass of the workers before the
    training; so is the mean of sample weights with `weighting="visits"`. What a table reader learns of columns, it learns from the first
    part, which the caller reads.

    Parameters
    ----------
    model : Engine, or estimator of `structperc.estimators`
        With `n_shards`, at most the number of parts. Observers and checkpoints act as in `Engine.fit`.
    X : dask array, data frame or bag; pattern of files; or list of parts
        Chunks of rows, partitions and files are parts. In a list a part is a pair (X, y), a dict of arguments of `fit`, a
        `structperc.files.tables.Table`, a delayed object of these, or what `read` takes, such as the name of a file.
    y, sample_weight : dask array, series or bag, optional
        In the same parts as X.
    client : distributed.Client or str, optional
        Or the address of a scheduler. Without one all is done by this process, with the same bits.
    read : function of a part, optional
        Answers with a part as of a list; called by the worker that trains the shard, and again wherever it is trained again.
        `functools.partial(read_csv, target="level")` reads files. An iterator or sequence of parts is a part too, as of
        `functools.partial(stream_parquet, target="level", rows=65536)`; in a sequence, such as `structperc.streams.Slices`, parts have
        numbers.
    stream : bool, default False
        Whether each pass reads the data anew, piece by piece, in place of keeping them in the memory of workers: a piece is a part, or a
        part of it that `read` answers with. In the order of the data the bits are the same. With shuffle=True the parts, the pieces of a
        sequence and the examples of each piece come in random orders.
    dtype : {"float32", "float64"}, default "float32"
        What changes are rounded to on their way. "float64" gives the bits of `Engine.fit` with as many shards of the same sizes.
    resume : bool, default False
        As in `Engine.fit`, of engines: go on from the checkpoint among the engine's plugins.

    Returns
    -------
    The model
        A failure or Ctrl-C leaves it with what the last round has learned, or as it was before the first.

    Raises
    ------
    OptionError, DataError, MissingExtra, and what reading or training a shard raises.

    Notes
    -----
    A round sends the weights that changed in the last one to each shard, and receives those that each shard has changed: 4 bytes each, 8
    back with averages; and for each row of weights with a change 4 bytes and a bit of each weight.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc import Engine
    >>> from structperc.distributed import fit
    >>> X = np.arange(-6.0, 6.0)[:, None]
    >>> parts = [(X[::2], X[::2, 0] > 0), (X[1::2], X[1::2, 0] > 0)]
    >>> fit(Engine("multiclass", n_shards=2, epochs=20), parts).predict([[-3.0], [4.0]]).tolist()
    [False, True]
    """
    if dtype not in ("float32", "float64"):
        raise OptionError(f"dtype={dtype!r}; expected 'float32' or 'float64'.")
    parts = parts_of(X, y, sample_weight)
    if not 2 <= model.n_shards <= len(parts):
        raise OptionError(f"the model has n_shards={model.n_shards}, and the data have {len(parts)} parts; expected from 2 shards to as "
                          f"many as there are parts, as by n_shards={max(len(parts), 2)}.")
    if isinstance(client, str):
        with require("distributed", "training on workers", "dask").Client(client) as connected:
            return fit(model, parts, client=connected, read=read, stream=stream, dtype=dtype, resume=resume)
    workers = Workers(client)
    loaders = [Loader(part, read) for part in parts]
    first = first_of(loaders[0], stream) if loaders[0].in_memory else workers.map(first_of, loaders[:1], [stream])[0]
    engine, surveys, loaders = engine_of(model, first), None, list(map(Parcel, loaders))
    if wanted(engine, first):
        blueprint = workers.kept(blueprint_of(engine, workers.dumps))
        surveys = workers.map(survey, [blueprint] * len(loaders), loaders)
        first = joined([first, *(one.strangers for one in surveys if one.strangers is not None)])
    shares = [(one, stream, weighed_in(surveys)) for one in divided(loaders, model.n_shards)]
    token = SHARDS_ELSEWHERE.set(lambda run, seed: RemoteShards(run, seed, shares, workers, np.dtype(dtype)))
    try:
        return model.fit(**first, **({"resume": True} if resume else {}))
    finally:
        SHARDS_ELSEWHERE.reset(token)


class Asked(Exception):
    """Ends a training before it begins.

    Attributes
    ----------
    engine : bytes
        The engine that trains, with what it knows of the data.
    """

    def __init__(self, engine):
        self.engine = engine


def engine_of(model, data):
    """The engine that trains this model, with what it knows of these data; options that no machine could heed are refused."""
    def ask(run, seed):
        for name, without in LOOKS_AT_ALL.items():
            value = getattr(run.engine, name)
            if value:
                raise OptionError(f"{name}={value!r} looks at all examples, and no machine has them all; set {name}={without}.")
        raise Asked(blueprint_of(run.engine, pickle.dumps))

    token = SHARDS_ELSEWHERE.set(ask)
    try:
        model.fit(**data)
    except Asked as asked:
        return pickle.loads(asked.engine)
    finally:
        SHARDS_ELSEWHERE.reset(token)


def divided(loaders, n_shards) -> list:
    """Those of each shard."""
    n = len(loaders)
    return [loaders[n * i // n_shards:n * (i + 1) // n_shards] for i in range(n_shards)]


def weighed_in(surveys) -> tuple:
    """How many examples have a weight, and the sum of their weights."""
    return sum(one.n_weighed for one in surveys or ()), sum(one.weight for one in surveys or ())


class Workers:
    """The workers of a client, or this process in their place."""

    def __init__(self, client):
        self.client = client
        self.dumps = pickle.dumps if client is None else require("distributed.protocol.pickle", "training on workers", "dask").dumps

    def submit(self, function, *arguments):
        """The future of an answer, or the answer of this process.

        No task names its worker. One that does waits for it for ever where it was submitted while there was no worker at all, even with
        `allow_other_workers`: Dask asks of each new worker whether it has the name.
        """
        return function(*arguments) if self.client is None else self.client.submit(function, *arguments, pure=False)

    def gathered(self, futures) -> list:
        """Answers, in the order of their futures."""
        if self.client is None:
            return futures
        try:
            return self.client.gather(futures)
        except BaseException:               # the others' work is of no use any more
            self.client.cancel(futures)
            raise

    def release(self, futures):
        """Lets workers free what these stand for; tracebacks may hold the futures for long."""
        if self.client is not None:
            for future in futures:
                future.release()

    def map(self, function, *arguments) -> list:
        """The function's answers, in order."""
        return self.gathered([self.submit(function, *one) for one in zip(*arguments, strict=True)])

    def kept(self, value):
        """A value that workers hand to each other, and make again where one of them dies."""
        return self.submit(same, value)


class RemoteShards:
    """Shards of workers; the methods are those of `structperc.engine.shards.LocalShards`.

    Parameters
    ----------
    run : TrainingRun
        Of the first part and the examples that show all labels and features.
    seed : int
    shares : list
        For each shard what `HeldShard` is made of.
    workers : Workers
    dtype : dtype
    """

    def __init__(self, run, seed, shares, workers, dtype):
        if run.online is not None:
            raise OptionError("keep_online=True keeps predictions where the examples are; leave it out.")
        self.run, self.seed, self.shares, self.workers, self.dtype = run, seed, shares, workers, dtype
        self.changes = None
        run.model.column_sums = None        # those of the first part, and no machine sees all rows
        self.blueprint = blueprint_of(run.engine, workers.dumps)
        self.slots = {}             # of each shard, on workers

    def train(self, weights, epoch):
        """Every shard's pass from these weights, a list of `ShardPass`."""
        answers = self.ask(self.slots, epoch, ("changes", self.changes))
        missing = [i for i in range(len(self.shares)) if answers.get(i) is None]        # new, or lost with their worker
        if missing:
            self.slots.update({i: self.workers.submit(Slot) for i in missing})
            answers.update(self.ask(missing, epoch, ("all", self.all_of(weights))))
        nothing = np.zeros(0, dtype=np.int64)
        return [ShardPass(result(counts), with_zeros(changes), nothing) for _, (counts, changes) in sorted(answers.items())]

    def ask(self, numbers, epoch, news):
        """The answers of `train_shard` for the shards of these numbers."""
        common = epoch, self.seed, bool(self.run.context.shuffle), self.dtype, news
        futures = []
        for i in numbers:
            share = (self.blueprint, *self.shares[i]) if news[0] == "all" else ()           # data travel once
            # the slot is the only future among the arguments, so that Dask runs the pass where it is
            futures.append(self.workers.submit(train_shard, self.slots[i], i, share, *common))
        return dict(zip(numbers, self.workers.gathered(futures), strict=True))

    def all_of(self, weights):
        """What makes weights that are 0 those of now."""
        return without_zeros({**weights.changes(empty(self.run.model)), "sums": None})

    def finished(self):
        """Nothing: a round that Ctrl-C has cut short is not mixed."""
        return []

    def mixed(self, changes):
        """Takes the changes from the weights of the last round to those of the next."""
        self.changes = without_zeros({**changes, "sums": None})

    def end(self):
        """Nobody asks these shards any more."""
        self.workers.release(self.slots.values())
        self.slots.clear()


def result(counts):
    passed = PassResult()
    passed.visited, passed.mistakes, passed.updates, passed.loss = counts
    return passed
