from structperc.core.component cimport Component
from structperc.core.rows cimport Example, Rows
from structperc.core.structures cimport Structures


cdef class Outputs(Component):
    cdef Py_ssize_t code_width                  # integers per structure: 1 of labels, else -1
    cdef public bint partial_gold               # gold structures are restrictions that complete_c completes
    cdef readonly Py_ssize_t n_labels           # outputs of one label: how many labels; else 0

    cdef int count_c(self, Example x, const int *y, Py_ssize_t n, double sign, double *c) noexcept nogil
    cdef int difference_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n, double *c) noexcept nogil
    cdef int signs_c(self, Example x, const int *gold, Py_ssize_t n_gold, double *c) noexcept nogil
    cdef int agrees_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil
    cdef Structures gold(self, object y, Rows rows, object features)
    cdef check_gold(self, Structures gold, Rows rows, features)
    cdef check_right(self, Structures gold, Rows rows, features)
    cdef decode_all(self, structures, Rows rows, features, examples)
    cdef decode_one(self, const int *y, Rows rows, features)
    cdef Py_ssize_t write(self, object answer, Example x, int *y) except -1
    cdef double *counts_of(self, Example x, const int *y, Py_ssize_t n) noexcept nogil
    cdef double *difference_of(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil
    cdef bint adds_costs_c(self) noexcept nogil
    cdef void add_costs_c(self, const double *costs, double scale, double *s) noexcept nogil
    cdef Py_ssize_t complete_c(self, Example x, const int *gold, Py_ssize_t n_gold, const double *s, int *y) noexcept nogil


cdef class RestrictedOutputs(Outputs):
    pass


cdef class LabelOutputs(Outputs):
    cdef readonly object labels                 # array of the labels as the user has them, in order
    cdef object _codes
    cdef dict _code_of
    cdef list _alone                            # labels as arrays of one, made when asked for; None: `decode` is not this class's own
    cdef bint _encodes                          # whether `encode` and `admissible` are this class's own

    cdef Structures encoded(self, object y, Py_ssize_t n)


cdef class RankOutputs(LabelOutputs):
    pass


cdef class ClassOutputs(LabelOutputs):
    pass
