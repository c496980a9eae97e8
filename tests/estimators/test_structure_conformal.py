"""Sets of structures contain the right one as often as promised, and equal an enumeration of their members."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from every_problem import MODELS, engine_and_examples
from hypothesis import given, settings
from hypothesis import strategies as st
from plain import Engine
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from structperc_parsing.estimators import DependencyParser

from structperc.errors import DataError, OptionError, PluginError
from structperc.estimators import LatentRanker, OrdinalConformal, PRank, SequenceTagger, StructureConformal, StructuredEstimator
from structperc.estimators.held_out import weighted_quantile

LABELS = ("a", "b", "c")


def sentences(n, seed, longest=4):
    """Sentences of two numbers per token. Labels depend on noisy scores and on the previous label."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for length in random.integers(1, longest + 1, n):
        rows = random.normal(size=(length, 2))
        labels, before = [], 0
        for row in rows:
            before = int(np.argmax([row[0], row[1], 0.3] + np.eye(3)[before] + random.gumbel(size=3)))
            labels.append(LABELS[before])
        X.append(rows)
        y.append(labels)
    return X, y


def tagger(**options):
    options = {"preset": "paper", "epochs": 3, "average": True, "shuffle": True, "random_state": 0} | options
    return StructuredEstimator(problem="sequence", classes=list(LABELS), **options)


@pytest.fixture(scope="module")
def trained():
    X, y = sentences(150, 0)
    return tagger(update="log-loss").fit(X, y)


def all_outputs(x):
    return [list(labels) for labels in itertools.product(LABELS, repeat=len(x))]


# ---- contents of a set ----


@pytest.mark.parametrize("scale", [None, "length", "sqrt-length", "doubt", "margin", lambda x: 1.0 + x.n_rows])
def test_a_set_is_the_enumeration_of_outputs_near_the_prediction(trained, scale):
    X, y = sentences(80, 1)
    model = StructureConformal(trained, coverage=0.7, scale=scale).calibrate(X, y)
    for x, answer in zip(X[:25], model.predict(X[:25]), strict=True):
        inside = [output for output in all_outputs(x) if output in answer]
        listed = answer.k_best(1000)

        assert answer.prediction == listed[0] and listed.complete
        assert sorted(map(tuple, listed)) == sorted(map(tuple, inside))
        assert (np.diff(listed.scores) <= 1e-9).all() and listed.scores[0] - listed.scores[-1] <= answer.distance + 1e-6
        possible = [[any(output[t] == label for output in inside) for label in LABELS] for t in range(len(x))]
        certain = [[all(output[t] == label for output in inside) for label in LABELS] for t in range(len(x))]
        np.testing.assert_array_equal(answer.states, np.add(possible, certain, dtype=int))
        assert answer.possible == [f"token {t}: {LABELS[k]}" for t, k in np.argwhere(possible)]
        assert answer.certain == [f"token {t}: {LABELS[k]}" for t, k in np.argwhere(certain)]
        assert answer.exact
        at_least, at_most = answer.count()
        assert at_least <= len(inside) <= at_most
        if len(inside) > 1:
            short = answer.k_best(len(inside) - 1)
            assert len(short) == len(inside) - 1 and not short.complete and answer.k_best(len(inside)).complete


def test_counts_of_whole_scores_are_exact_and_those_of_long_sentences_have_narrow_bounds(trained):
    random = np.random.default_rng(0)
    engine = Engine("sequence", classes=list(LABELS), forbidden_transitions=[("a", "b"), ("c", None)], epochs=1)
    engine.fit([np.zeros((2, 2))], [["b", "a"]])
    for distance in (0.0, 1.0, 2.0, 4.0, np.inf):
        engine.parts_.weights.assign(random.integers(-2, 3, len(engine.parts_.weights.vector())).astype(float), 1)
        x = random.integers(-2, 3, (6, 2)).astype(float)
        answer, = StructureConformal(engine, coverage=0.5).calibrate([x], [engine.predict([x])[0]]).predict([x])
        answer.distance = distance
        inside = sum(output in answer for output in all_outputs(x))
        assert answer.count() == (inside, inside)
    answer, = StructureConformal(trained, coverage=0.9).calibrate(*sentences(8, 9)).predict([np.zeros((400, 2))])
    assert answer.count() == (3**400, 3**400) and answer.distance == np.inf
    X, y = sentences(100, 1)
    for answer in StructureConformal(trained, coverage=0.9).calibrate(X, y).predict([random.normal(size=(40, 2)) for _ in range(5)]):
        at_least, at_most = answer.count()
        assert at_least > 1000 and not answer.k_best(1000).complete and at_most <= 3 * at_least
    empty, = StructureConformal(trained, coverage=0.9).calibrate(X, y).predict([np.zeros((0, 2))])
    assert empty.count() == (1, 1)


