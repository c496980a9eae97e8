"""The base classes of the hot spots.

A compiled component overrides the methods ending in `_c`; a Python component overrides the methods of the same names
without it, and `structperc.core.adapters` lets the same loop drive it.

Structures are short arrays of C integers: one label (1..r) for `LabelOutputs`, otherwise the atoms that occur, or
whatever a plugin's own `Outputs` makes of them. Python methods see one label as an `int`, anything else as a tuple.

Cost: a virtual call is about 2 ns; nothing here allocates per example.
"""
import numpy as np

from libc.string cimport memset
from structperc.core.errors import DataError, PluginError
from structperc.core.gold import Gold, encode_few
from structperc.core.labels import LabelCodes, find_labels
from structperc.core.kernels cimport best_kernels
from structperc.core.rows cimport Example, Rows

cdef enum:
    FEW = 64                # up to here a dictionary beats array operations


cdef room_for(c, Features features, Example x):
    """One coefficient per atom, copied to an array that is as long as compiled methods need it."""
    x.n_atoms = features.n_atoms(x)
    padded = np.zeros(max(x.n_atoms, features.room, 1))
    c = np.asarray(c, dtype=float)
    if c.shape != (x.n_atoms,):
        raise DataError(f"{c.shape} coefficients for example {x.index}; expected ({x.n_atoms},), one per atom.")
    padded[:len(c)] = c
    return padded


cdef const double *pointer(const double[::1] values) noexcept:
    return &values[0] if values.shape[0] else NULL


cdef object structure(const int *y, Py_ssize_t n, Py_ssize_t width):
    """A structure as Python methods see it."""
    cdef Py_ssize_t i
    if width == 1:
        return y[0]
    return tuple([y[i] for i in range(n)])


def remake(kind, args, kwargs, attributes):
    """A component from its constructor's arguments and, for a Python class, its attributes."""
    component = kind(*args, **kwargs)
    if attributes:
        component.__dict__.update(attributes)
    return component


cdef class Component:
    """Base of all hot spots.

    Attributes
    ----------
    citation : str
        BibTeX of the method, shown by `Engine.citation`; empty where there is nothing to cite.
    """

    citation = ""

    def __cinit__(self, *args, **kwargs):
        self._arguments = args, kwargs

    def fresh(self):
        """A component made as this one was: every fit gets its own, so that engines share no state."""
        args, kwargs = self._arguments
        return remake(type(self), args, kwargs, getattr(self, "__dict__", None))

    def __reduce__(self):
        args, kwargs = self._arguments
        return remake, (type(self), args, kwargs, getattr(self, "__dict__", None))

    def check(self, task, parts, sample_weight=None):
        """Refuses a combination of parts that would silently be wrong.

        Called before the first example of a fit or partial_fit. `parts` has the attributes weights, outputs, features,
        argmax, loss and update. Raise `PluginError` or `DataError` with a sentence.
        """

    def attributes(self, weights):
        """Fitted attributes to show on the engine: a dict of names ending in `_` to functions without arguments."""
        return {}

    def state(self):
        """What a model file must hold of this component, a dict of arrays; `restore` takes it back."""
        return {}

    def restore(self, state):
        """Takes back what `state` gave; called on a component that has been started."""

    def missing(self, method):
        """The error of a component that lacks one of its methods."""
        return PluginError(f"{type(self).__module__}.{type(self).__name__} does not implement {method}(); "
                           f"override it in Python, or {method}_c in Cython.")


