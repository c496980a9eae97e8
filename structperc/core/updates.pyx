"""Update rules: perceptron and passive-aggressive steps in atom space.

Notation of the papers: delta = n_gold - n_y over atoms, N = ||sum_a delta[a] phi(x, a)||^2, m the required margin.
Cost: O(atoms) and one norm.
"""

import numpy as np

from structperc.basics.arguments import POSITIVE, choice, flag, real_number
from structperc.basics.errors import DataError, OptionError, PluginError, shortened
from structperc.core.citations import COLLINS, LATENT_PERCEPTRON
from libc.string cimport memcpy
from structperc.basics.signatures import ClassSignature
from structperc.core.argmax cimport Argmax
from structperc.core.component cimport Component
from structperc.core.component import argument, raise_stored
from structperc.core.features cimport PADDING
from structperc.core.losses cimport Loss
from structperc.core.outputs cimport Outputs
from structperc.core.rows cimport Example
from structperc.core.schedules cimport Schedule
from structperc.core.structures cimport structure
from structperc.core.weights cimport Weights

CRAMMER = """@article{crammer2006online,
  author = {Koby Crammer and Ofer Dekel and Joseph Keshet and Shai Shalev-Shwartz and Yoram Singer},
  title = {Online Passive-Aggressive Algorithms},
  journal = {Journal of Machine Learning Research},
  volume = {7},
  pages = {551--585},
  year = {2006}
}"""


VARIANTS = "pa", "pa1", "pa2"
FAR, HARDLY = 10, 1.2           # see `hardly_weighs`


