"""Slow twin of latent-ranking: document lists by sorting, the latent perceptron, and measures from their definitions."""

import itertools
import math

import numpy as np


def by_score(scores, documents):
    """Documents by falling score. Ties go to the earlier document."""
    return sorted(documents, key=lambda j: (-scores[j], j))


def top(scores, k):
    return tuple(by_score(scores, range(len(scores)))[:k])


def completion(scores, relevance, k):
    """The first k documents, relevant ones first, each group by score."""
    relevant = [j for j in range(len(scores)) if relevance[j]]
    others = [j for j in range(len(scores)) if not relevance[j]]
    return tuple((by_score(scores, relevant) + by_score(scores, others))[:k])


def lists(n, k):
    """All sets of min(k, n) documents."""
    return list(itertools.combinations(range(n), min(k, n)))


def loss(relevance, shown, k, kind="precision"):
    most = sum(sorted(relevance, reverse=True)[:len(shown)])
    divisor = k if kind == "precision" else sum(relevance)
    return (most - sum(relevance[j] for j in shown)) / divisor if divisor else 0.0


def precision(relevance, ranking, k):
    return sum(relevance[j] for j in ranking[:k]) / k


def average_precision(relevance, ranking, k=None):
    k = len(ranking) if k is None else k
    hits = [p for p, j in enumerate(ranking[:k]) if relevance[j]]
    most = min(k, sum(relevance))
    return sum((i + 1) / (p + 1) for i, p in enumerate(hits)) / most if most else 0.0


def ndcg(worth, ranking, k):
    def dcg(values):
        return sum(v / math.log2(p + 2) for p, v in enumerate(values[:k]))

    best = dcg(sorted(worth, reverse=True))
    return dcg([worth[j] for j in ranking]) / best if best else 0.0


def learn(queries, relevances, k, *, loss_weight=0.0, epochs=1, rate=lambda t: 1.0, decay=lambda t: 0.0, weights=None):
    """The latent perceptron: w <- (1 - decay) w + rate * weight * v, v = (1/k) (sum of the completion's rows - sum of the found list's).

    Returns the final w, the mean of w, the predicted list of each visit, and (loss, v) of each step.
    """
    w, shown, steps, t = np.zeros(queries[0].shape[1]), [], [], 0
    total = np.zeros_like(w)
    for _ in range(epochs):
        for i, (X, relevance) in enumerate(zip(queries, relevances, strict=True)):
            t += 1
            scores = X @ w
            shown.append(top(scores, k))
            found = top(scores - loss_weight * np.array(relevance, dtype=float), k)
            delta = loss(relevance, found, k)
            if delta > 0:
                kept = completion(scores, relevance, k)
                v = (X[list(kept)].sum(axis=0) - X[list(found)].sum(axis=0)) / k
                w = (1 - decay(t)) * w + rate(t) * (1 if weights is None else weights[i]) * v
                steps.append((delta, v))
            total += w
    return w, total / t, shown, steps
