"""What lists of heads look like: circles, crossing arcs, labels."""

from __future__ import annotations

from structperc.plugin_tools import is_listed


def is_labelled(y):
    """Whether the first word of y has a pair of a head and a label.

    Parameters
    ----------
    y : list of trees
        Heads, or pairs (head, label).

    Returns
    -------
    bool

    Examples
    --------
    >>> from structperc_parsing.heads import is_labelled
    >>> is_labelled([[(0, "root")]]), is_labelled([[0]])
    (True, False)
    """
    for arcs in y if is_listed(y) else ():
        for arc in arcs if is_listed(arcs) else ():
            return isinstance(arc, (tuple, list)) and len(arc) == 2
    return False


def find_circle(heads):
    """Words that head each other in a circle, or none; heads are those of the words 1..n.

    Parameters
    ----------
    heads : sequence of int of length n
        Heads of words 1..n; 0 is the root.

    Returns
    -------
    list of int

    Examples
    --------
    >>> from structperc_parsing.heads import find_circle
    >>> sorted(find_circle([2, 1, 0]))
    [1, 2]
    """
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
    """Two words whose arcs cross, the arc from the root included, or None; heads are those of a tree's words.

    Parameters
    ----------
    heads : sequence of int of length n
        Heads of words 1..n; 0 is the root.

    Returns
    -------
    (int, int) or None

    Examples
    --------
    >>> from structperc_parsing.heads import find_crossing
    >>> find_crossing([0, 1, 1]) is None, sorted(find_crossing([3, 4, 0, 3]))
    (True, [1, 2])
    """
    spans = sorted((min(m, head), -max(m, head), m) for m, head in enumerate(heads, 1))
    open_spans = []
    for low, high, m in spans:
        while open_spans and open_spans[-1][0] <= low:
            open_spans.pop()
        if open_spans and open_spans[-1][0] < -high:
            return m, open_spans[-1][1]
        open_spans.append((-high, m))
    return None


def lifted(heads):
    """The heads of a tree made projective (Nivre and Nilsson 2005).

    An arc is not projective if it spans a word that does not descend from its head. While there are such arcs, the dependent of the
    shortest one moves to the head's head. Among equally short arcs it is that of the first dependent.

    Parameters
    ----------
    heads : sequence of int of length n
        Heads of words 1..n; 0 is the root.

    Returns
    -------
    list of int

    Examples
    --------
    >>> from structperc_parsing.heads import lifted
    >>> list(map(int, lifted([3, 4, 0, 3])))
    [3, 3, 0, 3]
    """
    heads = list(heads)
    while True:
        spanning = [(abs(head - m), m) for m, head in enumerate(heads, 1) if head and spans_stranger(heads, head, m)]
        if not spanning:
            return heads
        _, m = min(spanning)
        heads[m - 1] = heads[heads[m - 1] - 1]


def spans_stranger(heads, head, m):
    """Whether a word between m and its head does not descend from the head.

    Parameters
    ----------
    heads : sequence of int of length n
        Heads of words 1..n; 0 is the root.
    head : int
        Head of the word m.
    m : int
        Word, from 1.

    Returns
    -------
    bool

    Examples
    --------
    >>> from structperc_parsing.heads import spans_stranger
    >>> spans_stranger([0, 1, 1], 1, 3)
    False
    """
    for word in range(min(m, head) + 1, max(m, head)):
        while word not in (0, head):
            word = heads[word - 1]
        if word == 0:
            return True
    return False
