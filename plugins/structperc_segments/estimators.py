"""`SegmentTagger`, with scikit-learn's manners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from structperc.estimators.structured import LabelOptions, ProblemEstimator, declared, option_of
from structperc_segments import options

__all__ = ["SegmentTagger"]


@declared
class SegmentTagger(ProblemEstimator, LabelOptions):
    """Predicts the segments of sentences, such as names or chunks, each with a label: a semi-Markov chain.

    A sentence scores the sum of its segments. A segment has features of its tokens by place, of its length and label, and of pairs of
    neighbouring labels. The best division is exact. It costs `O(T M L^2)` for T tokens, L labels and segments of at most M tokens. `score`
    is the F1 of segments.

    Attributes
    ----------
    coef_ : ndarray
        Rows of weights for places and labels.
    {labelled}

    Notes
    -----
    X is a list of sentences: lists of tokens (dicts or lists of features), or matrices of rows. y has a list for each sentence. Its entries
    are triples (start, stop, label), with the tokens start to stop - 1.

    Examples
    --------
    >>> from structperc.estimators import SegmentTagger
    >>> X = [[{"word": word} for word in text.split()] for text in ("anna smith sees paul", "paul sleeps")]
    >>> y = [[(0, 2, "PERSON"), (3, 4, "PERSON")], [(0, 1, "PERSON")]]
    >>> model = SegmentTagger(random_state=0).fit(X, y)
    >>> model.predict([[{"word": "anna"}, {"word": "smith"}, {"word": "sleeps"}]])
    [[(0, 2, 'PERSON')]]
    >>> model.score(X, y)
    1.0
    """

    _problem: ClassVar[str] = "segments"
    _measure: ClassVar[str] = "segment F1"

    max_length: int | None = option_of(options["max_length"])
    outside: bool = option_of(options["outside"])
    places: str = option_of(options["places"])
    segment_features: Callable | None = option_of(options["segment_features"])
    n_hashed: int | None = option_of(options["n_hashed"])
    min_count: int = option_of(options["min_count"])
    template: str | None = option_of(options["template"])
    columns: Sequence | None = option_of(options["columns"])
