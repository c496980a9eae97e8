"""Best trees of sentences: nanoseconds per arc beside ufal.chu_liu_edmonds and networkx; projective trees, sums over all trees."""

import figures
import job
import networkx
import numpy as np
from measuring import cpu_seconds, median, ratios, shown, spread, table, take_turns
from ufal.chu_liu_edmonds import chu_liu_edmonds

from structperc.solvers.arborescences import arborescence_marginals, max_arborescence
from structperc.solvers.projective import projective_marginals, projective_tree

SIZES = (10, 20, 50, 100, 200)
KINDS = ("random", "parser-like")
ARCS = 80_000                       # scored arcs of a batch, at least of two sentences: they fit in the second-level cache
CUBES = 1_000_000                   # n^3 of a batch of the solvers with O(n^3), at least of one sentence
CALLS = 20                          # of a batch in a round, of which the fastest counts
FEW_ARCS = 5_000                    # of the one batch of networkx
NETWORKX_WORDS = 50                 # the longest sentences that networkx gets
OURS, ONE_ROOT, UFAL, NETWORKX = "structperc", "structperc, one root", "ufal.chu_liu_edmonds", "networkx"
EISNER, SIBLINGS = "projective tree", "projective tree with siblings"
PROJECTIVE_SUMS, SUMS = "projective: log Z and marginals", "all trees: log Z and marginals"


def sentence(n, kind, random):
    """Scores of all arcs of n words: normal ones; parser-like: those of a tree with one root are 5 higher."""
    scores = random.normal(size=(n + 1, n + 1))
    if kind == "parser-like":
        heads = np.array([0, *(random.integers(1, m) for m in range(2, n + 1))])
        names = np.concatenate([[0], random.permutation(n) + 1])
        scores[names[heads], names[1:]] += 5
    return scores


