# Outputs that are labels: ranks and classes.

cdef class LabelOutputs(Outputs):
    """Base class of outputs with one of r labels, encoded 1..r. Subclasses define the atoms of a label.

    The constructor has no parameters; set the attribute `ordered` in a subclass.

    Attributes
    ----------
    ordered : bool
        Whether the labels have an order; then labels without a natural order need `classes`.
    n_labels : int
        Number of labels r; 0 before training.

    Examples
    --------
    >>> from structperc.components import ClassOutputs, RankOutputs
    >>> RankOutputs().ordered, ClassOutputs().ordered
    (True, False)
    """

    default_loss = "zero-one"
    ordered = False
    _declared_by = {name: way for name, way in Outputs._declared_by.items() if name != "ordered"}

    def __cinit__(self, *args, **kwargs):
        self.code_width = 1

    @property
    def n_atoms(self):
        """How many atoms labels are made of, the same for every example; None when it is not known."""
        return None

    def find_labels(self, y, classes):
        self.labels = plain_values(find_labels(y, classes, self.ordered))
        self.n_labels = len(self.labels)
        self._codes = LabelCodes(self.labels)
        self._codes.order_is_unknown = order_is_unknown(y, classes, self.labels)
        self._code_of = self._codes.code_of
        self._encodes = inherits(self, LabelOutputs, "encode", "admissible")
        self._alone = [None] * self.n_labels if inherits(self, LabelOutputs, "decode") else None
        return self.labels

    def _refuse_unknown_order(self, what):
        if self._codes is not None and self._codes.order_is_unknown:
            raise DataError(f"{what} depends on the order of the labels. {unknown_order(self.labels)}")

    def encode(self, y, rows):
        return self.encoded(y, rows.n_examples)

    cdef Structures encoded(self, y, Py_ssize_t n):
        cdef Structures gold
        if n <= FEW and (type(y) is list or isinstance(y, np.ndarray) and y.ndim) and len(y) == n:
            gold = encode_few(self._code_of, y if type(y) is list else y.tolist())
            if gold is not None:
                return gold
        return Structures(self._codes.encode(y, n))     # slower, and raises the error with its reason

    cdef Structures gold(self, y, Rows rows, features):
        return self.encoded(y, rows.n_examples) if self._encodes else Outputs.gold(self, y, rows, features)

    def encode_answers(self, answers, rows):
        """Labels as `predict` shows them, as their codes."""
        return Structures(self._codes.encode(answers, rows.n_examples))

    cdef check_gold(self, Structures gold, Rows rows, features):
        """Does nothing: codes that are no labels have raised an error already."""

    def check_structure(self, Example x, y):
        if not isinstance(y, int) or not 1 <= y <= self.n_labels:
            raise PluginError(f"{shortened(y)} is not a label of example {x.index}: expected an int from 1 to {self.n_labels}.")

    def decode(self, y, Example x):
        return self.labels[y - 1]

    cdef decode_all(self, structures, Rows rows, features, examples):
        if overrides(self, "decode"):
            return np.array(Outputs.decode_all(self, np.asarray(structures).tolist(), rows, features, examples).tolist())
        codes = structures if isinstance(structures, np.ndarray) else np.asarray(structures, dtype=np.intc)
        return gathered(self._codes.of_code, codes)

    cdef decode_one(self, const int *y, Rows rows, features):
        cdef int code = y[0]
        if self._alone is None or not 0 < code <= self.n_labels:
            return Outputs.decode_one(self, y, rows, features)
        label = self._alone[code - 1]
        if label is None:
            label = self._alone[code - 1] = self._codes.labels[code - 1:code]
        return label.copy()

    def enumerate(self, Example x):
        return range(1, self.n_labels + 1)

    def log_probabilities(self, scores, b, spread, floor):
        """Log probability of every label: P is proportional to exp(b * score). Returns a float64 array of shape (n_examples, n_labels).

        Parameters
        ----------
        scores : array of shape (n_examples, n_labels)
            Scores of labels.
        b : float
            1 / temperature. Larger values make probabilities more certain.
        spread : float
            As `calibration` returns it; ordered labels use it.
        floor : float in [0, 1)
            Least spread of examples with labels that would have no probability.
        """
        return log_softmax(b * scores)

    def calibration(self, scores, right, weights, share):
        """The numbers by which - log P(a right label) is least.

        Parameters
        ----------
        scores : array of shape (n_examples, n_labels)
            Scores of labels.
        right : bool array of shape (n_examples, n_labels)
            The right labels; those of ordered labels are an interval.
        weights : array of shape (n_examples,)
            Weights of the examples.
        share : float
            Share of the loss that is the mean of the losses of all labels.

        Returns
        -------
        b : float
            1 / temperature.
        spread : float
            0, but of ordered labels at least 0.
        """
        return softmax_calibration(scores, right, weights, share)

    cdef int agrees_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        return gold[0] == y[0]


def counts_of_labels(LabelOutputs outputs, Example x):
    """How often every label counts each atom of x, (n_labels, n_atoms)."""
    return np.array([outputs.count(x, y) for y in range(1, outputs.n_labels + 1)], dtype=float)


cdef bint counts_as_declared(LabelOutputs outputs):
    """Whether labels of classes and ranks have the atoms of their base class."""
    return outputs.adds_costs_c() and not overrides(outputs, "count")


