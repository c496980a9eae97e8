# distutils: extra_compile_args = VECTORS
"""The best labels of a chain, and what else one recursion over a semiring gives: the k best, marginals, max-marginals.

A message m_t[l] sums, in the semiring, over labellings of the tokens before t that continue with label l:

    m_t[l'] = (+)_l  m_{t-1}[l] (x) e_{t-1}[l] (x) a[l, l']

with the tokens' scores e and the transitions' a; (x) is + in all of them. (max, +) gives the best labels, and lists of k
numbers the k best. (log of a sum of exponentials, +) gives the marginals. Messages from the other end are those of the reversed chain.

Typical sizes: 23 tokens, 22 labels: 60 ns per token for the best labels. Time O(T L^2), k times that for the k best; memory O(T L).
"""
import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, exp, log
from libc.string cimport memcpy, memset
from structperc.basics.signals cimport interrupted
from structperc.core.argmax cimport Argmax
from structperc.core.inner_products cimport best_inner
from structperc.core.rows cimport Example
from structperc.errors import DataError, OptionError, PluginError
from structperc_kernels.vector_rows cimport best_tiles
from structperc_sequence.chains cimport Chain


# ---- forward backward ----
# Marginals of a linear chain by products of scaled numbers, without logarithms in the recursions.
#
# Let E_t[k] = exp(token score) and A[l, m] = exp(transition). The messages F from the left and B from the right are products with a table:
#
#     F_t+1 = (F_t E_t) A        B_t-1 = A (E_t B_t)
#
# Each is divided by its largest entry, so that Z is the product of the divisors. Then `p_t[k] = F_t E_t B_t / N_t` adds up to 1 over l. The
# pair (l, m) is expected `A[l, m] sum_t F_t[k] E_t[k] E_t+1[m] B_t+1[m] / N_t` times.
#
# Underflow is detected. The result is TOO_WIDE if the scores of one token or of the transitions spread over more than WIDE. So it is if a
# message spreads over more than 1 / SMALL.
#
# Typical sizes: 24 tokens, 22 labels: 0.3 us a token. Time O(T L^2), memory O(T L).

cdef enum:
    PADDING = 16                    # powers are computed sixteen at a time
    WIDE = 150                      # SMALL exp(-2 WIDE) is a normal number
    OFTEN = 1 << 14                 # operations between two questions whether to stop

cdef double SMALL = 1e-150, LEAST = 1e-290, LOG2_E = 1.4426950408889634


cdef Py_ssize_t padded(Py_ssize_t n) noexcept nogil:
    return (n + PADDING - 1) // PADDING * PADDING


cdef Py_ssize_t forward_backward_work(Py_ssize_t n_tokens, Py_ssize_t n_labels) noexcept nogil:
    return 2 * padded(n_tokens * n_labels) + 3 * n_tokens * n_labels + 2 * padded(n_labels * n_labels) + 3 * padded(n_labels)


cdef double exponents(const double *scores, Py_ssize_t n, double *out) noexcept nogil:
    """(scores - their largest) as powers of two; returns the largest, or INFINITY where the finite ones spread too far."""
    cdef Py_ssize_t k
    cdef double largest = -INFINITY, least = INFINITY
    for k in range(n):
        largest = scores[k] if scores[k] > largest else largest
        least = scores[k] if (scores[k] < least) & (scores[k] > -INFINITY) else least
    for k in range(n):
        out[k] = (scores[k] - largest) * LOG2_E
    return largest if largest - least <= WIDE else INFINITY


cdef double scaled(double *message, Py_ssize_t n) noexcept nogil:
    """Divides by the largest entry and returns it; 0 where none is left or some might be lost."""
    cdef Py_ssize_t k
    cdef double largest = 0, least = INFINITY, factor
    for k in range(n):
        largest = message[k] if message[k] > largest else largest
        least = message[k] if (message[k] < least) & (message[k] > 0) else least
    if not least >= SMALL * largest:
        return 0
    factor = 1 / largest
    for k in range(n):
        message[k] *= factor
    return largest


