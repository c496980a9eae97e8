"""Slow twins of the tree solvers: all trees over a few words, and direct implementations of the algorithms."""

import functools
import itertools

import numpy as np


@functools.cache
def arborescences(n, one_root=False):
    """The heads of all trees of n words, (n_trees, n): (n + 1)^(n - 1), or n^(n - 1) with one root."""
    found = [heads for heads in itertools.product(range(n + 1), repeat=n) if is_tree(heads)]
    trees = np.array(found, dtype=int).reshape(-1, n)
    return trees[(trees == 0).sum(axis=1) == 1] if one_root else trees


@functools.cache
def projective_trees(n, one_root=False):
    """The trees in which every word between a head and its dependent descends from the head."""
    trees = arborescences(n, one_root)
    return trees[[is_projective(heads) for heads in trees]]


def is_tree(heads):
    return all(0 in ancestors(heads, m) for m in range(1, len(heads) + 1))


def ancestors(heads, m):
    """A word and its ancestors, up to the root or around a cycle."""
    found = [m]
    while found[-1] and heads[found[-1] - 1] not in found:
        found.append(int(heads[found[-1] - 1]))
    return found


def is_projective(heads):
    return all(h in ancestors(heads, between) for m, h in enumerate(heads, start=1) for between in range(min(h, m) + 1, max(h, m)))


def tree_scores(scores, trees):
    """The sum of the arcs' scores of each tree."""
    return scores[trees, np.arange(1, scores.shape[0])].sum(axis=1)


def tarjan(scores, one_root=False):
    """The heads of the best tree, with the rule for ties of `max_arborescence`; None if there is no tree.

    Also returns the dual variables of the unconstrained problem: pairs of a set of words and its y.
    """
    n = len(scores) - 1
    reduced = {m: {h: scores[h, m] for h in range(n + 1) if h != m} for m in range(1, n + 1)}      # by node, then by head
    members = {m: (m,) for m in range(1, n + 1)}
    outermost = {m: m for m in range(n + 1)}
    children, head, y, done = {}, {}, {}, {0}

    def choose(v, heads):
        head[v] = max(heads, key=lambda h: reduced[v][h])               # the first among equals
        y[v] = reduced[v][head[v]]
        return y[v] > -np.inf

    def contract(cycle):
        new = max(members) + 1
        children[new], members[new] = cycle, sum((members[child] for child in cycle), ())
        outermost.update(dict.fromkeys(members[new], new))
        reduced[new] = {h: max(reduced[child][h] - y[child] for child in cycle) for h in range(n + 1) if h not in members[new]}
        return new

    def around(v):
        path = [v]
        while (v := outermost[head[v]]) not in (0, path[0]):
            path.append(v)
        return path if v else None

    for start in range(1, n + 1):
        path, v = [], outermost[start]
        while v not in done:
            if not choose(v, sorted(reduced[v])):
                return None
            path.append(v)
            v = outermost[head[v]]
            if v in path:
                at = path.index(v)
                path, v = path[:at], contract(path[at:])
        done.update(path)
    duals = [(members[v], y[v]) for v in y]
    hanging = sorted({v for m, v in outermost.items() if m and head[v] == 0}, key=lambda v: members[v][0])
    while one_root and len(hanging) > 1:
        losses = [y[v] - max((reduced[v][h] for h in reduced[v] if h), default=-np.inf) for v in hanging]
        i = max(range(len(losses)), key=lambda i: (-losses[i], i))      # the last among equals
        if losses[i] == np.inf:
            return None
        choose(hanging[i], sorted(h for h in reduced[hanging[i]] if h))
        cycle = around(hanging[i])
        if cycle is None:
            del hanging[i]
        else:
            hanging[i] = contract(cycle)
            choose(hanging[i], [0])
    for new in sorted(children, reverse=True):
        entered = max(children[new], key=lambda child: reduced[child][head[new]] - y[child])
        head[entered] = head[new]
    return np.array([head[m] for m in range(1, n + 1)], dtype=int), duals


def next_sibling(heads, m):
    """The next dependent of the same head, between word m and the head; the head itself if there is none."""
    h = heads[m - 1]
    inner = [s for s in range(min(h, m) + 1, max(h, m)) if heads[s - 1] == h]
    return h if not inner else max(inner) if m > h else min(inner)


def sibling_scores(siblings, trees):
    """The sum of the siblings' scores of each tree."""
    return np.array([sum(siblings[heads[m - 1], m, next_sibling(heads, m)] for m in range(1, len(heads) + 1)) for heads in trees])


def marginals_of(scores, trees, n):
    """log Z, and the probabilities of arcs and of siblings, if the probability of a tree is proportional to exp(score)."""
    best = scores.max()
    weights = np.exp(scores - best)
    arcs, siblings = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1, n + 1))
    for heads, p in zip(trees, weights / weights.sum(), strict=True):
        for m in range(1, n + 1):
            arcs[heads[m - 1], m] += p
            siblings[heads[m - 1], m, next_sibling(heads, m)] += p
    return best + np.log(weights.sum()), arcs, siblings


def eisner(scores, siblings=None, one_root=False):
    """The heads of the best projective tree, with the rule for ties of `projective_tree`: the first split of every span."""
    n = len(scores) - 1

    def first_best(candidates):
        return max(candidates, key=lambda found: found[0])

    def join(*spans):
        return sum(score for score, _ in spans), sum((arcs for _, arcs in spans), ())

    @functools.cache
    def right(i, j):
        """Words i..j with the head i."""
        return (0, ()) if i == j else first_best([join(arc(i, q), right(q, j)) for q in range(i + 1, j + 1)])

    @functools.cache
    def left(i, j):
        return (0, ()) if i == j else first_best([join(left(i, q), arc(j, q)) for q in range(i, j)])

    @functools.cache
    def pair(i, j):
        return first_best([join(right(i, q), left(q + 1, j)) for q in range(i, j)])

    @functools.cache
    def arc(h, m):
        i, j = min(h, m), max(h, m)
        if siblings is None:
            inside = pair(i, j)
        else:
            closest = left(i + 1, j) if h < m else right(i, j - 1)
            inside = first_best([join(closest, (siblings[h, m, h], ())), *(
                join(arc(h, s), pair(min(s, m), max(s, m)), (siblings[h, m, s], ())) for s in range(i + 1, j))])
        return join((scores[h, m], ((m, h),)), inside)

    if one_root:
        below = [join((scores[0, r] + (0 if siblings is None else siblings[0, r, 0]), ((r, 0),)), left(1, r), right(r, n))
                 for r in range(1, n + 1)]
        _, arcs = first_best(below)
    else:
        _, arcs = right(0, n)
    return [h for _, h in sorted(arcs)]
