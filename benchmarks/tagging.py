"""Sequence labelling on real text: the engine beside python-crfsuite and a tagger written by hand in C."""

import functools
import itertools
import tempfile
import time
from pathlib import Path

import figures
import job
import pycrfsuite
import sentences
from chain_tagger import ChainTagger
from fixed import fresh
from measuring import cpu_seconds, example_costs, median, peak_growth, ratios, shown, spread, table, take_turns
from roof import compiler_version

from structperc import Engine, hookimpl
from structperc.callbacks import History
from structperc.metrics.tagged_phrases import phrase_scores

EPOCHS = 10
CURVE = (1, 2, 3, 5, 10)        # epochs of crfsuite's perceptrons on the learning curves
ITERATIONS = (10, 20, 40)       # of crfsuite's lbfgs
CAP = 100                       # iterations of lbfgs, unless it stops before
STRINGS, COLUMNS, NUMBERS, HAND = "structperc, strings", "structperc, columns", "structperc, CSR", "C tagger, CSR"
RIVAL, FROM_COLUMNS = "crfsuite ap", "crfsuite ap, making the strings"
ONLINE = (RIVAL, "crfsuite pa")
F1, UNDER_AP, OVER_HAND, FASTER = 93.5, 0.4, 1.2, 5      # what is asked for


def measure(quick):
    return {"compiler": compiler_version(), "chunking": chunking(quick), "upos": upos(quick)}


def engine(epochs=EPOCHS, seed=None, **options):
    """Shuffled, if there is a seed."""
    return Engine("sequence", preset="paper", average=True, fit_intercept=False, epochs=epochs, shuffle=seed is not None,
                  random_state=seed, **options)


class Crfsuite:
    """python-crfsuite with its data loaded, ready to train any number of models."""

    def __init__(self, algorithm, X, y):
        self.trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
        if algorithm != "lbfgs":
            self.trainer.set_params({"epsilon": 0.0})       # all epochs, as the others
        for sentence, labels in zip(X, y, strict=True):
            self.trainer.append(sentence, labels)
        self.folder = tempfile.TemporaryDirectory()

    def fit(self, epochs):
        self.trainer.set_params({"max_iterations": epochs})
        self.trainer.train(str(Path(self.folder.name, "model")))
        return self

    def tagger(self):
        """The function that tags a list of sentences with the last model."""
        tagger = pycrfsuite.Tagger()
        tagger.open(str(Path(self.folder.name, "model")))
        return lambda X: [tagger.tag(sentence) for sentence in X]

    def predict(self, X):
        return self.tagger()(X)


# ---- chunking ----

def chunking(quick):
    data = sentences.chunking(quick)
    X, y = data.strings(data.train), sentences.labels(data.train)
    rivals, loading = {}, {}
    for name in (*ONLINE, "crfsuite lbfgs"):
        begin = time.process_time()
        rivals[name] = Crfsuite(name.split()[1], X, y)
        loading[name] = time.process_time() - begin
    numbered = sentences.Numbered.learned(X, y)
    return sizes(data) | {
        "labels": len(numbered.labels), "features": len(numbered.names),
        "file order": file_order(data, numbered, y),
        "nanoseconds": epoch_times(data, X, y, numbered, rivals),
        "curves": {STRINGS: own_curve(data, X, y), **{name: curve(data, name, rivals[name], loading[name]) for name in rivals}},
        "tagging": tagging_speed(data, X, y, numbered, rivals[RIVAL]),
        "fits": whole_fits(quick),
    }


def sizes(data):
    return {"data": data.name, "sentences": [len(data.train), len(data.test)],
            "tokens": [sentences.tokens(data.train), sentences.tokens(data.test)]}


