"""Fragments of small trees and subsequences of short strings, all written down, and the kernels that count common ones."""

import itertools
from collections import Counter


def fragments(tree):
    """All fragments with how often each occurs; a node that is cut off is a label without children."""
    found, pending = Counter(), [tree]
    while pending:
        node = pending.pop()
        found.update(rooted(node))
        pending += [child for child in node[1:] if not isinstance(child, str)]
    return found


def rooted(node):
    """The fragments whose root is this node: each child is a word, or a label that is cut off or goes on."""
    label, *children = node
    if not children:
        return []
    ways = [[child] if isinstance(child, str) else [child[:1], *rooted(child)] for child in children]
    return [(label, *chosen) for chosen in itertools.product(*ways)]


def size(fragment):
    """The number of its productions."""
    return 0 if isinstance(fragment, str) or len(fragment) == 1 else 1 + sum(map(size, fragment[1:]))


def tree_kernel(a, b, decay):
    ours, theirs = fragments(a), fragments(b)
    return sum(decay ** size(fragment) * n * theirs[fragment] for fragment, n in ours.items())


def subsequences(string, length):
    """The sum over all places of each subsequence of this length, given what a span is worth."""
    return [(tuple(string[i] for i in places), places[-1] - places[0] + 1) for places in itertools.combinations(range(len(string)), length)]


def string_kernel(a, b, length, decay):
    pairs = itertools.product(subsequences(a, length), subsequences(b, length))
    return sum(decay ** (span + other) for (symbols, span), (others, other) in pairs if symbols == others)


def normalised(kernel, a, b, *settings):
    """The cosine; 0 where one of both has nothing in common even with itself."""
    value = kernel(a, b, *settings)
    return value and value / (kernel(a, a, *settings) * kernel(b, b, *settings)) ** 0.5
