"""Training on data larger than memory: part after part, the next one read while one is learned from.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress

import numpy as np

from structperc.basics.errors import DataError, OptionError, shortened
from structperc.basics.plain_arrays import shuffled
from structperc.basics.rows_of_numbers import count_rows
from structperc.basics.sparse_parts import is_sparse, to_csr
from structperc.engine.checkpoints.files import Checkpoint
from structperc.engine.checkpoints.of_streams import StreamCheckpoints
from structperc.engine.engine import Engine
from structperc.fitting.assembly import new_model, options_alone, reader_for
from structperc.fitting.options import generator, setting_back
from structperc.fitting.presets import give_way
from structperc.fitting.trainers import CONVERGED, INTERRUPTED
from structperc.fitting.weighing import NothingWeighs
from structperc.reading.groups import Groups, entries_of, runs
from structperc.reading.table_reader import TableReader

__all__ = ["Slices", "fit_stream"]

ROWS = 1 << 16          # of a slice
END = object()


def fit_stream(engine, parts, *, learn=None, passed=None, ahead=True, resume=False, source=None):
    """Train an engine on a stream, or on data larger than memory. Two parts of the data are in memory at a time.

    Each part is one chunk of `Engine.partial_fit`. Without scaling and shards, the steps are those of `Engine.fit` on all data, to the last
    bit. Kernels repeat them up to rounding. With `shuffle=True` the examples of each part have a random order, and so have the parts of a
    sequence. Larger parts mix better.
    With `n_shards` each part is split into shards, which are mixed at its end.

    With a `structperc.callbacks.Checkpoint` among the plugins, the engine is saved between two parts. After kill -9 at any moment,
    the same call with `resume=True` gives the bits of an uninterrupted training.

    A table reader without named levels learns them in a pass before, whatever part is first. Medians are those of the first
    part with a weight.

    The rows of a group lie in one part. An error names both parts if a group ends one and begins the next. `Slices` with groups end where
    groups end.

    Cost: that of `fit` or that of reading, whichever is longer. Ctrl-C leaves a usable model. Returns `Engine`. The engine itself.
    See also `Slices` (arrays in parts) and `structperc.distributed.fit` (more than one machine).

    Parameters
    ----------
    engine : Engine
        Training starts from its current model, if any. Set `classes` if the first part lacks one. It makes `epochs` passes, fewer if one
        has no update, or if the loss levels off with `trainer="until-level"`.
    parts : sequence, iterable, or function without arguments that returns an iterator
        The data for each epoch; an iterator suffices for one epoch. `structperc.files.Kept` calls a function once for all epochs.
        Each part is a pair (X, y), a dict of arguments of `Engine.partial_fit`, or a `structperc.files.tables.Table`. Examples in parts
        without any weight are left out.
    learn : function of a part, optional
        Trains on a part instead of `Engine.partial_fit`, and returns its number of examples.
    passed : function of two ints, optional
        Called after each part with the epoch, from 1, and the number of examples of the part.
    ahead : bool, default True
        Whether a thread reads the next part during training. False: parts are read one by one, as needed for a pipe that Ctrl-C must
        leave.
    resume : bool, default False
        Continue from the last file of the `Checkpoint`; without a file, begin. Pass the same parts in the same order: of a sequence only
        the remaining parts are read, all others from their beginning. A complete training returns at once, unless it ended at `epochs`
        and there are more now.
    source : dict of str to str, optional
        Identity of the data, such as {"path": path}. A checkpoint stores it, and another source raises an error. Numbers of parts of a
        sequence, and of rows of `Slices`, are always compared.

    Raises
    ------
    OptionError
        If `engine` is no Engine, or observers of epochs are among its plugins. If `epochs` is above 1 for an iterator. If `resume` has no
        `Checkpoint`, or other options.
    DataError
        If there is no part, or none with a weight, or the checkpoint has another source. An error within a part names it. The engine keeps
        what it learned from earlier parts.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc import Engine
    >>> from structperc.streams import Slices, fit_stream
    >>> X, y = np.arange(8.0).reshape(8, 1) - 4, np.repeat([1, 2], 4)
    >>> engine = fit_stream(Engine("cusum", preset="paper", classes=[1, 2], epochs=5), Slices(X, y, rows=3))
    >>> engine.predict(X).tolist(), engine.mistakes_
    ([1, 1, 1, 1, 2, 2, 2, 2], [1, 2, 0])
    """
    if not isinstance(engine, Engine):
        further = ", or call partial_fit of the estimator with each part" if hasattr(engine, "partial_fit") else ""
        raise OptionError(f"engine={shortened(engine)}; expected an Engine, such as Engine(problem){further}.")
    if engine.epochs > 1 and isinstance(parts, Iterator) and not give_way(engine, "epochs"):
        raise OptionError(f"epochs={engine.epochs}: an iterator gives its parts only once; pass a function that returns one.")
    watching = [plugin.name for plugin in engine.loaded_plugins if plugin.observes and not isinstance(plugin.plugin, Checkpoint)]
    if watching:
        raise OptionError(f"plugin {watching[0]} observes epochs over all data at once. A stream has none; leave it out, or "
                          f"follow the parts by passed=.")
    with drawing(engine) as random:
        checkpoints = StreamCheckpoints(engine, source or identity_of(parts), resume)
        while not checkpoints.is_over:
            place = checkpoints.begin_epoch(lambda: order_of(parts, random))
            read = reader_of(parts, place.order, place.n_parts)
            again = None if isinstance(parts, Iterator) else reader_of(parts)
            try:
                run_epoch(engine, read, learn or learner(engine, again, place), passed, checkpoints, ahead)
            finally:
                engine.reader_ahead = None
    return engine


def learn_ahead(engine, first, read, within) -> None:
    """Learns levels of categories from all parts before training, if the first part may lack some. `read` returns all parts once more."""
    with rows_in(first) as data:
        if not isinstance(reader_for(engine, options_alone(engine), data.X), TableReader):
            return
        reader = reader_of_first(engine, data, arguments_of(first))
    if reader is not None and reader.has_open_levels:
        with closing(in_turn(read)) as parts:
            for part in parts:
                with within(part):
                    if teaches(arguments_of(part)):
                        with rows_in(part) as data:
                            reader.learn_more(data.X, data.offsets)
        engine.reader_ahead = reader


def reader_of_first(engine, data, arguments):
    """What training learns of the columns of the first part; None if none of its examples has a weight."""
    set_back = setting_back(engine.random_state)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")         # training gives the same warnings
            y, allowed = (data.by_rows(arguments.get(name)) for name in ("y", "allowed"))
            model = new_model(engine, data.X, data.offsets, y, allowed, arguments.get("sample_weight"), arguments.get("classes"))[0]
            return model.parts.reader
    except NothingWeighs:
        return None
    finally:
        if set_back is not None:
            set_back()


def rows_in(part) -> Groups:
    """The rows of a part, and where examples begin."""
    return Groups(*(arguments_of(part).get(name) for name in ("X", "offsets", "lengths", "groups")))


def run_epoch(engine, read, learn, passed, checkpoints, ahead) -> None:
    """One pass over all parts, or over those that a checkpoint has left."""
    place = checkpoints.place
    source = read_ahead(read) if ahead else in_turn(read)
    with interrupted_as_such(engine), rows_counted_once(engine, place.epoch), closing(source):
        for part in source:
            checkpoints.before_part()
            with checkpoints.counting():
                n_examples = learn(part)
            checkpoints.after_part(not n_examples or engine.status_ == CONVERGED)
            if passed is not None:
                passed(place.epoch, n_examples)
    if not place.n_parts:
        raise DataError("there is no part to learn from.")
    if engine.model is None:
        raise NothingWeighs
    checkpoints.end_epoch()


@contextmanager
def interrupted_as_such(engine):
    """Ctrl-C between two parts ends training like Ctrl-C within one."""
    try:
        yield
    except KeyboardInterrupt:
        if engine.model is not None and engine.model.mistakes:
            engine.model.status = INTERRUPTED
        raise


@contextmanager
def rows_counted_once(engine, epoch):
    """Each row counts once in means and standard deviations of columns, as in `Engine.fit`: in the first pass."""
    if epoch > 1 and engine.model is not None:
        engine.model.counts_rows = False
    try:
        yield
    finally:
        if engine.model is not None:
            engine.model.counts_rows = True


@contextmanager
def drawing(engine):
    """The generator of the whole training: the parts' orders and those within them."""
    if not engine.shuffle:
        yield None
        return
    random_state = engine.random_state
    engine.random_state = generator(random_state) if engine.model is None else engine.model.context.random
    try:
        yield engine.random_state
    finally:
        engine.random_state = random_state


