# distutils: extra_compile_args = GLUE
"""The output space: divisions of a sentence into labelled segments, as users write them and as codes.

Typical sizes: 23 tokens; encoding and decoding take about 1 us per token.
"""
import numpy as np

from libc.stdint cimport int64_t
from structperc.core.outputs cimport Outputs
from structperc.core.rows cimport Example, Rows
from structperc.core.structures cimport Structures
from structperc.errors import DataError, PluginError, shortened
from structperc.metrics import tag_scheme, tags, token_measures
from structperc.pictures import Choices, Display, Spans, token_texts
from structperc.plugin_tools import codes_of, find_labels, is_listed, plain_labels, read_array
from structperc.solvers.segments cimport Lattice, refusal
from structperc_segments.solver cimport OPEN, OPEN_BEGIN, Atoms, Search
from structperc_segments.forms import has_open_parts, is_tagged, segments_of
from structperc_segments.measures import segment_measures

OUTSIDE = "O"                   # what tokens outside of all segments are called
TRIPLES = "segments"


cdef class SegmentOutputs(Outputs):
    """Disjoint labelled segments of a sentence's tokens.

    Users give and get for each sentence a list of (start, stop, label), or a tag for each token. In gold outputs a label of None leaves
    the tokens of an entry open, as does None for a tag.
    """
    # outside: bool. Whether tokens may belong to no segment.
    # max_length: int or None. The most tokens of a segment; None: of each label those that it has in the gold outputs.
    # places: {"iob2", "iobes"}
    # described: int. See `Atoms`.

    cdef readonly Atoms atoms
    cdef readonly bint outside
    cdef readonly object labels         # of segments, an array
    cdef readonly list names            # of all labels, that of tokens outside first
    cdef readonly str form              # TRIPLES, or the scheme of tags; None: nothing was seen yet
    cdef dict code_of
    cdef object max_length
    cdef str places
    cdef Py_ssize_t described

    def __init__(self, outside=True, max_length=None, places="iobes", described=0):
        self.outside, self.max_length, self.places, self.described = outside, max_length, places, described

    def find_labels(self, y, classes):
        self.form = None
        if y is not None:
            refuse_unlisted(y)
            y = list(y)
            self.learn_form(y)
            self.partial_gold = has_open_parts(y)       # losses that need whole outputs check it before any are encoded
        if classes is None:
            if y is None:
                raise DataError("no labels are known; name them with classes=[...].")
            classes = distinct(self.labels_in(y))
        if is_listed(classes) and len(classes) == 0:
            raise DataError("y has no segment, so there is nothing to learn; name the labels with classes=[...].")
        self.labels = find_labels(None, classes, ordered=False, fewest=1)
        self.names = [OUTSIDE] * bool(self.outside) + plain_labels(self.labels)
        self.code_of = codes_of(self.labels, bool(self.outside))
        if self.outside and self.code_of.setdefault(OUTSIDE, 0):
            raise DataError(f"the label {OUTSIDE!r} is that of tokens outside of segments; name segments otherwise, or pass outside=False.")
        self.atoms = Atoms(len(self.names), self.outside, self.places, self.described)
        self.atoms.limit([self.max_length or 1] * len(self.names))
        return self.labels

    def learn_form(self, y):
        """How users write segments, from the first that they give."""
        if self.form is None and any(is_listed(entries) and len(entries) for entries in y):
            self.form = tag_scheme(y) if is_tagged(y) else TRIPLES

    def labels_in(self, y):
        y = list(y)
        tagged = is_tagged(y)
        for i, entries in enumerate(y):
            n = len(entries) if tagged and is_listed(entries) else np.inf
            for _, _, label, _ in segments_of(entries, i, n, tagged):
                if label is not None:
                    yield label

    def encode(self, y, rows):
        refuse_unlisted(y)
        y, sizes = list(y), self.atoms.n_tokens_of(rows.sizes())
        if len(y) != len(sizes):
            raise DataError(f"y has the segments of {len(y)} sentence{'s' * (len(y) != 1)} but X has {len(sizes)}; give one list per "
                            f"sentence.")
        tagged = is_tagged(y) if any(map(len, filter(is_listed, y))) else self.form not in (None, TRIPLES)
        codes = np.full(sum(sizes), 1 if self.outside else -3, dtype=np.intc)
        cdef int[::1] code = codes
        cdef Py_ssize_t at = 0, t, first, last
        for i, n in enumerate(sizes):
            for start, stop, label, follows in segments_of(y[i], i, n, tagged):
                first, last = at + start, at + stop
                for t in range(first, last):
                    code[t] = OPEN if label is None else self.code(label, i)
                if label is None:
                    code[first] = OPEN if follows else OPEN_BEGIN
                elif not follows:
                    code[first] += 1
            at += n
        bad = np.flatnonzero(codes == -3)
        if len(bad):
            i = int(np.searchsorted(np.cumsum(sizes), bad[0], side="right"))
            raise DataError(f"y[{i}] leaves out token {int(bad[0]) - sum(sizes[:i])}; with outside=False every token belongs to a segment.")
        return Structures(codes, np.append(0, np.cumsum(sizes)).astype(np.int64))

    def is_partial(self, codes):
        return self.partial_gold or bool(np.less(codes, 0).any())

    cdef Structures gold(self, y, Rows rows, features):
        gold = Outputs.gold(self, y, rows, features)
        self.learn_form(list(y))
        return gold

    cdef int code(self, label, i) except -9:
        try:
            number = self.code_of.get(label)
        except TypeError:
            number = None
        if not number and not (number == 0 and not self.outside):
            raise DataError(f"y[{i}] has the label {shortened(label)}, which is none of the labels "
                            f"{', '.join(map(repr, plain_labels(self.labels[:8])))}{', ...' if len(self.labels) > 8 else ''}; name all "
                            f"labels with classes=.")
        return 2 * number

    def encode_answers(self, answers, rows):
        structures = self.encode(answers, rows)
        if (structures.values < 0).any():
            raise DataError("a prediction has an open part; only right outputs may leave tokens open.")
        return structures

    def admissible(self, gold, rows):
        """The gold outputs; without a max_length, segments may from now on be as long as theirs."""
        if self.max_length is None:
            self.atoms.limit(np.maximum(self.atoms.limits, most_tokens(gold, len(self.names))))
        return gold

    def _learns_from_gold(self):
        return self.max_length is None

    cdef check_right(self, Structures gold, Rows rows, features):
        """Longer segments than the model predicts are right ones that it misses."""

    cdef check_gold(self, Structures gold, Rows rows, features):
        limits = self.atoms.limits
        if (most_tokens(gold, len(self.names)) > limits).any():
            i, most = next((i, most) for i in range(len(gold)) for most in [most_tokens(Structures(*alone(gold, i)), len(limits))]
                           if (most > limits).any())
            label = int(np.argmax(most > limits))
            raise DataError(f"y[{i}] has a segment of {most[label]} tokens with the label {self.names[label]!r}, longer than "
                            f"max_length={self.max_length}; raise it, or divide the segment.")

    def check_partial(self, Example x, gold):
        n = self.atoms.n_tokens(x.n_atoms)
        if len(gold) != n or not all(OPEN_BEGIN <= code < 2 * len(self.names) or code == OPEN for code in gold):
            raise PluginError(f"{shortened(gold)} is no gold output of sentence {x.index}: expected {n} codes below {2 * len(self.names)}.")

    def check_structure(self, Example x, y):
        n = self.atoms.n_tokens(x.n_atoms)
        if not isinstance(y, tuple) or len(y) != n or not all(isinstance(code, int) and 0 <= code < 2 * len(self.names) for code in y):
            raise PluginError(f"{shortened(y)} does not divide sentence {x.index}: expected {n} ints from 0, below {2 * len(self.names)}.")
        wrong = self.wrong(y)
        if wrong:
            raise PluginError(f"{shortened(y)} is no division of sentence {x.index}: {wrong}.")

    def wrong(self, y):
        """Why these codes are no division, or None."""
        limits = self.atoms.limits
        for t, code in enumerate(y):
            if not code & 1 and (t == 0 or y[t - 1] >> 1 != code >> 1):
                return f"token {t} goes on with the label {self.names[code >> 1]!r}, which no token before it has"
        for start, stop, label in whole_segments(y):
            if stop - start > limits[label]:
                return f"{stop - start} tokens from token {start} on are one segment {self.names[label]!r}, of {limits[label]} at most"
        return None

    def decode(self, y, Example x):
        segments = [(start, stop, self.names[label]) for start, stop, label in whole_segments(y) if label >= self.outside]
        if self.form is None or self.form == TRIPLES:
            return segments
        return tags(segments, len(y), self.form)

    def measures(self, y_true, y_pred):
        return segment_measures(y_true, y_pred) if self.form in (None, TRIPLES) else token_measures(y_true, y_pred)

    def max_code_length(self, n_atoms):
        return self.atoms.n_tokens(n_atoms)

    def enumerate(self, Example x):
        limits = self.atoms.limits.tolist()

        def divided(n):
            """All divisions of n tokens."""
            if n == 0:
                yield ()
            for label, most in enumerate(limits):
                for length in range(1, min(most, n) + 1):
                    for y in divided(n - length):
                        yield (2 * label + 1, *[2 * label] * (length - 1), *y)

        return divided(self.atoms.n_tokens(x.n_atoms))

    def display(self):
        return SegmentDisplay(self)

    cdef int count_c(self, Example x, const int *y, Py_ssize_t n, double sign, double *c) noexcept nogil:
        self.atoms.count(y, n, sign, c)
        return 0

    cdef int agrees_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t t
        for t in range(n):
            if y[t] != gold[t] and gold[t] != OPEN and (gold[t] != OPEN_BEGIN or not y[t] & 1):
                return 0
        return 1

    cdef Py_ssize_t complete_c(self, Example x, const int *gold, Py_ssize_t n_gold, const double *s, int *y) noexcept nogil:
        """The best division that agrees with what is known."""
        cdef Search search
        cdef Lattice lattice
        cdef Py_ssize_t n
        if self.provided(x, n_gold) < 0:
            return -1
        self.atoms.prepare(s, n_gold, &search, &lattice)
        search.partial_codes = gold
        n = self.atoms.best(&lattice, x.work, y)
        if n < 0:
            with gil:
                self.error = refusal(<int> n, x.work, n_gold, lattice.n_labels, f"what is known of sentence {x.index}")
            return -1
        return n

    cdef int provided(self, Example x, Py_ssize_t n) noexcept with gil:
        try:
            return x.provide(self.atoms.work_size(n))
        except MemoryError as error:
            self.error = error
            return -1

    def state(self):
        return {"form": np.array(self.form or ""), **self.atoms.state()}

    def restore(self, state):
        form = read_array(state, "form", str)
        self.atoms.restore(state)
        self.form = str(form) or None

    def attributes(self, weights):
        return {"max_lengths_": lambda: dict(zip(self.names, self.atoms.limits.tolist()))}


