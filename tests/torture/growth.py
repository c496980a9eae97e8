"""Memory after millions of calls: the growth of the resident set after a warm-up."""

import os

from torture.report import Report
from torture.streams import streams


def resident() -> int:
    """Bytes of this process in memory, from /proc."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def one_row_calls(n) -> Report:
    """Memory after n calls of partial_fit with one row, and after n // 20 calls with new strings and a budget."""
    report = Report("memory of one-row partial_fit")
    if not os.path.exists("/proc/self/statm"):
        report.count("calls, since this system tells no resident set", 0)
        return report
    known = {stream.name: stream for stream in streams()}
    grown(report, "rows", known["cusum"], n, lambda stream, i: stream.examples[i % len(stream.examples)])
    grown(report, "new strings", known["strings"], n // 20, lambda stream, i: ([new_string(i)], [1 + i % 4]))
    return report


def new_string(i):
    """A string whose symbols differ from those of other strings."""
    return "".join(chr(0x100 + (i * 7919 + k * 104729) % 0xD000) for k in range(6))


def grown(report, name, stream, n, example):
    """Makes n calls and checks the growth of memory; a tenth of them are a warm-up."""
    engine = stream.engine()
    for i in range(n // 10):
        engine.partial_fit(*example(stream, i))
    before = resident()
    for i in range(n // 10, n):
        engine.partial_fit(*example(stream, i))
    growth = resident() - before
    report.count(f"calls with {name}", n)
    report.count(f"kB grown with {name}", growth // 1024)
    report.expect(growth < 1 << 20, f"{name}: {growth >> 10} kB more after {n} calls")
