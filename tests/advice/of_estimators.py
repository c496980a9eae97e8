"""Messages of estimators."""

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import cross_val_predict

from advice.followed import SENTENCES, TAGS, X, Y, messages_of
from structperc import Engine, Problem
from structperc.estimators import (
    LeafFeatures,
    OrdinalConformal,
    PRank,
    RankingSVM,
    ScoreCard,
    SequenceTagger,
    StructureConformal,
    StructuredClassifier,
    StructuredEstimator,
)

FRAME = pd.DataFrame(X, columns=["a", "b"])
TEXTS = np.array(["mild", "bad", "worse"])[Y]
LEVELS = ["mild", "bad", "worse"]
QUERIES = {"lengths": [12, 12]}
PAIRS = [np.array([[0.0, 0.0, 1.0], [0.0, 1.0, -1.0], [1.0, 0.0, 2.0]])] * 4
CHOSEN = [[0]] * 4


def rank(X=X, y=Y, **options):
    return PRank(random_state=0, **options).fit(X, y)


def ranking(X=X, told=QUERIES, **options):
    return RankingSVM(**options).fit(X, Y, **told)


def tagger(**options):
    return SequenceTagger(random_state=0, **options)


def again(estimator, **changed):
    """A partial_fit after a change of a parameter."""
    return estimator.partial_fit(X, Y).set_params(**changed).partial_fit(X, Y)


def gone_on(**changed):
    return RankingSVM(warm_start=True).fit(X, Y, **QUERIES).set_params(**changed).fit(X, Y, **QUERIES)


def matching():
    return Engine("matching", epochs=1).fit(PAIRS, CHOSEN)


def levels():
    """A problem whose scores are given."""
    return Problem("multiclass", classes=["a", "b"])


def calibrated(estimator, X=SENTENCES, y=TAGS, **options):
    return StructureConformal(estimator, random_state=0, **options).calibrate(X, y)


def classified():
    return StructuredClassifier(random_state=0).fit(X, TEXTS)


def bagged(ranker, y):
    return BaggingClassifier(ranker, n_estimators=2, random_state=0).fit(X, y)


def card(X=X):
    return ScoreCard(PRank(random_state=0)).fit(X, Y)


def stopped_early(X):
    return SequenceTagger(n_iter_no_change=1, validation_fraction=0.4, random_state=0).fit(X, TAGS)


def conformal(classes):
    return OrdinalConformal(PRank(classes=LEVELS, random_state=0).fit(X, TEXTS), classes=classes, prefit=True).fit(X, TEXTS)


