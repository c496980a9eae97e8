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
    """The sum over all common subsequences of this length; NaN where interrupted."""
    # Row j has a sum for each i below length, over common subsequences of i symbols. They are in the part of a so far and in b up to symbol
    # j. They decay from their first symbol to the end of both. `ended` has those that end with the newest symbol of a. `last` is row j - 1
    # before this symbol. For i = 0 there is one, the empty sequence.
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