def whole_segments(y):
    """The segments (start, stop, label) of the codes of a division."""
    starts = [t for t, code in enumerate(y) if code & 1]
    return [(start, stop, y[start] >> 1) for start, stop in zip(starts, [*starts[1:], len(y)])]


def alone(gold, i):
    """Values and offsets of one structure."""
    values = gold.values[gold.offsets[i]:gold.offsets[i + 1]]
    return values, np.array([0, len(values)])


def most_tokens(gold, n_labels):
    """How many tokens the longest segment of each label is known to have, 1 at least."""
    cdef const int[::1] codes = gold.values
    cdef const int64_t[::1] offsets = gold.offsets
    cdef int[::1] most = np.ones(n_labels, dtype=np.intc)
    cdef Py_ssize_t i, t
    cdef int length, code
    for i in range(len(gold)):
        length = 0
        for t in range(offsets[i], offsets[i + 1]):
            code = codes[t]
            length = 1 if code < 0 or code & 1 else length + 1          # one that goes on may have begun in the open token before
            if code >= 0:
                most[code >> 1] = max(most[code >> 1], length)
    return np.asarray(most)


def distinct(labels):
    """The labels sorted, each once."""
    label_set = {}
    try:
        for label in labels:
            label_set.setdefault(label)
    except TypeError:
        raise DataError(f"y has the label {shortened(label)}, which can be no key of a dict; expected text or numbers.") from None
    try:
        return sorted(label_set)
    except TypeError:
        raise DataError(f"y has the labels {shortened(list(label_set))}, which have no common order; name them in order with classes=[...]."
                        ) from None


