"""Exact passive-aggressive steps: the projection onto all of a trial's margin constraints at once.

Typical sizes: 4 atoms (ranks) to 1000. Cost: one norm and O(atoms), where the scores fall along the atoms as thresholds make them.
"""
from libc.math cimport INFINITY, fabs
from structperc.core.updates cimport Trial
from structperc.core.errors import DataError, PluginError
from structperc.core.updates cimport PassiveAggressiveUpdate

MANWANI = """@misc{manwani2018exact,
  author = {Naresh Manwani and Mohit Chandra},
  title = {Exact Passive-Aggressive Algorithms for Learning to Rank Using Interval Labels},
  year = {2018},
  eprint = {1808.06107},
  archivePrefix = {arXiv}
}"""

cdef enum:
    MOST_PASSES = 2000          # of the search for the root; 1 or 2 are usual, halving alone ends within this

cdef double NEAR = 1e-15        # of the size of the sums: below, a difference is rounding


ctypedef struct Side:
    # the scores of the atoms with one sign, from the middle outwards
    const double *at
    Py_ssize_t step, n
    double sign


cdef class ExactUpdate(PassiveAggressiveUpdate):
    """Every atom of the right answer shall score at least the margin, every other at most minus the margin.

    For ranks these are the constraints of all thresholds (exact passive-aggressive ranking), for classes those of one class
    against the rest, for which the steps are independent. With the signs t of the atoms (1: shall occur, -1: shall not, 0: may), the
    deficits l = margin - t s and a Gram of the form shared + [a = b] own, the minimiser of

        1/2 ||w' - w||^2 (+ C weight * sum of slacks: pa1; + C weight * sum of their squares: pa2)

    is w + sum_a t_a lambda_a phi(x, a) with lambda_a = clip((l_a - t_a A shared) / d, 0, cap), where d is own (pa2: + 1 / (2 C weight)),
    cap is C weight for pa1 and infinite otherwise, and A = sum_a t_a lambda_a is the one root of a function that rises by pieces.
    Where scores fall along the atoms, the piece with the root is found by walking over the breakpoints from 0, O(atoms). Newton's method
    within a bracket then makes sure of it, and finds it alone in any other case: it ends on the right piece, whose equation it solves.
    Margins are met up to rounding of about 1e-16 ||x||^2 times the deficits, so scale the features.

    Parameters
    ----------
    variant : {"exact-pa", "exact-pa1", "exact-pa2"}
    margin, C : float
        Positive.
    """

    when = "always"
    threshold_order = "kept"
    citation = MANWANI

    def __init__(self, str variant="exact-pa", double margin=1.0, double C=1.0):
        PassiveAggressiveUpdate.__init__(self, variant.removeprefix("exact-"), margin, C)

    def check(self, context, parts):
        if not parts.features.has_constant_gram:
            raise PluginError(f"update={context.update!r} needs atoms whose inner products are the same for all pairs, but those of "
                              f"{type(parts.features).__name__} are not; use 'pa', 'pa1' or 'pa2'.")
        if context.loss_weight:
            raise PluginError(f"update={context.update!r} with loss_weight={context.loss_weight}: its step looks at all constraints, "
                              f"whichever structure "
                              f"a search finds; leave loss_weight out.")

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Py_ssize_t a, n = trial.x.n_atoms
        cdef double *c = trial.c
        cdef double own, d, cap, root, shared = 0, moved = 0, short_by = 0
        if trial.signs_c() < 0:
            return -1
        for a in range(n):
            short_by = max(short_by, c[a] * c[a] * self.margin - c[a] * trial.s[a])     # 0 for atoms without a sign
        if short_by <= 0:
            return 0
        own = trial.weights.constant_gram_c(trial.x, &shared)
        d = own + (1 / (2 * self.C * trial.weight) if self.variant == 2 else 0)
        cap = self.C * trial.weight if self.variant == 1 else INFINITY
        if own < 0 or d - d != 0 or shared - shared != 0:
            with gil:
                if trial.weights.error is None and trial.weights.features.error is None:
                    self.error = DataError(f"the norm of example {trial.x.index} overflows; scale the features.")
            return -1
        if own == 0:
            return 0                            # x = 0 in orthogonal blocks: no direction to move in
        root = self.root(trial.s, c, n, shared, d, cap) if shared > 0 else 0
        for a in range(n):
            c[a] *= multiplier(self.margin - c[a] * trial.s[a], c[a] * root * shared, 1 / d, cap)
            moved += fabs(c[a])
        return moved > 0

    cdef double root(self, const double *s, const double *t, Py_ssize_t n, double shared, double d, double cap) noexcept nogil:
        """A = sum_a t_a lambda_a(A); the difference of both sides rises with A, with a slope of at least 1."""
        cdef double per = 1 / d, A = self.guess(s, t, n, shared, d, cap), low = -INFINITY, high = INFINITY, total, size, found, following
        cdef Py_ssize_t a, inner
        for _ in range(MOST_PASSES):
            total, size, inner = 0, 0, 0
            for a in range(n):                              # no branch that the data decide
                found = multiplier(self.margin - t[a] * s[a], t[a] * A * shared, per, cap)
                total += t[a] * found
                size += fabs(t[a]) * found
                inner += (found > 0) & (found < cap) & (t[a] != 0)
            following = A - (A - total) / (1 + shared / d * inner)
            if fabs(A - total) <= NEAR * (size + fabs(A) * shared / d * inner):
                return following                            # what is left is rounding
            if A < total:
                low = A
            else:
                high = A
            if not low < following < high:
                following = total if low == -INFINITY or high == INFINITY else low + (high - low) / 2      # it lies between A and total
            A = following
        return A

    cdef double guess(self, const double *s, const double *t, Py_ssize_t n, double shared, double d, double cap) noexcept nogil:
        """The root, if atoms with the sign 1 come first, those with -1 last, and scores fall; else just somewhere."""
        cdef Side left, right
        cdef Py_ssize_t a
        cdef double balance = 0
        left.at, left.step, left.n, left.sign = s, -1, 0, 1         # both sides are counted from the middle outwards
        right.at, right.step, right.n, right.sign = s, 1, 0, -1
        while left.n < n and t[left.n] > 0:
            left.n += 1
        while right.n < n - left.n and t[n - 1 - right.n] < 0:
            right.n += 1
        left.at += left.n - 1
        right.at += n - right.n
        for a in range(left.n):
            balance += multiplier(deficit(&left, a, self.margin), 0, 1 / d, cap)
        for a in range(right.n):
            balance -= multiplier(deficit(&right, a, self.margin), 0, 1 / d, cap)
        return walk(&left, &right, self.margin, shared, d, cap) if balance > 0 else -walk(&right, &left, self.margin, shared, d, cap)


