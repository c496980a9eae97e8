"""Where a change of the examples changes what an estimator returns, or rounds it, and a proof of each reason."""

from __future__ import annotations

import itertools

from invariances.estimator_changes import distance
from invariances.exceptions import Rule


def engine_of(one):
    """The engine of the estimator, or of what it wraps."""
    return getattr(getattr(one.estimator, "estimator_", one.estimator), "engine_", None)


def trains_online(one) -> bool:
    return (engine := engine_of(one)) is not None and engine.parts_.trainer.online


def scales(one) -> bool:
    return (engine := engine_of(one)) is not None and bool(engine.scale)


def other_orders(one) -> float:
    """As far as any other order of the visits, which is drawn."""
    order = {"shuffle": True} if "shuffle" in one.estimator.get_params() else {}
    drawn = [one.answers(one.fit(random_state=seed, **order)) for seed in range(101, 105)]
    return 3 * max(numbers_apart(a, b) for a, b in itertools.combinations(drawn, 2))


def numbers_apart(expected, got) -> float:
    """The distance of what methods return in numbers."""
    return distance(*({name: answer for name, answer in answers.items() if answer.dtype.kind in "fiu"} for answers in (expected, got)))


def without_level(one, answers) -> dict:
    """Scores along a direction less their mean."""
    along = ("latent_score",) if one.rows else ("latent_score", "predict", "decision_function")
    return {name: answer - answer.mean() if name in along and answer.dtype.kind == "f" else answer for name, answer in answers.items()}


RULES = [
    Rule(("rows reversed", "weight 2"), "visits have a drawn order", trains_online, bound=other_orders),
    Rule(("CSR",), "sparse columns of linear models are not centred", lambda one: scales(one) and not engine_of(one).model_.scales,
         under=lambda one: one.under(scale=False)),
    Rule(("columns shifted",), "the thresholds move with the direction, and ranks of a query need no level", lambda one: True,
         seen=without_level),
    Rule(("columns shifted", "constant added"), "without an intercept nothing does what a constant would",
         lambda one: not one.estimator.get_params().get("fit_intercept", True), under=lambda one: one.under(fit_intercept=True)),
    Rule(("columns times three", "columns shifted"), "without scaling, the steps see the units of the columns",
         lambda one: engine_of(one) is not None and not engine_of(one).scale, under=lambda one: one.under(scale=True)),
    Rule(("columns times three",), "the penalty sees the units of the columns", lambda one: "scale" not in one.estimator.get_params()
         and {"C", "estimator__C"} & one.estimator.get_params().keys(), bound=lambda one: 1.0),
    Rule(("columns renamed", "frame"), "its classifier reads a frame, whose columns lie one after the other: sums round in another order",
         lambda one: one.name == "BinaryReduction", bound=lambda one: 1e-14),
    Rule(("columns times three",), "points are whole numbers: a half is rounded by its last bit", lambda one: one.name == "ScoreCard",
         bound=lambda one: 0.5),
    Rule(("columns permuted", "columns times three", "columns shifted", "rows reversed", "zeros added", "constant added", "weight 0",
          "weight 2"), "a solver stops within its tolerance", lambda one: {"tolerance", "tol", "estimator__tol"} &
         one.estimator.get_params().keys() or not trains_online(one) and engine_of(one) is not None, bound=lambda one: 0.02),
    Rule(("columns permuted", "zeros added", "constant added", "rows reversed", "weight 0", "weight 2", "CSR"),
         "trees draw rows and columns: a row is in a leaf of each", lambda one: hasattr(one.estimator, "transform"),
         seen=lambda one, answers: {name: answer.sum(axis=1) for name, answer in answers.items()}),
    Rule(("columns shifted",), "a kernel with a constant sees the origin, and rows of queries are not centred",
         lambda one: not one.rows and one.estimator.get_params().get("kernel") == "polynomial", under=lambda one: one.under(kernel="rbf")),
    Rule(("rows reversed",), "a pocket keeps the best of the rankers that visits in a drawn order make",
         lambda one: bool(one.estimator.get_params().get("pocket")), bound=other_orders),
    Rule(("levels in another order", "levels of text", "coded by hand"), "only readers of engines know tables",
         lambda one: one.name in ("AdaBoostOR", "ORStump", "SVOR"), refused="not numbers throughout"),
    Rule(("coded by hand",), "log odds compare levels with a reference level, and columns have none",
         lambda one: one.estimator.get_params().get("trainer") in ("cumulative-logit", "all-threshold"), bound=lambda one: 1.0),
    Rule(("CSR",), "whole columns are compared", lambda one: True, refused="dense data is required"),
    Rule(("CSR",), "whole columns are looked up", lambda one: True, refused="looks values up in whole columns"),
    Rule(("loaded",), "a model file holds estimators of structperc alone", lambda one: True, refused="a model file cannot hold"),
]