cdef int forward_backward(const sp_inner *kernels, const sp_tiles *tiles, const Chain *chain, double *tokens, double *pairs, double *log_z,
                          double *work) noexcept nogil:
    cdef Py_ssize_t T = chain.n_tokens, L = chain.n_labels, size = T * L, square = L * L, t, k, m, operations = 0
    cdef double *E = work
    cdef double *F = E + padded(size)
    cdef double *E_across = F + padded(size)            # (n_labels, n_tokens)
    cdef double *F_across = E_across + size
    cdef double *G = F_across + size                    # E_t B_t / N_t-1
    cdef double *A = G + size
    cdef double *A_across = A + padded(square)
    cdef double *B = A_across + padded(square)
    cdef double *end = B + padded(L)
    cdef double *following = end + padded(L)
    cdef double *row
    cdef double offset = 0, largest, product = 1, total, logs = 0

    # E and A, of which log Z has the offset
    for t in range(T):
        largest = exponents(chain.tokens + t * L, L, E + t * L)
        offset += largest
    tiles.powers_f64(E, padded(size), E)
    offset += (T - 1) * exponents(chain.transitions, square, A) if T > 1 else 0
    if T > 1:
        tiles.powers_f64(A, padded(square), A)
    for k in range(L):
        F[k] = end[k] = 1
    if chain.start != NULL:
        offset += exponents(chain.start, L, B)
        tiles.powers_f64(B, padded(L), B)
        for k in range(L):
            F[k] = B[k]
    if chain.end != NULL:
        offset += exponents(chain.end, L, end)
        tiles.powers_f64(end, padded(L), end)
    if not -INFINITY < offset < INFINITY:
        return TOO_WIDE

    # F
    for t in range(1, T):
        row = F + t * L
        kernels.plus_times(row - L, E + (t - 1) * L, L, A, L, L, row)
        largest = scaled(row, L)
        if largest == 0:
            return TOO_WIDE
        product *= largest
        if not 1e-100 < product < 1e100:
            logs += log(product)
            product = 1
        operations += 3 * square
        if operations > OFTEN:
            if interrupted(operations):
                return STOPPED
            operations = 0
    total = 0
    for k in range(L):
        total += F[(T - 1) * L + k] * E[(T - 1) * L + k] * end[k]
    if not total >= LEAST:
        return TOO_WIDE
    log_z[0] = offset + logs + log(product) + log(total)

    # B, and p
    for k in range(L):
        B[k] = end[k]
        for m in range(L):
            A_across[m * L + k] = A[k * L + m]
    for t in range(T - 1, -1, -1):
        if t < T - 1:
            kernels.plus_times(B, E + (t + 1) * L, L, A_across, L, L, following)
            for k in range(L):
                B[k] = following[k]
        row, total = tokens + t * L, 0
        for k in range(L):
            row[k] = F[t * L + k] * E[t * L + k] * B[k]
            total += row[k]
        if not total >= LEAST:
            return TOO_WIDE
        total = 1 / total
        for k in range(L):
            row[k] *= total
        if t < T - 1:
            for k in range(L):
                G[(t + 1) * L + k] *= total
        if scaled(B, L) == 0:
            return TOO_WIDE
        for k in range(L):
            G[t * L + k] = E[t * L + k] * B[k]

    # pairs
    for k in range(square):
        pairs[k] = 0
    if T == 1:
        return FOUND
    for t in range(T):
        for k in range(L):
            E_across[k * T + t], F_across[k * T + t] = E[t * L + k], F[t * L + k]
    for k in range(L):
        kernels.plus_times(F_across + k * T, E_across + k * T, T - 1, G + L, L, L, pairs + k * L)
        for m in range(L):
            pairs[k * L + m] *= A[k * L + m]
        if interrupted(size):
            return STOPPED
    return FOUND


# ---- solver ----

cdef enum:
    MOST_ORIGINS = 0x7FFFFFFF       # 2^31 - 1 labels and ranks of one token


cdef class Semiring:
    """How messages are summed up; `size` numbers each. A number takes the time of `cost` operations for each label before."""

    def __cinit__(self, *args):
        self.size = self.cost = 1

    cdef void begin(self, const Chain *chain, double *message) noexcept nogil:
        if chain.start == NULL:
            memset(message, 0, chain.n_labels * sizeof(double))
        else:
            memcpy(message, chain.start, chain.n_labels * sizeof(double))

    cdef void step(self, const double *message, Py_ssize_t t, const Chain *chain, double *following) noexcept nogil:
        """From the message of token t to that of token t + 1."""