@pytest.mark.parametrize("scale", [None, "sqrt-length"])
def test_scores_times_eight_change_no_set(scale):
    (X, y), (X_new, y_new) = sentences(100, 2), sentences(100, 3)
    sets = []
    for margin in (1.0, 8.0):
        engine = Engine("sequence", update="pa", margin=margin, epochs=3, average=True, classes=list(LABELS)).fit(X, y)
        sets.append([list(answer.k_best(1000)) for answer in StructureConformal(engine, scale=scale).calibrate(X_new, y_new).predict(X)])
    assert sets[0] == sets[1] and max(map(len, sets[0])) > 3


@pytest.mark.parametrize("problem, X, y, outputs", [
    ("prank", np.linspace(-2, 2, 60)[:, None], np.repeat([1, 2, 3], 20), [1, 2, 3]),
    ("multiclass", np.linspace(-2, 2, 60)[:, None], np.repeat(["u", "v", "w"], 20), ["u", "v", "w"])])
def test_sets_of_labels_have_the_labels_near_the_prediction(problem, X, y, outputs):
    random = np.random.default_rng(0)
    y = np.where(random.random(60) < 0.3, random.permutation(y), y)
    model = StructureConformal(StructuredEstimator(problem=problem, random_state=0, epochs=5), coverage=0.8, random_state=1).fit(X, y)
    scores = model.estimator_.engine_.label_scores(X)
    for row, answer in zip(scores, model.predict(X), strict=True):
        inside = [label for label in outputs if label in answer]
        best = row[outputs.index(answer.prediction)]
        assert inside == [label for label, score in zip(outputs, row, strict=True) if score >= best - answer.distance - 1e-9]
        assert sorted(answer.k_best()) == sorted(inside) and answer.prediction in inside


def test_trees_answer_without_a_list():
    random = np.random.default_rng(0)
    X = [[(f"w{k}", "N" if k % 2 else "V") for k in random.integers(0, 8, random.integers(2, 5))] for _ in range(80)]
    y = [[0, *random.integers(1, n, n - 1).clip(max=1)] for n in map(len, X)]
    model = StructureConformal(DependencyParser(epochs=2, average=True, random_state=0), coverage=0.8, random_state=0).fit(X, y)
    for x, answer in zip(X[:10], model.predict(X[:10]), strict=True):
        inside = [heads for heads in itertools.product(range(len(x) + 1), repeat=len(x)) if all(h != m for m, h in enumerate(heads, 1))
                  and is_tree(heads) and heads.count(0) == 1 and list(heads) in answer]
        arcs = {(h, m) for heads in inside for m, h in enumerate(heads, 1)}

        assert sorted(map(tuple, answer.k_best(10_000))) == sorted(inside)
        assert set(answer.possible) == {f"{h} -> {m}" for h, m in arcs}
        assert set(answer.certain) == {f"{h} -> {m}" for h, m in arcs if all(heads[m - 1] == h for heads in inside)}
        assert "<svg" in answer._repr_html_() and "All outputs within" in answer.text()


def is_tree(heads):
    def reaches(m):
        for _ in range(len(heads) + 1):
            if m == 0:
                return True
            m = heads[m - 1]
        return False

    return all(reaches(m) for m in range(1, len(heads) + 1))


