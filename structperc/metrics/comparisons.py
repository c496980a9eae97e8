"""Two models on the same examples: paired measures, right and wrong predictions, and an exact test."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.basics.errors import DataError, OptionError, shortened
from structperc.basics.labels import is_listed
from structperc.core.outputs import is_ordered
from structperc.metrics.engines import Judged, model_of, same
from structperc.metrics.intervals import OF_EXACT_LABELS
from structperc.pictures.markup import aligned, block, element, excerpt, table
from structperc.reading.groups import Groups

BLOCKS = 20                 # of examples, each left out once
LEVEL = 0.95
LISTED = 10                 # examples in the table of differing predictions, at most


@attrs.frozen
class Measured:
    """A measure of two models, and its difference: the second model minus the first.

    Attributes
    ----------
    name : str
        Name of the measure.
    first, second : float
        Its values.
    difference : float
        second - first
    standard_error : float
        Of the difference, by the jackknife over blocks of examples. NaN if one block has all that the measure needs.
    low, high : float
        Ends of the 95 % confidence interval of the difference.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.metrics import compare
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1, 1, 2, 2]
    >>> first, second = (Engine(problem, epochs=9, preset="paper").fit(X, y) for problem in ("cusum", "prank"))
    >>> measure = compare(first, second, X, y).measures[0]
    >>> measure.name, measure.difference
    ('mean absolute error', 0.0)
    """

    name: str
    first: float
    second: float
    difference: float
    standard_error: float
    low: float
    high: float


@attrs.frozen(eq=False)
class Comparison:
    """Result of `compare`.

    Attributes
    ----------
    n_examples : int
        Number of examples compared.
    measures : list of Measured
        The measures that both models have.
    both_right, first_right, second_right, neither_right : int
        Number of examples that both models, only the first, only the second, or neither predict correctly.
    p_value : float
        Two-sided p-value of McNemar's exact test on the examples that only one model predicts correctly. 1 if there are none.
    disagreements : list of (int, label, label, label)
        Number from 0, right label, first and second prediction of each example whose predictions differ.
    names : pair of str
        Names of the models.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.metrics import compare
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1, 1, 2, 2]
    >>> first, second = (Engine(problem, epochs=9, preset="paper").fit(X, y) for problem in ("cusum", "prank"))
    >>> found = compare(first, second, X, y)
    >>> found.n_examples, found.both_right
    (4, 4)
    """

    n_examples: int
    measures: list
    both_right: int
    first_right: int
    second_right: int
    neither_right: int
    p_value: float
    disagreements: list
    names: tuple = ("first", "second")

    def tables(self) -> list:
        """The comparison as tables of text.
        Returns a list of (str, list of list). A caption and the rows of each table; the first row is the head.
        """
        first, second = self.names
        measures = [["measure", first, second, "difference", "std. error", "95 % ±"]]
        for m in self.measures:
            measures.append([m.name, f"{m.first:.4f}", f"{m.second:.4f}", f"{m.difference:+.4f}", f"{m.standard_error:.4f}",
                             f"{m.high - m.difference:.4f}"])
        right = [["", f"{second} right", f"{second} wrong"], [f"{first} right", str(self.both_right), str(self.first_right)],
                 [f"{first} wrong", str(self.second_right), str(self.neither_right)]]
        parts = [(f"{first} and {second} on the same {self.n_examples} examples", measures),
                 (f"right and wrong; exact test of McNemar, two-sided: p = {self.p_value:.3g}", right)]
        if self.disagreements:
            rows = [["row", "right", first, second]]
            rows += [[str(i + 1), *(excerpt(answer, 24) for answer in answers)] for i, *answers in self.disagreements[:LISTED]]
            n = len(self.disagreements)
            parts.append((f"predictions differ in {n} examples" + (f"; the first {LISTED}" if n > LISTED else ""), rows))
        return parts

    def __str__(self):
        return "\n".join("\n".join([title, *aligned(rows)]) for title, rows in self.tables())

    def _repr_html_(self):
        return block(*(part for title, (head, *rows) in self.tables()
                       for part in (element("p", title), table(rows, head, numbers=range(1, len(head))))))


def compare(first, second, X, y, offsets=None, *, lengths=None, groups=None, X_second=None, names=("first", "second")) -> Comparison:
    """Compare two trained engines on the same test examples: measures, standard errors of differences, and a significance test.
    Raises `DataError` if the engines have different labels, y does not fit X, or there are fewer than two examples.
    Raises `OptionError` if `names` is no pair.

    Parameters
    ----------
    first, second : Engine
        Trained engines with the same labels.
    X, y, offsets
        Test examples, as in `Engine.fit`. Neither engine may have been trained on them.
    lengths, groups
        As in `Engine.fit`.
    X_second : same type as X, optional
        Features of the same examples for the second engine, if it needs other features. Default: X.
    names : pair of str, default ("first", "second")
        Names of the models in the tables.

    Notes
    -----
    Standard errors are jackknife estimates over 20 blocks of examples, or fewer if there are fewer examples. Blocks are shuffled by a
    fixed seed. Both models see the same examples, so what makes an example hard for both cancels. The interval uses Student's t with one
    degree of freedom less than blocks. The examples must be independent. Intervals of several measures are not corrected for multiple
    comparisons. A standard error is NaN if one block has all that a measure needs, such as all known labels.

    References
    ----------
    Q. McNemar: Note on the sampling error of the difference between correlated proportions or percentages. Psychometrika 12, 1947.

    J. W. Tukey: Bias and confidence in not quite large samples. Annals of Mathematical Statistics 29, 1958.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.metrics import compare
    >>> X, y = [[-2.0], [-1.0], [0.5], [2.0]], [1, 1, 2, 2]
    >>> few, many = (Engine("cusum", preset="paper", epochs=epochs).fit(X, y) for epochs in (1, 9))
    >>> comparison = compare(few, many, X, y)
    >>> comparison.both_right, comparison.first_right, comparison.second_right, comparison.p_value
    (3, 0, 1, 1.0)
    """
    if not is_listed(names) or len(names) != 2:
        raise OptionError(f"names={shortened(names)}; expected a pair of texts, a name for each model.")
    models = [model_of(first, "first"), model_of(second, "second")]
    refuse_other_labels(*(model.context.labels for model in models), all(is_ordered(model.parts.outputs) for model in models))
    judged = []
    for model, rows in zip(models, (X, X if X_second is None else X_second), strict=True):
        data = Groups(rows, offsets, lengths, groups)
        read = model.read(data.X, data.offsets)
        judged.append(Judged.of(model, read, data.by_rows(y), model.predict(read)))
    return comparison_of(*judged, names)


def comparison_of(first, second, names) -> Comparison:
    """`compare` of what two models have predicted for the same examples, `Judged` of each."""
    judged = first, second
    n = len(judged[0].right)
    if n < 2:
        raise DataError(f"the engines read {n} example{'s' * (n != 1)}; expected at least 2, since errors come from leaving some out.")
    a, b = (one.right for one in judged)
    first_right, second_right = int((a & ~b).sum()), int((b & ~a).sum())
    differing = [(i, judged[0].gold[i], *(one.predicted[i] for one in judged)) for i in range(n)
                 if not same(judged[0].predicted[i], judged[1].predicted[i])]
    return Comparison(n, differences(*judged), int((a & b).sum()), first_right, second_right, int((~a & ~b).sum()),
                      exact_test(first_right, second_right), differing, tuple(names))


def refuse_other_labels(first, second, ordered) -> None:
    """Raises an error for models with different labels."""
    a, b = ([] if labels is None else list(labels) for labels in (first, second))
    if (a != b) if ordered else (set(a) != set(b)):
        raise DataError(f"the engines know different labels, {excerpt(', '.join(map(str, a)))} and {excerpt(', '.join(map(str, b)))}; "
                        f"compare engines that were trained with the same labels.")


def differences(first, second) -> list:
    """The measures that both have, with the jackknife's error of their difference."""
    from scipy.special import stdtrit  # a tenth of a second, for those who compare

    n = len(first.right)
    blocks = np.array_split(np.random.default_rng(0).permutation(n), min(n, BLOCKS))
    whole = first.measures(), second.measures()
    names = [name for name in whole[0] if name in whole[1]]
    without = []
    for left_out in blocks:
        kept = np.setdiff1d(np.arange(n), left_out)
        a, b = (of_some(one.part(kept), names) for one in (first, second))
        without.append(b - a)
    k = len(blocks)
    errors = np.sqrt((k - 1) / k * ((np.array(without) - np.mean(without, axis=0)) ** 2).sum(axis=0))
    reach = stdtrit(k - 1, (1 + LEVEL) / 2) * errors
    rows = []
    for name, error, width in zip(names, errors.tolist(), reach.tolist(), strict=True):
        a, b = whole[0][name], whole[1][name]
        rows.append(Measured(name, a, b, b - a, error, b - a - width, b - a + width))
    return rows


def of_some(judged, names) -> np.ndarray:
    """Measures of some examples by the names that all examples have, NaN where there is nothing to measure."""
    try:
        values = judged.own_measures()
    except DataError:
        values = {}
    values |= judged.mean_loss()
    return np.array([values.get(name, values.get(OF_EXACT_LABELS.get(name), np.nan)) for name in names])


def exact_test(first, second) -> float:
    """The probability that first + second tosses of a fair coin split at least as unevenly."""
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(first, second), first + second, 0.5))) if first + second else 1.0
