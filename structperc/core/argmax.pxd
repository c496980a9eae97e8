from structperc.core.component cimport Component
from structperc.core.losses cimport Loss
from structperc.core.outputs cimport Outputs
from structperc.core.rows cimport Example


cdef class Argmax(Component):
    cdef readonly Outputs outputs               # as its author wrote it; after start
    cdef Py_ssize_t code_width                  # of the structures it returns, as Outputs.code_width

    cdef Py_ssize_t workspace_size_c(self, Py_ssize_t n_atoms, bint marginals) noexcept nogil
    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil
    cdef int batch_argmax_c(self, Example x, Py_ssize_t first, Py_ssize_t n, const double *s, int *y) noexcept nogil
    cdef Py_ssize_t argmax_augmented_c(self, Example x, double *s, const int *gold, Py_ssize_t n_gold, Loss loss, double scale,
                                       int *y) noexcept nogil
    cdef Py_ssize_t best_of_all(self, Example x, const double *s, const int *gold, Py_ssize_t n_gold, Loss loss, double scale,
                                int *y) noexcept with gil
    cdef Py_ssize_t best_of_labels(self, Example x, const double *s, const int *gold, Py_ssize_t n_gold, Loss loss, double scale,
                                   int *y) except -1
    cdef Py_ssize_t best_of_list(self, Example x, const double *s, const int *gold, Py_ssize_t n_gold, Loss loss, double scale,
                                 int *y) except -1
    cdef int marginals_c(self, Example x, const double *s, double *expected, double *log_z) noexcept nogil


cdef class LabelArgmax(Argmax):
    cdef readonly Py_ssize_t n_labels


cdef class PrefixArgmax(LabelArgmax):
    pass


cdef class ThresholdArgmax(LabelArgmax):
    pass


cdef class LargestArgmax(LabelArgmax):
    pass
