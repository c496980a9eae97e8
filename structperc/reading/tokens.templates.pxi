# Window features of tokens that are tuples of strings, from a template: no Python string is made for any of them.
#
# Typical sizes: 20 lines of 1..3 macros, 10^5..10^6 tokens of 2..5 columns. A feature costs 50 ns, half of it for looking its
# name up.


cdef extern from "Python.h":
    Py_ssize_t PySequence_Fast_GET_SIZE(object sequence)
    PyObject **PySequence_Fast_ITEMS(object sequence)

cdef enum:
    FARTHEST = 1000000          # tokens from here to the one a macro reads
    LONGEST_PART = 1000         # letters of a prefix or suffix

cdef enum:                      # what a macro makes of a cell; in the order of SPELLINGS
    WHOLE
    PREFIX
    SUFFIX
    LOWER
    SHAPE
    DIGITS

SPELLINGS = ("x", "prefix", "suffix", "lower", "shape", "digits")
BEGIN = re.compile(r"%x|%(?:prefix|suffix|lower|shape|digits)(?=\[)")
MACRO = re.compile(r"%(x|lower|shape|digits)\[\s*([+-]?\d+)\s*,\s*([^\]]*?)\s*\]")
PART = re.compile(r"%(prefix|suffix)\[\s*([+-]?\d+)\s*,\s*([^\]]*?)\s*,\s*(\d+)\s*\]")


WORD = (                        # how the first column is spelled
    *(f"%prefix[0,0,{n}]" for n in (1, 2, 3)), *(f"%suffix[0,0,{n}]" for n in (1, 2, 3, 4)),
    *(f"%lower[{offset},0]" for offset in (-1, 0, 1)), *(f"%shape[{offset},0]" for offset in (-1, 0, 1)),
    "%shape[-1,0]/%shape[0,0]", "%shape[0,0]/%shape[1,0]",
)


cdef struct Piece:
    int column                  # of a macro, or -1: the literal text at `at`
    int offset
    bint last                   # of its line
    int spelling                # what becomes of the cell
    int letters                 # of a prefix or suffix
    size_t at, n


cdef struct Cell:
    const char *borrowed        # the bytes of a string of the sentence; NULL: they are in `cell_text`, from `at` on
    size_t at, n


