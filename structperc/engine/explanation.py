"""Why an example got its prediction: since scores are sums, a score and the difference of two scores split exactly."""

from __future__ import annotations

from collections import Counter
from types import NoneType

import attrs
import numpy as np

from structperc.basics.errors import DataError, OptionError, PluginError, shortened
from structperc.core.component import expected
from structperc.core.outputs import LabelOutputs, encoded_answers
from structperc.engine import baselines
from structperc.extras import require
from structperc.fitting import answers
from structperc.pictures import Bars, Display, Picture, Ruler
from structperc.pictures.markup import block, details, element, excerpt, table
from structperc.pictures.shapes import COLUMNS

SHOWN = 8                   # entries that a heading has room for
LISTED = 10                 # features of an atom that are shown as text
GROUPS, BARS = 6, 5         # atoms that are drawn, features of each
ROWS = 60                   # of a table in a notebook
SCORE = "score"             # of ordered labels that thresholds cut along one direction
COMPARED = {"mean": "compared with the mean of the training rows", "average": "compared with the mean score of the training rows",
             "row": "compared with the row that was passed"}


@attrs.frozen(eq=False)
class Contribution:
    """One term of a sum: `value` = coefficient * weight * (feature value - baseline), summed over the feature's weights.

    Attributes
    ----------
    atom : str
    feature : str
    value : float
        Positive: speaks for the winner; negative: for its rival. On the way to a score, positive raises it.
    side : {"for", "against", "raises", "lowers", "start"}
        "for" an atom that the winner has more often, "against" one that its rival has more often. On the way to a score what the term
        does; "start" is where the way begins.
    column : int
        The feature's number. The constant and groups of columns have -1. So have the absent columns of a sparse row, and training
        rows of a kernel.
    """

    atom: str
    feature: str
    value: float
    side: str = "for"
    column: int = -1


