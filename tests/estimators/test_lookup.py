"""Estimators of plugins' packages are names of structperc.estimators, imported when they are first used."""

import importlib.metadata
import io
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from structperc_decisions import two_cheapest

import structperc.estimators
from structperc.errors import DataError
from structperc.estimators import load, lookup

ENTRIES = {entry.name: entry for entry in importlib.metadata.entry_points(group="structperc.estimators")}
ROOT = Path(__file__).parents[2]


def run(code):
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_names_are_shown_and_importing_loads_none_of_them():
    code = """
import sys, structperc, structperc.estimators
assert {"SVOR", "AdaBoostOR", "DependencyParser", "SegmentTagger", "CuSumRank"} <= set(dir(structperc.estimators))
print(*sys.modules)"""
    loaded = run(code).split()
    assert not [name for name in loaded if name.startswith("structperc_")]


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_a_name_is_the_class_of_its_package(name):
    found = getattr(structperc.estimators, name)
    assert found is ENTRIES[name].load() and found.__name__ == name and name in dir(structperc.estimators)


def test_every_estimator_of_the_bundle_is_listed():
    pattern = re.compile(r"^class (\w+)\(.*(?:Parameters|ProblemEstimator)", re.MULTILINE)
    defined = {name for path in (ROOT / "plugins").rglob("*.py") for name in pattern.findall(path.read_text())}
    assert defined == {name for name, entry in ENTRIES.items() if entry.value.startswith("structperc_")}


def test_type_checkers_see_the_same_names():
    stub = (ROOT / "structperc/estimators/__init__.pyi").read_text()
    assert set(re.findall(r"import (\w+) as \1", stub)) == set(structperc.estimators.__all__)


def test_a_star_imports_the_estimators_of_all_packages():
    names = {}
    exec("from structperc.estimators import *", names)
    assert {*structperc.estimators.__all__} == names.keys() - {"__builtins__"} >= {*ENTRIES, "CuSumRank", "load"}
    assert all(names[name] is getattr(structperc.estimators, name) for name in ENTRIES)


def test_a_star_names_the_package_that_cannot_be_imported(monkeypatch):
    entry = importlib.metadata.EntryPoint("Gone", "no_such_package.estimators:Gone", "structperc.estimators")
    monkeypatch.setitem(lookup.addresses(), "Gone", entry)
    with pytest.raises(AttributeError, match="'Gone' is at no_such_package.estimators:Gone, which cannot be imported"):
        exec("from structperc.estimators import *", {})


def test_an_unknown_name_is_an_attribute_error_with_the_name_that_is_meant():
    with pytest.raises(AttributeError, match="has no attribute 'Svor'. Did you mean 'SVOR'"):
        _ = structperc.estimators.Svor
    with pytest.raises(ImportError, match="cannot import name 'Nothing'"):
        from structperc.estimators import Nothing  # noqa: F401


def test_without_scikit_learn_the_extra_is_named():
    code = """
import sys
sys.modules["sklearn"] = None
from structperc.errors import MissingExtra
try:
    from structperc.estimators import PRank
except MissingExtra as error:
    print(error)"""
    assert run(code) == "structperc.estimators needs scikit-learn; install structperc[sklearn].\n"


# ---- estimators of one problem ----


