"""Output layers for ordered labels on one small network: cusum units with each loss, softmax, CORAL, CORN, proportional odds.

    python benchmarks/ordinal_heads.py [--partitions 20] [--bins 10]

All heads have the same body and the same starts. Step size and epochs are chosen on partition 1's training rows, from the same values.
Thresholds start at the frequencies of the labels, and have a larger step size. It needs torch.
"""

import argparse
import functools
import itertools
import time

import job
import numpy as np
import torch
from measuring import single_thread, table

from structperc.files.datasets import PARTITIONED, load_partitions
from structperc.torch import CusumHead

WIDTH, BATCH = 64, 64
RATES, EPOCHS = (0.003, 0.01), (30, 100)
N_HELD_OUT = 1                  # fifths of partition 1 by which settings are chosen
OF_THRESHOLDS = 10.0            # by which factor the step size of thresholds is larger
BESIDE = "softmax, argmax"
JUDGED = "cusum, hinge of absolute errors, argmax", "cusum, all thresholds, argmax"
WITHIN = 1.02                   # of the best head, for the goals


# ---- heads: a module, its loss, and how scores become levels from 0 ----


class Plain(torch.nn.Linear):
    """A linear layer whose parameters have one step size."""

    def parameter_groups(self, rate):
        return [{"params": list(self.parameters()), "lr": rate}]


class Coral(torch.nn.Module):
    """One direction with free biases, started at the log odds of P(y > k)."""

    def __init__(self, n_features, counts):
        super().__init__()
        above = 1 - (counts + 0.5).cumsum(0)[:-1] / (counts + 0.5).sum()
        self.linear, self.biases = torch.nn.Linear(n_features, 1, bias=False), torch.nn.Parameter(above.log() - (1 - above).log())

    def forward(self, x):
        return self.linear(x) + self.biases

    def parameter_groups(self, rate):
        return [{"params": list(self.linear.parameters()), "lr": rate}, {"params": [self.biases], "lr": OF_THRESHOLDS * rate}]


def cusum(directions, loss):
    def made(n_features, counts):
        head = CusumHead(n_features, len(counts), directions)
        if directions == "shared":
            head.start_thresholds(counts)
        return head, lambda s, y: head.loss_of(s, y, loss)
    return made


def softmax(n_features, counts):
    return Plain(n_features, len(counts)), lambda s, y: torch.nn.functional.cross_entropy(s, y, reduction="none")


def above_of(s, y):
    """Whether the level is above k, for each unit."""
    return (y[:, None] > torch.arange(s.shape[1])).to(s.dtype)


def coral(n_features, counts):
    return Coral(n_features, counts), lambda s, y: torch.nn.functional.binary_cross_entropy_with_logits(
        s, above_of(s, y), reduction="none").sum(1)


def corn(n_features, counts):
    """Units of P(y > k | y > k - 1): only rows above k - 1 teach unit k."""
    def loss(s, y):
        taught = (y[:, None] >= torch.arange(s.shape[1])).to(s.dtype)
        return (torch.nn.functional.binary_cross_entropy_with_logits(s, above_of(s, y), reduction="none") * taught).sum(1)
    return Plain(n_features, len(counts) - 1), loss


def largest(s):
    return s.argmax(1)


def largest_sum(s):
    return torch.nn.functional.pad(s, (1, 0)).cumsum(1).argmax(1)


def median_of(s):
    """The median of a softmax."""
    return (s.softmax(1).cumsum(1)[:, :-1] < 0.5).sum(1)


def count(s):
    return (s > 0).sum(1)


def product(s):
    return (s.sigmoid().cumprod(1) > 0.5).sum(1)


HEADS = {
    "softmax": (softmax, {"argmax": largest, "median": median_of}),
    "cusum, log loss": (cusum("own", "log-loss"), {"argmax": largest_sum, "median": lambda s: median_of(
        torch.nn.functional.pad(s, (1, 0)).cumsum(1))}),
    "cusum, hinge of absolute errors": (cusum("own", "hinge"), {"argmax": largest_sum}),
    "cusum, all thresholds": (cusum("own", "logistic"), {"argmax": largest_sum}),
    "one direction, all thresholds": (cusum("shared", "logistic"), {"argmax": largest_sum}),
    "one direction, hinge of absolute errors": (cusum("shared", "hinge"), {"argmax": largest_sum}),
    "proportional odds": (cusum("shared", "cumulative-logit"), {"count": count}),
    "CORAL": (coral, {"count": count}),
    "CORN": (corn, {"product": product}),
}
COLUMNS = [f"{head}, {rule}" for head, (_, rules) in HEADS.items() for rule in rules]


# ---- fits ----


