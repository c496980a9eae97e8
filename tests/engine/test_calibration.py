"""A temperature by cross-fitting: probabilities match the accuracy, predictions stay the same, and model files contain it."""

import io
import pickle

import numpy as np
import pytest
from plain import Engine
from reference.model_files import edited
from scipy import sparse

from structperc import hookimpl
from structperc.callbacks import Checkpoint
from structperc.components import ZeroOneLoss
from structperc.errors import DataError, ModelFormatError, OptionError, PluginError
from structperc.estimators import CuSumRank, IntervalPA, PRank, SequenceTagger, StructuredClassifier
from structperc.fitting import calibration


def ranked(n, seed):
    """Rows with noisy levels."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    return X, np.digitize(X[:, 0] - X[:, 1] + random.logistic(size=n), [-1, 0.5, 2]) + 1


def log_loss(model, X, y, inverse=1.0):
    p = model.predict_log_proba(X) * inverse
    p -= np.log(np.exp(p).sum(axis=1, keepdims=True))
    return -p[np.arange(len(y)), y - 1].mean()


@pytest.mark.parametrize("make", [CuSumRank, PRank, IntervalPA, StructuredClassifier])
@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_the_temperature_is_nearly_the_best_for_rows_never_seen(make, kernel):
    X, y = ranked(400, 0)
    plain, calibrated = (make(kernel=kernel, random_state=0, calibrate=on, epochs=5).fit(X, y) for on in (False, True))

    X, y = ranked(2000, 1)
    assert np.array_equal(calibrated.engine_.atom_scores(X), plain.engine_.atom_scores(X)) and plain.temperature_ == 1
    grid = np.geomspace(0.3, 3, 40)
    best = min(log_loss(calibrated, X, y, inverse) for inverse in grid)
    assert log_loss(calibrated, X, y) < best + 0.02
    assert log_loss(calibrated, X, y) < log_loss(plain, X, y) + 0.01
    if make is PRank and kernel is None:
        assert log_loss(calibrated, X, y) < log_loss(plain, X, y) - 0.5        # steps of 1 are overconfident


@pytest.mark.parametrize("options", [
    {"problem": "cusum", "average": True}, {"problem": "prank", "plugins": ["dual-kernel"], "kernel": "rbf", "budget": 20},
    {"problem": "prank", "plugins": ["large-margin"]}, {"problem": "multiclass", "plugins": ["batch"]},
    {"problem": "multiclass", "n_shards": 2, "weighting": "visits"}], ids=str)
def test_parts_that_start_again_for_a_fold_do_as_new_parts(options):
    class Own:                                          # calibration makes parts of other authors for each fold
        made = 0

        @hookimpl
        def structperc_loss(self, context):
            self.made += 1
            return ZeroOneLoss()

    X, y = ranked(60, 0)
    options = {"epochs": 3, "calibrate": True, "random_state": 0, **options}
    ready_made, own = Engine(**options, loss="zero-one").fit(X, y), Own()
    anew = Engine(**options | {"plugins": [*options.get("plugins", ()), own]}).fit(X, y)
    assert own.made >= 1 + calibration.FOLDS and anew.model_.temperature == ready_made.model_.temperature != 1


def sentences(n, seed):
    random = np.random.default_rng(seed)
    tags = [random.integers(0, 3, size=6) for _ in range(n)]
    return [np.eye(3)[t] + random.normal(scale=1.2, size=(6, 3)) for t in tags], [t.tolist() for t in tags]


def token_loss(model, X, y):
    return -np.mean([np.log(p[np.arange(6), t]).mean() for p, t in zip(model.predict_marginals(X), y, strict=True)])


def test_marginals_of_tokens_use_it():
    X, y = sentences(150, 0)
    plain, calibrated = (SequenceTagger(random_state=0, calibrate=on).fit(X, y) for on in (False, True))

    X, y = sentences(200, 1)
    assert calibrated.predict(X) == plain.predict(X) and calibrated.temperature_ > 2
    assert token_loss(calibrated, X, y) < min(token_loss(plain, X, y) - 0.3, np.log(3))
    engine = calibrated.engine_
    assert all(np.array_equal(a, b) for a, b in zip(*(e.predict_marginals(X, kind="max") for e in (engine, plain.engine_)), strict=True))


@pytest.mark.parametrize(("problem", "options"), [
    ("prank", {"pocket": True, "random_state": 0}), ("adaboost-or", {"epochs": 5}), ("cusum", {"update": "exact-pa1", "C": 0.1}),
    ("multiclass", {"trainer": "bcfw", "C": 0.1, "epochs": 20, "plugins": ["batch"]}),
])
def test_every_trainer_is_cross_fitted(problem, options):
    X, y = ranked(120, 0)
    plain, engine = (Engine(problem, calibrate=on, **options).fit(X, y) for on in (False, True))

    assert np.array_equal(engine.label_scores(X), plain.label_scores(X)) and engine.status_ == plain.status_
    X, y = ranked(1000, 1)
    loss = [-np.log(e.predict_proba(X)[np.arange(1000), y - 1]).mean() for e in (engine, plain)]
    assert engine.temperature_ != 1 and loss[0] < loss[1] + 0.02


def test_right_answers_alone_have_a_temperature_above_0():
    X = np.repeat([[-1.0], [0.0], [1.0]], 20, axis=0)
    model = CuSumRank(calibrate=True, random_state=0).fit(X, np.repeat([1, 2, 3], 20))

    assert 0.01 < model.predict_proba([[0.0]])[0, [0, 2]].sum() < 0.1           # one error in 61


def test_intervals_are_probable_as_a_whole():
    X, y = ranked(300, 0)
    below, above = np.random.default_rng(0).integers(0, 2, (2, len(y)))
    wide = np.stack([np.maximum(y - below, 1), np.minimum(y + above, 4)], axis=1)
    model = IntervalPA(random_state=0, calibrate=True).fit(X, wide)

    X, y = ranked(1000, 1)
    assert log_loss(model, X, y) < np.log(4) - 0.15


def test_a_model_file_keeps_it(tmp_path):
    X, y = ranked(100, 0)
    engine = Engine("prank", epochs=3, calibrate=True, random_state=0).fit(X, y)
    engine.save(tmp_path / "model")

    for copied in (Engine.load(tmp_path / "model"), pickle.loads(pickle.dumps(engine)),
                   Engine("prank", epochs=3, calibrate=True, random_state=0).fit(X, y)):
        assert copied.temperature_ == engine.temperature_ > 1 and copied.spread_ == engine.spread_
        assert np.array_equal(copied.predict_proba(X), engine.predict_proba(X))


@pytest.mark.parametrize("wrong", [0, -1.0, "1", None])
def test_an_impossible_one_in_a_file_is_refused(wrong, tmp_path):
    Engine("cusum").fit([[0.0], [1.0]], [1, 2]).save(tmp_path / "model")
    content = edited((tmp_path / "model").read_bytes(), lambda header: header["record"].update(temperature=wrong))

    with pytest.raises(ModelFormatError, match="'temperature' of the header is "):
        Engine.load(io.BytesIO(content))


@pytest.mark.parametrize("wrong", [-1.0, "1", None])
def test_an_impossible_spread_in_a_file_is_refused(wrong, tmp_path):
    Engine("cusum").fit([[0.0], [1.0]], [1, 2]).save(tmp_path / "model")
    content = edited((tmp_path / "model").read_bytes(), lambda header: header["record"].update(spread=wrong))

    with pytest.raises(ModelFormatError, match="'spread' of the header is "):
        Engine.load(io.BytesIO(content))


def test_what_cannot_be_cross_fitted_is_refused_before_training():
    X, y = ranked(50, 0)
    with pytest.raises(OptionError, match="partial_fit does not see; call fit, or set it to False or 'auto'"):
        Engine("cusum", calibrate=True).partial_fit(X, y)
    with pytest.raises(DataError, match="calibrate=True compares models .* there is one example"):
        Engine("cusum", calibrate=True, classes=[1, 2]).fit(X[:1], [1])
    ranking = Engine("latent-ranking", k=10, calibrate=True)
    with pytest.raises(PluginError, match="calibrate=True needs probabilities of outputs: .* more than 100000"):
        ranking.fit(X, (y > 2).astype(int), lengths=[25, 25])
    assert ranking.model is None


class Counted(ZeroOneLoss):
    """Counts the models that use this loss."""

    n_models = 0

    def start(self, parts, context):
        super().start(parts, context)
        Counted.n_models += 1


@pytest.mark.parametrize(("n", "n_models"), [(100, 6), (600, 6), (5200, 2), (0, 1)])
def test_more_models_are_trained_only_where_rows_are_few_beside_the_weights(n, n_models, monkeypatch):
    columns = 4 if n else 1
    X, y = ranked(n or 1300, 0)
    X = np.column_stack([X[:, :columns], np.zeros((len(X), 60 if n else 0))])
    monkeypatch.setattr(Counted, "n_models", 0)
    engine = Engine("multiclass", epochs=2, average=True, calibrate=True, random_state=0, plugins=[Counted]).fit(X, y)

    assert Counted.n_models == n_models and engine.temperature_ != 1
    probabilities = engine.predict_proba(X)[np.arange(len(y)), y - 1]
    assert -np.log(probabilities).mean() < np.log(4)


@pytest.mark.parametrize(("problem", "weights"), [("prank", None), ("cusum", np.geomspace(0.01, 100, 1300))])
def test_the_temperature_of_training_scores_has_the_least_weighted_log_loss_there(problem, weights):
    X, y = ranked(1300, 0)
    X[650:] = np.random.default_rng(1).permutation(X[650:])                 # the heavy rows have features without information
    engine = Engine(problem, epochs=2, average=True, calibrate=True, random_state=0).fit(X, y, sample_weight=weights)

    def loss(temperature):
        engine.model_.temperature = temperature
        return -np.average(engine.model_.log_probabilities(engine.model_.read(X))[np.arange(len(y)), y - 1], weights=weights)

    best = engine.temperature_
    assert loss(best) <= min(loss(best * 1.05), loss(best / 1.05))


def test_the_temperature_of_weighted_sentences_has_the_least_log_loss_there():
    random, weights = np.random.default_rng(0), np.geomspace(0.01, 100, 500)
    tags = random.integers(0, 2, size=500)
    X = np.eye(2)[np.where(np.arange(500) < 250, tags, random.permutation(tags))] + random.normal(scale=0.4, size=(500, 2))
    sentences, gold = list(X[:, None]), tags[:, None].tolist()              # of one token each, so the marginals are the probabilities
    options = {"fit_intercept": False, "epochs": 2, "average": True, "calibrate": True, "random_state": 0}
    engine = Engine("sequence", **options).fit(sentences, gold, sample_weight=weights)

    def loss(temperature):
        engine.model_.temperature = temperature
        return -np.average(np.log([p[0, tag] for p, tag in zip(engine.predict_marginals(sentences), tags, strict=True)]), weights=weights)

    best = engine.temperature_
    assert loss(best) <= min(loss(best * 1.05), loss(best / 1.05))


def test_structures_of_different_sizes_that_are_all_right_have_the_temperature_of_one_more_drawn_at_random():
    random, disjoint = np.random.default_rng(0), [(), (0,), (1,), (2,), (0, 2), (1, 2)]
    X = [np.column_stack([[0, 1, 3], [2, 3, 4], random.normal(size=3)]) for _ in range(60)]
    y = [max(disjoint, key=lambda chosen, x=x: x[list(chosen), 2].sum()) for x in X]
    engine = Engine("disjoint-intervals", fit_intercept=False, epochs=9, calibrate=True, random_state=0).fit(X, y)
    totals = np.array([[scores[list(chosen)].sum() for chosen in disjoint] for scores in engine.atom_scores(X)])
    gold = totals[np.arange(60), [disjoint.index(chosen) for chosen in y]]
    assert (gold == totals.max(axis=1)).all()

    def loss(b):
        return np.mean(np.log(np.exp(b * totals).sum(axis=1)) - b * (60 / 61 * gold + totals.mean(axis=1) / 61))

    best = 1 / engine.temperature_
    assert loss(best) < min(loss(best * 1.02), loss(best / 1.02))


def test_rows_count_by_their_weights_in_the_temperature():
    X, y = ranked(1300, 0)
    weights = np.where(y <= 2, 10.0, 0.1)
    engine = Engine("prank", epochs=2, average=True, calibrate=True, weighting="visits", random_state=0).fit(X, y, sample_weight=weights)

    def loss(temperature):
        engine.model_.temperature = temperature
        return -weights @ engine.model_.log_probabilities(engine.model_.read(X))[np.arange(len(y)), y - 1]

    best = engine.temperature_
    assert loss(best) <= min(loss(best * 1.05), loss(best / 1.05))


@pytest.mark.parametrize("weighting", ["steps", "visits"])
def test_a_weight_of_0_and_a_row_left_out_have_the_same_temperature(weighting):
    X, y = ranked(2000, 0)
    options = {"epochs": 2, "average": True, "calibrate": True, "weighting": weighting, "random_state": 0}
    absent = np.arange(len(y)) % 2 == 0
    weighed = Engine("prank", **options).fit(X, y, sample_weight=np.where(absent, 0.0, 1.0))

    assert weighed.temperature_ == pytest.approx(Engine("prank", **options).fit(X[~absent], y[~absent]).temperature_, rel=1e-2)


def test_a_rank_that_never_occurs_is_no_obstacle():
    X, y = ranked(1300, 0)
    engine = Engine("prank", classes=[1, 2, 3, 4, 5], epochs=2, average=True, calibrate="auto", random_state=0).fit(X, y)

    assert engine.temperature_ > 1 and (engine.predict_proba(X) > 0).all()


def test_calibration_draws_nothing_from_the_generator_of_the_model():
    X, y = ranked(60, 0)
    plain, calibrated = (Engine("prank", epochs=2, shuffle=True, calibrate=on, random_state=0).fit(X, y).partial_fit(X, y)
                         for on in (False, "auto"))

    assert np.array_equal(plain.label_scores(X), calibrated.label_scores(X))


def test_auto_calibrates_what_has_probabilities_and_leaves_the_rest():
    X, y = ranked(50, 0)
    assert Engine("cusum", calibrate="auto", random_state=0).fit(X, y).temperature_ != 1
    stream = Engine("cusum", calibrate="auto").partial_fit(X, y)
    assert stream.temperature_ == 1 and np.allclose(stream.predict_proba(X).sum(axis=1), 1)
    fitted = Engine("cusum", calibrate="auto", random_state=0).fit(X, y)
    assert fitted.partial_fit(X, y).temperature_ == fitted.temperature_ != 1
    ranking = Engine("latent-ranking", k=10, calibrate="auto").fit(X, (y > 2).astype(int), lengths=[25, 25])
    assert ranking.temperature_ == 1
    assert Engine("cusum", calibrate="auto", classes=[1, 2]).fit(X[:1], [1]).temperature_ == 1
    tokens, tags = sentences(30, 0)
    assert SequenceTagger(random_state=0, calibrate="auto").fit(tokens, tags).temperature_ > 1


def test_ctrl_c_keeps_the_model_and_no_temperature():
    X, y = ranked(100, 0)
    asked = []

    class Interrupting(ZeroOneLoss):
        def value(self, gold, y, x):
            asked.append(gold)
            if len(asked) > sum(plain.mistakes_):
                raise KeyboardInterrupt
            return 1.0

    plain = Engine("multiclass", epochs=2).fit(X, y)
    engine = Engine("multiclass", epochs=2, calibrate=True, random_state=0, plugins=[Interrupting()])
    with pytest.raises(KeyboardInterrupt):
        engine.fit(X, y)
    assert engine.status_ == "interrupted" and engine.temperature_ == 1 and len(engine.mistakes_) == 2
    assert np.array_equal(engine.predict(X), plain.predict(X))


@pytest.mark.parametrize("scale", [False, True])
def test_checkpoints_keep_the_temperature(tmp_path, scale):
    X, y = np.random.default_rng(0).normal(size=(80, 3)) * [1, 5, 20], np.arange(80) % 3
    X[:, 0] += y

    def engine(path, epochs=3):
        return Engine("prank", epochs=epochs, calibrate=True, scale=scale, random_state=0, plugins=[Checkpoint(tmp_path / path, every=0.7)])

    whole = engine("a").fit(X, y)
    loaded = Engine.load(tmp_path / "a")
    assert loaded.temperature_ == whole.temperature_ != 1
    np.testing.assert_allclose(loaded.predict_proba(X), whole.predict_proba(X), rtol=1e-9)
    again = engine("a").fit(X, y, resume=True)          # training had ended
    assert again.temperature_ == whole.temperature_ and np.allclose(again.predict_proba(X), whole.predict_proba(X), rtol=1e-9)
    longer = engine("a", epochs=5).fit(X, y, resume=True)
    assert longer.temperature_ not in (1, whole.temperature_) and len(longer.mistakes_) == 5


def embedded(n, seed):
    """Sentences of vectors of 384 numbers, scattered around one center per tag."""
    word_vectors, random = np.random.default_rng(7).normal(size=(3, 384)) / 16, np.random.default_rng(seed)
    tags = [random.integers(0, 3, size=6) for _ in range(n)]
    return [word_vectors[t] + random.normal(size=(6, 384)) / 2.5 for t in tags], [t.tolist() for t in tags]


def test_marginals_from_embeddings_are_as_sure_as_they_are_right():
    X, y = embedded(150, 0)
    plain, calibrated = (SequenceTagger(random_state=0, calibrate=on).fit(X, y) for on in (False, True))

    X, y = embedded(100, 1)
    p, sure = (np.concatenate(model.predict_marginals(X)) for model in (calibrated, plain))
    right = p.argmax(axis=1) == np.concatenate(y)
    assert 0.7 < right.mean() < 1 and sure.max(axis=1).mean() > right.mean() + 0.03
    assert abs(p.max(axis=1).mean() - right.mean()) < 0.03
    assert token_loss(calibrated, X, y) < 0.5 * token_loss(plain, X, y)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_temperature_rests_on_the_rows_that_are_drawn_alone(form, monkeypatch):
    """Twelve thousand rows, of which five thousand are scored; the temperature is that of all rows scored."""
    random = np.random.default_rng(0)
    X = random.normal(size=(12_000, 2))
    y, scored, of_all = np.digitize(X[:, 0] + random.logistic(size=len(X)), [-1, 1]), [], calibration.label_scores

    def watched(model, rows, examples):
        scores = of_all(model, rows, examples)
        scored.append(np.array_equal(scores, model.label_scores(rows)[examples]) and len(examples))
        return scores

    monkeypatch.setattr(calibration, "label_scores", watched)
    Engine("cusum", epochs=2, random_state=0, calibrate=True).fit(form(X), y)
    assert scored == [calibration.MOST_EXAMPLES]
