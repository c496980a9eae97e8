"""Goals that records miss, and goals that others have replaced: `python benchmarks/missed.py` writes them to docs/performance.md."""

import json
import re
from pathlib import Path

import attrs
from measuring import table

RESULTS = Path(__file__).with_name("results")
PAGE = Path(__file__).parents[1] / "docs/performance.md"
SECTION = re.compile(r"(?<=^## Goals that are missed\n\n).*?(?=^## (?!Goals)|\Z)", re.MULTILINE | re.DOTALL)
MORE_FOLDS = "A default fit trains five more folds, for probabilities. At 20,000 rows it is faster than both."
REASONS = {         # why, by the name of the record and how the goal begins; the longest of these counts
    "arborescences:": "By less than a tenth, at one length. On that day access to memory was slower.",
    "clustering:": "On names and places the difference is within the range over the halves. With names only, early weights make "
                   "nearly random scores, for which no exact search is run.",
    "defaults: `cusum`": "wisconsin has 194 rows of 32 columns: the error is 0.03 above the median's, by less than a standard error.",
    "defaults: `prank`": "`prank` has one direction for all ranks, as OrderedModel and LogisticAT have, which miss the same three sets.",
    "doors: predict_proba of": "By 4 %. Logarithms come first, so each score takes two exponentials. No small probability becomes 0.",
    "doors: predict_proba, five": "Each boundary takes two exponentials, so that no small probability becomes 0. mord takes one, and "
                                  "the difference.",
    "doors: CuSumRank.fit": MORE_FOLDS,
    "doors: PRank.fit": MORE_FOLDS,
    "doors: Engine: partial_fit": "With columns on one scale, each row changes the scale.",
    "doors: CuSumRank: partial_fit": "With columns on one scale, each row changes the scale. The estimator adds its checks of labels.",
    "doors: pickle": "Options and parts are written by name, as in a model file, so that a later version can read them.",
    "doors: unpickle": "Loading checks the whole model and starts its parts.",
    "doors: structperc predict": "The command imports the readers of tables and all that the model needs.",
    "epoch:": "By 3 %, at one size. The time of a round varies by more.",
    "kernels:": "A value of the RBF kernel takes an exponential beside its dot product. The bits are the same on every machine.",
    "large_margin:": "Single fits of less than a second at 5,000 rows, whose times vary by as much. At 20,000 rows all goals are met.",
    "layers:": "PyTorch itself takes a part of the time: an empty autograd function has a row. The rest is Python between the call and the "
              "solver: gold is checked, tensors become float64 and back.",
    "mixing:": "On CoNLL-2000 each of two shards makes more mistakes than serial training, and a mistake costs a step. "
              "The time of a round between processes varies by a quarter from run to run.",
    "mixing_quality:": "A mixture of four shards learns more slowly from these sentences.",
    "log_loss:": "By less than a tenth of a point of F1.",
    "ordinal_heads:": "No head is best on all sets. The difference of means is below two standard errors over sets.",
    "ordinal_columns:": "On three of six sets, by less than a standard error.",
    "peers:": "Rows in random order wait for memory, whose time differs from machine to machine and from day to day.",
    "people:": "By less than 0.001, and the standard error is 0.015.",
    "rare_classes:": "At the same weight both predict the rare label less often than logistic regression. Their error of all ranks is "
                    "smaller.",
    "reproduce-kernel:": "One process ran it on one core, beside other programs. Two processes take half as long.",
    "segments:": "Features of whole segments add little by themselves. With the loss by segments too, the goal is exceeded.",
    "sentence_encoder:": "Vectors are longer than names, and have the same step size. Neither their length nor the step was tuned.",
    "stream: one-row": "A call of 2 microseconds makes objects for rows and labels, and copies the row for the sums of columns.",
    "stream: nanoseconds": "An argmax in Python is called for each example.",
    "streams: speed, Arrow": "Columns of Arrow must become rows, which takes longer than training.",
    "streams: speed, Parquet": "Parquet must be decoded, and its columns must become rows. This takes longer than training.",
    "updates:": "AdaGrad reads and writes the sum of squares of each weight beside the weight, and takes its root.",
}


