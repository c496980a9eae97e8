"""How a command is stopped from outside: SIGTERM acts as Ctrl-C, with an exit code of its own."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager

INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM


class Stops:
    """The signals that came to a command."""

    exit_code = INTERRUPTED

    def terminate(self, *signal_and_frame):
        """Ends the command as Ctrl-C does."""
        self.exit_code = TERMINATED
        raise KeyboardInterrupt


@contextmanager
def handled(stops):
    """SIGTERM ends the block as Ctrl-C does. If the program has its own handler of SIGTERM, or outside its main thread, that stays."""
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    try:
        if ours:
            signal.signal(signal.SIGTERM, stops.terminate)
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
