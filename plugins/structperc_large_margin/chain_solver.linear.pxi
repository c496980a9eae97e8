# Passes over the rows of X and the coordinates of a chain, for Newton steps. The same bits on every machine.
#
# Typical sizes: n = 10^2..10^6 rows of d = 10..10^5 columns, N = 2 n .. 20 n coordinates. A sum of rows costs O(nonzeros), at the speed of
# memory. A table of products costs O(d^2) a row; a pass over the coordinates 2 ns each. Memory: 24 bytes a coordinate.


cdef void blocks_at(sp_blocks *b, double *w, Py_ssize_t n_blocks, Py_ssize_t n_features) noexcept nogil:
    b.w, b.bias, b.average, b.place, b.n_placed = w, NULL, 0, NULL, NULL
    b.block_step, b.feature_step, b.n_blocks = n_features, 1, n_blocks


cdef inline double value_at(const sp_rows *x, Py_ssize_t at) noexcept nogil:
    if x.layout == SP_DENSE_F32 or x.layout == SP_CSR_F32_I32 or x.layout == SP_CSR_F32_I64:
        return (<const float *> x.values)[at]
    return (<const double *> x.values)[at]


def squared_norms(Rows rows):
    """x . x of every row."""
    cdef const sp_inner *inner = best_inner(rows.n_features)
    cdef double[::1] out = np.empty(rows.n_rows)
    cdef Py_ssize_t i
    with nogil:
        for i in range(rows.n_rows):
            out[i] = inner.norm[rows.whole.layout](&rows.whole, i)
            if interrupted(rows.n_features):
                break
    raise_interruption()
    return np.asarray(out)


def products(Rows rows, const int64_t[::1] at, const double[::1] w):
    """w . x of the rows `at`."""
    cdef const sp_inner *inner = best_inner(rows.n_features)
    cdef double[::1] out = np.empty(len(at) + 3)
    cdef Py_ssize_t k, n = len(at)
    cdef sp_blocks b
    blocks_at(&b, <double *> &w[0], 1, rows.n_features)
    with nogil:
        for k in range(n):
            inner.dots[rows.whole.layout](&rows.whole, at[k], &b, &out[k])
            if interrupted(rows.n_features):
                break
    raise_interruption()
    return np.asarray(out)[:n]


def sum_of_rows(Rows rows, const int64_t[::1] at, const double[::1] coefficients):
    """sum_k coefficients[k] x_at[k]."""
    cdef const sp_inner *inner = best_inner(rows.n_features)
    cdef double[::1] w = np.zeros(rows.n_features)
    cdef Py_ssize_t k, n = len(at)
    cdef sp_blocks b
    blocks_at(&b, &w[0], 1, rows.n_features)
    with nogil:
        for k in range(n):
            inner.add[rows.whole.layout](&rows.whole, at[k], &b, &coefficients[k], 1, 0)
            if interrupted(rows.n_features):
                break
    raise_interruption()
    return np.asarray(w)


def sum_of_squares(Rows rows, const int64_t[::1] at, const double[::1] coefficients):
    """sum_k coefficients[k] x_at[k]^2, column by column."""
    cdef double[::1] out = np.zeros(rows.n_features)
    cdef Py_ssize_t k, q, j, n = len(at), d = rows.n_features
    cdef const sp_rows *x = &rows.whole
    cdef double value
    with nogil:
        for k in range(n):
            if sp_is_dense(x):
                for j in range(d):
                    value = value_at(x, at[k] * d + j)
                    out[j] += coefficients[k] * (value * value)
            else:
                for q in range(sp_start(x, at[k]), sp_start(x, at[k] + 1)):
                    value = value_at(x, q)
                    out[sp_index(x, q)] += coefficients[k] * (value * value)
            if interrupted(d):
                break
    raise_interruption()
    return np.asarray(out)


def sums_by_node(Rows rows, const int32_t[::1] example, const int32_t[::1] node, const double[::1] coefficients, Py_ssize_t n_nodes):
    """For every node the sum of the rows of its coordinates, each times its coefficient, (n_nodes, n_features)."""
    cdef const sp_inner *inner = best_inner(rows.n_features)
    cdef double[:, ::1] sums = np.zeros((n_nodes, rows.n_features))
    cdef Py_ssize_t k, n = len(example)
    cdef sp_blocks b
    with nogil:
        for k in range(n):
            blocks_at(&b, &sums[node[k], 0], 1, rows.n_features)
            inner.add[rows.whole.layout](&rows.whole, example[k], &b, &coefficients[k], 1, 0)
            if interrupted(rows.n_features):
                break
    raise_interruption()
    return np.asarray(sums)