@pytest.mark.parametrize("name", MODELS)
def test_sets_of_every_problem_are_the_enumeration_of_outputs_near_the_prediction(name):
    engine, X, y = engine_and_examples(name)
    y = [*y[1:], y[0]]                          # wrong outputs, so that sets have more than the prediction
    sets = StructureConformal(engine, coverage=0.6).calibrate(X, y)
    outputs, rows, sizes = engine.parts_.outputs, engine.read(X[:4]), []
    shown = outputs.display().local_atoms
    for i, (scores, answer) in enumerate(zip(engine.atom_scores(X[:4]), sets.predict(X[:4]), strict=True)):
        x = engine.model_.example(rows, i)
        counts = np.array([outputs.count(x, one) for one in outputs.enumerate(x)])
        totals, names = counts @ scores, np.array(outputs.display().atom_names(x))
        inside = totals >= totals.max() - answer.distance - 1e-9
        chosen = np.zeros(len(names), dtype=bool)
        chosen[shown(x)] = True
        assert set(answer.possible) == set(names[chosen & (counts[inside] > 0).any(axis=0)]) and answer.exact
        assert set(answer.certain) == set(names[chosen & (counts[inside] > 0).all(axis=0)])
        for one, member in zip(outputs.enumerate(x), inside, strict=True):
            assert (outputs.decode(one, x) in answer) == member
        members = answer.k_best(1000)
        at_least, at_most = answer.count(1000)
        assert at_least <= len(members) <= at_most and (name == "sequence" or at_least == at_most)
        sizes.append(len(members))
        assert members.complete and len(members) == inside.sum() and np.allclose(members.scores, np.sort(totals[inside])[::-1])
        assert "<svg" in answer._repr_html_() and "All outputs within" in answer.text()
    found = sets.evaluate(X, y)
    assert found["coverage"] >= 0.6 and found["coverage of atoms"] >= 0.6 and found["median size"] >= 1
    assert max(sizes) > 1


def test_an_output_that_the_problem_forbids_is_in_no_set_and_counts_as_missed():
    X, y = sentences(100, 3)
    engine = Engine("sequence", epochs=2, classes=list(LABELS), forbidden_transitions=[("a", "b")], random_state=0)
    engine.fit(X[:50], [["c"] * len(labels) for labels in y[:50]])
    model = StructureConformal(engine, coverage=0.5).calibrate(X[50:], y[50:])
    x = np.zeros((2, 2))
    answer, = model.predict([x])

    assert ["a", "b"] not in answer and ["c", "c"] in answer
    forbidden = [any(pair == ("a", "b") for pair in itertools.pairwise(labels)) for labels in y[50:]]
    assert any(forbidden) and np.isinf(StructureConformal(engine, coverage=1 - np.mean(forbidden) / 2).calibrate(X[50:], y[50:]).quantile_)
    with pytest.raises(DataError, match="'z'"):
        ["z", "a"] in answer                                                   # noqa: B015
    with pytest.raises(DataError):
        ["a"] in answer                                                        # noqa: B015


def test_the_answer_is_asked_for_outputs_of_its_own_example_only(trained):
    X, y = sentences(60, 4)
    for x, answer in zip(X, StructureConformal(trained).calibrate(X, y).predict(X), strict=True):
        assert all(output in answer for output in answer.k_best(20))
        with pytest.raises(DataError, match="give one label per token"):
            ["a"] * (len(x) + 1) in answer                                     # noqa: B015


def test_pictures_are_firm_where_atoms_are_certain(trained):
    X, y = sentences(60, 4)
    answer = StructureConformal(trained, coverage=0.8).calibrate(X, y).predict(X[:1])[0]
    picture, = answer.pictures()

    assert [[label for label, _ in labels] for labels in picture.choices] == [
        [LABELS[k] for k in np.flatnonzero(row)] for row in answer.states]
    assert [[certain for _, certain in labels] for labels in picture.choices] == [
        [bool(row[k] == 2) for k in np.flatnonzero(row)] for row in answer.states]
    assert "<svg" in answer._repr_html_() and "score" in answer._repr_html_()


# ---- coverage ----


