"""Decision stumps by exhaustive search, and AdaBoost.OR in exact arithmetic from its definition."""

from fractions import Fraction
from itertools import combinations_with_replacement


def every_stump(X, costs):
    """(cost, feature, direction, ranks by row) of all nondecreasing maps from the values of a column to ranks."""
    n_ranks = len(costs[0])
    for feature in range(len(X[0])):
        for direction in (1, -1):
            column = [direction * row[feature] for row in X]
            values = sorted(set(column))
            for ranks in combinations_with_replacement(range(1, n_ranks + 1), len(values)):
                answers = [ranks[values.index(value)] for value in column]
                yield sum(c[r - 1] for c, r in zip(costs, answers, strict=True)), feature, direction, answers


def best_stump(X, costs):
    """The stump of least cost. Ties go to the first feature, then to direction 1, then to the lowest ranks."""
    stumps = list(every_stump(X, costs))
    least = min(cost for cost, *_ in stumps)
    feature, direction = next((feature, direction) for cost, feature, direction, _ in stumps if cost == least)
    best = [answers for cost, *where, answers in stumps if cost == least and where == [feature, direction]]
    return least, feature, direction, [min(ranks) for ranks in zip(*best, strict=True)]


def reweighed(c, y, r, growth):
    """The costs of one example after a round with the prediction r for the correct rank y."""
    if r >= y:
        change = [0 if k <= y else c[k - 1] if k <= r else c[r - 1] for k in range(1, len(c) + 1)]
    else:
        change = [0 if k >= y else c[k - 1] if k >= r else c[r - 1] for k in range(1, len(c) + 1)]
    return [a + growth * b for a, b in zip(c, change, strict=True)]


def exact_rounds(X, y, costs, n_rounds):
    """(error, predictions, costs before) of each round with the best stump, as fractions, until no stump can be added."""
    costs = [[Fraction(value) for value in c] for c in costs]
    for _ in range(n_rounds):
        ends = sum(c[0] + c[-1] for c in costs)
        if ends == 0:
            return
        cost, _, _, answers = best_stump(X, costs)
        error = cost / ends
        if error >= Fraction(1, 2):
            return
        yield error, answers, costs
        if error == 0:
            return
        costs = [reweighed(c, right, r, (1 - 2 * error) / error) for c, right, r in zip(costs, y, answers, strict=True)]


def weighted_median(ranks, votes, n_ranks):
    """The largest maximiser of sum_t v_t (r_t - 1 - |y - r_t|)."""
    scores = [sum(v * (r - 1 - abs(y - r)) for r, v in zip(ranks, votes, strict=True)) for y in range(1, n_ranks + 1)]
    return max(y for y in range(1, n_ranks + 1) if scores[y - 1] == max(scores))
