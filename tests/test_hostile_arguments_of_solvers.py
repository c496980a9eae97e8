"""Tests of all public names of structperc.solvers and structperc.metrics, with hostile arguments and with valid ones in other formats."""

import functools
import itertools

import numpy as np
import pytest
from plain import Engine
from scipy.sparse import coo_array

from structperc import metrics, solvers
from structperc.errors import StructPercError
from structperc.metrics import Agreement, Comparison, Constant, Measured
from structperc.solvers import block_steps
from structperc.solvers.block_steps import short_pairs
from structperc.solvers.pairwise_hinge import PairwiseProblem

INF, NAN = np.inf, np.nan


class Odd:
    """A whole number whose comparisons disagree with it."""

    def __index__(self):
        return 2

    def __lt__(self, other):
        return True

    __le__ = __gt__ = __ge__ = __lt__


def read_only(values):
    array = np.array(values)
    array.flags.writeable = False
    return array


HOSTILE = {
    "None": None, "text": "abc", "a list of text": ["a", "b"], "NaN": NAN, "inf": INF, "a negative number": -1, "a float": 1.5,
    "True": True,
    "a huge number": 10**30, "2^31": 2**31, "an odd number": Odd(), "an object": object(), "a set": {0, 1}, "a dictionary": {0: 1},
    "a ragged list": [[0], [1, 2]], "nothing": [], "0-d": np.array(1.0), "a cube": np.zeros((2, 2, 2, 2)),
    "an empty matrix": np.zeros((0, 0)),
    "a row": np.zeros(1), "objects": np.array([None, "x", 2], dtype=object), "complex": np.ones(3, dtype=complex),
    "NaNs": np.full((3, 3), NAN), "infinities": np.full(3, INF), "negative places": np.full((3, 2), -1), "far places": np.full(3, 2**31),
    "further places": np.full(3, 2**40), "read-only": read_only([[0, 1]]), "dates": np.zeros(3, dtype="M8[D]"),
    "masked": np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False]), "a generator": "generator",
}

TAILS, HEADS, SCORES = np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([1.0, 2.0, 3.0])
EDGES, UNARY, PAIRS = np.array([[0, 1], [1, 2]]), np.array([[0.5, 1.0], [2.0, 0.0], [1.0, 1.5]]), np.array([[1.0, 0.0], [0.0, 1.0]])
ARCS = np.array([[0.0, 9.0, 8.0], [0.0, 0.0, 4.0], [0.0, 5.0, 0.0]])
TABLE = np.array([[3.0, 2.0, 1.0], [3.0, 1.0, -1.0]])
SEGMENTS, TOKENS = np.array([[[1.0], [3.0]], [[1.0], [0.0]]]), np.array([[1.0, 0.5], [2.0, 1.0]])
SYMMETRIC = np.array([[0.0, 2.0, -1.0], [2.0, 0.0, 1.5], [-1.0, 1.5, 0.0]])
ROWS, SIDES = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]), np.array([1.0, 1.0])
SPARSE = coo_array(([9.0, 4.0, 6.0], ([0, 1, 2], [1, 2, 3])), shape=(4, 4))
LABELS, ANSWERS = np.array([1, 2, 3, 1]), np.array([1, 3, 3, 2])
GRADES, RANKED, QUERIES = np.array([2.0, 1.0, 0.0]), np.array([1.0, 3.0, 2.0]), np.array([7, 7, 8])
RANGES = np.array([[1, 2], [2, 3], [3, 3], [1, 3]])
TAGS, OTHER_TAGS = [["B-X", "I-X", "O"], ["O"]], [["B-X", "O", "O"], ["B-Y"]]


@functools.cache
def engine():
    return Engine("prank", epochs=2).fit([[-2.0], [-1.0], [0.5], [2.0]], [1, 1, 2, 2])


X, Y = np.array([[-2.0], [-1.0], [0.5], [2.0]]), np.array([1, 1, 2, 2])


