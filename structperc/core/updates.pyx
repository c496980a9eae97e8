"""Update rules: perceptron and passive-aggressive steps in atom space.

Notation of the papers: delta = n_gold - n_y over atoms, N = ||sum_a delta[a] phi(x, a)||^2, m the required margin.
Cost: O(atoms) and one norm.
"""

import numpy as np

from structperc.core.citations import COLLINS
from structperc.core.errors import DataError, OptionError, PluginError, shortened
from libc.string cimport memcpy
from structperc.core.argmax cimport Argmax
from structperc.core.component cimport Component
from structperc.core.component import raise_stored
from structperc.core.features cimport PADDING
from structperc.core.losses cimport Loss
from structperc.core.outputs cimport Outputs
from structperc.core.rows cimport Example
from structperc.core.schedules cimport Schedule
from structperc.core.structures cimport structure
from structperc.core.weights cimport Weights
from structperc.core.signatures import ClassSignature

CRAMMER = """@article{crammer2006online,
  author = {Koby Crammer and Ofer Dekel and Joseph Keshet and Shai Shalev-Shwartz and Yoram Singer},
  title = {Online Passive-Aggressive Algorithms},
  journal = {Journal of Machine Learning Research},
  volume = {7},
  pages = {551--585},
  year = {2006}
}"""


FAR, HARDLY = 10, 1.2           # see `PassiveAggressiveUpdate.hardly_weighs`


cdef class Trial:
    """One visited example as an update rule sees it, and the place of its coefficients.

    The loop fills one Trial anew for each visit. A rule in Python reads the attributes and returns its coefficients. A rule in Cython reads
    the fields of `updates.pxd` and writes the coefficients into `c`.

    Attributes
    ----------
    x : Example
        The example: `x.index` is its number, `x.n_atoms` the number of its atoms.
    scores : ndarray of shape (n_atoms,)
        Atom scores w . phi(x, a), without the loss.
    gold : int or tuple
        The gold structure; a partial gold output is completed by the best structure that agrees with it.
    given_gold : int or tuple
        The gold output as it was given, perhaps partial.
    y : int or tuple
        The structure found by the search that the rule asked for.
    loss : float
        loss(given_gold, y); 0 where they agree. A rule with `sets_loss` leaves here what the record counts.
    weight : float
        The example's sample weight.
    n_visited : int
        How many examples were visited before this one, over all epochs and chunks.
    """

    __signature__ = ClassSignature()

    def bind(self, Example x, Weights weights, Outputs outputs, Argmax argmax, Loss losses, Py_ssize_t room, Py_ssize_t most_integers):
        """Looks at these from now on, with room for the coefficients of so many atoms and structures of so many integers."""
        self.x, self.weights, self.outputs, self.argmax, self.losses = x, weights, outputs, argmax, losses
        self.coefficient_buffer, self.expected_buffer, self.augmented = (np.zeros(room + PADDING) for _ in range(3))
        self.found = np.zeros(most_integers, dtype=np.intc)
        self.c, self.expected, self.found_code.at = &self.coefficient_buffer[0], &self.expected_buffer[0], &self.found[0]

    cdef int difference_c(self) noexcept nogil:
        """c = n_gold - n_y; -1 on an error."""
        return self.outputs.difference_c(self.x, self.gold_code.at, self.gold_code.n, self.y_code.at, self.y_code.n, self.c)

    cdef int signs_c(self) noexcept nogil:
        """c = 1 for atoms that are surely in the right answer, -1 for those that surely are not, else 0; -1 on an error."""
        return self.outputs.signs_c(self.x, self.given_code.at, self.given_code.n, self.c)

    cdef double norm_c(self) noexcept nogil:
        """||sum_a c[a] phi(x, a)||^2; negative on an error."""
        return self.weights.norm_c(self.x, self.c)

    cdef int marginals_c(self) noexcept nogil:
        """expected[a] = how often atom a is expected in y where p(y) = exp(score of y) / Z, and log Z; -1 on an error."""
        return self.argmax.marginals_c(self.x, self.s, self.expected, &self.log_z)

    cdef int search_c(self, double scale) noexcept nogil:
        """found_code = the structure of largest score + scale * loss, where scale may be negative; -1 on an error."""
        memcpy(&self.augmented[0], self.s, self.x.n_atoms * sizeof(double))
        self.found_code.n = self.argmax.argmax_augmented_c(self.x, &self.augmented[0], self.given_code.at, self.given_code.n, self.losses,
                                                           scale, &self.found[0])
        return -1 if self.found_code.n < 0 else 0

    @property
    def scores(self):
        return np.asarray(<const double[:self.x.n_atoms]> self.s).copy() if self.x.n_atoms else np.zeros(0)

    @property
    def gold(self):
        return structure(self.gold_code.at, self.gold_code.n, self.outputs.code_width)

    @property
    def given_gold(self):
        return structure(self.given_code.at, self.given_code.n, -1 if self.outputs.partial_gold else self.outputs.code_width)

    @property
    def y(self):
        if self.y_code.at == NULL:
            raise PluginError("this pass made no search, so the trial has no y; set `search` of the update rule.")
        return structure(self.y_code.at, self.y_code.n, self.outputs.code_width)

    def difference(self):
        """n_gold - n_y, an array over atoms: how often each occurs in the gold structure minus how often in y."""
        if self.difference_c() < 0:
            self.outputs.raised()
        return np.asarray(self.coefficient_buffer)[:self.x.n_atoms].copy()

    def signs(self):
        """1 for atoms that are surely in the right answer, -1 for those that surely are not, else 0; an array over atoms."""
        if self.signs_c() < 0:
            self.outputs.raised()
        return np.asarray(self.coefficient_buffer)[:self.x.n_atoms].copy()

    def norm(self, c):
        """||sum_a c[a] phi(x, a)||^2, the squared norm of a step with these coefficients."""
        return self.weights.norm(self.x, c)

    def marginals(self):
        """log Z, and how often each atom is expected in y, where p(y) = exp(score of y) / Z: a float and an array over atoms."""
        if self.marginals_c() < 0:
            self.argmax.raised()
        return self.log_z, np.asarray(self.expected_buffer)[:self.x.n_atoms].copy()

    def search(self, double scale):
        """The structure of largest score + scale * loss(given_gold, structure); the scale may be negative."""
        if self.search_c(scale) < 0:
            raise_stored(self.argmax, self.losses, self.outputs)
        return structure(self.found_code.at, self.found_code.n, self.outputs.code_width)

    def inner(self, Py_ssize_t a, Py_ssize_t b):
        """phi(x, a) . phi(x, b), one entry of the Gram matrix of the atoms."""
        return self.weights.inner(self.x, a, self.x, b)


