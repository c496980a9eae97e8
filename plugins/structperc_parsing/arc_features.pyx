# distutils: extra_compile_args = VECTORS
"""Features of arcs, labels and siblings by template, hashed into rows of eight weights.

A line of the template gives the arc (h, m) one row of weights. The row is for the direction and the cells of the line. Weight 0 of the row
is for the direction only. The others are for the distances 1, 2, 3, 4, 5 to 6, 7 to 10 and more. A row is one cache line. A line with words
between has a row for each word with different cells. A line of siblings also has a row, for the distance between the two dependents. A line
of labels has groups of consecutive rows, a weight for each label.

The sums of lines that read one word are computed once for each word. Those of siblings without their head are computed once for each pair.

Typical sizes: 40 lines, 25 words, 2^22 rows. An arc costs 5 to 8 ns for each line, mostly memory; rows of later arcs are prefetched.
Labels that compete within arcs cost a cache line for every eight labels and line. Labels given the heads cost that for each
word only. Siblings are n^3 / 3. The hashes of a sentence need O(n * lines) memory during a call.
"""
import numpy as np

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset
from structperc.basics.signals cimport interrupted
from structperc.core.features cimport Features, Parameter, StepSizes, adapt_row, claimed
from structperc.core.inner_products cimport SP_PREFETCH
from structperc.core.rows cimport Example
from structperc.errors import DataError
from structperc_parsing.atoms cimport Layout, count_atoms, first_label, first_sibling, layout_of
from structperc_parsing.hashed_lines cimport (Lines, Parts, TO_THE_RIGHT, find_rows, find_sibling_rows, hash_between, hash_siblings,
                                              make_ready, mix, prepare, row_of, slot_of)
from structperc_parsing.weight_sums cimport Sums, add_to, release, take_squares

cdef enum:
    WIDTH = 8               # weights of a row
    AHEAD = 4               # parts whose rows are fetched together


ctypedef struct Ring:
    # The latest parts whose scores are being summed up: the rows of part t are asked for, those of t - 2 fetched, those of t - 3 added.
    Py_ssize_t most, t
    uint32_t *rows              # (AHEAD, most)
    const double **at           # (AHEAD, most), where they stand
    Py_ssize_t counts[AHEAD]
    int bins[AHEAD]             # the weight of the distance
    double *to[AHEAD]           # the sums


cdef int open_ring(Ring *ring, Py_ssize_t most) noexcept nogil:
    """Room for parts of so many rows, to be freed at `at`; -1 where memory is short."""
    ring.most, ring.t = most, 0
    ring.at = <const double **> malloc(AHEAD * most * (sizeof(double *) + sizeof(uint32_t)) + 1)
    ring.rows = <uint32_t *> (ring.at + AHEAD * most)
    memset(ring.counts, 0, sizeof(ring.counts))
    return -1 if ring.at == NULL else 0


cdef inline uint32_t *next_rows(Ring *ring) noexcept nogil:
    return ring.rows + (ring.t & AHEAD - 1) * ring.most


cdef inline void turn(Ring *ring, const Parameter *p, Py_ssize_t base, Py_ssize_t count, int bin, double *to) noexcept nogil:
    """Takes the part whose rows stand in `next_rows`; base is the first row of its kind."""
    cdef Py_ssize_t slot = ring.t & AHEAD - 1, q
    cdef const uint32_t *rows = ring.rows + slot * ring.most
    cdef const double **at
    cdef double of_direction = 0, of_distance = 0
    ring.counts[slot], ring.bins[slot], ring.to[slot] = count, bin, to
    for q in range(count):
        if p.place != NULL:
            SP_PREFETCH(p.place + base + rows[q])
        else:
            SP_PREFETCH(p.w + (base + rows[q]) * p.pitch)
    slot = ring.t + 2 & AHEAD - 1
    rows, at = ring.rows + slot * ring.most, ring.at + slot * ring.most
    for q in range(ring.counts[slot]):
        at[q] = p.w + <Py_ssize_t> (p.place[base + rows[q]] if p.place != NULL else base + rows[q]) * p.pitch
        SP_PREFETCH(at[q])
    slot = ring.t + 1 & AHEAD - 1
    if ring.counts[slot]:
        at, bin = ring.at + slot * ring.most, ring.bins[slot]
        for q in range(ring.counts[slot]):
            of_direction += at[q][0]
            of_distance += at[q][bin]
        ring.to[slot][0] += of_direction + of_distance
        ring.counts[slot] = 0
    ring.t += 1