def fitted(head, X, y, n_levels, rate, epochs, seed):
    """The scores of a trained network, as a function of rows."""
    torch.manual_seed(seed)
    counts = torch.bincount(y, minlength=n_levels).float()
    body = torch.nn.Sequential(torch.nn.Linear(X.shape[1], WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU())
    module, loss = HEADS[head][0](WIDTH, counts)
    optimizer = torch.optim.Adam([{"params": list(body.parameters()), "lr": rate}, *module.parameter_groups(rate)])
    for _ in range(epochs):
        for rows in torch.randperm(len(X)).split(BATCH):
            value = loss(module(body(X[rows])), y[rows]).mean()
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
    return lambda rows: module(body(rows)).detach()


def errors(head, train, test, n_levels, rate, epochs, seed):
    """The mean absolute error by each way to decide."""
    scores = fitted(head, *train, n_levels, rate, epochs, seed)(test[0])
    return {rule: float((decide(scores) - test[1]).abs().float().mean()) for rule, decide in HEADS[head][1].items()}


def rows_of(X, *others):
    """Columns with mean 0 and variance 1 in X, as tensors."""
    centre, deviation = X.mean(axis=0), X.std(axis=0)
    deviation[deviation == 0] = 1
    return [torch.tensor((one - centre) / deviation, dtype=torch.float32) for one in (X, *others)]


def chosen_settings(head, X, y, n_levels):
    """The step size and epochs of least error on a held-out fifth, for the best rule."""
    found = {}
    for seed in range(N_HELD_OUT):
        order = np.random.default_rng(seed).permutation(len(y))
        held, kept = np.split(order, [max(len(y) // 5, 1)])
        train, test = rows_of(X[kept], X[held])
        for rate, epochs in itertools.product(RATES, EPOCHS):
            error = errors(head, (train, torch.tensor(y[kept])), (test, torch.tensor(y[held])), n_levels, rate, epochs, seed)
            found.setdefault((rate, epochs), []).append(min(error.values()))
    return min(found, key=lambda setting: np.mean(found[setting]))


def measure(quick, n_partitions, bins):
    names = ("diabetes", "pyrimidines") if quick else tuple(PARTITIONED)
    raw = {"partitions": n_partitions, "bins": bins, "errors": {name: {column: [] for column in COLUMNS} for name in names},
           "settings": {name: {} for name in names}, "cpu": dict.fromkeys(HEADS, 0.0)}
    for name in names:
        parts = load_partitions(name, bins)[:n_partitions]
        for head in HEADS:
            began = time.process_time()
            setting = chosen_settings(head, parts[0].X, np.asarray(parts[0].y) - 1, bins)
            raw["settings"][name][head] = setting
            for seed, part in enumerate(parts):
                X, X_test = rows_of(part.X, part.X_test)
                found = errors(head, (X, torch.tensor(np.asarray(part.y) - 1)), (X_test, torch.tensor(np.asarray(part.y_test) - 1)), bins,
                               *setting, seed)
                for rule, error in found.items():
                    raw["errors"][name][f"{head}, {rule}"].append(error)
            raw["cpu"][head] += time.process_time() - began
        print(name, {column: round(float(np.mean(own)), 3) for column, own in raw["errors"][name].items()}, flush=True)
    return raw


# ---- what is shown ----


def beside(raw, column):
    """The geometric mean over sets of ratios of errors to those of softmax by argmax, and its standard error."""
    logs = [np.log(np.mean(own[column]) / np.mean(own[BESIDE])) for own in raw["errors"].values()]
    return float(np.exp(np.mean(logs))), float(np.std(logs, ddof=1) / np.sqrt(len(logs)))


def report(raw):
    names = list(raw["errors"])
    rows = [[column, *(f"{np.mean(raw['errors'][name][column]):.3f}" for name in names),
             "{:.3f} ({:.3f})".format(*beside(raw, column))] for column in COLUMNS]
    deviation = ["standard error, median of heads", *(f"{np.median([standard_error(own) for own in raw['errors'][name].values()]):.3f}"
                                                     for name in names), ""]
    return "\n\n".join([
        f"Mean absolute errors on {len(names)} sets of {raw['bins']} levels of equal length, means of {raw['partitions']} partitions. One "
        f"network of two hidden layers of {WIDTH}, Adam, mini-batches of {BATCH}. Step size ({', '.join(map(str, RATES))}) and epochs "
        f"({', '.join(map(str, EPOCHS))}) are chosen for each head and set on held-out training rows of partition 1. Thresholds start at "
        f"the labels' frequencies, with {OF_THRESHOLDS:g} times the step size. The last column is the geometric mean of ratios to softmax "
        f"by argmax, with its standard error over sets.",
        table(["head and decision", *names, "beside softmax by argmax"], [*rows, deviation]),
        table(["head", "CPU seconds of all fits"], [[head, f"{seconds:.0f}"] for head, seconds in raw["cpu"].items()])])


def standard_error(values):
    return np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan


def goals(raw):
    found = {column: beside(raw, column)[0] for column in COLUMNS}
    best = min(found.values())
    return [*(job.Goal(f"{column}: errors beside {BESIDE}", "≤ 1", f"{found[column]:.3f}", found[column] <= 1) for column in JUDGED),
            *(job.Goal(f"{column}: errors beside the best head", f"≤ {WITHIN}", f"{found[column] / best:.3f}",
                       found[column] <= WITHIN * best) for column in JUDGED)]


def draw(raw, folder):
    """None. The table has all figures."""


if __name__ == "__main__":
    single_thread()
    parser = argparse.ArgumentParser(description="Output layers for ordered labels")
    parser.add_argument("--partitions", type=int, default=20, help="how many of the 20")
    parser.add_argument("--bins", type=int, default=10, choices=(5, 10))
    options = job.options(parser)
    torch.set_num_threads(1)
    job.carry_out(options, "ordinal_heads", "Output layers for ordered labels",
                  functools.partial(measure, options.quick, options.partitions, options.bins), report, goals, draw)
