"""Changes of an estimator's examples or form, what may then differ, and why."""

from __future__ import annotations

import contextlib
import io
import pickle
import tempfile

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse as sp

from invariances.cells import quiet
from invariances.transformations import BITS, CLOSE, both
from structperc import Engine, estimators, files
from structperc.cli import main
from structperc.cli.settings import write_value
from structperc.errors import StructPercError
from structperc.fitting.options import changed_options
from structperc.streams import fit_stream


def frame(X, names="abcdefgh"):
    return pd.DataFrame(X, columns=list(names[:X.shape[1]]))


def columns(change, on_rows=True):
    """Trained and asked with changed columns."""
    def run(one):
        if not isinstance(one.X, np.ndarray):
            return None
        X = change(one.X)
        return one.answers(one.fit(X=X), X)
    return run


def asked(change):
    return lambda one: one.answers(change(one.estimator))


def saved(one):
    return one.answers(loaded(one.estimator)) if hasattr(one.estimator, "save") else None


def loaded(estimator):
    file = io.BytesIO()
    estimator.save(file)
    file.seek(0)
    return estimators.load(file)


def one_at_a_time(one):
    n = len(one.X)
    if one.asked or "groups" in one.told:
        return None
    each = [one.answers(X=one.X[i:i + 1]) for i in range(n)]
    return {name: np.concatenate([answers[name] for answers in each]) for name in each[0]}


def from_file(one):
    if not isinstance(one.X, np.ndarray):
        return None
    with tempfile.TemporaryDirectory() as folder:
        frame(one.X).assign(y=one.y).to_csv(f"{folder}/table.csv", index=False)
        table = files.read(f"{folder}/table.csv", target="y")
    return one.answers(one.fit(X=np.asarray(table.X, dtype=float), y=np.asarray(table.y).astype(np.asarray(one.y).dtype)))


def added(column):
    """A further column: the mean change of predicted ranks, against none."""
    def run(one):
        if not one.rows or not hasattr(one.estimator, "predict"):
            return None
        X = np.column_stack([one.X, column(one.X)])
        apart = np.abs(one.answers()["predict"] - one.answers(one.fit(X=X), X)["predict"]).mean()
        return {"ranks": np.zeros(1)}, {"ranks": np.array([apart])}
    return run


def rows_reversed(one):
    if not one.rows:
        return None
    return one.answers(one.fit(X=one.X[::-1].copy(), y=one.y[::-1].copy()))


def weighted(weights, changed):
    """Weights of rows, against changed rows."""
    def run(one):
        if not one.rows or "sample_weight" not in quiet(one.make).fit.__code__.co_varnames:
            return None
        X, y = changed(one.X, one.y)
        return both(lambda: one.answers(one.fit(told={"sample_weight": weights(len(one.X))})), lambda: one.answers(one.fit(X=X, y=y)))
    return run


def streamed(one):
    """The engine of the estimator, trained on a stream of two parts, against `partial_fit` of both."""
    if not one.rows or own_engine(one) is None or not hasattr(one.estimator, "partial_fit") or not own_engine(one).parts_.trainer.online:
        return None
    parts, estimator = [(one.X[:25], one.y[:25]), (one.X[25:], one.y[25:])], one.make()
    for X, y in parts:
        quiet(estimator.partial_fit, X, y)
    engine = quiet(fit_stream, untrained(own_engine(one), one), iter(parts))
    return in_common(one, estimator, engine)


def commanded(one):
    """The engine of the estimator, trained by the command on a file with the same options, against the estimator."""
    if not one.rows or own_engine(one) is None:
        return None
    engine, words = own_engine(one), []
    for plugin in engine.plugins:
        if not isinstance(plugin, str):
            return None
        words += ["--plugin", plugin]
    options = changed_options(engine)
    for name in sorted(options.keys() - {"plugins", "classes"}):
        if callable(options[name]) or hasattr(options[name], "shape"):
            return None
        words += ["--set", f"{name}={write_value(options[name])}"]
    with tempfile.TemporaryDirectory() as folder:
        frame(one.X).assign(y=one.y).to_csv(f"{folder}/table.csv", index=False)
        written = io.StringIO()
        with contextlib.redirect_stdout(written), contextlib.redirect_stderr(written):
            code = quiet(main, ["fit", engine.problem, f"{folder}/table.csv", "--target", "y", "--model", f"{folder}/model",
                                "--classes", ",".join(map(str, one.levels)), *words])
        if code:
            raise AssertionError(written.getvalue())
        return in_common(one, one.estimator, Engine.load(f"{folder}/model"))


def own_engine(one):
    """The engine of an estimator that wraps nothing else."""
    return getattr(one.estimator, "engine_", None)


def untrained(engine, one):
    return Engine(engine.problem, **{**changed_options(engine), "classes": list(one.levels)})


def in_common(one, *models):
    """What an estimator and an engine both return."""
    answers = []
    for model in models:
        answers.append({"predict": np.asarray(quiet(model.predict, one.X))})
        if all(hasattr(each, "predict_proba") for each in models):
            with contextlib.suppress(StructPercError):
                answers[-1]["predict_proba"] = np.asarray(quiet(model.predict_proba, one.X))
    return answers[0], answers[1]


