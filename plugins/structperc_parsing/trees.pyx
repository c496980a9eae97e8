# distutils: extra_compile_args = GLUE
"""Trees over the words of a sentence: their codes, losses and the argmax.

A tree is encoded as n integers, `head * n_tags + label` for each word; heads are 0 (the root) or words 1..n. Typical sizes: 25 words.
Cost: O(n) each. The argmax costs O(n^2 n_tags) and its solver, with labels given the heads O(n^2 + n n_tags) and the solver.
"""
import itertools

import numpy as np

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int64_t
from libc.string cimport memset
from structperc.core.argmax cimport Argmax
from structperc.core.losses cimport Loss
from structperc.core.outputs cimport Outputs
from structperc.core.rows cimport Example, Rows
from structperc.core.structures cimport Structures
from structperc.components import SecondStage
from structperc.errors import DataError, OptionError, PluginError, UnusedOption, shortened
from structperc.pictures import ArcChoices, Arcs, Display, token_texts
from structperc.plugin_tools import codes_of, find_labels, is_listed, is_missing, plain_labels, read_array
from structperc.solvers.arborescences cimport INTERRUPTED, arborescence_work, max_arborescence_c, refusal
from structperc.solvers.arborescences cimport arborescence_marginals_c, arborescence_marginals_work
from structperc.solvers.projective cimport projective_marginals_c, projective_refusal, projective_tree_c, projective_work
from structperc.solvers.arborescences import k_best_arborescences
from structperc.solvers.ranked_projective import k_best_projective
from structperc_parsing.atoms cimport Layout, count_words, first_label, first_sibling, layout_of
from structperc_parsing.heads import find_circle, find_crossing, has_no_head, is_gap, is_labelled, is_pair, lifted, no_head, no_label
from structperc_parsing.heads import no_tree, refuse_gaps, refuse_no_tree
from structperc_parsing.labelled_trees import k_best_labelled
from structperc_parsing.scores import scores_of


MOST_LISTED = 10**7             # lists of heads and labels that are looked through for trees


class Labelling(SecondStage):
    """Arcs get labels once their heads are predicted."""

    remedy = "set labels='joint'"

    def __init__(self, n_tags):
        self.n_tags = n_tags

    def condition(self, structures, rows, settled=False):
        rows, heads = rows.part(0, rows.n_examples), structures.values // self.n_tags
        rows.condition(-1 - heads if settled else heads)
        return rows


