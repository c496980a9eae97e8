"""How many processes or threads are worth starting. setup.py runs this file too, so it imports nothing of structperc."""

import os


def available_cores() -> int:
    """The cores that this process may use: a job is often bound to a few of the machine's. Returns an int. At least 1.

    Examples
    --------
    >>> from structperc.plugin_tools import available_cores
    >>> available_cores() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
