"""What workers do: they look through parts before the training, hold shards, and make their passes."""

from __future__ import annotations

import itertools
import pickle
import threading
from contextlib import closing, contextmanager

import attrs
import numpy as np

from structperc.basics.errors import DataError
from structperc.basics.exact_sums import exact_sum
from structperc.basics.rows_of_numbers import entries_at
from structperc.core.component import kept_state, state_of
from structperc.core.outputs import encoded_gold
from structperc.distributed.messages import with_zeros, without_zeros
from structperc.distributed.parts import examples_of, joined, refuse_other_kind
from structperc.fitting.assembly import check_parts, with_weights
from structperc.fitting.context import check_same
from structperc.fitting.run import TrainingRun
from structperc.fitting.scaling import Scaling
from structperc.fitting.shards import Shard, ShardPart, in_memory
from structperc.fitting.weighing import balanced, by_class, counted, label_codes, label_sums
from structperc.reading.matrices import refuse_not_finite, sample_weights
from structperc.reading.readers import Reader
from structperc.streams import named, order_of, read_ahead, reader_of


def same(value):
    return value


# ---- before the training ----


def learns(engine, data) -> bool:
    """Whether labels or names of features are to be learned from all parts."""
    return learns_labels(engine) or learns_names(engine, data["X"])


def learns_labels(engine) -> bool:
    return engine.classes is None and engine.model.context.labels is not None


def learns_names(engine, X) -> bool:
    if engine.model.parts.reader.has_open_levels:
        return True
    learns = type(engine.model.parts.reader).learn_more is not Reader.learn_more
    return isinstance(X, list) and learns and not engine.plugin_options.get("n_hashed")


def names_in(blueprint, loader) -> dict | None:
    """The state of the engine's reader when it has learned the names of a part too."""
    reader, loader = pickle.loads(blueprint).model.parts.reader, loader.open()
    for data in loader.pieces():
        with named(loader.name):
            reader.learn_more(data["X"])
    return reader.state()


def joined_names(blueprint, one, other) -> dict:
    """The state of a reader with the names of two; those of the first come first."""
    reader = pickle.loads(blueprint).model.parts.reader
    reader.restore(one)
    reader.learn_names(other)
    return reader.state()


def strangers(blueprint, loader, with_names) -> dict | None:
    """As few examples of a part as have its labels, and if wanted its names, that the engine lacks."""
    engine, samples = pickle.loads(blueprint), []
    labels = set() if engine.model.context.labels is None else set(engine.model.context.labels.tolist())
    loader = loader.open()
    for data in loader.pieces():
        examples = set()
        with named(loader.name):
            if learns_labels(engine):
                refuse_other_kind(engine.model.parts.outputs.labels_in(data["y"]), labels)
                examples.update(with_new_labels(engine.model.parts.outputs, labels, data["y"]))
            if with_names and learns_names(engine, data["X"]):
                examples.update(with_new_names(engine.model.parts.reader, data["X"]))
        if examples:
            samples.append(examples_of(data, sorted(examples)))
    return joined(samples) if samples else None


def teachers(blueprint, loader) -> dict | None:
    """As few examples of a part as have gold outputs beyond the Y(x) that the engine knows."""
    model, samples = pickle.loads(blueprint).model, []
    outputs, loader = model.parts.outputs, loader.open()
    for data in loader.pieces():
        with named(loader.name):
            rows = rows_of(model, data)
            before = kept_state(outputs)
            encoded_gold(outputs, data["y"], rows, model.parts.features)
            if not is_state(outputs, before):
                outputs.restore(before)
                examples = [i for i in range(rows.n_examples) if teaches(outputs, entries_at(data["y"], [i]), rows.part(i, i + 1), model)]
                samples.append(examples_of(data, examples))
    return joined(samples) if samples else None


def teaches(outputs, y, rows, model) -> bool:
    """Whether the gold output of one example changes what outputs know."""
    before = kept_state(outputs)
    encoded_gold(outputs, y, rows, model.parts.features)
    return not is_state(outputs, before)


def is_state(part, before) -> bool:
    """Whether a part is as it was."""
    after = state_of(part)
    return all(np.array_equal(value, after[name]) for name, value in before.items())


def with_new_labels(outputs, labels, y):
    """The first examples of labels that are not known; they become known."""
    new = set(outputs.labels_in(y)) - labels
    for i in range(len(y)):
        if not new:
            return
        here = new.intersection(outputs.labels_in(entries_at(y, [i])))
        if here:
            labels |= here
            new -= here
            yield i


def with_new_names(reader, X):
    """The first examples of the names that the reader lacks; it learns them."""
    if reader.has_open_levels:
        yield from reader.rows_with_new_levels(X)
        return
    width = reader.read(X[:1]).n_features
    for i, x in enumerate(X):
        reader.learn_more([x])
        before, width = width, reader.read([x]).n_features
        if width > before:
            yield i


