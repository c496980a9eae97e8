"""Signals that come again and again, or once: a call is interrupted while its compiled work runs, not after it."""

import contextlib
import gc
import signal


class Ticks:
    """Handler that raises KeyboardInterrupt once one call of compiled code has looked for signals three times.

    Unless `once`, it raises another one, with the next number, each time that this call looks again.
    """

    def __init__(self, once):
        self.once, self.place, self.count = once, None, 0

    def __call__(self, number, frame):
        place = id(frame), frame.f_lasti
        self.count = self.count + 1 if place == self.place else 1
        self.place = place
        if self.count >= 3:
            if self.once:
                signal.setitimer(signal.ITIMER_REAL, 0)
            raise KeyboardInterrupt(self.count - 2)


@contextlib.contextmanager
def alarms(handler=signal.default_int_handler):
    """Has alarms answered by `handler`. Nothing is collected meanwhile: Python drops errors of the collector's callbacks."""
    collects, before = gc.isenabled(), signal.signal(signal.SIGALRM, handler)
    gc.disable()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if collects:
            gc.enable()


@contextlib.contextmanager
def ticking(period=0.003, once=True):
    """Interrupts a long call of compiled code that looks for signals; one that does not look ends as usual.

    period: in seconds; once: see `Ticks`.
    """
    with alarms(Ticks(once)):
        signal.setitimer(signal.ITIMER_REAL, period, period)
        yield


@contextlib.contextmanager
def one_signal(seconds=0.01):
    """Gives a function that has KeyboardInterrupt raised so many seconds later, wherever the program then is."""
    def send(*_):
        signal.setitimer(signal.ITIMER_REAL, seconds)

    with alarms():
        yield send
