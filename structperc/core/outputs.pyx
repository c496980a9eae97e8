"""Output spaces of one label per example: ordered ranks and unordered classes.

Typical sizes: r = 2..50 labels. Counting and adding costs are O(r).
"""
import itertools

import numpy as np

from operator import index

from libc.stdint cimport uint64_t
from libc.string cimport memcmp
from structperc.core.component cimport Component
from structperc.core.component import adapted, expected, inherits, noted, nothing, overrides, unwrapped
from structperc.core.errors import DataError, PluginError, shortened
from structperc.core.features cimport pointer
from structperc.core.labels import LabelCodes, find_labels, is_listed, is_nested
from structperc.core.pictures import Choices, Ruler
from structperc.core.probabilities import cumulative_log_probabilities, cumulative_slope, log_softmax, pooled, softmax_slope
from structperc.core.rows cimport Example, Rows
from structperc.core.structures cimport Structures, encode_few, structure

cdef enum:
    FEW = 64                # up to here a dictionary beats array operations


cdef class Outputs(Component):
    """The output space Y(x): checks and encodes gold outputs, decodes predictions.

    By default a structure is a set of atoms: a tuple of different atom numbers, from 0.

    For another encoding, override `count` or `count_c`, `encode`, `decode` and `check_structure`. Two structures are the same if they
    contain every atom equally often, and losses see only these counts. If a structure has more integers than atoms, also override
    `max_code_length`.

    Attributes
    ----------
    code_width : int
        Integers in a structure; -1: they differ.
    partial_gold : bool
        Whether a gold output may be partial; then `agrees` and `complete` define what fits it.
    default_loss : str
        The loss if the user names none.
    ordered : bool
        Whether the labels have an order.
    order_counts : bool
        Whether the order within a structure matters to its loss.
    per_row : bool
        Whether y has an entry for each row of X if examples have several rows.
    conditional : str or None
        If features of some atoms depend on an earlier part of the prediction (see `second_stage`): how to score all atoms at once, such as
        "set labels='joint'". Lists of the k best need that.

    Examples
    --------
    >>> from structperc.components import Outputs
    >>> class AtMost(Outputs):
    ...     '''Sets of at most n atoms.'''
    ...     default_loss = "hamming"
    ...     def __init__(self, n):
    ...         self.n = n
    >>> AtMost(2).default_loss, AtMost(2).ordered
    ('hamming', False)
    """

    default_loss = "hamming"
    _declared_by = {"n_labels": "find_labels(y, classes), as the labels that it returns"}
    ordered = False
    order_counts = False
    per_row = False
    conditional = None

    def __cinit__(self, *args, **kwargs):
        self.code_width = -1

    def start(self, parts, context):
        self._features = adapted(parts.features)

    def find_labels(self, y, classes):
        """The labels of outputs that have labels.

        Parameters
        ----------
        y : sequence
            As the user passed it.
        classes : sequence or None
            All labels in order, if the user names them.

        Returns
        -------
        array or None
            The labels in order; None if outputs have no labels.
        """
        if classes is not None:
            raise DataError(f"classes={classes!r} was given, but {type(self).__name__} has no labels.")
        return None

    def encode(self, y, rows):
        """Check and encode gold outputs.

        Parameters
        ----------
        y : sequence
            As the user passed it.
        rows : Rows
            Their examples.

        Returns
        -------
        Structures

        Raises
        ------
        DataError
            If y does not fit the examples. The message names the example.
        """
        if not is_listed(y):
            raise DataError(f"y is {shortened(y)}; expected one output per example, such as a list.")
        if len(y) != rows.n_examples:
            raise DataError(f"y has {len(y)} outputs but X has {rows.n_examples} examples; give one output per example.")
        structures = []
        for i, atoms in enumerate(y):
            try:
                structures.append([int(a) for a in atoms])
            except (TypeError, ValueError, OverflowError):
                raise DataError(f"y[{i}] is {shortened(atoms)}; expected a collection of atom numbers.") from None
        return Structures.ragged(structures)

    def admissible(self, gold, rows):
        """The encoded gold outputs to learn from. By default unchanged; override it to move outputs that are not in Y(x) into it.

        Parameters
        ----------
        gold : Structures
        rows : Rows

        Returns
        -------
        Structures
        """
        return gold

    def second_stage(self, found, rows, settled=False):
        """The same examples with a first part of the prediction as given (`Rows.condition`).

        Only outputs that are `conditional` have this method: features of a later part depend on an earlier part. `admissible` passes the
        gold outputs to the rows. A prediction has two stages: first nothing is given, then the rows that this method returns.

        Parameters
        ----------
        found : Structures
            Predictions of the first stage.
        rows : Rows
        settled : bool, default False
            Whether the map may change the scores of the earlier part, as long as the same part remains the best.

        Returns
        -------
        Rows
        """
        raise self.missing("second_stage")

    cdef Structures gold(self, y, Rows rows, features):
        """What users pass as y, encoded and checked, in Y(x)."""
        cdef Structures encoded = self.checked(self.encode(y, rows), "encode", rows)
        cdef Structures found = self.checked(self.admissible(encoded, rows), "admissible", rows)
        self.check_gold(found, rows, features)
        return found

    def checked(self, answer, method, rows):
        """Check encoded gold outputs that a method returned: one for each example, and valid codes of labels.

        Parameters
        ----------
        answer : Structures
        method : str
            The method's name, for the error message.
        rows : Rows

        Returns
        -------
        Structures

        Raises
        ------
        PluginError
            If the method returned something else.
        """
        cdef Structures found = expected(answer, Structures, self, method, "Structures, such as Structures.ragged(lists)")
        if found.count() != rows.n_examples:
            raise PluginError(f"{type(self).__name__}.{method} made {found.count()} gold outputs for {rows.n_examples} examples.")
        if self.code_width != 1 or self.partial_gold:
            return found
        if found.offsets is not None and (np.diff(found.offsets) != 1).any():
            raise PluginError(f"{type(self).__name__}.{method} returned structures of several integers or none; expected one integer each, "
                              f"since code_width is 1.")
        if self.n_labels and rows.n_examples and not 1 <= found.values.min() <= found.values.max() <= self.n_labels:
            raise PluginError(f"{type(self).__name__}.{method} returned the codes {found.values.min()}..{found.values.max()}; expected "
                              f"ints from 1 to {self.n_labels}, the numbers of the labels.")
        return found

    def labels_in(self, y):
        """The labels that occur in y, of outputs made of labels.

        Parameters
        ----------
        y : sequence
            As the user passed it.

        Returns
        -------
        iterable of labels
        """
        if not is_listed(y):
            raise DataError(f"y is {shortened(y)}; expected one output per example, such as a list.")
        if not is_nested(y):
            return y
        for i, labels in enumerate(y):
            if not is_listed(labels):
                raise DataError(f"y[{i}] is {shortened(labels)}; expected a list of labels, as the first output is.")
        return itertools.chain.from_iterable(y)

    def check_gold(self, gold, rows, features) -> None:
        """Raise an error for gold outputs that are not structures. The compiled loop counts their atoms without checks.

        Parameters
        ----------
        gold : Structures
        rows : Rows
        features : Features

        Raises
        ------
        PluginError
            As in `check_structure`.
        """
        if self.partial_gold:
            return
        called = adapted(features)
        for i in range(rows.n_examples):
            x = rows.example(i)
            x.n_atoms = called.n_atoms(x)
            try:
                nothing(self.check_structure(x, gold[i]), self, "check_structure")
            except PluginError as error:
                raise DataError(f"y[{i}] cannot be used: {error}") from None

    def check_structure(self, Example x, y) -> None:
        """Raise `PluginError` unless y is a structure over the atoms of x.

        Parameters
        ----------
        x : Example
        y : int or tuple

        Raises
        ------
        PluginError
            If y is not a structure.
        """
        atoms = (y,) if isinstance(y, int) else y
        for a in atoms:
            if not 0 <= a < x.n_atoms:
                raise no_atom(a, y, x)
        if len(set(atoms)) < len(atoms):
            raise PluginError(f"the structure {shortened(y)} of example {x.index} names an atom twice.")

    def encode_answers(self, answers, rows):
        """Encode what `predict` returned: the inverse of `decode_many`. By default the same as `encode`.

        Parameters
        ----------
        answers : sequence
        rows : Rows

        Returns
        -------
        Structures
        """
        if self.partial_gold:
            raise PluginError(f"{type(self).__name__} learns from partial outputs and has no encoding of its predictions; "
                              f"override encode_answers(answers, rows).")
        return self.encode(answers, rows)

    def as_structure(self, answer, Example x):
        """Convert the result of a Python solver, an int or a tuple of ints.

        Parameters
        ----------
        answer : int or sequence of int
        x : Example

        Returns
        -------
        int or tuple

        Raises
        ------
        PluginError
            If a number is not whole.
        """
        if self.code_width == 1:
            try:
                return index(answer)
            except TypeError:
                raise PluginError(f"{shortened(answer)} for example {x.index} is not a label; expected an int.") from None
        try:
            return tuple(map(index, answer.tolist() if isinstance(answer, np.ndarray) else answer))
        except TypeError:
            raise PluginError(f"{shortened(answer)} for example {x.index} is not a structure; expected a collection of ints.") from None

    cdef Py_ssize_t write(self, object answer, Example x, int *y) except -1:
        """Checks a structure that Python code returned and writes it to y, which has room for `max_code_length` integers."""
        cdef Py_ssize_t n = 0
        if not (self.code_width == 1 and type(answer) is int):
            answer = self.as_structure(answer, x)
        if self.code_width != 1 and len(answer) > self.max_code_length(x.n_atoms):
            raise PluginError(f"a structure of {len(answer)} integers for example {x.index}; "
                              f"Outputs.max_code_length allows {self.max_code_length(x.n_atoms)}.")
        nothing(self.check_structure(x, answer), self, "check_structure")
        if self.code_width == 1:
            if self.n_labels and not 0 < answer <= self.n_labels:
                LabelOutputs.check_structure(self, x, answer)
            y[0] = answer
            return 1
        for a in answer:
            y[n] = a
            n += 1
        return n

    def decode(self, y, Example x):
        """The output that the user sees of a structure.

        Parameters
        ----------
        y : int or tuple
            An encoded structure.
        x : Example

        Returns
        -------
        object
        """
        return y

    def decode_many(self, structures, Rows rows, examples=None):
        """Decode structures to what `predict` returns.

        Parameters
        ----------
        structures : Structures, list of structures, or array of codes of labels
        rows : Rows
        examples : int array, optional
            Numbers of the examples of the structures. Default: all examples in order.

        Returns
        -------
        ndarray of shape (n_structures,)
        """
        cdef Example x = Example()
        x.look_at(rows)
        decoded = np.empty(len(structures), dtype=object)
        if type(self).decode is Outputs.decode:
            for i in range(len(structures)):
                decoded[i] = structures[i]
            return decoded
        for i in range(len(structures)):
            rows.load(i if examples is None else examples[i], x)
            if self._features is not None:
                x.n_atoms = self._features.n_atoms(x)
            try:
                decoded[i] = self.decode(structures[i], x)
            except Exception as error:
                raise noted(error, self, "decode", x)
        return decoded

    cdef object shown(self, const int *y, Rows rows):
        """What `predict` returns of one example and its output of one integer."""
        return self.decode_many(np.array([y[0]], dtype=np.intc), rows)

    def decode_marginals(self, Example x, marginals):
        """What `predict_marginals` shows of an example.

        Parameters
        ----------
        x : Example
        marginals : float64 array of shape (n_atoms,)
            Expected counts of atoms.

        Returns
        -------
        object
        """
        return marginals

    def shown_atoms(self, Example x):
        """The atoms that belong to one place of x each, for pictures. Shared atoms such as transitions are left out.

        Parameters
        ----------
        x : Example

        Returns
        -------
        int array
        """
        return np.arange(x.n_atoms)

    def picture_of_set(self, given, Example x, states):
        """How to draw a set of structures: certain atoms dark, other possible atoms pale.

        Parameters
        ----------
        given : object
            The example as the user passed it.
        x : Example
        states : int array of shape (n_atoms,)
            2: in every structure of the set; 1: in some; 0: in none.

        Returns
        -------
        structperc.pictures.Picture or None
        """
        names = self.atom_names(x)
        return Choices([""], [[(names[a], bool(states[a] == 2)) for a in self.shown_atoms(x) if states[a]]])

    def measures(self, y_true, y_pred):
        """Measures of predictions beside the mean loss, which is always measured.

        Parameters
        ----------
        y_true, y_pred : sequence
            Right and predicted outputs, as users see them.

        Returns
        -------
        dict of str to float
        """
        return {}

    def measures_of_scores(self, y_true, scores):
        """Measures of the atoms' scores beside those of predictions.

        Parameters
        ----------
        y_true : sequence
            Right outputs, as users pass them.
        scores : sequence of arrays
            Atom scores of each example.

        Returns
        -------
        dict of str to float
        """
        return {}

    def encode_allowed(self, allowed, rows):
        """Encode the argument `allowed` for `Rows.restrict`: the labels of each row in Y(x).

        Parameters
        ----------
        allowed : sequence
            As the user passed it.
        rows : Rows

        Returns
        -------
        uint8 array of shape (n_rows, n_labels)
        """
        raise DataError(f"allowed was given, but {type(self).__name__} cannot be restricted example by example; leave it out.")

    def max_code_length(self, n_atoms):
        """The largest number of integers in a structure.

        Parameters
        ----------
        n_atoms : int

        Returns
        -------
        int
        """
        return self.code_width if self.code_width >= 0 else n_atoms

    def enumerate(self, Example x):
        """All structures of Y(x), for tests, `explain` and small problems.

        Parameters
        ----------
        x : Example

        Returns
        -------
        iterable of structures or None
            None: not available.
        """
        return None

    def atom_names(self, Example x):
        """Names of the atoms of x, for `explain`.

        Parameters
        ----------
        x : Example

        Returns
        -------
        list of str
        """
        return [f"atom {a}" for a in range(x.n_atoms)]

    def picture(self, given, Example x, scores, structures):
        """How an explanation draws the winner and its rival, above the bars of features.

        Parameters
        ----------
        given : object
            The example as the user passed it.
        x : Example
        scores : float64 array of shape (n_atoms,)
        structures : pair of encoded structures
            The winner and its rival.

        Returns
        -------
        structperc.pictures.Picture or None
        """
        return None

    cdef int count_c(self, Example x, const int *y, Py_ssize_t n, double sign, double *c) noexcept nogil:
        """c[a] += sign * (how often atom a occurs in y)."""
        cdef Py_ssize_t i
        for i in range(n):
            if y[i] < 0 or y[i] >= x.n_atoms:
                with gil:
                    self.error = no_atom(y[i], structure(y, n, self.code_width), x)
                return -1
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
        """Whether a prediction is right: 1 where it counts every atom as often as gold does, else 0; -1 after storing an error."""
        cdef Py_ssize_t a
        cdef double *c
        if n == n_gold and (n == 0 or memcmp(y, gold, n * sizeof(int)) == 0):
            return 1
        c = self.difference_of(x, gold, n_gold, y, n)
        if c == NULL:
            return -1
        for a in range(x.n_atoms):
            if c[a] != 0:
                return 0
        return 1

    cdef double *counts_of(self, Example x, const int *y, Py_ssize_t n) noexcept nogil:
        """n_y in the scratch space of x; NULL after storing an error."""
        cdef double *c = NULL if x is None else x.zeros()
        if c == NULL:
            with gil:
                self.error = MemoryError() if x is not None else PluginError(
                    f"{type(unwrapped(self)).__name__} compares structures by their atoms, for which it needs the example; pass x.")
            return NULL
        return NULL if self.count_c(x, y, n, 1.0, c) < 0 else c

    cdef double *difference_of(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        """n_gold - n_y in the scratch space of x; NULL after storing an error."""
        cdef double *c = self.counts_of(x, gold, n_gold)
        return NULL if c == NULL or self.count_c(x, y, n, -1.0, c) < 0 else c

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
        """The atoms that a gold output requires and excludes.

        Parameters
        ----------
        x : Example
        gold : int or tuple

        Returns
        -------
        array of shape (n_atoms,)
            1: in every structure that agrees with the gold output; -1: in none; 0: in some.
        """
        cdef int[::1] code = np.atleast_1d(np.asarray(gold, dtype=np.intc))
        cdef double[::1] c = np.zeros(max(x.n_atoms, 1))
        if self.signs_c(x, &code[0] if code.shape[0] else NULL, code.shape[0], &c[0]) < 0:
            self.raised()
        return np.asarray(c)[:x.n_atoms]

    def complete(self, gold, const double[::1] scores, Example x):
        """The best structure that agrees with a partial gold output. Called only if `partial_gold` is set.

        Parameters
        ----------
        gold : int or tuple
            A partial gold output.
        scores : float64 array of shape (n_atoms,)
        x : Example

        Returns
        -------
        int or tuple
        """
        cdef int[::1] code = np.atleast_1d(np.asarray(gold, dtype=np.intc))
        cdef int[::1] y = np.zeros(max(self.max_code_length(x.n_atoms), 1), dtype=np.intc)
        cdef Py_ssize_t n = self.complete_c(x, &code[0] if code.shape[0] else NULL, code.shape[0], pointer(scores), &y[0])
        if n < 0:
            self.raised()
        return structure(&y[0], n, self.code_width)

    def agrees(self, gold, y, Example x):
        """Whether the prediction y is correct: by default, whether it has the same atoms as the gold output.

        Parameters
        ----------
        gold : int or tuple
        y : int or tuple
        x : Example

        Returns
        -------
        bool
        """
        cdef int[::1] a = np.atleast_1d(np.asarray(gold, dtype=np.intc))
        cdef int[::1] b = np.atleast_1d(np.asarray(y, dtype=np.intc))
        cdef const int *gold_at = &a[0] if a.shape[0] else NULL
        cdef const int *y_at = &b[0] if b.shape[0] else NULL
        cdef Outputs counting = self
        cdef int same
        if overrides(self, "count") and not self.partial_gold and self.n_labels == 0:
            counting = adapted(self)
            same = Outputs.agrees_c(counting, x, gold_at, a.shape[0], y_at, b.shape[0])
        else:
            same = self.agrees_c(x, gold_at, a.shape[0], y_at, b.shape[0])
        if same < 0:
            counting.raised()
        return bool(same)

    def count(self, Example x, y):
        """How often each atom occurs in y.

        Parameters
        ----------
        x : Example
        y : int or tuple

        Returns
        -------
        array of shape (n_atoms,)
        """
        self.check_structure(x, y)
        cdef int[::1] code = np.atleast_1d(np.asarray(y, dtype=np.intc))
        cdef double[::1] c = np.zeros(max(x.n_atoms, 1))
        if self.count_c(x, &code[0] if code.shape[0] else NULL, code.shape[0], 1.0, &c[0]) < 0:
            self.raised()
        return np.asarray(c)[:x.n_atoms]


cdef no_atom(a, y, Example x):
    known = f"the atoms 0..{x.n_atoms - 1}" if x.n_atoms else "no atoms"
    return PluginError(f"atom {a} in the structure {shortened(y)} of example {x.index}, which has {known}.")


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

    def __cinit__(self, *args, **kwargs):
        self.code_width = 1

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
        self._encodes = inherits(self, LabelOutputs, "encode", "admissible", "check_gold")
        self._alone = [None] * self.n_labels if inherits(self, LabelOutputs, "decode", "decode_many") else None
        return self.labels

    def encode(self, y, rows):
        return self.encoded(y, rows.n_examples)

    cdef Structures encoded(self, y, Py_ssize_t n):
        cdef Structures found
        if n <= FEW and (type(y) is list or isinstance(y, np.ndarray) and y.ndim) and len(y) == n:
            found = encode_few(self._code_of, y if type(y) is list else y.tolist())
            if found is not None:
                return found
        return Structures(self._codes.encode(y, n))     # slower, and raises the error with its reason

    cdef Structures gold(self, y, Rows rows, features):
        return self.encoded(y, rows.n_examples) if self._encodes else Outputs.gold(self, y, rows, features)

    def encode_answers(self, answers, rows):
        """Labels as `predict` shows them, as their codes."""
        return Structures(self._codes.encode(answers, rows.n_examples))

    def check_gold(self, gold, rows, features):
        """Does nothing: codes that are no labels have raised an error already."""

    def check_structure(self, Example x, y):
        if not isinstance(y, int) or not 1 <= y <= self.n_labels:
            raise PluginError(f"{shortened(y)} is not a label of example {x.index}: expected an int from 1 to {self.n_labels}.")

    def decode(self, y, Example x):
        return self.labels[y - 1]

    def decode_many(self, structures, Rows rows, examples=None):
        if overrides(self, "decode"):
            return np.array(Outputs.decode_many(self, np.asarray(structures).tolist(), rows, examples).tolist())
        codes = structures if isinstance(structures, np.ndarray) else np.asarray(structures, dtype=np.intc)
        return gathered(self._codes.of_code, codes)

    cdef object shown(self, const int *y, Rows rows):
        cdef int code = y[0]
        if self._alone is None or not 0 < code <= self.n_labels:
            return Outputs.shown(self, y, rows)
        label = self._alone[code - 1]
        if label is None:
            label = self._alone[code - 1] = self.labels[code - 1:code]
        return label.copy()

    def enumerate(self, Example x):
        return range(1, self.n_labels + 1)

    def log_probabilities(self, scores, b, floor):
        """Log probability of every label: P is proportional to exp(b * score).

        Parameters
        ----------
        scores : array of shape (n_examples, n_labels)
            Scores of labels.
        b : float
            1 / temperature. Larger values make probabilities more certain.
        floor : float in [0, 1)
            Largest share of probability that may move to labels that would have none.

        Returns
        -------
        float64 array of shape (n_examples, n_labels)
        """
        return log_softmax(b * scores)

    def log_loss_slope(self, scores, right, share):
        """The derivative of - log P(a right label) of every example by b = 1 / temperature; it rises with b.

        Parameters
        ----------
        scores : array of shape (n_examples, n_labels)
            Scores of labels.
        right : bool array of shape (n_examples, n_labels)
            The right labels.
        share : float
            Share of the loss that is the mean of the losses of all labels.

        Returns
        -------
        function of b
        """
        return lambda b: softmax_slope(scores, right, share, b)

    cdef int agrees_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        return gold[0] == y[0]


cdef object gathered(values, codes):
    """values[codes]."""
    cdef const int[::1] at
    cdef const uint64_t[::1] words
    cdef uint64_t[::1] found
    cdef Py_ssize_t i, n = len(codes)
    cdef size_t n_values = len(values)
    cdef bint known, right = True
    if n <= FEW or values.dtype.kind not in "iuf" or values.itemsize != sizeof(uint64_t) or codes.dtype != np.intc:
        return values.take(codes)
    at, words, answer = np.ascontiguousarray(codes), values.view(np.uint64), np.empty(n, dtype=values.dtype)
    found = answer.view(np.uint64)
    for i in range(n):
        known = <size_t> at[i] < n_values           # a negative number is large
        right &= known
        found[i] = words[at[i] if known else 0]
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

    cdef void add_costs_c(self, const double *costs, double scale, double *s) noexcept nogil:
        """s[k] += scale * (cost of the rank above - cost of the rank below)"""
        cdef Py_ssize_t k
        for k in range(self.n_labels - 1):
            s[k] += scale * (costs[k + 1] - costs[k])

    def log_probabilities(self, scores, b, floor):
        """log P of every label: P(y > k) = sigma(b v_k), v the pooled scores of the atoms "rank > k"; the median is the prediction."""
        return cumulative_log_probabilities(pooled(np.diff(scores, axis=1)), b, floor)

    def log_loss_slope(self, scores, right, share):
        v = pooled(np.diff(scores, axis=1))
        return lambda b: cumulative_slope(v, right, share, b)

    def atom_names(self, Example x):
        return [f"> {label}" for label in self.labels[:self.n_labels - 1].tolist()]

    def picture(self, given, Example x, scores, structures):
        """The example's score among its thresholds: the mean score of "rank > k", less the score of each."""
        if len(scores) != self.n_labels - 1 or not len(scores):
            return None
        return Ruler([str(label) for label in self.labels.tolist()], (np.mean(scores) - scores).tolist(), float(np.mean(scores)),
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

    cdef void add_costs_c(self, const double *costs, double scale, double *s) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_labels):
            s[k] += scale * costs[k]

    def atom_names(self, Example x):
        return [str(label) for label in self.labels.tolist()]