@attrs.frozen
class Totals:
    """What training must know of all examples. Every sum is exact, so none depends on the parts."""
    # scaling: Scaling or None. Of the columns.
    # label_sums: dict. As of `structperc.fitting.weighing.label_sums`, if they weigh the labels; else empty.
    # visits: (int, Fraction). The number of examples with a weight, and the sum of their weights, those of their classes included.

    scaling: Scaling | None = None
    label_sums: dict = attrs.field(factory=dict)
    visits: tuple = (0, 0)

    def __add__(self, other):
        scaling = self.scaling or other.scaling
        if self.scaling is not None and other.scaling is not None:
            scaling = scaling.joined(other.scaling)
        keys = {**self.label_sums, **other.label_sums}
        sums = {key: self.label_sums.get(key, 0) + other.label_sums.get(key, 0) for key in keys}
        return Totals(scaling, sums, (self.visits[0] + other.visits[0], self.visits[1] + other.visits[1]))

    def class_weight(self, engine):
        """The option of this name, with the weight of each label instead of "balanced"."""
        if engine.class_weight != "balanced":
            return engine.class_weight
        labels = engine.model.context.labels
        return dict(zip(labels.tolist(), balanced(len(labels), self.label_sums).tolist(), strict=True))


def needs_totals(engine, data) -> bool:
    """Whether training must know something of all examples."""
    return (engine.model.scaling is not None or engine.class_weight == "balanced"
            or engine.weighting == "visits" and ("sample_weight" in data or engine.class_weight is not None))


def totals(blueprint, loader) -> Totals:
    """Those of one part, piece by piece: sums of labels where their weights follow from them, else of visits."""
    engine = pickle.loads(blueprint)
    model, sums, loader = engine.model, Totals(), loader.open()
    for data in loader.pieces():
        with named(loader.name):
            rows = rows_of(model, data)
            weights = sample_weights(data.get("sample_weight"), rows.n_examples)
            scaling = None if model.scaling is None else model.scaling.of(rows, counts_of(engine, rows, data))
            if engine.class_weight == "balanced":
                codes = label_codes(model.parts.outputs, data["y"], rows)
                sums += Totals(scaling, label_sums(codes[:, 0], codes[:, -1], np.ones(len(codes)) if weights is None else weights))
            else:
                sums += Totals(scaling, {}, visits_of(engine.class_weight, model, rows, data["y"], weights))
    return sums


def counts_of(engine, rows, data):
    """What rows count for scales and means."""
    weights = sample_weights(data.get("sample_weight"), rows.n_examples)
    wanted = None if engine.class_weight == "balanced" else engine.class_weight
    return counted(weights, by_class(wanted, engine.model, rows, data["y"], weights))


def visits(blueprint, loader, class_weight) -> tuple:
    """`Totals.visits` of one part, when the weights of its labels are known."""
    model, counts, loader = pickle.loads(blueprint).model, (0, 0), loader.open()
    for data in loader.pieces():
        rows = rows_of(model, data)
        n, weight = visits_of(class_weight, model, rows, data["y"], sample_weights(data.get("sample_weight"), rows.n_examples))
        counts = counts[0] + n, counts[1] + weight
    return counts


def visits_of(class_weight, model, rows, y, sample_weight) -> tuple:
    """`Totals.visits` of these rows."""
    weights = by_class(class_weight, model, rows, y, sample_weight)
    return (rows.n_examples, rows.n_examples) if weights is None else (int((weights > 0).sum()), exact_sum(weights))


def sampled(loader, left_out, every) -> list:
    """Every n-th of the examples of a part, which a training leaves out, as `run_of` does. With left_out=1 all examples."""
    samples = []
    for data in loader.open().pieces():
        examples = np.arange(left_out - 1, n_examples_of(data), left_out)[::every]
        if len(examples):
            samples.append(examples_of(data, examples.tolist()))
    return samples


def n_examples_of(data) -> int:
    return len(data["lengths"] if "lengths" in data else data["y"])


# ---- the training ----


def rows_of(model, data):
    """The rows of a piece, as they were read."""
    offsets = None if "lengths" not in data else np.concatenate([[0], np.cumsum(data["lengths"])])
    rows = model.parts.reader.read(data["X"], offsets)
    check_same(model.context, rows)
    return rows


