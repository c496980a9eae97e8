"""AdaBoost.OR: an ensemble of decision stumps for ordered labels, each found by an exact search over all columns.

Provisional: it may change in any minor version.

    Engine("adaboost-or", epochs=1000)              an epoch is a round, which adds a stump; loss is the cost of a wrong rank

The rank of x is the weighted median of the stumps' ranks: the lowest one that more than half of the votes do not exceed. The votes are the
engine's weights, and the stumps' predictions are the features. There is no fitted attribute `coef_`. `votes_`, `errors_`,
`stump_features_`, `stump_directions_` and `stump_thresholds_` show the ensemble. `loss` is "absolute" (the default), "squared", "zero-one",
a matrix or "costs". Its costs must not fall on the way from the right rank to an end of the scale. Features need no scaling.
`structperc_boosting.estimators` has the estimators for scikit-learn's tools, which boost any base ranker.

Examples
--------
>>> from structperc import Engine
>>> X, y = [[-2.0], [-1.0], [0.5], [2.0]], ["low", "low", "middle", "high"]
>>> engine = Engine("adaboost-or", epochs=10, classes=["low", "middle", "high"]).fit(X, y)
>>> engine.predict([[-3.0], [3.0]]).tolist()
['low', 'high']
>>> engine.stump_thresholds_.tolist(), engine.status_
([[-0.25, 1.25]], 'converged')
"""

from structperc import hookimpl
from structperc.components import RankOutputs, ThresholdArgmax
from structperc_boosting.costs import check_v_shape
from structperc_boosting.stump_search import StumpFeatures
from structperc_boosting.training import BoostingTrainer

__all__ = ["check_v_shape"]        # for other packages

citation = r"""@inproceedings{lin2009combining,
  author = {Hsuan-Tien Lin and Ling Li},
  title = {Combining Ordinal Preferences by Boosting},
  booktitle = {Proceedings of the ECML/PKDD 2009 Workshop on Preference Learning},
  pages = {69--83},
  year = {2009}
}"""

recommended = {"epochs": 100, "scale": False}       # stumps do not depend on the units of columns
paper = {"epochs": 1000}        # T of section 5
check_options = {"epochs": 20}


@hookimpl
def structperc_outputs(context):
    return RankOutputs()


@hookimpl
def structperc_features(context):
    return StumpFeatures(context.n_labels, context.n_features, context.epochs)


@hookimpl
def structperc_argmax(context):
    return ThresholdArgmax(context.n_labels)


@hookimpl
def structperc_trainer(context):
    return BoostingTrainer() if context.trainer == "online" else None