@attrs.frozen(eq=False)
class Explanation:
    """The winner's score minus a rival's, or the way to the one score of ordered labels.

    An atom that only the winner has counts "for" it. An atom that only the rival has counts "against" it: its score is subtracted. So a
    positive value always favours the winner. On the way to a score a positive value raises it, towards higher labels.

    Attributes
    ----------
    winner, runner_up : object
        The best structure and its rival, the next best unless another was named, as `predict` shows them.
    margin : float
        Score of the winner minus score of the runner-up; 0 for a tie.
    atoms : dict of str to float
        The margin by atom; atoms that both share are absent. On the way to a score, the score.
    sides : dict of str to {"for", "against"}
        Which of the two each of these atoms is; empty on the way to a score.
    contributions : list of Contribution
        By atom and feature, largest absolute value first. They add up to `total` (up to rounding).
    picture : structperc.pictures.Picture or None
        Both structures, as the problem draws them.
    baseline : {"mean", "zero", "row", "average"}
        What feature values are compared with. The constant of an atom is its part of the margin at the baseline. "average": sums of
        trees, which begin at the mean score of the training rows.
    score : float or None
        Where the example lies among the thresholds, whose mean is 0; of a score card the sum of points. None unless `contributions` are
        the way from the baseline to it.
    """

    winner: object
    runner_up: object
    margin: float
    atoms: dict
    contributions: list
    sides: dict = attrs.field(factory=dict)
    picture: Picture | None = None
    baseline: str = "zero"
    score: float | None = None

    @property
    def total(self) -> float:
        """What the contributions add up to: `score` if there is one, else `margin`."""
        return self.margin if self.score is None else self.score

    @property
    def start(self) -> float | None:
        """The score at the baseline, where the way to `score` begins; None without `score`."""
        return None if self.score is None else sum((c.value for c in self.contributions if c.side == "start"), 0.0)

    def directions(self) -> tuple[str, str]:
        """What negative and positive values speak for."""
        if self.score is not None:
            return "lower", "higher"
        winner, runner_up = headings(self.winner, self.runner_up)
        return runner_up, winner

    def heading(self, atom, value, digits=4) -> str:
        """The line above the contributions to an atom."""
        if self.score is not None:
            return f"{atom} {value:+.{digits}g}, from {self.start:+.{digits}g}"
        return f"{self.sides[atom]} {atom}  {value:+.{digits}g}"

    def __str__(self):
        winner, runner_up = headings(self.winner, self.runner_up)
        lines = [f"{winner} beats {runner_up} by {self.margin:.6g}"]
        for atom, value, terms in self.groups():
            lines.append(f"  {value:+.6g}  {self.sides[atom]} {atom}" if self.score is None else f"  {self.heading(atom, value, 6)}")
            lines += [f"      {value:+.6g}  {name}" for name, value in with_rest(drawn(terms), LISTED)]
        return "\n".join(lines)

    def groups(self) -> list:
        """Triples of an atom, its value and its contributions, largest absolute values first.

        Atoms of value 0 are left out, a score never.
        """
        terms = {atom: [] for atom in self.atoms}
        for c in self.contributions:
            terms[c.atom].append(c)
        return [(atom, value, terms[atom]) for atom, value in sorted(self.atoms.items(), key=lambda item: -abs(item[1]))
                if value or self.score is not None]

    def rows(self) -> list[dict]:
        """A dict per contribution, largest absolute value first: side, atom, feature, value, and what it speaks for.

        That is one of the two structures; on the way to a score "higher" or "lower", and "" at its start.
        """
        negative, positive = self.directions()
        return [{"side": c.side, "atom": c.atom, "feature": c.feature, "value": c.value,
                 "speaks for": "" if c.side == "start" or not c.value else positive if c.value > 0 else negative}
                for c in self.contributions]

    def to_frame(self):
        """The `rows` as a pandas DataFrame, whose column "value" adds up to `total`. Raises `MissingExtra` when pandas is not installed."""
        return require("pandas", "to_frame", "cli").DataFrame(self.rows(), columns=["side", "atom", "feature", "value", "speaks for"])

    def named(self, names):
        """The same explanation with names of columns instead of its own, such as those that a pipeline's earlier steps made."""
        changed = [attrs.evolve(c, feature=str(names[c.column])) if 0 <= c.column < len(names) else c for c in self.contributions]
        return attrs.evolve(self, contributions=changed)

    def bars(self) -> Bars:
        """The largest contributions as a picture."""
        atoms = self.groups()
        groups = [(self.heading(atom, value), with_rest(drawn(terms), BARS))
                  for atom, value, terms in atoms[:GROUPS]]
        rest = with_rest([(atom, value) for atom, value, _ in atoms], GROUPS)[GROUPS:]
        return Bars(*self.directions(), [*groups, *((f"{name}  {value:+.4g}", []) for name, value in rest)])

    def plot(self, ax=None):
        """Draws both structures and the largest contributions, as a notebook shows them. Returns the matplotlib Axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Drawn into, one pixel as a unit; without it, a new figure of the right size.
        """
        if ax is None:
            ax = require("matplotlib.pyplot", "a picture", "plot").subplots(figsize=self.size(), layout="constrained")[1]
        left, right, heights = self.extent()
        top = 0.0
        for picture, down in zip(self.pictures(), heights, strict=True):
            picture.draw(ax, top)
            top += down
        ax.set(xlim=(left, right), ylim=(sum(heights), 0))
        ax.set_title("\n".join([self.title(), *self.compared()]), fontsize="medium", parse_math=False)
        ax.set_axis_off()
        return ax

    def pictures(self) -> list:
        """Both structures, where the problem draws them, and the bars."""
        return [picture for picture in (self.picture, self.bars()) if picture is not None]

    def extent(self) -> tuple:
        """How far the pictures reach to the left and to the right, and how far down each, in pixels."""
        left, right, heights = zip(*(picture.extent() for picture in self.pictures()), strict=True)
        return min(left), max(right), heights

    def size(self) -> tuple[float, float]:
        """Width and height of a figure for `plot`, in inches."""
        left, right, heights = self.extent()
        return (right - left) / 96, sum(heights) / 96 + 0.4

    def text(self, width=COLUMNS) -> str:
        """Both structures and the largest contributions as lines of text, for terminals and logs.

        Parameters
        ----------
        width : int, default 78
            Characters in a line, at least 40.

        Examples
        --------
        >>> from structperc import Engine
        >>> engine = Engine("prank", preset="paper", epochs=9).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], [1, 2, 3])
        >>> print(engine.explain([2.0, 0.0]).text(width=44).replace("\\n\\n", "\\n"))
        3 beats 2 by 1
        compared with the mean of the training rows
                                  score 2, from 0: 3
        ──────┼─────────○──────────┼─────────●──────
             1|2                  2|3
                    ← lower │ higher →
        score +2, from +0
          x[0]              │ ████████████ +2.00
        """
        blocks = [[self.title(), *self.compared()], *(picture.lines(max(width, 40)) for picture in self.pictures())]
        return "\n\n".join("\n".join(lines) for lines in blocks if lines)

    def title(self) -> str:
        """Who beats whom, by how much."""
        winner, runner_up = map(excerpt, headings(self.winner, self.runner_up))
        return f"{winner} beats {runner_up} by {self.margin:.6g}"

    def compared(self) -> list[str]:
        """A line about the baseline; none where it is zero."""
        return [COMPARED[self.baseline]] if self.baseline in COMPARED else []

    def html(self) -> str:
        """A piece of a page with the pictures and all contributions, as a notebook shows it."""
        return self._repr_html_()

    def _repr_html_(self):
        rows = [(c.side, c.atom, c.feature, f"{c.value:+.6g}") for c in self.contributions[:ROWS]]
        left = len(self.contributions) - len(rows)
        more = [element("p", f"and {left} smaller ones", class_="quiet")] if left else []
        pictures = [picture.svg() for picture in self.pictures()]
        compared = [element("p", line, class_="quiet") for line in self.compared()]
        return block(element("p", self.title()), *compared, *pictures,
                     details(f"{len(self.contributions)} contributions, which add up to {self.total:.6g}",
                             table(rows, ("side", "atom", "feature", "value"), numbers=(3,)), *more))