# ---- parts ----


def identity_of(parts) -> dict:
    """What distinguishes these parts from others, without reading them."""
    facts = {"number of parts": str(len(parts))} if isinstance(parts, Sequence) else {}
    return facts | ({"number of rows": str(parts.n_rows)} if isinstance(parts, Slices) else {})


def order_of(parts, random):
    """The order of the parts in one pass, an int64 array; None: as they come."""
    return shuffled(len(parts), random) if random is not None and isinstance(parts, Sequence) else None


def reader_of(parts, order=None, first=0):
    """A function that begins one pass over the parts in this order, from the part with the number `first` on."""
    if isinstance(parts, Sequence):
        numbers = (np.arange(len(parts)) if order is None else order)[first:].tolist()
        return lambda: (parts[i] for i in numbers)
    begin = parts if callable(parts) else lambda: iter(parts)
    return (lambda: left_of(begin(), first)) if first else begin


def left_of(source, first):
    """The parts of an iterator behind so many."""
    for n in range(first):
        if next(source, END) is END:
            raise DataError(f"the source ends after {n} parts, and the checkpoint has learned from {first}; pass the same parts as before.")
    yield from source


def in_turn(read):
    """Parts, each read when it is due."""
    yield from read()


def read_ahead(read):
    """Parts, each read by a thread while the one before is in use."""
    with ThreadPoolExecutor(1, "structperc-parts") as pool:
        source = read()
        coming = pool.submit(next, source, END)
        try:
            while (part := coming.result()) is not END:
                coming = pool.submit(next, source, END)
                yield part
        finally:
            coming.cancel()
            if hasattr(source, "close"):
                pool.submit(source.close).result()


