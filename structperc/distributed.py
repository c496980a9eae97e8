"""Training on more than one machine: shards on Dask's workers, weights at the caller, mixed after each epoch.

Every round each shard makes one pass from the weights w, and answers by how much it has changed which rows of them (`Weights.changes`).
A pass is a function of w, the shard's data, the seed and the number of the epoch alone. So a worker may die at any time: its shards are
read and trained again elsewhere, and the result has the same bits.
"""

from __future__ import annotations

import pickle
import sys
import threading
import uuid
from contextlib import suppress

import numpy as np

from structperc.core.errors import DataError, OptionError
from structperc.core.loop import PassResult
from structperc.engine.compatibility import check_same
from structperc.engine.run import TrainingRun
from structperc.engine.shards import Shard, ShardPass
from structperc.extras import require

__all__ = ["fit"]

HELD = {}               # on a worker: what it keeps of its shards from round to round


def fit(engine, X, y=None, *, client=None, read=None, dtype="float32", resume=False):
    """Trains an engine on data in parts, shard by shard on Dask's workers.

    Shard i is made of the parts len(parts) * i // n_shards to len(parts) * (i + 1) // n_shards, in their order. The model knows the
    columns, names and labels of the first part alone, which is read by the caller: hash named features (`n_hashed`), and name all labels
    by `classes` where the first part lacks one.

    Parameters
    ----------
    engine : Engine
        With `n_shards`, at most the number of parts. Observers and checkpoints act as in `Engine.fit`.
    X : dask array, data frame or bag; or list of parts
        Chunks of rows or partitions are parts. In a list a part is a pair (X, y), a delayed object of one, or what `read` takes, such as
        the name of a file.
    y : dask array, series or bag, optional
        In the same parts as X.
    client : distributed.Client, optional
        Without one all is done by this process, with the same bits.
    read : function of a part, optional
        Answers with a pair (X, y); called by the worker that trains the shard, and again wherever it is trained again.
    dtype : {"float32", "float64"}, default "float32"
        What changes are rounded to on their way. "float64" gives the bits of `Engine.fit` with as many shards of the same sizes.
    resume : bool
        As in `Engine.fit`: go on from the checkpoint among the engine's plugins.

    Returns
    -------
    Engine
        The same. A failure or Ctrl-C leaves it with the model of the last round, or as it was before the first.

    Raises
    ------
    OptionError, DataError, and what reading or training a shard raises.

    Notes
    -----
    A round sends the rows that changed in the last one to each worker, and receives those that each shard has changed: 4 bytes a weight,
    8 with averages.

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
    for name in ("scale", "calibrate", "class_weight"):
        if getattr(engine, name):
            raise OptionError(f"{name}={getattr(engine, name)!r} looks at all examples, and no machine has them all; leave it out.")
    parts = parts_of(X, y)
    if not 2 <= engine.n_shards <= len(parts):
        raise OptionError(f"the engine has n_shards={engine.n_shards}, and the data have {len(parts)} parts; expected from 2 shards to as "
                          f"many as there are parts, as by Engine(..., n_shards={max(len(parts), 2)}).")
    loaders = [Loader(part, read) for part in parts]
    first = loaders[0]() if client is None else client.submit(call, loaders[0], pure=False).result()
    n, m = len(parts), engine.n_shards
    shards = [loaders[n * i // m:n * (i + 1) // m] for i in range(m)]
    engine.shards_elsewhere = lambda run, seed: RemoteShards(run, seed, shards, client, np.dtype(dtype))
    try:
        return engine.fit(*first, resume=resume)
    finally:
        engine.shards_elsewhere = None


class Loader:
    """Reads one part, wherever it is called."""

    def __init__(self, part, read):
        self.part, self.read = part, read

    def __call__(self):
        part = self.part
        if hasattr(part, "__dask_graph__"):
            part = part.compute(scheduler="synchronous")
        if self.read is not None:
            part = self.read(part)
        if not isinstance(part, (tuple, list)) or len(part) != 2:
            raise DataError(f"a part is a {type(part).__name__}; expected a pair (X, y), or read= that makes one of it.")
        return tuple(list(one) if not hasattr(one, "__len__") else one for one in part)


def parts_of(X, y) -> list:
    """The parts of dask's collections, or of a list."""
    if not hasattr(X, "to_delayed"):
        if y is not None:
            raise DataError("y goes with X where both are dask's arrays, frames or bags; of a list each part is a pair (X, y).")
        return list(X)
    if not hasattr(y, "to_delayed"):
        raise DataError(f"X is a {type(X).__name__} in parts, and y is a {type(y).__name__}; pass y in the same parts.")
    delayed = require("dask", "a dask collection", "dask").delayed
    if len(getattr(X, "numblocks", ())) == 2:
        X = X.rechunk({1: -1})
    blocks = [np.ravel(np.array(one.to_delayed(), dtype=object)).tolist() for one in (X, y)]
    if len(blocks[0]) != len(blocks[1]):
        raise DataError(f"X has {len(blocks[0])} parts and y has {len(blocks[1])}; give both the same chunks or partitions.")
    return [delayed(pair)(*both) for both in zip(*blocks, strict=True)]


def pair(X, y):
    return X, y


def call(function, *arguments):
    return function(*arguments)


def same(value):
    return value


