"""
My outputs are none of these. How do I add my own problem?
==========================================================

A reviewer picks the three best of twelve comments, with different authors (top-k under a rule, structured output). No problem of
structperc has this output, so this page writes one: three hooks and a solver of a few lines. The training loop, averages, explanations,
model files and the command line then work with it. The comments are synthetic. The rival scores each comment by a logistic regression
and ignores the rule while it learns.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from structperc import Engine, Option, hookimpl
from structperc.components import Argmax, Outputs, RowFeatures
from structperc.testing import check_problem


def pick(scores, authors, size):
    """The best comments in order, but at most one of each author; at a tie the earlier comment."""
    chosen = []
    for row in np.argsort(-scores, kind="stable"):
        if len(chosen) < size and authors[row] not in {authors[other] for other in chosen}:
            chosen.append(int(row))
    return tuple(chosen)


# %%
# **The problem.** The outputs are tuples of row numbers, and the atoms are rows. The first column of a row is its author.

class PickedRows(Outputs):
    """Sets of rows with different authors."""

    def __init__(self, size):
        self.size = size

    def enumerate(self, x):
        """All sets, for tests, explanations and the k best."""
        sets = {()}
        for _ in range(min(self.size, len(set(x.rows[:, 0])))):
            sets = {tuple(sorted((*rows, row))) for rows in sets for row in range(x.n_rows)
                    if x.rows[row, 0] not in {x.rows[other, 0] for other in rows}}
        return sorted(sets)


class Picker(Argmax):
    def __init__(self, size):
        self.size = size

    def argmax(self, scores, x):
        return pick(scores, x.rows[:, 0], self.size)


class Comments:
    name = "comments"
    options = {"size": Option(3, help="how many comments to pick")}
    recommended = {"scale": False}                              # authors are numbers, not amounts

    @hookimpl
    def structperc_outputs(self, context):
        return PickedRows(context.options["size"])

    @hookimpl
    def structperc_features(self, context):
        return RowFeatures(context.n_features)

    @hookimpl
    def structperc_argmax(self, context):
        return Picker(context.options["size"])

    def sample(self, random, n_examples):
        return [np.column_stack([random.integers(0, 3, n), random.normal(size=(n, 2))]) for n in random.integers(1, 6, n_examples)]


report = check_problem(Comments())                              # draws examples, and compares everything with enumeration
print(f"{sum(result == 'passed' for _, result in report)} checks passed")

# %%
# **The data.** Reviewers pick by a hidden score, and some noise. With few examples the own problem is ahead. With many, marks of single
# comments teach as much. The rule itself matters more where one comment excludes many others.

random = np.random.default_rng(0)
X = [np.column_stack([random.integers(0, 5, 12), random.normal(size=(12, 4))]) for _ in range(260)]
y = [pick(x[:, 1:] @ [2, -1, 0.5, 0] + 0.7 * random.normal(size=12), x[:, 0], 3) for x in X]
sizes, test = [10, 20, 40, 80, 160], slice(160, 260)
right = {"logistic regression, then the rule": [], "own problem": []}
for n in sizes:
    engine = Engine(Comments(), epochs=20, average=True, random_state=0).fit(X[:n], y[:n])
    marks = np.concatenate([np.isin(range(12), rows) for rows in y[:n]])
    logistic = LogisticRegression().fit(np.concatenate(X[:n])[:, 1:], marks)
    predicted = [pick(logistic.decision_function(x[:, 1:]), x[:, 0], 3) for x in X[test]], engine.predict(X[test])
    for rows, answers in zip(right.values(), predicted, strict=True):
        rows.append(np.mean([len(set(a) & set(b)) / 3 for a, b in zip(answers, y[test], strict=True)]))
for name, rows in right.items():
    print(f"{name:36}", *(f"{n}: {share:.3f}" for n, share in zip(sizes, rows, strict=True)))

figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for (name, rows), colour, look in zip(right.items(), ("#D55E00", "#0072B2"), "so", strict=True):
    ax.plot(sizes, rows, look, linestyle="-", color=colour, label=name)
ax.set(xscale="log", xticks=sizes, xticklabels=sizes, xlabel="training examples", ylabel="picked comments that are right")
ax.legend()
plt.show()

# %%
# **The package.** One command writes a package around a problem that works. Replace the problem, install it with pip, and its name
# works in scripts and in the terminal.

with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.executable, "-m", "structperc", "new", "comments", folder], check=True, stdout=subprocess.DEVNULL)
    print(*sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*") if path.is_file()), sep="\n")

# %%
# **What to try next.** :doc:`/docs/replace-a-part` has losses, update rules and feature maps of your own, and solvers in Cython.
