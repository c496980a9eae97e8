"""The features of arcs and word trees, slow and readable: dictionaries, Python integers and all trees."""

import itertools
import struct

MASK = 2**64 - 1
MULTIPLIER = 0xC6A4A7935BD1E995
ROOT, BEFORE, BEHIND, NO_WORD = 0x7FF8000000000001, 0x7FF9000000000000, 0x7FFA000000000000, 0x7FFB000000000000
TO_THE_RIGHT = 0x9E3779B9
WIDTH = 8


def mix(h, word):
    word = word * MULTIPLIER & MASK
    word ^= word >> 47
    return (h ^ word * MULTIPLIER & MASK) * MULTIPLIER & MASK


def finished(h):
    h = (h ^ h >> 47) * MULTIPLIER & MASK
    return (h ^ h >> 47) >> 32


def cell(sentence, word, column):
    """The bits of a number. A word outside the sentence has the bits of its position."""
    if word == 0:
        return ROOT
    if word < 0:
        return BEFORE - word
    if word > len(sentence):
        return BEHIND + word - len(sentence)
    return struct.unpack("<Q", struct.pack("<d", sentence[word - 1][column] + 0.0))[0]


def part(line, side, cells, sentence, word):
    if not cells and side != 0:
        return 0
    h = 0
    for byte in line.literal.encode():
        h = mix(h, byte)
    h = mix(h, side + 1)
    for offset, column in cells:
        h = mix(h, cell(sentence, word + offset, column))
    return finished(h)


def rows(lines, sentence, head, dependent, n_rows):
    """The rows of an arc, in the order of the lines' ranks."""
    found = []
    for line in sorted(lines, key=lambda line: line.rank):
        base = (part(line, 0, line.head, sentence, head) + part(line, 1, line.dependent, sentence, dependent)
                + (TO_THE_RIGHT if dependent > head else 0))
        between = range(min(head, dependent) + 1, max(head, dependent))
        parts = dict.fromkeys(part(line, 2, line.third, sentence, b) for b in between) if line.third else [0]
        found += [((base + of_between) % 2**32) * n_rows >> 32 for of_between in parts]
    return found


def slot(head, dependent):
    distance = abs(head - dependent)
    return distance if distance <= 4 else 5 if distance <= 6 else 6 if distance <= 10 else 7


def vector(lines, sentence, head, dependent, n_rows, w, first, octets, ranks):
    """The scores of the lines of these ranks, added weight by weight in order. Their groups of rows begin at row `first`."""
    found = [0.0] * (WIDTH * octets)
    for row in rows([line for line in lines if line.rank in ranks], sentence, head, dependent, n_rows):
        for k in range(len(found)):
            found[k] += w[(first + row * octets) * WIDTH + k]
    return found


def scores(lines, sentence, n_labels, n_hashed, w, given=None, order=1):
    """The scores of all atoms, in the order of addition of the compiled map.

    Without `given` heads, an atom is an arc with a label. With them, arcs have no labels, and each word has an atom for each label.
    """
    size, octets = len(sentence) + 1, -(-n_labels // WIDTH)
    of_arcs, of_labels, of_siblings = ([line for line in lines if line.kind == kind] for kind in "ALS")
    groups, tags = max(n_hashed // 16, 1), 1 if given else n_labels
    s = [0.0] * (size * size * tags)
    for head, dependent in itertools.product(range(size), range(1, size)):
        if head == dependent:
            continue
        atom, bin = (head * size + dependent) * tags, slot(head, dependent)
        of_head, of_dependent, of_both = (vector(of_arcs, sentence, head, dependent, n_hashed, w, 0, 1, ranks)
                                          for ranks in ((0,), (1,), (2, 3)))
        score = (of_head[0] + of_dependent[0]) + (of_head[bin] + of_dependent[bin]) + (of_both[0] + of_both[bin])
        s[atom:atom + tags] = [score] * tags
        if tags > 1:
            single = [vector(of_labels, sentence, head, dependent, groups, w, n_hashed, octets, [rank]) for rank in (0, 1)]
            total = [a + b for a, b in zip(*single, strict=True)]
            for row in rows([line for line in of_labels if line.rank > 1], sentence, head, dependent, groups):
                total = [a + w[(n_hashed + row * octets) * WIDTH + k] for k, a in enumerate(total)]
            s[atom:atom + tags] = [score + total[k] for k in range(tags)]
    for m, head in enumerate(given or (), 1):
        s += vector(of_labels, sentence, head, m, groups, w, n_hashed, octets, (0, 1, 2, 3))[:n_labels] if n_labels > 1 else [0.0]
    if order == 2:
        first = n_hashed + (groups * octets if n_labels > 1 else 0)
        s += [sibling_score(of_siblings, sentence, *place, n_hashed, w, first) for place in itertools.product(range(size), repeat=3)]
    return s


def sibling_score(lines, sentence, head, dependent, sibling, n_rows, w, first):
    """The score of the next sibling of `dependent` under `head`; `sibling == head` means none. It is 0 for siblings outside the arc."""
    between = range(min(head, dependent) + 1, max(head, dependent))
    if dependent in (0, head) or sibling not in (head, *between):
        return 0.0
    total = 0.0
    for ranks in ((1, 2),) if sibling == head else ((1,), (2,)):
        of_direction = of_distance = 0.0
        for line in sorted((line for line in lines if line.rank in ranks), key=lambda line: line.rank):
            third = part_of_sibling(line, sentence, sibling if sibling != head else None)
            base = (part(line, 0, line.head, sentence, head) + part(line, 1, line.dependent, sentence, dependent) + third
                    + (TO_THE_RIGHT if dependent > head else 0))
            row = first + (base % 2**32 * n_rows >> 32)
            of_direction += w[row * WIDTH]
            of_distance += w[row * WIDTH + slot(sibling, dependent)]
        total += of_direction + of_distance
    return total


def part_of_sibling(line, sentence, sibling):
    if not line.third:
        return 0
    h = 0
    for byte in line.literal.encode():
        h = mix(h, byte)
    h = mix(h, 3)
    for offset, column in line.third:
        h = mix(h, NO_WORD if sibling is None else cell(sentence, sibling + offset, column))
    return finished(h)


def is_tree(heads):
    """Whether every word reaches the root. `heads` are those of the words 1..n."""
    for word in range(1, len(heads) + 1):
        path = set()
        while word and word not in path:
            path.add(word)
            word = heads[word - 1]
        if word:
            return False
    return True


def is_projective(heads):
    """Whether every word between a head and its dependent descends from the head."""
    for dependent, head in enumerate(heads, 1):
        for word in range(min(head, dependent) + 1, max(head, dependent)):
            while word and word != head:
                word = heads[word - 1]
            if word != head:
                return False
    return True


def trees(n, one_root=True, projective=False):
    """The heads of all trees over n words."""
    return [heads for heads in itertools.product(range(n + 1), repeat=n)
            if is_tree(heads) and (not one_root or heads.count(0) <= 1) and (not projective or is_projective(heads))]
