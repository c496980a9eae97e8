"""Tests of proportional odds: Brant's, and the likelihood ratio against a direction for each threshold.

The proportional-odds model has log P(y > k) / P(y <= k) = u . x - b_k, with one u for all thresholds k. Brant (1990) fits a binary logit to
each threshold and compares their directions by Wald's test. The likelihood ratio compares with u_k for each k. Both use ranks that y has.

Cost for n rows, d columns and K thresholds: O(n d^2 K^2), and O(n (d + K)^2) for each column.
"""

from __future__ import annotations

import attrs
import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import chdtrc, expit

from structperc.basics.errors import DataError, OptionError, PluginError, shortened
from structperc.basics.rows_of_numbers import to_dense
from structperc.core.outputs import is_ordered
from structperc.extras import require
from structperc.fitting.dependence import Dependence
from structperc.fitting.separation import separating
from structperc.inference.effect_sizes import ends_of, groups_of, names_at_the_door, names_of_columns, trained_engine
from structperc.inference.tables import in_degrees, latex_table, p_of, short
from structperc.pictures.markup import aligned, block, element, table
from structperc.reading.matrices import sample_weights

__all__ = ["OddsTests", "proportional_odds"]

ALL = "all columns"
ENOUGH = 1e-12              # of the log-likelihood: a Newton step that promises less is the last
MOST_STEPS = 100            # 5 to 10 are usual; a likelihood without maximum takes more
SUFFICIENT = 1e-4           # of the promised decrease (Armijo)
MOST_COLUMNS = 500          # times thresholds, as the cost grows with their cube
AGREE = "Brant's test finds no evidence against proportional odds ({brant})."
REJECT = "The odds are not proportional: Brant's test rejects it ({brant})."
NO_BRANT = "Brant's test has no value, since some columns separate the ranks at a threshold without error."
RATIO = "The likelihood ratio against a direction for each threshold {does} ({ratio})."
STRONGEST = "The evidence is strongest for {column} ({p})."
THEN = "Its odds ratio is an average over thresholds; CuSumRank has a direction for each."
NO_PROOF = "A test without evidence proves nothing, least of all with few rows."


@attrs.frozen(eq=False, repr=False)
class OddsTests:
    """Tests of proportional odds, as `proportional_odds` returns them.

    Attributes
    ----------
    columns : list of str
        "all columns", each column with several levels, and each column of the model.
    degrees : int array of shape (n_tests,)
        Degrees of freedom; 0: no test.
    brant, p_brant : float64 arrays of shape (n_tests,)
        Brant's statistic and its p value. nan: there is none.
    ratio, p_ratio : float64 arrays of shape (n_tests,)
        The likelihood-ratio statistic and its p value.
    level : float
        A p value below 1 - level is evidence.

    Examples
    --------
    >>> import numpy as np
    >>> import structperc
    >>> from structperc.estimators import PRank
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(300, 2))
    >>> y = np.digitize(X[:, 0] + random.logistic(size=300), [-1, 1]) + 1
    >>> tests = structperc.proportional_odds(PRank(trainer="cumulative-logit").fit(X, y), X, y)
    >>> tests.columns, tests.degrees.tolist()
    (['all columns', 'x[0]', 'x[1]'], [2, 1, 1])
    """

    columns: list
    degrees: np.ndarray
    brant: np.ndarray
    p_brant: np.ndarray
    ratio: np.ndarray
    p_ratio: np.ndarray
    level: float

    def conclusion(self) -> list[str]:
        """The result in words."""
        brant, ratio = (f"chi-square {statistic[0]:.2f} on {in_degrees(int(self.degrees[0]))}, {p_of(p[0])}"
                        for statistic, p in ((self.brant, self.p_brant), (self.ratio, self.p_ratio)))
        limit = 1 - self.level
        has_brant, rejected = not np.isnan(self.brant[0]), bool(self.p_ratio[0] < limit)
        by_brant = bool(self.p_brant[0] < limit) if has_brant else rejected
        sentences = [(REJECT if by_brant else AGREE).format(brant=brant) if has_brant else NO_BRANT]
        if has_brant:
            does = "agrees" if rejected == by_brant else "finds evidence" if rejected else "finds none"
        else:
            does = "rejects proportional odds" if rejected else "finds no evidence against proportional odds"
        sentences.append(RATIO.format(does=does, ratio=ratio))
        if not (by_brant or rejected):
            return [*sentences, NO_PROOF]
        p = (self.p_brant if by_brant and has_brant else self.p_ratio)[1:]
        if not np.isnan(p).all():
            strongest = 1 + int(np.nanargmin(p))
            sentences.append(STRONGEST.format(column=self.columns[strongest], p=p_of(np.nanmin(p))))
        return [*sentences, THEN]

    def head(self) -> tuple:
        """The names of the columns of `cells`. Returns a tuple of str."""
        return "column", "degrees of freedom", "Brant", "p", "likelihood ratio", "p"

    def cells(self) -> list[tuple]:
        """The table as texts. Returns a list of tuple of str."""
        def written(value):
            return "" if np.isnan(value) else f"{value:.2f}"

        return [(name, str(degrees), written(brant), short(p_brant), written(ratio), short(p_ratio))
                for name, degrees, brant, p_brant, ratio, p_ratio in zip(
                    self.columns, self.degrees.tolist(), self.brant, self.p_brant, self.ratio, self.p_ratio, strict=True)]

    def __repr__(self):
        return "\n".join([*aligned([self.head(), *self.cells()]), *self.conclusion()])

    def to_frame(self):
        """The table as a pandas DataFrame, indexed by column. Returns a pandas.DataFrame.
        Raises `MissingExtra` if pandas is not installed.
        """
        return require("pandas", "to_frame", "cli").DataFrame(
            {"degrees": self.degrees, "Brant": self.brant, "p (Brant)": self.p_brant, "likelihood ratio": self.ratio,
             "p (ratio)": self.p_ratio}, index=self.columns)

    def html(self) -> str:
        """The table as HTML, as notebooks show it."""
        return self._repr_html_()

    def _repr_html_(self):
        return block(table(self.cells(), self.head(), numbers=range(1, 6)),
                     *(element("p", sentence, class_="quiet") for sentence in self.conclusion()))

    def latex(self) -> str:
        """The table as LaTeX, without any package."""
        return latex_table(self.head(), self.cells(), self.conclusion())


