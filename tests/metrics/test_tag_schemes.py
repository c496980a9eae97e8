"""Tags of phrases: written from phrases in every scheme, read back, and the scheme told apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structperc.errors import OptionError
from structperc.metrics import phrases, tag_scheme, tags
from structperc.metrics.tagged_phrases import SCHEMES


@st.composite
def divided(draw):
    """Disjoint phrases of a few tokens, and how many tokens there are."""
    found, at = [], 0
    for _ in range(draw(st.integers(0, 4))):
        start = at + draw(st.integers(0, 2))
        at = start + draw(st.integers(1, 4))
        found.append((start, at, draw(st.sampled_from(["NP", "VP"]))))
    return found, at + draw(st.integers(0, 2))


@given(divided(), st.sampled_from(sorted(SCHEMES)))
def test_what_is_written_is_read_back(sentence, scheme):
    found, n_tokens = sentence
    written = tags(found, n_tokens, scheme)
    assert len(written) == n_tokens and phrases(written) == found
    assert tags(phrases(written), n_tokens, tag_scheme([written])) == written, "another scheme at most where both write the same"


def test_schemes_are_told_apart():
    sentence = [(0, 3, "NP"), (3, 5, "NP"), (6, 7, "VP")], 8
    for scheme in SCHEMES:
        assert tag_scheme([tags(*sentence, scheme), ["O"]]) == scheme
    assert tag_scheme([["I-NP", "O"], ["B-NP"]]) == "iob2", "one slip does not make it another scheme"
    assert tag_scheme([["O", None, "B-NP"]]) == "iob2" and tag_scheme([]) == "iob2"
    assert tags([(0, 2, "")], 2) == ["B", "I"]


@pytest.mark.parametrize("scheme", ["iob3", None, ["iob2"], 2])
def test_another_scheme_is_refused(scheme):
    with pytest.raises(OptionError, match="scheme=.*; expected 'iob1', 'iob2'"):
        tags([(0, 1, "x")], 1, scheme)
