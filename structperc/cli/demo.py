"""`structperc demo`: rankers on data of real patients beside baselines, with a picture of what they learn.

scikit-learn brings the data along: ten measurements of 442 people with diabetes, and how far the disease had come a year later.
That number is cut at its quintiles into the levels 1 (mildest) to 5.
"""

from __future__ import annotations

import csv
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import attrs
import numpy as np

from structperc.basics.writing import replace_file
from structperc.callbacks import HeldOutLoss
from structperc.cli.commands import Command, path
from structperc.cli.terminal import say
from structperc.errors import OptionError
from structperc.extras import require
from structperc.metrics import accuracy, mean_absolute_error

SPLITS, EPOCHS, LEVELS = 20, 20, 5
NAMES = ("age", "sex", "body mass index", "blood pressure", "cholesterol", "LDL", "HDL", "cholesterol/HDL", "log triglycerides",
         "blood sugar")
SHOWN_EPOCHS = (1, 2, 5, 10, 20)
EXPLAINED = 4                       # the level of the patient who is explained
SIZE, DOTS_PER_INCH = (11, 7), 120
INK, ACCENT, QUIET = "black", "#0b6e8f", "0.45"


def demo(arguments) -> int:
    """Trains, prints the comparison, and writes the picture and the patients of the first split."""
    folder = Path(arguments.output)
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"--output {arguments.output!r} is a file; name a folder.")
    for module in ("sklearn.datasets", "matplotlib.figure"):
        require(module, "structperc demo", "cli")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OptionError(f"structperc demo cannot write into {str(folder)!r} ({error.strerror}); "
                          f"name another folder: --output FOLDER.") from None
    X, y = patients()
    say(f"{len(y)} patients, {X.shape[1]} measurements, levels 1 to {LEVELS} with {', '.join(map(str, np.bincount(y)[1:]))} patients.")
    errors, curves, first = compare(X, y)
    say(*table_of(errors), *epochs_of(curves))

    picture, train, test = folder / "demo.png", folder / "train.csv", folder / "test.csv"
    row = draw(picture, errors, curves, first)
    write(train, first.X, first.y)
    write(test, first.X_test, first.y_test)
    say("", f"All this as a picture: {picture}", f"Patients of its first split: {train} and {test}", "", "Next:",
        *(f"  {line}" for line in next_steps(folder, row)))
    return 0


# ---- what is measured ----


