"""Shards that are trained apart and mixed: speed with two threads, quality of 2 to 64 shards, the cost of a round on Dask's workers, and
trainings during which a worker is killed.
"""

import os
import random
import signal
import threading
import time

import job
import numpy as np
import sentences
from measuring import median, table

from structperc import Engine, hookimpl
from structperc.callbacks import History
from structperc.distributed import fit
from structperc.engine import shards as engine_shards
from structperc.metrics import phrase_scores

SHARDS = (1, 2, 4, 8, 16, 32, 64)
EPOCHS, LONGER = 10, 12                     # of serial training, and what four shards may take
THREADS_GOAL, F1_GOAL = 1.7, 0.1
KILLS, KILLED_ROWS = 20, 20_000
LINES = {"1 Gbit/s": 1e9 / 8, "10 Gbit/s": 1e10 / 8}
ROUND_GOAL = 0.060                          # seconds, and 1.5 times the bytes at the speed of the line


def measure(quick):
    chunks = sentences.chunking(quick)
    words, tags = chunks.strings(chunks.train), sentences.labels(chunks.train)
    rows = ratings(20_000 if quick else 1_000_000)
    raw = {
        "load": os.getloadavg()[0],
        "threads": {"CoNLL-2000": threads("sequence", words, tags), f"{len(rows[1]):,} rows of 50 columns": threads("cusum", *rows)},
        "quality": quality(words, tags, chunks.strings(chunks.test), sentences.labels(chunks.test), SHARDS[:3] if quick else SHARDS),
        "rounds": rounds(words, tags),
        "kills": kills(3 if quick else KILLS, KILLED_ROWS),
    }
    return {**raw, "load_after": os.getloadavg()[0]}


def ratings(n, columns=50):
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n, columns), dtype=np.float32)
    return X, 1 + np.digitize(X @ generator.standard_normal(columns) / 7 + 0.5 * generator.normal(size=n), [-1.5, -0.5, 0.5, 1.5])


# ---- two threads ----


def threads(problem, X, y):
    """Processor seconds of an epoch: of serial training, of the slower of two shards, and of all that only one thread does."""
    found = {}
    for n in (1, 2):
        passes, seconds = [], []
        with watched(passes):
            engine = Engine(problem, epochs=EPOCHS, average=True, shuffle=True, random_state=0, n_shards=n, n_jobs=n,
                            plugins=[Clock(seconds)])
            engine.fit(X, y)
        epochs = np.diff(seconds)                   # without the first, which reads the data and gets the memory
        pairs = np.array(passes).reshape(-1, 2)[1:] if n == 2 else np.stack([epochs, np.zeros(len(epochs))], axis=1)
        found[n] = {"whole": epochs.tolist(), "slower": pairs.max(axis=1).tolist(), "alone": (epochs - pairs.sum(axis=1)).tolist(),
                    "mistakes": engine.mistakes_[-1] / len(y)}
    return {"serial": median(found[1]["whole"]), "shard": median(found[2]["slower"]), "alone": median(found[2]["alone"]),
            "mistakes": [found[1]["mistakes"], found[2]["mistakes"]]}


class Clock:
    """Notes the processor time at the end of each epoch."""

    def __init__(self, seconds):
        self.seconds = seconds

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        self.seconds.append(time.process_time())


class watched:
    """Notes the processor time of each shard's pass, in the thread that makes it."""

    def __init__(self, passes):
        self.passes = passes

    def __enter__(self):
        self.before = engine_shards.map_in_threads
        engine_shards.map_in_threads = self.mapped

    def __exit__(self, *error):
        engine_shards.map_in_threads = self.before

    def mapped(self, function, items, n_threads):
        def timed(item):
            begin = time.thread_time()
            answer = function(item)
            return answer, time.thread_time() - begin

        found = self.before(timed, items, n_threads)
        self.passes.extend(seconds for _, seconds in found)
        return [answer for answer, _ in found]


# ---- quality ----


