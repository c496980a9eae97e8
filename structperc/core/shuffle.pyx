"""A new visiting order for each epoch: Fisher-Yates on the example numbers, 3 ns per example where they fit the cache.

Typical sizes: 10^2..10^7 examples. One 64-bit seed from the fit's generator starts a splitmix64 stream (Steele, Lea and
Flood 2014). Bounded numbers are drawn without bias (Lemire 2019).
"""
import numpy as np

from libc.stdint cimport int64_t, uint64_t, uint32_t


cdef inline uint64_t splitmix(uint64_t *state) noexcept nogil:
    cdef uint64_t z
    state[0] += <uint64_t> 0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline uint32_t below(uint32_t n, uint64_t *state) noexcept nogil:
    """A number from 0 to n - 1, all equally likely."""
    cdef uint64_t product = (splitmix(state) >> 32) * n
    cdef uint32_t threshold
    if <uint32_t> product < n:
        threshold = (<uint32_t> (0 - n)) % n
        while <uint32_t> product < threshold:
            product = (splitmix(state) >> 32) * n
    return <uint32_t> (product >> 32)


def shuffled(examples, random):
    """The example numbers in a random order, as a new int64 array.

    Parameters
    ----------
    examples : int64 array, or int
        The numbers; an int means 0 .. examples - 1. At most 2^32 - 1 of them.
    random : numpy.random.Generator
        Gives one 64-bit seed.
    """
    cdef int64_t[::1] order = np.arange(examples) if np.isscalar(examples) else np.array(examples, dtype=np.int64)
    cdef uint64_t state = random.integers(0, 2**64, dtype=np.uint64)
    cdef Py_ssize_t i, n = order.shape[0]
    cdef int64_t held
    cdef uint32_t j
    if n >= 2**32 - 1:
        raise ValueError(f"{n} examples are too many to shuffle at once; train on chunks with partial_fit.")
    with nogil:
        for i in range(n - 1, 0, -1):
            j = below(<uint32_t> (i + 1), &state)
            held = order[i]
            order[i] = order[j]
            order[j] = held
    return order.base
