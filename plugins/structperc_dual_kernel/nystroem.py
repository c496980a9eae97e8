"""Kernels for primal weights: rows mapped to as many numbers as there are landmarks, whose dot products approximate the kernel.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

import copy
import json
import numbers
from types import SimpleNamespace

import attrs
import numpy as np
from structperc_kernels import KERNEL_OPTIONS, kernel_rows_for

import structperc_dual_kernel as dual_kernel
from structperc import Engine
from structperc.components import PrimalWeights, Reader, Rows
from structperc.errors import DataError, OptionError, PluginError, shortened
from structperc.plugin_tools import check_same, engine_options, generator, install_model, read, read_array, refuse_not_finite, substate
from structperc_dual_kernel.weights import DualWeights

__all__ = ["NystroemReader", "to_primal"]

WILLIAMS_SEEGER = r"""@inproceedings{williams2001using,
  author = {Christopher K. I. Williams and Matthias Seeger},
  title = {Using the {Nystr\"om} Method to Speed Up Kernel Machines},
  booktitle = {Advances in Neural Information Processing Systems 13},
  pages = {682--688},
  year = {2001}
}"""

OPTIONS = tuple(name for name in KERNEL_OPTIONS if name != "kernel")
DEFAULTS = {name: KERNEL_OPTIONS[name].default for name in OPTIONS}
SMALLEST = 1e-12        # of the eigenvalues that are divided by, as in scikit-learn's Nystroem
CHUNK = 4096            # rows that are mapped at a time


class NystroemReader(Reader):
    """Reads data as `Reader` does and hands on ``f(x) = |K_LL|^(-1/2) k_L(x)`` instead of each row x, so that f(x) . f(z) is near K(x, z).

    k_L(x) are the kernel values of x with the landmarks. Landmarks are rows (or objects) of the first data, drawn without replacement. K_LL
    are the values between landmarks. Between landmarks f(x) . f(z) = K(x, z). A step then costs O(n_components), for any length of
    training.

    Parameters
    ----------
    kernel : str or callable, default "rbf"
        Any kernel of the plugin "dual-kernel" but "precomputed"; functions as there.
    n_components : int, default 300
        How many landmarks; all rows of the first data where these are fewer.
    random_state : None, int, numpy Generator or RandomState, default 0
        Of the drawing.
    **options
        gamma, degree, coef0, offset, kernel_decay, length, normalise and dtype, as the plugin has them.

    Attributes
    ----------
    kernel_rows : KernelRows
        The landmarks; None before `learn`.
    normalization : float64 array of shape (n_components, n_components)
        ``|K_LL|^(-1/2)``.

    Raises
    ------
    OptionError
        For options that cannot be, or have no effect with this kernel.

    Notes
    -----
    Learning costs O(n_components^3), mapping a row n_components kernel values and O(n_components^2). A model file holds the landmarks and
    asks for the reader again: Engine.load(path, plugins=[NystroemReader(...)]), with the same kernel and options.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc import Engine
    >>> from structperc_dual_kernel.nystroem import NystroemReader
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = np.digitize(np.hypot(*X.T), [0.8, 1.5]) + 1        # ranks by the distance from the middle
    >>> engine = Engine("cusum", plugins=[NystroemReader("rbf", 30, gamma=0.7)], epochs=10, average=True).fit(X, y)
    >>> bool((engine.predict(X) == y).mean() > 0.9), engine.coef_.shape
    (True, (3, 30))
    """

    takes_tables = True

    citation = WILLIAMS_SEEGER

    def __init__(self, kernel="rbf", n_components=300, random_state=0, **options):
        unknown = next((name for name in options if name not in OPTIONS), None)
        if unknown is not None:
            raise OptionError(f"NystroemReader got the unknown option {unknown!r}; expected one of {', '.join(OPTIONS)}.")
        if isinstance(kernel, str) and kernel == "precomputed":
            raise OptionError("kernel='precomputed': landmarks are rows to compare others with, but there are none; name a kernel.")
        if not isinstance(n_components, numbers.Integral) or isinstance(n_components, bool) or n_components < 1:
            raise OptionError(f"n_components={shortened(n_components)}; expected a whole number, at least 1.")
        self.n_components, self.random_state = int(n_components), random_state
        self.options = {**DEFAULTS, **options, "kernel": kernel}
        self._kernel_rows_like(SimpleNamespace(sparse=False, objects=False))
        self._forget()

    def _kernel_rows_like(self, like):
        """Empty kernel rows for data like these."""
        return kernel_rows_for(SimpleNamespace(sparse=like.sparse, objects=like.objects, options=self.options))

    def __repr__(self):
        changed = "".join(f", {name}={value!r}" for name, value in self.options.items() if name != "kernel" and value != DEFAULTS[name])
        return f"NystroemReader({self.options['kernel']!r}, {self.n_components}{changed})"

    def _forget(self):
        """Back to what it was before `learn`."""
        self.seen = self.kernel_rows = self.normalization = None

    def clone(self):
        component = super().clone()
        component._forget()
        return component

    def learn(self, X, offsets=None) -> Rows:
        """The mapped rows of the first data, some of which become the landmarks; a failure changes nothing."""
        rows = self._checked(read(X, offsets))
        kernel_rows = self._kernel_rows_like(rows)
        kernel_rows.start(rows)
        kernel_rows.settle_parameters(rows)
        for row in drawn(rows.n_rows, self.n_components, self.random_state):
            kernel_rows.append(rows, row)
        landmarks = kernel_rows.select(range(kernel_rows.n))          # which learns no more symbols
        seen = SimpleNamespace(n_features=rows.n_features, sparse=rows.sparse, objects=rows.objects, feature_names=rows.feature_names)
        normalization, _ = roots(landmarks.values(as_rows(landmarks.support())))
        mapped = mapped_rows(rows, landmarks, normalization)
        self.seen, self.kernel_rows, self.normalization = seen, landmarks, normalization
        return mapped

    def read(self, X, offsets=None) -> Rows:
        """The mapped rows of later data."""
        if self.seen is None:
            raise DataError("this reader has learned from no data yet; call learn first.")
        rows = read(X, offsets)
        check_same(self.seen, rows)
        return mapped_rows(self._checked(rows), self.kernel_rows, self.normalization)

    @staticmethod
    def _checked(rows):
        """Rows that a kernel can compare."""
        refuse_not_finite(rows)
        return rows.canonical() if rows.sparse else rows

    def feature_name(self, j) -> str | None:
        """Columns are mixtures of kernel values; they have numbers only."""
        return f"component {j}"

    # ---- model files ----

    def fingerprint(self):
        return None if self.kernel_rows is None else self.kernel_rows.fingerprint()

    def _described(self) -> str:
        """The kernel and its options, to be compared when a model is loaded."""
        kernel = self.options["kernel"]
        kernel_name = kernel if isinstance(kernel, str) else getattr(kernel, "__qualname__", type(kernel).__name__)
        return json.dumps({**self.options, "kernel": kernel_name}, default=str, sort_keys=True)

    def state(self):
        """What was learned, a dict of arrays; empty before `learn`."""
        if self.seen is None:
            return {}
        names = self.seen.feature_names
        return {"described": np.array(self._described()), "normalization": self.normalization,
                "seen": np.array([self.seen.n_features, self.seen.sparse, self.seen.objects], dtype=np.int64),
                **({} if names is None else {"names": np.array(names, dtype=str)}),
                **{f"kernel_rows.{key}": value for key, value in self.kernel_rows.state().items()}}

    def restore(self, state):
        """Reads what `state` returned. A DataError names what does not fit."""
        if not state:
            self._forget()
            return
        described = read_array(state, "described", str)
        if described != self._described():
            raise DataError(f"the model was trained with NystroemReader's options {described}, but this one has {self._described()}")
        n_features, sparse, objects = read_array(state, "seen", np.int64, (3,), low=0).tolist()
        if max(sparse, objects) > 1:
            raise DataError(f"the saved form of the data is {sparse, objects}; expected 0 or 1 for sparse and for objects.")
        names = read_array(state, "names", str, (n_features,)).tolist() if "names" in state else None
        seen = SimpleNamespace(n_features=n_features, sparse=bool(sparse), objects=bool(objects),
                               feature_names=None if names is None else tuple(names))
        kernel_rows = self._kernel_rows_like(seen)
        kernel_rows.start(seen)
        kernel_rows.restore(substate(state, "kernel_rows."))
        normalization = read_array(state, "normalization", np.float64, (kernel_rows.n, kernel_rows.n))
        if not kernel_rows.n:
            raise DataError("there are no saved landmarks; expected at least one.")
        self.seen, self.kernel_rows, self.normalization = seen, kernel_rows.select(range(kernel_rows.n)), normalization


def to_primal(engine, n_components=None, random_state=0) -> Engine:
    """A trained engine with primal weights from one that was trained with the plugin "dual-kernel".

    Its reader is a `NystroemReader` with some of the rows as landmarks. Its weights are the dual ones projected onto the span of the
    landmarks: w_block = K_LL^(-1/2) K_LS c_block for the rows S with the coefficients c. With all rows as landmarks it predicts the same,
    up to rounding. With fewer, prediction is faster and the model smaller. Intercepts, thresholds and transitions are copied.
    Returns `Engine`. With the record of training of the other. Averages continue as if its weights had been these from the beginning.

    Parameters
    ----------
    engine : Engine
        Trained; it is not changed.
    n_components : int, optional
        How many landmarks are drawn; None: all rows held.
    random_state : None, int, numpy Generator or RandomState, default 0
        Of the drawing.

    Raises
    ------
    OptionError, PluginError, DataError
        For weights of another kind or without a row, and for kernels given as values. Also for feature maps or weights that it cannot write
        to.

    Notes
    -----
    Cost: n_support * n_components kernel values, and O(n_components^3).

    Examples
    --------
    >>> import numpy as np
    >>> from structperc import Engine
    >>> from structperc_dual_kernel.nystroem import to_primal
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.digitize(np.hypot(*X.T), [0.8, 1.5]) + 1
    >>> dual = Engine("cusum", plugins=["dual-kernel"], kernel="rbf", gamma=0.7, epochs=5, scale=False).fit(X, y)
    >>> primal = to_primal(dual)
    >>> bool((primal.predict(X) == dual.predict(X)).all()), primal.coef_.shape == (3, dual.n_support_)
    (True, True)
    """
    model = engine.model_
    return model.lock.read(taken_over, engine, model, n_components, random_state)


def taken_over(engine, model, n_components, random_state) -> Engine:
    """`to_primal`, while nothing changes the model."""
    weights = model.parts.weights
    if not isinstance(weights, DualWeights):
        raise OptionError(f"to_primal takes an engine that was trained with the plugin 'dual-kernel', but the weights are "
                          f"{type(weights).__name__}.")
    if model.scales:
        raise OptionError("to_primal compares rows in the units of X, but this engine was trained on scaled columns. Train one with "
                          "scale=False on rows that are standardised beforehand.")
    slots, coefficients, own = weights.live()
    if not len(slots):
        raise DataError("the weights hold no row with a coefficient, so there is nothing to take over.")
    options = engine.plugin_options
    reader = NystroemReader(options["kernel"], len(slots) if n_components is None else n_components, random_state,
                            **{name: options[name] for name in OPTIONS})
    held = weights.support.kernel_rows.select(slots)
    chosen = drawn(len(slots), reader.n_components, random_state)
    landmarks = held.select(chosen)
    between = landmarks.values(as_rows(held.support()))
    reader.normalization, inverse = roots(between[chosen])
    reader.kernel_rows, context = landmarks, model.context
    reader.seen = SimpleNamespace(n_features=context.n_features, sparse=context.sparse, objects=context.objects,
                                  feature_names=context.feature_names)

    primal = engine_with(engine, reader.clone())
    context = attrs.evolve(context, n_features=len(chosen), sparse=False, objects=False, feature_names=None, options=primal.plugin_options,
                        random=copy.deepcopy(context.random))
    states = {name: copy.deepcopy(part.state()) for name, part in model.parts.items() if name not in ("reader", "weights")}
    record = {"mistakes": list(model.mistakes), "loss": model.loss, "status": model.status, "streaming": model.streaming,
              "weighted": model.weighted, "visit_totals": model.visit_totals, "temperature": model.temperature,
              "spread": model.spread}
    install_model(primal, context, context.labels, states, record, reader)
    made = primal.parts_
    if type(made.weights) is not PrimalWeights:
        raise PluginError(f"to_primal writes to PrimalWeights, but the other plugins return {type(made.weights).__name__}.")
    made.weights.assign(written(made.features, inverse @ between.T @ coefficients[slots], weights.explicit, own), weights.n_visited)
    return primal


def drawn(n, size, random_state):
    """Which of n rows become landmarks, in their order."""
    return np.sort(generator(random_state).permutation(n)[:size])


def as_rows(support) -> Rows:
    """The rows that a kernel_rows holds, to be compared with others."""
    rows = Rows(support)
    return rows.canonical() if rows.sparse else rows


def roots(values):
    """|K|^(-1/2) of a symmetric matrix, and its product with the signs of the eigenvalues: for a kernel these are one and the same."""
    try:
        eigenvalues, vectors = np.linalg.eigh((values + values.T) / 2)
    except np.linalg.LinAlgError:           # of kernel values that overflow
        raise DataError("the kernel values of the landmarks are too large for their eigenvalues; scale the features.") from None
    root = 1 / np.sqrt(np.maximum(np.abs(eigenvalues), SMALLEST))
    return (vectors * root) @ vectors.T, (vectors * (np.sign(eigenvalues) * root)) @ vectors.T


def mapped_rows(rows, landmarks, normalization) -> Rows:
    """Each row's kernel values with the landmarks, normalised. A single row has the same bits as among others."""
    columns = np.ascontiguousarray(normalization.T)
    mapped = np.empty((rows.n_rows, landmarks.n))
    for start in range(0, rows.n_rows, CHUNK):
        which = np.arange(start, min(start + CHUNK, rows.n_rows))
        mapped[which] = Rows(np.ascontiguousarray(landmarks.values(rows, which))).products(columns)
    return Rows(mapped, rows.offsets)


def engine_with(engine, reader) -> Engine:
    """An engine like this one, but with this reader instead of the plugin "dual-kernel"."""
    kept = [(plugin, argument) for plugin, argument in zip(engine.loaded_plugins[2:], engine.plugins, strict=False)
            if plugin.plugin is not dual_kernel]
    names = set().union(engine.loaded_plugins[1].options, *(plugin.options for plugin, _ in kept))
    options = {name: value for name, value in engine.plugin_options.items() if name in names}
    return Engine(engine.problem, plugins=[*(argument for _, argument in kept), reader], **engine_options(engine), **options)


def written(features, blocks, own, values):
    """A weight vector of a feature map: rows of weights for its blocks, (n_features, n_blocks), and what atoms have besides."""
    # Both are found by what single atoms add. phi(x, a) with a row x less phi(0, a) is x in the block of a. phi(0, a) is the rest of a,
    # which the map without columns has in the same order.
    vector, blocks_written = np.zeros(features.n_weights), set()
    place = np.full(len(values), -1)
    for n_rows in (1,) if features.layout.rows_per_example == 1 else (1, 2):
        blank = example(features, np.zeros((n_rows, len(blocks))))
        for a in range(blank.n_atoms):
            atom = np.arange(blank.n_atoms) == a
            besides, alone = features.vector(blank, atom), own.atom(blank, a)
            here, there = np.flatnonzero(besides), np.flatnonzero(alone)
            expected = place[there] if len(here) == len(there) else None
            if expected is None or not np.array_equal(besides[here], alone[there]) or ((expected >= 0) & (expected != here)).any():
                raise PluginError(f"{type(features).__name__} arranges what atoms have besides their row otherwise without columns, so "
                                  f"to_primal cannot take it over.")
            place[there] = here
            cell = features.cell(blank, a)
            if cell is not None and cell[1] not in blocks_written:
                row, block = cell
                filled = np.zeros((n_rows, len(blocks)))
                filled[row] = blocks[:, block]
                vector += features.vector(example(features, filled), atom) - besides
                blocks_written.add(block)
    if len(blocks_written) != blocks.shape[1] or values[place < 0].any():
        raise PluginError(f"not every weight of {type(features).__name__} belongs to an atom of one or two rows, so to_primal cannot take "
                          f"it over.")
    vector[place[place >= 0]] = values[place >= 0]
    return vector


def example(features, X):
    """An example of these rows."""
    x = Rows(X, np.array([0, len(X)], dtype=np.int64)).example(0)
    x.n_atoms = features.n_atoms(x)
    return x
