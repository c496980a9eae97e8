"""Results of single fits, kept in a file as they come: an experiment of hours goes on where it was interrupted."""

import concurrent.futures
import contextlib
import json
import time
from pathlib import Path

import attrs
import fingerprint

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "reproduce-ordinal"


@attrs.frozen
class Fit:
    """A call of a function of a module, with arguments and a result that JSON can write."""

    function: object
    arguments: dict

    @property
    def key(self):
        """Another one where the code has changed that the fit depends on: a kept result is never that of other code."""
        return f"{fingerprint.of(self.function)} {self.function.__name__} {json.dumps(self.arguments, sort_keys=True)}"

    def __call__(self):
        return self.function(**self.arguments)


class Remembered:
    """What fits returned, in this run or a former one.

    Parameters
    ----------
    path : Path
        A file of JSON, a line for each fit; made where it is missing.
    jobs : int
        Processes that fit at the same time.
    until : float, optional
        The time of `time.monotonic` from which no further fit begins.
    """

    def __init__(self, path, jobs=1, until=None):
        self.path, self.jobs, self.until, self.found = path, jobs, until, {}
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+") as file:
            file.seek(0)
            *lines, unfinished = file.read().split("\n")
            file.write("\n" * bool(unfinished))                 # of a run that was killed while it wrote
        for line in filter(None, lines):
            with contextlib.suppress(json.JSONDecodeError):
                entry = json.loads(line)
                self.found[entry["key"]] = entry["result"]

    def results(self, fits):
        """The result of each fit, None of those that there was no time for; fits begin in the order given."""
        waiting = iter([fit for fit in fits if fit.key not in self.found])
        with concurrent.futures.ProcessPoolExecutor(self.jobs) as pool, self.path.open("a") as file:
            running = {}
            while True:
                while len(running) < self.jobs and self.time_left() and (fit := next(waiting, None)) is not None:
                    running[pool.submit(fit)] = fit
                if not running:
                    break
                done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                for one in done:
                    key = running.pop(one).key
                    self.found[key] = one.result()
                    file.write(json.dumps({"key": key, "result": self.found[key]}) + "\n")
                file.flush()
        return [self.found.get(fit.key) for fit in fits]

    def time_left(self):
        return self.until is None or time.monotonic() < self.until