cdef class Update(Component):
    """The update rule: from a trial to coefficients over atoms. It never sees features.

    Attributes
    ----------
    when : {"wrong", "always"}
        "wrong": the rule is asked where y is not the gold output. "always": it is asked at every visit, since the margin of a right answer
        may be short.
    search : {"plain", "augmented", "both", "margin", "none"}
        The search whose answer is y. "plain": the maximiser of the score. "augmented": the maximiser of score + loss_weight * loss.
        "both": the second; the first is made too and is counted as the prediction. "margin": the same, but where the second finds the
        gold output, no structure is better without the loss either: the example counts as right, and the first is left out. "none": no
        search; for rules that act always. The engine turns "plain" into "both" where its option `loss_weight` is positive. Other values
        are for the passes of trainers.
    loss_weight : float or None
        What the loss counts in its augmented search; None: the engine's option of this name.
    needs : set of {"marginals", "search", "step sizes"}
        What it asks its trial for: `Trial.marginals`, or `Trial.search`. The engine refuses problems that have none, and makes room.
        "step sizes": it answers a gradient, to weights that give each coordinate a step size of its own (`Weights.sizes_steps`).
    sets_loss : bool
        Whether the record counts what the rule leaves in `trial.loss`, as the objective that it descends, and not the losses of answers.
    takes_weights : bool
        Whether the rule can honour sample weights other than 0 and 1.
    threshold_order : {"any", "equal steps", "kept"}
        What its steps do to ordered thresholds. "any": they may disorder them. "equal steps": their coefficients are whole multiples of the
        sample weight, so steps of one size keep the order. "kept": every step keeps the order.
    options_used : tuple of str or None
        Which of the options "margin", "C" and "step_size" it depends on. None: those that its hook or `start` reads.
    """

    when = "wrong"
    search = "plain"
    loss_weight = None
    needs = frozenset()
    sets_loss = False
    takes_weights = True
    threshold_order = "any"

    cdef int step_c(self, Trial trial) noexcept nogil:
        """Fills trial.c; 1: take the step, 0: leave w, -1: error."""
        with gil:
            self.error = self.missing("step")
        return -1

    def hardly_weighs(self, low, high, square):
        """Whether steps hardly change with sample weights from `low` to `high`, where the squared norm of rows is `square` on average."""
        return False

    def step(self, Trial trial):
        """The coefficients over atoms to add, an array of shape (n_atoms,), or None for no step."""
        cdef int made
        trial.coefficient_buffer[:] = 0
        made = self.step_c(trial)
        if made < 0:
            self.raised()
        return np.asarray(trial.coefficient_buffer)[:trial.x.n_atoms].copy() if made else None


cdef class PerceptronUpdate(Update):
    """w <- w + weight * (Phi(x, gold) - Phi(x, y))."""

    threshold_order = "equal steps"
    options_used = ()
    citation = COLLINS

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Py_ssize_t a
        if trial.difference_c() < 0:
            return -1
        if trial.weight != 1:
            for a in range(trial.x.n_atoms):
                trial.c[a] *= trial.weight
        return 1