cdef class Trial:
    """One visited example as an update rule sees it.

    The loop fills the same Trial for each visit. A rule in Python reads the attributes and returns its coefficients. A rule in Cython
    reads the fields of `updates.pxd` and writes the coefficients into `c`.

    Attributes
    ----------
    x : Example
        The example; `x.index` is its number, `x.n_atoms` the number of its atoms.
    scores : float64 array of shape (n_atoms,)
        Atom scores w . phi(x, a), without the loss.
    gold : int or tuple
        The gold structure; a partial gold output is completed by the best structure that agrees with it.
    given_gold : int or tuple
        The gold output as the user gave it, which may be partial.
    y : int or tuple
        The structure that the search of the rule returned.
    loss : float
        loss(given_gold, y); 0 if they agree. The record counts the value that a rule writes here, such as an objective.
    weight : float
        The example's sample weight.
    n_visited : int
        Number of earlier visits, over all epochs and chunks.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.components import PerceptronUpdate
    >>> losses = []
    >>> class Noted(PerceptronUpdate):
    ...     def step(self, trial):
    ...         losses.append(trial.loss)
    ...         return trial.difference()
    >>> _ = Engine("cusum", update=Noted(), preset="paper").fit([[0.0], [1.0]], [2, 1])
    >>> losses
    [1.0, 1.0]
    """

    __signature__ = ClassSignature()

    def bind(self, Example x, Weights weights, Outputs outputs, Argmax argmax, Loss losses, Py_ssize_t room,
             Py_ssize_t most_integers) -> None:
        """Connect the trial to the parts of a fit. The loop calls it.

        Parameters
        ----------
        x : Example
        weights : Weights
        outputs : Outputs
        argmax : Argmax
        losses : Loss
        room : int
            Largest number of atoms.
        most_integers : int
            Largest number of integers in a structure.
        """
        self.x, self.weights, self.outputs, self.argmax, self.losses = x, weights, outputs, argmax, losses
        self.coefficient_buffer, self.expected_buffer, self.augmented = (np.zeros(room + PADDING) for _ in range(3))
        self.code_buffer = np.zeros(most_integers, dtype=np.intc)
        self.c, self.expected, self.found_code.at = &self.coefficient_buffer[0], &self.expected_buffer[0], &self.code_buffer[0]

    cdef int difference_c(self) noexcept nogil:
        """c = n_gold - n_y; -1 on an error."""
        return self.outputs.difference_c(self.x, self.gold_code.at, self.gold_code.n, self.y_code.at, self.y_code.n, self.c)

    cdef int signs_c(self) noexcept nogil:
        """Writes to c: 1 for atoms required in the right output, -1 for those excluded, else 0. Returns -1 on an error."""
        return self.outputs.signs_c(self.x, self.given_code.at, self.given_code.n, self.c)

    cdef double norm_c(self) noexcept nogil:
        """||sum_a c[a] phi(x, a)||^2; negative on an error."""
        return self.weights.norm_c(self.x, self.c)

    cdef int marginals_c(self) noexcept nogil:
        """expected[a] = expected count of atom a where p(y) = exp(score of y) / Z, and log Z; -1 on an error."""
        return self.argmax.marginals_c(self.x, self.s, self.expected, &self.log_z)

    cdef int search_c(self, double scale) noexcept nogil:
        """found_code = the structure of largest score + scale * loss, where scale may be negative; -1 on an error."""
        memcpy(&self.augmented[0], self.s, self.x.n_atoms * sizeof(double))
        self.found_code.n = self.argmax.argmax_augmented_c(self.x, &self.augmented[0], self.given_code.at, self.given_code.n, self.losses,
                                                           scale, &self.code_buffer[0])
        return -1 if self.found_code.n < 0 else 0

    cdef int used(self) except -1:
        """Raises an error once the visit has ended, when what it points to may be gone."""
        if self.s == NULL or self.x is None or self.x.n_atoms > self.coefficient_buffer.shape[0] - PADDING:
            raise PluginError("this trial is no visit of a pass under way; copy what you need of it before `step` returns.")
        return 0

    @property
    def scores(self):
        self.used()
        return np.asarray(<const double[:self.x.n_atoms]> self.s).copy() if self.x.n_atoms else np.zeros(0)

    @property
    def gold(self):
        self.used()
        return structure(self.gold_code.at, self.gold_code.n, self.outputs.code_width)

    @property
    def given_gold(self):
        self.used()
        return structure(self.given_code.at, self.given_code.n, -1 if self.outputs.partial_gold else self.outputs.code_width)

    @property
    def y(self):
        self.used()
        if self.y_code.at == NULL:
            raise PluginError("this pass made no search, so the trial has no y; override `searches` of the update rule.")
        return structure(self.y_code.at, self.y_code.n, self.outputs.code_width)

    def difference(self):
        """n_gold - n_y: how often each atom occurs in the gold structure minus how often in y.
        Returns a float64 array of shape (n_atoms,).
        """
        self.used()
        if self.difference_c() < 0:
            self.outputs.raised()
        return np.asarray(self.coefficient_buffer)[:self.x.n_atoms].copy()

    def signs(self):
        """The atoms that the right output requires and excludes.
        Returns an array of shape (n_atoms,). 1: required; -1: excluded; 0: open.
        """
        self.used()
        if self.signs_c() < 0:
            self.outputs.raised()
        return np.asarray(self.coefficient_buffer)[:self.x.n_atoms].copy()

    def norm(self, c):
        """Squared norm of a step: ||sum_a c[a] phi(x, a)||^2. Returns a float.

        Parameters
        ----------
        c : array of shape (n_atoms,)
        """
        self.used()
        return self.weights.norm(self.x, c)

    def marginals(self):
        """Log partition function and expected counts of atoms, where p(y) = exp(score of y) / Z.

        Returns
        -------
        log_z : float
        marginals : float64 array of shape (n_atoms,)
        """
        self.used()
        if self.marginals_c() < 0:
            self.argmax.raised()
        return self.log_z, np.asarray(self.expected_buffer)[:self.x.n_atoms].copy()

    def search(self, double scale):
        """Loss-augmented search: the structure with the largest score + scale * loss(given_gold, structure). Returns an int or tuple.

        Parameters
        ----------
        scale : float
            Factor of the loss; may be negative.
        """
        self.used()
        if self.search_c(scale) < 0:
            raise_stored(self.argmax, self.losses, self.outputs)
        return structure(self.found_code.at, self.found_code.n, self.outputs.code_width)

    def inner(self, a, b):
        """One entry of the Gram matrix of the atoms: phi(x, a) . phi(x, b). Returns a float.

        Parameters
        ----------
        a, b : int
            Atoms of x.
        """
        self.used()
        cdef Py_ssize_t n = self.x.n_atoms
        if not all(isinstance(atom, (int, np.integer)) and 0 <= atom < n for atom in (a, b)):
            raise PluginError(f"trial.inner was given {shortened(a, 80)} and {shortened(b, 80)} for example {self.x.index}; expected two "
                              f"of its atoms 0..{n - 1}. `trial.norm` takes coefficients.")
        one, other = np.zeros(n), np.zeros(n)
        one[a], other[b] = 1, 1
        if a == b:
            return self.norm(one)
        return (self.norm(one + other) - self.norm(one) - self.norm(other)) / 2


