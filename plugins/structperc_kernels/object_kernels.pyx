"""Kernels on objects that are no rows of numbers: trees, strings.

An object is encoded once: checked, its symbols numbered, its arrays laid out for the kernel. Symbols are numbered by a table of the kernel
for as long as an encoded object uses them. Do not compare objects that different kernels have encoded. Values are computed
without the GIL, in scratch space of the caller.

Typical sizes: 10^2..10^5 objects of 10..200 nodes or symbols; encoding takes 10 to 100 us, a value 0.3 to 100 us.
"""
import hashlib
import inspect
import json
import numbers
import re
import reprlib

cimport cython
import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport NAN, ceil, sqrt
from libc.stdint cimport int64_t
from structperc.core.signals cimport interrupted
from structperc.errors import DataError, OptionError, shortened
from structperc.plugin_tools import read_array


# ---- symbol table ----
# Numbers of symbols, each known for as long as something holds it: streams of ever new symbols take no more memory than what is kept.
#
# Typical sizes: 10^2..10^6 symbols. Cost: 0.1 us to hold a symbol or to let it go.


@cython.no_gc_clear             # objects that are collected together with the table let go of their symbols
cdef class SymbolTable:
    """Symbols that are held, with their numbers from 0 on. The number of a symbol that nothing holds any more is used again."""

    def __cinit__(self):
        self.numbers, self.symbols, self.unused = {}, [], []
        self.n_holders = np.zeros(64, dtype=np.int64)

    cdef int hold(self, symbol) except -1:
        """The number of a symbol, which is held once more; a TypeError for one that cannot be hashed."""
        cdef int number
        old_number = self.numbers.get(symbol)
        number = self.add(symbol) if old_number is None else old_number
        self.n_holders[number] += 1
        return number

    cdef int add(self, symbol) except -1:
        cdef int number = self.unused.pop() if self.unused else self.further()
        cdef int kept_number = self.numbers.setdefault(symbol, number)  # another thread may have been faster
        if kept_number != number:
            self.unused.append(number)
        else:
            self.symbols[number] = symbol
        return kept_number

    cdef int further(self) except -1:
        """A number that was never used."""
        cdef Py_ssize_t n = len(self.symbols)
        if n == self.n_holders.shape[0]:
            self.n_holders = np.concatenate([self.n_holders, np.zeros(n, dtype=np.int64)])
        self.symbols.append(None)
        return <int> n

    cdef int let_go(self, int number) except -1:
        """Holds a symbol once less."""
        self.n_holders[number] -= 1
        if self.n_holders[number] == 0 and number < len(self.symbols):      # the garbage collector may have emptied the list before
            symbol, self.symbols[number] = self.symbols[number], None
            self.numbers.pop(symbol, None)
            self.unused.append(number)
        return 0


# ---- object kernels ----


LOWEST, HIGHEST = 1e-150, 1e150     # of a kernel of an object with itself, so that products of two are finite and not 0
PLAIN = (str, int, float, type(None))                # symbols that a model file holds


@cython.no_gc_clear             # __dealloc__ needs the table
cdef class Encoded:
    """An object in the form that its kernel computes with.

    Attributes
    ----------
    original : object
        The object of the user.
    size : int
        Sets the scratch space of an evaluation: two objects have at most as many pairs of equal symbols as the product of their sizes.
    symbols : tuple
        All labels and words, or all tokens.
    learned : bool
        Whether the kernel keeps the numbers of the symbols as long as this object exists.

    Examples
    --------
    >>> from structperc_kernels import SubsequenceKernel
    >>> SubsequenceKernel(length=2).encode("cat").symbols
    ('c', 'a', 't')
    """

    __signature__ = inspect.Signature()

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n_held):
            self.table.let_go(self.numbers[i])

    cdef int number(self, SymbolTable table, tuple symbols, bint learn) except -1:
        """Fills `numbers`, to be held with `learn`; without it, symbols that the table does not know get negative ones."""
        cdef dict new = {}
        cdef Py_ssize_t i
        self.numbers, self.table, self.learned = np.zeros(len(symbols) + 1, dtype=np.intc), table, learn
        for i, symbol in enumerate(symbols):
            PyErr_CheckSignals()
            try:
                if learn:
                    self.numbers[i] = table.hold(symbol)
                    self.n_held += 1
                else:
                    number = table.numbers.get(symbol)
                    self.numbers[i] = new.setdefault(symbol, -1 - len(new)) if number is None else number
            except TypeError:
                raise DataError(f"symbol {i} is {shortened(symbol)} of {type(symbol).__name__}, which cannot be hashed; use strings, "
                                f"numbers or tuples.") from None
        return 0

    def key(self):
        """Identifies the object.

        Returns
        -------
        tuple
            Hashable; the same for equal objects and only for these.
        """
        return self.symbols


