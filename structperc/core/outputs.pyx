"""Output spaces of one label per example: ordered ranks and unordered classes.

Typical sizes: r = 2..50 labels. Counting and adding costs are O(r).
"""
import numpy as np

from structperc.core.component cimport Component
from structperc.core.errors import DataError, PluginError
from structperc.core.features cimport pointer
from structperc.core.labels import LabelCodes, find_labels
from structperc.core.rows cimport Example
from structperc.core.structures cimport structure
from structperc.core.structures import Structures, encode_few

cdef enum:
    FEW = 64                # up to here a dictionary beats array operations


cdef class Outputs(Component):
    """The output space Y(x): checks and encodes gold outputs, decodes predictions.

    As it stands, a structure is a collection of distinct atoms, given and returned as a tuple of atom numbers (from 0).

    Attributes
    ----------
    width : int
        Integers per structure, or -1 when they differ.
    default_loss : str
        The loss when the user names none.
    """

    default_loss = "hamming"

    def __cinit__(self, *args, **kwargs):
        self.width = -1

    def find_labels(self, y, classes):
        """The labels that outputs are made of, in order, or None where there are none; y is what the user passed."""
        if classes is not None:
            raise DataError(f"classes={classes!r} was given, but {type(self).__name__} has no labels.")
        return None

    def encode(self, y, rows):
        """Checks what the user passed and encodes it as a `structperc.core.structures.Structures`."""
        if len(y) != rows.n_examples:
            raise DataError(f"y has {len(y)} outputs but X has {rows.n_examples} examples; give one output per example.")
        structures = []
        for i, atoms in enumerate(y):
            try:
                structures.append([int(a) for a in atoms])
            except (TypeError, ValueError):
                raise DataError(f"y[{i}] is {atoms!r}; expected a collection of atom numbers.") from None
        return Structures.ragged(structures)

    def check_gold(self, gold, rows, features):
        """Refuses gold outputs that are no structures; the compiled loop counts their atoms without looking."""
        if self.partial_gold:
            return
        for i in range(rows.n_examples):
            x = rows.example(i)
            x.n_atoms = features.n_atoms(x)
            try:
                self.check_structure(x, gold[i])
            except PluginError as error:
                raise DataError(f"y[{i}] cannot be used: {error}") from None

    def check_structure(self, Example x, y):
        """Raises `PluginError` unless y (an int or a tuple) is a structure over the atoms of x."""
        atoms = (y,) if isinstance(y, int) else y
        for a in atoms:
            if not 0 <= a < x.n_atoms:
                raise PluginError(f"atom {a} in the structure {y!r} of example {x.index}, which has atoms 0..{x.n_atoms - 1}.")
        if len(set(atoms)) < len(atoms):
            raise PluginError(f"the structure {y!r} of example {x.index} names an atom twice.")

    def encode_answers(self, answers, rows):
        """What `predict` answered, as a `Structures`: the inverse of `decode_many`. Where gold outputs are whole structures, `encode` is that."""
        if self.partial_gold:
            raise PluginError(f"{type(self).__name__} learns from partial outputs and does not say how its answers are encoded; "
                              f"override encode_answers(answers, rows).")
        return self.encode(answers, rows)

    def decode(self, y):
        """What the user sees of an encoded structure (an int or a tuple)."""
        return y

    def decode_many(self, structures):
        """Decodes a `Structures` or list of structures into what `predict` returns."""
        decoded = np.empty(len(structures), dtype=object)
        for i in range(len(structures)):
            decoded[i] = self.decode(structures[i])
        return decoded

    def decode_marginals(self, Example x, marginals):
        """What `predict_marginals` shows of an example's expected atom counts."""
        return marginals

    def measures(self, y_true, y_pred):
        """What is worth knowing of predictions, a dict of names to numbers; beside the mean loss, which is always measured."""
        return {}

    def encode_allowed(self, allowed, rows):
        """What the user passed as `allowed`, as a uint8 array that `Rows.restrict` takes: row by row, which labels Y(x) has."""
        raise DataError(f"allowed was given, but {type(self).__name__} cannot be restricted example by example; leave it out.")

    def max_code_length(self, n_atoms):
        """The most integers that a structure over n_atoms atoms can take."""
        return self.width if self.width >= 0 else n_atoms

    def enumerate(self, Example x):
        """All structures of Y(x), for tests, `explain` and small problems; None when it does not say."""
        return None

    def atom_names(self, Example x):
        return [f"atom {a}" for a in range(x.n_atoms)]

    cdef int count_c(self, Example x, const int *y, Py_ssize_t n, double sign, double *c) noexcept nogil:
        """c[a] += sign * (how often atom a occurs in y)."""
        cdef Py_ssize_t i
        for i in range(n):
            c[y[i]] += sign
        return 0

    cdef int difference_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n, double *c) noexcept nogil:
        """c = n_gold - n_y"""
        cdef Py_ssize_t a
        for a in range(x.n_atoms):
            c[a] = 0
        if self.count_c(x, gold, n_gold, 1.0, c) < 0:
            return -1
        return self.count_c(x, y, n, -1.0, c)

    cdef int signs_c(self, Example x, const int *gold, Py_ssize_t n_gold, double *c) noexcept nogil:
        """c = 1 for atoms of every structure that agrees with gold, -1 for atoms of none, else 0."""
        cdef Py_ssize_t a
        if self.partial_gold:
            with gil:
                self.error = self.missing("signs")
            return -1
        for a in range(x.n_atoms):
            c[a] = 0
        if self.count_c(x, gold, n_gold, 1.0, c) < 0:
            return -1
        for a in range(x.n_atoms):
            c[a] = 1 if c[a] > 0 else -1
        return 0

    cdef int agrees_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        """Whether a prediction is right: here, the same integers in any order."""
        cdef Py_ssize_t i, j
        if n != n_gold:
            return 0
        for i in range(n):
            if y[i] != gold[i]:
                break
        else:
            return 1
        for i in range(n):
            for j in range(n):
                if y[i] == gold[j]:
                    break
            else:
                return 0
        return 1

    cdef void add_costs_c(self, const double *costs, double scale, double *s) noexcept nogil:
        """Outputs of one label: adds scale * costs[label - 1] to each label's score, up to a constant, over atoms."""
        with gil:
            self.error = self.missing("add_costs")

    cdef Py_ssize_t complete_c(self, Example x, const int *gold, Py_ssize_t n_gold, const double *s, int *y) noexcept nogil:
        """The best structure that agrees with a partial gold output; called only when `partial_gold` is set."""
        with gil:
            self.error = self.missing("complete")
        return -1

    def signs(self, Example x, gold):
        """1 for atoms of every structure that agrees with this gold output, -1 for atoms of none, else 0; an array over atoms."""
        cdef int[::1] code = np.atleast_1d(np.asarray(gold, dtype=np.intc))
        cdef double[::1] c = np.zeros(max(x.n_atoms, 1))
        if self.signs_c(x, &code[0] if code.shape[0] else NULL, code.shape[0], &c[0]) < 0:
            self.raised()
        return np.asarray(c)[:x.n_atoms]

    def complete(self, gold, const double[::1] scores, Example x):
        """The best structure that agrees with a partial gold output, an int or a tuple; called only when `partial_gold` is set."""
        cdef int[::1] code = np.atleast_1d(np.asarray(gold, dtype=np.intc))
        cdef int[::1] y = np.zeros(max(self.max_code_length(x.n_atoms), 1), dtype=np.intc)
        cdef Py_ssize_t n = self.complete_c(x, &code[0] if code.shape[0] else NULL, code.shape[0], pointer(scores), &y[0])
        if n < 0:
            self.raised()
        return structure(&y[0], n, self.width)

    def count(self, Example x, y):
        """How often each atom occurs in y, array of length n_atoms."""
        self.check_structure(x, y)
        cdef int[::1] code = np.atleast_1d(np.asarray(y, dtype=np.intc))
        cdef double[::1] c = np.zeros(max(x.n_atoms, 1))
        if self.count_c(x, &code[0] if code.shape[0] else NULL, code.shape[0], 1.0, &c[0]) < 0:
            self.raised()
        return np.asarray(c)[:x.n_atoms]


