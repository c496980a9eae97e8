"""Update rules: perceptron and passive-aggressive steps in atom space.

Notation of the papers: delta = n_gold - n_y over atoms, N = ||sum_a delta[a] phi(x, a)||^2, m the required margin.
Cost: O(atoms) and one norm.
"""
import numbers

from structperc.core.components cimport Step, Update
from structperc.core.errors import DataError, OptionError
from structperc.core.schedules cimport Schedule

COLLINS = """@inproceedings{collins2002discriminative,
  author = {Michael Collins},
  title = {Discriminative Training Methods for Hidden {Markov} Models: Theory and Experiments with Perceptron Algorithms},
  booktitle = {Proceedings of EMNLP},
  pages = {1--8},
  year = {2002}
}"""
CRAMMER = """@article{crammer2006online,
  author = {Koby Crammer and Ofer Dekel and Joseph Keshet and Shai Shalev-Shwartz and Yoram Singer},
  title = {Online Passive-Aggressive Algorithms},
  journal = {Journal of Machine Learning Research},
  volume = {7},
  pages = {551--585},
  year = {2006}
}"""


cdef class PerceptronUpdate(Update):
    """w <- w + weight * (Phi(x, gold) - Phi(x, y))."""

    integral = True
    norms = False
    uses = ()
    citation = COLLINS

    cdef int step_c(self, Step step) noexcept nogil:
        cdef Py_ssize_t a
        if step.difference_c() < 0:
            return -1
        if step.weight != 1:
            for a in range(step.n_atoms):
                step.c[a] *= step.weight
        return 1


cdef class PassiveAggressiveUpdate(Update):
    """The smallest step after which gold beats y by the margin m = margin * loss(gold, y).

    With h = m - w . delta and N the squared norm of delta: nothing if h <= 0 or N = 0, else w <- w + tau delta,

        pa   tau = h / N                     (no slack: sample weights other than 0 and 1 have no meaning)
        pa1  tau = min(C weight, h / N)      (slack weighed by C weight)
        pa2  tau = h / (N + 1 / (2 C weight))

    Parameters
    ----------
    variant : {"pa", "pa1", "pa2"}
    margin, C : float
        Positive.
    """

    citation = CRAMMER

    def __init__(self, str variant="pa", double margin=1.0, double C=1.0):
        self.variant = ("pa", "pa1", "pa2").index(variant)
        self.margin, self.C = margin, C

    @property
    def weighs(self):
        return self.variant > 0

    @property
    def uses(self):
        return ("margin", "C") if self.variant > 0 else ("margin",)

    cdef int step_c(self, Step step) noexcept nogil:
        cdef double h, norm, tau, aggressiveness
        cdef Py_ssize_t a
        if step.difference_c() < 0:
            return -1
        h = self.margin * step.loss - step.difference_score_c()
        norm = step.norm_c()
        if norm < 0:
            return -1
        if h <= 0 or norm == 0:
            return 0                            # nothing to gain, or no direction to gain it in
        aggressiveness = self.C * step.weight
        if self.variant == 0:
            tau = h / norm
        elif self.variant == 1:
            tau = min(aggressiveness, h / norm)
        else:
            tau = h / (norm + 1 / (2 * aggressiveness))
        if tau - tau != 0 or norm - norm != 0:
            with gil:
                self.error = DataError(f"the step for example {step.x.index} is too large for floating point: the margin is short "
                                       f"by {h} and the squared norm is {norm}; scale the features.")
            return -1
        for a in range(step.n_atoms):
            step.c[a] *= tau
        return 1


cdef class LatentUpdate(Update):
    """w <- (1 - eta_2) w + eta_1 weight v, with v = Phi(x, completed gold) - Phi(x, y): eq. (6) of the latent perceptron.

    The gold structure is completed by the best of those that agree with what is known (`Outputs.partial`); where everything is known this
    is the structured perceptron with step sizes. eta_1 = step_size * schedule(t) for the t-th example visited; eta_2 is the decay that the
    weights know, with a schedule of its own. No step where v = 0 and nothing decays.

    Parameters
    ----------
    step_size : float, default 1.0
        Positive.
    schedule : str or function, default "constant"
        As `structperc.core.schedules.Schedule` takes it.
    decays : bool, default False
        Whether the weights decay with each step.
    """

    norms = False
    uses = ("step_size", "step_schedule")
    citation = COLLINS

    cdef readonly double step_size
    cdef readonly bint decays
    cdef Schedule schedule

    def __init__(self, step_size=1.0, schedule="constant", decays=False):
        if not isinstance(step_size, numbers.Real) or isinstance(step_size, bool) or not 0 < step_size < float("inf"):
            raise OptionError(f"step_size={step_size!r}; expected a number greater than 0.")
        self.step_size, self.decays = step_size, decays
        self.schedule = Schedule(schedule, "step_schedule")

    cdef int step_c(self, Step step) noexcept nogil:
        cdef Py_ssize_t a
        cdef double eta
        cdef bint moves = self.decays
        if step.difference_c() < 0:
            return -1
        eta = self.schedule.at_c(step.weights.ticks + 1)
        if eta < 0:
            with gil:
                self.error = self.schedule.taken_error()
            return -1
        eta *= self.step_size * step.weight
        for a in range(step.n_atoms):
            moves = moves or step.c[a] != 0
            step.c[a] *= eta
        return moves