cdef class Template:
    """Feature templates as CRF++ has them, one per line.

    Parameters
    ----------
    text : str
        Each line is text with macros `%x[offset,column]`: the string of that column, `offset` tokens further on. Before the
        sentence are the tokens `_B-1`, `_B-2` ..., after it `_B+1`, `_B+2` .... Each line gives each token one feature with
        the value 1. Its name is the line with its macros replaced; a line without macros is a constant feature. Blank lines
        and lines that begin with `#` are left out. `%prefix[offset,column,n]` has the first n letters of the
        string, and `%suffix[offset,column,n]` the last n. `%lower[offset,column]` has small letters. `%digits[offset,column]`
        has 0 for each digit.
        `%shape[offset,column]` has X for capitals, x for small letters and d for digits, each once where it recurs: "McCoy-75"
        is "XxXx-d". A line `B` (or `B01`), CRF++'s bigram of labels, is left out too: a sequence model
        always has one weight per pair of labels. Transitions that look at x (`B...%x[...]`, and `*` of Wapiti) raise an error.
    columns : sequence of str, optional
        Names of the columns, which macros can then use; otherwise columns are numbered from 0.

    Examples
    --------
    >>> from structperc.reading.named import NamedReader
    >>> reader = NamedReader(template="U0:%x[0,word]\\nU1:%x[-1,tag]/%x[0,tag]", columns=["word", "tag"])
    >>> rows = reader.learn([[("dogs", "NNS"), ("bark", "VBP")]])
    >>> reader.vocabulary.names()
    ['U0:dogs', 'U1:_B-1/NNS', 'U0:bark', 'U1:NNS/VBP']
    """

    cdef readonly str text
    cdef readonly tuple columns         # names, or None
    cdef readonly Py_ssize_t n_lines    # features per token
    cdef readonly Py_ssize_t n_columns  # that a token must have at least
    cdef str widest                     # the line that needs so many
    cdef Text literals
    cdef Piece *pieces                  # of all lines, one after the other
    cdef Py_ssize_t n_pieces, room
    cdef Cell *cells                    # of the sentence at hand, row by row
    cdef Py_ssize_t cell_room
    cdef Text cell_text

    def __init__(self, text, columns=None):
        if not isinstance(text, str):
            raise OptionError(f"the template is {text!r:.60} of type {type(text).__name__}; expected the text of a template.")
        self.text, self.columns = str(text), column_names(columns)
        self.literals, self.cell_text = Text(), Text()
        self.n_columns = 0 if columns is None else len(self.columns)
        for number, line in enumerate(text.split("\n"), 1):
            line = line.strip()
            if line and not line.startswith("#") and not re.fullmatch(r"B\d*", line):
                self.add_line(line, f"line {number} of the template, {line!r:.80},")
        if not any(self.pieces[i].column >= 0 for i in range(self.n_pieces)):
            raise OptionError(f"the template {text!r:.80} has no line with a macro %x[offset,column]. Expected the text of a template, "
                              f"such as 'U:%x[0,0]', not the name of a file.")

    def __dealloc__(self):
        PyMem_Free(self.pieces)
        PyMem_Free(self.cells)

    def __reduce__(self):
        return Template, (self.text, self.columns)

    @property
    def lines(self):
        """The pieces of each line: text, (offset, column) of a macro, or (offset, column, spelling, letters)."""
        lines, pieces = [], []
        for i in range(self.n_pieces):
            piece = self.pieces[i]
            if piece.column < 0:
                pieces.append(PyUnicode_DecodeUTF8(self.literals.data + piece.at, piece.n, NULL))
            else:
                spelling = () if piece.spelling == WHOLE else (SPELLINGS[piece.spelling], piece.letters)
                pieces.append((piece.offset, piece.column, *spelling))
            if piece.last:
                lines.append(tuple(pieces))
                pieces = []
        return tuple(lines)

    def columns_of(self, X):
        """How many columns the tokens of X have: as many as are named, or else as the first token has."""
        if self.columns is None and isinstance(X, (list, tuple)):
            for sentence in X:
                for token in sentence if isinstance(sentence, (list, tuple)) else ():
                    if isinstance(token, (list, tuple)):
                        self.check_columns(len(token))
                        return len(token)
        return self.n_columns

    def check_columns(self, Py_ssize_t n):
        """Raises an error for tokens with too few columns for a macro."""
        if n < self.n_columns:
            raise DataError(f"tokens have {n} column{'s' * (n != 1)}, but {self.widest} reads column {self.n_columns - 1}; columns are "
                            f"counted from 0.")

    def encode(self, X, RowBuilder builder, Py_ssize_t n_columns):
        """Writes the rows of all tokens of a list of sentences; returns where sentences begin, an int64 array."""
        X = list(X)             # a value's own code may take sentences out meanwhile
        offsets = np.zeros(len(X) + 1, dtype=np.int64)
        cdef int64_t[::1] ends = offsets
        cdef Py_ssize_t n_tokens = 0, t, n
        self.check_columns(n_columns)
        try:
            for builder.sentence in range(len(X)):
                builder.token = -1
                n_tokens += PySequence_Fast_GET_SIZE(tokens_of(X[builder.sentence]))
                ends[builder.sentence + 1] = n_tokens
            builder.allocate(n_tokens, n_tokens * self.n_lines)
            for builder.sentence in range(len(X)):
                PyErr_CheckSignals()
                sentence = tokens_of(X[builder.sentence])       # kept while its strings are read
                n = self.collect(sentence, n_columns, builder)
                for t in range(n):
                    builder.token = t
                    self.expand(t, n, n_columns, builder)
                    builder.end_row(True)
                builder.flush()
            if builder.n_rows < n_tokens:
                raise DataError("X was changed while it was read")
        except DataError as error:
            raise builder.located(error) from None
        return offsets

    cdef int add_line(self, str line, str where) except -1:
        """Takes a line apart."""
        cdef Piece piece
        cdef Py_ssize_t start = 0, at = next_macro(line, 0)
        if line.startswith(("B", "*")) and at >= 0:         # * of Wapiti: both U and B
            raise OptionError(f"{where} makes transitions depend on x, which this model has not; begin it with U.")
        while at >= 0:
            macro = MACRO.match(line, at) or PART.match(line, at)
            if macro is None:
                expected = "offset,column,letters" if line.startswith(("%prefix", "%suffix"), at) else "offset,column"
                raise OptionError(f"{where} has a malformed macro at {line[at:at + 20]!r}; expected "
                                  f"{BEGIN.match(line, at)[0]}[{expected}].")
            self.add_literal(line[start:at])
            piece.offset, piece.column = self.offset_of(macro[2], where), self.column_of(macro[3], where)
            piece.spelling, piece.letters = SPELLINGS.index(macro[1]), letters_of(macro, where)
            piece.at, piece.n, piece.last = 0, 0, False
            self.add_piece(piece)
            if piece.column >= self.n_columns:
                self.n_columns, self.widest = piece.column + 1, where
            start = macro.end()
            at = next_macro(line, start)
        self.add_literal(line[start:])
        self.pieces[self.n_pieces - 1].last = True
        self.n_lines += 1
        return 0

    cdef int add_literal(self, str text) except -1:
        cdef Piece piece
        piece.column, piece.offset, piece.last, piece.at = -1, 0, False, self.literals.used
        piece.spelling = piece.letters = 0
        try:
            self.literals.append_string(text)
        except DataError as error:
            raise OptionError(f"the template cannot be used: {error}.") from None
        piece.n = self.literals.used - piece.at
        if piece.n:
            self.add_piece(piece)
        return 0

    cdef int add_piece(self, Piece piece) except -1:
        cdef Py_ssize_t room = self.room
        cdef void *pieces
        if self.n_pieces == room:
            room = max(32, 2 * room)
            pieces = PyMem_Realloc(self.pieces, room * sizeof(Piece))
            if pieces == NULL:
                raise MemoryError(f"no memory for {room} pieces of a template")
            self.pieces, self.room = <Piece *> pieces, room
        self.pieces[self.n_pieces] = piece
        self.n_pieces += 1
        return 0

    cdef int offset_of(self, str text, str where) except? -1:
        offset = int(text)
        if abs(offset) > FARTHEST:
            raise OptionError(f"{where} reads a token {offset} tokens away; expected at most {FARTHEST}.")
        return offset

    cdef int column_of(self, str text, str where) except -1:
        """The number of a column that is given by number or by name."""
        hint = f"; there are {', '.join(self.columns)}" if self.columns else "; give their names in columns="
        if not text.isdecimal():
            if self.columns is None or text not in self.columns:
                raise OptionError(f"{where} reads the column {text!r}, but no column has this name{hint}.")
            return self.columns.index(text)
        column = int(text)
        if column >= (FARTHEST if self.columns is None else len(self.columns)):
            hint = f"columns are counted from 0{f', and there are {len(self.columns)}' if self.columns else ''}"
            raise OptionError(f"{where} reads column {text}, which does not exist; {hint}.")
        return column

    cdef Py_ssize_t collect(self, object sentence, Py_ssize_t n_columns, RowBuilder builder) except -1:
        """Points `cells` at all strings of a sentence; returns its length."""
        cdef Py_ssize_t n_tokens = PySequence_Fast_GET_SIZE(sentence), t, j     # a subclass may have a `len` of its own
        cdef Cell *cell
        builder.token = 0
        if n_tokens:                                    # before room for so many columns is made, which a model file may name
            self.check_token(<object> PySequence_Fast_ITEMS(sentence)[0], n_columns)
        self.make_room(n_tokens * n_columns)
        self.cell_text.used = 0
        cell = self.cells
        for t in range(n_tokens):
            builder.token = t
            token = <object> PySequence_Fast_ITEMS(sentence)[t]
            self.check_token(token, n_columns)
            for j in range(n_columns):
                point_at(cell, PySequence_Fast_ITEMS(token)[j], self.cell_text)
                cell += 1
        return n_tokens

    cdef int check_token(self, object token, Py_ssize_t n_columns) except -1:
        if not isinstance(token, (list, tuple)) or PySequence_Fast_GET_SIZE(token) != n_columns:
            raise self.no_token(token, n_columns)
        return 0

    cdef int make_room(self, Py_ssize_t n) except -1:
        cdef void *cells
        if n > self.cell_room:
            cells = PyMem_Realloc(self.cells, n * sizeof(Cell))
            if cells == NULL:
                raise MemoryError(f"no memory for {n} strings of one sentence")
            self.cells, self.cell_room = <Cell *> cells, n
        return 0

    cdef object no_token(self, object token, Py_ssize_t n_columns):
        names = f" ({', '.join(self.columns)})" if self.columns else ""
        came = f"is of type {type(token).__name__}"
        if isinstance(token, (list, tuple)):
            came = f"has {len(token)} column{'s' * (len(token) != 1)}"
        return DataError(f"the token {shortened(token)} {came}; expected a tuple of {n_columns} string{'s' * (n_columns != 1)}{names}")

    cdef int expand(self, Py_ssize_t t, Py_ssize_t n_tokens, Py_ssize_t n_columns, RowBuilder builder) except -1:
        """Pushes the features of token t."""
        cdef Text names = builder.scratch
        cdef Py_ssize_t i, row
        cdef const Piece *piece
        cdef const Cell *cell
        cdef size_t at = names.used
        builder.make_room(self.n_lines)
        for i in range(self.n_pieces):
            piece = &self.pieces[i]
            if piece.column < 0:
                names.append(self.literals.data + piece.at, piece.n)
            else:
                row = t + piece.offset
                if 0 <= row < n_tokens:
                    cell = &self.cells[row * n_columns + piece.column]
                    append_spelled(names, cell.borrowed if cell.borrowed != NULL else self.cell_text.data + cell.at, cell.n, piece)
                else:
                    append_boundary(names, -1 if row < 0 else 1, -row if row < 0 else row - n_tokens + 1)
            if piece.last:
                builder.push(NULL, at, names.used - at, 1)
                at = names.used
        return 0


