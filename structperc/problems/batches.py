"""A batch of examples with given scores: losses with gradients, best outputs, marginals."""

from __future__ import annotations

from functools import partial

import numpy as np

from structperc.basics.arguments import number_array, whole_number
from structperc.basics.errors import DataError, OptionError, PluginError, shortened
from structperc.basics.signals import map_in_threads
from structperc.core.argmax import has_marginals
from structperc.core.outputs import decode_many, encoded_answers, right_outputs
from structperc.core.structures import Structures
from structperc.engine.near import Near
from structperc.fitting import answers
from structperc.problems import thresholds
from structperc.problems.losses import check_curvature, check_supported, kind_of, parameters_of
from structperc.problems.shared import Scores, first_without_meaning

SMALLEST_CURVATURE = 1e-9       # trees divide by sums of it


class Batch:
    """Examples of a problem, for scores of their atoms that come from anywhere: a network, boosted trees, a program.

    `Problem.batch` makes it. Flat arrays have the atoms of all examples, one behind the other. `offsets` has where each example begins.
    `layout` has which atom is what. Examples in messages are numbered from 0 within the batch.

    Scores may be of any float type, and are solved in float64. They are flat. If all examples have as many atoms, they may also have the
    shape (n_examples, n_atoms).
    -inf forbids an atom; NaN and +inf raise an error. Ties go as in the problem's solver.

    Attributes
    ----------
    offsets : int64 array of shape (n_examples + 1,)
        The atoms of example i are offsets[i]:offsets[i + 1] of the flat scores.
    gold : float64 array of shape (n_atoms,) or None
        How often each atom occurs in the gold outputs. None without y, or if gold outputs are partial.
    layout : list of dict
        For each example the tables of its atoms by name: arrays of positions in the flat scores.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc import Problem
    >>> problem = Problem("sequence", classes=["N", "V"])
    >>> batch = problem.batch(lengths=[2, 1], y=[["N", "V"], ["N"]])
    >>> scores = np.zeros(batch.offsets[-1])
    >>> values, gradient = batch.loss(scores, "log-loss")
    >>> np.exp(-values).round(3).tolist()
    [0.25, 0.5]
    >>> scores[batch.layout[0]["tokens"][1, 0]] = 2.0
    >>> batch.argmax(scores).tolist()
    [['N', 'N'], ['N']]
    """

    def __init__(self, prepared, numbers=None):
        self._prepared = prepared
        self._numbers = np.arange(prepared.rows.n_examples, dtype=np.int64) if numbers is None else numbers
        self._is_whole = numbers is None
        begins = prepared.offsets
        self.offsets = begins if numbers is None else np.append(0, np.cumsum(begins[numbers + 1] - begins[numbers])).astype(np.int64)

    def __len__(self):
        return len(self._numbers)

    def __reduce__(self):
        source, numbers = self._prepared.source, self._numbers
        if source is None:
            raise PluginError("batches inside of layers are not pickled; pickle those of Problem.batch.")
        some = numbers if len(numbers) or source.X is None else np.zeros(1, dtype=np.int64)     # readers need an example
        return made_again, (source.of(some), len(numbers))

    def __repr__(self):
        return f"Batch of {len(self)} examples with {self.offsets[-1]} atoms"

    @property
    def gold(self):
        prepared = self._prepared
        return None if prepared.gold is None or prepared.partial else self._passes(1)[0].counts()

    @property
    def layout(self) -> list:
        tables = []
        for i, x in enumerate(self._examples()):
            at, positions = int(self.offsets[i]), {}
            for name, shape in self._prepared.parts.outputs.atom_tables(x).items():
                size = int(np.prod(shape))
                positions[name] = np.arange(at, at + size).reshape(shape)
                at += size
            if at != self.offsets[i + 1]:
                raise DataError(f"{type(self._prepared.parts.outputs).__name__}.atom_tables names {at - self.offsets[i]} atoms of example "
                                f"{i}, which has {x.n_atoms}.")
            tables.append(positions)
        return tables

    def take(self, indices):
        """Some of the examples, in any order, also more than once. Nothing is read or checked again. Returns `Batch`.
        Raises `DataError` if there is no such example.

        Parameters
        ----------
        indices : int array, mask or slice

        Examples
        --------
        >>> from structperc import Problem
        >>> batch = Problem("multiclass", classes=["a", "b"]).batch(y=["a", "b", "b"])
        >>> len(batch.take([2, 0])), batch.take([2, 0]).gold.tolist()
        (2, [0.0, 1.0, 1.0, 0.0])
        """
        try:
            numbers = self._numbers[indices if isinstance(indices, slice) else self._indices(indices)]
        except (IndexError, TypeError, ValueError):
            raise DataError(f"indices={shortened(indices)}; expected numbers of examples from 0 to {len(self) - 1}, a mask or a slice."
                            ) from None
        return Batch(self._prepared, np.ascontiguousarray(numbers).reshape(-1))

    def _indices(self, indices):
        numbers = np.asarray(indices)
        return numbers.astype(np.int64) if numbers.size == 0 else numbers

    # ---- what training needs ----

    def loss(self, scores, loss="log-loss", *, threads=1, margin=None, width=None, sigma=None, n_draws=None, tolerance=None,
             random_state=None, curvature=False):
        """The loss of each example and its gradient by the scores, and with `curvature` its second derivatives, for boosted trees.

        n_y are the atom counts of an output y, s . n_y is its score, g is the gold output, and L(g, y) the loss of `Problem`.

        - "perceptron": max s . n_y - s . n_g.
        - "hinge": max (s . n_y + margin L(g, y)) - s . n_g. This is margin rescaling, the structured SVM.
        - "log-loss": log of the sum of exp(s . n_y), less s . n_g. This is -log P(g), a conditional random field.
        - "softmax-margin": log of the sum of exp(s . n_y + margin L(g, y)), less s . n_g.
        - "perturbed": the mean of "perceptron" at s + sigma z, over n_draws normal draws z.
        - "sparsemap": max (s . m - m . m / 2) over means m of outputs, less the same of n_g.
        - "spo+": max (2 s + c) . n_y - (2 s + c) . n_g. Scores are minus predicted costs, c are the true costs.
        - "direct": L(g, best output). Its gradient is half the difference of the best outputs for s + width L and s - width L, by width.
        - "logistic": the logistic loss of each atom, right or wrong. Of ranks this is the all-threshold loss.
        - "cumulative-logit": -log P(g) of ranks with P(rank > k) = 1 / (1 + exp(-s_k)). Scores must fall.

        A partial gold output counts as the best output that agrees with it. The gradients of "perceptron", "hinge" and "spo+" are
        subgradients: at a tie that of the solver's choice. Raises `DataError` if a score is NaN or +inf, or -inf forbids a gold output.
        Raises `OptionError` if the loss or a parameter is unknown, y is missing, or the loss has no curvature.
        Raises `PluginError` if the problem cannot have this loss, or not its curvature.

        Parameters
        ----------
        scores : array-like
        loss : str, default "log-loss"
        threads : int, default 1
            No bit depends on it.
        margin : float, optional
            Factor of L, larger than 0. Default 1.
        width : float, optional
            Of "direct": larger is smoother. Default 1.
        sigma : float, optional
            Of "perturbed": larger is smoother. Default 1.
        n_draws : int, optional
            Of "perturbed". Default 10.
        tolerance : float, optional
            Of "sparsemap": the duality gap to reach, relative to the largest score. Default 1e-9.
        random_state : int or numpy.random.Generator, optional
            Of "perturbed". None: other draws in each call.
        curvature : bool, default False
            Whether to return the second derivative by each score too. "logistic" and "cumulative-logit" have one, and of labels also
            "log-loss" and "softmax-margin".

        Returns
        -------
        values : float64 array of shape (n_examples,)
        gradient : float64 array of the shape of the scores
        curvature : float64 array of the shape of the scores
            At least 1e-9, so that Newton steps of trees are finite. Only with `curvature=True`.

        Examples
        --------
        >>> from structperc import Problem
        >>> batch = Problem("cusum", classes=["bad", "fair", "good"]).batch(y=["good"])
        >>> values, gradient = batch.loss([[0.5, -0.25]], "hinge")
        >>> values.tolist(), gradient.tolist()
        ([1.75], [[-1.0, -1.0]])
        >>> values, gradient, curvature = batch.loss([[0.0, 0.0]], "logistic", curvature=True)
        >>> gradient.tolist(), curvature.tolist()
        ([[-0.5, -0.5]], [[0.25, 0.25]])
        """
        if curvature:
            check_curvature(loss, self._prepared.parts)
        make, draws = self._objective(loss, {"margin": margin, "width": width, "sigma": sigma, "n_draws": n_draws, "tolerance": tolerance,
                                             "random_state": random_state})
        passes, (flat, shape) = self._passes(threads), self._read(scores)
        values, gradient = self._solved(passes, Scores(flat), loss, make, draws)
        if curvature:
            second = np.maximum(kind_of(loss).curvature(flat, gradient), SMALLEST_CURVATURE)
            return values, gradient.reshape(shape), second.reshape(shape)
        return values, gradient.reshape(shape)

    def _loss(self, scores, loss, threads, given):
        """The loss of each example for `Scores` of all atoms, and its flat gradient."""
        return self._solved(self._passes(threads), scores, loss, *self._objective(loss, given))

    def _objective(self, loss, given):
        """A function that makes the objective of a thread, and the parameters of draws."""
        kind, parameters = kind_of(loss), parameters_of(loss, given)
        draws = {name: parameters.pop(name) for name in kind.in_draws}
        make = partial(kind.make, **parameters)
        check_supported(self._prepared.parts, loss, make, self._prepared.gold)
        return make, draws

    def _solved(self, passes, scores, loss, make, draws):
        if loss == "perturbed":
            return self._perturbed(passes, self._meant(scores.flat()), make, **draws)
        if loss == "spo+":
            values, gradient = self._losses(passes, Scores(2 * self._meant(scores.flat()) + self._costs()), make)
            gradient *= 2
            return values, gradient
        return self._losses(passes, scores, make)

    def _losses(self, passes, scores, make):
        values, gradient = np.zeros(len(self)), np.empty(self.offsets[-1])
        try:
            self._each(passes, lambda one, first, last: one.losses(first, last, scores, make(), values, gradient))
        except Exception:
            self._meant(scores.flat())
            raise
        return values, gradient

    def _perturbed(self, passes, flat, make, sigma, n_draws, random_state):
        """The mean over draws. Noise is drawn before any thread begins, so that no draw depends on their number."""
        random = np.random.default_rng(random_state)
        values, gradient = np.zeros(len(self)), np.zeros(len(flat))
        for _ in range(n_draws):
            one, slope = self._losses(passes, Scores(flat + sigma * random.standard_normal(len(flat))), make)
            values += one
            gradient += slope
        return values / n_draws, gradient / n_draws

    def thresholds(self, latent, loss="logistic", *, margin=None):
        """The thresholds of ranks with the smallest loss, for one score of each example: the scores latent[:, None] - thresholds.

        Boosted trees and networks with one output fit them again after each step, or once on held-out scores.
        Raises `DataError` if a score is not finite, or there are no examples. Raises `OptionError` if the loss has kinks.
        Raises `PluginError` if the labels have no order.

        Parameters
        ----------
        latent : array-like of shape (n_examples,)
        loss : {"logistic", "log-loss", "softmax-margin", "cumulative-logit"}, default "logistic"
        margin : float, optional
            Of "softmax-margin".

        Returns
        -------
        float64 array of shape (n_ranks - 1,)
            Those of "logistic" and "cumulative-logit" rise. A threshold above or below all gold labels lies far from all scores.

        Examples
        --------
        >>> from structperc import Problem
        >>> batch = Problem("cusum", classes=[1, 2, 3]).batch(y=[1, 2, 1, 3, 2, 3])
        >>> batch.thresholds([0.0, 1.0, 1.0, 2.0, 2.0, 3.0]).round(2).tolist()
        [0.67, 2.33]
        """
        parts = self._prepared.parts
        thresholds.refuse(self, loss, parts)
        array = number_array(latent, "latent")
        if array.shape != (len(self),) or not np.isfinite(array).all():
            raise DataError(f"latent is {shortened(latent)}; expected {len(self)} finite numbers, one score for each example.")
        given = {} if margin is None else {"margin": margin}
        return thresholds.best(self, array.astype(np.float64), loss, parts.outputs.n_atoms, **given)

    # ---- what predictions are ----

    def argmax(self, scores, *, threads=1):
        """The output of largest score for each example. Returns an array of shape (n_examples,). As `Engine.predict` returns them.

        Parameters
        ----------
        scores : array-like
        threads : int, default 1

        Examples
        --------
        >>> from structperc import Problem
        >>> Problem("multiclass", classes=["a", "b"]).batch(lengths=[1]).argmax([[0.0, 1.0]]).tolist()
        ['b']
        """
        structures, _ = self._best(scores, threads)
        prepared = self._prepared
        return decode_many(prepared.parts.outputs, structures, prepared.rows, prepared.parts.features, self._numbers)

    def optimality_gaps(self, scores, *, threads=1):
        """By how much another output may score more than that of `argmax`. Returns a float64 array of shape (n_examples,).

        It is 0 if the solver is exact, and infinity if nothing is known.

        Parameters
        ----------
        scores : array-like
        threads : int, default 1

        Examples
        --------
        >>> from structperc import Problem
        >>> Problem("multiclass", classes=["a", "b"]).batch(lengths=[1]).optimality_gaps([[0.0, 1.0]]).tolist()
        [0.0]
        """
        return self._best(scores, threads)[1]

    def _best(self, scores, threads):
        """The best structures, and bounds on how much better others may be."""
        passes, (flat, _) = self._passes(threads), self._read(scores)
        bounds, forbids = np.zeros(len(self)), flat.min(initial=0) == -np.inf
        pieces = self._each(passes, lambda one, first, last: one.best(first, last, flat, bounds, forbids))
        values = np.concatenate([values for values, _ in pieces]) if pieces else np.zeros(0, dtype=np.intc)
        sizes = np.concatenate([sizes for _, sizes in pieces]) if pieces else np.zeros(0, dtype=np.int64)
        if self._prepared.parts.outputs.n_labels:
            return values, bounds
        return Structures(values, np.append(0, np.cumsum(sizes)).astype(np.int64)), bounds

    def marginals(self, scores, *, threads=1):
        """How often each atom is expected where P(y) is proportional to exp(score of y).
        Returns a float64 array of the shape of the scores.
        Raises `PluginError` if the solver finds no marginals, and there are too many outputs to list.

        Parameters
        ----------
        scores : array-like
        threads : int, default 1

        Examples
        --------
        >>> from structperc import Problem
        >>> Problem("multiclass", classes=["a", "b"]).batch(lengths=[1]).marginals([[0.0, 0.0]]).tolist()
        [[0.5, 0.5]]
        """
        return self._sums(scores, threads)[0]

    def _sums(self, scores, threads):
        """Expected counts in the shape of the scores, and log Z."""
        passes, (flat, shape) = self._passes(threads), self._read(scores)
        expected, log_z, parts = np.zeros(len(flat)), np.zeros(len(self)), self._prepared.parts
        answers.refuse_hidden(parts, "marginals and probabilities")
        if has_marginals(parts.argmax):
            self._each(passes, lambda one, first, last: one.marginals(first, last, flat, expected, log_z))
        else:
            for i, (x, own) in enumerate(zip(self._examples(), self._split(flat), strict=True)):
                expected[self.offsets[i]:self.offsets[i + 1]] = answers.marginals(parts, own, x)
                log_z[i] = answers.log_partition(parts, own, x)
        return expected.reshape(shape), log_z

    def log_probability(self, scores, y, *, threads=1):
        """log P of given outputs, where P is proportional to exp(score). Returns a float64 array of shape (n_examples,).

        Parameters
        ----------
        scores : array-like
        y : sequence
            An output for each example, as `argmax` returns them.
        threads : int, default 1

        Examples
        --------
        >>> from structperc import Problem
        >>> batch = Problem("multiclass", classes=["a", "b"]).batch(lengths=[1])
        >>> batch.log_probability([[0.0, 0.0]], ["b"]).round(3).tolist()
        [-0.693]
        """
        counts, (flat, _) = self.counts(y), self._read(scores)
        log_z = self._sums(scores, threads)[1]
        totals = [answers.totals(n, s) for n, s in zip(self._split(counts), self._split(flat), strict=True)]
        return np.minimum(np.array(totals, dtype=float).reshape(-1) - log_z, 0)

    def counts(self, y):
        """How often each atom occurs in given outputs, such as predictions: their costs are the product with costs of atoms.
        Returns a float64 array of shape (n_atoms,).

        Parameters
        ----------
        y : sequence
            An output for each example, as `argmax` returns them.

        Examples
        --------
        >>> from structperc import Problem
        >>> Problem("cusum", classes=[1, 2, 3]).batch(lengths=[1, 1]).counts([3, 2]).tolist()
        [1.0, 1.0, 1.0, 0.0]
        """
        return self._counted(self._codes(self._prepared.parts, y, encoded_answers))

    def _codes(self, parts, y, encode):
        """The code of the output of each example."""
        rows, outputs, features = self._prepared.rows, parts.outputs, parts.features
        if len(y) != len(self):
            raise DataError(f"y has {len(y)} outputs, but the batch has {len(self)} examples; give one output per example.")
        if self._is_whole:
            structures = encode(outputs, y, rows, features)
            return [structures[i] for i in range(len(self))]
        return [self._code(encode, outputs, y[i], rows.part(int(j), int(j) + 1), features, i) for i, j in enumerate(self._numbers)]

    def _counted(self, codes):
        """How often each atom occurs in these structures, flat."""
        count = self._prepared.parts.outputs.count
        flat = [count(x, code) for x, code in zip(self._examples(), codes, strict=True)]
        return np.concatenate(flat) if flat else np.zeros(0)

    @staticmethod
    def _code(encode, outputs, answer, rows, features, i):
        """The code of one output; its error names the example of the batch."""
        try:
            return encode(outputs, [answer], rows, features)[0]
        except DataError as error:
            raise DataError(f"the output of example {i} of the batch, the only one of y here: {error}") from None

    def k_best(self, scores, k) -> list:
        """The k outputs of largest score for each example, best first.
        Returns a list of list of (output, score). Fewer than k if there are fewer outputs.

        Parameters
        ----------
        scores : array-like
        k : int
            At least 1.

        Examples
        --------
        >>> from structperc import Problem
        >>> Problem("multiclass", classes=["a", "b"]).batch(lengths=[1]).k_best([[0.0, 1.0]], 2)
        [[('b', 1.0), ('a', 0.0)]]
        """
        k = whole_number(k, "k", 1, error=OptionError)
        prepared = self._prepared
        decode = prepared.parts.outputs.decode
        return [[(decode(y, x), score) for y, score in answers.k_best(prepared.parts, own, x, k)]
                for x, own in zip(self._examples(), self._split(self._read(scores)[0]), strict=True)]

    def margins(self, scores):
        """By how much the best output of each example leads the next one; infinity if there is no other.
        Returns a float64 array of shape (n_examples,).

        Parameters
        ----------
        scores : array-like

        Examples
        --------
        >>> from structperc import Problem
        >>> Problem("multiclass", classes=["a", "b"]).batch(lengths=[1]).margins([[0.0, 1.0]]).tolist()
        [1.0]
        """
        return np.array([ranked[0][1] - ranked[1][1] if len(ranked) > 1 else np.inf for ranked in self.k_best(scores, 2)])

    def _near(self, scores, y=None) -> list:
        """Each example with the scores near its best output, and its right output, encoded; None without y."""
        # Its own parts: right outputs that are known in part change them.
        parts, (flat, _) = self._prepared.clone().parts, self._read(scores)
        gold = [None] * len(self) if y is None else self._codes(parts, y, right_outputs)
        return [(Near(parts, x, own), right) for x, own, right in zip(self._examples(), self._split(flat), gold, strict=True)]

    def _refuse_other(self, problem) -> None:
        """Raises an error if another problem has made the batch."""
        own = self._prepared.engine.problem
        if own is not problem.problem and own != problem.problem:
            raise DataError(f"the batch is one of Problem({own!r}); expected one of {problem!r}.")

    # ---- how scores are read, and who looks at which examples ----

    def _read(self, scores):
        """Flat float64 scores, checked, not copied if they are such an array; and their shape."""
        array, n = number_array(scores, "scores"), int(self.offsets[-1])
        if array.shape != (n,):
            equal = len(self) and n % len(self) == 0 and (np.diff(self.offsets) == n // len(self)).all()
            if not (equal and array.shape == (len(self), n // len(self))):
                other = f", or ({len(self)}, {n // len(self)})" if equal else ""
                raise DataError(f"scores have the shape {array.shape}; expected ({n},){other}, a score for each atom of {len(self)} "
                                f"examples. `offsets` of the batch has where each example begins.")
        return self._meant(np.ascontiguousarray(array, dtype=np.float64).reshape(-1)), array.shape

    def _meant(self, flat):
        """Flat scores, checked."""
        place = first_without_meaning(flat)
        if place >= 0:
            i = int(np.searchsorted(self.offsets, place, side="right")) - 1
            raise DataError(f"atom {place - self.offsets[i]} of example {i} has the score {flat[place]}, number {place} of the flat array. "
                            f"Expected a number, or -inf for an atom that no output may have.")
        return flat

    def _costs(self):
        """The true costs of all atoms of the batch, flat."""
        costs = self._prepared.costs
        if costs is None:
            raise OptionError("loss='spo+' compares predicted with true costs, but this batch has none; give costs to Problem.batch.")
        flat = np.zeros(int(self.offsets[-1]))
        for i, number in enumerate(self._numbers):
            own = number_array(costs[number], f"costs[{number}]")
            if own.shape != (self.offsets[i + 1] - self.offsets[i],) or not np.isfinite(own).all():
                raise DataError(f"costs[{number}] is {shortened(costs[number])}; expected {self.offsets[i + 1] - self.offsets[i]} finite "
                                f"numbers, the cost of each atom.")
            flat[self.offsets[i]:self.offsets[i + 1]] = own
        return flat

    def _examples(self):
        return (self._prepared.example(int(number)) for number in self._numbers)

    def _split(self, flat) -> list:
        """The part of each example, a copy."""
        return [flat[start:stop].copy() for start, stop in zip(self.offsets[:-1], self.offsets[1:], strict=True)]

    def _passes(self, threads) -> list:
        threads = whole_number(threads, "threads", 1, error=OptionError)
        return self._prepared.passes(self.offsets, self._numbers, min(threads, max(len(self), 1)))

    def _each(self, passes, function) -> list:
        """The results of a function of each thread's passes, its first example and the one after its last."""
        if len(passes) == 1:
            return [function(passes[0], 0, len(self))] if len(self) else []
        cuts = np.searchsorted(self.offsets, np.linspace(0, self.offsets[-1], len(passes) + 1)[1:-1])
        cuts = np.unique([0, *cuts, len(self)]).tolist()
        pieces = list(zip(passes, cuts[:-1], cuts[1:], strict=False))
        if len(pieces) < 2:
            return [function(*piece) for piece in pieces]
        return map_in_threads(lambda piece: function(*piece), pieces, len(pieces))


def made_again(source, n_examples):
    """The batch of what a pickle holds."""
    batch = source.batch()
    return batch if len(batch) == n_examples else batch.take(slice(n_examples))


__all__ = ["Batch"]
