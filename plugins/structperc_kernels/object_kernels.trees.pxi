# The convolution kernel on trees: how many fragments two parse trees have in common (Collins and Duffy, 2002).
#
# Typical sizes: trees of 20..200 nodes; two of 60 have 15 productions in common, in 40 pairs of nodes. An evaluation walks over both sorted
# lists of productions (2 ns per entry), then over equal pairs (10 ns each): 0.6 us for such trees. Encoding needs 1 us per node.

cdef enum:
    WORD = -1                   # as a number of children: a leaf that is a word, not a category
    NO_PRODUCTION = -1          # as a child's number: a category without children
    MOST_PAIRS = 0x7FFFFFFF
    PAIR = 10                   # operations for a pair of nodes, and
    CHILD = 2                   # for each of their children

TOKENS = re.compile(r"[()]|[^\s()]+")


ctypedef struct Group:
    int production
    int first                   # the first of its nodes; they end where those of the next group begin


ctypedef struct Tree:
    # Nodes that have a production, numbered by production.
    Measured measured
    int n_nodes, n_groups, n_children
    Group *groups               # one more at the end
    int *first                  # where the children of a node begin in `children`, words left out; one more at the end
    int *children               # nodes, or NO_PRODUCTION
    int *upwards                # all nodes, children before their parents


ctypedef struct Pair:
    const Group *mine           # groups of equal productions
    const Group *its


ctypedef struct Match:
    int first, n                # the nodes of the other tree that have this node's production
    double *row                 # the values of this node with these


cdef class EncodedTree(Encoded):
    """A tree with its productions numbered."""
    # symbols: tuple of str. Labels and words, each label before those below it.
    # n_children: array of int32. How many children each has; -1 for words.

    cdef Tree tree
    cdef int[::1] memory
    cdef readonly object n_children

    def key(self):
        return self.symbols, self.n_children.tobytes()


