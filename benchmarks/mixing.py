"""Shards that are trained apart and mixed: speed and error with two threads, rounds on Dask's workers, and killed workers.

`mixing_quality.py` trains up to 64 shards, `mixing_files.py` on files larger than a worker's memory.
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
from structperc.fitting import shards as engine_shards
from structperc.metrics import phrase_scores

EPOCHS, TURNS = 10, 3                       # of a training; trainings of each kind, in turns
THREADS_GOAL, F1_GOAL, ERROR_GOAL = 1.7, 0.1, 0.005
KILLS, KILLED_ROWS = 20, 20_000
CHUNKS = "CoNLL-2000"
LINES = {"1 Gbit/s": 1e9 / 8, "10 Gbit/s": 1e10 / 8}
WORKERS = (2, 4, 8, 16)                     # simulated, of which 2 are measured
ROUND_GOAL = 0.060                          # seconds, and 1.5 times the bytes at the speed of the line


def measure(quick):
    chunks = sentences.chunking(quick)
    words, tags = chunks.strings(chunks.train), sentences.labels(chunks.train)
    held_out = chunks.strings(chunks.test), sentences.labels(chunks.test)
    X, y = ratings(22_000 if quick else 1_100_000)
    n = len(y) * 10 // 11
    cases = {
        CHUNKS: threads("sequence", words, tags, lambda engine: 100 * phrase_scores(held_out[1], engine.predict(held_out[0])).f1, quick),
        f"{n:,} rows of 50 columns": threads("cusum", X[:n], y[:n], lambda engine: float(np.abs(engine.predict(X[n:]) - y[n:]).mean()),
                                             quick),
    }
    raw = {"threads": cases, "rounds": rounds(words, tags), "kills": kills(3 if quick else KILLS, KILLED_ROWS)}
    return {**raw, "load_after": os.getloadavg()[0]}


def ratings(n, columns=50):
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n, columns), dtype=np.float32)
    return X, 1 + np.digitize(X @ generator.standard_normal(columns) / 7 + 0.5 * generator.normal(size=n), [-1.5, -0.5, 0.5, 1.5])


# ---- two threads ----


def threads(problem, X, y, quality, quick):
    """Seconds of an epoch by the clock, and processor seconds: of serial training, of the slower of two shards, and of what only one thread
    does. The median epoch after the first, which reads the data and gets the memory, of trainings that take turns.
    """
    found = {n: {"clock": [], "whole": [], "slower": [], "alone": []} for n in (1, 2)}
    for _ in range(1 if quick else TURNS):
        for n, kept in found.items():
            passes, clock = [], Clock()
            with watched(passes):
                engine = Engine(problem, preset="paper", epochs=EPOCHS, average=True, shuffle=True, random_state=0, n_jobs=n,
                                plugins=[clock],
                                **{"n_shards": n, "trainer": "bounded-sum"} if n > 1 else {}).fit(X, y)
            whole = np.diff(clock.processor)
            pairs = np.array(passes).reshape(-1, 2)[1:] if n == 2 else np.stack([whole, np.zeros(len(whole))], axis=1)
            kept["clock"] += np.diff(clock.seconds).tolist()
            kept["whole"] += whole.tolist()
            kept["slower"] += pairs.max(axis=1).tolist()
            kept["alone"] += (whole - pairs.sum(axis=1)).tolist()
            kept["mistakes"], kept["quality"] = engine.mistakes_[-1] / len(y), quality(engine)
    return {"clock": [median(kept["clock"]) for kept in found.values()], "serial": median(found[1]["whole"]),
            "shard": median(found[2]["slower"]), "alone": median(found[2]["alone"]),
            "mistakes": [kept["mistakes"] for kept in found.values()], "quality": [kept["quality"] for kept in found.values()]}


class Clock:
    """Notes the time and the processor time at the end of each epoch."""

    def __init__(self):
        self.seconds, self.processor = [], []

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        self.seconds.append(time.perf_counter())
        self.processor.append(time.process_time())


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


# ---- rounds on workers ----


def rounds(words, tags):
    """Seconds of each round of two workers on this machine and of only the passes, and bytes in both directions."""
    from distributed import Client, LocalCluster

    n = max(WORKERS)
    parts = [(words[i::n], tags[i::n]) for i in range(n)]
    options = {"classes": sorted({tag for sentence in tags for tag in sentence}), "n_hashed": 1 << 19, "epochs": EPOCHS, "average": True,
               "shuffle": True, "random_state": 0, "trainer": "bounded-sum"}
    history = History()
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        fit(Engine("sequence", preset="paper", n_shards=2, plugins=[history], **options), parts, client=client)
    traffic, alone = {}, {}
    for shards in WORKERS:
        with watched_bytes() as watcher:
            records = History()
            fit(Engine("sequence", preset="paper", n_shards=shards, plugins=[records], **options), parts)
        traffic[str(shards)], alone[str(shards)] = watcher.rounds(), [record.seconds for record in records.records]
    return {"seconds": [record.seconds for record in history.records], "in_one_process": alone, "bytes": traffic,
            "load": os.getloadavg()[0]}


class watched_bytes:
    """Counts the bytes that shards receive and return."""

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
        engine = Engine("cusum", preset="paper", classes=[1, 2, 3, 4, 5], n_shards=4, epochs=EPOCHS, average=True, shuffle=True,
                        random_state=0)
        begin = time.perf_counter()
        fit(engine, parts, client=client)
        return engine.parts_.weights.vector(), time.perf_counter() - begin

    # A LocalCluster closes the process of a lost worker for good after 15 s, even if it is starting again
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
    """Of two cores that nothing else uses."""
    return case["serial"] / (case["shard"] + case["alone"])


def by_the_clock(case):
    return case["clock"][0] / case["clock"][1]


def as_good(name, case):
    """Whether two shards are as good as one: chunks by F1, ranks by the mean absolute error."""
    serial, mixed = case["quality"]
    return mixed >= serial - F1_GOAL if name == CHUNKS else mixed <= (1 + ERROR_GOAL) * serial


def overhead(raw):
    """Seconds of a median round of two workers beyond half of the passes that one process makes."""
    return median(raw["rounds"]["seconds"][1:]) - median(raw["rounds"]["in_one_process"]["2"][1:]) / 2


def sent(raw, workers):
    """Bytes of a median round to and from all workers; the first round is left out."""
    return workers * float(np.median(np.array(raw["rounds"]["bytes"][str(workers)])[1:], axis=0).sum())


def round_time(raw, line, workers=2):
    """Seconds of a round without the passes: the overhead measured with two workers, and the bytes through the caller's line."""
    return overhead(raw) + sent(raw, workers) / LINES[line]


