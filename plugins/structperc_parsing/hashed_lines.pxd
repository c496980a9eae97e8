# Lines of a template as compiled code reads them, and the hashes of a sentence's words.
#
# The hash of a row sums parts of the head, the dependent and a third word. So each word's parts are
# hashed once:
#
#     row(line, h, m, t) = floor((H[line, h] + D[line, m] + T[line, t] + direction mod 2^32) * n_rows / 2^32)
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport malloc
from libc.string cimport memcpy, memset
from structperc.core.rows cimport Example

cdef extern from *:
    """
    #define SP_MULTIPLIER 0xC6A4A7935BD1E995ULL
    #define SP_ROOT 0x7FF8000000000001ULL           /* no number has these bits */
    #define SP_BEFORE 0x7FF9000000000000ULL
    #define SP_BEHIND 0x7FFA000000000000ULL
    #define SP_NO_WORD 0x7FFB000000000000ULL
    #define SP_TO_THE_RIGHT 0x9E3779B9U
    """
    const uint64_t MULTIPLIER "SP_MULTIPLIER"
    const uint64_t ROOT "SP_ROOT"
    const uint64_t BEFORE "SP_BEFORE"
    const uint64_t BEHIND "SP_BEHIND"
    const uint64_t NO_WORD "SP_NO_WORD"
    const uint32_t TO_THE_RIGHT "SP_TO_THE_RIGHT"


ctypedef struct Lines:
    # The order of lines: those that read only the head, those that read only the dependent, others without a third word, those with one.
    # Of siblings: those without the head, then those with it.
    Py_ssize_t n, n_head, n_single, n_plain, n_third
    uint64_t *seeds             # (n, 3), of each line the hash of its text for the head's, the dependent's and the third word's cells
    int *cells                  # offset and column of all macros, line by line, sides in this order
    int *starts                 # (n, 4), where in `cells` the sides of each line begin, and where the last one ends


ctypedef struct Parts:
    # The hashes of a sentence: word 0 is the root. Those of a word are made when they are first needed.
    Py_ssize_t n_words, most
    const double *values
    Py_ssize_t width
    unsigned char *ready        # (n_words + 1,)
    uint32_t *head              # (n_words + 1, n)
    uint32_t *dependent         # (n_words + 1, n)
    uint32_t *third             # (n_words + 1, n_third)
    int *before                 # (n_words + 1, n_third), the word before that has the same cells, or -1


cdef inline uint64_t mix(uint64_t h, uint64_t word) noexcept nogil:
    """MurmurHash64A's step (Austin Appleby, public domain)."""
    word *= MULTIPLIER
    word ^= word >> 47
    return (h ^ word * MULTIPLIER) * MULTIPLIER


cdef inline uint32_t finished(uint64_t h) noexcept nogil:
    h = (h ^ h >> 47) * MULTIPLIER
    return <uint32_t> ((h ^ h >> 47) >> 32)


cdef inline int slot_of(Py_ssize_t h, Py_ssize_t m) noexcept nogil:
    """Which weight of a row belongs to the distance."""
    cdef Py_ssize_t distance = m - h if m > h else h - m
    if distance <= 4:
        return <int> distance
    return 5 if distance <= 6 else 6 if distance <= 10 else 7


cdef inline uint64_t cell(const Parts *parts, Py_ssize_t word, int column) noexcept nogil:
    """The bits of a cell; word 0 is the root, words 1..n stand in the rows."""
    cdef uint64_t bits
    cdef double value
    if word == 0:
        return ROOT
    if word < 0:
        return BEFORE - word
    if word > parts.n_words:
        return BEHIND + word - parts.n_words
    value = parts.values[(word - 1) * parts.width + column] + 0.0       # -0.0 becomes 0.0
    memcpy(&bits, &value, sizeof(bits))
    return bits


cdef inline uint32_t hashed(const Lines *lines, Py_ssize_t line, int side, const Parts *parts, Py_ssize_t word) noexcept nogil:
    """The part of a line's hash that one side gives; 0 if the line has no macro of this side. All lines have a part of the head."""
    # A third word below 0 is none.
    cdef Py_ssize_t q, first = lines.starts[4 * line + side], last = lines.starts[4 * line + side + 1]
    cdef uint64_t h = lines.seeds[3 * line + side]
    if first == last and side != 0:
        return 0
    for q in range(first, last):
        h = mix(h, NO_WORD if side == 2 and word < 0 else cell(parts, word + lines.cells[2 * q], lines.cells[2 * q + 1]))
    return finished(h)


