"""Update rules that descend an objective by its gradient in atom space: log loss, logistic loss of atoms, direct loss minimisation.

Cost: the marginals of one example, or one or two searches with the loss; and O(atoms).
"""
import numpy as np

from libc.math cimport INFINITY, exp, log1p
from structperc.basics.errors import DataError, OptionError, PluginError, UnusedOption, shortened
from structperc.core.component import overrides, unwrapped
from structperc.core.outputs cimport Outputs
from structperc.core.schedules cimport Schedule
from structperc.core.threshold_features import ThresholdFeatures
from structperc.core.updates cimport Encoded, ScheduledUpdate, Trial, Update
from structperc.core.updates import positive, rule_of

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


RENNIE = """@inproceedings{rennie2005loss,
  author = {Jason D. M. Rennie and Nathan Srebro},
  title = {Loss Functions for Preference Levels: Regression with Discrete Ordered Labels},
  booktitle = {Proceedings of the IJCAI Multidisciplinary Workshop on Advances in Preference Handling},
  year = {2005}
}

@article{pedregosa2017consistency,
  author = {Fabian Pedregosa and Francis Bach and Alexandre Gramfort},
  title = {On the Consistency of Ordinal Regression Methods},
  journal = {Journal of Machine Learning Research},
  volume = {18},
  number = {55},
  pages = {1--35},
  year = {2017}
}"""

LOGISTIC_STEP = Schedule(0.1, "step_size", "inverse-sqrt", 100.0)
cdef double ORDERED = 4         # 1 / the largest slope of the logistic function: larger steps may cross thresholds


def refuse_loss_weight(context, rule):
    """Raises an error for a loss in the search of a rule with searches of its own, or without search."""
    if context.loss_weight:
        raise UnusedOption(f"loss_weight={context.loss_weight} has no effect with update={rule!r}; leave it at 0.0.", "loss_weight")


def refuse_fixed_sizes(context, parts):
    """Raises an error for weights without step sizes of their own, for a rule that returns gradients."""
    if parts.weights.step_size is None:
        raise PluginError(f"{rule_of(context, parts)} gives each weight a step size of its own, but {type(parts.weights).__name__} has no "
                          f"such weights. Leave out its plugin, or use another update.")


cdef class HingeUpdate(Update):
    """A subgradient step of the structured hinge loss: weight * (Phi(x, gold) - Phi(x, y)), y = argmax score + margin * loss.

    The hinge loss is the maximum over y of margin * loss(gold, y) - w . (Phi(x, gold) - Phi(x, y)); at 0 there is no step.
    It needs weights with step sizes, such as `AdaGradWeights`. Mistakes are those of the prediction without the loss.

    Parameters
    ----------
    margin : float, default 1.0
        Required margin for a loss of 1, larger than 0.

    References
    ----------
    I. Tsochantaridis, T. Joachims, T. Hofmann and Y. Altun: Large margin methods for structured and interdependent output variables.
    Journal of Machine Learning Research 6, pages 1453-1484, 2005.

    N. D. Ratliff, J. A. Bagnell and M. A. Zinkevich: (Online) subgradient methods for structured prediction. Proceedings of the Eleventh
    International Conference on Artificial Intelligence and Statistics, pages 380-387, 2007.

    Examples
    --------
    >>> from structperc.components import HingeUpdate
    >>> sorted(HingeUpdate(margin=2.0).needs)
    ['search']
    """

    needs = frozenset({"search"})
    citation = RATLIFF

    cdef readonly double margin

    def __init__(self, margin=1.0):
        self.margin = positive("margin", margin)

    def searches(self, loss_weight):
        return "margin", self.margin

    def check(self, context, parts):
        refuse_fixed_sizes(context, parts)
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
    """A gradient step of the log loss: w <- w + eta sum_a (n_gold[a] - E n_y[a]) phi(x, a), where p(y) = exp(score of y) / Z.

    On labels this is multinomial logistic regression, on chains a conditional random field. The rule is called at every visit, and the
    record counts -log p(gold) before each step. With decay it minimises

        sum_i -log p(gold_i) + lambda / 2 ||w||^2,

    with lambda = decay / step_size if both fall by the same rule.

    Parameters
    ----------
    step_size : float, Schedule or function, default 1.0
        Larger than 0. Larger values learn faster and less smoothly; try inverse_sqrt(0.1, after=100).
    decays : bool, default False
        As in `ScheduledUpdate`.
    sized : bool, default True
        False: the weights set the step sizes, such as `AdaGradWeights`.

    Examples
    --------
    >>> from structperc.components import LogLossUpdate
    >>> sorted(LogLossUpdate(step_size=0.5).needs)
    ['marginals']
    """

    when = "always"
    needs = frozenset({"marginals"})
    citation = LAFFERTY

    cdef readonly bint sized

    def __init__(self, step_size=1.0, decays=False, sized=True):
        ScheduledUpdate.__init__(self, step_size, decays)
        self.sized = sized

    def check(self, context, parts):
        if not self.sized:
            refuse_fixed_sizes(context, parts)
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
        trial.loss = max(trial.log_z - score, 0)        # rounding may give p > 1
        return 1


