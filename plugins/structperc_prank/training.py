"""The trainer of the pocket algorithm: an epoch draws as many examples as there are."""

from __future__ import annotations

import numpy as np

from structperc.components import PerceptronUpdate, ThresholdFeatures, Trainer
from structperc.errors import DataError, PluginError
from structperc.plugin_tools import CONVERGED, EARLY_STOPPED, MAX_EPOCHS, is_ordered, read_array, refuse_not_finite, substate
from structperc_prank.updates import OriginalUpdate, PocketSearch, SingleUpdate

GALLANT = r"""@article{gallant1990perceptron,
  author = {Stephen I. Gallant},
  title = {Perceptron-Based Learning Algorithms},
  journal = {IEEE Transactions on Neural Networks},
  volume = {1},
  number = {2},
  pages = {179--191},
  year = {1990}
}

@inproceedings{lin2009combining,
  author = {Hsuan-Tien Lin and Ling Li},
  title = {Combining Ordinal Preferences by Boosting},
  booktitle = {Proceedings of the ECML/PKDD 2009 Workshop on Preference Learning},
  pages = {69--83},
  year = {2009}
}"""

SMALLEST_TOTAL = 1e-280         # of costs: they are compared as whole multiples of 2**-52 of it


class PocketTrainer(Trainer):
    """Perceptron steps on drawn examples; the model is the ranker of least total cost among all of them.

    An example is drawn with probability proportional to its largest cost, sample weight times the loss of the worst prediction. After a
    step the costs of the ranker over all examples are summed. If the sum is strictly smaller, it replaces the one in the pocket. Training
    ends after `epochs` epochs, or as "converged" if the pocket's ranker costs nothing.
    """
    # variant: {"structured", "original", "single"}
    # compared: {"all", "screened", "runs"}. Which rankers are compared. True: all. "screened": all, but hopeless ones only on the first
    # rows. "runs": those with a longer run of right draws than the one in the pocket had, Gallant's ratchet.
    # costs: list of float. Of the pocket, after each epoch.

    online = False
    options_used = ("epochs",)
    citation = GALLANT

    def __init__(self, variant, compared):
        self.variant, self.compared = variant, compared

    def start(self, parts, context):
        self.costs = []
        self.search = self.resumed = None       # of the training under way; what a checkpoint held of it

    def check(self, context, parts):
        if parts.weights.vector() is None:
            raise PluginError(f"the pocket algorithm keeps a weight for each feature, but {type(parts.weights).__name__} keeps none; leave "
                              f"the kernel out.")
        for part, kinds in ((parts.features, ThresholdFeatures), (parts.update, (PerceptronUpdate, OriginalUpdate, SingleUpdate))):
            if not isinstance(part, kinds):
                raise PluginError(f"the pocket algorithm makes PRank's own steps, but {type(part).__name__} was named; leave that out.")
        if parts.outputs.partial_gold or not is_ordered(parts.outputs):
            raise PluginError(f"the pocket algorithm learns from ranks, but {type(parts.outputs).__name__} was named as the outputs; leave "
                              f"that out.")

    def check_order(self, context, parts):
        pass

    def learning_curve(self, engine):
        return self.costs

    def train(self, run):
        model, (X, y, costs) = run.model, examples(run)
        seed = run.context.random.integers(0, 2**64, dtype=np.uint64)
        if not costs.any():
            raise DataError("all costs are 0, so any ranker is as good as any other; set a cost for some wrong rank.")
        with np.errstate(over="ignore"):
            total = costs.sum()
        if not SMALLEST_TOTAL < total < np.inf:
            raise DataError(f"the costs add up to {total:g}, beyond the digits of floating point; "
                            f"{'divide' if total > 1 else 'multiply'} them by a large number.")
        search = PocketSearch(X, y, costs, self.variant, self.compared, seed)
        if run.resumed and self.resumed:
            search.restore(self.resumed)
        self.search, self.resumed = search, None
        weights = model.parts.weights
        try:
            while run.epoch < run.context.epochs and search.cost > 0 and not run.stop_requested:
                run.begin_epoch()
                before, kept = search.updates, () if run.online is None else (np.empty(len(y), dtype=np.intc), np.empty(len(y), dtype=int))
                made, mistakes, loss = search.epoch(weights, weights.n_visited, *kept)
                if kept:
                    answers, drawn = kept[0][:made], kept[1][:made]
                    run.keep(answers, drawn if run.active is None else run.active[drawn])
                self.costs.append(search.cost)
                run.end_epoch(run.own_pass(mistakes, search.updates - before, loss))
        finally:
            self.search = None
        if search.cost == 0:
            return CONVERGED
        return EARLY_STOPPED if run.stop_requested else MAX_EPOCHS

    def attributes(self, weights):
        """pocket_costs_: the total cost of the ranker in the pocket after each epoch, over all examples: it never rises."""
        return {"pocket_costs_": lambda: np.array(self.costs)}

    def state(self):
        under_way = {} if self.search is None else self.search.state()
        return {"costs": np.array(self.costs, dtype=float)} | {f"search.{name}": array for name, array in under_way.items()}

    def restore(self, state):
        self.costs = read_array(state, "costs", np.float64, (None,), low=0).tolist()
        self.resumed = dict(substate(state, "search."))


def examples(run):
    """The examples with a weight: their rows, ranks and costs."""
    gold, active = np.asarray(run.gold.values), slice(None) if run.active is None else run.active
    costs = run.model.parts.loss.costs_of(gold, run.rows)
    if run.weights is not None:
        costs = costs * np.asarray(run.weights)[:, None]
    refuse_not_finite(run.rows)
    return run.rows.X[active], gold[active], np.ascontiguousarray(costs[active])