@attrs.frozen(eq=False)
class Split:
    """A ranker, with two thirds of the patients for training and one third held out. Columns are scaled by the training part."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    ranker: object = None


def patients():
    """Measurements and levels."""
    from sklearn.datasets import load_diabetes

    data = load_diabetes()
    return data.data, np.digitize(data.target, np.quantile(data.target, np.arange(1, LEVELS) / LEVELS)) + 1


def split(X, y, seed) -> Split:
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
    scaler = StandardScaler().fit(X)
    return Split(scaler.transform(X), y, scaler.transform(X_test), y_test)


def methods() -> dict:
    """The compared methods: functions of the seed, by name."""
    from sklearn.dummy import DummyRegressor
    from sklearn.linear_model import LogisticRegression, Perceptron

    from structperc.estimators import CuSumRank, PRank

    return {
        "CuSum Rank": lambda seed: CuSumRank(epochs=EPOCHS, random_state=seed),
        "PRank": lambda seed: PRank(epochs=EPOCHS, random_state=seed),
        "median level": lambda seed: DummyRegressor(strategy="median"),
        "scikit-learn Perceptron": lambda seed: Perceptron(random_state=seed),
        "logistic regression": lambda seed: LogisticRegression(max_iter=1000),
    }


def compare(X, y):
    """Held-out errors of each method by split, those of PRank by epoch, and the first split."""
    from structperc.estimators import PRank

    compared = methods()
    errors, curves, first = {name: [] for name in compared}, {"last weights": [], "averaged weights": []}, None
    for seed in range(SPLITS):
        part = split(X, y, seed)
        for name, make in compared.items():
            model = make(seed).fit(part.X, part.y)
            predicted = model.predict(part.X_test)
            errors[name].append((mean_absolute_error(part.y_test, predicted), accuracy(part.y_test, predicted)))
            if first is None and name == "PRank":
                first = attrs.evolve(part, ranker=model)
        for name, losses in curves.items():
            watch = HeldOutLoss(part.X_test, part.y_test)
            average = name == "averaged weights"
            PRank(average=average, trainer="online", epochs=EPOCHS, random_state=seed, plugins=[watch]).fit(part.X, part.y)
            losses.append(watch.losses)
    means = {name: np.mean(losses, axis=0) for name, losses in curves.items()}
    return {name: np.array(losses) for name, losses in errors.items()}, means, first


# ---- text ----


def table_of(errors) -> list[str]:
    lines = ["", f"On held-out patients, mean and standard deviation over {SPLITS} random splits (a third held out):", "",
             f"{'':24} levels off (MAE)   exactly right"]
    for name, losses in errors.items():
        (off, right), (off_spread, right_spread) = losses.mean(axis=0), losses.std(axis=0, ddof=1)
        lines.append(f"{name:24} {off:6.3f} ± {off_spread:.3f}   {right:7.1%} ± {right_spread:.1%}")
    nearest = min(errors, key=lambda name: errors[name][:, 0].mean())
    rightest = max(errors, key=lambda name: errors[name][:, 1].mean())
    return [*lines, "", f"Fewest levels off: {nearest}. Most often exactly right: {rightest}."]


def epochs_of(curves) -> list[str]:
    head = "".join(f"{epoch:>8}" for epoch in SHOWN_EPOCHS)
    rows = (f"{name:18}" + "".join(f"{curve[epoch - 1]:8.3f}" for epoch in SHOWN_EPOCHS) for name, curve in curves.items())
    return ["", "Levels off of PRank after so many epochs, with the weights as they are then and with their average:", "",
            f"{'epoch':18}{head}", *rows]


def next_steps(folder, row) -> list[str]:
    """Commands to type, which work on what was written."""
    command = called()
    train, test, saved, picture = (shlex.quote(str(folder / name)) for name in ("train.csv", "test.csv", "prank.model", "prank.png"))
    return [f"{command} fit prank {train} --target level --model {saved}",
            f"{command} evaluate {saved} {test}",
            f"{command} explain {saved} {test} --row {row} --target level",
            f"{command} plot {saved} --data {test} --output {picture}",
            f"{command} plugins"]


def called() -> str:
    """How structperc is typed here."""
    beside = Path(sys.executable).with_name("structperc")
    command = shutil.which("structperc")
    if command is not None and beside.exists() and Path(command).samefile(beside):
        return "structperc"
    if not beside.exists():
        return "python -m structperc"
    return shlex.quote(str(beside.relative_to(Path.cwd()) if beside.is_relative_to(Path.cwd()) else beside))


def write(path, X, y) -> None:
    """A CSV file for the other commands."""
    def content(file):
        with_text = csv.writer(Encoded(file), lineterminator="\n")
        with_text.writerow([*NAMES, "level"])
        with_text.writerows([*row, level] for row, level in zip(X.tolist(), y.tolist(), strict=True))

    replace_file(path, content)


class Encoded:
    """A file opened for bytes that takes text."""

    def __init__(self, file):
        self.file = file

    def write(self, text) -> None:
        self.file.write(text.encode())


# ---- the picture ----


def draw(path, errors, curves, first) -> int:
    """Writes the picture. Returns the number of the explained patient's row, from 1."""
    figures = require("matplotlib.figure", "structperc demo", "cli")
    figure = figures.Figure(figsize=SIZE, layout="constrained")
    panels = figure.subplot_mosaic([["errors", "reasons"], ["scores", "reasons"]], width_ratios=[1.25, 1])
    predicted = first.ranker.predict(first.X_test)
    i = int(np.flatnonzero((predicted == first.y_test) & (predicted == EXPLAINED))[0])
    draw_errors(panels["errors"], errors, curves)
    draw_scores(panels["scores"], first, predicted, i)
    draw_reasons(panels["reasons"], first, i)
    replace_file(path, lambda file: figure.savefig(file, format="png", dpi=DOTS_PER_INCH))
    return i + 1


def draw_errors(ax, errors, curves) -> None:
    """Held-out errors by epoch, baselines as lines."""
    epochs = np.arange(1, EPOCHS + 1)
    for name, colour, width, style, marker in (("last weights", QUIET, 1.2, "--", "o"), ("averaged weights", ACCENT, 2.6, "-", None)):
        ax.plot(epochs, curves[name], color=colour, linewidth=width, linestyle=style, marker=marker, markersize=3.5)
        ax.annotate(name, (EPOCHS, curves[name][-1]), xytext=(6, 0), textcoords="offset points", va="center", color=colour,
                    fontweight="bold" if width > 2 else None, annotation_clip=False)
    for name in ("median level", "logistic regression"):
        level = errors[name][:, 0].mean()
        ax.axhline(level, color=INK, linewidth=0.9, linestyle=":")
        ax.annotate(name, (EPOCHS, level), xytext=(6, 0), textcoords="offset points", va="center", annotation_clip=False)
    ax.set_xlim(0.5, EPOCHS)
    ax.set_ylim(0.75, 1.25)
    ax.set_xticks([1, 5, 10, 15, 20])
    ax.set(xlabel="epoch (pass over the training patients)", ylabel="levels off, held-out patients")
    ax.set_title(f"Averaged weights err less (PRank, {SPLITS} splits)", loc="left", fontweight="bold")
    ax.spines[["top", "right"]].set_visible(False)