def proportional_odds(model, X, y, level=0.95, *, sample_weight=None) -> OddsTests:
    """Test whether each column has the same odds ratio at every threshold: Brant's test, and a likelihood ratio.

    The tests concern the data and the columns of the model, whatever trained it. They train the proportional-odds model again.
    Returns `OddsTests`. Its text is the table and a conclusion in words.
    Raises `PluginError` if the model has no ordered labels, or columns are too many.
    Raises `DataError` if y has fewer than three ranks or intervals of ranks, or X has no column that varies.
    See also `structperc.effects` (odds ratios with intervals and p values).

    Parameters
    ----------
    model : Engine or estimator of ordered labels, or a pipeline or search around one
        Trained on X and y.
    X : array-like
        The training data, as in `fit`.
    y : sequence
        The training labels, one rank each.
    level : float in (0, 1), default 0.95
        A p value below 1 - level is called evidence.
    sample_weight : array of shape (n_examples,), optional
        Numbers of examples that each row counts for.

    References
    ----------
    R. Brant: Assessing proportionality in the proportional odds model for ordinal logistic regression. Biometrics 46, pages 1171-1178,
    1990.

    Examples
    --------
    >>> import numpy as np
    >>> import structperc
    >>> from structperc.estimators import CuSumRank
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(500, 2))
    >>> y = 1 + (X[:, 0] + random.logistic(size=500) > 0) * (1 + (X[:, 1] + random.logistic(size=500) > 0))
    >>> tests = structperc.proportional_odds(CuSumRank().fit(X, y), X, y)
    >>> print(tests.conclusion()[2])
    The evidence is strongest for x[1] (p < 0.001).
    """
    engine, X = trained_engine(model, X, "proportional_odds")
    if not (isinstance(level, (int, float)) and 0 < level < 1):
        raise OptionError(f"level={shortened(level)}; expected a number between 0 and 1, such as 0.95.")
    if not is_ordered(engine.parts_.outputs):
        called, others = names_at_the_door(model, "'prank' or 'cusum'", "PRank or CuSumRank")
        raise PluginError(f"odds are those of ordered labels, and {called} predicts other outputs; use {others}.")
    rows = engine.model_.read(X)
    weights = sample_weights(sample_weight, rows.n_examples)
    weights = np.ones(rows.n_examples) if weights is None else weights
    active = weights > 0
    low, high = ends_of(engine, rows, y)
    if (low != high)[active].any():
        raise DataError(f"label {int(np.flatnonzero((low != high) & active)[0])} is an interval of ranks; expected one rank for each "
                        f"example. Leave out rows with intervals.")
    ranks = np.unique(low[active], return_inverse=True)[1]
    n_thresholds = int(ranks.max(initial=0))
    if n_thresholds < 2:
        raise DataError("proportional odds need at least three ranks in y: with two there is only one threshold.")
    means = (weights @ rows.X) / weights.sum()
    levels = groups_of(engine, np.asarray(means).reshape(-1))
    dependence = Dependence.of(rows.X[active], [group.reference for group in levels])
    columns = dependence.columns
    if not len(columns):
        raise DataError("no column of X varies, so there are no odds to compare.")
    if len(columns) * n_thresholds > MOST_COLUMNS:
        raise PluginError(f"{len(columns)} columns at {n_thresholds} thresholds have {len(columns) * n_thresholds} odds ratios, more than "
                          f"{MOST_COLUMNS}; test fewer columns.")
    Z = rows.X[active][:, columns]
    Z = (to_dense(Z) - dependence.mean[columns]) / dependence.spread[columns]
    names = names_of_columns(model, engine, rows.n_features)
    undetermined = np.concatenate([[], *dependence.sets()])
    tests = [(ALL, list(range(len(columns))))]
    for i, j in enumerate(columns.tolist()):
        for group in levels:
            places = np.flatnonzero(np.isin(columns, group.columns)).tolist()
            if len(places) > 1 and i == places[0]:
                tests.append((group.name, places))
        if j not in undetermined:
            tests.append((names[j], [i]))
    return tested(Z, ranks, n_thresholds, weights[active], tests, float(level))


