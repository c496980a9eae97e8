# distutils: extra_compile_args = CALLS
# cython: boundscheck=True, wraparound=True
"""What a fit makes: the parts, and the model that they are together, which reads X and scores it.

A method that scores sees the weights of one moment: a change in place (`partial_fit`) waits until it has ended. X is read before, so that
reading it may take its time.

Compiled, since one-row calls of `predict` and `partial_fit` look at nearly every attribute here.
"""
import collections
import itertools
import numbers
import warnings

import numpy as np

from structperc.basics.errors import DataError, OptionError, PluginError, shortened
from structperc.core.argmax import check_search, has_marginals
from structperc.core.column_sums cimport ColumnSums
from structperc.core.component cimport Component
from structperc.core.component import LIBRARY, adapted, bind_features, expected, inherits, located, nothing, overrides, settle, unstarted
from structperc.core.features cimport Features
from structperc.core.inner_products cimport sp_is_dense
from structperc.core.loop import NotFinite
from structperc.core.losses cimport Loss
from structperc.core.outputs cimport LabelOutputs, RestrictedOutputs
from structperc.core.outputs import encoded_answers, expected_counts, label_scores
from structperc.core.rows cimport Rows, in_place
from structperc.core.updates import rule_of
from structperc.core.weights cimport PrimalWeights, Weights
from structperc.core.weights import has_vector
from structperc.fitting import answers
from structperc.fitting.context import check_columns, check_same
from structperc.fitting.locks cimport ReadWriteLock
from structperc.fitting.locks import reading
from structperc.fitting.not_finite import not_finite, refuse_scores
from structperc.fitting.references import shown_weights
from structperc.fitting.trainers import MixingTrainer, Trainer
from structperc.reading import matrices
from structperc.reading.column_faults import ColumnError
from structperc.reading.groups import Groups
from structperc.reading.readers import Reader

CACHED = 1 << 14            # scores of labels from which probabilities are made at once
DIGESTED = 1000             # entries of an array or a collection that show whether it has changed
KNOWN = {"weights": ("features", "the feature map"), "argmax": ("outputs", "the outputs"), "loss": ("outputs", "the outputs")}
KINDS = ("reader", "outputs", "features", "weights", "loss", "argmax", "update", "trainer")
LOOPED = ("outputs", "features", "loss", "argmax", "update")        # what the loop calls beside the weights


def has_mean_row(rows) -> bool:
    """Whether the mean of such rows is a row to compare with: of tokens that have few of many features it is not."""
    return rows.n_features > 0 and not rows.objects and (rows.offsets is None or not rows.sparse)


class NoAttribute(AttributeError):
    """No part documents a fitted attribute of this name; the owner's name begins the sentence."""

    def __init__(self, owner, rest, names=tuple):
        super().__init__(owner, rest)
        self.names = names          # a function, called where the sentence is read: hasattr asks for none

    def __str__(self):
        names = self.names()
        return " ".join([*self.args, *([f"It has {', '.join(names)}."] if names else [])])

    def __reduce__(self):
        return AttributeError, (str(self),)

    def of(self, owner):
        """The same error of an object that wraps this one."""
        return NoAttribute(owner, self.args[1], self.names)

    def listing(self, names):
        """The same error with what there is."""
        return NoAttribute(*self.args, names)


