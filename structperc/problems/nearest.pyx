# distutils: extra_compile_args = VECTORS
"""sparseMAP: the point mu of conv{n_y} with the largest s . mu - |mu|^2 / 2, found by searches.

Wolfe's algorithm: mu is a mean of few structures, the active set. Each step adds the best structure for s - mu. Then it solves for the
best point of the plane through the active set. Structures whose share would be negative leave it. The duality gap (s - mu) . (v - mu)
ends it. Typical sizes: 2 .. 30 structures in the active set. Cost: as many searches, and O(structures^3 + structures atoms) each.
"""
from libc.math cimport fabs
from libc.stdint cimport int64_t
import numpy as np

from structperc.basics.errors import DataError
from structperc.core.updates cimport Trial

cdef enum:
    MOST_STEPS = 10000
    BLOCK = 16                  # most counts are 0: so many are looked at together

cdef double NONE = 1e-12        # a share below it has left the active set


cdef double product(const double *g, const double *s, Py_ssize_t n) noexcept nogil:
    """g . s, where 0 times -inf is 0: a forbidden atom that no structure has costs nothing."""
    cdef double total = 0
    cdef Py_ssize_t a = 0, k
    cdef int64_t some
    while a < n:
        some = 1
        if a + BLOCK <= n:
            some = 0
            for k in range(BLOCK):
                some |= g[a + k] != 0
        if some:
            for k in range(a, min(a + BLOCK, n)):
                if g[k] != 0:
                    total += g[k] * s[k]
        a += BLOCK
    return total


