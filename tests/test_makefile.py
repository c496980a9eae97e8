"""Tests of the Makefile: if something is missing, make prints an error about it before it builds anything."""

import os
import shutil
import signal
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def make(folder, *arguments):
    for name in ("Makefile", "pyproject.toml", "setup.py"):
        shutil.copy(ROOT / name, folder)
    for package in ("structperc", "plugins"):
        (folder / package).mkdir()
    outer = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(["make", *map(str, arguments)], cwd=folder, env=outer, capture_output=True, text=True)


def test_without_a_target_it_lists_them(tmp_path):
    done = make(tmp_path)

    assert done.returncode == 0
    listed = [line.split()[1] for line in done.stdout.split("\n") if line.startswith("make ")]
    assert listed == ["demo", "test", "neighbours", "mutants", "fuzz", "torture", "races", "sanitize", "bench", "bench-compare",
                      "reproduce-interval", "reproduce-kernel", "reproduce-ordinal", "reproduce-ranking", "reproduce-structures",
                      "reproduce-all", "report", "docs", "browser", "fresh", "wheel", "test-wheel", "lint", "clean"]


def test_a_comparison_needs_a_commit(tmp_path):
    (tmp_path / "venv").mkdir()
    (tmp_path / "benchmarks").mkdir()
    done = make(tmp_path, "--assume-old=venv/with-bench", "bench-compare", "VENV=venv")
    assert done.returncode and "name the other commit: make bench-compare REF=main" in done.stderr


@pytest.mark.parametrize(("target", "lacking"), [("bench", "benchmarks"), ("reproduce-all", "benchmarks"), ("report", "benchmarks"),
                                                 ("docs", "benchmarks"), ("torture", "tests/torture"), ("mutants", "tests/mutants.py")])
def test_what_the_archive_of_the_sources_lacks_is_named(tmp_path, target, lacking):
    done = make(tmp_path, target, f"PYTHON={sys.executable}")
    assert done.returncode and f"{lacking} is in the repository of structperc, not in this archive of its sources" in done.stderr
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize(("lack", "sentence"), [
    ("PYTHON=no-such-python", "'no-such-python' is no Python that runs here. Install Python 3.10 or newer, or name yours"),
    ("PYTHON=./old-python", "needs Python 3.10 or newer, but './old-python' is 3.8.18. Name a newer one: make PYTHON=python3.12"),
    ("CC=no-such-compiler", "there is no C compiler 'no-such-compiler'. Install one"),
])
def test_what_is_lacking_is_named(tmp_path, lack, sentence):
    old = tmp_path / "old-python"
    old.write_text('#!/bin/sh\ncase "$2" in *print*) echo 3.8.18;; *) exit 1;; esac\n')
    old.chmod(0o755)
    done = make(tmp_path, "test", f"PYTHON={sys.executable}", lack)

    assert done.returncode != 0
    assert sentence in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_all_that_is_missing_is_named_at_once(tmp_path):
    bare = tmp_path / "bare-python"
    bare.write_text("""#!/bin/sh
case "$2" in *print*version*) echo 3.12.1;; *config_var*) echo no-such-compiler;; *version_info*) exit 0;; *) exit 1;; esac
""")
    bare.chmod(0o755)
    done = make(tmp_path, "demo", "PYTHON=./bare-python")
    assert done.returncode and "apt install build-essential python3-dev python3-venv gives all that is missing" in done.stderr


def test_a_name_with_a_space_is_refused(tmp_path):
    done = make(tmp_path, "demo", "VENV=my venv")
    assert done.returncode and "VENV=my venv has a space" in done.stderr


PIP = """
import os, pathlib, subprocess, sys, time
child = subprocess.Popen(["sleep", "60"])
if pathlib.Path("quick").exists():
    child.kill()
    pathlib.Path("runs").open("a").write("run\\n")
    time.sleep(1)
    sys.exit(0)
pathlib.Path("pids.part").write_text(f"{os.getpid()} {child.pid} {os.getppid()}")
os.replace("pids.part", "pids")
time.sleep(60)
"""
STUB = """#!/bin/sh
[ "$1 $2" = "-m venv" ] || exec {python} "$@"
mkdir -p "$4/bin" && ln -sf {python} "$4/bin/python"
"""


# nohup has its children ignore SIGHUP, and a shell cannot trap what it was told to ignore.
UNDER_NOHUP = "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_DFL); os.execvp(sys.argv[1], sys.argv[1:])"


def started(folder, target, *options, times=1):
    """make with a pip of the folder, in a group of its own."""
    make(folder)
    (folder / "pip.py").write_text(PIP)
    (folder / "stub").write_text(STUB.format(python=sys.executable))
    (folder / "stub").chmod(0o755)
    outer = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    make_again = [sys.executable, "-c", UNDER_NOHUP, "make", "PYTHON=./stub", *options, target]
    return [subprocess.Popen(make_again, cwd=folder, env=outer, text=True, start_new_session=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(times)]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("target", [".venv/with-lint", ".venv/installed"])     # without and with a counter
def test_a_signal_leaves_no_process(tmp_path, number, target):
    version = ".".join(map(str, sys.version_info[:3]))
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    process, = started(tmp_path, target, f"--assume-old=.venv/python-{version}")
    wait_for(lambda: (tmp_path / "pids").exists())
    pids = (tmp_path / "pids").read_text().split()
    (os.kill if number == signal.SIGTERM else os.killpg)(process.pid, number)       # a terminal's go to all, kill's only to make
    process.communicate(timeout=20)                                                 # the counter holds the pipe open
    wait_for(lambda: not any(alive(pid) for pid in pids))


def alive(pid):
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "nothing happened in 60 s"
        time.sleep(0.02)


def test_python_starts_in_any_locale_whatever_the_folder_is_called(tmp_path):
    venv.create(tmp_path / "env", with_pip=False)
    python, folder = tmp_path / "env/bin/python", tmp_path / "a é ü"
    subprocess.run(["make", "-s", f"--eval=path: ; {python} -c $(ON_PATH) '{folder}'", "path"], cwd=ROOT, check=True, capture_output=True)
    assert next(tmp_path.glob("env/lib/*/site-packages/structperc.pth")).read_bytes().isascii()
    shown = subprocess.run([python, "-c", f"import sys; print({str(folder)!a} in sys.path)"], capture_output=True,
                           env={**os.environ, "LC_ALL": "C"})
    assert shown.stdout == b"True\n"


@pytest.mark.skipif(not shutil.which("flock"), reason="needs flock")
def test_two_makes_install_one_after_the_other(tmp_path):
    (tmp_path / "quick").touch()
    both = started(tmp_path, ".venv/with-lint", times=2)
    texts = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], texts
    assert sum("waiting for it" in text for text in texts) >= 1 and sum("Making .venv" in text for text in texts) == 1


def test_setup_names_what_is_missing_before_it_translates():
    """The pip route has no make."""
    done = subprocess.run([sys.executable, "-c", "import setup; setup.check_compiler()"], cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, "CC": "no-such-compiler"})
    assert done.returncode and "There is no C compiler 'no-such-compiler'" in done.stderr and "apt install build-essential" in done.stderr
