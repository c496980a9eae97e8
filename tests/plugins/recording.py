"""Update rules that keep the books of what the engine did: `Ledger` entries in the joint feature space."""

from reference.bounds import Ledger

from structperc.components import PassiveAggressiveUpdate, PerceptronUpdate


class _Recording:
    """Passes each step on to the compiled rule and notes it. `problem`: a twin of `reference.problems`; X: its inputs, extended."""

    def record(self, problem, X, margin):
        self.problem, self.X, self.required = problem, X, margin
        self.ledger = Ledger()
        return self

    def step(self, trial):
        c = super().step(trial)
        difference = trial.difference()
        margin = self.required * trial.loss
        if c is not None:
            x = self.X[trial.x.index]
            self.ledger.note(trial.loss, margin, margin - difference @ trial.scores, abs(c).max() / abs(difference).max(),
                             self.problem.phi(x, trial.gold) - self.problem.phi(x, trial.y))
        return c


class RecordingPerceptron(_Recording, PerceptronUpdate):
    pass


class RecordingPassiveAggressive(_Recording, PassiveAggressiveUpdate):
    pass


def recording(update, problem, X, margin=1.0, C=1.0):
    """A plugin that replaces the update rule of that name by itself, with books."""
    rule = RecordingPerceptron() if update == "perceptron" else RecordingPassiveAggressive(update, margin, C)
    return rule.record(problem, problem.extended(X), margin)
