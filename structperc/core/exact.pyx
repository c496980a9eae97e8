"""Exact passive-aggressive steps: the projection onto all of a trial's margin constraints at once.

Typical sizes: 4 atoms (levels) to 1000. Cost: one norm and O(n_atoms) if the scores fall along the atoms, as with thresholds. 20 ns
for the 4 atoms of 5 levels (exact_few.h).
"""
from libc.math cimport INFINITY, fabs
from structperc.basics.arguments import choice
from structperc.basics.errors import ConflictingOption, DataError, PluginError
from structperc.core.component import argument
from structperc.core.features import has_constant_gram
from structperc.core.updates cimport Trial
from structperc.core.updates cimport PassiveAggressiveUpdate
from structperc.core.updates import VARIANTS

EXACT = tuple([f"exact-{variant}" for variant in VARIANTS])

MANWANI = """@misc{manwani2018exact,
  author = {Naresh Manwani and Mohit Chandra},
  title = {Exact Passive-Aggressive Algorithms for Learning to Rank Using Interval Labels},
  year = {2018},
  eprint = {1808.06107},
  archivePrefix = {arXiv}
}"""

cdef extern from "exact_few.h" nogil:
    enum:
        SP_FEW
    double sp_margin_short(const double *s, const double *c, Py_ssize_t n, double margin) noexcept
    double sp_exact_step(const double *s, double *c, Py_ssize_t n, double margin, double q, double d, double limit, double cap) noexcept

cdef enum:
    MOST_PASSES = 2000          # of the search for the root; 1 or 2 are usual, pure halving ends within this

cdef double NEAR = 1e-15        # of the size of the sums: below, a difference is rounding
cdef double SMALLEST = 2.2250738585072014e-308      # a squared norm below has lost digits


cdef double LOST = 1e-3         # of what was short: a step whose rounding moves the scores by more raises an error


ctypedef struct Side:
    # the atoms with one sign, from the middle outwards: their deficits fall along them
    const double *at
    Py_ssize_t step, n
    double sign, margin
    Py_ssize_t capped, within           # so many atoms are at the limit, and so many count at all
    bint grows                          # whether the deficits grow with g; else they fall


ctypedef struct Origin:
    # the atom from whose breakpoint positions are counted: its score and sign (0: none, they are counted from 0), and sign * margin - score
    double score, sign, at


