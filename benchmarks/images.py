"""Pictures labelled pixel by pixel, with neighbours and without; minimum cuts of grids beside scipy and networkx."""

import figures
import job
import networkx
import numpy as np
from measuring import cpu_seconds, median, table, take_turns
from scipy.ndimage import median_filter
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from sklearn.datasets import load_digits, load_sample_image
from sklearn.linear_model import LogisticRegression

from structperc import Engine
from structperc.solvers import PairwiseModel, best_labelling, grid_edges, min_cut

SMALLER = 4                 # pixels of the photographs to one here
TILE = 20                   # pixels; photographs are learned from in pieces
STRENGTHS = (0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0)
OPTIONS = dict(attractive=True, update="pa1", C=0.01, loss_weight=1.0, epochs=10, average=True, shuffle=True, random_state=0)
PIXEL, WINDOW = "pixel", "3 x 3 pixels"
ALONE, THEN_CUT, OURS = "logistic regression", "logistic regression, then a cut", "structperc, graph"
SMOOTHED = "logistic regression, then medians"
SIZES = (10, 30, 100, 300)
FIVE = ((10, True), (15, True), (30, False))        # grids of five labels, and whether the linear program is asked too
SLOW = 30                   # networkx is asked for grids up to this size
GOAL = 3.0                  # milliseconds, a grid of 30 x 30


def measure(quick):
    draws = [draw_of(seed, quick) for seed in range(1 if quick else 3)]
    errors = {task: {learner: [draw[task][learner] for draw in draws] for learner in draws[0][task]} for task in draws[0]}
    return {"errors": errors, "times": [time_of(size, 3 if quick else 7) for size in (SIZES[:2] if quick else SIZES)],
            "labels": [time_of_labels(size, programmed, 3) for size, programmed in (FIVE[:1] if quick else FIVE)]}


# ---- pictures ----