def levels_in(form):
    """A column of levels in another form, where the estimator is asked, against the categories of training."""
    def run(one):
        if not one.rows or own_engine(one) is None:
            return None
        levels = np.array(["u", "v", "w"])[np.digitize(one.X[:, 0] - one.X[:, 1], [-0.5, 0.5])]
        tables = [frame(one.X).assign(level=each) for each in (pd.Categorical(levels, categories=["u", "v", "w"]), form(levels))]
        estimator = one.fit(X=tables[0])
        return one.answers(estimator, tables[0]), one.answers(estimator, tables[1])
    return run


def coded(one):
    """Trained on categories, against the columns of 0 and 1 that they become."""
    if not one.rows or own_engine(one) is None:
        return None
    levels = pd.Categorical(np.array(["u", "v", "w"])[np.digitize(one.X[:, 0] - one.X[:, 1], [-0.5, 0.5])])
    X, by_hand = frame(one.X).assign(level=levels), np.column_stack([one.X, np.eye(3)[levels.codes]])
    return one.answers(one.fit(X=X), X), one.answers(one.fit(X=by_hand), by_hand)


def renamed(names, order=None):
    """Trained on other labels in the same order. Columns of probabilities follow the sorted names."""
    def run(one):
        if not one.rows or "classes" not in one.make().get_params():
            return None
        levels = [names[level - 1] for level in one.levels]
        y = np.array([names[label - 1] for label in one.y])
        estimator = one.fit(y=y, classes=levels)
        answers = {name: answer for name, answer in one.answers(estimator).items() if name != "predict_set"}
        back = {str(name): i + 1 for i, name in enumerate(names)}
        return {name: in_order(answer, back, levels) for name, answer in answers.items()}
    return run


def in_order(answer, back, levels):
    """What a method returns for renamed labels, as it is of numbers."""
    if answer.ndim == 1 and answer.dtype.kind in "OU":
        return np.array([back.get(str(label), str(label)) for label in answer])
    if answer.ndim == 1 and answer.dtype.kind in "iu":
        return np.array([back[str(label)] for label in answer.tolist()])
    if answer.ndim == 2 and answer.shape[1] == len(levels):
        return answer[:, np.argsort(np.argsort(levels))]
    return answer


RANKS = 0.25                # by which a further column moves predictions at most, in the mean

CHANGES = {
    "columns renamed": (columns(lambda X: frame(X, "zyxwvuts")), BITS),
    "columns permuted": (columns(lambda X: np.roll(X, 1, axis=1)), CLOSE),
    "columns times three": (columns(lambda X: X * 3), CLOSE),
    "columns shifted": (columns(lambda X: X + 0.5), CLOSE),
    "zeros added": (columns(lambda X: np.column_stack([X, np.zeros(len(X))])), CLOSE),
    "constant added": (columns(lambda X: np.column_stack([X, np.full(len(X), 5.0)])), CLOSE),
    "a copy added": (added(lambda X: X[:, 0]), RANKS),
    "a rare dummy added": (added(lambda X: np.arange(len(X)) == 5), RANKS),
    "CSR": (columns(sp.csr_array), CLOSE),
    "frame": (columns(frame), BITS),
    "Arrow": (columns(lambda X: pa.Table.from_pandas(frame(X))), BITS),
    "file": (from_file, BITS),
    "stream": (streamed, BITS),
    "command": (commanded, BITS),
    "levels in another order": (levels_in(lambda levels: pd.Categorical(levels, categories=["w", "u", "v"])), BITS),
    "levels of text": (levels_in(lambda levels: levels.astype(object)), BITS),
    "coded by hand": (coded, BITS),
    "loaded": (saved, BITS),
    "pickled": (asked(lambda estimator: pickle.loads(pickle.dumps(estimator))), BITS),
    "one at a time": (one_at_a_time, BITS),
    "rows reversed": (rows_reversed, CLOSE),
    "weight 0": (weighted(lambda n: np.append(np.ones(n - 1), 0), lambda X, y: (X[:-1], y[:-1])), CLOSE),
    "weight 2": (weighted(lambda n: np.append(np.ones(n - 1), 2), lambda X, y: (np.vstack([X, X[-1:]]), np.append(y, y[-1]))), CLOSE),
    "labels renamed": (renamed([10, 20, 30]), BITS),
    "labels of text": (renamed(["mild", "bad", "worse"]), BITS),
}


def distance(expected, got) -> float:
    """The largest difference of what methods return, relative to the largest number; infinite if other labels are predicted."""
    apart = 0.0
    for name, other in got.items():
        one = expected[name]
        if one.shape != other.shape:
            return np.inf
        if one.dtype.kind not in "fiu" or other.dtype.kind not in "fiu":
            apart = max(apart, 0.0 if one.astype(str).tolist() == other.astype(str).tolist() else np.inf)
            continue
        finite = np.isfinite(one)
        if not np.array_equal(one[~finite], other[~finite], equal_nan=True):
            return np.inf
        apart = max(apart, float(np.abs(one - other)[finite].max(initial=0) / max(1.0, np.abs(one[finite]).max(initial=0))))
    return apart