cdef class Update(Component):
    """The update rule: it computes coefficients over atoms from a trial, and never sees features.

    A subclass defines `step`.

    Attributes
    ----------
    when : {"wrong", "always"}
        "wrong": the rule is called only if y is not the gold output. "always": it is called at every visit, because a correct prediction
        may have a short margin.
    needs : set of {"marginals", "search"}
        It calls `Trial.marginals` or `Trial.search`. Problems without them raise an error.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.components import Update
    >>> class HalfStep(Update):
    ...     '''A perceptron with half the step.'''
    ...     def step(self, trial):
    ...         return 0.5 * trial.weight * trial.difference()
    >>> Engine("cusum", update=HalfStep(), random_state=0).fit([[0.0], [1.0]], [1, 2]).predict([[-1.0], [2.0]]).tolist()
    [1, 2]
    """

    when = "wrong"
    needs = frozenset()

    def searches(self, loss_weight):
        """The search whose result is y, and the factor of the loss in it.

        Parameters
        ----------
        loss_weight : float or schedule
            The engine's option.

        Returns
        -------
        search : {"plain", "both", "margin", "augmented", "none"}
            "plain": the largest score. "both": the largest score + factor * loss, and the plain search too, whose result counts as the
            prediction. "margin": as "both", but if the augmented search returns the gold output, the plain one is skipped. "augmented":
            without the plain one. "none": no search, for rules that are always called. The last two are for the passes of trainers. By
            default "plain", and "both" if `loss_weight` is not 0.
        factor : float
            By default `loss_weight`.
        """
        return "both" if loss_weight else "plain", loss_weight

    def check_order(self, context, parts) -> None:
        """Raise an error if steps may disorder ordered thresholds. Called by their feature map before a fit.

        A rule of which every step keeps the order overrides this method. A rule whose coefficients are whole multiples of the sample
        weight calls `parts.features.check_step_sizes`.

        Parameters
        ----------
        context : FitContext
        parts : object with the parts as attributes

        Raises
        ------
        PluginError
            By default.
        """
        raise parts.features.disordered(context)

    cdef int step_c(self, Trial trial) noexcept nogil:
        """Fills trial.c; 1: take the step, 0: leave w, -1: error."""
        with gil:
            self.error = self.missing("step")
        return -1

    def step(self, Trial trial):
        """The coefficients over atoms to add to the weights. Returns an array of shape (n_atoms,) or None. None: no step.

        Parameters
        ----------
        trial : Trial
            The visited example.
        """
        cdef int made
        trial.used()
        trial.coefficient_buffer[:] = 0
        made = self.step_c(trial)
        if made < 0:
            self.raised()
        return np.asarray(trial.coefficient_buffer)[:trial.x.n_atoms].copy() if made else None


