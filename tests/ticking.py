"""Helpers that interrupt a call by signals, once or repeatedly, while its compiled code runs."""

import contextlib
import gc
import signal


class Ticks:
    """Handler that raises KeyboardInterrupt when one call of compiled code checks signals for the third time.

    Unless `once`, it raises another one, with the next number, at each further check of this call.
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
    """Installs `handler` for alarms. The garbage collector is off meanwhile, because Python drops errors in its callbacks."""
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
    """Interrupts a long call of compiled code that checks signals. A call without such checks ends normally.

    period: in seconds; once: see `Ticks`.
    """
    with alarms(Ticks(once)):
        signal.setitimer(signal.ITIMER_REAL, period, period)
        yield


@contextlib.contextmanager
def one_signal(seconds=0.01):
    """Gives a function that raises KeyboardInterrupt after so many seconds, at any place of the program."""
    def send(*_):
        signal.setitimer(signal.ITIMER_REAL, seconds)

    with alarms():
        yield send
