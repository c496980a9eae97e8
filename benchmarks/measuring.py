"""How everything here is measured: CPU time of one thread, contenders taking turns, medians with their range."""

import contextlib
import ctypes
import functools
import gc
import os
import platform
import statistics
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
PACKAGES = ("structperc", "numpy", "scipy", "scikit-learn", "mord", "skordinal", "python-crfsuite", "lightgbm",
            "libsvm-official", "ufal.chu_liu_edmonds", "networkx")
ROUNDS = 5


def single_thread():
    """Starts this program again with one BLAS and OpenMP thread, unless it runs so already: libraries read this when they load."""
    if any(os.environ.get(name) != value for name, value in THREADS.items()):
        os.environ.update(THREADS)
        os.execv(sys.executable, [sys.executable, *sys.argv])


def cpu_seconds(function, *arguments):
    """CPU seconds (user and system) that this process spends in one call."""
    begin = time.process_time()
    function(*arguments)
    return time.process_time() - begin


def example_costs(fit, epochs, n):
    """Nanoseconds per example and epoch, what a fit costs once taken off: (time of 1 + epochs epochs - time of 1 epoch) / epochs.

    `fit(epochs)` trains a fresh model.
    """
    first = cpu_seconds(fit, 1)
    return (cpu_seconds(fit, 1 + epochs) - first) / epochs / n * 1e9


def take_turns(contenders, rounds=ROUNDS):
    """Calls each contender once a round, in turns, so that other work on the machine slows all of them.

    Parameters
    ----------
    contenders : dict of str to function without arguments

    Returns
    -------
    dict of str to list
        What each returned, round by round.
    """
    found = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, measure in contenders.items():
            found[name].append(measure())
    return found


def ratios(numerators, denominators):
    """Quotients of the same rounds."""
    return [a / b for a, b in zip(numerators, denominators, strict=True)]


def median(values):
    return statistics.median(values)


def spread(values, digits=3):
    """"median (lowest-highest)" for a table."""
    if len(values) == 1:
        return shown(values[0], digits)
    return f"{shown(median(values), digits)} ({shown(min(values), digits)}–{shown(max(values), digits)})"


def shown(value, digits=3):
    """A number with so many significant digits, without exponents."""
    if value == 0:
        return "0"
    text = f"{float(f'{value:.{digits}g}'):,f}".rstrip("0").rstrip(".")
    whole = len(text.split(".")[0].lstrip("-0").replace(",", ""))
    return f"{value:,.{max(0, digits - whole)}f}" if abs(value) >= 1 else text


def table(headings, rows):
    """A Markdown table."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def resident_mib():
    """Memory of this process that is in use now, or None if the system does not report it."""
    return status("VmRSS")


def status(key):
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{key}:")), None)


def peak_growth(function):
    """What a call returns, and by how many MiB it raises the size of the process (None if unknown)."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)                    # glibc: give back what was freed, or it is filled again unseen
    try:
        Path("/proc/self/clear_refs").write_text("5")       # forget the highest size so far
    except OSError:
        return function(), None
    before = status("VmRSS")
    result = function()
    return result, max(0.0, status("VmHWM") - before)


def machine():
    """Processor, system and versions, as lines of text."""
    return [
        f"{processor()}, {os.cpu_count()} cores; {platform.system()} {platform.machine()}; Python {platform.python_version()}; one thread",
        ", ".join(f"{name} {installed(name)}" for name in PACKAGES),
    ]


def circumstances():
    """What a record has beside its figures: day, commit, machine and its load.

    The commit has a plus sign if tracked files differ from it, results left out.
    """
    return {"measured": time.strftime("%Y-%m-%d"), "commit": commit(), "load": os.getloadavg()[0], "machine": machine()}


def commit():
    git = functools.partial(subprocess.run, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    found = git(["git", "rev-parse", "HEAD"])
    changed = git(["git", "status", "--porcelain", "--untracked-files=no", "--", ":/", ":!results"])
    return found.stdout.strip() + "+" * bool(changed.stdout) if found.returncode == 0 else "unknown"


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    facts = dict(line.split(":", 1) for line in reversed(lines) if ":" in line)
    facts = {key.strip(): value.strip() for key, value in facts.items()}
    caches = [f"{path.joinpath('size').read_text().strip()} L{path.joinpath('level').read_text().strip()}"
              for path in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"))
              if path.joinpath("type").read_text().strip() != "Instruction"]
    return f"{facts.get('model name', platform.processor())} (family {facts.get('cpu family', '?')}; {', '.join(caches)})"


def installed(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
