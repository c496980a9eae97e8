# A block of the dual solution in plain C memory: adding, finding and forgetting structures without the GIL.
#
# Typical sizes: 1 to 10 structures; each operation is O(structures), O(structures^2) where distances move. A block begins with room for
# two and doubles it.


cdef enum:
    FEW = 2


cdef bint equal(const Code *a, const int *y, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    if a.n != n:
        return False
    for i in range(n):
        if a.at[i] != y[i]:
            return False
    return True


cdef int assign(Code *code, const int *y, Py_ssize_t n) noexcept nogil:
    """A copy of these integers; -1 without memory."""
    cdef int *at = <int *> malloc(max(n, 1) * sizeof(int))
    if at == NULL:
        return -1
    if n:                               # y is nowhere for a structure of no integers
        memcpy(at, y, n * sizeof(int))
    free(code.at)
    code.at, code.n = at, <int> n
    return 0


cdef void clear(Block *block) noexcept nogil:
    cdef Py_ssize_t m
    for m in range(block.n):
        free(block.codes[m].at)
    free(block.codes)
    free(block.alpha)
    free(block.loss)
    free(block.distance)
    free(block.gold.at)
    free(block.completion.at)


cdef int grow(Block *block) noexcept nogil:
    """Twice the room; -1 without memory."""
    cdef Py_ssize_t m, room = 2 * block.room if block.room else FEW
    cdef Code *codes = <Code *> realloc(block.codes, room * sizeof(Code))
    cdef double *alpha
    cdef double *loss
    cdef double *distance
    if codes == NULL:
        return -1
    block.codes = codes
    alpha = <double *> realloc(block.alpha, room * sizeof(double))
    if alpha == NULL:
        return -1
    block.alpha = alpha
    loss = <double *> realloc(block.loss, room * sizeof(double))
    if loss == NULL:
        return -1
    block.loss = loss
    if block.distance != NULL:
        distance = <double *> calloc(room * room, sizeof(double))
        if distance == NULL:
            return -1
        for m in range(block.n):
            memcpy(distance + m * room, block.distance + m * block.room, block.n * sizeof(double))
        free(block.distance)
        block.distance = distance
    block.room = <int> room
    return 0


cdef int make_distances(Block *block) noexcept nogil:
    """Allocate distances if there are none yet. A block from a file must not need its square of memory. Returns -1 without memory."""
    if block.distance == NULL:
        block.distance = <double *> calloc(block.room * <size_t> block.room, sizeof(double))
    return -1 if block.distance == NULL else 0


cdef int append(Block *block, const int *y, Py_ssize_t n, double alpha, double loss) noexcept nogil:
    """One more structure, whose distances are not known yet; -1 without memory."""
    if block.n == block.room and grow(block) < 0:
        return -1
    block.codes[block.n].at = NULL
    if assign(&block.codes[block.n], y, n) < 0:
        return -1
    block.alpha[block.n], block.loss[block.n] = alpha, loss
    block.n += 1
    return 0


cdef void remove(Block *block, Py_ssize_t m) noexcept nogil:
    """Forgets a structure."""
    cdef Py_ssize_t i, last = block.n - 1
    free(block.codes[m].at)
    memmove(block.codes + m, block.codes + m + 1, (last - m) * sizeof(Code))
    memmove(block.alpha + m, block.alpha + m + 1, (last - m) * sizeof(double))
    memmove(block.loss + m, block.loss + m + 1, (last - m) * sizeof(double))
    if block.distance != NULL:
        for i in range(block.n):
            memmove(block.distance + i * block.room + m, block.distance + i * block.room + m + 1, (last - m) * sizeof(double))
        memmove(block.distance + m * block.room, block.distance + (m + 1) * block.room, (last - m) * block.room * sizeof(double))
    block.n = <int> last


cdef Py_ssize_t position(const Block *block, const int *y, Py_ssize_t n) noexcept nogil:
    """Where a block holds this structure, or -1."""
    cdef Py_ssize_t m
    for m in range(block.n):
        if equal(&block.codes[m], y, n):
            return m
    return -1
