"""What workers do: they look through parts before the training, hold shards, and make their passes."""

from __future__ import annotations

import pickle
import threading
from contextlib import closing, contextmanager

import attrs
import numpy as np

from structperc.distributed.messages import with_zeros, without_zeros
from structperc.distributed.parts import chosen, joined
from structperc.engine.assembly import weighed
from structperc.engine.compatibility import check_parts, check_same
from structperc.engine.run import TrainingRun
from structperc.engine.shards import Shard, ShardPart, in_memory
from structperc.reading.matrices import sample_weights
from structperc.reading.readers import Reader
from structperc.streams import order_of, read_ahead, reader_of


def same(value):
    return value


# ---- before the training ----


@attrs.frozen
class Survey:
    """What one part shows before the training.

    Attributes
    ----------
    strangers : dict or None
        As few examples as show all labels and names of features that the first part lacks.
    n_weighed, weight : int, float
        How many examples weigh more than 0, and the sum of their weights.
    """

    strangers: dict | None
    n_weighed: int
    weight: float


def wanted(engine, data) -> bool:
    """Whether anything is to be learned from all parts: labels, names of features, or the mean weight of examples."""
    return learns_labels(engine) or learns_names(engine, data["X"]) or engine.weighting == "visits" and "sample_weight" in data


def learns_labels(engine) -> bool:
    return engine.classes is None and engine.model.context.labels is not None


def learns_names(engine, X) -> bool:
    learns = type(engine.model.parts.reader).learn_more is not Reader.learn_more
    return isinstance(X, list) and learns and not engine.plugin_options.get("n_hashed")


def survey(blueprint, loader) -> Survey:
    """Looks through one part, piece by piece."""
    engine, strangers, n_weighed, weight = pickle.loads(blueprint), [], 0, 0.0
    known = set() if engine.model.context.labels is None else set(engine.model.context.labels.tolist())
    for data in loader.open().pieces():
        weights = np.ones(len(data["y"])) if "sample_weight" not in data else sample_weights(data["sample_weight"], len(data["y"]))
        n_weighed, weight, examples = n_weighed + int((weights > 0).sum()), weight + float(weights.sum()), set()
        if learns_labels(engine):
            examples.update(with_new_labels(engine.model.parts.outputs, known, data["y"]))
        if learns_names(engine, data["X"]):
            examples.update(with_new_names(engine.model.parts.reader, data["X"]))
        if examples:
            strangers.append({name: chosen(values, sorted(examples)) for name, values in data.items()})
    return Survey(joined(strangers) if strangers else None, n_weighed, weight)


def with_new_labels(outputs, known, y):
    """The first examples of labels that are not known; they become known."""
    new = set(outputs.labels_in(y)) - known
    for i in range(len(y)):
        if not new:
            return
        found = new.intersection(outputs.labels_in(chosen(y, [i])))
        if found:
            known |= found
            new -= found
            yield i


def with_new_names(reader, X):
    """The first examples of the names that the reader lacks; it learns them."""
    width = reader.read(X[:1]).n_features
    for i, x in enumerate(X):
        reader.learn_more([x])
        before, width = width, reader.read([x]).n_features
        if width > before:
            yield i


# ---- the training ----


class HeldShard:
    """A shard on its worker: its data, its parts, and the weights that its passes begin with.

    Parameters
    ----------
    number : int
    blueprint : bytes
        The engine, which knows all names and labels.
    loaders : list of Parcel
        Of a `Loader` each.
    stream : bool
        Whether the data are read at each pass, one piece after the other.
    weighed : (int, float)
        With weighting="visits": how many examples of all shards have a weight, and the sum of their weights.
    """

    def __init__(self, number, blueprint, loaders, stream, weighed):
        self.engine, self.loaders, self.weighed = pickle.loads(blueprint), [loader.open() for loader in loaders], weighed
        opened = self.streamed if stream else in_memory(self.part_of(joined([loader() for loader in self.loaders])))
        self.shard, self.base = Shard(number, self.engine.model, self.engine.model, opened), None
        self.epoch, self.changed = None, None

    def part_of(self, data) -> ShardPart:
        """Examples as passes visit them."""
        model = self.engine.model
        offsets = None if "lengths" not in data else np.concatenate([[0], np.cumsum(data["lengths"])])
        rows = model.parts.reader.read(data["X"], offsets)
        check_same(model.context, rows)
        model.make_room(rows)
        model.restrict(rows, data.get("allowed"))
        weights = sample_weights(data.get("sample_weight"), rows.n_examples)
        context = weighed(model.context, weights)
        if context.visit_weight is not None:            # one that weighs the mean of all examples of all shards is visited once
            model.weighed = self.weighed[0] - int((weights > 0).sum()), self.weighed[1] - float(weights.sum())
        check_parts(context, model.parts)
        run = TrainingRun(model, context, rows, data["y"], data.get("costs"), engine=self.engine)
        return ShardPart(run, np.arange(rows.n_examples) if run.active is None else run.active)

    @contextmanager
    def streamed(self, random):
        """The data piece by piece; a thread reads the next one meanwhile."""
        read = reader_of(self.loaders, order_of(self.loaders, random))
        with closing(read_ahead(lambda: (piece for loader in read() for piece in loader.pieces(random)))) as pieces:
            yield map(self.part_of, pieces)

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
        self.base.advance({**changes, "sums": np.zeros(changes["steps"].shape)})        # only the caller knows means
        self.epoch = epoch
        return True


def empty(model):
    """Weights of this model that have learned nothing."""
    weights = model.parts.weights.fresh()
    weights.start(model.parts, model.context)
    return weights


class Slot:
    """Where a worker keeps one shard from round to round. It stays with its worker: what reaches another one is empty.

    Attributes
    ----------
    held : HeldShard or None
    """

    def __init__(self):
        self.held, self.lock = None, threading.Lock()

    def __reduce__(self):
        return Slot, ()


def train_shard(slot, number, share, epoch, seed, shuffle, dtype, news):
    """One pass of one shard, on the worker: counts and changes; None where it lacks the weights that the news are about."""
    with slot.lock:
        if slot.held is None:
            if news[0] != "all":
                return None
            slot.held = HeldShard(number, *share)
        if not slot.held.begin(epoch, news):
            return None
        answer = slot.held.shard.train(slot.held.base, seed, epoch, shuffle, slot.held.changed, dtype=dtype)
    passed = answer.passed
    return (passed.visited, passed.mistakes, passed.updates, passed.loss), without_zeros(answer.changes)
