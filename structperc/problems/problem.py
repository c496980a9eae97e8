"""The parts of a problem for scores from anywhere: started without data, features or weights."""

from __future__ import annotations

from functools import partial
from operator import index
from threading import Lock

import numpy as np

from structperc.basics.arguments import MOST
from structperc.basics.errors import DataError, OptionError, shortened
from structperc.core.component import kept_state, state_of
from structperc.core.outputs import LabelOutputs, checked_gold, encoded_gold
from structperc.core.rows import Rows
from structperc.core.structures import Structures
from structperc.engine.engine import Engine
from structperc.fitting.assembly import ask, new_model, options_alone, reader_for
from structperc.fitting.option import options_of
from structperc.problems.batches import Batch
from structperc.problems.prepared import Prepared, Source, set_costs, uses_costs
from structperc.reading.groups import Groups

OWN = ("classes", "loss", "preset")
ONE_ROW = np.zeros((1, 1)), np.array([0, 1]), None
NEUTRAL = {"update": "perceptron", "trainer": "online", "loss_weight": 0.0, "scale": False}       # there is no training


class Problem:
    """A problem on given scores: any plugin, bundled or not, as the output layer of whatever computes scores of atoms.

    `batch` prepares examples. The result has losses with gradients, best outputs, marginals and more.

    Parameters
    ----------
    problem : str or plugin
        As of `Engine`.
    plugins : sequence of names, plugins or components, default ()
        Further plugins, such as a loss.
    classes : sequence, optional
        The labels in order, of problems with labels.
    loss : str, array or Loss, optional
        The loss of a prediction, L in "hinge" and others. Default: that of the problem.
    preset : {"recommended", "paper"}, default "recommended"
        Where options of the problem begin.
    **options
        Options of the plugins.

    Raises
    ------
    OptionError
        If an option is one of training, features or weights, which given scores do not have.

    Examples
    --------
    >>> from structperc import Problem
    >>> problem = Problem("sequence", classes=["B", "I", "O"], forbidden_transitions="iob2")
    >>> batch = problem.batch(lengths=[3])
    >>> batch.argmax([0, 1, 0, 0, 2, 0, 0, 0, 1] + [0] * 15).tolist()
    [['B', 'I', 'O']]
    """

    def __init__(self, problem, *, plugins=(), classes=None, loss=None, preset="recommended", **options):
        declared = options_of(Engine)
        for name in options:
            if name in declared:
                raise OptionError(f"{name}={shortened(options[name])} is an option of training; a Problem has given scores. Beside the "
                                  f"options of its plugins it takes {', '.join(OWN)}.")
        given = {name: value for name, value in (("classes", classes), ("loss", loss)) if value is not None}
        self.problem = problem
        self._arguments = {"plugins": plugins, "preset": preset, **given, **options}
        self._engine = Engine(problem, plugins=plugins, preset=preset, **NEUTRAL, **given, **options)
        self._model, self._prepared, self._lock = None, None, Lock()

    def __repr__(self):
        return f"Problem({self.problem!r})"

    def __reduce__(self):
        return partial(Problem, **self._arguments), (self.problem,)

    def batch(self, X=None, y=None, *, offsets=None, lengths=None, allowed=None, costs=None):
        """Prepare examples for given scores. Returns `Batch`. Raises `DataError` if gold is not in Y(x), or the examples cannot be read.
        Raises `PluginError` if the problem predicts one part of an output given another.

        Parameters
        ----------
        X : array-like, sparse matrix, or list, optional
            What Y(x) depends on, as `Engine.fit` takes it: ends of arcs, pairs, nodes and edges. Features among its columns are not used.
            Leave it out if only the lengths count.
        y : sequence, optional
            Gold outputs, as `Engine.fit` takes them. They are checked once, here.
        offsets : int array, optional
            Where the rows of each example begin, if X is one matrix.
        lengths : int sequence, optional
            How many rows, tokens or items each example has. Label problems need none beside y.
        allowed : sequence, optional
            As of `Engine.predict`: the labels that each token may have.
        costs : sequence, optional
            The true costs of each example's atoms, for the loss "spo+"; or what a loss takes as `Engine.fit(costs=)`. Without y the gold
            outputs are the best ones under these costs.

        Examples
        --------
        >>> import numpy as np
        >>> from structperc import Problem
        >>> arcs = np.array([[0, 1], [1, 2], [0, 2]])
        >>> batch = Problem("path").batch([arcs], costs=[[1.0, 1.0, 3.0]])
        >>> batch.gold.tolist()
        [1.0, 1.0, 0.0]
        """
        if X is None:
            if offsets is not None:
                raise OptionError("offsets divide the rows of X, but there is no X; give lengths.")
            model, rows, gold = self._of_lengths(y, lengths, allowed, costs)
        else:
            data = Groups(X, offsets, lengths, None)
            model, rows = self._begin(self._reader(X)._with_a_feature(data.X), data.offsets, allowed)
            gold = encoded(model, y, rows)
        if costs is not None and not (hasattr(costs, "__len__") and len(costs) == rows.n_examples):
            raise DataError(f"costs is {shortened(costs)}; expected an entry for each of {rows.n_examples} examples.")
        offsets, has_blocks = np.append(0, np.cumsum(rows.sizes())), X is not None and isinstance(data.X, (list, tuple))
        source = Source(self, None if X is None else data.X, y, offsets, has_blocks, allowed, costs)
        prepared = Prepared(self._engine, model, rows, gold, costs, source)
        if gold is None and costs is not None:
            prepared.gold = self._best_under(Batch(prepared), costs)
        if costs is not None and uses_costs(model.parts):
            set_costs(model, costs, prepared.gold, rows.n_examples)
        return Batch(prepared)

    def _coded(self, begins, codes, offsets_of):
        """A batch of sentences whose gold outputs have an integer for each row: what `batch` makes of y, without a look at each.

        Sentences that begin in the same array as those of the last call have been prepared.
        `offsets_of` returns where the atoms of each begin.
        """
        if not len(codes):
            return self.batch(y=[[]] * (len(begins) - 1), lengths=np.diff(begins))
        prepared = self._prepared
        if prepared is None or prepared.rows.offsets is not begins:
            model, rows = self._shared_model(), Rows(np.zeros((len(codes), 1)), begins)
            model.make_room(rows)
            self._prepared = prepared = Prepared(self._engine, model, rows, None, None, offsets=offsets_of(begins))
        parts = prepared.parts
        return Batch(prepared.with_gold(checked_gold(parts.outputs, Structures(codes, begins), prepared.rows, parts.features)))

    def _begins(self):
        """Where the sentences of the last call begin; None before the first."""
        return None if self._prepared is None else self._prepared.rows.offsets

    def _shared_model(self):
        """The model of all batches without X whose gold outputs do not change its parts."""
        with self._lock:
            if self._model is None:
                if self._reader(None).input_columns().n_keys:
                    raise DataError(f"{self!r} needs the keys of rows, such as both ends of an arc; give X, not only lengths.")
                self._model = self._begin(*ONE_ROW)[0]
            return self._model

    def _of_lengths(self, y, lengths, allowed, costs):
        """A model, rows without content of these lengths, and gold outputs. Batches share the model, unless y or costs change its parts."""
        model = self._shared_model()
        rows, parts = self._rows_of(model, y, lengths, allowed), model.parts
        with self._lock:
            state, open_parts = kept_state(parts.outputs), parts.outputs.partial_gold
            gold = encoded(model, y, rows)
            changed = parts.outputs.partial_gold != open_parts or plain(state_of(parts.outputs)) != plain(state)
            if changed:
                parts.outputs.restore(state)
                parts.outputs._leave_open(open_parts)
        if changed or costs is not None and uses_costs(parts):
            model = self._begin(*ONE_ROW)[0]
            rows = self._rows_of(model, y, lengths, allowed)
            gold = encoded(model, y, rows)
        return model, rows, gold

    def _rows_of(self, model, y, lengths, allowed):
        """Rows without content for examples of these lengths."""
        if lengths is None:
            if not isinstance(model.parts.outputs, LabelOutputs) or y is None or not hasattr(y, "__len__"):
                raise DataError(f"{self!r} needs to know the examples of a batch: give lengths, the number of rows of each, or X.")
            lengths = [1] * len(y)
        sizes = read_lengths(lengths)
        begins = np.append(0, np.cumsum(sizes))
        one_row = model.parts.features.layout.rows_per_example == 1
        if one_row and (sizes != 1).any():
            i = int(np.argmax(sizes != 1))
            raise DataError(f"lengths[{i}] is {sizes[i]}; each example of {self!r} is one row, so expected 1.")
        if begins[-1]:
            rows = model.read(np.zeros((begins[-1], 1)), None if one_row else begins, allowed)
        else:                           # readers need a row: that of one more example
            rows = model.read(np.zeros((1, 1)), None if one_row else np.append(begins, 1)).part(0, len(sizes))
        model.make_room(rows)
        return rows

    def _reader(self, X):
        """A reader of this X that has learned nothing."""
        return reader_for(self._engine, options_alone(self._engine), X)

    def _begin(self, X, offsets, allowed):
        """A model of new parts, and the rows that it has read."""
        try:
            return new_model(self._engine, X, offsets, None, allowed)[:2]
        except DataError:
            self._refuse_no_classes()
            raise

    def _refuse_no_classes(self) -> None:
        """Raises an error if labels are needed and nobody has named them."""
        if self._engine.classes is None:
            try:
                ask(self._engine, "outputs", options_alone(self._engine)).find_labels(None, None)
            except DataError:
                raise DataError(f"{self!r} has labels; name all of them in order, Problem({self.problem!r}, classes=[...]).") from None

    @staticmethod
    def _best_under(batch, costs):
        """The best structures under true costs."""
        structures, _ = batch._best(-batch._costs(), 1)
        return structures if isinstance(structures, Structures) else Structures(structures)


def encoded(model, y, rows):
    """Gold outputs, checked; None if there are none."""
    model.refuse_conditional("scored at once")
    return None if y is None else encoded_gold(model.parts.outputs, y, rows, model.parts.features)


def plain(state):
    """A state as plain values, to compare."""
    return {name: np.asarray(value).tolist() for name, value in state.items()}


def read_lengths(lengths):
    """How many rows each example has, an int64 array."""
    try:
        sizes = np.array([index(n) for n in lengths], dtype=np.int64)
    except (TypeError, OverflowError):
        sizes = np.array([-1])
    if (sizes < 0).any() or sizes.sum() > MOST:
        raise DataError(f"lengths is {shortened(lengths)}; expected a whole number from 0 for each example.")
    return sizes


__all__ = ["Problem"]
