"""Phrases against cases worked out by hand, against every tagging scheme, and against a slow twin of conlleval."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structperc import metrics
from structperc.errors import DataError
from structperc.metrics.tagged_phrases import PhraseCounts, are_phrase_tags, phrase_f1, phrase_scores, phrases


def tags(text):
    return text.split()


@pytest.mark.parametrize(("labels", "expected"), [
    ("", []),
    ("O O", []),
    ("B-NP I-NP O B-VP", [(0, 2, "NP"), (3, 4, "VP")]),
    ("B-NP B-NP I-NP", [(0, 1, "NP"), (1, 3, "NP")]),                   # IOB2: B parts neighbours
    ("I-NP I-NP B-NP I-VP", [(0, 2, "NP"), (2, 3, "NP"), (3, 4, "VP")]),        # IOB1: B only where I would continue
    ("I-NP O I-NP", [(0, 1, "NP"), (2, 3, "NP")]),                      # malformed IOB2: I after O begins
    ("B-NP I-VP I-VP", [(0, 1, "NP"), (1, 3, "VP")]),                   # malformed IOB2: I of another type begins
    ("B-NP I-VP I-NP", [(0, 1, "NP"), (1, 2, "VP"), (2, 3, "NP")]),     # ... also a return to the first type: phrases do not nest
    ("I-NP E-NP I-NP E-NP", [(0, 2, "NP"), (2, 4, "NP")]),              # IOE
    ("E-NP E-NP", [(0, 1, "NP"), (1, 2, "NP")]),
    ("I-NP E-VP", [(0, 1, "NP"), (1, 2, "VP")]),
    ("B-NP E-NP S-NP B-NP I-NP E-NP S-VP", [(0, 2, "NP"), (2, 3, "NP"), (3, 6, "NP"), (6, 7, "VP")]),     # IOBES
    ("B-NP L-NP U-NP I-NP", [(0, 2, "NP"), (2, 3, "NP"), (3, 4, "NP")]),        # BILOU
    ("B-NP S-NP I-NP", [(0, 1, "NP"), (1, 2, "NP"), (2, 3, "NP")]),     # malformed: S is a phrase of its own anywhere
    ("[-NP ]-NP O ]-NP", [(0, 1, "NP"), (1, 2, "NP"), (3, 4, "NP")]),   # brackets: of length 1
    ("[-NP I-NP ]-NP I-NP", [(i, i + 1, "NP") for i in range(4)]),      # conlleval drops such an I
    ("B I O B B", [(0, 2, ""), (3, 4, ""), (4, 5, "")]),                # no types
    ("B M E S", [(0, 3, ""), (3, 4, "")]),                              # BMES
    ("B-A-B I-A-B I-A", [(0, 2, "A-B"), (2, 3, "A")]),                  # the type begins after the first dash
    ("B-NP . I-NP O-NP", [(0, 1, "NP"), (2, 3, "NP")]),                 # . is outside like O, for any type
    ("NN VB B-", [(2, 3, "")]),                                         # letters that mean nothing, and no type: outside
    ("X-NP X-NP I-NP", [(0, 3, "NP")]),                                 # a type, though the letter means nothing: inside
])  # fmt: skip
def test_phrases_of_a_sentence(labels, expected):
    assert phrases(tags(labels)) == expected


def test_scores_worked_out_by_hand():
    true = [tags("B-NP I-NP B-VP O B-NP"), tags("B-PP B-NP I-NP")]
    predicted = [tags("B-NP I-NP B-VP I-VP B-NP"), tags("B-PP I-NP I-NP")]
    # true:      NP 0-1, VP 2, NP 4;   PP 0, NP 1-2.
    # predicted: NP 0-1, VP 2-3, NP 4; PP 0, NP 1-2 (I after another type begins). All are right except VP.
    scores = phrase_scores(true, predicted)
    assert (scores.true, scores.predicted, scores.correct) == (5, 5, 4)
    assert scores.precision == scores.recall == scores.f1 == phrase_f1(true, predicted) == 0.8
    assert scores.types == {"NP": PhraseCounts(3, 3, 3), "PP": PhraseCounts(1, 1, 1), "VP": PhraseCounts(1, 1, 0)}
    assert list(scores.types) == ["NP", "PP", "VP"]
    assert (scores.tokens, scores.correct_tokens, scores.token_accuracy) == (8, 6, 0.75)


def test_precision_recall_and_f1_differ():
    # true NP 0-2; predicted NP 0, NP 1-2, VP 4; true VP 4: 1 of 3 predicted and 1 of 2 true are right
    scores = phrase_scores([tags("B-NP I-NP I-NP O B-VP")], [tags("B-NP B-NP I-NP O B-VP")])
    assert (scores.precision, scores.recall) == (1 / 3, 1 / 2)
    assert scores.f1 == pytest.approx(2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2))
    assert scores.types["NP"].f1 == 0 and scores.types["VP"].f1 == 1


def test_the_same_span_of_another_type_is_wrong_for_both():
    scores = phrase_scores([tags("B-NP I-NP")], [tags("B-VP I-VP")])
    assert scores.types == {"NP": PhraseCounts(1, 0, 0), "VP": PhraseCounts(0, 1, 0)}


def test_a_phrase_ends_with_its_sentence():
    true, predicted = [tags("B-NP"), tags("I-NP")], [tags("B-NP"), tags("B-NP")]
    assert phrase_scores(true, predicted).correct == 2


def test_nothing_divided_by_nothing_is_zero():
    nothing = phrase_scores([tags("O O")], [tags("O O")])
    assert (nothing.precision, nothing.recall, nothing.f1, nothing.types, nothing.token_accuracy) == (0, 0, 0, {}, 1)
    assert phrase_scores([tags("B-NP O")], [tags("O O")]).precision == 0
    assert phrase_scores([tags("O O")], [tags("B-NP O")]).recall == 0


def test_arrays_of_labels_are_sentences_too():
    true, predicted = np.array([["B-NP", "I-NP"], ["O", "B-NP"]]), np.empty(2, dtype=object)
    predicted[:] = [["B-NP", "O"], ("O", "B-NP")]
    assert phrase_f1(true, predicted) == 0.5


def test_the_measure_is_found_among_the_metrics():
    assert metrics.phrase_f1 is phrase_f1 and metrics.phrase_scores is phrase_scores


# ---- tagging schemes ----


def write(spans, length, scheme):
    """The tags of spans (start, end, type) in a scheme. Spans must not overlap."""
    labels = ["O"] * length
    for start, end, kind in spans:
        before = any(stop == start and k == kind for _, stop, k in spans)
        after = any(begin == end and k == kind for begin, _, k in spans)
        letters = ["I"] * (end - start)
        if scheme in ("IOBES", "BILOU", "BMES"):
            last, single, inner = {"IOBES": "ESI", "BILOU": "LUI", "BMES": "ESM"}[scheme]
            letters = [single] if end - start == 1 else ["B", *inner * (end - start - 2), last]
        elif scheme == "IOB2" or (scheme == "IOB1" and before):
            letters[0] = "B"
        elif scheme == "IOE2" or (scheme == "IOE1" and after):
            letters[-1] = "E"
        labels[start:end] = [f"{letter}-{kind}" if kind else letter for letter in letters]
    return labels


@st.composite
def spans(draw, kinds=("NP", "VP")):
    found, at = [], 0
    for gap, size, kind in draw(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from(kinds)), max_size=8)):
        found.append((at + gap, at + gap + size, kind))
        at += gap + size
    return found, at + draw(st.integers(0, 2))


@pytest.mark.parametrize("scheme", ["IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU", "BMES"])
@given(drawn=st.one_of(spans(), spans(kinds=("",))))
def test_phrases_are_read_back_from_every_scheme(scheme, drawn):
    found, length = drawn
    assert phrases(write(found, length, scheme)) == found


# ---- a slow twin ----

STARTS = {"BB", "IB", "OB", "OI", "EE", "EI", "OE"}
STOPS = {"BB", "IB", "BO", "IO", "EE", "EI", "EO"}


def twin(y_true, y_pred):
    """Counts as conlleval does: token by token, from pairs of neighbouring tags, with an outside tag between sentences."""
    counts = {name: Counter() for name in ("true", "predicted", "correct")}
    following, last = False, (("O", ""), ("O", ""))
    for right, answer in zip(y_true, y_pred, strict=True):
        for pair in [*zip(right, answer, strict=True), ("O", "O")]:
            now = tuple((label.split("-")[0], label[2:]) for label in pair)
            start = [old[0] + new[0] in STARTS or (new[0] != "O" and old[1] != new[1]) for old, new in zip(last, now, strict=True)]
            stop = [old[0] + new[0] in STOPS or (old[0] != "O" and old[1] != new[1]) for old, new in zip(last, now, strict=True)]
            if following and all(stop):
                counts["correct"][last[0][1]] += 1
            following = following and not any(stop)
            following = following or (all(start) and now[0][1] == now[1][1])
            for begins, (_, kind), name in zip(start, now, ("true", "predicted"), strict=True):
                counts[name][kind] += begins
            last = now
    return counts


@pytest.mark.parametrize("letters", ["BI", "IE"])
@given(data=st.data())
def test_counts_are_those_of_conlleval(letters, data):
    labels = st.sampled_from(["O", *(f"{letter}-{kind}" for letter in letters for kind in ("NP", "VP"))])
    sentences = data.draw(st.lists(st.lists(st.tuples(labels, labels), min_size=1, max_size=7), min_size=1, max_size=4))
    true, predicted = ([[pair[side] for pair in sentence] for sentence in sentences] for side in (0, 1))
    expected, scores = twin(true, predicted), phrase_scores(true, predicted)
    assert (scores.true, scores.predicted, scores.correct) == tuple(counter.total() for counter in expected.values())
    for kind in ("NP", "VP"):
        found = scores.types.get(kind, PhraseCounts(0, 0, 0))
        assert (found.true, found.predicted, found.correct) == tuple(counter[kind] for counter in expected.values())


# ---- labels that are tags, and invalid input ----


@pytest.mark.parametrize(("labels", "expected"), [
    ("B-NP I-NP O", True), ("I-NP O", True), ("B-NP", True), ("S-A U-B", True), ("B I O", True), ("I O", True), ("B M E S", True),
    ("O", False), ("NOUN VERB X ADP", False), ("A B", False), ("B-NP NN", False), ("B-", False), ("-LRB- B-NP", False), ("", False),
])  # fmt: skip
def test_labels_that_look_like_tags(labels, expected):
    assert are_phrase_tags(tags(labels)) is expected


def test_numbers_are_no_tags():
    assert not are_phrase_tags([1, 2]) and not are_phrase_tags(np.array([1.0, 2.0]))


@pytest.mark.parametrize(("y_true", "y_pred", "message"), [
    (["B-NP", "O"], ["B-NP", "O"], r"y_true\[0\] is 'B-NP'; expected sentences.*pass one sentence as \[sentence\]"),
    ("B-NP", [["O"]], "y_true is 'B-NP'; expected a list of sentences"),
    ([["O"]], 3, "y_pred is 3; expected a list of sentences"),
    ([["O"]], [["O"], ["O"]], "y_true has 1 sentences but y_pred has 2"),
    ([["O"], ["O", "O"]], [["O"], ["O"]], r"y_true\[1\] has 2 tags but y_pred\[1\] has 1"),
    ([["O", 5]], [["O", "O"]], r"y_true\[0\]\[1\] is 5; expected a tag"),
    ([["O"]], [None], r"y_pred\[0\] is None; expected the tags of one sentence"),
    ([], [], "y_true has no tokens"),
    ([[]], [[]], "y_true has no tokens"),
])  # fmt: skip
def test_what_cannot_be_scored_is_answered(y_true, y_pred, message):
    with pytest.raises(DataError, match=message):
        phrase_scores(y_true, y_pred)


def test_a_sentence_must_hold_text():
    with pytest.raises(DataError, match=r"labels\[1\] is None; expected a tag"):
        phrases(["O", None])
    with pytest.raises(DataError, match="labels is 'B-NP'; expected the tags of one sentence"):
        phrases("B-NP")
