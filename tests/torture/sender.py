"""A second process that sends one SIGINT, a random time after it is asked for it."""

import mmap
import os
import random
import signal
import struct
import time
from contextlib import contextmanager

ASKED = struct.Struct("d")      # the longest delay in seconds; 0: nothing is asked


class Sender:
    """Asks for interrupts of this process."""

    def __init__(self, memory):
        self.memory = memory

    def ask(self, longest):
        """One SIGINT, within so many seconds."""
        ASKED.pack_into(self.memory, 0, longest)


@contextmanager
def sending(seed):
    """A `Sender` for the time of the block, in which SIGINT raises KeyboardInterrupt."""
    memory, target = mmap.mmap(-1, mmap.PAGESIZE), os.getpid()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = os.fork()
    if process == 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        chosen = random.Random(seed)
        while os.getppid() == target:
            longest, = ASKED.unpack_from(memory)
            if longest:
                ASKED.pack_into(memory, 0, 0.0)
                until = time.perf_counter() + chosen.random() * longest
                while time.perf_counter() < until:      # a sleep is 50 us too long
                    pass
                os.kill(target, signal.SIGINT)
            else:
                time.sleep(5e-6)
        os._exit(0)
    try:
        yield Sender(memory)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        signal.signal(signal.SIGINT, before)