cdef class SubsetTreeKernel(ObjectKernel):
    """How many fragments two trees have in common, larger ones weighing less.

    A fragment is a node with all its children, each again with all its children or cut off there. Such subset trees follow the
    productions. With decay lambda, K(a, b) is the sum over all fragments f of lambda^size(f) * count_a(f) * count_b(f). The size is
    the number of productions of f. K is the sum of C over all pairs of nodes:

        C(n, m) = 0 if the productions differ,
        C(n, m) = lambda * product over children k of `(1 + C(n_k, m_k))` else; words count as factors of 1.

    A production is a label with the labels and words below it, in order. A word never equals a label. Values have the same bits for
    (a, b) and (b, a).

    Parameters
    ----------
    decay : float, default 0.4
        lambda, above 0 and at most 1. Larger values give large fragments more weight; with 1, large trees are similar only to
        themselves. Try 0.2 to 0.5.
    normalise : bool, default True
        K(a, b) / sqrt(K(a, a) K(b, b)), so that K(a, a) = 1. Trees without any production, single labels, have K = 0.

    Raises
    ------
    OptionError
        For a decay or normalise that cannot be.

    Notes
    -----
    A tree has one of three forms. Nested tuples or lists: ("NP", ("D", "the"), ("N", "dog")), each a label and its children, words as
    strings. A text: "(NP (D the) (N dog))". An `nltk.Tree`. A label may have no children: ("NP",), "(NP)". In a text, a label may be
    missing before a bracket, as in the outermost bracket of the Penn Treebank. The label is "" then.

    Cost: O(number of different productions + pairs of nodes with equal productions * children). Scratch space: 8 bytes for each such pair.
    Nothing is recursive, so trees may be deep. Sorted lists give the pairs of equal productions (Moschitti).

    References
    ----------
    M. Collins and N. Duffy: New ranking algorithms for parsing and tagging: kernels over discrete structures, and the voted perceptron.
    Proceedings of ACL 2002, pages 263-270.

    A. Moschitti: Making tree kernels practical for natural language learning. Proceedings of EACL 2006, pages 113-120.

    Examples
    --------
    >>> from structperc_kernels.object_kernels import SubsetTreeKernel
    >>> kernel = SubsetTreeKernel(decay=1.0, normalise=False)
    >>> kernel("(NP (D the) (N dog))", "(NP (D the) (N cat))")
    3.0
    >>> kernel("(NP (D the) (N dog))", ("NP", ("D", "the"), ("N", "dog")))
    6.0

    The common fragments of the first pair are (D the), (NP D N) and (NP (D the) N).
    """

    citation = """@inproceedings{collins2002new,
  author = {Collins, Michael and Duffy, Nigel},
  title = {New Ranking Algorithms for Parsing and Tagging: Kernels over Discrete Structures, and the Voted Perceptron},
  booktitle = {Proceedings of the 40th Annual Meeting of the Association for Computational Linguistics},
  pages = {263--270},
  year = {2002}
}"""

    def __init__(self, decay=0.4, normalise=True):
        super().__init__(decay, normalise)

    def encode(self, obj, learn=True):
        symbols, n_children = read_text(obj) if isinstance(obj, str) else read_nested(obj)
        return self.encode_flat(obj, symbols, n_children, learn)

    def state(self, encodeds):
        """As `ObjectKernel.state`, and n_children (int32), as `EncodedTree` has them."""
        arrays = super().state(encodeds)
        arrays["n_children"] = np.concatenate([np.zeros(0, dtype=np.intc), *(encoded.n_children for encoded in encodeds)])
        return arrays

    def restore(self, state):
        """The list of `Encoded` of which this is the state; their originals are nested tuples."""
        listed, n_children = self.saved_symbols(state), read_array(state, "n_children", np.intc, (None,))
        if len(n_children) != sum(map(len, listed)):
            raise DataError(f"there are {len(n_children)} saved numbers of children; expected {sum(map(len, listed))}.")
        trees, start = [], 0
        for i, symbols in enumerate(listed):
            own = n_children[start:start + len(symbols)]
            start += len(symbols)
            if not all(isinstance(symbol, str) for symbol in symbols):
                raise DataError(f"the saved tree {i} has a label or word that is no string.")
            trees.append((nested(symbols, own.tolist(), i), symbols, own))
        return [self.encode_flat(*tree, True) for tree in trees]

    def encode_flat(self, original, symbols, n_children, learn):
        """Encodes a tree from its symbols in preorder. Returns `EncodedTree`. Raises `DataError` if the symbols are no single tree.

        Parameters
        ----------
        original : object
            The tree of the user.
        symbols : list of str
            Labels and words, each label before those below it.
        n_children : sequence of int
            How many children each symbol has; -1 for words.
        learn : bool
            As in `encode`.
        """
        cdef EncodedTree encoded = EncodedTree()
        cdef list pending = [], key, productions = [], firsts = [], children = []
        cdef Py_ssize_t i
        cdef int n
        cdef object child
        counts = np.array(n_children, dtype=np.intc)
        cdef int[::1] arity = counts
        for i in range(len(symbols) - 1, -1, -1):           # backwards: `pending` has the children of a node, the first one last
            PyErr_CheckSignals()
            n = arity[i]
            if n <= 0:
                pending.append((symbols[i], None if n == WORD else NO_PRODUCTION))
                continue
            key = [symbols[i]]
            firsts.append(len(children))
            for _ in range(n):
                symbol, child = pending.pop()
                if child is None:
                    key.append(None)                        # marks a word
                else:
                    children.append(child)
                key.append(symbol)
            pending.append((symbols[i], len(productions)))
            productions.append(tuple(key))
        encoded.original, encoded.symbols, encoded.n_children = original, tuple(symbols), counts
        encoded.number(self.table, tuple(productions), learn)
        firsts.append(len(children))
        lay_out(encoded, len(productions), firsts, children)
        return self.measured(encoded, &encoded.tree.measured, not productions)

    cdef Py_ssize_t room_c(self, Py_ssize_t size_a, Py_ssize_t size_b) noexcept nogil:
        """Doubles that an evaluation needs: a value or a Pair for each pair of nodes, a Match for each node of the smaller tree."""
        return 4 * size_a * size_b + 4

    cdef double plain_c(self, const void *a, const void *b, double *work) noexcept nogil:
        cdef const Tree *s = <const Tree *> a
        cdef const Tree *t = <const Tree *> b
        if tree_follows(s, t):
            s, t = t, s
        return common_fragments(s, t, self.decay, <Match *> work + 1, work + 2 * (s.n_nodes + 1))


