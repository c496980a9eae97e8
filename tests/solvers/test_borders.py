"""Tests of the input checks of solvers for mistakes that would crash the interpreter, and of time limits and output."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

from structperc.components import PrefixArgmax, Rows, ThresholdArgmax
from structperc.errors import DataError
from structperc.solvers import (
    CutGraph,
    Forest,
    arborescence_certificate,
    arborescence_marginals,
    best_intervals,
    best_labelling,
    best_path,
    best_segments,
    cheapest_path,
    cluster_pairs,
    forest_marginals,
    interval_marginals,
    k_best_arborescences,
    k_best_intervals,
    k_best_matchings,
    k_best_paths,
    k_best_projective,
    k_best_segments,
    match_pairs,
    max_arborescence,
    max_clusters,
    max_latent_trees,
    max_matching,
    max_sparse_arborescence,
    min_cut,
    path_marginals,
    projective_marginals,
    projective_tree,
    segment_marginals,
    segment_max_marginals,
    solve_ilp,
)
from structperc.solvers.certificates import certified


def test_a_graph_with_a_cycle_is_no_forest():
    triangle = Forest(3, [[0, 1], [1, 2], [0, 2]])
    for method in (triangle.best_labels, triangle.marginals):
        with pytest.raises(DataError, match="the graph has a cycle"):
            method(np.zeros((3, 2)), np.zeros((3, 2, 2)))


@pytest.mark.parametrize(("unary", "pairs", "sentence"), [
    (np.zeros((2, 2)), np.zeros((3, 2, 2)), r"unary has the shape \(2, 2\); expected \(4, n_labels\)"),
    (np.zeros((4, 2)), np.zeros((2, 2, 2)), r"pairs has the shape \(2, 2, 2\). Expected \(2, 2\) or \(3, 2, 2\)"),
    (np.zeros((4, 3000)), np.zeros((3, 1, 1)), r"pairs has the shape \(3, 1, 1\)"),
    (np.full((4, 2), np.nan), np.zeros((3, 2, 2)), r"unary\[0, 0\] is nan"),
    (np.zeros((4, 2)), np.full((3, 2, 2), np.inf), r"pairs\[0, 0, 0\] is inf"),
])  # fmt: skip
def test_scores_of_a_forest_fit_its_nodes_and_edges(unary, pairs, sentence):
    chain = Forest(4, [[0, 1], [1, 2], [2, 3]])
    for method in (chain.best_labels, chain.marginals):
        with pytest.raises(DataError, match=sentence):
            method(unary, pairs)


def test_damaged_sparse_matrices_are_refused():
    arcs = coo_array((np.ones(3), (np.array([0, 1, 2]), np.array([1, 2, 3]))), shape=(4, 4))
    arcs.coords[0][:] = 10**8
    with pytest.raises(DataError, match=r"scores.row\[0\] is 100000000, outside the 4 rows of scores"):
        max_sparse_arborescence(arcs)
    rows = csr_array(np.ones((2, 4)))
    rows.indices[:] = 10**8
    with pytest.raises(DataError, match=r"A.indices\[0\] \(row 0\) is 100000000, outside the 4 columns of A"):
        solve_ilp([1, 2, 3, 4.0], rows, [2, 2])


@pytest.mark.parametrize("dtype", [">f8", ">i4", object])
def test_sparse_matrices_of_any_order_of_bytes_are_read(dtype):
    arcs = coo_array(([9.0, 4.0, 6.0, 5.0], ([0, 1, 2, 3], [1, 2, 3, 2])), shape=(4, 4)).tocsr()
    expected = max_sparse_arborescence(arcs)
    arcs.data = arcs.data.astype(dtype)
    if dtype is object:
        with pytest.raises(DataError, match="the dtype object. Expected real numbers"):
            max_sparse_arborescence(arcs)
    else:
        assert max_sparse_arborescence(arcs)[0].tolist() == expected[0].tolist()


def test_places_of_sparse_rows_may_be_unsigned():
    rows = csr_array(np.ones((2, 4)))
    rows.indptr, rows.indices = rows.indptr.astype(np.uint64), rows.indices.astype(np.uint64)
    expected = solve_ilp([1, 2, 3, 4.0], np.ones((2, 4)), [2, 2], [[1, 1, 0, 0]], [1])
    assert solve_ilp([1, 2, 3, 4.0], rows, [2, 2], [[1, 1, 0, 0]], [1]).v.tolist() == expected.v.tolist()


def test_the_k_best_projective_trees_are_those_of_one_sentence():
    with pytest.raises(DataError, match=r"scores has the shape \(1, 3, 3\); expected \(n \+ 1, n \+ 1\)"):
        k_best_projective(np.zeros((1, 3, 3)), 2)


def test_more_arcs_and_edges_than_32_bits_count_are_refused_before_they_are_copied():
    arcs, edges = np.broadcast_to(np.int32(0), (2**31,)), np.broadcast_to(np.int32(0), (2**30, 2))
    with pytest.raises(DataError, match="tails has the shape .* at most 2147483646 entries"):
        best_path(arcs, arcs, arcs, 0, 1)
    with pytest.raises(DataError, match="edges has the shape .* at most 1073741823 entries"):
        CutGraph(2, edges)


def test_a_number_is_read_once_whatever_its_comparisons_say():
    class Odd:
        def __index__(self):
            return 2

        def __lt__(self, other):
            return True

        __le__ = __gt__ = __ge__ = __lt__

    with pytest.raises(DataError, match=r"edges\[0, 1\] is 10000000; expected a whole number from 0 to 1"):
        CutGraph(Odd(), [[0, 10**7]])


def test_k_best_paths_are_those_of_an_enumeration_in_its_order():
    random = np.random.default_rng(0)
    for _ in range(60):
        n = int(random.integers(2, 6))
        tails, heads = np.triu_indices(n, 1)
        tails, heads = np.append(tails, tails), np.append(heads, heads)         # two arcs between any two nodes
        scores = random.integers(-2, 3, len(tails)).astype(float)               # with many ties

        def paths(node, tails=tails, heads=heads, n=n):
            if node == n - 1:
                yield ()
            for a in np.flatnonzero(tails == node).tolist():
                yield from ((a, *rest) for rest in paths(int(heads[a])))

        every = sorted(((path, float(scores[list(path)].sum())) for path in paths(0)), key=lambda found: (-found[1], found[0][::-1]))
        for k in (1, 3, len(every), len(every) + 5):
            found = k_best_paths(tails, heads, scores, 0, n - 1, k)
            assert [score for _, score in found] == [score for _, score in every[:k]]
            assert len({path for path, _ in found}) == len(found) == min(k, len(every))
            assert found[0][0] == tuple(best_path(tails, heads, scores, 0, n - 1)[0].tolist())
            assert all(float(scores[list(path)].sum()) == score for path, score in found)


def hard_program(n=120, m=25):
    random = np.random.default_rng(0)
    return random.integers(5, 40, n).astype(float), random.integers(1, 40, (m, n)).astype(float), np.full(m, 300.0)


def test_a_time_limit_keeps_the_best_vector_with_a_bound():
    scores, A, b = hard_program()
    found = solve_ilp(scores, A, b, time_limit=0.2)
    assert found.status == "relaxed" and not found.exact and found.bound >= found.score
    assert (A @ found.v <= b + 1e-6).all() and set(found.v) <= {0.0, 1.0}
    assert solve_ilp([1.0, 1.0], [[1.0, 1.0]], [1.0], time_limit=60).status == "exact-subsets"


def test_a_time_limit_keeps_the_best_clusters_with_a_bound():
    scores = np.random.default_rng(0).normal(size=(40, 40))
    scores = scores + scores.T
    found = max_clusters(scores, time_limit=1e-3)
    greedy = max_clusters(scores, most_pairs=0)
    assert found.status == "local" and found.bound >= found.score >= greedy.score - 1e-9
    assert cluster_pairs([0], [1], [1.0], time_limit=60).exact


@pytest.mark.parametrize(("objective", "gap"), [(np.inf, 1.0), (1.0, np.inf), (np.nan, 1.0), (1.0, np.nan), (np.inf, np.nan)])
def test_a_certificate_has_finite_numbers(objective, gap):
    with pytest.raises(DataError, match="scores or weights overflow although X is finite"):
        certified(objective, gap)


# A program whose vector some versions of HiGHS repair, and say so.
REPAIRED = ([[7, 1, 5, 1, 1, 5, 8, 2, 6, 6, 6, 3, 5, 4, 3, 2, 3, 4], [1, 5, 4, 5, 3, 1, 1, 7, 1, 6, 8, 2, 8, 1, 2, 2, 2, 4]],
            [146.0, 251, 384, 234, 108, 643, 623, 123, 165, 218, 562, 936, 432, 121, 31, 228, 577, 930])


def test_solvers_print_nothing():
    pytest.importorskip("highspy")
    program = ("from structperc.solvers import ILP\n"
               "for solver in ('scipy', 'highspy'):\n"
               "    print(ILP([[1, 1, 0], [1, 0, 1], [0, 1, 1]], [1, 1, 1], solver=solver).solve([1.0, 1, 2]).score)\n"
               f"    print(ILP({REPAIRED[0]}, [24, 21], solver=solver).solve({REPAIRED[1]}).score)")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "2.0\n3960.0\n" * 2 and done.stderr == ""


def test_what_threads_and_forks_print_goes_on():
    """HiGHS's line is dropped in C's buffer, not in the file that Python prints to."""
    program = ("import ctypes, os, threading\n"
               "from structperc.solvers import ILP\n"
               f"solve = lambda: [ILP({REPAIRED[0]}, [24, 21]).solve({REPAIRED[1]}) for _ in range(5)]\n"
               "threads = [threading.Thread(target=solve) for _ in range(3)]\n"
               "for thread in threads: thread.start()\n"
               "C = ctypes.CDLL(None)\n"
               "if os.fork() == 0:\n"
               "    os._exit(C.puts(b'child') < 0 or C.fflush(None))\n"
               "os.wait()\n"
               "for thread in threads: thread.join()\n"
               "C.puts(b'parent'); C.fflush(None)")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "child\nparent\n" and done.stderr == ""


CHAIN = [0, 1], [1, 2]
SUMMED = {
    "solve_ilp": lambda large: solve_ilp([large, large], [[1, 1]], [2]),
    "best_intervals": lambda large: best_intervals(*CHAIN, [large, large]),
    "interval_marginals": lambda large: interval_marginals(*CHAIN, [large, large]),
    "k_best_intervals": lambda large: k_best_intervals(*CHAIN, [large, large], 2),
    "best_path": lambda large: best_path(*CHAIN, [large, large], 0, 2),
    "path_marginals": lambda large: path_marginals(*CHAIN, [large, large], 0, 2),
    "k_best_paths": lambda large: k_best_paths(*CHAIN, [large, large], 0, 2, 2),
    "cheapest_path": lambda large: cheapest_path(*CHAIN, [large, large], 0, 2),
    "best_labelling": lambda large: best_labelling([[0.0, large], [0.0, large]], [[0, 1]], np.zeros((2, 2))),
    "shared pairs": lambda large: best_labelling(np.zeros((9, 2)), [[i, i + 1] for i in range(8)], np.diag([large / 8, 0.0])),
    "forest_marginals": lambda large: forest_marginals([[0.0, large], [0.0, large]], [[0, 1]], np.zeros((2, 2))),
    "Forest": lambda large: Forest(2, [[0, 1]]).best_labels(np.zeros((2, 2)), [[[large, large], [0.0, 0.0]]]),
    "CutGraph": lambda large: CutGraph(2, [[0, 1]]).solve([large, large], [1.0], [1.0]),
    "min_cut": lambda large: min_cut([1.0, -1.0, 1.0], [[0, 1], [1, 2]], [large, large]),
    "max_clusters": lambda large: max_clusters([[0, large, large], [large, 0, 1.0], [large, 1.0, 0]]),
    "cluster_pairs": lambda large: cluster_pairs([0, 0], [1, 2], [large, large]),
    "max_latent_trees": lambda large: max_latent_trees([0, 0], [1, 2], [large, large]),
    "max_arborescence": lambda large: max_arborescence(np.array([[0, large], [0, large]])),
    "a stack": lambda large: max_arborescence([np.zeros((2, 2)), np.array([[0, large], [0, large]])]),
    "arborescence_marginals": lambda large: arborescence_marginals(np.array([[0, large], [0, large]])),
    "arborescence_certificate": lambda large: arborescence_certificate(np.array([[0, large], [0, large]])),
    "k_best_arborescences": lambda large: k_best_arborescences(np.array([[0, large], [0, large]]), 2),
    "max_sparse_arborescence": lambda large: max_sparse_arborescence(coo_array(([large, large], ([0, 1], [1, 2])), shape=(3, 3))),
    "projective_tree": lambda large: projective_tree(np.array([[0, large], [0, large]])),
    "siblings": lambda large: projective_tree(np.zeros((2, 2)), np.full((2, 2, 2), large / 4)),
    "projective_marginals": lambda large: projective_marginals(np.array([[0, large], [0, large]])),
    "k_best_projective": lambda large: k_best_projective(np.array([[0, large], [0, large]]), 2),
    "best_segments": lambda large: best_segments([[[large]], [[large]]]),
    "segment_marginals": lambda large: segment_marginals([[[large]]] * 2),
    "transitions": lambda large: best_segments(np.zeros((4, 1, 1)), [[large / 2]]),
    "segment_max_marginals": lambda large: segment_max_marginals([[[large]]] * 2),
    "k_best_segments": lambda large: k_best_segments([[[large]]] * 2, k=2),
    "max_matching": lambda large: max_matching([[large, 0.0], [0.0, large]]),
    "match_pairs": lambda large: match_pairs([0, 1], [0, 1], [large, large]),
    "k_best_matchings": lambda large: k_best_matchings([[large, 0.0], [0.0, large]], 2),
}  # fmt: skip


@pytest.mark.parametrize("name", SUMMED)
@pytest.mark.filterwarnings("error")
def test_finite_scores_whose_sums_overflow_are_refused(name):
    call = SUMMED[name]
    with pytest.raises(DataError, match="overflow when they are added up, although each is finite"):
        call(1.7e308)
    call(1e307)
    for wrong in (np.nan, -np.inf if name in ("cheapest_path", "min_cut") else np.inf):
        if name not in ("CutGraph",) or wrong != wrong:
            with pytest.raises(DataError):
                call(wrong)


@pytest.mark.parametrize("solver", [PrefixArgmax, ThresholdArgmax])
def test_one_level_has_no_scores(solver):
    """Its search read the first score, where there is none."""
    assert solver(1).argmax(np.zeros(0), Rows(np.zeros((1, 1))).example(0)) == 1
