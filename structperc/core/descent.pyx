"""Update rules that descend an objective by its gradient in atom space: log loss and direct loss minimisation.

Cost: the marginals of one example, or one or two searches with the loss; and O(atoms).
"""
import numpy as np

from libc.math cimport INFINITY
from structperc.core.errors import DataError, OptionError, UnusedOption, shortened
from structperc.core.schedules cimport Schedule
from structperc.core.updates cimport Encoded, ScheduledUpdate, Trial, Update
from structperc.core.updates import positive

LAFFERTY = """@inproceedings{lafferty2001conditional,
  author = {John Lafferty and Andrew McCallum and Fernando Pereira},
  title = {Conditional Random Fields: Probabilistic Models for Segmenting and Labeling Sequence Data},
  booktitle = {Proceedings of the Eighteenth International Conference on Machine Learning},
  pages = {282--289},
  year = {2001}
}"""

RATLIFF = """@inproceedings{ratliff2007online,
  author = {Nathan D. Ratliff and J. Andrew Bagnell and Martin A. Zinkevich},
  title = {(Online) Subgradient Methods for Structured Prediction},
  booktitle = {Proceedings of the Eleventh International Conference on Artificial Intelligence and Statistics},
  pages = {380--387},
  year = {2007}
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


cdef class HingeUpdate(Update):
    """weight * (Phi(x, gold) - Phi(x, y)), y = argmax score + margin * loss: minus a subgradient of the structured hinge loss.

    The hinge loss is max over y of margin * loss(gold, y) - w . (Phi(x, gold) - Phi(x, y)). No step where it is 0. Its steps have no size,
    so it needs weights that give them one, such as `AdaGradWeights`. Mistakes are counted by the prediction, without the loss.

    Parameters
    ----------
    margin : float, default 1.0
        Positive.
    """

    search = "margin"
    needs = frozenset({"search", "step sizes"})
    options_used = ("margin", "step_size")
    citation = RATLIFF

    cdef readonly double margin

    def __init__(self, margin=1.0):
        self.margin = positive("margin", margin)

    @property
    def loss_weight(self):
        return self.margin

    def check(self, context, parts):
        refuse_loss_weight(context, context.update)

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Py_ssize_t a, n = trial.x.n_atoms
        cdef double gained = 0                          # w . (Phi(x, gold) - Phi(x, y))
        cdef bint moves = False
        if trial.difference_c() < 0:
            return -1
        for a in range(n):                              # few are not 0
            if trial.c[a] != 0:
                gained += trial.c[a] * trial.s[a]
                moves = True
        if not moves or not self.margin * trial.loss - gained > 0:
            return 0
        if trial.weight != 1:
            for a in range(n):
                trial.c[a] *= trial.weight
        return trial.weight != 0


cdef class LogLossUpdate(ScheduledUpdate):
    """w <- w + eta sum_a (n_gold[a] - E n_y[a]) phi(x, a): a step down -log p(gold), where p(y) = exp(score of y) / Z.

    On labels this is multinomial logistic regression, on chains a conditional random field. It acts at every visit, and the record counts
    -log p(gold) before each step. With decay, which multiplies the weights at every visit too, it descends
    sum_i -log p(gold_i) + lambda / 2 ||w||^2 for each example, lambda = decay / step_size if both fall by the same rule.

    Parameters
    ----------
    step_size, decays
        As of `ScheduledUpdate`.
    sized : bool, default True
        False: the weights give the steps their sizes, such as `AdaGradWeights`.
    """

    when = "always"
    sets_loss = True
    citation = LAFFERTY

    cdef readonly bint sized

    def __init__(self, step_size=1.0, decays=False, sized=True):
        ScheduledUpdate.__init__(self, step_size, decays)
        self.sized = sized

    @property
    def needs(self):
        return frozenset({"marginals"} if self.sized else {"marginals", "step sizes"})

    def check(self, context, parts):
        refuse_loss_weight(context, context.update)

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Py_ssize_t a, n = trial.x.n_atoms
        cdef double eta = self.eta_c(trial) if self.sized else trial.weight, score = 0
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

    With the width e = epsilon of the t-th example visited and u = argmax score - e * loss, v = argmax score + e * loss:

        direct          w <- w + eta / 2e (Phi(x, u) - Phi(x, v))       towards the better structure and away from the worse
        direct-better   w <- w + eta / e (Phi(x, u) - Phi(x, y))        towards the better one alone: no step where y costs nothing

    Both are -d E[loss(y)] / dw in the limit e -> 0, for smooth distributions of inputs; the one-sided difference has a bias of order e.
    Only the direction of w matters to the expected loss, so e is measured against ||w||: a constant e shrinks beside growing weights. From
    w = 0 on, where e is large, u is the gold output. The objective is not convex, and no mistake bound is known. The third difference, away
    from the worse structure alone, never sees the gold output from w = 0 and is left out.

    Parameters
    ----------
    variant : {"direct", "direct-better"}
    step_size, decays
        As of `ScheduledUpdate`.
    epsilon : float, Schedule or function, default 10.0
        Positive.
    """

    when = "always"
    needs = frozenset({"search"})
    options_used = ("step_size", "epsilon")
    citation = MCALLESTER

    cdef readonly str variant
    cdef readonly Schedule epsilon
    cdef bint central

    def __init__(self, str variant="direct", step_size=1.0, decays=False, epsilon=10.0):
        ScheduledUpdate.__init__(self, step_size, decays)
        if variant not in ("direct", "direct-better"):
            raise OptionError(f"variant={shortened(variant)}; expected 'direct' or 'direct-better'.")
        self.variant, self.central = variant, variant == "direct"
        self.epsilon = positive("epsilon", epsilon)

    def check(self, context, parts):
        refuse_loss_weight(context, self.variant)

    def probe(self):
        found = [answers for answers in (self.step_size.probe(), self.epsilon.probe()) if answers is not None]
        return np.concatenate(found) if found else None

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Py_ssize_t a, n = trial.x.n_atoms
        cdef double eta = self.eta_c(trial), width = self.epsilon.at_c(trial.n_visited + 1)
        cdef bint moves = False
        if eta < 0:
            return -1
        if not 0 < width < INFINITY:
            with gil:
                self.error = self.epsilon.taken_error() or DataError(
                    f"the width of the finite difference is {width} for example {trial.n_visited + 1} in the order of visiting; expected a "
                    f"number greater than 0 from epsilon={self.epsilon!r}.")
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
