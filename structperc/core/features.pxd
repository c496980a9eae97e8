from structperc.core.components cimport Features


cdef class BlockFeatures(Features):
    cdef readonly Py_ssize_t n_blocks, n_features
    cdef readonly bint intercept, feature_major


cdef class RowFeatures(Features):
    cdef readonly Py_ssize_t n_features