cdef class Parts:
    """The components of one fit; `items` has them in the order in which they are started and checked."""

    def __init__(self, reader, outputs, features, weights, loss, argmax, update, trainer):
        self.reader, self.outputs, self.features, self.weights = reader, outputs, features, weights
        self.loss, self.argmax, self.update, self.trainer = loss, argmax, update, trainer

    def items(self) -> list:
        """Pairs of names and components."""
        return list(zip(KINDS, (self.reader, self.outputs, self.features, self.weights, self.loss, self.argmax, self.update, self.trainer)))

    def start(self, context) -> None:
        """Begins the life cycle of a fit: every part takes the others and the options."""
        parts = self.items()
        replaced = [settle(part) for _, part in parts]
        reads = context.reads
        for (kind, part), again in zip(parts, replaced):
            part.start(self, context)
            if again:
                settle(part)
            refuse_unstarted(kind, part)
            if reads is not None and reads.current:
                reads.assign(kind)
        bind_features(self.features, self.outputs, self.argmax, self.loss)
        self.as_started = {kind: remembered(part) for kind, part in parts}
        self.learning = [part for kind, part in parts if kind in LOOPED and overrides(part, "state") and overrides(part, "restore")]

    def check(self, context) -> None:
        """Raises an error for parts that do not fit together or do not fit the data: each part checks what it needs."""
        if context.loss_weight:
            check_search(self, f"loss_weight={context.loss_weight}", "loss_weight")
        if "search" in self.update.needs:
            check_search(self, rule_of(context, self), "update")
        if "marginals" in self.update.needs and not has_marginals(self.argmax):
            raise PluginError(f"{rule_of(context, self)} learns from marginals, but {type(self.argmax).__name__} finds none. Write "
                              f"its method marginals(scores, x), or use another update, or a problem such as 'multiclass' or 'sequence'.")
        refuse_other_sizes(context, self)
        for _, part in self.items():
            nothing(part.check(context, self), part, "check")

    def warn_of_state(self) -> None:
        """Warns of attributes of parts that training has changed, and that neither a file nor a resumed training has."""
        for kind, part in self.items():
            for name, value in remembered(part).items():
                if self.as_started[kind].get(name, self) != value:
                    warnings.warn(f"{type(part).__name__}.{name} has changed since training began, and {type(part).__name__} has no method "
                                  f"state() that keeps it: a model that is loaded or a training that is resumed has it as at the start. "
                                  f"Add state() and restore(), or begin the name with _ where no prediction depends on it.", stacklevel=3)


def is_empty_list(X) -> bool:
    """Whether X is a list of no examples, which has no predictions. A matrix without rows is an error, as in scikit-learn."""
    return isinstance(X, (list, tuple)) and not X or getattr(X, "ndim", 0) not in (0, 2) and not len(X)


def refuse_labels(outputs, labels):
    """Raises an error if a `find_labels` returned no array of labels."""
    expected(labels, (np.ndarray, type(None)), outputs, "find_labels", "an array of the labels in order, or None where there are none")


def refuse_other_sizes(context, parts):
    """Raises an error for hand-made feature maps of other sizes than the data; compiled code would read past its memory."""
    outputs, features = parts.outputs, parts.features
    made_for = getattr(features, "n_features", context.n_features)
    if made_for != context.n_features and not context.objects:
        raise PluginError(f"{type(features).__name__} was made for {made_for} features, but X has {context.n_features}.")
    atoms = getattr(outputs, "n_atoms", None)
    if atoms is not None and features.layout.atoms_per_example not in (None, atoms):
        raise PluginError(f"{type(features).__name__} has {features.layout.atoms_per_example} atoms, but {outputs.n_labels} labels of "
                          f"{type(outputs).__name__} need {atoms}.")


def refuse_unstarted(kind, part):
    """Raises an error for a part that lacks, after its start, what compiled code reads of it."""
    if kind == "outputs" and isinstance(part, LabelOutputs) and not part.n_labels:
        raise PluginError(f"{type(part).__name__} does not know its labels; a find_labels of its own begins with "
                          f"super().find_labels(y, classes).")
    if kind == "features" and part.n_weights < 1:
        raise PluginError(f"{type(part).__name__} has no weights; call self.shape(n_weights, ...) in its constructor.")
    if kind in KNOWN and getattr(part, KNOWN[kind][0]) is None:
        raise unstarted(part, KNOWN[kind][1])


