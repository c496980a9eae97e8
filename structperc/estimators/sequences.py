"""Estimator of problems with one label per token of a sentence."""

from __future__ import annotations

import itertools
import numbers
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from structperc.basics.labels import codes_of, is_nested, plain_labels
from structperc.basics.rows_of_numbers import count_rows
from structperc.callbacks import EarlyStopping
from structperc.core.weights import has_vector
from structperc.errors import DataError, OptionError, shortened
from structperc.estimators.base import EngineEstimator, declared, weighted_mean
from structperc.estimators.keeping import Answers
from structperc.estimators.queries import parted
from structperc.estimators.rankings import FRACTION, PATIENCE
from structperc.fitting.option import option
from structperc.fitting.options import InterceptOptions, LabelOptions, generator
from structperc.metrics import sentences
from structperc.reading import matrices
from structperc.reading.groups import Groups
from structperc.reading.other_libraries import first_entry

if TYPE_CHECKING:
    from typing_extensions import Self

    from structperc.engine.explanation import Explanation

WHERE = ("lengths", "groups", "allowed")


@declared
class SequenceTagger(EngineEstimator, LabelOptions, InterceptOptions):
    """Predicts one label per token of a sentence, or of any other sequence, by a linear chain.

    The score of a sentence sums its tokens' label scores and scores for pairs of neighbouring labels. The best labels are computed jointly
    (Viterbi). Ties: the lowest label (in the order of `classes_`), from the last token back. A sentence of T tokens costs O(T L (L + f))
    for L labels and f features per token.

    Sentences come in any of these forms, the same in all methods:

    - a list of sentences, each a list of tokens. A token is a dict, a list or a set of features, or with `template` or `columns` a tuple
      of column strings. A dict value or an entry of a list may be a vector, such as {"word": "the", "emb": array};
    - a document of spaCy or a list of documents, split into their sentences. `columns` names what is read of a token;
    - a list of arrays (T, n_features), dense or CSR, one per sentence;
    - one array or CSR matrix (n_tokens, n_features), with `lengths` or `groups`. These are the tokens of each sentence, or the sentence of
      each row. Predictions are then one flat array, one entry per row.

    By default `loss` is "hamming", the tokens that differ. A matrix of costs is summed over the tokens.

    Attributes
    ----------
    coef_ : ndarray of shape (L, `n_features_in_`)
        Without a kernel: a row of weights for each label.
    intercept_ : ndarray of shape (L,)
    transition_scores_ : ndarray of shape (L, L)
        Row: the label before, column: the label after.
    start_scores_, end_scores_ : ndarray of shape (L,)
    {attributes}

    See Also
    --------
    StructuredEstimator : other structures, such as labelled segments.
    structperc.files.conll : CoNLL files as sentences.
    structperc.crfsuite.read_crfsuite : a model of CRFsuite.

    References
    ----------
    M. Collins: Discriminative Training Methods for Hidden Markov Models: Theory and Experiments with Perceptron Algorithms. Proceedings
    of EMNLP, pages 1–8, 2002.

    Examples
    --------
    >>> from structperc.estimators import SequenceTagger
    >>> X = [[{"word": "the"}, {"word": "cat"}, {"word": "sleeps"}], [{"word": "sleeps"}, {"word": "the"}, {"word": "dog"}]]
    >>> y = [["D", "N", "V"], ["V", "D", "N"]]
    >>> model = SequenceTagger(random_state=0).fit(X, y)
    >>> model.predict([[{"word": "the"}, {"word": "owl"}, {"word": "sleeps"}]])
    [['D', 'N', 'V']]
    """

    _labelled: ClassVar[str] = "token"
    _untrained: ClassVar[tuple] = ("verbose", "n_iter_no_change", "validation_fraction")

    start: bool | None = option(None, "whether labels score for standing first; None: the value of `preset`, False with paper")
    end: bool | None = option(None, "whether labels score for standing last; None: as `start`")
    forbidden_transitions: Sequence | str = option(
        (), "pairs of labels that never follow each other, at fit and at predict",
        about='None in a pair is the boundary of the sentence. "iob1", "iob2", "iobes", "bilou" and "bmes" are the pairs that these ways '
              "to write phrases forbid.")
    required_transitions: Sequence = option(
        (), "pairs of labels: after the first label of a pair only the labels that pairs name for it may follow")
    n_hashed: int | None = option(None, "columns of signed hashing for feature names, so that a stream may bring new ones",
                                  about="None: a vocabulary learned by fit.")
    min_count: int = option(1, "features that are seen less often by fit are left out of the vocabulary")
    template: str | None = option(None, "the text of a CRF++-like template, which makes features of windows of columns",
                                  about="Tokens are tuples of column strings.")
    columns: Sequence | None = option(None, "names of the strings of a token; without a template each is a feature",
                                     about="Of a document of spaCy: form, lemma, upos, xpos, feats, or attributes of its tokens.")
    vectors: str | None = option(
        None, "file of word vectors in text, as of word2vec or GloVe, for a column of the tokens",
        about="The model keeps all of them: 4 bytes for each coordinate. Words without a vector have zeros. Needs `columns` or `template`.")
    vector_column: str | None = option(None, "the column whose words have vectors; None: the first")
    n_iter_no_change: int | None = option(
        None, "early stopping: `fit` holds out sentences, and ends once their loss has not fallen for so many epochs",
        about="The model has the weights of the best epoch. None: all sentences are trained on.")
    validation_fraction: float = option(0.1, "share of the sentences that `n_iter_no_change` holds out, drawn by `random_state`")

    def fit(self, X, y=None, lengths=None, groups=None, allowed=None, sample_weight=None) -> Self:
        """Trains from nothing.

        Parameters
        ----------
        X : list of sentences, or array-like or sparse matrix of shape (n_tokens, n_features)
            In any of the forms that the class names.
        y : list of lists of labels, or flat sequence of n_tokens labels
            One label per token; None for a token of which nothing is known. Training completes these by the best labels that the
            others, constraints and `allowed` leave.
        lengths : array-like of int, shape (n_sentences,), optional
            How many rows of X each sentence has.
        groups : array-like of shape (n_tokens,), optional
            Which sentence each row of X belongs to, instead of `lengths`. Sentences are in the order in which they first appear. Entries
            for each row are in the order of X.
        allowed : list of n_sentences entries, optional
            What is known of the labels of each sentence: None, or for each of its tokens None or a collection of labels.
        sample_weight : array-like of shape (n_sentences,), optional
            Scales the steps of the perceptron and the C of "pa1" and "pa2". Weight 0 leaves the sentence out.

        Returns
        -------
        self
            A failed fit leaves it as it was; Ctrl-C keeps what was learned, sets `status_` and is raised again.

        Raises
        ------
        DataError
            Naming the sentence and token at fault.
        """
        self._refuse_none(X, y)
        refuse_rows_alone(X, lengths, groups)
        patience = PATIENCE.read("n_iter_no_change", self.n_iter_no_change)
        if patience is None:
            return self._train(self._engine(), "fit", X, y, lengths=lengths, groups=groups, allowed=allowed, sample_weight=sample_weight)
        X, y, allowed = listed(X, y, lengths, groups, allowed)
        share, places = FRACTION.read("validation_fraction", self.validation_fraction), list(range(len(X)))
        (kept, y_kept, _, weights), (held, y_held, _, _) = parted(places, y, None, None, sample_weight, share, generator(self.random_state),
                                                                  "sentences")
        engine = self._engine(plugins=(*self.plugins, EarlyStopping([X[i] for i in held], y_held, patience)))
        return self._train(engine, "fit", [X[i] for i in kept], y_kept, sample_weight=weights,
                           allowed=None if allowed is None else [allowed[i] for i in kept])

    def partial_fit(self, X, y=None, lengths=None, groups=None, classes=None, allowed=None, sample_weight=None) -> Self:
        """One pass over a part of the data, continuing from what fit or partial_fit learned.

        The first call fixes the labels and, unless `n_hashed` is set, the features; later ones ignore features that it lacked.

        Parameters
        ----------
        classes : array-like, optional
            All labels in order. Only the first call needs it, and only when neither the option `classes` nor the first y
            names them all.
        """
        self._refuse_none(X, y)
        refuse_rows_alone(X, lengths, groups)
        return self._train(self._continued(classes), "partial_fit", X, y, lengths=lengths, groups=groups, allowed=allowed,
                           sample_weight=sample_weight)

    def predict(self, X, lengths=None, groups=None, allowed=None, k=None) -> list[Any] | np.ndarray:
        """The labels of largest score.

        Parameters
        ----------
        k : int, optional
            Ask for the k best outputs of each sentence.

        Returns
        -------
        list of lists of labels, or ndarray of shape (n_tokens,) when `lengths` or `groups` was given
            With k, a list for each sentence of up to k lists of labels, best first. For numpy the list is an array of lists, as
            `cross_val_predict` puts them together.
        """
        engine = self._trained()
        refuse_rows_alone(X, lengths, groups)
        data = Groups(X, None, lengths, groups)
        answers = engine.predict(data.X, offsets=data.offsets, allowed=data.by_rows(allowed), k=k)
        return Answers(answers) if data.offsets is None or k is not None else data.as_given(self._flat(answers))

    def predict_marginals(self, X, lengths=None, groups=None, allowed=None) -> list[np.ndarray] | np.ndarray:
        """How probable each label of each token is if outputs are drawn with probability proportional to exp(score / `temperature_`).

        The perceptron fits no probabilities: without `calibrate` they rank labels and tokens, and are far too sure.

        Returns
        -------
        list of ndarrays of shape (T, L), or one of shape (n_tokens, L) when `lengths` or `groups` was given
            Columns in the order of `classes_`; every row sums to 1.
        """
        engine = self._trained()
        refuse_rows_alone(X, lengths, groups)
        data = Groups(X, None, lengths, groups)
        marginals = engine.predict_marginals(data.X, offsets=data.offsets, allowed=data.by_rows(allowed))
        return list(marginals) if data.offsets is None else data.as_given(np.concatenate(marginals))

    def predict_k_best(self, X, k, lengths=None, groups=None, allowed=None) -> list[list[tuple[Any, float]]]:
        """The k outputs of largest score of each sentence.

        Parameters
        ----------
        k : int
            At least 1.

        Returns
        -------
        list of n_sentences lists of (labels, score)
            Best first; fewer than k if a sentence has no more. Ties: the lower label of the last token, then of
            the token before it, and so on.
        """
        engine = self._trained()
        refuse_rows_alone(X, lengths, groups)
        return engine.predict_k_best(X, k, lengths=lengths, groups=groups, allowed=allowed)

    def log_probability(self, X, y, lengths=None, groups=None, allowed=None) -> np.ndarray:
        """The logarithm of the probability of the labels of each sentence together, shape (n_sentences,).
        Returns a float64 array of shape (n_sentences,). At most 0.

        Parameters
        ----------
        y : list of lists of labels, or flat sequence of n_tokens labels
            One label per token.
        lengths, groups, allowed
            As in `fit`. With `allowed`, probabilities are those among the allowed labels.

        Raises
        ------
        DataError
            Constraints or `allowed` exclude the labels.

        Examples
        --------
        >>> from structperc.estimators import SequenceTagger
        >>> X, y = [[["the"], ["cat"]], [["a"], ["dog"]], [["cat"], ["the"]]], [["D", "N"], ["D", "N"], ["N", "D"]]
        >>> model = SequenceTagger(random_state=0).fit(X, y)
        >>> likely, unlikely = model.log_probability(X[:1] * 2, [["D", "N"], ["N", "N"]])
        >>> bool(likely > unlikely)
        True
        """
        engine = self._trained()
        refuse_rows_alone(X, lengths, groups)
        data = Groups(X, None, lengths, groups)
        return engine.log_probability(data.X, data.by_rows(y), offsets=data.offsets, allowed=data.by_rows(allowed))

    def margins(self, X, lengths=None, groups=None, allowed=None) -> np.ndarray:
        """By how much the best output of each sentence leads the second best.
        Returns an ndarray of shape (n_sentences,). 0 for a tie, inf where constraints leave one output only.
        """
        engine = self._trained()
        refuse_rows_alone(X, lengths, groups)
        return engine.margins(X, lengths=lengths, groups=groups, allowed=allowed)

    def score(self, X, y, lengths=None, groups=None, allowed=None, sample_weight=None) -> float:
        """Accuracy: the share of tokens that are predicted right, of those whose label is known; higher is better, 1 is perfect.

        Parameters
        ----------
        sample_weight : array-like of shape (n_sentences,), optional
            What each sentence's tokens count.
        """
        self._refuse_none(X, y)
        engine = self._trained()
        refuse_rows_alone(X, lengths, groups)
        data = Groups(X, None, lengths, groups)
        predicted = engine.predict(data.X, offsets=data.offsets, allowed=data.by_rows(allowed))
        true = list(itertools.chain.from_iterable(sentences(data.by_rows(y), predicted, "y", "X")))
        labelled = np.fromiter((label is not None for label in true), dtype=bool, count=len(true))
        if not labelled.any():
            raise DataError("X has no tokens, so there is nothing to score." if not true else
                            "y has no label for any token, so there is nothing to score.")
        self._refuse_strangers([label for label in true if label is not None])
        weights = matrices.sample_weights(sample_weight, len(predicted))
        right = np.fromiter(map(operator.eq, itertools.chain.from_iterable(predicted), true), dtype=bool, count=len(true))
        return weighted_mean(right[labelled], None if weights is None else np.repeat(weights, list(map(len, predicted)))[labelled])

    def explain(self, sentence, token=None, baseline=None, groups=None) -> Explanation:
        """Why one sentence, or one of its tokens, got its labels.
        Raises `DataError` when there is no such token, or constraints leave no other output.
        Returns `Explanation`. The difference of the two scores, split exactly by label, transition and feature.

        Parameters
        ----------
        sentence : list of tokens, or array-like or CSR matrix of shape (T, n_features)
        token : int, optional
            Position from 0. With it, the best output is compared with the best one in which this token has another label. Without it, with
            the best other output.
        baseline, groups
            As in `Engine.explain`.

        Examples
        --------
        >>> from structperc.estimators import SequenceTagger
        >>> X, y = [[["the"], ["cat"]], [["a"], ["dog"]], [["cat"], ["the"]]], [["D", "N"], ["D", "N"], ["N", "D"]]
        >>> model = SequenceTagger(random_state=0).fit(X, y)
        >>> explanation = model.explain([["the"], ["dog"]], token=0)
        >>> explanation.winner, explanation.runner_up
        (['D', 'N'], ['N', 'N'])
        """
        engine = self._trained()
        if token is None:
            return engine.explain(sentence, baseline=baseline, groups=groups)
        alone = as_only(sentence)
        best = engine.predict(alone)[0]
        at = as_position(token, len(best))
        allowed = [None] * len(best)
        allowed[at] = [label for label in plain_labels(self.classes_) if label != best[at]]
        try:
            other = engine.predict(alone, allowed=[allowed])[0]
        except DataError:
            raise DataError(f"token {token} can have no label but {best[at]!r}: the constraints forbid all others.") from None
        return engine.explain(sentence, against=other, baseline=baseline, groups=groups)

    def top_features(self, label, n=10) -> list[tuple[str, float]]:
        """The features with the largest weights for a label.
        Returns a list of (str, float). Name and weight, largest absolute weight first; ties in the order of the columns.

        Parameters
        ----------
        label : one of `classes_`
        n : int, default 10
            How many at most; features of weight 0 are left out.
        """
        codes = codes_of(self.classes_)
        if label not in list(codes):
            labels = plain_labels(self.classes_)
            raise DataError(f"label={shortened(label)} is not one of the labels {labels[:8]} that this {type(self).__name__} predicts.")
        if not has_vector(self._trained().parts_.weights):
            raise DataError("top_features shows weights of features, but weights that are a sum of rows, compared by a kernel, have none.")
        weights, name_of = self.coef_[codes[label]], self._trained().feature_name
        return [(name_of(j), float(weights[j])) for j in largest(weights, n).tolist()]

    def top_transitions(self, n=10) -> list[tuple[Any, Any, float]]:
        """The pairs of neighbouring labels that count most.

        Parameters
        ----------
        n : int, default 10
            How many at most; transitions of weight 0 are left out.

        Returns
        -------
        list of (label, label, float)
            The label before, the label after and the weight, largest absolute weight first; ties in the order of the labels.
        """
        labels, scores = plain_labels(self.classes_), self.transition_scores_
        pairs = (np.unravel_index(at, scores.shape) for at in largest(scores.ravel(), n))
        return [(labels[before], labels[after], float(scores[before, after])) for before, after in pairs]

    def __sklearn_tags__(self):
        """What scikit-learn's tools should know; outputs are lists of labels, for which it has no type of estimator."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = tags.input_tags.dict = True
        return tags

    def _engine(self, **changed):
        return super()._engine(problem="sequence", **changed)

    def _flat(self, sentences):
        """All labels in one array."""
        return np.fromiter(itertools.chain.from_iterable(sentences), dtype=self.classes_.dtype, count=sum(map(len, sentences)))


def listed(X, y, lengths, groups, allowed):
    """X, y and allowed as lists with an entry for each sentence."""
    if lengths is not None or groups is not None:
        data = Groups(X, None, lengths, groups)
        y, allowed, ends = data.by_rows(y), data.by_rows(allowed), data.offsets.tolist()
        X = [data.X[a:b] for a, b in itertools.pairwise(ends)]
    elif not isinstance(X, (list, tuple)):
        raise DataError(f"X is of type {type(X).__name__}, of which n_iter_no_change cannot hold out sentences; pass a list of sentences.")
    if len(X) and not is_nested(y):
        ends = np.cumsum([0, *(count_rows(sentence) for sentence in X)]).tolist()
        y = [y[a:b] for a, b in itertools.pairwise(ends)]
    if len(y) != len(X):
        raise DataError(f"y has the labels of {len(y)} sentences but X has {len(X)}; give one list per sentence.")
    return X, y, allowed


def as_only(sentence) -> list:
    """A data set of only this sentence."""
    rows = isinstance(sentence, (list, tuple)) and any(matrices.is_row(token) and len(token) for token in sentence)
    return [np.asarray(sentence) if rows else sentence]


def as_position(token, size) -> int:
    try:
        at = operator.index(token)
    except TypeError:
        at = -1
    if size == 0:
        raise DataError(f"token={shortened(token)}, but the sentence has no tokens, so there is nothing to explain.")
    if not 0 <= at < size:
        raise DataError(f"token={shortened(token)}; expected the position of one of the sentence's {size} "
                        f"token{'s' * (size != 1)}, counted from 0.")
    return at


def largest(weights, n):
    """Positions of the n largest absolute weights, zeros left out; ties in their order."""
    if not isinstance(n, numbers.Integral) or isinstance(n, bool) or n < 1:
        raise OptionError(f"n={shortened(n)}; expected a whole number, at least 1.")
    order = np.argsort(-np.abs(weights), kind="stable")[:n]
    return order[weights[order] != 0]


def is_table(X) -> bool:
    """Whether X is a matrix, not an array of sentences of equal length."""
    return getattr(X, "ndim", 0) == 2 and not (getattr(getattr(X, "dtype", None), "kind", None) in ("O", "U")
                                               and isinstance(first_entry(X), (str, list, tuple, dict, set, frozenset)))


def refuse_rows_alone(X, lengths, groups) -> None:
    """A matrix without lengths may be one sentence, or many: nothing shows which of its rows belong together."""
    matrix = is_table(X) or isinstance(X, (list, tuple)) and len(X) > 0 and matrices.is_row(X[0]) and len(X[0]) > 0
    if matrix and lengths is None and groups is None:
        raise DataError("X is one matrix, and its rows have no sentences: pass lengths=[...] or groups=[...]. "
                        "lengths=[len(X)] makes them one sentence, lengths=[1] * len(X) one each.")
