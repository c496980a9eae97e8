# What outputs and predictions are checked for, and the outputs that examples are restricted to.

cdef no_atom(Outputs outputs, a, y, Example x):
    cdef Outputs own = unwrapped(outputs)
    features = None if own._features is None else unwrapped(own._features)
    counting = next((name for name in ("vectors", "n_atoms") if features is not None and overrides(features, name)), None)
    atoms = f"the atoms 0..{x.n_atoms - 1}" if x.n_atoms else "no atoms"
    by = "" if counting is None else f" by {type(features).__name__}.{counting}"
    return PluginError(f"atom {a} in the structure {shortened(y)} of example {x.index}, which has {atoms}{by}.")


class SecondStage:
    """The second stage of a prediction; see `Outputs.second_stage`.

    Attributes
    ----------
    remedy : str
        How to score all atoms at once, such as "set labels='joint'". Lists of the k best need that.

    Examples
    --------
    >>> from structperc.components import SecondStage
    >>> class Settled(SecondStage):
    ...     remedy = "set labels='joint'"
    >>> Settled().remedy
    "set labels='joint'"
    """

    remedy = ""

    def condition(self, structures, rows, settled=False):
        """The same examples with a first part of the prediction as their condition; see `Rows.condition`. Returns `Rows`.

        Parameters
        ----------
        structures : Structures
            Predictions of the first stage.
        rows : Rows
        settled : bool, default False
            Whether the map may change the scores of the earlier part, as long as the same part remains the best.
        """
        raise PluginError(f"{type(self).__name__} has no method `condition`, which returns the rows with the first part of the prediction.")


def checked_structures(Outputs outputs, result, method, rows):
    """Structures that this method of an author returned: one for each example, and valid codes of labels, else `PluginError`."""
    cdef Structures gold = expected(result, Structures, outputs, method, "Structures, such as Structures.ragged(lists)")
    if gold.count() != rows.n_examples:
        raise PluginError(f"{type(outputs).__name__}.{method} made {gold.count()} gold outputs for {rows.n_examples} examples.")
    if outputs.code_width != 1 or outputs.partial_gold:
        return gold
    if gold.offsets is not None and (np.diff(gold.offsets) != 1).any():
        raise PluginError(f"{type(outputs).__name__}.{method} returned structures of several integers or none; expected one integer each, "
                          f"since code_width is 1.")
    if outputs.n_labels and rows.n_examples and not 1 <= gold.values.min() <= gold.values.max() <= outputs.n_labels:
        raise PluginError(f"{type(outputs).__name__}.{method} returned the codes {gold.values.min()}..{gold.values.max()}; expected "
                          f"ints from 1 to {outputs.n_labels}, the numbers of the labels.")
    return gold


def encoded_gold(Outputs outputs, y, rows, features):
    """What users pass as y, encoded and checked, in Y(x), as for learning."""
    return outputs.gold(y, rows, features)


def checked_gold(Outputs outputs, Structures gold, rows, features):
    """Gold outputs that are encoded already, checked as those of `encoded_gold`. Returns `Structures`.

    Parameters
    ----------
    outputs : Outputs
    gold : Structures
        Of numbers of labels that exist.
    rows : Rows
    features : Features
    """
    outputs.check_gold(gold, rows, features)
    return gold


def right_outputs(Outputs outputs, y, rows, features):
    """Outputs that users know to be right, encoded and checked. They are not moved into Y(x) as for learning."""
    cdef Structures gold = checked_structures(outputs, outputs.encode(y, rows), "encode", rows)
    outputs.check_right(gold, rows, features)
    return gold


def encoded_answers(Outputs outputs, predictions, rows, features):
    """Outputs as `predict` returns them, encoded, and checked unless `features` is None."""
    structures = checked_structures(outputs, outputs.encode_answers(predictions, rows), "encode_answers", rows)
    if features is not None and not outputs.partial_gold:
        outputs.check_gold(structures, rows, features)
    return structures


cdef check_structures(Outputs outputs, Structures gold, Rows rows, features, Py_ssize_t most_listed):
    """Raises an error for gold that is no structure, or that `enumerate` does not list: of small examples, up to so many structures."""
    called = adapted(features)
    for i in range(rows.n_examples):
        x = rows.example(i)
        x.n_atoms = called.n_atoms(x)
        try:
            if outputs.is_partial(gold[i]):
                outputs.check_partial(x, gold[i])
                continue
            nothing(outputs.check_structure(x, gold[i]), outputs, "check_structure")
        except PluginError as error:
            raise DataError(f"y[{i}] cannot be used: {error}") from None
        if most_listed > 0 and x.n_atoms <= MOST_ATOMS:
            most_listed -= refuse_unlisted(outputs, x, gold[i], most_listed)


