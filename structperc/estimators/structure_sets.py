"""The result of `StructureConformal` for one example: all outputs near the prediction, listed, tested, drawn, and atom by atom."""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np

from structperc.basics.arguments import how_many
from structperc.basics.errors import DataError, PluginError, shortened
from structperc.core.outputs import checked_structures, encoded_answers, right_outputs
from structperc.engine.explanation import names_of
from structperc.engine.near import Near
from structperc.pictures.markup import block, details, element, excerpt, table
from structperc.pictures.shapes import COLUMNS
from structperc.problems.batches import Batch

LISTED = 10             # outputs that a notebook lists


class Members(list):
    """Outputs of a set, best first."""
    # scores: float64 array. Of each output.
    # complete: bool. Whether the set has no others.

    def __init__(self, outputs, scores, complete):
        super().__init__(outputs)
        self.scores, self.complete = scores, complete


@attrs.frozen
class Judged:
    """A set beside the right output."""
    # size: int or None. Listed outputs, limit + 1 where there are more.
    # share: float. Of the right atoms, those in the set of atoms.
    # n_set, n_right: int. Atoms in the set of atoms, and right ones.
    # n_predicted, n_certain, n_certain_right: int. Atoms of the prediction, certain ones, and certain ones that are right.

    covered: bool
    size: int | None
    share: float
    n_set: int
    n_right: int
    n_predicted: int
    n_certain: int
    n_certain_right: int

    @classmethod
    def of(cls, answer, counts, limit):
        """`counts`: atoms of the right output, None where the model never has it."""
        near, local_atoms = answer._near, answer._near.local_atoms()
        own = np.zeros(near.x.n_atoms, dtype=bool) if counts is None else counts > 0
        held, certain, n_right = answer._atom_set, answer._atoms.certain, int(own[local_atoms].sum())
        size = None
        if limit is not None:
            members, _, complete = near.members(answer.distance, limit)
            size = len(members) + (not complete)
        return cls(counts is not None and bool(near.within(near.total(counts), answer.distance)), size,
                   float(held[local_atoms][own[local_atoms]].mean()) if n_right else float(counts is not None), int(held.sum()), n_right,
                   int(np.count_nonzero(near.counts[local_atoms])), int(certain.sum()), int((certain & own).sum()))


def measures(judged, limit) -> dict[str, float]:
    """See `StructureConformal.evaluate`."""
    def total(name):
        return sum(getattr(one, name) for one in judged)

    n_certain = total("n_certain")
    values = {"coverage": total("covered") / len(judged), "coverage of atoms": total("share") / len(judged),
             "atoms in a set": total("n_set") / max(total("n_right"), 1), "certain atoms": n_certain / max(total("n_predicted"), 1),
             "right certain atoms": total("n_certain_right") / n_certain if n_certain else float("nan")}
    if limit is not None:
        sizes, right = np.array([one.size for one in judged]), np.array([one.covered for one in judged])
        single = sizes == 1
        values |= {"median size": float(np.median(sizes)), "mean size": float(sizes.mean()), "single outputs": float(single.mean()),
                  "right single outputs": float(right[single].mean()) if single.any() else float("nan"),
                  "larger than the limit": float((sizes > limit).mean())}
    return values


def right_counts(near, gold, completions):
    """The atoms of the right output; None where it is an output that the model never has. `completions`: as of `StructureConformal`."""
    outputs = near.parts.outputs
    try:
        if outputs.is_partial(gold):
            gold = outputs.complete(gold, near.scores if completions == "any" else -near.scores, near.x)
    except PluginError:
        return None
    return counted(near, gold)


def counted(near, y):
    """The atoms of a structure; None where it is an output that the model never has."""
    try:
        return near.counted(y)
    except PluginError:
        return None


def restored_set(engine, rows, scores, given, distance, atom_distance, completions) -> StructureSet:
    """A set that was pickled."""
    model = engine.model_
    near = Near(model.parts, model.example(rows, 0), scores, model.temperature)
    return StructureSet(engine, near, given, distance, atom_distance, completions)


