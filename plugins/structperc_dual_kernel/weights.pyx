"""A weight vector that is a sum of rows it has seen: of every step it keeps the rows and their coefficients (Fig. 5 of the CuSum paper).

Typical sizes: 10^3..10^5 examples, of which a tenth to a half are stored; 1..30 blocks; 1..100 rows an example. Cost of a visit: a kernel
value for each change since the example's last visit, or for each stored row if these are fewer. A step needs a kernel value for each
example left in the current block.
"""
import threading

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport NAN
from libc.stdint cimport int64_t
from libc.string cimport memset
from structperc.core.averaging cimport predicting, scale_multiplied_out, shrink
from structperc.core.component cimport Component
from structperc.core.features cimport Features, coefficients_of
from structperc.core.weights cimport Weights
from structperc.errors import DataError, PluginError
from structperc.core.rows cimport Example, Rows
from structperc.core.schedules cimport Schedule
from structperc.plugin_tools import retry_on_interrupt, refuse_not_finite, take_interruption, read_array
from structperc_kernels import KernelObjects, PrecomputedKernelRows, empty_kernel_rows
from structperc_kernels.kernel_rows cimport LANES, KernelRows
from structperc_dual_kernel.expansion cimport Expansion, ExplicitPart, ScoreCache, SupportSet, add_rows
from structperc_dual_kernel.expansion cimport LookAhead
from structperc_dual_kernel.expansion import MOST, short

COLLINS_DUFFY = """@inproceedings{collins2002new,
  author = {Michael Collins and Nigel Duffy},
  title = {New Ranking Algorithms for Parsing and Tagging: Kernels over Discrete Structures, and the Voted Perceptron},
  booktitle = {Proceedings of ACL},
  pages = {263--270},
  year = {2002}
}"""