cdef inline double surprise(double v) noexcept nogil:
    """log(1 + exp(-v)), without overflow."""
    return log1p(exp(-v)) if v > 0 else log1p(exp(v)) - v


cdef inline double doubt(double v) noexcept nogil:
    """1 / (1 + exp(v)), without overflow."""
    return exp(-v) / (1 + exp(-v)) if v > 0 else 1 / (1 + exp(v))


cdef class LogisticUpdate(ScheduledUpdate):
    """A gradient step of the logistic loss of each atom: w <- w + eta sum_a z_a / (1 + exp(z_a s_a)) phi(x, a).

    The signs z are 1 for atoms in every right output and -1 for atoms in none. Open atoms have 0 and get no step. The loss of an
    example is the sum of log(1 + exp(-z_a s_a)) over z_a != 0. On ordered labels this is the all-threshold loss. On classes it is one
    against the rest. The record counts the loss before each step.

    Parameters
    ----------
    step_size : float, Schedule or function, default inverse_sqrt(0.1, after=100)
        Larger values learn faster and less smoothly. 0.1 suits columns of variance 1; see Notes.
    decays : bool, default False
        As in `ScheduledUpdate`.

    Notes
    -----
    This is a composite likelihood, and not a likelihood of the level. With intervals, atoms that are open for some levels only bias the
    thresholds.

    Let R^2 bound the atoms' squared norm. For ordered labels with a shared direction it is (number of atoms) * ||x||^2 + 1 at most.
    With a constant step size eta < 4 / R^2,

        sum_t L_t(w_t) <= (sum_t L_t(u) + ||u||^2 / (2 eta)) / (1 - eta R^2 / 4)      for every u,

    and log 2 times the sum of absolute differences of levels is at most the left side. Thresholds keep their order if eta * weight <= 4,
    by the mean value theorem. Larger steps of ordered labels with thresholds raise an error.

    With the default, averaged weights are within 0.06 of the least loss of an example after 10 epochs. This was measured on sets of
    200 to 20,000 rows with 5 to 136 columns. A constant step of 1 stays 0.2 to 42 above it.

    Examples
    --------
    >>> from structperc.components import LogisticUpdate
    >>> LogisticUpdate().when
    'always'
    """

    when = "always"
    citation = RENNIE

    def __init__(self, step_size=LOGISTIC_STEP, decays=False):
        ScheduledUpdate.__init__(self, step_size, decays)

    def check(self, context, parts):
        refuse_loss_weight(context, context.update)
        if not has_signs(parts.outputs):
            raise PluginError(f"update='logistic' needs to know which atoms of a partial gold output are right and which are wrong. "
                              f"{type(unwrapped(parts.outputs)).__name__} has no method `signs` that returns them; use another update.")
        weight = 1.0 if context.sample_weight is None else np.max(context.sample_weight, initial=0.0)
        if isinstance(parts.features, ThresholdFeatures) and self.step_size.at(1) * weight > ORDERED:
            raise OptionError(f"step_size={self.step_size!r} with a sample weight of {weight:g}: logistic steps keep thresholds in order "
                              f"up to step_size * weight = {ORDERED:g}; set a smaller step_size, such as 0.1.")

    def check_order(self, context, parts):
        pass

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Py_ssize_t a, n = trial.x.n_atoms
        cdef double eta = self.eta_c(trial), v, total = 0
        cdef double *c = trial.c
        if eta < 0 or trial.signs_c() < 0:
            return -1
        for a in range(n):
            if c[a] != 0:
                v = c[a] * trial.s[a]
                total += surprise(v)
                c[a] *= eta * doubt(v)          # math: c_a = eta weight z_a sigma(-z_a s_a)
        trial.loss = total
        return 1


