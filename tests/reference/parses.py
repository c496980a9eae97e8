"""Binary trees over words by CKY in Python: a problem with nested outputs, such as ("S", ("A", "the"), ("A", "dog"))."""

import functools
import itertools

import numpy as np

from structperc import hookimpl
from structperc.components import Argmax, Features, Outputs, Structures

LABELS = ("S", "A")
WORDS = ("the", "a", "dog", "barks")
RULES = list(itertools.product(range(len(LABELS)), repeat=3))           # a label, and the labels of its two parts


@functools.cache
def atoms(n):
    """The numbers of all atoms of n words: (i, i + 1, label) for word i, and (i, k, j, rule) for the parts [i, k) and [k, j)."""
    words = [(i, i + 1, label) for i in range(n) for label in range(len(LABELS))]
    parts = [(i, k, j, rule) for i, k, j in itertools.combinations(range(n + 1), 3) for rule in RULES]
    return {atom: number for number, atom in enumerate([*words, *parts])}


def trees(i, j, label):
    """All trees over the words from i to j with this label, each a list of atoms."""
    if j == i + 1:
        yield [(i, j, label)]
    for k, (top, left, right) in itertools.product(range(i + 1, j), RULES):
        if top == label:
            for one, other in itertools.product(trees(i, k, left), trees(k, j, right)):
                yield [(i, k, j, (top, left, right)), *one, *other]


class Trees(Outputs):
    def encode(self, y, rows):
        return Structures.ragged([self.numbers(tree) for tree in y])

    def numbers(self, tree):
        found = []

        def walk(node, i):
            label = LABELS.index(node[0])
            if len(node) == 2:
                found.append((i, i + 1, label))
                return i + 1
            k = walk(node[1], i)
            j = walk(node[2], k)
            found.append((i, k, j, (label, LABELS.index(node[1][0]), LABELS.index(node[2][0]))))
            return j

        n = walk(tree, 0)
        return sorted(atoms(n)[atom] for atom in found)

    def decode(self, y, x):
        words, numbered = x.object, list(atoms(len(x.object)))
        spans = {(numbered[a][0], numbered[a][-2]): numbered[a] for a in y}

        def node(i, j):
            atom = spans[i, j]
            if len(atom) == 3:
                return LABELS[atom[2]], words[i]
            return LABELS[atom[3][0]], node(i, atom[1]), node(atom[1], j)

        return node(0, len(words))

    def enumerate(self, x):
        n = len(x.object)
        for label in range(len(LABELS)):
            for tree in trees(0, n, label):
                yield tuple(sorted(atoms(n)[atom] for atom in tree))


@functools.cache
def places(words):
    """The weights of each atom."""
    n_lexical, found = len(WORDS) * len(LABELS), []
    for atom in atoms(len(words)):
        label, word = (atom[2] if len(atom) == 3 else atom[3][0]), WORDS.index(words[atom[0]])
        first = len(RULES) + word * len(LABELS) + label
        found.append((first,) if len(atom) == 3 else (RULES.index(atom[3]), first + n_lexical))
    return found


class Productions(Features):
    """A weight for each rule, each label of a word, and each label of a part with its first word."""

    def __init__(self):
        self.shape(len(RULES) + 2 * len(WORDS) * len(LABELS))

    def n_atoms(self, x):
        return len(atoms(len(x.object)))

    def places(self, x):
        return places(tuple(x.object))

    def scores(self, w, x):
        return np.array([sum(w[place] for place in places) for places in self.places(x)])

    def add(self, w, x, c):
        for a in np.flatnonzero(c):
            for place in self.places(x)[a]:
                w[place] += c[a]


class CKY(Argmax):
    def argmax(self, scores, x):
        n, numbers, best = len(x.object), atoms(len(x.object)), {}
        for width in range(1, n + 1):
            for i, label in itertools.product(range(n - width + 1), range(len(LABELS))):
                best[i, i + width, label] = max(self.ways(scores, numbers, best, i, i + width, label), key=lambda way: way[0])
        return sorted(max((best[0, n, label] for label in range(len(LABELS))), key=lambda way: way[0])[1])

    def ways(self, scores, numbers, best, i, j, label):
        if j == i + 1:
            yield scores[numbers[i, j, label]], (numbers[i, j, label],)
        for k, rule in itertools.product(range(i + 1, j), RULES):
            if rule[0] == label:
                a, left, right = numbers[i, k, j, rule], best[i, k, rule[1]], best[k, j, rule[2]]
                yield scores[a] + left[0] + right[0], (a, *left[1], *right[1])


class Parses:
    """The problem as a plugin."""

    name = "parses"

    @hookimpl
    def structperc_outputs(self, context):
        return Trees()

    @hookimpl
    def structperc_features(self, context):
        return Productions()

    @hookimpl
    def structperc_argmax(self, context):
        return CKY()

    def sample(self, random, n_examples):
        return [[str(word) for word in random.choice(WORDS, size=1 + i % 4)] for i in range(n_examples)]
