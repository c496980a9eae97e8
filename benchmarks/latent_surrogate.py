"""The surrogate loss of latent rankings by epoch: the latent perceptron in both readings of its rule beside CCCP; time of a query."""

import sys

import attrs
import figures
import job
import numpy as np
from measuring import cpu_seconds, spread, table, take_turns

from structperc import Engine
from structperc.errors import MissingData
from structperc.files.datasets import load_letor_ohsumed
from structperc.schedules import inverse_sqrt

K, EPOCHS = 10, (1, 2, 5, 10, 20, 50, 100)
TIMED = 30                              # passes whose time is taken


@attrs.frozen
class Learner:
    """A way to train: options of the engine, whose passes are `epochs`."""

    name: str
    options: dict

    def engine(self, epochs):
        return Engine("latent-ranking", preset="paper", k=K, epochs=epochs, random_state=0, **self.options)


PLAIN, AUGMENTED = {"update": "latent", "loss_weight": 0.0}, {"update": "latent", "loss_weight": 1.0}
PERCEPTRONS = [
    Learner("predicted output", PLAIN),
    Learner("predicted output, averaged", PLAIN | {"average": True}),
    Learner("search with the loss", AUGMENTED),
    Learner("search with the loss, averaged", AUGMENTED | {"average": True}),
    Learner("search with the loss, averaged, steps 1/√t", AUGMENTED | {"average": True, "step_size": inverse_sqrt()}),
]
CCCP = [Learner(f"CCCP, C = {C:g}", {"plugins": ["batch"], "trainer": "cccp", "C": C, "tolerance": 1e-4}) for C in (0.1, 1.0, 10.0, 100.0)]


# ---- the surrogate of a model ----

def surrogates(engine, documents):
    """Of each query: score and loss of the list that the search with the loss finds, less the score of the best completion.

    Searches, losses, features and weights are the model's.
    """
    parts, w = engine.parts_, engine.parts_.weights.vector()
    rows = engine.read(documents.X, lengths=documents.lengths)
    gold, found = parts.outputs.encode(documents.y, rows), []
    for i, scores in enumerate(engine.atom_scores(documents.X, lengths=documents.lengths)):
        x = rows.example(i)
        x.n_atoms = parts.features.n_atoms(x)
        worst = parts.argmax.argmax(parts.loss.augment(gold[i], scores, 1.0, x), x)
        best = parts.outputs.complete(gold[i], scores, x)
        moved = parts.features.vector(x, parts.outputs.count(x, worst)) - parts.features.vector(x, parts.outputs.count(x, best))
        found.append(parts.loss.value(gold[i], worst, x) + w @ moved)
    return np.array(found)


def require_identity(engine, values):
    """CCCP's own objective is 1/2 ||w||^2 + C times the sum of the surrogates; else the page would be wrong."""
    w = engine.parts_.weights.vector()
    ours = w @ w / 2 + engine.C * values.sum()
    if not np.isclose(ours, engine.objectives_[-1], rtol=1e-6):
        raise AssertionError(f"objective {engine.objectives_[-1]} of the model, {ours} of its surrogates")


# ---- the experiment ----

def measure(quick):
    documents = load_letor_ohsumed()[0].train
    epochs = EPOCHS[:3] if quick else EPOCHS
    start = untrained(documents)
    curves = {}
    for learner in PERCEPTRONS + CCCP:
        curves[learner.name] = [point(learner, n, documents) for n in epochs]
    contenders = {learner.name: lambda learner=learner: seconds_per_visit(learner, documents)
                  for learner in (PERCEPTRONS[0], PERCEPTRONS[2], *CCCP)}
    return {"queries": len(documents.lengths), "documents": len(documents.X), "epochs": list(epochs), "at_zero": start, "curves": curves,
            "microseconds": take_turns(contenders, 2 if quick else 5)}