def drawn(terms) -> list[tuple[str, float]]:
    """The names and values of these contributions, without the start of a way, which the heading has."""
    return [(c.feature, c.value) for c in terms if c.side != "start"]


def with_rest(terms, n) -> list[tuple[str, float]]:
    """The first n of these names and values, and what the others add up to."""
    rest = [value for _, value in terms[n:]]
    return [*terms[:n], *([(f"{len(rest)} other{'s' * (len(rest) > 1)}", sum(rest))] if rest else [])]


def headings(one, other) -> tuple[str, str]:
    """Two structures as text; of long lists only the entries that differ, with their positions from 0."""
    if not (isinstance(one, list) and isinstance(other, list) and len(one) == len(other) > SHOWN and one != other):
        return str(one), str(other)
    differing = [i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    more = ", ..." if len(differing) > SHOWN else ""
    return tuple(f"[{', '.join(f'{i}: {labels[i]!r}' for i in differing[:SHOWN])}{more}]" for labels in (one, other))


def structure_of(model, answer, rows, option):
    """An output of the user, such as the rival of the prediction, in its encoding. `option` is the option that named it."""
    outputs = model.parts.outputs
    try:
        structures = encoded_answers(outputs, [answer], rows, model.parts.features)
    except DataError as error:
        single = isinstance(outputs, LabelOutputs)
        reason = f"Expected one of {', '.join(map(repr, outputs.labels.tolist()[:10]))}." if single else error
        raise DataError(f"{option}={shortened(answer)} is no output of this model. {reason}") from None
    return structures[0]


def explain(model, x, against=None, baseline=None, groups=None) -> Explanation:
    """Splits the score or the margin of one example; see `Engine.explain`."""
    parts = model.parts
    rows = model.read_one(x)[1]
    (example, scores), = model.scores(rows)             # with what is given, where outputs are conditional
    split = splitting(model, rows, example, baseline, groups)
    if against is None:
        ranked = answers.k_best(parts, scores, example, 2)
        if len(ranked) == 1:
            raise DataError("this example has only one possible structure, so there is no runner-up.")
        (winner, _), (runner_up, _) = ranked
    else:
        winner = answers.best(parts, scores, example)
        runner_up = structure_of(model, against, rows, "against")
        if np.ndim(winner) == 0 and winner == runner_up:
            raise DataError(f"against={shortened(against)} is the prediction itself; name another output, or leave against out.")
    coefficients = np.subtract(*(np.asarray(parts.outputs.count(example, y), dtype=float) for y in (winner, runner_up)))
    display = expected(parts.outputs.display(), Display, parts.outputs, "display", "a structperc.pictures.Display")
    names = names_of(display, example)
    picture = display.picture(x, example, scores, (winner, runner_up))
    if not isinstance(picture, (Picture, NoneType)):
        raise PluginError(f"{type(display).__name__}.picture returned {shortened(picture)} for example {example.index}; expected a "
                          f"structperc.pictures.Picture or None.")
    labels = [parts.outputs.decode(y, example) for y in (winner, runner_up)]
    margin = float(coefficients @ scores)
    if against is None and answers.has_one_direction(parts):
        score = float(np.mean(scores))
        terms = split.terms(np.full(example.n_atoms, 1 / example.n_atoms))
        contributions = [Contribution(SCORE, name, value, side_of(name, j, value), j)
                         for (name, j), value in terms.items() if value]
        way = Explanation(*labels, margin, {SCORE: score}, largest_first(contributions), {}, picture, split.baseline, score)
        return attrs.evolve(way, picture=attrs.evolve(picture, start=way.start)) if isinstance(picture, Ruler) else way
    atoms, sides, contributions = {}, {}, []
    for a in np.flatnonzero(coefficients):
        unit = np.zeros(example.n_atoms)
        unit[a] = coefficients[a]
        atoms[names[a]] = float(coefficients[a] * scores[a])
        sides[names[a]] = side = "for" if coefficients[a] > 0 else "against"
        contributions += [Contribution(names[a], name, value, side, column)
                          for (name, column), value in split.terms(unit).items() if value]
    return Explanation(*labels, margin, atoms, largest_first(contributions), sides, picture, split.baseline)


def side_of(name, column, value) -> str:
    """What a term does on the way to a score."""
    return "start" if (name, column) == (baselines.CONSTANT, -1) else "raises" if value > 0 else "lowers"


def largest_first(contributions) -> list:
    return sorted(contributions, key=lambda c: -abs(c.value))


def splitting(model, rows, example, baseline, groups):
    """What splits the scores of this example: by column where weights are a vector, by training row where they are a sum of rows."""
    vector = model.parts.weights.vector()
    if vector is None and model.parts.weights.terms(example, np.zeros(example.n_atoms)) is None:
        raise PluginError(f"explain needs a weight vector or a sum of training rows, but {type(model.parts.weights).__name__} has neither.")
    if vector is None and groups:
        raise OptionError("groups are of columns, but a kernel compares whole rows, so its explanation names training rows; leave groups "
                          "out.")
    if vector is None and baseline is None:             # each term is then one row's own: its coefficient times its kernel value
        baseline = "zero"
    kind, compared = baselines.example(model, rows, baseline)
    naming = baselines.TrainingRows() if vector is None else baselines.Naming(model, rows, groups)
    return Splitting(model, None if vector is None else np.asarray(vector), example, compared, naming, kind)


@attrs.frozen(eq=False)
class Splitting:
    """Splits weighted sums of an example's atom scores against a baseline."""

    model: object
    vector: np.ndarray | None
    example: object
    compared: object
    naming: object
    baseline: str

    def terms(self, unit) -> dict:
        """The parts of unit @ scores by pairs of a name and a column. The constant is the sum at the baseline."""
        terms = self.parts(self.example, unit)
        if self.compared is not None:
            at_baseline = self.parts(self.compared, unit)
            for key, value in at_baseline.items():
                if key != -1:
                    terms[key] = terms.get(key, 0.0) - value
            terms[-1] = terms.get(-1, 0.0) + sum(value for key, value in at_baseline.items() if key != -1)
        return self.naming.summed(terms)

    def parts(self, example, unit) -> dict:
        if self.vector is not None:
            return by_column(self.model, self.vector, example, unit)
        numbers, values, rest = self.model.parts.weights.terms(example, unit)
        return {-1: float(rest), **dict(zip(np.asarray(numbers).tolist(), np.asarray(values).tolist(), strict=True))}


def by_column(model, w, example, unit) -> dict:
    """The score of weighted atoms by column; -1: the constant, -2 - j: the feature of weight j, which is no column."""
    where, values = model.parts.features.vector(example, unit, sparse=True)
    terms = w[where] * values
    where, terms = where[terms != 0], terms[terms != 0]
    of_terms = columns_of(model, where)
    for i in np.flatnonzero(of_terms == -1):
        if baselines.named(model.parts.features, int(where[i])) is not None:
            of_terms[i] = -2 - where[i]
    columns, place = np.unique(of_terms, return_inverse=True)
    return dict(zip(columns.tolist(), np.bincount(place, terms, len(columns)).tolist(), strict=True))


def names_of(display, example):
    """A name for each atom of the example."""
    names = display.atom_names(example)
    if not hasattr(names, "__len__") or len(names) != example.n_atoms:
        raise PluginError(f"{type(display).__name__}.atom_names returned {shortened(names)}; expected a name for each of "
                          f"{example.n_atoms} atoms.")
    again = {name for name, n in Counter(names).items() if n > 1}
    return [f"{name} (atom {a})" if name in again else name for a, name in enumerate(names)] if again else names


def columns_of(model, weights):
    """The column of X that each of these weights belongs to; -1: none. Where columns have no names, the number may be a hashed row's."""
    features, n = model.parts.features, model.context.n_features
    if model.context.feature_names is None:
        n = max(n, features.n_weights)                      # there are no more rows than weights
    columns = np.array(features.column_of(weights))
    right = columns.shape == weights.shape and (columns.dtype.kind in "iu" or not columns.size)
    if not right or not model.context.objects and not ((columns >= -1) & (columns < n)).all():
        raise PluginError(f"{type(features).__name__}.column_of returned {shortened(columns.tolist())} for the weights "
                          f"{shortened(weights.tolist())}; expected a column of X or a hashed row, 0..{n - 1}, or -1.")
    return columns
