from libc.stdint cimport int32_t, uint8_t


cdef extern from "sweep.h" nogil:
    enum:
        SP_UPWARD_ENDS
        SP_DOWNWARD_ENDS

    void sp_sweep(const int32_t *order, const uint8_t *ends, const double *costs, ptrdiff_t n, int K, double *room,
                  double *least) noexcept
