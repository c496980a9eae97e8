"""
I have vectors for my words. How do I use them in a tagger?
===========================================================

Word embeddings cover words that no labelled sentence has. A token may have names and a vector, ``{"word": "yield", "vector": array}``.
Vectors stay dense beside names, and no big sparse matrix is made. Which words of a manual are code? The manual is Python's own, and its
quotes are the labels. The vectors count the neighbours of each word; you use vectors from a network in the same way. What are vectors
worth, with and without names, if few sentences are labelled?
"""

import re
from collections import Counter
from pydoc_data.topics import topics

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from structperc.estimators import SequenceTagger

# %%
# Sentences of the manual: words in quotes are code, and lose their quotes.


def read(sentence):
    """Words without quotes, and which of them are code."""
    words, labels, inside = [], [], False
    for piece in re.findall(r'["`]|[^\s"`]+', sentence):
        if piece in '"`':
            inside = not inside
        else:
            words.append(piece if inside else piece.strip(".,;:()"))
            labels.append("code" if inside else "text")
    return words, labels


text = " ".join(re.sub(r"\s+", " ", part) for topic in topics.values() for part in topic.split("\n\n") if part[:1].isalpha())
sentences = [read(sentence) for sentence in re.split(r"(?<=[.?!]) (?=[A-Z])", text) if sentence.count('"') % 2 == 0]
sentences = [pair for pair in sentences if 5 <= len(pair[0]) <= 40]
random = np.random.default_rng(0)
order = random.permutation(len(sentences))
X_words, y = zip(*(sentences[i] for i in order), strict=True)

# %%
# Vectors: how much more often than by chance two words stand within two places of each other, in forty dimensions.

counts = Counter(word for words in X_words for word in words)
known = {word: i for i, word in enumerate(word for word, n in counts.items() if n >= 3)}
beside = Counter((known[a], known[b]) for words in X_words for step in (1, 2) for a, b in zip(words, words[step:], strict=False)
                 if a in known and b in known)
pairs, times = np.array(list(beside)), np.array(list(beside.values()), dtype=float)
table = sparse.coo_array((times, pairs.T), shape=(len(known), len(known))).tocsr()
table = (table + table.T).tocoo()
often = np.asarray(table.sum(axis=0)).ravel()
table.data = np.maximum(np.log(table.data * often.sum() / (often[table.coords[0]] * often[table.coords[1]])), 0)
left, strength, _ = svds(table.tocsr(), k=40, v0=np.ones(len(known)))
vectors = left * np.sqrt(strength)
vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9


def tokens(words, names, embedded):
    """Each word as a dict: names of it and its neighbours, vectors of it and its neighbours, or both."""
    around, found = ["", *words, ""], []
    for t, word in enumerate(words):
        token = {"word": word, "ending": word[-3:], "before": around[t], "after": around[t + 2]} if names else {}
        for place, at in (("before", t), ("here", t + 1), ("after", t + 2)) if embedded else ():
            token[f"{place} vector"] = vectors[known[around[at]]] if around[at] in known else np.zeros(40)
        found.append(token)
    return found


# %%
# The vectors are counted from the new sentences too, but not from their labels. The last rival remembers which words were code.

test, sizes, found = slice(-400, None), [10, 30, 100, 300, 800], {}
truth = np.concatenate(y[test]) == "code"
for name, form in {"names": (True, False), "vectors": (False, True), "names and vectors": (True, True)}.items():
    X = [tokens(words, *form) for words in X_words]
    for n in sizes:
        said = np.concatenate(SequenceTagger(random_state=0).fit(X[:n], y[:n]).predict(X[test])) == "code"
        found.setdefault(name, []).append(2 * np.sum(said & truth) / (said.sum() + truth.sum()))
for n in sizes:
    seen = set(np.concatenate(X_words[:n])[np.concatenate(y[:n]) == "code"])
    said = np.array([word in seen for words in X_words[test] for word in words])
    found.setdefault("was code before", []).append(2 * np.sum(said & truth) / (said.sum() + truth.sum()))
print(f"{len(sentences)} sentences, {truth.mean():.1%} of the words are code; F1 of code by labelled sentences:")
for name, scores in found.items():
    print(f"{name:18}", *(f"{n}: {score:.3f}" for n, score in zip(sizes, scores, strict=True)), sep="   ")

# %%
# With few labelled sentences vectors are better than names: they cover words that were never labelled. With many, names catch up.

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for (name, scores), colour, look in zip(found.items(), ("#E69F00", "#56B4E9", "#0072B2", "0.5"), ("s--", "^-.", "o-", "x:"), strict=True):
    ax.plot(sizes, scores, look, color=colour, label=name)
ax.set(xscale="log", xticks=sizes, xticklabels=sizes, ylim=(0, 1), xlabel="labelled sentences", ylabel="F1 of code words in new sentences")
ax.minorticks_off()
ax.legend(title="a word is described by")
plt.show()

# %%
# **What to try next.** Without names, pass one array of vectors for each sentence, without dicts. With ``n_hashed`` you learn new names
# from a stream. The problem ``segments`` accepts the same tokens: :doc:`/docs/guide/sequences`.
