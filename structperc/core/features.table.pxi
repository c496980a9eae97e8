# A table of weights beside the features: intercepts, thresholds, transitions.

cdef class TablePart(Features):
    """Explicit weights: atom a has the weight a for itself, phi(x, a) = value e_a.

    Parameters
    ----------
    shape : int or tuple of int
        Number of weights, or the shape of a table of them. In a table (n, m) the pair (i, j) has the weight i * m + j.
    name : str, optional
        The fitted attribute that shows the table, such as ``pair_scores_``.
    per_row : bool, default False
        Each row t of x has an atom for every weight: atom t * n + k has the weight k, the same in all rows.
    value : float, default 1.0
        The feature's value. Larger values make the weights change faster than others.
    bounds : pair, optional
        Smallest and largest weights, numbers or arrays that broadcast to the shape; 0 is between them.

    Examples
    --------
    >>> from structperc.components import BlockFeatures, TablePart
    >>> labels_and_pairs = BlockFeatures(5, 100) + TablePart((5, 5), "pair_scores_")
    >>> labels_and_pairs.layout.atoms_per_example
    30
    """

    def __init__(self, shape, name: str = None, per_row: bool = False, value: float = 1.0, bounds=None):
        lengths = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        self.table_shape = tuple([argument(self, "shape", length, dimension, 1) for length in lengths])
        if name is not None and not isinstance(name, str):
            raise PluginError(f"{type(self).__name__}: name={shortened(name)}; expected None or a text.")
        self.name, self.per_row = name, argument(self, "per_row", per_row, flag)
        self.length, self.value = math.prod(self.table_shape), argument(self, "value", value, real_number, FINITE)
        self.shape(self.length, atoms_per_example=None if per_row else self.length)
        if bounds is not None:
            self.bounds = Bounds(bounds, self.table_shape)

    cdef Py_ssize_t n_atoms_c(self, Example x) noexcept nogil:
        return self.length * x.block.n_rows if self.per_row else self.length

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        cdef Py_ssize_t row, k, n
        for _ in range(x.block.n_rows if self.per_row else 1):
            for row in range(self.n_weight_rows):
                n = min(self.row_width, self.length - row * self.row_width)
                memcpy(s, p.w + row * p.pitch, n * sizeof(double))
                if self.value != 1:
                    for k in range(n):
                        s[k] *= self.value
                s += n
        return 0

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        cdef Py_ssize_t row, k, n, width = self.row_width, far = p.average
        cdef double *w
        cdef double step, value = self.value
        for _ in range(x.block.n_rows if self.per_row else 1):
            for row in range(self.n_weight_rows):
                n = min(width, self.length - row * width)
                w = p.w + row * p.pitch
                for k in range(n):
                    if c[k] != 0:
                        step = value * c[k]
                        w[k] += step * to_w
                        if far:
                            w[k + far] += step * to_u
                c += n
        return 0

    cdef int clip(self, const Parameter *p, Example x, double to_w, double to_u) noexcept nogil:
        cdef Py_ssize_t k, width = self.row_width, m = self.bounds.low.shape[1]
        for k in range(self.length):
            hold(self.bounds, k // m, k % m, p.w + k // width * p.pitch + k % width, p.average, to_w, to_u)
        return 0

    cdef int rescale_c(self, const Parameter *p, const Units *units) noexcept nogil:
        return 1                            # no weight belongs to a column

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        return self.squares_c(x, c, 0)

    cdef double squares_c(self, Example x, const double *c, double total) noexcept nogil:
        """total + ||sum_a c[a] phi(x, a)||^2, added up weight by weight."""
        cdef Py_ssize_t t, k
        cdef double v
        for k in range(self.length):
            v = c[k] if x.block.n_rows or not self.per_row else 0
            for t in range(1, x.block.n_rows if self.per_row else 1):
                v += c[t * self.length + k]
            v *= self.value
            total += v * v
        return total

    cdef double constant_gram_c(self, Example x, double *off_diagonal) noexcept nogil:
        off_diagonal[0] = 0
        return self.value * self.value

    cdef Py_ssize_t cell_c(self, Example x, Py_ssize_t a) noexcept nogil:
        return -1

    def cell(self, Example x, Py_ssize_t a):
        return None

    def explicit_part(self):
        return self.clone()

    def inner(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b):
        return self.value * self.value * (a % self.length == b % self.length)

    def vector(self, Example x, c, sparse=False):
        if not sparse:
            return Features.vector(self, x, c)
        c = self.value * np.asarray(c, dtype=float).reshape(-1, self.length).sum(axis=0)
        where = np.flatnonzero(c)
        return where, c[where]

    cdef Features in_rows(self, Py_ssize_t width):
        cdef TablePart table = self.clone()
        table.n_weight_rows, table.row_width = (self.length + width - 1) // width, width
        return table

    def max_atoms(self, rows):
        return self.length * (int(rows.sizes().max(initial=0)) if self.per_row else 1)

    def column_of(self, indices):
        return np.full(np.shape(indices), -1)

    def table(self, values):
        """These weights in the shape of the table. Returns an array.

        Parameters
        ----------
        values : array of shape (n_weights,)
        """
        return np.array(values[:self.length]).reshape(self.table_shape)

    def attributes(self, weights):
        return {self.name: lambda: self.table(weights.vector())} if self.name else {}
