"""`structperc watch`: the page on which a perceptron learns before one's eyes."""

from __future__ import annotations

import tempfile
import webbrowser
from pathlib import Path

from structperc.basics.writing import replace_file
from structperc.cli.commands import Command, path
from structperc.cli.files import check_writable
from structperc.cli.terminal import say
from structperc.pages import page


def watch(arguments) -> int:
    """Writes the page to the file that is asked for, or opens it in the browser."""
    output = arguments.output
    if output is not None:
        check_writable("the page", output)
    path = Path(tempfile.mkdtemp(prefix="structperc-"), "watch.html") if output is None else Path(output)
    replace_file(path, lambda file: file.write(page("watch.html").encode()))
    if output is None and not webbrowser.open(path.as_uri()):
        say(f"No browser could be opened; open {path} in one.")
    return 0


def watch_arguments(made) -> None:
    made.add_argument("--output", metavar="FILE", type=path, help="write the page to this file, and do not open it")


WATCH = Command(watch, watch_arguments, """\
example:
  structperc watch --output watch.html  one file, which works offline

Step, run and pause; ranks, a sentence and a tree. The steps equal those of the
update rules of this library.
""")