cdef class Features(Component):
    """The feature map phi(x, a) of every atom a: scores, additive updates, norms and inner products.

    Attributes
    ----------
    n_weight_rows, row_width : int
        The weights are a (n_weight_rows, row_width) array.
    fixed_atoms : int
        Atoms of every example, or -1 when they differ (then `n_atoms(x)` tells).
    single_row : bool
        Whether every example must be exactly one row of X.
    n_blocks : int
        Of maps whose atoms each stand on one row of x: phi(x, a) = e_block (x) x_row, and perhaps weights of its own besides, for which
        there is `without_columns`; `cell(x, a)` tells row and block. Then a kernel between rows can take the place of their dot
        product. 0: this map does not say.
    uniform_gram : bool
        Whether phi(x, a) . phi(x, b) is one number for a = b and another for all a != b; then `own_c` gives them.
    adds_repeated : bool
        Whether norms are right also where a sparse row names a feature twice; otherwise the engine adds these up first, in a copy.
    """

    single_row = False
    adds_repeated = False
    uniform_gram = False

    def __cinit__(self, *args, **kwargs):
        self.kernels = best_kernels(0)
        self.fixed_atoms = -1
        self.n_weight_rows = 1
        self.scratch = None

    def shape(self, Py_ssize_t n_weights, Py_ssize_t n_weight_rows=1, Py_ssize_t fixed_atoms=-1, Py_ssize_t lazy_rows=0,
              Py_ssize_t n_blocks=0):
        """Declares the number of weights; a Python feature map calls this in its constructor.

        lazy_rows: so many of the first rows are found through `Parameter.place` (compiled feature maps only), so that a weight
        store may give them memory when a step first touches them.
        """
        if n_weights < 1 or n_weight_rows < 1 or n_weights % n_weight_rows:
            raise PluginError(f"{type(self).__name__} declares {n_weights} weights in {n_weight_rows} rows; "
                              f"both must be positive and the rows equally long.")
        self.n_weight_rows, self.row_width = n_weight_rows, n_weights // n_weight_rows
        self.fixed_atoms, self.lazy_rows, self.n_blocks = fixed_atoms, lazy_rows, max(n_blocks, self.n_blocks)
        self.room = max(self.room, fixed_atoms)

    @property
    def n_weights(self):
        return self.n_weight_rows * self.row_width

    cdef Py_ssize_t n_atoms_c(self, Example x) noexcept nogil:
        if self.fixed_atoms < 0:
            with gil:
                self.error = self.missing("n_atoms")
        return self.fixed_atoms

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        with gil:
            self.error = self.missing("scores")
        return -1

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        with gil:
            self.error = self.missing("add")
        return -1

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        """Squared norm of sum_a c[a] phi(x, a), by writing the vector down: O(n_weights)."""
        cdef Py_ssize_t j
        cdef double total = 0
        cdef double *v = self.write_vector(x, c, 0)
        if v == NULL:
            return -1
        for j in range(self.n_weight_rows * self.row_width):
            total += v[j] * v[j]
        return total

    cdef double inner_c(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b) noexcept nogil:
        """phi(x, a) . phi(z, b), by writing both down: O(n_weights); sets `error` when it cannot."""
        cdef Py_ssize_t j
        cdef double total = 0
        cdef double *u
        cdef double *v
        with gil:
            left, right = np.zeros(max(x.n_atoms, self.room, 1)), np.zeros(max(z.n_atoms, self.room, 1))
            left[a], right[b] = 1, 1
            u = self.write_vector(x, pointer(left), 0)
            v = self.write_vector(z, pointer(right), 1)
        if u == NULL or v == NULL:
            return 0
        for j in range(self.n_weight_rows * self.row_width):
            total += u[j] * v[j]
        return total

    cdef double own_c(self, Example x, double *shared) noexcept nogil:
        """phi(x, a) . phi(x, b) = shared + [a = b] own, of maps with a uniform Gram; negative on an error."""
        shared[0] = self.inner_c(x, 0, x, 1) if x.n_atoms > 1 else 0
        return self.inner_c(x, 0, x, 0) - shared[0]

    cdef Py_ssize_t cell_c(self, Example x, Py_ssize_t a) noexcept nogil:
        """row * n_blocks + block of the row and the block that atom a stands on, -1: on none; -2 on an error."""
        with gil:
            self.error = self.missing("cell")
        return -2

    cdef double *write_vector(self, Example x, const double *c, int place) noexcept nogil:
        """sum_a c[a] phi(x, a) in the scratch space; NULL on an error."""
        cdef Parameter p
        cdef Py_ssize_t n = self.n_weight_rows * self.row_width
        if self.scratch is None:
            with gil:
                self.scratch = np.zeros((2, n))
        p = written_out(self, &self.scratch[place, 0])
        memset(p.w, 0, n * sizeof(double))
        return p.w if self.add_c(&p, x, c, 1.0, 0.0) >= 0 else NULL

    cdef void prefetch_c(self, const Parameter *p, Example x) noexcept nogil:
        pass

    def n_atoms(self, Example x):
        """How many atoms x has."""
        cdef Py_ssize_t n = self.n_atoms_c(x)
        self.reraise()
        return n

    def check_rows(self, rows):
        """Refuses a data set whose examples this map cannot read."""
        if self.single_row and rows.offsets is not None:
            wrong = np.flatnonzero(np.diff(rows.offsets) != 1)
            if len(wrong):
                i = int(wrong[0])
                raise DataError(f"example {i} of X has {int(np.diff(rows.offsets)[i])} rows, but {type(self).__name__} describes "
                                f"examples of one row; leave offsets out.")

    def max_atoms(self, rows):
        """The most atoms that an example of this data set has."""
        if self.fixed_atoms >= 0:
            return self.fixed_atoms
        return max([self.n_atoms(rows.example(i)) for i in range(rows.n_examples)], default=0)

    def touched(self, rows):
        """Which rows of weights steps on these examples can change, an array, or None for all."""
        return None

    def scores(self, const double[::1] w, Example x):
        """s[a] = w . phi(x, a) for every atom; w has length n_weights."""
        cdef Parameter p = written_out(self, <double *> &w[0])
        cdef Py_ssize_t n = self.n_atoms(x)
        cdef double[::1] s = np.zeros(max(n, self.room, 1))
        x.n_atoms = n
        self.answer(self.scores_c(&p, x, &s[0]))
        return np.asarray(s)[:n]

    def add(self, double[::1] w, Example x, c):
        """w += sum_a c[a] phi(x, a), in place."""
        cdef Parameter p = written_out(self, &w[0])
        cdef double[::1] padded = room_for(c, self, x)
        self.answer(self.add_c(&p, x, &padded[0], 1.0, 0.0))

    def vector(self, Example x, c):
        """sum_a c[a] phi(x, a) as an array of length n_weights."""
        w = np.zeros(self.n_weights)
        self.add(w, x, c)
        return w

    def norm(self, Example x, c):
        """Squared norm of sum_a c[a] phi(x, a)."""
        cdef double[::1] padded = room_for(c, self, x)
        cdef double total = self.norm_c(x, &padded[0])
        self.reraise()
        return total

    def inner(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b):
        """phi(x, a) . phi(z, b): what a dual weight store needs."""
        cdef double value = self.inner_c(x, a, z, b)
        self.reraise()
        return value

    def cell(self, Example x, Py_ssize_t a):
        """(row, block) of the row of x and the block that atom a stands on, None where it stands on none; see `n_blocks`."""
        cdef Py_ssize_t cell = self.cell_c(x, a)
        self.reraise()
        return None if cell < 0 else divmod(cell, self.n_blocks)

    def without_columns(self):
        """The map of what atoms have besides their row (see `n_blocks`): this one for X without columns; None where nothing is left."""
        raise self.missing("without_columns")

    def batch_scores(self, w, rows):
        """Atom scores of many one-row examples, (n_examples, n_atoms), or None where there is no faster way than one by one."""
        return None

    def feature_of(self, indices):
        """Which column of X each of these weights belongs to; -1: none (an intercept or a threshold)."""
        return np.asarray(indices)

    def answer(self, int status):
        """Raises what a compiled or Python method left behind."""
        if status < 0:
            self.reraise()

    def reraise(self):
        error, self.error = self.error, None
        if error is not None:
            raise error