cdef double common_fragments(const Tree *a, const Tree *b, double decay, Match *match, double *memo) noexcept nogil:
    """The sum of C over all pairs of nodes, or NaN if interrupted. memo has room for each pair of equal productions."""
    # match has an entry for each node of a, and one before them: no node of b has the production of a node without production.
    cdef int i, j, k, m, start, offset, n_children
    cdef int64_t apart, before, behind
    cdef Pair *pair = <Pair *> memo             # forgotten before values are written
    cdef const Group *g = a.groups
    cdef const Group *g_end = g + a.n_groups
    cdef const Group *h = b.groups
    cdef const Group *h_end = h + b.n_groups
    cdef Py_ssize_t operations
    cdef const Match *below
    cdef const int *mine
    cdef const int *its
    cdef double value, row_sum, total = 0
    for i in range(NO_PRODUCTION, a.n_nodes):
        match[i].first = match[i].n = 0
    while g < g_end and h < h_end:                  # both go on together or only one, without an unpredictable branch
        apart = <int64_t> g.production - h.production
        before, behind = apart >> 63 & 1, -apart >> 63 & 1
        pair.mine, pair.its = g, h
        pair += 1 - before - behind
        g += 1 - behind
        h += 1 - before
    while pair > <Pair *> memo:
        pair -= 1
        g, h = pair.mine, pair.its
        for i in range(g[0].first, g[1].first):
            match[i].first, match[i].n = h[0].first, h[1].first - h[0].first
    for start in range(0, a.n_nodes, 64):           # a call among the loops below would slow small trees by a tenth
        operations = 0
        for m in range(start, min(start + 64, a.n_nodes)):
            i = a.upwards[m]
            if match[i].n == 0:
                continue
            match[i].row, row_sum = memo, 0
            mine, n_children = a.children + a.first[i], a.first[i + 1] - a.first[i]
            operations += match[i].n * (PAIR + CHILD * <Py_ssize_t> n_children)
            for j in range(match[i].first, match[i].first + match[i].n):
                its, value = b.children + b.first[j], decay
                for k in range(n_children):
                    below = &match[mine[k]]
                    offset = its[k] - below.first
                    if 0 <= offset < below.n:
                        value *= 1 + below.row[offset]
                memo[0] = value
                memo += 1
                row_sum += value
            total += row_sum
        if interrupted(operations):
            return NAN
    return total


cdef bint tree_follows(const Tree *a, const Tree *b) noexcept nogil:
    """An order of trees, so that (a, b) and (b, a) are summed in the same order."""
    if a.n_nodes != b.n_nodes:
        return a.n_nodes > b.n_nodes
    if a.n_groups != b.n_groups:
        return a.n_groups > b.n_groups
    if a.n_children != b.n_children:
        return a.n_children > b.n_children
    return a.measured.order > b.measured.order


cdef Py_ssize_t integers(const Tree *tree) noexcept nogil:
    """The size of all arrays of a tree."""
    return 2 * (tree.n_groups + 1) + tree.n_nodes + 1 + tree.n_children + tree.n_nodes


cdef int lay_out(EncodedTree encoded, int n, list firsts, list children) except -1:
    """Fills the tree from the numbers of its n nodes' productions, children before parents, where their children begin, and these."""
    cdef Tree *tree = &encoded.tree
    cdef int i, m, k, n_children = 0, group = -1
    cdef int[::1] number = encoded.numbers, order = np.argsort(number[:n], kind="stable").astype(np.intc)
    cdef double pairs = 0
    tree.n_nodes, tree.n_groups, tree.n_children = n, 0, len(children)
    for i in range(n):
        if i == 0 or number[order[i]] != number[order[i - 1]]:
            tree.n_groups += 1
            m = i
        pairs += 2 * (i - m) + 1                        # of the node with itself and with those of its group before it
    if pairs > MOST_PAIRS:
        raise DataError(f"it has {n} nodes, of which {pairs:.0f} pairs have equal productions; expected at most {MOST_PAIRS} pairs.")
    encoded.size = <Py_ssize_t> ceil(sqrt(pairs))
    encoded.memory = np.empty(integers(tree), dtype=np.intc)
    tree.groups = <Group *> &encoded.memory[0]
    tree.first = <int *> (tree.groups + tree.n_groups + 1)
    tree.children = tree.first + n + 1
    tree.upwards = tree.children + tree.n_children
    for i in range(n):
        m = order[i]
        tree.upwards[m] = i
    for i in range(n):
        m = order[i]
        if i == 0 or number[m] != number[order[i - 1]]:
            group += 1
            tree.groups[group].production, tree.groups[group].first = number[m], i
        tree.first[i] = n_children
        for k in range(<int> firsts[m], <int> firsts[m + 1]):
            tree.children[n_children] = tree.upwards[<int> children[k]] if children[k] != NO_PRODUCTION else NO_PRODUCTION
            n_children += 1
    tree.first[n] = n_children
    tree.groups[tree.n_groups].production, tree.groups[tree.n_groups].first = 0, n
    return 0


