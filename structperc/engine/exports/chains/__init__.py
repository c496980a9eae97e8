"""Labels in chains, one for each token of a sentence: scores W x + b of tokens, scores of label pairs, and how tokens become rows."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.core.argmax import Argmax
from structperc.core.errors import PluginError
from structperc.core.rows import Rows
from structperc.engine.exports.probing import PROBES, STEP, check_linear, check_size

AT_ONCE = 1 << 22       # values of dense rows that are scored together
MOST_ROWS = 1 << 12
MOST_ACTIVE = 32        # columns of a probe that are not 0


@attrs.frozen(eq=False)
class LinearChain:
    """A model that gives the tokens of a sentence the labels of largest score together.

    Labels y score sum_t (W[y_t] x_t + b[y_t]) + sum_t transitions[y_t, y_(t + 1)] + start[y_1] + end[y_T]; -inf: forbidden. Ties go to the
    lowest label of the last token, then of the token before it, and so on.

    Attributes
    ----------
    problem : str
    weights : float64 array of shape (n_labels, n_features)
        W.
    bias, start, end : float64 arrays of shape (n_labels,)
    transitions : float64 array of shape (n_labels, n_labels)
        Row: the label before, column: the label after.
    labels : list of int, float, bool or str
    columns : list of str or None
        The names of X's columns, where they have some.
    names : list of str or None
        The feature of each column of W; features without weights are left out. None: tokens are rows of numbers.
    lines : list or None
        Of a template: for each line its pieces, text or (offset, column) of a macro; tokens are then strings of so many columns.
    n_columns : int
        Strings of a token, with a template.
    """

    problem: str
    weights: np.ndarray
    bias: np.ndarray
    transitions: np.ndarray
    start: np.ndarray
    end: np.ndarray
    labels: list
    columns: list | None
    names: list | None
    lines: list | None
    n_columns: int

    @property
    def description(self) -> str:
        """A line about the model."""
        known = f"{self.weights.shape[1]} {'columns' if self.names is None else 'named features'}"
        return f"{self.problem}: {known}, {len(self.labels)} labels in a chain"


def linear_chain(engine) -> LinearChain | None:
    """The chain that a model's solver searches; None: none. A PluginError or DataError says why it has no linear scores."""
    model = engine.model_
    parts, d = model.parts, model.context.n_features
    if type(parts.argmax).chain_of is Argmax.chain_of:
        return None
    if parts.weights.vector() is None:
        raise PluginError("The scores of this model are not linear.")
    naming = parts.reader.naming()

    def asked(X):
        """The chain of one sentence of these rows."""
        if naming is None:
            rows = model.read([X if model.context.sparse else X.toarray()])
        else:
            rows = model.prepared(Rows(X, np.array([0, X.shape[0]])))
        return parts.argmax.chain_of(model.atom_scores(rows)[0], model.example(rows, 0))

    (bias,), *pairs = asked(rows_of([[]], d))
    used, weights = [], []
    chunk = MOST_ROWS if model.context.sparse else max(1, min(MOST_ROWS, AT_ONCE // d))
    for first in range(0, d, chunk):
        columns = np.arange(first, min(first + chunk, d))
        found = (asked(rows_of(columns[:, None], d, STEP))[0] - bias) / STEP
        kept = found.any(axis=1) if naming is not None else np.full(len(found), True)
        used.append(columns[kept])
        weights.append(found[kept])
        check_size(len(bias), sum(map(len, used)))
    used, weights = np.concatenate(used), np.concatenate(weights)
    check(asked, used, weights, bias, pairs, d)
    names = getattr(engine, "feature_names_in_", None)
    return LinearChain(
        engine.problem, np.ascontiguousarray(weights.T), bias, *pairs, engine.classes_.tolist(), None if names is None else list(names),
        *((None, None, 0) if naming is None else ([naming.names[j] for j in used], naming.lines, naming.n_columns)))


def rows_of(columns, d, values=1.0):
    """CSR rows with these values in these columns, as many in each."""
    from scipy.sparse import csr_array

    n, width = np.shape(columns)
    return csr_array((np.broadcast_to(np.asarray(values, dtype=float), (n, width)).ravel(), np.ravel(columns).astype(np.int32),
                      np.arange(n + 1) * width), shape=(n, d))


def check(asked, used, weights, bias, pairs, d) -> None:
    """Refuses models that score random rows otherwise."""
    random = np.random.default_rng(0)
    X = rows_of([np.sort(random.choice(d, min(d, MOST_ACTIVE), replace=False)) for _ in range(PROBES)], d,
                random.normal(size=(PROBES, min(d, MOST_ACTIVE))) * 10.0 ** np.arange(-8, 8)[:, None])
    found, *others = asked(X)
    check_linear(X[:, used], found, weights.T, bias)
    if not all(np.array_equal(one, other) for one, other in zip(pairs, others, strict=True)):
        raise PluginError("The scores of label pairs of this model depend on rows.")
