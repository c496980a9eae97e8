# Sums of a few weights' coefficients by the weight's number: open addressing, a power of two of places, at most half of them used.
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

ctypedef struct Sums:
    Py_ssize_t room, used
    int64_t *keys               # -1: free
    double *values
    Py_ssize_t *places          # that are used


cdef inline int add_to(Sums *sums, int64_t key, double c) noexcept nogil:
    """Adds c to the sum of a key; -1 where memory is short."""
    cdef Py_ssize_t q
    if 2 * sums.used >= sums.room and enlarge(sums) < 0:
        return -1
    q = <Py_ssize_t> (<uint64_t> key * <uint64_t> 0x9E3779B97F4A7C15 >> 20) & (sums.room - 1)
    while sums.keys[q] != key:
        if sums.keys[q] < 0:
            sums.keys[q], sums.values[q], sums.places[sums.used] = key, 0, q
            sums.used += 1
            break
        q = (q + 1) & (sums.room - 1)
    sums.values[q] += c
    return 0


cdef inline int enlarge(Sums *sums) noexcept nogil:
    cdef Sums larger
    cdef Py_ssize_t q
    larger.room, larger.used = max(8192, 4 * sums.room), 0
    larger.keys, larger.values = <int64_t *> malloc(larger.room * sizeof(int64_t)), <double *> malloc(larger.room * sizeof(double))
    larger.places = <Py_ssize_t *> malloc(larger.room * sizeof(Py_ssize_t))
    if larger.keys == NULL or larger.values == NULL or larger.places == NULL:
        release(&larger)
        return -1
    memset(larger.keys, 255, larger.room * sizeof(int64_t))
    for q in range(sums.used):
        add_to(&larger, sums.keys[sums.places[q]], sums.values[sums.places[q]])
    release(sums)
    sums[0] = larger
    return 0


cdef inline double take_squares(Sums *sums) noexcept nogil:
    """The sum of the squares; all sums are 0 afterwards."""
    cdef Py_ssize_t q
    cdef double total = 0
    for q in range(sums.used):
        total += sums.values[sums.places[q]] * sums.values[sums.places[q]]
        sums.keys[sums.places[q]] = -1
    sums.used = 0
    return total


cdef inline void release(Sums *sums) noexcept nogil:
    free(sums.keys)
    free(sums.values)
    free(sums.places)
