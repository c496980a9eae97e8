# distutils: extra_compile_args = VECTORS
"""Features of arcs by template, hashed into rows of eight weights.

A line of the template gives the arc (h, m) one row of weights, for the direction of the arc and the cells that the line reads. Weight 0
of the row is that of the direction alone, the others are those of the distances 1, 2, 3, 4, 5 to 6, 7 to 10 and more: one cache line
holds them all.
The hash of a row is a sum of parts that belong to the head, the dependent and a word between, so that the parts are hashed once for each
word, and an arc costs an addition and a row for each line:

    row(line, h, m) = floor((H[line, h] + D[line, m] + B[line, b] + direction mod 2^32) * n_rows / 2^32)

A line with words between gives one row for each distinct B. Lines of labels give groups of consecutive rows, a weight for each label.

Typical sizes: 40 lines, 25 words, 2^22 rows. An arc costs 5 to 8 ns for each line, most of it memory; rows of the arcs after it are fetched
meanwhile. The hashes of a sentence take O(n * lines) memory, for the duration of a call.
"""
import numpy as np

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from structperc.core.features cimport Features, Parameter
from structperc.core.inner_products cimport SP_PREFETCH
from structperc.core.rows cimport Example
from structperc.core.stopping cimport interrupted
from structperc.errors import DataError

cdef enum:
    WIDTH = 8               # weights of a row
    AHEAD = 4               # arcs whose rows are fetched together
    OFTEN = 1 << 12         # rows between two questions whether to stop

cdef uint64_t MULTIPLIER = 0xC6A4A7935BD1E995
cdef uint64_t ROOT = 0x7FF8000000000001         # no number has these bits, nor those of the places around the sentence
cdef uint64_t BEFORE = 0x7FF9000000000000
cdef uint64_t BEHIND = 0x7FFA000000000000
cdef uint32_t TO_THE_RIGHT = 0x9E3779B9


cdef struct Lines:
    # The lines of a template that describe arcs, or their labels: first those without words between, then those with.
    Py_ssize_t n, n_plain, n_between
    uint64_t *seeds             # (n, 3), of each line the hash of its text for the head's, the dependent's and the between's cells
    int *cells                  # offset and column of all macros, line by line, sides in this order
    int *starts                 # (n, 4), where in `cells` the sides of each line begin, and where the last one ends


cdef struct Parts:
    # The hashes of a sentence: word 0 is the root. Those of a word are made when they are first needed.
    Py_ssize_t n_words, most
    const double *values
    Py_ssize_t width
    unsigned char *ready        # (n_words + 1,)
    uint32_t *head              # (n_words + 1, n)
    uint32_t *dependent         # (n_words + 1, n)
    uint32_t *between           # (n_words + 1, n_between)
    int *before                 # (n_words + 1, n_between), the word before that has the same cells, or -1


cdef struct Sums:
    # Sums of a few weights' coefficients by the weight's number: open addressing, a power of two of places, at most half of them used.
    Py_ssize_t room, used
    int64_t *keys               # -1: free
    double *values


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
    """The part of a line's hash that one side gives; 0 where the line has no macro of this side, except of the head, which all have."""
    cdef Py_ssize_t q, first = lines.starts[4 * line + side], last = lines.starts[4 * line + side + 1]
    cdef uint64_t h = lines.seeds[3 * line + side]
    if first == last and side != 0:
        return 0
    for q in range(first, last):
        h = mix(h, cell(parts, word + lines.cells[2 * q], lines.cells[2 * q + 1]))
    return finished(h)


cdef int prepare(const Lines *lines, Example x, Parts *parts) noexcept nogil:
    """Room for the hashes of a sentence, to be freed at `head`, and those of the words between; -1 where memory is short."""
    cdef Py_ssize_t n = x.block.n_rows, size = n + 1, word, earlier, k, nb = lines.n_between
    parts.n_words, parts.most = n, lines.n_plain + nb * n
    parts.values, parts.width = <const double *> x.block.values, x.block.n_features
    parts.head = <uint32_t *> malloc(size * ((2 * lines.n + 2 * nb) * sizeof(uint32_t) + 1))
    if parts.head == NULL:
        return -1
    parts.dependent = parts.head + size * lines.n
    parts.between = parts.dependent + size * lines.n
    parts.before = <int *> (parts.between + size * nb)
    parts.ready = <unsigned char *> (parts.before + size * nb)
    memset(parts.ready, 0, size)
    for word in range(size):
        for k in range(nb):
            parts.between[word * nb + k] = hashed(lines, lines.n_plain + k, 2, parts, word)
            earlier = word - 1
            while earlier >= 1 and parts.between[earlier * nb + k] != parts.between[word * nb + k]:
                earlier -= 1
            parts.before[word * nb + k] = <int> earlier
    return 0


