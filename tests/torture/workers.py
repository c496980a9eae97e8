"""kill -9 of workers of Dask at random moments of a training: it ends with the same bits, or with KilledWorker."""

import os
import random
import signal
import threading
import time

import dask

from structperc.distributed import fit, predict
from torture.report import Report
from torture.streams import dumped, streams

PARTS = 6           # of the data; each worker holds some of them

# Without these, LocalCluster gives a worker up that is not back after 15 s. On a busy machine it takes longer.
PATIENCE = {"distributed.deploy.lost-worker-timeout": "10 minutes", "distributed.comm.timeouts.connect": "5 minutes"}


def killed(n, seed=0) -> Report:
    """So many trainings, in each of which one worker is killed, or both of them are."""
    from dask.distributed import Client, LocalCluster

    report, chosen = Report("workers"), random.Random(seed)
    known = {stream.name: stream for stream in streams(400)}
    with (dask.config.set(PATIENCE),
          LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster) as client):
        for k, name in enumerate(("cusum", "multiclass", "sequence")):
            tries = len(range(k, n, 3))
            if not tries:
                continue
            stream = known[name]
            began = time.perf_counter()
            undisturbed = dumped(trained(stream, client))
            seconds = time.perf_counter() - began
            for _ in range(tries):
                one(stream, client, undisturbed, seconds, chosen, report)
    return report


def parts_of(stream) -> list:
    """The data in parts."""
    X, y = stream.data
    size = -(-len(y) // PARTS)
    return [(X[start:start + size], y[start:start + size]) for start in range(0, len(y), size)]


def trained(stream, client):
    return fit(stream.engine(epochs=6, shuffle=True, n_shards=3), parts_of(stream), client=client)


def one(stream, client, undisturbed, seconds, chosen, report) -> None:
    """A training beside which workers are killed; the cluster starts others in their place."""
    client.wait_for_workers(2, timeout=600)
    processes = list(client.run(os.getpid).values())
    victims = chosen.choice((processes[:1], processes[1:], processes))
    timer = threading.Timer(chosen.random() * seconds, lambda: report.count("workers killed", sum(map(kill, victims))))
    timer.start()
    try:
        engine = trained(stream, client)
    except Exception as error:              # dask gives up a task whose workers died three times
        report.count("trainings ended by an error")
        sentence = type(error).__name__ == "KilledWorker" or str(error).endswith(".")
        report.expect(sentence, f"{stream.name}: {type(error).__name__}: {error!s:.200}")
    else:
        report.count("trainings ended")
        report.expect(dumped(engine) == undisturbed, f"{stream.name}: the model is not that of an undisturbed training")
        answers = [answer for part in dask.compute(*predict(engine, [X for X, _ in parts_of(stream)])) for answer in part]
        report.expect(answers == list(engine.predict(stream.data[0])), f"{stream.name}: workers predict otherwise")
    finally:
        timer.cancel()
        timer.join()


def kill(process) -> bool:
    """Whether it still ran."""
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
