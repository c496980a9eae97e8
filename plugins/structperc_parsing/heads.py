"""What lists of heads look like: circles, crossing arcs, labels.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

from structperc.errors import DataError
from structperc.plugin_tools import is_listed, is_missing


def is_labelled(y) -> bool:
    """Whether the first word of y has a pair of a head and a label.

    Parameters
    ----------
    y : list of trees
        Heads, or pairs (head, label).

    Examples
    --------
    >>> from structperc_parsing.heads import is_labelled
    >>> is_labelled([[(0, "root")]]), is_labelled([[0]])
    (True, False)
    """
    for arcs in y if is_listed(y) else ():
        for arc in arcs if is_listed(arcs) else ():
            return is_pair(arc)
    return False


def is_pair(arc) -> bool:
    """Whether an entry of y has a head and a label, also as a row of an array.

    Parameters
    ----------
    arc : object

    Examples
    --------
    >>> from structperc_parsing.heads import is_pair
    >>> is_pair((0, "root")), is_pair(0)
    (True, False)
    """
    return (isinstance(arc, (tuple, list)) or getattr(arc, "ndim", 0) == 1) and len(arc) == 2


def refuse_gaps(y) -> None:
    """Raises an error for the first arc without a head or a label.

    Parameters
    ----------
    y : list of trees
        Pairs (head, label).

    Raises
    ------
    DataError

    Examples
    --------
    >>> from structperc_parsing.heads import refuse_gaps
    >>> refuse_gaps([[(2, "x"), (0, "root")]])
    """
    for i, arcs in enumerate(y):
        for j, arc in enumerate(arcs if is_listed(arcs) else ()):
            if has_no_head(arc):
                raise no_head(f"y[{i}][{j}]")
            if is_pair(arc) and is_gap(arc[1]):
                raise no_label(i, j)


def has_no_head(arc) -> bool:
    """Whether an entry of y lacks a head, as _ of CoNLL-U does.

    Parameters
    ----------
    arc : object
        A head, or a pair of a head and a label.

    Examples
    --------
    >>> from structperc_parsing.heads import has_no_head
    >>> has_no_head(None), has_no_head((None, "root")), has_no_head((0, None))
    (True, True, False)
    """
    return is_gap(arc[0] if is_pair(arc) else arc)


def no_head(where) -> DataError:
    """The error of a word without a head.

    Parameters
    ----------
    where : str
        The place in y.

    Examples
    --------
    >>> from structperc_parsing.heads import no_head
    >>> str(no_head("y[0][2]")).partition(";")[0]
    'y[0][2] has no head'
    """
    return DataError(f"{where} has no head; a tree has one for each word. Fill it in, or leave the sentence out.")


def is_gap(label) -> bool:
    """Whether an arc has no label.

    Parameters
    ----------
    label : object

    Examples
    --------
    >>> from structperc_parsing.heads import is_gap
    >>> is_gap(""), is_gap("root")
    (True, False)
    """
    return is_missing(label) or isinstance(label, str) and not label


def no_label(i, j) -> DataError:
    """The error of word j of sentence i without a label.

    Parameters
    ----------
    i, j : int

    Examples
    --------
    >>> from structperc_parsing.heads import no_label
    >>> str(no_label(0, 2)).partition(";")[0]
    'y[0][2] has no label'
    """
    return DataError(f"y[{i}][{j}] has no label; give each word of all sentences one, or learn only heads.")


def find_circle(heads):
    """Words that head each other in a circle, or none; heads are those of the words 1..n. Returns a list of int.

    Parameters
    ----------
    heads : sequence of int of length n
        Heads of words 1..n; 0 is the root.

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


def no_tree(heads, one_root=True):
    """Why heads are no tree of their words, or None. Returns a str or None.

    Parameters
    ----------
    heads : sequence of int of length n
        Heads of words 1..n; 0 is the root.
    one_root : bool, default True
        Whether one word may have the root for head.

    Examples
    --------
    >>> from structperc_parsing.heads import no_tree
    >>> no_tree([2, 1]), no_tree([2, 0]), no_tree([2, 5])
    ('the words 1 -> 2 -> 1 head each other in a circle', None, 'word 2 has the head 5; expected 0 (the root) to 2')
    """
    outside = next((m for m, head in enumerate(heads, 1) if not 0 <= head <= len(heads)), None)
    if outside is not None:
        return f"word {outside} has the head {heads[outside - 1]}; expected 0 (the root) to {len(heads)}"
    circle = find_circle(heads)
    if circle:
        return f"the words {' -> '.join(map(str, [*circle, circle[0]]))} head each other in a circle"
    roots = [m for m, head in enumerate(heads, 1) if head == 0]
    if one_root and len(roots) > 1:
        return f"the words {roots[0]} and {roots[1]} both have the head 0, but one_root allows one"
    return None


def refuse_no_tree(i, heads, one_root=True) -> None:
    """Raises an error for heads of sentence i that are no tree.

    Parameters
    ----------
    i : int
    heads, one_root
        As in `no_tree`.

    Raises
    ------
    DataError

    Examples
    --------
    >>> from structperc_parsing.heads import refuse_no_tree
    >>> refuse_no_tree(4, [3])
    Traceback (most recent call last):
    structperc.errors.DataError: y[4] is no tree of sentence 4: word 1 has the head 3; ...
    """
    wrong = no_tree(heads, one_root)
    if wrong:
        raise DataError(f"y[{i}] is no tree of sentence {i}: {wrong}; correct it or leave the sentence out.")


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
    """The heads of a tree made projective (Nivre and Nilsson 2005). Returns a list of int.

    An arc is not projective if it spans a word that does not descend from its head. While there are such arcs, the dependent of the
    shortest one moves to the head's head. Among equally short arcs it is that of the first dependent.

    Parameters
    ----------
    heads : sequence of int of length n
        Heads of words 1..n; 0 is the root.

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


def spans_stranger(heads, head, m) -> bool:
    """Whether a word between m and its head does not descend from the head.

    Parameters
    ----------
    heads : sequence of int of length n
        Heads of words 1..n; 0 is the root.
    head : int
        Head of the word m.
    m : int
        Word, from 1.

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