def tested(Z, ranks, n_thresholds, weights, tests, level) -> OddsTests:
    """Both tests of sets of columns; ranks count from 0."""
    directions, covariance = binary_logits(Z, ranks, n_thresholds, weights)
    common = maximum(Z, ranks, n_thresholds, weights, [])
    statistics = []
    for _, places in tests:
        degrees = len(places) * (n_thresholds - 1)
        brant = wald_of_differences(directions, covariance, places)
        free = maximum(Z, ranks, n_thresholds, weights, places, common)
        statistics.append((degrees, brant, max(2 * (common.value - free.value), 0.0)))
    degrees, brant, ratio = map(np.array, zip(*statistics, strict=True))
    return OddsTests([name for name, _ in tests], degrees, brant, chdtrc(degrees, brant), ratio, chdtrc(degrees, ratio), level)


def binary_logits(Z, ranks, n_thresholds, weights):
    """The direction of a logit at each threshold, and Brant's covariance of all of them; nan: a threshold has none that is finite."""
    d, X = Z.shape[1], np.column_stack([Z, np.ones(len(Z))])
    directions, chances, inverses = [], [], []
    for k in range(n_thresholds):
        above = (ranks > k).astype(int)
        if separating(Z, above + 1, above + 1, 2).shape[1]:
            return np.full((n_thresholds, d), np.nan), np.full((n_thresholds * d,) * 2, np.nan)
        fit = maximum(Z, above, 1, weights, [])
        chance = expit(Z @ fit.theta[:d] - fit.theta[d])
        directions.append(fit.theta[:d])
        chances.append(chance)
        inverses.append(np.linalg.inv(X.T @ (X * (weights * chance * (1 - chance))[:, None])))
    covariance = np.empty((n_thresholds, d, n_thresholds, d))
    for k in range(n_thresholds):
        for m in range(k, n_thresholds):
            both = weights * chances[m] * (1 - chances[k])              # of y > k and y > m
            part = (inverses[k] @ (X.T @ (X * both[:, None])) @ inverses[m])[:d, :d]
            covariance[k, :, m], covariance[m, :, k] = part, part.T
    return np.array(directions), covariance.reshape(n_thresholds * d, n_thresholds * d)


def wald_of_differences(directions, covariance, places):
    """Wald's statistic of equal weights of some columns at all thresholds."""
    if np.isnan(directions).any():
        return np.nan
    n_thresholds, d = directions.shape
    at = (np.arange(n_thresholds)[:, None] * d + places).reshape(-1)
    contrast = np.kron(np.column_stack([-np.ones(n_thresholds - 1), np.eye(n_thresholds - 1)]), np.eye(len(places)))
    difference = contrast @ directions[:, places].reshape(-1)
    middle = contrast @ covariance[np.ix_(at, at)] @ contrast.T
    return float(difference @ np.linalg.lstsq(middle, difference, rcond=None)[0])


