"""What lists of heads look like: circles, crossing arcs, labels."""

from __future__ import annotations

from structperc.plugin_tools import is_listed


def is_labelled(y):
    """Whether the first word of y has a pair of a head and a label."""
    for arcs in y:
        for arc in arcs if is_listed(arcs) else ():
            return isinstance(arc, (tuple, list)) and len(arc) == 2
    return False


def find_circle(heads):
    """Words that head each other in a circle, or none; heads are those of the words 1..n."""
    done = [False] * (len(heads) + 1)
    done[0] = True
    for start in range(1, len(heads) + 1):
        path = []
        word = start
        while not done[word]:
            done[word] = True
            path.append(word)
            word = heads[word - 1]
        if word in path:
            return path[path.index(word):]
    return []


def find_crossing(heads):
    """Two words whose arcs cross, the arc from the root included, or None; heads are those of a tree's words."""
    spans = sorted((min(m, head), -max(m, head), m) for m, head in enumerate(heads, 1))
    open_spans = []
    for low, high, m in spans:
        while open_spans and open_spans[-1][0] <= low:
            open_spans.pop()
        if open_spans and open_spans[-1][0] < -high:
            return m, open_spans[-1][1]
        open_spans.append((-high, m))
    return None