def learner(engine, read, place):
    """Learns from a part by `partial_fit`; returns how many examples it has. `read` returns all parts once more; None: they come once."""
    ends = GroupEnds()

    def learn(part):
        number = place.n_parts if place.order is None else int(place.order[place.n_parts])
        with named(f"part {number + 1}"):
            arguments = arguments_of(part)
            ends.add(number, ends_of(part))
        if not teaches(arguments):
            return 0
        if engine.model is None and read is not None:
            numbers = itertools.count(1)
            learn_ahead(engine, part, read, lambda _: named(f"part {next(numbers)}"))
        before = 0 if engine.model is None else engine.parts_.weights.n_visited
        with named(f"part {number + 1}"), suppress(NothingWeighs):
            engine.partial_fit(**arguments)
            return engine.parts_.weights.n_visited - before
        return 0

    return learn


@contextmanager
def named(part):
    """Adds to an error about data in which part they are."""
    try:
        yield
    except DataError as error:
        if part not in str(error):
            error.args = (f"{error} (This is about {part}, where rows and examples are counted from its first.)",)
        raise


def ends_of(part):
    """The names of the groups of a part's first and last row. None: it has no rows; (): its examples have no names."""
    if isinstance(part, Mapping):
        groups = part.get("groups")
        if groups is None:
            return () if has_examples(part) else None
        groups = groups.tolist() if hasattr(groups, "tolist") else list(groups)
        return (groups[0], groups[-1]) if groups else None
    return getattr(part, "ends", None) or ()


class GroupEnds:
    """The groups at the ends of numbered parts: one that ends a part and begins the next one would be two examples."""

    def __init__(self):
        self.ends = {}

    def add(self, number, ends, name="part {}".format) -> None:
        """Takes what `ends_of` returns for a part. `name` makes a name of its number, from 1. Neighbours may come later."""
        self.ends[number] = ends
        for step in (-1, 1):
            other = number + step
            while other in self.ends and self.ends[other] is None:
                other += step
            low, high = min(number, other), max(number, other)
            if ends and self.ends.get(other) and self.ends[low][1] == self.ends[high][0]:
                raise DataError(f"the group {ends[step > 0]!r} ends {name(low + 1)} and begins {name(high + 1)}, so it would be two "
                                f"examples. Divide the data where a group ends, or give different groups different names.")


