"""Runs type checkers on right.py and wrong.py, and stubtest on the stubs.

    python tests/typing/check.py

Checkers must find no mistake in right.py, and all mistakes in wrong.py. mypy runs in its strict mode; pyright runs if it is installed.
stubtest of mypy compares the stubs with the compiled modules.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from stubs import MODULES

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCES = os.pathsep.join([str(ROOT), str(ROOT / "plugins")])       # type checkers do not follow the hooks of an editable installation
PATHS = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
FILES = ("right.py", "wrong.py")
CHECKERS = {        # the command, and the form of its messages
    "mypy": ([sys.executable, "-m", "mypy", "--strict", "--follow-imports", "silent"], r"{}:(\d+): error"),
    "pyright": (["pyright", "--pythonpath", sys.executable], r"{}:(\d+):\d+ - error"),
}  # fmt: skip


def printed(command, folder=HERE):
    changed = {"MYPY_CACHE_DIR": os.devnull, "MYPYPATH": SOURCES, "PYTHONPATH": SOURCES, "PATH": PATHS}
    return subprocess.run(command, cwd=folder, env={**os.environ, **changed}, capture_output=True, text=True)


def check(name) -> bool:
    """Whether a checker finds every mistake and no other."""
    command, pattern = CHECKERS[name]
    text = printed([*command, *FILES]).stdout
    right, wrong = ({int(line) for line in re.findall(pattern.format(re.escape(file)), text)} for file in FILES)
    seeded = {i for i, line in enumerate((HERE / "wrong.py").read_text().splitlines(), 1) if re.search(r"  # \d+$", line)}
    print(f"{name} finds {len(seeded & wrong)} of {len(seeded)} mistakes, and {len(right)} in right programs.")
    if wrong != seeded or right:
        print(f"Missed in wrong.py: lines {sorted(seeded - wrong)}.\n{text}")
    return wrong == seeded and not right


def check_stubs() -> bool:
    """Whether the stubs have the names and parameters of the compiled modules."""
    command = [sys.executable, "-m", "mypy.stubtest", "--ignore-missing-stub", "--ignore-disjoint-bases", *MODULES]
    with tempfile.TemporaryDirectory() as folder:       # for the cache of stubtest
        done = printed(command, folder)
    print(done.stdout.splitlines()[-1] if done.stdout else done.stderr)
    if done.returncode:
        print(done.stdout)
    return done.returncode == 0


if __name__ == "__main__":
    installed = [name for name in CHECKERS if name == "mypy" or shutil.which(name, path=PATHS)]
    sys.exit(not all([*map(check, installed), check_stubs()]))
