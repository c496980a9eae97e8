from structperc.core.losses cimport Loss
from structperc.core.updates cimport Encoded, Trial, Update


# ---- block memory ----
# Structures of one example with positive dual weight, in plain C memory: see plugins/structperc_batch/dual_blocks.pyx.


ctypedef struct Code:
    int n                           # -1: none
    int *at


ctypedef struct Block:
    int n, room
    Code *codes
    double *alpha
    double *loss                    # margin * loss(gold, structure)
    double *distance                # (room, room), squared; NULL before the first step on the block
    bint measured                   # whether the distances are known
    Code gold                       # how a partial gold output is completed
    Code completion                 # a better completion, to be adopted


cdef bint equal(const Code *a, const int *y, Py_ssize_t n) noexcept nogil
cdef int assign(Code *code, const int *y, Py_ssize_t n) noexcept nogil
cdef void clear(Block *block) noexcept nogil
cdef int make_distances(Block *block) noexcept nogil
cdef int append(Block *block, const int *y, Py_ssize_t n, double alpha, double loss) noexcept nogil
cdef void remove(Block *block, Py_ssize_t m) noexcept nogil
cdef Py_ssize_t position(const Block *block, const int *y, Py_ssize_t n) noexcept nogil


# ---- dual blocks ----


cdef class DualBlocks:
    cdef readonly double C, margin
    cdef readonly Py_ssize_t n_examples
    cdef bint adopting                          # whether the next rebuild brings another training's solution into line
    cdef Block *blocks
    cdef Loss loss                              # as the loop calls it
    cdef double[::1] sum                        # over atoms

    cdef void forget(self) noexcept


cdef class BlockPass(Update):
    cdef readonly DualBlocks dual

    cdef Block *block_of(self, Trial trial) noexcept nogil
    cdef Block *opened(self, Trial trial, Encoded *gold) noexcept nogil
    cdef double total(self, Trial trial) noexcept nogil
    cdef int no_memory(self) noexcept nogil
    cdef int count(self, Trial trial, const int *y, Py_ssize_t n) noexcept nogil
    cdef int score(self, Trial trial, const int *y, Py_ssize_t n, double *total) noexcept nogil
    cdef int add(self, Trial trial, const int *y, Py_ssize_t n, double factor) noexcept nogil
    cdef int clear_sum(self, Py_ssize_t n_atoms) noexcept nogil
    cdef int grow_sum(self, Py_ssize_t n_atoms) noexcept with gil
