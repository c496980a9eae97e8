# Square matrices of arc scores, in an array or a list of arrays. They are copied unless they are float64.
#
# Typical sizes: 1 to 10^5 matrices of 10 to 200 rows. A matrix of a list costs 0.1 us, one of a stack nothing.

cdef object ndarray = np.ndarray
cdef double MOST_SUMMED = LARGEST_SUM


cdef class ScoreMatrices:
    """The scores of all arcs of one sentence or of many.

    Parameters
    ----------
    scores : array of shape (n + 1, n + 1), or of shape (n_sentences, n + 1, n + 1), or list of arrays
    name : str
        Of the argument, for messages.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.arborescences import ScoreMatrices
    >>> isinstance(ScoreMatrices(np.zeros((3, 3))), ScoreMatrices)
    True
    """

    __signature__ = ClassSignature()

    def __init__(self, scores, str name="scores"):
        cdef Py_ssize_t i
        self.name = name
        self.single = not isinstance(scores, (list, tuple)) and np.ndim(scores) != 3
        if self.single:
            self.allocate(1, 1)
            self.hold(scores, -1)
        elif isinstance(scores, (list, tuple)):
            self.allocate(len(scores), len(scores))
            for i in range(self.n_matrices):
                self.hold(scores[i], i)
        else:
            self.allocate(len(scores), 1)
            self._hold_stack(scores)
        for i in range(self.n_matrices):
            self.offsets[i + 1] = self.offsets[i] + self.n_words[i]
            self.most_words = max(self.most_words, self.n_words[i])

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n_buffers):
            PyBuffer_Release(&self.buffers[i])
        PyMem_Free(self.buffers)
        PyMem_Free(self.at)
        PyMem_Free(self.n_words)
        PyMem_Free(self.offsets)

    cdef allocate(self, Py_ssize_t n_matrices, Py_ssize_t n_buffers):
        self.n_matrices = n_matrices
        self.at = <const double **> PyMem_Calloc(n_matrices + 1, sizeof(double *))
        self.n_words = <Py_ssize_t *> PyMem_Calloc(n_matrices + 1, sizeof(Py_ssize_t))
        self.offsets = <Py_ssize_t *> PyMem_Calloc(n_matrices + 1, sizeof(Py_ssize_t))
        self.buffers = <Py_buffer *> PyMem_Calloc(n_buffers + 1, sizeof(Py_buffer))
        if self.at == NULL or self.n_words == NULL or self.offsets == NULL or self.buffers == NULL:
            raise MemoryError

    cdef hold(self, matrix, Py_ssize_t place):
        """Reads one matrix more."""
        cdef Py_ssize_t i = self.n_buffers
        cdef Py_buffer *buffer = self.take(matrix, place)
        if buffer.ndim != 2 or buffer.shape[0] != buffer.shape[1] or buffer.shape[0] == 0:
            raise DataError(f"{self.name_of(place)} has the shape {tuple(buffer.shape[d] for d in range(buffer.ndim))}; expected "
                            f"(n + 1, n + 1) for n words and the root, rows for heads.{_hint(matrix)}")
        self.at[i], self.n_words[i] = <const double *> buffer.buf, buffer.shape[0] - 1

    def _hold_stack(self, stack):
        """Reads matrices of one size."""
        cdef Py_ssize_t i, size
        cdef Py_buffer *buffer = self.take(stack, -1)
        if buffer.shape[1] != buffer.shape[2] or buffer.shape[1] == 0:
            raise DataError(f"{self.name} has the shape {tuple(buffer.shape[d] for d in range(3))}; expected (n_sentences, n + 1, n + 1) "
                            f"for n words and the root, rows for heads.")
        size = buffer.shape[1]
        for i in range(self.n_matrices):
            self.at[i], self.n_words[i] = <const double *> buffer.buf + i * size * size, size - 1

    cdef Py_buffer *take(self, values, Py_ssize_t place) except NULL:
        """Holds the numbers of an array; those of float64 arrays in C order are not copied."""
        cdef Py_buffer *buffer = &self.buffers[self.n_buffers]
        if type(values) is ndarray:
            try:
                PyObject_GetBuffer(values, buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
            except (BufferError, ValueError):       # other orders, and types without a format
                pass
            else:
                if buffer.format[0] == c"d" and buffer.format[1] == 0:
                    self.n_buffers += 1
                    self.refuse_sums(buffer, place)
                    return buffer
                PyBuffer_Release(buffer)
        PyObject_GetBuffer(float_array(values, self.name_of(place)), buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
        self.n_buffers += 1
        self.refuse_sums(buffer, place)
        return buffer

    cdef int refuse_sums(self, const Py_buffer *buffer, Py_ssize_t place) except -1:
        """Raises an error for scores of a sentence that overflow when they are added up."""
        cdef Py_ssize_t k, start, n = buffer.len // <Py_ssize_t> sizeof(double), size = n
        cdef const double *scores = <const double *> buffer.buf
        cdef double total
        if buffer.ndim == 3 and buffer.shape[0]:
            size = max(1, n // buffer.shape[0])
        for start in range(0, n, max(1, size)):
            total = 0
            for k in range(start, start + size):
                if isfinite(scores[k]):
                    total += fabs(scores[k])
            if total > MOST_SUMMED:
                raise overflown(self.name_of(place))
        return 0

    cdef split(self, answers):
        """Of an array with a number for each word, a view for each sentence: rows of one array for sentences of one size."""
        cdef Py_ssize_t i
        if self.single:
            return answers
        return [answers[self.offsets[i]:self.offsets[i + 1]] for i in range(self.n_matrices)]

    cdef str name_of(self, Py_ssize_t i):
        return self.name if self.single or i < 0 else f"{self.name}[{i}]"


cdef ScoreMatrices one_sentence(scores):
    """The scores of one sentence, for solvers that accept no lists. Several raise an error."""
    cdef ScoreMatrices sentence = ScoreMatrices(scores)
    if not sentence.single:
        raise DataError(f"{sentence.n_matrices} sentences are given; expected the scores of one.")
    return sentence


def _hint(matrix):
    return " A list means many sentences; pass numpy.array(scores) for one." if not isinstance(matrix, np.ndarray) else ""
