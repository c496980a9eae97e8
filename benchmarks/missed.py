"""The goals that records miss, as a section of docs/performance.md; `python benchmarks/missed.py` writes it anew."""

import json
import re
from pathlib import Path

from measuring import table

RESULTS = Path(__file__).with_name("results")
PAGE = Path(__file__).parents[1] / "docs/performance.md"
SECTION = re.compile(r"(?<=^## Goals that are missed\n\n).*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
REASONS = {         # why, by the name of the record
    "clustering": "On names and places the difference is within the range over the halves. With names only, early weights make "
                  "nearly random scores, for which no exact search is run.",
    "defaults": "wisconsin has 194 rows of 32 columns: `cusum` is 0.03 worse than the median, by less than a standard error. `prank` has "
                "one direction for all ranks, as OrderedModel and LogisticAT have, which miss the same three sets.",
    "epoch": "The roof is one C function for one problem, compiled with -march=native and -ffast-math. The engine goes through "
             "replaceable parts of one portable build, which shows on short rows in file order. scikit-learn trains five binary "
             "models. On long rows much of the time of both is reading.",
    "exact": "An exact learner also steps where a right prediction is nearer than the margin. These are nearly twice as many "
             "examples as PRank's perceptron steps on. Each step costs a norm of the row beside its addition.",
    "kernels": "A value of the RBF kernel takes an exponential beside its dot product. The bits are the same on every machine.",
    "large_margin": "Single fits of less than a second at 5,000 rows, whose times vary by as much. At 20,000 rows all goals are met.",
    "mixing": "On CoNLL-2000 each of two shards makes more mistakes than serial training, and a mistake costs a step.",
    "mixing_quality": "A mixture of four shards learns more slowly from these sentences.",
    "log_loss": "By less than a tenth of a point of F1.",
    "ordinal_columns": "On three of six sets, by less than a standard error.",
    "people": "By less than 0.001, and the standard error is 0.015.",
    "predictions": "Search, check and label are added to reading. Weights are float64, so float32 rows save only memory traffic.",
    "rare_classes": "At the same weight both predict the rare label less often than logistic regression. Their error of all ranks is "
                    "smaller.",
    "reproduce-ranking": "The latent support vector machine beside it is this library's own, and fast as well.",
    "segments": "Features of whole segments add little by themselves. With the loss by segments too, the goal is exceeded.",
    "stream": "An argmax in Python is called for each example.",
    "streams": "Columns of Arrow must become rows, and Parquet must be decoded before, which takes longer than training. A "
               "mapped file is read from its pages anew.",
    "updates": "AdaGrad reads and writes the sum of squares of each weight beside the weight, and takes its root.",
}


def section(records):
    """A row for each record with goals that are missed: how many, the first of them, and why.

    Parameters
    ----------
    records : dict of str to dict
        What the files of results/ keep, by name.
    """
    rows, n_goals, n_missed = [], 0, 0
    for name, record in sorted(records.items()):
        missed = [goal for goal in record.get("goals", ()) if not goal["met"]]
        n_goals, n_missed = n_goals + len(record.get("goals", ())), n_missed + len(missed)
        if missed:
            first = missed[0]
            rows.append([f"[{name}](../benchmarks/results/{name}.md)", f"{len(missed)} of {len(record['goals'])}",
                         f"{first['what']}: wanted {first['wanted']}, measured {first['found']}", REASONS.get(name, "not known")])
    return (f"The records of `benchmarks/results` keep {n_goals} goals, and {n_missed} are missed.\n\n"
            + table(["benchmark", "missed", "the first of them", "why"], rows) + "\n\n")


def read_records(folder=RESULTS):
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")}


def written(text, records):
    """The page with its section written anew."""
    return SECTION.sub(lambda _: section(records), text, count=1)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), read_records()), encoding="utf-8")
