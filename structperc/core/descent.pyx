"""Update rules that descend an objective by its gradient in atom space: log loss and direct loss minimisation.

Cost: the marginals of one example, or one or two searches with the loss; and O(atoms).
"""
import numpy as np

from libc.math cimport INFINITY
from structperc.core.errors import DataError, OptionError, UnusedOption, shortened
from structperc.core.schedules cimport Schedule
from structperc.core.updates cimport Encoded, ScheduledUpdate, Trial
from structperc.core.updates import positive

LAFFERTY = """@inproceedings{lafferty2001conditional,
  author = {John Lafferty and Andrew McCallum and Fernando Pereira},
  title = {Conditional Random Fields: Probabilistic Models for Segmenting and Labeling Sequence Data},
  booktitle = {Proceedings of the Eighteenth International Conference on Machine Learning},
  pages = {282--289},
  year = {2001}
}"""

MCALLESTER = """@inproceedings{mcallester2010direct,
  author = {David McAllester and Tamir Hazan and Joseph Keshet},
  title = {Direct Loss Minimization for Structured Prediction},
  booktitle = {Advances in Neural Information Processing Systems 23},
  pages = {1594--1602},
  year = {2010}
}"""


def refuse_loss_weight(context, rule):
    """Refuses a loss in the search of a rule that makes searches of its own, or none."""
    if context.loss_weight:
        raise UnusedOption(f"loss_weight={context.loss_weight} has no effect with update={rule!r}; leave it at 0.0.", "loss_weight")


cdef class LogLossUpdate(ScheduledUpdate):
    """w <- w + eta sum_a (n_gold[a] - E n_y[a]) phi(x, a): a step down -log p(gold), where p(y) = exp(score of y) / Z.

    On labels this is multinomial logistic regression, on chains a conditional random field. It acts at every visit, and the record counts
    -log p(gold) before each step. With decay, which multiplies the weights at every visit too, it descends
    sum_i -log p(gold_i) + lambda / 2 ||w||^2 for each example, lambda = decay / step_size where both have the same schedule.

    Parameters
    ----------
    step_size, schedule, decays
        As of `ScheduledUpdate`.
    """

    when = "always"
    needs = frozenset({"marginals"})
    sets_loss = True
    citation = LAFFERTY

    def check(self, context, parts):
        refuse_loss_weight(context, "log-loss")

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Py_ssize_t a, n = trial.x.n_atoms
        cdef double eta = self.eta_c(trial), score = 0
        cdef double *c = trial.c
        if eta < 0 or trial.marginals_c() < 0:
            return -1
        for a in range(n):
            c[a] = 0
        if trial.outputs.count_c(trial.x, trial.gold_code.at, trial.gold_code.n, 1.0, c) < 0:
            return -1
        for a in range(n):
            score += c[a] * trial.s[a]
            c[a] = eta * (c[a] - trial.expected[a])
        trial.loss = max(trial.log_z - score, 0)        # rounding may say that p > 1
        return 1


cdef class DirectUpdate(ScheduledUpdate):
    """A step down the expected loss of the prediction y, as a finite difference of searches with and without the loss.

    With the width e = epsilon * epsilon_schedule(t) and u = argmax score - e * loss, v = argmax score + e * loss:

        direct          w <- w + eta / 2e (Phi(x, u) - Phi(x, v))       towards the better structure and away from the worse
        direct-better   w <- w + eta / e (Phi(x, u) - Phi(x, y))        towards the better one alone: no step where y costs nothing

    Both are -d E[loss(y)] / dw in the limit e -> 0, for smooth distributions of inputs; the one-sided difference has a bias of order e.
    Only the direction of w matters to the expected loss, so e is measured against ||w||: a constant e shrinks beside growing weights. From
    w = 0 on, where e is large, u is the gold output. The objective is not convex, and no mistake bound is known. The third difference, away
    from the worse structure alone, never sees the gold output from w = 0 and is left out.

    Parameters
    ----------
    variant : {"direct", "direct-better"}
    step_size, schedule, decays
        As of `ScheduledUpdate`.
    epsilon : float, default 10.0
        Positive.
    epsilon_schedule : str or function, default "constant"
    """

    when = "always"
    needs = frozenset({"search"})
    options_used = ("step_size", "step_schedule", "epsilon", "epsilon_schedule")
    citation = MCALLESTER

    cdef readonly str variant
    cdef readonly double epsilon
    cdef Schedule width
    cdef bint central

    def __init__(self, str variant="direct", step_size=1.0, schedule="constant", decays=False, epsilon=10.0, epsilon_schedule="constant"):
        ScheduledUpdate.__init__(self, step_size, schedule, decays)
        if variant not in ("direct", "direct-better"):
            raise OptionError(f"variant={shortened(variant)}; expected 'direct' or 'direct-better'.")
        self.variant, self.central = variant, variant == "direct"
        self.epsilon, self.width = positive("epsilon", epsilon), Schedule(epsilon_schedule, "epsilon_schedule")

    def check(self, context, parts):
        refuse_loss_weight(context, self.variant)

    def probe(self):
        found = [answers for answers in (self.schedule.probe(), self.width.probe()) if answers is not None]
        return np.concatenate(found) if found else None

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Py_ssize_t a, n = trial.x.n_atoms
        cdef double eta = self.eta_c(trial), width = self.width.at_c(trial.n_visited + 1) * self.epsilon
        cdef bint moves = False
        if eta < 0:
            return -1
        if not 0 < width < INFINITY:
            with gil:
                self.error = self.width.taken_error() or DataError(
                    f"the width of the finite difference is {width} for example {trial.n_visited + 1} in the order of visiting; expected a "
                    f"number greater than 0 from epsilon={self.epsilon} and epsilon_schedule={self.width.rule!r}.")
            return -1
        for a in range(n):
            trial.c[a] = 0
        if trial.search_c(-width) < 0 or counted(trial, trial.found_code, 1) < 0:
            return -1
        if self.central and trial.search_c(width) < 0 or counted(trial, trial.found_code if self.central else trial.y_code, -1) < 0:
            return -1
        eta /= 2 * width if self.central else width
        for a in range(n):
            moves = moves or trial.c[a] != 0
            trial.c[a] *= eta
        return moves or self.decays


cdef inline int counted(Trial trial, Encoded y, double sign) noexcept nogil:
    """c += sign * how often atoms occur in y; -1 on an error."""
    return trial.outputs.count_c(trial.x, y.at, y.n, sign, trial.c)