cdef class DirectUpdate(ScheduledUpdate):
    """Direct loss minimisation: a step down the expected loss, as a finite difference of searches with and without the loss.

    With the width e of the t-th visited example and u = argmax score - e * loss, v = argmax score + e * loss:

        direct          w <- w + eta / 2e (Phi(x, u) - Phi(x, v))       from the worse structure to the better one
        direct-better   w <- w + eta / e (Phi(x, u) - Phi(x, y))        from the prediction to the better one

    Parameters
    ----------
    variant : {"direct", "direct-better"}, default "direct"
        "direct-better" makes no step if the prediction has no loss.
    step_size : float, Schedule or function, default 1.0
        Larger than 0. Larger values learn faster and less smoothly.
    decays : bool, default False
        As in `ScheduledUpdate`.
    width : float, Schedule or function, default 10.0
        Finite-difference width e, larger than 0, the option `loss_weight`. Larger values are smoother; try 1 to 30.

    Notes
    -----
    Both are -d E[loss(y)] / dw in the limit e -> 0, for smooth distributions of inputs. The one-sided difference has a bias of order e.
    Only the direction of w matters to the expected loss, so e is relative to ||w||: a constant e shrinks beside growing weights.
    At w = 0, where e is relatively large, u is the gold output. The objective is not convex, and no mistake bound is known.
    The third difference moves only away from the worse structure. At w = 0 it never uses the gold output, so it is left out.

    Examples
    --------
    >>> from structperc.components import DirectUpdate
    >>> DirectUpdate("direct-better", width=3.0).when
    'always'
    """

    when = "always"
    needs = frozenset({"search"})
    citation = MCALLESTER

    cdef readonly str variant
    cdef readonly Schedule width
    cdef bint central

    def __init__(self, str variant="direct", step_size=1.0, decays=False, width=10.0):
        ScheduledUpdate.__init__(self, step_size, decays)
        if variant not in ("direct", "direct-better"):
            raise OptionError(f"variant={shortened(variant)}; expected 'direct' or 'direct-better'.")
        self.variant, self.central = variant, variant == "direct"
        self.width = positive("loss_weight", width)

    def searches(self, loss_weight):
        return "plain", 0.0             # of which `step_c` makes further ones

    def fingerprint(self):
        values = [one for one in (self.step_size.fingerprint(), self.width.fingerprint()) if one is not None]
        return np.concatenate(values) if values else None

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Py_ssize_t a, n = trial.x.n_atoms
        cdef double eta = self.eta_c(trial), width = self.width.at_c(trial.n_visited + 1)
        cdef bint moves = False
        if eta < 0:
            return -1
        if not 0 < width < INFINITY:
            with gil:
                self.error = self.width.taken_error() or DataError(
                    f"the width of the finite difference is {width} for example {trial.n_visited + 1} in the order of visiting. Expected a "
                    f"number greater than 0 from loss_weight={self.width!r}.")
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


cdef Outputs PLAIN = Outputs()          # whose methods a derived class replaces


def has_signs(Outputs outputs):
    """Whether outputs know which atoms a gold output requires and excludes: complete ones do, partial ones by their own `signs`."""
    return not outputs.partial_gold or <void *> outputs.signs_c != <void *> PLAIN.signs_c or overrides(outputs, "signs")


cdef inline int counted(Trial trial, Encoded y, double sign) noexcept nogil:
    """c += sign * how often atoms occur in y; -1 on an error."""
    return trial.outputs.count_c(trial.x, y.at, y.n, sign, trial.c)