SOLVERS = {
    "CutGraph": [(solvers.CutGraph, dict(n_nodes=3, edges=EDGES)),
                 (lambda **given: solvers.CutGraph(3, EDGES).solve(**given),
                  dict(terminals=SCORES, forward=[1.0, 1.0], backward=[1.0, 2.0]))],
    "Forest": [(solvers.Forest, dict(n_nodes=3, edges=EDGES)),
               (lambda **given: solvers.Forest(3, EDGES).best_labels(**given), dict(unary=UNARY, pairs=PAIRS)),
               (lambda **given: solvers.Forest(3, EDGES).marginals(**given), dict(unary=UNARY, pairs=PAIRS))],
    "ILP": [(solvers.ILP, dict(A=ROWS, b=SIDES, A_eq=ROWS[:1], b_eq=SIDES[:1], solver="scipy", auxiliary=[[0.0, 1.0]], whole=[True])),
            (lambda **given: solvers.ILP(ROWS, SIDES).solve(**given), dict(scores=SCORES, relaxed=False, most_nodes=9, time_limit=9.0)),
            (lambda **given: solvers.ILP(ROWS, SIDES).k_best(**given), dict(scores=SCORES, k=2)),
            (lambda **given: solvers.ILP(ROWS, SIDES).violated(**given), dict(v=[0.0, 1.0, 0.0])),
            (lambda **given: solvers.ILP(ROWS, SIDES).without(**given), dict(v=[0.0, 1.0, 0.0]))],
    "PairwiseModel": [(solvers.PairwiseModel, dict(n_nodes=3, n_labels=2, edges=EDGES)),
                      (lambda **given: solvers.PairwiseModel(3, 2, EDGES).solve(**given),
                       dict(unary=UNARY, pairs=PAIRS, method="exact", most_nodes=9, time_limit=9.0)),
                      (lambda **given: solvers.PairwiseModel(3, 2, EDGES).marginals(**given), dict(unary=UNARY, pairs=PAIRS)),
                      (lambda **given: solvers.PairwiseModel(3, 2, EDGES).score(**given),
                       dict(labels=[0, 1, 1], unary=UNARY, pairs=PAIRS))],
    "arborescence_certificate": [dict(scores=ARCS, one_root=True)],
    "arborescence_marginals": [dict(scores=ARCS, one_root=True)],
    "best_intervals": [dict(starts=[0.0, 1.0, 3.0], stops=[2.0, 4.0, 5.0], weights=SCORES)],
    "best_labelling": [dict(unary=UNARY, edges=EDGES, pairs=PAIRS, method="auto", most_nodes=9, time_limit=9.0)],
    "best_path": [dict(tails=TAILS, heads=HEADS, scores=SCORES, start=0, end=2)],
    "best_segments": [dict(scores=SEGMENTS, transitions=[[0.5]])],
    "cheapest_path": [dict(tails=TAILS, heads=HEADS, costs=SCORES, start=0, end=2)],
    "cluster_pairs": [dict(first=[0, 1, 0], second=[1, 2, 2], scores=SCORES - 2, n_items=4, most_pairs=9, most_nodes=9, time_limit=9.0)],
    "forest_marginals": [dict(unary=UNARY, edges=EDGES, pairs=PAIRS)],
    "grid_edges": [dict(n_rows=2, n_columns=3, diagonal=True)],
    "grid_graph": [dict(n_rows=2, n_columns=3, diagonal=True)],
    "interval_marginals": [dict(starts=[0.0, 1.0, 3.0], stops=[2.0, 4.0, 5.0], weights=SCORES)],
    "k_best_arborescences": [dict(scores=ARCS, k=2, one_root=False)],
    "k_best_intervals": [dict(starts=[0.0, 1.0, 3.0], stops=[2.0, 4.0, 5.0], weights=SCORES, k=2)],
    "k_best_matchings": [dict(scores=TABLE, k=2, perfect=True, first=[1, 0])],
    "k_best_paths": [dict(tails=TAILS, heads=HEADS, scores=SCORES, start=0, end=2, k=2)],
    "k_best_projective": [dict(scores=ARCS, k=2, siblings=np.zeros((3, 3, 3)), one_root=False)],
    "k_best_segments": [dict(scores=SEGMENTS, transitions=[[0.5]], k=2)],
    "match_pairs": [dict(left=[7, 7, 9], right=[1, 2, 1], scores=SCORES, perfect=True)],
    "matching_prices": [dict(scores=TABLE, partners=[1, 0], perfect=True)],
    "max_arborescence": [dict(scores=ARCS, one_root=True)],
    "max_clusters": [dict(scores=SYMMETRIC, most_pairs=9, most_nodes=9, time_limit=9.0)],
    "max_latent_trees": [dict(heads=TAILS, dependents=HEADS, scores=SCORES, n_items=3, labels=[0, 0, 1])],
    "max_matching": [dict(scores=TABLE, perfect=True)],
    "max_sparse_arborescence": [dict(scores=SPARSE, one_root=True)],
    "min_cut": [dict(terminals=SCORES - 2, edges=EDGES, capacities=[1.0, 2.0], backward=[1.0, 2.0])],
    "path_marginals": [dict(tails=TAILS, heads=HEADS, scores=SCORES, start=0, end=2)],
    "projective_marginals": [dict(scores=ARCS, siblings=np.zeros((3, 3, 3)), one_root=True)],
    "projective_tree": [dict(scores=ARCS, siblings=np.zeros((3, 3, 3)), one_root=True)],
    "segment_marginals": [dict(scores=SEGMENTS, transitions=[[0.5]])],
    "segment_max_marginals": [dict(scores=SEGMENTS, transitions=[[0.5]])],
    "segment_scores": [dict(first=TOKENS, inside=TOKENS, last=TOKENS, alone=TOKENS, longest=2, lengths=[[0.0, 0.0], [1.0, 1.0]])],
    "solve_ilp": [dict(scores=SCORES, A=ROWS, b=SIDES, A_eq=ROWS[:1], b_eq=SIDES[:1], relaxed=True, most_nodes=9, time_limit=9.0)],
}
OF_LABELS, OF_RANKS = dict(y_true=LABELS, y_pred=ANSWERS), dict(y_true=LABELS, y_pred=ANSWERS, classes=[1, 2, 3])
OF_RANKING = dict(y_true=GRADES, scores=RANKED, groups=QUERIES, sample_weight=[1.0, 2.0])
OF_INTERVALS = dict(y_low_high=RANGES, y_pred=ANSWERS, classes=[1, 2, 3])
METRICS = {
    **dict.fromkeys(("adjusted_rand_index", "b_cubed_scores", "ceaf_scores", "cluster_measures", "pairwise_scores", "accuracy"),
                    [OF_LABELS]),
    **dict.fromkeys(("accuracy_within_one", "codes", "confusion_matrix", "macro_f1", "macro_mean_absolute_error", "mean_absolute_error",
                     "quadratic_weighted_kappa", "rank_measures"), [OF_RANKS]),
    "are_phrase_tags": [dict(labels=["B-X", "O"])],
    "best_constant": [lambda: dict(engine=engine(), X=X, y=Y, groups=[0, 1, 2, 3])],
    "best_constant_of": [lambda: dict(model=engine().model_, rows=engine().model_.read(X), y=Y)],
    "compare": [lambda: dict(first=engine(), second=engine(), X=X, y=Y, offsets=[0, 1, 2, 3, 4])],
    "document_places": [dict(scores=RANKED, groups=QUERIES)],
    "interval_absolute_error": [OF_INTERVALS], "interval_codes": [OF_INTERVALS | dict(unrated="skip")],
    "interval_coverage": [dict(y_true=LABELS, intervals=RANGES, classes=[1, 2, 3])],
    "interval_distances": [dict(low=[1, 2], high=[2, 3], predicted=[3, 3])],
    "interval_measures": [OF_INTERVALS | dict(unrated="refuse")],
    "losses": [lambda: dict(engine=engine(), X=X, y=Y, lengths=[1, 1, 1, 1], predicted=Y)],
    "losses_of": [lambda: dict(model=engine().model_, rows=engine().model_.read(X), y=Y, predicted=Y)],
    "mean_average_precision": [OF_RANKING | dict(k=2, relevant=1)],
    "mean_interval_width": [dict(intervals=RANGES, classes=[1, 2, 3])],
    "measures": [lambda: dict(engine=engine(), X=X, y=Y, groups=[0, 1, 2, 3], predicted=Y)],
    "measures_of": [lambda: dict(model=engine().model_, rows=engine().model_.read(X), y=Y, predicted=Y)],
    "ndcg_at_k": [OF_RANKING | dict(k=2, gains=[0.0, 1.0, 3.0])],
    "ordered_labels": [dict(y_true=LABELS, order=np.array([1, 2, 4]), classes=[1, 2, 3])],
    "pair_accuracy": [OF_RANKING],
    "phrase_f1": [dict(y_true=TAGS, y_pred=OTHER_TAGS)], "phrase_scores": [dict(y_true=TAGS, y_pred=OTHER_TAGS)],
    "phrases": [dict(labels=TAGS[0])],
    "precision_at_k": [OF_RANKING | dict(k=2, relevant=1)],
    "sentences": [dict(y=["D", "N", "V"], like=[["the", "cat"], ["sleeps"]])],
    "tag_scheme": [dict(y=TAGS)],
    "tags": [dict(phrases=[(0, 2, "X")], n_tokens=3, scheme="iob2")],
    "token_measures": [dict(y_true=TAGS, y_pred=OTHER_TAGS)],
    "unseen_labels": [dict(y_true=TAGS, labels=["O"])],
}
MODULES = {             # names that structperc.solvers does not list
    "pairs.short_pairs": (short_pairs, dict(scores=SCORES, levels=[0, 1, 0], order=[0, 1, 2], offsets=[0, 3], margin=1.0)),
    "block_steps.block_steps": (block_steps.block_steps, lambda: dict(alpha=np.array([1.0, 0.0]), value=np.array([0.0, 1.0]),
                                                                      distance=PAIRS)),
    "block_steps.can_sweep": (block_steps.can_sweep, dict(n_structures=3, n_weights=4)),
    "block_steps.sweep_blocks": (block_steps.sweep_blocks, lambda: dict(
        alpha=np.array([1.0, 0.0]), loss=[0.0, 1.0], vectors=ROWS[:2, :2].copy(), offsets=[0, 2], w=np.zeros(2), enough=0.1)),
    "pairwise_hinge.PairwiseProblem": (PairwiseProblem, dict(X=ROWS, levels=[0, 1], offsets=[0, 2], costs=[1.0])),
}
RECORDS = {Agreement, Comparison, Constant, Measured}         # types of results


