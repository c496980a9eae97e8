# distutils: extra_compile_args = CALLS
"""Output spaces of one label per example: ordered ranks and unordered classes.

Typical sizes: r = 2..50 labels. Counting and adding costs are O(r).
"""
import itertools

import numpy as np

from operator import index

from libc.stdint cimport uint64_t
from libc.string cimport memcmp
from structperc.basics.errors import DataError, PluginError, shortened
from structperc.basics.labels import (
    LabelCodes,
    find_labels,
    is_listed,
    is_nested,
    order_is_unknown,
    plain_labels,
    plain_values,
    unknown_order,
)
from structperc.core.component cimport Component
from structperc.core.component import adapted, check_example, expected, inherits, noted, nothing, overrides, unstarted, unwrapped
from structperc.core.features cimport pointer
from structperc.core.masks import is_mask, row_numbers
from structperc.core.probabilities import (
    cumulative_calibration,
    cumulative_log_probabilities,
    log_softmax,
    pooled,
    running_sums,
    softmax_calibration,
)
from structperc.core.rows cimport Example, Rows
from structperc.core.structures cimport Structures, encode_few, structure
from structperc.pictures import Display, Ruler

cdef enum:
    FEW = 64                # up to here a dictionary beats array operations
    MOST_ATOMS = 12         # of an example whose structures a fit enumerates: also a full list of them is short
    MOST_LISTED = 4096      # structures that a fit enumerates


cdef bint lists_atoms(Outputs outputs) except -1:
    """Whether a structure is the set of its atoms: nobody has replaced how atoms are counted."""
    return <void *> outputs.count_c == <void *> Outputs.count_c and not overrides(outputs, "count")


cdef int as_integer(value) except? -1:
    """The whole number that a value is; raises ValueError for fractions and texts."""
    number = int(value)
    if number != value:
        raise ValueError
    return number


