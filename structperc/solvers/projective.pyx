# distutils: extra_compile_args = VECTORS
"""Projective trees: the best one and sums over all, by Eisner's dynamic programme, with scores of arcs or of neighbouring siblings too.

Provisional: it may change in any minor version.

A span i..j is complete at i, C>(i, j), if i governs all words up to j. It is complete at j, C<(i, j), if j governs all words down to i.
I[h, m] is the span between a head and its dependent. In the semiring (max, +), or (log of a sum of exponentials, +):

    M(i, j)  = (+)_{i <= q < j}  C>(i, q) + C<(q + 1, j)
    I[i, j]  = S[i, j] + M(i, j)          I[j, i] = S[j, i] + M(i, j)
    C>(i, j) = (+)_{i < q <= j}  I[i, q] + C>(q, j)          C<(i, j) = (+)_{i <= q < j}  C<(i, q) + I[j, q]

With siblings, M joins two neighbouring dependents of one head instead:

    I[i, j] = S[i, j] + ( C<(i + 1, j) + Q[i, j, i]  (+)  (+)_{i < q < j}  I[i, q] + M(q, j) + Q[i, j, q] ),   I[j, i] alike

A table holds its spans twice, at [i, j] and [j, i], so that all sums run along rows. Every tree has one derivation. The splits of the best
tree are found again by comparison: no pointers are kept. Marginals are the derivatives of log Z, by going backwards.

Typical sizes: 5 to 60 words. O(n^3): n^3/2 sums, 5/6 n^3 with siblings; about 0.2 ns per n^3 for the best tree.
"""
import numpy as np

from libc.math cimport INFINITY, exp, fabs, log
from libc.string cimport memcpy, memset
from structperc.basics.arguments import flag, float_array, refuse_overflow, shaped
from structperc.basics.errors import DataError, shortened
from structperc.basics.labels import is_listed
from structperc.basics.signals cimport interrupted
from structperc.basics.signals import take_interruption
from structperc.basics.signatures import ClassSignature
from structperc.solvers.arborescences cimport FOUND, INFEASIBLE, INTERRUPTED, NO_SCORE
from structperc.solvers.arborescences cimport ScoreMatrices, one_sentence
from structperc.solvers.arborescences import max_arborescence

cdef enum:
    AT_HEAD_LEFT        # kinds of spans: complete at i, complete at j, between a head and its dependent, between two siblings
    AT_HEAD_RIGHT
    INCOMPLETE
    NEIGHBOURS

cdef enum:
    EXPONENTIAL = 16    # the time of so many sums
    LARGE = 1000000     # from here on, sums are rounded by so much that shares of them may not add up to 1


ctypedef struct Chart:
    Py_ssize_t n, pitch
    const double *scores
    const double *siblings      # or NULL
    bint one_root, log_sum
    double *right               # C>, each table (n + 1, n + 1)
    double *left                # C<
    double *between             # I[head, dependent]
    double *pair                # M
    int *stack
    int root                    # with one root: the word below it
    double total


cdef Py_ssize_t projective_work(Py_ssize_t n) noexcept nogil:
    return 4 * (n + 1) * (n + 1) + 6 * (n + 2)


cdef Chart chart_in(double *work, Py_ssize_t n) noexcept nogil:
    cdef Chart c
    cdef Py_ssize_t size = (n + 1) * (n + 1)
    c.n, c.right, c.left, c.between, c.pair = n, work, work + size, work + 2 * size, work + 3 * size
    c.stack = <int *> (work + 4 * size)
    c.log_sum, c.root = False, 0
    return c


# ---- inside ----

cdef double sum_up(const double *a, const double *b, const double *c, Py_ssize_t n, bint log_sum) noexcept nogil:
    """(+)_q a[q] + b[q] (+ c[q]); -inf of nothing."""
    cdef double best = largest_sum(a, b, n) if c == NULL else largest_of_three(a, b, c, n), total = 0
    cdef Py_ssize_t q
    if not log_sum or best == -INFINITY:
        return best
    for q in range(n):
        total += exp(((a[q] + b[q]) + (0 if c == NULL else c[q])) - best)
    return best + log(total)


cdef double plus(double a, double b, bint log_sum) noexcept nogil:
    cdef double best = max(a, b)
    if not log_sum or best == -INFINITY:
        return best
    return best + log(exp(a - best) + exp(b - best))