cdef class ObjectKernel(Component):
    """Base of kernels on objects.

    A subclass overrides `encode`, `room_c`, and `plain_c` or `value_c`. The value of two objects must not depend on the numbers of their
    symbols. `Measured.order` puts objects in an order that is the same in every process.

    Parameters
    ----------
    decay : float
        Above 0 and at most 1: the weight of each further symbol of a fragment that two objects share.
    normalise : bool
        Divide by the root of the values of both objects with themselves, so that the kernel is a cosine. If one of these is 0 (an
        object without fragments), the kernel is 0.

    Attributes
    ----------
    n_symbols : int
        The number of different symbols in all encoded objects that exist: productions of trees, symbols of strings.

    Examples
    --------
    >>> from structperc_kernels import ObjectKernel, SubsequenceKernel
    >>> kernel = SubsequenceKernel(length=2, decay=0.5)
    >>> isinstance(kernel, ObjectKernel), round(kernel("cat", "car"), 3)
    (True, 0.444)
    """

    def __init__(self, decay, normalise=True):
        if not isinstance(decay, numbers.Real) or isinstance(decay, bool) or not 0 < decay <= 1:
            raise OptionError(f"decay={shortened(decay)}; expected a number above 0 and at most 1.")
        if not isinstance(normalise, (bool, np.bool_)):
            raise OptionError(f"normalise={shortened(normalise)}; expected True or False.")
        self.decay, self.normalise, self.table = decay, normalise, SymbolTable()

    @property
    def n_symbols(self):
        return len(self.table.numbers)

    def __repr__(self):
        return f"{type(self).__name__}(decay={self.decay:g}, normalise={self.normalise})"

    def __call__(self, a, b):
        """The kernel between two objects as users have them, a float; nothing is learned from them."""
        kernel = self.clone()
        return float(kernel.values([kernel.encode(a)], [kernel.encode(b)])[0, 0])

    def encode(self, obj, learn=True):
        """An object as this kernel computes with it.

        Parameters
        ----------
        obj : object
        learn : bool, default True
            Whether new symbols become known to this kernel, until the last object with them is gone. If not, compare the result
            only with itself and with objects that were encoded before with learn=True.

        Returns
        -------
        Encoded

        Raises
        ------
        DataError
            If the object is invalid. The caller adds which object it is.
        """
        raise self.missing("encode")

    def values(self, rows, columns):
        """The kernel between encoded objects.

        Parameters
        ----------
        rows, columns : sequence of Encoded

        Returns
        -------
        float64 array of shape (len(rows), len(columns))

        Raises
        ------
        DataError
            If two different objects were both encoded with learn=False.

        Examples
        --------
        >>> from structperc_kernels.object_kernels import SubsequenceKernel
        >>> kernel = SubsequenceKernel(length=2, decay=0.5)
        >>> words = [kernel.encode(word) for word in ("cat", "car", "bat")]
        >>> kernel.values(words, words).round(3).tolist()
        [[1.0, 0.444, 0.444], [0.444, 1.0, 0.0], [0.444, 0.0, 1.0]]
        """
        table = np.zeros((len(rows), len(columns)))
        cdef double[:, ::1] values = table
        cdef double[::1] work
        cdef Encoded a, b
        cdef Py_ssize_t i, j
        work = self.scratch(max([encoded.size for encoded in rows], default=0), max([encoded.size for encoded in columns], default=0))
        for i, a in enumerate(rows):
            for j, b in enumerate(columns):
                if a is not b and not (a.learned or b.learned):
                    raise DataError("two objects were encoded with learn=False, so their equal symbols have different numbers. Encode "
                                    "one of them with learn=True.")
                values[i, j] = self.value_c(a.at, b.at, &work[0])
                if values[i, j] != values[i, j]:
                    self.raised()
        return table

    def state(self, encodeds):
        """Encoded objects as arrays for a model file; `restore` takes them back.

        symbols (uint8): the distinct symbols as a JSON list in UTF-8; codes (int32): their places in it, object after object; ends
        (int64): where the codes of each object end.
        """
        place = {}
        codes = [place.setdefault(kind_of(symbol), len(place)) for encoded in encodeds for symbol in encoded.symbols]
        symbols = [symbol for _, symbol in place]
        for symbol in symbols:
            if not isinstance(symbol, PLAIN):
                raise DataError(f"the symbol {shortened(symbol)} cannot be written to a model file; use strings or numbers.")
        return {"symbols": np.frombuffer(json.dumps(symbols).encode(), dtype=np.uint8), "codes": np.array(codes, dtype=np.int32),
                "ends": np.cumsum([len(encoded.symbols) for encoded in encodeds], dtype=np.int64)}

    def restore(self, state):
        """The list of `Encoded` of this state, with their symbols learned. Raises DataError if it is invalid."""
        raise self.missing("restore")

    def saved_symbols(self, state):
        """Reads the symbols of each object from a saved state.

        Parameters
        ----------
        state : dict of arrays
            "symbols", "codes" and "ends", as `state` returns them.

        Returns
        -------
        list of lists

        Raises
        ------
        DataError
            If an array is missing or invalid.
        """
        text, codes, ends = (read_array(state, name, dtype, (None,)) for name, dtype in (
            ("symbols", np.uint8), ("codes", np.int32), ("ends", np.int64)))
        try:
            symbols = json.loads(text.tobytes())
        except (ValueError, RecursionError) as error:
            raise DataError(f"the saved symbols are no JSON: {error}.") from None
        if not isinstance(symbols, list) or not all(isinstance(symbol, PLAIN) for symbol in symbols):
            raise DataError("the saved symbols are no list of strings and numbers.")
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(symbols):
            raise DataError(f"the saved codes of symbols are {codes.min()} to {codes.max()}; expected 0 to {len(symbols) - 1}.")
        bounds, codes = [0, *ends.tolist(), len(codes)], codes.tolist()
        if sorted(bounds) != bounds or (len(ends) and ends.max() != len(codes)):
            raise DataError(f"the saved objects do not end in order, the last one at {len(codes)}.")
        return [[symbols[code] for code in codes[start:end]] for start, end in zip(bounds, ends, strict=False)]

    def scratch(self, Py_ssize_t size_a, Py_ssize_t size_b):
        """Allocates the scratch space of an evaluation.

        Parameters
        ----------
        size_a, size_b : int
            The largest `Encoded.size` on each side.

        Returns
        -------
        float64 array

        Raises
        ------
        DataError
            If there is not enough memory.
        """
        cdef Py_ssize_t n = self.room_c(size_a, size_b) + 1
        try:
            return np.empty(n)
        except MemoryError:
            raise DataError(f"its kernel needs {8 * n / 2**30:.1f} GiB of scratch space, more than there is; leave it out or divide "
                            f"it.") from None

    cdef Py_ssize_t room_c(self, Py_ssize_t size_a, Py_ssize_t size_b) noexcept nogil:
        """Doubles of scratch space for an evaluation between objects of at most these sizes."""
        with gil:
            self.error = self.missing("room")
        return 0

    cdef double plain_c(self, const void *a, const void *b, double *work) noexcept nogil:
        """The kernel, not normalised; NaN where it was interrupted."""
        with gil:
            self.error = self.missing("plain")
        return 0

    cdef double value_c(self, const void *a, const void *b, double *work) noexcept nogil:
        """The kernel between two objects; the same bits for (a, b) and (b, a), and NaN where it was interrupted."""
        cdef double value = self.plain_c(a, b, work)
        if not self.normalise or value == 0:
            return value
        return value / sqrt((<const Measured *> a).square * (<const Measured *> b).square)

    cdef Encoded measured(self, Encoded encoded, Measured *at, bint empty):
        """The object with its value with itself, or why it has none that numbers can hold; empty: whether it has no fragments."""
        cdef double[::1] work = self.scratch(encoded.size, encoded.size)
        text = repr(encoded.key()).encode("utf-8", "surrogatepass")
        at.order = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
        with nogil:
            at.square = self.plain_c(at, at, &work[0])
        encoded.at = at
        if self.error is not None or at.square != at.square:
            self.raised()
        if not empty and not LOWEST <= at.square <= HIGHEST:
            raise DataError(f"its kernel with itself is {at.square:.3g} with decay={self.decay:g}, beyond what floating point can compare; "
                            f"{'lower' if at.square > 1 else 'raise'} the decay.")
        return encoded


