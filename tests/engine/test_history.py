"""Records of training on request: each visit with its prediction and step, and predictions made before the steps."""

import numpy as np
import pytest
from plain import Engine
from subsets import Subsets

from structperc.callbacks import Checkpoint
from structperc.errors import DataError, OptionError

X = np.random.default_rng(0).normal(size=(20, 3))
Y = np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7]) + 1
SENTENCES = [[["a"], ["b"]], [["b"], ["a"], ["b"]]], [["A", "B"], ["B", "A", "B"]]


@pytest.mark.parametrize(("problem", "options", "data"), [
    ("cusum", {"update": "pa1", "C": 0.1, "loss_weight": 1.0, "average": True, "shuffle": True, "random_state": 0}, (X, Y)),
    ("prank", {}, (X, Y)), ("multiclass", {"scale": True}, (X, np.array(["a", "b", "c"])[Y - 1])),
    ("cusum", {"plugins": ["dual-kernel"], "kernel": "rbf"}, (X, Y)), ("sequence", {}, SENTENCES),
])
def test_history_tells_what_training_did_and_changes_nothing(problem, options, data):
    plain = Engine(problem, epochs=3, **options).fit(*data, record_predictions=True)
    told = Engine(problem, epochs=3, **options).fit(*data, record_predictions=True, history=True)
    assert told.mistakes_ == plain.mistakes_ and told.predict(data[0]).tolist() == plain.predict(data[0]).tolist()
    said = [visit.said for visit in told.history_]
    assert said == told.online_predictions_.tolist() == plain.online_predictions_.tolist()
    assert [visit.visit for visit in told.history_] == list(range(1, len(said) + 1))
    assert all(visit.gold == data[1][visit.example] for visit in told.history_)
    wrong = sum(visit.said != visit.gold for visit in told.history_)
    assert wrong == sum(told.mistakes_) and all(visit.step is not None for visit in told.history_ if visit.said != visit.gold)
    assert not hasattr(plain, "history_")


def test_the_steps_add_up_to_the_weights():
    engine = Engine("multiclass", update="pa", epochs=2, fit_intercept=False).fit(X, Y, history=True)
    weights = np.zeros((3, 3))
    for visit in engine.history_:
        if visit.step is not None:
            weights += np.outer(visit.step, X[visit.example])
    np.testing.assert_allclose(engine.coef_, weights, atol=1e-12)


def test_gold_intervals_are_shown_as_they_are_encoded():
    engine = Engine("interval-pa", update="exact-pa").fit(X[:3], [1, (1, 2), 3], history=True)
    assert [visit.gold for visit in engine.history_] == [(1, 1), (1, 2), (3, 3)]


def test_what_a_stream_keeps_goes_on_from_call_to_call():
    engine, online = Engine("cusum", classes=[1, 2, 3]), []
    for start in (0, 5, 15):
        part = slice(start, start + 5)
        online += engine.predict(X[part][:1]).tolist() if start else [1]
        engine.partial_fit(X[part], Y[part], record_predictions=True, history=True)
        assert engine.online_predictions_[-5] == online[-1] and len(engine.online_predictions_) == len(engine.history_)
    assert [visit.visit for visit in engine.history_] == list(range(1, 16))
    with pytest.raises(DataError):
        engine.partial_fit(X[:5], [1, 1, 1, 1, 9], record_predictions=True, history=True)
    assert len(engine.history_) == len(engine.online_predictions_) == 15
    engine.partial_fit(X, Y)
    for name in ("history_", "online_predictions_"):
        with pytest.raises(AttributeError, match=f"{name} is kept only by fit and partial_fit with"):
            getattr(engine, name)


def test_history_and_checkpoints_exclude_each_other(tmp_path):
    engine = Engine("cusum", plugins=[Checkpoint(tmp_path / "c")])
    with pytest.raises(OptionError, match="history=True is kept in no checkpoint"):
        engine.fit(X, Y, history=True)
    assert list(tmp_path.iterdir()) == []


def test_the_first_call_of_a_stream_may_name_the_classes():
    engine = Engine("cusum").partial_fit(X[:1], Y[:1], classes=[1, 2, 3])
    assert engine.classes_.tolist() == [1, 2, 3] and engine.classes is None
    same = Engine("cusum", classes=[1, 2, 3]).partial_fit(X[:1], Y[:1])
    assert np.array_equal(engine.partial_fit(X, Y, classes=[1, 2, 3]).coef_, same.partial_fit(X, Y).coef_)
    with pytest.raises(DataError, match=r"classes=\[1, 2\] is not the same as \[1, 2, 3\], which the earlier calls named"):
        engine.partial_fit(X, Y, classes=[1, 2])
    with pytest.raises(DataError, match=r"which the option classes named"):
        Engine("cusum", classes=[1, 2]).partial_fit(X, Y, classes=[1, 2, 3])
    subsets = Engine(Subsets()).partial_fit(X[:2], [(), (0,)], offsets=[0, 1, 2])
    for other in (subsets, Engine(Subsets())):
        with pytest.raises(DataError, match="classes=.* was given, but .* has no labels"):
            other.partial_fit(X[:2], [(), (0,)], offsets=[0, 1, 2], classes=[1, 2])