cdef double largest_sum(const double *a, const double *b, Py_ssize_t n) noexcept nogil:
    cdef double best = -INFINITY, here
    cdef double lanes[8]
    cdef Py_ssize_t q = 0, i
    if n >= 8:
        for i in range(8):
            lanes[i] = a[i] + b[i]
        q = 8
        while q + 8 <= n:
            for i in range(8):
                here = a[q + i] + b[q + i]
                lanes[i] = here if here > lanes[i] else lanes[i]
            q += 8
        for i in range(8):
            best = lanes[i] if lanes[i] > best else best
    while q < n:
        here = a[q] + b[q]
        best = here if here > best else best
        q += 1
    return best


cdef double largest_of_three(const double *a, const double *b, const double *c, Py_ssize_t n) noexcept nogil:
    cdef double best = -INFINITY, here
    cdef double lanes[8]
    cdef Py_ssize_t q = 0, i
    if n >= 8:
        for i in range(8):
            lanes[i] = (a[i] + b[i]) + c[i]
        q = 8
        while q + 8 <= n:
            for i in range(8):
                here = (a[q + i] + b[q + i]) + c[q + i]
                lanes[i] = here if here > lanes[i] else lanes[i]
            q += 8
        for i in range(8):
            best = lanes[i] if lanes[i] > best else best
    while q < n:
        here = (a[q] + b[q]) + c[q]
        best = here if here > best else best
        q += 1
    return best


cdef inline const double *siblings_of(const Chart *c, Py_ssize_t h, Py_ssize_t m) noexcept nogil:
    """Q[h, m, .]"""
    return c.siblings + (h * (c.n + 1) + m) * (c.n + 1)


cdef int inside(Chart *c) noexcept nogil:
    """All tables and the total of all trees."""
    cdef Py_ssize_t n = c.n, p = n + 1, start = c.one_root, i, j, r
    cdef double *right = c.right
    cdef double *left = c.left
    cdef double *between = c.between
    cdef double *pair = c.pair
    cdef const double *q
    cdef double m, here
    for j in range(n + 1):
        right[j * p + j] = left[j * p + j] = 0
    for j in range(start + 1, n + 1):
        if interrupted(j * j * (EXPONENTIAL if c.log_sum else 1)):
            return INTERRUPTED
        for i in range(j - 1, start - 1, -1):
            m = sum_up(right + i * p + i, left + j * p + i + 1, NULL, j - i, c.log_sum)
            pair[i * p + j] = pair[j * p + i] = m
            if c.siblings == NULL:
                between[i * p + j] = c.scores[i * c.pitch + j] + m
                between[j * p + i] = c.scores[j * c.pitch + i] + m if i else -INFINITY
            else:
                q = siblings_of(c, i, j)
                here = sum_up(between + i * p + i + 1, pair + j * p + i + 1, q + i + 1, j - i - 1, c.log_sum)
                between[i * p + j] = c.scores[i * c.pitch + j] + plus(left[(i + 1) * p + j] + q[i], here, c.log_sum)
                between[j * p + i] = -INFINITY
                if i:
                    q = siblings_of(c, j, i)
                    here = sum_up(between + j * p + i + 1, pair + i * p + i + 1, q + i + 1, j - i - 1, c.log_sum)
                    between[j * p + i] = c.scores[j * c.pitch + i] + plus(right[i * p + j - 1] + q[j], here, c.log_sum)
            right[i * p + j] = right[j * p + i] = sum_up(between + i * p + i + 1, right + j * p + i + 1, NULL, j - i, c.log_sum)
            if i:
                left[i * p + j] = left[j * p + i] = sum_up(left + i * p + i, between + j * p + i, NULL, j - i, c.log_sum)
    if not c.one_root:
        c.total = right[n]
        return FOUND
    c.total = -INFINITY
    for r in range(1, n + 1):           # the spans of the words only, and the arc from the root on top
        here = below_root(c, r)
        if here > c.total and not c.log_sum:
            c.root = <int> r
        c.total = plus(c.total, here, c.log_sum)
    return FOUND


