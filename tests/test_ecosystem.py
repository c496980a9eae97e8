"""Tests of other libraries with estimators of structperc, one for each row of docs/ecosystem.md."""

import io
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone, is_classifier
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import structperc.estimators
from structperc import Engine, files
from structperc.errors import DataError, OptionError
from structperc.estimators import (
    SVOR,
    AdaBoostOR,
    CuSumRank,
    DependencyParser,
    LabelScorer,
    LeafFeatures,
    OrdinalConformal,
    PRank,
    RankerClassifier,
    RankingSVM,
    ScoreCard,
    SegmentTagger,
    SequenceTagger,
    StructuredClassifier,
    StructureSet,
)
from structperc.streams import fit_stream

ROOT = Path(__file__).parents[1]
X = np.random.default_rng(0).normal(size=(80, 4))
Y = np.digitize(X[:, 0] + X[:, 1] / 2, [-0.5, 0.5]) + 1
NAMES = ["a", "b", "c", "d"]
MODELS = [CuSumRank(random_state=0), PRank(random_state=0), CuSumRank(kernel="rbf", random_state=0), SVOR(), AdaBoostOR(n_estimators=5),
          OrdinalConformal(PRank(random_state=0), random_state=0), ScoreCard(PRank(random_state=0))]


def test_every_row_of_the_page_names_a_test():
    named = re.findall(r"`(test_\w+)` \|$", (ROOT / "docs/ecosystem.md").read_text(), re.MULTILINE)
    assert len(named) > 10 and set(named) <= set(globals())


def test_estimators_are_those_of_scikit_learn():
    kinds = [getattr(structperc.estimators, name) for name in set(structperc.estimators.__all__) - {"load"}]
    assert [kind for kind in kinds if not issubclass(kind, BaseEstimator)] == [StructureSet]
    for kind in (CuSumRank, PRank, StructuredClassifier, SVOR, OrdinalConformal, ScoreCard):
        assert issubclass(kind, ClassifierMixin)
    assert all(is_classifier(model) for model in MODELS) and not is_classifier(SequenceTagger()) and not is_classifier(RankingSVM())
    assert issubclass(LeafFeatures, TransformerMixin) and isinstance(LabelScorer(), BaseEstimator)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_pipeline_with_leaves_gives_data_frames(library):
    frames, leaves = pytest.importorskip(library), LeafFeatures(RandomForestClassifier(3, random_state=0))
    pipeline = make_pipeline(leaves, LogisticRegression()).set_output(transform=library).fit(X, Y)
    made = pipeline[:-1].transform(X)
    assert isinstance(made, frames.DataFrame) and list(made.columns) == list(leaves.get_feature_names_out())
    expected = LeafFeatures(RandomForestClassifier(3, random_state=0)).fit(X, Y).transform(X)
    assert made.to_numpy().tolist() == expected.toarray().tolist() and clone(pipeline).fit(X, Y).predict(X).shape == (len(X),)
    with config_context(transform_output=library):
        assert isinstance(clone(leaves).set_output(transform=None).fit_transform(X, Y), frames.DataFrame)
    assert sparse.issparse(clone(leaves).set_output(transform="default").fit_transform(X, Y))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_skops_writes_and_reads_estimators(model):
    skops = pytest.importorskip("skops.io")
    content = skops.dumps(model.fit(X, Y))
    listed = skops.get_untrusted_types(data=content)
    again = skops.loads(content, trusted=listed)
    assert all(name.startswith("structperc") for name in listed)
    assert again.predict(X).tolist() == model.predict(X).tolist() and repr(again) == repr(model)


@pytest.mark.parametrize("library", ["joblib", "cloudpickle"])
def test_pickles_of_other_libraries_predict_the_same(library):
    module, file = pytest.importorskip(library), io.BytesIO()
    for model in MODELS:
        file.seek(0)
        module.dump(model.fit(X, Y), file)
        file.seek(0)
        again = module.load(file) if library == "joblib" else pickle.load(file)
        assert again.predict(X).tolist() == model.predict(X).tolist()


def test_river_wraps_a_classifier():
    compat = pytest.importorskip("river.compat")
    model = compat.convert_sklearn_to_river(CuSumRank(random_state=0), classes=[1, 2, 3])
    rows = [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]
    for row, label in zip(rows, Y.tolist(), strict=True):
        model.learn_one(row, label)
    assert np.mean([model.predict_one(row) == label for row, label in zip(rows, Y.tolist(), strict=True)]) > 0.6