cdef inline int point_at(Cell *cell, PyObject *string, Text text) except -1:
    """Makes a cell of a string: ASCII is read in place, other text is written down in UTF-8."""
    if not PyUnicode_Check(string):
        raise DataError(f"the token holds {shortened(<object> string)}; expected strings only")
    if PyUnicode_IS_COMPACT_ASCII(string):
        cell.borrowed, cell.at, cell.n = <const char *> PyUnicode_DATA(string), 0, PyUnicode_GET_LENGTH(string)
    else:
        cell.borrowed, cell.at = NULL, text.used
        text.append_string(<object> string)
        cell.n = text.used - cell.at
    return 0


cdef object next_macro(str line, Py_ssize_t start):
    """Where the next macro begins, or -1."""
    macro = BEGIN.search(line, start)
    return -1 if macro is None else macro.start()


cdef int letters_of(object macro, str where) except -1:
    """How many letters of a prefix or suffix a macro names; 0 of others."""
    if macro.re is MACRO:
        return 0
    if not 1 <= int(macro[4]) <= LONGEST_PART:
        raise OptionError(f"{where} reads {macro[4]} letters; expected from 1 to {LONGEST_PART}.")
    return int(macro[4])


cdef int append_spelled(Text names, const char *text, size_t n, const Piece *piece) except -1:
    """Appends what a macro makes of a cell in UTF-8."""
    cdef size_t at = 0
    cdef int letters = piece.letters
    cdef uint32_t letter, sign, before = 0xFFFFFFFF        # no letter
    if piece.spelling == WHOLE:
        return names.append(text, n)
    if piece.spelling == PREFIX:
        while at < n and letters:
            at += length_of(text[at])
            letters -= 1
        return names.append(text, at)
    if piece.spelling == SUFFIX:
        at = n
        while at and letters:
            at -= 1
            letters -= (<unsigned char> text[at] & 0xC0) != 0x80
        return names.append(text + at, n - at)
    names.reserve(2 * n)                    # a small letter has at most one byte more than its capital, which has two
    while at < n:
        letter = letter_at(text + at)
        at += length_of(text[at])
        if piece.spelling == LOWER:
            put_letter(names, <uint32_t> Py_UNICODE_TOLOWER(<Py_UCS4> letter))
        elif piece.spelling == DIGITS:
            put_letter(names, c'0' if Py_UNICODE_ISDECIMAL(<Py_UCS4> letter) else letter)
        else:
            sign = (c'X' if Py_UNICODE_ISUPPER(<Py_UCS4> letter) else c'x' if Py_UNICODE_ISLOWER(<Py_UCS4> letter)
                    else c'd' if Py_UNICODE_ISDECIMAL(<Py_UCS4> letter) else letter)
            if sign != before:
                put_letter(names, sign)
            before = sign
    return 0


