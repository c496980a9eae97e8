"""Linear chains over all labellings and in plain dynamic programmes, and the online learners over their joint features.

A labelling is a tuple of labels 1..L, one per token. The number of an atom is

- t * L + a - 1 for label a at token t;
- after these, (a - 1) * L + b - 1 for the pair of b after a;
- after these, the first label, then the last label, if these have weights.

Ties go to the lowest label, from the last token back. Labellings are in this order: by their last label, then by the one before it.
"""

import itertools
from dataclasses import dataclass
from functools import cache

import numpy as np

from reference import enumerated

# ---- all labellings ----


@cache
def labellings(T, L):
    """All labellings of T tokens in the order of ties, (L ** T, T)."""
    return np.array([y[::-1] for y in itertools.product(range(1, L + 1), repeat=T)], dtype=int).reshape(L**T, T)


@cache
def counts(T, L, start=False, end=False):
    """How often each atom occurs in each labelling, (L ** T, n_atoms)."""
    table = []
    for y in labellings(T, L):
        tokens, pairs, first, last = np.zeros((T, L)), np.zeros((L, L)), np.zeros(L), np.zeros(L)
        for t, label in enumerate(y):
            tokens[t, label - 1] += 1
        for before, after in itertools.pairwise(y):
            pairs[before - 1, after - 1] += 1
        if T:
            first[y[0] - 1] += 1
            last[y[-1] - 1] += 1
        table.append(np.concatenate([tokens.ravel(), pairs.ravel(), *[first] * start, *[last] * end]))
    return np.array(table)


@dataclass
class Rules:
    """Truth values for labels from 0. `pairs[a, b]` allows b after a; `starts[a]` and `ends[a]` allow a as first and last label."""

    pairs: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    @classmethod
    def none(cls, L):
        return cls(np.ones((L, L), dtype=bool), np.ones(L, dtype=bool), np.ones(L, dtype=bool))

    def kept(self, T, allowed=None):
        """A mask of the labellings of T tokens that satisfy the rules and `allowed`, truth values of shape (T, L)."""
        Y = labellings(T, len(self.starts)) - 1
        ok = np.ones(len(Y), dtype=bool)
        if T:
            ok &= self.starts[Y[:, 0]] & self.ends[Y[:, -1]] & self.pairs[Y[:, :-1], Y[:, 1:]].all(axis=1)
        return ok if allowed is None else ok & allowed[np.arange(T), Y].all(axis=1)


# ---- dynamic programmes ----


@dataclass
class Chain:
    """Scores of tokens (T, L), transitions (L, L), start (L,) and end (L,). Forbidden entries are -inf."""

    tokens: np.ndarray
    transitions: np.ndarray
    start: np.ndarray
    end: np.ndarray

    @classmethod
    def of(cls, atoms, T, L, start, end, rules=None, allowed=None):
        """The scores of a chain from atom scores."""
        rules = rules or Rules.none(L)
        tokens, pairs, rest = atoms[:T * L].reshape(T, L), atoms[T * L:T * L + L * L].reshape(L, L), atoms[T * L + L * L:]
        return cls(
            tokens if allowed is None else np.where(allowed, tokens, -np.inf),
            np.where(rules.pairs, pairs, -np.inf),
            np.where(rules.starts, rest[:L] if start else 0.0, -np.inf),
            np.where(rules.ends, rest[-L:] if end else 0.0, -np.inf),
        )


def viterbi(chain):
    """The best labelling and its score; None if there is none."""
    found = k_best(chain, 1)
    return found[0] if found else None


def k_best(chain, k):
    """The k best (labelling, score), best first."""
    T, L = chain.tokens.shape
    if T == 0:
        return [((), 0.0)]
    lists = [[(chain.start[a] + chain.tokens[0, a], (a + 1,))] for a in range(L)]       # the best beginnings with each last label
    for t in range(1, T):
        lists = [first([(score + chain.transitions[a, b] + chain.tokens[t, b], (*y, b + 1)) for a in range(L) for score, y in lists[a]], k)
                 for b in range(L)]
    return [(y, score) for score, y in first([(score + chain.end[a], y) for a in range(L) for score, y in lists[a]], k)]


def first(pairs, k):
    """The k pairs (score, labelling) of largest score. Ties go to the lowest labels, from the last token back."""
    return sorted((pair for pair in pairs if pair[0] > -np.inf), key=lambda pair: (-pair[0], pair[1][::-1]))[:k]


def through(chain, plus):
    """For each atom, the sum (by `plus`) over the labellings with it, once per occurrence: (tokens, pairs, start, end).

    `plus` is np.maximum for max-marginals, and np.logaddexp for the logarithms of marginals before normalisation.
    """
    T, L = chain.tokens.shape
    before, after = np.tile(chain.start, (T, 1)), np.tile(chain.end, (T, 1))
    for t in range(1, T):
        before[t] = plus.reduce((before[t - 1] + chain.tokens[t - 1])[:, None] + chain.transitions, axis=0)
    for t in reversed(range(T - 1)):
        after[t] = plus.reduce(chain.transitions + (chain.tokens[t + 1] + after[t + 1]), axis=1)
    tokens, pairs = before + chain.tokens + after, np.full((L, L), -np.inf)
    for t in range(T - 1):
        pairs = plus(pairs, (before[t] + chain.tokens[t])[:, None] + chain.transitions + (chain.tokens[t + 1] + after[t + 1]))
    return tokens, pairs, tokens[0], tokens[-1]


