"""What examples weigh: sample weights times the weights of their classes, as lengths of steps or as numbers of visits.

A passive-aggressive step ends as soon as the example has its margin, so a weight can lengthen nothing. It scales the C of the step, which
only acts if C is small. A weight of visits acts with every rule. An example that weighs as much as two is visited twice as often.
Each visit has a place of its own within the epoch, as if the data had the example twice.
"""

from __future__ import annotations

import itertools
import warnings
from fractions import Fraction

import numpy as np

from structperc.basics.errors import DataError, OptionError, WeightWarning, did_you_mean, shortened
from structperc.basics.exact_sums import exact_sum, exact_sums, rounded
from structperc.basics.plain_arrays import shuffled
from structperc.core.outputs import LabelOutputs
from structperc.core.updates import hardly_weighs
from structperc.fitting.option_values import read_class_weight
from structperc.reading.matrices import sample_weights

LOOKED_AT = 200            # rows, for the length of an average one


class NothingWeighs(DataError):
    """Examples of which none has a weight. Streams pass over such a part."""

    def __init__(self, message="all sample weights are zero, so there is nothing to learn from."):
        super().__init__(message)


def class_weights(wanted, labels, low, high=None, sample_weight=None) -> np.ndarray:
    """Weights of examples from weights of their labels.
    Raises `OptionError` if a key is not a label, or a weight is not a nonnegative number.
    Returns a float64 array of shape (n,) or None. None without weights of either kind.

    Parameters
    ----------
    wanted : None, "balanced" or dict
        None: no weights. "balanced": each label that occurs has the same total weight, and the total stays the same. A dict
        from labels to weights: other labels have the weight 1. A text may also name a number, as in files.
    labels : ndarray of shape (r,)
        The labels in order.
    low : int array of shape (n,)
        Codes of the examples' labels, from 1.
    high : int array of shape (n,), optional
        If given, an example has the labels from `low` to `high`, and their mean weight.
    sample_weight : float64 array of shape (n,), optional
        Other weights of the examples; the result is the product.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import class_weights
    >>> class_weights("balanced", np.array(["a", "b"]), np.array([1, 1, 1, 2])).round(3).tolist()
    [0.667, 0.667, 0.667, 2.0]
    """
    wanted = read_class_weight("class_weight", wanted)
    if wanted is None:
        return sample_weight
    high = low if high is None else high
    weights = np.ones(len(low)) if sample_weight is None else sample_weight
    of_labels = balanced(len(labels), label_sums(low, high, weights)) if isinstance(wanted, str) else from_dict(wanted, labels)
    sums = np.concatenate([[0.0], np.cumsum(of_labels)])
    means = np.where(low == high, of_labels[low - 1], (sums[high] - sums[low - 1]) / (high - low + 1))
    with np.errstate(over="ignore"):
        return weights * means


def label_sums(low, high, weights) -> dict:
    """The exact sum of the examples' weights for each pair of a lowest and a highest label that occurs."""
    base = int(high.max(initial=0)) + 1
    keys, where = np.unique(low.astype(np.int64) * base + high, return_inverse=True)
    return {divmod(key, base): total for key, total in zip(keys.tolist(), exact_sums(weights, where, len(keys)), strict=True)}


def balanced(n_labels, sums):
    """Weights of labels that make all labels that occur weigh the same, from `label_sums`."""
    steps = [Fraction(0)] * (n_labels + 1)
    for (low, high), total in sums.items():
        share = total / (high - low + 1)
        steps[low - 1] += share
        steps[high] -= share
    totals = np.array([rounded(total) for total in itertools.accumulate(steps[:-1])])
    occur = totals > 0
    return np.divide(rounded(sum(sums.values()) / max(int(occur.sum()), 1)), totals, where=occur, out=np.zeros(n_labels))


def from_dict(wanted, labels):
    """Weights of labels from a dict."""
    names = labels.tolist()
    texts = {str(label): label for label in names}
    weights = dict.fromkeys(names, 1.0)
    for key, weight in wanted.items():
        label = key if key in weights else texts.get(key)
        if label is None:
            raise OptionError(f"class_weight names {key!r}, which is none of the labels {shortened(names)}.{did_you_mean(key, texts)}")
        weights[label] = weight
    return np.array(list(weights.values()), dtype=float)


