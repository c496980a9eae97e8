"""Rankers of documents whose relevance is no linear function of their features: linear, by kernels and leaves of trees, and LightGBM's."""

import functools
import itertools
import sys

import attrs
import job
import lightgbm
import numpy as np
from measuring import cpu_seconds, shown, table
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structperc.errors import MissingData, MissingExtra
from structperc.estimators import LatentRanker, LeafFeatures, RankingSVM
from structperc.files.datasets import load_letor_ohsumed
from structperc.metrics import ndcg_at_k, precision_at_k

SPLITS, CHOOSING = 10, 2            # draws of made-up data to measure on, and further ones on which settings are chosen
QUERIES, TRAINED, COLUMNS = 400, 300, 20
LINEAR, TREES = "linear regression", "LightGBM, lambdarank"
NYSTROEM, LEAVES = "Ranking SVM on Nystroem's features", "Ranking SVM on leaves of boosted trees"


# ---- data ----


@attrs.frozen
class Documents:
    X: object
    y: object
    lengths: object



@attrs.frozen
class Fold:
    train: object
    test: object
    validation: object = None


def bent(seed):
    """Five grades of a noisy score with two bends, a saturation and a product. A query has 10 to 54 documents."""
    random = np.random.default_rng(seed)
    lengths = random.integers(10, 55, QUERIES)
    X = random.normal(size=(lengths.sum(), COLUMNS))
    score = X[:, 0] + 0.8 * X[:, 1] + 0.7 * np.tanh(2 * X[:, 2]) - 0.3 * X[:, 3] ** 2 + 0.4 * X[:, 4] * X[:, 5]
    score += 0.9 * random.normal(size=len(X))
    y = np.digitize(score, np.quantile(score, [0.6, 0.8, 0.92, 0.98]))
    cut = lengths[:TRAINED].sum()
    return Fold(Documents(X[:cut], y[:cut], lengths[:TRAINED]), Documents(X[cut:], y[cut:], lengths[TRAINED:]))


# ---- learners ----


def grid(**values):
    return [dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())]


def pairs(C):
    return RankingSVM(C=C, loss="squared_hinge")


def fitted(model, documents):
    """A pipeline, trained with the queries of its last step."""
    *steps, ranker = model
    X = documents.X
    for step in steps:
        X = step.fit(X, documents.y).transform(X)
    ranker.fit(X, documents.y, lengths=documents.lengths)
    return model.predict


def regression(documents):
    return LinearRegression().fit(documents.X, documents.y).predict


def latent(documents, **setting):
    return fitted(make_pipeline(StandardScaler(), LatentRanker(random_state=0, **setting)), documents)


def ranking_svm(documents, C):
    return fitted(make_pipeline(StandardScaler(), pairs(C)), documents)


def nystroem(documents, gamma, C):
    return fitted(make_pipeline(StandardScaler(), Nystroem(gamma=gamma, n_components=500, random_state=0), pairs(C)), documents)


def leaves(documents, C):
    return fitted(make_pipeline(LeafFeatures(), pairs(C)), documents)


def lambdarank(documents, **setting):
    model = lightgbm.LGBMRanker(random_state=0, n_jobs=1, verbose=-1, deterministic=True, **setting)
    return model.fit(documents.X, documents.y, group=documents.lengths).booster_.predict


LEARNERS = {
    LINEAR: (regression, [{}]),
    "LatentRanker": (latent, grid(k=(5, 10), loss_weight=(5.0, 20.0))),
    "Ranking SVM": (ranking_svm, grid(C=(1e-5, 1e-4, 1e-3))),
    "LatentRanker, rbf kernel": (latent, grid(kernel=("rbf",), gamma=(0.03,), epochs=(5,))),
    NYSTROEM: (nystroem, grid(gamma=(0.01, 0.03), C=(0.01, 0.1))),
    LEAVES: (leaves, grid(C=(1e-2,))),
    TREES: (lambdarank, grid(num_leaves=(7, 31), n_estimators=(100, 300), learning_rate=(0.05, 0.1))),
}


# ---- the experiment ----