cdef class Outputs(Component):
    """The output space Y(x): checks and encodes gold outputs, decodes predictions.

    By default a structure is a set of atoms: a tuple of different atom numbers, from 0.

    Of `LabelOutputs` a structure is the number of a label.

    For another encoding, override `count` or `count_c`, `encode`, `decode` and `check_structure`. Two structures are the same if they
    contain every atom equally often, and losses see only these counts. If a structure has more integers than atoms, also override
    `max_code_length`.

    Attributes
    ----------
    partial_gold : bool
        Whether a gold output may be partial; then `agrees` and `complete` define what fits it.
    default_loss : str
        The loss if the user names none.
    per_row : bool
        Whether y has an entry for each row of X if examples have several rows.

    Examples
    --------
    >>> from structperc.components import Outputs
    >>> class AtMost(Outputs):
    ...     '''Sets of at most n atoms.'''
    ...     default_loss = "hamming"
    ...     def __init__(self, n):
    ...         self.n = n
    >>> AtMost(2).default_loss
    'hamming'
    """

    default_loss = "hamming"
    hidden = False              # whether one output is many structures, so that numbers of structures are none of outputs
    _declared_by = {
        "n_labels": "find_labels(y, classes), as the labels that it returns",
        "ordered": "a base class: only LabelOutputs has this attribute",
        "conditional": "second_stage(), which returns a SecondStage",
        "check_gold": "encode(y, rows) or admissible(gold, rows), which raise an error for gold outputs that cannot be used",
        "decode_many": "decode(y, x)",
        "measures_of_scores": "measures(y_true, y_pred, scores)",
        **dict.fromkeys(("atom_names", "decode_marginals", "picture", "picture_of_set", "shown_atoms"),
                        "display(), which returns a structperc.pictures.Display"),
        "encode_allowed": "a base class: only RestrictedOutputs has this method",
        "code_width": "a base class: structures of LabelOutputs are ints, others are tuples; max_code_length(n_atoms) limits these",
    }
    per_row = False

    def __cinit__(self, *args, **kwargs):
        self.code_width = -1

    def find_labels(self, y, classes):
        """The labels of outputs that have labels. Returns an array or None. The labels in order; None if outputs have no labels.

        Parameters
        ----------
        y : sequence
            As the user passed it.
        classes : sequence or None
            All labels in order, if the user names them.
        """
        if classes is not None:
            raise DataError(f"classes={shortened(classes)} was given, but {type(self).__name__} has no labels.")
        return None

    def encode(self, y, rows):
        """Check and encode gold outputs. Returns `Structures`.
        Raises `DataError` if y does not fit the examples. The message names the example.

        Parameters
        ----------
        y : sequence
            As the user passed it.
        rows : Rows
            Their examples.
        """
        if not is_listed(y):
            raise DataError(f"y is {shortened(y)}; expected one output per example, such as a list.")
        if len(y) != rows.n_examples:
            raise DataError(f"y has {len(y)} outputs but X has {rows.n_examples} examples; give one output per example.")
        structures, of_atoms = [], lists_atoms(self)
        for i, code in enumerate(y):
            code = row_numbers(code, rows.example(i).n_rows, f"y[{i}]") if of_atoms else code
            try:
                if isinstance(code, dict):
                    raise TypeError                 # its keys would pass for atoms
                structures.append([as_integer(part) for part in code])
            except (TypeError, ValueError, OverflowError, np.ma.MaskError):
                raise DataError(f"y[{i}] is {shortened(code)}; expected a collection of {'atom numbers' if of_atoms else 'integers'}."
                                ) from None
        return Structures.ragged(structures)

    def admissible(self, gold, rows):
        """The encoded gold outputs to learn from. By default unchanged; override it to move outputs that are not in Y(x) into it.
        Returns `Structures`.

        Parameters
        ----------
        gold : Structures
        rows : Rows
        """
        return gold

    def second_stage(self):
        """How to predict a later part whose features depend on an earlier part of the prediction.

        `admissible` passes the gold outputs to the rows by `Rows.condition`. A prediction has two stages: first the rows have no
        condition, then they have the one that `SecondStage.condition` sets.
        Returns `SecondStage` or None. None: all atoms are scored at once.
        """
        return None

    cdef Structures gold(self, y, Rows rows, features):
        """What users pass as y, encoded and checked, in Y(x)."""
        cdef Rows own = rows if rows.own is None else rows.own
        cdef Structures gold = checked_structures(self, self.encode(y, own), "encode", rows)
        cdef bint before = self.partial_gold
        gold = checked_structures(self, self.admissible(gold, own), "admissible", rows)
        if own.first_stage is not None:
            rows.condition(own.first_stage)
        self._leave_open(before or self.is_partial(gold.values))
        try:
            if overrides(self, "enumerate") and inherits(self, Outputs, "check_structure") and not self.partial_gold:
                check_structures(self, gold, rows, features, MOST_LISTED)
            else:
                self.check_gold(gold, rows, features)
        except BaseException:
            self._leave_open(before)
            raise
        return gold

    def _leave_open(self, bint partial):
        """Sets `partial_gold`, also of the adapter by which compiled code calls these outputs."""
        self.partial_gold = partial
        if self._adapter is not None:
            (<Outputs> self._adapter).partial_gold = partial

    def is_partial(self, codes) -> bool:
        """Whether gold outputs leave something open. By default `partial_gold`. Training sets `partial_gold` from then on.

        Override it instead of setting `partial_gold` if only some gold outputs are partial. Methods that measure a trained engine call it
        too, and change nothing.

        Parameters
        ----------
        codes : int array or tuple of int
            The integers of one or more gold outputs as `encode` returns them.
        """
        return self.partial_gold

    def _learns_from_gold(self) -> bool:
        """Whether Y(x) grows with gold outputs, as by their longest segment. Then all parts of data are looked at before training."""
        return False

    def labels_in(self, y):
        """The labels that occur in y, of outputs made of labels. Returns an iterable of labels.

        Parameters
        ----------
        y : sequence
            As the user passed it.
        """
        if not is_listed(y):
            raise DataError(f"y is {shortened(y)}; expected one output per example, such as a list.")
        if not is_nested(y):
            return y
        for i, labels in enumerate(y):
            if not is_listed(labels):
                raise DataError(f"y[{i}] is {shortened(labels)}; expected a list of labels, as the first output is.")
        return itertools.chain.from_iterable(y)

    cdef check_gold(self, Structures gold, Rows rows, features):
        """Raises an error for gold outputs that are not structures. The compiled loop counts their atoms without checks."""
        if not self.partial_gold:
            check_structures(self, gold, rows, features, 0)

    cdef check_right(self, Structures gold, Rows rows, features):
        """Raises an error for outputs to compare predictions with that are no structures at all.

        Outputs that only an option excludes, such as trees with crossing arcs, are right ones that the model never predicts.
        """
        self.check_gold(gold, rows, features)

    def check_structure(self, Example x, y) -> None:
        """Raises `PluginError` unless y is a structure over the atoms of x.

        Parameters
        ----------
        x : Example
        y : int or tuple
        """
        atoms = (y,) if isinstance(y, int) else y
        for a in atoms:
            if not 0 <= a < x.n_atoms:
                raise no_atom(self, a, y, x)
        if len(set(atoms)) < len(atoms):
            raise PluginError(f"the structure {shortened(y)} of example {x.index} names an atom twice. If it is a 0/1 vector v, name "
                              f"its atoms, tuple(numpy.flatnonzero(v)).")

    def encode_answers(self, answers, rows):
        """Encode what `predict` returned: the inverse of `decode`. By default the same as `encode`. Returns `Structures`.

        Parameters
        ----------
        answers : sequence
        rows : Rows
        """
        if self.partial_gold:
            raise PluginError(f"{type(self).__name__} learns from partial outputs and has no encoding of its predictions; "
                              f"override `encode_answers(answers, rows)`.")
        return self.encode(answers, rows)

    def _refuse_unknown_order(self, what):
        """Raises an error if `what` depends on the order of labels and nobody has named it."""

    cdef Py_ssize_t write(self, object answer, Example x, int *y) except -1:
        """Checks a structure that Python code returned and writes it to y, which has room for `max_code_length` integers."""
        cdef Py_ssize_t n = 0
        if not (self.code_width == 1 and type(answer) is int):
            answer = as_structure(self, answer, x)
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
        """Returns what the user sees of a structure. By default atoms in ascending order; another encoding is shown as it is.

        Parameters
        ----------
        y : int or tuple
            An encoded structure.
        x : Example
        """
        return tuple(sorted(y)) if lists_atoms(self) else y

    cdef decode_all(self, structures, Rows rows, features, examples):
        """What `predict` returns of structures, as `decode_many`."""
        cdef Example x = Example()
        x.look_at(rows)
        decoded = np.empty(len(structures), dtype=object)
        if type(self).decode is Outputs.decode:
            of_atoms = lists_atoms(self)
            for i in range(len(structures)):
                decoded[i] = tuple(sorted(structures[i])) if of_atoms else structures[i]
            return decoded
        called = adapted(features)
        for i in range(len(structures)):
            rows.load(i if examples is None else examples[i], x)
            x.n_atoms = called.n_atoms(x)
            try:
                decoded[i] = self.decode(structures[i], x)
            except Exception as error:
                raise noted(error, self, "decode", x)
            if hasattr(decoded[i], "__next__"):
                raise PluginError(f"{type(self).__name__}.decode returned a {type(decoded[i]).__name__} for example {x.index}, which can "
                                  f"be read only once; expected a value such as a list.")
        return decoded

    cdef decode_one(self, const int *y, Rows rows, features):
        """What `predict` returns of one example and its output of one integer."""
        return self.decode_all(np.array([y[0]], dtype=np.intc), rows, features, None)

    def read_cells(self, cells):
        """Returns the right output of one example, as users pass it in y, from the target column of a file.

        The commands call it if it is overridden. Without it a target has a label for each example. With --group it has a 1 for each row
        that belongs to the right output.

        Parameters
        ----------
        cells : list
            The cells of the example's rows: numbers or texts. Without --group, one.
        """
        raise self.missing("read_cells")

    def write_cells(self, answer, Py_ssize_t n_rows):
        """The inverse of `read_cells`: the cells that the commands write of a prediction. By default its text, in each row.
        Returns a list. A cell for each row.

        Parameters
        ----------
        answer : object
            As `predict` returns it.
        n_rows : int
        """
        return [str(answer)] * n_rows

    def display(self):
        """How explanations, marginals and sets of structures show the atoms of an example. Returns `structperc.pictures.Display`."""
        return Display(self)

    def atom_tables(self, Example x):
        """What the atoms of an example are, for those who compute their scores: tables by name, one behind the other.
        Returns a dict of str to tuple of int. The shape of each table. By default one table, "atoms".

        Parameters
        ----------
        x : Example
        """
        return {"atoms": (x.n_atoms,)}

    def measures(self, y_true, y_pred, scores=None):
        """Measures of predictions beside the mean loss, which is always measured. Returns a dict of str to float.

        Parameters
        ----------
        y_true, y_pred : sequence
            Right and predicted outputs, as users see them.
        scores : sequence of arrays, optional
            Atom scores of each example. They are computed only if an override has this parameter.
        """
        return {}

    def max_code_length(self, n_atoms):
        """The largest number of integers in a structure. Returns an int.

        Parameters
        ----------
        n_atoms : int
        """
        return self.code_width if self.code_width >= 0 else n_atoms

    def enumerate(self, Example x):
        """All structures of Y(x), for tests, `explain` and small problems.
        Returns an iterable of structures or None. None: not available.

        Parameters
        ----------
        x : Example
        """
        return None

    cdef int count_c(self, Example x, const int *y, Py_ssize_t n, double sign, double *c) noexcept nogil:
        """c[a] += sign * (how often atom a occurs in y)."""
        cdef Py_ssize_t i
        for i in range(n):
            if y[i] < 0 or y[i] >= x.n_atoms:
                with gil:
                    self.error = no_atom(self, y[i], structure(y, n, self.code_width), x)
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

    cdef bint adds_costs_c(self) noexcept nogil:
        """Whether `add_costs_c` writes costs of labels over the atoms that these outputs count."""
        return False

    cdef void add_costs_c(self, const double *costs, double scale, double *s) noexcept nogil:
        """Outputs of one label: adds scale * costs[label - 1] to each label's score, up to a constant, over atoms.

        Called only if `adds_costs_c`.
        """

    cdef Py_ssize_t complete_c(self, Example x, const int *gold, Py_ssize_t n_gold, const double *s, int *y) noexcept nogil:
        """The best structure that agrees with a partial gold output; called only when `partial_gold` is set."""
        with gil:
            self.error = self.missing("complete")
        return -1

    def signs(self, Example x, gold):
        """The atoms that a gold output requires and excludes.
        Returns an array of shape (n_atoms,). 1: in every structure that agrees with the gold output; -1: in none; 0: in some.

        Parameters
        ----------
        x : Example
        gold : int or tuple
        """
        cdef int[::1] code = np.array(self._checked(x, gold, True), dtype=np.intc)
        cdef double[::1] c = np.zeros(max(x.n_atoms, 1))
        if self.signs_c(x, &code[0] if code.shape[0] else NULL, code.shape[0], &c[0]) < 0:
            self.raised()
        return np.asarray(c)[:x.n_atoms]

    def complete(self, gold, const double[::1] scores not None, Example x):
        """The best structure that agrees with a partial gold output. Called only of partial ones. Returns an int or tuple.

        Parameters
        ----------
        gold : int or tuple
            A partial gold output.
        scores : float64 array of shape (n_atoms,)
        x : Example
        """
        cdef int[::1] code = np.array(self._checked(x, gold, True), dtype=np.intc)
        cdef int[::1] y = np.zeros(max(self.max_code_length(x.n_atoms), 1), dtype=np.intc)
        cdef Py_ssize_t n
        if scores.shape[0] != x.n_atoms:
            raise PluginError(f"{type(unwrapped(self)).__name__}.complete was given {scores.shape[0]} scores for example {x.index}; "
                              f"expected {x.n_atoms}, one for each atom.")
        n = self.complete_c(x, &code[0] if code.shape[0] else NULL, code.shape[0], pointer(scores), &y[0])
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
        """
        cdef int[::1] a = np.array(self._checked(x, gold, True), dtype=np.intc)
        cdef int[::1] b = np.array(self._checked(x, y, False), dtype=np.intc)
        cdef const int *gold_at = &a[0] if a.shape[0] else NULL
        cdef const int *y_at = &b[0] if b.shape[0] else NULL
        cdef Outputs counting = self
        cdef int same
        if self.n_labels == 0 and overrides(self, "count") and not self.partial_gold and not self.is_partial(np.asarray(a)):
            counting = adapted(self)
            same = Outputs.agrees_c(counting, x, gold_at, a.shape[0], y_at, b.shape[0])
        else:
            same = self.agrees_c(x, gold_at, a.shape[0], y_at, b.shape[0])
        if same < 0:
            counting.raised()
        return bool(same)

    def check_partial(self, Example x, gold) -> None:
        """Raise `PluginError` unless a partial gold output fits x. By default nothing is checked.
        Raises `PluginError` if it does not fit.

        Parameters
        ----------
        x : Example
        gold : tuple of int
        """

    def _checked(self, x, y, bint given):
        """The integers of a structure, or of a gold output as it is given. Raises an error for what compiled methods must not read."""
        cdef Outputs own = unwrapped(self)
        if not check_example(own, x):
            if own.code_width != 1 and <void *> own.count_c != <void *> Outputs.count_c and not overrides(own, "count"):
                raise unstarted(own, "the feature map")
            if own.code_width == 1 and own.n_atoms is not None:
                x.n_atoms = own.n_atoms
        elif own.code_width == 1 and own.n_atoms is not None and own.n_atoms != x.n_atoms:
            raise PluginError(f"{type(own).__name__} has labels of {own.n_atoms} atoms now, but example {x.index} has {x.n_atoms}; "
                              f"find_labels was called again.")
        if given and own.partial_gold:
            try:
                y = tuple(map(index, y))
            except TypeError:
                raise PluginError(f"{shortened(y)} is no gold output of example {x.index}; expected a tuple of ints.") from None
            own.check_partial(x, y)
            return y
        y = as_structure(own, y, x)
        if given and own.code_width != 1 and own.is_partial(y):
            own.check_partial(x, y)
            return y
        nothing(own.check_structure(x, y), own, "check_structure")
        return (y,) if own.code_width == 1 else y

    def count(self, Example x, y):
        """How often each atom occurs in y. Returns an array of shape (n_atoms,).

        Parameters
        ----------
        x : Example
        y : int or tuple
        """
        cdef int[::1] code = np.array(self._checked(x, y, False), dtype=np.intc)
        cdef double[::1] c = np.zeros(max(x.n_atoms, 1))
        if self.count_c(x, &code[0] if code.shape[0] else NULL, code.shape[0], 1.0, &c[0]) < 0:
            self.raised()
        return np.asarray(c)[:x.n_atoms]


include "outputs.checked.pxi"
include "outputs.labels.pxi"


cdef RankOutputs RANKS = RankOutputs()          # whose methods a derived class replaces
cdef ClassOutputs CLASSES = ClassOutputs()