def draws(n_draws, m, coverage, **options):
    """Coverage of sets and of atoms over draws of held-out and new sentences, of one model."""
    model = tagger(update="log-loss").fit(*sentences(150, 0))
    covered, of_atoms = [], []
    for draw in range(n_draws):
        X, y = sentences(m + 40, 100 + draw)
        sets = StructureConformal(model, coverage=coverage, **options).calibrate(X[:m], y[:m])
        found = sets.evaluate(X[m:], y[m:], limit=None)
        covered.append(found["coverage"])
        of_atoms.append(found["coverage of atoms"])
    return np.array(covered), np.array(of_atoms)


@pytest.mark.parametrize("coverage, scale", [(0.7, None), (0.9, "sqrt-length"), (0.8, "doubt")])
def test_sets_and_atoms_cover_as_often_as_asked(coverage, scale):
    covered, of_atoms = draws(24, 39, coverage, scale=scale)

    for found in (covered, of_atoms):
        assert found.mean() >= coverage - 3 * found.std() / np.sqrt(24)
    assert covered.mean() <= coverage + 1 / 40 + 3 * covered.std() / np.sqrt(24)


def test_coverage_holds_within_each_category(trained):
    X, y = sentences(600, 5, longest=6)
    new, right = sentences(600, 6, longest=6)
    long = np.array([len(x) > 3 for x in new])

    def by_category(model):
        covered = np.array([labels in answer for labels, answer in zip(right, model.predict(new), strict=True)])
        return covered[long].mean(), covered[~long].mean()

    together = by_category(StructureConformal(trained, coverage=0.8, scale=None).calibrate(X, y))
    model = StructureConformal(trained, coverage=0.8, scale=None, category=lambda x: x.n_rows > 3).calibrate(X, y)
    assert max(abs(share - 0.8) for share in by_category(model)) < 0.05 < max(abs(share - 0.8) for share in together)
    assert set(model.quantile_) == set(model.atom_quantile_) == {True, False}
    unseen = StructureConformal(trained, category=lambda x: x.n_rows).calibrate([X[0]] * 20, [y[0]] * 20)
    other = next(x for x in new if len(x) != len(X[0]))
    assert unseen.predict([other])[0].distance == np.inf


def test_sources_count_once_and_stay_together(trained):
    X, y = sentences(40, 7)
    once = StructureConformal(trained, coverage=0.75).calibrate(X, y)
    again = StructureConformal(trained, coverage=0.75).calibrate([*X, *X[:5] * 9], [*y, *y[:5] * 9], sources=[*range(40), *range(5)] + [
        *range(5)] * 8)
    assert again.quantile_ == once.quantile_ and again.atom_quantile_ == pytest.approx(once.atom_quantile_)

    sources, seen = np.repeat(np.arange(20), 2), []

    class Recording(StructuredEstimator):
        def fit(self, X, y):
            seen.append({int(x[0, 0]) for x in X})
            return super().fit(X, y)

    marked = [np.array([[source, 1.0]]) for source in sources]
    StructureConformal(Recording(problem="sequence", classes=["a", "b"], random_state=0), random_state=0).fit(
        marked, [["a"], ["b"]] * 20, sources=sources)
    assert len(seen[0]) == 14
    StructureConformal(Recording(problem="sequence", classes=["a", "b"], random_state=0), folds=4, random_state=0).fit(
        marked, [["a"], ["b"]] * 20, sources=sources)
    assert [len(part) for part in seen[1:]] == [15, 15, 15, 15, 20]


def test_cross_fitting_measures_every_example_and_covers_about_as_asked():
    covered = []
    for draw in range(10):
        X, y = sentences(60 + 60, 300 + draw)
        model = StructureConformal(tagger(), coverage=0.8, folds=5, random_state=draw).fit(X[:60], y[:60])
        assert model.n_calibration_ == 60
        covered.append(model.evaluate(X[60:], y[60:], limit=None)["coverage"])
    assert 0.72 < np.mean(covered) < 0.9


