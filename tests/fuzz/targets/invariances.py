"""The table of invariances: a cell, seed and transformation of all."""

from invariances.cells import cells, trained
from invariances.table import disagreement
from invariances.transformations import TRANSFORMATIONS

from fuzz.promises import expect


def compared(random):
    """Scores are equal, or differ for a declared reason; returns whether the cell can be trained."""
    cell = random.choice(cells())
    one, name = trained(cell, random.randrange(1000)), random.choice(sorted(TRANSFORMATIONS))
    found = "" if one is None else disagreement(one, name)
    expect(not found, f"{cell}: {found}")
    return one is not None