cdef inline void make_ready(const Lines *lines, Parts *parts, Py_ssize_t word) noexcept nogil:
    """The hashes of a word as a head and as a dependent."""
    cdef Py_ssize_t line
    if parts.ready[word]:
        return
    for line in range(lines.n):
        parts.head[word * lines.n + line] = hashed(lines, line, 0, parts, word)
        parts.dependent[word * lines.n + line] = hashed(lines, line, 1, parts, word)
    parts.ready[word] = True


cdef inline Py_ssize_t find_rows(const Lines *lines, Parts *parts, Py_ssize_t h, Py_ssize_t m, uint64_t n_rows,
                                 uint32_t *rows) noexcept nogil:
    """Writes the rows of an arc, at most parts.most; returns how many."""
    cdef Py_ssize_t line, k, b, low = min(h, m), high = max(h, m), nb = lines.n_between, found = lines.n_plain
    cdef const uint32_t *of_head = parts.head + h * lines.n
    cdef const uint32_t *of_dependent = parts.dependent + m * lines.n
    cdef uint32_t turn = TO_THE_RIGHT if m > h else 0, base
    make_ready(lines, parts, h)
    make_ready(lines, parts, m)
    for line in range(lines.n_plain):
        rows[line] = <uint32_t> (<uint64_t> <uint32_t> (of_head[line] + of_dependent[line] + turn) * n_rows >> 32)
    for k in range(nb):
        base = of_head[lines.n_plain + k] + of_dependent[lines.n_plain + k] + turn
        for b in range(low + 1, high):
            if parts.before[b * nb + k] <= low:             # the first between with these cells
                rows[found] = <uint32_t> (<uint64_t> <uint32_t> (base + parts.between[b * nb + k]) * n_rows >> 32)
                found += 1
    return found


cdef inline Py_ssize_t touched(const Parameter *p, Py_ssize_t row) noexcept nogil:
    """Where a row stands that a step changes; it gets memory if it has none yet."""
    if p.place == NULL:
        return row
    if p.place[row] == 0:
        p.place[row] = p.n_placed[0]
        p.n_placed[0] += 1
    return p.place[row]


