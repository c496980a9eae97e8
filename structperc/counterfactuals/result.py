"""What the search for the nearest example found, as a sentence, a table and a page."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.counterfactuals.columns import shown_value
from structperc.extras import require
from structperc.pictures.markup import block, element, table

ALREADY, NEAREST, NONE, OPEN = "already", "nearest", "none", "open"
HEAD = ("column", "before", "after", "deviations")


@attrs.frozen(eq=False, repr=False)
class Counterfactual:
    """The nearest example of which the model predicts what is wanted.

    Attributes
    ----------
    x : example or None
        In the form in which x was passed; None where no change is known.
    changes : list of Change
        What differs, by row and column.
    distance : float
        Of x from the example: standard deviations, or replaced tokens; inf where no change is known.
    bound : float
        No example nearer than this gets a wanted prediction; inf: none at all does.
    status : {"already", "nearest", "none", "open"}
        "already": the prediction is wanted without a change. "nearest": the change is the smallest one. "none": there is none.
        "open": nothing is proved, since `time_limit` ended the search, or since what is wanted loses ties that no program excludes.
    before, after : output
        The predictions, as `predict` shows them; `after` is None where x is None.
    wanted : str
    out_of_time : bool
        Whether `time_limit` ended the search.

    Examples
    --------
    >>> import structperc
    >>> from structperc.estimators import PRank
    >>> model = PRank(random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], [1, 1, 2, 2])
    >>> found = structperc.counterfactual(model, [0.0], 2)
    >>> found.status, found.proved, int(found.after)
    ('nearest', True, 2)
    """

    x: object
    changes: list
    distance: float
    bound: float
    status: str
    before: object
    after: object
    wanted: str
    out_of_time: bool = False

    @property
    def proved(self) -> bool:
        """Whether no nearer example gets a wanted prediction."""
        return self.status != OPEN

    def __str__(self):
        if self.status == ALREADY:
            return f"it is {self.wanted} already"
        if self.status == NONE:
            return f"no allowed change would make it {self.wanted} (proved)"
        if self.x is None:
            return f"no change is known that would make it {self.wanted}, and none nearer than {self.bound:.4g} does" + (
                "; raise time_limit" if self.out_of_time else "")
        several = any(change.row for change in self.changes)
        changes = [f"row {change.row}: {change}" if several else str(change) for change in self.changes]
        said = " and ".join([", ".join(changes[:-1]), changes[-1]] if len(changes) > 1 else changes)
        sure = "the smallest change" if self.proved else f"maybe not the smallest change, which is at least {self.bound:.4g}"
        return f"{said} would make it {self.wanted} (distance {self.distance:.4g}, {sure})"

    __repr__ = __str__

    def rows(self) -> list[dict]:
        """A dict per change: row, column, before, after, deviations. Returns a list of dict."""
        return [attrs.asdict(change) for change in self.changes]

    def to_frame(self):
        """The changes as a pandas DataFrame. Returns a pandas.DataFrame. Raises `MissingExtra` when pandas is not installed."""
        return require("pandas", "to_frame", "cli").DataFrame(self.rows(), columns=["row", *HEAD])

    def cells(self) -> list[tuple]:
        """The changes as texts: row, column, before, after, deviations. Returns a list of tuple of str."""
        return [(str(c.row), c.column, shown_value(c.before), shown_value(c.after), f"{c.deviations:.3g}") for c in self.changes]

    def html(self) -> str:
        """A piece of a page with the sentence and the changes, as a notebook shows it."""
        return self._repr_html_()

    def _repr_html_(self):
        rows = [table(self.cells(), ("row", *HEAD), numbers=(0, 2, 3, 4))] if self.changes else []
        sizes = f"distance {self.distance:.6g}, lower bound {self.bound:.6g}"
        return block(element("p", str(self)), *rows, *([element("p", sizes, class_="quiet")] if np.isfinite(self.bound) else []))