def cases(package, table):
    for name in package.__all__:
        for number, case in enumerate(table.get(name, [])):
            call, arguments = case if isinstance(case, tuple) else (getattr(package, name), case)
            yield pytest.param(call, arguments, id=f"{name}-{number}" if number else name)


CASES = [*cases(solvers, SOLVERS), *cases(metrics, METRICS), *(pytest.param(*case, id=name) for name, case in MODULES.items())]


def test_every_public_name_has_a_case():
    assert set(SOLVERS) == set(solvers.__all__)
    assert set(METRICS) == {name for name in metrics.__all__ if getattr(metrics, name) not in RECORDS}


def outcome(call, arguments):
    """Returns the result of a call, or its error of structperc.errors; raises any other error."""
    try:
        return call(**arguments)
    except StructPercError as error:
        assert len(str(error)) > 10 and "Traceback" not in str(error)
        return error


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "arguments"), CASES)
def test_hostile_arguments_meet_errors_of_structperc_and_nothing_else(call, arguments):
    arguments = arguments() if callable(arguments) else arguments
    assert not isinstance(outcome(call, arguments), Exception), "the case itself is good"
    for name, (what, value) in itertools.product(arguments, HOSTILE.items()):
        value = (number for number in range(3)) if what == "a generator" else value
        try:
            outcome(call, arguments | {name: value})
        except Exception as error:
            pytest.fail(f"{name}={what}: {type(error).__name__}: {error}")