cdef class ArcFeatures(Features):
    """Atom (h * (n + 1) + m) * n_tags + k is the arc from head h to dependent m with label k.

    Atoms of arcs into the root and of loops have no features, and no tree has them.

    Parameters
    ----------
    lines : list of Line
        See `structperc_parsing.arc_templates.read_lines`.
    n_columns : int
        Of X, whose rows are the tokens' cells, equal cells by equal numbers.
    n_tags : int
        How many labels arcs have; 1: none, and the lines of labels are left out.
    n_hashed : int
        Rows of weights for arcs. Labels have a sixteenth as many groups of rows.
    """

    cdef readonly Py_ssize_t n_arc_rows, n_label_groups, n_tags, octets, n_columns
    cdef readonly object lines
    cdef Lines arcs, labels
    cdef list kept              # what these point into

    def __cinit__(self, *args, **kwargs):
        memset(&self.arcs, 0, sizeof(Lines))
        memset(&self.labels, 0, sizeof(Lines))

    def __init__(self, lines, n_columns, n_tags, n_hashed):
        self.lines, self.n_columns, self.n_tags, self.n_arc_rows = list(lines), n_columns, n_tags, n_hashed
        self.kept = []
        self.take(&self.arcs, [line for line in lines if not line.of_labels])
        self.take(&self.labels, [line for line in lines if line.of_labels and n_tags > 1])
        self.octets = (n_tags + WIDTH - 1) // WIDTH if self.labels.n else 0
        self.n_label_groups = max(n_hashed // 16, 1) if self.labels.n else 0
        n_rows = self.n_arc_rows + self.n_label_groups * self.octets
        self.shape(n_rows * WIDTH, n_rows)
        self.on_demand_rows = n_rows

    cdef take(self, Lines *taken, lines):
        """Keeps lines as compiled code reads them."""
        cdef uint64_t[:, ::1] seeds = np.zeros((max(len(lines), 1), 3), dtype=np.uint64)
        cdef int[:, ::1] starts = np.zeros((max(len(lines), 1), 4), dtype=np.intc)
        cdef int[:, ::1] cells
        lines = sorted(lines, key=lambda line: bool(line.between))
        pairs = []
        for i, line in enumerate(lines):
            seeds[i, 0], seeds[i, 1], seeds[i, 2] = line_seeds(line)
            for side, read in enumerate((line.head, line.dependent, line.between)):
                starts[i, side] = len(pairs)
                pairs += read
            starts[i, 3] = len(pairs)
        cells = np.array(pairs or [(0, 0)], dtype=np.intc)
        taken.n = len(lines)
        taken.n_between = sum(bool(line.between) for line in lines)
        taken.n_plain = taken.n - taken.n_between
        taken.seeds, taken.cells, taken.starts = &seeds[0, 0], &cells[0, 0], &starts[0, 0]
        self.kept += [lines, np.asarray(seeds), np.asarray(cells), np.asarray(starts)]

    def check_rows(self, rows):
        if rows.objects or rows.sparse or rows.X.dtype != np.float64:
            raise DataError("X holds no tokens; expected a list of sentences, each a list of tokens, each a tuple of strings.")
        if rows.n_features != self.n_columns:
            raise DataError(f"tokens of X have {rows.n_features} column{'s' * (rows.n_features != 1)}; expected {self.n_columns}.")

    cdef Py_ssize_t n_atoms_c(self, Example x) noexcept nogil:
        return (x.block.n_rows + 1) * (x.block.n_rows + 1) * self.n_tags

    def max_atoms(self, rows):
        longest = int(rows.sizes().max()) if rows.n_examples else 0
        return (longest + 1) ** 2 * self.n_tags

    cdef int short_of_memory(self) noexcept nogil:
        with gil:
            self.error = MemoryError("the hashes of a sentence")
        return -1

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        cdef Py_ssize_t n = x.block.n_rows
        cdef int status
        memset(s, 0, (n + 1) * (n + 1) * self.n_tags * sizeof(double))
        status = self.score_lines(&self.arcs, p, x, s)
        if status == 0 and self.labels.n:
            status = self.score_lines(&self.labels, p, x, s)
        return status

    cdef int score_lines(self, const Lines *lines, const Parameter *p, Example x, double *s) noexcept nogil:
        """Adds what these lines give to the scores."""
        cdef Parts parts
        cdef uint32_t *rows                         # of AHEAD arcs at a time
        cdef Py_ssize_t *counts
        cdef Py_ssize_t n = x.block.n_rows, m, h, arc, slot, q, k, group, span, tags = self.n_tags, done = 0
        cdef bint of_labels = lines == &self.labels
        cdef Py_ssize_t octets = self.octets if of_labels else 1
        cdef uint64_t n_rows = self.n_label_groups if of_labels else self.n_arc_rows
        cdef double *out
        cdef double of_direction, of_distance
        cdef const double *w
        cdef const int *place = p.place
        cdef Py_ssize_t pitch = p.pitch
        cdef int bin, status = 0
        if prepare(lines, x, &parts) < 0:
            return self.short_of_memory()
        rows = <uint32_t *> malloc(AHEAD * (parts.most * sizeof(uint32_t) + sizeof(Py_ssize_t)) + 64)
        if rows == NULL:
            free(parts.head)
            return self.short_of_memory()
        counts = <Py_ssize_t *> rows
        rows = <uint32_t *> (counts + AHEAD)
        # arcs in the order of their atoms; the rows of arc t are found, those of t - 1 fetched, those of t - AHEAD + 1 summed up
        for arc in range(n * (n + 1) + AHEAD - 1):
            slot = arc % AHEAD
            if arc < n * (n + 1):
                h, m = arc // n, arc % n + 1
                counts[slot] = 0 if h == m else find_rows(lines, &parts, h, m, n_rows, rows + slot * parts.most)
                for q in range(slot * parts.most, slot * parts.most + counts[slot]):
                    if place != NULL:
                        SP_PREFETCH(place + self.first_row(rows[q], of_labels))
                    else:
                        SP_PREFETCH(p.w + self.first_row(rows[q], of_labels) * pitch)
            if place != NULL and 2 <= arc < n * (n + 1) + 2:
                slot = (arc - 2) % AHEAD
                for q in range(slot * parts.most, slot * parts.most + counts[slot]):
                    k = self.first_row(rows[q], of_labels)
                    for group in range(octets):
                        if place[k + group] != 0:           # the row of zeros is at hand
                            SP_PREFETCH(p.w + place[k + group] * pitch)
            if arc < AHEAD - 1:
                continue
            slot, h, m = (arc + 1) % AHEAD, (arc - AHEAD + 1) // n, (arc - AHEAD + 1) % n + 1
            if h == m:
                continue
            done += counts[slot]
            out = s + (h * (n + 1) + m) * tags
            if of_labels:
                for q in range(slot * parts.most, slot * parts.most + counts[slot]):
                    for group in range(octets):
                        k = self.first_row(rows[q], True) + group
                        if place != NULL and place[k] == 0:
                            continue
                        w = p.w + (place[k] if place != NULL else k) * pitch
                        span = min(WIDTH, tags - WIDTH * group)
                        for k in range(span):
                            out[WIDTH * group + k] += w[k]
            else:
                bin, of_direction, of_distance = slot_of(h, m), 0, 0
                for q in range(slot * parts.most, slot * parts.most + counts[slot]):
                    w = p.w + (place[rows[q]] if place != NULL else rows[q]) * pitch
                    of_direction += w[0]
                    of_distance += w[bin]
                for k in range(tags):
                    out[k] = of_direction + of_distance
            if done > OFTEN:
                if interrupted(done * octets * 4):
                    status = -1
                    break
                done = 0
        free(counts)
        free(parts.head)
        return status

    cdef inline Py_ssize_t first_row(self, uint32_t row, bint of_labels) noexcept nogil:
        """Where a line's weights begin: an arc's row, or the first of a group of rows."""
        return self.n_arc_rows + <Py_ssize_t> row * self.octets if of_labels else row

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        if self.add_lines(&self.arcs, p, x, c, to_w, to_u, NULL) < 0:
            return -1
        return self.add_lines(&self.labels, p, x, c, to_w, to_u, NULL) if self.labels.n else 0

    cdef int add_lines(self, const Lines *lines, const Parameter *p, Example x, const double *c, double to_w, double to_u,
                       Sums *sums) noexcept nogil:
        """Adds the vectors of the atoms with coefficients to the weights, or to `sums`."""
        cdef Parts parts
        cdef uint32_t *rows
        cdef Py_ssize_t n = x.block.n_rows, h, m, k, q, found, tags = self.n_tags
        cdef bint of_labels = lines == &self.labels, moved
        cdef uint64_t n_rows = self.n_label_groups if of_labels else self.n_arc_rows
        cdef const double *of_arc
        cdef double total
        cdef int bin, status = 0
        if prepare(lines, x, &parts) < 0:
            return self.short_of_memory()
        rows = <uint32_t *> malloc(parts.most * sizeof(uint32_t) + 1)
        if rows == NULL:
            free(parts.head)
            return self.short_of_memory()
        for h in range(n + 1):
            for m in range(1, n + 1):
                of_arc, moved, total = c + (h * (n + 1) + m) * tags, False, 0
                for k in range(tags):
                    moved |= of_arc[k] != 0
                    total += of_arc[k]
                if h == m or not moved or (total == 0 and not of_labels):
                    continue
                found, bin = find_rows(lines, &parts, h, m, n_rows, rows), slot_of(h, m)
                for q in range(found):
                    if of_labels:
                        for k in range(tags):
                            if of_arc[k] != 0 and move(p, sums, self.first_row(rows[q], True) + k // WIDTH, k % WIDTH, of_arc[k], to_w,
                                                       to_u) < 0:
                                status = -1
                    elif move(p, sums, rows[q], 0, total, to_w, to_u) < 0 or move(p, sums, rows[q], bin, total, to_w, to_u) < 0:
                        status = -1
        free(rows)
        free(parts.head)
        return self.short_of_memory() if status < 0 else 0

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        """The vectors are summed up in a hash table of the few weights that they touch."""
        cdef Sums sums
        cdef Py_ssize_t q
        cdef double total = 0
        sums.room, sums.used, sums.keys, sums.values = 0, 0, NULL, NULL
        if self.add_lines(&self.arcs, NULL, x, c, 0, 0, &sums) < 0 or (
                self.labels.n and self.add_lines(&self.labels, NULL, x, c, 0, 0, &sums) < 0):
            total = -1
        else:
            for q in range(sums.room):
                if sums.keys[q] >= 0:
                    total += sums.values[q] * sums.values[q]
        free(sums.keys)
        free(sums.values)
        return total

    def column_of(self, indices):
        """The row of each weight."""
        return np.asarray(indices) // WIDTH

    def rows_of(self, Example x, Py_ssize_t h, Py_ssize_t m, bint of_labels=False):
        """Which features an arc has: pairs of a line and a number of a row, in the order in which their weights are added up.

        Rows of labels are the first of a group; `slot` tells the weight within a row.
        """
        cdef const Lines *lines = &self.labels if of_labels else &self.arcs
        cdef Parts parts
        cdef uint32_t[::1] rows
        cdef Py_ssize_t q, k, between, found
        if not lines.n:
            return []
        if prepare(lines, x, &parts) < 0:
            raise MemoryError("the hashes of a sentence")
        try:
            rows = np.zeros(parts.most + 1, dtype=np.uint32)
            found = find_rows(lines, &parts, h, m, self.n_label_groups if of_labels else self.n_arc_rows, &rows[0])
            of_line = list(self.kept[4 * of_labels])
            names = [(line, None) for line in of_line[:lines.n_plain]]
            for k in range(lines.n_between):
                for between in range(min(h, m) + 1, max(h, m)):
                    if parts.before[between * lines.n_between + k] <= min(h, m):
                        names.append((of_line[lines.n_plain + k], between))
            for q in range(found):
                names[q] = (*names[q], self.first_row(rows[q], of_labels))
            return names
        finally:
            free(parts.head)

    def slot(self, Py_ssize_t h, Py_ssize_t m):
        """Which weight of a row belongs to the distance of an arc."""
        return slot_of(h, m)


cdef inline int move(const Parameter *p, Sums *sums, Py_ssize_t row, Py_ssize_t slot, double c, double to_w, double to_u) noexcept nogil:
    cdef double *w
    if sums != NULL:
        return gather(sums, row * WIDTH + slot, c)
    w = p.w + touched(p, row) * p.pitch + slot
    w[0] += c * to_w
    if p.average:
        w[p.average] += c * to_u
    return 0


cdef int gather(Sums *sums, int64_t key, double c) noexcept nogil:
    """Adds c to the sum of a key; -1 where memory is short."""
    cdef Py_ssize_t q
    if 2 * sums.used >= sums.room and enlarge(sums) < 0:
        return -1
    q = <Py_ssize_t> (<uint64_t> key * MULTIPLIER >> 20) & (sums.room - 1)
    while sums.keys[q] != key:
        if sums.keys[q] < 0:
            sums.keys[q], sums.values[q] = key, 0
            sums.used += 1
            break
        q = (q + 1) & (sums.room - 1)
    sums.values[q] += c
    return 0


cdef int enlarge(Sums *sums) noexcept nogil:
    cdef Sums larger
    cdef Py_ssize_t q
    larger.room, larger.used = max(8192, 4 * sums.room), 0
    larger.keys, larger.values = <int64_t *> malloc(larger.room * sizeof(int64_t)), <double *> malloc(larger.room * sizeof(double))
    if larger.keys == NULL or larger.values == NULL:
        free(larger.keys)
        free(larger.values)
        return -1
    memset(larger.keys, 255, larger.room * sizeof(int64_t))
    for q in range(sums.room):
        if sums.keys[q] >= 0:
            gather(&larger, sums.keys[q], sums.values[q])
    free(sums.keys)
    free(sums.values)
    sums[0] = larger
    return 0


def line_seeds(line):
    """The hashes from which a line's parts begin, for the head's, the dependent's and the between's cells."""
    cdef uint64_t h = 0
    text = line.literal.encode()
    for byte in text:
        h = mix(h, byte)
    return tuple(mix(h, side + 1) for side in range(3))