def test_a_stream_forgets_old_examples(trained):
    X, y = sentences(300, 8)
    turned = [[LABELS[(LABELS.index(label) + 1) % 3] for label in labels] for labels in y]
    shares = {}
    for decay in (0.0, 0.05):
        model, covered = StructureConformal(trained, coverage=0.8, decay=decay).partial_calibrate(X[:100], y[:100]), []
        for i in range(100, 300, 10):
            covered.append(model.evaluate(X[i:i + 10], turned[i:i + 10], limit=None)["coverage"])
            model.partial_calibrate(X[i:i + 10], turned[i:i + 10])
        shares[decay] = np.mean(covered[5:])
    assert shares[0.05] > max(shares[0.0], 0.72)
    plain = StructureConformal(trained).calibrate(X, y)
    assert StructureConformal(trained).partial_calibrate(X[:99], y[:99]).partial_calibrate(X[99:], y[99:]).quantile_ == plain.quantile_


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.sampled_from([0.5, 0.8, 0.9]))
def test_the_quantile_is_the_smallest_that_covers_enough_whatever_the_ties(distances, coverage):
    found = weighted_quantile(np.array(distances, dtype=float), np.ones(len(distances)), coverage)
    needed = int(np.ceil(round(coverage * (len(distances) + 1), 9)))

    assert found == (sorted(distances)[needed - 1] if needed <= len(distances) else np.inf)


@pytest.mark.parametrize("size", [3, 6, 10, 13])
def test_shares_of_nine_examples_suffice_for_nine_tenths_though_they_are_rounded(trained, size):
    random = np.random.default_rng(size)
    X, y = [random.normal(size=(size, 2)) for _ in range(9)], [[LABELS[k] for k in random.integers(0, 3, size)] for _ in range(9)]
    assert StructureConformal(trained, coverage=0.9).calibrate(X, y).atom_quantile_ < np.inf
    assert StructureConformal(trained, coverage=0.9).calibrate(X[:8], y[:8]).atom_quantile_ == np.inf
    tokens, labels = [row[None] for x in X for row in x], [[label] for one in y for label in one]
    model = StructureConformal(trained, coverage=0.9).calibrate(tokens, labels, sources=np.repeat(np.arange(9), size))
    assert model.quantile_ < np.inf


def test_right_predictions_leave_the_best_outputs_alone():
    X = [np.array([[-1.0, 0.0]]), np.array([[1.0, 0.0]])] * 20
    engine = Engine("sequence", epochs=5, classes=["a", "b"], fit_intercept=False).fit(X, [["a"], ["b"]] * 20)
    model = StructureConformal(engine, coverage=0.9).calibrate(X, [["a"], ["b"]] * 20)

    assert model.quantile_ == model.atom_quantile_ == 0.0
    assert model.predict(X[:1])[0].k_best() == [["a"]]
    tie, = model.predict([np.zeros((0, 2))])
    assert tie.k_best() == [[]] and tie.k_best().complete and tie.certain == []


def test_too_few_examples_give_every_output_and_say_so(trained):
    X, y = sentences(8, 9)
    model = StructureConformal(trained, coverage=0.9).calibrate(X, y)
    answer, = model.predict([X[0][:2] if len(X[0]) > 1 else np.zeros((2, 2))])

    assert model.quantile_ == answer.distance == np.inf
    assert len(answer.k_best(9)) == 9 and answer.k_best(9).complete and not answer.k_best(8).complete
    assert len(answer.possible) == 6 and answer.certain == [] and answer.exact
    assert "too few examples are held out" in answer.text()


# ---- partial outputs, approximate solvers ----


def test_partial_outputs_are_covered_whichever_is_right_or_by_any(trained):
    X, y = sentences(200, 10)
    partial = [[None if t == 0 else label for t, label in enumerate(labels)] for labels in y]
    shares = {}
    for completions in ("all", "any"):
        engine = Engine("sequence", epochs=3, average=True, random_state=0, classes=list(LABELS)).fit(*sentences(150, 0))
        model = StructureConformal(engine, coverage=0.8, completions=completions).calibrate(X[:100], partial[:100])
        covered = [labels in answer for labels, answer in zip(y[100:], model.predict(X[100:]), strict=True)]
        shares[completions] = np.mean(covered), model.quantile_
    assert shares["all"][0] >= 0.8 and shares["all"][1] > shares["any"][1]