cdef class PassiveAggressiveUpdate(Update):
    """The smallest step after which gold beats y by the margin m = margin * loss(gold, y).

    With h = m - w . delta and N the squared norm of delta: nothing if h <= 0 or N = 0, else w <- w + tau delta,

        pa   tau = h / N                     (no slack: sample weights other than 0 and 1 have no meaning)
        pa1  tau = min(C weight, h / N)      (slack weighed by C weight)
        pa2  tau = h / (N + 1 / (2 C weight))

    with the C of the t-th example visited.

    Parameters
    ----------
    variant : {"pa", "pa1", "pa2"}
    margin : float
        Positive.
    C : float, Schedule or function
        Positive; see `structperc.core.schedules.Schedule`.
    """

    citation = CRAMMER

    def __init__(self, str variant="pa", double margin=1.0, C=1.0):
        self.variant = ("pa", "pa1", "pa2").index(variant)
        self.margin, self.C = margin, positive("C", C)

    @property
    def takes_weights(self):
        return self.variant > 0

    @property
    def options_used(self):
        return ("margin", "C") if self.variant > 0 else ("margin",)

    def probe(self):
        return self.C.probe()

    cdef double aggressiveness_c(self, Trial trial) noexcept nogil:
        """C weight; negative after storing an error."""
        cdef double C = self.C.at_c(trial.n_visited + 1)
        if C < 0:
            with gil:
                self.error = self.C.taken_error()
            return -1
        return C * trial.weight

    def hardly_weighs(self, low, high, square):
        """pa2: tau changes by less than a fifth. pa1: the cap is beyond ten times the tau that makes up for the margin."""
        if self.variant == 1:
            return self.C.start * low * square > FAR * self.margin
        return (square + 1 / (2 * self.C.start * low)) < HARDLY * (square + 1 / (2 * self.C.start * high))

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef double h, norm, tau, aggressiveness, gained = 0        # w . delta
        cdef Py_ssize_t a, n = trial.x.n_atoms
        if trial.difference_c() < 0:
            return -1
        for a in range(n):
            gained += trial.c[a] * trial.s[a]
        h = self.margin * trial.loss - gained
        norm = trial.norm_c()
        if norm < 0:
            return -1
        if h <= 0 or norm == 0:
            return 0                            # nothing to gain, or no direction to gain it in
        aggressiveness = self.aggressiveness_c(trial) if self.variant > 0 else 0
        if aggressiveness < 0:
            return -1
        if self.variant == 0:
            tau = h / norm
        elif self.variant == 1:
            tau = min(aggressiveness, h / norm)
        else:
            tau = h / (norm + 1 / (2 * aggressiveness))
        if tau - tau != 0 or norm - norm != 0:
            with gil:
                self.error = DataError(f"the step for example {trial.x.index} is too large for floating point: the margin is short "
                                       f"by {h} and the squared norm is {norm}; scale the features.")
            return -1
        for a in range(n):
            trial.c[a] *= tau
        return 1


cdef class ScheduledUpdate(Update):
    """Base of rules whose steps have a size of their own: eta = step_size weight, with the step size of the t-th example visited.

    Parameters
    ----------
    step_size : float, Schedule or function, default 1.0
        Positive; see `structperc.core.schedules.Schedule`.
    decays : bool, default False
        Whether the weights decay with each step, so that steps without coefficients count too.
    """

    options_used = ("step_size",)

    def __init__(self, step_size=1.0, decays=False):
        self.step_size, self.decays = positive("step_size", step_size), decays

    def probe(self):
        return self.step_size.probe()

    cdef double eta_c(self, Trial trial) noexcept nogil:
        """eta; negative after storing an error."""
        cdef double eta = self.step_size.at_c(trial.n_visited + 1)
        if eta < 0:
            with gil:
                self.error = self.step_size.taken_error()
            return -1
        return eta * trial.weight


def positive(name, value):
    """The schedule of an option that must begin with a number greater than 0."""
    schedule = Schedule(value, name)
    if schedule.start == 0:
        raise OptionError(f"{name}={shortened(value)}; expected a number greater than 0.")
    return schedule


cdef class LatentUpdate(ScheduledUpdate):
    """w <- (1 - eta_2) w + eta_1 weight v, with v = Phi(x, completed gold) - Phi(x, y): eq. (6) of the latent perceptron.

    A partial gold output (`Outputs.partial_gold`) is completed by its best structure; a whole gold output stays itself, and this
    is the structured perceptron with step sizes. eta_1 = step_size for the t-th example visited; eta_2 is the decay that the
    weights know, with a schedule of its own. No step where v = 0 and nothing decays.

    Parameters
    ----------
    step_size, decays
        As of `ScheduledUpdate`.
    """

    citation = COLLINS

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Py_ssize_t a
        cdef double eta
        cdef bint moves = self.decays
        if trial.difference_c() < 0:
            return -1
        eta = self.eta_c(trial)
        if eta < 0:
            return -1
        for a in range(trial.x.n_atoms):
            moves = moves or trial.c[a] != 0
            trial.c[a] *= eta
        return moves
