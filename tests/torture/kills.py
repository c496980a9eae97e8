"""kill -9 at random moments of a fit or stream with checkpoints, and of the save: the next run ends in the same bytes, no file stays."""

import os
import random
import signal
import time
from pathlib import Path

from structperc.basics.writing import replace_file
from structperc.callbacks import Checkpoint
from structperc.cli import main
from structperc.streams import Slices, fit_stream
from torture.report import Report
from torture.streams import dumped, folder_in_memory, streams

ROWS = 40           # of a part
ROWS_OF_A_FILE = "a,b,level\n" + "".join(f"{i % 7 - 3},{i * i % 11},{(i + i // 5) % 3 + 1}\n" for i in range(400))


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
        self.trained(self.engine(os.path.join(folder, "checkpoint")), resume=True).save(os.path.join(folder, "model"))

    def trained(self, engine, resume=False):
        return engine.fit(*self.stream.data, resume=resume)

    def undisturbed(self) -> bytes:
        """The model of a training that nobody kills."""
        return dumped(self.trained(self.engine()))


class StreamJob(Job):
    """A training on a stream; `every` counts parts."""

    def trained(self, engine, resume=False):
        return fit_stream(engine, Slices(*self.stream.data, rows=ROWS), resume=resume)


class CommandJob(Job):
    """`structperc fit --stream` with these settings, on a file of rows."""

    def run(self, folder):
        data = os.path.join(folder, "rows.csv")
        if not os.path.exists(data):
            replace_file(data, lambda file: file.write(ROWS_OF_A_FILE.encode()))
        settings = [word for name, value in self.further.items() for word in ("--set", f"{name}={value}")]
        code = main(["fit", self.stream.options["problem"], data, "--target", "level", "--stream", *settings, "--quiet",
                     "--rows", str(ROWS), "--model", os.path.join(folder, "model"), "--checkpoint", os.path.join(folder, "checkpoint"),
                     "--resume"])
        if code:
            raise SystemExit(code)

    def undisturbed(self):
        with folder_in_memory() as folder:
            self.run(folder)
            return Path(folder, "model").read_bytes()


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
        Job("shards", known["cusum"], 1.0, epochs=12, shuffle=True, n_shards=3),
        StreamJob("stream", known["cusum"], 1, epochs=5, shuffle=True),
        StreamJob("scaled stream", known["multiclass"], 3, epochs=5, scale=True, class_weight={2: 3.0}),
        StreamJob("stream in shards", known["multiclass"], 1, epochs=4, shuffle=True, n_shards=3, average=True),
        StreamJob("stream of sequences", known["sequence"], 2, epochs=4, shuffle=True, n_hashed=1024, n_shards=2),
        CommandJob("--stream", known["cusum"], 1, epochs=4, average="true", random_state=0),
        CommandJob("--stream in shards", known["cusum"], 1, epochs=3, scale="true", n_shards=2, random_state=0),
    ]


def resumed(n, seed=0) -> Report:
    """So many kills, each followed by a run to the end; every third run is killed once more before."""
    report, chosen, found = Report("kill -9"), random.Random(seed), jobs()
    for job in found:
        undisturbed = job.undisturbed()
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
        left = [name for name in os.listdir(folder) if name not in ("model", "rows.csv") and not name.startswith("checkpoint")]
        report.expect(not left, f"{job.name}: files are left")
