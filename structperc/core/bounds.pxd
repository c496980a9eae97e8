# Bounds of the weights of one feature map.
#
# Sizes: a table of 1 .. 10^8 weights; bounds that many weights share take no memory of their own. Cost: two comparisons a weight.


# ---- bounds ----


cdef class Bounds:
    cdef const double[:, :] low, high


cdef inline void hold(Bounds bounds, Py_ssize_t i, Py_ssize_t j, double *w, Py_ssize_t average, double to_w, double to_u) noexcept nogil:
    """Moves the stored weight at (i, j) of the table to the nearest one within its bounds. Other arguments: `Features.add_c`."""
    cdef double nearest = bounds.low[i, j] * to_w
    if w[0] >= nearest:
        nearest = bounds.high[i, j] * to_w
        if w[0] <= nearest:
            return
    if average:
        w[average] += (nearest - w[0]) / to_w * to_u
    w[0] = nearest
