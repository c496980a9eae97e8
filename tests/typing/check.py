"""Runs mypy in its strict mode on right.py, which has no mistake, and on wrong.py, whose mistakes it must find.

    python tests/typing/check.py
"""

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def found():
    """The lines of each file in which mypy finds a mistake, and what it printed."""
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "right.py", "wrong.py"]
    printed = subprocess.run(command, cwd=HERE, capture_output=True, text=True).stdout
    return {name: {int(line) for line in re.findall(rf"^{name}:(\d+): error", printed, re.MULTILINE)} for name in command[-2:]}, printed


def main():
    lines, printed = found()
    seeded = {i for i, line in enumerate((HERE / "wrong.py").read_text().splitlines(), 1) if re.search(r"  # \d+$", line)}
    missed = sorted(seeded - lines["wrong.py"])
    print(f"mypy finds {len(seeded) - len(missed)} of {len(seeded)} mistakes, and {len(lines['right.py'])} in right programs.")
    if missed or lines["right.py"] or lines["wrong.py"] - seeded:
        print(f"Missed in wrong.py: lines {missed}.\n{printed}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