def test_lists_of_relevant_documents_are_covered_by_any():
    random = np.random.default_rng(0)
    X = [random.normal(size=(6, 3)) for _ in range(200)]
    y = [(x[:, 0] + random.normal(size=6) > 0.5).astype(int) for x in X]
    engine = Engine("latent-ranking", k=2, epochs=3, random_state=0).fit(X[:60], y[:60])
    model = StructureConformal(engine, coverage=0.8, completions="any").calibrate(X[60:130], y[60:130])
    found = model.evaluate(X[130:], y[130:])

    assert found["coverage"] > 0.7
    answer, = model.predict(X[:1])
    assert answer.certain == [name for name in answer.possible if all(int(name.split()[1]) in shown for shown in answer.k_best(15))]


def test_an_approximate_solver_covers_and_says_that_its_atoms_are_bounds():
    random = np.random.default_rng(0)
    pairs = np.array(list(itertools.combinations(range(4), 2)), dtype=float)
    X, y = [], []
    for _ in range(160):
        labels = random.integers(0, 2, 4)
        same = labels[pairs[:, 0].astype(int)] == labels[pairs[:, 1].astype(int)]
        X.append(np.column_stack([pairs, np.where(same, 1.0, -1.0) + random.normal(size=6) * 1.5]))
        y.append(labels.tolist())
    clusterings = [labels for labels in itertools.product(range(4), repeat=4)   # each once
                   if all(label <= max(labels[:i], default=-1) + 1 for i, label in enumerate(labels))]
    assert len(clusterings) == 15
    covered = {}
    for solver in ("exact", "greedy"):
        engine = Engine("clusters", solver=solver, epochs=3, random_state=0).fit(X[:40], y[:40])
        model = StructureConformal(engine, coverage=0.8).calibrate(X[40:100], y[40:100])
        covered[solver] = model.evaluate(X[100:], y[100:])["coverage"]
        for x, answer in zip(X[100:112], model.predict(X[100:112]), strict=True):
            inside = [labels for labels in clusterings if list(labels) in answer]
            together = [[labels[int(i)] == labels[int(j)] for i, j in x[:, :2]] for labels in inside]
            names = np.array([f"{i:g} with {j:g}" for i, j in x[:, :2]])

            assert list(answer.prediction) in answer and set(answer.possible) >= set(names[np.any(together, axis=0)])
            assert set(answer.certain) <= set(names[np.all(together, axis=0)])
            if answer.exact:
                assert len(answer.possible) == np.any(together, axis=0).sum() and len(answer.certain) == np.all(together, axis=0).sum()
    assert min(covered.values()) > 0.7


def test_labels_given_the_heads_have_no_sets():
    X, y = [[("a", "N"), ("b", "V")]] * 6, [[(2, "x"), (0, "y")]] * 6
    for labels, whole in (("after", False), ("joint", True)):
        parser = DependencyParser(epochs=1, random_state=0, labels=labels).fit(X, y)
        if whole:
            assert y[0] in StructureConformal(parser, coverage=0.5).calibrate(X, y).predict(X)[0]
        else:
            with pytest.raises(PluginError, match="whole outputs have no scores.*set labels='joint'"):
                StructureConformal(parser).calibrate(X, y)


# ---- scikit-learn's interface and errors ----


