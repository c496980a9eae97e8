"""What a part of the torture found: how often something was done, and what went wrong."""

from collections import Counter


class Report:
    """Counts of what was done, and a line for each wrong outcome.

    Parameters
    ----------
    name : str
    """

    def __init__(self, name):
        self.name, self.counts, self.wrong = name, Counter(), []

    def count(self, what, n=1):
        self.counts[what] += n

    def expect(self, kept, promise):
        """Notes a wrong outcome unless a promise was kept."""
        if not kept:
            self.wrong.append(promise)

    def __str__(self):
        found = ", ".join(f"{n} {what}" for what, n in self.counts.items())
        lines = [f"{self.name}: {found}: {len(self.wrong)} wrong outcomes"]
        lines += [f"    {n} times: {what}" for what, n in Counter(self.wrong).most_common(20)]
        return "\n".join(lines)
