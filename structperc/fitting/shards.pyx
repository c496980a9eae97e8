# distutils: extra_compile_args = GLUE
# cython: boundscheck=True, wraparound=True
"""Shards: parts of the examples that are trained apart for one round, each by parts of its own, and then mixed.

One round of iterative parameter mixing (McDonald, Hall and Mann 2010): every shard makes a pass from the weights w to w_i. Then w <- w +
sum_i mu_i (w_i - w). For the bounded sum, weight by weight, w <- w + min(1, 2 / m) sum_i (w_i - w). Here m shards moved the weight. The
mean over examples visited counts all vectors that any shard has visited, each once.

Compiled, as `structperc.fitting.run`.
"""
from contextlib import nullcontext

import numpy as np

from structperc.basics.errors import PluginError
from structperc.basics.plain_arrays import shuffled
from structperc.basics.signals import Cancelled, map_in_threads
from structperc.core.component import kept_state, state_of
from structperc.core.loop cimport PassResult
from structperc.core.loop import NotFinite
from structperc.fitting.model import remembered
from structperc.fitting.not_finite import not_finite
from structperc.fitting.weighing import drawn

SHARED = ("outputs", "features", "loss", "argmax", "update")        # parts of which every shard has its own, in the same state


cdef class ShardPart:
    """Examples of a shard that are in memory at the same time."""
    # run: TrainingRun. Its rows, gold outputs and sample weights are read in place.
    # examples: int64 array. The examples of the part, in the order of an unshuffled pass.

    cdef readonly object rows, gold, weights, examples, expected

    def __init__(self, run, examples):
        self.rows, self.gold, self.weights, self.examples = run.rows, run.gold, run.step_weights, examples
        self.expected = None if run.expected is None else run.expected[examples]

    def order(self, random, shuffle):
        """The examples in the order of a pass."""
        if self.expected is not None:
            return self.examples[drawn(self.expected, random, shuffle)]
        return shuffled(self.examples, random) if shuffle else self.examples


cdef class Shard:
    """Some of the examples of a run, with parts of its own."""
    # number: int. Of this shard among all, from 0; random orders depend on it.
    # model: Model. Assembled only for this shard (`structperc.fitting.assembly.clone_model`).
    # trained: Model. The one that the shards train together. Its parts pass on to those of the shard what they have learned of the data.
    # opened: function of a generator of random numbers or None. Returns a context of the examples, an iterable of `ShardPart`; the
    # generator, if any, draws their order.
    # `answer`: ShardPass or None. The result of the last complete pass.

    cdef readonly object model, opened
    cdef public object answer
    cdef readonly Py_ssize_t number

    def __init__(self, Py_ssize_t number, model, trained, opened):
        self.number, self.model, self.opened = number, model, opened
        if trained is not model:
            for kind in SHARED:
                getattr(model.parts, kind).restore(kept_state(getattr(trained.parts, kind)))

    def train(self, base, seed, epoch, shuffle, changed=None, keep=False, dtype=float):
        """One pass from the weights of `base`, in the order from seed, epoch and number of the shard. A cancelled thread ends it early."""
        # `changed` are the rows of the base that have changed since the last pass; without it, any. `keep`: also the predictions before
        # each step.
        cdef PassResult passed = PassResult()
        sharding = self.model.parts.weights.sharding()
        online, examples = [] if keep else None, []
        sharding.pull(base, changed)
        random = np.random.default_rng([seed, epoch, self.number])
        with self.opened(np.random.default_rng([seed, epoch, self.number, 1]) if shuffle else None) as parts:
            try:
                for part in parts:
                    before = [(one, kept_state(one), remembered(one)) for one in self.shared()]
                    self.visit(part, part.order(random, shuffle), passed, online, examples)
                    refuse_changes(before)
            except Cancelled:
                pass
        self.answer = ShardPass(passed, sharding.delta(base, dtype), examples, online)
        return self.answer

    cdef int visit(self, ShardPart part, order, PassResult passed, online, list examples) except -1:
        cdef Py_ssize_t before = passed.visited
        try:
            self.model.loop.run(passed, part.rows, part.gold, order, part.weights, online)
        except NotFinite as error:
            raise not_finite(part.rows, error.index, error.said) from None
        finally:
            if online is not None:
                examples.append(order[:passed.visited - before])
        return 0

    def shared(self):
        """The parts of which every shard has its own."""
        return [getattr(self.model.parts, kind) for kind in SHARED]


def refuse_changes(before):
    """Raises an error for parts that learn from steps, because mixing weights loses that. `before`: parts, states and attributes."""
    for part, state, attributes in before:
        after = state_of(part)
        for name, value in state.items():
            if name not in after or not np.array_equal(value, after[name]):
                raise PluginError(f"{type(part).__name__} has changed its state {name!r} by training steps, and shards mix nothing but "
                                  f"weights; set n_shards=1.")
        for name, value in remembered(part).items():
            if attributes.get(name, before) != value:
                raise PluginError(f"{type(part).__name__}.{name} has changed by training steps, and shards mix nothing but weights. "
                                  f"Set n_shards=1, or begin the name with _ where no step depends on it.")


def in_memory(*parts):
    """What opens a shard of these parts: one, or none."""
    return lambda random: nullcontext(parts)


class ShardPass:
    """What one pass of a shard did."""
    # delta: dict. As `structperc.core.weights.Sharding.delta` returns.
    # examples: list of int64 arrays. Those visited, in their order, where predictions are kept.
    # online: list or None. Predictions before each step.

    def __init__(self, passed, delta, examples, online=None):
        self.passed, self.delta, self.examples, self.online = passed, delta, examples, online


class LocalShards:
    """Shards of this process, and what a round asks of shards wherever they are."""
    # shards: list of Shard
    # seed: int. That of the random orders.
    # shuffle, keep: bool. Whether orders are random, and whether predictions before each step are kept.
    # n_threads: int. How many passes are made at once; no bit depends on it.

    def __init__(self, shards, seed, shuffle, keep, n_threads):
        self.shards, self.seed, self.shuffle, self.keep, self.n_threads = shards, seed, shuffle, keep, n_threads
        self.changed = None

    def train(self, weights, epoch):
        """Every shard's pass from these weights, a list of `ShardPass`."""
        for shard in self.shards:
            shard.answer = None
        return map_in_threads(lambda shard: shard.train(weights, self.seed, epoch, self.shuffle, self.changed, self.keep), self.shards,
                              self.n_threads)

    def finished(self):
        """The passes of a round that Ctrl-C has cut short, as far as they were made."""
        return [shard.answer for shard in self.shards if shard.answer is not None]

    def mixed(self, delta):
        """Told what the weights of the next round have changed by."""
        self.changed = delta["rows"]

    def end(self):
        """There are no more rounds."""


def shares_of(answers):
    """mu_i of each shard: its part of the examples visited."""
    visited = np.array([answer.passed.visited for answer in answers], dtype=float)
    return visited / max(visited.sum(), 1)


def counted(answers):
    """What all shards did together, added up in their order."""
    cdef PassResult total = PassResult(), passed
    for answer in answers:
        passed = answer.passed
        total.visited += passed.visited
        total.mistakes += passed.mistakes
        total.updates += passed.updates
        total.loss += passed.loss
    return total