def draw_scores(ax, first, predicted, i) -> None:
    """Each held-out patient at the score, a row for each true level, between the thresholds."""
    engine, rows = first.ranker.engine_, np.arange(1, LEVELS + 1)
    cuts = np.asarray(engine.thresholds_)
    score = engine.atom_scores(first.X_test)[:, 0] + cuts[0]
    spread = np.random.default_rng(0).uniform(-0.27, 0.27, len(score))
    low, high = score.min(), score.max()
    room = 0.04 * (high - low)
    ends = [low - room, *cuts, high + room]
    for k in rows:
        ax.fill_between(ends[k - 1:k + 1], k - 0.45, k + 0.45, color=ACCENT, alpha=0.16, linewidth=0)
        ax.text((ends[k - 1] + ends[k]) / 2, LEVELS + 0.62, f"says {k}", ha="center", va="bottom")
    ax.vlines(cuts, 0.5, LEVELS + 0.5, color=INK, linewidth=1)
    right = predicted == first.y_test
    place = first.y_test + spread
    ax.plot(score[right], place[right], linestyle="none", marker="o", markersize=4.5, color=ACCENT)
    ax.plot(score[~right], place[~right], linestyle="none", marker="o", markersize=4.5, markerfacecolor="white", markeredgecolor=QUIET)
    ax.annotate("explained", (score[i], place[i]), xytext=(12, -2), textcoords="offset points", va="center", fontweight="bold",
                arrowprops={"arrowstyle": "-", "linewidth": 0.8},
                bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "linewidth": 0.5})
    ax.plot([score[i]], [place[i]], marker="o", markersize=11, markerfacecolor="none", markeredgecolor=INK, markeredgewidth=1.6)
    ax.set(xlim=(ends[0], ends[-1]), ylim=(0.4, LEVELS + 0.6), xlabel="score: a weighted sum of the measurements", ylabel="true level")
    ax.set_yticks(rows)
    ax.text(1, 0.02, f"filled: right, {np.count_nonzero(right)} of {len(right)}", transform=ax.transAxes, ha="right")
    ax.set_title("Thresholds cut a score into levels (held-out patients)", loc="left", fontweight="bold", pad=22)
    ax.spines[["top", "right"]].set_visible(False)


def draw_reasons(ax, first, i) -> None:
    """What speaks for and against the level that one patient is given."""
    explanation = first.ranker.explain(first.X_test[i], against=EXPLAINED - 1).named(NAMES)
    contributions = explanation.contributions[::-1]
    names, values = zip(*(("the mean patient" if c.column < 0 else c.feature, c.value) for c in contributions), strict=True)
    places = np.arange(len(values))
    bars = ax.barh(places, values, height=0.62, color=[ACCENT if value > 0 else "white" for value in values], edgecolor=INK, linewidth=0.8)
    ax.bar_label(bars, [f"{value:+.2f}" for value in values], padding=3)
    ax.set_yticks(places, names)
    ax.tick_params(axis="y", length=0)
    ax.axvline(0, color=INK, linewidth=0.8)
    reach = 1.3 * max(map(abs, values))
    ax.set_xlim(-reach, reach)
    ax.set_xlabel(f"points of the score, {explanation.margin:+.2f} in all")
    for x, side, text in ((0, "left", f"← for level {explanation.runner_up}"), (1, "right", f"for level {explanation.winner} →")):
        ax.text(x, 1.0, text, transform=ax.transAxes, ha=side, va="bottom")
    ax.set_title(f"One patient: why level {explanation.winner}, not {explanation.runner_up}", loc="left", fontweight="bold", pad=22)
    ax.spines[["top", "right", "left"]].set_visible(False)


def demo_arguments(made) -> None:
    made.add_argument("--output", metavar="FOLDER", type=path, default="demo-output", help="for the picture and the data; demo-output")


DEMO = Command(demo, demo_arguments, """\
example:
  structperc demo --output patients     patients/demo.png, and CSV files
""")
