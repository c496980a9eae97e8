# Which instruction set compares rows, and a Python face of its functions for tests. See tiles.h.

cdef extern from "tiles_sets.h" nogil:
    int sp_tiles_available(const sp_tiles **sets) noexcept


cdef const sp_tiles *best_tiles() noexcept:
    cdef const sp_tiles *sets[4]
    return sets[sp_tiles_available(sets) - 1]


cdef const sp_tiles *named_tiles(str name) except NULL:
    cdef const sp_tiles *sets[4]
    cdef int i
    for i in range(sp_tiles_available(sets)):
        if sets[i].name.decode() == name:
            return sets[i]
    raise ValueError(f"instruction set {name!r} is not available here; there are {', '.join(instruction_sets())}.")


def instruction_sets():
    """Names of the sets that this machine can run, from the narrowest registers to the widest."""
    cdef const sp_tiles *sets[4]
    return [sets[i].name.decode() for i in range(sp_tiles_available(sets))]


def powers_of_two(str name, x):
    """2^x for x <= 0 as the kernels compute it, of doubles or floats."""
    cdef Py_ssize_t n = len(x)
    padded = np.zeros((n + LANES - 1) // LANES * LANES, dtype=x.dtype)
    padded[:n] = x
    out = np.empty_like(padded)
    cdef size_t source = padded.ctypes.data, to = out.ctypes.data
    if x.dtype == np.float64:
        named_tiles(name).powers_f64(<const double *> source, len(padded), <double *> to)
    else:
        named_tiles(name).powers_f32(<const float *> source, len(padded), <float *> to)
    return out[:n]


def add_weighted(str name, const double[:, ::1] values, const double[:, ::1] c, double[:, ::1] total, first=0,
                 const int64_t[::1] start=None):
    """total[b, lane] += sum over i of c[i, b] * values[i, lane], in place; with `start`, over i with first + i >= start[lane]."""
    cdef Py_ssize_t n = values.shape[0]
    cdef size_t[::1] at = np.asarray(c).ctypes.data + np.arange(n + 1, dtype=np.uintp) * (c.shape[1] * 8)
    cdef const double *const *pointers = <const double *const *> &at[0]
    cdef const double *v = &values[0, 0] if n else NULL
    if start is None:
        named_tiles(name).add_weighted(v, n, pointers, c.shape[1], &total[0, 0])
    else:
        named_tiles(name).add_weighted_since(v, n, pointers, c.shape[1], &total[0, 0], first, &start[0])
