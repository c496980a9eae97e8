"""Two threads train one engine and four read it: every prediction and every file must be that of some complete model."""

import io
import itertools
import pickle
import threading
import time

import numpy as np
from plain import Engine

from structperc.errors import BusyError
from torture.report import Report
from torture.streams import dumped

FITS, MOST_CHUNKS = 6, 4        # data sets of fit; calls of partial_fit by one thread between two of its fits


class Scene:
    """Data sets for fit, a chunk for partial_fit, and rows to score.

    Parameters
    ----------
    options : dict
        Those of the engine.
    sets : list of (X, y)
    chunk : (X, y)
    Z : rows
    """

    def __init__(self, name, options, sets, chunk, Z):
        self.name, self.options, self.sets, self.chunk, self.Z = name, {"random_state": 0, **options}, sets, chunk, Z

    def answer(self, engine) -> bytes:
        """All scores of Z, as bytes."""
        return b"|".join(np.asarray(scores).tobytes() for scores in engine.atom_scores(self.Z))

    def complete(self, j, n) -> list:
        """The scores of the models after a fit of set j and 0 to n chunks."""
        engine = Engine(**self.options).fit(*self.sets[j])
        answers = [self.answer(engine)]
        for _ in range(n):
            answers.append(self.answer(engine.partial_fit(*self.chunk)))
        return answers


def scenes() -> list:
    random = np.random.default_rng(7)

    def sentences(n, vocabulary, labels):
        X = [[[f"w{w}", f"p{w % 7}"] for w in random.integers(0, vocabulary, random.integers(1, 9))] for _ in range(n)]
        return X, [[labels[random.integers(len(labels))] for _ in s] for s in X]

    def rows(n, d=6):
        X = random.normal(size=(n, d))
        return X, random.permutation(np.arange(n) % 4 + 1)

    Z = sentences(40, 500, "a")[0]
    classes = {"classes": [1, 2, 3, 4]}
    return [
        Scene("sequence", {"problem": "sequence", "average": True, "epochs": 3, "classes": list("abcde")},
              [sentences(20 * 2**j, 30 * 3**j, "abcde") for j in range(FITS)], sentences(30, 900, "abcde"), Z),
        Scene("cusum", {"problem": "cusum", "average": True, "epochs": 3, **classes}, [rows(100 * 2**j) for j in range(FITS)], rows(200),
              rows(50)[0]),
        Scene("kernel", {"problem": "cusum", "plugins": ["dual-kernel"], "kernel": "rbf", "gamma": 0.2, "budget": 60, **classes},
              [rows(30 * 2**j) for j in range(FITS)], rows(40), rows(20)[0]),
    ]


def trainers_and_readers(minutes) -> Report:
    """Runs all scenes, each for an equal share of the time."""
    report = Report("2 trainers and 4 readers")
    found = scenes()
    for scene in found:
        played(scene, 60 * minutes / len(found), report)
    return report


def played(scene, seconds, report):
    """Runs one scene."""
    engine = Engine(**scene.options).fit(*scene.sets[0])
    end, lock, seen, wrong = time.monotonic() + seconds, threading.Lock(), {scene.answer(engine)}, []

    def train(number):
        random = np.random.default_rng(number)
        while time.monotonic() < end:
            try:
                engine.fit(*scene.sets[random.integers(FITS)])
                note("fits")
            except BusyError:
                note("trainers refused")
            for _ in range(random.integers(MOST_CHUNKS + 1)):
                try:
                    engine.partial_fit(*scene.chunk)
                    note("chunks")
                except BusyError:
                    note("trainers refused")

    def read(number):
        for turn in itertools.count(number):
            if time.monotonic() > end:
                return
            answers = reading(turn)
            with lock:
                seen.update(answers)

    def reading(turn):
        if turn % 8 == 0:
            note("files saved and loaded")
            return [scene.answer(Engine.load(io.BytesIO(dumped(engine))))]
        if turn % 8 == 4:
            note("pickles")
            return [scene.answer(pickle.loads(pickle.dumps(engine)))]
        if turn % 8 == 6:
            note("attributes and explanations")
            engine.predict(scene.Z), engine.margins(scene.Z), engine.mistakes_, engine.classes_, engine.status_, repr(engine)
            return []
        note("predictions")
        return [scene.answer(engine)]

    def note(what):
        with lock:
            report.count(what)

    def guarded(work, number):
        try:
            work(number)
        except BaseException as error:
            with lock:
                wrong.append(f"{scene.name}: {type(error).__name__}: {error}")
            guarded(work, number)

    threads = [threading.Thread(target=guarded, args=(train, i)) for i in range(2)]
    threads += [threading.Thread(target=guarded, args=(read, i)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report.wrong += wrong
    complete, n = set(), 4 * MOST_CHUNKS
    while not seen <= complete and n <= 16 * MOST_CHUNKS:
        complete = {answer for j in range(FITS) for answer in scene.complete(j, n)}
        n *= 2
    report.count("different complete models seen", len(seen))
    report.expect(seen <= complete, f"{scene.name}: {len(seen - complete)} answers are those of no complete model")
