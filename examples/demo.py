"""CuSum Rank and PRank on data of real patients, beside three baselines; `make demo` runs this.

scikit-learn brings the data along: ten measurements of 442 people with diabetes, and how far the disease had come a year later.
That number is cut at its quintiles into the levels 1 (mildest) to 5.
"""

import argparse
import csv
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from structperc.estimators import CuSumRank, PRank
from structperc.metrics import accuracy, mean_absolute_error
from structperc.plotting import plot_learning_curve, plot_thresholds

SPLITS = 20
METHODS = {
    "CuSum Rank": lambda seed: CuSumRank(random_state=seed),
    "PRank": lambda seed: PRank(random_state=seed),
    "median rank": lambda seed: DummyRegressor(strategy="median"),
    "scikit-learn Perceptron": lambda seed: Perceptron(random_state=seed),
    "logistic regression": lambda seed: LogisticRegression(max_iter=1000),
}


def split(X, y, seed):
    """Two thirds to learn from and one third held out, features scaled to the mean and spread of the first."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_test), y_test


def compare(X, y):
    """Prints held-out errors, and returns the models of the first split."""
    errors = {name: [] for name in METHODS}
    first = {}
    for seed in range(SPLITS):
        X_train, y_train, X_test, y_test = split(X, y, seed)
        for name, make in METHODS.items():
            model = make(seed).fit(X_train, y_train)
            predicted = model.predict(X_test)
            errors[name].append((mean_absolute_error(y_test, predicted), accuracy(y_test, predicted)))
            first.setdefault(name, model)
    print(f"\nOn held-out patients, mean and standard deviation over {SPLITS} random splits (a third held out):\n")
    print(f"{'':24} levels off (MAE)   exactly right")
    for name, found in errors.items():
        (off, right), (off_spread, right_spread) = np.mean(found, axis=0), np.std(found, axis=0, ddof=1)
        print(f"{name:24} {off:6.3f} ± {off_spread:.3f}   {right:7.1%} ± {right_spread:.1%}")
    means = {name: np.mean(found, axis=0) for name, found in errors.items()}
    nearest, rightest = min(means, key=lambda name: means[name][0]), max(means, key=lambda name: means[name][1])
    print(f"\nFewest levels off: {nearest}. Most often exactly right: {rightest}.")
    return first


def draw(models, X, y, path):
    """Learning curve and thresholds of both rankers."""
    figure = Figure(figsize=(13, 9), layout="constrained")
    for row, model in zip(figure.subplots(2, 2), models, strict=True):
        plot_learning_curve(model.engine_, ax=row[0])
        plot_thresholds(model.engine_, X, y, ax=row[1])
    figure.savefig(path, dpi=120)


def write(path, X, y, names):
    """A CSV file for the command line."""
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([*names, "level"])
        rows.writerows([*row, level] for row, level in zip(X.tolist(), y.tolist(), strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=Path, default=Path("demo-output"), metavar="FOLDER", help="for the picture and the data")
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)

    data = load_diabetes()
    X, y = data.data, np.digitize(data.target, np.quantile(data.target, [0.2, 0.4, 0.6, 0.8])) + 1
    print(f"{len(y)} patients, {X.shape[1]} measurements, levels 1 to 5 with {', '.join(map(str, np.bincount(y)[1:]))} patients.")
    models = compare(X, y)

    X_train, y_train, X_test, y_test = split(X, y, 0)
    rankers = {name: models[name] for name in ("CuSum Rank", "PRank")}
    print(f"\nMistakes on the {len(y_train)} training patients of the first split, epoch by epoch, predicting before each update:\n")
    for name, model in rankers.items():
        left = np.count_nonzero(model.predict(X_train) != y_train)
        print(f"{name:12} {' '.join(map(str, model.mistakes_))}; {left} with the averaged weights")
    print("\nNeighbouring levels overlap, so no epoch is free of mistakes; the averaged weights are the ones that predict.")

    picture, train, test = folder / "demo.png", folder / "train.csv", folder / "test.csv"
    draw(rankers.values(), X_test, y_test, picture)
    write(train, X_train, y_train, data.feature_names)
    write(test, X_test, y_test, data.feature_names)
    command, saved = Path(sys.executable).with_name("structperc"), folder / "cusum.model"
    print(f"""
Learning curves and thresholds of that split: {picture}
Its patients: {train} and {test}

Next:
  {shown(command)} fit cusum {train} --target level --model {saved} --set epochs=20 --set average=true
  {shown(command)} evaluate {saved} {test} --target level
  {shown(command)} plot {saved} --data {test} --target level --output {folder / "cusum.png"}
  {shown(command)} plugins
README.md shows the same in Python, and how to write a part of your own.""")


def shown(path):
    """The path as it is typed here."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


if __name__ == "__main__":
    main()
