"""Runs targets in child processes, and counts the outcome of each execution. If a child crashes or hangs, the run continues."""

import contextlib
import faulthandler
import json
import mmap
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from pathlib import Path

from fuzz import kinds
from fuzz.promises import BrokenPromise

SLOT = 4                                # shared numbers of a child: current index, accepted, rejected, time when the index began
POLL = 0.02                             # seconds


def chooser(target, seed, index) -> random.Random:
    """The choices of one execution."""
    return random.Random(f"{target}:{seed}:{index}")


def execute(target, run, seed, index):
    """One execution. Returns whether its input was accepted. If the execution fails, the failure is raised."""
    ignored = []
    sys.unraisablehook = ignored.append         # exceptions that Python only prints
    accepted = run(chooser(target, seed, index))
    if ignored:
        raise BrokenPromise(f"an ignored {ignored[0].exc_type.__name__}: {ignored[0].exc_value} in {ignored[0].object!r:.80}")
    return accepted


def signature(error) -> tuple:
    """The properties that equal failures share: type, message without digits, and the innermost line of this project."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "structperc" in frame.filename and "/fuzz/" not in frame.filename] or list(frames)
    place = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else ""
    shown = str(error)[:40 if isinstance(error, BrokenPromise) else 60]
    message = "".join(" " if letter.isdigit() else letter for letter in shown)
    return type(error).__name__, place, " ".join(message.split())


def child(name, target, seed, indices, slot, failures, memory):
    """Runs some executions of a target. Its progress is in its slot of shared memory, and its failures in a file of lines."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable(open(f"{failures}.{os.getpid()}", "w"))             # noqa: SIM115  stays open until the process ends
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    tempfile.tempdir = tempfile.mkdtemp(prefix="child-")
    accepted = refused = 0
    for index in indices:
        slot[1], slot[2], slot[3], slot[0] = accepted, refused, time.monotonic(), index
        try:
            if execute(name, target.run, seed, index):
                accepted += 1
            else:
                refused += 1
        except BaseException as error:
            refused += 1
            kinds.reset()           # so that the next execution has unchanged engines
            with open(failures, "a") as file:
                line = {"target": name, "index": index, "signature": signature(error), "message": f"{type(error).__name__}: {error!s:.300}"}
                file.write(json.dumps(line) + "\n")
    slot[1], slot[2], slot[0] = accepted, refused, -1