cdef Py_ssize_t refuse_unlisted(Outputs outputs, Example x, gold, Py_ssize_t most) except -1:
    """Raises an error for gold that `enumerate` does not list. Returns the number of listed structures, or `most` without a list."""
    try:
        structures = listed_structures(outputs, x, most)
    except Exception as error:
        raise noted(error, outputs, "enumerate", x)
    if structures is None:
        return most
    if len(structures) < most:
        for y in structures:
            nothing(outputs.check_structure(x, y), outputs, "check_structure")
        if not any(same_atoms(outputs, x, y, gold) for y in structures):
            if not structures:
                raise PluginError(f"{type(outputs).__name__}.enumerate lists no structure of example {x.index}. Return a new iterator from "
                                  f"each call: one that an earlier call has read is empty.")
            such_as = f", such as {shortened(structures[0])}"
            raise DataError(f"y[{x.index}] cannot be used: {type(outputs).__name__}.enumerate does not list the structure "
                            f"{shortened(gold)}. It lists {len(structures)} structures of example {x.index}{such_as}. Correct y, or move "
                            f"such outputs into Y(x) in {type(outputs).__name__}.admissible.")
    return len(structures)


cdef bint same_atoms(Outputs outputs, Example x, y, gold) except -1:
    """Whether two structures count each atom equally often."""
    if y == gold:
        return True
    if lists_atoms(outputs):
        return len(y) == len(gold) and set(y) == set(gold)
    return np.array_equal(outputs.count(x, y), outputs.count(x, gold))


def as_structure(Outputs outputs, result, Example x):
    """Convert the result of a Python solver, an int or a tuple of ints. Of sets of atoms also a mask, True for the chosen atoms.
    Returns an int or tuple. Raises `PluginError` if a number is not whole, or a mask has another length than the atoms.

    Parameters
    ----------
    outputs : Outputs
    result : int, sequence of int or mask
    x : Example

    Examples
    --------
    >>> import numpy as np
    >>> from structperc import Engine
    >>> from structperc.plugin_tools import as_structure
    >>> engine = Engine("multiclass").fit([[0.0], [1.0]], ["a", "b"])
    >>> as_structure(engine.parts_.outputs, np.int64(2), engine.model_.example(engine.read([[1.0]]), 0))
    2
    """
    if outputs.code_width == 1:
        try:
            return index(result)
        except TypeError:
            raise PluginError(f"{shortened(result)} for example {x.index} is not a label; expected an int.") from None
    if is_mask(result) and lists_atoms(outputs):
        if len(result) != x.n_atoms:
            raise PluginError(f"{shortened(result)} for example {x.index} is a mask of {len(result)} values; expected True or False for "
                              f"each of {x.n_atoms} atoms.")
        result = np.flatnonzero(result)
    try:
        if isinstance(result, dict):
            raise TypeError
        return tuple(map(index, result.tolist() if isinstance(result, np.ndarray) else result))
    except TypeError:
        raise PluginError(f"{shortened(result)} for example {x.index} is not a structure; expected a collection of ints.") from None


def listed_structures(Outputs outputs, Example x, Py_ssize_t most):
    """The first structures that `enumerate` lists; None without a list. An author's may come in one list that is filled again and again."""
    structures = outputs.enumerate(x)
    return None if structures is None else [as_structure(outputs, y, x) for y in itertools.islice(structures, most)]


def decode_many(Outputs outputs, structures, Rows rows, features, examples=None):
    """Structures, or codes of labels, as `predict` returns them; `examples` are their numbers, by default all in order."""
    return outputs.decode_all(structures, rows, features, examples)


def is_ordered(outputs):
    """Whether outputs are labels that have an order.

    Parameters
    ----------
    outputs : Outputs

    Examples
    --------
    >>> from structperc.components import ClassOutputs, RankOutputs
    >>> from structperc.plugin_tools import is_ordered
    >>> is_ordered(RankOutputs()), is_ordered(ClassOutputs())
    (True, False)
    """
    return isinstance(outputs, LabelOutputs) and bool(outputs.ordered)


cdef class RestrictedOutputs(Outputs):
    """Base class of outputs that users can restrict example by example, by the argument `allowed` of `Engine.fit` and `Engine.predict`.

    The solver reads `Rows.allowed`.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.components import RestrictedOutputs
    >>> isinstance(Engine("sequence").fit([[["x"]], [["z"]]], [["a"], ["b"]]).parts_.outputs, RestrictedOutputs)
    True
    """

    _declared_by = {name: way for name, way in Outputs._declared_by.items() if name != "encode_allowed"}

    def encode_allowed(self, allowed, rows):
        """Encode the argument `allowed` for `Rows.restrict`: the labels of each row in Y(x).
        Returns an uint8 array of shape (n_rows, n_labels).

        Parameters
        ----------
        allowed : sequence
            As the user passed it.
        rows : Rows
        """
        raise self.missing("encode_allowed")
