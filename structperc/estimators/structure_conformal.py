"""Sets of structures that hold the right one as often as asked, around any engine: split conformal prediction over scores."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import attrs
import numpy as np

from structperc.basics.arguments import limit as read_limit
from structperc.basics.errors import shortened
from structperc.basics.rows_of_numbers import count_rows, entries_at
from structperc.core.outputs import right_outputs
from structperc.engine.engine import Engine
from structperc.engine.near import Near
from structperc.errors import DataError, OptionError, PluginError
from structperc.estimators.base import declared
from structperc.estimators.held_out import FORGOTTEN, VOVK, HeldOutOptions, numbers_of_share, weighted_quantile
from structperc.estimators.keeping import InnerAnswers, array_of, listed
from structperc.estimators.parameters import NotFitted, Parameters
from structperc.estimators.rankers import cloned_ranker
from structperc.estimators.structure_sets import Judged, StructureSet, measures, right_counts
from structperc.estimators.wrapped import sliceable
from structperc.fitting.option import option, positional_option
from structperc.fitting.options import generator
from structperc.problems.batches import Batch
from structperc.problems.problem import Problem
from structperc.reading.groups import Groups, numbers_of

if TYPE_CHECKING:
    from typing_extensions import Self

FIRM = 0.1              # the width that doubt leaves to an example without any
SCALES = (None, "length", "sqrt-length", "doubt", "margin")


@attrs.frozen(eq=False)
class Measured:
    """Held-out examples: scaled distances of right outputs and of their atoms from the predictions, weights and categories."""

    levels: np.ndarray
    of_atoms: list
    weights: np.ndarray
    categories: list

    def quantiles(self, category, coverage) -> tuple[float, float]:
        """The scaled distances that cover outputs, and atoms, of a category."""
        chosen = [i for i, own in enumerate(self.categories) if own == category]
        weights, atoms = self.weights[chosen], [self.of_atoms[i] for i in chosen]
        shares = [np.full(len(levels), weight / len(levels)) for weight, levels in zip(weights.tolist(), atoms, strict=True)]
        return (weighted_quantile(self.levels[chosen], weights, coverage),
                weighted_quantile(np.concatenate([*atoms, []]), np.concatenate([*shares, []]), coverage))

    def kept(self, weights):
        """The examples that still weigh something, with other weights."""
        chosen = np.flatnonzero(weights >= FORGOTTEN).tolist()
        return Measured(self.levels[chosen], [self.of_atoms[i] for i in chosen], weights[chosen], [self.categories[i] for i in chosen])

    @classmethod
    def joined(cls, parts):
        return cls(np.concatenate([part.levels for part in parts]), [levels for part in parts for levels in part.of_atoms],
                   np.concatenate([part.weights for part in parts]), [one for part in parts for one in part.categories])


@declared
class StructureConformal(HeldOutOptions, InnerAnswers, Parameters):
    """Predicts sets of whole outputs that contain the right one with a probability of at least `coverage`, for any data.

    Some examples are held out. The distance of an example is the score of its prediction minus that of its right output. It is divided by
    the example's scale, and is 0 for a right prediction. The set of a new example has all outputs within a distance. `coverage` of the
    held-out examples and the new one do not exceed this distance. Sets of taggings, trees or matchings may be too large to list. They show
    whether an output belongs to them, and which of its atoms all or some of their outputs have.
    See also `StructureSet` (the set of an example) and `OrdinalConformal` (intervals of ranks).

    Attributes
    ----------
    estimator_ : estimator or Engine
        Trained.
    quantile_ : float, or dict of float with `category`
        The scaled distance within which outputs belong to a set. inf: too few examples are held out for this coverage, so that every set
        has all outputs.
    atom_quantile_ : float, or dict of float with `category`
        The same for sets of atoms.
    n_calibration_ : int
        Held-out examples.

    Notes
    -----
    If held-out and new examples are exchangeable, a set contains the right output with a probability of at least coverage. If distances do
    not tie, it is at most coverage + 1 / (`n_calibration_` + 1). This is an average over draws of both, not a promise for each x. The
    quantile is the ceil((`n_calibration_` + 1) coverage)-th smallest scaled distance. It is 0 if more than `coverage` of the predictions
    are right. A set then has only the outputs of largest score. With the same probability all right atoms are `possible`, and all `certain`
    atoms are right. `atom_quantile_` is chosen by conformal risk control. The expected share of an example's right atoms that are in its
    `atom_set` is at least coverage.

    The cost of an example is one search for the prediction. Atoms need the solver's max-marginals and a search for each atom of the
    prediction. Without max-marginals they need a search for each possible atom and one for all others. An approximate solver changes
    neither the membership nor its coverage, since both compare with the score of its own prediction. Its atoms are bounds; see
    `StructureSet.exact`.

    References
    ----------
    V. Vovk, A. Gammerman and G. Shafer: Algorithmic Learning in a Random World. Springer, 2005.

    A. N. Angelopoulos, S. Bates, A. Fisch, L. Lei and T. Schuster: Conformal risk control. ICLR 2024.

    R. F. Barber, E. J. Candès, A. Ramdas and R. J. Tibshirani: Conformal prediction beyond exchangeability. Annals of Statistics 51, 2023.

    R. Dunn, L. Wasserman and A. Ramdas: Distribution-free prediction sets for two-layer hierarchical models. Journal of the American
    Statistical Association 118, 2023.

    Examples
    --------
    >>> from structperc.estimators import StructureConformal, StructuredEstimator
    >>> X = [[["the"], ["cat"]], [["a"], ["dog"]], [["cat"], ["the"]], [["dog"], ["a"]]] * 10
    >>> y = [["D", "N"], ["D", "N"], ["N", "D"], ["N", "D"]] * 10
    >>> tagger = StructuredEstimator(problem="sequence", random_state=0, epochs=5)
    >>> model = StructureConformal(tagger, coverage=0.8, random_state=0).fit(X, y)
    >>> answer, = model.predict([[["the"], ["fish"]]])
    >>> ["D", "N"] in answer, answer.certain
    (True, ['token 0: D', 'token 1: N'])
    """

    _cited: ClassVar[str] = VOVK

    estimator: object = positional_option(
        kw_only=False, help="what predicts structures",
        about="Any estimator of structperc with an `engine_`, such as `StructuredEstimator(problem=...)`, `SequenceTagger()` or "
              "`DependencyParser()`. For `calibrate` without `fit` a trained one, a trained `Engine`, or a `Problem` with scores from "
              "anywhere: then X is a pair of a `Batch` and its scores.")
    scale: str | Callable | None = option(
        "sqrt-length", "what distances are divided by, of each example",
        about='"length": the number of atoms of its prediction, such as tokens, words or pairs. "sqrt-length": its square root. "doubt": '
              '0.1 - log p(prediction) at the temperature of the model, so that sure predictions have small sets. The solver must find '
              'probabilities. "margin": the same with only the best two outputs. A function of the example '
              "(`structperc.components.Example`) that returns a number above 0. None: 1.")
    folds: int | None = option(
        None, "cross-fitting: `fit` measures every example by a model trained without its fold, and trains the last one on all",
        about="All examples train and calibrate. No coverage is guaranteed, since the measured models are not the last one. "
              "None: `fit` holds `calibration_size` out.")
    category: Callable | None = option(
        None, "a function of the example; the coverage holds within each of its values, from held-out examples of the same value",
        about="A value without held-out examples has sets of all outputs.")
    completions: str = option(
        "all", "of a gold output that is known in part: how many of the outputs that agree with it have to be in the set",
        choices=("all", "any"),
        about='"all" covers the right one whichever it is. "any" is for outputs that are all right, such as lists of relevant documents.')

    def fit(self, X, y=None, sources=None) -> Self:
        """Trains the estimator on some examples and measures the others, or all by cross-fitting.

        Parameters
        ----------
        X : list of examples, array or data frame
            An entry for each example, as the estimator takes it.
        y : sequence
            An output for each example.
        sources : array-like of shape (n_examples,), optional
            Examples of one source, such as a document or a patient, are trained on or held out together. They are exchangeable as a whole:
            the expected share of covered examples of a new source is at least coverage.

        Returns
        -------
        self
            A failed fit leaves it as it was.

        Raises
        ------
        DataError
            Examples cannot be measured, or too few are left to learn from.
        """
        self._check()
        self._refuse_none(X, y)
        X = sliceable(X)
        n = count_rows(X)
        if count_rows(y) != n:
            raise DataError(f"y has {count_rows(y)} outputs but X has {n} examples; give one output per example. Rows that make up "
                            f"examples by lengths or groups are passed as a list of blocks.")
        unit = units(sources, n)
        if self.folds is None:
            train, held, random = self._held_out(n, None if sources is None else unit)
            estimator = self._learned(X, y, train, random)
            return self._take(estimator, self._measured_share(estimator, X, y, held, unit))
        measured, random, names = [], generator(self.random_state), np.unique(unit)
        if self.folds > len(names):
            raise DataError(f"folds={self.folds} cannot be made of {len(names)} examples or sources; give more, or fewer folds.")
        fold = dict(zip(random.permutation(names).tolist(), np.arange(len(names)) % self.folds, strict=True))
        fold = np.array([fold[name] for name in unit.tolist()])
        for k in range(self.folds):
            train, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            part = self._learned(X, y, train, random)
            measured.append(self._measured_share(part, X, y, held, unit))
        return self._take(self._learned(X, y, np.arange(n), random), Measured.joined(measured))

    def calibrate(self, X, y, lengths=None, groups=None, sources=None) -> Self:
        """Measures examples unknown to the estimator, instead of those held out before.

        Parameters
        ----------
        X, y, lengths, groups
            As the engine takes them. X of a `Problem` is a pair of a `Batch` and its scores.
        """
        self._check()
        estimator = vars(self).get("estimator_", self.estimator)
        return self._take(estimator, self._measured(estimator, X, y, lengths, groups, sources))

    def partial_calibrate(self, X, y, lengths=None, groups=None) -> Self:
        """Measures further examples of a stream, in the order of time. Each of them multiplies the weight of earlier ones by `decay`.

        To judge a stream fairly, predict its examples before they are measured. The estimator may go on learning from them afterwards.

        Parameters
        ----------
        X, y, lengths, groups
            As the engine takes them.
        """
        self._check()
        estimator = vars(self).get("estimator_", self.estimator)
        measured = self._measured(estimator, X, y, lengths, groups)
        faded, weights = self._faded(len(measured.levels))
        if "_held" in vars(self):
            measured = Measured.joined([self._held, measured])
            weights = np.concatenate([self._held.weights * faded, weights])
        return self._take(estimator, measured.kept(weights))

    def predict(self, X, lengths=None, groups=None) -> list[StructureSet]:
        """A `StructureSet` for each example.

        Parameters
        ----------
        X, lengths, groups
            As the engine takes them.
        """
        return [self._set(*one) for *one, _ in self._near(self._trained(), X, None, lengths, groups)]

    def evaluate(self, X, y, lengths=None, groups=None, limit=100) -> dict[str, float]:
        """Coverage of sets and of sets of atoms on new examples, and their sizes.

        Parameters
        ----------
        X, y, lengths, groups
            As the engine takes them; examples that are neither trained on nor held out.
        limit : int or None, default 100
            Sets are listed up to so many outputs, larger ones count limit + 1. None: none is listed.

        Returns
        -------
        dict of str to float
            "coverage" and "coverage of atoms", the mean share of an example's right atoms in its `atom_set`. "atoms in a set": the mean
            number of these for each right atom. "certain atoms": which share of the predictions' atoms is certain. "right certain atoms":
            which share of these is right, or nan. With a limit also "median size", "mean size", "single outputs", "right
            single outputs", and "larger than the limit". Single outputs are the share of sets of one output.
        """
        self._refuse_none(X, y)
        trained, limit = self._trained(), read_limit(limit, "limit")
        judged = [Judged.of(self._set(source, near, x), right_counts(near, gold, self.completions), limit)
                  for source, near, x, gold in self._near(trained, X, y, lengths, groups)]
        if not judged:
            raise DataError("X has no examples, so there is nothing to measure.")
        return measures(judged, limit)

    # ---- distances ----

    def _check(self):
        super()._check()
        if not (callable(self.scale) or self.scale in SCALES):
            raise OptionError(f"scale={shortened(self.scale)}; expected one of {', '.join(map(repr, SCALES))}, or a function of the "
                              f"example.")
        if not (self.folds is None or isinstance(self.folds, numbers.Integral) and self.folds > 1):
            raise OptionError(f"folds={shortened(self.folds)}; expected a whole number, at least 2, or None.")
        if not (self.category is None or callable(self.category)):
            raise OptionError(f"category={shortened(self.category)}; expected a function of the example, or None.")
        if self.completions not in ("all", "any"):
            raise OptionError(f"completions={shortened(self.completions)}; expected 'all' or 'any'.")

    def _trained(self) -> Engine | Problem:
        if "estimator_" not in vars(self):
            raise NotFitted(f"This {type(self).__name__} is not calibrated yet; call fit or calibrate first.")
        return scorer_of(self.estimator_)

    def _learned(self, X, y, train, random):
        """A clone of the estimator, trained on some examples."""
        if isinstance(self.estimator, Engine):
            raise OptionError("estimator is an Engine, which fit cannot clone; pass StructuredEstimator(problem=...), or train the engine "
                              "on other examples and call calibrate.")
        if isinstance(self.estimator, Problem):
            raise OptionError("estimator is a Problem, whose scores come from elsewhere, so there is nothing to fit. Call "
                              "calibrate((batch, scores), y) with held-out examples.")
        estimator = cloned_ranker(self.estimator, None, random)
        with numbers_of_share(train, count_rows(X), "y"):
            estimator.fit(entries_at(X, train), entries_at(y, train))
        return estimator

    def _near(self, trained, X, y, lengths, groups):
        """For each example its engine or batch, its scores, itself as it was passed, and its right output, encoded."""
        if isinstance(trained, Problem):
            return near_of_batch(trained, X, y, lengths, groups)
        model, data = trained.model_, Groups(X, None, lengths, groups)
        outputs = model.parts.outputs
        if model.second_stage is not None:
            raise PluginError(f"{type(outputs).__name__} predicts one part of an output after the other, so whole outputs have no scores "
                              f"for a set; {model.second_stage.remedy}.")
        rows = model.read(data.X, data.offsets)
        gold = [None] * rows.n_examples
        if y is not None:
            gold = right_outputs(outputs, data.by_rows(y), rows, model.parts.features)
        nears = model.lock.read(lambda: [Near(model.parts, x, scores, model.temperature) for x, scores in model.scores(rows)])
        alone = X if isinstance(X, (list, tuple)) and len(X) == rows.n_examples else [None] * rows.n_examples
        return zip([trained] * len(nears), nears, alone, gold, strict=True)

    def _measured(self, estimator, X, y, lengths=None, groups=None, sources=None) -> Measured:
        """The scaled distances of examples that the estimator has not seen."""
        self._refuse_none(X, y)
        levels, of_atoms, categories = [], [], []
        for _, near, _, gold in self._near(scorer_of(estimator), X, y, lengths, groups):
            counts, scale = right_counts(near, gold, self.completions), self._scale(near)
            own = near.local_atoms()[counts[near.local_atoms()] > 0] if counts is not None else ()
            levels.append(np.inf if counts is None else near.distance(counts) / scale)
            of_atoms.append(near.distances_of(counts, own) / scale if len(own) else np.array([0.0 if counts is not None else np.inf]))
            categories.append(None if self.category is None else self.category(near.x))
        if not levels:
            raise DataError("X has no examples, so there is nothing to measure.")
        _, unit, size = np.unique(units(sources, len(levels)), return_inverse=True, return_counts=True)
        return Measured(np.array(levels), of_atoms, 1 / size[unit], categories)

    def _measured_share(self, estimator, X, y, share, unit) -> Measured:
        with numbers_of_share(share, len(unit), "y"):
            return self._measured(estimator, entries_at(X, share), entries_at(y, share), sources=unit[share])

    def _set(self, source, near, x) -> StructureSet:
        """The set of one example."""
        quantiles = self._quantiles.get(None if self.category is None else self.category(near.x), (np.inf, np.inf))
        return StructureSet(source, near, x, *(quantile * self._scale(near) for quantile in quantiles), self.completions)

    def _scale(self, near) -> float:
        """The scale that divides the distances of an example. It depends only on the example and the model."""
        if callable(self.scale):
            value = self.scale(near.x)
            if not (isinstance(value, numbers.Real) and 0 < value < np.inf):
                raise DataError(f"scale returned {shortened(value)} for example {near.x.index}; expected a number above 0.")
            return float(value)
        if self.scale is None:
            return 1.0
        if self.scale in ("length", "sqrt-length"):
            return float(near.length() if self.scale == "length" else np.sqrt(near.length()))
        doubt = near.log_share_of_two() if self.scale == "margin" else near.log_share()
        if doubt is None:
            raise OptionError(f"scale='doubt' needs probabilities of outputs, and {type(near.parts.argmax).__name__} finds none; set "
                              f"scale='margin', 'sqrt-length' or 'length'.")
        return FIRM + doubt

    def _take(self, estimator, measured):
        quantiles = {category: measured.quantiles(category, self.coverage) for category in dict.fromkeys(measured.categories)}
        outer, inner = ({category: pair[k] for category, pair in quantiles.items()} for k in (0, 1))
        if self.category is None:
            outer, inner = outer.get(None, np.inf), inner.get(None, np.inf)
        vars(self).update({"estimator_": estimator, "_held": measured, "_quantiles": quantiles, "quantile_": outer,
                           "atom_quantile_": inner, "n_calibration_": len(measured.levels)})
        return self

    def _fitted(self):
        held = vars(self).get("_held")
        return {} if held is None else {"levels": listed(held.levels), "of_atoms": list(map(listed, held.of_atoms)),
                                        "weights": listed(held.weights), "quantiles": listed(self._quantiles[None])}

    def _revive(self, trained, fitted):
        self._check()
        levels, weights = array_of(fitted["levels"], low=0), array_of(fitted["weights"], above=0)
        of_atoms = [array_of(one, low=0) for one in fitted["of_atoms"]]
        outer, inner = array_of(fitted["quantiles"], low=0).tolist()
        if not len(levels) == len(weights) == len(of_atoms) or not all(map(len, of_atoms)):
            raise DataError(f"it has {len(levels)} distances, {len(weights)} weights and atoms of "
                            f"{sum(map(bool, map(len, of_atoms)))} examples")
        self._take(trained, Measured(levels, of_atoms, weights, [None] * len(levels)))
        self.quantile_, self.atom_quantile_ = self._quantiles[None] = outer, inner


def near_of_batch(problem, X, y, lengths, groups):
    """The same of a batch with given scores."""
    if not (isinstance(X, tuple) and len(X) == 2 and isinstance(X[0], Batch)):
        raise DataError(f"X is {shortened(X)}; expected a pair (batch, scores) with a batch of {problem!r}.")
    if lengths is not None or groups is not None:
        raise OptionError("lengths and groups divide the rows of X, but a batch knows its examples; leave them out.")
    batch, scores = X
    batch._refuse_other(problem)
    ones = [batch.take([i]) for i in range(len(batch))]
    return [(one, near, None, gold) for one, (near, gold) in zip(ones, batch._near(scores, y), strict=True)]


def scorer_of(estimator) -> Engine | Problem:
    """The trained engine of an estimator, or itself; a problem, whose scores are given."""
    if isinstance(estimator, (Engine, Problem)):
        return estimator
    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        raise OptionError(f"estimator={shortened(estimator)}; expected an estimator of structperc, a trained "
                          f"Engine, such as engine() of a Chain, or a structperc.Problem.")
    engine = getattr(estimator, "engine_", None)
    if not isinstance(engine, Engine):
        raise NotFitted(f"estimator={shortened(estimator)} has no engine_, so it is not fitted; fit it before calibrate, or call fit "
                         f"here. Estimators of other libraries have none.")
    return engine


def units(sources, n) -> np.ndarray:
    """Which examples belong together: an entry for each."""
    return np.arange(n) if sources is None else numbers_of(sources, n, "sources")