cdef class Weights(Component):
    """The weight store w: scores an example's atoms and takes additive steps.

    The loop counts `ticks` (examples visited) for averaging; `start` is called once before the first example.
    """

    primal = False

    def __cinit__(self, *args, **kwargs):
        self.scale = 1.0

    def start(self, Features features, task):
        """Takes the feature map and the options; allocates."""
        self.features = features

    cdef int scores_c(self, Example x, double *s) noexcept nogil:
        with gil:
            self.error = self.missing("scores")
        return -1

    cdef int update_c(self, Example x, const double *c) noexcept nogil:
        with gil:
            self.error = self.missing("update")
        return -1

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        """||sum_a c[a] phi(x, a)||^2; negative on an error."""
        return self.features.norm_c(x, c)

    cdef double own_c(self, Example x, double *shared) noexcept nogil:
        """phi(x, a) . phi(x, b) = shared + [a = b] own, of maps with a uniform Gram; negative on an error."""
        return self.features.own_c(x, shared)

    cdef double inner_c(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b) noexcept nogil:
        return self.features.inner_c(x, a, z, b)

    cdef Py_ssize_t ahead_c(self, Rows rows, const int64_t *order, Py_ssize_t t, Py_ssize_t n) noexcept nogil:
        """Told that the examples from t on (in file order, or order[t], ...) are visited next, up to n; until which it need not be told.

        A store that scores many examples faster than one by one does that here. -1 on an error.
        """
        return n

    cdef void prefetch_c(self, Example x) noexcept nogil:
        pass

    def attend(self, rows):
        """Told which data all passes of a fit will visit, before the first of them; None: the fit is over."""

    def norm(self, Example x, c):
        """||sum_a c[a] phi(x, a)||^2"""
        cdef double[::1] padded = room_for(c, self.features, x)
        cdef double total = self.norm_c(x, &padded[0])
        self.reraise()
        return total

    def inner(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b):
        """phi(x, a) . phi(z, b)"""
        cdef double value = self.inner_c(x, a, z, b)
        self.reraise()
        return value

    def scores(self, Example x):
        """s[a] = w . phi(x, a) for every atom of x."""
        cdef Py_ssize_t n = self.features.n_atoms(x)
        cdef double[::1] s = np.zeros(max(n, self.features.room, 1))
        x.n_atoms = n
        if self.scores_c(x, &s[0]) < 0:
            self.reraise()
        return np.asarray(s)[:n]

    def update(self, Example x, c):
        """w <- (1 - decay) w + sum_a c[a] phi(x, a)."""
        cdef double[::1] padded = room_for(c, self.features, x)
        if self.update_c(x, &padded[0]) < 0:
            self.reraise()

    def final(self):
        """The store to predict with: the averaged one when averaging, else this one."""
        return self

    def batch_scores(self, rows):
        """Atom scores of a whole data set, or None where examples must be scored one by one."""
        return None

    def state(self):
        """What must be saved, a dict of arrays; `restore` takes it back."""
        raise self.missing("state")

    def restore(self, state):
        raise self.missing("restore")

    def checkpoint(self, rows):
        """Something from which `roll_back` undoes every step on these examples."""
        return self.state()

    def roll_back(self, token):
        self.restore(token)

    def finite(self, token=None):
        """Whether no step has overflowed since the checkpoint (or ever)."""
        return True

    def reraise(self):
        error = self.error or self.features.error
        self.error = self.features.error = None
        if error is not None:
            raise error


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
        """Checks what the user passed and encodes it as a `structperc.core.gold.Gold`."""
        if len(y) != rows.n_examples:
            raise DataError(f"y has {len(y)} outputs but X has {rows.n_examples} examples; give one output per example.")
        structures = []
        for i, atoms in enumerate(y):
            try:
                structures.append([int(a) for a in atoms])
            except (TypeError, ValueError):
                raise DataError(f"y[{i}] is {atoms!r}; expected a collection of atom numbers.") from None
        return Gold.ragged(structures)

    def check_gold(self, gold, rows, features):
        """Refuses gold outputs that are no structures; the compiled loop counts their atoms without looking."""
        if self.partial:
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
        """What `predict` answered, as a `Gold`: the inverse of `decode_many`. Where gold outputs are whole structures, `encode` is that."""
        if self.partial:
            raise PluginError(f"{type(self).__name__} learns from partial outputs and does not say how its answers are encoded; "
                              f"override encode_answers(answers, rows).")
        return self.encode(answers, rows)

    def decode(self, y):
        """What the user sees of an encoded structure (an int or a tuple)."""
        return y

    def decode_many(self, structures):
        """Decodes a `Gold` or list of structures into what `predict` returns."""
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

    def capacity(self, n_atoms):
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
        if self.partial:
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
        """The best structure that agrees with a partial gold output; called only when `partial` is set."""
        with gil:
            self.error = self.missing("complete")
        return -1

    def signs(self, Example x, gold):
        """1 for atoms of every structure that agrees with this gold output, -1 for atoms of none, else 0; an array over atoms."""
        cdef int[::1] code = np.atleast_1d(np.asarray(gold, dtype=np.intc))
        cdef double[::1] c = np.zeros(max(x.n_atoms, 1))
        if self.signs_c(x, &code[0] if code.shape[0] else NULL, code.shape[0], &c[0]) < 0:
            error, self.error = self.error, None
            raise error
        return np.asarray(c)[:x.n_atoms]

    def complete(self, gold, const double[::1] scores, Example x):
        """The best structure that agrees with a partial gold output, an int or a tuple; called only when `partial` is set."""
        cdef int[::1] code = np.atleast_1d(np.asarray(gold, dtype=np.intc))
        cdef int[::1] y = np.zeros(max(self.capacity(x.n_atoms), 1), dtype=np.intc)
        cdef Py_ssize_t n = self.complete_c(x, &code[0] if code.shape[0] else NULL, code.shape[0], pointer(scores), &y[0])
        if n < 0:
            error, self.error = self.error, None
            raise error
        return structure(&y[0], n, self.width)

    def count(self, Example x, y):
        """How often each atom occurs in y, array of length n_atoms."""
        self.check_structure(x, y)
        cdef int[::1] code = np.atleast_1d(np.asarray(y, dtype=np.intc))
        cdef double[::1] c = np.zeros(max(x.n_atoms, 1))
        if self.count_c(x, &code[0] if code.shape[0] else NULL, code.shape[0], 1.0, &c[0]) < 0:
            error, self.error = self.error, None
            raise error
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
        return Gold(self._codes.encode(y, n) if codes is None else codes)   # slower, and says what is wrong

    def encode_answers(self, answers, rows):
        """Labels as `predict` shows them, as their codes."""
        return Gold(self._codes.encode(answers, rows.n_examples))

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


