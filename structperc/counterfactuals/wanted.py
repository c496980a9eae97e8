"""What a prediction is to become, and which structures of an example are that."""

from __future__ import annotations

import heapq
import itertools

import attrs
import numpy as np

from structperc.basics.errors import DataError, OptionError, PluginError, did_you_mean, shortened
from structperc.basics.labels import codes_of, is_listed, plain_labels
from structperc.core.outputs import LabelOutputs, is_ordered
from structperc.engine.explanation import names_of, structure_of
from structperc.fitting import answers


def as_outputs(value) -> tuple:
    """A collection of outputs."""
    if not is_listed(value):
        raise OptionError(f"one_of={shortened(value)}; expected a list of outputs.")
    return tuple(value)


def as_names(value) -> tuple:
    """One name or several."""
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, (list, tuple, set, frozenset)) else (value,)
    for name in names:
        if not isinstance(name, str):
            raise OptionError(f"Wanted got the atom {shortened(name)}; expected names of atoms as explain shows them, such as '2 with 3'.")
    return names


@attrs.frozen
class Wanted:
    """What the prediction of a counterfactual is: one of some outputs, a range of ranks, or any structure with and without some atoms.

    Parameters
    ----------
    one_of : sequence of outputs, optional
        As `predict` shows them.
    at_least, at_most : label, optional
        The lowest and the highest label, of ordered ones.
    chosen, not_chosen : str or sequence of str
        Atoms that the structure has, and atoms that it lacks, by their names in `explain`. An example is "2 with 3" of a matching.

    Raises
    ------
    OptionError
        When nothing is wanted, or outputs are named in two ways.

    Examples
    --------
    >>> from structperc.counterfactuals import Wanted
    >>> print(Wanted(at_least=4))
    at least 4
    >>> print(Wanted(chosen="2 with 3", not_chosen=["1 with 3"]))
    with '2 with 3', without '1 with 3'
    """

    one_of: tuple | None = attrs.field(default=None, kw_only=True, converter=attrs.converters.optional(as_outputs))
    at_least: object = attrs.field(default=None, kw_only=True)
    at_most: object = attrs.field(default=None, kw_only=True)
    chosen: tuple = attrs.field(default=(), kw_only=True, converter=as_names)
    not_chosen: tuple = attrs.field(default=(), kw_only=True, converter=as_names)

    def __attrs_post_init__(self):
        ways = [self.one_of is not None, self.at_least is not None or self.at_most is not None, bool(self.chosen or self.not_chosen)]
        if sum(ways) != 1:
            raise OptionError("Wanted names outputs in one way: by one_of, by at_least and at_most, or by chosen and not_chosen.")

    def __str__(self):
        if self.one_of is not None:
            return " or ".join(map(shown_output, self.one_of))
        ends = [f"{word} {value}" for word, value in (("at least", self.at_least), ("at most", self.at_most)) if value is not None]
        atoms = [f"{word} {', '.join(map(repr, names))}" for word, names in (("with", self.chosen), ("without", self.not_chosen)) if names]
        return " and ".join(ends) or ", ".join(atoms)


def shown_output(value) -> str:
    """An output as text."""
    if isinstance(value, str):
        return value
    return shortened(plain_labels(np.array([value]))[0] if isinstance(value, np.generic) else value)


