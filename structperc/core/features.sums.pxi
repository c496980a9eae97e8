# Feature maps of several parts, beside each other.

cdef class Unweighted(Features):
    """The atoms of another map, without weights."""

    cdef Features map

    def __init__(self, Features features):
        self.map = adapted(features)
        self.fixed_atoms, self.row_width = features.fixed_atoms, 0

    cdef Py_ssize_t n_atoms_c(self, Example x) noexcept nogil:
        return self.map.n_atoms_c(x)

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        memset(s, 0, x.n_atoms * sizeof(double))
        return 0

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        return 0

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        return 0

    cdef Py_ssize_t cell_c(self, Example x, Py_ssize_t a) noexcept nogil:
        return -1

    def explicit_part(self):
        return None

    def inner(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b):
        return 0.0


class PartOfWeights:
    """What a part of a sum sees of the weights when it shows them."""

    def __init__(self, weights, first, last):
        self.weights, self.first, self.last = weights, first, last

    def vector(self):
        return self.weights.vector()[self.first:self.last]


ctypedef struct Halves:
    # What the two parts of a sum see of the weights and the atoms of an example.
    Parameter one, other
    Py_ssize_t n, n_first


cdef inline int enter(SumFeatures f, const Parameter *p, Example x, Halves *at) noexcept nogil:
    """Divides weights and atoms, and shows x to the first part; -1 on an error."""
    at.n, at.n_first = x.n_atoms, f.first_atoms(x)
    if at.n_first < 0:
        return -1
    if p != NULL:
        f.divide(p, &at.one, &at.other)
    x.n_atoms = at.n_first
    return 0


cdef inline bint cross(Example x, const Halves *at, int status) noexcept nogil:
    """Shows x to the second part; False after an error of the first."""
    x.n_atoms = at.n - at.n_first
    return status >= 0


cdef inline int leave(SumFeatures f, Example x, const Halves *at, int status) noexcept nogil:
    """Shows x to the whole map again; keeps the error of a part and returns -1 if there is one."""
    x.n_atoms = at.n
    return 0 if status >= 0 else f.failed()