cdef class Argmax(Component):
    """The solver: a structure of largest score, sum_a n_y[a] s[a], with a stated tie rule.

    Attributes
    ----------
    exact : bool
        Whether what it finds is always a maximiser. An approximate solver is allowed, and `Engine` says so.
    restricts : bool
        Whether it heeds which labels each row may have (`Rows.restrict`, the users' `allowed`).
    """

    exact = True
    restricts = False

    def __cinit__(self, *args, **kwargs):
        self.width = -1

    def workspace(self, n_atoms):
        """How many doubles `argmax_c` needs at x.work for an example of so many atoms."""
        return 0

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        with gil:
            self.error = self.missing("argmax")
        return -1

    def argmax(self, const double[::1] scores, Example x):
        """The structure of largest score: one label (int) or a tuple of integers.

        Parameters
        ----------
        scores : array of shape (x.n_atoms,)
            Atom scores; with loss-augmented search the loss is already in them.
        x : Example
        """
        cdef int[::1] y = np.empty(max(scores.shape[0], self.width, 1), dtype=np.intc)
        cdef Py_ssize_t n
        x.provide(self.workspace(scores.shape[0]))
        n = self.argmax_c(x, &scores[0] if scores.shape[0] else NULL, &y[0])
        if n < 0:
            error, self.error = self.error, None
            raise error
        return structure(&y[0], n, self.width)

    def k_best(self, scores, Example x, k):
        """The k structures of largest score, best first, as a list of (structure, score); fewer where Y(x) has fewer.

        The first is what `argmax` finds. None: no faster way than to look at every structure.
        """
        return None

    def marginals(self, scores, Example x):
        """How often each atom is expected in y where p(y) is proportional to exp(score of y), an array; None as in `k_best`."""
        return None

    def max_marginals(self, scores, Example x):
        """The score of the best structure that contains each atom, an array; -inf where none does; None as in `k_best`."""
        return None