def taught(name):
    """An estimator that has learned a few examples, these, and an output that is right for no example."""
    random = np.random.default_rng(0)
    if name == "SegmentTagger":
        X = [random.normal(size=(size, 3)) for size in [2, 4] * 10]
        return {}, X, [[(0, 1, "A" if x[0, 0] > 0 else "B")] for x in X]
    if name == "GraphLabeler":
        y = [np.repeat([[0] * size + [1] * (5 - size)], 5, axis=0) for size in [2, 3] * 5]
        return {"attractive": True}, [labels[:, :, None] + random.normal(0, 0.2, (5, 5, 1)) for labels in y], y
    if name == "PairMatcher":
        X = [random.random((3, 3, 1)) / 2 + np.eye(3)[:, :, None] for _ in range(10)]
        return {"perfect": True, "show": "pairs"}, X, [[(0, 0), (1, 1), (2, 2)]] * 10
    if name == "PairClusterer":
        y = [[0, 0, 1, 1], [0, 1, 1], [0, 1, 0, 2]] * 4
        return {"update": "pa1", "loss_weight": 1.0}, [np.subtract.outer(labels, labels)[:, :, None] != 0.0 for labels in y], y
    if name == "PathFinder":
        arcs = [np.column_stack([[0, 0, 1, 2], [1, 2, 3, 3], random.normal(size=4)]) for _ in range(20)]
        return {}, arcs, [[0, 2] if one[[0, 2], 2].sum() > one[[1, 3], 2].sum() else [1, 3] for one in arcs]
    X = [random.normal(size=(4, 2)) for _ in range(20)]
    return {"decide": two_cheapest}, X, [two_cheapest(x @ [1.0, 0.5], None) for x in X]


PROBLEMS = ["SegmentTagger", "GraphLabeler", "PairMatcher", "PairClusterer", "PathFinder", "DecisionMaker"]


@pytest.mark.parametrize("name", PROBLEMS)
def test_an_estimator_of_one_problem_learns_scores_and_comes_back_from_a_file(name):
    parameters, X, y = taught(name)
    X = [np.asarray(x, dtype=float) for x in X]
    model = getattr(structperc.estimators, name)(random_state=0, epochs=20, **parameters).fit(X, y)
    assert model.score(X, y) > (-0.5 if name == "DecisionMaker" else 0.8)
    file = io.BytesIO()
    model.save(file)
    file.seek(0)
    again = load(file, **{key: value for key, value in parameters.items() if callable(value)})
    assert type(again) is type(model) and repr(again) == repr(model)
    for other in (again, pickle.loads(pickle.dumps(model))):
        assert repr(other.predict(X)) == repr(model.predict(X))


@pytest.mark.parametrize("name", PROBLEMS)
def test_all_right_outputs_score_best(name):
    parameters, X, y = taught(name)
    X = [np.asarray(x, dtype=float) for x in X]
    model = getattr(structperc.estimators, name)(random_state=0, **parameters).fit(X, y)
    assert model.score(X, model.predict(X)) == (0 if name == "DecisionMaker" else 1)


def test_regret_is_what_the_decisions_cost_more():
    _, X, y = taught("DecisionMaker")
    costs = [x @ [1.0, 0.5] for x in X]
    model = structperc.estimators.DecisionMaker(decide=two_cheapest, random_state=0).fit(X, y)
    paid, least = (sum(c @ np.isin(np.arange(4), np.flatnonzero(d) if d is not None else b) for c, d, b in zip(costs, side, y, strict=True))
                   for side in (model.predict(X), [None] * len(y)))
    total = sum(abs(c[list(b)].sum()) for c, b in zip(costs, y, strict=True))
    assert model.score(X, y, costs=costs) == pytest.approx(-(paid - least) / total)


def test_wrong_pairs_lower_the_score_of_a_matching():
    """Of three pairs one is shared, F1 = 2 * 1 / (3 + 3)."""
    parameters, X, y = taught("PairMatcher")
    model = structperc.estimators.PairMatcher(random_state=0, epochs=20, **parameters).fit(X, y)
    assert model.score(X[:1], y[:1]) == 1
    assert model.score(X[:1], [[(0, 0), (1, 2), (2, 1)]]) == pytest.approx(1 / 3)


def test_a_measure_that_the_outputs_do_not_report_is_named():
    _, X, y = taught("PairClusterer")
    X = [np.asarray(x, dtype=float) for x in X]
    model = structperc.estimators.PairClusterer(plugin_options={"show": "rows"}).fit(X, [()] * len(X))
    with pytest.raises(DataError, match="the pairwise F1 of outputs in this form is not known"):
        model.score(X, [()] * len(X))
