# distutils: extra_compile_args = VECTORS
"""Which instruction set the inner products use. See inner.h."""
cdef extern from "inner_sets.h" nogil:
    int sp_available(const sp_inner **sets) noexcept
    const sp_inner *sp_best(Py_ssize_t n_features) noexcept


cdef const sp_inner *best_inner(Py_ssize_t n_features) noexcept:
    return sp_best(n_features)


def instruction_sets():
    """Names of the sets that this machine can run, from the narrowest registers to the widest."""
    cdef const sp_inner *sets[4]
    return [sets[i].name.decode() for i in range(sp_available(sets))]


def address_of(str name):
    """Where the functions of an instruction set stand, for `structperc.core.instruction_sets`, which calls them from Python."""
    cdef const sp_inner *sets[4]
    cdef int i
    for i in range(sp_available(sets)):
        if sets[i].name.decode() == name:
            return <size_t> sets[i]
    raise ValueError(f"instruction set {name!r} is not available here; there are {', '.join(instruction_sets())}.")
