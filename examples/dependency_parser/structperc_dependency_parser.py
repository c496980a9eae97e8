"""Dependency parsing: a structure is a tree over the words and the root, word 0. Atom word * size + head is the arc between these."""

from itertools import product
from math import isqrt

import numpy as np

from structperc import Option, hookimpl
from structperc.components import Argmax, NamedReader, Outputs, RowFeatures, Structures
from structperc.errors import DataError, PluginError


def arc_features(words, tags, head, word):
    """What is known of one arc."""
    pair, apart = f"{tags[head]} {tags[word]}", f"{'left' if head > word else 'right'} {min(abs(head - word), 5)}"
    near_head, near_word = (" ".join([*tags, "", ""][i - 1:i + 2]) if i else tags[0] for i in (head, word))
    plain = [f"pair {pair}", f"head {words[head]}", f"word {words[word]}", f"words {words[head]} {words[word]}",
             f"word of {words[head]} {tags[word]}", f"head of {tags[head]} {words[word]}",
             f"near head {near_head} {tags[word]}", f"near word {tags[head]} {near_word}", f"near {near_head} {near_word}"]
    between = {f"between {pair} {tag}" for tag in tags[min(head, word) + 1:max(head, word)]}
    return [*plain, *(f"{apart} {feature}" for feature in plain), *between, apart]


def arcs(X):
    """Sentences of (form, tag) as sentences of arcs; anything else as it is."""
    if not isinstance(X, list) or not isinstance(X[0], list):
        return X
    sentences = [list(zip(("root", "ROOT"), *sentence, strict=True)) for sentence in X]
    return [[arc_features(words, tags, h, d) if d not in (0, h) else [] for d in range(len(words)) for h in range(len(words))]
            for words, tags in sentences]


class ArcReader(NamedReader):
    """Sentences of (form, tag) to a row per arc; rows of numbers, too, are one per arc."""

    def learn(self, X, offsets=None):
        return super().learn(arcs(X), offsets)

    def read(self, X, offsets=None):
        return super().read(arcs(X), offsets)


class Trees(Outputs):
    """Y(x): the trees over a sentence, given and shown as the head of each word."""

    def encode(self, y, rows):
        for i, (heads, arcs) in enumerate(zip(y, rows.sizes(), strict=True)):
            if len(heads) != isqrt(arcs) - 1 or not all(0 <= head <= len(heads) for head in heads):
                raise DataError(f"y[{i}] is {heads}; expected the head of each of its {isqrt(arcs) - 1} words, a number from 0.")
        return Structures.ragged([[d * (len(heads) + 1) + head for d, head in enumerate(heads, start=1)] for heads in y])

    def decode(self, y, x=None):
        return [a % (len(y) + 1) for a in y]

    def check_structure(self, x, y):
        super().check_structure(x, y)
        if [a // isqrt(x.n_atoms) for a in y] != list(range(1, isqrt(x.n_atoms))) or circle([0, *self.decode(y)]):
            raise PluginError(f"the arcs {y} of example {x.index} are no tree; expected one to each word, in order, and no circle.")

    def enumerate(self, x):
        size = isqrt(x.n_atoms)
        trees = (heads for heads in product(range(size), repeat=size - 1) if not circle([0, *heads]))
        return (tuple(d * size + head for d, head in enumerate(heads, start=1)) for heads in trees)


def circle(heads):
    """Words that head each other in a circle, or none; heads[0] is not looked at."""
    for start in range(1, len(heads)):
        path = [start]
        while path[-1] and heads[path[-1]] not in path:
            path.append(heads[path[-1]])
        if path[-1]:
            return path[path.index(heads[path[-1]]):]
    return []


class ChuLiuEdmonds(Argmax):
    def argmax(self, scores, x):
        size = isqrt(len(scores))
        return np.arange(1, size) * size + best_tree(scores.reshape(size, size) - np.diag(np.full(size, np.inf)))[1:]


def best_tree(scores):
    """The head of each word in the best tree (Chu and Liu 1965, Edmonds 1967). scores[d, h] is that of d headed by h."""
    heads = scores.argmax(axis=1)
    loop = circle(heads)
    if loop:                                                    # becomes one word, the last one
        rest = [word for word in range(len(scores)) if word not in loop]
        into, out = scores[np.ix_(loop, rest)] - scores[loop, heads[loop]][:, None], scores[np.ix_(rest, loop)]
        found = best_tree(np.block([[scores[np.ix_(rest, rest)], out.max(axis=1)[:, None]], [into.max(axis=0), -np.inf]]))
        heads[rest] = [rest[h] if h < len(rest) else loop[out[d].argmax()] for d, h in enumerate(found[:-1])]
        heads[loop[into[:, found[-1]].argmax()]] = rest[found[-1]]
    return heads


class DependencyParser:
    options = {"n_hashed": Option(None, help="columns of hashed features, for streams; None: a vocabulary")}
    name = "dependency-parser"

    @hookimpl
    def structperc_reader(self, context):
        return ArcReader(context.options["n_hashed"])

    @hookimpl
    def structperc_outputs(self, context):
        return Trees()

    @hookimpl
    def structperc_features(self, context):
        return RowFeatures(context.n_features)

    @hookimpl
    def structperc_argmax(self, context):
        return ChuLiuEdmonds()

    def sample(self, random, n_examples):
        return [random.normal(size=(size * size, 3)) for size in random.integers(2, 5, n_examples)]