def label_scores(LabelOutputs outputs, scores, Example x):
    """The scores of labels, (..., n_labels), from those of atoms, (..., n_atoms), in linear time for ranks and classes."""
    if not counts_as_declared(outputs):
        return np.einsum("...a,ra->...r", scores, counts_of_labels(outputs, x))     # not BLAS, which has other bits for one row
    return running_sums(scores) if isinstance(outputs, RankOutputs) else scores


def expected_counts(LabelOutputs outputs, probabilities, Example x):
    """How often each atom of x is expected, where labels have these probabilities."""
    if not counts_as_declared(outputs):
        return np.einsum("r,ra->a", probabilities, counts_of_labels(outputs, x))
    return np.cumsum(probabilities[:0:-1])[::-1] if isinstance(outputs, RankOutputs) else probabilities.copy()


cdef object gathered(values, codes):
    """values[codes]."""
    cdef const int[::1] at
    cdef const uint64_t[::1] words
    cdef uint64_t[::1] copied
    cdef Py_ssize_t i, n = len(codes)
    cdef size_t n_values = len(values)
    cdef bint valid, right = True
    if n <= FEW or values.dtype.kind not in "iuf" or values.itemsize != sizeof(uint64_t) or codes.dtype != np.intc:
        return values.take(codes)
    at, words, answer = np.ascontiguousarray(codes), values.view(np.uint64), np.empty(n, dtype=values.dtype)
    copied = answer.view(np.uint64)
    for i in range(n):
        valid = <size_t> at[i] < n_values           # a negative number is large
        right &= valid
        copied[i] = words[at[i] if valid else 0]
    return answer if right else values.take(codes)      # which raises the error


cdef class RankOutputs(LabelOutputs):
    """Ordered labels 1..r (ordinal regression). Level y has the atoms "rank > k" for k = 1..y-1.

    There are r - 1 atoms. The papers' atom "rank >= 1" belongs to every level and cancels in every difference, so it is left out.

    Examples
    --------
    >>> from structperc.components import RankOutputs
    >>> RankOutputs().default_loss
    'absolute'
    """

    ordered = True
    default_loss = "absolute"

    @property
    def n_atoms(self):
        return self.n_labels - 1

    cdef int count_c(self, Example x, const int *y, Py_ssize_t n, double sign, double *c) noexcept nogil:
        cdef int k
        for k in range(y[0] - 1):
            c[k] += sign
        return 0

    cdef int difference_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n, double *c) noexcept nogil:
        cdef int k
        for k in range(<int> self.n_labels - 1):    # no branch to mispredict
            c[k] = (k + 1 < gold[0]) - (k + 1 < y[0])
        return 0

    cdef int signs_c(self, Example x, const int *gold, Py_ssize_t n_gold, double *c) noexcept nogil:
        cdef int k
        for k in range(<int> self.n_labels - 1):
            c[k] = 1 if k + 1 < gold[0] else -1
        return 0

    cdef bint adds_costs_c(self) noexcept nogil:
        return <void *> self.count_c == <void *> RANKS.count_c      # a derived class may count other atoms

    cdef void add_costs_c(self, const double *costs, double scale, double *s) noexcept nogil:
        """s[k] += scale * (cost of the rank above - cost of the rank below)"""
        cdef Py_ssize_t k
        for k in range(self.n_labels - 1):
            s[k] += scale * (costs[k + 1] - costs[k])

    def log_probabilities(self, scores, b, spread, floor):
        """log P of every label: P(y > k) is logistic in the pooled scores of the atoms "rank > k"; the median is the prediction."""
        return cumulative_log_probabilities(pooled(np.diff(scores, axis=1)), b, floor, spread)

    def calibration(self, scores, right, weights, share):
        return cumulative_calibration(scores, right, weights, share)

    def atom_tables(self, Example x):
        return {"levels": (x.n_atoms,)}

    def display(self):
        return RankDisplay(self)


class RankDisplay(Display):
    """The atoms "> k", and the example's score among its thresholds: the mean score of the atoms, less the score of each."""

    def atom_names(self, Example x):
        return [f"> {label}" for label in plain_labels(self.outputs.labels)[:-1]]

    def picture(self, given, Example x, scores, structures):
        labels = plain_labels(self.outputs.labels)
        if len(scores) != len(labels) - 1 or not len(scores):
            return None
        return Ruler([str(label) for label in labels], (np.mean(scores) - scores).tolist(), float(np.mean(scores)),
                     *(y - 1 for y in structures))


cdef class ClassOutputs(LabelOutputs):
    """Unordered labels 1..r (multiclass classification); a label is one atom.

    Examples
    --------
    >>> from structperc.components import ClassOutputs
    >>> ClassOutputs().default_loss
    'zero-one'
    """

    @property
    def n_atoms(self):
        return self.n_labels

    def attributes(self, weights):
        unordered = "its labels have no order; CuSumRank, PRank and IntervalPA are for ordered ones"
        return {"thresholds_": unordered, **super().attributes(weights)}

    cdef int count_c(self, Example x, const int *y, Py_ssize_t n, double sign, double *c) noexcept nogil:
        c[y[0] - 1] += sign
        return 0

    cdef bint adds_costs_c(self) noexcept nogil:
        return <void *> self.count_c == <void *> CLASSES.count_c

    cdef void add_costs_c(self, const double *costs, double scale, double *s) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_labels):
            s[k] += scale * costs[k]

    def atom_tables(self, Example x):
        return {"classes": (x.n_atoms,)}

    def display(self):
        return ClassDisplay(self)


class ClassDisplay(Display):
    """The labels, which are the atoms."""

    def atom_names(self, Example x):
        return [str(label) for label in plain_labels(self.outputs.labels)]