@pytest.mark.filterwarnings("ignore")
def test_checks_of_river_pass_as_those_of_a_wrapped_classifier_of_scikit_learn():
    """Columns that appear and disappear fail in any wrapped model of scikit-learn."""
    compat, checks = pytest.importorskip("river.compat"), pytest.importorskip("river.checks")
    model = compat.convert_sklearn_to_river(StructuredClassifier(random_state=0), classes=[False, True])
    failed = set()
    for check in checks.yield_checks(model):
        try:
            check(model.clone())
        except KeyError:
            failed.add(getattr(check, "__name__", None) or check.func.__name__)
    assert failed == {"check_emerging_features", "check_disappearing_features", "check_radically_disappearing_features"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("library", "name", "options"), [
    ("lightgbm", "LGBMRegressor", {"verbose": -1}), ("lightgbm", "LGBMClassifier", {"verbose": -1}), ("xgboost", "XGBRegressor", {}),
    ("catboost", "CatBoostRegressor", {"verbose": False, "allow_writing_files": False}),
])
def test_leaves_of_trees_of_other_libraries(library, name, options):
    trees = getattr(pytest.importorskip(library), name)(n_estimators=4, random_state=0, **options)
    check_leaves(LeafFeatures(trees).fit(X, Y), lambda model, rows: model.predict(rows))


@pytest.mark.parametrize("trees", [HistGradientBoostingRegressor(max_iter=4, min_samples_leaf=5),
                                   HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5)], ids=repr)
def test_leaves_of_histogram_boosting_are_those_that_predict(trees):
    check_leaves(LeafFeatures(trees).fit(X, Y), lambda model, rows: getattr(model, "predict_proba", model.predict)(rows))


def check_leaves(made, predict):
    """Checks that rows in the same leaves have equal predictions. Each row must be in one leaf of every tree."""
    leaves, predicted = made.transform(X).toarray(), predict(made.estimator_, X)
    assert len(np.unique(np.count_nonzero(leaves, axis=1))) == 1 and leaves.shape[1] > np.count_nonzero(leaves[0])
    same = (leaves[:, None] == leaves[None]).all(axis=2)
    apart = np.abs(predicted[:, None] - predicted[None]).reshape(len(X), len(X), -1).max(axis=2)
    assert (apart[same] < 1e-6).all() and (~same).any()


def test_a_relation_of_duckdb_is_a_table():
    duckdb, pandas = pytest.importorskip("duckdb"), pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=NAMES)
    relation = duckdb.from_df(table)
    model = CuSumRank(random_state=0).fit(relation, Y)
    assert list(model.feature_names_in_) == NAMES
    assert model.predict(relation).tolist() == CuSumRank(random_state=0).fit(table, Y).predict(table).tolist()


def test_an_arrow_stream_is_a_table():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(dict(zip(NAMES, X.T, strict=True)))
    model = CuSumRank(random_state=0).fit(table.to_reader(), Y)
    assert model.coef_.tolist() == CuSumRank(random_state=0).fit(table, Y).coef_.tolist()
    assert model.predict(table.to_reader()).tolist() == model.predict(table).tolist()


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_cursor_of_adbc_is_a_table(kind):
    adbc, pyarrow = pytest.importorskip(f"adbc_driver_{kind}.dbapi"), pytest.importorskip("pyarrow")
    with adbc.connect() as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("visits", pyarrow.table(dict(zip(NAMES, X.T, strict=True))), mode="create")
        cursor.execute("select * from visits")
        model = CuSumRank(random_state=0).fit(cursor.fetch_record_batch(), Y)
    assert list(model.feature_names_in_) == NAMES and model.status_


FROM_CURSOR = """
import pathlib, re, sys
import structperc
from structperc.streams import fit_stream
import adbc_driver_duckdb, adbc_driver_manager.dbapi
options = {"path": sys.argv[1], "access_mode": "READ_ONLY", "memory_limit": "64MB"}
with adbc_driver_manager.dbapi.connect(driver=adbc_driver_duckdb.driver_path(), entrypoint="duckdb_adbc_init",
                                       db_kwargs=options) as connection, connection.cursor() as cursor:
    cursor.execute("select * from visits")
    parts = files.stream(cursor.fetch_record_batch(), target="level", rows=20_000)
    fit_stream(structperc.Engine("cusum", preset="paper", classes=[1, 2]), parts)
print(re.search(r"VmHWM:\\s*(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
"""