@attrs.frozen(eq=False)
class Maximum:
    """Where a likelihood is largest."""
    # theta: float64 array of shape (d + K * (1 + n_free) - n_free,). The weights at the first threshold, the thresholds, and what the
    # weights of free columns add at each further threshold.
    # value: float. The negative log-likelihood.

    theta: np.ndarray
    value: float


class FreeDirections:
    """The negative log-likelihood of ranks, where some columns have a weight for each threshold.

    The score of a row at threshold k is linear in theta. Rows of one rank have the same two thresholds, so their derivatives are computed
    together. The likelihood is concave in scores that fall from threshold to threshold (Pratt 1981), which log(1 - exp(B - A)) enforces.
    """

    def __init__(self, Z, ranks, n_thresholds, weights, free):
        self.n_thresholds, d, f = n_thresholds, Z.shape[1], len(free)
        self.n_parameters = d + n_thresholds + f * (n_thresholds - 1)
        self.rows = []
        for rank in range(n_thresholds + 1):
            here = ranks == rank
            if here.any():
                own = Z[here]
                ends = [None if not 0 <= k < n_thresholds else self.design(own, free, k) for k in (rank - 1, rank)]
                self.rows.append((weights[here], *ends))

    def design(self, Z, free, k):
        d, f = Z.shape[1], len(free)
        matrix = np.zeros((len(Z), self.n_parameters))
        matrix[:, :d], matrix[:, d + k] = Z, -1.0
        if k and f:
            start = d + self.n_thresholds + f * (k - 1)
            matrix[:, start:start + f] = Z[:, free]
        return matrix

    def value(self, theta):
        """The negative log-likelihood; infinite where scores of a row are out of order."""
        total = 0.0
        for weights, below, above in self.rows:
            A = None if below is None else below @ theta
            B = None if above is None else above @ theta
            L = (0 if A is None else np.logaddexp(0, -A)) + (0 if B is None else np.logaddexp(0, B))
            if A is not None and B is not None:
                if not (A > B).all():
                    return np.inf
                L = L - np.log(-np.expm1(B - A))
            total += float(weights @ L)
        return total

    def derivatives(self, theta):
        """Gradient and Hessian."""
        gradient, hessian = np.zeros(len(theta)), np.zeros((len(theta),) * 2)
        for weights, below, above in self.rows:
            barrier = 0.0
            if below is not None and above is not None:
                barrier = 1 / np.expm1(np.minimum((below - above) @ theta, 700.0))
                between = below - above
                hessian += between.T @ (between * (weights * barrier * (1 + barrier))[:, None])
            for side, matrix in ((-1, below), (1, above)):
                if matrix is not None:
                    chance = expit(side * (matrix @ theta))
                    gradient += side * (matrix.T @ (weights * (chance + barrier)))
                    hessian += matrix.T @ (matrix * (weights * chance * (1 - chance))[:, None])
        return gradient, hessian


def maximum(Z, ranks, n_thresholds, weights, free, start=None) -> Maximum:
    """The maximum of the likelihood with some free columns, from that without them or from the shares of the ranks."""
    model, d = FreeDirections(Z, ranks, n_thresholds, weights, free), Z.shape[1]
    theta = np.zeros(model.n_parameters)
    if start is None:
        reached = np.cumsum(np.bincount(ranks, weights, n_thresholds + 1))[:-1] / weights.sum()
        theta[d:d + n_thresholds] = np.log(reached / (1 - reached))
    else:
        theta[:len(start.theta)] = start.theta
    value = model.value(theta)
    for _ in range(MOST_STEPS):
        gradient, hessian = model.derivatives(theta)
        step = descent(hessian, gradient)
        promised, size = -float(gradient @ step), 1.0
        if promised <= ENOUGH * max(value, 1.0):
            break
        while (reached := model.value(theta + size * step)) > value - SUFFICIENT * size * promised and size > 1e-10:
            size /= 2
        if reached >= value:
            break
        theta, value = theta + size * step, reached
    return Maximum(theta, value)


def descent(hessian, gradient):
    """Newton's step; along flat directions 0."""
    try:
        return -cho_solve(cho_factor(hessian), gradient)
    except np.linalg.LinAlgError:
        return -np.linalg.lstsq(hessian, gradient, rcond=1e-12)[0]
