"""Where a transformation changes the scores, or rounds them, and why. Everything else is equal, as `transformations` declares."""

import contextlib
import itertools
from collections.abc import Callable

import attrs

from invariances.transformations import TRANSFORMATIONS, distance, scores
from structperc.core.features import is_constrained
from structperc.errors import StructPercError
from structperc.fitting import plugins as registry


@attrs.frozen(eq=False)
class Rule:
    """Transformations whose scores differ in the cells that `applies` selects, and one proof of the reason.

    Attributes
    ----------
    names : tuple of str
        Of transformations.
    because : str
    applies : function of a trained cell
    bound : function of a trained cell, optional
        How far scores may differ all the same.
    under : function of a trained cell, optional
        The cell with other options, with which nothing differs. Where these raise an error, nothing can be shown.
    seen : function of a cell and of scores, optional
        What does not differ of scores.
    refused : str, optional
        The changed examples may raise an error with these words.
    """

    names: tuple
    because: str
    applies: Callable = attrs.field()
    bound: Callable | None = attrs.field(default=None, kw_only=True)
    under: Callable | None = attrs.field(default=None, kw_only=True)
    seen: Callable | None = attrs.field(default=None, kw_only=True)
    refused: str = attrs.field(default="", kw_only=True)

    def __attrs_post_init__(self):
        assert sum(map(bool, (self.bound, self.under, self.seen, self.refused))) == 1, self.because


SPARSE = ("CSR", "CSC")


def solves(one) -> bool:
    """Whether a trainer of its own solves a problem over all examples."""
    return not one.case.parts.trainer.online


def visits_in_order(one) -> bool:
    return not solves(one) or other_orders(one) > tolerance(one)


def tolerance(one) -> float:
    """How near to the optimum a solver of the cell stops: its objective is strongly convex, so weights are within the root of the gap."""
    return 2 * float(one.engine.plugin_options.get("tolerance", 0) or 0) ** 0.5


def reads_tokens(one) -> bool:
    return bool(registry.load(one.case.problem).conllu)


def hashes(one) -> bool:
    return one.engine.plugin_options.get("tokens") == "cells"


def even_template(one):
    """The same features of each column, and none of further columns."""
    lines = [f"A:%h[0,{j}]/%d[0,{j}]" for j in range(one.X.shape[1])]
    return one.under(n_hashed=1 << 14, template="\n".join(lines), order=1)


def other_orders(one) -> float:
    """As far as any other order of the visits: the order is drawn, and so are the weights."""
    order, drawn = {} if solves(one) else {"shuffle": True}, []
    for seed in range(101, 109):
        with contextlib.suppress(StructPercError):
            drawn.append(scores(one.fit(random_state=seed, **order), one.X, one.told))
    return 5 * max((distance(a, b) for a, b in itertools.combinations(drawn, 2)), default=0.0)


def beside_the_mean(one, answer) -> list:
    """Scores less the mean of their example."""
    return [part - part.mean() for part in answer]


RULES = [
    Rule(("columns times powers of two", "columns times three", "columns shifted", "constant added"),
         "without scaling, the steps see the units of the columns, and a constant is another intercept",
         lambda one: not one.engine.scale or is_constrained(one.case.parts.features), under=lambda one: one.under(scale=True)),
    Rule(("columns shifted", "constant added"), "without an intercept nothing does what a constant would",
         lambda one: not getattr(one.engine, "fit_intercept", True),
         under=lambda one: one.under(fit_intercept=True)),
    Rule(tuple(TRANSFORMATIONS), "float32 has seven digits",
         lambda one: one.engine.plugin_options.get("dtype") == "float32", bound=lambda one: 1e-5),
    Rule(SPARSE, "sparse columns are not centred, and by scale='auto' not divided",
         lambda one: bool(one.engine.scale) and not one.engine.model_.scales,
         under=lambda one: one.under(scale=False)),
    Rule(("float32",), "rows of float32 are scaled in float32", lambda one: bool(one.engine.scale), bound=lambda one: 1e-5),
    Rule(("rows reversed",), "a pass depends on the order of the examples", visits_in_order, bound=other_orders),
    Rule(("weights 2",), "weights scale the steps or their C", lambda one: one.engine.weighting == "steps",
         under=lambda one: one.under(weighting="visits")),
    Rule((*SPARSE, "rows reversed", "columns times three", "columns permuted", "columns shifted", "zeros added",
          "constant added", "weight 0", "float32"), "a solver stops within its tolerance", solves, bound=tolerance),
    Rule(("columns shifted",), "all answers have as many rows of X, so what all rows share chooses none",
         lambda one: one.case.problem == "latent-ranking" or one.engine.plugin_options.get("perfect"), seen=beside_the_mean),
    Rule(("columns permuted",), "of stumps with the same error the one of the first column is taken",
         lambda one: one.case.problem == "adaboost-or", under=lambda one: one.under_weights()),
    Rule(("columns permuted", "columns times three", "columns shifted", "weights 2", "rows reversed"),
         "names of scaled cells change with their last bit",
         lambda one: hashes(one) and one.engine.scale, under=lambda one: one.under(scale=False)),
    Rule(("lists",), "tables of pairs are arrays", lambda one: isinstance(one.X, list), refused="X has a list of objects"),
    Rule(tuple(TRANSFORMATIONS), "a program of several solutions may end at one without a direction", solves,
         refused="the sum of margins found no direction"),
    Rule(tuple(TRANSFORMATIONS), "a program of several solutions may end at one out of order", solves,
         refused="are out of order"),
    Rule(SPARSE, "stumps compare the values of whole columns", solves, refused="stumps compare the values of whole columns"),
    Rule(("zeros added", "constant added", "columns permuted", "columns times three", "columns shifted"),
         "the template has all columns, each at its place, and hashes of names share few weights", hashes, under=even_template),
    Rule(("lists",), "a list of rows is a list of sentences", reads_tokens, refused="X is a list of sentences already"),
    Rule(("loaded",), "a model file holds no functions and no objects", lambda one: True, refused="which a model file cannot hold"),
]


def rules_of(one, name) -> list[Rule]:
    """The rules for a cell under a transformation."""
    return [rule for rule in RULES if name in rule.names and rule.applies(one)]
