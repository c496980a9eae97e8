"""Update rules that keep the books of what the engine did: `Ledger` entries in the joint feature space."""

from reference.bounds import Ledger

from structperc.components import PassiveAggressiveUpdate, PerceptronUpdate


class _Recording:
    """Passes each step on to the compiled rule and notes it. `problem`: a twin of `reference.problems`; X: its inputs, extended."""

    def record(self, problem, X, margin):
        self.problem, self.X, self.required = problem, X, margin
        self.ledger = Ledger()
        return self

    def step(self, step):
        c = super().step(step)
        difference = step.difference()
        margin = self.required * step.loss
        if c is not None:
            x = self.X[step.x.index]
            self.ledger.note(step.loss, margin, margin - difference @ step.scores, abs(c).max() / abs(difference).max(),
                             self.problem.phi(x, step.gold) - self.problem.phi(x, step.y))
        return c


class RecordingPerceptron(_Recording, PerceptronUpdate):
    pass


class RecordingPassiveAggressive(_Recording, PassiveAggressiveUpdate):
    pass


def recording(update, problem, X, margin=1.0, C=1.0):
    """A plugin that replaces the update rule of that name by itself, with books."""
    rule = RecordingPerceptron() if update == "perceptron" else RecordingPassiveAggressive(update, margin, C)
    return rule.record(problem, problem.extended(X), margin)
