# The vectors among the features of tokens: an array of numbers under one name, as embeddings are.
#
# Typical sizes: 10^5 tokens with one vector of 384. Copying a contiguous vector takes 0.1 us and its bytes.


class Vectors:
    """Which vectors tokens have, and how many coordinates each has; they are columns in the order of their first occurrence."""
    # sizes: dict of str to int. Coordinates of each vector by its name.

    def __init__(self, sizes=None):
        self.sizes = dict(sizes or {})

    @property
    def width(self):
        """How many columns they have together."""
        return sum(self.sizes.values())

    def name(self, j):
        """What column j of these is called."""
        for name, size in self.sizes.items():
            if j < size:
                return f"{name}[{j}]"
            j -= size
        raise IndexError(f"column {j} behind the last vector")

    def with_names(self, vectors_by_name):
        """These and the vectors that were found for the first time, as large as where they first occur."""
        return Vectors({name: len(vectors[0]) for name, (_, vectors) in vectors_by_name.items()} | self.sizes)

    def table(self, vectors_by_name, starts):
        """The coordinates of all tokens, (n_tokens, width), zeros where a token lacks a vector."""
        # float32 where that holds all values of their types exactly, else float64.
        cdef Py_ssize_t first = 0
        cdef size_t address
        narrow = all(np.can_cast(kind, np.float32) for _, vectors in vectors_by_name.values()
                     for kind in {vector.dtype for vector in vectors})
        values = np.zeros((int(starts[len(starts) - 1]), self.width), np.float32 if narrow else np.float64)
        for name, (tokens, vectors) in vectors_by_name.items():
            size = self.sizes.get(name)
            if size is None:
                raise DataError(f"{place(tokens[0], starts)}: the vector {name!r} is new; this model was trained on "
                                f"{', '.join(map(repr, self.sizes)) or 'no vectors'}.")
            for token, vector in zip(tokens, vectors):
                if len(vector) != size:
                    raise DataError(f"{place(token, starts)}: the vector {name!r} has {len(vector)} coordinates; expected {size}.")
        for name, size in self.sizes.items():
            if name in vectors_by_name:
                address = values.ctypes.data
                tokens, vectors = vectors_by_name[name]
                if narrow:
                    put[float](<float *> address + first, values.shape[1], size, tokens, vectors)
                else:
                    put[double](<double *> address + first, values.shape[1], size, tokens, vectors)
            first += size
        return values

    def state(self):
        """What a model file holds; empty without vectors."""
        if not self.sizes:
            return {}
        names = {f"vectors.{key}": array for key, array in Vocabulary(self.sizes).state().items()}
        return names | {"vectors.sizes": np.array(list(self.sizes.values()), dtype=np.int64)}

    @classmethod
    def restored(cls, state):
        """What `state` gave."""
        saved = substate(state, "vectors.")
        if not len(saved):
            return cls()
        names = Vocabulary.restored(saved).names()
        return cls(zip(names, read_array(saved, "sizes", np.int64, (len(names),), low=0, high=MOST_COORDINATES).tolist(), strict=True))


MOST_COORDINATES = 2**40


def place(token, starts):
    """The index of a token, for messages."""
    sentence = int(np.searchsorted(starts, token, side="right")) - 1
    return f"X[{sentence}][{token - int(starts[sentence])}]"


ctypedef fused value_t:
    float
    double


cdef int put(value_t *values, Py_ssize_t pitch, Py_ssize_t size, list tokens, list vectors) except -1:
    """Adds vectors to the rows of their tokens, from a column on: `values` points at it in row 0, and `pitch` values lie between rows."""
    cdef Py_ssize_t i, j, token
    cdef Py_buffer view
    cdef value_t *row
    cdef const float *narrow
    cdef const double *wide
    for i in range(len(tokens) if size else 0):
        vector = vectors[i]
        if vector.dtype not in READY or not vector.flags.c_contiguous:
            vector = np.ascontiguousarray(vector, dtype=np.float32 if value_t is float else np.float64)
        token = tokens[i]
        row = values + token * pitch
        PyObject_GetBuffer(vector, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
        if view.itemsize == 4:
            narrow = <const float *> view.buf
            for j in range(size):
                row[j] += narrow[j]
        else:
            wide = <const double *> view.buf
            for j in range(size):
                row[j] += <value_t> wide[j]
        PyBuffer_Release(&view)
    return 0


READY = (np.dtype(np.float32), np.dtype(np.float64))