def test_a_stream_from_a_database_needs_memory_for_parts(tmp_path):
    """Ten times the rows are 160 MB more. The stream needs less than 100 MB more memory, of which the database may use 64."""
    duckdb, _ = pytest.importorskip("duckdb"), pytest.importorskip("adbc_driver_duckdb.dbapi")
    if not Path("/proc/self/status").exists():
        pytest.skip("the peak of memory is read from /proc")
    peaks = []
    for n_rows in (200_000, 2_000_000):
        path = tmp_path / f"{n_rows}.duckdb"
        with duckdb.connect(str(path)) as connection:
            columns = ", ".join(f"hash(i + {k}) / 1.8e19 as x{k}" for k in range(10))
            connection.execute(f"create table visits as select {columns}, 1 + (hash(i) / 1.8e19 > 0.5)::int as level "
                               f"from range({n_rows}) t(i)")
        done = subprocess.run([sys.executable, "-c", FROM_CURSOR, str(path)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout) / 1024)
    assert peaks[1] - peaks[0] < 100


@pytest.mark.filterwarnings("ignore")
def test_mlflow_saves_and_loads_estimators(tmp_path):
    mlflow, skops = pytest.importorskip("mlflow.sklearn"), pytest.importorskip("skops.io")
    model = CuSumRank(random_state=0).fit(X, Y)
    trusted = skops.get_untrusted_types(data=skops.dumps(model))
    for name, options in {"skops": {"skops_trusted_types": trusted}, "cloudpickle": {"serialization_format": "cloudpickle"}}.items():
        mlflow.save_model(model, str(tmp_path / name), **options)
        assert mlflow.load_model(str(tmp_path / name)).predict(X).tolist() == model.predict(X).tolist()


def test_a_lazy_frame_is_a_table():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(X, schema=NAMES)
    query = frame.lazy().filter(polars.col("a") > -10)
    model = CuSumRank(random_state=0).fit(query, Y)
    assert list(model.feature_names_in_) == NAMES
    assert model.coef_.tolist() == CuSumRank(random_state=0).fit(frame, Y).coef_.tolist()
    assert model.predict(query).tolist() == model.predict(frame).tolist()
    with pytest.raises(DataError, match="it lacks 'd'"):
        model.predict(query.drop("d"))
    frames = Engine("cusum", plugins=["table"], random_state=0)
    assert frames.fit(query, Y).predict(query).tolist() == frames.predict(frame).tolist()


def test_a_lazy_frame_is_a_stream_of_parts():
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    query = polars.DataFrame(X, schema=NAMES).lazy().with_columns(level=polars.Series(Y))
    if not hasattr(query, "collect_batches"):
        pytest.skip("this polars has no LazyFrame.collect_batches")
    in_parts = fit_stream(Engine("cusum", classes=[1, 2, 3], epochs=2, random_state=0, shuffle=False, scale=False),
                          lambda: files.stream(query, target="level", rows=30))
    whole = Engine("cusum", classes=[1, 2, 3], epochs=2, random_state=0, shuffle=False, scale=False).fit(X, Y)
    assert in_parts.coef_.tolist() == whole.coef_.tolist() and len(list(files.stream(query, target="level", rows=30))) > 1


def test_documents_of_spacy_are_sentences():
    spacy = pytest.importorskip("spacy")
    language = spacy.blank("en")
    texts, tags = [language(text) for text in ("the dog", "a cat", "the cat")], [["D", "N"]] * 3
    model = SequenceTagger(random_state=0).fit(texts, tags)
    assert model.predict(texts) == tags and model.predict(texts[0]) == tags[:1] and model.predict([[["the"], ["dog"]]]) == tags[:1]
    language.add_pipe("sentencizer")
    text, trees = language("The dog sleeps. A cat eats."), [[(2, "det"), (3, "nsubj"), (0, "root"), (3, "punct")]] * 2
    tags, phrases = [["D", "N", "V", "."]] * 2, [[(0, 2, "NP")]] * 2
    model = SequenceTagger(random_state=0).fit(text, tags)
    assert model.predict(text) == model.predict(list(text.sents)) == model.predict([text]) == tags
    assert model.explain(next(text.sents)).winner == tags[0]
    with pytest.raises(DataError, match="explain takes one example, but got 2; pass one of them"):
        model.explain(text)
    parser = DependencyParser(random_state=0).fit(text, trees)
    assert parser.predict(text) == trees and parser.explain(next(text.sents), 1).head == 2
    assert SegmentTagger(random_state=0).fit(text, phrases).score(text, phrases) > 0