cdef inline double deficit(const Side *side, Py_ssize_t i, double margin) noexcept nogil:
    return margin - side.sign * side.at[i * side.step]


cdef double walk(const Side *falling, const Side *growing, double margin, double shared, double d, double cap) noexcept nogil:
    """The A >= 0 with A = sum of the falling side's multipliers - sum of the growing side's; deficits are largest at the middle.

    As A grows, the falling deficits l - A shared leave the cap, then the sum; the growing m + A shared enter the sum, then reach the cap.
    """
    cdef Py_ssize_t capped = 0, within = 0, full = 0, entered = 0       # falling: at the cap, of use at all; growing: likewise
    cdef double limit = cap * d, sums = 0, A, leaves, enters, uncaps, fills, following
    while capped < falling.n and deficit(falling, capped, margin) >= limit:
        capped += 1
    within = capped
    while within < falling.n and deficit(falling, within, margin) > 0:
        sums += deficit(falling, within, margin)
        within += 1
    while full < growing.n and deficit(growing, full, margin) >= limit:
        full += 1
    entered = full
    while entered < growing.n and deficit(growing, entered, margin) > 0:
        sums -= deficit(growing, entered, margin)
        entered += 1
    while True:
        A = (sums + (limit * (capped - full) if limit < INFINITY else 0)) / (d + shared * (within - capped + entered - full))
        uncaps = (deficit(falling, capped - 1, margin) - limit) / shared if capped > 0 else INFINITY
        leaves = deficit(falling, within - 1, margin) / shared if within > capped else INFINITY
        enters = -deficit(growing, entered, margin) / shared if entered < growing.n else INFINITY
        fills = (limit - deficit(growing, full, margin)) / shared if full < entered else INFINITY
        following = min(min(uncaps, leaves), min(enters, fills))
        if not A > following:               # also ends where numbers overflow
            return A
        if following == leaves:
            within -= 1
            sums -= deficit(falling, within, margin)
        elif following == uncaps:
            capped -= 1
            sums += deficit(falling, capped, margin)
        elif following == enters:
            sums -= deficit(growing, entered, margin)
            entered += 1
        else:
            sums += deficit(growing, full, margin)
            full += 1


cdef inline double multiplier(double short_by, double gained, double per, double cap) noexcept nogil:
    """clip((short_by - gained) * per, 0, cap)"""
    cdef double found = (short_by - gained) * per
    found = found if found > 0 else 0
    return found if found < cap else cap