def searches_of(Update update, loss_weight):
    """The result of `Update.searches`, if it is a pair of a search and a number."""
    answer = update.searches(loss_weight)
    try:
        search, factor = answer
    except (TypeError, ValueError):
        search = factor = None
    if isinstance(search, str) and hasattr(factor, "__float__"):
        return search, float(factor)
    raise PluginError(f"{type(update).__name__}.searches returned {shortened(answer)}; expected a pair, such as ('plain', 0.0).")


def rule_of(context, parts):
    """The update rule in messages: by its name if the user has chosen one, else by its class."""
    return type(parts.update).__name__ if context.update == "perceptron" else f"update={context.update!r}"


def refuse_weights(context, parts) -> None:
    """Raises `DataError` for sample weights other than 0 and 1, for rules that cannot use them.

    Parameters
    ----------
    context : FitContext
    parts : object with the parts as attributes

    Examples
    --------
    >>> from structperc.components import Update
    >>> from structperc.plugin_tools import refuse_weights
    >>> class Whole(Update):
    ...     def check(self, context, parts):
    ...         refuse_weights(context, parts)
    """
    weights = context.sample_weight
    if weights is not None and not np.isin(weights, (0, 1)).all():
        i = int(np.argmax(~np.isin(weights, (0, 1))))
        raise DataError(f"sample_weight[{i}] is {weights[i]}: {rule_of(context, parts)} has no slack to weigh, so weights can only be "
                        f"0 or 1; use 'pa1' or 'pa2'.")


def check_whole_steps(context, parts) -> None:
    """`Update.check_order` of rules whose coefficients are whole multiples of the sample weight: steps of one size keep the order.
    Raises `DataError` if sample weights make steps of several sizes.

    Parameters
    ----------
    context : FitContext
    parts : object with the parts as attributes

    Examples
    --------
    >>> from structperc.components import Update
    >>> from structperc.plugin_tools import check_whole_steps
    >>> class Whole(Update):
    ...     def check_order(self, context, parts):
    ...         check_whole_steps(context, parts)
    """
    if context.sample_weight is not None:
        parts.features.check_step_sizes(context.sample_weight, parts.weights.n_visited > 0)


cdef class PerceptronUpdate(Update):
    """The structured perceptron: w <- w + weight * (Phi(x, gold) - Phi(x, y)).

    References
    ----------
    M. Collins: Discriminative training methods for hidden Markov models: theory and experiments with perceptron algorithms. Proceedings
    of EMNLP, pages 1-8, 2002.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.components import PerceptronUpdate
    >>> Engine("cusum", update=PerceptronUpdate(), random_state=0).fit([[0.0], [1.0]], [1, 2]).predict([[-1.0], [2.0]]).tolist()
    [1, 2]
    """

    citation = COLLINS

    def check_order(self, context, parts):
        check_whole_steps(context, parts)

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Py_ssize_t a
        if trial.difference_c() < 0:
            return -1
        if trial.weight != 1:
            for a in range(trial.x.n_atoms):
                trial.c[a] *= trial.weight
        return 1