cdef class Loss(Component):
    """The loss: its value, and how it is added to the atom scores for loss-augmented search.

    A subclass gives `value`. On label outputs any loss is additive, so `augment` follows from it; on other outputs a
    subclass that can be optimised overrides `augment` too, else its loss is only measured.

    Attributes
    ----------
    per_example : bool
        Whether it needs costs of each example: `attach(costs, gold, n_examples)` then receives `fit(..., costs=)`.
    """

    per_example = False

    def start(self, Outputs outputs, task):
        """Takes the output space; called once per fit."""
        self.outputs = outputs
        self.costs = np.zeros(max(outputs.n_labels, 1))

    @property
    def additive(self):
        """Whether loss-augmented search optimises this loss."""
        return self.outputs is not None and self.outputs.n_labels > 0

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        """The loss, >= 0; negative after storing an error."""
        with gil:
            self.error = self.missing("value")
        return -1

    cdef int augment_c(self, Example x, const int *gold, Py_ssize_t n_gold, double scale, double *s) noexcept nogil:
        """s += scale * loss, up to a constant."""
        cdef int y
        cdef double value
        if self.outputs is None or self.outputs.n_labels == 0:
            with gil:
                self.error = self.missing("augment")
            return -1
        for y in range(1, <int> self.outputs.n_labels + 1):
            value = self.value_c(x, gold, n_gold, &y, 1)
            if value < 0:
                return -1
            self.costs[y - 1] = value
        self.outputs.add_costs_c(&self.costs[0], scale, s)
        return 0

    def started(self):
        if self.outputs is None:
            raise PluginError(f"{type(self).__name__} does not know the outputs yet; an engine calls start(outputs, task) first.")

    def value(self, gold, y, Example x=None):
        """The loss of predicting y where gold is right; both as `Outputs` encodes them (labels: ints 1..r)."""
        self.started()
        cdef int[::1] a = np.atleast_1d(np.asarray(gold, dtype=np.intc))
        cdef int[::1] b = np.atleast_1d(np.asarray(y, dtype=np.intc))
        cdef double value = self.value_c(x, &a[0] if a.shape[0] else NULL, a.shape[0],
                                         &b[0] if b.shape[0] else NULL, b.shape[0])
        if value < 0:
            error, self.error = self.error, None
            raise error
        return value

    def augment(self, gold, scores, double scale, Example x=None):
        """scores + scale * loss(gold, .), written over atoms, as a new array; up to a constant."""
        self.started()
        cdef int[::1] a = np.atleast_1d(np.asarray(gold, dtype=np.intc))
        cdef double[::1] s = np.array(scores, dtype=float)
        if self.augment_c(x, &a[0] if a.shape[0] else NULL, a.shape[0], scale, &s[0]) < 0:
            error, self.error = self.error, None
            raise error
        return np.asarray(s)


