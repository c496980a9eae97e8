"""Data in parts: files, collections of Dask, delayed objects or pairs, each read by whoever needs it."""

from __future__ import annotations

import numbers
import os
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress

import numpy as np

from structperc.basics.errors import DataError
from structperc.basics.labels import plain
from structperc.basics.rows_of_numbers import entries_at
from structperc.extras import require
from structperc.files.frames import NoRows
from structperc.files.opening import matching
from structperc.reading.column_codes import common_levels
from structperc.reading.groups import Groups
from structperc.streams import GroupEnds, arguments_of, ends_of, named, order_of, reader_of, teaches


class Loader:
    """Reads one part, wherever it is called: arguments of `Engine.fit`, without those that are None.

    Groups and offsets are told by lengths, so that parts can be joined. Pieces without examples are left out, as partitions are behind a
    filter or a join. So are those of which no example has a weight.
    """
    # part, read: As of `structperc.distributed.fit`.
    # name: str. Of the part, for messages.
    # has_groups: bool. Whether the piece that was read last has names of groups.

    def __init__(self, part, read, name="the data"):
        self.part, self.read, self.name, self.has_groups = part, read, name, False

    @property
    def path(self) -> str | None:
        """Of the file that the part is; None: it is something else."""
        return path_of(self.part)

    @property
    def in_memory(self) -> bool:
        """Whether the caller has the part already."""
        return self.read is None and not hasattr(self.part, "__dask_graph__")

    def __call__(self) -> dict | None:
        """All of the part; None if it has no examples."""
        pieces = list(self.pieces())
        return joined(pieces) if pieces else None

    def pieces(self, random=None):
        """The part as it is given, whole or piece by piece; the generator shuffles the pieces of a sequence."""
        for piece in self.as_given(random):
            with named(self.name):
                data = {name: materialised(value) for name, value in arguments_of(piece).items() if value is not None}
                if not {"X", "y"} <= set(data):
                    raise DataError(f"a part is a dict of {', '.join(map(repr, data))}; expected X and y among them.")
                if not teaches(data):
                    continue
                self.has_groups = bool(ends_of(piece))
                data = told_by_lengths(data)
            yield data

    def as_given(self, random=None):
        """The pieces in the user's form."""
        part = self.part
        if hasattr(part, "__dask_graph__"):
            part = part.compute(scheduler="synchronous")
        with suppress(NoRows):
            if self.read is not None:
                part = self.read(part)
            yield from reader_of(part, order_of(part, random))() if is_in_pieces(part) else (part,)


def ends_of_part(loader):
    """What `ends_of` would return for all the pieces of a part together."""
    ends, first, last = GroupEnds(), None, None
    loader = loader.open()
    for number, piece in enumerate(loader.as_given()):
        with named(loader.name):
            found = ends_of(piece)
            ends.add(number, found, "piece {}".format)
        if found is not None:
            first, last = first or found, found
    return None if first is None else () if not (first and last) else (first[0], last[1])


def path_of(part) -> str | None:
    """The path of a part that is a file, or that has one as `structperc.cli.source.Source` does."""
    path = part if isinstance(part, str) else None if hasattr(part, "__dask_graph__") else getattr(part, "path", None)
    return path if isinstance(path, str) else None


def name_of(part, number) -> str:
    """What messages call a part: the name of its file, or its number from 1."""
    return path_of(part) or f"part {number}"


def is_in_pieces(part) -> bool:
    """Whether these are many parts: an iterator, or a sequence such as `structperc.streams.Slices`."""
    return isinstance(part, Iterator) or isinstance(part, Sequence) and not isinstance(part, (tuple, list, str))


def first_of(loader, stream) -> tuple | None:
    """All of a part or its first piece, and whether its groups have names; None if it has no examples."""
    if stream:
        with closing(loader.pieces()) as pieces:
            data = next(pieces, None)
    else:
        data = loader()
    return None if data is None else (data, loader.has_groups)


def with_another_label(loader, label) -> dict | None:
    """The first example of a part whose output holds something else than one label; None if there is none."""
    loader = loader.open()
    with closing(loader.pieces()) as pieces:
        for data in pieces:
            with named(loader.name):
                refuse_other_kind(entries_of(data["y"]), [label])
            for i, output in enumerate(data["y"]):
                if any(entry != label for entry in entries_of(output)):
                    return examples_of(data, [np.searchsorted(np.cumsum(data["lengths"]), i, side="right") if is_of_rows(data, "y") else i])
    return None


def refuse_other_kind(labels, others) -> None:
    """Raises an error for labels of a part that are texts, numbers or truth values where none of others are."""
    kinds = {kind_of(label): label for label in others}
    for label in labels:
        if kind_of(label) and kind_of(label) not in kinds:
            one, other = (plain(value) for value in (label, next(iter(kinds.values()))))
            raise DataError(f"y holds {one!r}, a {kind_of(label)}, and other parts hold {other!r}. Give the labels of all parts one type.")


def kind_of(label) -> str:
    """What a label is, in words; nothing of labels that are missing or of other types."""
    kinds = {"text": str, "truth value": (bool, np.bool_), "number": (numbers.Real, np.number)}
    return next((name for name, types in kinds.items() if isinstance(label, types)), "")


def entries_of(y):
    """The entries of outputs, however deep they are nested."""
    if isinstance(y, (str, bytes)) or not hasattr(y, "__iter__"):
        yield y
    else:
        for one in y:
            yield from entries_of(one)