MESSAGES = [
    *messages_of("structperc/estimators/base.py",
        ("features as input", lambda _: rank().predict(X[:, :1]), lambda _: rank().predict(X)),
        ("have no labels; use structperc.Engine(", lambda _: StructuredClassifier(problem="matching").fit(PAIRS, [(1, 2)] * 4),
         lambda _: Engine("matching").fit(PAIRS, [(1, 2)] * 4)),
        ("pass labels of the same kind as in training", lambda _: classified().score(X, Y), lambda _: classified().score(X, TEXTS)),
        ("set it there.", lambda _: rank(plugin_options={"penalty": 1.0}, trainer="cumulative-logit"),
         lambda _: rank(penalty=1.0, trainer="cumulative-logit")),
        ("partial_fit continues with the former value", lambda _: again(PRank(), C=2.0), lambda _: again(PRank()),
         lambda _: PRank(C=2.0).fit(X, Y), lambda _: PRank(C=2.0).partial_fit(X, Y))),
    *messages_of("structperc/estimators/labels.py",
        ("where no step depends on it; set pocket=True", lambda _: PRank().fit(X, Y, costs=1 - np.eye(3)[Y]),
         lambda _: PRank(pocket=True).fit(X, Y, costs=1 - np.eye(3)[Y]))),
    *messages_of("structperc/estimators/numbered.py",
        ("So the order of the ranks is lost", lambda _: bagged(PRank(), TEXTS), lambda _: bagged(PRank(classes=LEVELS), TEXTS),
         lambda _: bagged(PRank(), Y))),
    *messages_of("structperc/estimators/parameters.py",
        ("is not fitted yet; call ", lambda _: PRank().predict(X), lambda _: rank().predict(X),
         lambda _: PRank().partial_fit(X, Y).predict(X)),
        ("is not fitted yet; call ", lambda _: LeafFeatures(small_tree()).transform(X),
         lambda _: LeafFeatures(small_tree()).fit(X, Y).transform(X)),
        ("is not fitted yet; call ", lambda _: RankingSVM().predict(X), lambda _: ranking().predict(X)),
        ("is the class", lambda _: ScoreCard(PRank).fit(X, Y), lambda _: ScoreCard(PRank()).fit(X, Y))),
    *messages_of("structperc/estimators/queries.py",
        ("since rankings have no labels", lambda _: ranking().classes_, lambda _: predicted_by_query()),
        ("the rows of X have no queries: pass groups=", lambda _: RankingSVM().fit(X, Y),
         lambda _: RankingSVM().fit(X, Y, groups=np.arange(24) // 12),
         lambda _: ranking(), lambda _: RankingSVM().fit(X, Y, lengths=[len(X)]))),
    *messages_of("structperc/estimators/ranking_svm.py",
        ("Pass the columns of training, in the same order", lambda _: ranking().predict(X[:, :1]), lambda _: ranking().predict(X)),
        ("the columns of X are not those of the training", lambda _: ranking(FRAME).predict(FRAME[["b", "a"]]),
         lambda _: ranking(FRAME).predict(FRAME)),
        ("but loss has changed since", lambda _: gone_on(loss="hinge"), lambda _: gone_on(),
         lambda _: gone_on(loss="hinge", warm_start=False))),
    *messages_of("structperc/estimators/score_card.py",
        ("rows; pass one", lambda _: card(FRAME).explain(FRAME[:2]), lambda _: card(FRAME).explain(FRAME[:1])),
        ("but a score card has points for numbers", lambda _: card(FRAME.assign(c=pd.Categorical([10, 20] * 12))),
         lambda _: card(pd.get_dummies(FRAME.assign(c=pd.Categorical([10, 20] * 12))).astype(float))),
        ("a score card looks values up in whole columns", lambda _: card(csr_array(X)), lambda _: card(csr_array(X).toarray())),
        ("but the card has", lambda _: card(FRAME).predict(FRAME[["b", "a"]]), lambda _: card(FRAME).predict(FRAME))),
    *messages_of("structperc/estimators/sequences.py",
        ("cannot hold out sentences; pass a list of sentences", lambda _: stopped_early({0: SENTENCES[0]}),
         lambda _: stopped_early(SENTENCES)),
        ("and its rows have no sentences: pass lengths=", lambda _: tagger().fit(X, Y), lambda _: tagger().fit(X, Y, lengths=[12, 12]),
         lambda _: tagger().fit(X, Y, groups=np.arange(24) // 12), lambda _: tagger().fit(X, Y, lengths=[len(X)]),
         lambda _: tagger().fit(X, Y, lengths=[1] * len(X)))),
    *messages_of("structperc/estimators/structure_conformal.py",
        ("has no engine_, so it is not fitted", lambda _: calibrated(tagger()), lambda _: calibrated(tagger().fit(SENTENCES, TAGS)),
         lambda _: StructureConformal(tagger(), coverage=0.5, random_state=0).fit(SENTENCES * 4, TAGS * 4)),
        ("is not calibrated yet; call fit or calibrate first", lambda _: StructureConformal(tagger()).predict(SENTENCES),
         lambda _: calibrated(tagger().fit(SENTENCES, TAGS)).predict(SENTENCES)),
        ("is an Engine, which fit cannot clone", lambda _: StructureConformal(matching()).fit(PAIRS, CHOSEN),
         lambda _: StructureConformal(StructuredEstimator(problem="matching"), coverage=0.5, random_state=0).fit(PAIRS, CHOSEN),
         lambda _: calibrated(matching(), PAIRS, CHOSEN)),
        ("estimator is a Problem, whose scores come from elsewhere",
         lambda _: StructureConformal(levels()).fit([[0.0, 1.0]] * 4, ["a"] * 4),
         lambda _: calibrated(levels(), (levels().batch(lengths=[1]), [[0.0, 1.0]]), ["a"])),
        ("needs probabilities of outputs, and", lambda _: calibrated(matching(), PAIRS, CHOSEN, scale="doubt"),
         *(lambda _, scale=scale: calibrated(matching(), PAIRS, CHOSEN, scale=scale) for scale in ("margin", "sqrt-length", "length")))),
    *messages_of("structperc/estimators/structured.py",
        ("problem=None; name the problem to predict", lambda _: StructuredEstimator().fit(SENTENCES, TAGS),
         lambda _: StructuredEstimator(problem="sequence").fit(SENTENCES, TAGS))),
    *messages_of("structperc/estimators/targets.py",
        ("A column-vector y was passed when a 1d array was expected", lambda _: rank(y=Y.reshape(-1, 1)),
         lambda _: rank(y=Y.reshape(-1, 1).ravel()))),
    *messages_of("structperc/estimators/wrapped.py",
        ("; pass the same classes= to both", lambda _: conformal(LEVELS[::-1]), lambda _: conformal(LEVELS)),
        ("is not fitted yet; call fit first", lambda _: OrdinalConformal(PRank()).predict(X),
         lambda _: OrdinalConformal(PRank()).fit(X, Y).predict(X))),
]


def predicted_by_query():
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        return cross_val_predict(RankingSVM().set_fit_request(groups=True), X, Y, params={"groups": np.arange(24) // 6}, method="predict",
        cv=2)


def small_tree():
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(max_depth=2, random_state=0)

