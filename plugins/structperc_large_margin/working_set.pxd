# A few examples whose coordinates are optimised while all others rest.

cdef class WorkingSet:
    cdef readonly Py_ssize_t room, n_nodes
    cdef Py_ssize_t q                           # examples in the set
    cdef bint open_arcs
    cdef double gain
    cdef double[::1] f, before                  # scores of the examples, and before the steps
    cdef double[::1] gram, diagonal, promise    # (q, q); (q,); scratch
    cdef double[::1] mu, cap, sign              # by node and place of the example in the set: m * q + l; sign 0: no coordinate
    cdef double[::1] up, down                   # p g where mu may go up (down) in the order, else an infinity
    cdef double[::1] lo, hi, flow               # by node; flow[m] on the arc to the next node
    cdef Py_ssize_t[::1] first, end             # the places of a node's members

    cdef void free_sides(self, Py_ssize_t c) noexcept nogil
    cdef void step(self, Py_ssize_t c, double change) noexcept nogil
    cdef void look(self, Py_ssize_t m) noexcept nogil
    cdef double violation(self, Py_ssize_t *node, Py_ssize_t *other) noexcept nogil
    cdef Py_ssize_t partner(self, Py_ssize_t node, Py_ssize_t i, double kappa, Py_ssize_t *other) noexcept nogil
    cdef Py_ssize_t optimise(self, double enough, Py_ssize_t most) noexcept nogil
