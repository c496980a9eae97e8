"""Sentences for taggers: real ones of two corpora, with the features that systems are compared with, and made-up ones of any size."""

import functools
import re

import attrs
import numpy as np
from scipy import sparse

from structperc.files.datasets import load_conll2000, load_ud_english_ewt


@attrs.frozen
class Tagging:
    """Sentences to learn from and to test with; the last entry of a token is its label.

    Attributes
    ----------
    columns : function from a sentence to the tuples of columns of its tokens
    template : str
        Which columns around a token are its features.
    features : function from a sentence to the lists of feature strings of its tokens
        The features of the template.
    """

    name: str
    train: list
    test: list
    columns: object
    template: str
    features: object

    def tuples(self, part):
        return [self.columns(sentence) for sentence in part]

    def strings(self, part):
        return [self.features(sentence) for sentence in part]


def labels(sentences):
    return [[token[-1] for token in sentence] for sentence in sentences]


def tokens(sentences):
    return sum(map(len, sentences))


def chunking(quick):
    """CoNLL-2000 with crfsuite's template for it."""
    return few(load_conll2000(), quick, columns=words_and_tags, template=CHUNKING_TEMPLATE, features=chunking_features)


def parts_of_speech(quick):
    """UD English EWT with words around a token, and beginnings, ends and shape of the token itself."""
    return few(load_ud_english_ewt(), quick, columns=spellings, template=WORD_TEMPLATE,
               features=lambda sentence: expand(WORD_TEMPLATE, spellings(sentence)))


def few(data, quick, **how):
    return Tagging(data.name, data.train[:500 if quick else None], data.test[:200 if quick else None], **how)


def words_and_tags(sentence):
    return [token[:2] for token in sentence]


CHUNKING_TEMPLATE = "\n".join([
    *(f"U{k + 2:02}:%x[{k},0]" for k in (-2, -1, 0, 1, 2)), "U05:%x[-1,0]/%x[0,0]", "U06:%x[0,0]/%x[1,0]",
    *(f"U{k + 12}:%x[{k},1]" for k in (-2, -1, 0, 1, 2)),
    *(f"U{k + 22}:%x[{k},1]/%x[{k + 1},1]" for k in (-2, -1, 0, 1)),
    *(f"U{k + 32}:%x[{k},1]/%x[{k + 1},1]/%x[{k + 2},1]" for k in (-2, -1, 0)),
    "U40:",
])


def chunking_features(sentence):
    """The 19 strings and the constant that crfsuite's own example makes of a token."""
    w = ["__", "__", *(token[0] for token in sentence), "__", "__"]
    p = ["__", "__", *(token[1] for token in sentence), "__", "__"]
    return [["bias",
             *(f"w[{k}]={w[i + k]}" for k in (-2, -1, 0, 1, 2)),
             f"w[-1]|w[0]={w[i - 1]}|{w[i]}", f"w[0]|w[1]={w[i]}|{w[i + 1]}",
             *(f"p[{k}]={p[i + k]}" for k in (-2, -1, 0, 1, 2)),
             *(f"p[{k}]|p[{k + 1}]={p[i + k]}|{p[i + k + 1]}" for k in (-2, -1, 0, 1)),
             *(f"p[{k}..]={p[i + k]}|{p[i + k + 1]}|{p[i + k + 2]}" for k in (-2, -1, 0))] for i in range(2, len(sentence) + 2)]


def spellings(sentence):
    return [spelling(form) for form, _ in sentence]


@functools.cache
def spelling(form):
    """A word, its lower case, its shape, and one to four letters from either end, _ if all letters."""
    shape = "".join("X" if c.isupper() else "x" if c.islower() else "9" if c.isdigit() else "-" for c in form)
    runs = "".join(c for i, c in enumerate(shape) if shape[i - 1:i] != c)
    lower = form.lower()
    ends = [(lower[:k], lower[-k:]) if k < len(lower) else ("_", "_") for k in (1, 2, 3, 4)]
    return form, lower, runs, *(first for first, _ in ends), *(last for _, last in ends)


WORD_TEMPLATE = "\n".join([
    *(f"U{k + 2:02}:%x[{k},1]" for k in (-2, -1, 0, 1, 2)), "U05:%x[-1,1]/%x[0,1]", "U06:%x[0,1]/%x[1,1]", "U07:%x[0,0]",
    *(f"U{k + 12}:%x[{k},2]" for k in (-1, 0, 1)), *(f"U{column + 20}:%x[0,{column}]" for column in range(3, 11)), "U40:",
])


def expand(template, sentence):
    """What a template makes of tokens of columns, as strings."""
    edges = [f"_B-{i}" for i in (4, 3, 2, 1)], [f"_B+{i}" for i in (1, 2, 3, 4)]
    cells = [[*edges[0], *column, *edges[1]] for column in zip(*sentence, strict=True)]
    lines = []
    for prefix, macros in parsed(template):
        strings = [prefix] * len(sentence)
        for offset, column, text in macros:
            strings = [f"{start}{cell}{text}" for start, cell in zip(strings, cells[column][offset + 4:], strict=False)]
        lines.append(strings)
    return [list(token) for token in zip(*lines, strict=True)]


@functools.cache
def parsed(template):
    """For each line its beginning, and (offset, column, following text) for each macro."""
    found = []
    for line in template.splitlines():
        prefix, *rest = re.split(r"%x\[(-?\d+),(\d+)\]", line)
        macros = [(int(rest[at]), int(rest[at + 1]), rest[at + 2]) for at in range(0, len(rest), 3)]
        found.append((prefix, macros))
    return found


@attrs.frozen(eq=False)
class Numbered:
    """Sentences of feature strings and their labels as numbers: what is left when a dictionary has done its work."""

    names: dict         # of features
    labels: list
    X: sparse.csr_matrix
    offsets: np.ndarray
    codes: np.ndarray   # of labels, from 0

    @classmethod
    def learned(cls, sentences, answers):
        names = {}
        for sentence in sentences:
            for token in sentence:
                for feature in token:
                    names.setdefault(feature, len(names))
        found = sorted({label for sentence in answers for label in sentence})
        return cls.known(names, found, sentences, answers)

    @classmethod
    def known(cls, names, labels, sentences, answers):
        indices, starts = [], [0]
        for sentence in sentences:
            for token in sentence:
                indices += [names[feature] for feature in token if feature in names]
                starts.append(len(indices))
        X = sparse.csr_matrix((np.ones(len(indices)), np.array(indices, np.int32), np.array(starts, np.int32)),
                              shape=(len(starts) - 1, len(names)))
        codes = {label: code for code, label in enumerate(labels)}
        return cls(names, labels, X, np.cumsum([0, *map(len, sentences)]),
                   np.array([codes.get(label, -1) for sentence in answers for label in sentence], np.int32))


def chains(n_tokens, length, n_labels, columns, stored=10, seed=7):
    """Sentences of one length: rows of `stored` ones in random columns, offsets, and a random label for each row."""
    random = np.random.default_rng(seed)
    indices = random.integers(0, columns, (n_tokens, stored), dtype=np.int32)
    starts = np.arange(0, n_tokens * stored + 1, stored, dtype=np.int32)
    X = sparse.csr_matrix((np.ones(n_tokens * stored), indices.ravel(), starts), shape=(n_tokens, columns))
    y = np.concatenate([np.arange(n_labels), random.integers(0, n_labels, n_tokens - n_labels)])
    return X, np.arange(0, n_tokens + 1, length), y
