"""What no solver of trees accepts: one table of all of them, by their sentences."""

import numpy as np
import pytest
from scipy import sparse

from structperc.errors import DataError, OptionError
from structperc.solvers import (
    arborescence_marginals,
    k_best_arborescences,
    k_best_projective,
    max_arborescence,
    max_sparse_arborescence,
    projective_marginals,
    projective_tree,
)

INF = np.inf
ZEROS = np.zeros((4, 4))


def best(solver):
    """The solver of one matrix; those of several trees find the best two."""
    return {k_best_arborescences: lambda scores, **options: k_best_arborescences(scores, 2, **options),
            k_best_projective: lambda scores, **options: k_best_projective(scores, 2, **options)}.get(solver, solver)


ONE = [arborescence_marginals, k_best_arborescences, k_best_projective, projective_marginals]
MANY = [max_arborescence, projective_tree]
DENSE = [*ONE, *MANY]


def with_score(place, value):
    scores = ZEROS.copy()
    scores[place] = value
    return scores


@pytest.mark.parametrize("solver", [*DENSE, max_sparse_arborescence])
def test_one_root_needs_a_word(solver):
    empty = np.zeros((1, 1)) if solver in DENSE else sparse.csr_array((1, 1))
    best(solver)(empty)
    with pytest.raises(DataError, match="no words"):
        best(solver)(empty, one_root=True)


@pytest.mark.parametrize("solver", [*DENSE, max_sparse_arborescence])
@pytest.mark.parametrize("wrong", [np.nan, INF])
def test_scores_are_finite_or_minus_infinity(solver, wrong):
    scores = with_score((2, 3), wrong)
    with pytest.raises(DataError, match=r"scores\[2, 3\] is (nan|inf)"):
        best(solver)(scores if solver in DENSE else sparse.csr_array(scores))
    if solver in MANY:
        with pytest.raises(DataError, match=r"scores\[1\]\[2, 3\]"):
            solver([ZEROS, scores])


@pytest.mark.parametrize("solver", ONE)
def test_some_solvers_have_one_sentence(solver):
    with pytest.raises(DataError, match=r"expected the scores of one|has the shape \(2, 4, 4\)"):
        best(solver)([ZEROS, ZEROS])


@pytest.mark.parametrize("solver", [k_best_arborescences, k_best_projective])
@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_trees_are_counted_by_whole_numbers(solver, k):
    with pytest.raises(OptionError, match="expected a whole number from 1"):
        solver(ZEROS, k)


@pytest.mark.parametrize("solver", DENSE)
@pytest.mark.parametrize(("scores", "sentence"), [
    (np.zeros((3, 4)), r"shape \(3, 4\)"), (np.zeros((0, 0)), "shape"), (np.zeros(3), r"shape \(3,\)"),
    (np.zeros((2, 2), dtype=complex), "dtype complex128"), (np.array([["a", "b"], ["c", "d"]]), "dtype"),
])  # fmt: skip
def test_scores_are_a_square_matrix_of_numbers(solver, scores, sentence):
    with pytest.raises(DataError, match=sentence):
        best(solver)(scores)


@pytest.mark.parametrize("solver", MANY)
@pytest.mark.parametrize(("scores", "sentence"), [
    (np.zeros((2, 3, 4)), r"shape \(3, 4\)|shape \(2, 3, 4\)"), ([[0.0, 1.0], [0.0, 0.0]], "A list means many sentences"),
    ([[[0], [1, 2]]], "expected an array of numbers"),
])  # fmt: skip
def test_many_sentences_are_a_list_of_matrices(solver, scores, sentence):
    with pytest.raises(DataError, match=sentence):
        solver(scores)


@pytest.mark.parametrize(("scores", "sentence"), [
    (ZEROS, "expected a scipy.sparse matrix"), (sparse.csr_array((3, 4)), r"shape \(3, 4\)"),
    (sparse.csr_array(np.eye(3, dtype=complex)), "dtype complex128"),
])  # fmt: skip
def test_sparse_scores_are_a_square_matrix_of_numbers(scores, sentence):
    with pytest.raises(DataError, match=sentence):
        max_sparse_arborescence(scores)