cdef class LabelOutputs(Outputs):
    """One of r labels, encoded 1..r. Subclasses say which atoms a label consists of.

    Parameters
    ----------
    ordered : bool
        Whether the order of the labels means something; then labels that have no natural order need `classes`.
    """

    ordered = False
    default_loss = "zero-one"

    def __cinit__(self, *args, **kwargs):
        self.width = 1

    def __init__(self):
        self.labels = None

    @property
    def n_atoms(self):
        """How many atoms labels are made of, the same for every example; None when it is not known."""
        return None

    def find_labels(self, y, classes):
        self.labels = find_labels(y, classes, self.ordered)
        self.n_labels = len(self.labels)
        self._codes = LabelCodes(self.labels)
        self._code_of = self._codes.code_of
        return self.labels

    def encode(self, y, rows):
        cdef Py_ssize_t n = rows.n_examples
        codes = None
        if n <= FEW and (isinstance(y, list) or isinstance(y, np.ndarray)) and len(y) == n:
            codes = encode_few(self._code_of, y if isinstance(y, list) else y.tolist())
        return Structures(self._codes.encode(y, n) if codes is None else codes)   # slower, and says what is wrong

    def encode_answers(self, answers, rows):
        """Labels as `predict` shows them, as their codes."""
        return Structures(self._codes.encode(answers, rows.n_examples))

    def check_gold(self, gold, rows, features):
        """Nothing is left to check: `encode` knows every label."""

    def check_structure(self, Example x, y):
        if not isinstance(y, int) or not 1 <= y <= self.n_labels:
            raise PluginError(f"{y!r} is not a label of example {x.index}: expected an int from 1 to {self.n_labels}.")

    def decode(self, y):
        return self.labels[y - 1]

    def decode_many(self, structures):
        if type(self).decode is not LabelOutputs.decode:
            return np.array([self.decode(y) for y in np.asarray(structures).tolist()])
        return self.labels[np.asarray(structures, dtype=np.intp) - 1]

    def enumerate(self, Example x):
        return range(1, self.n_labels + 1)

    cdef int agrees_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        return gold[0] == y[0]


cdef class RankOutputs(LabelOutputs):
    """Ordered labels, ranks 1..r; rank y consists of the atoms "rank > k" for k = 1..y-1.

    The papers' atom "rank >= 1" belongs to every rank, cancels in every difference and is left out, so there are r - 1.
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

    cdef void add_costs_c(self, const double *costs, double scale, double *s) noexcept nogil:
        """s[k] += scale * (cost of the rank above - cost of the rank below)"""
        cdef Py_ssize_t k
        for k in range(self.n_labels - 1):
            s[k] += scale * (costs[k + 1] - costs[k])

    def atom_names(self, Example x):
        return [f"> {label}" for label in self.labels[:self.n_labels - 1].tolist()]


cdef class ClassOutputs(LabelOutputs):
    """Unordered labels 1..r; a label is one atom of its own."""

    @property
    def n_atoms(self):
        return self.n_labels

    cdef int count_c(self, Example x, const int *y, Py_ssize_t n, double sign, double *c) noexcept nogil:
        c[y[0] - 1] += sign
        return 0

    cdef void add_costs_c(self, const double *costs, double scale, double *s) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_labels):
            s[k] += scale * costs[k]

    def atom_names(self, Example x):
        return [str(label) for label in self.labels.tolist()]