cdef class DualWeights(Weights):
    """A kernel expansion: w = sum over steps i and atoms a of c_i[a] phi(x_i, a), with kernels of rows instead of dot products.

    Each atom belongs to a row of x and a block (`Features.cell`). So row i needs one coefficient v[i, block] for each block. The score
    of an atom of z on row j in this block is sum_i v[i, block] K(x_i, z_j). Other weights of the atom (an intercept,
    a threshold, a transition) are added as usual. Averages and decay are those of the primal weights:
    w = scale * v, and the mean over the visited examples is (scale_sum * v - u) / n_visited.

    Rows that repeat are held once. With a budget, a row gives way to each further one, and takes its share of the average with it.
    """
    # kernel_rows: KernelRows. Empty; knows the kernel.
    # decay: float in [0, 1), Schedule or function. Each step first multiplies w by 1 - decay, the decay of the t-th example visited; see
    # `structperc.core.schedules.Schedule`.
    # budget: int. The most rows to hold; 0: no bound.
    # removal: {"oldest", "random", "least"}. See `structperc_dual_kernel.expansion.SupportSet`.
    # cache_bytes: int. What dear kernel values of the training rows may take.

    citation = COLLINS_DUFFY

    def __cinit__(self, *args, **kwargs):
        self.step = None

    def __init__(self, KernelRows kernel_rows, average=False, decay=0.0, budget=0,
                 removal="oldest", cache_bytes=0):
        self.decay = Schedule(decay, "decay")
        self.averaging.average, self.averaging.decay = average, self.decay.start
        self.options = kernel_rows, budget, removal, cache_bytes
        self.moving = threading.Lock()

    def start(self, parts, context):
        cdef Features features
        kernel_rows, budget, removal, _ = self.options
        Weights.start(self, parts, context)
        features = self.features
        if features.n_blocks < 1:
            raise PluginError(f"{type(parts.features).__name__} does not define the row of x of each atom. No kernel "
                              f"between rows can replace its dot products. Implement n_blocks, cell(x, a) and explicit_part(). "
                              f"Those of a base class do not count if {type(parts.features).__name__} replaces scores, add, norm or "
                              f"inner.")
        self.n_blocks = features.n_blocks
        self.random = context.random
        kernel_rows = kernel_rows.clone()
        kernel_rows.start(context)
        self.support = SupportSet(kernel_rows, self.n_blocks, budget, removal)
        self.explicit = ExplicitPart(features.explicit_part())
        self.ahead = LookAhead(self.support)
        self.first_number = self.next_number = 0
        self.scratch = self._final = self.fit_rows = None

    def check(self, context, parts):
        Weights.check(self, context, parts)
        weights = context.sample_weight if context.visit_weight is None else context.visit_weight
        self.has_weight = None if weights is None or weights.all() else weights > 0

    def rescaling(self, shift, spread):
        return "the columns of X are kernel values." if isinstance(self.options[0], PrecomputedKernelRows) else None

    def prepare(self, Rows rows):
        """Kernels need columns in order. They can make a plain number of an infinite one, so infinite numbers raise an error here."""
        refuse_not_finite(rows)
        return rows.canonical() if rows.sparse else rows

    def announce(self, rows):
        if rows is None:
            self.support.kernel_rows.end_fit()
        else:
            self.support.kernel_rows.begin_fit(rows)
            self.number(rows)
        self.forget(rows)

    def forget(self, rows):
        """Keeps nothing of what was found about data; from now on all passes visit these rows (None: any)."""
        cdef ScoreCache cache = None
        if rows is not None and not self.support.budget:
            cache = ScoreCache(rows, self.n_blocks, self.options[3] if self.support.kernel_rows.expensive else 0)
        self.fit_rows, self.scratch = rows, None
        self.ahead.begin(cache)

    def number(self, rows):
        """Numbers the rows of further data."""
        self.first_number = self.next_number
        self.next_number += rows.n_rows

    # ---- visits ----

    cdef Py_ssize_t look_ahead_c(self, Rows rows, const int64_t *order, Py_ssize_t t, Py_ssize_t n) noexcept nogil:
        with gil:
            try:
                PyErr_CheckSignals()
                if t == 0:
                    self.error = None
                elif self.error is not None:
                    return -1
                if t == 0 and rows is not self.fit_rows:
                    self.number(rows)
                return self.fill(rows, order, t, n)
            except BaseException as error:
                self.error = error
                return -1

    cdef Py_ssize_t fill(self, Rows rows, const int64_t *order, Py_ssize_t t, Py_ssize_t n) except -1:
        """Makes the examples from position t on the next block; returns the position behind it."""
        cdef Py_ssize_t most = self.ahead.choose(rows, order, t, n)
        self._final = None
        self.settle_parameters(rows)
        if self.scratch is None:
            self.scratch = self.support.kernel_rows.empty()
        self.provide(most)
        self.ahead.complete(rows)
        return t + self.ahead.n_examples

    def provide(self, Py_ssize_t most):
        """Reserves memory for the rows of an example: their sums, a step, and comparisons with each other."""
        self.scratch.reserve(most)
        if self.step is None or self.step.shape[0] < most:
            self.step, self.row_sums = np.zeros((most, self.n_blocks)), np.zeros((most, self.n_blocks))
            self.in_step, self.slots = np.zeros(most, dtype=np.uint8), np.zeros(most, dtype=np.intc)
            self.values = np.zeros((most, LANES))

    cdef int turn_to(self, Example x) noexcept nogil:
        """Makes x the example that was visited last; -1 on an error."""
        cdef int64_t only = x.index
        with gil:
            try:
                self.fill(x.source, &only, 0, 1)
            except BaseException as error:
                self.error = error
                return -1
        self.ahead.n_visited = 1
        return 0

    cdef int scores_c(self, Example x, double *s) noexcept nogil:
        cdef Py_ssize_t a
        if self.error is not None or not self.ahead.advance(x) and self.turn_to(x) < 0:
            return -1
        self.ahead.take_c(x, &self.row_sums[0, 0])
        if self.explicit.scores_c(x, s) < 0:
            return self.failed(self.explicit.features)
        if add_rows(self.features, x, &self.row_sums[0, 0], s) < 0:
            return self.failed(self.features)
        if self.averaging.scale != 1:
            for a in range(x.n_atoms):
                s[a] *= self.averaging.scale
        return 0

    cdef int failed(self, Component part) noexcept nogil:
        """Keeps the error of a part, or what stopped its work; -1."""
        with gil:
            interruption = take_interruption()
            self.error, part.error = part.error if interruption is None else interruption, None
        return -1

    # ---- steps ----

    cdef int spread(self, Example x, const double *c) noexcept nogil:
        """The coefficients of atoms as those of rows and blocks; -1 on an error."""
        cdef Py_ssize_t a, cell, row
        if not self.ahead.is_current(x) and self.turn_to(x) < 0:
            return -1
        memset(&self.step[0, 0], 0, x.block.n_rows * self.n_blocks * sizeof(double))
        memset(&self.in_step[0], 0, x.block.n_rows)
        for a in range(x.n_atoms):
            if c[a] != 0:
                cell = self.features.cell_c(x, a)
                if cell < -1:
                    return self.failed(self.features)
                if cell >= 0:
                    row = cell // self.n_blocks
                    self.step[row, cell % self.n_blocks] += c[a]
                    self.in_step[row] = True
        return 0

    cdef int update_c(self, Example x, const double *c) noexcept nogil:
        cdef Py_ssize_t row, block
        cdef bint moves
        if self.spread(x, c) < 0:
            return -1
        if self.averaging.decay != 0 and self.shrink_c() < 0:
            return -1
        if self.explicit.add_c(x, c, 1 / self.averaging.scale, self.averaging.scale_sum / self.averaging.scale) < 0:
            return self.failed(self.explicit.features)
        for row in range(x.block.n_rows):
            moves = False
            for block in range(self.n_blocks if self.in_step[row] else 0):
                self.step[row, block] /= self.averaging.scale
                moves |= self.step[row, block] != 0
            if moves and self.take_step(x, row, &self.step[row, 0]) < 0:
                return -1
        return self.error is not None           # of the block ahead, which has been let go; the step is whole

    cdef int take_step(self, Example x, Py_ssize_t row, const double *c) noexcept nogil:
        """v[row] += c; -1 on an error."""
        cdef Py_ssize_t block, slot = self.ahead.cache.slot[x.first_row + row] if self.ahead.uses_cache else -1
        cdef bint full = self.ahead.is_full()
        if slot < 0 or full:                            # full: after several steps for one visit
            with gil:
                try:
                    if full:
                        self.ahead.cache.make_room(self.ahead.cache.changed_slot.shape[0] + 1)
                    slot = self._whole(self._slot_for, x, row) if slot < 0 else slot
                except BaseException as error:
                    self.error = error
                    return -1
            if self.ahead.uses_cache:
                self.ahead.cache.slot[x.first_row + row] = <int> slot
        for block in range(self.n_blocks):
            self.support.v[slot, block] += c[block]
            self.support.u[slot, block] += c[block] * self.averaging.scale_sum
        if self.ahead.change_c(slot, c) < 0:
            self.failed(self.support.kernel_rows)       # `update_c` reports it once the step is whole
        return 0

    def _whole(self, function, *arguments):
        """The result of a part of a step, which goes on after Ctrl-C: `update_c` reports that once the step is made."""
        interrupts = []
        answer = retry_on_interrupt(interrupts, function, *arguments)
        if interrupts:
            self.error = interrupts[0]
        return answer

    def _slot_for(self, Example x, Py_ssize_t row):
        """The slot of row `row` of x. A new row joins; if the budget is full, it replaces another."""
        # After Ctrl-C it may be called again: the slot that was chosen stays so until a row has joined there.
        cdef SupportSet held = self.support
        cdef int64_t number = self.first_number + x.first_row + row
        cdef double[::1] leaving
        key = held.kernel_rows.key(x.source, x.first_row + row)
        key = short(b"%d" % number if key is None else key)
        cdef Py_ssize_t slot = held.find(key)
        if slot >= 0:
            held.remember(slot)
            return slot
        slot = held.kernel_rows.n
        if held.budget and slot >= held.budget:
            slot = held.choose_eviction(self.random)
            leaving = -np.asarray(held.v[slot])
            with self.moving:
                held.evict(slot)
            if self.ahead.change_c(slot, &leaving[0]) < 0:
                self.failed(self.support.kernel_rows)
        return held.join(slot, x, row, number, key)

    cdef int shrink_c(self) noexcept nogil:
        """Multiplies w by what a step leaves of it; -1 on an error."""
        cdef int status = shrink(&self.averaging, self.decay)
        if status == 0:
            return 0
        with gil:
            try:
                if status < 0:
                    self.error = self.decay.taken_error()
                else:
                    self._whole(self.multiply_out)
            except BaseException as error:
                self.error = error
                return -1
        return status

    def multiply_out(self):
        """Multiplies the scale into the coefficients, and into all that is in their units. May be called again after Ctrl-C."""
        cdef double scale = self.averaging.scale, scale_sum = self.averaging.scale_sum
        self.support.remember_all()
        v, u, _ = self.support.arrays()
        own = self.explicit.vector
        with np.errstate(all="ignore"):                     # what overflows is found in the scores
            scaled_out = [(accumulated - scale_sum * values, scale * values) for values, accumulated in ((v, u), (own[0], own[1]))]
        # from here on nothing is called in which Ctrl-C comes
        for (values, accumulated), (further, scaled) in zip(((v, u), (own[0], own[1])), scaled_out, strict=True):
            accumulated[:], values[:] = further, scaled     # the running sum moves into -u
        self.ahead.multiply(scale)
        scale_multiplied_out(&self.averaging)

    # ---- geometry ----

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        """Rows compared by the kernel, and what atoms have besides."""
        cdef double total, rows
        if self.spread(x, c) < 0:
            return -1
        total = self.explicit.norm_c(x, c)
        if total < 0:
            return self.failed(self.explicit.features)
        rows = self.row_norm(x)
        return -1 if rows < 0 else total + rows

    cdef double row_norm(self, Example x) noexcept nogil:
        """sum over the rows t and t' that have coefficients of (m[t] . m[t']) K(x_t, x_t'); negative on an error."""
        cdef Py_ssize_t row, other, block, lane, i, n = 0, group = -1
        cdef double total = 0, product
        with gil:
            self.scratch.truncate(0)
        for row in range(x.block.n_rows):
            if self.in_step[row]:
                self.slots[n] = <int> n
                n += 1
                if self.scratch.append_c(x, row, self.first_number + x.first_row + row) < 0:
                    return self.failed(self.scratch)
        for other in range(x.block.n_rows):
            if not self.in_step[other]:
                continue
            lane = self.ahead.lane_of(other)
            if lane // LANES != group:
                group = lane // LANES
                for i in range(n * LANES):
                    (&self.values[0, 0])[i] = NAN
                if self.scratch.tile_c(self.ahead.queries, group, &self.slots[0], n, &self.values[0, 0]) < 0:
                    return self.failed(self.scratch)
            i = 0
            for row in range(x.block.n_rows):
                if self.in_step[row]:
                    product = 0
                    for block in range(self.n_blocks):
                        product += self.step[row, block] * self.step[other, block]
                    total += product * self.values[i, lane % LANES]
                    i += 1
        return 0 if total < 0 else total                # NaN stays

    cdef double constant_gram_c(self, Example x, double *shared) noexcept nogil:
        cdef double own = self.explicit.constant_gram_c(x, shared), between
        cdef Py_ssize_t first, second = -1
        if own < 0:
            return self.failed(self.explicit.features)
        first = self.features.cell_c(x, 0)
        if x.n_atoms > 1:
            second = self.features.cell_c(x, 1)
        if first < -1 or second < -1:
            return self.failed(self.features)
        if first < 0:
            return own
        if not self.ahead.is_current(x) and self.turn_to(x) < 0:
            return -1
        memset(&self.step[0, 0], 0, x.block.n_rows * self.n_blocks * sizeof(double))
        memset(&self.in_step[0], 0, x.block.n_rows)
        self.step[first // self.n_blocks, first % self.n_blocks], self.in_step[first // self.n_blocks] = 1, True
        between = self.row_norm(x)
        if between < 0:
            return -1
        if first == second:
            shared[0] += between
            return own
        return own + between

    # ---- what was learned ----

    def mean(self):
        """The coefficients to predict with, (n_held, n_blocks), and the weights of what atoms have besides, flat."""
        v, u, _ = self.support.arrays()
        own = self.explicit.vector
        return predicting(&self.averaging, v, u), predicting(&self.averaging, own[0], own[1])

    def live(self):
        """Slots of the rows that predictions need, those with a coefficient that is not 0, and all coefficients."""
        coefficients, own = self.mean()
        return np.flatnonzero(coefficients.any(axis=1)), coefficients, own

    def averaged(self):
        n_visited, final = self.averaging.n_visited, self._final              # before the values: another thread may train meanwhile
        if final is None or self._final_visited != n_visited:
            with self.moving:
                slots, coefficients, own = self.live()
                kernel_rows = self.support.kernel_rows.select(slots)
            final = Expansion(self.features, kernel_rows, coefficients[slots], np.stack([own, np.zeros_like(own)]))
            self._final, self._final_visited = final, n_visited
        return final

    def empty_kernel_rows(self, rows):
        """See `structperc_kernels.empty_kernel_rows`."""
        self.settle_parameters(rows)
        return self.support.kernel_rows.empty()

    def settle_parameters(self, rows):
        """Settles what the kernel takes from the first data, of rows with a weight."""
        if not self.support.kernel_rows.fitted and rows.n_rows:
            counts = self.has_weight
            if counts is not None and counts.any() and len(counts) == rows.n_examples and not rows.objects:
                rows = Rows(rows.X[counts if rows.offsets is None else np.repeat(counts, np.diff(rows.offsets))])
            self.support.kernel_rows.settle_parameters(rows)
            self.support.kernel_rows.fitted, self.scratch = True, None

    def assign(self, vector, n_visited):
        """Sets w to this expansion over the rows of the fit, as if it had been that for n_visited examples."""
        # The vector has the coefficients of all blocks for each row of the announced data, then the weights of `Features.explicit_part`.
        # Only rows with coefficients other than 0 are stored.
        cdef Py_ssize_t row, block
        cdef Example x = Example()
        cdef Rows rows = self.fit_rows
        if rows is None:
            raise PluginError("assign was called before announce, which sets the rows that the coefficients belong to.")
        values, first = np.asarray(vector, dtype=float), rows.n_rows * self.n_blocks
        if values.shape != (first + len(self.explicit.vector[0]),):
            raise DataError(f"assign got an array of shape {values.shape}; expected ({first + len(self.explicit.vector[0])},). A kernel "
                            f"expansion over {rows.n_rows} rows has a coefficient for each row and block, and then "
                            f"{len(self.explicit.vector[0])} explicit weights.")
        coefficients, explicit = values[:first].reshape(rows.n_rows, self.n_blocks), values[first:]
        stored = np.flatnonzero(coefficients.any(axis=1))
        if self.support.budget and len(stored) > self.support.budget:
            raise DataError(f"assign got {len(stored)} rows with coefficients, more than the budget of {self.support.budget}.")
        self.forget(rows)
        self.settle_parameters(rows)
        self.support.clear()
        self.support.reserve(len(stored))
        x.look_at(rows)
        for row in stored:
            rows.load_row(row, x)
            slot = self._slot_for(x, 0)
            for block in range(self.n_blocks):
                self.support.v[slot, block] += coefficients[row, block]
        self.explicit.vector[0], self.explicit.vector[1] = explicit, 0
        self.averaging.scale, self.averaging.scale_sum, self.averaging.n_visited = 1, n_visited, n_visited
        self._final = None

    def batch_scores(self, rows):
        return self.averaged().batch_scores(rows)

    def terms(self, Example x, c):
        cdef Py_ssize_t a, cell
        cdef Expansion final
        self._refuse_unstarted()
        c = coefficients_of(c, self.features, x)
        final, slots, shares = self.averaged(), self.live()[0], np.zeros((x.block.n_rows, self.n_blocks))
        for a in np.flatnonzero(c):
            cell = self.features.cell_c(x, a)
            if cell < -1:
                self.features.raised()
            if cell >= 0:
                shares[divmod(cell, self.n_blocks)] += c[a]
        own = final.from_rows(x, np.zeros_like(shares))                     # what atoms have besides their rows
        kernel = final.kernel_rows.values(x.source, np.arange(x.first_row, x.first_row + x.block.n_rows))
        return self.support.arrays()[2][slots], ((shares.T @ kernel) * final.coefficients.T).sum(axis=0), float(np.dot(c, own))

    def attributes(self, weights):
        """support_, the numbers of the rows that predictions need, over all data, as they joined, and their values."""
        functions = {
            "coef_": "a kernel compares whole rows, so columns have no weights; dual_coef_ are those of support_vectors_",
            "support_": lambda: self.support.arrays()[2][self.live()[0]],
            "n_support_": lambda: len(self.live()[0]),
            "support_vectors_": lambda: self.averaged().kernel_rows.support(),
            "dual_coef_": lambda: np.array(self.averaged().coefficients),
        }
        if hasattr(self.support.kernel_rows, "gamma_"):
            functions["gamma_"] = lambda: self.support.kernel_rows.gamma_
        return {**functions, **self.explicit.attributes(lambda: self.mean()[1])}

    # ---- persistence and taking back ----

    def fingerprint(self):
        values = [one for one in (self.support.kernel_rows.fingerprint(), self.decay.fingerprint()) if one is not None]
        return np.concatenate(values) if values else None

    def state(self):
        return {"explicit": np.array(self.explicit.vector), "scales": np.array([self.averaging.scale, self.averaging.scale_sum]),
                "row_numbers": np.array([self.first_number, self.next_number], dtype=np.int64), **self.support.state()}

    def restore(self, state):
        cdef ScoreCache before = self.ahead.cache
        rows, keys = self.fit_rows, list(self.support.keys)
        explicit = read_array(state, "explicit", np.float64, self.explicit.vector.shape)
        scale, scale_sum = read_array(state, "scales", np.float64, (2,), low=0)
        if scale == 0:
            raise DataError("the saved scale of the weights is 0; expected a number above 0.")
        numbers = read_array(state, "row_numbers", np.int64, (2,), low=0, high=MOST)
        self.support.restore(state)
        self.explicit.vector[:] = explicit
        self.averaging.scale, self.averaging.scale_sum = scale, scale_sum
        self.first_number, self.next_number = numbers
        self.support.kernel_rows.fitted = True
        self.forget(rows)
        if before is not None and before.rows is rows and keys == self.support.keys and isinstance(self.support.kernel_rows, KernelObjects):
            self.ahead.cache.values = before.values      # compared two by two, so that they have the same bits whenever they are found
        self._final = None

    def snapshot(self, rows):
        return DualSnapshot(self)

    def is_finite(self):
        cdef Py_ssize_t slot, block
        cdef double total = 0
        for slot in range(self.support.kernel_rows.n):
            for block in range(self.n_blocks):
                total += 0 * self.support.v[slot, block] + 0 * self.support.u[slot, block]
        return total == 0 and bool(np.isfinite(self.explicit.vector).all())


class DualSnapshot:
    """What `revert` needs: rows that join later go, those that leave come back."""

    def __init__(self, weights):
        cdef DualWeights own = weights
        self.weights, self.joined, self.explicit = weights, own.support.snapshot(), np.array(own.explicit.vector)
        self.random = own.random.bit_generator.state if own.support.budget and own.support.removal == "random" else None
        self.scalars = (own.averaging.scale, own.averaging.scale_sum, own.averaging.n_visited, own.first_number, own.next_number)

    def revert(self):
        cdef DualWeights own = self.weights
        with own.moving:
            own.support.revert(self.joined)
        if self.random is not None:
            own.random.bit_generator.state = self.random
        own.explicit.vector[:] = self.explicit
        own.averaging.scale, own.averaging.scale_sum, own.averaging.n_visited, own.first_number, own.next_number = self.scalars
        own._final = None
        own.ahead.let_go()

    def is_finite(self):
        return self.weights.is_finite()


empty_kernel_rows.register(DualWeights, DualWeights.empty_kernel_rows)
