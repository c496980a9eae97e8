# A few examples whose coordinates are optimised while all others rest: two coordinates at a time, the second of them by second order.
#
# Coordinates are stored node by node, a place for each example at each node. Examples are in the order of their nodes. So the members
# of a node are adjacent if an example has few. Typical sizes: 16..512 examples, 1..40 nodes. Cost of a step: about 0.5 ns for each place
# of the nodes, and 5 ns for each example. Ties: the first node, then the first place.


cdef extern from "scans.h" nogil:
    void sp_extremes(const double *f, const double *up, const double *down, Py_ssize_t n, double *lo, double *hi) noexcept
    Py_ssize_t sp_first_at(const double *f, const double *add, double value) noexcept
    double sp_promises(const double *f, const double *down, const double *row, const double *diagonal, double kappa, double own,
                       double least, Py_ssize_t n, double *promise) noexcept
    void sp_move(double *f, const double *rise, const double *fall, double t, Py_ssize_t n) noexcept

cdef enum:
    NONE = -1

cdef double SAME = 1e-12            # of the squared length: closer directions count as equal
cdef double LEAST = 1e-300


cdef class WorkingSet:
    """Room for so many examples, at so many nodes."""

    def __init__(self, Py_ssize_t room, Py_ssize_t n_nodes, double gain, bint open_arcs):
        self.room, self.n_nodes, self.gain, self.open_arcs = room, n_nodes, gain, open_arcs
        self.f, self.before, self.diagonal, self.promise = (np.zeros(room) for _ in range(4))
        self.gram = np.zeros(room * room)
        self.mu, self.cap, self.sign, self.up, self.down = (np.zeros(room * n_nodes) for _ in range(5))
        self.lo, self.hi, self.flow = (np.zeros(n_nodes) for _ in range(3))
        self.first, self.end = (np.zeros(n_nodes, dtype=np.intp) for _ in range(2))

    cdef void free_sides(self, Py_ssize_t c) noexcept nogil:
        """Where the coordinate may go: section 6, up(c) and down(c)."""
        cdef bint below = self.mu[c] < self.cap[c], above = self.mu[c] > 0
        cdef double kappa = self.sign[c] * self.gain
        if self.sign[c] < 0:
            below, above = above, below
        self.up[c] = kappa if below and self.sign[c] != 0 else -INFINITY
        self.down[c] = kappa if above and self.sign[c] != 0 else INFINITY

    cdef void step(self, Py_ssize_t c, double change) noexcept nogil:
        """Moves mu by so much, onto a bound where it comes within rounding of one."""
        cdef double mu = self.mu[c] + change
        if mu < 1e-14 * self.cap[c]:
            mu = 0
        elif mu > self.cap[c] * (1 - 1e-14):
            mu = self.cap[c]
        self.mu[c] = mu
        self.free_sides(c)

    cdef void look(self, Py_ssize_t m) noexcept nogil:
        """lo and hi of a node as they are now."""
        cdef Py_ssize_t a = self.first[m]
        sp_extremes(&self.f[a], &self.up[m * self.q + a], &self.down[m * self.q + a], self.end[m] - a, &self.lo[m], &self.hi[m])

    cdef double violation(self, Py_ssize_t *node, Py_ssize_t *other) noexcept nogil:
        """The largest lo_m - hi_m' of an admissible pair of nodes, as far as their bounds are known."""
        cdef Py_ssize_t m, from_lo = 0, to_hi = 0
        cdef double v, best = -INFINITY
        for m in range(self.n_nodes):
            if not self.open_arcs:
                from_lo = to_hi = m
            else:
                if self.lo[m] > self.lo[from_lo]:           # the largest lo up to m reaches every node from m on
                    from_lo = m
                if m and self.flow[m - 1] <= 0 or self.hi[m] < self.hi[to_hi]:      # and lo_m those back to the last flow of 0
                    to_hi = m
            v = self.lo[from_lo] - self.hi[m]
            if v > best:
                best, node[0], other[0] = v, from_lo, m
            v = self.lo[m] - self.hi[to_hi]
            if v > best:
                best, node[0], other[0] = v, m, to_hi
        return best

    cdef Py_ssize_t partner(self, Py_ssize_t node, Py_ssize_t i, double kappa, Py_ssize_t *other) noexcept nogil:
        """The place of the second coordinate, and its node: where the step promises the largest decrease."""
        cdef Py_ssize_t m, a, j = NONE, low = node, high = node + 1
        cdef double best = 0, decrease
        if self.open_arcs:
            high = self.n_nodes
            while low > 0 and self.flow[low - 1] > 0:
                low -= 1
        for m in range(low, high):
            a = self.first[m]
            decrease = sp_promises(&self.f[a], &self.down[m * self.q + a], &self.gram[i * self.q + a], &self.diagonal[a], kappa,
                                   self.diagonal[i], SAME * self.diagonal[i] + LEAST, self.end[m] - a, &self.promise[a])
            if decrease > best:
                best, other[0], j = decrease, m, a
                while self.promise[j] != decrease:
                    j += 1
        return j

    cdef Py_ssize_t optimise(self, double enough, Py_ssize_t most) noexcept nogil:
        """Steps until no admissible pair is violated by more than `enough`; returns how many, or -1 after Ctrl-C."""
        # Before a step, only the nodes of the last worst pair are checked again.
        cdef Py_ssize_t steps = 0, m = 0, m2 = 0, i, j, k, a, b, q = self.q
        cdef bint all_current = False
        cdef double kappa, v, t, distance
        for m in range(self.n_nodes):
            self.lo[m], self.hi[m] = INFINITY, -INFINITY
        while steps < most:
            if interrupted(4 * q):
                return -1
            if not self.violation(&m, &m2) > enough:
                if all_current:
                    break
                for k in range(self.n_nodes):
                    self.look(k)
                all_current = True
                continue
            if not all_current:
                self.look(m)
                if m2 != m:
                    self.look(m2)
                if not self.lo[m] - self.hi[m2] > enough:
                    continue
            all_current = False
            kappa = self.lo[m]
            i = self.first[m] + sp_first_at(&self.f[self.first[m]], &self.up[m * q + self.first[m]], kappa)
            j = self.partner(m, i, kappa, &m2)
            if j == NONE:
                break
            a, b = m * q + i, m2 * q + j
            v = kappa - (self.f[j] + self.down[b])
            distance = self.diagonal[i] + self.diagonal[j] - 2 * self.gram[i * q + j]
            t = v / distance if distance > SAME * self.diagonal[i] + LEAST else INFINITY
            t = min(t, self.cap[a] - self.mu[a] if self.sign[a] > 0 else self.mu[a])
            t = min(t, self.mu[b] if self.sign[b] > 0 else self.cap[b] - self.mu[b])
            for k in range(m2, m):
                t = min(t, self.flow[k])
            self.step(a, self.sign[a] * t)
            self.step(b, -self.sign[b] * t)
            for k in range(m, m2):
                self.flow[k] += t
            for k in range(m2, m):
                self.flow[k] -= t
            sp_move(&self.f[0], &self.gram[j * q], &self.gram[i * q], t, q)
            steps += 1
        return steps
