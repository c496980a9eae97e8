# Structures of one example with positive dual weight, in plain C memory: see plugins/structperc_batch/frank_wolfe.pyx.

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