class Runner:
    """Runs children side by side. The next chunk goes to the target with the least time for its share.

    Parameters
    ----------
    targets : dict of Target
    seed : int
    jobs : int
        Children at a time.
    limit : float
        Seconds of one execution before it is a hang.
    memory : int
        Bytes of address space of a child.
    """

    def __init__(self, targets, seed, jobs, limit=5.0, memory=6 << 30):
        self.targets, self.seed, self.jobs, self.limit, self.memory = targets, seed, jobs, limit, memory
        shared = memoryview(mmap.mmap(-1, 8 * SLOT * jobs)).cast("d")
        self.slots = [shared[SLOT * i:SLOT * (i + 1)] for i in range(jobs)]
        self.folder = tempfile.mkdtemp(prefix="structperc-fuzz-")
        self.failures = os.path.join(self.folder, "failures")
        tempfile.tempdir = self.folder          # for the children as well
        self.next = dict.fromkeys(targets, 0)
        self.again = []                         # (name, indices) that a crash cut off
        self.seconds = dict.fromkeys(targets, 0.0)            # of processors
        self.accepted, self.refused = defaultdict(int), defaultdict(int)
        self.broken = []                        # crashes and hangs, in the form of the file of failures
        self.children = {}                      # slot: (process, name, indices)
        for target in targets.values():
            target.prepare()

    def run(self, seconds=None, executions=None):
        """Runs for this number of seconds, or for this number of executions of each target."""
        end = time.monotonic() + (seconds or float("inf"))
        try:
            while True:
                for slot in set(range(self.jobs)) - set(self.children):
                    work = self.work(executions) if time.monotonic() < end else None
                    if work is not None:
                        self.start(slot, *work)
                if not self.children:
                    return
                time.sleep(POLL)
                for slot in list(self.children):
                    self.look(slot)
        finally:
            for process, *_ in self.children.values():
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
            self.lines = self.read_failures()
            shutil.rmtree(self.folder, ignore_errors=True)

    def work(self, executions):
        """The next chunk: a target's name and its indices."""
        if self.again:
            return self.again.pop()
        names = [name for name in self.targets if executions is None or self.next[name] < executions]
        if not names:
            return None
        name = min(names, key=lambda name: self.seconds[name] / self.targets[name].share)
        start = self.next[name]
        self.next[name] = min(start + self.targets[name].chunk, executions or sys.maxsize)
        self.seconds[name] += 1e-3              # until its child ends; two children begin with different targets
        return name, range(start, self.next[name])

    def start(self, slot, name, indices):
        self.slots[slot][0], self.slots[slot][3] = indices[0], time.monotonic()
        sys.stdout.flush()
        process = os.fork()
        if process == 0:
            code = 1
            try:
                child(name, self.targets[name], self.seed, indices, self.slots[slot], self.failures, self.memory)
                code = 0
            finally:
                os._exit(code)
        self.children[slot] = process, name, indices

    def look(self, slot):
        """Kills a child that hangs, and adds the counts of a child that has ended."""
        process, name, indices = self.children[slot]
        hangs = self.slots[slot][0] >= 0 and time.monotonic() - self.slots[slot][3] > self.limit
        if hangs:
            os.kill(process, signal.SIGABRT)    # faulthandler writes the stack
        ended, status, used = os.wait4(process, 0 if hangs else os.WNOHANG)
        if not ended:
            return
        index, accepted, refused, _ = map(int, self.slots[slot])
        del self.children[slot]
        self.seconds[name] += used.ru_utime + used.ru_stime
        self.accepted[name] += accepted
        self.refused[name] += refused
        stack = Path(f"{self.failures}.{process}")
        where = stack.read_text().splitlines() if stack.exists() else []
        with contextlib.suppress(FileNotFoundError):
            stack.unlink()
        if index >= 0:
            what = f"a hang of more than {self.limit:g} s" if hangs else f"a crash, {ended_by(status)}"
            frames = [line.strip() for line in where if line.strip().startswith("File")]
            own = next((line for line in frames if "structperc" in line and "/fuzz/" not in line), frames[0] if frames else "")
            self.broken.append({"target": name, "index": index, "signature": (what, own, ""), "message": f"{what} {own}"})
            self.refused[name] += 1
            rest = range(index + 1, indices[-1] + 1)
            if rest:
                self.again.append((name, rest))

    def read_failures(self):
        try:
            with open(self.failures) as file:
                lines = [json.loads(line) for line in file]
        except FileNotFoundError:
            lines = []
        return lines + self.broken

    def table(self) -> str:
        """A table of executions, accepted and rejected inputs, and failures of each target, and of its executions per second."""
        failures = defaultdict(int)
        for line in self.lines:
            failures[line["target"]] += 1
        rows = [("target", "executions", "accepted", "refused", "failures", "each second")]
        done = [name for name in self.targets if self.accepted[name] + self.refused[name]]
        for name in done:
            n = self.accepted[name] + self.refused[name]
            rows.append((name, n, self.accepted[name], self.refused[name] - failures[name], failures[name], round(n / self.seconds[name])))
        totals = [sum(row[i] for row in rows[1:]) for i in range(1, 5)]
        rows.append(("all", *totals, round(totals[0] / max(sum(self.seconds[name] for name in done), 1e-9))))
        return "\n".join(f"{row[0]:12}" + "".join(f"{cell:>12}" for cell in row[1:]) for row in rows)

    def summary(self) -> list:
        """A line for each kind of failure: the first execution, the number, the message and the place."""
        kinds = {}
        for line in self.lines:
            kinds.setdefault((line["target"], *line["signature"]), []).append(line)
        return [f"{lines[0]['target']}:{self.seed}:{min(line['index'] for line in lines)}  ({len(lines)} times)  "
                f"{lines[0]['message']}  [{lines[0]['signature'][1]}]" for lines in kinds.values()]


def ended_by(status) -> str:
    code = os.waitstatus_to_exitcode(status)
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
