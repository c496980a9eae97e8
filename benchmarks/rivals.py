"""Other libraries for online learning, rankings and sequences in one run: by default, and the time until they are as good as each other."""

import functools
import tempfile
import time
from importlib import import_module
from pathlib import Path

import attrs
import figures
import job
import numpy as np
from measuring import shown, table
from sentences import chunking, labels

from structperc import Engine
from structperc.errors import MissingData
from structperc.estimators import LatentRanker, RankingSVM, SequenceTagger, StructuredClassifier
from structperc.files.datasets import load_letor_ohsumed
from structperc.metrics import ndcg_at_k
from structperc.metrics.tagged_phrases import phrase_scores

PASSES = (1, 2, 3, 5, 10)
ROWS, COLUMNS, CLASSES = 25_000, 50, 5          # a fifth of the rows is held out
CHUNK = 10_000                                  # rows of a block of dask
OWN = "structperc"
ROUNDS, SHORT = 5, 1.0                          # fits of one setting, and the seconds that end them
TOLERANCE = 0.001                               # of qualities that count as equal
HEADINGS = ["learner", "quality", "passes", "seconds", "structperc's seconds", "times longer"]


@attrs.frozen
class Learner:
    """How a library learns a task.

    Attributes
    ----------
    package : str
        What must be importable.
    train : function(data, n) -> function
        From nothing, with n passes, iterations or trees. The result is a function that predicts the task's test part.
    passes : tuple of int
        What n is tried with.
    """

    package: str
    train: object
    passes: tuple = PASSES


# ---- rows of numbers, five classes ----


@attrs.frozen(eq=False)
class Classes:
    """Rows whose class has the largest of five noisy linear scores."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @classmethod
    def drawn(cls, n):
        random = np.random.default_rng(5)
        X = random.standard_normal((n, COLUMNS))
        scores = X @ random.standard_normal((COLUMNS, CLASSES)) / np.sqrt(COLUMNS)
        y = (scores + 0.3 * random.standard_normal(scores.shape)).argmax(axis=1)
        kept = n - n // 5
        return cls(X[:kept], y[:kept], X[kept:], y[kept:])

    def quality(self, predict):
        return float((np.asarray(predict()) == self.y_test).mean())


def own_rows(update, data, n, **options):
    engine = Engine("multiclass", preset="paper", update=update, average=True, epochs=n, **options).fit(data.X, data.y)
    return lambda: engine.predict(data.X_test)


def sgd_classifier(data, n):
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(max_iter=n, tol=None, average=True, random_state=0).fit(data.X, data.y)
    return lambda: model.predict(data.X_test)


def perceptron(data, n):
    from sklearn.linear_model import Perceptron

    model = Perceptron(max_iter=n, tol=None, random_state=0).fit(data.X, data.y)
    return lambda: model.predict(data.X_test)


def river_softmax(data, n):
    """One row at a time, as dicts, which is what river learns from."""
    from river import linear_model

    model = linear_model.SoftmaxRegression()
    for _ in range(n):
        for x, y in zip(data.X.tolist(), data.y.tolist(), strict=True):
            model.learn_one(dict(enumerate(x)), y)
    return lambda: [model.predict_one(dict(enumerate(x))) for x in data.X_test.tolist()]


def vowpal_wabbit(data, n):
    """One row at a time, as its lines of text."""
    from vowpalwabbit import Workspace

    model = Workspace(f"--oaa {CLASSES} --quiet --random_seed 1")
    lines = [f"{y + 1} | {line}" for y, line in zip(data.y.tolist(), map(line_of, data.X.tolist()), strict=True)]
    for _ in range(n):
        for line in lines:
            model.learn(line)
    return lambda: [model.predict(f"| {line_of(x)}") - 1 for x in data.X_test.tolist()]


def line_of(x):
    return " ".join(f"{j}:{value:.6g}" for j, value in enumerate(x))


def dask_incremental(data, n):
    import dask.array
    from dask_ml.wrappers import Incremental
    from sklearn.linear_model import SGDClassifier

    X, y = dask.array.from_array(data.X, chunks=(CHUNK, COLUMNS)), dask.array.from_array(data.y, chunks=CHUNK)
    model = Incremental(SGDClassifier(average=True, random_state=0), random_state=0)
    for _ in range(n):
        model.partial_fit(X, y, classes=list(range(CLASSES)))
    return lambda: model.estimator_.predict(data.X_test)


# ---- sentences ----


class Chunks:
    """CoNLL-2000 as lists of feature strings, made beforehand."""

    def __init__(self, quick):
        data = chunking(quick)
        self.X, self.y, self.X_test, self.y_test = (part for sentences in (data.train, data.test)
                                                    for part in (data.strings(sentences), labels(sentences)))

    def quality(self, predict):
        return float(phrase_scores(self.y_test, predict()).f1)


def own_chain(data, n, **options):
    engine = Engine("sequence", preset="paper", epochs=n, shuffle=True, random_state=0, fit_intercept=False, **options).fit(data.X, data.y)
    return lambda: engine.predict(data.X_test)


def crfsuite(algorithm, data, n):
    """The tags of CRFsuite after n iterations; None: with its defaults."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
    if n is not None:
        trainer.set_params({"max_iterations": n} | ({} if algorithm == "lbfgs" else {"epsilon": 0.0}))
    for sentence, tags in zip(data.X, data.y, strict=True):
        trainer.append(sentence, tags)
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(str(Path(folder, "model")))
        content = Path(folder, "model").read_bytes()
    return functools.partial(crfsuite_tags, content, data.X_test)


