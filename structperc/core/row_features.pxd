# Feature maps whose atoms stand on rows of x: phi(x, a) = e_block (x) x_row.
#
# Sizes: 4 blocks of 10..1000 dense features, or of 2^20 sparse ones with 80 nonzeros; 1..1000 rows an example. Cost: one pass over the
# rows' values for four blocks at a time (see inner.h). A norm costs what a step does.
from structperc.core.features cimport Features, Parameter
from structperc.core.inner_products cimport sp_blocks
from structperc.core.rows cimport Example


cdef class RowPart(Features):
    cdef readonly Py_ssize_t n_features
    cdef readonly bint intercept, feature_major

    cdef void hold_column(self, const sp_blocks *b, Py_ssize_t feature, double to_w, double to_u) noexcept nogil
    cdef sp_blocks summed(self, Example x, const double *c, int *n_placed) noexcept nogil
    cdef void add_rows(self, Example x, const double *c, const sp_blocks *b, double to_w, double to_u) noexcept nogil


cdef inline sp_blocks blocks_of(RowPart f, const Parameter *p) noexcept nogil:
    """Where the blocks' weights stand."""
    cdef sp_blocks b
    b.w, b.average, b.place, b.marks, b.n_placed = p.w, p.average, p.place, p.marks, p.n_placed
    if f.feature_major:
        b.block_step, b.feature_step, b.n_blocks = 1, p.pitch, f.row_width
        b.bias = p.fixed + (f.n_features - f.on_demand_rows) * p.pitch
    else:
        b.block_step, b.feature_step, b.n_blocks = f.n_features, 1, f.n_blocks
        b.bias = p.w + f.n_blocks * f.n_features
    if not f.intercept:
        b.bias = NULL
    return b


cdef class BlockFeatures(RowPart):
    pass


cdef class RowFeatures(RowPart):
    pass
