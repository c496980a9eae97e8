"""Options: hostile and unusual values for all options of engines and plugins, then a fit."""

import functools

from plain import Engine

from fuzz import hostile, kinds
from fuzz.promises import attempt
from structperc.fitting import plugins as registry
from structperc.fitting.options import ENGINE_OPTIONS

WORDS = (
    "perceptron", "latent", "pa", "pa1", "pa2", "exact-pa", "exact-pa1", "exact-pa2", "absolute", "squared", "zero-one", "hamming",
    "costs", "ndcg",
    "average-precision", "precision", "constant", "inverse", "inverse-sqrt", "online", "bcfw", "cccp", "original", "linear", "rbf",
    "polynomial",
    "laplacian", "perceptron", "stump", "precomputed", "subset-tree", "subsequence", "scale", "auto", "oldest", "random", "least",
    "float32", "iob1",
    "adagrad", "adagrad-log-loss", "log-loss", "logistic", "direct", "direct-better", "perturbed", "until-level", "bounded-sum",
    "cumulative-logit", "svor", "recommended", "paper", "visits", "iob2", "bioes", "U1:%x[0,0]", "U1:%x[9,9]",
)  # fmt: skip
USUAL = (*WORDS, *WORDS, True, False, None, 0, 1, 2, 3, 50, 0.1, 0.5, 1e-9, 1e9, (), [], ["a", "b"], [["B-x", "O"]], [[None, "I-x"]], [[0,
                                                                                                                                        1],
                                                                                                                                        [1,
                                                                                                                                         0]],
         [[0, 1, 2], [1, 0, 1], [2, 1, 0]], [1, 2, 3], ["D", "N", "V"], [0, 1, 3])
GIANT = ("epochs", "n_hashed", "cache_size")        # large values need much time or memory


@functools.cache
def names():
    """All options that may be given to an engine."""
    return [*ENGINE_OPTIONS, *sorted({name for plugin in registry.installed() for name in plugin.options})]


def hostile_options(random):
    """An engine with one to three hostile or unusual options. The constructor or fit raises an error, or the engine predicts."""
    one = kinds.pick(random)
    kind, given = one.kind, dict(one.kind.options)
    for name in random.choices(names(), k=random.choice((1, 1, 2, 3))):
        value = random.choice(USUAL) if random.random() < 0.6 else hostile.value(random)
        if name in GIANT and isinstance(value, (int, float)) and value > 100:
            continue
        if not (name == "kernel" and callable(value)):          # errors of a function are its author's
            given[name] = value
    if random.random() < 0.3:
        given["plugins"] = random.choice((["dual-kernel"], ["batch"], ["batch", "dual-kernel"], ["prank"], ["no such"],
                                          [hostile.value(random)]))
    made, engine = attempt(lambda: Engine(**given))
    if not made:
        return False
    fitted, _ = attempt(engine.fit, kind.X, kind.y, also=(FileNotFoundError,), **kind.told, **kind.fitting)         # of vectors
    if fitted:
        attempt(engine.predict, kind.X, **kind.told)
        saved, content = attempt(kinds.dumped, engine)
        if saved and random.random() < 0.3:
            attempt(kind.load, content)
    return fitted