class TreeDisplay(Display):
    """Arcs above the words."""

    def atom_names(self, Example x):
        cdef TreeOutputs outputs = self.outputs
        words = range(x.n_rows + 1)
        labels = [""] if outputs.labels is None or outputs.atoms.later else [f" ({label})" for label in outputs.names]
        names = [f"{h} -> {m}{label}" for h in words for m in words for label in labels]
        names += [f"{m} is {label}" for m in words[1:] for label in (outputs.names if outputs.atoms.later else ())]
        return names + [f"{h} -> {m} next to {s}" for h in words for m in words for s in (words if outputs.order == 2 else ())]

    def marginals(self, Example x, expected):
        cdef TreeOutputs outputs = self.outputs
        n = x.n_rows
        table = expected[:first_label(&outputs.atoms, n)].reshape(n + 1, n + 1, outputs.atoms.tags)
        return table[:, :, 0] if outputs.labels is None or outputs.atoms.later else table

    def picture(self, given, Example x, scores, structures):
        cdef TreeOutputs outputs = self.outputs
        n, names = outputs.n_tags, [""] if outputs.labels is None else [str(name) for name in outputs.names]
        trees = [[(code // n, names[code % n]) for code in y] for y in structures]
        return Arcs(token_texts(given, x.n_rows), *trees)

    def local_atoms(self, Example x):
        cdef TreeOutputs outputs = self.outputs
        return np.arange(first_label(&outputs.atoms, x.n_rows))

    def picture_of_set(self, given, Example x, states):
        cdef TreeOutputs outputs = self.outputs
        names = [""] if outputs.labels is None or outputs.atoms.later else [str(name) for name in outputs.names]
        table = states[self.local_atoms(x)].reshape(x.n_rows + 1, x.n_rows + 1, outputs.atoms.tags)
        arcs = [(m, head, names[k], table[head, m, k] == 2) for head, m, k in np.argwhere(table).tolist()]
        return ArcChoices(token_texts(given, x.n_rows), arcs)


cdef class TreeOutputs(Outputs):
    """The head of each word, or its head and label, such that all words are reached from the root.

    Users give and get a list for each sentence: of heads, or of pairs (head, label). Heads are 0 for the root and 1..n for words.
    """
    # projective: bool. Arcs do not cross: all words between a head and its dependent descend from the head.
    # one_root: bool. Exactly one word has the head 0.
    # lift: bool. Learn from trees with crossing arcs as `lifted` makes them projective.
    # joint: bool. Labels compete within arcs. Otherwise they have atoms of their own, about the heads that the rows of x know: the gold
    # heads in training, and in predictions those of the best tree.
    # order: {1, 2}. 2: a tree has atoms for neighbouring siblings too.

    options_used = ("target",)          # which the commands read

    cdef readonly bint projective, one_root, lift, joint
    cdef readonly int order
    cdef Layout atoms
    cdef readonly Py_ssize_t n_lifted           # trees learned from, so far
    cdef readonly Py_ssize_t n_tags             # 1 where arcs have no labels
    cdef readonly object labels
    cdef dict code_of
    cdef list names

    def __init__(self, projective=False, one_root=True, lift=False, joint=True, order=1):
        self.projective, self.one_root, self.lift, self.joint, self.order = projective, one_root, lift, joint, order

    def check(self, context, parts):
        if self.order == 2 and not self.projective:
            raise OptionError("order=2 scores pairs of siblings. With crossing arcs the best tree of such scores is NP-hard to find; "
                              "set projective=True, or order=1.")
        if self.lift and not self.projective:
            raise UnusedOption("lift=True makes trees projective, but projective=False allows crossing arcs; leave lift out.", "lift")

    def find_labels(self, y, classes):
        self.labels, self.n_tags, self.names, self.code_of = None, 1, [], {}
        if classes is None and y is not None and is_labelled(y):
            refuse_gaps(y)
            labels = list(self.labels_in(y))
            try:
                classes = sorted(set(labels))
            except TypeError:                       # of several types, or lists
                raise DataError(f"the labels of arcs in y are of several types: {shortened(labels)}; expected texts.") from None
        if classes is not None:
            self.labels = find_labels(None, classes, ordered=False)
            self.names = plain_labels(self.labels)
            self.n_tags, self.code_of = len(self.names), codes_of(self.labels)
        self.atoms = layout_of(len(self.names), self.joint, self.order)
        return self.labels

    def labels_in(self, y):
        """The labels that occur in what users pass as y."""
        pairs = (arc for arcs in y for arc in (arcs if is_listed(arcs) else ())) if is_labelled(y) else ()
        return (arc[1] for arc in pairs if is_pair(arc) and not is_missing(arc[1]))

    def encode(self, y, rows):
        if not is_listed(y):
            raise DataError(f"y is {shortened(y)}; expected a list for each sentence: the head of each word, or its head and label.")
        y, sizes = list(y), rows.sizes().tolist()
        if len(y) != len(sizes):
            raise DataError(f"y has the trees of {len(y)} sentence{'s' * (len(y) != 1)} but X has {len(sizes)}; give one tree per "
                            f"sentence.")
        codes = np.zeros(sum(sizes), dtype=np.intc)
        cdef int[::1] code = codes
        cdef Py_ssize_t at = 0
        for i, (arcs, n) in enumerate(zip(y, sizes)):
            if not is_listed(arcs) or len(arcs) != n:
                raise DataError(f"y[{i}] is {shortened(arcs)}; expected {n} {self.entries()}, one for each word of sentence {i}.")
            for j, arc in enumerate(arcs):
                code[at] = self.code(arc, n, i, j)
                at += 1
        return Structures(codes, np.append(0, np.cumsum(sizes)).astype(np.int64))

    def entries(self):
        return "heads" if self.labels is None else "pairs of a head and a label"

    cdef Py_ssize_t code(self, arc, Py_ssize_t n, i, j) except -1:
        """The integer of a word's head, or head and label."""
        if has_no_head(arc):
            raise no_head(f"y[{i}][{j}]")
        try:
            if self.labels is None:
                head, label = arc, None
            else:
                head, label = arc
            number = int(head)
        except (TypeError, ValueError, OverflowError, np.ma.MaskError):
            entry = "a head" if self.labels is None else "a pair of a head and a label"
            raise DataError(f"y[{i}][{j}] is {shortened(arc)}; expected {entry}, where 0 is the root and words are counted from 1."
                            ) from None
        if not 0 <= number <= n or number != head and str(number) != head:
            raise DataError(f"y[{i}][{j}] has the head {shortened(head)}; expected a whole number from 0 (the root) to {n}.")
        if self.labels is None:
            return number
        if is_gap(label):
            raise no_label(i, j)
        try:
            return number * self.n_tags + <Py_ssize_t> self.code_of[label]
        except (KeyError, TypeError):           # unknown, or a list
            raise DataError(f"y[{i}][{j}] has the label {shortened(label)}, which is none of the {self.n_tags} labels of the training "
                            f"data. Name all labels with classes=.") from None

    def admissible(self, gold, rows):
        """The trees to learn from, lifted where they should be and can be."""
        if self.lift:
            gold = self.without_crossings(gold)
        if self.atoms.later:
            rows.condition(gold.values // self.n_tags)
        return gold

    def second_stage(self):
        return Labelling(self.n_tags) if self.atoms.later else None

    def without_crossings(self, gold):
        codes, n_lifted = gold.values.copy(), 0
        for i in range(len(gold)):
            heads = self.heads(gold[i])
            if not find_circle(heads) and find_crossing(heads):
                first, n_lifted = gold.offsets[i], n_lifted + 1
                codes[first:first + len(heads)] += self.n_tags * np.subtract(lifted(heads), heads).astype(np.intc)
        self.n_lifted += n_lifted
        return Structures(codes, gold.offsets)

    def attributes(self, weights):
        return {"n_lifted_": lambda: self.n_lifted}

    def state(self):
        return {"n_lifted": np.array(self.n_lifted, dtype=np.int64)}

    def restore(self, state):
        self.n_lifted = int(read_array(state, "n_lifted", np.int64, low=0))

    cdef check_right(self, Structures gold, Rows rows, features):
        """Trees with crossing arcs are right ones, which projective models never predict."""
        cdef const int64_t[::1] begins = gold.offsets
        cdef int[::1] seen = np.empty(int(np.diff(gold.offsets).max(initial=0)) + 1, dtype=np.intc)
        cdef Py_ssize_t i
        for i in range(rows.n_examples):
            if not self.is_tree(gold.at + begins[i], begins[i + 1] - begins[i], &seen[0]):
                refuse_no_tree(i, self.heads(gold[i]), self.one_root)

    cdef bint is_tree(self, const int *y, Py_ssize_t n, int *seen) noexcept nogil:
        """Whether each word leads to the root; `seen` has room for n + 1 numbers."""
        cdef Py_ssize_t m, word
        cdef int n_roots = 0
        for m in range(n):
            word, seen[m + 1] = y[m] // self.n_tags, 0
            if y[m] < 0 or word > n:
                return False
            n_roots += word == 0
        if self.one_root and n_roots > 1:
            return False
        for m in range(1, n + 1):
            word = m
            while word and not seen[word]:
                seen[word] = <int> m
                word = y[word - 1] // self.n_tags
            if word and seen[word] == m:
                return False
        return True

    cdef check_gold(self, Structures gold, Rows rows, features):
        self.check_right(gold, rows, features)
        for i in range(rows.n_examples if self.projective else 0):
            wrong = self.crossing(self.heads(gold[i]))
            if wrong:
                raise DataError(f"y[{i}] is no tree that can be learned from: {wrong}; correct it, have it made projective with "
                                f"lift=True, or leave the sentence out.")

    def heads(self, y):
        return [code // self.n_tags for code in y]

    def wrong(self, heads):
        """Why these heads are no tree of this space, or None."""
        return no_tree(heads, self.one_root) or (self.crossing(heads) if self.projective else None)

    def crossing(self, heads):
        """Which arcs cross, or None."""
        crossed = find_crossing(heads)
        if crossed:
            return f"the arc from {heads[crossed[0] - 1]} to {crossed[0]} crosses that to {crossed[1]}, but trees are projective"
        return None

    def check_structure(self, Example x, y):
        n = x.n_rows
        if not isinstance(y, tuple) or len(y) != n or not all(isinstance(code, int) and 0 <= code < (n + 1) * self.n_tags for code in y):
            raise PluginError(f"{shortened(y)} is no tree of sentence {x.index}: expected {n} ints from 0 to {(n + 1) * self.n_tags - 1}.")
        wrong = no_tree(self.heads(y), self.one_root)           # arcs of a right tree may cross where no prediction's do
        if wrong:
            raise PluginError(f"{shortened(y)} is no tree of sentence {x.index}: {wrong}.")

    def decode(self, y, Example x):
        if self.labels is None:
            return list(y)
        return [(code // self.n_tags, self.names[code % self.n_tags]) for code in y]

    def measures(self, y_true, y_pred):
        scores = scores_of(y_true, y_pred, "y")
        for i, tree in enumerate(y_true):           # whose labels the model need not know
            refuse_no_tree(i, [int(arc[0] if is_pair(arc) else arc) for arc in tree], self.one_root)
        return scores

    def max_code_length(self, n_atoms):
        return count_words(&self.atoms, n_atoms)

    def enumerate(self, Example x):
        n = x.n_rows
        if n and (n + 1) ** n * self.n_tags ** n > MOST_LISTED:
            return None
        trees = (heads for heads in itertools.product(range(n + 1), repeat=n) if self.wrong(heads) is None)
        return (tuple(head * self.n_tags + tag for head, tag in zip(heads, tags))
                for heads in trees for tags in itertools.product(range(self.n_tags), repeat=n))

    def display(self):
        return TreeDisplay(self)

    cdef int count_c(self, Example x, const int *y, Py_ssize_t n, double sign, double *c) noexcept nogil:
        cdef Py_ssize_t m, head, label, size = n + 1, labels = first_label(&self.atoms, n), siblings = first_sibling(&self.atoms, n)
        for m in range(n):
            head = y[m] // self.n_tags
            label = y[m] - head * self.n_tags
            c[(head * size + m + 1) * self.atoms.tags + (0 if self.atoms.later else label)] += sign
            if self.atoms.later:
                c[labels + m * self.atoms.later + label] += sign
            if self.atoms.siblings:
                c[siblings + (head * size + m + 1) * size + next_sibling(y, self.n_tags, head, m + 1)] += sign
        return 0

    cdef int agrees_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t m
        for m in range(n):
            if y[m] != gold[m]:
                return 0
        return 1


cdef inline Py_ssize_t next_sibling(const int *y, Py_ssize_t n_tags, Py_ssize_t head, Py_ssize_t m) noexcept nogil:
    """The head's dependent next to m on the way to the head; the head itself if there is none."""
    cdef Py_ssize_t step = 1 if head > m else -1, s = m + step
    while s != head and y[s - 1] // n_tags != head:
        s += step
    return s


cdef class ArcLoss(Loss):
    """How many words have a wrong head or label; if labels have separate atoms, wrong heads plus wrong labels."""
    # n_labels: int. 0: none.
    # order: {1, 2}

    cdef Layout atoms
    cdef Py_ssize_t n_tags

    def __init__(self, n_labels, joint=True, order=1):
        self.atoms, self.n_tags = layout_of(n_labels, joint, order), max(n_labels, 1)

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t m
        cdef double total = 0
        for m in range(n):
            if self.atoms.later:
                total += (gold[m] // self.n_tags != y[m] // self.n_tags) + (gold[m] % self.n_tags != y[m] % self.n_tags)
            else:
                total += gold[m] != y[m]
        return total

    cdef int augment_c(self, Example x, const int *gold, Py_ssize_t n_gold, double scale, double *s) noexcept nogil:
        """s[a] += scale for every arc, and every label of a word, that is not gold's"""
        cdef Py_ssize_t a, m, head, label, n = n_gold, labels = first_label(&self.atoms, n)
        for a in range(first_sibling(&self.atoms, n)):
            s[a] += scale
        for m in range(n):
            head = gold[m] // self.n_tags
            label = gold[m] - head * self.n_tags
            s[(head * (n + 1) + m + 1) * self.atoms.tags + (0 if self.atoms.later else label)] -= scale
            if self.atoms.later:
                s[labels + m * self.atoms.later + label] -= scale
        return 0


cdef class TreeArgmax(Argmax):
    """The tree of largest score: the best label of each arc, the lowest at a tie, then the maximum arborescence.

    Labels given the heads do not move the tree: each word takes its best one.
    """
    # n_labels: int. 0: none.
    # order: {1, 2}

    cdef readonly Py_ssize_t n_tags
    cdef readonly bint one_root
    cdef Layout atoms

    def __init__(self, n_labels, one_root, joint=True, order=1):
        self.n_tags, self.one_root, self.atoms = max(n_labels, 1), one_root, layout_of(n_labels, joint, order)

    def divided(self, scores, Example x):
        """Scores of arcs by label `(n + 1, n + 1, tags)`, of words' labels `(n, labels)` or None, of siblings `(n + 1,) * 3` or None."""
        n, scores = x.n_rows, np.asarray(scores)
        labels, siblings = first_label(&self.atoms, n), first_sibling(&self.atoms, n)
        return (scores[:labels].reshape(n + 1, n + 1, self.atoms.tags),
                scores[labels:siblings].reshape(n, self.atoms.later) if self.atoms.later else None,
                scores[siblings:].reshape(n + 1, n + 1, n + 1) if self.atoms.siblings else None)

    def k_best(self, scores, Example x, k):
        self._refuse_values(scores)                 # of arcs too that no tree has
        arcs, labels, siblings = self.divided(scores, x)
        if x.n_rows == 0:
            return None
        if labels is not None:              # of a word: whichever head it has
            labels = np.concatenate([np.zeros((1, labels.shape[1])), labels])
            finite = np.isfinite(arcs) & np.isfinite(labels)
            with np.errstate(over="ignore"):
                arcs = arcs + labels
            if not np.isfinite(arcs[finite]).all():
                raise DataError("scores overflow when they are added up, although each is finite.")
        heads, totals = self.k_best_heads(np.ascontiguousarray(arcs.max(axis=2)), siblings, int(k))
        return k_best_labelled(arcs, heads, totals, int(k))

    def k_best_heads(self, scores, siblings, k):
        """The heads of the k best trees, (k, n), and their scores."""
        return k_best_arborescences(scores, k, bool(self.one_root))

    cdef Py_ssize_t workspace_size_c(self, Py_ssize_t n_atoms, bint marginals) noexcept nogil:
        cdef Py_ssize_t n = count_words(&self.atoms, n_atoms), needed
        needed = self.work_size(n) + ((n + 1) * (n + 1) if self.atoms.tags > 1 else 0)
        if marginals:
            needed = max(needed, self.marginals_work_size(n) + 2 * (n + 1) * (n + 1) + n + 1)
        return needed

    cdef Py_ssize_t work_size(self, Py_ssize_t n) noexcept nogil:
        """How many numbers `best_heads` works in."""
        return arborescence_work(n)

    cdef Py_ssize_t marginals_work_size(self, Py_ssize_t n) noexcept nogil:
        """How many numbers `arc_marginals` works in."""
        return arborescence_marginals_work(n)

    cdef int best_heads(self, const double *arcs, const double *siblings, Py_ssize_t n, int *heads, double *work) noexcept nogil:
        return max_arborescence_c(arcs, n + 1, n, self.one_root, heads, work)

    cdef int arc_marginals(self, const double *arcs, const double *siblings, Py_ssize_t n, double *log_z, double *probabilities,
                           double *together, int *heads, double *work) noexcept nogil:
        """log Z and the probability of every arc, `(n + 1, n + 1)`, and of every pair of siblings with scores; or a status."""
        return arborescence_marginals_c(arcs, n + 1, n, self.one_root, log_z, probabilities, heads, work)

    cdef refused(self, int status, const double *arcs, const double *siblings, Py_ssize_t n, const int *heads, str name):
        """The exception for a status."""
        return refusal(status, arcs, n + 1, n, heads, name)

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        cdef Py_ssize_t n = x.block.n_rows, size = n + 1, tags = self.atoms.tags, later = self.atoms.later, a, m
        cdef const double *scores = s
        cdef const double *labels = s + first_label(&self.atoms, n)
        cdef const double *siblings = s + first_sibling(&self.atoms, n) if self.atoms.siblings else NULL
        cdef double *arcs = x.work + self.work_size(n)
        cdef int status
        if n == 0:
            return 0
        if tags > 1:
            scores = arcs
            for a in range(size * size):
                arcs[a] = s[a * tags + best_tag(s + a * tags, tags)]
        status = self.best_heads(scores, siblings, n, y, x.work)
        if status < 0:
            if status != INTERRUPTED:
                with gil:
                    self.error = self.refused(status, scores, siblings, n, y, f"sentence {x.index}")
            return -1
        if tags > 1:
            for m in range(n):
                y[m] = <int> (y[m] * tags + best_tag(s + (y[m] * size + m + 1) * tags, tags))
        if later:
            for m in range(n):
                y[m] = <int> (y[m] * later + best_tag(labels + m * later, later))
        return n

    cdef int marginals_c(self, Example x, const double *s, double *expected, double *log_z) noexcept nogil:
        """Marginals of the log sums of arcs over labels, times the share of the label. Labels given a head are independent."""
        cdef Py_ssize_t n = x.block.n_rows, size = n + 1, tags = self.atoms.tags, later = self.atoms.later, a, k, m
        cdef Py_ssize_t labels = first_label(&self.atoms, n), first = first_sibling(&self.atoms, n)
        cdef bint has_siblings = self.atoms.siblings
        cdef const double *siblings = s + first if has_siblings else NULL
        cdef double *arcs = x.work + self.marginals_work_size(n)
        cdef double *probabilities = arcs + size * size
        cdef int *heads = <int *> (probabilities + size * size)
        cdef double sum_of_word
        cdef int status
        memset(expected, 0, x.n_atoms * sizeof(double))
        log_z[0] = 0
        if n == 0:
            return 0
        for a in range(size * size):
            arcs[a] = s[a] if tags == 1 else log_sum(s + a * tags, tags)
        status = self.arc_marginals(arcs, siblings, n, log_z, probabilities, expected + first if has_siblings else NULL, heads, x.work)
        if status < 0:
            if status != INTERRUPTED:
                with gil:
                    self.error = self.refused(status, arcs, siblings, n, heads, f"sentence {x.index}")
            return -1
        for a in range(size * size):
            if tags == 1:
                expected[a] = probabilities[a]
            elif probabilities[a] > 0:
                for k in range(tags):
                    expected[a * tags + k] = probabilities[a] * exp(s[a * tags + k] - arcs[a])
        for m in range(n if later else 0):
            sum_of_word = log_sum(s + labels + m * later, later)
            log_z[0] += sum_of_word
            for k in range(later):
                expected[labels + m * later + k] = exp(s[labels + m * later + k] - sum_of_word)
        return 0


cdef double log_sum(const double *s, Py_ssize_t tags) noexcept nogil:
    """The logarithm of the sum of the labels' exponentials."""
    cdef Py_ssize_t k
    cdef double largest = s[best_tag(s, tags)], total = 0
    if largest == -INFINITY:
        return largest
    for k in range(tags):
        total += exp(s[k] - largest)
    return largest + log(total)


cdef inline Py_ssize_t best_tag(const double *s, Py_ssize_t tags) noexcept nogil:
    """The label of largest score, the lowest at a tie."""
    cdef Py_ssize_t k, best = 0
    for k in range(1, tags):
        best = k if s[k] > s[best] else best
    return best


cdef class ProjectiveArgmax(TreeArgmax):
    """The same among projective trees, by Eisner's algorithm in O(n^3), with siblings by that of McDonald and Pereira."""

    def k_best_heads(self, scores, siblings, k):
        return k_best_projective(scores, k, siblings, bool(self.one_root))

    cdef Py_ssize_t work_size(self, Py_ssize_t n) noexcept nogil:
        return projective_work(n)

    cdef Py_ssize_t marginals_work_size(self, Py_ssize_t n) noexcept nogil:
        return 2 * projective_work(n)

    cdef int arc_marginals(self, const double *arcs, const double *siblings, Py_ssize_t n, double *log_z, double *probabilities,
                           double *together, int *heads, double *work) noexcept nogil:
        return projective_marginals_c(arcs, n + 1, siblings, n, self.one_root, log_z, probabilities, together, work)

    cdef int best_heads(self, const double *arcs, const double *siblings, Py_ssize_t n, int *heads, double *work) noexcept nogil:
        cdef double total
        return projective_tree_c(arcs, n + 1, siblings, n, self.one_root, heads, &total, work)

    cdef refused(self, int status, const double *arcs, const double *siblings, Py_ssize_t n, const int *heads, str name):
        return projective_refusal(status, arcs, n + 1, siblings, n, self.one_root, name, name)
