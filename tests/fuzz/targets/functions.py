"""Every name of structperc.solvers and structperc.metrics: nearly right arguments, hostile ones, and harmless forms of right ones."""

from __future__ import annotations

import attrs
import numpy as np
import pandas
import scipy.sparse as sp

from fuzz import hostile, kinds
from fuzz.mutators import disturbed, spoil, spoil_array
from fuzz.promises import attempt, expect
from fuzz.targets.arguments import broken_sparse, listed
from fuzz.targets.forms import misaligned, read_only, strided
from structperc import metrics, solvers

TRAINED = ("engine", "model", "rows", "first", "second")        # arguments of metrics that this library creates
# ---- valid arguments, drawn at random; float32 is exact for multiples of 1/16 ----


def scores(random, *shape):
    return np.array([random.randrange(-48, 49) / 16 for _ in range(int(np.prod(shape)))]).reshape(shape)


def whole(random, n, low, high):
    return np.array([random.randrange(low, high) for _ in range(n)], dtype=np.int64)


def square(random, **more):
    n = random.randrange(2, 6)
    return {"scores": scores(random, n, n), **more}


def rooted(random, **more):
    return square(random, one_root=random.random() < 0.5, **more)


def symmetric(random):
    found = square(random)["scores"]
    return {"scores": found + found.T}


def sparse_square(random):
    n = random.randrange(2, 6)
    matrix = scores(random, n, n)
    matrix[0, :] += 10                      # every node has an arc from the root
    return {"scores": sp.coo_array(matrix), "one_root": False}


def paths(random, **more):
    tails, heads = np.array(solvers.grid_graph(2, random.randrange(2, 4)))
    return {"tails": tails, "heads": heads, "scores": scores(random, len(tails)), "start": 0, "end": int(heads.max()), **more}


def costs(random):
    found = paths(random)
    found["costs"] = np.abs(found.pop("scores"))
    return found


def pairwise(random, **more):
    n, r = random.randrange(2, 5), random.randrange(1, 4)
    edges = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    return {"unary": scores(random, n, r), "edges": edges, "pairs": scores(random, n - 1, r, r), **more}


def spans(random, **more):
    n = random.randrange(1, 6)
    starts = whole(random, n, 0, 8)
    return {"starts": starts, "stops": starts + whole(random, n, 1, 4), "weights": scores(random, n), **more}


def segmented(random, **more):
    n, r = random.randrange(1, 5), random.randrange(1, 4)
    found = scores(random, n, n, r)
    for i in range(n):
        found[i, n - i:] = -np.inf
    return {"scores": found, "transitions": random.choice((None, scores(random, r, r))), **more}


def segment_parts(random):
    n, r = random.randrange(1, 5), random.randrange(1, 4)
    return {**{name: scores(random, n, r) for name in ("first", "inside", "last", "alone")}, "longest": random.randrange(1, 4)}


def siblings(random, **more):
    found = rooted(random, **more)
    n = len(found["scores"])
    return {**found, "siblings": random.choice((None, None, scores(random, n, n, n)))}


def programs(random, **more):
    n = random.randrange(1, 5)
    A = np.abs(scores(random, random.randrange(1, 3), n))
    return {"scores": scores(random, n), "A": random.choice((A, sp.csr_array(A))), "b": np.abs(scores(random, len(A))) + 1, **more}


def pairs(random, n=5):
    chosen = random.sample([(i, j) for i in range(n) for j in range(i + 1, n)], k=random.randrange(1, 7))
    first, second = np.array(chosen).T
    return first.copy(), second.copy(), scores(random, len(chosen))


def clustered(random):
    first, second, given = pairs(random)
    return {"first": first, "second": second, "scores": given, "n_items": random.choice((None, 5, 8))}


def latent_trees(random):
    heads, dependents, given = pairs(random)
    return {"heads": heads, "dependents": dependents, "scores": given, "n_items": random.choice((None, 5))}


def matched(random, **more):
    return {"scores": scores(random, *[random.randrange(1, 5)] * 2), "perfect": random.random() < 0.5, **more}


def priced(random):
    found = matched(random)
    return {**found, "partners": solvers.max_matching(found["scores"], found["perfect"])}