def crfsuite_tags(content, X):
    """The tags by a model's bytes, which must live as long as the tagger."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open_inmemory(content)
    return [tagger.tag(sentence) for sentence in X]


# ---- queries of documents ----


class Queries:
    """OHSUMED's five folds; columns are standardised for linear learners by the training part, before the clock runs."""

    def __init__(self, quick):
        self.folds = []
        for fold in load_letor_ohsumed()[:1 if quick else 5]:
            mean, spread = fold.train.X.mean(axis=0), fold.train.X.std(axis=0)
            spread[spread == 0] = 1
            self.folds.append([((part.X - mean) / spread, part.y, part.lengths) for part in (fold.train, fold.test)])

    def quality(self, predict):
        return float(np.mean([ndcg_at_k(y, scores, groups=np.repeat(np.arange(len(lengths)), lengths)) for (_, (_, y, lengths)), scores in
                              zip(self.folds, predict(), strict=True)]))


def ranked(fit, data, n):
    """Scores of the test documents of all folds by what `fit(X, y, lengths, n)` gives."""
    models = [fit(*train, n) for train, _ in data.folds]
    return lambda: [scores(test[0]) for scores, (_, test) in zip(models, data.folds, strict=True)]


def own_latent(X, y, lengths, n):
    return LatentRanker(k=10, loss_weight=5.0, epochs=n, random_state=0).fit(X, y, lengths=lengths).predict


def own_pairs(X, y, lengths, n):
    return RankingSVM(C=10.0 ** -n, loss="squared_hinge").fit(X, y, lengths=lengths).predict


def lightgbm(objective, X, y, lengths, n):
    from lightgbm import LGBMRanker

    model = LGBMRanker(objective=objective, n_estimators=n, num_leaves=15, learning_rate=0.05, min_child_samples=50, random_state=0,
                       n_jobs=1, verbose=-1)
    return model.fit(X, y, group=lengths).booster_.predict


# ---- all of them as they come ----


def classifier(make, data, _):
    model = make().fit(data.X, data.y)
    return lambda: model.predict(data.X_test)


def scikit_learn(name, **options):
    return functools.partial(classifier, lambda: getattr(import_module("sklearn.linear_model"), name)(**options))


def own_tagger(data, _):
    model = SequenceTagger(random_state=0).fit(data.X, data.y)
    return lambda: model.predict(data.X_test)


def own_ranker(make, X, y, lengths, _):
    return make().fit(X, y, lengths=lengths).predict


def lightgbm_default(X, y, lengths, _):
    from lightgbm import LGBMRanker

    return LGBMRanker(random_state=0, n_jobs=1, verbose=-1).fit(X, y, group=lengths).predict


# ---- all of it ----

