"""What a trained engine predicts. Each function is the method of `Engine` with its name.

A call reads `model_` once: another thread may put a new model there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from structperc.fitting.model import read_for, read_in_any_order
from structperc.fitting.options import n_threads
from structperc.fitting.threads import predicted

if TYPE_CHECKING:
    from structperc.engine.explanation import Explanation


def read(self, X, *, offsets=None, lengths=None, groups=None, allowed=None) -> Any:
    """Encode X once, for several methods of `model_`. Returns `Rows`. Raises `NotFittedError` before `fit`.
    Raises `DataError` if X does not fit the model.
    """
    return read_for(self.model_, X, offsets, lengths, groups, allowed)


def predict_rows(self, rows) -> np.ndarray:
    """`predict` of rows that `read` returned. Returns an ndarray of shape (n_examples,).

    Parameters
    ----------
    rows : Rows
        As `read` returns them.
    """
    return predicted(self.model_, rows, n_threads(self.n_jobs))


def predict_k_best(self, X, k, *, offsets=None, lengths=None, groups=None, allowed=None) -> list[list[tuple[Any, float]]]:
    """The k best structures of each example, each with its score (n-best list).

    Ties: the solver's rule decides. If all structures are enumerated, the earlier one comes first.
    Cost: that of the solver; for chains O(k) times that of `predict`.
    Raises `OptionError` if k is not a whole number from 1.
    Raises `PluginError` if the solver has no k best structures, and outputs are more than 100,000 or cannot be listed.

    Parameters
    ----------
    k : int
        Number of structures, at least 1.

    Returns
    -------
    list of n_examples lists of (output, score)
        Best first; fewer than k if there are fewer. Outputs have the form of `predict`, and the first is its prediction.
        Structures with the same atoms count once.

    Notes
    -----
    A score is w . Phi(x, y). Differences of scores, divided by `temperature_`, are differences of `log_probability`.
    Ordered labels are an exception: their probabilities are cumulative.

    Examples
    --------
    >>> from structperc import Engine
    >>> engine = Engine("multiclass", preset="paper", epochs=9).fit([[-1.0], [1.0], [3.0]], ["a", "b", "b"])
    >>> for output, score in engine.predict_k_best([[2.0]], k=2)[0]:
    ...     print(output, score)
    b 3.0
    a -3.0
    """
    model = self.model_
    return model.predict_k_best(read_for(model, X, offsets, lengths, groups, allowed), k)


def log_probability(self, X, y, *, offsets=None, lengths=None, groups=None, allowed=None) -> np.ndarray:
    """Log probability of given outputs, where p(y) is proportional to exp(score of y / `temperature_`).
    Returns a float64 array of shape (n_examples,). At most 0. For ordered labels, the logarithms of `predict_proba`.
    Raises `DataError` if an output is impossible for its example.
    Raises `PluginError` if the solver has no log partition function, and outputs are more than 100,000 or cannot be listed.

    Parameters
    ----------
    y : list of n_examples outputs
        In the form of `predict`.
    offsets, lengths, groups, allowed
        As in `fit`. With `allowed`, probabilities are those among the allowed outputs.

    Notes
    -----
    Training with a perceptron or a margin does not fit probabilities; set `calibrate` to fit a temperature.

    Examples
    --------
    >>> from structperc import Engine
    >>> engine = Engine("sequence", preset="paper", epochs=9).fit([[["the"], ["cat"]], [["cat"], ["the"]]], [["D", "N"], ["N", "D"]])
    >>> engine.log_probability([[["the"], ["cat"]]] * 2, [["D", "N"], ["N", "D"]]).round(3).tolist()
    [-0.053, -4.053]
    """
    model = self.model_
    return model.log_probability(read_for(model, X, offsets, lengths, groups, allowed), y)


def margins(self, X, *, offsets=None, lengths=None, groups=None, allowed=None) -> np.ndarray:
    """Margin of the best structure of each example: its score minus that of the runner-up.
    Raises `PluginError` if the problem's solver cannot find the two best structures.
    Returns a float64 array of shape (n_examples,). 0: a tie; inf: there is no other structure.
    """
    model = self.model_
    return model.margins(read_for(model, X, offsets, lengths, groups, allowed))


def optimality_gaps(self, X, *, offsets=None, lengths=None, groups=None, allowed=None) -> np.ndarray:
    """Upper bound on how much larger another structure's score may be than that of each prediction.
    Returns a float64 array of shape (n_examples,). 0: the prediction is optimal; inf: the solver is approximate and has no bound.
    """
    model = self.model_
    return model.optimality_gaps(read_for(model, X, offsets, lengths, groups, allowed))


def predict_marginals(self, X, *, offsets=None, lengths=None, groups=None, allowed=None, kind="sum") -> np.ndarray:
    """Marginals of the atoms of each example over all its structures. Raises `PluginError` if the problem's solver has no marginals.

    Parameters
    ----------
    kind : {"sum", "max"}, default "sum"
        "sum": the expected number of each atom if p(y) is proportional to `exp(score of y / temperature_)`. For single labels it is as
        in `predict_proba`. "max": the score of the best structure with the atom, -inf if there is none.

    Returns
    -------
    ndarray of shape (n_examples,), dtype object
        Arrays over atoms, or another form that the problem documents, such as (n_tokens, n_labels) for sentences.

    Notes
    -----
    Training with a perceptron or a margin does not fit probabilities; set `calibrate` to fit a temperature.
    """
    model = self.model_
    return model.marginals(read_for(model, X, offsets, lengths, groups, allowed), kind)


def atom_scores(self, X, *, offsets=None, lengths=None, groups=None) -> np.ndarray | list[np.ndarray]:
    """The scores w . phi(x, a) of all atoms a of each example.
    Returns a float64 array of shape (n_examples, n_atoms). A list of arrays if examples differ in their atoms.
    """
    model = self.model_
    return model.atom_scores(read_in_any_order(model, X, offsets, lengths, groups))


def label_scores(self, X, *, offsets=None, lengths=None, groups=None) -> np.ndarray:
    """The score of every label for each example, of problems with one label for each example.

    Ties: the label with the largest score is the prediction; at a tie the problem's rule decides.
    Raises `PluginError` if outputs are not one label for each example.
    Returns a float64 array of shape (n_examples, n_labels). Columns in the order of `classes_`.
    """
    model = self.model_
    return model.label_scores(read_in_any_order(model, X, offsets, lengths, groups))


def predict_proba(self, X, *, offsets=None, lengths=None, groups=None) -> np.ndarray:
    """Class probabilities of each example, of problems with one label for each example.
    Raises `PluginError` if outputs are not one label for each example; use `predict_marginals` there.
    Returns a float64 array of shape (n_examples, n_labels). Columns in the order of `classes_`; each row sums to 1.
    See also `label_scores` (scores instead of probabilities).

    Notes
    -----
    - Classes, and ordered labels with the update "log-loss": proportional to exp(`label_scores` / `temperature_`).
    - Ordered labels: P(y > k) = 1 / (1 + exp(-v_k / `temperature_`)), v the scores of the atoms "rank > k". Scores out of order are
      pooled. If `spread_` is positive, `spread_` * (c - k) is added to v_k / `temperature_`, where v changes its sign at c.
      The median is the prediction; the most probable label may be another one.

    Training with a perceptron or a margin does not fit probabilities; set `calibrate` to fit a temperature.

    Examples
    --------
    >>> from structperc import Engine
    >>> engine = Engine("prank", preset="paper", epochs=20).fit([[-1.0], [1.0], [3.0]], [1, 2, 3])
    >>> engine.predict_proba([[0.0], [9.0]]).round(3).tolist()
    [[0.731, 0.15, 0.119], [0.0, 0.001, 0.999]]
    """
    model = self.model_
    return model.probabilities(read_in_any_order(model, X, offsets, lengths, groups))


def explain(self, x, *, against=None, baseline=None, groups=None) -> Explanation:
    """Why x got its prediction: the margin over a rival, split exactly by atom and feature.

    The contribution of a column is its weight times its distance from a baseline. For a fixed winner and rival these are the Shapley
    values of the margin if columns are independent.

    Ordered labels that thresholds cut along one direction (`prank`) have no rival, unless `against` names one. Their contributions
    lead from the score of the baseline to that of x: what is positive raises the score, towards higher labels.

    A kernel has no weights of columns. The contribution of a training row is then its coefficient times its kernel value with x.
    Raises `OptionError` if there is no such baseline, a group names no column, or a kernel is asked for groups.
    Raises `DataError` if x is not one example.

    Parameters
    ----------
    x : one example
        As `predict` reads it.
    against : output, optional
        The rival, in the form in which `predict` returns outputs. Default: the runner-up, or with one direction none.
    baseline : {"mean", "zero"} or one row, optional
        Values that columns are compared with. "mean": the mean of the training rows, weighted by `sample_weight`; a row equal to it
        has no contributions. "zero": weight times value. A row: its values. Default: "mean" for rows of numbers, "zero" for named
        features, for kernels and for models without means.
    groups : dict of str to list, optional
        Columns, by name or number, whose contributions are summed under one name. Columns that the option `one_hot` made of one
        column are always a group.

    Returns
    -------
    structperc.engine.explanation.Explanation
        Contributions and constants sum to its `total`: the margin, or on the way to a score the score. The constant of an atom is
        its part at the baseline. Training rows of a kernel have the numbers of `support_`.

    See Also
    --------
    structperc.explain : pipelines and searches too.
    structperc.counterfactual : the smallest change that gets another prediction.

    References
    ----------
    S. M. Lundberg and S.-I. Lee: A unified approach to interpreting model predictions. Advances in Neural Information Processing
    Systems 30, pages 4765-4774, 2017.

    Examples
    --------
    >>> from structperc import Engine
    >>> engine = Engine("prank", preset="paper", epochs=9, scale=True).fit([[150.0, 1.0], [170.0, 3.0], [190.0, 2.0]], [1, 2, 3])
    >>> [c.feature for c in engine.explain([150.0, 3.0]).contributions]
    ['x[0]', '(constant)', 'x[1]']
    >>> [c.feature for c in engine.explain([170.0, 2.0]).contributions]         # the mean row
    ['(constant)']
    """
    from structperc.engine.explanation import explain

    model = self.model_
    return model.lock.read(explain, model, x, against, baseline, groups)
