"""Named features in plain Python: names from tokens and templates, columns from names, and the hash of a name with its inverse."""

import re
from itertools import groupby

WORD = 2**64
FACTOR = 0xC6A4A7935BD1E995
INVERSE = pow(FACTOR, -1, WORD)

# ---- the hash ----


def scrambled(word):
    word = word * FACTOR % WORD
    return (word ^ word >> 47) * FACTOR % WORD


def unscrambled(word):
    """The word that `scrambled` maps to this one."""
    word = word * INVERSE % WORD
    return (word ^ word >> 47) * INVERSE % WORD


def words(data):
    """Eight bytes at a time, low byte first; the last word overlaps the one before it."""
    if len(data) >= 8:
        parts = [data[:8], *(data[i:i + 8] for i in range(8, len(data) - 8, 8)), data[-8:]]
    elif len(data) >= 4:
        parts = [data[:4] + data[-4:]]
    elif data:
        parts = [bytes([data[0], data[len(data) // 2], data[-1]])]
    else:
        parts = []
    return [int.from_bytes(part, "little") for part in parts]


def hash_of(data):
    h = len(data) * FACTOR % WORD
    for word in words(data):
        h = (h ^ scrambled(word)) * FACTOR % WORD
    h = (h ^ h >> 47) * FACTOR % WORD
    return h ^ h >> 47


def same_hash(first, second):
    """The 16 bytes that begin with `second` and have the hash of the 16 bytes `first`."""
    start = 16 * FACTOR % WORD
    own, other = ((start ^ scrambled(int.from_bytes(head, "little"))) * FACTOR % WORD for head in (first[:8], second))
    last = unscrambled(own ^ other ^ scrambled(int.from_bytes(first[8:], "little")))
    return second + last.to_bytes(8, "little")


# ---- names ----


def features_of(token, prefix=""):
    """(name, value) of all features of a token, as in python-crfsuite."""
    if isinstance(token, dict):
        for key, value in token.items():
            if isinstance(value, str):
                yield f"{prefix}{key}:{value}", 1.0
            elif isinstance(value, (dict, list, tuple, set, frozenset)):
                yield from features_of(value, f"{prefix}{key}:")
            else:
                yield prefix + key, float(value)
    else:
        for name in sorted(token) if isinstance(token, (set, frozenset)) else token:
            yield prefix + name, 1.0


def expanded(template, columns=None):
    """A function from (sentence, token number) to the features of the template."""
    lines = [line.strip() for line in template.split("\n")]
    lines = [line for line in lines if line and line[0] != "#" and not re.fullmatch(r"B\d*", line)]

    def spelled(text, spelling, n):
        signs = ["X" if c.isupper() else "x" if c.islower() else "d" if c.isdecimal() else c for c in text]
        return {"x": text, "prefix": text[:n], "suffix": text[-n:], "lower": "".join(c.lower()[0] for c in text),
                "digits": "".join("0" if c.isdecimal() else c for c in text), "shape": "".join(c for c, _ in groupby(signs))}[spelling]

    def cell(sentence, t, spelling, offset, column, n):
        t += int(offset)
        if t < 0:
            return f"_B{t}"
        if t >= len(sentence):
            return f"_B+{t - len(sentence) + 1}"
        return spelled(sentence[t][int(column) if column.isdigit() else columns.index(column)], spelling, int(n or 0))

    def features(sentence, t):
        for line in lines:
            yield re.sub(r"%(x|prefix|suffix|lower|shape|digits)\[([^,]*),([^\],]*)(?:,([^\]]*))?\]",
                         lambda macro: cell(sentence, t, macro[1], macro[2], macro[3].strip(), macro[4]), line), 1.0

    return features


def add(terms, column, value):
    terms[column] = terms.get(column, 0.0) + value


class Columns:
    """The column of a name: from a vocabulary that grows while `learning`, or by signed hashing."""

    def __init__(self, n_hashed=None):
        self.n_hashed, self.column_of, self.learning = n_hashed, {}, True

    def row(self, features):
        """A dict from columns to values. Values of one column are added in their order, and zeros are left out."""
        terms = {}
        for name, value in features:
            if value == 0:
                continue
            if self.n_hashed:
                h = hash_of(name.encode())
                add(terms, h % self.n_hashed, -value if h >> 63 else value)
            elif self.learning or name in self.column_of:
                add(terms, self.column_of.setdefault(name, len(self.column_of)), value)
        return {column: value for column, value in sorted(terms.items()) if value != 0}

    def rows(self, sentences, features=lambda sentence, t: features_of(sentence[t])):
        """The rows of all tokens. Later calls learn no new names."""
        rows = [self.row(features(sentence, t)) for sentence in sentences for t in range(len(sentence))]
        self.learning = False
        return rows

    def keep(self, rows, min_count):
        """The rows without names that occur in fewer than `min_count` rows, with new column numbers."""
        counts = {column: sum(column in row for row in rows) for column in self.column_of.values()}
        names = [name for name, column in self.column_of.items() if counts[column] >= min_count]
        renumbered = {self.column_of[name]: j for j, name in enumerate(names)}
        self.column_of = {name: j for j, name in enumerate(names)}
        return [{renumbered[column]: value for column, value in row.items() if column in renumbered} for row in rows]


def rows_of(csr):
    """The rows of a CSR matrix in the form of the twin, in storage order. Repeated columns raise an AssertionError."""
    rows = []
    for start, end in zip(csr.indptr[:-1], csr.indptr[1:], strict=True):
        columns = csr.indices[start:end].tolist()
        assert columns == sorted(set(columns))
        rows.append(dict(zip(columns, csr.data[start:end].tolist(), strict=True)))
    return rows
