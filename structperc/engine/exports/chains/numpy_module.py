"""A Python module for labels in chains, which only needs numpy."""

from __future__ import annotations

import json

from structperc.engine.exports.chains.features import feature_lines
from structperc.engine.exports.text import numbers, table

SOURCE = '''"""{description}; exported by structperc, needs only numpy."""

import json

import numpy as np
from numpy import inf

LABELS = {labels!r}
COLUMNS = {columns!r}
BIAS = np.array([{bias}])
TRANSITIONS = np.array([                # row: the label before, column: the label after; -inf: forbidden
{transitions},
])
START = np.array([{start}])
END = np.array([{end}])
{tokens}

def predict(sentences):
    """The labels of largest score for each sentence, {sentence}; the lowest of equals, from the last token back."""
    return [best_labels(token_scores(sentence)) if len(sentence) else [] for sentence in sentences]


def best_labels(scores):
    """The labels of one sentence, of which these are the scores of tokens and labels."""
    sums, origins = START + scores[0], []
    for token in scores[1:]:
        ways = sums[:, None] + TRANSITIONS
        origins.append(ways.argmax(axis=0))
        sums = ways.max(axis=0) + token
    found = [int((sums + END).argmax())]
    if (sums + END)[found[0]] == -inf:
        raise ValueError("the constraints leave this sentence no labels")
    for origin in reversed(origins):
        found.append(int(origin[found[-1]]))
    return [LABELS[label] for label in reversed(found)]
'''
ROWS = '''WEIGHTS = np.array([
{weights},
])


def token_scores(sentence):
    """The score of every label for each token, shape (n_tokens, {n_labels})."""
    return np.asarray(sentence, dtype=float) @ WEIGHTS.T + BIAS

'''
NAMED = '''WEIGHTS = {{}}                            # of each feature
for name, *entries in json.loads(r\'\'\'[
{features}
]\'\'\'):
    WEIGHTS[name] = np.zeros({n_labels})
    WEIGHTS[name][entries[::2]] = entries[1::2]


def token_scores(sentence):
    """The score of every label for each token, shape (n_tokens, {n_labels})."""
    scores = np.zeros((len(sentence), {n_labels}))
    for t in range(len(sentence)):
        for name, value in features(sentence, t):
            if name in WEIGHTS:
                scores[t] += value * WEIGHTS[name]
    return scores + BIAS

'''
BAGS = '''
def features(sentence, t):
    """The names of a token's features and their values."""
    return named(sentence[t], "") if isinstance(sentence[t], dict) else [(name, 1) for name in sentence[t]]


def named(token, prefix):
    for key, value in token.items():
        name = prefix + key
        if isinstance(value, str):
            yield f"{name}:{value}", 1
        elif isinstance(value, dict):
            yield from named(value, f"{name}:")
        elif isinstance(value, (list, tuple, set, frozenset)):
            yield from ((f"{name}:{one}", 1) for one in value)
        else:
            yield name, float(value)

'''
WINDOWS = '''LINES = json.loads(r\'\'\'{lines}\'\'\')


def features(sentence, t):
    """The names of a token's features, each a line of the template, and their values."""
    for line in LINES:
        yield "".join(piece if isinstance(piece, str) else cell(sentence, t + piece[0], *piece[1:]) for piece in line), 1


def cell(sentence, t, column, spelling=None, letters=0):
    if t < 0:
        return f"_B{{t}}"
    return spelled(sentence[t][column], spelling, letters) if t < len(sentence) else f"_B+{{t - len(sentence) + 1}}"


def spelled(text, spelling, letters):
    """A part of a text, its small letters, its shape, or the text with 0 for each digit."""
    if spelling == "prefix":
        return text[:letters]
    if spelling == "suffix":
        return text[-letters:]
    if spelling == "lower":
        return "".join(one.lower()[0] for one in text)
    if spelling == "digits":
        return "".join("0" if one.isdecimal() else one for one in text)
    if spelling == "shape":
        signs = ["X" if one.isupper() else "x" if one.islower() else "d" if one.isdecimal() else one for one in text]
        return "".join(sign for sign, before in zip(signs, ["", *signs]) if sign != before)
    return text

'''


def written(model, name) -> bytes:
    """The module; parameters as of `structperc.engine.exports`."""
    if model.names is None:
        tokens = ROWS.format(weights=table(model.weights), n_labels=len(model.labels))
        sentence = f"an array (n_tokens, {model.weights.shape[1]})"
    else:
        tokens = NAMED.format(features=quoted(",\n".join(feature_lines(model))), n_labels=len(model.labels))
        tokens += BAGS if model.lines is None else WINDOWS.format(lines=quoted(json.dumps(model.lines)))
        sentence = "a list of tokens, " + ("each a list or dict of features" if model.lines is None
                                           else f"each a tuple of {model.n_columns} strings")
    return SOURCE.format(
        description=model.description, labels=model.labels, columns=model.columns, bias=numbers(model.bias), start=numbers(model.start),
        end=numbers(model.end), transitions=table(model.transitions), tokens=tokens, sentence=sentence).encode()


def quoted(text) -> str:
    """JSON that may stand between three apostrophes of a raw string."""
    return text.replace("'", "\\u0027")
