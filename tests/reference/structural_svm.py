"""Structural support vector machines as quadratic programs over all structures, handed to a conic solver; and their objective, enumerated.

An example is (differences, losses): the rows Phi(x, gold) - Phi(x, y) and the losses of all y in Y(x), the gold one among them.
"""

import itertools

import numpy as np

from reference import projection


def examples_of(engine, X, y, offsets=None):
    """(differences, losses) of every example, from the parts of a fitted engine, by enumeration."""
    parts = engine.parts_
    rows = parts.reader.read(X, offsets)
    gold = parts.outputs.encode(y, rows)
    found = []
    for i in range(rows.n_examples):
        x = rows.example(i)
        x.n_atoms = parts.features.n_atoms(x)
        phi, losses = structures_of(parts, x, gold[i])
        right = parts.features.vector(x, parts.outputs.count(x, gold[i]))
        found.append((right - phi, losses))
    return found


def structures_of(parts, x, gold):
    """Phi(x, y) and the loss of every structure."""
    structures = list(parts.outputs.enumerate(x))
    phi = np.array([parts.features.vector(x, parts.outputs.count(x, y)) for y in structures])
    losses = np.array([parts.loss.value(gold, y, x) for y in structures])
    return phi, losses


def objective(w, examples, C, weights=None, margin=1.0):
    """1/2 ||w||^2 + C sum_i weight_i max over y of margin * loss - w . difference"""
    weights = np.ones(len(examples)) if weights is None else weights
    return w @ w / 2 + C * sum(c * (margin * losses - differences @ w).max()
                               for c, (differences, losses) in zip(weights, examples, strict=True))


def optimum(examples, C, weights=None, margin=1.0):
    """(w, objective): min 1/2 ||w||^2 + C sum_i weight_i slack_i  subject to  slack_i >= margin * loss - w . difference for all y."""
    n, d = len(examples), examples[0][0].shape[1]
    weights = np.ones(n) if weights is None else weights
    P = np.diag(np.append(np.ones(d), np.zeros(n)))
    q = np.append(np.zeros(d), C * np.asarray(weights, dtype=float))
    A, b = [], []
    for i, (differences, losses) in enumerate(examples):
        for difference, loss in zip(differences, losses, strict=True):
            A.append(np.concatenate([difference, np.eye(n)[i]]))
            b.append(margin * loss)
    w = projection.solve(P, q, np.array(A), np.array(b))[:d]
    return w, objective(w, examples, C, weights, margin)


# ---- pairs ----


def pairs(y, query):
    """All (i, j) of one query with y_i > y_j."""
    return [(i, j) for i in range(len(y)) for j in range(len(y)) if query[i] == query[j] and y[i] > y[j]]


def pairwise_objective(w, X, y, query, costs, squared):
    """1/2 ||w||^2 + sum over pairs of cost * max(0, 1 - w . (x_i - x_j)), or its square; costs by query 0, 1, ..."""
    violations = [(costs[query[i]], max(0.0, 1 - w @ (X[i] - X[j]))) for i, j in pairs(y, query)]
    return w @ w / 2 + sum(cost * violation ** (1 + squared) for cost, violation in violations)


def pairwise_optimum(X, y, query, costs, squared):
    """(w, objective) with a slack for each pair."""
    listed, d = pairs(y, query), X.shape[1]
    cost = np.array([costs[query[i]] for i, _ in listed])
    P = np.diag(np.append(np.ones(d), 2 * cost * squared))
    q = np.append(np.zeros(d), cost * (not squared))
    A = np.hstack([np.array([X[i] - X[j] for i, j in listed]), np.eye(len(listed))])
    A, b = np.vstack([A, np.eye(d + len(listed))[d:]]), np.append(np.ones(len(listed)), np.zeros(len(listed)))
    w = projection.solve(P, q, A, b)[:d]
    return w, pairwise_objective(w, X, y, query, costs, squared)


# ---- latent ----


def latent_objective(w, examples, C):
    """1/2 ||w||^2 + C sum_i (max over y of loss + w . Phi) - (max over y that agree of w . Phi); examples are (phi, losses, agrees)."""
    return w @ w / 2 + C * sum((losses + phi @ w).max() - (phi @ w)[agrees].max() for phi, losses, agrees in examples)


def completed(examples, chosen):
    """The convex problem in which the structures with these numbers are the gold ones."""
    return [(phi[h] - phi, losses) for (phi, losses, _), h in zip(examples, chosen, strict=True)]


def latent_optimum(examples, C):
    """The least J over all completions: exact, for tiny cases."""
    agreeing = [np.flatnonzero(agrees) for _, _, agrees in examples]
    return min(optimum(completed(examples, chosen), C)[1] for chosen in itertools.product(*agreeing))