cdef class SumFeatures(Features):
    """Several feature maps as one: the atoms of the first, then those of the next, each with the weights of its own map.

    `left + right` makes a sum of two maps. The sum contains copies of its parts (`clone`). If X is sparse, name a map that was
    constructed with feature_major=True first.

    Parameters
    ----------
    *parts : Features
        Two or more maps.

    Attributes
    ----------
    left, right : Features
        The last part, and the sum of those before it.

    Examples
    --------
    >>> from structperc.components import RowFeatures, SumFeatures, TablePart
    >>> SumFeatures(RowFeatures(4), TablePart(3)).n_weights
    7
    """

    def __init__(self, *parts):
        cdef Py_ssize_t last = len(parts) - 1
        if last < 1:
            raise PluginError(f"{type(self).__name__} was given {len(parts)} feature map{'s' * (last != 0)}; a sum has two or more.")
        for part in parts:
            if not isinstance(part, Features):
                raise PluginError(f"{type(self).__name__} was given {shortened(part)}; expected feature maps, objects of classes "
                                  f"derived from Features.")
        self.put_together(parts[0].clone() if last == 1 else SumFeatures(*parts[:last]), parts[last].clone(), 0)

    def put_together(self, Features left, Features right, Py_ssize_t width) -> None:
        """Lay out the weights of the parts.

        Parameters
        ----------
        left, right : Features
            The parts.
        width : int
            Width of a row of weights. 0: the width of a part that has rows, or else all weights in one row.
        """
        for part in (left, right):
            settle(part)
        if width == 0 and (left.n_weight_rows > 1 or left.on_demand_rows > 0):
            width = left.row_width
        if width == 0 and (right.n_weight_rows > 1 or right.on_demand_rows > 0):
            width = right.row_width
        self.by_rows = width > 0
        if self.by_rows:
            left, right = left.in_rows(width), right.in_rows(width)
            self.n_weight_rows, self.row_width = left.n_weight_rows + right.n_weight_rows, width
            self.on_demand_rows = left.on_demand_rows
        else:
            self.n_weight_rows, self.row_width = 1, left.row_width + right.row_width
        if left.fixed_atoms >= 0 and right.fixed_atoms >= 0:
            self.fixed_atoms = left.fixed_atoms + right.fixed_atoms
        self.fixed_rows = max(left.fixed_rows, right.fixed_rows)
        made_for = getattr(left, "n_features", None), getattr(right, "n_features", None)
        if None not in made_for and made_for[0] != made_for[1]:
            raise PluginError(f"{type(left).__name__} was made for {made_for[0]} features, but {type(right).__name__} for "
                              f"{made_for[1]}.")
        self.left, self.right, self.first, self.second = left, right, adapted(left), adapted(right)
        if (explicit_only(left) or self.first.n_blocks) and (explicit_only(right) or self.second.n_blocks):
            self.n_blocks = self.first.n_blocks + self.second.n_blocks
        self.table = self.second if isinstance(self.second, TablePart) else None

    @property
    def citation(self):
        return "\n\n".join(dict.fromkeys(part.citation for part in (self.left, self.right) if part.citation))

    @property
    def n_features(self):
        """Number of columns of X, if one of the parts knows it."""
        return self.left.n_features if hasattr(self.left, "n_features") else self.right.n_features

    cdef void divide(self, const Parameter *p, Parameter *one, Parameter *other) noexcept nogil:
        """Where the weights of both parts stand."""
        one[0] = other[0] = p[0]
        one.followed = True
        other.place = other.marks = other.n_placed = NULL
        if self.by_rows:
            other.w = p.fixed + (self.first.n_weight_rows - self.first.on_demand_rows) * p.pitch
        else:
            other.w = p.w + self.first.row_width
        other.fixed = other.w + self.second.on_demand_rows * p.pitch

    cdef Py_ssize_t first_atoms(self, Example x) noexcept nogil:
        """How many atoms of x the first part has; negative on an error."""
        cdef Py_ssize_t n = self.first.fixed_atoms
        if n < 0:
            n = self.first.n_atoms_c(x)
            if n < 0:
                self.failed()
        return n

    cdef int failed(self) noexcept nogil:
        """Keeps the error of a part; -1."""
        with gil:
            for part in (self.first, self.second, self.left, self.right):
                if (<Component> part).error is not None:
                    self.error, (<Component> part).error = (<Component> part).error, None
        return -1

    cdef Py_ssize_t n_atoms_c(self, Example x) noexcept nogil:
        cdef Py_ssize_t n = self.fixed_atoms, n_first
        if n < 0:
            n_first = self.first_atoms(x)
            n = self.second.n_atoms_c(x) if n_first >= 0 else -1
            if n_first >= 0 and n < 0:
                self.failed()
            n = n_first + n if n >= 0 else -1
        return n

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        cdef Halves at
        cdef int status
        if enter(self, p, x, &at) < 0:
            return -1
        status = self.first.scores_c(&at.one, x, s)        # may write PADDING numbers, which the other part overwrites
        if cross(x, &at, status):
            status = self.second.scores_c(&at.other, x, s + at.n_first)
        return leave(self, x, &at, status)

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        cdef Halves at
        cdef int status
        if enter(self, p, x, &at) < 0:
            return -1
        status = self.first.add_c(&at.one, x, c, to_w, to_u)
        if cross(x, &at, status):
            status = self.second.add_c(&at.other, x, c + at.n_first, to_w, to_u)
        return leave(self, x, &at, status)

    cdef int adapt_c(self, const Parameter *p, Example x, const double *c, const StepSizes *sizes) noexcept nogil:
        cdef Halves at
        cdef int status
        if enter(self, p, x, &at) < 0:
            return -1
        status = self.first.adapt_c(&at.one, x, c, sizes)
        if cross(x, &at, status):
            status = self.second.adapt_c(&at.other, x, c + at.n_first, sizes)
        return leave(self, x, &at, status)

    cdef int project_c(self, const Parameter *p, Example x, double to_w, double to_u) noexcept nogil:
        cdef Parameter one, other
        self.divide(p, &one, &other)
        if self.first.project_c(&one, x, to_w, to_u) < 0 or self.second.project_c(&other, x, to_w, to_u) < 0:
            return self.failed()
        return 0

    cdef int rescale_c(self, const Parameter *p, const Units *units) noexcept nogil:
        cdef Parameter one, other
        cdef int status
        self.divide(p, &one, &other)
        status = self.first.rescale_c(&one, units)
        if status > 0:
            status = self.second.rescale_c(&other, units)
        return self.failed() if status < 0 else status

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        """The norms of both parts, in one sum from the first weight to the last."""
        cdef Halves at
        cdef double total, further
        if self.on_demand_rows > 0:
            return Features.norm_c(self, x, c)
        if enter(self, NULL, x, &at) < 0:
            return -1
        total = self.first.norm_c(x, c)
        if cross(x, &at, -1 if total < 0 else 0):
            if self.table is not None:
                total = self.table.squares_c(x, c + at.n_first, total)
            else:
                further = self.second.norm_c(x, c + at.n_first)
                total = further if further < 0 else total + further
        return -1 if leave(self, x, &at, -1 if total < 0 else 0) < 0 else total

    cdef Py_ssize_t cell_c(self, Example x, Py_ssize_t a) noexcept nogil:
        cdef Py_ssize_t n = x.n_atoms, n_first = self.first_atoms(x), cell, blocks, before = 0
        if n_first < 0:
            return -2
        if a < n_first:
            x.n_atoms, blocks = n_first, self.first.n_blocks
            cell = self.first.cell_c(x, a)
        else:
            x.n_atoms, blocks, before = n - n_first, self.second.n_blocks, self.first.n_blocks
            cell = self.second.cell_c(x, a - n_first)
        x.n_atoms = n
        if cell < 0:
            if cell < -1:
                self.failed()
            return cell
        return cell // blocks * self.n_blocks + before + cell % blocks

    cdef void prefetch_c(self, const Parameter *p, Example x) noexcept nogil:
        cdef Parameter one, other
        self.divide(p, &one, &other)
        self.first.prefetch_c(&one, x)
        self.second.prefetch_c(&other, x)

    def explicit_part(self):
        if not (self.n_blocks or explicit_only(self)):
            raise self.missing("explicit_part")
        parts = self.left, self.right
        explicit = [part.explicit_part() for part in parts]
        if explicit == [None, None]:
            return None
        return SumFeatures(*[Unweighted(part) if own is None else own for part, own in zip(parts, explicit)])

    cdef Features in_rows(self, Py_ssize_t width):
        cdef SumFeatures laid
        if self.by_rows:
            return Features.in_rows(self, width)
        laid = self.clone()
        laid.put_together(laid.left, laid.right, width)
        return laid

    def inner(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b):
        n, m = self.left.n_atoms(x), self.left.n_atoms(z)
        if a < n and b < m:
            return self.left.inner(x, a, z, b)
        return self.right.inner(x, a - n, z, b - m) if a >= n and b >= m else 0.0

    def vector(self, Example x, c, sparse=False):
        if not sparse:
            return Features.vector(self, x, c)
        n, c, whole = self.left.n_atoms(x), np.asarray(c, dtype=float), x.n_atoms
        (here, values), (there, further) = self.left.vector(x, c[:n], sparse=True), self.right.vector(x, c[n:], sparse=True)
        x.n_atoms = whole           # a side counts its own atoms
        return np.append(here, there + self.left.n_weights), np.append(values, further)

    def check_rows(self, rows):
        self.left.check_rows(rows)
        self.right.check_rows(rows)

    def max_atoms(self, rows):
        return self.left.max_atoms(rows) + self.right.max_atoms(rows)

    cdef bint constrained(self):
        return self.left.constrained() or self.right.constrained()

    cdef touched_rows(self, Rows rows):
        if not self.by_rows:
            return None
        here, there = self.left.touched_rows(rows), self.right.touched_rows(rows)
        if here is None:
            return None
        there = np.arange(self.right.n_weight_rows) if there is None else there
        return np.append(here, there + self.left.n_weight_rows)

    def column_of(self, indices):
        indices = np.asarray(indices)
        here = indices < self.left.n_weights
        columns = np.empty(indices.shape, dtype=np.intp)
        columns[here] = self.left.column_of(indices[here])
        columns[~here] = self.right.column_of(indices[~here] - self.left.n_weights)
        return columns

    def feature_name(self, j):
        n = self.left.n_weights
        return self.left.feature_name(j) if j < n else self.right.feature_name(j - n)

    def attributes(self, weights):
        n = self.left.n_weights
        return {**self.right.attributes(PartOfWeights(weights, n, None)), **self.left.attributes(PartOfWeights(weights, 0, n))}

    def start(self, parts, context):
        self.left.start(parts, context)
        self.right.start(parts, context)

    def check(self, context, parts):
        self.left.check(context, parts)
        self.right.check(context, parts)

    def state(self):
        sides = ("left", self.left), ("right", self.right)
        return {f"{side}.{key}": value for side, part in sides for key, value in state_of(part).items()}

    def restore(self, state):
        for side, part in (("left", self.left), ("right", self.right)):
            part.restore(substate(state, f"{side}."))
