"""Tests of segments against all divisions of short sentences: the best, the k best, sums over all, token scores, errors."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structperc.errors import DataError, OptionError
from structperc.solvers.segments import best_segments, k_best_segments, segment_marginals, segment_max_marginals, segment_scores


def divisions(n, longest, n_labels):
    """All lists of (start, stop, label) that cover the tokens."""
    cuts = (c for r in range(n) for c in itertools.combinations(range(1, n), r)) if n else [()]
    for cut in cuts:
        ends = list(itertools.pairwise((0, *cut, n))) if n else []
        if all(stop - start <= longest for start, stop in ends):
            for labels in itertools.product(range(n_labels), repeat=len(ends)):
                yield [(start, stop, label) for (start, stop), label in zip(ends, labels, strict=True)]


def total(segments, scores, transitions):
    within = [scores[start, stop - start - 1, label] for start, stop, label in segments]
    between = [] if transitions is None else [transitions[a[2], b[2]] for a, b in itertools.pairwise(segments)]
    return sum(within) + sum(between)


@st.composite
def problems(draw):
    seed, whole = draw(st.integers(0, 2**32 - 1)), draw(st.booleans())
    n, longest, n_labels = draw(st.integers(0, 5)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    random = np.random.default_rng(seed)
    parts = []
    for shape in ((n, longest, n_labels), (n_labels, n_labels)):
        part = random.integers(-1, 2, shape).astype(float) if whole else random.normal(size=shape)
        part[random.random(shape) < draw(st.sampled_from([0, 0.2, 0.5]))] = -np.inf
        parts.append(part)
    return parts[0], draw(st.sampled_from([parts[1], None])), whole


@given(problems())
@settings(max_examples=400, deadline=None)
def test_everything_agrees_with_enumeration(problem):
    scores, transitions, whole = problem
    n, longest, n_labels = scores.shape
    every = list(divisions(n, longest, n_labels))
    totals = np.array([total(segments, scores, transitions) for segments in every])
    if totals.max() == -np.inf:
        for call in (best_segments, segment_marginals, segment_max_marginals, k_best_segments):
            with pytest.raises(DataError, match=f"no allowed segments cover the {n} tokens: none leads past its first"):
                call(scores, transitions)
        return
    found, score = best_segments(scores, transitions)
    assert found in every and score == pytest.approx(totals.max(), abs=1e-12)
    if whole:
        tied = [segments for segments, value in zip(every, totals, strict=True) if value == totals.max()]
        assert found == min(tied, key=lambda segments: [(label, start - stop) for start, stop, label in segments[::-1]])

    ranked = k_best_segments(scores, transitions, 5)
    assert ranked[0][0] == found and all(segments in every for segments, _ in ranked)
    assert len({tuple(segments) for segments, _ in ranked}) == len(ranked)
    np.testing.assert_allclose([value for _, value in ranked], np.sort(totals[totals > -np.inf])[::-1][:5], atol=1e-12)

    log_z, shares, pairs = segment_marginals(scores, transitions)
    best, largest, largest_pairs = segment_max_marginals(scores, transitions)
    p = np.exp(totals - log_z)
    assert p.sum() == pytest.approx(1) and best == pytest.approx(totals.max(), abs=1e-12)
    expected, expected_pairs = np.zeros_like(shares), np.zeros_like(pairs)
    of_best, of_best_pairs = np.full_like(shares, -np.inf), np.full_like(pairs, -np.inf)
    for segments, share, value in zip(every, p, totals, strict=True):
        for start, stop, label in segments:
            expected[start, stop - start - 1, label] += share
            of_best[start, stop - start - 1, label] = max(of_best[start, stop - start - 1, label], value)
        for (*_, label), (*_, following) in itertools.pairwise(segments):
            expected_pairs[label, following] += share
            of_best_pairs[label, following] = max(of_best_pairs[label, following], value)
    for answer, wanted in ((shares, expected), (pairs, expected_pairs), (largest, of_best), (largest_pairs, of_best_pairs)):
        np.testing.assert_allclose(answer, wanted, atol=1e-10)


@given(st.integers(0, 2**32 - 1), st.integers(0, 6), st.integers(1, 4), st.booleans())
@settings(max_examples=50, deadline=None)
def test_scores_of_tokens_add_up_to_scores_of_segments(seed, n, longest, with_lengths):
    random = np.random.default_rng(seed)
    first, inside, last, alone = random.normal(size=(4, n, 2))
    lengths = random.normal(size=(longest, 2)) if with_lengths else None
    scores = segment_scores(first, inside, last, alone, longest, lengths)
    assert scores.shape == (n, longest, 2)
    for start, length, label in np.ndindex(n, longest, 2):
        stop = start + length + 1
        if stop > n:
            assert scores[start, length, label] == -np.inf
            continue
        tokens = alone[start] if length == 0 else first[start] + inside[start + 1:stop - 1].sum(axis=0) + last[stop - 1]
        assert scores[start, length, label] == pytest.approx(tokens[label] + (lengths[length, label] if with_lengths else 0))


def test_long_sentences_and_large_scores():
    random = np.random.default_rng(0)
    scores, transitions = random.normal(size=(300, 12, 5)), random.normal(size=(5, 5))
    found, score = best_segments(scores, transitions)
    assert score == pytest.approx(total(found, scores, transitions)) and [0] + [b for _, b, _ in found] == [a for a, _, _ in found] + [300]
    shifted = scores + 1e6 * np.arange(1, 13)[None, :, None]           # the same for every division
    assert best_segments(shifted, transitions)[0] == found
    log_z, shares, _ = segment_marginals(scores, transitions)
    moved = segment_marginals(shifted, transitions)
    assert moved[0] - log_z == pytest.approx(3e8, rel=1e-12)
    np.testing.assert_allclose(moved[1], shares, atol=1e-5)
    assert sum(shares[150 - before, before:].sum() for before in range(12)) == pytest.approx(1), "one segment is over token 150"


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: best_segments([[[np.nan]]]), r"scores\[0, 0, 0\] is nan; expected a finite number, or -inf"),
    (lambda: best_segments([[[0.0]]], [[np.inf]]), r"transitions\[0, 0\] is inf"),
    (lambda: best_segments([[0.0]]), r"scores has the shape \(1, 1\); expected \(n_tokens, n_lengths, n_labels\)"),
    (lambda: best_segments(np.zeros((2, 0, 1))), "with a length and a label at least"),
    (lambda: best_segments([[[0.0, 1.0]]], [[0.0]]), r"transitions has the shape \(1, 1\); expected \(2, 2\)"),
    (lambda: best_segments("a"), "scores is 'a'; expected an array of real numbers"),
    (lambda: best_segments([[[1e308]]] * 3), "overflow when they are added up"),
    (lambda: segment_marginals([[[1e308]]] * 3), "overflow when they are added up"),
    (lambda: segment_scores([[0.0]], [[0.0]], [[0.0]], [[0.0, 1.0]], 1), r"alone has the shape \(1, 2\); expected \(1, 1\)"),
    (lambda: segment_scores([[0.0]], [[0.0]], [[0.0]], [[0.0]], 2, [[0.0]]), r"lengths has the shape \(1, 1\); expected \(2, 1\)"),
])  # fmt: skip
def test_what_cannot_be_answered_is_said(call, sentence):
    with pytest.raises(DataError, match=sentence):
        call()


def test_hopeless_numbers_of_answers_and_lengths_are_refused():
    with pytest.raises(OptionError, match="k=0; expected a whole number from 1"):
        k_best_segments([[[0.0]]], k=0)
    with pytest.raises(OptionError, match="k=2147483647 is too large"):
        k_best_segments(np.zeros((40, 2, 2)), k=2**31 - 1)
    with pytest.raises(OptionError, match="longest=0"):
        segment_scores([[0.0]], [[0.0]], [[0.0]], [[0.0]], 0)
