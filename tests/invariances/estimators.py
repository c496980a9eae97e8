"""Estimators as cells: every class of `structperc.estimators`, with each declared value of each parameter once."""

from __future__ import annotations

import inspect
from typing import NamedTuple

import attrs
import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from structperc_boosting.reductions import RankerClassifier

from invariances.cells import quiet, values
from structperc import estimators
from structperc.errors import StructPercError, UnusedOption
from structperc.estimators import LabelScorer, PRank, RankingScorer, SequenceTagger
from structperc.fitting import plugins as registry
from structperc.fitting.option import Options, options_of
from structperc.testing.case import make_case

METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "latent_score", "transform", "predict_set")
KERNEL = "dual-kernel"
KERNELS = ("linear", "polynomial", "rbf", "laplacian")


APART = (LabelScorer, RankingScorer)        # scorers train nothing
WORDS = [("the", "D"), ("dogs", "N"), ("bark", "V"), ("cats", "N"), ("loudly", "A")]


class Cell(NamedTuple):
    """An estimator and the parameters that differ from its defaults."""

    name: str
    parameters: tuple = ()

    def __str__(self):
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.parameters)})"


def declared(cls) -> dict:
    """The options of an estimator that declares them; others have the parameters of scikit-learn's classes."""
    return options_of(cls) if issubclass(cls, Options) else {}


def names() -> list[str]:
    """All estimators that are installed."""
    return [name for name in dir(estimators) if isinstance(cls := getattr(estimators, name), type) and hasattr(cls, "fit")
            and hasattr(cls, "get_params") and cls not in APART]


def cells(name) -> list[Cell]:
    """An estimator with its defaults, and with each value that a parameter declares. Some of them raise an error when they are trained."""
    cls = getattr(estimators, name)
    chosen = {parameter: values(option) for parameter, option in declared(cls).items()}
    for parameter, described in inspect.signature(cls).parameters.items():
        if isinstance(described.default, bool):
            chosen.setdefault(parameter, (False, True))
    if "kernel" in chosen:
        chosen["kernel"] = KERNELS
    if "trainer" in chosen or "update" in chosen:
        every = (trainer for one in registry.all_loaded() if not one.broken for trainer in one.trainers or ())
        chosen["trainer"] = tuple(dict.fromkeys(every))
    apart = ("verbose", "warm_start", "prefit")
    return [Cell(name), *(Cell(name, ((parameter, value),)) for parameter, every in chosen.items() if parameter not in apart
                          for value in every)]


@attrs.define(eq=False)
class Trained:
    """What an estimator learned from its examples."""

    name: str
    parameters: dict
    X: object
    y: object
    told: dict                      # how rows make examples
    rows: bool                      # whether X is a matrix with a label for each row
    levels: tuple = ()
    estimator: object = None

    def make(self, **changed):
        cls = getattr(estimators, self.name)
        own = inspect.signature(cls).parameters
        chosen = {"random_state": 0, "classes": list(self.levels) or None, **self.parameters, **changed}
        defaults = {"problem": "matching" if self.name == "StructuredEstimator" else None,
                    "decide": registry.load("decisions").check_options.get("decide"),
                    "estimator": inner_of(self.name, chosen["classes"], chosen["random_state"], chosen.get("scale"))}
        return cls(**{name: value for name, value in {**defaults, **chosen}.items() if name in own and value is not None})

    def fit(self, X=None, y=None, told=None, **changed):
        told = self.told if told is None else told
        return quiet(self.make(**changed).fit, self.X if X is None else X, self.y if y is None else y, **told)

    def under(self, **parameters):
        other = attrs.evolve(self, parameters={**self.parameters, **parameters})
        other.estimator = other.fit()
        return other

    @property
    def asked(self):
        """How rows make examples where the estimator is asked."""
        return {name: value for name, value in self.told.items() if name in ("lengths", "offsets")}

    def answers(self, estimator=None, X=None) -> dict:
        """All that an estimator returns for rows, by the name of the method."""
        estimator, X = self.estimator if estimator is None else estimator, self.X if X is None else X
        methods = {name: getattr(estimator, name, None) for name in METHODS}
        return {name: np.asarray(flat(quiet(method, X, **self.asked))) for name, method in methods.items() if method is not None}


def flat(answer):
    """Arrays as they are; lists of outputs as texts, which compare."""
    if isinstance(answer, np.ndarray) and answer.dtype.kind in "fiu":
        return answer
    if hasattr(answer, "toarray"):
        return answer.toarray()
    return [str(one.tolist() if hasattr(one, "tolist") else one) for one in answer]


def inner_of(name, classes, random_state, scale):
    """What a wrapper wraps."""
    options = {"random_state": random_state} | ({} if scale is None else {"scale": scale})
    if name == "StructureConformal":
        return SequenceTagger(**options)
    if name == "LeafFeatures":
        return RandomForestRegressor(n_estimators=10, random_state=random_state)
    if name == "BinaryReduction":
        return LogisticRegression()
    if name in ("OrdinalConformal", "ScoreCard"):
        return PRank(classes=classes, **options)
    return PRank(**options) if name == "RankerClassifier" else None


def trained(cell, seed=0) -> Trained | None:
    """The cell, trained; None if its parameters raise an error together."""
    one = examples(cell, np.random.default_rng(seed))
    try:
        one.estimator = one.fit()
    except StructPercError as error:
        if not cell.parameters:
            raise
        assert isinstance(error, UnusedOption) or str(error)
        return None
    return one


def examples(cell, random) -> Trained:
    """Examples for an estimator, by the arguments of its fit."""
    cls = getattr(estimators, cell.name)
    parameters, told = dict(cell.parameters), inspect.signature(cls.fit).parameters
    problem = getattr(cls, "_problem", None) or {"SequenceTagger": "sequence", "StructureConformal": "sequence",
                                                 "StructuredEstimator": "matching"}.get(cell.name)
    if problem:
        data = make_case(problem, (), {"preset": "paper"}, 0).taught
        X = data.X if isinstance(data.X, list) else np.split(data.X, data.offsets[1:-1])
        return Trained(cell.name, parameters, X, data.y, {}, rows=False)
    if cls is estimators.DependencyParser:
        X = [[WORDS[i] for i in random.permutation(5)] for _ in range(6)]
        y = [[(0 if i == root else root + 1, "root" if i == root else word[1]) for i, word in enumerate(x)]
             for x, root in ((x, [word for word, _ in x].index("bark")) for x in X)]
        return Trained(cell.name, parameters, X, y, {}, rows=False)
    X = np.round(random.normal(size=(40, 3)) * 16) / 16
    y = np.digitize(X[:, 0] + 0.5 * random.normal(size=40), [-0.5, 0.5]) + 1
    if "qid" in told:
        return Trained(cell.name, parameters, X, y - 1, {"groups": np.arange(40) // 8}, rows=False)
    if cls is RankerClassifier:
        return Trained(cell.name, parameters, X, np.minimum(y, 2), {}, rows=True, levels=(1, 2))
    return Trained(cell.name, parameters, X, y, {}, rows=True, levels=(1, 2, 3))
