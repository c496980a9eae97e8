# Stored rows that Python code compares with rows of X, a tile at a time.
#
# Typical sizes: 10^2..10^4 rows. Cost: a call for 64 stored rows and 16 others at a time.


cdef class RowsQueries(Queries):
    """The data set, and the numbers of its rows in the lanes."""


cdef class ComparedKernelRows(ListedKernelRows):
    """Base class: stored rows that Python code compares with many rows of X at once. A subclass defines `read_array` and `compared`.

    Examples
    --------
    >>> from structperc_kernels import ComparedKernelRows, PrecomputedKernelRows
    >>> issubclass(PrecomputedKernelRows, ComparedKernelRows)
    True
    """

    def start(self, context):
        self.held, self.n, self.n_features, self.sparse = [], 0, context.n_features, context.sparse

    def empty(self):
        cdef ComparedKernelRows other = self.clone()
        other.held, other.n, other.expensive, other.n_features, other.sparse = [], 0, self.expensive, self.n_features, self.sparse
        return other

    def select(self, slots):
        cdef ComparedKernelRows other = self.empty()
        other.held, other.n = [self.held[slot] for slot in slots], len(slots)
        return other

    def queries(self):
        return RowsQueries()

    def prepare(self, Queries q, Rows rows, const int64_t[::1] which):
        (<RowsQueries> q).rows, (<RowsQueries> q).which, q.n = rows, np.array(which), which.shape[0]

    def matrix(self, Rows rows, which):
        """Rows of X in the format of the training data.
        Returns an array or scipy.sparse.csr_array of shape (len(which), n_features). Sparse if the training data are.

        Parameters
        ----------
        rows : Rows
        which : slice or int array
            Row numbers of X.
        """
        from scipy.sparse import csr_array, issparse
        X = rows.X[which]
        return X if issparse(X) == self.sparse else csr_array(X) if self.sparse else X.toarray()

    def compared(self, Rows rows, which, entries):
        """The kernel between rows of X and stored entries. Returns a float64 array of shape (len(which), len(entries)).

        Parameters
        ----------
        rows : Rows
        which : int array
            Row numbers of X.
        entries : list
            Results of `read_array`.
        """
        raise self.missing("compared")

    cdef int tile_c(self, Queries q, Py_ssize_t group, const int *slots, Py_ssize_t n, double *values) noexcept nogil:
        cdef Py_ssize_t i, lane
        cdef const double[:, :] kernel_values
        with gil:
            try:
                which = (<RowsQueries> q).which[group * LANES:(group + 1) * LANES]
                kernel_values = self.compared((<RowsQueries> q).rows, which, [self.held[slots[i]] for i in range(n)])
                for i in range(n):
                    for lane in range(LANES):
                        values[i * LANES + lane] = kernel_values[min(lane, kernel_values.shape[0] - 1), i]
                return 0
            except BaseException as error:
                self.error = error
                return -1
