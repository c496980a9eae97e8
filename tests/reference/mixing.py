"""Iterative parameter mixing as the papers write it: whole weight vectors, the mean as a sum over all visits."""

import numpy as np
from plain import Engine


def mixed(problem, X, y, n_shards, epochs, mixing="mean", **options):
    """The mixed weights of each shard's serial passes in file order, and their mean over all visits: two vectors.

    Each visit is one call of partial_fit of an engine without averages. X is a matrix, or a list of examples.
    """
    engine = Engine(problem, average=False, **options).fit(X, y)
    weights = engine.parts_.weights
    n, w, total, visits = len(y), np.zeros(len(weights.vector())), np.zeros(len(weights.vector())), 0
    for _ in range(epochs):
        arrived, shares, begun = [], [], visits
        for i in range(n_shards):
            weights.assign(w, begun)
            examples = range(n * i // n_shards, n * (i + 1) // n_shards)
            for t in examples:
                engine.partial_fit(X[t:t + 1], y[t:t + 1])
                total, visits = total + weights.vector(), visits + 1
            arrived.append(np.array(weights.vector()))
            shares.append(len(examples) / n)
        if mixing == "mean":
            w = sum(mu * one for mu, one in zip(shares, arrived, strict=True))
        else:
            steps = np.array(arrived) - w
            w = w + steps.sum(axis=0) * np.minimum(1, 2 / np.maximum(np.count_nonzero(steps, axis=0), 1))
    return w, total / visits