def untrained(documents):
    """The mean surrogate at w = 0: CCCP reports its objective there."""
    engine = CCCP[0].engine(1).fit(documents.X, documents.y, lengths=documents.lengths)
    return float(engine.objectives_[0] / engine.C / len(documents.lengths))


def point(learner, epochs, documents):
    """The mean surrogate and loss of a query after so many passes, and the passes that were made."""
    engine = learner.engine(epochs).fit(documents.X, documents.y, lengths=documents.lengths)
    values = surrogates(engine, documents)
    if learner in CCCP:
        require_identity(engine, values)
    return {"surrogate": float(values.mean()), "passes": len(engine.mistakes_), "status": engine.status_}


def seconds_per_visit(learner, documents):
    """CPU microseconds of a pass's visit of one query."""
    engine = learner.engine(TIMED)
    seconds = cpu_seconds(lambda: engine.fit(documents.X, documents.y, lengths=documents.lengths))
    return seconds / len(engine.mistakes_) / len(documents.lengths) * 1e6


# ---- what is shown ----

def report(raw):
    rows = [[name, *(f"{one['surrogate']:.3f}" for one in found)] for name, found in raw["curves"].items()]
    best = min(one["surrogate"] for name, found in raw["curves"].items() if name.startswith("CCCP") for one in found)
    plain, augmented = (min(one["surrogate"] for learner in learners for one in raw["curves"][learner.name])
                        for learners in (PERCEPTRONS[:2], PERCEPTRONS[2:]))
    return "\n\n".join([
        f"OHSUMED of LETOR 3.0, S1 to S3 of fold 1: {raw['queries']} queries, {raw['documents']:,} documents, k = {K}. The surrogate (4) "
        f"of a query is the largest sum of score and loss, less the best completion's score. At w = 0 its mean is {raw['at_zero']:.3f}. "
        "Searches, losses and weights are the model's. For CCCP ½ ‖w‖² + C Σ surrogate is the model's objective; otherwise the script ends "
        "with an error.",
        "## By passes over the data",
        table(["mean surrogate after passes", *raw["epochs"]], rows),
        "![The surrogate by passes](latent_surrogate.png)",
        "Rule (6) has two readings: y* and h* are the predicted output, or the list of the search with the loss. The paper claims that its "
        f"perceptron \"stochastically optimises the surrogate\". With the predicted output the least value here is {plain:.3f}, "
        f"{'above' if plain > raw['at_zero'] else 'below'} that of w = 0. With the loss in the search it is {augmented:.3f}. CCCP reaches "
        f"{best:.3f}, and a round never raises its objective.",
        "## Time of a query",
        "CPU microseconds per query and pass, reading and set-up included. CCCP certifies its gap on the way.",
        table(["learner", "microseconds"], [[name, spread(found)] for name, found in raw["microseconds"].items()])])


def goals(raw):
    return []                           # shown, not measured against a wish


def draw(raw, folder):
    figure, axes = figures.new(8.4, 4.6)
    for i, (name, found) in enumerate(raw["curves"].items()):
        colour = figures.COLOURS[0 if name.startswith("predicted") else 1 if name.startswith("search") else 2]
        axes.plot(raw["epochs"], [one["surrogate"] for one in found], figures.STYLES[i % len(figures.STYLES)], color=colour,
                  marker=figures.MARKERS[i], markersize=5, label=name)
    axes.axhline(raw["at_zero"], color="black", linewidth=0.8, linestyle="--", label="w = 0")
    axes.set(xscale="log", xlabel="passes", ylabel="mean surrogate of a query")
    axes.set_xticks(raw["epochs"], [str(n) for n in raw["epochs"]], minor=False)
    axes.minorticks_off()
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small")
    figure.savefig(folder / "latent_surrogate.png")


if __name__ == "__main__":
    try:
        job.run("latent_surrogate", "The surrogate loss of latent rankings", measure, report, goals, draw)
    except MissingData as error:
        sys.exit(str(error))