cdef inline int length_of(char first) noexcept:
    """How many bytes a letter has that begins with this one."""
    cdef unsigned char byte = <unsigned char> first
    return 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4


cdef inline uint32_t letter_at(const char *text) noexcept:
    """The letter that begins here, in valid UTF-8."""
    cdef const unsigned char *bytes = <const unsigned char *> text
    cdef int n = length_of(text[0])
    if n == 1:
        return bytes[0]
    if n == 2:
        return <uint32_t> ((bytes[0] & 0x1F) << 6 | (bytes[1] & 0x3F))
    if n == 3:
        return <uint32_t> ((bytes[0] & 0x0F) << 12 | (bytes[1] & 0x3F) << 6 | (bytes[2] & 0x3F))
    return <uint32_t> ((bytes[0] & 0x07) << 18 | (bytes[1] & 0x3F) << 12 | (bytes[2] & 0x3F) << 6 | (bytes[3] & 0x3F))


cdef inline void put_letter(Text names, uint32_t letter) noexcept:
    """Writes a letter in UTF-8, for which there is room."""
    cdef int shift
    if letter < 0x80:
        shift = 0
        names.data[names.used] = <char> letter
    elif letter < 0x800:
        shift = 6
        names.data[names.used] = <char> (0xC0 | letter >> 6)
    elif letter < 0x10000:
        shift = 12
        names.data[names.used] = <char> (0xE0 | letter >> 12)
    else:
        shift = 18
        names.data[names.used] = <char> (0xF0 | letter >> 18)
    names.used += 1
    while shift:
        shift -= 6
        names.data[names.used] = <char> (0x80 | (letter >> shift) & 0x3F)
        names.used += 1