cdef class Largest(Semiring):
    """(max, +)"""

    def __init__(self, Py_ssize_t n_labels):
        self.kernels = best_inner(512 if n_labels >= 64 else 0)       # wider registers pay for long rows

    cdef void step(self, const double *message, Py_ssize_t t, const Chain *chain, double *following) noexcept nogil:
        cdef Py_ssize_t n = chain.n_labels
        self.kernels.max_plus(message, chain.tokens + t * n, n, chain.transitions, n, n, following)


cdef class LogSum(Largest):
    """(log of the sum of exponentials, +), relative to the largest term."""

    def __cinit__(self, *args):
        self.cost = 16

    cdef void step(self, const double *message, Py_ssize_t t, const Chain *chain, double *following) noexcept nogil:
        cdef Py_ssize_t i, j, n = chain.n_labels
        cdef const double *e = chain.tokens + t * n
        cdef double total
        Largest.step(self, message, t, chain, following)
        for j in range(n):
            if following[j] == -INFINITY:
                continue
            total = 0
            for i in range(n):
                total += exp(message[i] + e[i] + chain.transitions[i * n + j] - following[j])
            following[j] += log(total)


cdef class LargestFew(Semiring):
    """Lists of the `size` largest, falling. Ties: the lowest label before, then the one ranked first there."""

    cdef int[:, ::1] origins            # (n_tokens, n_labels * size): label * size + rank of the message before
    cdef double[::1] heads              # of each list that is merged, the largest that is left
    cdef int[::1] ranks                 # and its place there

    def __cinit__(self, *args):
        self.origins = self.heads = self.ranks = None

    def __init__(self, Py_ssize_t size, Py_ssize_t n_tokens, Py_ssize_t n_labels):
        self.size = size
        self.origins = np.zeros((n_tokens, n_labels * size), dtype=np.intc)
        self.heads, self.ranks = np.zeros(n_labels), np.zeros(n_labels, dtype=np.intc)

    cdef void begin(self, const Chain *chain, double *message) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(chain.n_labels * self.size):
            message[i] = -INFINITY
        for i in range(chain.n_labels):
            message[i * self.size] = 0 if chain.start == NULL else chain.start[i]

    cdef void step(self, const double *message, Py_ssize_t t, const Chain *chain, double *following) noexcept nogil:
        cdef Py_ssize_t j, n = chain.n_labels
        for j in range(n):
            self.merge(message, chain.tokens + t * n, chain.transitions + j, n, n, following + j * self.size,
                       &self.origins[t + 1, j * self.size])

    cdef void merge(self, const double *message, const double *e, const double *a, Py_ssize_t pitch, Py_ssize_t n, double *largest,
                    int *origins) noexcept nogil:
        """The largest of (message[i, r] + e[i]) + a[i * pitch], all of whose rows i fall; a may be NULL."""
        cdef Py_ssize_t i, r, best, size = self.size
        cdef double top
        cdef double *heads = &self.heads[0]
        cdef int *ranks = &self.ranks[0]
        for i in range(n):
            heads[i], ranks[i] = message[i * size] + e[i], 0
            if a != NULL:
                heads[i] += a[i * pitch]
        for r in range(size):
            best, top = 0, heads[0]
            for i in range(1, n):
                if heads[i] > top:
                    best, top = i, heads[i]
            largest[r], origins[r] = top, <int> (best * size + ranks[best])
            if top == -INFINITY:                # nothing is left, here and from now on
                origins[r] = 0
                continue
            ranks[best] += 1
            heads[best] = -INFINITY
            if ranks[best] < size:
                heads[best] = message[best * size + ranks[best]] + e[best]
                if a != NULL:
                    heads[best] += a[best * pitch]