TASKS = {
    "classes": ("right classes of rows", lambda quick: Classes.drawn(ROWS // 10 if quick else ROWS), {
        f"{OWN}, perceptron": Learner("structperc", functools.partial(own_rows, "perceptron")),
        f"{OWN}, pa1": Learner("structperc", functools.partial(own_rows, "pa1", C=0.01)),
        f"{OWN}, log loss": Learner("structperc", functools.partial(own_rows, "log-loss", step_size=0.05)),
        "scikit-learn SGDClassifier": Learner("sklearn.linear_model", sgd_classifier),
        "scikit-learn Perceptron": Learner("sklearn.linear_model", perceptron),
        "river SoftmaxRegression": Learner("river.linear_model", river_softmax, (1, 2)),
        "Vowpal Wabbit --oaa": Learner("vowpalwabbit", vowpal_wabbit, (1, 3)),
        "dask-ml Incremental": Learner("dask_ml.wrappers", dask_incremental, (1, 3, 10)),
    }),
    "chunks": ("F1 of chunks", Chunks, {
        f"{OWN}, perceptron": Learner("structperc", functools.partial(own_chain, average=True), (1, 2, 5)),
        f"{OWN}, AdaGrad": Learner("structperc", functools.partial(own_chain, average=True, update="adagrad", step_size=0.1), (1, 2, 5)),
        "crfsuite ap": Learner("pycrfsuite", functools.partial(crfsuite, "ap"), (1, 5)),
        "crfsuite pa": Learner("pycrfsuite", functools.partial(crfsuite, "pa"), (5,)),
        "crfsuite lbfgs": Learner("pycrfsuite", functools.partial(crfsuite, "lbfgs"), (30,)),
    }),
    "rankings": ("NDCG@10 of rankings", Queries, {
        f"{OWN}, LatentRanker": Learner("structperc", functools.partial(ranked, own_latent), (1, 5, 30)),
        f"{OWN}, RankingSVM": Learner("structperc", functools.partial(ranked, own_pairs), (5, 4, 3)),
        "LightGBM lambdarank": Learner("lightgbm", functools.partial(ranked, functools.partial(lightgbm, "lambdarank")), (10, 50, 200)),
        "LightGBM rank_xendcg": Learner("lightgbm", functools.partial(ranked, functools.partial(lightgbm, "rank_xendcg")), (10, 50, 200)),
    }),
}

ONCE = (None,)          # no number of passes: the default
DEFAULTS = {            # by task; ours first
    "classes": {
        f"{OWN} StructuredClassifier()": Learner("structperc", functools.partial(
            classifier, functools.partial(StructuredClassifier, random_state=0)), ONCE),
        "scikit-learn SGDClassifier()": Learner("sklearn.linear_model", scikit_learn("SGDClassifier", random_state=0), ONCE),
        "scikit-learn LogisticRegression()": Learner("sklearn.linear_model", scikit_learn("LogisticRegression"), ONCE),
    },
    "chunks": {
        f"{OWN} SequenceTagger()": Learner("structperc", own_tagger, ONCE),
        "crfsuite ap": Learner("pycrfsuite", functools.partial(crfsuite, "ap"), ONCE),
        "crfsuite lbfgs": Learner("pycrfsuite", functools.partial(crfsuite, "lbfgs"), ONCE),
    },
    "rankings": {
        f"{OWN} RankingSVM()": Learner("structperc", functools.partial(ranked, functools.partial(own_ranker, RankingSVM)), ONCE),
        f"{OWN} LatentRanker()": Learner("structperc", functools.partial(ranked, functools.partial(
            own_ranker, functools.partial(LatentRanker, random_state=0))), ONCE),
        "LightGBM LGBMRanker()": Learner("lightgbm", functools.partial(ranked, lightgbm_default), ONCE),
    },
}


def measure(quick):
    raw = {"tasks": {}, "defaults": {}}
    for name, (_, make, learners) in TASKS.items():
        try:
            data = make(quick)
        except MissingData as error:
            raw["tasks"][name] = raw["defaults"][name] = {"missing": str(error)}
            continue
        raw["defaults"][name] = curves(DEFAULTS[name], data, quick)
        raw["tasks"][name] = curves(learners, data, quick)
    return raw


def curves(learners, data, quick):
    """For each learner points of passes, seconds and quality; a sentence where its library is missing."""
    return {name: curve(learner, data, quick) for name, learner in learners.items()}


def curve(learner, data, quick):
    try:
        import_module(learner.package)
    except ImportError as error:
        return {"missing": f"not installed ({error})"}
    return {"points": [point(learner, data, n) for n in learner.passes[:2 if quick else None]]}


def point(learner, data, n):
    """Seconds, the fewest of some fits where they are short, and quality."""
    times = []
    while not times or len(times) < ROUNDS and sum(wall for wall, _ in times) < SHORT:
        wall, processor = time.perf_counter(), time.process_time()
        predict = learner.train(data, n)
        times.append((time.perf_counter() - wall, time.process_time() - processor))
    wall, processor = map(min, zip(*times, strict=True))
    return {"passes": n, "wall": wall, "cpu": processor, "quality": data.quality(predict)}


