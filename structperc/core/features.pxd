from structperc.core.components cimport Features, Parameter
from structperc.core.kernels cimport sp_blocks


cdef class BlockFeatures(Features):
    cdef readonly Py_ssize_t n_features
    cdef readonly bint intercept, feature_major


cdef inline sp_blocks blocks_of(BlockFeatures f, const Parameter *p) noexcept nogil:
    """Where the blocks' weights stand."""
    cdef sp_blocks b
    b.w, b.average, b.place, b.n_placed = p.w, p.average, p.place, p.n_placed
    if f.feature_major:
        b.block_step, b.feature_step, b.n_blocks = 1, p.pitch, f.room
        b.bias = p.fixed + (f.n_features - f.lazy_rows) * p.pitch
    else:
        b.block_step, b.feature_step, b.n_blocks = f.n_features, 1, f.n_blocks
        b.bias = p.w + f.n_blocks * f.n_features
    if not f.intercept:
        b.bias = NULL
    return b


cdef class RowFeatures(Features):
    cdef readonly Py_ssize_t n_features