class RemoteShards:
    """Shards of workers; the methods are those of `structperc.engine.shards.LocalShards`.

    Parameters
    ----------
    run : TrainingRun
        Of the first part alone.
    seed : int
    shards : list of lists of `Loader`
    client : distributed.Client or None
    dtype : dtype
    """

    def __init__(self, run, seed, shards, client, dtype):
        if run.online is not None:
            raise OptionError("keep_online=True keeps predictions where the examples are; leave it out.")
        self.run, self.seed, self.shards, self.client, self.dtype = run, seed, shards, client, dtype
        self.token, self.blueprint, self.changes = uuid.uuid4().hex, pickle.dumps(run.engine), None
        self.places = [None] * len(shards)          # the worker that holds each
        if client is not None:
            self.blueprint = client.submit(same, self.blueprint, pure=False)        # kept by workers, and made again where one dies

    def train(self, weights, epoch):
        """Every shard's pass from these weights, a list of `ShardPass`."""
        news = None if self.changes is None else ("changes", self.changes)
        answers = [None] * len(self.shards)
        if news is not None:
            answers = self.ask(range(len(answers)), epoch, news)
        missing = [i for i, answer in enumerate(answers) if answer is None]         # new on their worker
        if missing:
            for i, answer in zip(missing, self.ask(missing, epoch, ("all", self.all_of(weights))), strict=True):
                answers[i] = answer
        return [ShardPass(result(counts), changes, np.zeros(0, dtype=np.int64)) for counts, changes, _ in answers]

    def ask(self, numbers, epoch, news):
        """The answers of `train_shard` for the shards of these numbers."""
        loaders = {i: self.shards[i] if news[0] == "all" else [] for i in numbers}          # data travel once
        common = epoch, self.seed, bool(self.run.context.shuffle), self.dtype
        if self.client is None:
            return [train_shard(self.token, i, self.blueprint, loaders[i], *common, news) for i in numbers]
        news, futures = self.client.submit(same, news, pure=False), []
        for i in numbers:
            at = {} if self.places[i] is None else {"workers": [self.places[i]], "allow_other_workers": True}
            futures.append(self.client.submit(train_shard, self.token, i, self.blueprint, loaders[i], *common, news, pure=False, **at))
        try:
            answers = self.client.gather(futures)
        except KeyboardInterrupt:
            self.client.cancel(futures)
            raise
        for i, answer in zip(numbers, answers, strict=True):
            self.places[i] = None if answer is None else answer[2]
        return answers

    def all_of(self, weights):
        """What makes weights that are 0 those of now."""
        model = self.run.model
        return {**weights.changes(empty(model)), "sums": None}

    def finished(self):
        """Nothing: a round that Ctrl-C has cut short is not mixed."""
        return []

    def mixed(self, changes):
        """Told what the weights of the next round have changed by."""
        self.changes = {**changes, "sums": None}

    def end(self):
        """Nobody asks these shards any more."""
        if self.client is None:
            forget(self.token)
        else:
            with suppress(Exception):           # of a cluster that is gone
                self.client.run(forget, self.token)


def result(counts):
    passed = PassResult()
    passed.visited, passed.mistakes, passed.updates, passed.loss = counts
    return passed


def empty(model):
    """Weights of this model that have learned nothing."""
    weights = model.parts.weights.fresh()
    weights.start(model.parts, model.context)
    return weights


class HeldShard:
    """A shard on its worker: its data, its parts, and the weights that its passes begin with."""

    def __init__(self, number, blueprint, loaders):
        engine = pickle.loads(blueprint)
        model = engine.model
        X, y = joined([loader() for loader in loaders])
        rows = model.parts.reader.read(X)
        check_same(model.context, rows)
        model.make_room(rows)
        run = TrainingRun(model, model.context, rows, y, engine=engine)
        self.shard, self.base = Shard(number, model, run, np.arange(rows.n_examples)), None
        self.epoch, self.changed, self.lock = None, None, threading.Lock()

    def begin(self, epoch, news) -> bool:
        """Takes the weights that an epoch begins with; whether it could."""
        kind, changes = news
        if self.epoch == epoch:                 # asked again: its own pass has changed other rows than those of the news
            self.changed = None
            return True
        if kind == "all":
            self.base, self.changed = empty(self.shard.model), None
        elif self.epoch != epoch - 1:
            return False
        else:
            self.changed = changes["rows"]
        self.base.advance({**changes, "sums": np.zeros(changes["steps"].shape)})        # only the caller knows means
        self.epoch = epoch
        return True


def train_shard(token, number, blueprint, loaders, epoch, seed, shuffle, dtype, news):
    """One pass of one shard, on the worker: counts, changes and the worker; None where it lacks the weights that the news are about."""
    held = HELD.get((token, number))
    if held is None:
        if news[0] != "all":
            return None
        held = HELD[token, number] = HeldShard(number, blueprint, loaders)
    with held.lock:
        if not held.begin(epoch, news):
            return None
        answer = held.shard.train(held.base, seed, epoch, shuffle, held.changed, dtype=dtype)
    passed = answer.passed
    return (passed.visited, passed.mistakes, passed.updates, passed.loss), answer.changes, place()


def place():
    """The address of the worker that this is, or None."""
    try:
        return sys.modules["distributed"].get_worker().address
    except (KeyError, ValueError):
        return None


def forget(token):
    """A worker lets go of its shards of one training."""
    for key in [key for key in HELD if key[0] == token]:
        HELD.pop(key, None)


def joined(pairs):
    """Several parts as one."""
    if len(pairs) == 1:
        return pairs[0]
    return tuple(stacked(values) for values in zip(*pairs, strict=True))


def stacked(values):
    first = values[0]
    if hasattr(first, "nnz"):
        return require("scipy.sparse", "sparse parts", "dask").vstack(values, format="csr")
    if hasattr(first, "iloc"):
        return require("pandas", "parts that are frames", "cli").concat(values)
    if isinstance(first, np.ndarray):
        return np.concatenate(values)
    return [one for value in values for one in value]