def run_of(engine, model, data, class_weight, totals=None, left_out=0) -> TrainingRun:
    """A run of the examples of a piece. `totals` counts all shards' examples with a weight. Every `left_out`-th is as if absent."""
    rows = rows_of(model, data)
    model.make_room(rows)
    model.restrict(rows, data.get("allowed"))
    sample_weight = sample_weights(data.get("sample_weight"), rows.n_examples)
    weights = by_class(class_weight, model, rows, data["y"], sample_weight)
    if left_out:
        weights = np.ones(rows.n_examples) if weights is None else weights.copy()
        weights[left_out - 1::left_out] = 0
    rows = model.scaling.applied(rows) if model.scales else rows
    context = with_weights(model.context, weights)
    if context.visit_weight is not None and totals is not None:     # one that weighs the mean of all examples of all shards is visited once
        model.visit_totals = totals[0] - int((weights > 0).sum()), totals[1] - exact_sum(weights)
    check_parts(context, model.parts)
    return TrainingRun(model, context, rows, data["y"], data.get("costs"), engine=engine)


class HeldShard:
    """A shard on its worker: its data, its parts, and the weights that its passes begin with."""
    # blueprint: bytes. The engine, which knows all names and labels.
    # loaders: list of Parcel. Of a `Loader` each.
    # stream: bool. Whether the data are read at each pass, one piece after the other.
    # totals, left_out: As of `run_of`.

    def __init__(self, number, blueprint, loaders, stream, totals, left_out):
        self.engine, self.loaders = pickle.loads(blueprint), [loader.open() for loader in loaders]
        self.totals, self.left_out = totals, left_out
        opened = self.streamed if stream else self.read_once()
        self.shard, self.base = Shard(number, self.engine.model, self.engine.model, opened), None
        self.epoch, self.changed = None, None

    def read_once(self):
        """What opens the shard's data in memory."""
        parts = [(loader.name, data) for loader in self.loaders if (data := loader()) is not None]
        for name, data in parts:
            with named(name):           # of its columns, before they are joined to those of others
                rows_of(self.engine.model, examples_of(data, [0]))
        if not parts:
            return in_memory()
        try:
            return in_memory(self.part_of(joined([data for _, data in parts], [name for name, _ in parts])))
        except DataError:
            for name, data in parts:
                with named(name):       # the same error, of one part
                    self.part_of(data)
            raise

    def part_of(self, data) -> ShardPart:
        """Examples as passes visit them."""
        model = self.engine.model
        run = run_of(self.engine, model, data, self.engine.class_weight, self.totals, self.left_out)
        if model.column_sums is None:
            model.begin_sums(run.rows)
        model.add_rows(run.rows, counts_of(self.engine, run.rows, data))
        return ShardPart(run, np.arange(run.n_examples) if run.active is None else run.active)

    def train(self, *arguments, **options):
        """A pass of the shard. An error about numbers that are not finite names the part and its row."""
        try:
            return self.shard.train(*arguments, **options)
        except DataError:
            for loader in self.loaders:
                for data in loader.pieces():
                    with named(loader.name):
                        refuse_not_finite(rows_of(self.engine.model, data))
            raise

    @property
    def sums(self):
        """The columns' sums over the rows that were read last; None where they are not kept."""
        return self.engine.model.column_sums

    @contextmanager
    def streamed(self, random):
        """The data piece by piece; a thread reads the next one meanwhile."""
        self.engine.model.column_sums = None
        read = reader_of(self.loaders, order_of(self.loaders, random))
        with closing(read_ahead(lambda: ((loader.name, piece) for loader in read() for piece in loader.pieces(random)))) as pieces:
            yield itertools.starmap(self.piece_of, pieces)

    def piece_of(self, name, data) -> ShardPart:
        with named(name):
            return self.part_of(data)

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
        changes = with_zeros(changes)
        if kind != "all":
            self.changed = changes["rows"]
        self.base.sharding().apply({**changes, "sums": np.zeros(changes["steps"].shape)})        # only the caller knows means
        self.epoch = epoch
        return True


def empty(model):
    """Weights of this model that have learned nothing."""
    weights = model.parts.weights.clone()
    weights.start(model.parts, model.context)
    return weights


class Slot:
    """Where a worker keeps one shard from round to round. It stays with its worker: what reaches another one is empty."""
    # held: HeldShard or None

    def __init__(self):
        self.held, self.lock = None, threading.Lock()

    def __reduce__(self):
        return Slot, ()


def train_shard(slot, number, share, epoch, seed, shuffle, dtype, news):
    """One pass of one shard, on the worker: counts, changes, at first the columns' sums. None if it lacks the weights of these news."""
    with slot.lock:
        if slot.held is None:
            if news[0] != "all":
                return None
            slot.held = HeldShard(number, *share)
        if not slot.held.begin(epoch, news):
            return None
        answer = slot.held.train(slot.held.base, seed, epoch, shuffle, slot.held.changed, dtype=dtype)
        sums = slot.held.sums if news[0] == "all" else None
    passed = answer.passed
    return (passed.visited, passed.mistakes, passed.updates, passed.loss), without_zeros(answer.delta), sums