def measure(quick):
    splits, choosing = (2, 1) if quick else (SPLITS, CHOOSING)
    others, splits = [bent(1000 + seed) for seed in range(choosing)], [bent(seed) for seed in range(splits)]
    made_up, real = {}, {}
    folds = load_letor_ohsumed()[:1 if quick else 5]
    for name, (train, settings) in LEARNERS.items():
        settings = settings[:2] if quick else settings
        chosen = best(train, settings, [(fold.train, fold.test) for fold in others])
        made_up[name] = [tested(train, chosen, fold) for fold in splits]
        print(name, made_up[name][0], np.mean([one["ndcg"] for one in made_up[name]]), file=sys.stderr, flush=True)
        real[name] = [tested(train, best(train, settings, [(fold.train, fold.validation)]), fold) for fold in folds]
        print(name, np.mean([one["ndcg"] for one in real[name]]), file=sys.stderr, flush=True)
    return {"made_up": made_up, "real": real}


def best(train, settings, parts):
    """The setting of the largest mean NDCG at 10 on second parts, trained on first ones."""
    if len(settings) == 1:
        return settings[0]
    return max(settings, key=lambda setting: np.mean([measured(train(first, **setting), second)[0] for first, second in parts]))


def measured(predict, documents):
    """NDCG and precision at 10."""
    scores = predict(documents.X)
    return [float(measure(documents.y, scores, 10, groups=np.repeat(np.arange(len(documents.lengths)), documents.lengths)))
            for measure in (ndcg_at_k, precision_at_k)]


def tested(train, setting, fold):
    kept = []
    fit = cpu_seconds(lambda: kept.append(train(fold.train, **setting)))
    ndcg, precision = measured(kept[0], fold.test)
    predict = cpu_seconds(functools.partial(kept[0], fold.test.X)) / len(fold.test.y) * 1e6
    return {"setting": setting, "ndcg": ndcg, "precision": precision, "fit": fit, "predict": predict}


# ---- what is shown ----


def mean_and_error(values):
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{np.mean(values):.3f} ± {error:.3f}"


def column(found, name):
    return [one[name] for one in found]


def results(found, settings):
    rows = []
    for name, ones in found.items():
        ahead = np.subtract(column(ones, "ndcg"), column(found[TREES], "ndcg"))
        setting = ", ".join(f"{key}={value}" for key, value in ones[0]["setting"].items())
        rows.append([name, mean_and_error(column(ones, "ndcg")), "" if name == TREES else mean_and_error(ahead),
                     mean_and_error(column(ones, "precision")), shown(float(np.median(column(ones, "fit")))),
                     shown(float(np.median(column(ones, "predict")))), *([setting] if settings else [])])
    return table(["learner", "NDCG@10", "ahead of LightGBM, paired", "P@10", "training, CPU s", "a prediction, CPU µs",
                  *(["setting"] if settings else [])], rows)


def report(raw):
    return "\n\n".join([
        f"Made-up data, {len(raw['made_up'][LINEAR])} draws: {TRAINED} queries to learn from and {QUERIES - TRAINED} to test with. Each "
        "has "
        f"10 to 54 documents and {COLUMNS} columns. Six columns count: two linearly, one saturating, one squared, two by their product. "
        f"Settings are those of largest NDCG@10 on {CHOOSING} further draws. Means with standard errors; times are medians of one thread.",
        results(raw["made_up"], True),
        f"OHSUMED of LETOR 3.0, {len(raw['real'][LINEAR])} official folds, settings chosen on each fold's validation part:",
        results(raw["real"], False)])


def goals(raw):
    def mean(name):
        return float(np.mean(column(raw["made_up"][name], "ndcg")))

    return [job.Goal(f"made-up data, NDCG@10 of {name}", f"≥ {mean(TREES):.3f}, LightGBM's", f"{mean(name):.3f}", mean(name) >= mean(TREES))
            for name in (NYSTROEM, LEAVES)]


def draw(raw, folder):
    """None. The table has all figures."""


if __name__ == "__main__":
    try:
        job.run("bent_rankings", "Rankings by scores that are not linear", measure, report, goals, draw)
    except (MissingData, MissingExtra) as error:
        sys.exit(str(error))
