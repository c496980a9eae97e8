"""Training on more than one machine: shards on Dask's workers, weights at the caller, mixed after each epoch.

Every round each shard makes one pass from the weights w, and returns by how much it has changed which rows of them
(`structperc.core.weights.Sharding`).
A pass is a function of w, the shard's data, the seed and the number of the epoch alone. So a worker may die at any time: its shards are
read and trained again elsewhere, and the result has the same bits. Shards live on workers as long as the caller holds the futures of their
slots; nobody waits for a worker to let go of them.
"""

from __future__ import annotations

import functools
import operator
import pickle
from contextlib import contextmanager

import numpy as np

from structperc.core.column_sums import ColumnSums
from structperc.core.errors import OptionError
from structperc.core.loop import PassResult
from structperc.distributed.messages import Parcel, blueprint_of, with_zeros, without_zeros
from structperc.distributed.parts import Loader, first_of, joined, parts_of
from structperc.distributed.workers import Slot, empty, learns, needs_totals, run_of, same, sampled, strangers, totals, train_shard
from structperc.engine.context import SHARDS_ELSEWHERE
from structperc.engine.shards import ShardPass
from structperc.extras import require

__all__ = ["fit"]


def fit(model, X, y=None, *, sample_weight=None, client=None, read=None, stream=False, dtype="float32", resume=False):
    """Trains an engine or an estimator on data in parts, shard by shard on Dask's workers.

    Shard i is made of the parts len(parts) * i // n_shards to len(parts) * (i + 1) // n_shards, in their order. Labels that `classes` does
    not name, and names of features that are not hashed (`n_hashed`), are learned from all parts by a pass of the workers before the
    training. Another pass finds what `scale`, `class_weight="balanced"` and `weighting="visits"` need of all examples. A temperature
    (`calibrate`) is that of some training examples, or of one more training without a fifth of each piece. What a table reader learns of
    columns, it learns from the first part, which the caller reads.

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
        Whether each pass reads the data anew, piece by piece, instead of keeping them in the memory of workers: a piece is a part, or a
        part of it that `read` returns. In the order of the data the bits are the same. With shuffle=True the parts, the pieces of a
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
    engine, loaders = engine_of(model, first), list(map(Parcel, loaders))
    if learns(engine, first):
        blueprint = workers.kept(blueprint_of(engine, workers.dumps))
        found = [one for one in workers.map(strangers, [blueprint] * len(loaders), loaders) if one is not None]
        if found:
            first = joined([first, *found])
            engine = engine_of(model, first)
    known = None
    if needs_totals(engine, first):
        blueprint = workers.kept(blueprint_of(engine, workers.dumps))
        known = functools.reduce(operator.add, workers.map(totals, [blueprint] * len(loaders), loaders))
    token = SHARDS_ELSEWHERE.set(Elsewhere(loaders, model.n_shards, stream, workers, np.dtype(dtype), engine, known))
    try:
        return model.fit(**first, **({"resume": True} if resume else {}))
    finally:
        SHARDS_ELSEWHERE.reset(token)


class Elsewhere:
    """The examples of a training that are with workers: what it asks of them.

    Parameters
    ----------
    loaders : list of Parcel
        Of a `Loader` each.
    n_shards : int
    stream : bool
    workers : Workers
    dtype : dtype
    engine : Engine
        Which knows all labels and names of features.
    known : Totals or None

    Attributes
    ----------
    n_examples : int
        Visited in the last round of all shards.
    """

    def __init__(self, loaders, n_shards, stream, workers, dtype, engine, known):
        self.loaders, self.n_shards, self.stream, self.workers, self.dtype = loaders, n_shards, stream, workers, dtype
        self.scaling = None if known is None else known.scaling
        self.class_weight = engine.class_weight if known is None else known.class_weight(engine)
        self.visit_totals = (0, 0.0) if known is None else known.visit_totals(engine)
        self.left_out, self.n_examples = 0, 0

    def shards(self, run, seed):
        """The shards of a run, as `MixingTrainer` uses them."""
        if run.online is not None:
            raise OptionError("record_predictions=True keeps predictions where the examples are; leave it out.")
        return RemoteShards(run, seed, self)

    @contextmanager
    def leaving_out(self, n):
        """Within the block the last of each n examples of a piece is as if it were absent."""
        self.left_out = n
        try:
            yield
        finally:
            self.left_out = 0

    def sample(self, engine, model, left_out, most):
        """A run of about so many of the examples that were left out, or with left_out=1 of all; None: there are none."""
        every, n = max(1, self.n_examples // (left_out * most)), len(self.loaders)
        found = [one for part in self.workers.map(sampled, self.loaders, [left_out] * n, [every] * n) for one in part]
        return run_of(engine, model, joined(found), self.class_weight) if found else None


class Asked(Exception):
    """Ends a training before it begins.

    Attributes
    ----------
    engine : bytes
        The engine that trains, with what it knows of the data.
    """

    def __init__(self, engine):
        self.engine = engine


class Asking:
    """In place of `Elsewhere`: ends a training where it would begin."""

    def shards(self, run, seed):
        raise Asked(blueprint_of(run.engine, pickle.dumps))


def engine_of(model, data):
    """The engine that trains this model, with what it knows of these data."""
    token = SHARDS_ELSEWHERE.set(Asking())
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
    elsewhere : Elsewhere
    """

    def __init__(self, run, seed, elsewhere):
        self.run, self.seed, self.elsewhere = run, seed, elsewhere
        self.workers, self.dtype = elsewhere.workers, elsewhere.dtype
        self.shares = [(one, elsewhere.stream, elsewhere.visit_totals, elsewhere.left_out)
                       for one in divided(elsewhere.loaders, elsewhere.n_shards)]
        self.changes = None
        run.model.column_sums = None                    # what the first part alone has shown
        if run.model.scaling is not None:
            run.model.scaling = elsewhere.scaling
        self.blueprint = blueprint_of(run.engine, self.workers.dumps, class_weight=elsewhere.class_weight)
        self.slots = {}             # of each shard, on workers

    def train(self, weights, epoch):
        """Every shard's pass from these weights, a list of `ShardPass`."""
        answers = self.ask(self.slots, epoch, ("changes", self.changes))
        missing = [i for i in range(len(self.shares)) if answers.get(i) is None]        # new, or lost with their worker
        if missing:
            self.slots.update({i: self.workers.submit(Slot) for i in missing})
            answers.update(self.ask(missing, epoch, ("all", self.all_of(weights))))
        answers, nothing = [answers[i] for i in range(len(self.shares))], np.zeros(0, dtype=np.int64)
        self.elsewhere.n_examples = sum(counts[0] for counts, _, _ in answers)
        self.add_up([sums for _, _, sums in answers])
        return [ShardPass(result(counts), with_zeros(changes), nothing) for counts, changes, _ in answers]

    def add_up(self, sums) -> None:
        """In the first round the model learns the columns' sums from those of all shards."""
        if self.changes is None and all(one is not None for one in sums):
            self.run.model.column_sums = functools.reduce(ColumnSums.joined, sums)

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
        return without_zeros({**weights.sharding().delta(empty(self.run.model)), "sums": None})

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