def file_order(data, numbered, y):
    """Wrong tokens in each epoch of the engine and the C tagger; F1 of the engine on test data."""
    history = History()
    model = engine(plugins=[history]).fit(numbered.X, y, offsets=numbered.offsets)
    hand = hand_tagger(numbered, EPOCHS)
    test, y_test = renumbered(data, numbered), sentences.labels(data.test)
    return {"errors": {NUMBERS: [round(record.loss) for record in history.records], HAND: hand.mistakes},
            "f1": phrase_scores(y_test, model.predict(test.X, offsets=test.offsets)).f1}


def renumbered(data, numbered):
    """The test part in the numbers of the training part."""
    return sentences.Numbered.known(numbered.names, numbered.labels, data.strings(data.test), sentences.labels(data.test))


def hand_tagger(numbered, epochs):
    return ChainTagger(len(numbered.names), len(numbered.labels)).fit(numbered.X, numbered.offsets, numbered.codes, epochs)


def epoch_times(data, X, y, numbered, rivals):
    """Nanoseconds per token and epoch."""
    tuples, n = data.tuples(data.train), len(numbered.codes)
    fits = {
        NUMBERS: lambda epochs: engine(epochs).fit(numbered.X, y, offsets=numbered.offsets),
        HAND: functools.partial(hand_tagger, numbered),
        **{name: rivals[name].fit for name in ONLINE},
    }
    for fit in fits.values():
        fit(1)                  # once unmeasured
    found = take_turns({
        STRINGS: functools.partial(between_epochs, X, y, n),
        COLUMNS: functools.partial(between_epochs, tuples, y, n, template=data.template),
        **{name: functools.partial(example_costs, fit, EPOCHS, n) for name, fit in fits.items()},
    })
    return found | {"crfsuite lbfgs": [example_costs(rivals["crfsuite lbfgs"].fit, EPOCHS, n)]}


class Stamps:
    """CPU time at the end of each epoch."""

    def __init__(self):
        self.seconds = []

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        self.seconds.append(time.process_time())


def between_epochs(X, y, n, **options):
    """Nanoseconds per token and epoch from the end of the first epoch on. Reading X takes longer than all epochs."""
    stamps = Stamps()
    engine(1 + EPOCHS, seed=0, plugins=[stamps], **options).fit(X, y)
    return (stamps.seconds[EPOCHS] - stamps.seconds[0]) / EPOCHS / n * 1e9


class Curve:
    """F1 on the test part after each epoch, and the CPU seconds of training until then."""

    def __init__(self, data):
        self.X, self.y = data.strings(data.test), sentences.labels(data.test)
        self.seconds, self.f1 = [], []
        self.begin = time.process_time()

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        reached = time.process_time()
        self.seconds.append(reached - self.begin)
        self.f1.append(phrase_scores(self.y, engine.predict(self.X)).f1)
        self.begin += time.process_time() - reached


def own_curve(data, X, y):
    observer = Curve(data)
    engine(seed=0, plugins=[observer]).fit(X, y)
    return {"epochs": list(range(1, EPOCHS + 1)), "seconds": observer.seconds, "f1": observer.f1}


def curve(data, name, rival, loading):
    X, y = data.strings(data.test), sentences.labels(data.test)
    found = {"epochs": CURVE if name in ONLINE else ITERATIONS, "seconds": [], "f1": []}
    for epochs in found["epochs"]:
        found["seconds"].append(loading + cpu_seconds(rival.fit, epochs))
        found["f1"].append(phrase_scores(y, rival.predict(X)).f1)
    return found


def tagging_speed(data, X, y, numbered, rival):
    """Tokens per second of models of 10 epochs, on the test part."""
    strings, tuples = data.strings(data.test), data.tuples(data.test)
    test = renumbered(data, numbered)
    hand, rival_tag = hand_tagger(numbered, EPOCHS), rival.fit(EPOCHS).tagger()
    from_strings = engine(seed=0).fit(X, y)
    from_columns = engine(seed=0, template=data.template).fit(data.tuples(data.train), y)
    from_numbers = engine().fit(numbered.X, y, offsets=numbered.offsets)
    predictors = {
        STRINGS: lambda: from_strings.predict(strings),
        COLUMNS: lambda: from_columns.predict(tuples),
        NUMBERS: lambda: from_numbers.predict(test.X, offsets=test.offsets),
        HAND: lambda: hand.predict(test.X, test.offsets),
        RIVAL: lambda: rival_tag(strings),
        FROM_COLUMNS: lambda: rival_tag(data.strings(data.test)),
    }
    n = sentences.tokens(data.test)
    for predict in predictors.values():
        predict()               # once unmeasured: the first prediction makes the mean weights
    return take_turns({name: functools.partial(tokens_per_second, predict, n) for name, predict in predictors.items()})


