# The maximum arborescence of n words: heads among the root 0 and the words 1..n.


# ---- score matrices ----
# Square matrices of arc scores, one or many, as solvers read them.


cdef class ScoreMatrices:
    cdef readonly Py_ssize_t n_matrices, most_words
    cdef readonly bint single           # one matrix was given, not a sequence
    cdef readonly str name
    cdef const double **at              # of each matrix, entry (h, m) at [h * (n_words + 1) + m]
    cdef Py_ssize_t *n_words
    cdef Py_ssize_t *offsets            # how many words the matrices before have together
    cdef Py_buffer *buffers             # held as long as this object lives
    cdef Py_ssize_t n_buffers

    cdef allocate(self, Py_ssize_t n_matrices, Py_ssize_t n_buffers)
    cdef hold(self, matrix, Py_ssize_t place)
    cdef Py_buffer *take(self, values, Py_ssize_t place) except NULL
    cdef int refuse_sums(self, const Py_buffer *buffer, Py_ssize_t place) except -1
    cdef split(self, answers)
    cdef str name_of(self, Py_ssize_t i)


cdef ScoreMatrices one_sentence(scores)


# ---- arborescences ----

cdef enum:
    # The status that a tree solver of this package returns.
    FOUND = 0
    INTERRUPTED = -1        # Ctrl-C; `structperc.basics.signals.raise_interruption` raises it
    NO_SCORE = -2           # a score is NaN or +inf
    INFEASIBLE = -3


ctypedef struct Contraction:
    # One run over the nodes: the root 0, the words 1..n, and from n + 1 on the supernodes, a parent after its children.
    Py_ssize_t n_words, pitch, n_nodes
    const double *scores    # score of head h and dependent m at [h * pitch + m]
    double *word_best       # (n + 1,), of each word, the best score from another word
    double *word_head       # and its lowest head
    double *y               # of each node, the reduced score of the arc that enters it: the dual variable
    double *columns         # (n - 1, n + 1), of each supernode: reduced scores of the arcs from all words, -inf from inside
    int *head               # of each node, where the arc that enters it comes from
    int *child              # of each supernode, the first child
    int *sibling            # of each child, the next one of the same supernode, or 0
    int *state              # of each node: unvisited, on the path, done
    int *top                # of each word, its outermost node
    int *first              # of each node, the first of its words
    int *last               # and the last
    int *following          # of each word but the last, the next word of the same outermost node
    int *path
    int *hanging            # with one root: the nodes that the root's arcs enter
    int *other              # of each of them, the best head among the words
    double *other_y         # its reduced score
    double *loss            # and what the exchange loses
    int rooted              # with one root: the node that keeps the root's arc, where others had to be exchanged, or 0


cdef Py_ssize_t arborescence_work(Py_ssize_t n_words) noexcept nogil
# How many float64 numbers `max_arborescence_c` works in.

cdef Contraction contraction_in(double *work, Py_ssize_t n_words) noexcept nogil
# The run whose arrays stand in these float64 numbers.

cdef int max_arborescence_c(const double *scores, Py_ssize_t pitch, Py_ssize_t n_words, bint one_root, int *heads,
                            double *work) noexcept nogil
# The heads of words 1..n in heads[0..n - 1]. Scores as above; neither the arcs into word 0 nor those from a word to itself are used.
# INFEASIBLE: heads are -1 for the words of a set that no tree enters. With one_root, they are -2 for those of another.

cdef int best_tree(Contraction *c, bint one_root, int *heads) noexcept nogil
# The same from the scores and the pitch of a run, which is left in it.

cdef double total_score(const double *scores, Py_ssize_t pitch, Py_ssize_t n_words, const int *heads) noexcept nogil
# The sum of the scores, in the order of the words.

cdef refusal(int status, const double *scores, Py_ssize_t pitch, Py_ssize_t n_words, const int *heads, str name)
# The exception for a status below 0; `name` begins the message.


# ---- arborescence sums ----
# Sums over all arborescences of n words. Statuses, and `refusal`: see arborescences.pxd.

cdef Py_ssize_t arborescence_marginals_work(Py_ssize_t n_words) noexcept nogil
# How many float64 numbers `arborescence_marginals_c` works in.

cdef int arborescence_marginals_c(const double *scores, Py_ssize_t pitch, Py_ssize_t n_words, bint one_root, double *log_z, double *arcs,
                                  int *heads, double *work) noexcept nogil
# log Z, the share of each arc in (n + 1, n + 1) numbers, and the best tree's heads. If there is none, its witness.
