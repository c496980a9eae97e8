"""A trainer: epochs until two in a row bring no update."""

import numpy as np

from structperc import hookimpl
from structperc.components import Trainer

problem = "cusum"                       # with which `structperc check` checks this plugin
trainers = ("patient",)
check_options = {"trainer": "patient"}


class Patient(Trainer):
    options_used = ("update", "loss_weight", "epochs", "shuffle", "weighting")

    def start(self, parts, context):
        self.quiet = 0

    def train(self, run):
        while run.epoch < run.context.epochs and self.quiet < 2 and not run.stop_requested:
            run.begin_epoch()
            passed = run.run(run.order())
            self.quiet = 0 if passed.updates else self.quiet + 1
            run.end_epoch(passed)
        return "converged" if self.quiet == 2 else "max_epochs"

    def state(self):                    # a checkpoint has it
        return {"quiet": np.array(self.quiet)}

    def restore(self, state):
        self.quiet = int(state["quiet"])


@hookimpl
def structperc_trainer(context):
    return Patient() if context.trainer == "patient" else None