def epoch_time(raw, line, workers):
    """The same with the passes, of which one process makes one after the other."""
    return round_time(raw, line, workers) + median(raw["rounds"]["in_one_process"][str(workers)][1:]) / workers


def report(raw):
    cases, traffic = raw["threads"], np.array(raw["rounds"]["bytes"]["2"])
    return "\n\n".join([
        f"Load of the machine: {raw['load']:.1f} before, {raw['load_after']:.1f} after.",
        "## Two shards, two threads",
        f"Averaged, shuffled, mixed by the bounded sum. Milliseconds of an epoch are the median after the first of {TURNS} trainings in "
        f"turns, of {EPOCHS} epochs each. They are by the clock and of processor time, which other work changes less. Two cores of their "
        "own "
        f"take the time of the slower shard and of the work of one thread. Quality on held-out data: F1 of chunks, mean absolute error of "
        f"ranks.",
        table(["data", "clock, serial", "clock, two threads", "speed-up", "processor, serial", "slower shard", "alone", "speed-up",
               "mistakes of the last epoch", "quality"],
              [[name, *(f"{1e3 * seconds:.0f}" for seconds in case["clock"]), f"{by_the_clock(case):.2f}",
                *(f"{1e3 * case[key]:.0f}" for key in ("serial", "shard", "alone")), f"{speed_up(case):.2f}",
                " and ".join(f"{share:.2%}" for share in case["mistakes"]), " and ".join(f"{one:.4g}" for one in case["quality"])]
               for name, case in cases.items()]),
        "## A round",
        f"CoNLL-2000, 2^19 hashed columns, float32, two workers on this machine (load {raw['rounds']['load']:.1f}). The first round, in "
        f"which workers get the data and make features of them, takes {raw['rounds']['seconds'][0]:.1f} s. A median round takes "
        f"{1e3 * median(raw['rounds']['seconds'][1:]):.0f} ms by the clock. One process takes "
        f"{1e3 * median(raw['rounds']['in_one_process']['2'][1:]):.0f} ms for both passes and the mixture. The round takes "
        f"{1e3 * overhead(raw):.0f} ms more than half of that.",
        table(["round", "MB to each worker", "MB from each worker"],
              [[i + 1, f"{there / 1e6:.2f}", f"{back / 1e6:.2f}"] for i, (there, back) in enumerate(traffic)]),
        "Simulated: the sum of three times. The first is the overhead measured with two workers. The second is that of a median round's "
        "bytes at the speed of the caller's line. The third is that of the passes in one process, divided by the workers.",
        table(["workers", "MB of a round, both ways", *(f"{what}, {line}, ms" for line in LINES for what in ("round, no passes", "epoch"))],
              [[n, f"{sent(raw, n) / 1e6:.1f}", *(f"{1e3 * seconds(raw, line, n):.0f}" for line in LINES
                                                 for seconds in (round_time, epoch_time))] for n in WORKERS]),
        "## Killed workers", f"{raw['kills']['equal']} of {raw['kills']['trainings']} trainings of {raw['kills']['rows']:,} rows in 4 "
        f"shards ended with the same bits. In each, one of two workers was killed (kill -9) at a random moment. An undisturbed training "
        f"takes {raw['kills']['usual']:.1f} s.",
    ])


def wanted(raw, line):
    return ROUND_GOAL + 1.5 * sent(raw, 2) / LINES[line]


def goals(raw):
    found = []
    for name, case in raw["threads"].items():
        ratio = by_the_clock(case)
        found.append(job.Goal(f"two threads at equal error, {name}", f"≥ {THREADS_GOAL}", f"{ratio:.2f}",
                              ratio >= THREADS_GOAL and as_good(name, case)))
    found += [job.Goal(f"round at {line}, ms", f"≤ {1e3 * wanted(raw, line):.0f}", f"{1e3 * round_time(raw, line):.0f}",
                       round_time(raw, line) <= wanted(raw, line)) for line in LINES]
    kills = raw["kills"]
    return [*found, job.Goal("trainings with a killed worker that have the same bits", f"{kills['trainings']}", f"{kills['equal']}",
                             kills["equal"] == kills["trainings"])]


if __name__ == "__main__":
    job.run("mixing", "Shards that are trained apart and mixed", measure, report, goals, lambda raw, folder: None)