def kind_of(symbol):
    """The symbol as JSON has it, and its type: 1, 1.0 and True are different texts."""
    symbol = symbol.item() if isinstance(symbol, np.generic) else symbol
    return type(symbol), symbol


# ---- strings ----
# The string kernel: how many subsequences two strings have in common, gaps allowed (Lodhi et al., 2002).
#
# Typical sizes: strings of 5..500 symbols, subsequences of 2..6. An evaluation costs about 4 ns * |a| * |b|. From a length of 6 on,
# each further symbol adds 1 ns. Two sentences of 110 characters need 60 us.

cdef enum:
    OFTEN = 1 << 12             # operations between two questions whether to stop


ctypedef struct String:
    Measured measured
    Py_ssize_t n
    const int *symbols


cdef class EncodedString(Encoded):
    """A string with its symbols numbered."""

    cdef String string


cdef class SubsequenceKernel(ObjectKernel):
    """How many subsequences of `length` symbols two strings have in common, those with gaps weighing less.

    K(a, b) is a sum over all places `i_1 < ... < i_p` in a and `j_1 < ... < j_p` in b with the same symbols. Each adds
    `decay^(span of i + span of j)`; p is the length, and a span is `i_p - i_1 + 1`. Values have the same bits for (a, b) and (b, a).

    Parameters
    ----------
    length : int, default 3
        p, at least 1.
    decay : float, default 0.5
        Above 0 and at most 1; with 1 gaps cost nothing.
    normalise : bool, default True
        K(a, b) / sqrt(K(a, a) K(b, b)); then K(a, a) = 1, except for strings of fewer than `length` symbols. These have no subsequence of
        this length: their K is always 0, also with themselves and normalised.

    Raises
    ------
    OptionError
        For a length, decay or normalise that cannot be.

    Notes
    -----
    A string is a str, whose characters are the symbols, or a list, tuple or one-dimensional array of symbols. Symbols are words, numbers
    or anything else that can be hashed; equal symbols are the same one.

    Cost: ``O(length * |a| * |b|)``. Scratch space: 8 * length bytes for each symbol of the longer one. Only sums of positive terms: the
    relative error is about ``1e-16 * (|a| + |b|)``. The recursion is that of Lodhi et al., with their K'' as a running sum.

    References
    ----------
    H. Lodhi, C. Saunders, J. Shawe-Taylor, N. Cristianini and C. Watkins: Text classification using string kernels. Journal of Machine
    Learning Research 2, pages 419-444, 2002.

    Examples
    --------
    >>> from structperc_kernels.object_kernels import SubsequenceKernel
    >>> SubsequenceKernel(length=2, decay=0.5, normalise=False)("cat", "car")
    0.0625
    >>> SubsequenceKernel(length=2, decay=0.5)(["the", "old", "dog"], ("the", "dog")).__round__(3)
    0.333
    """

    citation = """@article{lodhi2002text,
  author = {Lodhi, Huma and Saunders, Craig and Shawe-Taylor, John and Cristianini, Nello and Watkins, Chris},
  title = {Text Classification using String Kernels},
  journal = {Journal of Machine Learning Research},
  volume = {2},
  pages = {419--444},
  year = {2002}
}"""

    cdef readonly Py_ssize_t length

    def __init__(self, length=3, decay=0.5, normalise=True):
        super().__init__(decay, normalise)
        if not isinstance(length, numbers.Integral) or isinstance(length, bool) or length < 1:
            raise OptionError(f"length={shortened(length)}; expected a whole number, at least 1.")
        self.length = length

    def __repr__(self):
        return f"{type(self).__name__}(length={self.length}, decay={self.decay:g}, normalise={self.normalise})"

    def encode(self, obj, learn=True):
        cdef EncodedString encoded = EncodedString()
        symbols = symbols_of(obj)
        encoded.number(self.table, symbols, learn)
        encoded.original, encoded.symbols, encoded.size = obj, symbols, len(symbols)
        encoded.string.n, encoded.string.symbols = len(symbols), &encoded.numbers[0]
        return self.measured(encoded, &encoded.string.measured, len(symbols) < self.length)

    def state(self, encodeds):
        """As `ObjectKernel.state`, and texts (bool): which objects are a str."""
        arrays = super().state(encodeds)
        arrays["texts"] = np.array([isinstance(encoded.original, str) for encoded in encodeds], dtype=bool)
        return arrays

    def restore(self, state):
        """The list of `Encoded` of which this is the state; their originals are str and tuples."""
        listed = self.saved_symbols(state)
        texts = read_array(state, "texts", bool, (len(listed),))
        originals = []
        for i, (symbols, is_text) in enumerate(zip(listed, texts.tolist(), strict=True)):
            if is_text and not all(isinstance(symbol, str) and len(symbol) == 1 for symbol in symbols):
                raise DataError(f"the saved string {i} is a text, but has symbols that are no characters.")
            originals.append("".join(symbols) if is_text else tuple(symbols))
        return [self.encode(original) for original in originals]

    cdef Py_ssize_t room_c(self, Py_ssize_t size_a, Py_ssize_t size_b) noexcept nogil:
        return self.length * (max(size_a, size_b) + 2)

    cdef double plain_c(self, const void *a, const void *b, double *work) noexcept nogil:
        cdef const String *s = <const String *> a
        cdef const String *t = <const String *> b
        if string_follows(s, t):
            s, t = t, s
        if s.n < self.length:
            return 0
        return common_subsequences(s, t, self.length, self.decay, work)