cdef class ExactUpdate(PassiveAggressiveUpdate):
    """Exact passive-aggressive steps: every atom of the right output gets at least the margin, every other at most minus the margin.

    On ordered labels these are the constraints of all thresholds (exact passive-aggressive ranking). On classes they are those of one
    class against the rest, and their steps are independent.

    Parameters
    ----------
    variant : {"exact-pa", "exact-pa1", "exact-pa2"}, default "exact-pa"
        "exact-pa" fits every example exactly, and suits data without noise.
    margin : float, default 1.0
        As in `PassiveAggressiveUpdate`.
    C : float, Schedule or function, default 1.0
        As in `PassiveAggressiveUpdate`.

    Raises
    ------
    OptionError
        If a parameter is out of range.

    Notes
    -----
    The signs t of the atoms are 1 if required, -1 if excluded and 0 if open. The deficits are l = margin - t s. With a Gram matrix of
    the form shared + [a = b] own, the minimiser of

        1/2 ||w' - w||^2 (+ C weight * sum of slacks: pa1; + C weight * sum of their squares: pa2)

    is w + sum_a t_a lambda_a phi(x, a) with lambda_a = clip((l_a - t_a g) / d, 0, cap). Here d is own (pa2: + 1 / (2 C weight)), and cap
    is C weight for pa1, else infinite. g = shared sum_a t_a lambda_a, by which all scores rise together, is the one root of a rising
    piecewise function.

    - Up to eight atoms: the sign of that function at every breakpoint t_a l_a selects the piece of the root, without a branch
      (exact_few.h).
    - More atoms with falling scores: a walk over the breakpoints from 0, O(n_atoms).
    - Newton's method within a bracket confirms the piece, and finds it in any other case.

    g is relative to an origin, the breakpoint of an atom on that piece. The step of a long row moves it only a little.
    Multipliers of both sides cancel in w. A step that loses its digits that way raises an error; rows longer than 10^6 can
    cause that.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.components import ExactUpdate
    >>> rule = ExactUpdate("exact-pa1", C=0.1)
    >>> Engine("prank", update=rule, random_state=0).fit([[0.0], [1.0]], [1, 2]).predict([[-1.0], [2.0]]).tolist()
    [1, 2]
    """

    when = "always"
    citation = MANWANI

    def __init__(self, variant: str = "exact-pa", margin: float = 1.0, C=1.0):
        PassiveAggressiveUpdate.__init__(self, argument(self, "variant", variant, choice, EXACT).removeprefix("exact-"), margin, C)

    def check(self, context, parts):
        PassiveAggressiveUpdate.check(self, context, parts)
        if not has_constant_gram(parts.features):
            raise PluginError(f"update={context.update!r} needs the same inner product for all pairs of atoms. Those of "
                              f"{type(parts.features).__name__} differ; use 'pa', 'pa1' or 'pa2'.")
        if context.loss_weight:
            raise ConflictingOption(f"update={context.update!r} with loss_weight={context.loss_weight}: its step looks at all constraints, "
                                    f"whichever structure a search finds; leave loss_weight out.", "loss_weight")

    def check_order(self, context, parts):
        pass

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Py_ssize_t a, n = trial.x.n_atoms
        cdef double *c = trial.c
        cdef Origin origin
        cdef double own, d, per, cap, aggressiveness, root = 0, shared = 0, moved = 0, sums = 0, short_by = 0
        if trial.signs_c() < 0:
            return -1
        if n <= SP_FEW:
            short_by = sp_margin_short(trial.s, c, n, self.margin)
        else:
            for a in range(n):
                short_by = max(short_by, c[a] * c[a] * self.margin - c[a] * trial.s[a])     # 0 for atoms without a sign
        if short_by <= 0:
            return 0
        own = trial.weights.constant_gram_c(trial.x, &shared)
        if own < 0 or own - own != 0 or shared - shared != 0:
            with gil:
                if trial.weights.error is None and trial.weights.features.error is None:
                    self.error = DataError(f"the norm of example {trial.x.index} overflows; scale the features.")
            return -1
        if own < SMALLEST:
            return self.without_norm(trial)
        aggressiveness = self.aggressiveness_c(trial) if self.variant > 0 else INFINITY
        if aggressiveness <= 0:
            return -1 if aggressiveness < 0 else 0
        d = own + (1 / (2 * aggressiveness) if self.variant == 2 else 0)
        if d == INFINITY:
            return 0                            # C weight is so small that no step is left
        cap = aggressiveness if self.variant == 1 else INFINITY
        if n <= SP_FEW and d / shared < INFINITY:
            root = sp_exact_step(trial.s, c, n, self.margin, d / shared, d, cap * d, cap)
        else:
            per = 1 / d
            origin.score = origin.sign = origin.at = 0
            if d / shared < INFINITY:               # else w moves no score
                root = self.root(trial.s, c, n, d / shared, cap * d, &origin)
            for a in range(n):
                c[a] *= clip(c[a] * (position(c[a], trial.s[a], self.margin, &origin) - root) * per, cap)
            root += origin.at
        for a in range(n):
            moved += fabs(c[a])
            sums += c[a]
        if moved - moved != 0 or not fabs(sums * shared - root) <= LOST * short_by:
            with gil:
                self.error = DataError(f"the exact step for example {trial.x.index} is beyond floating point: its margin is short by "
                                       f"{short_by:.3g} and its squared norm is {max(own, shared):.3g}; scale the features.")
            return -1
        return moved > 0

    cdef int without_norm(self, Trial trial) noexcept nogil:
        """Orthogonal blocks and ||x||^2 = 0: no direction to move in, unless only rounding makes the norm 0."""
        with gil:
            if trial.x.blank:
                return 0
            self.error = DataError(f"the norm of example {trial.x.index} underflows; scale the features.")
        return -1

    cdef double root(self, const double *s, const double *t, Py_ssize_t n, double q, double limit, Origin *origin) noexcept nogil:
        """g - origin, with q g = sum_a t_a clip(l_a - t_a g, 0, limit); the difference of both sides rises with g."""
        cdef double g = self.guess(s, t, n, q, limit, origin), low = -INFINITY, high = INFINITY, at, excess, sums, size, following
        cdef Py_ssize_t a, inner
        cdef double capped
        for _ in range(MOST_PASSES):
            sums, size, capped, inner = 0, 0, 0, 0
            for a in range(n):                              # no branch that the data decide
                at = position(t[a], s[a], self.margin, origin)
                excess = t[a] * (at - g)
                sums += at if (excess > 0) & (excess < limit) else 0
                size += fabs(at) if (excess > 0) & (excess < limit) else 0
                inner += (excess > 0) & (excess < limit)
                capped += t[a] if excess >= limit else 0
            if capped != 0:
                sums += limit * capped
            following = (sums - q * origin.at) / (q + inner)
            if fabs(g - following) * (q + inner) <= NEAR * (size + fabs(following) * inner + q * fabs(origin.at + following)):
                return following                            # what is left is rounding
            if g < following:
                low = g
            else:
                high = g
            if not low < following < high:
                following = low + (high - low) / 2
            g = following
        return g

    cdef double guess(self, const double *s, const double *t, Py_ssize_t n, double q, double limit, Origin *origin) noexcept nogil:
        """The root, if atoms with the sign 1 come first, those with -1 last, and scores fall; else just somewhere. And its origin."""
        cdef Side left, right
        cdef Py_ssize_t a
        cdef double balance = 0, root
        left.at, left.step, left.n, left.sign, left.margin = s, -1, 0, 1, self.margin           # both are counted from the middle outwards
        right.at, right.step, right.n, right.sign, right.margin = s, 1, 0, -1, self.margin
        while left.n < n and t[left.n] > 0:
            left.n += 1
        while right.n < n - left.n and t[n - 1 - right.n] < 0:
            right.n += 1
        left.at += left.n - 1
        right.at += n - right.n
        for a in range(left.n):
            balance += clip(deficit(&left, a), limit)
        for a in range(right.n):
            balance -= clip(deficit(&right, a), limit)
        if balance > 0:
            root = walk(&left, &right, q, limit, origin)
        else:
            root = -walk(&right, &left, q, limit, origin)
        origin.at = origin.sign * self.margin - origin.score
        return root - origin.at