def quality(words, tags, test, gold, numbers):
    """F1 of phrases after EPOCHS epochs, and of four shards after LONGER."""
    cases = [(n, EPOCHS) for n in numbers] + [(4, LONGER)]
    found = []
    for n, epochs in cases:
        engine = Engine("sequence", epochs=epochs, average=True, shuffle=True, random_state=0, n_shards=n).fit(words, tags)
        found.append({"shards": n, "epochs": epochs, "f1": 100 * phrase_scores(gold, engine.predict(test)).f1})
    return found


# ---- rounds on workers ----


def rounds(words, tags):
    """Seconds of each round of two workers on this machine, and of the passes alone; and the bytes that went both ways."""
    from distributed import Client, LocalCluster

    half = len(words) // 2
    parts = [(words[:half], tags[:half]), (words[half:], tags[half:])]
    options = {"classes": sorted({tag for sentence in tags for tag in sentence}), "n_hashed": 1 << 19, "n_shards": 2, "epochs": EPOCHS,
               "average": True, "shuffle": True, "random_state": 0}
    history = History()
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        fit(Engine("sequence", plugins=[history], **options), parts, client=client)
    with watched_bytes() as traffic:
        alone = History()
        fit(Engine("sequence", plugins=[alone], **options), parts)
    return {"seconds": [record.seconds for record in history.records], "in_one_process": [record.seconds for record in alone.records],
            "bytes": traffic.rounds(), "load": os.getloadavg()[0]}


class watched_bytes:
    """Counts what shards answer and what they are told."""

    def __enter__(self):
        from structperc.distributed import training

        self.module, self.before, self.sizes = training, training.train_shard, {}

        def counted(slot, number, share, epoch, seed, shuffle, dtype, news):
            answer = self.before(slot, number, share, epoch, seed, shuffle, dtype, news)
            if answer is not None:
                self.sizes.setdefault(epoch, []).append((size(news[1]), size(answer[1])))
            return answer

        training.train_shard = counted
        return self

    def __exit__(self, *error):
        self.module.train_shard = self.before

    def rounds(self):
        """Of each round: bytes to a worker and from it, the mean over workers."""
        return [np.mean(pairs, axis=0).tolist() for _, pairs in sorted(self.sizes.items())]


def size(changes):
    return sum(value.nbytes for value in changes.values() if hasattr(value, "nbytes"))


# ---- killed workers ----


def kills(n, n_rows):
    """Trainings on two workers of which one is killed at a random moment: how many ended with the bits of the undisturbed one."""
    import dask
    from distributed import Client, LocalCluster

    X, y = ratings(n_rows, 20)
    parts = [(X[i::4], y[i::4]) for i in range(4)]

    def trained(client=None):
        engine = Engine("cusum", classes=[1, 2, 3, 4, 5], n_shards=4, epochs=EPOCHS, average=True, shuffle=True, random_state=0)
        begin = time.perf_counter()
        fit(engine, parts, client=client)
        return engine.parts_.weights.vector(), time.perf_counter() - begin

    # 15 s after a worker was lost, a LocalCluster closes the process of its name for good if it happens to be starting again
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"})
    right, same, moments, chance = trained()[0], 0, [], random.Random(0)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        usual = trained(client)[1]
        for _ in range(n):
            client.wait_for_workers(2, timeout=60)
            moments.append(chance.random() * usual)
            processes = [worker.process.pid for worker in cluster.workers.values() if worker.process is not None]
            killer = threading.Timer(moments[-1], os.kill, (chance.choice(processes), signal.SIGKILL))
            killer.start()
            same += np.array_equal(trained(client)[0], right)
            killer.cancel()
    return {"trainings": n, "equal": same, "usual": usual, "rows": n_rows}


# ---- what is shown ----


def speed_up(case):
    return case["serial"] / (case["shard"] + case["alone"])


def round_times(raw, line):
    """Simulated seconds of a round of two workers at this speed, without the passes: measured overhead and bytes, the median round."""
    there, back = np.median(np.array(raw["rounds"]["bytes"])[1:], axis=0)
    return overhead(raw) + 2 * (there + back) / LINES[line]


def overhead(raw):
    """Seconds of a median round of two workers beyond half of the passes that one process makes."""
    return median(raw["rounds"]["seconds"][1:]) - median(raw["rounds"]["in_one_process"][1:]) / 2


