"""What people get with few words: the command line on raw columns, and probabilities, beside what they would use today."""

import contextlib
import io
import re
import tempfile
import warnings
from pathlib import Path

import job
import mord
import numpy as np
from measuring import table
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from structperc.cli import main
from structperc.estimators import CuSumRank, IntervalPA, PRank
from structperc.metrics import quadratic_weighted_kappa

LEVELS, LEARNED = ["none", "mild", "severe"], 330
COMMANDS = {"defaults": [], "defaults, and what fit advises": None, "20 averaged epochs": ["epochs=20", "shuffle=true", "average=true"],
            "the same, scale=true": ["epochs=20", "shuffle=true", "average=true", "scale=true"]}
LEARNERS = {"LogisticRegression": lambda: LogisticRegression(max_iter=2000), "mord LogisticAT": mord.LogisticAT}
for _name, _make in {"CuSumRank": CuSumRank, "PRank": PRank, "IntervalPA": IntervalPA}.items():
    LEARNERS[_name] = lambda make=_make: make(random_state=0)
    LEARNERS[f"{_name}, calibrate=True"] = lambda make=_make: make(random_state=0, calibrate=True)


def patients():
    """Diabetes in the units of its columns, and how far it went on, in three levels of equal size."""
    data = load_diabetes(as_frame=True, scaled=False)
    return data.data, np.digitize(data.target, np.quantile(data.target, [1 / 3, 2 / 3]))


def command(*arguments):
    """What a command prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        if main(list(map(str, arguments))):
            raise RuntimeError(f"structperc {' '.join(map(str, arguments))} failed")
    return out.getvalue()


def fitted(train, model, options):
    """Trains by the command line; `options` None: with whatever its last lines advise, until they advise no more."""
    given, advised = dict(option.split("=") for option in options or ()), {}
    for _ in range(8):
        flags = [word for name, value in {**given, **advised}.items() for word in ("--set", f"{name}={value}")]
        said = command("fit", "cusum", train, "--target", "level", "--classes", ",".join(LEVELS), "--model", model, *flags)
        further = dict(re.findall(r"--set (\w+)=(\w+)", said.split("next\n")[1]))
        if options is not None or not further:
            return
        advised |= further


def kappas(folder, seeds):
    """Quadratic weighted kappa of patients never seen, by command and by whether the columns were standardised by hand."""
    X, codes = patients()
    found = {f"{name}; {columns}": [] for name in COMMANDS for columns in ("columns as they are", "standardised by hand")}
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(X))
        for columns, rows in (("columns as they are", X), ("standardised by hand", (X - X.mean()) / X.std())):
            data = rows.assign(level=np.array(LEVELS)[codes]).iloc[order]
            data[:LEARNED].to_csv(folder / "train.csv", index=False)
            data[LEARNED:].to_csv(folder / "test.csv", index=False)
            for name, options in COMMANDS.items():
                fitted(folder / "train.csv", folder / "my.model", options)
                said = command("evaluate", folder / "my.model", folder / "test.csv", "--target", "level")
                found[f"{name}; {columns}"].append(float(re.search(r"quadratic weighted kappa\s+(-?[\d.]+)", said)[1]))
    return found


def notebook(seeds):
    """Log loss, mean absolute error and kappa of estimators. Only rivals have a StandardScaler before them."""
    X, codes = patients()
    X, found = X.to_numpy(), {name: [] for name in LEARNERS}
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(X))
        learned, tested = order[:LEARNED], order[LEARNED:]
        scaler = StandardScaler().fit(X[learned])
        for name, make in LEARNERS.items():
            units = X if name.split(",")[0] in ("CuSumRank", "PRank", "IntervalPA") else scaler.transform(X)
            model = make().fit(units[learned], codes[learned])
            p, said = model.predict_proba(units[tested]), model.predict(units[tested])
            loss = -np.log(np.maximum(p[np.arange(len(tested)), codes[tested]], 1e-300)).mean()
            found[name].append([float(loss), float(np.abs(said - codes[tested]).mean()),
                                float(quadratic_weighted_kappa(codes[tested], said, classes=[0, 1, 2]))])
    return found


def measure(quick):
    seeds = 1 if quick else 10
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"kappas": kappas(Path(folder), seeds), "notebook": notebook(seeds)}


def mean(values):
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1) / len(values)**0.5:.3f}" if len(values) > 1 else f"{np.mean(values):.3f}"


def report(raw):
    losses = [[name, *(mean([one[k] for one in results]) for k in range(3))] for name, results in raw["notebook"].items()]
    return "\n\n".join([
        f"- 442 patients of scikit-learn's diabetes, three levels of equal size, {LEARNED} to learn from; random splits. Means and their "
        "standard errors.",
        "## The command line", "`structperc fit cusum` on columns in their own units, and on the same file standardised by hand.",
        table(["options; columns", "quadratic weighted kappa"], [[name, mean(values)] for name, values in raw["kappas"].items()]),
        "## Estimators", "Rivals behind a StandardScaler; structperc's defaults on the columns as they are.",
        table(["learner", "log loss", "mean absolute error", "kappa"], losses)])


def goals(raw):
    """Following the advice leads to a useful model. Probabilities are as good as logistic regression's."""
    kappa = float(np.mean(raw["kappas"]["defaults, and what fit advises; columns as they are"]))
    usual = float(np.mean([one[2] for one in raw["notebook"]["LogisticRegression"]]))
    ours, theirs = (np.array([one[0] for one in raw["notebook"][name]]) for name in ("CuSumRank", "LogisticRegression"))
    return [job.Goal("kappa on raw columns by following the advice of fit", f"≥ {usual - 0.02:.3f} (0.02 below logistic regression's)",
                     f"{kappa:.3f}", kappa >= usual - 0.02),
            job.Goal("log loss of CuSumRank beyond logistic regression's", "≤ 0.010", f"{(ours - theirs).mean():+.3f}",
                     bool((ours - theirs).mean() <= 0.010))]


def draw(raw, folder):
    """None. The table has all figures."""


if __name__ == "__main__":
    job.run("people", "Few words: the command line on raw columns, and probabilities", measure, report, goals, draw)