def as_atoms(found, start, end):
    tokens, pairs, first_label, last_label = found
    return np.concatenate([tokens.ravel(), pairs.ravel(), *[first_label] * start, *[last_label] * end])


def marginals(chain, start, end):
    """The expected count of each atom in y, if p(y) is proportional to exp(score of y)."""
    found = through(chain, np.logaddexp)
    return np.exp(as_atoms(found, start, end) - np.logaddexp.reduce(found[0][-1]))


def max_marginals(chain, start, end):
    """The score of the best labelling with each atom."""
    return as_atoms(through(chain, np.maximum), start, end)


# ---- learning ----


class Sentences:
    """Joint features of sentences, arrays (n_tokens, d).

    Phi(x, y) begins with a block for each label: the sum of the rows of its tokens, with a constant 1 behind them. The counts of label
    pairs follow, then the indicators of the first and the last label.
    """

    name, ties = "sequence", "lowest"

    def __init__(self, L, d, intercept=True, start=False, end=False, rules=None):
        self.L, self.d, self.intercept, self.start, self.end = L, d, intercept, start, end
        self.labels, self.rules = range(1, L + 1), rules or Rules.none(L)

    def extended(self, X):
        return [np.column_stack([x, np.ones(len(x))]) if self.intercept else np.asarray(x, dtype=float) for x in X]

    def structures(self, T, allowed=None):
        """Y(x) of a sentence of T tokens."""
        return [tuple(y) for y in labellings(T, self.L)[self.rules.kept(T, allowed)].tolist()]

    def phi(self, x, y):
        blocks, rest = np.zeros((self.L, self.d + self.intercept)), np.zeros((self.L + 2, self.L))
        for row, label in zip(x, y, strict=True):
            blocks[label - 1] += row
        for before, after in itertools.pairwise(y):
            rest[before - 1, after - 1] += 1
        if y:
            rest[self.L, y[0] - 1], rest[self.L + 1, y[-1] - 1] = self.start, self.end
        return np.concatenate([blocks.ravel(), rest.ravel()])

    def shown(self, w):
        """The fitted attributes."""
        L, rest = self.L, w[self.L * (self.d + self.intercept):].reshape(self.L + 2, self.L)
        blocks = w[:L * (self.d + self.intercept)].reshape(L, -1)
        found = {"coef_": blocks[:, :self.d], "intercept_": blocks[:, -1] if self.intercept else np.zeros(L),
                 "transition_scores_": rest[:L]}
        return found | ({"start_scores_": rest[L]} if self.start else {}) | ({"end_scores_": rest[L + 1]} if self.end else {})

    def flat(self, engine):
        """The engine's weights in the space of Phi."""
        blocks = np.column_stack([engine.coef_, engine.intercept_]) if self.intercept else engine.coef_
        start = engine.start_scores_ if self.start else np.zeros(self.L)
        end = engine.end_scores_ if self.end else np.zeros(self.L)
        return np.concatenate([blocks.ravel(), engine.transition_scores_.ravel(), start, end])


def cost(table, gold, y):
    """The sum of the tokens' costs. Row g of `table` (L, L) is for the correct label g."""
    return float(sum(table[g - 1, k - 1] for g, k in zip(gold, y, strict=True)))


def learn(problem, X, y, table, *, update="perceptron", margin=1.0, loss_weight=0.0, C=1.0, epochs=1, sample_weight=None, allowed=None):
    """As `reference.enumerated.learn`, but each sentence has its own Y(x), and the costs of `table` add up over tokens.

    X : list of arrays (n_tokens, d); y : list of tuples of labels; allowed : list of (n_tokens, L) truth values or None
    """
    weights = np.ones(len(X)) if sample_weight is None else sample_weight
    listed = []
    for i, x in enumerate(problem.extended(X)):
        Y = problem.structures(len(x), None if allowed is None else allowed[i])
        listed.append((Y, [problem.phi(x, z) for z in Y], np.array([cost(table, y[i], z) for z in Y]), Y.index(tuple(y[i]))))
    trace = enumerated.Trace(np.zeros(len(listed[0][1][0])))
    total, visited = np.zeros_like(trace.w), 0
    for _ in range(epochs):
        mistakes = steps = 0
        for i, (Y, phi, costs, gold) in enumerate(listed):
            if weights[i] == 0:
                continue
            s = np.array([enumerated.dot(trace.w, vector) for vector in phi])
            found, gap = enumerated.best(s, problem.ties)
            trace.gap = min(trace.gap, gap)
            trace.online.append(Y[found - 1])
            if found - 1 != gold:
                mistakes += 1
                trace.loss += costs[found - 1]
            if loss_weight:
                found, gap = enumerated.best(s + loss_weight * costs, problem.ties)
                trace.gap = min(trace.gap, gap)
            if found - 1 != gold:
                delta = phi[gold] - phi[found - 1]
                h = margin * costs[found - 1] - enumerated.dot(trace.w, delta)
                tau = enumerated.factor(update, h, enumerated.dot(delta, delta), C * weights[i], weights[i])
                if tau:
                    trace.w = trace.w + tau * delta
                    trace.steps.append(enumerated.StepTaken(i, Y[gold], Y[found - 1], costs[found - 1], delta, h, tau))
                    steps += 1
            total += trace.w
            visited += 1
        trace.mistakes.append(mistakes)
        if steps == 0:
            trace.converged = True
            break
    trace.mean = total / visited
    return trace