def test_columns_name_what_is_read_of_tokens_of_spacy():
    spacy = pytest.importorskip("spacy")
    text = spacy.tokens.Doc(spacy.blank("en").vocab, ["Dogs", "bark"], lemmas=["dog", "bark"], pos=["NOUN", "VERB"])
    model = SequenceTagger(columns=["form", "lemma", "shape_"], random_state=0).fit(text, [["N", "V"]])
    assert {name for name, _ in model.top_features("N")} == {"form:Dogs", "lemma:dog", "shape_:Xxxx",
                                                             "form:bark", "lemma:bark", "shape_:xxxx"}
    window = SequenceTagger(columns=["form", "upos"], template="U:%x[-1,upos]", random_state=0).fit(text, [["N", "V"]])
    assert {name for name, _ in window.top_features("N")} == {"U:_B-1", "U:NOUN"}
    parser = DependencyParser(random_state=0).fit(text, [[2, 0]])
    assert parser.engine_.plugin_options["columns"] == ["form", "lemma", "upos"] and parser.predict(text) == [[2, 0]]
    for name in ("shape", "lema"):
        with pytest.raises(OptionError, match=f"columns names '{name}', which is no text of a token of spaCy.*Did you mean"):
            SequenceTagger(columns=[name]).fit(text, [["N", "V"]])


def test_columns_of_a_data_set_are_sentences():
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"tokens": [["the", "dog"], ["a", "cat"]], "tags": [[0, 1], [0, 1]]})
    model = SequenceTagger(columns=["word"], random_state=0).fit(data["tokens"], data["tags"])
    assert model.predict(data["tokens"]) == [[0, 1], [0, 1]] and model.top_features(0, 1)[0][0].startswith("word:")
    with pytest.raises(DataError, match=r"the token is 'the' of type str.*such as \['the'\]; or pass columns=\['word'\]"):
        SequenceTagger().fit(data["tokens"], data["tags"])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", [CuSumRank(random_state=0), PRank(random_state=0)], ids=repr)
def test_shap_explains_a_ranker(model):
    shap = pytest.importorskip("shap")
    model.fit(X, Y)
    values = shap.LinearExplainer(model, X)(X[:3])
    assert values.values.shape[:2] == (3, 4)
    if isinstance(model, PRank):
        np.testing.assert_allclose(values.values.sum(axis=1) + values.base_values, model.latent_score(X[:3]), atol=1e-9)
    values = shap.Explainer(model.decision_function, X)(X[:2])
    np.testing.assert_allclose(values.values.sum(axis=1) + values.base_values, model.decision_function(X[:2]), atol=1e-6)


@pytest.mark.parametrize("model", [CuSumRank(random_state=0), StructuredClassifier(random_state=0)], ids=repr)
def test_onnxruntime_reads_float32(model, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    model.fit(X, Y).export(tmp_path / "grade.onnx", to="onnx-float32")
    session = onnxruntime.InferenceSession(tmp_path / "grade.onnx", providers=["CPUExecutionProvider"])
    rows = X.astype(np.float32)
    label, scores, _ = session.run(None, {"X": rows})
    assert label.tolist() == model.predict(rows.astype(float)).tolist()
    np.testing.assert_allclose(scores, model.engine_.label_scores(rows.astype(float)), rtol=1e-12, atol=1e-12)


def test_onnxruntime_reads_sentences_of_float32(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    sentences, tags = list(X.reshape(20, 4, 4)), Y.reshape(20, 4).tolist()
    model = SequenceTagger(random_state=0).fit(sentences, tags)
    model.export(tmp_path / "tags.onnx", to="onnx-float32")
    session = onnxruntime.InferenceSession(tmp_path / "tags.onnx", providers=["CPUExecutionProvider"])
    for rows in X.astype(np.float32).reshape(20, 4, 4):
        assert session.run(None, {"X": rows})[0].tolist() == model.predict([rows.astype(float)])[0]


@pytest.mark.filterwarnings("ignore")
def test_dask_ml_trains_in_parts():
    wrappers, array = pytest.importorskip("dask_ml.wrappers"), pytest.importorskip("dask.array")
    model = wrappers.Incremental(CuSumRank(random_state=0), shuffle_blocks=False)
    model.fit(array.from_array(X, chunks=(20, 4)), array.from_array(Y, chunks=20), classes=[1, 2, 3])
    by_hand = CuSumRank(random_state=0)
    for start in range(0, 80, 20):
        by_hand.partial_fit(X[start:start + 20], Y[start:start + 20], classes=[1, 2, 3])
    assert model.estimator_.coef_.tolist() == by_hand.coef_.tolist()


@pytest.mark.parametrize("ranker", [PRank(random_state=0), CuSumRank(random_state=0)], ids=repr)
def test_any_ranker_classifies_two_classes(ranker):
    model = RankerClassifier(ranker).fit(X, Y > 1)
    assert (model.predict(X) == (Y > 1)).mean() > 0.9