cdef double common_subsequences(const String *a, const String *b, Py_ssize_t length, double decay, double *work) noexcept nogil:
    """The sum over all common subsequences of this length; NaN where interrupted.

    Row j has a sum for each i below length, over common subsequences of i symbols. They are in the part of a so far and in b up to symbol
    j. They decay from their first symbol to the end of both. `ended` has those that end with the newest symbol of a. `last` is row j - 1
    before this symbol. For i = 0 there is one, the empty sequence.
    """
    cdef double *ended = work
    cdef double *last = work + length
    cdef double *rows = work + 2 * length
    cdef double *row
    cdef double square = decay * decay, total = 0, factor
    cdef Py_ssize_t i, j, k, operations = 0
    for j in range(b.n * length):
        rows[j] = 0
    last[0] = 1
    for k in range(a.n):
        operations += b.n * length
        if operations > OFTEN:
            if interrupted(operations):
                return NAN
            operations = 0
        for i in range(1, length):
            ended[i] = last[i] = 0
        for j in range(b.n):
            row = rows + j * length
            factor = square if b.symbols[j] == a.symbols[k] else 0
            total += factor * last[length - 1]
            for i in range(length - 1, 0, -1):
                ended[i] = decay * ended[i] + factor * last[i - 1]
                last[i] = row[i]
                row[i] = decay * row[i] + ended[i]
    return total


cdef bint string_follows(const String *a, const String *b) noexcept nogil:
    """An order of strings, so that (a, b) and (b, a) are summed in the same order."""
    if a.n != b.n:
        return a.n > b.n
    return a.measured.order > b.measured.order


def symbols_of(string):
    """The symbols of a string, a tuple."""
    if isinstance(string, np.ndarray) and string.ndim == 1:
        return tuple(string.tolist())
    if not isinstance(string, (str, tuple, list)):
        raise DataError(f"{shortened(string)} is no string; expected a str, or a list, tuple or one-dimensional array of symbols.")
    return tuple(string)


# ---- trees ----
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
    """A tree with its productions numbered.

    Attributes
    ----------
    symbols : tuple of str
        Labels and words, each label before those below it.
    n_children : array of int32
        How many children each has; -1 for words.
    """

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
        """Encodes a tree from its symbols in preorder.

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

        Returns
        -------
        EncodedTree

        Raises
        ------
        DataError
            If the symbols are no single tree.
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
    """The sum of C over all pairs of nodes, or NaN if interrupted. memo has room for each pair of equal productions.

    match has an entry for each node of a, and one before them: no node of b has the production of a node without production.
    """
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
