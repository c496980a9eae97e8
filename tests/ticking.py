"""Signals that come again and again: a call is interrupted while its compiled work runs, not after it."""

import contextlib
import signal


class Ticks:
    """Handler that raises KeyboardInterrupt once one call of compiled code has looked for signals three times."""

    def __init__(self):
        self.place, self.count = None, 0

    def __call__(self, number, frame):
        place = id(frame), frame.f_lasti
        self.count = self.count + 1 if place == self.place else 1
        self.place = place
        if self.count == 3:
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise KeyboardInterrupt


@contextlib.contextmanager
def ticking(period=0.003):
    """Interrupts a long call of compiled code that looks for signals; one that does not look ends as usual. period: in seconds."""
    before = signal.signal(signal.SIGALRM, Ticks())
    signal.setitimer(signal.ITIMER_REAL, period, period)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