def tokens_per_second(predict, n, times=3):
    return times * n / sum(cpu_seconds(predict) for _ in range(times))


def whole_fits(quick):
    """From sentences of columns to a model, each in a process of its own; lbfgs once."""
    def contender(name):
        seeds = itertools.count()
        return lambda: fresh(f"import json, tagging; print(json.dumps(tagging.whole_fit({name!r}, {next(seeds)}, {quick})))")

    names = (STRINGS, COLUMNS, *ONLINE)
    return take_turns({name: contender(name) for name in names}, 1 if quick else 3) | {"crfsuite lbfgs": [contender("crfsuite lbfgs")()]}


def whole_fit(name, seed, quick):
    """CPU seconds of making strings, training, and tagging a first sentence; MiB beside the strings; what was learned."""
    data = sentences.chunking(quick)
    y, y_test = sentences.labels(data.train), sentences.labels(data.test)
    make = data.tuples if name == COLUMNS else data.strings
    begin = time.process_time()
    X = make(data.train)
    making = time.process_time() - begin
    if name.startswith("crfsuite"):
        train = functools.partial(train_crfsuite, name.split()[1], X, y)
    else:
        train = functools.partial(engine(seed=seed, **{"template": data.template} if name == COLUMNS else {}).fit, X, y)
    begin = time.process_time()
    model, mib = peak_growth(train)
    trained = time.process_time()
    model.predict(X[:1])
    first = time.process_time() - trained
    scores = phrase_scores(y_test, model.predict(make(data.test)))
    return {"making": making, "training": trained - begin, "first": first, "mib": mib, "f1": scores.f1, "accuracy": scores.token_accuracy}


def train_crfsuite(algorithm, X, y):
    return Crfsuite(algorithm, X, y).fit(CAP if algorithm == "lbfgs" else EPOCHS)


# ---- parts of speech ----

def upos(quick):
    data = sentences.parts_of_speech(quick)
    y, y_test = sentences.labels(data.train), sentences.labels(data.test)
    n, n_test = sizes(data)["tokens"]

    def fit(epochs, X=None):
        return engine(epochs, seed=0, template=data.template).fit(X or data.tuples(data.train), y)

    X, model = data.tuples(data.train), fit(EPOCHS)
    own = {"training": cpu_seconds(fit, EPOCHS), "nanoseconds": example_costs(functools.partial(fit, X=X), EPOCHS, n),
           "accuracy": accuracy(y_test, model.predict(data.tuples(data.test))),
           "tokens": tokens_per_second(lambda: model.predict(data.tuples(data.test)), n_test)}
    begin = time.process_time()
    rival = Crfsuite("ap", data.strings(data.train), y)
    loading = time.process_time() - begin
    nanoseconds = example_costs(rival.fit, EPOCHS, n)
    other = {"training": loading + cpu_seconds(rival.fit, EPOCHS), "nanoseconds": nanoseconds}
    tag = rival.tagger()
    other |= {"accuracy": accuracy(y_test, tag(data.strings(data.test))),
              "tokens": tokens_per_second(lambda: tag(data.strings(data.test)), n_test)}
    return sizes(data) | {"labels": len(model.classes_), "systems": {COLUMNS: own, RIVAL: other}}


def accuracy(y, found):
    pairs = list(zip(itertools.chain(*y), itertools.chain(*found), strict=True))
    return sum(right == answer for right, answer in pairs) / len(pairs)


