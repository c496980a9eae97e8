# distutils: extra_compile_args = VECTORS
"""Which instruction set the inner products use. See inner.h.

The environment variable STRUCTPERC_INSTRUCTION_SET names the widest set to use, such as avx2. With it you can measure, on one machine,
others without AVX-512. Every set gives the same bits. It is read when structperc is imported.
"""
import os

from structperc.basics.errors import OptionError

cdef extern from "inner_sets.h" nogil:
    int sp_available(const sp_inner **sets) noexcept
    const sp_inner *sp_best(Py_ssize_t n_features) noexcept
    const sp_inner *sp_widest() noexcept
    int sp_allowed


cdef const sp_inner *widest_inner() noexcept nogil:
    return sp_widest()


cdef const sp_inner *best_inner(Py_ssize_t n_features) noexcept:
    return sp_best(n_features)


def instruction_sets():
    """Names of the sets that this machine can run, from the narrowest registers to the widest."""
    cdef const sp_inner *sets[4]
    return [sets[i].name.decode() for i in range(sp_available(sets))]


def chosen(n_features):
    """The name of the set for rows of this many features, taken one by one."""
    return sp_best(n_features).name.decode()


def address_of(str name):
    """Where the functions of an instruction set stand, for `structperc.core.column_sums`, which calls them from Python."""
    cdef const sp_inner *sets[4]
    cdef int i
    for i in range(sp_available(sets)):
        if sets[i].name.decode() == name:
            return <size_t> sets[i]
    raise ValueError(f"instruction set {name!r} is not available here; there are {', '.join(instruction_sets())}.")


def allow(str widest):
    """Lets only this set be chosen from now on, and those with narrower registers."""
    global sp_allowed
    available = instruction_sets()
    if widest not in available:
        raise OptionError(f"the environment variable STRUCTPERC_INSTRUCTION_SET is {widest!r:.60}; expected one of "
                          f"{', '.join(available)}, the instruction sets of this machine. Change it, or unset it.")
    sp_allowed = available.index(widest) + 1


if os.environ.get("STRUCTPERC_INSTRUCTION_SET"):
    allow(os.environ["STRUCTPERC_INSTRUCTION_SET"])