def cut(random):
    n = random.randrange(2, 6)
    edges = np.array([[i, (i + 1) % n] for i in range(n)])
    return {"terminals": scores(random, n), "edges": edges, "capacities": np.abs(scores(random, n)),
            "backward": random.choice((None, np.abs(scores(random, n))))}


def ranked(random, **more):
    n = random.randrange(1, 9)
    return {"y_true": whole(random, n, 1, 4), "y_pred": whole(random, n, 1, 4), **more}


def graded(random, **more):
    n = random.randrange(2, 9)
    return {"y_true": whole(random, n, 0, 3), "scores": scores(random, n), "groups": random.choice((None, np.arange(n) // 2)), **more}


def spanned(random):
    found = ranked(random)
    low = found["y_true"]
    return {"y_low_high": np.stack([low, np.minimum(low + 1, 3)], axis=1), "y_pred": found["y_pred"]}


TAGS = ("O", "B-x", "I-x", "B-y", "E-x", "S-y", "I-y")


def tagged(random):
    lengths = [random.randrange(1, 5) for _ in range(random.randrange(1, 4))]
    return {name: [[random.choice(TAGS) for _ in range(n)] for n in lengths] for name in ("y_true", "y_pred")}


def trained(random, **more):
    one = kinds.pick(random, lambda kind: not kind.fitting)
    return {"engine": one.engine, "X": one.kind.X, "y": one.kind.y, **one.kind.told, **more}


def compared(random):
    found = trained(random)
    engine = found.pop("engine")
    return {"first": engine, "second": random.choice((engine, engine, kinds.pick(random).engine)), **found}


def read(random):
    given = trained(random)
    model = given["engine"].model
    offsets = given.get("offsets")
    if "lengths" in given:
        offsets = np.append(0, np.cumsum(given["lengths"]))
    return {"model": model, "rows": model.read(given["X"], offsets), "y": given["y"],
            "predicted": given["engine"].predict(given["X"], offsets=offsets)} if "groups" not in given else read(random)


# ---- calls ----


def of_class(make, method):
    """A call of a method with some arguments, on an object constructed from the others."""
    def called(**given):
        made = {name: given.pop(name) for name in list(given) if name in ("n_nodes", "n_labels", "edges", "A", "b")}
        return getattr(make(**made), method)(**given)

    return called


def graph(random, **more):
    found = pairwise(random, **more)
    return {"n_nodes": len(found["unary"]), **found}


def labelled(random, **more):
    found = graph(random, **more)
    return {"n_labels": found["unary"].shape[1], **found}


def scored(random):
    found = labelled(random)
    return {**found, "labels": np.zeros(found["n_nodes"], dtype=np.int64)}


def terminals(random):
    found = cut(random)
    n = len(found["terminals"])
    return {"n_nodes": n, "edges": found["edges"], "terminals": found["terminals"], "forward": found["capacities"], "backward": np.ones(n)}


def k(random):
    return random.randrange(1, 5)


SOLVERS = {
    "CutGraph": (of_class(solvers.CutGraph, "solve"), terminals),
    "Forest": (of_class(solvers.Forest, "best_labels"), graph),
    "Forest marginals": (of_class(solvers.Forest, "marginals"), graph),
    "ILP": (of_class(solvers.ILP, "solve"), programs),
    "ILP k_best": (of_class(solvers.ILP, "k_best"), lambda random: programs(random, k=k(random))),
    "PairwiseModel": (of_class(solvers.PairwiseModel, "solve"), labelled),
    "PairwiseModel marginals": (of_class(solvers.PairwiseModel, "marginals"), labelled),
    "PairwiseModel score": (of_class(solvers.PairwiseModel, "score"), scored),
    "arborescence_certificate": rooted, "arborescence_marginals": rooted, "max_arborescence": rooted,
    "k_best_arborescences": lambda random: rooted(random, k=k(random)), "max_sparse_arborescence": sparse_square,
    "projective_tree": siblings, "projective_marginals": siblings, "k_best_projective": lambda random: siblings(random, k=k(random)),
    "best_intervals": spans, "interval_marginals": spans, "k_best_intervals": lambda random: spans(random, k=k(random)),
    "best_labelling": pairwise, "forest_marginals": pairwise,
    "best_path": paths, "path_marginals": paths, "k_best_paths": lambda random: paths(random, k=k(random)), "cheapest_path": costs,
    "grid_edges": lambda random: {"n_rows": k(random), "n_columns": k(random), "diagonal": random.random() < 0.5},
    "grid_graph": lambda random: {"n_rows": k(random), "n_columns": k(random), "diagonal": random.random() < 0.5},
    "best_segments": segmented, "segment_marginals": segmented, "segment_max_marginals": segmented,
    "k_best_segments": lambda random: segmented(random, k=k(random)), "segment_scores": segment_parts,
    "max_clusters": symmetric, "cluster_pairs": clustered, "max_latent_trees": latent_trees,
    "max_matching": matched, "k_best_matchings": lambda random: matched(random, k=k(random)), "matching_prices": priced,
    "match_pairs": lambda random: dict(zip(("left", "right", "scores"), pairs(random), strict=True)),
    "min_cut": cut,
    "solve_ilp": lambda random: programs(random, relaxed=random.random() < 0.5),
}  # fmt: skip

TWO_LISTS = ("accuracy", "accuracy_within_one", "adjusted_rand_index", "b_cubed_scores", "ceaf_scores", "cluster_measures", "codes",
             "confusion_matrix", "macro_f1", "macro_mean_absolute_error", "mean_absolute_error", "pairwise_scores",
             "quadratic_weighted_kappa", "rank_measures")
METRICS = {
    **dict.fromkeys(TWO_LISTS, ranked),
    **dict.fromkeys(("interval_absolute_error", "interval_codes", "interval_measures"), spanned),
    **dict.fromkeys(("phrase_f1", "phrase_scores", "token_measures"), tagged),
    **dict.fromkeys(("mean_average_precision", "pair_accuracy"), graded),
    **dict.fromkeys(("ndcg_at_k", "precision_at_k"), lambda random: graded(random, k=k(random))),
    **dict.fromkeys(("losses", "measures"), trained), **dict.fromkeys(("losses_of", "measures_of"), read),
    **{name: lambda random, make=make: {key: value for key, value in make(random).items() if key != "predicted"}
       for name, make in (("best_constant", trained), ("best_constant_of", read))},
    "compare": compared,
    "document_places": lambda random: {name: value for name, value in graded(random).items() if name != "y_true"},
    "interval_coverage": lambda random: dict(zip(("intervals", "y_true"), spanned(random).values(), strict=True)),
    "mean_interval_width": lambda random: {"intervals": spanned(random)["y_low_high"]},
    "interval_distances": lambda random: dict(zip(("low", "high", "predicted"), whole(random, 9, 1, 4).reshape(3, 3), strict=True)),
    "ordered_labels": lambda random: {"y_true": whole(random, 4, 1, 4), "order": np.array([1, 2, 3])},
    "are_phrase_tags": lambda random: {"labels": tagged(random)["y_true"][0]},
    "phrases": lambda random: {"labels": tagged(random)["y_true"][0]},
    "tag_scheme": lambda random: {"y": tagged(random)["y_true"]},
    "sentences": lambda random: {"y": ["O", "B-x", "O"], "like": random.choice(([["a", "b"], ["c"]], [["a"], ["b", "c"]]))},
    "tags": lambda random: {"phrases": [(0, 2, "x"), (3, 4, "y")], "n_tokens": 5, "scheme": random.choice(("iob1", "iob2", "iobes"))},
    "unseen_labels": lambda random: {"y_true": tagged(random)["y_true"], "labels": ["O", "B-x"]},
    "Agreement": lambda random: {"precision": 0.5, "recall": 0.5, "f1": 0.5},
    "Measured": lambda random: {"name": "accuracy", "first": 0.5, "second": 0.5, "difference": 0.0, "standard_error": 0.1, "low": 0.0,
                                "high": 1.0},
    "Constant": lambda random: {"answer": 1, "measures": {"accuracy": 0.5}},
    "Comparison": lambda random: {"n_examples": 4, "measures": [], "both_right": 1, "first_right": 1, "second_right": 1,
                                  "neither_right": 1, "p_value": 1.0, "disagreements": []},
}  # fmt: skip


def drawn(random, module, calls):
    """A name, its function, and valid arguments for it."""
    name = random.choice(list(calls))
    made = calls[name]
    call, make = made if isinstance(made, tuple) else (getattr(module, name), made)
    return name, call, make(random)


# ---- hostile arguments ----


def spoilt(random, name, given):
    """One argument, nearly valid or hostile."""
    act = random.randrange(12)
    if sp.issparse(given) and act < 8:
        return broken_sparse(random, given)
    if isinstance(given, np.ndarray) and act < 5:
        return spoil_array(random, given)
    if isinstance(given, (np.ndarray, list)) and act < 9:
        return spoil(random, listed(given))
    if isinstance(given, (np.ndarray, list)) and act == 9:
        return disturbed(random, listed(given))
    if isinstance(given, int) and not isinstance(given, bool) and act < 4:
        return random.choice((-1, 0, 1, 2, 5, 40, -(2**31), 2**31 - 1, 2**62, 2**63, 1.0, 2.5, "2", None, True))
    if isinstance(given, int) and act == 4:
        return hostile.Acts(lambda: None)
    return hostile.value(random)


def hostile_calls(random, module, calls, made=()):
    """One call with one to three spoilt arguments, none of `made`. Errors of the library and MemoryError are no failures."""
    _, call, given = drawn(random, module, calls)
    names = random.choices([name for name in given if name not in made], k=random.choice((1, 1, 2, 3)))
    for name in dict.fromkeys(names):               # each is spoilt once: scipy fails to copy a broken matrix
        value = spoilt(random, name, given[name])
        if not hostile.asks_for_much(name, value):
            given[name] = value
    return attempt(call, **given, also=(MemoryError,))[0]


def hostile_solvers(random):
    return hostile_calls(random, solvers, SOLVERS)


def hostile_metrics(random):
    return hostile_calls(random, metrics, METRICS, TRAINED)


# ---- harmless forms ----


FORMS = (
    read_only, np.asfortranarray, lambda a: strided(a) if a.ndim == 2 else np.repeat(a, 2)[::2] if a.ndim == 1 else a,
    lambda a: misaligned(a) if a.size else a, lambda a: a.astype(a.dtype.newbyteorder(">")), lambda a: a.astype(object),
    lambda a: a.tolist(),
    lambda a: a.astype("f4") if a.dtype.kind == "f" else a.astype("i4"), lambda a: a[::-1].copy()[::-1],
    lambda a: pandas.Series(a) if a.ndim == 1 else pandas.DataFrame(a) if a.ndim == 2 else a, lambda a: np.ma.masked_array(a),
    lambda a: pandas.DataFrame({"a": a})["a"] if a.ndim == 1 else a,
)  # fmt: skip


def equal_forms(random):
    """Equal numbers in other forms have the results of plain arrays. A form may raise an error, except a read-only array."""
    module, calls = random.choice(((solvers, SOLVERS), (metrics, METRICS)))
    name, call, given = drawn(random, module, calls)
    arrays = [key for key, value in given.items() if isinstance(value, np.ndarray) and value.dtype.kind in "fi"]
    if not arrays:
        return True
    form = random.choice(FORMS)
    others = {**given, **{key: form(given[key]) for key in random.sample(arrays, k=random.randrange(1, len(arrays) + 1))}}
    accepted, answer = attempt(call, **given)
    later, other = attempt(call, **others)
    if form is read_only:
        expect(accepted == later, f"{name} refuses read-only arrays: {other}")
    if accepted and later:
        expect(equal(comparable(answer), comparable(other)), f"{name} answers {answer} of arrays and {other} of {others}")
    return accepted and later


def comparable(answer):
    """A result as nested lists."""
    if attrs.has(type(answer)):
        return [comparable(getattr(answer, field.name)) for field in attrs.fields(type(answer))]
    if isinstance(answer, dict):
        return [[comparable(key), comparable(value)] for key, value in answer.items()]
    if isinstance(answer, (list, tuple)):
        return [comparable(one) for one in answer]
    return answer.tolist() if hasattr(answer, "tolist") else answer


def equal(one, other) -> bool:
    """Whether two results are equal, up to rounding."""
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, float) and isinstance(other, (int, float)):
        return bool(np.isclose(one, other, rtol=1e-9, atol=1e-9, equal_nan=True))
    return one is other or one == other