def read_nested(tree):
    """Symbols and numbers of children of nested tuples, lists or nltk trees, in preorder."""
    cdef list symbols = [], n_children = [], pending = [tree], children
    while pending:
        PyErr_CheckSignals()
        node = pending.pop()
        if isinstance(node, str) and symbols:
            symbols.append(node)
            n_children.append(WORD)
            continue
        if not isinstance(node, (tuple, list)):
            raise DataError(f"{reprlib.repr(node)} is no tree. Pass a label and its children in a tuple or list, such as "
                            f"('NP', ('D', 'the'), ('N', 'dog')). Pass words as strings.")
        children = list(node)
        if type(node) is not tuple and hasattr(node, "label"):
            label = node.label()
        elif children:
            label = children.pop(0)
        else:
            raise DataError(f"symbol {len(symbols)} of the tree is {shortened(node)}; expected a label and its children.")
        if not isinstance(label, str):
            raise DataError(f"symbol {len(symbols)} of the tree is {reprlib.repr(label)} of {type(label).__name__}. Pass a label, a "
                            f"string, as the first entry of a tuple or list.")
        symbols.append(label)
        n_children.append(len(children))
        pending.extend(reversed(children))
    return symbols, n_children


def read_text(text):
    """Symbols and numbers of children of a tree in brackets, in preorder."""
    cdef list symbols = [], n_children = [], open_nodes = [], places = []
    cdef bint labelled = True                   # whether the last open bracket has its label
    for token_match in TOKENS.finditer(text):
        PyErr_CheckSignals()
        token, place = token_match.group(), token_match.start()
        if not open_nodes and (symbols or token != "("):
            where = "after its end" if symbols else "before any bracket"
            raise DataError(f"character {place} of the tree is {token[0]!r}, {where}; expected one tree, such as '(NP (D the) (N dog))'.")
        if token == ")":
            if not labelled:
                raise DataError(f"character {place} of the tree closes a bracket without a label; expected a label after '('.")
            open_nodes.pop()
            places.pop()
            continue
        if not labelled:
            symbols.append("" if token == "(" else token)
            labelled = True
            if token != "(":
                continue
        if open_nodes:
            n_children[open_nodes[len(open_nodes) - 1]] += 1
        if token == "(":
            open_nodes.append(len(n_children))
            places.append(place)
            n_children.append(0)
            labelled = False
        else:
            symbols.append(token)
            n_children.append(WORD)
    if open_nodes or not symbols:
        raise DataError(f"the tree ends at character {len(text)}, but its bracket of character {places.pop()} is not closed; add ')'."
                        if open_nodes else "the tree is an empty text; expected one such as '(NP (D the) (N dog))'.")
    return symbols, n_children


def nested(symbols, n_children, i):
    """The tree as nested tuples, from preorder; a DataError if these are no whole tree."""
    pending = []
    for symbol, n in zip(reversed(symbols), reversed(n_children), strict=True):
        if n < WORD or n > len(pending):
            raise DataError(f"the saved tree {i} has a node of {n} children; expected 0 to {len(pending)} there, or -1 for a word.")
        if n == WORD:
            pending.append(symbol)
        else:
            below = [pending.pop() for _ in range(n)]
            pending.append((symbol, *below))
    if len(pending) != 1 or isinstance(pending[0], str):
        raise DataError(f"the saved tree {i} is not one tree; expected a label above everything.")
    return pending[0]
