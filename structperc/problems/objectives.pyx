# distutils: extra_compile_args = VECTORS
"""Losses of given scores s: F(s) - s . n_gold, where the gradient of F is a mean of structures' counts (Danskin).

Typical sizes: 10 .. 2000 atoms of an example. Cost: the search or the marginals of the solver, and O(atoms).
"""
from libc.math cimport INFINITY, NAN, exp, expm1, log, log1p
from libc.string cimport memcpy
from structperc.basics.errors import DataError
from structperc.core.component cimport Component
from structperc.core.updates cimport Encoded, Trial, Update
from structperc.problems.nearest cimport ActiveSet, product


cdef class Objective(Component):
    """A loss of given scores."""
    # needs: tuple of str. What of "search", "marginals", "sums" (a loss that is a sum over atoms), "signs" and "ranks" a problem must have.

    needs = ()

    cdef double value_c(self, Trial trial, double *g) noexcept nogil:
        """The value, not finite for an error; g has minus the counts of gold and becomes the gradient. trial.loss is minus gold's score."""
        return NAN


cdef class Hinge(Objective):
    """max score + margin * loss, less the score of gold; without a margin the loss of the perceptron."""

    needs = ("search",)
    cdef double margin

    def __init__(self, double margin):
        self.margin = margin

    cdef double value_c(self, Trial trial, double *g) noexcept nogil:
        cdef double loss = 0
        cdef Encoded *y = &trial.found_code
        if self.margin == 0:
            y.n = trial.argmax.argmax_c(trial.x, trial.s, &trial.code_buffer[0])
            if y.n < 0:
                return NAN
        elif trial.search_c(self.margin) < 0:
            return NAN
        if trial.outputs.count_c(trial.x, y.at, y.n, 1.0, g) < 0:
            return NAN
        if self.margin != 0:
            loss = trial.losses.value_c(trial.x, trial.given_code.at, trial.given_code.n, y.at, y.n)
            if loss < 0:
                return NAN
        return product(g, trial.s, trial.x.n_atoms) + self.margin * loss


cdef class LogLoss(Objective):
    """log Z, less the score of gold: - log P(gold)."""

    needs = ("marginals",)

    cdef double value_c(self, Trial trial, double *g) noexcept nogil:
        cdef Py_ssize_t a
        if trial.marginals_c() < 0:
            return NAN
        for a in range(trial.x.n_atoms):
            g[a] += trial.expected[a]
        return trial.log_z + trial.loss


cdef class SoftmaxMargin(Objective):
    """log of the sum of exp(score + margin * loss), less the score of gold."""

    needs = ("marginals", "sums")
    cdef double margin

    def __init__(self, double margin):
        self.margin = margin

    cdef double value_c(self, Trial trial, double *g) noexcept nogil:
        cdef Py_ssize_t a, n = trial.x.n_atoms
        cdef double score
        cdef double *s = &trial.augmented[0]
        memcpy(s, trial.s, n * sizeof(double))
        if trial.losses.augment_c(trial.x, trial.given_code.at, trial.given_code.n, self.margin, s) != 0:
            return NAN
        score = product(g, s, n)            # of gold: what `augment_c` adds is the loss up to a constant, and its own loss is 0
        if trial.argmax.marginals_c(trial.x, s, trial.expected, &trial.log_z) < 0:
            return NAN
        for a in range(n):
            g[a] += trial.expected[a]
        return trial.log_z + score


cdef class SparseMap(Objective):
    """max of s . mu - |mu|^2 / 2 over the convex hull of all counts mu, less the same of gold."""

    needs = ("search",)
    cdef ActiveSet points
    cdef double tolerance

    def __init__(self, double tolerance):
        self.tolerance, self.points = tolerance, ActiveSet()

    cdef double value_c(self, Trial trial, double *g) noexcept nogil:
        cdef Py_ssize_t a, n = trial.x.n_atoms
        cdef double value = trial.loss
        cdef double *mu = self.points.nearest_c(trial, self.tolerance)
        if mu == NULL:
            return NAN
        for a in range(n):
            value += g[a] * g[a] / 2
        value += product(mu, trial.s, n)
        for a in range(n):
            value -= mu[a] * mu[a] / 2
            g[a] += mu[a]
        return value


cdef class OfRule(Objective):
    """What an update rule descends: the gradient is minus its coefficients, and the value is what it writes as loss."""
    # rule: Update. Acts always.
    # predicts: bool. Whether the loss of the best structure is measured before the step.

    cdef Update rule
    cdef bint predicts
    cdef public tuple needs

    def __init__(self, Update rule, needs, bint predicts=False):
        self.rule, self.needs, self.predicts = rule, needs, predicts

    cdef double value_c(self, Trial trial, double *g) noexcept nogil:
        cdef Py_ssize_t a
        cdef int made
        if self.predicts:
            trial.found_code.n = trial.argmax.argmax_c(trial.x, trial.s, &trial.code_buffer[0])
            if trial.found_code.n < 0:
                return NAN
            trial.loss = trial.losses.value_c(trial.x, trial.given_code.at, trial.given_code.n, trial.found_code.at, trial.found_code.n)
            if trial.loss < 0:
                return NAN
        made = self.rule.step_c(trial)
        if made < 0:
            with gil:
                self.error, self.rule.error = self.rule.error, None
            return NAN
        for a in range(trial.x.n_atoms):
            g[a] = -trial.c[a] if made else 0
        return trial.loss


cdef class CumulativeLogit(Objective):
    """- log P of the right ranks, where P(y > k) = sigma(s_k): proportional odds. Scores must fall."""

    needs = ("signs", "ranks")

    cdef double value_c(self, Trial trial, double *g) noexcept nogil:
        cdef Py_ssize_t a, n = trial.x.n_atoms, low = -1, high = n
        cdef const double *s = trial.s
        cdef double gap = INFINITY, barrier = 0, value = 0
        if trial.signs_c() < 0:
            return NAN
        for a in range(1, n):
            if not s[a] < s[a - 1] and not s[a] == -INFINITY:
                with gil:
                    self.error = DataError(f"the loss 'cumulative-logit' needs scores that fall, but of example {trial.n_visited} score "
                                           f"{a} is {s[a]} after {s[a - 1]}. Subtract rising thresholds from one number, or use "
                                           f"'log-loss'.")
                return NAN
        for a in range(n):
            g[a] = 0
            if trial.c[a] > 0:
                low = a
            elif trial.c[a] < 0 and high == n:
                high = a
        if low >= 0 and high < n:
            gap = s[low] - s[high]
            value = -log(-expm1(-gap))
            barrier = 1 / expm1(gap)
        if low >= 0:
            value += softplus(-s[low])
            g[low] = -sigmoid(-s[low]) - barrier
        if high < n:
            value += softplus(s[high])
            g[high] = sigmoid(s[high]) + barrier
        return value


cdef inline double softplus(double v) noexcept nogil:
    """log(1 + e^v), without overflow."""
    return v + log1p(exp(-v)) if v > 0 else log1p(exp(v))


cdef inline double sigmoid(double v) noexcept nogil:
    """1 / (1 + e^-v), without overflow."""
    return 1 / (1 + exp(-v)) if v > 0 else exp(v) / (1 + exp(v))
