from structperc.core.component cimport Component
from structperc.core.inner_products cimport sp_blocks, sp_inner
from structperc.core.rows cimport Example


ctypedef struct Parameter:
    # n_weight_rows rows of row_width weights, `pitch` doubles apart; a weight's averaging accumulator stands
    # `average` doubles behind it (0: none). With `place` (see sp_blocks in inner.h) the first on_demand_rows rows stand where it says;
    # the rows after these begin at `fixed` in any case.
    double *w
    Py_ssize_t pitch
    Py_ssize_t average
    double *fixed
    int *place
    int *n_placed


cdef class Features(Component):
    cdef readonly Py_ssize_t n_weight_rows, row_width
    cdef readonly Py_ssize_t on_demand_rows          # so many of the first rows may get memory only when a step touches them
    cdef readonly Py_ssize_t atoms_per_example        # atoms of every example, or -1 when they differ
    cdef readonly Py_ssize_t n_blocks           # of atoms that each stand on one row of x in one block (see cell_c); 0: not known
    cdef readonly Py_ssize_t room               # scores that scores_c may write beyond n_atoms: rounded-up block count
    cdef readonly bint prefetches
    cdef const sp_inner *kernels
    cdef double[:, ::1] scratch

    cdef Py_ssize_t n_atoms_c(self, Example x) noexcept nogil
    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil
    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil
    cdef double norm_c(self, Example x, const double *c) noexcept nogil
    cdef double inner_c(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b) noexcept nogil
    cdef double constant_gram_c(self, Example x, double *shared) noexcept nogil
    cdef Py_ssize_t cell_c(self, Example x, Py_ssize_t a) noexcept nogil
    cdef void prefetch_c(self, const Parameter *p, Example x) noexcept nogil
    cdef double *write_vector(self, Example x, const double *c, int place) noexcept nogil


cdef inline Parameter written_out(Features f, double *w) noexcept nogil:
    """A vector of n_weights weights, without averages."""
    cdef Parameter p
    p.w, p.pitch, p.average, p.place, p.n_placed = w, f.row_width, 0, NULL, NULL
    p.fixed = w + f.on_demand_rows * f.row_width
    return p


cdef room_for(c, Features features, Example x)
cdef const double *pointer(const double[::1] values) noexcept


cdef class BlockFeatures(Features):
    cdef readonly Py_ssize_t n_features
    cdef readonly bint intercept, feature_major


cdef inline sp_blocks blocks_of(BlockFeatures f, const Parameter *p) noexcept nogil:
    """Where the blocks' weights stand."""
    cdef sp_blocks b
    b.w, b.average, b.place, b.n_placed = p.w, p.average, p.place, p.n_placed
    if f.feature_major:
        b.block_step, b.feature_step, b.n_blocks = 1, p.pitch, f.room
        b.bias = p.fixed + (f.n_features - f.on_demand_rows) * p.pitch
    else:
        b.block_step, b.feature_step, b.n_blocks = f.n_features, 1, f.n_blocks
        b.bias = p.w + f.n_blocks * f.n_features
    if not f.intercept:
        b.bias = NULL
    return b


cdef class RowFeatures(Features):
    cdef readonly Py_ssize_t n_features