def photograph(name):
    """One of scikit-learn's two, made smaller."""
    whole = load_sample_image(name)[:424, :640].astype(float) / 255
    return whole.reshape(424 // SMALLER, SMALLER, 640 // SMALLER, SMALLER, 3).mean(axis=(1, 3))


def tasks(random):
    """Noisy pictures to learn from, their labels, and those to be labelled, by name."""
    china, flower = photograph("china.jpg"), photograph("flower.jpg")
    sky = (china[:, :, 2] > china[:, :, 0] - 0.02) & (china.mean(axis=2) > 0.5)
    petals = flower[:, :, 0] - flower[:, :, 1] > 0.1
    found = {}
    for name, picture, labels in (("sky", china, sky), ("flower", flower, petals)):
        noisy, half = picture + 0.3 * random.normal(size=picture.shape), picture.shape[1] // 2
        found[name] = [noisy[:, :half]], [labels[:, :half].astype(int)], [noisy[:, half:]], [labels[:, half:].astype(int)]
    for n_levels, noise in ((2, 0.5), (4, 0.25)):
        greys, steps = [picture.mean(axis=2) for picture in (flower, china)], np.arange(1, n_levels) / n_levels
        levels = [np.digitize(grey, np.quantile(grey, steps)) for grey in greys]
        noisy = [(level / (n_levels - 1) + noise * random.normal(size=level.shape))[:, :, None] for level in levels]
        found[f"{n_levels} greys"] = noisy[:1], levels[:1], noisy[1:], levels[1:]
    ink = load_digits().images
    noisy, ink = list((ink / 16 + 0.4 * random.normal(size=ink.shape))[:, :, :, None]), list((ink >= 8).astype(int))
    found["digits"] = noisy[:500], ink[:500], noisy[500:], ink[500:]
    return found


def windows(picture):
    """The features of a pixel and its eight neighbours."""
    height, width = picture.shape[:2]
    padded = np.pad(picture, ((1, 1), (1, 1), (0, 0)), mode="edge")
    return np.concatenate([padded[i:i + height, j:j + width] for i in range(3) for j in range(3)], axis=2)


def tiles(pictures):
    """Pictures in pieces of a size that fits both."""
    return [picture[i:i + TILE, j:j + TILE] for picture in pictures for i in range(0, picture.shape[0], TILE)
            for j in range(0, picture.shape[1], TILE)]


# ---- learners ----


def draw_of(seed, quick):
    """Percent of wrong pixels, by task and learner, for one draw of the noise."""
    found = {}
    for name, (X, y, new, truth) in tasks(np.random.default_rng(seed)).items():
        if quick and name == "digits":
            X, y, new, truth = X[:50], y[:50], new[:50], truth[:50]
        found[name] = {learner: 100 * float(np.mean(pixels(labels) != pixels(truth))) for learner, labels in answers(X, y, new).items()}
    return found


def answers(X, y, new):
    """The labels of the new pictures, by learner."""
    found = {}
    for features, seen in ((PIXEL, lambda picture: picture), (WINDOW, windows)):
        known, asked = ([seen(picture) for picture in pictures] for pictures in (X, new))
        model = LogisticRegression(max_iter=1000).fit(np.concatenate([rows(picture) for picture in known]), pixels(y))
        known_odds, odds = ([model.predict_log_proba(rows(picture)).reshape(*picture.shape[:2], -1) for picture in pictures]
                            for pictures in (known, asked))
        found[ALONE, features] = [one.argmax(axis=2) for one in odds]
        size = min((1, 3, 5), key=lambda size: wrong([median_filter(one.argmax(axis=2), size) for one in known_odds], y))
        found[SMOOTHED, features] = [median_filter(one.argmax(axis=2), size) for one in odds]
        few = slice(100)                                # of the digits
        strength = min(STRENGTHS, key=lambda strength: wrong([cut(one, strength) for one in known_odds[few]], y[few]))
        found[THEN_CUT, features] = [cut(one, strength) for one in odds]
        engine = Engine("graph", preset="paper", **OPTIONS).fit(tiles(known), tiles(y))
        found[OURS, features] = list(engine.predict(asked))
    return {", ".join(key): labels for key, labels in found.items()}


def cut(odds, strength):
    """The best labels where neighbours have a bonus for equal ones."""
    labels = best_labelling(rows(odds), grid_edges(*odds.shape[:2]), strength * np.eye(odds.shape[2])).labels
    return labels.reshape(odds.shape[:2])


def rows(picture):
    return picture.reshape(-1, picture.shape[2])


def pixels(labels):
    return np.concatenate([one.ravel() for one in labels])


def wrong(labels, truth):
    return np.mean(pixels(labels) != pixels(truth))


# ---- time ----


def time_of(size, rounds):
    """Milliseconds of CPU time for one minimum cut of a square grid with real capacities, by solver."""
    random, n = np.random.default_rng(size), size * size
    edges, unary = grid_edges(size, size), random.normal(size=(n, 2))
    strengths = random.random(len(edges))
    terminals, tables = unary[:, 0] - unary[:, 1], strengths[:, None, None] * np.eye(2)
    problem = terminals, edges, strengths
    contenders = {
        "min_cut": lambda: min_cut(*problem),
        "best_labelling": lambda: best_labelling(unary, edges, tables, method="cut"),
        "scipy, 32 bits": lambda: flow_of_scipy(*problem),
    } | ({"networkx": lambda: flow_of_networkx(*problem)} if size <= SLOW else {})
    seconds = take_turns({name: (lambda solve=solve: cpu_seconds(solve)) for name, solve in contenders.items()}, rounds)
    labels, flow = min_cut(*problem)
    cost = np.where(labels == 1, np.maximum(terminals, 0), np.maximum(-terminals, 0)).sum()
    cost += strengths @ (labels[edges[:, 0]] != labels[edges[:, 1]])
    return {"size": size, "gap": float(abs(cost - flow)), **{name: 1000 * median(of) for name, of in seconds.items()}}


def time_of_labels(size, programmed, rounds):
    """Milliseconds, score and bound for a square grid of five labels with a score for equal neighbours, by method."""
    random, edges = np.random.default_rng(size), grid_edges(size, size)
    unary, tables = random.normal(size=(size * size, 5)), random.random((len(edges), 1, 1)) * np.eye(5)
    model, found = PairwiseModel(size * size, 5, edges), {"size": size}
    for method in ("expansion", "relaxed")[:1 + programmed]:
        model.solve(unary, tables, method)              # makes what only the graph decides
        labelling = model.solve(unary, tables, method)
        seconds = median([cpu_seconds(model.solve, unary, tables, method) for _ in range(rounds)])
        found[method] = {"milliseconds": 1000 * seconds, "score": labelling.score, "bound": labelling.bound, "status": labelling.status}
    return found


def arcs(terminals, edges, strengths):
    """Tails, heads and capacities with source and sink behind the nodes."""
    n, plus, minus = len(terminals), np.flatnonzero(terminals > 0), np.flatnonzero(terminals < 0)
    return (np.concatenate([edges[:, 0], edges[:, 1], np.full(len(plus), n), minus]),
            np.concatenate([edges[:, 1], edges[:, 0], plus, np.full(len(minus), n + 1)]),
            np.concatenate([strengths, strengths, terminals[plus], -terminals[minus]]))


def flow_of_scipy(terminals, edges, strengths):
    """scipy takes whole capacities of 32 bits: they are scaled and rounded."""
    tails, heads, capacities = arcs(terminals, edges, strengths)
    whole = np.rint(capacities * ((2**30 - 1) / capacities.max())).astype(np.int32)
    n = len(terminals)
    return maximum_flow(csr_array((whole, (tails, heads)), shape=(n + 2, n + 2)), n, n + 1)


def flow_of_networkx(terminals, edges, strengths):
    graph, n = networkx.DiGraph(), len(terminals)
    graph.add_weighted_edges_from(zip(*(part.tolist() for part in arcs(terminals, edges, strengths)), strict=True), weight="capacity")
    return networkx.maximum_flow(graph, n, n + 1, flow_func=networkx.algorithms.flow.boykov_kolmogorov)


# ---- what is shown ----


def report(raw):
    names = list(raw["errors"])
    learners = list(raw["errors"][names[0]])
    errors = [[learner, *(f"{np.mean(raw['errors'][name][learner]):.2f}" for name in names)] for learner in learners]
    solvers = [name for name in raw["times"][1] if name not in ("size", "gap")]
    seconds = [[f"{of['size']} x {of['size']}", *(f"{of[name]:.2f}" if name in of else "" for name in solvers)] for of in raw["times"]]
    return "\n\n".join([
        f"Percent of wrong pixels, means over {len(raw['errors'][names[0]][learners[0]])} draws of the noise. Sky and flower: colours with "
        "noise of deviation 0.3, learned on the left half of a photograph, measured on the right. 2 and 4 greys: noise of deviation 0.5 "
        "and 0.25, learned on the flower, measured on the Chinese pavilion. Digits: ink of 8 x 8 pixels, noise 0.4, 500 to learn from, "
        "1,297 measured. The features are those of the pixel or of nine. The cut's strength and the medians' window are the best on "
        f"the pictures to learn from. `{OURS}` learns all its weights at once from tiles of {TILE} x "
        f"{TILE}, 10 epochs, none tuned.",
        table(["learner, features", *names], errors),
        "![Labels of noisy pictures](images.png)",
        "Milliseconds of CPU time for one minimum cut of a grid with real capacities, arrays in, labels out. scipy's capacities are "
        "rounded to 32 bits; ours are exact up to rounding of doubles, "
        f"with the flow as proof: it differs from the cut by {max(of['gap'] for of in raw['times']):.0e} at most.",
        table(["grid", *solvers], seconds),
        "Five labels, a random score for equal neighbours, on a graph that is kept: the labels of expansion, and the linear program, which "
        "proves its optimum here.",
        table(["grid", "method", "milliseconds", "score", "bound", "status"],
              [[f"{of['size']} x {of['size']}", method, f"{of[method]['milliseconds']:.1f}", f"{of[method]['score']:.2f}",
                f"{of[method]['bound']:.2f}", of[method]["status"]] for of in raw["labels"] for method in of if method != "size"])])


def goals(raw):
    reached = []
    for name, of in raw["errors"].items():
        for features in (PIXEL, WINDOW):
            alone, ours = (np.mean(of[f"{learner}, {features}"]) for learner in (ALONE, OURS))
            reached.append(job.Goal(f"percent of wrong pixels, {name}, {features}, beside logistic regression", f"< {alone:.2f}",
                                    f"{ours:.2f}", bool(ours < alone)))
    middle = next(of for of in raw["times"] if of["size"] == 30)
    return [*reached, job.Goal("exact labels of a grid of 30 x 30, milliseconds", f"≤ {GOAL:g}", f"{middle['best_labelling']:.2f}",
                               middle["best_labelling"] <= GOAL)]


def draw(raw, folder):
    """Truth, noisy pictures, and labels without neighbours and with them."""
    wanted = {name: task for name, task in tasks(np.random.default_rng(0)).items() if name != "digits"}
    shown = []
    for name, (X, y, new, truth) in wanted.items():
        found = answers(X, y, new)
        shown.append({f"{name}: noisy": np.clip(new[0], 0, 1).squeeze(), "right labels": truth[0],
                      **{f"{learner}, {PIXEL}": found[f"{learner}, {PIXEL}"][0] for learner in (ALONE, OURS)}})
    figures.pictures(folder / "images.png", shown)


if __name__ == "__main__":
    job.run("images", "Pictures and minimum cuts", measure, report, goals, draw)
