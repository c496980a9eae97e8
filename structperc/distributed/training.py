"""Training on more than one machine: shards on Dask's workers, weights at the caller, mixed after each epoch.

In every round each shard makes one pass from the weights w. It returns its changes of rows of them (`Weights.sharding`). A pass is a
function of w, the shard's data, the seed and the number of the epoch only. So a worker may die at any time: its shards are read and trained
again elsewhere, and the result has the same bits. Shards live on workers as long as the caller has the futures of their slots. Nothing
waits for a worker to release them.
"""

from __future__ import annotations

import copy
import functools
import operator
import pickle
import platform
import sys
from contextlib import contextmanager
from importlib import metadata

import attrs
import numpy as np

from structperc.basics.errors import DataError, OptionError, shortened
from structperc.core.column_sums import ColumnSums
from structperc.core.loop import PassResult
from structperc.distributed.identity import identity_of
from structperc.distributed.messages import Parcel, blueprint_of, with_zeros, without_zeros
from structperc.distributed.parts import (
    Loader,
    ends_of_part,
    entries_of,
    first_of,
    joined,
    name_of,
    parts_of,
    with_another_label,
)
from structperc.distributed.workers import (
    Slot,
    empty,
    joined_names,
    learns,
    learns_labels,
    learns_names,
    names_in,
    needs_totals,
    run_of,
    same,
    sampled,
    strangers,
    teachers,
    totals,
    train_shard,
    visits,
)
from structperc.extras import require
from structperc.fitting.context import SHARDS_ELSEWHERE, NotBegun
from structperc.fitting.options import WITHOUT_SHARDS
from structperc.fitting.shards import ShardPass
from structperc.streams import GroupEnds, named

__all__ = ["fit"]


