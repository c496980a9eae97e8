# Averages and decay of a weight store, both lazy.
#
# w = scale * v, where v is stored. The mean of w over the visited examples is (scale_sum * v - u) / n_visited. A step v += d adds
# scale_sum * d to u. So neither averaging nor decay costs anything between two steps.
from structperc.core.schedules cimport Schedule

ctypedef struct Averaging:
    bint average
    double decay                # the decay of the first example visited; 0: none
    double scale, scale_sum     # the sum of the scales over the visited examples
    Py_ssize_t n_visited


cdef inline void start_averaging(Averaging *a) noexcept nogil:
    a.scale, a.scale_sum, a.n_visited = 1, 0, 0


cdef inline void count_visit(Averaging *a) noexcept nogil:
    a.n_visited += 1
    a.scale_sum += a.scale


cdef inline int shrink(Averaging *a, Schedule schedule) noexcept nogil:
    """Takes the decay of one step. 1: the scale must be multiplied into v and u, before it costs digits; -1: the schedule has an error."""
    cdef double left = schedule.left_c(a.n_visited + 1)
    if left < 0:
        return -1
    a.scale *= left
    return a.scale < (1e-4 if a.average else 1e-100)        # with averages scale_sum * v - u cancels


cdef inline void scale_multiplied_out(Averaging *a) noexcept nogil:
    """v and u have become (scale * v, u - scale_sum * v); without averages u may be anything."""
    a.scale, a.scale_sum = 1, 0


cdef inline object predicting(const Averaging *a, v, u):
    """The weights to predict with: the mean when averaging, else w; v itself where that is w."""
    if a.average and a.n_visited:
        return (a.scale_sum * v - u) / a.n_visited
    return v * a.scale if a.scale != 1 else v
