"""Changes of the examples or of the engine, and how far the scores may then differ."""

import contextlib
import io
import pickle

import numpy as np
import scipy.sparse as sp

from structperc import Engine
from structperc.errors import StructPercError

BITS, CLOSE = 0.0, 1e-9


def scores(engine, X, told):
    return [np.asarray(one) for one in engine.atom_scores(X, **told)]


def distance(a, b) -> float:
    """The largest difference, relative to the largest score."""
    if [one.shape for one in a] != [one.shape for one in b]:
        return np.inf
    a, b = (np.concatenate([one.ravel() for one in each]) for each in (a, b))
    return float(np.abs(a - b).max(initial=0) / max(1.0, np.abs(a).max(initial=0)))


def both(first, second):
    """What two calls return; nothing to compare where both raise an error."""
    try:
        one = first()
    except StructPercError:
        with contextlib.suppress(StructPercError):
            second()
            raise
        return None
    return one, second()


def columns(change):
    """Trained and asked with changed columns."""
    def run(one):
        X = one.changed(change)
        return scores(one.fit(X=X), X, one.told)
    return run


def form(change):
    """Trained and asked with X in another form."""
    def run(one):
        X = [change(block) for block in one.X] if isinstance(one.X, list) else change(one.X)
        return scores(one.fit(X=X), X, one.told)
    return run


def sparse(change):
    """The same; tables of pairs are never sparse."""
    return lambda one: None if isinstance(one.X, list) else form(change)(one)


def asked(change):
    """Asked after a change of the engine."""
    return lambda one: scores(change(one.engine), one.X, one.told)


def loaded(engine):
    file = io.BytesIO()
    engine.save(file)
    file.seek(0)
    return Engine.load(file)


def one_at_a_time(one):
    asked = [one.take([i]) for i in range(one.n_examples)]
    return [np.asarray(score) for X, _, told in asked for score in one.engine.atom_scores(X, **told)]


def rows_reversed(one):
    X, y, told = one.take(np.arange(one.n_examples)[::-1])
    return scores(one.fit(X=X, y=y, told=told), one.X, one.told)


def weight_zero(one):
    """The last example counts nothing, against: it is left out."""
    n = one.n_examples
    X, y, told = one.take(np.arange(n - 1))
    return both(lambda: scores(one.fit(told={**one.told, "sample_weight": np.append(np.ones(n - 1), 0)}), one.X, one.told),
                lambda: scores(one.fit(X=X, y=y, told=told), one.X, one.told))


def weights_two(one):
    """All weights are 2, against: all are 1."""
    return tuple(scores(one.fit(told={**one.told, "sample_weight": np.full(one.n_examples, w)}), one.X, one.told) for w in (2.0, 1.0))


def renamed(name):
    """Trained on other labels in the same order; nothing to do for outputs that are no labels."""
    def run(one):
        classes = one.case.options.get("classes")
        if classes is None or one.told or np.ndim(one.y) != 1 or not set(np.asarray(one.y).tolist()) <= set(classes):
            return None
        y = np.array([name(label) for label in one.y.tolist()])
        return scores(one.fit(y=y, classes=[name(label) for label in classes]), one.X, one.told)
    return run


TRANSFORMATIONS = {
    "columns permuted": (columns(lambda F: np.roll(F, 1, axis=1)), CLOSE),
    "columns times powers of two": (columns(lambda F: F * 2.0 ** (np.arange(F.shape[1]) % 5 - 2)), BITS),
    "columns times three": (columns(lambda F: F * 3), CLOSE),
    "columns shifted": (columns(lambda F: F + 0.5), CLOSE),
    "zeros added": (columns(lambda F: np.column_stack([F, np.zeros(len(F))])), CLOSE),
    "constant added": (columns(lambda F: np.column_stack([F, np.full(len(F), 5.0)])), CLOSE),
    "Fortran": (form(np.asfortranarray), BITS),
    "float32": (form(lambda X: X.astype(np.float32)), BITS),
    "strided": (form(lambda X: np.repeat(X, 2, axis=-1)[..., ::2]), BITS),
    "lists": (form(lambda X: X.tolist()), BITS),
    "CSR": (sparse(sp.csr_array), CLOSE),
    "CSC": (sparse(sp.csc_array), CLOSE),
    "rows reversed": (rows_reversed, CLOSE),
    "loaded": (asked(loaded), BITS),
    "pickled": (asked(lambda engine: pickle.loads(pickle.dumps(engine))), BITS),
    "one at a time": (one_at_a_time, BITS),
    "weight 0": (weight_zero, CLOSE),
    "weights 2": (weights_two, CLOSE),
    "labels renamed": (renamed(lambda label: 10 * label), BITS),
    "labels of text": (renamed(lambda label: "dbca"[int(label) - 1]), BITS),
    "again": (form(np.copy), BITS),
}
