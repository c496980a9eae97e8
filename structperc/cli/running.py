"""One command from its arguments to its exit code."""

from __future__ import annotations

import os
import sys
import traceback
import warnings

from structperc.cli.stopping import Stops, handled
from structperc.cli.terminal import say_fault, with_flags
from structperc.errors import DataWarning, OptionError, ScaleWarning, StructPercError, did_you_mean


def main(argv=None) -> int:
    """Runs the command of these arguments, by default those of the process; returns the exit code."""
    stops, name, arguments = None, "structperc", None           # no call, which could raise KeyboardInterrupt, before the try
    try:
        refuse_closed_output()
        stops = Stops()
        with handled(stops):            # within the try: Ctrl-C may come while the handler is set or restored
            from structperc.cli.parser import build

            arguments = build().parse_args(argv)
            name = f"structperc {arguments.command}"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore" if getattr(arguments, "quiet", False) else "always", DataWarning)
                warnings.simplefilter("ignore", ScaleWarning)           # the summary of fit has it
                warnings.showwarning = lambda message, *_, **__: say_fault(name, with_flags(message))
                code = arguments.run(arguments)
            sys.stdout.flush()
            return code
    except SystemExit as stop:      # argparse has printed the help, the version, or what is wrong
        return stop.code or 0
    except KeyboardInterrupt as stop:
        say_fault(name, str(stop) or "interrupted")
        return (stops or Stops).exit_code
    except BrokenPipeError:         # the reader of a pipe has seen enough; nothing may be written at exit either
        drop_output()
        return 0
    except Exception as error:      # unexpected errors are printed as one line too
        if arguments is not None and arguments.traceback:
            traceback.print_exc()
        say_fault(name, sentence(error, arguments))
        drop_unwritable_output()
        return 2


def sentence(error, arguments=None) -> str:
    """The error on one line, for the command with these arguments."""
    if isinstance(error, FileNotFoundError) and isinstance(error.filename, str):
        return f"{error.filename}: {error.strerror}.{near_file(error.filename)}"
    if isinstance(error, OSError) and error.strerror:
        return f"{'reading or writing failed' if error.filename is None else error.filename}: {error.strerror}."
    text = " ".join(str(error).split())
    if isinstance(error, (StructPercError, OSError)):
        return text
    if isinstance(error, MemoryError):
        advice = "Train with fewer features or labels, or hash them"
        if getattr(arguments, "command", None) == "fit":
            advice += ". Read fewer rows at a time with --rows" if arguments.stream else ", or read the data in parts with fit --stream"
        return f"the memory of this machine does not suffice{f' ({text})' if text else ''}. {advice}."
    if isinstance(error, UnicodeEncodeError):
        return (f"standard output takes text in {error.encoding}, which lacks {error.object[error.start]!r}; write to a file with "
                f"--output, or set PYTHONIOENCODING=utf-8.")
    return f"{type(error).__name__}: {text or 'an error without a message'} (--traceback shows where)"


def near_file(path) -> str:
    """A file whose name is almost the same, as the end of a message."""
    folder, name = os.path.split(path)
    try:
        return did_you_mean(name, os.listdir(folder or "."))
    except OSError:
        return " There is no such folder." if folder else ""


def refuse_closed_output() -> None:
    """Raises an error if standard output is closed. A closed standard error becomes the null device."""
    closed = sys.stdout is None
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))          # noqa: SIM115 (until the process ends)
    if closed:
        raise OptionError("standard output is closed; write it to a file, as in > results.txt, or to /dev/null.")


def drop_unwritable_output() -> None:
    """Forgets what standard output does not take, which Python would complain of at exit."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        drop_output()


def drop_output() -> None:
    """From now on, standard output goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
