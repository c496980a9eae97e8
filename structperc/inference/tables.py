"""Tables of effects: what a report shows of them, as text, frame, HTML, LaTeX and forest plot."""

from __future__ import annotations

import attrs
import numpy as np
from scipy.special import chdtrc

from structperc.extras import require
from structperc.pictures.markup import aligned, block, element, table

__all__ = ["Effects", "Likelihood"]

REFERENCE, CONSTANT, NO_ROWS, DEPENDENT, ENDLESS = "reference", "constant", "no rows", "dependent", "no finite effect"
MEANING = {
    REFERENCE: "other levels are compared with this one, whose effect is 0",
    NO_ROWS: "no row has this level, so nothing is known of its effect",
    DEPENDENT: "these columns depend on each other, so the data determine only some of their sums and differences",
    ENDLESS: "the column separates some ranks from all others without error, so that the likelihood has no maximum",
}
TITLES = {"direction": "relative weight", "log-odds": "log odds of a higher rank", "odds-ratio": "odds ratio of a higher rank"}
LATEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
         "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}"}
MOST_TICKS = 7              # on the axis of a picture


@attrs.frozen
class Likelihood:
    """The log-likelihood of a model, and what reports compute of it.

    Attributes
    ----------
    log_likelihood, null_log_likelihood : float
        Of the model, and of the thresholds without any column.
    n_parameters, n_thresholds : int
        Coefficients that the data determine and thresholds; and thresholds.
    n_examples : float
        The sum of the examples' weights.

    Examples
    --------
    >>> from structperc.inference.tables import Likelihood
    >>> fit = Likelihood(-358.51, -370.60, 5, 2, 400.0)
    >>> round(fit.aic, 2), round(fit.bic, 2), round(fit.ratio, 2), fit.degrees, round(fit.p_value, 6)
    (727.02, 746.98, 24.18, 3, 2.3e-05)
    """

    log_likelihood: float
    null_log_likelihood: float
    n_parameters: int
    n_thresholds: int
    n_examples: float

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 n_parameters - 2 log-likelihood."""
        return 2 * self.n_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """The Bayesian criterion, log(n_examples) n_parameters - 2 log-likelihood."""
        return float(np.log(self.n_examples)) * self.n_parameters - 2 * self.log_likelihood

    @property
    def ratio(self) -> float:
        """The likelihood-ratio statistic against the thresholds without any column."""
        return 2 * (self.log_likelihood - self.null_log_likelihood)

    @property
    def degrees(self) -> int:
        """Degrees of freedom of `ratio`."""
        return self.n_parameters - self.n_thresholds

    @property
    def p_value(self) -> float:
        """The p value of `ratio`."""
        return float(chdtrc(self.degrees, self.ratio)) if self.degrees else 1.0

    def sentences(self) -> list[str]:
        """The numbers in words."""
        return [f"Log-likelihood {self.log_likelihood:.3f}, {self.n_parameters} parameters, {self.n_examples:g} examples: "
                f"AIC {self.aic:.3f}, BIC {self.bic:.3f}.",
                f"All columns against none: chi-square {self.ratio:.2f} on {in_degrees(self.degrees)}, {p_of(self.p_value)}."]


@attrs.frozen
class Term:
    """A test of all levels of a column at once."""
    # name: str. The column of the table.
    # ratio: float. The likelihood-ratio statistic against the model without the column.

    name: str
    ratio: float
    degrees: int
    p_value: float

    def sentence(self) -> str:
        """The test in words."""
        return f"All levels of {self.name}: chi-square {self.ratio:.2f} on {in_degrees(self.degrees)}, {p_of(self.p_value)}."


@attrs.frozen(eq=False, repr=False)
class Effects:
    """Effects of columns with confidence intervals, as `effects` returns them.

    Attributes
    ----------
    columns : list of str
        Names of the columns of X.
    effect, lower, upper : float64 arrays of shape (n_features,)
        The effect in the model itself, and the ends of its interval.
    scale : {"direction", "log-odds", "odds-ratio"}
        Unit of the effects.
    level : float
        Level of the intervals.
    n_boot : int
        Number of refits; 0 for intervals without refits.
    note : str
        Meaning of the numbers, for a caption.
    remarks : list of str
        What the data leave open about a column, an empty text for most. "reference": other levels of its column are compared with it.
        "no rows": a level without rows. "constant": a column with one value. "dependent": a column that depends on others.
        "no finite effect": it separates some ranks from all others, so that log odds grow without end.
    per : list of str
        The rise of each column that its effect belongs to: "1", "10", "SD 11.9", "1 day", "1 level" for ordered categories, or "vs placebo"
        for a level.
    groups : list of str
        The column of the table that each column belongs to.
    p_wald, p_ratio : float64 arrays of shape (n_features,), or None
        p values of the hypothesis that the column has no effect, by Wald's test and by the likelihood ratio. nan: there is none.
    terms : list of Term
        A test of each column with several levels.
    fit : Likelihood or None
        Log-likelihood, AIC and BIC of the model.

    Examples
    --------
    >>> import numpy as np
    >>> import structperc
    >>> from structperc.estimators import PRank
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(60, 2))
    >>> y = 1 + (X[:, 0] > 0)
    >>> table = structperc.effects(PRank(random_state=0).fit(X, y), X, y, n_boot=39, random_state=0)
    >>> table.scale, bool(table.effect[0] > table.effect[1])
    ('direction', True)
    """

    columns: list
    effect: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    scale: str
    level: float
    n_boot: int
    note: str
    remarks: list = attrs.field(factory=list)
    per: list = attrs.field(factory=list)
    groups: list = attrs.field(factory=list)
    p_wald: np.ndarray = None
    p_ratio: np.ndarray = None
    terms: list = attrs.field(factory=list)
    fit: Likelihood = None

    def rows(self) -> list[tuple]:
        """The table as tuples. Returns a list of (str, float, float, float). Column, effect, lower and upper end."""
        return list(zip(self.columns, *(values.tolist() for values in (self.effect, self.lower, self.upper)), strict=True))

    def cells(self) -> list[tuple]:
        """The table as texts, under the names of `head`. Returns a list of tuple of str."""
        form = "{:.3f}" if self.is_ratio else "{:+.3f}"
        cells = [[name, *self.per[j:j + 1], *map(form.format, values)] for j, (name, *values) in enumerate(self.rows())]
        for j, row in enumerate(cells):
            if self.p_wald is not None:
                row += [short(self.p_wald[j]), short(self.p_ratio[j])]
            if self.has_remarks:
                row.append(self.remarks[j])
        return [tuple(row) for row in cells]

    def head(self) -> tuple:
        """The names of the columns of `cells`: column, per, effect or odds ratio, both ends, p values and the remarks, where there are any.
        Returns a tuple of str.
        """
        return ("column", *(["per"] if self.per else []), "odds ratio" if self.is_ratio else "effect", "lower", "upper",
                *(["p (Wald)", "p (ratio)"] if self.p_wald is not None else []), *(["remark"] if self.has_remarks else []))

    @property
    def is_ratio(self) -> bool:
        """Whether the effects are odds ratios, of which 1 is none."""
        return self.scale == "odds-ratio"

    @property
    def has_remarks(self) -> bool:
        """Whether there is a remark on some column."""
        return any(self.remarks)

    def notes(self) -> list[str]:
        """The sentences below the table: the note, tests, the likelihood, and what the remarks mean."""
        return [self.note, *(term.sentence() for term in self.terms), *(self.fit.sentences() if self.fit is not None else []),
                *(f"{remark}: {meaning}." for remark, meaning in MEANING.items() if remark in self.remarks)]

    def __repr__(self):
        return "\n".join([*aligned([self.head(), *self.cells()]), *self.notes()])

    def to_frame(self):
        """The table as a pandas DataFrame, indexed by column, with the columns of `head`; numbers are not rounded.
        Returns a pandas.DataFrame. Raises `MissingExtra` if pandas is not installed.
        """
        columns = {"per": self.per} if self.per else {}
        columns |= {"odds ratio" if self.is_ratio else "effect": self.effect, "lower": self.lower, "upper": self.upper}
        if self.p_wald is not None:
            columns |= {"p (Wald)": self.p_wald, "p (ratio)": self.p_ratio}
        if self.has_remarks:
            columns["remark"] = self.remarks
        return require("pandas", "to_frame", "cli").DataFrame(columns, index=self.columns)

    def order(self) -> list[int]:
        """The columns from the largest effect to the smallest; levels of one column are next to each other."""
        groups = self.groups or self.columns
        size = {}
        for group, value in zip(groups, self.effect.tolist(), strict=True):
            size[group] = max(size.get(group, -np.inf), value)
        return sorted(range(len(groups)), key=lambda j: (-size[groups[j]], groups[j], -self.effect[j]))

    def plot(self, ax=None, *, sort=True):
        """Draw a forest plot: effects as dots, intervals as lines, and the numbers beside them. Returns the matplotlib Axes.

        Odds ratios have a logarithmic axis.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Default: a new figure.
        sort : bool, default True
            The largest effect is on top; False: in the order of the columns.
        """
        if ax is None:
            ax = require("matplotlib.pyplot", "a picture", "plot").subplots(figsize=self.size(), layout="constrained")[1]
        order = self.order() if sort else list(range(len(self.columns)))
        places, none = np.arange(len(order))[::-1], 1.0 if self.is_ratio else 0.0
        ends = np.array([self.effect, self.lower, self.upper])[:, order]
        shown = np.isfinite(ends) & (ends > 0) if self.is_ratio else np.isfinite(ends)
        low, high = frame_of(np.append(ends[shown], none), self.is_ratio)
        if self.is_ratio:
            ax.set_xscale("log")
            ticks = powers(low, high)
            ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            ax.set_xticks([], minor=True)
        effect, lower, upper = np.clip(ends, low, high)                 # infinite ones end at the frame
        ax.hlines(places, lower, upper, color="black", linewidth=1.5)
        ax.plot(effect[shown[0]], places[shown[0]], linestyle="none", marker="o", color="#0b6e8f")
        ax.axvline(none, color="black", linewidth=0.8, linestyle=":")
        ax.set_yticks(places, [self.columns[j] for j in order])
        form = ".2f" if self.is_ratio else "+.2f"
        for place, j, (value, *interval) in zip(places, order, ends.T, strict=True):
            numbers = f"{value:{form}} ({interval[0]:{form}} to {interval[1]:{form}})"
            ax.annotate(REFERENCE if self.remarks[j:j + 1] == [REFERENCE] else numbers, (1.02, place),
                        xycoords=("axes fraction", "data"), va="center", fontsize="small")
        for text in ax.get_yticklabels():
            text.set_parse_math(False)
        ax.set_xlabel(f"{TITLES[self.scale]}{self.unit()}")
        ax.set_title(f"Effects of {len(order)} columns, {100 * self.level:g} % intervals", fontsize="medium", loc="left")
        ax.spines[["top", "right"]].set_visible(False)
        return ax

    def unit(self) -> str:
        """What the effects are per, for the axis of a picture."""
        if all(text.startswith("SD") for text in self.per if text):
            return " per standard deviation"
        return " per unit" if all(text in ("", "1") or text.startswith(("1 ", "vs ")) for text in self.per) else ""

    def size(self) -> tuple[float, float]:
        """Width and height of a figure for `plot`.

        Returns
        -------
        (float, float)
            Inches.
        """
        return 8.0, 1.6 + 0.3 * len(self.columns)

    def html(self) -> str:
        """The table as HTML, as notebooks show it."""
        return self._repr_html_()

    def _repr_html_(self):
        head = self.head()
        cells = table(self.cells(), head, numbers=[j for j, name in enumerate(head) if name not in ("column", "remark")])
        return block(cells, *(element("p", note, class_="quiet") for note in self.notes()))

    def latex(self) -> str:
        """The table as LaTeX, without any package: a `tabular`, and the notes below it."""
        return latex_table(self.head(), self.cells(), self.notes())


def latex_table(head, cells, notes) -> str:
    """A `tabular` with the first column flush left, and sentences below it."""
    lines = [" & ".join(map(latex_text, row)) + r" \\" for row in (head, *cells)]
    columns = "l" + "".join("l" if name == "remark" else "r" for name in head[1:])
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", r"\hline", lines[0], r"\hline", *lines[1:], r"\hline", r"\end{tabular}",
                      *(rf"\par {latex_text(note)}" for note in notes)]) + "\n"


def latex_text(text) -> str:
    """A text without commands of LaTeX."""
    return "".join(LATEX.get(character, character) for character in " ".join(str(text).split()))


def frame_of(values, is_ratio):
    """The ends of an axis with some room on both sides of the values."""
    values = np.log(values) if is_ratio else values
    room = 0.1 * (np.ptp(values) or 1.0)
    ends = np.array([values.min() - room, values.max() + room])
    return np.exp(ends) if is_ratio else ends


def powers(low, high) -> list[float]:
    """Powers of 2, 4, 8, ... within the ends of an axis, few enough to be read."""
    first, last = int(np.ceil(np.log2(low))), int(np.floor(np.log2(high)))
    step = max(1, -(-(last - first + 1) // MOST_TICKS))
    return [2.0**k for k in range(first - first % step, last + 1, step) if first <= k]


def short(p) -> str:
    """A p value in three digits; none: an empty text."""
    return "" if np.isnan(p) else "<0.001" if p < 0.001 else f"{p:.3f}"


def p_of(p) -> str:
    """A p value with its letter, for a sentence."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def in_degrees(n) -> str:
    """A number of degrees of freedom in words."""
    return f"{n} degree{'' if n == 1 else 's'} of freedom"