cdef class PassiveAggressiveUpdate(Update):
    """Passive-aggressive steps: the smallest weight change that gives the gold output a margin of margin * loss(gold, y) over y.

    Let h = margin * loss - w . delta, and N the squared norm of delta = Phi(x, gold) - Phi(x, y). If h <= 0 or N = 0, there is no step.
    Otherwise w <- w + tau delta, with the C of the t-th visited example. For pa, sample weights other than 0 and 1 have no meaning.

        pa   tau = h / N
        pa1  tau = min(C weight, h / N)
        pa2  tau = h / (N + 1 / (2 C weight))

    Parameters
    ----------
    variant : {"pa", "pa1", "pa2"}, default "pa"
        "pa" fits every example exactly, and suits data without noise.
    margin : float, default 1.0
        Required margin for a loss of 1, larger than 0.
    C : float, Schedule or function, default 1.0
        Aggressiveness of pa1 and pa2, larger than 0. Larger values fit each example more closely; try 0.01 to 1 for noisy data.

    Raises
    ------
    OptionError
        If a parameter is out of range.

    References
    ----------
    K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer: Online passive-aggressive algorithms. Journal of Machine Learning
    Research 7, pages 551-585, 2006.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.components import PassiveAggressiveUpdate
    >>> rule = PassiveAggressiveUpdate("pa1", C=0.1)
    >>> Engine("cusum", update=rule, random_state=0).fit([[0.0], [1.0]], [1, 2]).predict([[-1.0], [2.0]]).tolist()
    [1, 2]
    """

    citation = CRAMMER

    def __init__(self, variant: str = "pa", margin: float = 1.0, C=1.0):
        self.variant = VARIANTS.index(argument(self, "variant", variant, choice, VARIANTS))
        self.margin, self.C = argument(self, "margin", margin, real_number, POSITIVE), positive("C", C)

    def check(self, context, parts):
        if self.variant == 0:
            refuse_weights(context, parts)

    def fingerprint(self):
        return self.C.fingerprint()

    cdef double aggressiveness_c(self, Trial trial) noexcept nogil:
        """C weight; negative after storing an error."""
        cdef double C = self.C.at_c(trial.n_visited + 1)
        if C < 0:
            with gil:
                self.error = self.C.taken_error()
            return -1
        return C * trial.weight

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


def hardly_weighs(Update update, low, high, square):
    """Whether steps hardly change with sample weights from low to high, for a warning. `square` is the mean squared norm of rows."""
    # pa2: tau changes by less than a fifth. pa1: the cap is larger than ten times the tau that restores the margin.
    cdef PassiveAggressiveUpdate rule
    if not isinstance(update, PassiveAggressiveUpdate):
        return False
    rule = update
    if rule.variant == 1:
        return rule.C.start * low * square > FAR * rule.margin
    return rule.variant == 2 and (square + 1 / (2 * rule.C.start * low)) < HARDLY * (square + 1 / (2 * rule.C.start * high))


cdef class ScheduledUpdate(Update):
    """Base of rules with a step size: eta = step_size weight, with the step size of the t-th visited example.

    Parameters
    ----------
    step_size : float, Schedule or function, default 1.0
        Larger than 0; see `structperc.core.schedules.Schedule`. Larger values learn faster and less smoothly.
    decays : bool, default False
        Whether the weights decay with each step, so that steps without coefficients count too.
    """

    def __init__(self, step_size=1.0, decays: bool = False):
        self.step_size, self.decays = positive("step_size", step_size), argument(self, "decays", decays, flag)

    def fingerprint(self):
        return self.step_size.fingerprint()

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
    """The latent structured perceptron: w <- (1 - eta_2) w + eta_1 weight (Phi(x, completed gold) - Phi(x, y)).

    A partial gold output (`Outputs.partial_gold`) is completed by its best structure. With complete gold outputs this is the structured
    perceptron with step sizes. eta_1 is the step size of the t-th visited example, and eta_2 the decay of the weights. There is no step
    if the difference is 0 and nothing decays.

    Parameters
    ----------
    step_size : float, Schedule or function, default 1.0
        Larger than 0. Larger values matter only beside decay or initial weights.
    decays : bool, default False
        Whether the weights decay with each step.

    Raises
    ------
    OptionError
        If the step size is not positive.

    References
    ----------
    E. R. Fernandes, C. N. dos Santos and R. L. Milidiú: Latent structure perceptron with feature induction for unrestricted coreference
    resolution. Proceedings of EMNLP-CoNLL, shared task, pages 41-48, 2012.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.components import LatentUpdate
    >>> Engine("cusum", update=LatentUpdate(0.5), random_state=0).fit([[0.0], [1.0]], [1, 2]).predict([[-1.0], [2.0]]).tolist()
    [1, 2]
    """

    citation = LATENT_PERCEPTRON

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