# ---- what is shown ----


def best_of(points):
    """The cheapest point of nearly the best quality."""
    top = max(point["quality"] for point in points)
    return min((point for point in points if point["quality"] >= top - TOLERANCE), key=lambda point: point["wall"])


def own_time(learners, quality):
    """The fewest seconds in which one of our learners is as good, or None."""
    times = [point["wall"] for name, one in learners.items() if name.startswith(OWN) for point in one["points"]
             if point["quality"] >= quality - TOLERANCE]
    return min(times, default=None)


def rows_of(learners):
    """A line for each learner."""
    for name, one in learners.items():
        if "missing" in one:
            yield [name, one["missing"], "", "", "", ""]
            continue
        point = best_of(one["points"])
        own = own_time(learners, point["quality"])
        against = ["", ""] if name.startswith(OWN) else ["not reached", ""] if own is None else [shown(own), shown(point["wall"] / own)]
        yield [name, f"{point['quality']:.2%}", str(point["passes"]), f"{shown(point['wall'])} ({shown(point['cpu'])})", *against]


def default_rows(learners):
    """A line for each learner as it comes."""
    for name, one in learners.items():
        point = one["points"][0] if "points" in one else None
        yield [name, one["missing"], ""] if point is None else [
            name, f"{point['quality']:.2%}", f"{shown(point['wall'])} ({shown(point['cpu'])})"]


def report(raw):
    parts = [
        f"Each fit starts from nothing with data in memory, on one thread. Seconds are by the clock (in brackets: CPU time), the fewest of "
        f"up to {ROUNDS} fits; the load of the machine was {raw['load']:.1f}. In the first table of a task each learner has its "
        f"defaults. In the second a learner's line is its cheapest setting within {TOLERANCE:.1%} of its best quality. Beside it: the "
        f"time in which one of structperc's learners is as good, and how many times "
        f"longer the other took. Passes are iterations of lbfgs, trees of LightGBM, and minus the exponent of C of RankingSVM."]
    for name, (title, _, _) in TASKS.items():
        learners, plain = raw["tasks"][name], raw["defaults"][name]
        parts += [f"## {title[0].upper()}{title[1:]}, by default",
                  plain["missing"] if "missing" in plain else table(["learner", "quality", "seconds"], list(default_rows(plain)))]
        shown_there = learners["missing"] if "missing" in learners else table(HEADINGS, list(rows_of(learners)))
        parts += [f"## {title[0].upper()}{title[1:]}", shown_there]
    return "\n\n".join(parts)


def goals(raw):
    reached = list(default_goals(raw))
    for task_name, learners in raw["tasks"].items():
        for name, one in learners.items() if "missing" not in learners else ():
            if name.startswith(OWN) or "missing" in one:
                continue
            point = best_of(one["points"])
            own = own_time(learners, point["quality"])
            reached.append(job.Goal(f"{task_name}: as good as {name} ({point['quality']:.2%}), seconds", f"≤ {shown(point['wall'])}",
                                    "not reached" if own is None else shown(own), own is not None and own <= point["wall"]))
    return reached


def default_goals(raw):
    """The default of a rival is beaten by ours: as good, and as fast."""
    for task_name, learners in raw["defaults"].items():
        points = {name: one["points"][0] for name, one in learners.items() if "missing" not in learners and "points" in one}
        ours = [point for name, point in points.items() if name.startswith(OWN)]
        for name, point in points.items():
            if not name.startswith(OWN):
                good = [one["wall"] for one in ours if one["quality"] >= point["quality"] - TOLERANCE]
                yield job.Goal(f"{task_name}: by default as good as {name} ({point['quality']:.2%}), seconds", f"≤ {shown(point['wall'])}",
                               shown(min(good)) if good else "not reached", bool(good) and min(good) <= point["wall"])


def draw(raw, folder):
    """The cheapest setting of each learner within TOLERANCE of its best quality."""
    tasks = {}
    for name, learners in raw["tasks"].items():
        if "missing" not in learners:
            best = {learner: best_of(one["points"]) for learner, one in learners.items() if "points" in one}
            tasks[TASKS[name][0]] = {learner: (one["wall"], one["quality"], learner.startswith(OWN)) for learner, one in best.items()}
    figures.seconds_to_quality(folder / "rivals.png", tasks)


if __name__ == "__main__":
    job.run("rivals", "Other libraries, to equal quality", measure, report, goals, draw)
