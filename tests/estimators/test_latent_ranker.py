"""LatentRanker: arguments and results of fit and predict, scikit-learn's tools, and ranking files."""

import gzip
import pickle

import numpy as np
import pandas
import pytest
from plain import Engine
from scipy import sparse
from sklearn.base import clone

from structperc import files, metrics
from structperc.callbacks import EarlyStopping
from structperc.errors import DataError, DataWarning, NotFittedError, OptionError
from structperc.estimators import LatentRanker, RankingSVM
from structperc.schedules import inverse_sqrt


def data(n_queries=30, seed=0):
    """Rows, relevances 0..2, query of each row, rows of each query."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 12, n_queries)
    groups = np.repeat(rng.permutation(n_queries), lengths)
    X = rng.normal(size=(len(groups), 4))
    y = np.digitize(X @ [1, -1, 0.5, 0] + 0.3 * rng.normal(size=len(X)), [0.3, 1.5])
    return X, y, groups, lengths


X, Y, GROUPS, LENGTHS = data()
OFFSETS = np.concatenate([[0], np.cumsum(LENGTHS)])
SETTINGS = dict(k=3, epochs=5, random_state=0)


def test_it_is_the_engine():
    model = LatentRanker(**SETTINGS).fit(X, Y, groups=GROUPS)
    engine = Engine("latent-ranking", update="latent", k=3, loss_weight=5.0, epochs=5, average=True, shuffle=True, random_state=0)
    engine.fit(X, Y, groups=GROUPS)
    np.testing.assert_array_equal(model.coef_, engine.coef_)
    assert model.mistakes_ == engine.mistakes_ and model.n_iter_ == len(engine.mistakes_) and model.n_features_in_ == 4
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_, rtol=1e-12)


def test_places_are_those_of_the_scores():
    model = LatentRanker(**SETTINGS).fit(X, Y, groups=GROUPS)
    places, scores, shown = model.rank(X, groups=GROUPS), model.predict(X), model.engine_.predict(X, groups=GROUPS)
    for (start, stop), documents in zip(zip(OFFSETS[:-1], OFFSETS[1:], strict=True), shown, strict=True):
        order = np.argsort(-scores[start:stop], kind="stable")
        assert places[start:stop][order].tolist() == list(range(1, stop - start + 1)) and order[:3].tolist() == list(documents)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_score_is_ndcg_whatever_k_was_trained_for(k):
    model = LatentRanker(k=k, epochs=3, random_state=0).fit(X, Y, groups=GROUPS)
    weights = np.arange(30.0)
    assert model.score(X, Y, groups=GROUPS) == metrics.ndcg_at_k(Y, X @ model.coef_, 10, groups=GROUPS)
    assert model.set_params(score_k=2).score(X, Y, lengths=LENGTHS) == metrics.ndcg_at_k(Y, X @ model.coef_, 2, groups=GROUPS)
    assert model.set_params(gains=(0, 1, 1), score_k=None).score(X, Y, qid=GROUPS, sample_weight=weights) == metrics.ndcg_at_k(
        Y, X @ model.coef_, None, groups=GROUPS, gains=(0, 1, 1), sample_weight=weights)


WAYS = {
    "groups": lambda: (X, Y, dict(groups=GROUPS)), "qid": lambda: (X, Y, dict(qid=GROUPS)),
    "lengths": lambda: (X, Y, dict(lengths=LENGTHS)),
    "text": lambda: (X, Y.tolist(), dict(groups=[f"q{g}" for g in GROUPS])),
    "blocks": lambda: (np.split(X, OFFSETS[1:-1]), np.split(Y, OFFSETS[1:-1]), {}),
    "sparse": lambda: (sparse.csr_matrix(X), Y, dict(groups=GROUPS)),
    "frame": lambda: (pandas.DataFrame(X), pandas.Series(Y), dict(groups=GROUPS)),
    "lists": lambda: (X.tolist(), Y.tolist(), dict(groups=GROUPS.tolist())),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_all_ways_to_say_which_rows_are_a_query(way):
    given, y, where = WAYS[way]()
    expected = LatentRanker(**SETTINGS).fit(X, Y, groups=GROUPS)
    model = LatentRanker(**SETTINGS).fit(given, y, **where)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
    assert model.rank(given, **where).tolist() == expected.rank(X, groups=GROUPS).tolist()
    np.testing.assert_allclose(model.decision_function(given), X @ expected.coef_, rtol=1e-9)
    assert model.score(given, y, **where) == expected.score(X, Y, groups=GROUPS)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix, pandas.DataFrame, np.ndarray.tolist])
def test_rows_in_any_order(form):
    """Queries are in the order of their first rows, and predictions in the order of all rows."""
    rng = np.random.default_rng(1)
    first = np.flatnonzero(np.append(True, GROUPS[1:] != GROUPS[:-1]))
    rest = np.setdiff1d(np.arange(len(X)), first)
    slots = np.sort(rng.permutation(GROUPS[rest]))                      # later documents of queries, mixed but in their order
    rng.shuffle(slots)
    left = {g: iter(np.flatnonzero(GROUPS == g)[1:]) for g in GROUPS}
    order = np.concatenate([first, [next(left[g]) for g in slots]]).astype(int)
    together = LatentRanker(**SETTINGS).fit(X, Y, groups=GROUPS)
    apart = LatentRanker(**SETTINGS).fit(form(X[order]), Y[order], groups=GROUPS[order])
    np.testing.assert_allclose(apart.coef_, together.coef_, rtol=1e-12)
    assert apart.rank(form(X[order]), groups=GROUPS[order]).tolist() == together.rank(X, groups=GROUPS)[order].tolist()
    weights = rng.uniform(size=len(LENGTHS))
    assert apart.score(form(X[order]), Y[order], groups=GROUPS[order], sample_weight=weights) == pytest.approx(
        together.score(X, Y, groups=GROUPS, sample_weight=weights))


def test_streams():
    whole = LatentRanker(k=3, shuffle=False).partial_fit(X, Y, groups=GROUPS)
    parts = LatentRanker(k=3, shuffle=False)
    for start in range(0, 30, 7):
        rows = slice(OFFSETS[start], OFFSETS[min(start + 7, 30)])
        parts.partial_fit(X[rows], Y[rows], qid=GROUPS[rows])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-12)
    with pytest.raises(OptionError, match="k was 3 when training began and is 4 now"):
        parts.set_params(k=4).partial_fit(X, Y, groups=GROUPS)


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda model: model.fit(X, Y), r"the rows of X have no queries.*lengths=\[len\(X\)\]"),
    (lambda model: model.partial_fit(X, Y), "the rows of X have no queries"),
    (lambda model: model.fit(X, Y, groups=GROUPS, qid=GROUPS), "groups and qid were given; they mean the same"),
    (lambda model: model.fit(X, Y, groups=GROUPS, lengths=LENGTHS), "lengths and groups were given"),
    (lambda model: model.fit(X, Y, groups=GROUPS[1:]), r"groups has .* entries, but X has \d+ rows; give one for each row.$"),
    (lambda model: model.fit(X, Y, groups=LENGTHS), rf"They add up to {len(X)}: sizes of groups go into lengths=\[...\]"),
    (lambda model: model.fit(X, None, groups=GROUPS), "requires y to be passed"),
    (lambda model: model.fit(X, Y[1:], groups=GROUPS), "y has shape"),
    (lambda model: model.fit(X, ["no"] * len(X), groups=GROUPS), "expected a number for each document"),
    (lambda model: model.fit(X, Y, groups=GROUPS).rank(X), "the rows of X have no queries"),
    (lambda model: model.fit(X, Y, groups=GROUPS).rank(X[:, 1:], groups=GROUPS), "X has 3 features, but LatentRanker is expecting 4"),
    (lambda model: model.fit(X, Y, groups=GROUPS).score(X, Y[1:], groups=GROUPS), "y_true has shape"),
    (lambda model: model.fit(X * [1, 1, np.nan, 1], Y, groups=GROUPS), r"X\[\d+, 2\] is nan"),
    (lambda model: model.fit(np.append(X, X[:1], axis=0), [*Y, np.nan], groups=[*GROUPS, GROUPS[0]]),
     r"y\[\d+\] is nan.*Rows are counted group by group here"),
    (lambda model: model.fit(np.append(X, [[1, 1, np.inf, 1]], axis=0), [*Y, 0], groups=[*GROUPS, GROUPS[0]]), rf"X\[{len(X)}, 2\] is inf"),
])  # fmt: skip
def test_refusals(call, sentence):
    with pytest.raises(DataError, match=sentence):
        call(LatentRanker(**SETTINGS))


@pytest.mark.parametrize(("options", "y", "sentence"), [
    ({}, 0 * Y, "with relevant=1 no query has a document that is worth more than another. Nothing can be learned"),
    ({"gains": (1, 1, 1)}, Y, "with these gains no query has a document"),
    ({}, np.where(Y == 0, -1, Y), rf"y\[{np.argmin(Y)}\] is -1: relevances below 0 count as 0, as irrelevant"),
])  # fmt: skip
def test_relevances_that_are_seldom_meant_are_told(options, y, sentence):
    with pytest.warns(DataWarning, match=sentence):
        LatentRanker(**SETTINGS, **options).fit(X, y, groups=GROUPS)
    LatentRanker(**SETTINGS, relevant=-0.5).fit(X, np.where(Y == 0, -1, Y), groups=GROUPS)
    stream = LatentRanker(k=3).partial_fit(X, Y, groups=GROUPS)
    stream.partial_fit(X, 0 * Y, groups=GROUPS)         # a part may have no relevant documents


def test_before_training():
    for call in (lambda model: model.rank(X, groups=GROUPS), lambda model: model.predict(X), lambda model: model.coef_):
        with pytest.raises(NotFittedError, match="This LatentRanker is not fitted yet"):
            call(LatentRanker())
    assert "yu2009learning" in LatentRanker().citation()


def test_manners():
    model = LatentRanker(k=2, step_size=inverse_sqrt(0.5), gains=(0, 0.5, 1), random_state=0)
    assert repr(model).split() == "LatentRanker(gains=(0, 0.5, 1), k=2, random_state=0, step_size=inverse_sqrt(0.5))".split()
    assert "classes" not in model.get_params()
    model.fit(X, Y, groups=GROUPS)
    assert not hasattr(clone(model), "engine_") and clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert str(model.explain(X[:LENGTHS[0]])) if LENGTHS[0] > 2 else True


# ---- files ----


def ranking_file(path, zipped=False):
    lines = [f"{y} qid:{g} " + " ".join(f"{j}:{float(v)!r}" for j, v in enumerate(x, start=1)) + " # a document\n"
             for x, y, g in zip(X, Y, GROUPS, strict=True)]
    with (gzip.open if zipped else open)(path, "wt") as file:
        file.writelines(lines)


@pytest.mark.parametrize("zipped", [False, True])
def test_files_are_streamed(tmp_path, zipped):
    """Parts end with whole queries, and together they equal the file."""
    path = tmp_path / ("rank.svm.gz" if zipped else "rank.svm")
    ranking_file(path, zipped)
    table = files.read(path, group="qid")
    assert table.lengths.tolist() == LENGTHS.tolist()
    assert repr(table) == f"Table(X: csr_matrix of shape ({len(Y)}, 5), y: int64 of shape ({len(Y)},), offsets: of 30 examples)"
    for size in (1, 7, 50, 1 << 24):
        parts = list(files.stream(path, n_features=5, group="qid", rows=size))
        assert (len(parts) == 2) == (size == 1 << 24) and (size > 1 or len(parts) == 30)      # the last query may continue
        np.testing.assert_array_equal(sparse.vstack([part.X for part in parts]).toarray(), table.X.toarray())
        assert np.concatenate([part.y for part in parts]).tolist() == table.y.tolist()
        assert np.concatenate([np.diff(part.offsets) for part in parts]).tolist() == LENGTHS.tolist()
        model = LatentRanker(k=3, shuffle=False)
        for part in parts:
            model.partial_fit(part.X, part.y, lengths=np.diff(part.offsets))
        expected = LatentRanker(k=3, shuffle=False).partial_fit(X, Y, groups=GROUPS)
        np.testing.assert_allclose(model.coef_[1:], expected.coef_, rtol=1e-9)
    ungrouped = list(files.stream(path, n_features=5, rows=10))
    assert len(ungrouped) > 3 and sum(len(part.y) for part in ungrouped) == len(Y) and ungrouped[0].offsets is None


def test_what_is_wrong_with_a_part_is_said(tmp_path):
    path = tmp_path / "rank.svm"
    for text, sentence in {"1 qid:1 1:1\n0 qid:2 1:1\n1 qid:1 1:2\n": "rows with 'qid' 1 are not all together",
                           "1 1:1\n0 qid:2 1:1\n": "lacks qid:NUMBER", "": "has no examples", "\n# nothing\n": "has no examples",
                           "1 qid:1 1:1\n0 qid:2 7:1\n": "has the feature 7",
                           "1 qid:1 1:1\n0 qid:2 1:nan\n": "example 2: a value of feature 1 is nan",
                           "1 qid:1 1:1\nx qid:2\n": "is no svmlight file"}.items():
        path.write_text(text)
        with pytest.raises(DataError, match=sentence):
            list(files.stream(path, n_features=5, group="qid", rows=1))


def test_the_command_line(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    ranking_file("rank.svm")
    code, out, err = run("fit", "latent-ranking", "rank.svm", "--group", "qid", "--model", "m.model", "--set", "k=3", "--set", "epochs=4",
                         "--set", "update=latent", "--set", "step_size=inverse-sqrt(1.0)")
    assert (code, err) == (0, "") and f"{len(Y)} in 30 examples" in out and "5, of which column 0 is empty: the file counts from 1" in out
    code, out, err = run("evaluate", "m.model", "rank.svm", "--group", "qid")
    engine = Engine.load("m.model")
    table = files.read("rank.svm", group="qid")
    expected = metrics.precision_at_k(table.y, table.X @ engine.coef_, 3, groups=GROUPS)
    assert (code, err) == (0, "") and f"precision at 3          {expected:.4f}" in out
    code, out, err = run("predict", "m.model", "rank.svm", "--group", "qid")
    shown = np.array(out.split()[1:], dtype=int)
    assert (code, err) == (0, "") and shown.sum() == np.minimum(LENGTHS, 3).sum() and len(shown) == len(Y)
    places = Engine.load("m.model").predict(table.X, offsets=table.offsets)
    assert all(shown[start + i] for start, found in zip(OFFSETS, places, strict=False) for i in found)


# ---- a held-out part of the queries ----


def drawn_queries(seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(400, 5))
    return X, (X[:, 0] + random.normal(size=400) > 0.5).astype(int)


FORMS = {
    "group": lambda X, y: (X, y, {"group": [10] * 40}),
    "lengths": lambda X, y: (sparse.csr_array(X), y, {"lengths": [10] * 40}),
    "groups": lambda X, y: (X, y, {"groups": np.repeat(np.arange(40), 10)}),
    "scattered": lambda X, y: (*(part.reshape(40, 10, -1).swapaxes(0, 1).reshape(400, -1) for part in (X, y)),
                               {"qid": np.tile(np.arange(40), 10)}),
    "blocks": lambda X, y: (list(X.reshape(40, 10, 5)), list(y.reshape(40, 10)), {}),
}


@pytest.mark.parametrize(("form", "patience"), [*((form, 3) for form in FORMS), ("lengths", 1)])
def test_training_ends_by_a_held_out_part_of_the_queries(form, patience):
    """Whole queries are held out. The model equals that of EarlyStopping on the same parts, for every form of the data."""
    X, y = drawn_queries()
    given, relevance, where = FORMS[form](X, y)
    options = {"k": 3, "epochs": 60, "random_state": 0}
    relevance = np.ravel(relevance) if form == "scattered" else relevance
    model = LatentRanker(n_iter_no_change=patience, validation_fraction=0.25, **options).fit(given, relevance, **where)
    held = np.zeros(40, dtype=bool)
    held[np.random.default_rng(0).permutation(40)[:10]] = True
    rows = np.repeat(held, 10)
    stopping = EarlyStopping(X[rows], y[rows], patience, lengths=[10] * 10)
    by_hand = LatentRanker(plugins=[stopping], **options).fit(X[~rows], y[~rows], lengths=[10] * 30)
    assert model.status_ == "early_stopped" and model.n_iter_ < 60
    assert model.coef_.tolist() == by_hand.coef_.tolist() and model.mistakes_ == by_hand.mistakes_


def test_held_out_queries_have_weights_and_bounds():
    X, y = drawn_queries()
    weights = np.ones(40)
    weights[np.random.default_rng(0).permutation(40)[:4]] = 1000         # of held-out queries, which scale no step
    options = {"k": 3, "n_iter_no_change": 2, "random_state": 0}
    weighted = LatentRanker(**options).fit(X, y, lengths=[10] * 40, sample_weight=weights)
    assert weighted.coef_.tolist() == LatentRanker(**options).fit(X, y, lengths=[10] * 40, sample_weight=np.ones(40)).coef_.tolist()
    with pytest.raises(DataError, match="validation_fraction=0.9 of 2 queries leaves nothing to learn from"):
        LatentRanker(n_iter_no_change=2, validation_fraction=0.9).fit(X, y, lengths=[200, 200])
    for wrong in ({"n_iter_no_change": 0}, {"n_iter_no_change": 2, "validation_fraction": 1.0}):
        with pytest.raises(OptionError, match=list(wrong)[-1]):
            LatentRanker(**wrong).fit(X, y, lengths=[10] * 40)


@pytest.mark.parametrize("ranker", [LatentRanker(k=3, random_state=0), RankingSVM()], ids=repr)
def test_sizes_of_queries_have_the_name_that_boosting_libraries_give_them(ranker):
    X, y = drawn_queries()
    expected = clone(ranker).fit(X, y, lengths=[10] * 40).coef_.tolist()
    assert clone(ranker).fit(X, y, group=[10] * 40).coef_.tolist() == expected
    assert clone(ranker).partial_fit(X, y, group=[10] * 40).coef_.shape == (5,)
    with pytest.raises(DataError, match="lengths and group were given"):
        ranker.fit(X, y, lengths=[10] * 40, group=[10] * 40)


# ---- lists that leave nothing out ----


@pytest.mark.parametrize(("n", "cut"), [(2, 0.0), (5, 0.5), (8, 0.5), (10, 0.5), (10, 1.2), (20, 0.5)])
def test_short_lists_teach_as_much_as_pairs_do(n, cut):
    random = np.random.default_rng(n)
    X = random.normal(size=(80 * n, 3))
    y = (X @ [1, 0.5, -0.3] + 0.5 * random.normal(size=len(X)) > cut).astype(int)
    groups, train = np.arange(len(X)) // n, slice(0, 40 * n)
    scores = [model.fit(X[train], y[train], groups=groups[train]).score(X[40 * n:], y[40 * n:], groups=groups[40 * n:])
              for model in (LatentRanker(random_state=0), RankingSVM())]
    assert scores[0] > scores[1] - 0.03


def test_k_is_half_of_the_median_query_of_the_first_call():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.tile([0, 1], 30)
    for groups, k in ((np.arange(60) // 6, 3), (np.arange(60) // 30, 10), (np.arange(60) // 2, 1), (np.repeat([0, 1, 2], [2, 8, 50]), 4)):
        model = LatentRanker(random_state=0, epochs=1).fit(X, y, groups=groups)
        assert model.k_ == k and "k_" in dir(model) and model.k is None
        lengths = np.bincount(groups)[np.bincount(groups) > 0]
        assert LatentRanker(random_state=0, epochs=1).fit(X, y, lengths=lengths).k_ == k
        assert LatentRanker(random_state=0).partial_fit(X, y, groups=groups).partial_fit(X, y, groups=np.arange(60) // 20).k_ == k
        blocks = [part.tolist() for part in np.split(y, np.cumsum(lengths)[:-1])]
        assert LatentRanker(random_state=0, epochs=1).fit(np.split(X, np.cumsum(lengths)[:-1]), blocks).k_ == k
    assert LatentRanker(k=7, random_state=0, epochs=1).fit(X, y, groups=np.arange(60) // 20).k_ == 7


def test_lists_that_show_every_document_are_warned_of_and_the_advice_works():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.tile([0, 0, 1], 20)
    data = {"groups": np.arange(60) // 6}
    for call in (lambda: LatentRanker(k=6).fit(X, y, **data), lambda: LatentRanker(k=10).partial_fit(X, y, **data),
                 lambda: Engine("latent-ranking").fit(X, y, **data)):
        with pytest.warns(DataWarning, match="longest query has 6 documents, and with k=.* set k to fewer than 6, such as 3"):
            assert not call().coef_.any()
    assert LatentRanker(k=3, random_state=0).fit(X, y, **data).coef_.any()
    with pytest.warns(DataWarning, match="with relevant=1 no query has a document that is worth more than another"):
        LatentRanker(random_state=0).fit(X, y + 1, **data)
