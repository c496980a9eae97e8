"""How a command is stopped from outside: SIGTERM acts as Ctrl-C, and its exit code says which it was."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager

INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM


class Stops:
    """The signals that came to a command.

    Attributes
    ----------
    exit_code : int
    """

    exit_code = INTERRUPTED

    def terminate(self, *signal_and_frame):
        """Ends the command as Ctrl-C does."""
        self.exit_code = TERMINATED
        raise KeyboardInterrupt


@contextmanager
def stops():
    """`Stops`, for the time of the block; in a program with an own handler of SIGTERM, and outside its main thread, that stays."""
    noted = Stops()
    handled = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if handled:
        signal.signal(signal.SIGTERM, noted.terminate)
    try:
        yield noted
    finally:
        if handled:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
