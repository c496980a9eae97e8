"""The features of arcs and trees of words, slow and readable: dictionaries, Python integers and all trees."""

import itertools
import struct

MASK = 2**64 - 1
MULTIPLIER = 0xC6A4A7935BD1E995
ROOT, BEFORE, BEHIND = 0x7FF8000000000001, 0x7FF9000000000000, 0x7FFA000000000000
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
    """The bits of a number, or of the place of a word that is none."""
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
    """The rows of an arc: lines without words between first."""
    found = []
    for line in sorted(lines, key=lambda line: bool(line.between)):
        base = (part(line, 0, line.head, sentence, head) + part(line, 1, line.dependent, sentence, dependent)
                + (TO_THE_RIGHT if dependent > head else 0))
        between = range(min(head, dependent) + 1, max(head, dependent))
        parts = dict.fromkeys(part(line, 2, line.between, sentence, b) for b in between) if line.between else [0]
        found += [((base + of_between) % 2**32) * n_rows >> 32 for of_between in parts]
    return found


def slot(head, dependent):
    distance = abs(head - dependent)
    return distance if distance <= 4 else 5 if distance <= 6 else 6 if distance <= 10 else 7


def scores(lines, sentence, n_tags, n_hashed, w):
    """The scores of all atoms, in the order of addition of the compiled map."""
    size = len(sentence) + 1
    of_labels = [line for line in lines if line.of_labels]
    s = [0.0] * (size * size * n_tags)
    for head, dependent in itertools.product(range(size), range(1, size)):
        if head == dependent:
            continue
        of_direction = of_distance = 0.0
        for row in rows([line for line in lines if not line.of_labels], sentence, head, dependent, n_hashed):
            of_direction += w[row * WIDTH]
            of_distance += w[row * WIDTH + slot(head, dependent)]
        atom = (head * size + dependent) * n_tags
        for tag in range(n_tags):
            s[atom + tag] = of_direction + of_distance
        if n_tags > 1:
            octets = -(-n_tags // WIDTH)
            for group in rows(of_labels, sentence, head, dependent, max(n_hashed // 16, 1)):
                for tag in range(n_tags):
                    s[atom + tag] += w[(n_hashed + group * octets) * WIDTH + tag]
    return s


def is_tree(heads):
    """Whether every word reaches the root; heads are those of the words 1..n."""
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