def remembered(part):
    """What is needed to see whether the attributes of a part without a state change: by name, values or digests of them."""
    if not hasattr(part, "__dict__") or not inherits(part, Component, "state"):
        return {}
    return {name: digest(value) for name, value in vars(part).items() if name[:1] != "_"}


def digest(value, depth=0):
    """Numbers and texts themselves. Of arrays and collections, type, size and up to 1000 entries. Of other objects only the type."""
    if value is None or isinstance(value, (int, float, str, bytes, np.generic)):
        return repr(value)
    if isinstance(value, np.ndarray):
        some = value.flat[::max(1, value.size // DIGESTED)]
        return value.shape, str(value.dtype), repr(some.tolist() if value.dtype == object else some.tobytes())
    if isinstance(value, (list, tuple, set, frozenset, dict, collections.deque)) and depth < 3:
        entries = value.items() if isinstance(value, dict) else value
        return type(value), len(value), [digest(one, depth + 1) for one in itertools.islice(entries, DIGESTED)]
    return type(value)


cdef class Model:
    """Everything that training makes; an engine has one, or none. Its methods take rows that `read` has read."""
    # options: dict. The engine's own, as they were when training began.
    # mistakes, loss, status, online, history: The record of training, as the engine shows it. `history` is a list with a `Visit` for each
    # visit, or None.
    # temperature: float. Of probabilities: p(y) is proportional to exp(score of y / temperature).
    # spread: float. Of probabilities of ordered labels; see `structperc.core.probabilities`.
    # scaling: Scaling or None. Of the columns that training saw.
    # scales: bool. Whether the weights are those of scaled rows, so that rows are scaled as they are read.
    # means: float64 array of shape (n_features,), or None. Of the columns over all rows that training saw, weighted as their examples are.
    # spreads: float64 array of shape (n_features,), or None. The standard deviations of the same, 0 of constant columns.
    # column_sums: ColumnSums or None. What both are computed from where there is no scaling.
    # weighted: bool. Whether sample weights were ever given.
    # visit_totals: tuple. How many examples were learned from by visits, and the sum of their weights.
    # streaming: bool. Whether the last entry of mistakes belongs to partial_fit.
    # counts_rows: bool. Whether the columns' sums take the rows of chunks. Not so in later passes over the same stream.

    def __init__(self, context, parts, loop, options):
        self.context, self.parts, self.loop, self.options = context, parts, loop, options
        self.mistakes, self.temperature, self.spread, self.lock = [], 1.0, 0.0, ReadWriteLock()
        self.visit_totals, self.counts_rows = (0, 0.0), True
        self.n_features, self.objects = context.n_features, context.objects
        self.by_chunks = (not isinstance(parts.weights, PrimalWeights) or overrides(parts.weights, "batch_scores")
                          or overrides(parts.features, "batch_scores"))
        self.second_stage = parts.outputs.second_stage()
        self.shuffles, self.uses_costs = context.shuffle, not inherits(parts.loss, Loss, "set_costs")
        self.sharded = isinstance(parts.trainer, MixingTrainer)
        self.takes_matrices = (inherits(parts.reader, Reader, "read") and inherits(parts.features, Features, "check_rows")
                               and inherits(parts.weights, Weights, "prepare") and inherits(parts.trainer, Trainer, "check_answers"))

    @reading
    def record(self, name):
        """What the record of training holds under a name: "loss", "status", or a copy of the list "mistakes", "online" or "history"."""
        value = getattr(self, name)
        return list(value) if isinstance(value, list) else value

    @reading
    def attribute(self, name):
        """The fitted attribute of this name, where a part documents it."""
        functions = self.attributes()
        if name in functions:
            return functions[name]()
        reasons = [texts[name] for texts in self.declared(str) if name in texts]
        raise NoAttribute("this model", f"has no {name}" + (f": {reasons[0]}." if reasons else "."))

    def attributes(self) -> dict:
        """What the parts show as fitted attributes: functions by name; of equal names that of the first part."""
        declarations = self.declared(object)
        if not has_vector(self.parts.weights):
            del declarations[1]                         # those of the feature map
        return {name: value for values in declarations for name, value in values.items() if not isinstance(value, str)}

    def declared(self, kind) -> list:
        """What parts declare as fitted attributes, of this type: texts are the reasons why there is none."""
        parts = self.parts
        weights = dict.fromkeys(KINDS, parts.weights) | {"features": shown_weights(self)}
        return [{name: value for name, value in getattr(parts, part).attributes(weights[part]).items() if isinstance(value, kind)}
                for part in ("outputs", "features", "weights", "trainer", "reader", "loss", "argmax", "update")]

    # ---- the mean row ----

    @property
    def means(self):
        return self.scaling.mean if self.scaling is not None else self.column_sums.mean if self.has_sums() else None

    @property
    def spreads(self):
        return self.scaling.deviation if self.scaling is not None else self.column_sums.spread if self.has_sums() else None

    def has_sums(self):
        """Whether the columns' sums are kept, and scores are linear in the columns."""
        return self.column_sums is not None and self.is_linear()

    def is_linear(self):
        """Whether scores are linear in the columns: found out when it is first needed, since a small fit would notice it."""
        if self.linear is None:
            zeros = np.zeros(self.n_features)
            self.linear = callable(self.parts.weights.rescaling(zeros, zeros + 1))
        return self.linear

    def begin_sums(self, rows):
        """Keeps the columns' sums from now on, unless a scaling has them."""
        if self.scaling is None and has_mean_row(rows):
            self.column_sums = ColumnSums(rows.n_features)

    cpdef int add_rows(self, Rows rows, weights) except -1:
        """Adds rows of training to the sums, weighted by their examples."""
        if self.column_sums is not None and self.counts_rows:
            self.column_sums.add(rows, weights)
        return 0

    def feature_name(self, j) -> str:
        """What column j is called: by X, by the reader, or x[j]."""
        names = self.context.feature_names
        name = self.parts.reader.feature_name(j) if names is None else names[j]
        return f"x[{j}]" if name is None else name

    # ---- reading ----

    cpdef Rows read(self, X, offsets=None, allowed=None):
        """Rows like those of the training, to predict from."""
        return self.read_in_any_order(X, offsets, allowed).in_row_order()

    cpdef Rows read_in_any_order(self, X, offsets=None, allowed=None):
        """The same without a copy of a matrix in another order, for predictions, scores and probabilities."""
        cdef Rows rows
        if not self.takes_matrices:
            return located_call(self.read_slowly, X, offsets, allowed)
        rows = self.own_rows(X, offsets)
        if sp_is_dense(&rows.whole) and rows.offsets is None and allowed is None and not self.scales:
            self.look_alike(rows)
            return rows
        return self.prepared(rows, allowed)

    def read_slowly(self, X, offsets, allowed):
        """`read` where a part has something to say."""
        self.parts.trainer.check_answers()
        return self.prepared(self.own_rows(X, offsets), allowed)

    cdef Rows own_rows(self, X, offsets):
        """What the reader reads."""
        cdef Rows rows = in_place(X) if self.takes_matrices and offsets is None else None
        if rows is not None:
            return rows
        if offsets is None and (self.objects or self.parts.features.layout.atoms_per_example is None) and is_empty_list(X):
            return Rows([]) if self.objects else Rows(np.zeros((0, self.n_features)), np.zeros(1, dtype=np.int64))
        try:
            if self.takes_matrices:
                return matrices.read_in_any_order(X, offsets)
            return expected(self.parts.reader.read(X, offsets), Rows, self.parts.reader, "read", "Rows")
        except ColumnError as error:
            if not error.trained and np.shape(X)[1] > self.n_features:          # a further column is what cannot be read
                check_columns(self.context, np.shape(X)[1], matrices.column_names(X))
            raise

    cdef Rows stored(self, Rows rows):
        """The rows as the weights see them."""
        if self.takes_matrices and sp_is_dense(&rows.whole):
            return rows
        return expected(self.parts.weights.prepare(rows), Rows, self.parts.weights, "prepare", "Rows")

    def prepared(self, rows, allowed=None):
        """What the reader has read, to predict from."""
        self.look_alike(rows)
        self.parts.features.check_rows(rows)
        self.restrict(rows, allowed)
        return self.stored(self.scaling.applied(rows) if self.scales else rows)

    def read_one(self, x):
        """The single example that a user passes, and its rows."""
        self.parts.trainer.check_answers()
        features = self.parts.features
        rows = expected(self.parts.reader.read_one(x, self.context.objects, features.layout.atoms_per_example is None), Rows,
                        self.parts.reader, "read_one", "Rows")
        self.look_alike(rows)
        if rows.n_examples != 1:
            raise DataError(f"explain takes one example, but got {rows.n_examples}; pass one of them: X[:1], a list with one example, is "
                            f"always read as one.{self.own_read_one()}")
        rows = self.scaling.applied(rows) if self.scales else rows
        return self.example(rows, 0), rows

    def own_read_one(self):
        """Advice for the author of a reader with its own `read`, but without `read_one`."""
        reader = self.parts.reader
        if type(reader).__module__[:11] == LIBRARY or not overrides(reader, "read") or not inherits(reader, Reader, "read_one"):
            return ""
        return (f" If one example is a list, write {type(reader).__name__}.read_one(x, objects, several_rows), which returns "
                f"self.read([x]).")

    def example(self, rows, i):
        """Example i, with its number of atoms."""
        x = rows.example(i)
        x.n_atoms = self.loop.n_atoms(x)
        return x

    cdef int look_alike(self, Rows rows) except -1:
        """Raises an error for data unlike those of the first fit."""
        if rows.n_features != self.n_features or rows.objects != self.objects or rows.feature_names is not None:
            check_same(self.context, rows)      # compares the names, and raises the error
        return 0

    cpdef int make_room(self, Rows rows) except -1:
        """Prepares the loop for examples like these."""
        cdef Features features = self.parts.features
        if features.fixed_atoms < 0 or rows.offsets is not None or rows.objects or not self.loop.ready:
            features.check_rows(rows)
            self.loop.reserve(features.max_atoms(rows))
        return 0

    def restrict(self, rows, allowed) -> None:
        """Restricts Y(x) of these examples to what the user allows."""
        if allowed is None:
            return
        self.parts.argmax.check_allowed(rows)
        outputs = self.parts.outputs
        if not isinstance(outputs, RestrictedOutputs):
            raise DataError(f"allowed was given, but {type(outputs).__name__} cannot be restricted example by example; leave it out.")
        rows.restrict(outputs.encode_allowed(allowed, rows))

    # ---- scores ----

    def scored(self, rows):
        """Chunks of rows, each with the number of its first example and its atom scores; None: score examples one by one."""
        self.look_alike(rows)                   # another model may have read them
        weights, features = self.parts.weights, self.parts.features
        product = not (overrides(weights, "scores") and not overrides(weights, "batch_scores")
                       or overrides(features, "scores") and not overrides(features, "batch_scores"))
        n_atoms, least = features.layout.atoms_per_example, rows.n_features if rows.sparse else 1
        if n_atoms is None:                     # who scores examples one by one need not look at all of them first
            with np.errstate(all="ignore"):
                together = product and weights.batch_scores(first_of(rows)) is not None
            n_atoms = features.max_atoms(rows) if together and rows.n_examples else 1
        for start, part in matrices.chunks(rows, n_atoms, least):
            with np.errstate(all="ignore"):     # what overflows is found in the scores
                scores = weights.batch_scores(part) if product else None
            if scores is None:
                yield rows, 0, None
                return
            scores = together_checked(weights if overrides(weights, "batch_scores") else features, scores, part.n_examples, n_atoms)
            refuse_scores(rows, scores, start)
            yield part, start, scores

    cdef final(self, Rows rows):
        """The store that predicts these rows."""
        store = self.parts.weights.averaged_on(rows)
        return expected(store, Weights, self.parts.weights, "averaged", "a weight store") if store is None else store

    def scores(self, rows):
        """Every example with its atom scores."""
        rows = rows.in_row_order()
        self.look_alike(rows)
        store = self.final(rows)
        if self.second_stage is not None:
            rows = self.with_first_stage(self.loop.predict(rows, None, store), rows, False)
            store = self.final(rows)
        scorer = adapted(store)                 # a store in Python sees the rows of training
        for i in range(rows.n_examples):
            x = self.example(rows, i)
            scores = scorer.scores(x)
            if not np.isfinite(scores).all():
                raise not_finite(rows, i, x.doubted())
            yield x, scores

    def with_first_stage(self, codes, rows, settled):
        """The rows with an earlier part of these predictions as their condition."""
        conditioned = self.second_stage.condition(codes, rows, settled=settled)
        if not isinstance(conditioned, Rows):
            raise PluginError(f"{type(self.second_stage).__name__}.condition returned {shortened(conditioned)}; expected Rows.")
        return conditioned

    @reading
    def atom_scores(self, rows):
        """The scores w . phi(x, a): (n_examples, n_atoms), or a list of arrays when examples differ in their atoms."""
        tables = []
        for part, _, scores in self.scored(rows):
            if scores is None and self.parts.features.fixed_atoms >= 0:
                return self.compiled_scores(part)
            if isinstance(scores, tuple):
                scores = np.split(scores[0], scores[1][1:-1]) if part.n_examples else []
            elif scores is None:
                scores = [one for _, one in self.scores(part)]
            tables.append(scores)
        if self.parts.features.fixed_atoms < 0:
            return [one for scores in tables for one in scores]
        return np.concatenate([np.asarray(scores) for scores in tables])

    def compiled_scores(self, rows):
        """The scores of examples that all have as many atoms."""
        cdef list tables = []
        for start, block in rows.blocks():
            try:
                tables.append(self.loop.scores_of(block, self.final(block)))
            except NotFinite as error:
                raise not_finite(rows, start + error.index, error.said) from None
        return tables[0] if len(tables) == 1 else np.concatenate(tables)

    @reading
    def label_scores(self, rows):
        """The score of every label, (n_examples, n_labels), of outputs that are one label."""
        outputs, n = self.parts.outputs, rows.n_examples
        if not isinstance(outputs, LabelOutputs):
            raise PluginError(f"the outputs of this problem are not one label for each example ({type(outputs).__name__}), so labels have "
                              f"no scores and probabilities. predict_marginals returns the probabilities of atoms.")
        scores = self.atom_scores(rows)
        if not n:
            return np.zeros((0, outputs.n_labels))
        if not self.counts_are_fixed():
            return np.array([label_scores(outputs, scores[i], self.example(rows, i)) for i in range(n)])
        return label_scores(outputs, scores, self.example(rows, 0))

    @reading
    def log_probabilities(self, rows):
        """The logarithm of every label's probability, (n_examples, n_labels); see `Engine.predict_proba`."""
        return self.from_scores(answers.log_probabilities, rows)

    @reading
    def probabilities(self, rows):
        """Every label's probability, (n_examples, n_labels)."""
        return self.from_scores(answers.probabilities, rows)

    def from_scores(self, function, rows):
        """What a function makes of the scores of labels: of so many rows at once that what lies between stays in the cache."""
        scores = self.label_scores(rows)
        step = max(1, CACHED // scores.shape[1])
        for start in range(0, len(scores), step):
            some = scores[start:start + step]
            some[...] = function(self.parts, some, 1 / self.temperature, self.spread)
        return scores

    # ---- predictions ----

    cpdef predict(self, Rows rows):
        """The structure of largest score for each example, decoded."""
        self.lock.begin_read()
        try:
            return self.predicted(rows)
        finally:
            self.lock.end_read()

    cdef predicted(self, Rows rows):
        cdef int one
        cdef list predictions = []
        if not (self.by_chunks or self.second_stage is not None):
            self.look_alike(rows)
            store = self.final(rows)
            if rows.strided:
                return self.predicted_in_blocks(rows, store)
            try:
                if rows.n_examples == 1 and self.parts.outputs.code_width == 1:
                    self.loop.predicted_codes(rows, None, store, &one)
                    return self.parts.outputs.decode_one(&one, rows, self.parts.features)
                codes = self.loop.predict(rows, None, store)
            except NotFinite as error:
                raise not_finite(rows, error.index, error.said) from None
            return self.parts.outputs.decode_all(codes, rows, self.parts.features, None)
        for part, start, scores in self.scored(rows):
            try:
                codes = self.loop.predict(part, scores, self.final(part) if scores is None else None)
                if self.second_stage is not None:
                    conditioned = self.with_first_stage(codes, part, True)
                    codes = self.loop.predict(conditioned, None, self.final(conditioned))
            except NotFinite as error:
                raise not_finite(rows, start + error.index, error.said) from None
            predictions.append(self.parts.outputs.decode_all(codes, part, self.parts.features, None))
        return predictions[0] if len(predictions) == 1 else np.concatenate(predictions)

    def predicted_in_blocks(self, rows, store):
        """The same of a matrix in another order, without a copy of it."""
        predictions = []
        for start, block in rows.blocks():
            try:
                codes = self.loop.predict(block, None, store)
            except NotFinite as error:
                raise not_finite(rows, start + error.index, error.said) from None
            predictions.append(self.parts.outputs.decode_all(codes, block, self.parts.features, None))
        return np.concatenate(predictions)

    def k_best(self, rows, k):
        """Every example with its k best structures and their scores, best first."""
        if not isinstance(k, numbers.Integral) or isinstance(k, (bool, np.timedelta64)) or k < 1:
            raise OptionError(f"k={shortened(k)}; expected a whole number, at least 1.")
        self.refuse_conditional("ranked")
        return ((x, answers.k_best(self.parts, scores, x, k)) for x, scores in self.scores(rows))

    def refuse_conditional(self, what):
        """Raises an error for outputs whose later part is scored only once the earlier part is given."""
        if self.second_stage is not None:
            raise PluginError(f"{type(self.parts.outputs).__name__} predicts one part of an output given the other, so whole outputs "
                              f"cannot be {what}; {self.second_stage.remedy}.")

    @reading
    def predict_k_best(self, rows, k):
        """The k best structures of each example, decoded, each with its score."""
        decode = self.parts.outputs.decode
        return [[(decode(y, x), score) for y, score in ranked] for x, ranked in self.k_best(rows, k)]

    @reading
    def log_probability(self, rows, y):
        """See `Engine.log_probability`."""
        parts, outputs = self.parts, self.parts.outputs
        self.refuse_conditional("given a probability")
        gold = encoded_answers(outputs, y, rows, None if isinstance(outputs, LabelOutputs) else parts.features)
        if isinstance(outputs, LabelOutputs):
            return self.log_probabilities(rows)[np.arange(rows.n_examples), np.array([*gold], dtype=int) - 1]
        log_probabilities = np.zeros(rows.n_examples)
        for x, scores in self.scores(rows):
            scores = scores / self.temperature
            log_probabilities[x.index] = outputs.count(x, gold[x.index]) @ scores - answers.log_partition(parts, scores, x)
        return np.minimum(log_probabilities, 0)

    @reading
    def margins(self, rows):
        """By how much the best structure of each example leads the next one; inf: there is no other."""
        return np.array([ranked[0][1] - ranked[1][1] if len(ranked) > 1 else np.inf for _, ranked in self.k_best(rows, 2)])

    @reading
    def optimality_gaps(self, rows):
        """See `Engine.optimality_gaps`."""
        gaps = np.zeros(rows.n_examples)
        for x, scores in self.scores(rows):
            answers.best(self.parts, scores, x)
            gaps[x.index] = x.bound
        return gaps

    @reading
    def marginals(self, rows, kind):
        """See `Engine.predict_marginals`."""
        if not (isinstance(kind, str) and kind in ("sum", "max")):
            raise OptionError(f"kind={shortened(kind)}; expected 'sum' or 'max'.")
        decode, parts = self.parts.outputs.display().marginals, self.parts
        if kind == "max":
            return listed(decode(x, answers.max_marginals(parts, scores, x)) for x, scores in self.scores(rows))
        if isinstance(parts.outputs, LabelOutputs) and not overrides(parts.argmax, "marginals"):
            return listed(decode(x, p) for x, p in self.expected_atoms(rows))
        return listed(decode(x, answers.marginals(parts, scores / self.temperature, x)) for x, scores in self.scores(rows))

    def expected_atoms(self, rows):
        """Every example and how often its atoms are expected, by the probabilities of labels."""
        probabilities = self.probabilities(rows)
        for i in range(rows.n_examples):
            x = self.example(rows, i)
            yield x, expected_counts(self.parts.outputs, probabilities[i], x)

    def counts_are_fixed(self):
        """Whether labels count the same atoms for every example."""
        return self.parts.features.fixed_atoms >= 0 and not overrides(self.parts.outputs, "count")


def together_checked(part, scores, n_examples, n_atoms):
    """What `batch_scores` returned: an array (n_examples, n_atoms), or the flat scores and where each example's begin."""
    try:
        if isinstance(scores, tuple):
            flat, begins = scores
            flat, begins = np.ascontiguousarray(flat, dtype=float), np.ascontiguousarray(begins, dtype=np.int64)
            if flat.ndim == begins.ndim == 1 and len(begins) == n_examples + 1 and begins[0] == 0 and begins[-1] <= len(flat) \
                    and (begins[1:] >= begins[:-1]).all():
                return flat, begins
        else:
            scores = np.ascontiguousarray(scores, dtype=float)
            if scores.shape == (n_examples, n_atoms):
                return scores
    except (TypeError, ValueError, OverflowError):
        pass
    came = f"an array of shape {scores.shape}" if isinstance(scores, np.ndarray) else shortened(scores)
    raise PluginError(f"{type(part).__name__}.batch_scores returned {came} for {n_examples} examples. Expected: ({n_examples}, {n_atoms}), "
                      f"a score per atom, or a pair of flat scores and where each example's begin.")


def located_call(function, *arguments):
    """The result of a function, whose errors get a note on the part that raised them."""
    try:
        return function(*arguments)
    except Exception as error:
        raise located(error)


def read_for(Model model, X, offsets, lengths, groups, allowed=None):
    """Rows like those that the model was trained on."""
    return read_in_any_order(model, X, offsets, lengths, groups, allowed).in_row_order()


cpdef Rows read_in_any_order(Model model, X, offsets, lengths, groups, allowed=None):
    """The same as `Model.read_in_any_order` has them."""
    if lengths is None and groups is None:
        return model.read_in_any_order(X, offsets, allowed)
    data = Groups(X, offsets, lengths, groups)
    return model.read_in_any_order(data.X, data.offsets, data.by_rows(allowed))


def first_of(rows):
    """A data set of only the first example."""
    return next(matrices.chunks(rows, matrices.CHUNK_VALUES))[1] if rows.n_examples else rows


def listed(values):
    """An array of objects, one for each example."""
    entries = list(values)
    array = np.empty(len(entries), dtype=object)
    for i, answer in enumerate(entries):
        array[i] = answer
    return array
