"""Dependency parsing with scikit-learn's manners: `DependencyParser`.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from structperc import Engine
from structperc.errors import DataError, OptionError
from structperc.estimators.keeping import Answers, EngineAnswers, note
from structperc.estimators.rankers import Parameters
from structperc.plugin_tools import as_sentences
from structperc_parsing import conllu
from structperc_parsing.arc_templates import default_template
from structperc_parsing.explanations import explain_arc

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import Self

__all__ = ["DependencyParser"]

ANNOTATIONS = {"lemma": "LEMMA", "xpos": "TAG", "feats": "MORPH", "upos": "POS"}      # what spaCy calls the columns of CoNLL-U


class DependencyParser(EngineAnswers, Parameters):
    """Predicts the head of every word of a sentence, and the label of its arc. All words form a tree.

    A tree scores the sum of its arcs. The score of an arc adds the weights of its features: its head, its dependent, the words around and
    between them, its direction and its distance. The tree of largest score is found exactly.

    Parameters
    ----------
    projective : bool, default False
        Whether arcs may not cross. English trees hardly cross, and projective trees are predicted better there.
    lift : bool, optional
        With `projective`, True by default: learn from trees with crossing arcs made projective (`n_lifted_` counts them), instead of
        raising an error.
    one_root : bool, default True
        Exactly one word has the root for head.
    order : {1, 2}, default 1
        2: neighbouring dependents of a head, siblings, have features too. Needs `projective`: with crossing arcs the best tree is NP-hard.
    labels : {"after", "joint"}, default "after"
        Of arcs with labels. "after": the best tree is found first, and then the best label of each of its arcs. Labels learn on the right
        trees, and the losses of heads and labels add up. "joint": the tree and its labels of largest sum, several times slower and a little
        better.
    template : str, optional
        Features of arcs, one a line. A line begins with A (it describes arcs), L (it describes their labels) or, with order=2, S (it
        describes siblings). %h[offset,column] and %d[offset,column] are a cell of the head or the dependent, or of a word so far behind.
        %b[column] is a cell of the words between, once for each different cell. %s[offset,column] is the dependent next to %d on the way to
        the head, if there is one. Every line also counts for the direction and the distance of the arc, or of the siblings. Columns have
        the names of `columns`, or numbers from 0. None: the features of McDonald, Crammer and Pereira, and of McDonald and Pereira for
        siblings. The first column is then the form, and all others are tags. A later column named "lemma" makes pairs with itself and with
        the last tag.
    columns : sequence of str, optional
        Names of the tokens' columns. Default of tokens that are dicts: form, lemma, xpos, feats and upos, as far as the first token has
        them. Default of documents of spaCy: those of these that the first document is annotated with. `structperc fit parsing` learns from
        the same columns.
    tokens : {"cells", "vectors"}, default "cells"
        The meaning of tokens that are rows of numbers. "cells": names, as texts are: equal numbers are equal cells. "vectors": coordinates,
        such as word embeddings. Then X is a list of matrices. An arc scores x_h' W x_m + a . x_h + b . x_m and a weight for its distance,
        with other weights in each direction. `template`, `order=2` and `labels="joint"` are only for cells.
    n_hashed : int, default 2^22
        Rows of eight weights that features are hashed to; those that a step has touched take 128 bytes.
    preset : {"recommended", "paper"}, default "recommended"
        The values of the parameters below that are None; those of "recommended" stand in parentheses.
    update : str, optional
        (pa1)
    C : float, optional
        Aggressiveness of "pa1" and "pa2" (0.02).
    loss_weight : float, optional
        Learn from the tree that maximises score + loss_weight * loss, the number of words with a wrong head or label (1).
    epochs : int, optional
        (8)
    average : bool, optional
        (True)
    shuffle : bool, optional
        (True)
    random_state : None, int, numpy Generator or RandomState, default None
    classes : list, optional
        All labels; otherwise those of the first y.
    n_shards : int, default 1
        Train on so many parts of the sentences separately, and mix their weights after each epoch. `structperc.distributed.fit` trains them
        on other machines.
    n_jobs : int, default 1
        Threads that train shards and predict; -1: one for each core. Results stay the same.

    Attributes
    ----------
    engine_ : Engine
        What was trained.
    classes_ : ndarray
        The labels, where arcs have labels.
    n_lifted_ : int
    mistakes_ : list of int
    status_ : str

    Notes
    -----
    A token is a tuple or list of strings, one for each column. It may be a dict of them with the keys `columns`. X may be a document of
    spaCy, or a list of documents: their sentences. y has a list for each
    sentence: the head of each word, or pairs (head, label). Heads are 0 for the root, and words are counted from 1. Ties go to the lowest
    label. Without `projective`, they go to the lowest head if no circle must be broken. Time per sentence of n words: O(n^2) arcs of about
    50 features each, and O(n^3) small steps if projective; n^3 / 3 pairs of siblings.

    McDonald, Crammer and Pereira (2005), Online large-margin training of dependency parsers, ACL. McDonald and Pereira (2006), Online
    learning of approximate dependency parsing algorithms, EACL. Crammer et al. (2006), JMLR 7, for the updates.

    Examples
    --------
    >>> from structperc.estimators import DependencyParser
    >>> X = [[("dogs", "NOUN"), ("bark", "VERB")], [("the", "DET"), ("cat", "NOUN"), ("sleeps", "VERB")]]
    >>> y = [[(2, "nsubj"), (0, "root")], [(2, "det"), (3, "nsubj"), (0, "root")]]
    >>> parser = DependencyParser(random_state=0).fit(X, y)
    >>> parser.predict([[("the", "DET"), ("dog", "NOUN"), ("sleeps", "VERB")]])
    [[(2, 'det'), (3, 'nsubj'), (0, 'root')]]
    """

    def __init__(self, projective=False, lift=None, one_root=True, order=1, labels="after", template=None, columns=None,
                 tokens="cells", n_hashed=1 << 22, preset="recommended", update=None, C=None, loss_weight=None, epochs=None,
                 average=None, shuffle=None, random_state=None, classes=None, n_shards=1, n_jobs=1) -> None:
        self.projective, self.lift, self.one_root, self.order, self.labels = projective, lift, one_root, order, labels
        self.template, self.columns, self.tokens, self.n_hashed = template, columns, tokens, n_hashed
        self.preset, self.update, self.C, self.loss_weight, self.epochs = preset, update, C, loss_weight, epochs
        self.average, self.shuffle, self.random_state, self.classes = average, shuffle, random_state, classes
        self.n_shards, self.n_jobs = n_shards, n_jobs

    def fit(self, X, y, sample_weight=None) -> Self:
        """Trains from nothing.

        Parameters
        ----------
        X : list of sentences
        y : list of trees
        sample_weight : array-like of shape (n_sentences,), optional
            Scales the C of each sentence; 0 is as if it were absent.

        Returns
        -------
        self
            A failed fit leaves it as it was; Ctrl-C keeps what was learned, sets `status_` and is raised again.
        """
        engine = self._engine(X)
        try:
            engine.fit(X, y, sample_weight=sample_weight)
        except KeyboardInterrupt:
            if engine.model is not None:
                self._keep(engine)
            raise
        self._keep(engine)
        return self

    def partial_fit(self, X, y, sample_weight=None) -> Self:
        """One pass over a part of the data, continuing from what was learned; the first call fixes the labels.
        Returns `DependencyParser`. Itself.

        Parameters
        ----------
        y : list of trees
            The right tree of each sentence, as in `fit`.
        """
        engine = self.__dict__.get("engine_") or self._engine(X)
        engine.partial_fit(X, y, sample_weight=sample_weight)
        self._keep(engine)
        return self

    def predict(self, X, k=None) -> list[Any]:
        """The tree of each sentence: a list of heads, or of pairs (head, label); with k, a list of the k best of them.
        Returns a list of trees, or of lists of trees.

        The k best of trees with labels need labels="joint".

        Parameters
        ----------
        k : int, optional
            Number of trees for each sentence. Default: only the best one.
        """
        return Answers(self._trained().predict(X, k=k))

    def predict_marginals(self, X) -> list[np.ndarray]:
        """The probability of every arc if trees were drawn in proportion to exp(score): (n + 1, n + 1) for each sentence.
        Returns a list of float64 arrays of shape (n + 1, n + 1).

        Rows are heads, columns dependents; with labels="joint" there is a third axis. The updates do not fit probabilities: they rank arcs,
        and are no calibrated confidence.
        """
        return list(self._trained().predict_marginals(X))

    def score(self, X, y) -> float:
        """UAS: the share of words with the right head; see `attachment` for labels. Returns a float. From 0 to 1.

        Parameters
        ----------
        y : list of trees
            The right tree of each sentence, as in `fit`.
        """
        return self.attachment(X, y)["UAS"]

    def attachment(self, X, y) -> dict:
        """UAS, LAS and more; see `structperc_parsing.scores.attachment_scores`. Returns a dict of str to float.

        Parameters
        ----------
        y : list of trees
            The right tree of each sentence, as in `fit`.
        """
        predicted = self.predict(X)
        if not predicted:
            raise DataError("X has no examples, so there is nothing to measure.")
        return self._trained().parts_.outputs.measures(y, predicted)

    def explain(self, sentence, dependent=None, head=None, label=None, *, baseline=None) -> Any:
        """Returns the features of an arc with their weights, an `ArcExplanation`. Default: the predicted arc of this word.

        Without a word, why this tree and not the second best one: an `Explanation`, as `Engine.explain` gives it. `baseline` is as there,
        for tokens="vectors".

        Parameters
        ----------
        sentence : sentence
            One sentence, as in `fit`.
        dependent : int, optional
            Word, from 1.
        head : int, optional
            Head to explain; 0 is the root. Default: the predicted head.
        label : str, optional
            Label of the arc. Default: the predicted label.
        baseline : "mean", "zero" or one row, optional
            As in `Engine.explain`.
        """
        if dependent is not None and baseline is not None:
            raise OptionError("baseline is what a whole tree is compared with; leave it out, or leave out dependent.")
        if dependent is None:
            if head is not None or label is not None:
                raise OptionError("head and label choose an arc of one word; name the word too, as by dependent=1.")
            return self._trained().explain(sentence, baseline=baseline)
        if self.tokens == "vectors":
            raise OptionError("arcs are explained by the lines of a template, and tokens='vectors' have none.")
        return explain_arc(self._trained(), sentence, dependent, head, label)

    def __getattr__(self, name):
        if name in ("classes_", "mistakes_", "status_", "n_lifted_"):
            return getattr(self._trained(), name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _trained(self):
        return self._from_fit("engine_")

    def _keep(self, engine):
        if vars(self).get("engine_") is not engine:
            note(self, engine)
            self.engine_ = engine

    def _engine(self, X=None):
        """A new engine; the names of the columns give the template, and dicts give these names."""
        options = {name: value for name, value in self.get_params(deep=False).items() if value is not None}
        columns = self.columns or usual_columns(X)
        if columns and self.template is None and self.tokens == "cells":
            options |= {"columns": columns, "template": default_template(len(columns), self.order, columns)}
        return Engine("parsing", **options)


def usual_columns(X):
    """The columns of CoNLL-U among the keys of the first token, or the annotation of its document. None for other tokens."""
    X = as_sentences(X)
    document = getattr(X[0], "doc", None) if isinstance(X, list) and X else None
    if document is not None:
        return [name for name in conllu["columns"] if name == "form" or document.has_annotation(ANNOTATIONS[name])]
    token = next((token for sentence in X[:1] for token in sentence[:1]), None) if isinstance(X, list) else None
    return [name for name in conllu["columns"] if name in token] if isinstance(token, dict) else None
