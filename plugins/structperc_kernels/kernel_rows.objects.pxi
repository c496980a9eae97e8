# Stored objects that are no rows of numbers, compared pair by pair.
#
# Typical sizes: 10^2..10^5 trees or strings. Cost: 0.1 to 50 us a value for compiled kernels; a function of Python adds 0.1 us.


cdef enum:
    OFTEN = 1 << 9              # operations of a value that does not ask whether to stop


cdef class ObjectQueries(Queries):
    """Encoded objects, and the scratch space to compare them in."""

    cdef list encoded
    cdef double[::1] work

    def __cinit__(self):
        self.work = None


cdef class KernelObjects(ListedKernelRows):
    """Objects and a kernel on them. It stores `Encoded` objects, or the objects themselves if the kernel is a Python function.

    Parameters
    ----------
    kernel : ObjectKernel or callable
        A callable returns a number for two objects. It must be symmetric and positive semidefinite, which is not checked.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from structperc.components import Rows
    >>> from structperc_kernels import KernelObjects, SubsequenceKernel
    >>> words = KernelObjects(SubsequenceKernel(length=2, decay=0.5))
    >>> words.start(SimpleNamespace(objects=True))
    >>> rows = Rows(["cat", "car", "bat"])
    >>> words.append(rows, 0)
    >>> words.support(), words.values(rows).round(3).tolist()
    (['cat'], [[1.0], [0.444], [0.444]])
    """

    cdef readonly object kernel
    cdef ObjectKernel compiled              # None: a function of Python
    cdef bint learns                        # whether the kernel is to know the symbols of what it is asked about
    cdef Py_ssize_t largest                 # of the sizes of objects held
    cdef Rows fit_rows                      # the data of a fit, and
    cdef dict of_fit                        # of these, what was encoded
    cdef Rows block_rows                    # the data of the last queries, and
    cdef dict of_block                      # these

    def __init__(self, kernel):
        self.kernel = kernel

    def start(self, context):
        if not context.objects:
            raise DataError(f"X has rows of numbers, but the kernel {self.kernel!r} compares objects; pass a list of them.")
        self.begin(self.kernel.clone() if isinstance(self.kernel, ObjectKernel) else self.kernel, True)

    cdef begin(self, kernel, bint learns):
        self.compiled = kernel if isinstance(kernel, ObjectKernel) else None
        self.kernel, self.learns = kernel, learns
        self.held, self.n, self.largest, self.expensive = [], 0, 0, True
        self.end_fit()

    def begin_fit(self, rows):
        self.fit_rows, self.of_fit = rows, {}

    def end_fit(self):
        self.fit_rows = self.block_rows = None
        self.of_fit, self.of_block = {}, {}

    def empty(self):
        cdef KernelObjects other = KernelObjects(self.kernel)
        other.begin(self.kernel, self.learns)
        other.fit_rows, other.of_fit = self.fit_rows, self.of_fit
        return other

    def select(self, slots):
        cdef KernelObjects other = self.empty()
        other.end_fit()
        other.learns = False
        other.hold([self.held[slot] for slot in slots])
        return other

    cdef hold(self, objects):
        self.held, self.n = objects, len(objects)
        self.largest = max([self.size(one) for one in objects], default=0)

    cdef Py_ssize_t size(self, one) except -1:
        return (<Encoded> one).size if self.compiled is not None else 0

    def copy_slot(self, Py_ssize_t to, Py_ssize_t slot, KernelRows source):
        ListedKernelRows.copy_slot(self, to, slot, source)
        self.largest = max(self.largest, self.size(self.held[to]))

    def copied_row(self, Rows rows, Py_ssize_t row, number):
        entry = self.encode(rows, row)
        self.largest = max(self.largest, self.size(entry))
        return entry

    cdef encode(self, Rows rows, Py_ssize_t row):
        if self.compiled is None:
            return rows.X[row]
        cdef dict cache = self.of_fit if rows is self.fit_rows else self.of_block if rows is self.block_rows else {}
        entry = cache.get(row)
        if entry is None:
            try:
                entry = self.compiled.encode(rows.X[row], self.learns)
            except DataError as error:
                raise DataError(f"X[{row}]: {error}") from None
            if rows is self.fit_rows:
                cache[row] = entry
        return entry

    def key(self, Rows rows, Py_ssize_t row):
        """Objects are the same where their symbols are; those that only a function of Python knows are not compared."""
        if self.compiled is None:
            return None
        return repr((<Encoded> self.encode(rows, row)).key()).encode("utf-8", "surrogatepass")

    def queries(self):
        return ObjectQueries()

    def prepare(self, Queries q, Rows rows, const int64_t[::1] which):
        cdef ObjectQueries queries = <ObjectQueries> q
        cdef Py_ssize_t largest, held
        queries.encoded = [self.encode(rows, which[i]) for i in range(which.shape[0])]
        queries.n = which.shape[0]
        if self.learns and self.compiled is not None:
            self.block_rows, self.of_block = rows, dict(zip(which, queries.encoded, strict=True))
        if self.compiled is not None:
            largest = max([self.size(one) for one in queries.encoded], default=0)
            held = max(self.largest, largest)                   # rows may join while these queries are in use
            if queries.work is None or queries.work.shape[0] <= self.compiled.room_c(largest, held):
                queries.work = self.scratch(largest, held)

    def scratch(self, Py_ssize_t size, Py_ssize_t held):
        """Allocates the scratch space of a comparison with stored objects. Returns a float64 array.
        Raises `DataError` if there is not enough memory.

        Parameters
        ----------
        size, held : int
            The largest `Encoded.size` of the queries, and of the stored objects.
        """
        try:
            return self.compiled.scratch(size, held)
        except DataError as error:
            raise DataError(f"the largest object of X cannot be compared: {error}") from None

    cdef int tile_c(self, Queries q, Py_ssize_t group, const int *slots, Py_ssize_t n, double *values) noexcept nogil:
        if interrupted(n * LANES * OFTEN):
            return -1
        with gil:
            try:
                return self.compare(<ObjectQueries> q, group, slots, n, values)
            except BaseException as error:
                self.error = error
                return -1

    cdef int compare(self, ObjectQueries q, Py_ssize_t group, const int *slots, Py_ssize_t n, double *values) except? -1:
        """The values of `tile_c`; -1 where one was interrupted."""
        cdef Py_ssize_t i, lane, first = group * LANES, lanes = min(<Py_ssize_t> LANES, q.n - group * LANES)
        cdef const void *queries[LANES]
        cdef const void *one
        cdef double *value
        cdef double *work
        if self.compiled is None:
            for i in range(n):
                for lane in range(LANES):
                    value = &values[i * LANES + lane]
                    if value[0] != value[0]:
                        value[0] = 0 if lane >= lanes else self.asked(q.encoded[first + lane], self.held[slots[i]])
            return 0
        work = &q.work[0]
        for lane in range(lanes):
            queries[lane] = (<Encoded> q.encoded[first + lane]).at
        for i in range(n):
            one = (<Encoded> self.held[slots[i]]).at
            with nogil:
                for lane in range(LANES):
                    value = &values[i * LANES + lane]
                    if value[0] != value[0]:
                        value[0] = 0 if lane >= lanes else self.compiled.value_c(queries[lane], one, work)
                        if value[0] != value[0]:
                            return -1
        return 0

    def asked(self, a, b):
        """Calls the user's function. Returns a float. Raises `PluginError` if the function returns no number.

        Parameters
        ----------
        a, b : object
            Entries of X.
        """
        value = self.kernel(a, b)
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            raise PluginError(f"the kernel {self.kernel!r} returned {shortened(value, 80)} for two objects; expected a number.") from None

    def support(self):
        return [one.original if self.compiled is not None else one for one in self.held]

    def state(self):
        if self.compiled is not None:
            return self.compiled.state(self.held)
        other = [one for one in self.held if not isinstance(one, str) or one.endswith("\0")]
        if other:
            raise PluginError(f"objects such as {shortened(other[0], 80)} cannot be written to a model file. If the kernel is a Python "
                              f"function, objects must be strings that do not end in a zero character.")
        return {"objects": np.array(self.held, dtype=str)}

    def fingerprint(self):
        return None if self.compiled is not None else self.few_values()

    def restore(self, state):
        self.hold(read_array(state, "objects", str, (None,)).tolist() if self.compiled is None else self.compiled.restore(state))