def teaches(arguments) -> bool:
    """Whether a part has examples, and one of them a weight."""
    weights = arguments.get("sample_weight")
    return has_examples(arguments) and (weights is None or bool(np.any(weights)))


def has_examples(arguments) -> bool:
    """Whether X or y of a part has an entry. Training finds the fault if only one of them has."""
    values = [arguments.get(name) for name in ("X", "y")]
    return any(count_rows(value) > 0 if hasattr(value, "__len__") else value is not None
               for value in values)


def arguments_of(part) -> dict:
    """A part as arguments of `Engine.partial_fit`."""
    if isinstance(part, Mapping):
        return dict(part)
    if hasattr(part, "X") and hasattr(part, "y"):
        return {"X": part.X, "y": part.y, "offsets": part.offsets, "sample_weight": part.weights}
    if isinstance(part, (tuple, list)) and len(part) == 2:
        return dict(zip(("X", "y"), part, strict=True))
    raise DataError(f"a part is {type(part).__name__} {shortened(part)}; expected a pair (X, y), a dict of partial_fit's arguments, "
                    f"or a Table.")


class Slices(Sequence):
    """Consecutive slices of arrays, such as memory-mapped files, for `fit_stream`; nothing is copied but sparse matrices other than CSR.

    Parameters
    ----------
    X : array, memory-mapped array, sparse matrix, data frame or list
        A row for each example.
    y : array or list
        An output for each example.
    rows : int, default 65536
        Number of examples in a slice. Larger slices need more memory and mix better with `shuffle=True`. With `groups`: of rows, at
        least, since a slice ends where a group ends.
    **further : arrays or lists
        Further arguments of `Engine.partial_fit` with an entry for each row of X, such as `sample_weight` or `groups`.

    Raises
    ------
    DataError
        If numbers of entries differ.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.streams import Slices
    >>> slices = Slices(np.eye(5), [1, 2, 1, 2, 1], rows=2)     # or np.load("X.npy", mmap_mode="r")
    >>> len(slices), slices[2]["y"]
    (3, [1])
    """

    def __init__(self, X, y, *, rows=ROWS, **further):
        if is_sparse(X) and X.ndim == 2:
            X = to_csr(X)           # other formats have no slices of rows, COO none before SciPy 1.16
        self.data, self.rows = {"X": X, "y": y, **{name: value for name, value in further.items() if value is not None}}, rows
        if isinstance(rows, bool) or not isinstance(rows, (int, np.integer)) or rows < 1:
            raise DataError(f"rows is {shortened(rows)}; expected a whole number from 1 on.")
        sizes = {name: count_rows(value) for name, value in self.data.items()}
        self.n_rows = sizes["X"]
        for name, size in sizes.items():
            if size != self.n_rows:
                raise DataError(f"{name} has {size} entries, but X has {self.n_rows} rows; give one for each row.")
        self.starts = None if "groups" not in self.data else whole_groups(self.data["groups"], rows)

    def __len__(self):
        return -(-self.n_rows // self.rows) if self.starts is None else len(self.starts) - 1

    def __getitem__(self, i):
        i = range(len(self))[i]
        first, last = (i * self.rows, (i + 1) * self.rows) if self.starts is None else self.starts[i:i + 2].tolist()
        return {name: values.iloc[first:last] if hasattr(values, "iloc") else values[first:last] for name, values in self.data.items()}


def whole_groups(groups, rows) -> np.ndarray:
    """Where slices begin, and the end: each of at least so many rows, and of whole groups."""
    offsets, again = runs(entries_of(groups))
    if again:
        raise DataError(f"the rows of group {again[0]!r} are not all together; sort the rows by groups.")
    starts = [0]
    while starts[-1] < offsets[-1]:
        starts.append(int(offsets[min(np.searchsorted(offsets, starts[-1] + rows), len(offsets) - 1)]))
    return np.array(starts)
