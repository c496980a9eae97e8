cdef extern from "selection.h" nogil:
    ptrdiff_t sp_first(const double *s, const int *level, ptrdiff_t n, ptrdiff_t m, int *y) noexcept
