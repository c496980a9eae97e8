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
    cdef split(self, answers)
    cdef str name_of(self, Py_ssize_t i)


cdef ScoreMatrices one_sentence(scores)