cdef inline double deficit(const Side *side, Py_ssize_t i) noexcept nogil:
    return side.margin - side.sign * side.at[i * side.step]


cdef inline double position(double t, double s, double margin, const Origin *origin) noexcept nogil:
    """t margin - s, where the deficit l - t g of an atom ends, counted from the origin: of atoms with one sign the margin cancels."""
    return (t - origin.sign) * margin - (s - origin.score)


cdef double walk(Side *falling, Side *growing, double q, double limit, Origin *origin) noexcept nogil:
    """The g >= 0 with q g = sum of the falling side's clipped deficits - sum of the growing side's. Deficits peak at the middle."""
    # As g grows, the falling deficits l - g leave the limit, then the sum. The growing m + g enter the sum, then reach the limit. The
    # origin is an atom in the sum, or the last one that left it.
    cdef double sums = 0, g, ahead, behind          # sums: of the deficits between 0 and the limit
    cdef Py_ssize_t a
    falling.grows, growing.grows = False, True
    begin(falling, limit, 1, &sums)
    begin(growing, limit, -1, &sums)
    while True:
        g = (sums + (limit * (falling.capped - growing.capped) if limit < INFINITY else 0)) / (q + between(falling) + between(growing))
        ahead, behind = next_break(falling, limit), next_break(growing, limit)
        if not g > min(ahead, behind):              # also where numbers overflow
            break
        if between(falling) == 1 and between(growing) == 0 and falling.capped <= growing.capped:
            break                                   # a single pulling atom stays, although rounding may show otherwise
        if ahead <= behind:
            cross(falling, limit, &sums)
        else:
            cross(growing, limit, &sums)
    if falling.n > 0:
        a = max(falling.within - 1, 0)              # the atom that leaves next, or the one that left last
        origin.score, origin.sign = falling.at[a * falling.step], falling.sign
    return g


cdef inline Py_ssize_t between(const Side *side) noexcept nogil:
    """How many atoms have deficits between 0 and the limit."""
    return side.within - side.capped


cdef inline void begin(Side *side, double limit, double sign, double *sums) noexcept nogil:
    """Counts the atoms of a side for g = 0, and adds the deficits between 0 and the limit."""
    side.capped = 0
    while side.capped < side.n and deficit(side, side.capped) >= limit:
        side.capped += 1
    side.within = side.capped
    while side.within < side.n and deficit(side, side.within) > 0:
        sums[0] += sign * deficit(side, side.within)
        side.within += 1


cdef inline double at_zero(const Side *side) noexcept nogil:
    """The g at which the next deficit of a side reaches or leaves 0."""
    if side.grows:
        return -deficit(side, side.within) if side.within < side.n else INFINITY
    return deficit(side, side.within - 1) if side.within > side.capped else INFINITY


cdef inline double at_limit(const Side *side, double limit) noexcept nogil:
    """The g at which the next deficit of a side reaches or leaves the limit."""
    if side.grows:
        return limit - deficit(side, side.capped) if side.capped < side.within else INFINITY
    return deficit(side, side.capped - 1) - limit if side.capped > 0 else INFINITY


cdef inline double next_break(const Side *side, double limit) noexcept nogil:
    return min(at_zero(side), at_limit(side, limit))


cdef inline void cross(Side *side, double limit, double *sums) noexcept nogil:
    """Passes the next breakpoint of a side: an atom's deficit leaves the sums or joins them."""
    if at_zero(side) <= at_limit(side, limit):
        side.within -= not side.grows
        sums[0] -= deficit(side, side.within)
        side.within += side.grows
    else:
        side.capped -= not side.grows
        sums[0] += deficit(side, side.capped)
        side.capped += side.grows


cdef inline double clip(double value, double limit) noexcept nogil:
    value = value if value > 0 else 0
    return value if value < limit else limit
