"""The scripts of the papers' theory take lengths, objectives and steps from the model: identities that would fail in other units."""

import ast
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from plain import Engine
from reference import intervals, structural_svm

from structperc.components import Rows

SCRIPTS = Path(__file__).parents[1] / "benchmarks"
pytest.importorskip("matplotlib", reason="the experiments draw figures")
pytest.importorskip("sklearn", reason="the experiments use scikit-learn's machines")


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    """The modules of the benchmarks can be imported."""
    monkeypatch.syspath_prepend(SCRIPTS)


@pytest.mark.parametrize("options", [{"update": "latent"}, {"plugins": ["batch"], "trainer": "cccp", "C": 2.0, "epochs": 500}])
def test_the_surrogate_is_the_maximum_over_all_lists(options):
    from latent_surrogate import require_identity, surrogates

    random = np.random.default_rng(0)
    X, y, lengths = random.normal(size=(30, 3)), random.integers(0, 2, 30), [5] * 6
    engine = Engine("latent-ranking", k=2, **options).fit(X, y, lengths=lengths)
    found = surrogates(engine, SimpleNamespace(X=X, y=y, lengths=lengths))
    w, parts, rows = engine.parts_.weights.vector(), engine.parts_, Rows(X, np.arange(0, 31, 5))
    for i, gold in enumerate(parts.outputs.encode(y, rows)):
        x = rows.example(i)
        x.n_atoms = parts.features.n_atoms(x)
        phi, losses = structural_svm.structures_of(parts, x, gold)
        assert found[i] == pytest.approx((phi @ w + losses).max() - (phi @ w)[losses == 0].max(), abs=1e-12)
    if "C" in options:
        require_identity(engine, found)
        with pytest.raises(AssertionError, match="objective"):
            require_identity(engine, 1.01 * found + 0.01)


def test_the_readings_of_the_support_class_algorithm_are_those_of_the_twin():
    from support_classes import EXACT, LITERAL, READINGS, projection, trials

    for number, trial in enumerate(trials(300)):
        for one in READINGS:
            twin = intervals.support_class_root(*trial, start=one.start, clipped=one.clipped, both_sides_again=one.again)
            a, thresholds = one.step(*trial)
            assert a == twin.a and (thresholds == twin.thresholds(trial[0], *trial[3:])).all()
        if number < 40:
            a, thresholds = projection(*trial)
            assert EXACT.step(*trial)[0] == pytest.approx(a, abs=1e-9) and EXACT.step(*trial)[1] == pytest.approx(thresholds, abs=1e-9)
    assert EXACT != LITERAL


def test_the_kernel_of_regularised_thresholds_moves_every_threshold_by_one_weight():
    from boosting_theory import Extended
    from sklearn.svm import SVC
    from structperc_boosting.reductions import BinaryReduction

    random = np.random.default_rng(1)
    X = random.normal(size=(40, 2))
    y = 1 + np.digitize(X[:, 0] + random.normal(size=40) / 3, [-0.5, 0.5])
    scores = BinaryReduction(SVC(C=1.0, kernel=Extended(2))).fit(X, y).threshold_scores(X)
    np.testing.assert_allclose(np.diff(scores, axis=1), np.diff(scores[:1], axis=1).repeat(40, axis=0), atol=1e-9)


def test_margins_of_pictures_have_the_units_of_their_rows():
    from vehicle_pictures import COUNTS, constants, margin, pictures, require_identity

    X, y = pictures(np.random.default_rng(0), 90)
    assert np.linalg.norm(X, axis=1) == pytest.approx(1) and set(y) == {1, 2, 3}
    model = margin(1.0).fit(X, y)
    assert model.status_ == "converged"
    require_identity(model, X, y)
    with pytest.raises(AssertionError, match="of its length and scores"):
        require_identity(model, 1.1 * X, y)
    assert constants()["Large"][1] == pytest.approx((2 * COUNTS[0] + COUNTS[1]) / sum(COUNTS)) == pytest.approx(1.408, abs=5e-4)


# ---- formulas of scripts about models ----


OF_A_MODEL = {"coef_", "intercept_", "dual_coef_", "support_", "thresholds_", "margins_", "objective_", "objectives_"}


def formulas(tree):
    """Lines of products, norms and roots over attributes of a trained model: formulas whose units a default may move."""
    for node in ast.walk(tree):
        product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult | ast.Mult | ast.Div)
        called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("norm", "sqrt", "dot")
        if product or called:
            # a ratio of two of the model's own figures has no units
            held = [one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute) and one.attr in OF_A_MODEL]
            if held and not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and "gap_" in ast.unparse(node.left)):
                yield node.lineno


def test_a_script_with_a_formula_about_a_model_asserts_an_identity():
    for path in sorted(SCRIPTS.glob("*.py")):
        tree = ast.parse(path.read_text())
        asserts = any(isinstance(node, ast.Assert) or (isinstance(node, ast.Raise) and "AssertionError" in ast.unparse(node))
                      for node in ast.walk(tree))
        assert asserts or not (lines := sorted(set(formulas(tree)))), (
            f"{path.name} computes with a model's attributes in lines {lines}: use the model's scores, norm_ or objective_, or assert that "
            f"the formula gives them")


def test_a_formula_without_an_identity_is_seen():
    for source in ("X @ model.coef_", "np.linalg.norm(engine.coef_)", "np.sqrt(m.dual_coef_ @ K @ m.dual_coef_)", "m.margins_ / w"):
        assert set(formulas(ast.parse(source))) == {1}, source
    assert not list(formulas(ast.parse("model.gap_ / model.objective_; model.predict(X) - y")))
