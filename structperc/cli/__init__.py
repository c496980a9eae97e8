"""The command line: `structperc plugins | fit | predict | evaluate | plot | new | check`.

Exit codes: 0 fine, 1 a check failed, 2 wrong usage or data, 130 Ctrl-C.
"""

from __future__ import annotations

import os
import sys
import traceback

from structperc.cli.parser import build
from structperc.errors import StructPercError


def main(argv=None) -> int:
    """Runs one command.

    Parameters
    ----------
    argv : list of str, optional
        The arguments; those of the process.

    Returns
    -------
    int
        The exit code.
    """
    try:
        arguments = build().parse_args(argv)
    except SystemExit as stop:      # argparse has printed the help, the version, or what is wrong
        return stop.code or 0
    try:
        code = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt as stop:
        print(f"structperc {arguments.command}: {stop or 'interrupted'}", file=sys.stderr)
        return 130
    except BrokenPipeError:         # the reader of a pipe has seen enough; nothing may be written at exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (StructPercError, OSError, ValueError) as error:
        if arguments.traceback:
            traceback.print_exc()
        print(f"structperc {arguments.command}: {sentence(error)}", file=sys.stderr)
        return 2


def sentence(error) -> str:
    """The error on one line."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    text = " ".join(str(error).split())
    return text if isinstance(error, (StructPercError, OSError)) else f"{type(error).__name__}: {text} (--traceback shows where)"
