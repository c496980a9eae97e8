from libc.stdint cimport int32_t, uint8_t, uint16_t


cdef extern from "sweep.h" nogil:
    enum:
        SP_UPWARD_ENDS
        SP_DOWNWARD_ENDS

    void sp_sweep(const int32_t *order, const uint8_t *ends, const double *costs, ptrdiff_t n, int K, double *room,
                  double *least) noexcept
    void sp_lowest_ranks(const int32_t *order, const uint8_t *ends, int end, const double *costs, ptrdiff_t n, int K, double *sums,
                         uint16_t *best, int *ranks) noexcept