def told_by_lengths(data) -> dict:
    """The same with lengths instead of offsets or groups."""
    if hasattr(data.get("groups"), "to_numpy"):
        data = {**data, "groups": data["groups"].to_numpy()}
    if not {"offsets", "lengths", "groups"} & set(data):
        return data
    with Groups(data.pop("X"), *(data.pop(name, None) for name in ("offsets", "lengths", "groups"))) as gathered:
        for name in {"y", "allowed"} & set(data):
            data[name] = gathered.by_rows(data[name])
        return {"X": gathered.X, **data, "lengths": np.diff(gathered.offsets)}


def parts_of(X, y=None, **further) -> list:
    """The parts of Dask's collections, of a pattern of files, or of a list."""
    if isinstance(X, (str, os.PathLike)):
        files = matching(X)
        if not files:
            raise DataError(f"there is no file {os.fspath(X)!r}; expected files, or a pattern of them such as 'parts/*.csv'.")
        X = files
    further = {name: value for name, value in further.items() if value is not None}
    if not hasattr(X, "to_delayed"):
        if y is not None or further:
            names = ", ".join(["y", *further])
            raise DataError(f"pass {names} if all are Dask's arrays, frames or bags. In a list each part is a pair (X, y), or a dict with "
                            f"X, y, sample_weight and groups.")
        return list(X)
    return blocks_of(X=X, y=y, **further)


def blocks_of(**collections) -> list:
    """A delayed dict for each block that all collections have."""
    blocks_by_name = {}
    for name, collection in collections.items():
        if not hasattr(collection, "to_delayed"):
            raise DataError(f"X comes in parts, and {name} is a {type(collection).__name__}; pass {name} in the same parts.")
        if len(getattr(collection, "numblocks", ())) == 2:
            collection = collection.rechunk({1: -1})
        blocks_by_name[name] = np.ravel(np.array(delayed_blocks(collection), dtype=object)).tolist()
        if len(blocks_by_name[name]) != len(blocks_by_name["X"]):
            raise DataError(f"X has {len(blocks_by_name['X'])} parts and {name} has {len(blocks_by_name[name])};"
                            " give both the same chunks or partitions.")
    delayed = require("dask", "a collection of Dask", "dask").delayed
    return [delayed(blocks_as_dict)(tuple(blocks_by_name), *blocks) for blocks in zip(*blocks_by_name.values(), strict=True)]


def delayed_blocks(collection):
    """A delayed object for each block. Of a frame only simplified, since all of Dask's optimization joins partitions of few columns."""
    if hasattr(collection, "simplify"):
        return collection.simplify().to_delayed(optimize_graph=False)
    return collection.to_delayed()


def blocks_as_dict(names, *values) -> dict:
    return dict(zip(names, values, strict=True))


def materialised(value):
    """Partitions of bags are iterators."""
    return value if hasattr(value, "__len__") or np.ndim(value) == 0 and not hasattr(value, "__iter__") else list(value)


def joined(parts, names=None) -> dict:
    """Several parts as one; frames have the columns of all, in the order of the first. `names` are those of the parts, for messages."""
    for i, part in enumerate(parts):
        one, other = ("one part", "another") if names is None else (names[0], names[i])
        if set(part) != set(parts[0]):
            raise DataError(f"{one} has {', '.join(sorted(parts[0]))} and {other} has {', '.join(sorted(part))}; give all the same.")
        if form_of(part["X"]) != form_of(parts[0]["X"]):
            raise DataError(f"X of {one} is {form_of(parts[0]['X'])} and that of {other} is {form_of(part['X'])}; give all the same form.")
    return {name: stacked([part[name] for part in parts]) for name in parts[0]}


def form_of(values) -> str:
    """What values are, in words."""
    return ("a sparse matrix" if hasattr(values, "nnz") else "a data frame" if hasattr(values, "columns") else "an array"
            if isinstance(values, np.ndarray) else f"a {type(values).__name__}")


def stacked(values):
    first = values[0]
    if len(values) == 1:
        return first
    if any(form_of(one) != form_of(first) for one in values):
        return [entry for one in values for entry in one]
    if hasattr(first, "nnz"):
        return require("scipy.sparse", "sparse parts", "dask").vstack(values, format="csr")
    if hasattr(first, "iloc"):
        if hasattr(first, "columns"):
            common = [name for name in first.columns if all(name in frame.columns for frame in values)]
            values = [frame[common] for frame in values]
        return require("pandas", "parts that are frames", "cli").concat(with_common_categories(values))
    if isinstance(first, np.ndarray):
        return np.concatenate(values)
    if hasattr(first, "categories"):
        return require("pandas", "labels that are categories", "cli").Categorical([y for value in values for y in value], dtype=first.dtype)
    return [one for value in values for one in value]


def with_common_categories(frames) -> list:
    """Frames whose categoricals of one name have the categories of all, which pandas would join to text."""
    for name in getattr(frames[0], "columns", ()):
        kinds = [frame[name].dtype for frame in frames]
        if all(hasattr(kind, "categories") for kind in kinds) and any(kind != kinds[0] for kind in kinds):
            levels = common_levels(name, [kind.categories.tolist() for kind in kinds], kinds[0].ordered)
            kind = require("pandas", "parts that are frames", "cli").CategoricalDtype(levels, kinds[0].ordered)
            frames = [frame.assign(**{name: frame[name].astype(kind)}) for frame in frames]
    return frames


def examples_of(data, examples) -> dict:
    """These examples of a piece, told by lengths if it is."""
    rows = examples
    if "lengths" in data:
        ends = np.cumsum(data["lengths"])
        rows = [row for i in examples for row in range(ends[i] - data["lengths"][i], ends[i])]
    return {name: entries_at(values, rows if name == "X" or is_of_rows(data, name) else examples) for name, values in data.items()}


def is_of_rows(data, name) -> bool:
    """Whether a piece has an entry of this for each row, not each example. Relevances of documents are such entries."""
    return "lengths" in data and name != "lengths" and len(data[name]) != len(data["lengths"])