def by_class(wanted, model, rows, y, weights):
    """The sample weights times those of the classes."""
    if wanted is None:
        return weights
    outputs = model.parts.outputs
    if not isinstance(outputs, LabelOutputs):
        raise OptionError(f"class_weight weighs examples by the one label that each has, and {type(outputs).__name__} are no labels. Weigh "
                          f"examples by sample_weight, or set costs of mistakes by a matrix, loss=[[0, 1], [5, 0]].")
    codes = label_codes(outputs, y, rows)
    return sample_weights(class_weights(wanted, outputs.labels, codes[:, 0], codes[:, -1], weights), len(codes))


def counted(sample_weight, weights):
    """What rows count for scales, medians and means: their sample weights, 0 where the class weighs nothing. Else the same object."""
    if weights is None:
        return sample_weight
    counts = np.ones(len(weights)) if sample_weight is None else sample_weight
    return sample_weight if ((weights > 0) == (counts > 0)).all() else np.where(weights > 0, counts, 0.0)


def label_codes(outputs, y, rows):
    """The codes of the right labels, (n_examples, 1), or of the lowest and the highest one, (n_examples, 2)."""
    gold = outputs.encode(y, rows)
    return np.asarray(gold.values).reshape(len(gold), -1)


def visited(weights):
    """The weights, None where all are 1, and the examples that have one, None where all do."""
    active = None if weights.all() else np.flatnonzero(weights)
    if active is not None and len(active) == 0:
        raise NothingWeighs
    return None if (weights == 1).all() else weights, active


def expected_visits(weights, before):
    """How often each example is visited in an epoch, on average, and `before` with these examples. None where each is visited once."""
    # `before` has the number of examples with a weight, and the sum of their weights, a float or exact.
    kept = weights[weights > 0]
    same = (kept == kept[0]).all()
    n, total = before[0] + len(kept), Fraction(before[1]) + (Fraction(kept[0]) * len(kept) if same else exact_sum(kept))
    expected = weights * rounded(n / total) if total else weights
    once = same and (not before[0] or Fraction(kept[0]) * n == total)
    return None if once else expected, (n, rounded(total))


def drawn(expected, random, shuffle):
    """The examples of an epoch, an int64 array in which i occurs `expected[i]` times on average, by systematic sampling."""
    # i occurs whenever the sum up to i passes a whole number, counted from a random one. So i occurs as often as expected, rounded up or
    # down. In file order the visits of an example are spread evenly over the epoch.
    ends = np.floor(np.cumsum(expected) + random.random())
    copies = np.diff(ends, prepend=0.0).astype(np.int64)
    order = np.repeat(np.arange(len(expected)), copies)
    if shuffle:
        return shuffled(order, random)
    number = np.arange(len(order)) - np.repeat(np.cumsum(copies) - copies, copies)
    place = (order / len(expected) + number / copies[order]) % 1.0
    return order[np.argsort(place, kind="stable")]


def warn_of_weights(model, rows, weights) -> None:
    """Warns where weights scale the C of steps, and C is so large that steps hardly change."""
    if weights is None or rows.objects or not rows.n_rows:
        return
    kept = weights[weights > 0]
    if len(kept) and kept.min() < kept.max() and hardly_weighs(model.parts.update, kept.min(), kept.max(), mean_square(rows)):
        warnings.warn(f"sample weights from {kept.min():g} to {kept.max():g} hardly change the steps, since they only scale C, which is "
                      f"large. Train with weighting='visits', or with a smaller C.", WeightWarning, stacklevel=3)


def mean_square(rows):
    """The mean of ||x||^2 over some of the rows."""
    X = rows.X[::max(1, rows.n_rows // LOOKED_AT)]
    with np.errstate(all="ignore"):
        return float(np.square(X.tocsr().data if rows.sparse else X, dtype=float).sum() / X.shape[0])