def test_what_cannot_be_measured_is_refused(trained):
    X, y = sentences(30, 11)
    for options, sentence in (({"coverage": 1.0}, "coverage=1.0; expected a number between 0 and 1"),
                              ({"scale": "width"}, "scale='width'; expected one of None, 'length', 'sqrt-length', 'doubt', 'margin'"),
                              ({"folds": 1}, "folds=1; expected a whole number, at least 2, or None"),
                              ({"category": 3}, "category=3; expected a function of the example, or None"),
                              ({"completions": "some"}, "completions='some'; expected 'all' or 'any'")):
        with pytest.raises(OptionError, match=sentence):
            StructureConformal(trained, **options).calibrate(X, y)
    for scale in (lambda x: 0.0, lambda x: float("nan"), lambda x: "wide"):
        with pytest.raises(DataError, match="expected a number above 0"):
            StructureConformal(trained, scale=scale).calibrate(X, y)
    with pytest.raises(DataError, match="X has no examples, so there is nothing to measure"):
        StructureConformal(trained).calibrate([], [])
    with pytest.raises(DataError, match="y has 29 outputs but X has 30 examples"):
        StructureConformal(tagger()).fit(X, y[:29])
    with pytest.raises(DataError, match="sources has the shape"):
        StructureConformal(trained).calibrate(X, y, sources=[1])
    with pytest.raises(DataError, match="calibration_size=30 of n_samples = 30 leaves nothing to learn from"):
        StructureConformal(tagger(), calibration_size=30).fit(X, y)
    with pytest.raises(DataError, match="folds=40 cannot be made of 30 examples"):
        StructureConformal(tagger(), folds=40).fit(X, y)
    with pytest.raises(OptionError, match="an Engine, which fit cannot clone"):
        StructureConformal(Engine("sequence")).fit(X, y)
    with pytest.raises(NotFittedError, match="not fitted"):
        StructureConformal(tagger()).calibrate(X, y)
    with pytest.raises(OptionError, match="expected an estimator of structperc, a trained Engine"):
        StructureConformal("tagger").calibrate(X, y)
    with pytest.raises(NotFittedError, match="not calibrated yet"):
        StructureConformal(trained).predict(X)
    with pytest.raises(DataError, match="which is not one of the labels known"):
        StructureConformal(trained).calibrate(X, [["q"] * len(labels) for labels in y])
    with pytest.raises(DataError, match="nan|NaN"):
        StructureConformal(trained).calibrate([np.full((1, 2), np.nan)], [["a"]])
    with pytest.raises(OptionError, match="scale='doubt' needs probabilities of outputs, and Assignment finds none"):
        pairs = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, -1.0], [1.0, 0.0, 2.0]])
        StructureConformal(Engine("matching", epochs=1).fit([pairs], [[0]]), scale="doubt").calibrate([pairs], [[0]])


def test_a_failed_calibration_leaves_the_last_one(trained):
    X, y = sentences(30, 12)
    model = StructureConformal(trained, coverage=0.8).calibrate(X, y)
    before = model.quantile_
    with pytest.raises(DataError):
        model.calibrate(X, y[:5])
    with pytest.raises(DataError):
        model.partial_calibrate([], [])
    assert model.quantile_ == before and model.n_calibration_ == 30


def test_it_clones_pickles_and_repeats():
    X, y = sentences(60, 13)
    model = StructureConformal(SequenceTagger(epochs=2, random_state=0, classes=list(LABELS)), coverage=0.8, random_state=3).fit(X, y)
    again = clone(model).fit(X, y)
    back = pickle.loads(pickle.dumps(model))

    assert again.quantile_ == model.quantile_ == back.quantile_
    assert [a.k_best(5) for a in back.predict(X[:3])] == [a.k_best(5) for a in model.predict(X[:3])]
    assert repr(model).startswith("StructureConformal(")
    assert StructureConformal(PRank()).set_params(estimator__C=0.5, scale=None).get_params()["estimator__C"] == 0.5


def test_lengths_and_groups_say_which_rows_are_an_example(trained):
    X, y = sentences(30, 14)
    model = StructureConformal(trained, coverage=0.8).calibrate(X, y)
    rows, lengths = np.concatenate(X), [len(x) for x in X]
    flat = [label for labels in y for label in labels]

    assert StructureConformal(trained, coverage=0.8).calibrate(rows, y, lengths=lengths).quantile_ == model.quantile_
    assert StructureConformal(trained, coverage=0.8).calibrate(rows, flat, groups=np.repeat(np.arange(30), lengths)).quantile_ \
        == model.quantile_
    assert [a.prediction for a in model.predict(rows, lengths=lengths)] == [a.prediction for a in model.predict(X)]


# ---- sets apart from the estimator ----


