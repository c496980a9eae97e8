"""Tests of the problem "disjoint-intervals": learning, rejected choices, and the command line."""

import numpy as np
import pandas
import pytest
from plain import Engine

from structperc.cli import main
from structperc.errors import DataError
from structperc.solvers.intervals import best_intervals
from structperc.testing import check_problem

TASTE = np.array([2.0, -1.0, 0.5])


def days(n, seed=0):
    """(X, y): the talks of each day as rows of start, stop and features, and the best disjoint choice under TASTE."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        start, features = random.uniform(9, 17, 10), random.normal(size=(10, 3))
        X.append(np.column_stack([start, start + random.uniform(0.5, 2, 10), features]))
        y.append(best_intervals(*X[-1][:, :2].T, features @ TASTE)[0].tolist())
    return X, y


X, Y = days(150)


def test_the_search_with_a_loss_is_exact():
    checks = ["augmented_argmax_maximises"]
    for loss in ("hamming", "zero-one"):
        assert check_problem("disjoint-intervals", update="pa1", loss_weight=1.0, loss=loss, checks=checks) == [(checks[0], "passed")]


def test_a_taste_is_learned(tmp_path):
    engine = Engine("disjoint-intervals", epochs=20, average=True, fit_intercept=False).fit(X[:100], [chosen[::-1] for chosen in Y[:100]])
    assert np.mean([list(a) == b for a, b in zip(engine.predict(X[100:]), Y[100:], strict=True)]) >= 0.85
    assert engine.coef_ @ TASTE / np.linalg.norm(engine.coef_) / np.linalg.norm(TASTE) > 0.99, "hours are no features"
    assert all(0 <= p.min() and p.max() <= 1 + 1e-9 for p in engine.predict_marginals(X[:5])) and engine.margins(X[:5]).min() >= 0
    engine.save(tmp_path / "model")
    assert Engine.load(tmp_path / "model").predict(X).tolist() == engine.predict(X).tolist()


@pytest.mark.parametrize(("x", "y", "sentence"), [
    ([[0, 2, 1], [1, 3, 1]], (0, 1), r"the intervals \(0, 1\) of example 0 overlap: 0 and 1"),
    ([[0, 2, 1]], [1], "atom 1"),
    ([[2, 2, 1]], [0], "example 0 cannot be predicted: interval 0 goes from 2.0 to 2.0"),
])  # fmt: skip
def test_what_is_no_choice_is_refused(x, y, sentence):
    with pytest.raises(DataError, match=sentence):
        Engine("disjoint-intervals").fit([np.array(x, dtype=float)], [y])


def test_the_command_line_reads_candidates_from_a_table(tmp_path, capsys):
    frame = pandas.DataFrame(np.concatenate(X), columns=["start", "stop", "a", "b", "c"])
    frame.insert(0, "day", np.repeat(np.arange(len(X)), len(X[0])))
    frame["chosen"] = np.concatenate([np.isin(np.arange(len(X[0])), chosen) for chosen in Y]).astype(int)
    path, model, answers = (str(tmp_path / name) for name in ("talks.csv", "model", "answers.csv"))
    frame.to_csv(path, index=False)
    settings = ["--set", "epochs=20", "--set", "average=true"]
    assert main(["fit", "disjoint-intervals", path, "--group", "day", "--target", "chosen", "--model", model, *settings]) in (0, None)
    assert main(["predict", model, path, "--group", "day", "--output", answers]) in (0, None)
    assert np.mean(pandas.read_csv(answers).iloc[:, -1] == frame["chosen"]) > 0.9
    capsys.readouterr()