cdef class ActiveSet:
    """The structures whose mean is the nearest point, and memory for the search."""

    cdef int provide(self, Py_ssize_t n_points, Py_ssize_t n_atoms) except -1:
        """Room for so many structures."""
        cdef Py_ssize_t room
        if self.points is None or self.points.shape[1] < n_atoms:
            self.points, self.gram, self.scores, self.shares = np.zeros((8, n_atoms)), np.zeros((8, 8)), np.zeros(8), np.zeros(8)
            self.system, self.mean, self.rest = np.zeros((9, 10)), np.zeros(n_atoms), np.zeros(n_atoms)
        if n_points > self.points.shape[0]:
            room = 2 * self.points.shape[0]
            points, gram, scores, shares = (np.zeros((room, self.points.shape[1])), np.zeros((room, room)), np.zeros(room),
                                            np.zeros(room))
            before = self.points.shape[0]
            points[:before], gram[:before, :before], scores[:before], shares[:before] = self.points, self.gram, self.scores, self.shares
            self.points, self.gram, self.scores, self.shares = points, gram, scores, shares
            self.system = np.zeros((room + 1, room + 2))
        return 0

    cdef int room(self, Trial trial, Py_ssize_t n_points) noexcept with gil:
        """`provide`; -1 after storing an error. Apart, since a function that names an exception takes the GIL at each return."""
        try:
            return self.provide(n_points, max(trial.x.n_atoms, 1))
        except BaseException as error:
            trial.argmax.error = error
            return -1

    cdef double *nearest_c(self, Trial trial, double tolerance) noexcept nogil:
        """mu, or NULL after an error of a part or of the trial's argmax."""
        cdef Py_ssize_t a, k, step, n = trial.x.n_atoms
        cdef double gap, size
        cdef int status
        if self.points is None or self.points.shape[1] < n:
            if self.room(trial, 1) < 0:
                return NULL
        self.n_points = 0
        for a in range(n):
            self.rest[a], self.mean[a] = trial.s[a], 0
        for step in range(MOST_STEPS):
            status = self.add(trial)
            if status < 0:
                return NULL
            k = self.n_points - 1
            if step == 0:
                self.shares[0] = 1
            else:
                gap = size = 0              # (s - mu) . (v - mu): by how much v is better than mu, an upper bound on what is missing
                for a in range(n):
                    if self.points[k, a] != 0 or self.mean[a] != 0:
                        gap += self.rest[a] * (self.points[k, a] - self.mean[a])
                        size = max(size, fabs(self.rest[a]))
                if not gap > tolerance * (1 + size):
                    self.n_points -= 1
                    return &self.mean[0]
                self.shares[k] = 0
                if not self.balance(n):
                    return &self.mean[0]
            for a in range(n):
                self.mean[a] = 0
            for k in range(self.n_points):
                for a in range(n):
                    self.mean[a] += self.shares[k] * self.points[k, a]
            for a in range(n):
                self.rest[a] = trial.s[a] - self.mean[a]
        with gil:
            trial.argmax.error = DataError(f"the loss 'sparsemap' of example {trial.n_visited} needs more than {MOST_STEPS} searches for "
                                           f"tolerance={tolerance:g}; set a larger one.")
        return NULL

    cdef int add(self, Trial trial) noexcept nogil:
        """The best structure for the scores in `rest` enters the set; -1 after an error."""
        cdef Py_ssize_t a, k = self.n_points, j, n = trial.x.n_atoms, length
        cdef double total
        if k >= self.points.shape[0] and self.room(trial, k + 1) < 0:
            return -1
        length = trial.argmax.argmax_c(trial.x, &self.rest[0], &trial.code_buffer[0])
        if length < 0:
            return -1
        for a in range(n):
            self.points[k, a] = 0
        if trial.outputs.count_c(trial.x, trial.found_code.at, length, 1.0, &self.points[k, 0]) < 0:
            return -1
        self.scores[k] = product(&self.points[k, 0], trial.s, n)
        for j in range(k + 1):
            total = 0
            for a in range(n):
                total += self.points[k, a] * self.points[j, a]
            self.gram[k, j] = self.gram[j, k] = total
        self.n_points = k + 1
        return 0

    cdef void drop(self, Py_ssize_t k, Py_ssize_t n_atoms) noexcept nogil:
        """The structure k leaves the set; the last one takes its place."""
        cdef Py_ssize_t j, a, last = self.n_points - 1
        for a in range(n_atoms):
            self.points[k, a] = self.points[last, a]
        self.scores[k], self.shares[k] = self.scores[last], self.shares[last]
        for j in range(self.n_points):
            self.gram[k, j] = self.gram[last, j]
        for j in range(self.n_points):
            self.gram[j, k] = self.gram[j, last]
        self.n_points = last

    cdef bint balance(self, Py_ssize_t n_atoms) noexcept nogil:
        """The shares of the best point of the hull of the set, or of part of it. False: the set is as good as it gets."""
        cdef Py_ssize_t k, width
        cdef double rate, share
        cdef bint moved = False
        while True:
            if not self.solve():                # rounding: the new structure lies in the plane of the others
                self.n_points -= 1
                return moved
            width = self.n_points + 1
            rate = 1
            for k in range(self.n_points):
                share = self.system[k, width]
                if share < NONE and self.shares[k] > share:
                    rate = min(rate, self.shares[k] / (self.shares[k] - share))
            for k in range(self.n_points):
                self.shares[k] += rate * (self.system[k, width] - self.shares[k])
            moved = moved or rate > 0
            if rate >= 1:
                return True
            for k in range(self.n_points - 1, -1, -1):
                if self.shares[k] < NONE:
                    self.drop(k, n_atoms)

    cdef bint solve(self) noexcept nogil:
        """Solves for the shares, of any sign, that sum to 1 and are best. They end up in the last column. False: no one solution."""
        # By elimination with pivots, so that no bit depends on a library.
        cdef Py_ssize_t k, j, row, pivot, n = self.n_points + 1
        cdef double factor, swapped
        cdef double[:, ::1] A = self.system
        for k in range(n - 1):
            for j in range(n - 1):
                A[k, j] = self.gram[k, j]
            A[k, n - 1] = A[n - 1, k] = 1
            A[k, n] = self.scores[k]
        A[n - 1, n - 1], A[n - 1, n] = 0, 1
        for k in range(n):
            pivot = k
            for row in range(k + 1, n):
                if fabs(A[row, k]) > fabs(A[pivot, k]):
                    pivot = row
            if not fabs(A[pivot, k]) > 1e-11:
                return False
            if pivot != k:
                for j in range(k, n + 1):
                    swapped = A[k, j]
                    A[k, j], A[pivot, j] = A[pivot, j], swapped
            for row in range(n):
                if row != k and A[row, k] != 0:
                    factor = A[row, k] / A[k, k]
                    for j in range(k, n + 1):
                        A[row, j] -= factor * A[k, j]
        for k in range(n):
            A[k, n] /= A[k, k]
        return True
