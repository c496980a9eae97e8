# The base class of feature maps, explicit weights of atoms, and the sum of two maps.
#
# Sizes: 4 .. 10^5 atoms an example, 50 .. 10^8 weights. Each method is called once per visit. A kernel calls `cell_c` once per atom.
# A compiled map overrides scores_c and add_c. It overrides n_atoms_c if examples differ in their number of atoms. Optional: norm_c if there
# is a faster way than to write the sum down; project_c if weights have bounds. prefetch_c if weights have several rows; cell_c and
# explicit_part if each atom is on a row of x. constant_gram_c if the inner products of all pairs of atoms are one number. rescale_c if
# other weights give the same scores to rows in other units.
from structperc.core.bounds cimport Bounds
from structperc.core.component cimport Component
from structperc.core.inner_products cimport sp_inner, sp_mark
from structperc.core.rows cimport Example, Rows

cdef enum:
    PADDING = 3                 # doubles that scores_c may write behind the last atom's score; every buffer of scores has them


ctypedef struct Parameter:
    # n_weight_rows rows of row_width weights, `pitch` doubles apart. A weight's averaging accumulator is `average` doubles behind it
    # (0: none).
    double *w
    Py_ssize_t pitch
    Py_ssize_t average
    bint followed               # whether coefficients of another map's atoms come after those of this map
    # Private to the core: with `place` and `marks` (see sp_blocks in inner.h), `place` has the positions of the first on_demand_rows
    # rows. The rows after these begin at `fixed` in any case.
    double *fixed
    int *place
    int *marks
    int *n_placed


ctypedef struct StepSizes:
    # What a step with a size for each weight needs: G is `squares` doubles behind the weight.
    double rate, to_w, to_u
    Py_ssize_t squares


ctypedef struct Units:
    # What brings the columns of X to other units, (x - shift) / spread: n_features numbers each.
    Py_ssize_t n_features
    const double *shift
    const double *spread


cdef class Features(Component):
    # Sizes, declared by `shape`; in Python `layout`.
    cdef Py_ssize_t n_weight_rows, row_width
    cdef Py_ssize_t fixed_atoms                 # atoms of every example, -1: they differ
    cdef Py_ssize_t fixed_rows                  # rows of X of every example, -1: they may differ
    cdef Py_ssize_t n_blocks                    # of atoms that each have one row of x in one block (see cell_c); 0: unknown
    cdef const sp_inner *kernels
    cdef Bounds bounds                          # of the weights, which `clip` keeps; None: there are none
    # private to the core
    cdef Py_ssize_t on_demand_rows              # so many of the first rows, one per column of X, get memory when a step touches them
    cdef double[::1] scratch
    cdef int[::1] scratch_place
    cdef int scratch_rows

    cdef Py_ssize_t n_atoms_c(self, Example x) noexcept nogil
    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil
    cdef int batch_scores_c(self, const Parameter *p, Example x, Py_ssize_t first, Py_ssize_t n, double *s) noexcept nogil
    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil
    cdef int adapt_c(self, const Parameter *p, Example x, const double *c, const StepSizes *sizes) noexcept nogil
    cdef int project_c(self, const Parameter *p, Example x, double to_w, double to_u) noexcept nogil
    cdef void scratch_for(self, Py_ssize_t n, Py_ssize_t n_places) noexcept nogil
    cdef int write_c(self, Example x, const double *c, Parameter *written) noexcept nogil
    cdef double norm_c(self, Example x, const double *c) noexcept nogil
    cdef double constant_gram_c(self, Example x, double *off_diagonal) noexcept nogil
    cdef Py_ssize_t cell_c(self, Example x, Py_ssize_t a) noexcept nogil
    cdef void prefetch_c(self, const Parameter *p, Example x) noexcept nogil
    cdef int clip(self, const Parameter *p, Example x, double to_w, double to_u) noexcept nogil
    cdef int rescale_c(self, const Parameter *p, const Units *units) noexcept nogil
    cdef bint constrained(self)
    cdef Features in_rows(self, Py_ssize_t width)
    cdef touched_rows(self, Rows rows)


cdef inline void adapt_row(Features f, double *w, Py_ssize_t n, const Parameter *p, double *change, const StepSizes *sizes) noexcept nogil:
    """Takes the steps of n weights in a row, for which it gets the change, to be 0 afterwards."""
    f.kernels.adapt(w, n, p.average, sizes.squares, change, sizes.rate, sizes.to_w, sizes.to_u)


cdef inline Py_ssize_t claimed(const Parameter *p, Py_ssize_t row) noexcept nogil:
    """Position of a row that a step changes; it gets memory if it has none yet."""
    if p.place == NULL:
        return row
    return p.marks[row] if p.marks[row] != 0 else sp_mark(p.place, p.marks, p.n_placed, row)


cdef inline Parameter written_out(Features f, double *w) noexcept nogil:
    """A vector of n_weights weights, without averages."""
    cdef Parameter p
    p.w, p.pitch, p.average, p.followed = w, f.row_width, 0, False
    p.place = p.marks = p.n_placed = NULL
    p.fixed = w + f.on_demand_rows * f.row_width
    return p


cdef coefficients_of(c, Features features, Example x)
cdef room_for(c, Features features, Example x)
cdef const double *pointer(const double[::1] values) noexcept
cdef Units units_of(const double[::1] shift, const double[::1] spread) except *
cdef double take_square(double *v, Py_ssize_t n) noexcept nogil


cdef class TablePart(Features):
    cdef readonly Py_ssize_t length             # weights; the last row of them may be longer
    cdef readonly tuple table_shape
    cdef readonly object name                   # of the fitted attribute that shows the table, or None
    cdef readonly bint per_row
    cdef readonly double value

    cdef double squares_c(self, Example x, const double *c, double total) noexcept nogil


cdef class SumFeatures(Features):
    cdef readonly Features left, right
    cdef Features first, second                 # the same, as compiled code can call them
    cdef TablePart table                        # `second`, if it is one
    cdef bint by_rows                           # whether the weights of `right` stand in rows below those of `left`, or behind them

    cdef void divide(self, const Parameter *p, Parameter *one, Parameter *other) noexcept nogil
    cdef Py_ssize_t first_atoms(self, Example x) noexcept nogil
    cdef int failed(self) noexcept nogil
