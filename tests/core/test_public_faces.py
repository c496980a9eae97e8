"""Methods of compiled parts that Python calls: wrong sizes, codes and examples raise errors, and the interpreter goes on.

Each call is made in one child process, so a crash fails this test and no other.
"""

import subprocess
import sys

import pytest

SETUP = """
import numpy as np
from structperc import Engine, hookimpl
from structperc.components import *
from structperc.errors import StructPercError
x, wide, blank = Rows(np.ones((1, 1))).example(0), Rows(np.ones((4, 7)), np.array([0, 4])).example(0), Example()
word = Rows(["a"]).example(0)
X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], [1, 2, 3]
ranks = Engine("cusum", epochs=1).fit(X, y)
classes = Engine("multiclass", loss=[[0, 1, 1], [5, 0, 1], [1, 1, 0]], epochs=1).fit(X, y)
costs = Engine("multiclass", loss="costs", epochs=1).fit(X, y, costs=1.0 - np.eye(3))
tagger = Engine("sequence", epochs=1).fit([[["the"], ["cat"]], [["a"]]], [["D", "N"], ["D"]])
trees = Engine("parsing", epochs=1).fit([[("the", "D"), ("cat", "N")]], [[2, 0]])
lists = Engine("latent-ranking", epochs=1).fit([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, 0, 0], lengths=[3])
intervals = Engine("interval-pa", epochs=1).fit(X, [[1, 2], [2, 2], [3, 3]])
of = lambda engine: engine.parts_
def first(engine, X):
    if X and isinstance(X[0], list) and isinstance(X[0][0], list) and engine is lists:
        return engine.model_.example(engine.model_.read(np.array(X[0]), np.array([0, len(X[0])])), 0)
    return engine.model_.example(engine.read(X), 0)
kept = []
class Keeps(Update):
    def step(self, trial):
        kept.append(trial)
        kept.append(trial.x)
        return trial.difference()
Engine("multiclass", update=Keeps(), epochs=1).fit(X, y)
class Mine(ClassOutputs):
    pass
"""
CALLS = [
    "of(classes).loss.value(1, 40)",
    "of(classes).loss.value(10**8, 1)",
    "of(classes).loss.value((1, 2), 1)",
    "of(classes).loss.value((), 1)",
    "of(classes).loss.augment(1, np.zeros(0), 1.0)",
    "of(classes).loss.augment(9, np.zeros(3), 1.0)",
    "of(ranks).loss.augment(1, np.zeros(9), 1.0)",
    "of(costs).loss.value(1, 2)",
    "of(costs).loss.value(1, 2, Rows(np.ones((9, 2))).example(8))",
    "of(costs).loss.augment(1, np.zeros(3), 1.0)",
    "CostLoss([[0, 1], [1, 0]]).value(1, 2)",
    "ExampleCosts().value(1, 2, x)",
    "TokenLoss().value((1,), (1,))",
    "ZeroOneLoss().augment(1, np.zeros(2), 1.0)",
    "LargestArgmax(2000).argmax(np.zeros(1), x)",
    "LargestArgmax(10**8).argmax(np.zeros(1), x)",
    "PrefixArgmax(9).argmax(np.zeros(3), x)",
    "ThresholdArgmax(9).marginals(np.zeros(3), x)",
    "LargestArgmax(3).argmax(np.zeros(3), None)",
    "LargestArgmax(3).argmax(None, x)",
    "LargestArgmax(3).argmax_augmented(np.zeros(3), x, 1, of(classes).loss, 1.0)",
    "of(ranks).argmax.argmax(np.zeros(100), first(ranks, X))",
    "of(classes).argmax.argmax_augmented(np.zeros(3), first(classes, X), 44, of(classes).loss, 1.0)",
    "Argmax().argmax(np.zeros(3), x)",
    "BlockFeatures(10**6, 4).add(np.zeros(1), x, np.ones(10**6))",
    "BlockFeatures(10**7, 4).scores(np.zeros(1), x)",
    "BlockFeatures(1, 100).scores(np.zeros(100), x)",
    "BlockFeatures(1, 1).scores(np.zeros(2), wide)",
    "BlockFeatures(2, 7).scores(np.zeros(16), wide)",
    "RowFeatures(10**7, bounds=(-1, 0)).project(np.zeros(1))",
    "RowFeatures(3).norm(x, np.ones(1))",
    "RowFeatures(3).norm(word, np.ones(1))",
    "RowFeatures(7).inner(wide, 0, wide, 99)",
    "RowFeatures(7).inner(wide, -1, wide, 0)",
    "RowFeatures(7).cell(wide, 4)",
    "RowFeatures(7).cell(wide, -1)",
    "RowFeatures(7).scores(np.zeros(7), blank)",
    "RowFeatures(7).scores(np.zeros(7), None)",
    "RowFeatures(7).n_atoms(blank)",
    "RowFeatures(7).scores(np.zeros(7, dtype='f4'), wide)",
    "RowFeatures(7).vector(x, np.ones(1))",
    "RowFeatures(7).shape(70)",
    "ThresholdFeatures(4, 9).scores(np.zeros(13), x)",
    "ThresholdFeatures(4, 1).constant_gram(wide)",
    "TablePart(3).scores(np.zeros(1), x)",
    "(RowFeatures(1) + TablePart(2)).scores(np.zeros(1), x)",
    "(RowFeatures(1) + TablePart(2)).cell(x, 7)",
    "(RowFeatures(1) + TablePart(2)).add(np.zeros(3), wide, np.ones(6))",
    "RowPart(2, 3).rescaled(np.zeros(6), np.zeros(9), np.ones(9))",
    "VectorFeatures(3).scores(np.zeros(3), x)",
    "of(lists).outputs.agrees((1, 0, 0, 1), (0, 10**9), first(lists, [[[1.0, 0.0], [0.0, 1.0]]]))",
    "of(lists).outputs.count(x, (5,))",
    "of(lists).loss.value((0, 77), (0,), first(lists, [[[1.0, 0.0], [0.0, 1.0]]]))",
    "of(lists).loss.value((0, 1), (0,))",
    "of(lists).outputs.complete((0, 0, 0), np.zeros(1), first(lists, [[[1.0, 0.0]] * 3]))",
    "of(tagger).loss.value((1,), (2,) * 10**6)",
    "of(tagger).loss.value((9, 9), (1, 1))",
    "of(tagger).outputs.count(first(tagger, [[['a']]]), (1,) * 9)",
    "of(tagger).outputs.agrees((1,), (1, 2, 2), first(tagger, [[['a']]]))",
    "of(tagger).outputs.count(None, (1,))",
    "of(tagger).outputs.enumerate(blank)",
    "RowFeatures(7).vector(blank, np.ones(1), True)",
    "of(tagger).outputs.signs(first(tagger, [[['a']]]), (7,))",
    "of(tagger).argmax.argmax(np.zeros(1), first(tagger, [[['a']]]))",
    "of(tagger).argmax.k_best(np.zeros(1), None, 2)",
    "of(tagger).argmax.marginals(np.zeros(1), blank)",
    "of(trees).loss.value((2, 0), (0,), first(trees, [[('the', 'D')]]))",
    "of(trees).outputs.count(first(trees, [[('the', 'D')]]), (9,))",
    "of(trees).argmax.argmax(np.zeros(2), first(trees, [[('the', 'D')]]))",
    "of(trees).loss.augment((5, 5), np.zeros(2), 1.0, first(trees, [[('the', 'D')]]))",
    "of(intervals).loss.value((0, 99), 1)",
    "of(intervals).outputs.signs(first(intervals, X), (2, 99))",
    "of(intervals).outputs.agrees((), 1, first(intervals, X))",
    "RankOutputs().count(x, 1)",
    "ClassOutputs().count(x, 3)",
    "Mine().agrees(1, 2, x)",
    "Outputs().count(None, (1,))",
    "Outputs().count(x, (3,))",
    "Trial().scores",
    "Trial().y",
    "Trial().difference()",
    "Trial().norm(np.ones(2))",
    "Trial().search(1.0)",
    "Trial().inner(0, 0)",
    "Trial().marginals()",
    "kept[0].scores",
    "kept[0].gold",
    "kept[0].difference()",
    "kept[1].rows",
    "kept[1].keys",
    "kept[1].object",
    "kept[1].blank",
    "PerceptronUpdate().step(Trial())",
    "PerceptronUpdate().step(None)",
    "blank.rows",
    "blank.sparse_rows",
    "blank.keys",
    "blank.object",
    "blank.blank",
    "PrimalWeights().scores(x)",
    "PrimalWeights().norm(x, np.ones(1))",
    "PrimalWeights().update(x, np.ones(1))",
    "PrimalWeights().vector()",
    "PrimalWeights().state()",
    "PrimalWeights().snapshot(None)",
    "PrimalWeights().restore({})",
    "PrimalWeights().rescaling(np.zeros(1), np.ones(1))",
    "AdaGradWeights().squares",
    "of(classes).weights.rescaling(np.zeros(9), np.ones(9))",
    "of(classes).weights.rescaling(np.zeros(1), np.ones(1))",
    "RankOutputs().write_cells(1, np.zeros(3))",
    "of(classes).weights.scores(wide)",
    "Rows(['a', 'b']).products(np.ones((1, 0)))",
    "Rows(np.ones((2, 3))).products(np.ones((2, 9)))",
    "Rows(np.ones((2, 3))).products(None)",
    "word.rows",
    "word.sparse_rows",
    "of(classes).outputs.find_labels([1, 2, 3, 4, 5], None), of(classes).outputs.count(first(classes, X), 5)",
]
RUN = """
import sys
for number, call in enumerate(eval(sys.argv[1])):
    print(number, end=" ", flush=True)
    try:
        answer = eval(call)
        print("answered", type(answer).__name__)
    except (StructPercError, TypeError, AttributeError) as error:
        print("raised", type(error).__name__, "|", str(error).replace("\\n", " "))
"""


@pytest.fixture(scope="module")
def outcomes():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", SETUP + RUN, repr(CALLS)], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    culprit = CALLS[len(lines) - 1] if lines else "the set-up"
    assert done.returncode == 0, f"{culprit} ended the interpreter: {done.returncode} {done.stderr[-2000:]}"
    return lines


def test_no_call_is_answered_from_foreign_memory(outcomes):
    assert [(CALLS[i], line) for i, line in enumerate(outcomes) if "raised" not in line] == []


def test_errors_are_sentences(outcomes):
    bare = [(CALLS[i], line) for i, line in enumerate(outcomes) if "raised TypeError" in line or "raised AttributeError" in line]

    assert all("None" in call or "word." in call or "write_cells" in call for call, _ in bare), bare
