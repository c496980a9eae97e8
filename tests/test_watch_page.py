"""Tests of the page "watch a perceptron learn": its steps equal those of the engine, for every problem and update rule."""

import json
import shutil
import subprocess
from functools import cache

import numpy as np
import pytest
from plain import Engine
from scipy.optimize import nnls

from structperc.pages import FOLDER, page

SCRIPTS = ("learning.js", "problems.js")
VISITS, CLOSE = 25, 1e-12
SIZES = (0.05, 1.0)              # values of C
ASK = """
const found = {};
for (const [name, problem] of Object.entries(PROBLEMS)) {
  const runs = problem.rules.flatMap((rule) => (RULES[rule].usesC ? asked.sizes : [1]).map((C) => {
    const learner = new Learner(problem, rule, C), steps = [];
    for (let t = 0; t < asked.visits; t++) {
      const { example, said, loss } = learner.step();
      const scores = [false, true].map((averaged) => problem.examples.map(({ x }) => learner.scores(x, learner.weights(averaged))));
      steps.push({ example, said, loss, scores });
    }
    while (learner.status === "learning" && learner.visits < 600) learner.step();
    return { rule, C, steps, cost: learner.cost, bound: learner.bound, status: learner.status };
  }));
  found[name] = { ...problem, runs };
}
console.log(JSON.stringify(found));
"""


@cache
def told():
    """The results of the page's JavaScript, by problem."""
    if not shutil.which("node"):
        pytest.skip("Node, which runs JavaScript, is not here")
    asked = f"const asked = {json.dumps({'visits': VISITS, 'sizes': SIZES})};\n"
    script = asked + "\n".join(FOLDER.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS) + ASK
    done = subprocess.run(["node", "-"], input=script, capture_output=True, check=True, text=True)
    return json.loads(done.stdout)


def as_engine_takes(problem):
    """The examples and the gold outputs of a problem, one example per call, and the options of the engine."""
    xs, gold = [one["x"] for one in problem["examples"]], [one["gold"] for one in problem["examples"]]
    if problem["engine"] == "prank":
        return [[x] for x in xs], [[y] for y in gold], {"classes": [1, 2, 3, 4]}
    if problem["engine"] == "sequence":
        words = sorted({word for x in xs for word in x})
        return [[np.array([[float(word == known) for known in words] for word in x])] for x in xs], [[y] for y in gold], {
            "classes": problem["labels"], "fit_intercept": False}
    return [[[tuple(token) for token in x]] for x in xs], [[y] for y in gold], {
        "projective": True, "columns": ["form", "tag"], "template": "A:%h[0,tag]/%d[0,tag]", "n_hashed": 4096}


@pytest.mark.parametrize("name", ["ranks", "tags", "tree"])
def test_its_steps_are_the_engines(name):
    problem = told()[name]
    X, y, options = as_engine_takes(problem)
    assert {run["rule"] for run in problem["runs"]} == set(problem["rules"])
    for run in problem["runs"]:
        of_rule = {"C": run["C"]} if run["rule"].endswith(("1", "2")) else {}
        engines = [Engine(problem["engine"], update=run["rule"], average=average, **of_rule, **options) for average in (False, True)]
        for t, step in enumerate(run["steps"]):
            i = t % len(X)
            assert step["example"] == i
            for engine, found in zip(engines, step["scores"], strict=True):
                engine.partial_fit(X[i], y[i], record_predictions=True)
                assert np.array(engine.online_predictions_[-1]).tolist() == step["said"], (run["rule"], run["C"], t)
                theirs = np.concatenate(engine.atom_scores([x for part in X for x in part]), axis=None)
                assert np.abs(np.concatenate(found) - theirs).max() <= CLOSE, (run["rule"], run["C"], t)
        assert engines[0].cumulative_loss_ == sum(step["loss"] for step in run["steps"])


@pytest.mark.parametrize("name", ["ranks", "tags", "tree"])
def test_its_bounds_are_true_and_kept(name):
    problem = told()[name]
    X, y, options = as_engine_takes(problem)
    engine = Engine(problem["engine"], **options)
    for x, gold in zip(X, y, strict=True):
        engine.partial_fit(x, gold)
    R2, rows, least = 0.0, [], []
    model, outputs, features = engine.model_, engine.parts_.outputs, engine.parts_.features
    for x, gold in zip(X, y, strict=True):
        read = model.read(x)
        example = model.example(read, 0)
        right = outputs.encode_answers(gold, read)[0]
        for other in outputs.enumerate(example):
            loss = engine.parts_.loss.value(right, other, example) if other != right else 0
            if loss:
                c = np.subtract(outputs.count(example, right), outputs.count(example, other)).astype(float)
                where, values = features.vector(example, c, sparse=True)
                R2 = max(R2, float(values @ values) / loss)
                rows.append(dict(zip(where.tolist(), values.tolist(), strict=True)))
                least.append(loss)
    assert problem["R2"] == pytest.approx(R2)
    assert problem["u2"] == pytest.approx(shortest(rows, least))
    for run in problem["runs"]:
        assert run["cost"] <= run["bound"]
        assert run["status"] == "converged" or run["rule"].startswith("exact")      # exact rules need not converge


def shortest(rows, least) -> float:
    """||u||^2 of the shortest u with row . u >= least, by least distance programming (Lawson and Hanson 1974, chapter 23)."""
    columns = {j: k for k, j in enumerate(sorted({j for row in rows for j in row}))}
    G = np.zeros((len(rows), len(columns)))
    for i, row in enumerate(rows):
        for j, value in row.items():
            G[i, columns[j]] = value
    E = np.vstack([G.T, least])
    f = np.append(np.zeros(len(columns)), 1.0)
    r = E @ nnls(E, f, maxiter=100 * len(E.T))[0] - f
    u = -r[:-1] / r[-1]
    assert (G @ u >= np.array(least) - 1e-7).all()
    return float(u @ u)


def test_the_command_writes_it_as_one_file_or_opens_it(run, tmp_path, monkeypatch):
    assert run("watch", "--output", tmp_path / "watch.html") == (0, "", "")
    text = tmp_path.joinpath("watch.html").read_text(encoding="utf-8")
    assert text == page("watch.html") and "src=" not in text and "href=" not in text and len(text.encode()) < 100_000
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or len(opened) < 2)
    monkeypatch.setattr("tempfile.mkdtemp", lambda prefix: str(tmp_path))
    assert run("watch") == (0, "", "")
    code, out, _ = run("watch")
    assert code == 0 and "No browser could be opened" in out and opened[1].removeprefix("file://") in out
