"""`preset="paper"` is the algorithm of the paper that a problem cites: a pass beside a transcription, for each paper."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from reference import boosting, intervals, large_margin, rankings

from structperc import Engine, estimators, hookimpl
from structperc.errors import PluginError

ROOT = Path(__file__).parents[1]


def rows(seed, n=40, d=3):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, 1 + np.digitize(X @ [2, -1, 0.5] + random.normal(size=n) / 2, [-1.0, 1.0])


@pytest.mark.parametrize("make", [lambda **o: Engine("cusum", **o), lambda **o: estimators.CuSumRank(**o)])
def test_cumulative_sum_ranking_is_figure_1(make):
    """The prediction is the rank of the largest prefix sum; blocks between it and the rank move by x. The constant column is -1."""
    X, y = rows(0)
    X = np.c_[X, -np.ones(len(X))]
    w = np.zeros((3, 4))
    for x, rank in zip(X, y, strict=True):
        predicted = 1 + int(np.argmax(np.cumsum(w @ x)))
        w[predicted:rank] += x          # atoms that only the rank has
        w[rank:predicted] -= x
    model = make(preset="paper", fit_intercept=False, classes=[1, 2, 3]).fit(X, y)
    np.testing.assert_array_equal(model.coef_, w)


@pytest.mark.parametrize(("variant", "tie"), [("structured", False), ("original", True)])
def test_pranking_is_one_pass_of_its_rule(variant, tie):
    X, y = rows(1)
    w, b = np.zeros(3), np.zeros(2)
    for x, rank in zip(X, y, strict=True):
        side = np.where(rank > np.arange(1, 3), 1.0, -1.0)
        score = w @ x - b
        wrong = side * score <= 0 if tie else (score >= 0) != (side > 0)
        if tie and 1 + np.argmax(np.append(score < 0, True)) == rank:
            continue                    # the original rule steps only where the rank is wrong
        tau = np.where(wrong, side, 0.0)
        w, b = w + tau.sum() * x, b - tau
    engine = Engine("prank", preset="paper", variant=variant, classes=[1, 2, 3]).fit(X, y)
    np.testing.assert_allclose(engine.coef_, w, rtol=1e-12)
    np.testing.assert_array_equal(engine.thresholds_, b)


@pytest.mark.parametrize(("rule", "options"), [("exact-pa", {}), ("exact-pa1", {"update": "exact-pa1", "C": 0.3}),
                                               ("exact-pa2", {"update": "exact-pa2", "C": 0.3})])
@pytest.mark.parametrize("make", [lambda **o: Engine("interval-pa", **o), lambda **o: estimators.IntervalPA(**o)])
def test_interval_labels_are_learned_by_exact_projections(make, rule, options):
    X, y = rows(2)
    random = np.random.default_rng(0)
    low, high = np.maximum(y - random.integers(0, 2, len(y)), 1), np.minimum(y + random.integers(0, 2, len(y)), 3)
    model = make(preset="paper", classes=[1, 2, 3], **options).fit(X, np.c_[low, high])
    w, theta, *_ = intervals.learn(X, low, high, 3, rule, options.get("C", 1.0))
    np.testing.assert_allclose(model.coef_, w, atol=1e-12)
    np.testing.assert_allclose(model.thresholds_, theta, atol=1e-12)
    assert "manwani" in model.citation() and "collins" not in model.citation()


def test_latent_lists_are_learned_by_rule_6_with_the_loss_in_the_search():
    """y* and h* maximise (5), the score and the loss; the completion is among outputs of loss 0."""
    random = np.random.default_rng(3)
    queries = [random.normal(size=(5, 3)) for _ in range(30)]
    relevance = [(random.random(5) < 0.4).astype(int).tolist() for _ in queries]
    w, *_ = rankings.learn(queries, relevance, 2, loss_weight=1.0)
    engine = Engine("latent-ranking", preset="paper", k=2).fit(queries, relevance)
    np.testing.assert_allclose(engine.coef_, w, atol=1e-12)
    ranker = estimators.LatentRanker(preset="paper", k=2).fit(np.vstack(queries), np.concatenate(relevance), groups=np.repeat(range(30), 5))
    np.testing.assert_array_equal(ranker.coef_, engine.coef_)
    assert "latentperceptron" in engine.citation() and "collins" not in engine.citation()


def test_boosting_makes_the_rounds_of_algorithm_2():
    X, y = rows(4, 25)
    X = X.round(1)
    costs = np.abs(y[:, None] - np.arange(1, 4))
    rounds = list(boosting.exact_rounds(X.tolist(), y.tolist(), costs.tolist(), 8))
    engine = Engine("adaboost-or", preset="paper", classes=[1, 2, 3])
    assert engine.epochs == 1000
    engine = Engine("adaboost-or", preset="paper", epochs=8, classes=[1, 2, 3]).fit(X, y)
    np.testing.assert_allclose(engine.errors_, [float(error) for error, *_ in rounds], atol=1e-12)


def test_large_margins_are_the_optimum_of_the_program():
    X, y = rows(5)
    engine = Engine("prank", preset="paper", plugins=["large-margin"], trainer="svor", method="explicit", classes=[1, 2, 3]).fit(X, y)
    W = large_margin.weights_of("explicit", y, 3)
    best = large_margin.threshold_primal(X, y, W, 1.0, ordered=True)
    assert engine.status_ == "converged" and best.value <= engine.objective_ * (1 + 1e-9) <= best.value * (1 + 1e-3) * (1 + 1e-6)


def test_structural_machines_end_at_their_certificate():
    X, y = rows(6)
    engine = Engine("multiclass", preset="paper", plugins=["batch"], trainer="bcfw", C=0.1).fit(X, y)
    assert engine.status_ == "converged" and engine.gap_ <= 1e-3 * engine.objective_


@pytest.mark.parametrize("problem", ["cusum", "prank", "multiclass", "sequence"])
def test_other_problems_are_the_plain_perceptron_in_one_pass(problem):
    engine = Engine(problem, preset="paper")
    assert (engine.update, engine.epochs, engine.average, engine.shuffle, engine.scale) == ("perceptron", 1, False, False, False)


# ---- citations ----


KEYS = {
    "cusum": ["milidiu2019cumulative", "collins2002discriminative"], "prank": ["crammer2001pranking", "collins2002discriminative"],
    "interval-pa": ["manwani"], "latent-ranking": ["latentperceptron", "yu2009learning"], "adaboost-or": ["lin2009combining"],
}


@pytest.mark.parametrize("problem", KEYS)
def test_an_untrained_engine_cites_what_a_trained_one_cites(problem):
    X, y = rows(7)
    engine = Engine(problem, preset="paper", **({"k": 2} if problem == "latent-ranking" else {}))
    before = engine.citation()
    if problem == "latent-ranking":
        engine.fit([X[:5], X[5:10]], [[1, 0, 0, 1, 0]] * 2)
    else:
        engine.fit(X, np.c_[y, y] if problem == "interval-pa" else y)
    entries = engine.citation().split("\n\n")
    assert before.split("\n\n") == entries and len(entries) == len(KEYS[problem])
    assert all(key in entry for key, entry in zip(KEYS[problem], entries, strict=True))


@pytest.mark.parametrize(("problem", "options", "keys"), [
    ("prank", {"plugins": ["large-margin"], "trainer": "svor"}, ["crammer2001pranking", "chu2007support", "shashua2002taxonomy"]),
    ("multiclass", {"plugins": ["batch"], "trainer": "bcfw"}, ["crammer2003ultra", "lacoste2013block", "tsochantaridis2005large"]),
    ("latent-ranking", {"plugins": ["batch"], "trainer": "cccp"}, ["latentperceptron", "yu2009learning", "lacoste2013block", "tsochan"]),
])  # fmt: skip
def test_batch_trainers_are_cited_before_fit_and_no_online_rule(problem, options, keys):
    entries = Engine(problem, **options).citation().split("\n\n")
    assert len(entries) == len(keys) and all(key in entry for key, entry in zip(keys, entries, strict=True))


def test_every_estimator_cites_before_fit_what_it_cites_after():
    X, y = rows(8)
    for make in (estimators.PRank, estimators.CuSumRank, estimators.SVOR, estimators.AdaBoostOR, estimators.ORStump,
                 estimators.StructuredClassifier):
        assert make().citation() == make().fit(X, y).citation(), make
    for make in (estimators.AdaBoostOR, estimators.ORStump, estimators.SVOR):
        assert "collins2002discriminative" not in make().citation()
    assert "2002-39" in estimators.SVOR().citation()


def test_what_a_plugin_declares_for_the_preset_is_checked():
    class Hasty:
        paper = {"epoch": 3}

        @hookimpl
        def structperc_epoch_end(self, engine, record):
            pass

    with pytest.raises(PluginError, match="`paper` of .* has a value for 'epoch'.*Did you mean 'epochs'"):
        Engine("cusum", plugins=[Hasty()], preset="paper")


# ---- the pages of the five papers ----


PAGES = sorted((ROOT / "docs/papers").glob("*.md"))
STATED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def functions(path):
    return {node.name for node in ast.parse((ROOT / path).read_text()).body if isinstance(node, ast.FunctionDef)}


def require_tests(text, where):
    """Every test that a text names exists."""
    for path, name in STATED.findall(text):
        assert (ROOT / path).is_file() and name in functions(path), f"{where}: {path}::{name}"


def test_each_paper_has_a_page_whose_rows_name_tests_that_exist():
    assert len(PAGES) == 5
    for page in PAGES:
        rows = [line.strip("| ").split(" | ") for line in page.read_text().split("\n") if line.startswith("| ")]
        assert rows[0] == ["in the paper", "what holds here", "tests"] and len(rows) > 9
        for row in rows[1:]:
            assert STATED.search(row[-1]) or "no counterpart" in row[1] or "benchmarks/results" in row[1], f"{page.name}: {row[0]}"
        require_tests(page.read_text(), page.name)


def test_the_errata_of_a_paper_are_on_its_page():
    errata = (ROOT / "docs/errata.md").read_text()
    for page, letters in (("cumulative-sum-ranking", "CS"), ("interval-labels", "IL"), ("latent-perceptron", "LV"), ("large-margins", "SL"),
                          ("boosting", "LL")):
        numbers = {int(number) for number in re.findall(rf"^### {letters}-(\d+) ", errata, re.MULTILINE)}
        text = (ROOT / f"docs/papers/{page}.md").read_text().partition("| in the paper")
        assert f"errata {letters}-1 to {letters}-{max(numbers)}](" in text[0]
        assert {int(number) for number in re.findall(rf"\b{letters}-(\d+)\b", text[2])} == numbers, page


def test_every_table_of_bounds_names_the_tests_that_assert_it():
    """A bound is stated in a section that ends with its tests, and each of them exists."""
    text = (ROOT / "docs/bounds.md").read_text()
    sections = re.split(r"^## ", text, flags=re.MULTILINE)
    assert len(sections) == 5
    for section in sections:
        assert STATED.search(section.rpartition("Tests: ")[2]), section[:60]
    require_tests(text, "bounds.md")
