"""Dependency trees of UD English EWT as trees of phrases, some with a misplaced subtree; the naive tree kernel.

A word becomes a phrase, labelled by its relation to its head (without subtype). The phrase grows around its word, a node labelled by the
part of speech over the form in lower case. First its dependents on the right are joined one by one, from the nearest to the farthest. Then
those on the left are joined. Each join is a node labelled by the part of speech and "+". So "the big dog" is

    (obj (NOUN+ (det (DET the)) (NOUN+ (amod (ADJ big)) (NOUN dog))))

Nothing is left out, punctuation neither. A moved word is among its new siblings in the order of words.
"""

import ctypes
import subprocess
import tempfile
from pathlib import Path

import attrs
import numpy as np
from roof import COMPILER, FLAGS, pointer

from structperc import files
from structperc.files.datasets import locate

SOURCE = Path(__file__).with_name("naive_trees.c")
COLUMNS = ("form", "upos", "head", "deprel")
FEWEST, MOST = 5, 40            # words of the sentences that are used
RIGHT, WRONG = "right", "wrong"


@attrs.frozen
class Parse:
    """A sentence's words, their parts of speech, heads (-1: the root) and relations."""

    forms: tuple
    tags: tuple
    heads: tuple
    relations: tuple

    def __len__(self):
        return len(self.forms)

    def tree(self):
        """The tree of phrases, nested tuples."""
        dependents = [[] for _ in self.forms]
        for word, head in enumerate(self.heads):
            if head >= 0:
                dependents[head].append(word)

        def phrase(word):
            tag = self.tags[word]
            inner, grown = (tag, self.forms[word]), f"{tag}+"
            for other in dependents[word]:
                if other > word:
                    inner = (grown, inner, phrase(other))
            for other in reversed(dependents[word]):
                if other < word:
                    inner = (grown, phrase(other), inner)
            return (self.relations[word], inner)

        return phrase(self.heads.index(-1))


def parses(part, quick=False):
    """The sentences of "train", "dev" or "test" that have 5 to 40 words."""
    path = locate("ud_english_ewt")[("train", "dev", "test").index(part)]
    found = [read(sentence) for sentence in files.read(path, columns=COLUMNS).X if FEWEST <= len(sentence) <= MOST]
    return found[:300] if quick else found


def read(sentence):
    forms, tags, heads, relations = zip(*sentence, strict=True)
    return Parse(tuple(form.lower() for form in forms), tags, tuple(int(head) - 1 for head in heads),
                 tuple(relation.partition(":")[0] for relation in relations))


def with_errors(sentences, seed):
    """Trees and labels: in every second sentence, drawn at random, one subtree hangs at a wrong place."""
    rng = np.random.default_rng(seed)
    trees, labels = [], []
    for parse, wrong in zip(sentences, rng.permutation(len(sentences)) % 2, strict=True):
        moved = misplaced(parse, rng) if wrong else parse
        if moved is not None:
            trees.append(moved.tree())
            labels.append(WRONG if wrong else RIGHT)
    return trees, np.array(labels)


def misplaced(parse, rng):
    """The parse with one word (no punctuation) and all below it moved to its head's head or a sibling. None if impossible."""
    ways = [(word, place) for word in range(len(parse)) for place in places(parse, word)]
    if not ways:
        return None
    word = rng.choice(sorted({word for word, _ in ways}))
    place = rng.choice([place for moved, place in ways if moved == word])
    heads = list(parse.heads)
    heads[word] = int(place)
    return attrs.evolve(parse, heads=tuple(heads))


def places(parse, word):
    """The head's head and the sibling words on both sides."""
    head = parse.heads[word]
    if head < 0 or parse.relations[word] == "punct":
        return []
    siblings = [other for other, its in enumerate(parse.heads) if its == head and other != word and parse.relations[other] != "punct"]
    before, after = [other for other in siblings if other < word], [other for other in siblings if other > word]
    return [place for place in (parse.heads[head], *before[-1:], *after[:1]) if place >= 0]


def productions(tree):
    """A feature string for each node of a tree: its label and the labels below it, words in quotes."""
    found, pending = [], [tree]
    while pending:
        label, *children = pending.pop()
        below = [child for child in children if not isinstance(child, str)]
        found.append(" ".join([label, "->", *(f"'{child}'" if isinstance(child, str) else child[0] for child in children)]))
        pending += below
    return found


class NaiveKernel:
    """All pairs of some trees by the plain recursion, in C."""

    def __init__(self, trees):
        numbers, self.starts = {}, [0]
        production, first, children = [], [], []
        for tree in trees:
            nodes = [tree]
            for node in nodes:                          # grows while it is walked over: a node's children come after it
                below = [child for child in node[1:] if not isinstance(child, str)]
                name = (node[0], *((child,) if isinstance(child, str) else child[0] for child in node[1:]))
                production.append(numbers.setdefault(name, len(numbers)))
                first.append(len(children))
                children += range(self.starts[-1] + len(nodes), self.starts[-1] + len(nodes) + len(below))
                nodes += below
            self.starts.append(self.starts[-1] + len(nodes))
        self.arrays = [np.array(values, dtype=np.intc) for values in (self.starts, production, [*first, len(children)], children)]
        with tempfile.TemporaryDirectory() as folder:
            built = Path(folder, "naive_trees.so")
            subprocess.run([COMPILER, *FLAGS, "-shared", "-fPIC", "-o", built, SOURCE], check=True)
            self.library = ctypes.CDLL(built)

    def values(self, decay):
        n = len(self.starts) - 1
        found = np.zeros((n, n))
        self.library.tree_kernels(ctypes.c_int(n), *map(pointer, self.arrays), ctypes.c_double(decay), pointer(found))
        return found