cdef inline int prepare(const Lines *lines, Example x, Parts *parts) noexcept nogil:
    """Room for the hashes of a sentence, to be freed at `head`; -1 where memory is short."""
    cdef Py_ssize_t n = x.block.n_rows, size = n + 1, third = lines.n_third
    parts.n_words, parts.most = n, lines.n_plain + third * n
    parts.values, parts.width = <const double *> x.block.values, x.block.n_features
    parts.head = <uint32_t *> malloc(size * ((2 * lines.n + 2 * third) * sizeof(uint32_t) + 1))
    if parts.head == NULL:
        return -1
    parts.dependent = parts.head + size * lines.n
    parts.third = parts.dependent + size * lines.n
    parts.before = <int *> (parts.third + size * third)
    parts.ready = <unsigned char *> (parts.before + size * third)
    memset(parts.ready, 0, size)
    return 0


cdef inline void hash_between(const Lines *lines, Parts *parts) noexcept nogil:
    """The hashes of the words as words between."""
    cdef Py_ssize_t word, earlier, k, third = lines.n_third
    for word in range(parts.n_words + 1):
        for k in range(third):
            parts.third[word * third + k] = hashed(lines, lines.n_plain + k, 2, parts, word)
            earlier = word - 1
            while earlier >= 1 and parts.third[earlier * third + k] != parts.third[word * third + k]:
                earlier -= 1
            parts.before[word * third + k] = <int> earlier


cdef inline void hash_siblings(const Lines *lines, Parts *parts) noexcept nogil:
    """The hashes of the words as siblings, in place 0 those of none."""
    cdef Py_ssize_t word, line
    for word in range(parts.n_words + 1):
        for line in range(lines.n):
            parts.third[word * lines.n + line] = hashed(lines, line, 2, parts, word if word else -1)


cdef inline void make_ready(const Lines *lines, Parts *parts, Py_ssize_t word) noexcept nogil:
    """The hashes of a word as a head and as a dependent."""
    cdef Py_ssize_t line
    if parts.ready[word]:
        return
    for line in range(lines.n):
        parts.head[word * lines.n + line] = hashed(lines, line, 0, parts, word)
        parts.dependent[word * lines.n + line] = hashed(lines, line, 1, parts, word)
    parts.ready[word] = True


cdef inline uint32_t row_of(uint32_t hash, uint64_t n_rows) noexcept nogil:
    return <uint32_t> (<uint64_t> hash * n_rows >> 32)


cdef inline Py_ssize_t find_rows(const Lines *lines, Parts *parts, Py_ssize_t h, Py_ssize_t m, Py_ssize_t first, uint64_t n_rows,
                                 uint32_t *rows) noexcept nogil:
    """Writes the rows of an arc from line `first` on, at most parts.most; returns how many."""
    cdef Py_ssize_t line, k, b, low = min(h, m), high = max(h, m), third = lines.n_third, n_features = lines.n_plain - first
    cdef const uint32_t *of_head = parts.head + h * lines.n
    cdef const uint32_t *of_dependent = parts.dependent + m * lines.n
    cdef uint32_t turn = TO_THE_RIGHT if m > h else 0, base
    make_ready(lines, parts, h)
    make_ready(lines, parts, m)
    for line in range(n_features):
        rows[line] = row_of(of_head[first + line] + of_dependent[first + line] + turn, n_rows)
    for k in range(third):
        base = of_head[lines.n_plain + k] + of_dependent[lines.n_plain + k] + turn
        for b in range(low + 1, high):
            if parts.before[b * third + k] <= low:              # the first between with these cells
                rows[n_features] = row_of(base + parts.third[b * third + k], n_rows)
                n_features += 1
    return n_features


cdef inline void find_sibling_rows(const Lines *lines, Parts *parts, Py_ssize_t h, Py_ssize_t m, Py_ssize_t s, Py_ssize_t first,
                                   Py_ssize_t last, uint64_t n_rows, uint32_t *rows) noexcept nogil:
    """Writes the rows of lines `first..last - 1` for dependent m of h and its next sibling s, or 0."""
    cdef Py_ssize_t line
    cdef const uint32_t *of_head = parts.head + h * lines.n + first
    cdef const uint32_t *of_dependent = parts.dependent + m * lines.n + first
    cdef const uint32_t *of_sibling = parts.third + s * lines.n + first
    cdef uint32_t turn = TO_THE_RIGHT if m > h else 0
    make_ready(lines, parts, h)
    make_ready(lines, parts, m)
    for line in range(last - first):
        rows[line] = row_of(of_head[line] + of_dependent[line] + of_sibling[line] + turn, n_rows)
