"""The table of invariances: a cell of a problem or an estimator, a seed and a transformation of all."""

from functools import cache

from invariances import cells, estimator_table, estimators, table
from invariances.estimator_changes import CHANGES
from invariances.transformations import TRANSFORMATIONS

from fuzz.promises import expect


@cache
def all_cells():
    """Each with the module that trains it, the names of its transformations, and what compares them."""
    of_problems = [(cell, cells, sorted(TRANSFORMATIONS), table) for cell in cells.cells()]
    of_estimators = [(cell, estimators, sorted(CHANGES), estimator_table) for name in estimators.names() for cell in estimators.cells(name)]
    return of_problems, of_estimators


def compared(random):
    """What a model returns is equal, or differs for a declared reason; returns whether the cell can be trained."""
    cell, module, names, comparison = random.choice(random.choice(all_cells()))
    one, name = module.trained(cell, random.randrange(1000)), random.choice(names)
    found = "" if one is None else comparison.disagreement(one, name)
    expect(not found, f"{cell}: {found}")
    return one is not None