cdef int append_boundary(Text names, int sign, Py_ssize_t k) except -1:
    """Appends `_B-k` or `_B+k`."""
    cdef char digits[20]
    cdef int n = 20
    names.append(b"_B-" if sign < 0 else b"_B+", 3)
    while k:
        n -= 1
        digits[n] = <char> (c'0' + k % 10)
        k //= 10
    return names.append(digits + n, 20 - n)


def column_names(columns):
    """Names of columns as a tuple, or an OptionError."""
    if columns is None:
        return None
    try:
        names = tuple(columns)
    except TypeError:
        names = (None,)
    if isinstance(columns, str) or not all(isinstance(name, str) for name in names):
        raise OptionError(f"columns is {shortened(columns, 80)}; expected a list of names, such as ['word', 'tag'].")
    for name in names:
        if name.isdecimal() or not name.strip() or name != name.strip() or "]" in name or names.count(name) > 1:
            raise OptionError(f"columns={shortened(columns, 80)}: a template cannot name the column {name!r}; names must differ, must not "
                              f"be numbers, and have no ']' in them.")
    return names


def default_template(n_columns, spelling=True):
    """The usual template for chunking and tagging, as text.
    Raises `OptionError` if n_columns is not a whole number from 1 on, or spelling no truth value.
    Returns a str. A line for each feature.

    Parameters
    ----------
    n_columns : int
        Columns of a token. Each has a window of five tokens, -2..2, and the pairs (-1, 0) and (0, 1). Columns after the first repeat
        their values more often. They also have the pairs (-2, -1) and (1, 2) and the three triples in that window.
    spelling : bool, default True
        Whether the first column, the word, also has prefixes, suffixes, small letters and shapes.

    Examples
    --------
    >>> from structperc.reading.tokens import default_template
    >>> print(default_template(1, spelling=False))
    U00:%x[-2,0]
    U01:%x[-1,0]
    U02:%x[0,0]
    U03:%x[1,0]
    U04:%x[2,0]
    U05:%x[-1,0]/%x[0,0]
    U06:%x[0,0]/%x[1,0]
    """
    if isinstance(n_columns, bool) or not isinstance(n_columns, (int, np.integer)) or n_columns < 1:
        raise OptionError(f"n_columns is {shortened(n_columns)}; expected a whole number from 1 on.")
    if not isinstance(spelling, (bool, np.bool_)):
        raise OptionError(f"spelling is {shortened(spelling)}; expected True or False.")
    single = [(o,) for o in range(-2, 3)]
    first, later = single + [(-1, 0), (0, 1)], single + [(o, o + 1) for o in range(-2, 2)] + [(o, o + 1, o + 2) for o in range(-2, 1)]
    windows = [(column, window) for column in range(n_columns) for window in (later if column else first)]
    lines = ["/".join(f"%x[{offset},{column}]" for offset in window) for column, window in windows] + list(WORD) * bool(spelling)
    return "\n".join(f"U{i:02d}:{line}" for i, line in enumerate(lines))
