"""The table of invariances: a cell and seed of all, under every transformation."""

from invariances.cells import cells, trained
from invariances.table import disagreement
from invariances.transformations import TRANSFORMATIONS

from fuzz.promises import expect


def compared(random):
    """Scores are equal, or differ for a declared reason; returns whether the cell can be trained."""
    cell = random.choice(cells())
    one = trained(cell, random.randrange(1000))
    for name in TRANSFORMATIONS if one is not None else ():
        found = disagreement(one, name)
        expect(not found, f"{cell}: {found}")
    return one is not None
