"""kill -9 at random moments of a fit with checkpoints and of the save after it: the next run ends in the same bytes, and no file stays."""

import os
import random
import signal
import time
from pathlib import Path

from structperc.callbacks import Checkpoint
from torture.report import Report
from torture.streams import dumped, folder_in_memory, streams


class Job:
    """A fit with checkpoints and a save, to be killed.

    Parameters
    ----------
    stream : Stream
    further : dict
        Engine options besides.
    every : float
        Epochs from one checkpoint to the next.
    """

    def __init__(self, name, stream, every, **further):
        self.name, self.stream, self.every, self.further = name, stream, every, further

    def engine(self, path=None):
        plugins = [*self.stream.options.get("plugins", ()), *self.further.get("plugins", ())]
        if path is not None:
            plugins.append(Checkpoint(path, every=self.every))
        return self.stream.engine(**{**self.further, "plugins": plugins})

    def run(self, folder):
        """What the child does."""
        engine = self.engine(os.path.join(folder, "checkpoint"))
        engine.fit(*self.stream.data, resume=True)
        engine.save(os.path.join(folder, "model"))


def jobs() -> list:
    known = {stream.name: stream for stream in streams(400)}
    batch = {"plugins": ["batch"], "trainer": "bcfw", "average": False, "epochs": 10, "tolerance": 1e-9}
    return [
        Job("shuffled", known["cusum"], 0.3, epochs=12, shuffle=True),
        Job("exact", known["prank"], 1.0, epochs=20),
        Job("decayed", known["multiclass"], 0.7, epochs=15, shuffle=True),
        Job("sequence", known["sequence"], 0.5, epochs=5, shuffle=True),
        Job("ranking", known["ranking"], 2.0, epochs=20),
        Job("kernel", known["kernel"], 0.5, epochs=5, shuffle=True),
        Job("batch", known["cusum"], 1.0, **batch),
    ]


def resumed(n, seed=0) -> Report:
    """So many kills, each followed by a run to the end; every third run is killed once more before."""
    report, chosen, found = Report("kill -9"), random.Random(seed), jobs()
    for job in found:
        undisturbed = dumped(job.engine().fit(*job.stream.data))
        seconds, goal = min(duration(job), duration(job)), report.counts["kills"] + n // len(found)
        while report.counts["kills"] < goal:
            killed(job, seconds, undisturbed, chosen, report)
    return report


def duration(job) -> float:
    with folder_in_memory() as folder:
        began = time.perf_counter()
        os.waitpid(forked(job, folder), 0)
        return time.perf_counter() - began


def forked(job, folder) -> int:
    """A child that runs the job."""
    process = os.fork()
    if process == 0:
        code = 1
        try:
            job.run(folder)
            code = 0
        finally:
            os._exit(code)
    return process


def killed(job, seconds, undisturbed, chosen, report):
    """One kill or more, then a run to the end."""
    with folder_in_memory() as folder:
        for _ in range(chosen.choice((1, 1, 2))):
            process = forked(job, folder)
            time.sleep(chosen.random() * seconds)
            os.kill(process, signal.SIGKILL)
            _, status = os.waitpid(process, 0)
            report.count("kills" if os.WIFSIGNALED(status) else "ended before")
            if any(name.startswith(".structperc-") for name in os.listdir(folder)):
                report.count("while a file was written")
            report.expect(os.WIFSIGNALED(status) or status == 0, f"{job.name}: a run after a kill fails")
        _, status = os.waitpid(forked(job, folder), 0)
        report.expect(status == 0, f"{job.name}: the run after a kill fails")
        model = Path(folder, "model")
        report.count("resumed")
        report.expect(model.exists() and model.read_bytes() == undisturbed, f"{job.name}: the model is not that of an undisturbed run")
        left = [name for name in os.listdir(folder) if name != "model" and not name.startswith("checkpoint")]
        report.expect(not left, f"{job.name}: files are left")
