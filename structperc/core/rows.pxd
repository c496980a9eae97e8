# Examples as blocks of rows of X, read in place.
from libc.stdint cimport int64_t
from structperc.core.inner_products cimport sp_dense_pitch, sp_rows


cdef class Example:
    cdef sp_rows block                  # the example's rows; layout SP_OBJECTS: none
    cdef readonly Py_ssize_t index      # its number in the data set, from 0
    cdef readonly Py_ssize_t first_row
    cdef public Py_ssize_t n_atoms      # set by the loop, from the feature map
    cdef readonly Rows source
    cdef double *work                   # scratch for the solver: Argmax.workspace_size(n_atoms) doubles, of whoever owns this Example
    cdef double[::1] _work
    cdef public tuple doubt             # (index, sentence) of the last scores of an author's code that were not finite
    cdef public double bound            # by how much another structure may beat what the solver found; 0: by nothing
    cdef double[::1] _counts
    cdef bint by_map                    # whether a feature map or a weight store in Python looks at it: they see the rows of training
    cdef dict kept                      # what components keep of an example that is looked at again: (index, value) of each

    cdef int provide(self, Py_ssize_t n) except -1
    cdef inline const int *first_stage(self) noexcept nogil:
        """What is given of the example's rows (see `Rows.condition`), or NULL."""
        if self.source.first_stage_at == NULL:
            return NULL
        return self.source.first_stage_at + self.first_row

    cdef double *zeros(self) noexcept nogil
    cdef Rows used(self)
    cdef shown(self)
    cdef inline void look_at(self, Rows source):
        """Makes this the window through which the examples of `source` are seen; None lets go of them."""
        self.source, self.kept = source, None
        if source is not None:
            self.block = source.whole


cdef inline bint shown_to_map(Example x, bint by_map) noexcept:
    """Sets who looks at x next; returns who did before."""
    cdef bint before = False
    if x is not None:
        before, x.by_map = x.by_map, by_map
    return before


cpdef Rows in_place(X)
cpdef Rows in_any_order(X, offsets=*, feature_names=*)


cdef class Rows:
    cdef readonly Py_ssize_t n_examples, n_rows, n_features
    cdef public tuple feature_names     # names of the columns of X, or None
    cdef readonly object X              # the array, sparse matrix or list that is read
    cdef public Rows own                # the same rows in the units of the user, if columns are on one scale here; else None
    cdef readonly object offsets        # int64 array of n_examples + 1 row numbers, or None: one row each
    cdef sp_rows whole
    cdef readonly object allowed        # uint8 array (n_rows, m): which of a row's m labels Y(x) allows, or None
    cdef const unsigned char *allowed_at
    cdef readonly Py_ssize_t allowed_width
    cdef const int64_t *starts
    cdef readonly object first_stage     # intc array (n_rows,): for each row the prediction that features of some atoms depend on, or None
    cdef const int *first_stage_at
    cdef Py_ssize_t value_size, index_size
    cdef readonly bint strided          # whether X is in another order than rows; compiled code reads `blocks` or `in_row_order` of it
    cdef tuple _kept                    # the arrays whose memory is read
    cdef dict kept                      # of a single example: as `Example.kept`

    cdef void attach(self, X, Py_ssize_t n_rows, Py_ssize_t n_features, int layout) noexcept
    cdef void attach_dense(self, X, const Py_buffer *view) noexcept
    cdef int begin_examples(self, offsets) except -1
    cpdef Rows in_row_order(self)

    cdef inline void load(self, Py_ssize_t i, Example x) noexcept nogil:
        """Points x at example i."""
        cdef Py_ssize_t first = i if self.starts == NULL else self.starts[i]
        x.index = i
        x.first_row = first
        x.block.n_rows = 1 if self.starts == NULL else self.starts[i + 1] - first
        if self.whole.layout <= 1:
            x.block.values = <const char *> self.whole.values + first * self.whole.n_features * self.value_size
        else:
            x.block.indptr = <const char *> self.whole.indptr + first * self.index_size
            if self.whole.n_dense:
                x.block.dense = <const char *> self.whole.dense + first * sp_dense_pitch(&self.whole)

    cdef inline void load_many(self, Py_ssize_t first, Py_ssize_t n, Example x) noexcept nogil:
        """Points x at all rows of up to n examples from the first on, as one example."""
        cdef Py_ssize_t last = min(first + n, self.n_examples)
        self.load(first, x)
        x.block.n_rows = last - first if self.starts == NULL else self.starts[last] - self.starts[first]

    cdef inline void load_row(self, Py_ssize_t row, Example x) noexcept nogil:
        """Points x at one row of X, as if it were an example."""
        x.index, x.first_row, x.block.n_rows = row, row, 1
        if self.whole.layout <= 1:
            x.block.values = <const char *> self.whole.values + row * self.whole.n_features * self.value_size
        else:
            x.block.indptr = <const char *> self.whole.indptr + row * self.index_size
            if self.whole.n_dense:
                x.block.dense = <const char *> self.whole.dense + row * sp_dense_pitch(&self.whole)
