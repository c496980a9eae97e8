# distutils: extra_compile_args = GLUE
"""The output space of a chain: one label per token, under constraints. Encoding takes about 20 ns per label."""
import itertools

import numpy as np

from structperc.core.outputs cimport Outputs, RestrictedOutputs
from structperc.errors import DataError, PluginError, shortened
from structperc.pictures import Choices, Display, Spans, token_texts
from structperc.plugin_tools import encode_nested, find_labels, is_listed, is_missing, is_nested, overrides, plain_labels, LabelCodes
from structperc.core.rows cimport Example, Rows
from structperc.core.structures cimport Structures
from structperc.metrics import tag_scheme, token_measures
from structperc_sequence.constraints import SCHEMES, read_constraints
from structperc_sequence.solver cimport Viterbi


cdef class ChainOutputs(RestrictedOutputs):
    """A label for each token, encoded as the tuple of their codes 1..L.

    Users pass and get a list of labels for each sentence. A flat list, one label for each row of X, is also allowed. In gold outputs
    None means an unlabelled token; its code is 0.
    """
    # start, end: bool. Whether the first and the last label are atoms of their own.
    # forbidden, required: As `read_constraints` takes them.

    cdef readonly Py_ssize_t n_tags             # how many labels there are
    cdef readonly bint has_start, has_end
    cdef readonly object labels, constraints
    cdef object forbidden, required, codes, names, named
    cdef dict code_of                           # 0 of None
    cdef Viterbi completion

    def __init__(self, start=False, end=False, forbidden=(), required=()):
        self.has_start, self.has_end, self.forbidden, self.required = start, end, forbidden, required

    def find_labels(self, y, classes):
        self.partial_gold = False
        if classes is None:
            y = all_labels(y)
        self.labels = find_labels(y, classes, ordered=False)
        self.n_tags = len(self.labels)
        self.codes = LabelCodes(self.labels)
        self.names = plain_labels(self.labels)
        self.named = np.fromiter(self.names, dtype=object)
        self.code_of = {**self.codes.code_of, None: 0}
        self.constraints = read_constraints(self.labels, self.forbidden, self.required)
        self.completion = Viterbi(self.n_tags, self.has_start, self.has_end, self.constraints)
        return self.labels

    def n_tokens(self, Example x):
        return self.max_code_length(x.n_atoms)

    def encode(self, y, rows):
        sizes = rows.sizes()
        offsets = np.zeros(rows.n_examples + 1, dtype=np.int64)
        np.cumsum(sizes, out=offsets[1:])
        refuse_no_list(y)
        if not is_nested(y) and not (len(y) == 0 and rows.n_rows):
            if len(y) != rows.n_rows:
                raise DataError(f"y has {len(y)} labels but X has {rows.n_rows} tokens. Pass a label per token, or a list of labels per "
                                f"sentence.")
            if not has_none(y):
                return Structures(self.codes.encode(y, rows.n_rows), offsets)
            codes = np.zeros(rows.n_rows, dtype=np.intc)
            unknown = encode_nested(self.code_of, [y], codes, np.array([0, rows.n_rows]))
            if unknown is not None:
                self.codes.refuse(f"y[{unknown[1]}]", unknown[2])
            return Structures(codes, offsets)
        y = list(y)
        if len(y) != rows.n_examples:
            raise DataError(f"y has the labels of {len(y)} sentence{'s' * (len(y) != 1)} but X has {rows.n_examples}; give one list "
                            f"per sentence.")
        for i, labels in enumerate(y):
            if not is_listed(labels):
                raise DataError(f"y[{i}] is {shortened(labels)}; expected a list of labels, one for each token of sentence {i}.")
            if len(labels) != sizes[i]:
                raise DataError(f"y[{i}] has {len(labels)} label{'s' * (len(labels) != 1)} but sentence {i} of X has {sizes[i]} token"
                                f"{'s' * int(sizes[i] != 1)}; give one label per token.")
        codes = np.zeros(int(sizes.sum()), dtype=np.intc)
        unknown = encode_nested(self.code_of, y, codes, offsets)
        if unknown is not None:
            i, j, label = unknown
            self.codes.refuse(f"y[{i}][{j}]", label)
        return Structures(codes, offsets)

    def is_partial(self, codes):
        return self.partial_gold or not np.all(codes)

    def encode_answers(self, answers, rows):
        structures = self.encode(answers, rows)
        if not structures.values.all():
            raise DataError("a prediction has the label None; only right outputs may leave tokens open.")
        return structures

    def labels_in(self, y):
        return (label for label in Outputs.labels_in(self, y) if label is not None)

    cdef check_right(self, Structures gold, Rows rows, features):
        if overrides(self, "encode"):
            Outputs.check_gold(self, gold, rows, features)

    cdef check_gold(self, Structures gold, Rows rows, features):
        allowed = rows.allowed
        self.check_right(gold, rows, features)
        if not self.constraints.any and allowed is None:
            return
        for i in range(rows.n_examples):
            codes = gold.values[gold.offsets[i]:gold.offsets[i + 1]]
            wrong = self.constraints.violated(codes, self.names)
            if wrong is not None:
                t, rule = wrong
                raise DataError(f"y[{i}][{t}] is {self.names[codes[t] - 1]!r}, which {rule} under the constraints; "
                                f"{self.other_scheme(gold) or 'correct it or allow it'}.")
            if allowed is not None:
                bad = np.flatnonzero((codes > 0) & (allowed[gold.offsets[i] + np.arange(len(codes)), codes - 1] == 0))
                if len(bad):
                    t = int(bad[0])
                    raise DataError(f"y[{i}][{t}] is {self.names[codes[t] - 1]!r}, which allowed[{i}][{t}] does not name; "
                                    f"correct it or allow it.")

    def other_scheme(self, gold):
        """What to do if the constraints have one tagging scheme and the labels another; or None."""
        if not isinstance(self.forbidden, str):
            return None
        sentences = np.split(gold.values, gold.offsets[1:len(gold.offsets) - 1])
        scheme = tag_scheme([[self.names[k - 1] if k else None for k in codes] for codes in sentences])
        if scheme == self.forbidden or scheme not in SCHEMES:
            return None
        return (f"these labels look like {scheme!r}, so set forbidden_transitions={scheme!r}, or write them by structperc.metrics: "
                f"tags(phrases(labels), len(labels), {self.forbidden!r})")

    def check_partial(self, Example x, gold):
        n = self.n_tokens(x)
        if len(gold) != n or not all(0 <= k <= self.n_tags for k in gold):
            raise PluginError(f"{shortened(gold)} is no gold output of sentence {x.index}: expected {n} ints from 0 to {self.n_tags}.")

    def check_structure(self, Example x, y):
        n = self.n_tokens(x)
        if not isinstance(y, tuple) or len(y) != n or not all(isinstance(k, int) and 1 <= k <= self.n_tags for k in y):
            raise PluginError(f"{shortened(y)} is no labelling of sentence {x.index}: expected {n} ints from 1 to {self.n_tags}.")
        wrong = self.constraints.violated(y, self.names)
        if wrong is not None:
            raise PluginError(f"{shortened(y)} breaks the constraints of sentence {x.index}: at token {wrong[0]} the label {wrong[1]}.")

    def decode(self, y, Example x):
        return [self.names[k - 1] for k in y]

    cdef decode_all(self, structures, Rows rows, features, examples):
        if overrides(self, "decode") or not isinstance(structures, Structures):
            return Outputs.decode_all(self, structures, rows, features, examples)
        decoded = np.empty(len(structures), dtype=object)
        flat = self.named[structures.values - 1].tolist()
        ends = structures.offsets.tolist()
        for i in range(len(decoded)):
            decoded[i] = flat[ends[i]:ends[i + 1]]
        return decoded

    def measures(self, y_true, y_pred):
        return token_measures(y_true, y_pred)

    def encode_allowed(self, allowed, rows):
        sizes = rows.sizes()
        table = np.ones((rows.n_rows, self.n_tags), dtype=np.uint8)
        if isinstance(allowed, np.ndarray) and allowed.dtype == bool:
            if allowed.shape != table.shape:
                raise DataError(f"allowed has shape {allowed.shape}; expected {table.shape}, rows of X by labels.")
            table[:] = allowed
        elif not is_listed(allowed) or len(allowed) != rows.n_examples:
            raise DataError(f"allowed is {shortened(allowed)}; expected an entry for each of {rows.n_examples} sentences: None, or for "
                            f"each token None or the labels it may have.")
        else:
            row = 0
            for i, tokens in enumerate(allowed):
                if tokens is not None and (not is_listed(tokens) or len(tokens := list(tokens)) != sizes[i]):
                    raise DataError(f"allowed[{i}] is {shortened(tokens)}; expected None or a list of {sizes[i]} entries, one for each "
                                    f"token.")
                for j, labels in enumerate(() if tokens is None else tokens):
                    if labels is not None:
                        table[row + j] = self.marked(labels, f"allowed[{i}][{j}]")
                row += sizes[i]
        empty = np.flatnonzero(~table.any(axis=1))
        if len(empty):
            i = int(np.searchsorted(np.cumsum(sizes), empty[0], side="right"))
            raise DataError(f"allowed leaves no label to token {int(empty[0] - sizes[:i].sum())} of sentence {i} (counted from 0). "
                            f"Name one at least, or None for all.")
        return table

    def marked(self, labels, place):
        """A row with 1 for each of these labels."""
        row = np.zeros(self.n_tags, dtype=np.uint8)
        alone = isinstance(labels, str) or not hasattr(labels, "__iter__") or getattr(labels, "ndim", 1) == 0
        for label in [labels] if alone else labels:
            if not hashable([label]) or label not in self.codes.code_of:
                self.codes.refuse(place, label)
            row[self.codes.code_of[label] - 1] = 1
        return row

    def max_code_length(self, n_atoms):
        return max(n_atoms // self.n_tags - self.n_tags - self.has_start - self.has_end, 0)

    def enumerate(self, Example x):
        ways = [range(1, self.n_tags + 1)] * self.n_tokens(x)
        allowed = x.used().allowed
        if allowed is not None:
            ways = [[k for k in way if allowed[x.first_row + t, k - 1]] for t, way in enumerate(ways)]
        return (y for y in itertools.product(*ways) if self.constraints.violated(y, self.names) is None)

    def atom_tables(self, Example x):
        ends = [name for name, wanted in (("start", self.has_start), ("end", self.has_end)) if wanted]
        return {"tokens": (self.n_tokens(x), self.n_tags), "transitions": (self.n_tags, self.n_tags),
                **{name: (self.n_tags,) for name in ends}}

    def display(self):
        return ChainDisplay(self)

    cdef int count_c(self, Example x, const int *y, Py_ssize_t n, double sign, double *c) noexcept nogil:
        cdef Py_ssize_t t, L = self.n_tags
        for t in range(n):
            c[t * L + y[t] - 1] += sign
        c += n * L
        for t in range(1, n):
            c[(y[t - 1] - 1) * L + y[t] - 1] += sign
        c += L * L
        if n and self.has_start:
            c[y[0] - 1] += sign
        if n and self.has_end:
            c[self.has_start * L + y[n - 1] - 1] += sign
        return 0

    cdef int agrees_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t t
        for t in range(n):
            if y[t] != gold[t] and gold[t] != 0:
                return 0
        return 1

    cdef Py_ssize_t complete_c(self, Example x, const int *gold, Py_ssize_t n_gold, const double *s, int *y) noexcept nogil:
        """The best labels among those with all that are known."""
        cdef Py_ssize_t n = self.provided(x)
        if n == 0:
            n = self.completion.best(x, s, gold, y)
        if n < 0:
            with gil:
                self.error, self.completion.error = self.error or self.completion.error, None
        return n

    cdef int provided(self, Example x) noexcept with gil:
        """Makes room for the search; -1 after storing an error."""
        try:
            return x.provide(self.completion.workspace_size_c(x.n_atoms, False))
        except MemoryError as error:
            self.error = error
            return -1


class ChainDisplay(Display):
    """The labels of each token."""

    def atom_names(self, Example x):
        cdef ChainOutputs outputs = self.outputs
        labels = [str(name) for name in outputs.names]
        names = [f"token {t}: {name}" for t in range(outputs.n_tokens(x)) for name in labels]
        names += [f"{name} -> {other}" for name in labels for other in labels]
        names += [f"(start) -> {name}" for name in labels if outputs.has_start]
        return names + [f"{name} -> (end)" for name in labels if outputs.has_end]

    def marginals(self, Example x, expected):
        cdef ChainOutputs outputs = self.outputs
        n = outputs.n_tokens(x)
        return expected[:n * outputs.n_tags].reshape(n, outputs.n_tags)

    def picture(self, given, Example x, scores, structures):
        cdef ChainOutputs outputs = self.outputs
        labels = [[str(outputs.names[k - 1]) for k in y] for y in structures]
        return Spans(token_texts(given, outputs.n_tokens(x)), list(zip(("winner", "rival"), labels, strict=True)))

    def local_atoms(self, Example x):
        cdef ChainOutputs outputs = self.outputs
        return np.arange(outputs.n_tokens(x) * outputs.n_tags)

    def picture_of_set(self, given, Example x, states):
        cdef ChainOutputs outputs = self.outputs
        names, table = [str(name) for name in outputs.names], self.marginals(x, states)
        return Choices(token_texts(given, len(table)), [[(names[k], row[k] == 2) for k in np.flatnonzero(row)] for row in table])


INSTEAD = "label that token, or write None where nothing is known of one."
WHERE_EMPTY = " Where empty text is a label, name all labels with classes=[...]."


def has_none(y):
    """Whether a flat list or array of labels leaves some open."""
    return getattr(getattr(y, "dtype", None), "kind", "O") == "O" and any(label is None for label in y)


def all_labels(y):
    """The distinct labels of y, nested or flat."""
    refuse_no_list(y)
    if not is_nested(y):
        empty = next((i for i, label in enumerate(y) if isinstance(label, str) and not label), None)
        if empty is not None:
            raise DataError(f"y[{empty}] is '', which is no label; {INSTEAD}{WHERE_EMPTY}")
        return [label for label in y if label is not None] if has_none(y) else y
    y = list(y)
    try:
        distinct_labels = set(itertools.chain.from_iterable(y))
    except TypeError:
        i = next(i for i, labels in enumerate(y) if not hashable(labels))
        raise DataError(f"y[{i}] is {shortened(y[i])}; expected a list of labels, one for each token.") from None
    distinct_labels.discard(None)
    if "" in distinct_labels or any(is_missing(label) for label in distinct_labels):
        i, j, label = next((i, j, label) for i, labels in enumerate(y) for j, label in enumerate(labels)
                           if label is not None and (is_missing(label) or isinstance(label, str) and label == ""))
        raise DataError(f"y[{i}][{j}] is {shortened(label)}, which is no label; {INSTEAD}{WHERE_EMPTY * isinstance(label, str)}")
    return list(distinct_labels)


def refuse_no_list(y):
    if not is_listed(y):
        raise DataError(f"y is {shortened(y)}; expected a list of labels for each sentence, or one label for each row of X.")


def hashable(labels):
    try:
        set(labels)
    except TypeError:
        return False
    return True