def fit(model, X, y=None, *, sample_weight=None, groups=None, client=None, read=None, stream=False, dtype="float32", resume=False,
        progress=None):
    """Trains an engine or an estimator on data in parts, shard by shard on Dask's workers.

    Shard i has the parts len(parts) * i // n_shards to len(parts) * (i + 1) // n_shards, in their order. Before the training, workers make
    a pass. It finds labels if `classes` is None, and names of features unless `n_hashed` is set. Another pass finds what `scale`,
    `class_weight="balanced"` and `weighting="visits"` need of all examples. One finds the longest segments if `max_length` is None.
    A temperature (`calibrate`) is that of some training examples, or of one more training without a fifth of each piece. A table reader
    learns its columns from the first part, which the caller reads.

    Parameters
    ----------
    model : Engine, or estimator of `structperc.estimators`
        With `n_shards`, at most the number of parts. Observers and checkpoints act as in `Engine.fit`.
    X : dask array, data frame or bag; pattern of files; or list of parts
        Chunks of rows, partitions and files are parts. In a list a part is a pair (X, y), a dict of arguments of `fit`, or a
        `structperc.files.tables.Table`. It may be a delayed object of these. With `read` it may be its argument, such as the name of a
        file.
    y, sample_weight, groups : dask array, series or bag, optional
        In the same parts as X. The rows of a group lie in one part: an error names both parts if a group ends one and begins the next.
    client : distributed.Client or str, optional
        Or the address of a scheduler. Without one all is done by this process, with the same bits.
    read : function of a part, optional
        A function that returns a part as of a list. The worker that trains the shard calls it, and again if the shard is trained elsewhere.
        `functools.partial(files.read, target="level")` reads files. An iterator or sequence of parts is a part too, as of
        `functools.partial(files.stream, target="level", rows=65536)`. In a sequence, such as `structperc.streams.Slices`, parts have
        numbers.
    stream : bool, default False
        Whether each pass reads the data anew, piece by piece, instead of keeping them in the memory of workers: a piece is a part, or a
        part of it that `read` returns. In the order of the data the bits are the same, but not with `weighting="visits"`, which draws
        from each piece. With shuffle=True the parts, the pieces of a sequence and the examples of each piece come in random
        orders.
    dtype : {"float32", "float64"}, default "float32"
        What changes are rounded to on their way. "float64" gives the bits of `Engine.fit` with as many shards of the same sizes.
    resume : bool, default False
        As in `Engine.fit`, of engines: go on from the checkpoint among the engine's plugins. Another part, or other parts, raise an error.
        Of files the fingerprint is compared. With a checkpoint, other parts are read once more for a checksum.
    progress : function of a text, optional
        Called with lines about the passes before the training, such as `print`. Observers of the model show the training.

    Returns
    -------
    The model
        A failure or Ctrl-C leaves it with what the last round has learned, or as it was before the first.

    Raises
    ------
    OptionError, DataError, MissingExtra, and what reading or training a shard raises.

    Notes
    -----
    A round sends each shard the weights that changed in the last one, and receives the changes of each shard. A change is 4 bytes there,
    and 8 bytes back with averages. Each row of weights with a change adds 4 bytes and a bit for each weight.

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
        raise OptionError(f"dtype={shortened(dtype)}; expected 'float32' or 'float64'.")
    parts = parts_of(X, y, sample_weight=sample_weight, groups=groups)
    if not hasattr(model, "n_shards"):
        raise OptionError(f"{type(model).__name__} does not train in shards: {WITHOUT_SHARDS}. Expected a model with the parameter "
                          f"n_shards, such as Engine(problem, n_shards=2).")
    if len(parts) < 2:
        raise OptionError(f"the data have {len(parts)} part, and each of 2 or more shards needs one. Divide the data, or call fit.")
    if isinstance(client, str):
        with require("distributed", "training on workers", "dask").Client(client) as connected:
            return fit(model, parts, client=connected, read=read, stream=stream, dtype=dtype, resume=resume, progress=progress)
    workers = Workers(client, progress)
    workers.check()
    loaders = [Loader(part, read, name_of(part, number)) for number, part in enumerate(parts, start=1)]
    name, first, has_groups = first_with_examples(loaders, stream, workers)
    if has_groups:
        refuse_divided_groups(loaders, workers)
    if not 2 <= model.n_shards <= len(parts):
        refuse_weights_that_do_not_mix(model, first)
        raise OptionError(f"the model has n_shards={model.n_shards}, and the data have {len(parts)} parts. Expected from 2 shards to as "
                          f"many as parts, such as n_shards={len(parts)}.")
    loaders = list(map(Parcel, loaders))
    engine, first = engine_of_labels(model, first, name, loaders, workers)
    engine, first, reader_state = engine_of_all(engine, model, first, loaders, workers)
    engine, first = engine_of_gold(engine, model, first, reader_state, loaders, workers)
    sums = totals_of(engine, loaders, workers) if needs_totals(engine, first) else None
    token = SHARDS_ELSEWHERE.set(Elsewhere(loaders, model.n_shards, stream, workers, np.dtype(dtype), engine, sums, reader_state))
    try:
        return model.fit(**first, **({"resume": True} if resume else {}))
    finally:
        SHARDS_ELSEWHERE.reset(token)


def engine_of_labels(model, first, name, loaders, workers) -> tuple:
    """An engine that has seen the first part, `name`. If all its labels are the same, it has seen one more example."""
    entries = entries_of(first["y"])
    label = next(entries, None)
    if getattr(model, "classes", None) is None and all(entry == label for entry in entries):        # it does not show the others
        others = workers.map(with_another_label, loaders, [label] * len(loaders), what="another label")
        first = joined([first, *(one for one in others if one is not None)])
        return engine_of(model, first), first
    with named(name):
        return engine_of(model, first), first


def engine_of_all(engine, model, first, loaders, workers) -> tuple:
    """The engine with the labels, levels and names of all parts. With it the examples that show them, and the state of its reader."""
    if not learns(engine, first):
        return engine, first, None
    blueprint, n, reader_state, samples = workers.kept(blueprint_of(engine, workers.dumps)), len(loaders), None, []
    reader = engine.model.parts.reader
    sends_names = learns_names(engine, first["X"]) and reader.learn_names(reader.state())
    if sends_names:
        reader_state = workers.joined(joined_names, names_in, blueprint, loaders, "names")
    if learns_labels(engine) or not sends_names:
        samples = [one for one in workers.map(strangers, [blueprint] * n, loaders, [not sends_names] * n, what="labels and levels")
                   if one is not None]
    if samples or sends_names:
        first = joined([first, *samples])
        engine = engine_of(model, first, reader_state)
    return engine, first, reader_state


def engine_of_gold(engine, model, first, reader_state, loaders, workers) -> tuple:
    """The engine whose Y(x) has the gold outputs of all parts, with the examples that show them."""
    if not engine.model.parts.outputs._learns_from_gold():
        return engine, first
    blueprint = workers.kept(blueprint_of(engine, workers.dumps))
    samples = [one for one in workers.map(teachers, [blueprint] * len(loaders), loaders, what="outputs") if one is not None]
    if not samples:
        return engine, first
    first = joined([first, *samples])
    return engine_of(model, first, reader_state), first


def totals_of(engine, loaders, workers):
    """What the training needs of all examples."""
    blueprint, n = workers.kept(blueprint_of(engine, workers.dumps)), len(loaders)
    sums = functools.reduce(operator.add, workers.map(totals, [blueprint] * n, loaders, what="sums"))
    if engine.class_weight == "balanced" and engine.weighting == "visits":      # the weights of examples follow from the sums
        counts = workers.map(visits, [blueprint] * n, loaders, [sums.class_weight(engine)] * n, what="weights of visits")
        sums = attrs.evolve(sums, visits=tuple(map(sum, zip(*counts, strict=True))))
    return sums


def first_with_examples(loaders, stream, workers) -> tuple:
    """The name of the first part that has examples, and what `first_of` returns of it."""
    for loader in loaders:
        first = first_of(loader, stream) if loader.in_memory else workers.map(first_of, [loader], [stream])[0]
        if first is not None:
            return loader.name, *first
    raise DataError(f"all {len(loaders)} parts are empty or without a weight, so there is nothing to learn from.")


def refuse_divided_groups(loaders, workers) -> None:
    """Raises an error for a group that ends a part and begins the next."""
    ends = GroupEnds()
    for number, one in enumerate(workers.map(ends_of_part, list(map(Parcel, loaders)))):
        ends.add(number, one, lambda i: loaders[i - 1].name)


class Elsewhere:
    """The examples of a training that are with workers: what it asks of them."""
    # loaders: list of Parcel. Of a `Loader` each.
    # engine: Engine. Which knows all labels and names of features.
    # sums: Totals or None
    # reader_state: dict or None. What a reader has learned from all parts.
    # visit_totals: (int, Fraction). As `Totals.visits`.
    # n_examples: int. Visited in the last round of all shards.

    def __init__(self, loaders, n_shards, stream, workers, dtype, engine, sums, reader_state):
        self.reader_state = reader_state
        self.loaders, self.n_shards, self.stream, self.workers, self.dtype = loaders, n_shards, stream, workers, dtype
        self.scaling = None if sums is None else sums.scaling
        self.class_weight = engine.class_weight if sums is None else sums.class_weight(engine)
        self.visit_totals = (0, 0) if sums is None else sums.visits
        self.left_out, self.n_examples = 0, 0

    def identity(self) -> dict:
        """What distinguishes the parts from others, by name, for a checkpoint."""
        names = [parcel.open().name for parcel in self.loaders]
        told = self.workers.map(identity_of, self.loaders)
        return {"number of parts": str(len(names))} | {name if name.startswith("part ") else f"file {name}": one
                                                       for name, one in zip(names, told, strict=True)}

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
        examples = [one for part in self.workers.map(sampled, self.loaders, [left_out] * n, [every] * n) for one in part]
        return run_of(engine, model, joined(examples), self.class_weight) if examples else None


class Asked(NotBegun):
    """Ends a training before it begins."""
    # engine: bytes. The engine that trains, with what it knows of the data.

    def __init__(self, engine):
        self.engine = engine


class Asking:
    """Instead of `Elsewhere`: ends a training at its beginning."""

    visit_totals = 0, 0

    def __init__(self, reader_state):
        self.reader_state = reader_state

    def identity(self) -> dict:
        """No part is looked at."""
        return {}

    def shards(self, run, seed):
        raise Asked(blueprint_of(run.engine, pickle.dumps))


def engine_of(model, data, reader_state=None):
    """The engine that trains this model, with what it knows of these data and of names in others."""
    token = SHARDS_ELSEWHERE.set(Asking(reader_state))
    try:
        model.fit(**data)
    except Asked as asked:
        return pickle.loads(asked.engine)
    finally:
        SHARDS_ELSEWHERE.reset(token)


def refuse_weights_that_do_not_mix(model, first) -> None:
    """Raises an error if shards cannot train the model, for example one with a kernel."""
    tried = copy.deepcopy(model)
    tried.n_shards = 2
    engine_of(tried, first)


def divided(loaders, n_shards) -> list:
    """Those of each shard."""
    n = len(loaders)
    return [loaders[n * i // n_shards:n * (i + 1) // n_shards] for i in range(n_shards)]


class Workers:
    """The workers of a client, or this process in their place."""

    def __init__(self, client, progress=None):
        self.client, self.progress = client, progress
        self.dumps = pickle.dumps if client is None else require("distributed.protocol.pickle", "training on workers", "dask").dumps

    def submit(self, function, *arguments):
        """The future of a result, or the result of this process."""
        # No task names its worker. A task with a worker's name waits for ever if it was submitted while there was no worker at all. This is
        # so even with `allow_other_workers`, since Dask compares each new worker with the name.
        return function(*arguments) if self.client is None else self.client.submit(function, *arguments, pure=False)

    def check(self) -> None:
        """Raises an error for workers with another structperc, or none, or another Python. Workers that come later or go are not seen."""
        if self.client is None:
            return
        own = metadata.version("structperc"), sys.version.split()[0].rpartition(".")[0]
        theirs = self.client.run(metadata.version, "structperc", on_error="return")
        pythons = self.client.run(platform.python_version, on_error="return")
        for worker, version in theirs.items():
            if isinstance(version, OSError) or isinstance(pythons.get(worker, OSError()), OSError):
                continue                        # its connection broke: Dask gives its tasks to other workers
            python = str(pythons[worker]).rpartition(".")[0]
            if isinstance(version, Exception) or (version, python) != own:
                what = "no structperc" if isinstance(version, Exception) else f"structperc {version} on Python {python}"
                raise OptionError(f"the worker {worker} has {what}, and this process has structperc {own[0]} on Python {own[1]}. Install "
                                  f"the same on all machines.")

    def counter(self, what, n):
        """A function that the caller calls after each of n parts of a pass; it shows 1, 2, 4, ... and all parts."""
        def part_done():
            nonlocal count
            count += 1
            if count == n or not count & (count - 1):
                self.progress(f"looking through the data for {what}: {count} of {n} parts")

        count = 0
        return None if what is None or self.progress is None else part_done

    def gathered(self, futures, part_done=None, results=True) -> list | None:
        """Results, in the order of their futures, or None. `part_done` is called when one more is there."""
        if self.client is None:
            return futures
        try:
            if part_done is not None:
                for _ in require("distributed", "training on workers", "dask").as_completed(futures):
                    part_done()
            return self.client.gather(futures) if results else None
        except ModuleNotFoundError as error:
            self.client.cancel(futures)
            raise OptionError(f"a worker has no module {error.name!r}. Install structperc, its plugins and your own modules on all "
                              f"machines, or send a file by client.upload_file.") from error
        except BaseException:               # the others' work is of no use any more
            self.client.cancel(futures)
            raise

    def release(self, futures):
        """Lets workers free the results of these futures. Tracebacks may refer to them for long."""
        if self.client is not None:
            for future in futures:
                future.release()

    def map(self, function, *arguments, what=None) -> list:
        """The function's results, in order. `what`: what a pass before the training looks for."""
        part_done, futures = self.counter(what, len(arguments[0])), []
        for one in zip(*arguments, strict=True):
            futures.append(self.submit(function, *one))
            if part_done is not None and self.client is None:
                part_done()
        return self.gathered(futures, part_done)

    def joined(self, join, function, blueprint, loaders, what=None):
        """The function's results of all loaders, joined in their order by a tree. Only the last comes to the caller."""
        if self.client is None:
            part_done, state = self.counter(what, len(loaders)), None
            for loader in loaders:
                own = function(blueprint, loader)
                state = own if state is None else join(blueprint, state, own)
                if part_done is not None:
                    part_done()
            return state
        part_done = self.counter(what, len(loaders))
        level = [self.submit(function, blueprint, loader) for loader in loaders]
        leaves = [] if part_done is None else level         # nothing else keeps results that were joined
        while len(level) > 1:
            pairs = zip(level[::2], level[1::2], strict=False)
            level = [self.submit(join, blueprint, *pair) for pair in pairs] + level[len(level) // 2 * 2:]
        if part_done is not None:
            self.gathered(leaves, part_done, results=False)
        return self.gathered(level)[0]

    def kept(self, value):
        """A value that workers hand to each other, and make again where one of them dies."""
        return self.submit(same, value)


class RemoteShards:
    """Shards of workers; the methods are those of `structperc.fitting.shards.LocalShards`."""
    # run: TrainingRun. Of the first part and the examples that show all labels and features.

    def __init__(self, run, seed, elsewhere):
        self.run, self.seed, self.elsewhere = run, seed, elsewhere
        self.workers, self.dtype = elsewhere.workers, elsewhere.dtype
        self.shares = [(one, elsewhere.stream, elsewhere.visit_totals, elsewhere.left_out)
                       for one in divided(elsewhere.loaders, elsewhere.n_shards)]
        self.changes = None
        run.model.column_sums = None                    # of the first part only
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
        sums = [one for one in sums if one is not None]         # shards without examples have none
        if self.changes is None and sums:
            self.run.model.column_sums = functools.reduce(ColumnSums.joined, sums)

    def ask(self, numbers, epoch, news):
        """The results of `train_shard` for the shards of these numbers."""
        common = epoch, self.seed, bool(self.run.context.shuffle), self.dtype, news
        futures = []
        for i in numbers:
            share = (self.blueprint, *self.shares[i]) if news[0] == "all" else ()           # data travel once
            # the slot is the only future argument, so Dask runs the pass where it is
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