def restored_of_batch(batch, scores, given, distance, atom_distance, completions) -> StructureSet:
    """The same of an example with given scores."""
    (near, _), = batch._near(scores)
    return StructureSet(batch, near, given, distance, atom_distance, completions)


class StructureSet:
    """All outputs of one example whose score is within a distance of the prediction's.

    `y in prediction` scores y once. An output that the problem forbids is in no set. One that is no output at all, for instance of a wrong
    length, raises `DataError`. y may be known in part, as in training: the relevance of each document, or an interval of labels. Then it
    is in the set if all outputs that agree with it are, or one of them with `completions="any"`. Sets of atoms are computed at their first
    use. See also `StructureConformal` (makes the sets).

    Attributes
    ----------
    prediction : object
        As `predict` of the model shows it. It is always in the set.
    distance : float
        By how much scores of the set may be below the prediction's; inf: the set has every output.
    atom_distance : float
        The same of the best output with an atom, for `atom_set`.
    certain, possible : list of str
        The atoms that every output of the set has, and those that some output has, by their names in explanations. Atoms without a place of
        their own, such as transitions between labels, are left out.
    atom_set : list of str
        The atoms of which the best output that has them is within `atom_distance`.
    states : ndarray
        2 of certain, 1 of other possible, 0 of impossible atoms, in the form of `Engine.predict_marginals`.
    exact : bool
        Whether `certain` and `possible` are exact. False, with an approximate solver: some atoms of the set may be missing in `certain`,
        and some of `possible` may be in no output. `certain` has no wrong one and `possible` lacks none.

    Examples
    --------
    >>> from structperc.estimators import SequenceTagger, StructureConformal
    >>> X = [["the", "dog"], ["a", "cat"], ["the", "cat"], ["a", "dog"]]
    >>> X, y = [[[word] for word in sentence] for sentence in X], [["DET", "NOUN"]] * 4
    >>> sets = StructureConformal(SequenceTagger(random_state=0), coverage=0.5, random_state=0).fit(X, y)
    >>> found = sets.predict(X[:1])[0]
    >>> found.prediction, ["DET", "NOUN"] in found
    (['DET', 'NOUN'], True)
    """

    def __init__(self, source, near, x, distance, atom_distance, completions):
        self._source, self._parts, self._near, self._given, self._completions = source, near.parts, near, x, completions
        self.distance, self.atom_distance = distance, atom_distance

    def __reduce__(self):
        """The engine or the batch of the one example; its scores are stored, so that the engine may learn meanwhile."""
        x, stored = self._near.x, (self._near.scores, self._given, self.distance, self.atom_distance, self._completions)
        if isinstance(self._source, Batch):
            return restored_of_batch, (self._source, *stored)
        return restored_set, (self._source, x.source.part(x.index, x.index + 1), *stored)

    @property
    def prediction(self):
        return self._decoded(self._near.prediction)

    def __contains__(self, y):
        x, outputs = self._near.x, self._parts.outputs
        rows = x.source.part(x.index, x.index + 1)
        try:
            code = (encoded_answers(outputs, [y], rows, None) if outputs.partial_gold
                    else right_outputs(outputs, [y], rows, self._parts.features))[0]
        except (DataError, PluginError) as error:       # is it what training takes, such as the relevance of each document?
            counts = self._counts_of_gold(y, rows, error)
        else:
            counts = counted(self._near, code) if outputs.partial_gold else right_counts(self._near, code, self._completions)
        if counts is None:
            return False
        return bool(self._near.within(self._near.total(counts), self.distance))

    def _counts_of_gold(self, y, rows, error):
        """The atoms of an output that is known in part, which is no output as `predict` returns them: `error` is the reason."""
        outputs = self._parts.outputs
        if not outputs.partial_gold:
            raise error
        try:
            gold = checked_structures(outputs, outputs.encode([y], rows), "encode", rows)
        except (DataError, PluginError):
            raise error from None
        return right_counts(self._near, gold[0], self._completions)

    def k_best(self, limit=100) -> Members:
        """The outputs of largest score, best first, at most `limit`. `complete` of the list is True if these are all.
        Returns a list of outputs. With the attribute `complete`.

        Parameters
        ----------
        limit : int, default 100
            Largest number of outputs. Larger values are slower.
        """
        structures, scores, complete = self._near.members(self.distance, how_many(limit, "limit"))
        return Members([self._decoded(y) for y in structures], scores, complete)

    def count(self, limit=100) -> tuple[float, float]:
        """How many outputs the set has: at least, and at most so many.

        Labellings of sentences are counted without a list, however many there are. The outputs of other problems are listed.
        Raises `PluginError` as `k_best`.
        Returns a tuple of two numbers. Equal where the count is exact. (limit + 1, inf) where a list ends before the set does.

        Parameters
        ----------
        limit : int, default 100
            Largest number of listed outputs.
        """
        return self._near.how_many(self.distance, how_many(limit, "limit"))

    @cached_property
    def _atoms(self):
        return self._near.atoms(self.distance)

    @cached_property
    def _atom_set(self):
        return self._near.atoms(self.atom_distance).possible

    @property
    def certain(self):
        return self._named(self._atoms.certain)

    @property
    def possible(self):
        return self._named(self._atoms.possible)

    @property
    def atom_set(self):
        return self._named(self._atom_set)

    @property
    def exact(self):
        return self._atoms.exact

    @property
    def states(self):
        show = self._parts.outputs.display().marginals
        possible, certain = (np.asarray(show(self._near.x, atoms.astype(float))) > 0 for atoms in (self._atoms.possible,
                                                                                                   self._atoms.certain))
        return possible.astype(int) + certain

    def pictures(self) -> list:
        """How the problem draws the set: certain atoms firm, other possible ones pale. Returns a list of structperc.pictures.Picture."""
        states = self._atoms.possible.astype(int) + self._atoms.certain
        return [self._parts.outputs.display().picture_of_set(self._given, self._near.x, states)]

    def text(self, width=COLUMNS) -> str:
        """The set as lines of text; certain atoms in brackets.

        Parameters
        ----------
        width : int, default 78
            Characters in a line.
        """
        return "\n".join([self._title(), *(line for picture in self.pictures() for line in picture.lines(width))])

    def _title(self):
        n_certain, n_possible = (int(np.count_nonzero(atoms)) for atoms in (self._atoms.certain, self._atoms.possible))
        reach = (f"within {self.distance:.4g} of the best score" if self.distance < np.inf
                 else "possible, since too few examples are held out for this coverage")
        return (f"All outputs {reach}: {n_certain} certain atom{'s' * (n_certain != 1)}, {n_possible} possible"
                + ("" if self.exact else ", by an approximate solver"))

    def __repr__(self):
        return f"<StructureSet around {shortened(self.prediction)}>"

    def _repr_html_(self):
        try:
            members = self.k_best(LISTED)
            rows = [(f"{score - self._near.best:+.4g}", excerpt(y)) for score, y in zip(members.scores, members, strict=True)]
            more = [] if members.complete else [element("p", "and others", class_="quiet")]
            how_many = f"the {len(rows)} best" if more else f"all {len(rows)}"
            listed = [details(how_many, table(rows, ("score", "output"), numbers=(0,)), *more)]
        except PluginError:         # there is no list
            listed = []
        return block(element("p", self._title()), *(picture.svg() for picture in self.pictures()), *listed)

    def _decoded(self, y):
        return self._parts.outputs.decode(y, self._near.x)

    def _named(self, atoms):
        names = names_of(self._parts.outputs.display(), self._near.x)
        return [str(names[a]) for a in np.flatnonzero(atoms)]