cdef inline const double *weights_of(const Parameter *p, Py_ssize_t row) noexcept nogil:
    """The eight weights of a row."""
    return p.w + <Py_ssize_t> (p.place[row] if p.place != NULL else row) * p.pitch


cdef class ArcFeatures(Features):
    """The features of all atoms; see atoms.pxd for their order.

    Labels given the heads have features if the rows of x have a head of each word (`Rows.first_stage`). A head below 0, -1 - h, means the
    tree is settled: its arcs score 1, and others 0.
    """
    # lines: list of Line. See `structperc_parsing.arc_templates.read_lines`.
    # n_columns: int. Of X, whose rows are the tokens' cells, equal cells by equal numbers.
    # n_labels: int. How many labels arcs have; 0: none. For less than two the lines of labels are left out.
    # n_hashed: int. Rows of weights for arcs, and as many for siblings. Labels have a sixteenth as many groups of rows.
    # joint: bool. Labels compete within arcs.
    # order: {1, 2}. 2: siblings have features too.

    cdef readonly Py_ssize_t n_arc_rows, n_label_groups, first_sibling_row, octets, n_columns
    cdef readonly object lines
    cdef Layout atoms
    cdef Lines arcs, labels, siblings
    cdef Sums sums
    cdef dict kept              # what these point into

    def __cinit__(self, *args, **kwargs):
        memset(&self.arcs, 0, sizeof(Lines))
        memset(&self.labels, 0, sizeof(Lines))
        memset(&self.siblings, 0, sizeof(Lines))
        memset(&self.sums, 0, sizeof(Sums))

    def __dealloc__(self):
        release(&self.sums)

    def __init__(self, lines, n_columns, n_labels, n_hashed, joint=True, order=1):
        cdef Py_ssize_t n_sibling_rows
        self.lines, self.n_columns, self.n_arc_rows = list(lines), n_columns, n_hashed
        self.atoms = layout_of(n_labels, joint, order)
        self.kept = {}
        self.take(&self.arcs, [line for line in lines if line.kind == "A"])
        self.take(&self.labels, [line for line in lines if line.kind == "L" and n_labels > 1])
        self.take(&self.siblings, [line for line in lines if line.kind == "S"])
        self.octets = (n_labels + WIDTH - 1) // WIDTH if self.labels.n else 0
        self.n_label_groups = max(n_hashed // 16, 1) if self.labels.n else 0
        self.first_sibling_row = self.n_arc_rows + self.n_label_groups * self.octets
        n_sibling_rows = n_hashed if self.siblings.n else 0
        self.shape((self.first_sibling_row + n_sibling_rows) * WIDTH, self.first_sibling_row + n_sibling_rows)
        self.on_demand_rows = self.n_weight_rows

    cdef take(self, Lines *target, lines):
        """Keeps lines as compiled code reads them."""
        cdef uint64_t[:, ::1] seeds = np.zeros((max(len(lines), 1), 3), dtype=np.uint64)
        cdef int[:, ::1] starts = np.zeros((max(len(lines), 1), 4), dtype=np.intc)
        cdef int[:, ::1] cells
        lines = sorted(lines, key=lambda line: line.rank)
        pairs = []
        for i, line in enumerate(lines):
            seeds[i, 0], seeds[i, 1], seeds[i, 2] = line_seeds(line)
            for side, read in enumerate((line.head, line.dependent, line.third)):
                starts[i, side] = len(pairs)
                pairs += read
            starts[i, 3] = len(pairs)
        cells = np.array(pairs or [(0, 0)], dtype=np.intc)
        ranks = [line.rank for line in lines]
        target.n = len(lines)
        target.n_head, target.n_single, target.n_plain = ranks.count(0), sum(rank < 2 for rank in ranks), sum(rank < 3 for rank in ranks)
        target.n_third = target.n if lines and lines[0].kind == "S" else target.n - target.n_plain
        target.seeds, target.cells, target.starts = &seeds[0, 0], &cells[0, 0], &starts[0, 0]
        if lines:
            self.kept[lines[0].kind] = lines, np.asarray(seeds), np.asarray(cells), np.asarray(starts)

    def check_rows(self, rows):
        if rows.objects or rows.sparse or rows.X.dtype != np.float64:
            raise DataError("X holds no tokens; expected a list of sentences, each a list of tokens, each a tuple of strings.")
        if rows.n_features != self.n_columns:
            raise DataError(f"tokens of X have {rows.n_features} column{'s' * (rows.n_features != 1)}; expected {self.n_columns}.")

    cdef Py_ssize_t n_atoms_c(self, Example x) noexcept nogil:
        return count_atoms(&self.atoms, x.block.n_rows)

    def max_atoms(self, rows):
        return count_atoms(&self.atoms, int(rows.sizes().max()) if rows.n_examples else 0)

    cdef int short_of_memory(self) noexcept nogil:
        with gil:
            self.error = MemoryError("the hashes of a sentence")
        return -1

    # ---- scores ----

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        cdef Py_ssize_t n = x.block.n_rows, size = n + 1, m
        cdef const int *heads = x.first_stage()
        memset(s, 0, count_atoms(&self.atoms, n) * sizeof(double))
        if heads != NULL and self.atoms.later and self.labels.n and self.score_given(p, x, heads, s + first_label(&self.atoms, n)) < 0:
            return -1
        if heads != NULL and n and heads[0] < 0:
            for m in range(1, n + 1):
                s[(-1 - heads[m - 1]) * size + m] = 1
            return 0
        if self.score_arcs(p, x, s) < 0:
            return -1
        if self.siblings.n and self.score_siblings(p, x, s + first_sibling(&self.atoms, n)) < 0:
            return -1
        return self.score_labels(p, x, s) if self.labels.n and not self.atoms.later else 0

    cdef void sum_singles(self, const Lines *lines, Parts *parts, const Parameter *p, Py_ssize_t base, Py_ssize_t octets, uint64_t n_rows,
                          double *sums, uint32_t *rows) noexcept nogil:
        """Sums of lines that read one word: sums[2 * word + turned], of heads, then of dependents, each WIDTH * octets numbers."""
        # rows: room for two for each word and line.
        cdef Py_ssize_t size = parts.n_words + 1, word, line, q, k, stage, position, side, width = WIDTH * octets
        cdef uint32_t turned
        cdef const double *w
        cdef double *to
        memset(sums, 0, 4 * size * width * sizeof(double))
        for stage in range(3):                                  # rows are asked for, fetched, added
            position = 0
            for word in range(size):
                make_ready(lines, parts, word)
                for turned in range(2):
                    for line in range(lines.n_single):
                        if stage == 0:
                            rows[position] = row_of(parts.head[word * lines.n + line] + parts.dependent[word * lines.n + line]
                                                    + turned * TO_THE_RIGHT, n_rows)
                        q = base + <Py_ssize_t> rows[position] * octets
                        position += 1
                        if stage == 0 and p.place != NULL:
                            SP_PREFETCH(p.place + q)
                        elif stage == 1:
                            for k in range(octets):
                                SP_PREFETCH(weights_of(p, q + k))
                        elif stage == 2:
                            side = line >= lines.n_head
                            to = sums + (side * 2 * size + 2 * word + turned) * width
                            for k in range(octets):
                                w = weights_of(p, q + k)
                                add_octet(w, to + WIDTH * k)

    cdef int score_arcs(self, const Parameter *p, Example x, double *s) noexcept nogil:
        """The scores of arcs without labels, at the first label of each."""
        cdef Parts parts
        cdef Ring ring
        cdef Py_ssize_t n = x.block.n_rows, size = n + 1, tags = self.atoms.tags, h, m, k, n_features, first = self.arcs.n_single
        cdef uint64_t n_rows = self.n_arc_rows
        cdef double *singles
        cdef const double *of_head
        cdef const double *of_dependent
        cdef double *to
        cdef int bin, status = 0
        if prepare(&self.arcs, x, &parts) < 0:
            return self.short_of_memory()
        singles = <double *> malloc(size * (4 * WIDTH * sizeof(double) + 2 * first * sizeof(uint32_t)))
        if open_ring(&ring, parts.most) < 0 or singles == NULL:
            free(parts.head)
            free(singles)
            free(ring.at)
            return self.short_of_memory()
        hash_between(&self.arcs, &parts)
        self.sum_singles(&self.arcs, &parts, p, 0, 1, n_rows, singles, <uint32_t *> (singles + 4 * size * WIDTH))
        for h in range(size):
            if interrupted(n * parts.most * 4):
                status = -1
                break
            for m in range(1, size):
                if h == m:
                    continue
                bin, to = slot_of(h, m), s + (h * size + m) * tags
                of_head = singles + (2 * h + (m > h)) * WIDTH
                of_dependent = singles + (2 * size + 2 * m + (m > h)) * WIDTH
                to[0] = (of_head[0] + of_dependent[0]) + (of_head[bin] + of_dependent[bin])
                n_features = find_rows(&self.arcs, &parts, h, m, first, n_rows, next_rows(&ring))
                turn(&ring, p, 0, n_features, bin, to)
        for _ in range(AHEAD - 1):
            turn(&ring, p, 0, 0, 0, NULL)
        for k in range(size * size if tags > 1 else 0):
            for m in range(1, tags):
                s[k * tags + m] = s[k * tags]
        free(ring.at)
        free(singles)
        free(parts.head)
        return status

    cdef int score_labels(self, const Parameter *p, Example x, double *s) noexcept nogil:
        """Adds what the labels of all arcs score."""
        cdef Parts parts
        cdef uint32_t *rows
        cdef Py_ssize_t n = x.block.n_rows, size = n + 1, tags = self.atoms.tags, width = WIDTH * self.octets, h, m, k
        cdef Py_ssize_t first = self.labels.n_single, arc, slot
        cdef Py_ssize_t counts[AHEAD]
        cdef uint64_t n_rows = self.n_label_groups
        cdef double *singles
        cdef double *sums
        cdef const double *of_head
        cdef const double *of_dependent
        cdef int status = 0
        if prepare(&self.labels, x, &parts) < 0:
            return self.short_of_memory()
        singles = <double *> malloc((4 * size + 1) * width * sizeof(double) + (2 * size * first + AHEAD * parts.most) * sizeof(uint32_t))
        if singles == NULL:
            free(parts.head)
            return self.short_of_memory()
        sums = singles + 4 * size * width
        rows = <uint32_t *> (sums + width)
        hash_between(&self.labels, &parts)
        self.sum_singles(&self.labels, &parts, p, self.n_arc_rows, self.octets, n_rows, singles, rows)
        rows += 2 * size * first
        for arc in range(n * size + AHEAD - 1 if n else 0):         # as in a `Ring`
            if arc % n == 0 and interrupted(n * parts.most * self.octets * 8):
                status = -1
                break
            slot = arc % AHEAD
            if arc < n * size:
                h, m = arc // n, arc % n + 1
                counts[slot] = 0 if h == m else find_rows(&self.labels, &parts, h, m, first, n_rows, rows + slot * parts.most)
                self.ask_for(p, rows + slot * parts.most, counts[slot])
            if 2 <= arc < n * size + 2:
                slot = (arc - 2) % AHEAD
                self.fetch(p, rows + slot * parts.most, counts[slot])
            if arc < AHEAD - 1:
                continue
            slot, h, m = (arc + 1) % AHEAD, (arc - AHEAD + 1) // n, (arc - AHEAD + 1) % n + 1
            if h == m:
                continue
            of_head, of_dependent = singles + (2 * h + (m > h)) * width, singles + (2 * size + 2 * m + (m > h)) * width
            for k in range(width):
                sums[k] = of_head[k] + of_dependent[k]
            self.add_groups(p, rows + slot * parts.most, counts[slot], sums)
            for k in range(tags):
                s[(h * size + m) * tags + k] += sums[k]
        free(singles)
        free(parts.head)
        return status

    cdef int score_given(self, const Parameter *p, Example x, const int *heads, double *s) noexcept nogil:
        """The scores of the words' labels, given the heads."""
        cdef Parts parts
        cdef uint32_t *rows
        cdef Py_ssize_t n = x.block.n_rows, m, k, slot, later = self.atoms.later
        cdef Py_ssize_t counts[AHEAD]
        cdef double *sums
        if prepare(&self.labels, x, &parts) < 0:
            return self.short_of_memory()
        sums = <double *> malloc(WIDTH * self.octets * sizeof(double) + AHEAD * parts.most * sizeof(uint32_t))
        if sums == NULL:
            free(parts.head)
            return self.short_of_memory()
        rows = <uint32_t *> (sums + WIDTH * self.octets)
        hash_between(&self.labels, &parts)
        for m in range(n + 2):                          # as in a `Ring`
            if m < n:
                slot = m % AHEAD
                counts[slot] = find_rows(&self.labels, &parts, head_given(heads[m]), m + 1, 0, self.n_label_groups,
                                         rows + slot * parts.most)
                self.ask_for(p, rows + slot * parts.most, counts[slot])
            if 1 <= m <= n:
                slot = (m - 1) % AHEAD
                self.fetch(p, rows + slot * parts.most, counts[slot])
            if m >= 2:
                slot = (m - 2) % AHEAD
                memset(sums, 0, WIDTH * self.octets * sizeof(double))
                self.add_groups(p, rows + slot * parts.most, counts[slot], sums)
                for k in range(later):
                    s[(m - 2) * later + k] = sums[k]
        free(sums)
        free(parts.head)
        return 0

    cdef inline Py_ssize_t first_row(self, uint32_t row, bint of_labels) noexcept nogil:
        """Where a line's weights begin: an arc's row, or the first of a group of rows."""
        return self.n_arc_rows + <Py_ssize_t> row * self.octets if of_labels else row

    cdef inline void ask_for(self, const Parameter *p, const uint32_t *rows, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t q
        if p.place != NULL:
            for q in range(n):
                SP_PREFETCH(p.place + self.first_row(rows[q], True))

    cdef inline void fetch(self, const Parameter *p, const uint32_t *rows, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t q, k
        for q in range(n):
            for k in range(self.octets):
                SP_PREFETCH(weights_of(p, self.first_row(rows[q], True) + k))

    cdef inline void add_groups(self, const Parameter *p, const uint32_t *rows, Py_ssize_t n, double *sums) noexcept nogil:
        cdef Py_ssize_t q, k
        for q in range(n):
            for k in range(self.octets):
                add_octet(weights_of(p, self.first_row(rows[q], True) + k), sums + WIDTH * k)

    cdef int score_siblings(self, const Parameter *p, Example x, double *s) noexcept nogil:
        """Scores s[h, m, t] of dependent m of h, whose next sibling is t."""
        cdef Parts parts
        cdef Ring ring
        cdef Py_ssize_t n = x.block.n_rows, size = n + 1, h, m, t, first = self.siblings.n_single, last = self.siblings.n
        cdef Py_ssize_t base = self.first_sibling_row
        cdef uint64_t n_rows = self.n_arc_rows
        cdef double *pairs
        cdef double *to
        cdef int status = 0
        if prepare(&self.siblings, x, &parts) < 0:
            return self.short_of_memory()
        pairs = <double *> malloc(size * size * sizeof(double))
        if open_ring(&ring, last) < 0 or pairs == NULL:
            free(parts.head)
            free(pairs)
            free(ring.at)
            return self.short_of_memory()
        hash_siblings(&self.siblings, &parts)
        memset(pairs, 0, size * size * sizeof(double))
        for m in range(1, size):                        # the head is beyond t, seen from m, or at t
            for t in range(1, size):
                if t != m:
                    find_sibling_rows(&self.siblings, &parts, 0 if t < m else t, m, t, 0, first, n_rows, next_rows(&ring))
                    turn(&ring, p, base, first, slot_of(t, m), pairs + m * size + t)
        for _ in range(AHEAD - 1):
            turn(&ring, p, base, 0, 0, NULL)
        for h in range(size):
            if interrupted(n * n * last * 2):
                status = -1
                break
            for m in range(1, size):
                if h == m:
                    continue
                to = s + (h * size + m) * size
                find_sibling_rows(&self.siblings, &parts, h, m, 0, 0, last, n_rows, next_rows(&ring))
                turn(&ring, p, base, last, slot_of(h, m), to + h)
                for t in range(h + 1 if h < m else m + 1, m if h < m else h):
                    to[t] = pairs[m * size + t]
                    find_sibling_rows(&self.siblings, &parts, h, m, t, first, last, n_rows, next_rows(&ring))
                    turn(&ring, p, base, last - first, slot_of(t, m), to + t)
        for _ in range(AHEAD - 1):
            turn(&ring, p, base, 0, 0, NULL)
        free(ring.at)
        free(pairs)
        free(parts.head)
        return status

    # ---- steps ----

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        return self.add_all(p, x, c, to_w, to_u, NULL)

    cdef int add_all(self, const Parameter *p, Example x, const double *c, double to_w, double to_u, Sums *sums) noexcept nogil:
        """Adds the vectors of the atoms with coefficients to the weights, or to `sums`."""
        cdef Py_ssize_t n = x.block.n_rows
        cdef const int *heads = x.first_stage()
        if self.add_arcs(&self.arcs, p, x, c, to_w, to_u, sums) < 0:
            return -1
        if self.siblings.n and self.add_siblings(p, x, c + first_sibling(&self.atoms, n), to_w, to_u, sums) < 0:
            return -1
        if not self.labels.n:
            return 0
        if not self.atoms.later:
            return self.add_arcs(&self.labels, p, x, c, to_w, to_u, sums)
        return 0 if heads == NULL else self.add_given(p, x, heads, c + first_label(&self.atoms, n), to_w, to_u, sums)

    cdef int add_arcs(self, const Lines *lines, const Parameter *p, Example x, const double *c, double to_w, double to_u,
                      Sums *sums) noexcept nogil:
        cdef Parts parts
        cdef uint32_t *rows
        cdef Py_ssize_t n = x.block.n_rows, h, m, k, q, n_features, tags = self.atoms.tags
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
        hash_between(lines, &parts)
        for h in range(n + 1):
            for m in range(1, n + 1):
                of_arc, moved, total = c + (h * (n + 1) + m) * tags, False, 0
                for k in range(tags):
                    moved |= of_arc[k] != 0
                    total += of_arc[k]
                if h == m or not moved or (total == 0 and not of_labels):
                    continue
                n_features, bin = find_rows(lines, &parts, h, m, 0, n_rows, rows), slot_of(h, m)
                if of_labels:
                    status |= self.move_groups(p, rows, n_features, of_arc, tags, to_w, to_u, sums)
                    continue
                for q in range(n_features):
                    status |= move(p, sums, rows[q], 0, total, to_w, to_u) | move(p, sums, rows[q], bin, total, to_w, to_u)
        free(rows)
        free(parts.head)
        return self.short_of_memory() if status < 0 else 0

    cdef int move_groups(self, const Parameter *p, const uint32_t *rows, Py_ssize_t n, const double *c, Py_ssize_t n_labels, double to_w,
                         double to_u, Sums *sums) noexcept nogil:
        cdef Py_ssize_t q, k
        cdef int status = 0
        for k in range(n_labels):
            if c[k] != 0:
                for q in range(n):
                    status |= move(p, sums, self.first_row(rows[q], True) + k // WIDTH, k % WIDTH, c[k], to_w, to_u)
        return status

    cdef int add_given(self, const Parameter *p, Example x, const int *heads, const double *c, double to_w, double to_u,
                       Sums *sums) noexcept nogil:
        cdef Parts parts
        cdef uint32_t *rows
        cdef Py_ssize_t n = x.block.n_rows, m, k, n_features, later = self.atoms.later
        cdef bint moved
        cdef int status = 0
        if prepare(&self.labels, x, &parts) < 0:
            return self.short_of_memory()
        rows = <uint32_t *> malloc(parts.most * sizeof(uint32_t) + 1)
        if rows == NULL:
            free(parts.head)
            return self.short_of_memory()
        hash_between(&self.labels, &parts)
        for m in range(n):
            moved = False
            for k in range(later):
                moved |= c[m * later + k] != 0
            if moved:
                n_features = find_rows(&self.labels, &parts, head_given(heads[m]), m + 1, 0, self.n_label_groups, rows)
                status |= self.move_groups(p, rows, n_features, c + m * later, later, to_w, to_u, sums)
        free(rows)
        free(parts.head)
        return self.short_of_memory() if status < 0 else 0

    cdef int add_siblings(self, const Parameter *p, Example x, const double *c, double to_w, double to_u, Sums *sums) noexcept nogil:
        cdef Parts parts
        cdef uint32_t *rows
        cdef Py_ssize_t n = x.block.n_rows, size = n + 1, h, m, t, q, row
        cdef double change
        cdef int bin, status = 0
        if prepare(&self.siblings, x, &parts) < 0:
            return self.short_of_memory()
        rows = <uint32_t *> malloc(self.siblings.n * sizeof(uint32_t) + 1)
        if rows == NULL:
            free(parts.head)
            return self.short_of_memory()
        hash_siblings(&self.siblings, &parts)
        for h in range(size):
            for m in range(1, size):
                for t in range(min(h, m), max(h, m) + 1):
                    change = c[(h * size + m) * size + t]
                    if change == 0 or h == m or t == m:
                        continue
                    bin = slot_of(t, m)
                    find_sibling_rows(&self.siblings, &parts, h, m, 0 if t == h else t, 0, self.siblings.n, self.n_arc_rows, rows)
                    for q in range(self.siblings.n):
                        row = self.first_sibling_row + rows[q]
                        status |= move(p, sums, row, 0, change, to_w, to_u) | move(p, sums, row, bin, change, to_w, to_u)
        free(rows)
        free(parts.head)
        return self.short_of_memory() if status < 0 else 0

    cdef int adapt_c(self, const Parameter *p, Example x, const double *c, const StepSizes *sizes) noexcept nogil:
        cdef int status = self.add_all(NULL, x, c, 0, 0, &self.sums)
        cdef Py_ssize_t q, place
        for q in range(self.sums.used):
            place = self.sums.places[q]
            if status == 0:
                adapt_row(self, p.w + claimed(p, self.sums.keys[place] // WIDTH) * p.pitch + self.sums.keys[place] % WIDTH, 1, p,
                          self.sums.values + place, sizes)
            self.sums.keys[place] = -1
        self.sums.used = 0
        return status

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        """The vectors are summed up in a hash table of the few weights that they touch."""
        cdef int status = self.add_all(NULL, x, c, 0, 0, &self.sums)
        cdef double total = take_squares(&self.sums)
        return -1 if status < 0 else total

    # ---- from Python ----

    def column_of(self, indices):
        """A weight belongs to a hash of cells of several columns, and to no single column."""
        return np.full(len(np.asarray(indices)), -1)

    def rows_of(self, Example x, Py_ssize_t h, Py_ssize_t m, bint of_labels=False):
        """Which features an arc has: triples of a line, a word between or None, and a number of a row."""
        # Rows of labels are the first of a group; `slot` is the weight within a row.
        cdef const Lines *lines = &self.labels if of_labels else &self.arcs
        cdef Parts parts
        cdef uint32_t[::1] rows
        cdef Py_ssize_t q, k, between, n_features
        if not lines.n:
            return []
        if prepare(lines, x, &parts) < 0:
            raise MemoryError("the hashes of a sentence")
        try:
            hash_between(lines, &parts)
            rows = np.zeros(parts.most + 1, dtype=np.uint32)
            n_features = find_rows(lines, &parts, h, m, 0, self.n_label_groups if of_labels else self.n_arc_rows, &rows[0])
            of_line = list(self.kept["L" if of_labels else "A"][0])
            names = [(line, None) for line in of_line[:lines.n_plain]]
            for k in range(lines.n_third):
                for between in range(min(h, m) + 1, max(h, m)):
                    if parts.before[between * lines.n_third + k] <= min(h, m):
                        names.append((of_line[lines.n_plain + k], between))
            for q in range(n_features):
                names[q] = (*names[q], self.first_row(rows[q], of_labels))
            return names
        finally:
            free(parts.head)

    def slot(self, Py_ssize_t h, Py_ssize_t m):
        """Which weight of a row belongs to the distance of an arc."""
        return slot_of(h, m)


cdef inline void add_octet(const double *w, double *to) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(WIDTH):
        to[k] += w[k]


cdef inline Py_ssize_t head_given(int code) noexcept nogil:
    return code if code >= 0 else -1 - code


cdef inline int move(const Parameter *p, Sums *sums, Py_ssize_t row, Py_ssize_t slot, double c, double to_w, double to_u) noexcept nogil:
    cdef double *w
    if sums != NULL:
        return add_to(sums, row * WIDTH + slot, c)
    w = p.w + claimed(p, row) * p.pitch + slot
    w[0] += c * to_w
    if p.average:
        w[p.average] += c * to_u
    return 0


def line_seeds(line):
    """The hashes from which a line's parts begin, for the head's, the dependent's and the third word's cells."""
    cdef uint64_t h = 0
    text = line.literal.encode()
    for byte in text:
        h = mix(h, byte)
    return tuple(mix(h, side + 1) for side in range(3))
