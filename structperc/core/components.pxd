# The base classes of the hot spots, as the loop calls them and as a compiled plugin subclasses them.
# Methods ending in _c run without the GIL and answer -1 after storing an exception in `error`.
from structperc.core.kernels cimport sp_kernels
from libc.stdint cimport int64_t
from structperc.core.rows cimport Example, Rows


ctypedef struct Parameter:
    # n_weight_rows rows of row_width weights, `pitch` doubles apart; a weight's averaging accumulator stands
    # `average` doubles behind it (0: none). With `place` (see sp_blocks in inner.h) the first lazy_rows rows stand where it says;
    # the rows after these begin at `fixed` in any case.
    double *w
    Py_ssize_t pitch
    Py_ssize_t average
    double *fixed
    int *place
    int *n_placed


cdef class Component:
    cdef public object error
    cdef tuple _arguments


cdef class Features(Component):
    cdef readonly Py_ssize_t n_weight_rows, row_width
    cdef readonly Py_ssize_t lazy_rows          # so many of the first rows may get memory only when a step touches them
    cdef readonly Py_ssize_t fixed_atoms        # atoms of every example, or -1 when they differ
    cdef readonly Py_ssize_t n_blocks           # of atoms that each stand on one row of x in one block (see cell_c); 0: not known
    cdef readonly Py_ssize_t room               # scores that scores_c may write beyond n_atoms: rounded-up block count
    cdef readonly bint prefetches
    cdef const sp_kernels *kernels
    cdef double[:, ::1] scratch

    cdef Py_ssize_t n_atoms_c(self, Example x) noexcept nogil
    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil
    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil
    cdef double norm_c(self, Example x, const double *c) noexcept nogil
    cdef double inner_c(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b) noexcept nogil
    cdef double own_c(self, Example x, double *shared) noexcept nogil
    cdef Py_ssize_t cell_c(self, Example x, Py_ssize_t a) noexcept nogil
    cdef void prefetch_c(self, const Parameter *p, Example x) noexcept nogil
    cdef double *write_vector(self, Example x, const double *c, int place) noexcept nogil


cdef class Weights(Component):
    cdef readonly Features features
    cdef readonly Py_ssize_t ticks              # examples visited, T
    cdef double scale, scale_sum                # w = scale * stored weights; sum of the scales over the visited examples

    cdef int scores_c(self, Example x, double *s) noexcept nogil
    cdef int update_c(self, Example x, const double *c) noexcept nogil
    cdef double norm_c(self, Example x, const double *c) noexcept nogil
    cdef double own_c(self, Example x, double *shared) noexcept nogil
    cdef double inner_c(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b) noexcept nogil
    cdef Py_ssize_t ahead_c(self, Rows rows, const int64_t *order, Py_ssize_t t, Py_ssize_t n) noexcept nogil
    cdef void prefetch_c(self, Example x) noexcept nogil


cdef class Outputs(Component):
    cdef public Py_ssize_t width                # integers per structure, or -1 when they differ
    cdef public bint partial                    # gold structures are restrictions that complete_c completes
    cdef readonly Py_ssize_t n_labels           # outputs of one label: how many labels; else 0

    cdef int count_c(self, Example x, const int *y, Py_ssize_t n, double sign, double *c) noexcept nogil
    cdef int difference_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n, double *c) noexcept nogil
    cdef int signs_c(self, Example x, const int *gold, Py_ssize_t n_gold, double *c) noexcept nogil
    cdef int agrees_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil
    cdef void add_costs_c(self, const double *costs, double scale, double *s) noexcept nogil
    cdef Py_ssize_t complete_c(self, Example x, const int *gold, Py_ssize_t n_gold, const double *s, int *y) noexcept nogil


cdef class LabelOutputs(Outputs):
    cdef readonly object labels                 # array of the labels as the user has them, in order
    cdef object _codes
    cdef dict _code_of


cdef class Argmax(Component):
    cdef public Py_ssize_t width                # of the structures it returns, as Outputs.width

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil


cdef class Loss(Component):
    cdef public Outputs outputs
    cdef double[::1] costs

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil
    cdef int augment_c(self, Example x, const int *gold, Py_ssize_t n_gold, double scale, double *s) noexcept nogil


cdef class Step(Component):
    cdef readonly Example x
    cdef Weights weights
    cdef Outputs outputs
    cdef const double *s                        # atom scores, without the loss
    cdef const int *gold_code                   # gold structure (completed)
    cdef const int *given_code                  # gold output as it was given, perhaps partial
    cdef const int *y_code                      # the structure found by the search
    cdef Py_ssize_t n_gold, n_given, n_y
    cdef readonly Py_ssize_t n_atoms
    cdef readonly double loss, weight
    cdef double *c                              # coefficients over atoms, all to be written by the rule
    cdef double[::1] coefficient_buffer

    cdef int difference_c(self) noexcept nogil
    cdef int signs_c(self) noexcept nogil
    cdef double difference_score_c(self) noexcept nogil
    cdef double norm_c(self) noexcept nogil


cdef class Update(Component):
    cdef public bint every_trial                # whether it sees right predictions too
    cdef int step_c(self, Step step) noexcept nogil


cdef inline Parameter written_out(Features f, double *w) noexcept nogil:
    """A vector of n_weights weights, without averages."""
    cdef Parameter p
    p.w, p.pitch, p.average, p.place, p.n_placed = w, f.row_width, 0, NULL, NULL
    p.fixed = w + f.lazy_rows * f.row_width
    return p


cdef object structure(const int *y, Py_ssize_t n, Py_ssize_t width)