cdef class Step(Component):
    """What an update rule sees of one trial, and where it writes its coefficients.

    Attributes
    ----------
    scores : ndarray of shape (n_atoms,)
        Atom scores, without the loss.
    gold, y : int or tuple
        The gold structure (completed, if it was partial) and the structure that the search found.
    loss : float
        loss(gold, y).
    weight : float
        The example's sample weight.
    x : Example
    """

    def start(self, Example x, Weights weights, Outputs outputs, Py_ssize_t room):
        self.x, self.weights, self.outputs = x, weights, outputs
        self.coefficient_buffer = np.zeros(max(room, 1))
        self.c = &self.coefficient_buffer[0]

    cdef int difference_c(self) noexcept nogil:
        """c = n_gold - n_y; -1 on an error."""
        return self.outputs.difference_c(self.x, self.gold_code, self.n_gold, self.y_code, self.n_y, self.c)

    cdef int signs_c(self) noexcept nogil:
        """c = 1 for atoms that are surely in the right answer, -1 for those that surely are not; -1 on an error."""
        return self.outputs.signs_c(self.x, self.given_code, self.n_given, self.c)

    cdef double difference_score_c(self) noexcept nogil:
        """w . sum_a c[a] phi(x, a)"""
        cdef Py_ssize_t a
        cdef double total = 0
        for a in range(self.n_atoms):
            total += self.c[a] * self.s[a]
        return total

    cdef double norm_c(self) noexcept nogil:
        """||sum_a c[a] phi(x, a)||^2; negative on an error."""
        return self.weights.norm_c(self.x, self.c)

    @property
    def scores(self):
        return np.asarray(<const double[:self.n_atoms]> self.s).copy()

    @property
    def gold(self):
        return structure(self.gold_code, self.n_gold, self.outputs.width)

    @property
    def y(self):
        return structure(self.y_code, self.n_y, self.outputs.width)

    def difference(self):
        """n_gold - n_y as an array over atoms."""
        if self.difference_c() < 0:
            error, self.outputs.error = self.outputs.error, None
            raise error
        return np.asarray(self.coefficient_buffer)[:self.n_atoms].copy()

    def signs(self):
        """1 for atoms that are surely in the right answer, -1 for those that surely are not, else 0; an array over atoms."""
        if self.signs_c() < 0:
            error, self.outputs.error = self.outputs.error, None
            raise error
        return np.asarray(self.coefficient_buffer)[:self.n_atoms].copy()

    def norm(self, c):
        """||sum_a c[a] phi(x, a)||^2"""
        return self.weights.norm(self.x, c)

    def inner(self, Py_ssize_t a, Py_ssize_t b):
        """phi(x, a) . phi(x, b): one entry of the Gram of the atoms."""
        return self.weights.inner(self.x, a, self.x, b)