def report(raw):
    cases, traffic = raw["threads"], np.array(raw["rounds"]["bytes"])
    serial = raw["quality"][0]["f1"]
    return "\n\n".join([
        f"Load of the machine: {raw['load']:.1f} before, {raw['load_after']:.1f} after. Threads are measured in processor time, which "
        f"other work changes less; rounds by the clock.",
        "## Two shards, two threads",
        "Milliseconds of processor time of an epoch, the median after the first. Two cores take the time of the slower shard and of what "
        "one thread does alone, mixing above all.",
        table(["data", "serial", "slower shard", "alone", "speed-up", "mistakes, serial and mixed"],
              [[name, f"{1e3 * case['serial']:.0f}", f"{1e3 * case['shard']:.0f}", f"{1e3 * case['alone']:.0f}", f"{speed_up(case):.2f}",
                " and ".join(f"{share:.2%}" for share in case["mistakes"])] for name, case in cases.items()]),
        "## Quality", f"F1 of CoNLL-2000, averaged perceptron, shuffled with seed 0, after {EPOCHS} epochs.",
        table(["shards", "epochs", "F1", "beside serial"],
              [[one["shards"], one["epochs"], f"{one['f1']:.2f}", f"{one['f1'] - serial:+.2f}"] for one in raw["quality"]]),
        "## A round",
        f"CoNLL-2000, 2^19 hashed columns, float32, two workers on this machine (load {raw['rounds']['load']:.1f}). A median round takes "
        f"{1e3 * median(raw['rounds']['seconds'][1:]):.0f} ms by the clock, {1e3 * overhead(raw):.0f} ms more than half of the "
        f"{1e3 * median(raw['rounds']['in_one_process'][1:]):.0f} ms that one process takes for both passes and the mixture.",
        table(["round", "MB to each worker", "MB from each worker"],
              [[i + 1, f"{there / 1e6:.2f}", f"{back / 1e6:.2f}"] for i, (there, back) in enumerate(traffic)]),
        table(["line", "round without passes, simulated, ms", "goal: 60 ms + 1.5 bytes / speed"],
              [[line, f"{1e3 * round_times(raw, line):.0f}", f"{1e3 * wanted(raw, line):.0f}"] for line in LINES]),
        "## Killed workers", f"{raw['kills']['equal']} of {raw['kills']['trainings']} trainings of {raw['kills']['rows']:,} rows in 4 "
        f"shards, in each of which one of two workers was killed (kill -9) at a random moment of the {raw['kills']['usual']:.1f} s that an "
        f"undisturbed one takes, ended with the same bits.",
    ])


def wanted(raw, line):
    return ROUND_GOAL + 1.5 * 2 * np.median(np.array(raw["rounds"]["bytes"])[1:], axis=0).sum() / LINES[line]


def goals(raw):
    serial = raw["quality"][0]["f1"]
    four = max(one["f1"] for one in raw["quality"] if one["shards"] == 4)
    found = [job.Goal(f"two threads, {name}", f"≥ {THREADS_GOAL}", f"{speed_up(case):.2f}", speed_up(case) >= THREADS_GOAL)
             for name, case in raw["threads"].items()]
    found.append(job.Goal(f"F1 of 4 shards in at most {LONGER} epochs beside serial", f"≥ -{F1_GOAL}", f"{four - serial:+.2f}",
                          four - serial >= -F1_GOAL))
    found += [job.Goal(f"round at {line}, ms", f"≤ {1e3 * wanted(raw, line):.0f}", f"{1e3 * round_times(raw, line):.0f}",
                       bool(round_times(raw, line) <= wanted(raw, line))) for line in LINES]
    kills = raw["kills"]
    return [*found, job.Goal("trainings with a killed worker that have the same bits", f"{kills['trainings']}", f"{kills['equal']}",
                             kills["equal"] == kills["trainings"])]


if __name__ == "__main__":
    job.run("mixing", "Shards that are trained apart and mixed", measure, report, goals, lambda raw, folder: None)