def same_sets(first, second):
    names = ("prediction", "distance", "certain", "possible", "atom_set")
    return (all(getattr(first, name) == getattr(second, name) for name in names) and first.count(20) == second.count(20)
            and list(first.k_best(5)) == list(second.k_best(5)))


def test_sets_are_pickled_and_copied_with_rows_of_every_form():
    random = np.random.default_rng(0)
    X, words = random.normal(size=(40, 2)), [[["the"], ["dog"]], [["a"], ["cat"]]] * 20
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    ranks = PRank(random_state=0, scale=False).fit(X, y)
    tagger = SequenceTagger(random_state=0).fit(words, [["D", "N"]] * 40)
    for model, rows, gold in ((ranks, X, y), (ranks, sparse.csr_matrix(X), y), (tagger, words, [["D", "N"]] * 40)):
        answers = StructureConformal(model, coverage=0.8).calibrate(rows, gold).predict(rows[:3])
        for again in (pickle.loads(pickle.dumps(answers)), copy.deepcopy(answers)):
            assert all(map(same_sets, answers, again)) and gold[0] in again[0]


def test_relevances_are_in_a_set_as_they_are_in_calibration():
    random = np.random.default_rng(0)
    X = [random.normal(size=(6, 2)) for _ in range(40)]
    relevances = [(x[:, 0] + 0.5 * random.normal(size=6) > 0.3).astype(int) for x in X]
    ranker = LatentRanker(k=2, random_state=0).fit(X, relevances)
    for completions in ("all", "any"):
        model = StructureConformal(ranker, completions=completions, coverage=0.7).calibrate(X[:20], relevances[:20])
        answers = model.predict(X[20:])
        inside = [relevance in answer for relevance, answer in zip(relevances[20:], answers, strict=True)]
        assert np.mean(inside) == model.evaluate(X[20:], relevances[20:])["coverage"] and any(inside)
        assert answers[0].prediction in answers[0]
        with pytest.raises(DataError, match="is no list for query"):
            [0, 1, 1] in answers[0]     # noqa: B015


def test_limits_are_whole_numbers():
    X = np.linspace(-1, 1, 20)[:, None]
    model = StructureConformal(PRank(random_state=0)).fit(X, np.digitize(X[:, 0], [-0.3, 0.3]))
    answer, = model.predict(X[:1])
    for limit in (-1, 0, None, "a", 2.5):
        for call in (answer.k_best, answer.count):
            with pytest.raises(OptionError, match="limit=.*expected a whole number from 1"):
                call(limit)
    with pytest.raises(OptionError, match="limit='a'; expected None or a whole number"):
        model.evaluate(X, np.digitize(X[:, 0], [-0.3, 0.3]), limit="a")


@pytest.mark.parametrize("place", [0, 5, 8])
def test_errors_of_a_share_name_the_example_among_all(place):
    X, y = np.random.default_rng(0).normal(size=(10, 2)), np.tile([1, 2], 5)
    X[place, 1] = np.nan
    with pytest.raises(DataError, match=rf"X\[\d, 1\] is nan.*within a share of all here\. Number \d of it is {place} of all\."):
        OrdinalConformal(PRank(), random_state=0).fit(X, y)
    blocks, labels = [np.ones((3, 2))] * 10, [["a", "b", "a"]] * 10
    labels[place] = ["a"]
    for folds in (None, 3):
        estimator = StructureConformal(StructuredEstimator(problem="sequence"), folds=folds, random_state=0)
        with pytest.raises(DataError, match=rf"y\[\d\] has 1 label .*Number \d of it is {place} of all\."):
            estimator.fit(blocks, labels)
    blocks[place] = np.full((3, 2), np.nan)
    with pytest.raises(DataError, match=r"X\[\d+, 0\] is nan.*counted within a share of all here\.\)$"):
        estimator.fit(blocks, [["a", "b", "a"]] * 10)
    trained = StructuredEstimator(problem="sequence").fit([np.ones((3, 2))] * 4, [["a", "b", "a"]] * 4)
    with pytest.raises(DataError, match=r"X\[0, 0\] is nan[^(]*$"):
        StructureConformal(trained).calibrate(blocks[place:place + 1], labels[:1] if place else labels[1:2])