# ---- what is shown ----

def same_errors(chunking):
    errors = chunking["file order"]["errors"]
    return errors[NUMBERS] == errors[HAND]


def whole(fits):
    return [one["making"] + one["training"] + one["first"] for one in fits]


def figure(fits, key):
    return [one[key] for one in fits]


def report(raw):
    found, words = raw["chunking"], raw["upos"]
    return "\n\n".join([
        f"C tagger: {raw['compiler']}. CPU seconds of one thread, medians of the runs with their range; ratios within a round.",
        f"## Chunking: {found['data']}",
        f"{size(found)}, {found['features']:,} features, 20 for each token. Averaged perceptrons of {EPOCHS} epochs; crfsuite's pa of as "
        f"many, its lbfgs until it stops (at most {CAP} iterations). \"Strings\" are lists of strings as crfsuite takes them, \"columns\" "
        f"words and parts of speech with a template: with both the engine shuffles, as crfsuite does. \"CSR\" are numbered strings: with "
        f"them engine and C tagger go through the file in order.",
        "### Epochs", epochs_table(found), errors_line(found),
        "### From sentences to a model",
        "Each in a process of its own, CPU seconds. Making: the strings, in Python. First tags: those of one sentence, for which the "
        "engine makes its mean weights and crfsuite reads its model. Memory: the highest size of the process while training above its "
        "size before.", fits_table(found),
        "### Tagging the test part", tagging_table(found),
        "### Learning curves", "CPU seconds of training, loading included, making strings not; F1 of phrases in the test part.",
        curves_table(found),
        f"## Parts of speech: {words['data']}",
        f"{size(words)}. {EPOCHS} shuffled epochs. Times from words on: what features need is made within them, for crfsuite by a "
        f"function in Python that expands the same template.", upos_table(words),
    ])


def size(found):
    (train, test), (tokens, tokens_test) = found["sentences"], found["tokens"]
    return (f"{train:,} sentences ({tokens:,} tokens) to learn from, {test:,} ({tokens_test:,}) to test with, {found['labels']} labels")


def epochs_table(found):
    times, n = found["nanoseconds"], found["tokens"][0]
    rows = []
    for name, each in times.items():
        against = [spread(ratios(each, times[other])) if len(each) == len(times[other]) else shown(median(each) / median(times[other]))
                   for other in (RIVAL, HAND)]
        rows.append([name, spread([t * n / 1e9 for t in each]), spread([1e3 / t for t in each]), *against])
    return table(["system", "seconds per epoch", "million tokens per second", "÷ crfsuite ap", "÷ C tagger"], rows)


def errors_line(found):
    errors = found["file order"]["errors"]
    said = (f"In file order the engine reaches an F1 of {100 * found['file order']['f1']:.2f} %, with {listed(errors[NUMBERS])} wrong "
            f"tokens in its epochs")
    if same_errors(found):
        return f"{said}; so many has the C tagger too."
    return f"{said}; the C tagger with {listed(errors[HAND])}. **They differ, so the ratio to the C tagger is void.**"


def listed(numbers):
    return ", ".join(f"{number:,}" for number in numbers)


def fits_table(found):
    rows = []
    for name, fits in found["fits"].items():
        mib = figure(fits, "mib")
        rows.append([name, *(spread(figure(fits, part)) for part in ("making", "training", "first")), spread(whole(fits)),
                     "unknown on this system" if mib[0] is None else spread(mib),
                     *(spread([100 * value for value in figure(fits, part)], 4) for part in ("f1", "accuracy")), len(fits)])
    return table(["system", "making", "training", "first tags", "whole path", "memory, MiB", "F1 %", "token accuracy %", "runs"], rows)


def tagging_table(found):
    rival = found["tagging"][RIVAL]
    return table(["system", "tokens per second", "÷ crfsuite ap"],
                 [[name, spread(each), spread(ratios(each, rival))] for name, each in found["tagging"].items()])