def measure(quick):
    sizes, calls = (SIZES[:3], 2) if quick else (SIZES, CALLS)
    random = np.random.default_rng(0)
    arcs = {kind: {n: per_arc([sentence(n, kind, random) for _ in range(max(2, ARCS // n**2))], calls) for n in sizes} for kind in KINDS}
    cubes = {n: per_cube([sentence(n, "random", random) for _ in range(max(1, CUBES // n**3))], random) for n in sizes}
    return {"arcs": arcs, "cubes": cubes}


def per_arc(sentences, calls):
    """CPU nanoseconds per n^2 of each contender; all find trees of the same score."""
    n = len(sentences[0]) - 1
    few = sentences[:max(1, FEW_ARCS // n**2)]
    totals = max_arborescence(sentences)[1]
    turned = [as_dependent_head(scores) for scores in sentences]
    same(totals, [chu_liu_edmonds(scores)[1] for scores in turned])
    contenders = {OURS: (max_arborescence, sentences, calls), ONE_ROOT: (one_root, sentences, calls),
                  UFAL: (lambda given: list(map(chu_liu_edmonds, given)), turned, calls // 2)}
    if n <= NETWORKX_WORDS:
        same(totals[:len(few)], list(map(with_graph, few)))
        contenders[NETWORKX] = (lambda given: list(map(with_graph, given)), few, 2)
    return timed(contenders, n**2)


def per_cube(sentences, random):
    """CPU nanoseconds per n^3 of each solver."""
    n = len(sentences[0]) - 1
    siblings = [random.normal(size=(n + 1, n + 1, n + 1))] * len(sentences)
    some = sentences[:max(1, len(sentences) // 10)]
    return timed({
        EISNER: (projective_tree, sentences, 5), SIBLINGS: (lambda given: projective_tree(given, siblings), sentences, 2),
        PROJECTIVE_SUMS: (lambda given: list(map(projective_marginals, given)), some, 3),
        SUMS: (lambda given: list(map(arborescence_marginals, given)), some, 3),
    }, n**3)


def timed(contenders, size):
    """Nanoseconds for each sentence and unit of `size`, of five rounds in which all take turns: the fastest call of each."""
    def nanoseconds(solver, given, calls):
        def measure():
            return min(cpu_seconds(solver, given) for _ in range(calls)) / len(given) / size * 1e9
        return measure

    return take_turns({name: nanoseconds(*contender) for name, contender in contenders.items()})


def one_root(sentences):
    return max_arborescence(sentences, one_root=True)


def as_dependent_head(scores):
    """What ufal reads: dependents in rows, and NaN for arcs that there are not."""
    turned = scores.T.copy()
    turned[0] = np.nan
    np.fill_diagonal(turned, np.nan)
    return turned


def with_graph(scores):
    """The score of the best tree by networkx, with the time that making the graph takes."""
    graph = networkx.DiGraph()
    n = len(scores) - 1
    graph.add_weighted_edges_from((h, m, float(scores[h, m])) for h in range(n + 1) for m in range(1, n + 1) if h != m)
    return networkx.maximum_spanning_arborescence(graph).size(weight="weight")


def same(ours, others):
    if not np.allclose(ours, others, rtol=1e-9, atol=1e-9):
        raise SystemExit("The contenders find trees of different scores.")


# ---- tables ----

def report(raw):
    return "\n\n".join([
        "## The best tree",
        "n words and the root, scores of all arcs; an arc is 1 of n². Normal scores at random; parser-like: the arcs of "
        "a tree with one root score 5 more. structperc reads a list of arrays in one call. They fit in the second-level cache, as scores "
        "just computed do. ufal is called from Python for each sentence. networkx's time includes making the graph. All find trees of the "
        "same score. Nanoseconds per arc, the fastest call of a round, medians of five rounds with their range.",
        arcs_table(raw["arcs"]),
        "## Projective trees, and sums over trees", "Normal scores. Nanoseconds per n³.",
        cubes_table(raw["cubes"]),
    ])


def arcs_table(arcs):
    rows = []
    for kind, sizes in arcs.items():
        for n, times in sizes.items():
            rows.append([kind, n, spread(times[OURS]), spread(times[ONE_ROOT]), spread(ratios(times[ONE_ROOT], times[OURS])),
                         spread(times[UFAL]), spread(ratios(times[UFAL], times[OURS])),
                         spread(times[NETWORKX]) if NETWORKX in times else "–"])
    return table(["scores", "words", OURS, ONE_ROOT, "one root ÷ several", UFAL, "ufal ÷ structperc", NETWORKX], rows)


def cubes_table(cubes):
    return table(["words", *next(iter(cubes.values()))], [[n, *map(spread, times.values())] for n, times in cubes.items()])


def goals(raw):
    worst = {kind: max(median(times[OURS]) for times in raw["arcs"][kind].values()) for kind in KINDS}
    roots = max(median(ratios(times[ONE_ROOT], times[OURS])) for sizes in raw["arcs"].values() for times in sizes.values())
    eisner = {n: median(times[EISNER]) for n, times in raw["cubes"].items() if int(n) >= 20}
    return [job.Goal("ns per arc, parser-like, slowest length", "≤ 5", shown(worst["parser-like"]), worst["parser-like"] <= 5),
            job.Goal("ns per arc, random, slowest length", "≤ 10", shown(worst["random"]), worst["random"] <= 10),
            job.Goal("one root ÷ several, slowest", "≤ 1.2", shown(roots), roots <= 1.2),
            job.Goal("projective tree, ns per n³, slowest length from 20 words", "≤ 1.2", shown(max(eisner.values())),
                     max(eisner.values()) <= 1.2)]


def draw(raw, folder):
    def lines(kind):
        names = dict.fromkeys(name for times in raw["arcs"][kind].values() for name in times)
        return {name: zip(*[(int(n), median(times[name])) for n, times in raw["arcs"][kind].items() if name in times], strict=True)
                for name in names}

    figures.panels(folder / "arborescences.png", [{
        "title": f"The best tree, {kind} scores", "xscale": "log", "yscale": "log", "xlabel": "words", "ylabel": "nanoseconds per arc",
        "lines": {name: tuple(map(list, line)) for name, line in lines(kind).items()},
    } for kind in KINDS])


if __name__ == "__main__":
    job.run("arborescences", "Trees of sentences", measure, report, goals, draw)