cdef inline double below_root(const Chart *c, Py_ssize_t r) noexcept nogil:
    """The total of the trees whose only arc from the root enters word r."""
    cdef double value = c.scores[r] + c.left[(c.n + 1) + r] + c.right[r * (c.n + 1) + c.n]
    return value if c.siblings == NULL else value + siblings_of(c, 0, r)[0]


# ---- the best tree ----

cdef inline Py_ssize_t push(int *stack, Py_ssize_t top, int kind, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    stack[top], stack[top + 1], stack[top + 2] = kind, <int> i, <int> j
    return top + 3


cdef void follow(const Chart *c, int *heads) noexcept nogil:
    """The tree of the total, from the widest spans down; each split is the first that gives its span's value."""
    # Each search ends with its span, since another thread may write to the scores meanwhile.
    cdef Py_ssize_t p = c.n + 1, i, j, q, top = 0
    cdef const double *siblings
    cdef double value
    cdef int kind
    cdef int *stack = c.stack
    if c.one_root:
        heads[c.root - 1] = 0
        top = push(stack, push(stack, top, AT_HEAD_RIGHT, 1, c.root), AT_HEAD_LEFT, c.root, c.n)
    else:
        top = push(stack, top, AT_HEAD_LEFT, 0, c.n)
    while top:
        top -= 3
        kind, i, j = stack[top], stack[top + 1], stack[top + 2]
        if kind == AT_HEAD_LEFT and i < j:
            q = i + 1
            while q < j and c.between[i * p + q] + c.right[j * p + q] != c.right[i * p + j]:
                q += 1
            heads[q - 1] = <int> i
            top = push(stack, push(stack, top, INCOMPLETE, i, q), AT_HEAD_LEFT, q, j)
        elif kind == AT_HEAD_RIGHT and i < j:
            q = i
            while q < j - 1 and c.left[i * p + q] + c.between[j * p + q] != c.left[i * p + j]:
                q += 1
            heads[q - 1] = <int> j
            top = push(stack, push(stack, top, AT_HEAD_RIGHT, i, q), INCOMPLETE, j, q)
        elif kind == NEIGHBOURS or (kind == INCOMPLETE and c.siblings == NULL):
            i, j = min(i, j), max(i, j)
            q = i
            while q < j - 1 and c.right[i * p + q] + c.left[j * p + q + 1] != c.pair[i * p + j]:
                q += 1
            top = push(stack, push(stack, top, AT_HEAD_LEFT, i, q), AT_HEAD_RIGHT, q + 1, j)
        elif kind == INCOMPLETE and i < j:
            siblings = siblings_of(c, i, j)
            value = largest_of_three(c.between + i * p + i + 1, c.pair + j * p + i + 1, siblings + i + 1, j - i - 1)
            if j - i < 2 or c.left[(i + 1) * p + j] + siblings[i] >= value:
                top = push(stack, top, AT_HEAD_RIGHT, i + 1, j)
                continue
            q = i + 1
            while q < j - 1 and (c.between[i * p + q] + c.pair[j * p + q]) + siblings[q] != value:
                q += 1
            heads[q - 1] = <int> i
            top = push(stack, push(stack, top, INCOMPLETE, i, q), NEIGHBOURS, q, j)
        elif kind == INCOMPLETE:                        # the head is on the right: i > j
            siblings = siblings_of(c, i, j)
            value = largest_of_three(c.between + i * p + j + 1, c.pair + j * p + j + 1, siblings + j + 1, i - j - 1)
            if i - j < 2 or c.right[j * p + i - 1] + siblings[i] >= value:
                top = push(stack, top, AT_HEAD_LEFT, j, i - 1)
                continue
            q = j + 1
            while q < i - 1 and (c.between[i * p + q] + c.pair[j * p + q]) + siblings[q] != value:
                q += 1
            heads[q - 1] = <int> i
            top = push(stack, push(stack, top, INCOMPLETE, i, q), NEIGHBOURS, j, q)


cdef bint all_below_infinity(const double *x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef long long refused = 0
    for i in range(n):
        refused += not x[i] < INFINITY
    return refused == 0


cdef bint refused_part(const Chart *c, Py_ssize_t *part) noexcept nogil:
    """Whether a score that is read is NaN or +inf; which: head, dependent, and sibling or -1."""
    cdef Py_ssize_t h, m, start, stop
    for h in range(c.n + 1):
        part[0] = h
        for m in range(1, c.n + 1):
            part[1], part[2] = m, -1
            if h == m:
                continue
            if not c.scores[h * c.pitch + m] < INFINITY:
                return True
            start, stop = (h, m) if h < m else (m + 1, h + 1)
            if c.siblings != NULL and not all_below_infinity(siblings_of(c, h, m) + start, stop - start):
                part[2] = start
                while siblings_of(c, h, m)[part[2]] < INFINITY:
                    part[2] += 1
                return True
    return False


cdef int begin(Chart *c, const double *scores, Py_ssize_t pitch, const double *siblings, bint one_root) noexcept nogil:
    cdef Py_ssize_t part[3]
    c.scores, c.pitch, c.siblings, c.one_root = scores, pitch, siblings, one_root
    if refused_part(c, part):
        return NO_SCORE
    return INFEASIBLE if one_root and not c.n else FOUND


cdef int projective_tree_c(const double *scores, Py_ssize_t pitch, const double *siblings, Py_ssize_t n, bint one_root, int *heads,
                           double *total, double *work) noexcept nogil:
    cdef Chart c = chart_in(work, n)
    cdef int status = begin(&c, scores, pitch, siblings, one_root)
    if status == FOUND:
        status = inside(&c)
    if status != FOUND:
        return status
    if c.total == -INFINITY:
        return INFEASIBLE
    follow(&c, heads)
    total[0] = c.total
    return FOUND


# ---- outside ----

cdef void share_out(double size, double *weight, double *value, double first, const double *a, const double *b, const double *c,
                    Py_ssize_t n) noexcept nogil:
    """If a value of this size is rounded: the largest sum as value, and the weight so that all shares of it add up to it."""
    cdef double best, total
    cdef Py_ssize_t q
    if fabs(size) < LARGE and fabs(value[0]) < LARGE:
        return
    best = max(first, largest_sum(a, b, n) if c == NULL else largest_of_three(a, b, c, n))
    total = exp(first - best)
    for q in range(n):
        total += exp(((a[q] + b[q]) + (0 if c == NULL else c[q])) - best)
    weight[0] /= total
    value[0] = best


cdef void spread(double weight, double value, const double *a, const double *b, const double *c, Py_ssize_t n, double *to_a, double *to_b,
                 double *to_c) noexcept nogil:
    """Hands the derivative of `value`, the log of the sum of exp(a[q] + b[q] + c[q]), on to the three."""
    cdef Py_ssize_t q
    cdef double share
    if not weight > 0:
        return
    if c == NULL:                   # with siblings, the caller has a further sum
        share_out(value, &weight, &value, -INFINITY, a, b, c, n)
    for q in range(n):
        share = weight * exp(((a[q] + b[q]) + (0 if c == NULL else c[q])) - value)
        to_a[q] += share
        to_b[q] += share
        if c != NULL:
            to_c[q] += share


cdef int outside(const Chart *c, Chart *d, double *siblings) noexcept nogil:
    """The derivatives of the total by all entries of the tables, in `d`, and by all siblings' scores, into zeros."""
    # Those by I[h, m] are the arcs' marginals.
    cdef Py_ssize_t n = c.n, p = n + 1, start = c.one_root, i, j, r
    cdef const double *q
    cdef double *to
    cdef double weight, first, value = c.total, all_roots = 1
    if c.one_root:
        if fabs(c.total) >= LARGE:
            value, all_roots = -INFINITY, 0
            for r in range(1, n + 1):
                value = max(value, below_root(c, r))
            for r in range(1, n + 1):
                all_roots += exp(below_root(c, r) - value)
        for r in range(1, n + 1):
            weight = exp(below_root(c, r) - value) / all_roots
            d.left[p + r] += weight
            d.right[r * p + n] += weight
            d.between[r] += weight
            if siblings != NULL:
                siblings[r * p] += weight
    else:
        d.right[n] = 1
    for j in range(n, start, -1):
        if interrupted(j * j * EXPONENTIAL):
            return INTERRUPTED
        for i in range(start, j):
            if i:
                weight = d.left[i * p + j] + d.left[j * p + i]
                spread(weight, c.left[i * p + j], c.left + i * p + i, c.between + j * p + i, NULL, j - i,
                       d.left + i * p + i, d.between + j * p + i, NULL)
            weight = d.right[i * p + j] + d.right[j * p + i]
            spread(weight, c.right[i * p + j], c.between + i * p + i + 1, c.right + j * p + i + 1, NULL, j - i,
                   d.between + i * p + i + 1, d.right + j * p + i + 1, NULL)
            if c.siblings == NULL:
                d.pair[i * p + j] = d.between[i * p + j] + (d.between[j * p + i] if i else 0)
            else:
                weight = d.between[i * p + j]
                if weight > 0:
                    q, to = siblings_of(c, i, j), siblings + (i * p + j) * p
                    value = c.between[i * p + j] - c.scores[i * c.pitch + j]
                    first = c.left[(i + 1) * p + j] + q[i]
                    share_out(c.between[i * p + j], &weight, &value, first, c.between + i * p + i + 1, c.pair + j * p + i + 1, q + i + 1,
                              j - i - 1)
                    first = weight * exp(first - value)
                    d.left[(i + 1) * p + j] += first
                    to[i] += first
                    spread(weight, value, c.between + i * p + i + 1, c.pair + j * p + i + 1, q + i + 1, j - i - 1,
                           d.between + i * p + i + 1, d.pair + j * p + i + 1, to + i + 1)
                weight = d.between[j * p + i] if i else 0
                if weight > 0:
                    q, to = siblings_of(c, j, i), siblings + (j * p + i) * p
                    value = c.between[j * p + i] - c.scores[j * c.pitch + i]
                    first = c.right[i * p + j - 1] + q[j]
                    share_out(c.between[j * p + i], &weight, &value, first, c.between + j * p + i + 1, c.pair + i * p + i + 1, q + i + 1,
                              j - i - 1)
                    first = weight * exp(first - value)
                    d.right[i * p + j - 1] += first
                    to[j] += first
                    spread(weight, value, c.between + j * p + i + 1, c.pair + i * p + i + 1, q + i + 1, j - i - 1,
                           d.between + j * p + i + 1, d.pair + i * p + i + 1, to + i + 1)
            weight = d.pair[i * p + j] + d.pair[j * p + i]
            spread(weight, c.pair[i * p + j], c.right + i * p + i, c.left + j * p + i + 1, NULL, j - i,
                   d.right + i * p + i, d.left + j * p + i + 1, NULL)
    return FOUND


cdef int projective_marginals_c(const double *scores, Py_ssize_t pitch, const double *siblings, Py_ssize_t n, bint one_root, double *log_z,
                                double *arcs, double *sibling_parts, double *work) noexcept nogil:
    cdef Chart c = chart_in(work, n), d = chart_in(work + projective_work(n), n)
    cdef int status = begin(&c, scores, pitch, siblings, one_root)
    cdef Py_ssize_t p = n + 1, m
    c.log_sum = True
    if status == FOUND:
        status = inside(&c)
    if status != FOUND:
        return status
    if c.total == -INFINITY:
        return INFEASIBLE
    memset(d.right, 0, 4 * p * p * sizeof(double))
    if siblings != NULL:
        memset(sibling_parts, 0, p * p * p * sizeof(double))
    status = outside(&c, &d, sibling_parts)
    memcpy(arcs, d.between, p * p * sizeof(double))
    for m in range(p):
        arcs[m * p] = arcs[m * p + m] = 0
    log_z[0] = c.total
    return status


# ---- from Python ----

cdef projective_refusal(int status, const double *scores, Py_ssize_t pitch, const double *siblings, Py_ssize_t n, bint one_root,
                        str name, str siblings_name):
    cdef Py_ssize_t part[3]
    cdef Py_ssize_t h, m
    cdef Chart c
    if status == INTERRUPTED:
        return take_interruption()
    if n == 0:
        return DataError(f"{name} has no words, but one_root=True asks for a word whose head is the root.")
    c.scores, c.pitch, c.siblings, c.n = scores, pitch, siblings, n
    if status == NO_SCORE:
        refused_part(&c, part)
        h, m = part[0], part[1]
        if part[2] < 0:
            return DataError(f"{name}[{h}, {m}] is {scores[h * pitch + m]}; expected a number, or -inf where word {m} may not have the "
                             f"head {h}.")
        return DataError(f"{siblings_name}[{h}, {m}, {part[2]}] is {siblings_of(&c, h, m)[part[2]]}. Expected a number, or -inf if "
                         f"head {h} may not have the neighbouring dependents {part[2]} and {m}.")
    arcs = np.zeros((n + 1, n + 1))
    for h in range(n + 1):
        for m in range(1, n + 1):
            arcs[h, m] = scores[h * pitch + m]
    try:
        heads, _ = max_arborescence(arcs, one_root)
    except DataError as error:
        return DataError(str(error).replace("scores", name, 1))
    return DataError(f"{name} leaves no projective tree{' with these siblings' if siblings != NULL else ''}: the best tree that is left "
                     f"has the heads {', '.join(map(str, heads))}. All others have arcs that cross or forbidden siblings. "
                     f"Allow more arcs, or use max_arborescence.")


cdef class Siblings:
    """Scores of siblings beside those of arcs, a tensor for each sentence."""

    __signature__ = ClassSignature()

    cdef list tensors
    cdef bint has_scores

    def __init__(self, siblings, ScoreMatrices sentences):
        cdef Py_ssize_t i, size
        self.has_scores = siblings is not None
        if not self.has_scores:
            return
        tensors = [siblings] if sentences.single else siblings
        if not is_listed(tensors):
            raise DataError(f"siblings is {shortened(siblings)}; expected a tensor for each of {sentences.n_matrices} sentences.")
        if len(tensors) != sentences.n_matrices:
            raise DataError(f"siblings has {len(tensors)} tensors for {sentences.n_matrices} sentences; expected one for each.")
        self.tensors = []
        for i in range(sentences.n_matrices):
            size = sentences.n_words[i] + 1
            tensor = shaped(float_array(tensors[i], self.name_of(i, sentences)), self.name_of(i, sentences), (size, size, size))
            refuse_overflow(tensor, self.name_of(i, sentences))
            self.tensors.append(tensor)

    cdef const double *at(self, Py_ssize_t i) except? NULL:
        cdef const double[:, :, ::1] tensor
        if not self.has_scores:
            return NULL
        tensor = self.tensors[i]
        return &tensor[0, 0, 0]

    cdef str name_of(self, Py_ssize_t i, ScoreMatrices sentences):
        return "siblings" if sentences.single else f"siblings[{i}]"


def projective_tree(scores, siblings=None, one_root=False):
    """The best projective dependency tree of a sentence: no arcs cross (Eisner's algorithm).

    Every word between a head and its dependent descends from the head. The score is at most that of `max_arborescence`. Ties: each span
    takes its first split, the smallest word at which it divides. If all scores are equal, each word's head is the word before. Cost:
    O(n^3). Raises `DataError` if a score is NaN or +inf, or no projective tree exists.

    Parameters
    ----------
    scores : array of shape (n + 1, n + 1) or (n_sentences, n + 1, n + 1), or list of such matrices
        scores[h, m] of the arc from the head h to word m; 0 is the root, left of all words. -inf forbids an arc.
        Column 0 and the diagonal are ignored.
    siblings : array of shape (n + 1, n + 1, n + 1), or a list of them for many sentences, optional
        siblings[h, m, s] is added to scores[h, m]. s is the next dependent of h between h and m. If m is the closest on its side, s is h.
        Other entries are ignored.
    one_root : bool, default False
        Exactly one word has the head 0.

    Returns
    -------
    heads : int32 array of shape (n,), or a list of them for many sentences
        The heads of words 1..n.
    total : float, or float64 array of shape (n_sentences,)
        The score of the tree.

    See Also
    --------
    structperc.solvers.arborescences.max_arborescence : trees that may have crossing arcs.
    structperc.solvers.ranked_projective.k_best_projective : the k best trees.
    projective_marginals : probabilities of arcs.

    References
    ----------
    J. M. Eisner: Three new probabilistic models for dependency parsing: an exploration. Proceedings of COLING, pages 340-345, 1996.

    R. McDonald and F. Pereira: Online learning of approximate dependency parsing algorithms. Proceedings of EACL, pages 81-88, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.projective import projective_tree
    >>> scores = np.array([[0, 9, 8, 0], [0, 0, 4, 3], [0, 5, 0, 6], [0, 1, 2, 0]])
    >>> heads, total = projective_tree(scores)
    >>> heads.tolist(), total
    ([0, 0, 2], 23.0)
    """
    cdef ScoreMatrices sentences = ScoreMatrices(scores)
    cdef Siblings tensors = Siblings(siblings, sentences)
    cdef Py_ssize_t n = sentences.n_matrices, i, words
    cdef bint one = flag(one_root, "one_root")
    cdef int status
    cdef int[::1] heads = np.zeros(sentences.offsets[n] + 1, dtype=np.intc)
    cdef double[::1] totals = np.zeros(n + 1), work = np.zeros(projective_work(sentences.most_words))
    cdef const double *at
    cdef const double *q
    for i in range(n):
        words, at, q = sentences.n_words[i], sentences.at[i], tensors.at(i)
        with nogil:
            status = projective_tree_c(at, words + 1, q, words, one, &heads[0] + sentences.offsets[i], &totals[i], &work[0])
        if status != FOUND:
            raise projective_refusal(status, at, words + 1, q, words, one, sentences.name_of(i), tensors.name_of(i, sentences))
    answers = sentences.split(np.asarray(heads)[:-1])
    return (answers, totals[0]) if sentences.single else (answers, np.asarray(totals)[:-1])


def projective_marginals(scores, siblings=None, one_root=False):
    """Log partition function and arc marginals of all projective trees of a sentence (inside-outside).

    A tree's probability is exp(score) / Z. The marginals are the derivatives of log Z by the scores. Cost: O(n^3), exact to rounding.
    From 1e15 on, equal parts of a span share its probability equally, since sums are rounded.
    Raises `DataError` as in `projective_tree`.
    See also `structperc.solvers.arborescences.arborescence_marginals` (the same over all trees).

    Parameters
    ----------
    scores : array of shape (n + 1, n + 1)
        Arc scores of one sentence, as in `projective_tree`.
    siblings : array of shape (n + 1, n + 1, n + 1), optional
        As in `projective_tree`.
    one_root : bool, default False
        Only trees in which exactly one word has the head 0.

    Returns
    -------
    log_z : float
        Log of the sum of exp(score) over all projective trees.
    arcs : float64 array of shape (n + 1, n + 1)
        P[h, m], the probability of the arc from h to m; each column from 1 on sums to 1. Zeros in column 0, on the diagonal and for
        forbidden arcs.
    sibling_parts : float64 array of shape (n + 1, n + 1, n + 1)
        Probabilities of the entries of `siblings`. Only if `siblings` is given.

    References
    ----------
    M. A. Paskin: Cubic-time parsing and learning algorithms for grammatical bigram models. Technical report UCB/CSD-01-1148, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.projective import projective_marginals
    >>> log_z, arcs = projective_marginals(np.zeros((3, 3)))
    >>> round(float(np.exp(log_z)), 9), arcs.round(3).tolist()
    (3.0, [[0.0, 0.667, 0.667], [0.0, 0.0, 0.333], [0.0, 0.333, 0.0]])
    """
    cdef ScoreMatrices sentences = one_sentence(scores)
    cdef Siblings tensors = Siblings(siblings, sentences)
    cdef Py_ssize_t n = sentences.n_words[0]
    cdef double[::1] work = np.zeros(2 * projective_work(n))
    cdef double[:, ::1] arcs = np.zeros((n + 1, n + 1))
    cdef double[:, :, ::1] parts = np.zeros((n + 1, n + 1, n + 1)) if tensors.has_scores else None
    cdef double *to_parts = &parts[0, 0, 0] if tensors.has_scores else NULL
    cdef const double *q = tensors.at(0)
    cdef bint one = flag(one_root, "one_root")
    cdef double log_z = 0
    cdef int status
    with nogil:
        status = projective_marginals_c(sentences.at[0], n + 1, q, n, one, &log_z, &arcs[0, 0], to_parts, &work[0])
    if status != FOUND:
        raise projective_refusal(status, sentences.at[0], n + 1, q, n, one, "scores", "siblings")
    return (log_z, np.asarray(arcs), np.asarray(parts)) if tensors.has_scores else (log_z, np.asarray(arcs))


__all__ = ["projective_marginals", "projective_tree"]
