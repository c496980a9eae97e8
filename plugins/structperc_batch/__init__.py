"""Batch training: structural SVM and latent structural SVM with a certified duality gap, for any problem with an exact argmax.

    Engine("multiclass", plugins=["batch"], trainer="bcfw", C=0.1, epochs=1000)         min 1/2 ||w||^2 + C sum of structured hinges
    Engine("latent-ranking", plugins=["batch"], trainer="cccp", C=0.1, epochs=1000)     the same around completions of gold outputs

C, margin, loss, sample weights, shuffle and random_state are the engine's; epochs is the most passes that are made. All weights are
regularised, intercepts too. In the convention lambda / 2 ||w||^2 + mean of n losses C is 1 / (lambda n).

After Ctrl-C the model predicts. An engine with `warm_start=True` continues in the next fit, also an engine from a file, which has the dual
solution. Estimators make a new engine for each fit, so `warm_start` has no effect there.

Examples
--------
>>> from structperc import Engine
>>> X, y = [[-2.0], [-1.0], [0.5], [2.0]], ["low", "low", "middle", "high"]
>>> engine = Engine("cusum", plugins=["batch"], trainer="bcfw", C=10, epochs=1000, classes=["low", "middle", "high"]).fit(X, y)
>>> engine.status_, bool(engine.gap_ <= 1e-3 * engine.objective_)
('converged', True)
>>> engine.predict([[-3.0], [3.0]]).tolist()
['low', 'high']
"""

from structperc import Option, hookimpl
from structperc_batch.dual_blocks import BlockFrankWolfe
from structperc_batch.trainers import ConcaveConvexTrainer, FrankWolfeTrainer

options = {
    "tolerance": Option(1e-3, None, "training ends at a duality gap of this part of the objective", above=0, below=1),
    "warm_start": Option(False, (False, True), "fit goes on from the engine's last solution"),
}

TRAINERS = {"bcfw": FrankWolfeTrainer, "cccp": ConcaveConvexTrainer}
trainers = tuple(TRAINERS)
recommended = {("trainer", *trainers): {"epochs": 1000, "calibrate": False}}
paper = {("trainer", *trainers): {"epochs": 1000}}           # the optimum, to the tolerance
problem = "multiclass"      # to check it with
check_options = {"trainer": "bcfw"}


@hookimpl
def structperc_update(context):
    return BlockFrankWolfe(context.C, context.margin) if context.trainer in TRAINERS else None


@hookimpl
def structperc_trainer(context):
    if context.trainer not in TRAINERS:
        return None
    return TRAINERS[context.trainer](context.options["tolerance"], context.options["warm_start"])