def refuse_unlisted(y):
    if not is_listed(y):
        raise DataError(f"y is {shortened(y)}; expected a list of segments (start, stop, label) for each sentence, or a tag for each token."
                        )


class SegmentDisplay(Display):
    """The labels of each token."""

    def atom_names(self, Example x):
        cdef SegmentOutputs outputs = self.outputs
        cdef Atoms atoms = outputs.atoms
        described = outputs.described
        names = [str(name) for name in outputs.names]
        places = [f"{place} {names[k]}" for place, k in zip(atoms.places, atoms.block_labels)]
        n = atoms.n_tokens(x.n_atoms)
        atom_names = [f"token {t} {place}" for t in range(n) for place in places]
        for start in range(n if described else 0):
            for stop in range(start + 1, min(start + described, n) + 1):
                atom_names += [f"tokens {start} to {stop - 1}: {name}" for name in names] + ["(none)"] * (len(places) - len(names))
        atom_names += [f"{name} -> {other}" for name in names for other in names]
        lengths = (*range(1, 9), "9 to 16", "17 to 32", "33 to 64", "65 or more")
        return atom_names + [f"{name} of {length} tokens" for name in names for length in lengths]

    def marginals(self, Example x, expected):
        cdef Atoms atoms = self.outputs.atoms
        n = atoms.n_tokens(x.n_atoms)
        blocks = expected[:n * atoms.n_blocks].reshape(n, atoms.n_blocks)
        return np.stack([blocks[:, atoms.block_labels == k].sum(axis=1) for k in range(len(self.outputs.names))], axis=1)

    def picture(self, given, Example x, scores, structures):
        labels = [[str(self.outputs.names[code >> 1]) for code in y] for y in structures]
        return Spans(token_texts(given, len(labels[0])), list(zip(("winner", "rival"), labels, strict=True)))

    def local_atoms(self, Example x):
        cdef Atoms atoms = self.outputs.atoms
        return np.arange(atoms.n_tokens(x.n_atoms) * atoms.n_blocks)

    def picture_of_set(self, given, Example x, states):
        cdef Atoms atoms = self.outputs.atoms
        names = [f"{place} {self.outputs.names[k]}" for place, k in zip(atoms.places, atoms.block_labels)]
        table = states[self.local_atoms(x)].reshape(-1, len(names))
        return Choices(token_texts(given, len(table)), [[(names[k], row[k] == 2) for k in np.flatnonzero(row)] for row in table])