FORMS = {
    "read-only": read_only, "another byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "strided": lambda a: np.repeat(a, 2, axis=0)[::2], "in Fortran's order": np.asfortranarray,
    "off their bytes": lambda a: np.frombuffer(b"x" + a.tobytes(), dtype=np.uint8)[1:].view(a.dtype).reshape(a.shape),
    "unmasked": np.ma.masked_array, "a column": lambda a: pytest.importorskip("pandas").Series(a) if a.ndim == 1 else a,
    "a data frame": lambda a: pytest.importorskip("pandas").DataFrame(a) if a.ndim == 2 else a,
}


def plain(value):
    """A result as nested lists and dicts, for comparisons."""
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return plain([getattr(value, field.name) for field in value.__attrs_attrs__]) if hasattr(value, "__attrs_attrs__") else value


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [name for name in solvers.__all__ if isinstance(SOLVERS[name][0], dict)])
def test_harmless_forms_have_the_answers_of_plain_arrays(name, form):
    call = getattr(solvers, name)
    for arguments in SOLVERS[name]:
        arrays = {key: np.array(value) for key, value in arguments.items() if isinstance(value, (list, np.ndarray))}
        expected = repr(plain(call(**arguments | arrays)))
        assert repr(plain(call(**arguments | {key: FORMS[form](value) for key, value in arrays.items()}))) == expected
