# May import basics, callbacks, core, engine, fitting, metrics, pictures, pipelines, problems, reading, solvers.
"""Estimators with the interface of scikit-learn, whose base classes they inherit: they need the extra `sklearn`.

Stable: names, parameters and defaults change only by the rules of versions.

Estimators of plugins' packages are names here too. Their packages declare them as entry points of the group "structperc.estimators".
Each is imported when its name is first used.
"""

from structperc.later import names_of

MODULES = {
    "conformal": ("OrdinalConformal",),
    "keeping": ("load",),
    "label_scorer": ("LabelScorer",),
    "labels": ("CuSumRank", "IntervalPA", "PRank", "StructuredClassifier"),
    "leaves": ("LeafFeatures",),
    "queries": ("RankingScorer",),
    "ranking_svm": ("RankingSVM",),
    "rankings": ("LatentRanker",),
    "score_card": ("ScoreCard",),
    "sequences": ("SequenceTagger",),
    "structure_conformal": ("StructureConformal",),
    "structure_sets": ("StructureSet",),
    "structured": ("StructuredEstimator",),
}
OWN, own, _ = names_of(__name__, MODULES)


def __getattr__(name):
    """An estimator, imported when it is first used; also one of a plugin's package. `__all__` has the names of both."""
    from structperc.estimators.lookup import addresses, estimator

    if name == "__all__":
        return sorted({*OWN, *addresses()})
    return own(name) if name in OWN else estimator(name, OWN)


def __dir__():
    from structperc.estimators.lookup import addresses

    return sorted({*globals(), *OWN, *addresses()})