def products_of_columns(Rows rows, const int64_t[::1] at, const double[::1] coefficients):
    """sum_k coefficients[k] x_at[k] x_at[k]', (n_features, n_features)."""
    cdef const sp_inner *inner = best_inner(rows.n_features)
    cdef Py_ssize_t k, n = len(at), d = rows.n_features
    cdef double[:, ::1] out = np.zeros((d, d))
    cdef double[::1] scaled = np.zeros(d)
    cdef double one
    cdef sp_blocks table, row
    blocks_at(&table, &out[0, 0], d, d)
    blocks_at(&row, &scaled[0], 1, d)
    with nogil:
        for k in range(n):
            scaled[:] = 0
            one = coefficients[k]
            inner.add[rows.whole.layout](&rows.whole, at[k], &row, &one, 1, 0)
            inner.add[rows.whole.layout](&rows.whole, at[k], &table, &scaled[0], 1, 0)
            if interrupted(d * d):
                break
    raise_interruption()
    return np.asarray(out)


def inner_product(const double[::1] a, const double[::1] b):
    """a . b in a fixed order."""
    cdef double total = 0
    cdef Py_ssize_t i
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


def solve_positive(H, right):
    """H^-1 right for a positive definite H, whose memory it takes; a direction without curvature left counts for nothing."""
    cdef double[:, ::1] L = H
    cdef double[::1] v = np.array(right, dtype=float), scale = np.array(np.diagonal(H))
    cdef Py_ssize_t i, j, k, n = len(v)
    cdef double t
    with nogil:
        for i in range(n):
            for j in range(i + 1):
                t = L[i, j]
                for k in range(j):
                    t -= L[i, k] * L[j, k]
                if j < i:
                    L[i, j] = t * L[j, j]
                else:
                    L[i, i] = 1 / sqrt(t) if t > 1e-15 * scale[i] else 0        # its reciprocal
            if interrupted(i * i):
                break
        for i in range(n):
            for k in range(i):
                v[i] -= L[i, k] * v[k]
            v[i] *= L[i, i]
        for i in range(n - 1, -1, -1):
            v[i] *= L[i, i]
            for k in range(i):
                v[k] -= L[i, k] * v[i]
    raise_interruption()
    return np.asarray(v)


cdef class SmoothHinges:
    """The hinges of a chain, each smoothed within a width around a multiplier at hand: the proximal method of multipliers.

        psi_c(r) = max over 0 <= mu <= cap of mu r - width / (2 cap) (mu - centre)^2,   r = p + g (f - b)
    """
    # centre: array of shape (n_coordinates,)
    # centre, mu: ndarray of shape (n_coordinates,). The multipliers at hand, and those that are best at the point evaluated last.

    cdef readonly object centre, mu
    cdef const int32_t[::1] example, node
    cdef const signed char[::1] sign
    cdef const double[::1] cap
    cdef double[::1] residual, _centre, _mu
    cdef Py_ssize_t n_examples, n_nodes
    cdef double gain

    def __init__(self, chain, centre):
        self.example, self.node, self.sign, self.cap = chain.example, chain.node, chain.sign, chain.cap
        self.n_examples, self.n_nodes, self.gain = chain.n_examples, chain.n_nodes, chain.gain
        self.centre, self.mu = np.array(centre, dtype=float), np.empty(len(chain.cap))
        self.residual, self._centre, self._mu = np.empty(len(chain.cap)), self.centre, self.mu

    def evaluate(self, const double[::1] f, const double[::1] b, double width):
        """Multipliers at this point: beta (n_examples,), sums of g mu by node (n_nodes,), the sum of mu, the sum of the hinges."""
        cdef double[::1] beta = np.zeros(self.n_examples), flow = np.zeros(self.n_nodes)
        cdef Py_ssize_t c, n = len(self.cap)
        cdef double r, m, signed, total = 0, hinges = 0, steepness = 1 / width
        with nogil:
            for c in range(n):
                r = f[self.example[c]] - b[self.node[c]]
                r = self.gain + (r if self.sign[c] > 0 else -r)
                self.residual[c] = r
                hinges += self.cap[c] * (r if r > 0 else 0)
                m = self._centre[c] + r * self.cap[c] * steepness
                m = 0 if m < 0 else self.cap[c] if m > self.cap[c] else m
                self._mu[c] = m
                total += m
                signed = m if self.sign[c] > 0 else -m
                beta[self.example[c]] -= signed
                flow[self.node[c]] += signed
        return np.asarray(beta), np.asarray(flow), total, hinges

    def slope(self, const double[::1] df, const double[::1] db, double width, double step):
        """Of the sum of the smoothed hinges along a direction, from the point evaluated last."""
        cdef Py_ssize_t c, n = len(self.cap)
        cdef double change, m, total = 0, steepness = 1 / width
        with nogil:
            for c in range(n):
                change = df[self.example[c]] - db[self.node[c]]
                change = change if self.sign[c] > 0 else -change
                m = self._centre[c] + (self.residual[c] + step * change) * self.cap[c] * steepness
                m = 0 if m < 0 else self.cap[c] if m > self.cap[c] else m
                total += m * change
        return total

    def advance(self):
        """Takes the multipliers of the point evaluated last as those at hand."""
        self._centre[:] = self._mu