@attrs.frozen
class Replaced:
    """Goals of a record that asked for what no user would, and the goal in their place: the same figures, with another limit.

    `was` is what they wanted, `goal` what is wanted now; `pattern` matches their names from the start.
    """

    record: str
    pattern: str
    was: str
    sign: str
    limit: float
    goal: str
    why: str

    def has(self, goal):
        return re.match(self.pattern, goal["what"]) is not None

    def worst(self, goals):
        """The figure that is farthest from the goal; ranges in brackets do not count."""
        found = " ".join(re.sub(r"\(.*?\)", "", goal["found"]) for goal in goals)
        figures = [float(figure) for figure in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", found)]
        return max(figures) if self.sign == "≤" else min(figures)

    def met(self, goals):
        return self.worst(goals) <= self.limit if self.sign == "≤" else self.worst(goals) >= self.limit


REPLACED = [
    Replaced("epoch", "engine ÷ roof", "≤ 1.15", "≤", 2,
             "an epoch takes at most 2 times as long as C for one problem and one processor",
             "Nobody writes and compiles such C for each data set. The engine is one build for all processors. It has the same bits on "
             "each, and parts that you can replace."),
    Replaced("epoch", "times faster than scikit-learn", "≥ 18", "≥", 5,
             "an epoch is at least 5 times as fast as one of scikit-learn's Perceptron or SGDClassifier",
             "These train a binary model for each of five labels. So 5 times is the same speed for a model."),
    Replaced("exact", "exact-pa.? ÷ prank", "≤ 1.3", "≤", 3,
             "an epoch of an exact rule takes at most 3 times as long as one of PRank's perceptron",
             "An exact rule also steps if a right prediction is nearer than the margin. Up to twice as many examples are. Each step costs "
             "the norm of the row beside its addition."),
    Replaced("predictions", "predict ÷ reading X", "≤ 1.2", "≤", 3,
             "predictions take at most 3 times as long as it takes to read X from memory",
             "To read is a bitwise or of all words. Predictions also multiply, search, check and write labels."),
    Replaced("predictions", "float32 ÷ float64", "≤ 0.6", "≤", 1,
             "predictions of float32 rows never take longer than those of float64 rows",
             "Weights are float64. So float32 rows save memory traffic, and no arithmetic."),
    Replaced("reproduce-ranking", ".*training time of our latent SVM", "≥ 50", "≥", 1,
             "the latent perceptron takes no longer to train than the latent support vector machine",
             "The latent support vector machine beside it is this library's own, and fast as well."),
]


def section(records):
    """Two tables: the goals that are missed, with reasons, and the groups of goals that others have replaced.

    Parameters
    ----------
    records : dict of str to dict
        What the files of results/ keep, by name.
    """
    missed, replaced, n_goals, n_missed, n_first = [], [], 0, 0, 0
    for name, record in sorted(records.items()):
        goals = record.get("goals", [])
        groups = [(one, [goal for goal in goals if one.has(goal)]) for one in REPLACED if one.record == name]
        n_goals += len(goals)
        n_first += sum(not goal["met"] for goal in goals)
        open_ones = [[goal["what"].replace(" alone", " only"), goal["wanted"], goal["found"]] for goal in goals
                     if not goal["met"] and not any(one.has(goal) for one, _ in groups)]
        for one, group in groups:
            replaced.append([page(name), f"{one.was}: missed {sum(not goal['met'] for goal in group)} of {len(group)}", one.goal,
                             f"{one.worst(group):g}", one.why])
            if not one.met(group):
                open_ones.append([one.goal, f"{one.sign} {one.limit:g}", f"{one.worst(group):g}"])
        n_missed += len(open_ones)
        reasons = [reason(name, what) for what, *_ in open_ones]
        missed += [[page(name), *row, "as above" if why == above else why]
                   for row, why, above in zip(open_ones, reasons, [None, *reasons], strict=False)]
    n_replaced = sum(one.record == name and one.has(goal) for one in REPLACED for name, record in records.items()
                     for goal in record.get("goals", ()) if not goal["met"])
    return (f"The records of `benchmarks/results` keep {n_goals} goals as they were set, and {n_first} of these are missed. "
            f"Others have replaced {n_replaced} of these. {n_missed} are missed and stay.\n\n"
            + table(["benchmark", "goal", "wanted", "measured", "why"], missed)
            + "\n\n## Goals that were replaced\n\nThese goals compared the library with what no user has. Each goal in their place "
              "compares it with what a user would use. The figures are the same.\n\n"
            + table(["benchmark", "the goal was", "now", "worst figure", "why"], replaced) + "\n")


def reason(name, what):
    """Why the record of this name misses a goal."""
    known = [start for start in REASONS if f"{name}: {what}".startswith(start)]
    return REASONS[max(known, key=len)] if known else "not known"


def page(name):
    return f"[{name}](../benchmarks/results/{name}.md)"


def read_records(folder=RESULTS):
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")}


def written(text, records):
    """The page with its section written anew."""
    return SECTION.sub(lambda _: section(records), text, count=1)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), read_records()), encoding="utf-8")
