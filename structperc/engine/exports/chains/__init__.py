"""Labels in chains, one for each token of a sentence: scores W x + b of tokens, scores of label pairs, and how tokens become rows."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.basics.errors import PluginError
from structperc.basics.labels import codes_of
from structperc.core.argmax import Argmax
from structperc.core.rows import Rows
from structperc.core.weights import has_vector
from structperc.engine.exports.networks import allowance, check_together, drawn, network_of
from structperc.engine.exports.own_parts import refuse_python_methods
from structperc.engine.exports.probing import STEP, TOLERANCE, check_best, check_linear, check_size, probe_sizes, rounding
from structperc.engine.exports.text import exported_labels

AT_ONCE = 1 << 22       # values of dense rows that are scored together
MOST_ROWS = 1 << 12
MOST_ACTIVE = 32        # columns of a probe that are not 0
LENGTHS = 1, 2, 3, 4, 6 # of sentences that are drawn, again and again


@attrs.frozen(eq=False)
class LinearChain:
    """A model that gives the tokens of a sentence the labels of largest score together.

    Labels y score sum_t (W[y_t] x_t + b[y_t]) + sum_t transitions[y_t, y_(t + 1)] + start[y_1] + end[y_T]; -inf: forbidden. Ties go to the
    lowest label of the last token, then of the token before it, and so on.
    """
    # weights: float64 array of shape (n_labels, n_features). W.
    # bias, start, end: float64 arrays of shape (n_labels,)
    # transitions: float64 array of shape (n_labels, n_labels). Row: the label before, column: the label after.
    # labels: list of int, float, bool or str
    # columns: list of str or None. The names of X's columns, where they have some.
    # names: list of str or None. The feature of each column of W; features without weights are left out. None: tokens are rows of numbers.
    # lines: list or None. Of a template: for each line its pieces, text or the numbers of a macro; tokens are then strings of so many
    # columns.
    # n_columns: int. Strings of a token, with a template.
    # network: object or None. What computes x_t from the rows of X, as `Weights.network` returns it; None: these rows.

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
    network: object

    @property
    def description(self) -> str:
        """A line about the model."""
        columns = f"{self.weights.shape[1]} {'columns' if self.names is None else 'named features'}"
        return f"{self.problem}: {columns}, {len(self.labels)} labels in a chain"


def linear_chain(engine) -> LinearChain | None:
    """The chain that a model's solver searches; None: none. Raises PluginError or DataError if scores are not linear."""
    model = engine.model_
    parts, d = model.parts, model.context.n_features
    if type(parts.argmax).chain_of is Argmax.chain_of:
        return None
    refuse_python_methods(engine)
    network = network_of(model)
    if network is not None:
        return chain_after(engine, network)
    if not has_vector(parts.weights):
        raise PluginError("The scores of this model are not linear.")
    naming = parts.reader.naming()

    def read(X, offsets):
        """The rows of sentences."""
        if naming is not None:
            return model.prepared(Rows(X, offsets))
        sentences = [X[a:b] for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
        return model.read(sentences if model.context.sparse else [sentence.toarray() for sentence in sentences])

    def asked(X):
        """The chain of one sentence of these rows."""
        rows = read(X, np.array([0, X.shape[0]]))
        return parts.argmax.chain_of(model.atom_scores(rows)[0], model.example(rows, 0))

    (bias,), *pairs = asked(rows_of([[]], d))
    used, weights = [], []
    chunk = MOST_ROWS if model.context.sparse else max(1, min(MOST_ROWS, AT_ONCE // d))
    for first in range(0, d, chunk):
        columns = np.arange(first, min(first + chunk, d))
        slopes = (asked(rows_of(columns[:, None], d, STEP))[0] - bias) / STEP
        kept = slopes.any(axis=1) if naming is not None else np.full(len(slopes), True)
        used.append(columns[kept])
        weights.append(slopes[kept])
        check_size(len(bias), sum(map(len, used)))
    used, weights = np.concatenate(used), np.concatenate(weights)
    X = drawn_rows(d, model.context.sparse)
    tokens, *others = asked(X)
    check_linear(X[:, used], tokens, weights.T, bias)
    if not all(np.array_equal(one, other) for one, other in zip(pairs, others, strict=True)):
        raise PluginError("The scores of label pairs of this model depend on rows.")
    check_answers(engine, read, X, rounding(X[:, used], weights.T, bias)[:, 0], tokens, *pairs)
    names = getattr(engine, "feature_names_in_", None)
    lines, n_columns, features = (None, 0, None) if naming is None else (naming.lines, naming.n_columns, naming.names)
    if naming is not None:
        if naming.words is not None:
            used, weights, features, lines = with_words(naming, used, weights)
        features = [features[j] for j in used]
    return LinearChain(
        engine.problem, np.ascontiguousarray(weights.T), bias, *pairs, exported_labels(engine.classes_),
        None if names is None else list(names), features, lines, n_columns, None)


def chain_after(engine, network) -> LinearChain:
    """The chain of a model whose scores of tokens are the outputs of a network."""
    model, X = engine.model_, drawn(engine.model_)
    if model.parts.reader.naming() is not None:
        raise PluginError("This model reads tokens of text, of which a network's file has no names.")
    ends = np.cumsum(np.resize(LENGTHS, len(X)))
    places = [slice(a, b) for a, b in zip([0, *ends], ends, strict=False) if b <= len(X)]
    sentences = [X[place] for place in places]
    rows = model.read(sentences)
    chains = [model.parts.argmax.chain_of(scores, model.example(rows, i)) for i, scores in enumerate(model.atom_scores(rows))]
    tokens, pairs = np.concatenate([own for own, *_ in chains]), chains[0][1:]
    columns = np.concatenate([network.columns(sentence) for sentence in sentences])
    if columns.shape != tokens.shape:
        raise PluginError(f"The network returns {columns.shape[1]} scores for a token of {tokens.shape[1]} labels.")
    bias = np.median(tokens - columns, axis=0)          # a label's own score, one of those that all examples share
    check_together(columns + bias, tokens)
    check_answers(engine, lambda X, offsets: model.read([X[a:b] for a, b in zip(offsets[:-1], offsets[1:], strict=True)]), X[:len(tokens)],
                  np.full(len(tokens), allowance(tokens)), tokens, *pairs)
    return LinearChain(engine.problem, np.eye(len(bias)), bias, *pairs, exported_labels(engine.classes_), None, None, None, 0, network)


def with_words(naming, used, weights):
    """The features of an exported chain whose tokens have word vectors v: of each word one with the weights W v, and its line."""
    (column, words), n_names = naming.words, len(naming.names)
    check_size(weights.shape[1], n_names + len(words))
    of_vectors = np.zeros((words.size, weights.shape[1]))
    of_vectors[used[used >= n_names] - n_names] = weights[used >= n_names]
    prefix = "vector:"
    while any(name.startswith(prefix) for name in naming.names):
        prefix = f"_{prefix}"
    macro = (0, column, "lower", 0) if words.lowered else (0, column)
    named = used < n_names
    return (np.concatenate([used[named], n_names + np.arange(len(words))]),
            np.concatenate([weights[named], words.table.astype(float) @ of_vectors]),
            [*naming.names, *(prefix + word for word in words.words.names())], (*naming.lines, (prefix, macro)))


def rows_of(columns, d, values=1.0):
    """CSR rows with these values in these columns, as many in each."""
    from scipy.sparse import csr_array

    n, width = np.shape(columns)
    return csr_array((np.broadcast_to(np.asarray(values, dtype=float), (n, width)).ravel(), np.ravel(columns).astype(np.int32),
                      np.arange(n + 1) * width), shape=(n, d))


def drawn_rows(d, sparse):
    """Rows with a few numbers of one size each, rows of equal sizes side by side."""
    random, width = np.random.default_rng(0), min(d, MOST_ACTIVE)
    sizes = np.sort(probe_sizes(width if sparse else d), axis=0)
    columns = [np.sort(random.choice(d, width, replace=False)) for _ in sizes]
    return rows_of(columns, d, random.normal(size=(len(sizes), width)) * sizes)


def check_answers(engine, read, X, allowance, tokens, transitions, start, end) -> None:
    """Raises an error for models that label sentences of these rows differently; `allowance`: for rounding of the token scores."""
    ends = np.cumsum(np.resize(LENGTHS, len(tokens)))
    places = [slice(a, b) for a, b in zip([0, *ends], ends, strict=False) if b <= len(tokens)]
    best = np.array([largest_total(tokens[place], transitions, start, end) for place in places])
    places = [place for place, total in zip(places, best, strict=True) if total > -np.inf]         # constraints may leave no labels
    if not places:
        return
    rows = [np.arange(place.start, place.stop) for place in places]
    predicted = engine.model_.predict(read(X[np.concatenate(rows)], np.cumsum([0, *map(len, rows)])))
    code_of = codes_of(engine.classes_)
    score = np.full(len(places), -np.inf)
    for i, (place, labels) in enumerate(zip(places, predicted, strict=True)):
        codes = np.array([code_of.get(label, -1) for label in labels])
        if len(codes) == place.stop - place.start and (codes >= 0).all():
            pairs = transitions[codes[:-1], codes[1:]]
            score[i] = start[codes[0]] + tokens[place][np.arange(len(codes)), codes].sum() + pairs.sum() + end[codes[-1]]
    size = sum(np.abs(part[np.isfinite(part)]).max(initial=0.0) for part in (transitions, start, end))
    check_best(engine, score, best[best > -np.inf], np.array([allowance[place].sum() + TOLERANCE * len(allowance[place]) * size
                                                              for place in places]))


def largest_total(tokens, transitions, start, end) -> float:
    """The score of the best labels of one sentence; -inf: there are none."""
    sums = start + tokens[0]
    for token in tokens[1:]:
        sums = (sums[:, None] + transitions).max(axis=0) + token
    return (sums + end).max()
