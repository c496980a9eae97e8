"""
I use CRFsuite. How do I move, and what changes?
================================================

:func:`structperc.crfsuite.read_crfsuite` reads a model that CRFsuite has trained, with the same tags for the same tokens. After that
you can explain it, train it further, and export it to C or JavaScript. New models train in the same form: lists of dicts of attributes.
The page uses CoNLL-2000 if you have its files, and otherwise the fables that come with structperc. It asks for the phrases of each
sentence (chunking). The rival is CRFsuite itself, by python-crfsuite.
"""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import pycrfsuite

import structperc
from structperc.crfsuite import read_crfsuite
from structperc.errors import MissingData
from structperc.estimators import SequenceTagger
from structperc.files.datasets import load_conll2000, load_fables
from structperc.metrics import phrase_scores

try:
    data = load_conll2000(download=False)
except MissingData:
    data = load_fables()


def attributes(sentence):
    """Attributes as python-crfsuite expects them: a dict for each token."""
    words, tags = (["", *(token[column] for token in sentence), ""] for column in (0, 1))
    return [{"word": words[i], "tag": tags[i], "before": tags[i - 1], "after": tags[i + 1], "tags": f"{tags[i - 1]}|{tags[i]}",
             "previous word": words[i - 1], "next word": words[i + 1]} for i in range(1, len(words) - 1)]


X, y = [attributes(sentence) for sentence in data.train[:2000]], [[token[-1] for token in sentence] for sentence in data.train[:2000]]
X_test, y_test = [attributes(sentence) for sentence in data.test], [[token[-1] for token in sentence] for sentence in data.test]
print(f"{data.name}: {len(X)} sentences to learn from, {len(X_test)} new ones")

# %%
# **Read an old model.** All tags agree.

folder, results = TemporaryDirectory(), {}
for algorithm, options in {"averaged perceptron": ("ap", {"max_iterations": 10}), "L-BFGS": ("lbfgs", {"max_iterations": 50})}.items():
    path = str(Path(folder.name, "chunks.crfsuite"))
    trainer = pycrfsuite.Trainer(algorithm=options[0], params=options[1], verbose=False)
    for sentence, labels in zip(X, y, strict=True):
        trainer.append(sentence, labels)
    begin = time.perf_counter()
    trainer.train(path)
    seconds = time.perf_counter() - begin
    rival = pycrfsuite.Tagger()
    rival.open(path)
    tags = [rival.tag(sentence) for sentence in X_test]
    moved = read_crfsuite(path, random_state=0)
    print(f"{algorithm}: all tags agree: {[list(labels) for labels in moved.predict(X_test)] == tags}")
    results[f"CRFsuite, {algorithm}"] = seconds, phrase_scores(y_test, tags).f1
structperc.explain(moved, X_test[0]).plot()
plt.show()

# %%
# **Train anew.** The names of options differ: ``update="log-loss"`` is the loss of L-BFGS, the default is near the averaged
# perceptron. ``forbidden_transitions`` has no counterpart in CRFsuite.

for name, options in {"the default": {}, "update='log-loss'": {"update": "log-loss"}}.items():
    begin = time.perf_counter()
    tagger = SequenceTagger(forbidden_transitions="iob2", random_state=0, **options).fit(X, y)
    results[f"SequenceTagger, {name}"] = time.perf_counter() - begin, phrase_scores(y_test, tagger.predict(X_test)).f1
for name, (seconds, f1) in results.items():
    print(f"{name:32} F1 {f1:.3f}, trained in {seconds:.2f} s")
folder.cleanup()

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for (name, (seconds, f1)), colour, look in zip(results.items(), ("#D55E00", "#E69F00", "#0072B2", "#56B4E9"), "s^oD", strict=True):
    ax.plot(seconds, f1, look, color=colour, markersize=9, label=name)
ax.set(xscale="log", xlabel="seconds to train, logarithmic (left is better)", ylabel="F1 of phrases in new sentences")
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
plt.show()

# %%
# **What to try next.** ``structperc import-crfsuite chunks.crfsuite -o chunks.model`` moves a file in the terminal.
# :doc:`/docs/guide/export` lists what a model can become, :doc:`/docs/guide/sequences` what else a tagger can do.