cdef class Update(Component):
    """The update rule: from a trial to coefficients over atoms. It never sees features.

    Attributes
    ----------
    integral : bool
        Whether its coefficients are whole numbers when sample weights are.
    weighs : bool
        Whether it can honour sample weights other than 0 and 1.
    keeps_order : bool
        Whether it keeps thresholds in order that are so before.
    every_trial : bool
        Whether it sees right predictions too, since their margins may be short; set in the constructor.
    norms : bool
        Whether it asks for norms or inner products; then sparse rows must name every feature once.
    uses : tuple of str or None
        Which of the options "margin", "C", "step_size" and "step_schedule" it depends on; the others of these must keep their defaults.
        None: not known.
    """

    integral = False
    keeps_order = False
    weighs = True
    norms = True
    uses = None

    cdef int step_c(self, Step step) noexcept nogil:
        """Fills step.c; 1: take the step, 0: leave w, -1: error."""
        with gil:
            self.error = self.missing("step")
        return -1

    def step(self, Step step):
        """The coefficients over atoms to add, an array of length n_atoms, or None for no step."""
        cdef int made
        step.coefficient_buffer[:] = 0
        made = self.step_c(step)
        if made < 0:
            error, self.error = self.error, None
            raise error
        return np.asarray(step.coefficient_buffer)[:step.n_atoms].copy() if made else None