cdef int forward(Semiring semiring, const Chain *chain, double *messages) noexcept nogil:
    """The messages of all tokens, (n_tokens, n_labels * size); -1 where interrupted."""
    cdef Py_ssize_t t, n = chain.n_labels * semiring.size, cost = n * chain.n_labels * semiring.cost, operations = 0
    semiring.begin(chain, messages)
    for t in range(chain.n_tokens - 1):
        semiring.step(messages + t * n, t, chain, messages + (t + 1) * n)
        operations += cost
        if operations > OFTEN:
            if interrupted(operations):
                return -1
            operations = 0
    return 0


cdef class Viterbi(Argmax):
    """The labels of largest score, by dynamic programming; ties go to the lowest label, from the last token back.

    What the constraints forbid never occurs: its score is -inf here, and a sentence that leaves nothing is an error.
    """
    # start, end: bool. Whether there are atoms of the first and of the last label.
    # constraints: Constraints. Which labels may follow, begin and end.

    def __cinit__(self, *args, **kwargs):
        self.between = self.first = self.last = None

    def __init__(self, Py_ssize_t n_labels, start, end, constraints):
        self.n_tags, self.has_start, self.has_end = n_labels, start, end
        self.constrained = constraints.any
        self.between, self.first, self.last = (np.where(allowed, 0.0, -np.inf) for allowed in (
            constraints.pairs, constraints.starts, constraints.ends))
        self.largest = Largest(n_labels)
        self.tiles = best_tiles()

    def check_allowed(self, rows):
        pass                                # `constrain` reads `Example.allowed`

    cdef Py_ssize_t workspace_size_c(self, Py_ssize_t n_atoms, bint marginals) noexcept nogil:
        cdef Py_ssize_t needed = n_atoms, n_tokens          # messages, and
        if marginals:
            n_tokens = max(n_atoms // self.n_tags - self.n_tags - self.has_start - self.has_end, 0)
            needed = max(needed, forward_backward_work(n_tokens, self.n_tags))
        return needed + n_atoms + 2 * self.n_tags           # the constrained scores of tokens, transitions, starts and ends

    cdef Py_ssize_t n_atoms(self, Example x) noexcept nogil:
        """How many atoms a sentence of so many tokens has."""
        return self.n_tags * (x.block.n_rows + self.n_tags + self.has_start + self.has_end)

    cdef Chain chain(self, Example x, const double *s, const int *partial_labels, double *work) noexcept nogil:
        """The chain of these atom scores, with `partial_labels` (0: any) or NULL; parts that forbid something are in `work`."""
        cdef Chain chain
        cdef Py_ssize_t t, k, L = self.n_tags
        cdef const unsigned char *allowed = NULL
        if x.source is not None:
            allowed = x.source.allowed_at
        chain.n_labels, chain.n_tokens = L, x.n_atoms // L - L - self.has_start - self.has_end
        chain.tokens, chain.transitions = s, s + chain.n_tokens * L
        chain.start = chain.transitions + L * L if self.has_start else NULL
        chain.end = chain.transitions + (L + self.has_start) * L if self.has_end else NULL
        if self.constrained:
            for k in range(L * L):
                work[k] = chain.transitions[k] + (&self.between[0, 0])[k]
            chain.transitions = work
            work += L * L
            for k in range(L):
                work[k] = (0 if chain.start == NULL else chain.start[k]) + self.first[k]
                work[L + k] = (0 if chain.end == NULL else chain.end[k]) + self.last[k]
            chain.start, chain.end = work, work + L
            work += 2 * L
        if allowed != NULL:
            allowed += x.first_row * L
            for t in range(chain.n_tokens * L):
                work[t] = chain.tokens[t] if allowed[t] else -INFINITY
            chain.tokens = work
        if partial_labels != NULL:
            for t in range(chain.n_tokens):
                for k in range(L):
                    work[t * L + k] = chain.tokens[t * L + k] if partial_labels[t] == 0 or partial_labels[t] == k + 1 else -INFINITY
            chain.tokens = work
        return chain

    cdef bint fits(self, Example x) noexcept nogil:
        """Whether the example has the atoms of its tokens; stores an error otherwise."""
        if x.n_atoms == self.n_atoms(x) and (x.source is None or x.source.allowed_at == NULL or x.source.allowed_width == self.n_tags):
            return True
        with gil:
            self.error = PluginError(f"example {x.index} has {x.n_atoms} atoms; labels of its {x.n_rows} rows need {self.n_atoms(x)}. "
                                     f"If `allowed` is given, it needs {self.n_tags} columns.")
        return False

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        return self.best(x, s, NULL, y)

    cdef Py_ssize_t best(self, Example x, const double *s, const int *partial_labels, int *y) noexcept nogil:
        """The best labels among those with these `partial_labels`, 0: any; NULL: nothing is known."""
        cdef Py_ssize_t L = self.n_tags, t, m = 0, label = 0
        cdef double *messages = x.work
        cdef Chain chain
        cdef const double *e
        cdef double value, best = -INFINITY
        if not self.fits(x):
            return -1
        if x.block.n_rows == 0:
            return 0
        chain = self.chain(x, s, partial_labels, messages + (x.n_atoms - L * L))
        e = chain.tokens
        if forward(self.largest, &chain, messages) < 0:
            return -1
        messages += (chain.n_tokens - 1) * L
        e += (chain.n_tokens - 1) * L
        for m in range(L):
            value = messages[m] + e[m]
            if chain.end != NULL:
                value += chain.end[m]
            if value > best:
                best, label = value, m
        if best - best != 0:
            with gil:
                self.error = self.unlabelled(x, s, messages - (chain.n_tokens - 1) * L, &chain, best, partial_labels != NULL)
            return -1
        y[chain.n_tokens - 1] = <int> label + 1
        for t in range(chain.n_tokens - 2, -1, -1):         # the lowest label that the message came from: no pointers to keep
            best = messages[label]
            messages -= L
            e -= L
            for m in range(L):
                if (messages[m] + e[m]) + chain.transitions[m * L + label] == best:
                    break
            label = m
            y[t] = <int> m + 1
        return chain.n_tokens

    def argmax(self, const double[::1] scores, Example x):
        self.check_size(scores, x)
        return Argmax.argmax(self, scores, x)

    def check_size(self, scores, Example x):
        """Sets the number of atoms from the scores. Raises an error for scores of another example."""
        expected = self.n_atoms(x)
        if len(scores) != expected:
            raise DataError(f"{len(scores)} atom scores for example {x.index}; expected {expected} for its {x.n_rows} tokens.")
        self._refuse_values(scores)
        x.n_atoms = expected

    @np.errstate(over="ignore", invalid="ignore")       # what overflows is found in the totals
    def k_best(self, scores, Example x, k):
        cdef Problem problem = Problem(self, scores, x)
        cdef Py_ssize_t T = problem.chain.n_tokens, L = self.n_tags, t, i, at
        cdef Py_ssize_t size = self.n_wanted(k, T)
        cdef LargestFew few
        cdef const double[:, ::1] messages
        cdef double[::1] totals = np.zeros(max(size, 1))
        cdef int[::1] last = np.zeros(max(size, 1), dtype=np.intc)
        if T == 0:
            return [((), 0.0)]
        few = LargestFew(size, T, L)
        messages = problem.messages(few)
        few.merge(&messages[T - 1, 0], problem.chain.tokens + (T - 1) * L, problem.chain.end, 1, L, &totals[0], &last[0])
        labellings = []
        for i in range(size):
            PyErr_CheckSignals()
            if totals[i] == -INFINITY:
                break
            at = last[i]
            y = [0] * T
            for t in range(T - 1, -1, -1):
                y[t] = at // size + 1
                at = few.origins[t, at]
            labellings.append((tuple(y), totals[i]))
        return labellings

    def n_wanted(self, k, n_tokens):
        """How many of the k best labellings there can be."""
        most = int(self.n_tags) ** min(int(n_tokens), 32)
        if min(k, most) * self.n_tags > MOST_ORIGINS:
            raise OptionError(f"k={k} is too large; expected at most {MOST_ORIGINS // self.n_tags} with {self.n_tags} labels.")
        return min(k, most)

    def marginals(self, scores, Example x):
        self.check_size(scores, x)
        return Argmax.marginals(self, scores, x)

    cdef int marginals_c(self, Example x, const double *s, double *expected, double *log_z) noexcept nogil:
        cdef Py_ssize_t L = self.n_tags, T = x.block.n_rows
        cdef double *pairs = expected + T * L
        cdef double *edges = pairs + L * L
        cdef Chain chain
        cdef int status
        if not self.fits(x):
            return -1
        if T == 0:
            memset(expected, 0, x.n_atoms * sizeof(double))
            log_z[0] = 0
            return 0
        chain = self.chain(x, s, NULL, x.work)
        status = forward_backward(self.largest.kernels, self.tiles, &chain, expected, pairs, log_z,
                                  x.work + (x.n_atoms + 2 * L))
        if status == TOO_WIDE:
            return self.marginals_by_logarithms(x, s, expected, log_z)
        if self.has_start:
            memcpy(edges, expected, L * sizeof(double))
        if self.has_end:
            memcpy(edges + self.has_start * L, expected + (T - 1) * L, L * sizeof(double))
        return status

    cdef int marginals_by_logarithms(self, Example x, const double *s, double *expected, double *log_z) noexcept with gil:
        """The same for scores that lie further apart than numbers reach, which is rare; names what leaves no labels."""
        cdef double[::1] counts
        try:
            log_z[0], counts = Problem(self, <const double[:x.n_atoms]> s, x).marginals()
            memcpy(expected, &counts[0], x.n_atoms * sizeof(double))
            return 0
        except BaseException as error:
            self.error = error
            return -1

    def max_marginals(self, scores, Example x):
        return Problem(self, scores, x).totals(self.largest, lambda totals, axis: totals, np.maximum, -np.inf)

    def chain_of(self, scores, Example x):
        cdef Problem problem = Problem(self, scores, x)
        cdef Py_ssize_t L = self.n_tags
        return (problem.part(problem.chain.tokens, problem.chain.n_tokens), problem.part(problem.chain.transitions, L),
                problem.edge(problem.chain.start), problem.edge(problem.chain.end))

    cdef unlabelled(self, Example x, const double *s, const double *messages, const Chain *chain, double best, bint has_labels):
        """The error of a sentence whose best score is not finite."""
        cdef bint restricted = (has_labels or self.constrained or (x.source is not None and x.source.allowed_at != NULL)
                                or bool(np.isneginf(<const double[:x.n_atoms]> s).any()))
        if best == INFINITY or not restricted or overflown(messages, chain.n_tokens * chain.n_labels):
            return too_large(x)
        return infeasible(x, messages, chain)


cdef class Problem:
    """One chain with arrays of its own, for what is asked less often than the best labels."""

    cdef Chain chain
    cdef Viterbi solver
    cdef Example x
    cdef const double[::1] s
    cdef double[::1] work

    def __cinit__(self, *args):
        self.s = None       # one by one: Cython before 3.3.1 chains no two types of memoryview
        self.work = None

    def __init__(self, Viterbi solver, scores, Example x):
        self.solver, self.x = solver, x
        self.s = np.ascontiguousarray(scores, dtype=float)
        solver.check_size(self.s, x)
        self.work = np.zeros(solver.workspace_size_c(x.n_atoms, False))
        self.chain = solver.chain(x, &self.s[0], NULL, &self.work[0])

    cdef messages(self, Semiring semiring):
        """All messages. Raises an error for a chain without any labelling."""
        cdef Py_ssize_t T = self.chain.n_tokens, L = self.chain.n_labels
        cdef double[:, ::1] table = np.zeros((T, L * semiring.size))
        if forward(semiring, &self.chain, &table[0, 0]) < 0:
            self.solver.raised()
        last = np.asarray(table)[T - 1].reshape(L, -1)[:, 0] + self.part(self.chain.tokens, T)[T - 1]
        if self.chain.end != NULL:
            last = last + self.part(self.chain.end, 1)[0]
        if not np.isfinite(last.max()):
            self.solver.argmax(self.s, self.x)      # raises the error with its reason
            raise too_large(self.x)
        return np.asarray(table)

    cdef edge(self, const double *at):
        """The scores of first or last labels, 0 where there are none."""
        return np.zeros(self.chain.n_labels) if at == NULL else self.part(at, 1)[0]

    cdef part(self, const double *at, Py_ssize_t n_rows):
        return np.array(<const double[:n_rows, :self.chain.n_labels]> at) if n_rows else np.zeros((0, self.chain.n_labels))

    cdef reversed_messages(self, Semiring semiring):
        """Those of the chain read from its end, in the order of the tokens."""
        cdef Chain other = self.chain
        cdef const double[:, ::1] tokens = np.ascontiguousarray(self.part(self.chain.tokens, self.chain.n_tokens)[::-1])
        cdef const double[:, ::1] transitions = np.ascontiguousarray(self.part(self.chain.transitions, self.chain.n_labels).T)
        cdef double[:, ::1] table = np.zeros((self.chain.n_tokens, self.chain.n_labels))
        other.tokens, other.transitions = &tokens[0, 0], &transitions[0, 0]
        other.start, other.end = self.chain.end, self.chain.start
        if forward(semiring, &other, &table[0, 0]) < 0:
            self.solver.raised()
        return np.asarray(table)[::-1]

    @np.errstate(over="ignore", invalid="ignore")       # what overflows is found in the totals
    def marginals(self):
        """log Z, and how often each atom is expected."""
        cdef Py_ssize_t T = self.chain.n_tokens
        semiring = LogSum(self.chain.n_labels)
        last = self.messages(semiring)[T - 1] + self.part(self.chain.tokens, T)[T - 1]
        if self.chain.end != NULL:
            last = last + self.part(self.chain.end, 1)[0]
        return np.logaddexp.reduce(last), self.totals(semiring, shares, np.add, 0.0)

    @np.errstate(over="ignore", invalid="ignore")       # what overflows is found in the totals
    def totals(self, Semiring semiring, transform, plus, nothing):
        """For every atom, what the semiring sums up over the structures that contain it, as often as they do."""
        # `transform` converts the totals of all labels of a token, or of all pairs of two, along its axis. `plus` sums the results, from
        # `nothing`.
        cdef Py_ssize_t T = self.chain.n_tokens, L = self.chain.n_labels
        if T == 0:
            return np.full(self.x.n_atoms, nothing)
        tokens, transitions = self.part(self.chain.tokens, T), self.part(self.chain.transitions, L)
        before, after = self.messages(semiring) + tokens, self.reversed_messages(semiring)
        single = before + after
        if not np.isfinite(single.max(axis=1)).all():
            raise too_large(self.x)
        single = transform(single, 1)
        pairs = np.full((L, L), nothing)
        after = after + tokens
        for t in range(T - 1):
            PyErr_CheckSignals()
            pairs = plus(pairs, transform(before[t][:, None] + transitions + after[t + 1], None))
        parts = [single.ravel(), pairs.ravel(), *[single[0]] * self.solver.has_start, *[single[T - 1]] * self.solver.has_end]
        return np.concatenate(parts)


def shares(totals, axis):
    """Probabilities from logarithms: whatever their size and rounding, they add up to 1."""
    p = np.exp(totals - totals.max(axis=axis, keepdims=True))
    return p / p.sum(axis=axis, keepdims=True)


cdef bint overflown(const double *messages, Py_ssize_t n) noexcept:
    """Whether one is NaN or inf."""
    cdef Py_ssize_t i
    for i in range(n):
        if not messages[i] < INFINITY:
            return True
    return False


cdef too_large(Example x):
    return DataError(f"the scores of sentence {x.index} (counted from 0) add up to more than floating point holds. The weights or the "
                     f"features are too large. Scale the features, for instance to unit variance.")


cdef infeasible(Example x, const double *messages, const Chain *chain):
    """The error of a sentence that no labels fit, with the first token at which none is left."""
    cdef Py_ssize_t t, k, L = chain.n_labels
    for t in range(chain.n_tokens):
        for k in range(L):
            if messages[t * L + k] + chain.tokens[t * L + k] != -INFINITY:
                break
        else:
            place = f"none is left for its token {t} after those before it"
            break
    else:
        place = "none may end it"
    return DataError(f"no labels of sentence {x.index} (counted from 0) satisfy the constraints: {place}. Allow more labels or "
                     f"transitions, or leave the sentence out.")