class Goal:
    """The wanted structures of one example."""
    # rows: Rows. Only of the prepared example.

    def __init__(self, model, rows, example, wanted):
        self.parts, self.example = model.parts, example
        self.listed = self.must = self.without = None
        outputs = self.parts.outputs
        if wanted.one_of is not None:
            self.listed = [structure_of(model, output, rows, "wanted") for output in wanted.one_of]
        elif wanted.chosen or wanted.not_chosen:
            names = {name: a for a, name in enumerate(names_of(outputs.display(), example))}
            self.must, self.without = (np.array([number(names, name) for name in atoms], dtype=int)
                                       for atoms in (wanted.chosen, wanted.not_chosen))
            if isinstance(outputs, LabelOutputs):
                self.listed = [y for y in range(1, outputs.n_labels + 1) if self.has_atoms(self.counts(y))]
        else:
            self.listed = list(range(*self.ends(wanted)))
        self.keys = None if self.listed is None else {self.counts(y).tobytes() for y in self.listed}

    def ends(self, wanted):
        """The first code and the one behind the last, of a range of ranks."""
        outputs = self.parts.outputs
        if not is_ordered(outputs):
            raise OptionError("at_least and at_most are for ordered labels. The labels of this model have no order; name outputs by "
                              "one_of, or atoms by chosen and not_chosen.")
        labels, codes = plain_labels(outputs.labels), codes_of(outputs.labels, first=1)
        candidates = {None, *codes}
        for label in (wanted.at_least, wanted.at_most):
            try:
                wrong = label not in candidates
            except TypeError:               # a list or the like
                wrong = True
            if wrong:
                raise DataError(f"{shortened(label)} is no label of this model; expected one of {', '.join(map(repr, labels[:10]))}.")
        return codes.get(wanted.at_least, 1), 1 + codes.get(wanted.at_most, len(labels))

    def counts(self, y, example=None) -> np.ndarray:
        """How often y has each atom."""
        return np.asarray(self.parts.outputs.count(self.example if example is None else example, y), dtype=float)

    def has_atoms(self, counts) -> bool:
        return bool((counts[self.must] > 0).all() and (counts[self.without] == 0).all())

    def holds(self, counts) -> bool:
        """Whether the structure of these counts is wanted."""
        return self.has_atoms(counts) if self.keys is None else counts.tobytes() in self.keys

    def ranked(self, scores, deciding):
        """The counts of the wanted structures, by falling score. Of those with the same deciding atoms only the best."""
        # Structures that differ from one in their deciding atoms are divided by the first such atom (Lawler 1972). The argmax finds the
        # best one of each part.
        if self.listed is not None:
            every = [self.counts(y) for y in self.listed]
            yield from sorted(every, key=lambda counts: -(counts @ scores))
            return
        parts, serial = [], itertools.count()

        def add(must, without):
            counts = self.best(scores, must, without)
            if (counts[must] > 0).all() and (counts[without] == 0).all():
                heapq.heappush(parts, (-float(counts @ scores), next(serial), counts, must, without))

        add(self.must, self.without)
        while parts:
            _, _, counts, must, without = heapq.heappop(parts)
            if (counts[deciding] > 1).any() or (counts[must] > 1).any():
                raise PluginError("a structure repeats an atom that decides what is wanted, or changes with x. Name atoms that "
                                  "occur once, such as those of a token.")
            yield counts
            for a in np.setdiff1d(np.flatnonzero((counts > 0) & deciding), must):
                add(must, np.append(without, a))
                must = np.append(must, a)
            others = np.setdiff1d(np.flatnonzero((counts == 0) & deciding), without)
            further = np.zeros(len(scores))
            further[others] = 1
            if not (self.best(further, must, without)[others] > 0).any():
                continue                                    # no structure has more than these
            for a in others:
                add(np.append(must, a), without)
                without = np.append(without, a)

    def best(self, scores, must, without) -> np.ndarray:
        """The counts of the best structure with some atoms and without others, if there is one."""
        outweighs = 1 + 2 * np.abs(scores).sum()
        scores = scores.copy()
        scores[must] += outweighs
        scores[without] -= outweighs
        return self.counts(answers.best(self.parts, scores, self.example))


def number(names, name) -> int:
    """The number of the atom with this name."""
    if name not in names:
        hint = did_you_mean(str(name), list(names))
        raise OptionError(f"{name!r} is no atom of this example; its atoms are {shortened(list(names))}.{hint}")
    return names[name]