def curves_table(found):
    rows = []
    for name, points in found["curves"].items():
        for epochs, seconds, f1 in zip(*(points[key] for key in ("epochs", "seconds", "f1")), strict=True):
            if epochs in (*CURVE, *ITERATIONS):
                rows.append([name, epochs, f"{seconds:.2f}", f"{100 * f1:.2f}"])
    return table(["system", "epochs", "seconds", "F1 %"], rows)


def upos_table(found):
    rows = [[name, f"{100 * one['accuracy']:.2f}", shown(one["training"]), shown(1e9 / one["nanoseconds"]), shown(one["tokens"])]
            for name, one in found["systems"].items()]
    return table(["system", "accuracy %", "from words to a model, seconds", "training, tokens per second and epoch",
                  "tagging, words per second"], rows)


def goals(raw):
    found = raw["chunking"]
    times, fits, tagging = found["nanoseconds"], found["fits"], found["tagging"]
    f1 = {name: [100 * value for value in figure(each, "f1")] for name, each in fits.items()}
    reached = []
    for name in (STRINGS, COLUMNS):
        reached.append(goal(f"F1 on the test part, %: {name}", ">=", F1, f1[name], 4))
        reached += [goal(f"F1 on the test part, %: {name}, beside {rival}", ">=", median(f1[rival]), f1[name], 4) for rival in ONLINE]
    for name in (STRINGS, COLUMNS, NUMBERS):
        reached.append(goal(f"epoch ÷ crfsuite ap: {name}", "<=", UNDER_AP, ratios(times[name], times[RIVAL])))
    if same_errors(found):
        reached.append(goal(f"epoch ÷ C tagger: {NUMBERS}", "<=", OVER_HAND, ratios(times[NUMBERS], times[HAND])))
    else:
        reached.append(job.Goal(f"epoch ÷ C tagger: {NUMBERS}", f"≤ {OVER_HAND}", "void: different errors", False))
    for name, rival in ((STRINGS, RIVAL), (COLUMNS, FROM_COLUMNS)):
        reached.append(goal(f"tokens tagged per second ÷ {rival}: {name}", ">=", FASTER, ratios(tagging[name], tagging[rival])))
    for name, rival in itertools.product((STRINGS, COLUMNS), ONLINE):
        reached.append(goal(f"from sentences to a model ÷ {rival}: {name}", "<=", 1, ratios(whole(fits[name]), whole(fits[rival]))))
    for name, rival in itertools.product((STRINGS, COLUMNS), ONLINE):
        mib = figure(fits[name], "mib")
        if mib[0] is not None:
            reached.append(goal(f"memory of training ÷ {rival}: {name}", "<=", 1, ratios(mib, figure(fits[rival], "mib"))))
    return reached


def goal(what, sign, wanted, found, digits=3):
    """The median beside a bound."""
    met = median(found) <= wanted if sign == "<=" else median(found) >= wanted
    return job.Goal(what, f"{'≤' if sign == '<=' else '≥'} {shown(wanted, digits)}", spread(found, digits), met)


def draw(raw, folder):
    found = raw["chunking"]
    lines = {name: (points["seconds"], [100 * f1 for f1 in points["f1"]]) for name, points in found["curves"].items()}
    lbfgs = found["fits"]["crfsuite lbfgs"][0]
    lines["crfsuite lbfgs"][0].append(lbfgs["training"])
    lines["crfsuite lbfgs"][1].append(100 * lbfgs["f1"])
    best = max(lines[STRINGS][1])
    figures.panels(folder / "tagging.png", [{
        "title": f"Chunking, {found['data']}", "lines": lines, "xscale": "log", "ylim": (best - 5, best + 0.5),
        "xlabel": "CPU seconds of training, loading included", "ylabel": "F1 of phrases in the test part, %",
    }])


if __name__ == "__main__":
    job.run("tagging", "Sequence labelling", measure, report, goals, draw)
