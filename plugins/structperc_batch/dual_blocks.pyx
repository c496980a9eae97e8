"""The dual solution of a structural support vector machine, with one block per example, and the base class of passes.

    min over w   P(w) = 1/2 ||w||^2 + C sum_i weight_i max over y of h_i(y),   h_i(y) = loss_i(y) + w . (Phi(x_i, y) - Phi(x_i, gold_i))
    max over a   D(a) = sum_i sum_y a_i(y) loss_i(y) - 1/2 ||w(a)||^2,         a_i >= 0, sum_y a_i(y) = C weight_i,
                 w(a) = sum_i sum_y a_i(y) (Phi(x_i, gold_i) - Phi(x_i, y))
    gap          P(w(a)) - D(a) = sum_i sum_y a_i(y) (max h_i - h_i(y)) >= 0

The coefficients a_i of one example are a block, which holds the structures with a_i(y) > 0. Typical sizes: 10^2..10^6 blocks of 1 to 10
structures. Memory: 250 bytes for each block. Each structure needs 32 bytes and its integers (4 bytes each); each pair needs 8 bytes.
"""
import numpy as np

from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memmove
from structperc.core.features cimport Features, Parameter, written_out
from structperc.core.signals cimport interrupted
from structperc.core.updates cimport Encoded, Trial
from structperc.errors import DataError
from structperc.plugin_tools import adapted, read_array
from structperc.solvers.block_steps cimport pairwise
from structperc.solvers.block_steps import can_sweep, sweep_blocks


# ---- block memory ----
# A block of the dual solution in plain C memory: adding, finding and forgetting structures without the GIL.
#
# Typical sizes: 1 to 10 structures; each operation is O(structures), O(structures^2) where distances move. A block begins with room for
# two and doubles it.


cdef enum:
    FEW = 2


cdef bint equal(const Code *a, const int *y, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    if a.n != n:
        return False
    for i in range(n):
        if a.at[i] != y[i]:
            return False
    return True


cdef int assign(Code *code, const int *y, Py_ssize_t n) noexcept nogil:
    """A copy of these integers; -1 without memory."""
    cdef int *at = <int *> malloc(max(n, 1) * sizeof(int))
    if at == NULL:
        return -1
    if n:                               # y is nowhere for a structure of no integers
        memcpy(at, y, n * sizeof(int))
    free(code.at)
    code.at, code.n = at, <int> n
    return 0


cdef void clear(Block *block) noexcept nogil:
    cdef Py_ssize_t m
    for m in range(block.n):
        free(block.codes[m].at)
    free(block.codes)
    free(block.alpha)
    free(block.loss)
    free(block.distance)
    free(block.gold.at)
    free(block.completion.at)


cdef int grow(Block *block) noexcept nogil:
    """Twice the room; -1 without memory."""
    cdef Py_ssize_t m, room = 2 * block.room if block.room else FEW
    cdef Code *codes = <Code *> realloc(block.codes, room * sizeof(Code))
    cdef double *alpha
    cdef double *loss
    cdef double *distance
    if codes == NULL:
        return -1
    block.codes = codes
    alpha = <double *> realloc(block.alpha, room * sizeof(double))
    if alpha == NULL:
        return -1
    block.alpha = alpha
    loss = <double *> realloc(block.loss, room * sizeof(double))
    if loss == NULL:
        return -1
    block.loss = loss
    if block.distance != NULL:
        distance = <double *> calloc(room * room, sizeof(double))
        if distance == NULL:
            return -1
        for m in range(block.n):
            memcpy(distance + m * room, block.distance + m * block.room, block.n * sizeof(double))
        free(block.distance)
        block.distance = distance
    block.room = <int> room
    return 0


cdef int make_distances(Block *block) noexcept nogil:
    """Allocate distances if there are none yet. A block from a file must not need its square of memory. Returns -1 without memory."""
    if block.distance == NULL:
        block.distance = <double *> calloc(block.room * <size_t> block.room, sizeof(double))
    return -1 if block.distance == NULL else 0


cdef int append(Block *block, const int *y, Py_ssize_t n, double alpha, double loss) noexcept nogil:
    """One more structure, whose distances are not known yet; -1 without memory."""
    if block.n == block.room and grow(block) < 0:
        return -1
    block.codes[block.n].at = NULL
    if assign(&block.codes[block.n], y, n) < 0:
        return -1
    block.alpha[block.n], block.loss[block.n] = alpha, loss
    block.n += 1
    return 0


cdef void remove(Block *block, Py_ssize_t m) noexcept nogil:
    """Forgets a structure."""
    cdef Py_ssize_t i, last = block.n - 1
    free(block.codes[m].at)
    memmove(block.codes + m, block.codes + m + 1, (last - m) * sizeof(Code))
    memmove(block.alpha + m, block.alpha + m + 1, (last - m) * sizeof(double))
    memmove(block.loss + m, block.loss + m + 1, (last - m) * sizeof(double))
    if block.distance != NULL:
        for i in range(block.n):
            memmove(block.distance + i * block.room + m, block.distance + i * block.room + m + 1, (last - m) * sizeof(double))
        memmove(block.distance + m * block.room, block.distance + (m + 1) * block.room, (last - m) * block.room * sizeof(double))
    block.n = <int> last


cdef Py_ssize_t position(const Block *block, const int *y, Py_ssize_t n) noexcept nogil:
    """Where a block holds this structure, or -1."""
    cdef Py_ssize_t m
    for m in range(block.n):
        if equal(&block.codes[m], y, n):
            return m
    return -1


# ---- dual blocks ----


MOST = 2**31 - 1        # integers that are saved


cdef class DualBlocks:
    """Which structures of each example have weight in the dual solution, and how much.

    Parameters
    ----------
    C : float
        Weight of the losses' sum over the examples.
    margin : float
        The loss counts `margin` times.
    """

    def __init__(self, double C, double margin):
        self.C, self.margin = C, margin

    def __cinit__(self, *args, **kwargs):
        self.blocks, self.n_examples, self.sum = NULL, 0, np.zeros(4)

    def __dealloc__(self):
        self.forget()

    cdef void forget(self) noexcept:
        cdef Py_ssize_t i
        for i in range(self.n_examples):
            clear(&self.blocks[i])
        free(self.blocks)
        self.blocks, self.n_examples = NULL, 0

    def start(self, parts):
        """Takes the loss of a fit, and forgets the solution of an earlier one."""
        self.forget()
        self.loss, self.adopting = adapted(parts.loss), False

    def begin(self, Py_ssize_t n_examples):
        """Makes a block for each example, all weight on its gold structure: w = 0."""
        cdef Py_ssize_t i
        self.forget()
        self.blocks = <Block *> calloc(max(n_examples, 1), sizeof(Block))
        if self.blocks == NULL:
            raise MemoryError
        self.n_examples, self.adopting = n_examples, False
        for i in range(n_examples):
            self.blocks[i].gold.n = self.blocks[i].completion.n = -1

    def adopt_completions(self):
        """Adopts the completions of the last `Complete` pass, and moves the weight of the old completions to the new ones."""
        cdef Py_ssize_t i, old, new
        cdef Block *block
        for i in range(self.n_examples):
            block = &self.blocks[i]
            if block.completion.n < 0:
                continue
            if block.gold.n >= 0:
                old, new = position(block, block.gold.at, block.gold.n), position(block, block.completion.at, block.completion.n)
                if old >= 0 and new >= 0:
                    block.alpha[new] += block.alpha[old]
                    remove(block, old)
                elif old >= 0:
                    if assign(&block.codes[old], block.completion.at, block.completion.n) < 0:
                        raise MemoryError
                    block.measured = False
            free(block.gold.at)
            block.gold = block.completion
            block.completion.at, block.completion.n = NULL, -1

    # ---- keeping the solution ----

    def state(self):
        """The dual solution as a dict of arrays."""
        cdef Py_ssize_t i, m
        cdef Block *block
        if self.blocks == NULL:
            return {}
        counts = np.array([self.blocks[i].n for i in range(self.n_examples)], dtype=np.int64)
        alpha = np.array([self.blocks[i].alpha[m] for i in range(self.n_examples) for m in range(self.blocks[i].n)], dtype=float)
        loss = np.array([self.blocks[i].loss[m] for i in range(self.n_examples) for m in range(self.blocks[i].n)], dtype=float)
        sizes, values, gold_sizes, gold_values = [], [], [], []
        for i in range(self.n_examples):
            block = &self.blocks[i]
            for m in range(block.n):
                sizes.append(block.codes[m].n)
                values += [block.codes[m].at[a] for a in range(block.codes[m].n)]
            gold_sizes.append(block.gold.n)
            gold_values += [block.gold.at[a] for a in range(block.gold.n)]
        return {"counts": counts, "alpha": alpha, "loss": loss, "sizes": np.array(sizes, dtype=np.int64),
                "structures": np.array(values, dtype=np.intc), "gold_sizes": np.array(gold_sizes, dtype=np.int64),
                "golds": np.array(gold_values, dtype=np.intc)}

    def restore(self, state):
        """Takes back what `state` gave. Before more passes over data of unknown origin, see `take_over`."""
        cdef Py_ssize_t i, at = 0, value = 0, gold_value = 0
        cdef const int[::1] values, golds
        cdef Block *block
        if "counts" not in state:
            self.forget()
            return
        counts = read_array(state, "counts", np.int64, (None,), low=0).tolist()
        sizes = read_array(state, "sizes", np.int64, (None,), low=0).tolist()
        gold_sizes = read_array(state, "gold_sizes", np.int64, (len(counts),), low=-1).tolist()
        alpha = read_array(state, "alpha", np.float64, (len(sizes),), low=0).tolist()
        loss = read_array(state, "loss", np.float64, (len(sizes),)).tolist()
        values, golds = (read_array(state, name, np.intc, (None,)) for name in ("structures", "golds"))
        if (sum(counts) != len(sizes) or sum(sizes) != len(values) or sum(max(n, 0) for n in gold_sizes) != len(golds)
                or max(len(values), len(golds)) > MOST):
            raise DataError("the saved dual solution is damaged: its arrays do not fit together.")
        self.begin(len(counts))
        for i in range(self.n_examples):
            block = &self.blocks[i]
            for _ in range(counts[i]):
                if append(block, &values[value] if sizes[at] else NULL, sizes[at], alpha[at], loss[at]) < 0:
                    raise MemoryError
                value += sizes[at]
                at += 1
            if gold_sizes[i] >= 0:
                if assign(&block.gold, &golds[gold_value] if gold_sizes[i] else NULL, gold_sizes[i]) < 0:
                    raise MemoryError
                gold_value += gold_sizes[i]

    def take_over(self, state, check_structure):
        """Begins with another training's dual solution, which may have other losses, C, sample weights or gold outputs.

        The next `Rebuild` pass brings the solution into line; then call `taken_over`.

        Parameters
        ----------
        state : dict
            What `state` gave there.
        check_structure : function of (example, structure)
            Raises unless the structure, a tuple, is one of that example's.
        """
        cdef Py_ssize_t i, m
        cdef Block *block
        n_examples = self.n_examples
        self.restore(state)
        if self.n_examples != n_examples:
            n_before = self.n_examples
            self.begin(n_examples)
            raise DataError(f"there are {n_examples} examples, but the solution to continue from has {n_before}; "
                            f"pass the same examples again.")
        for i in range(n_examples):
            block = &self.blocks[i]
            for m in range(block.n):
                check_structure(i, tuple([block.codes[m].at[a] for a in range(block.codes[m].n)]))
            if block.gold.n >= 0:
                check_structure(i, tuple([block.gold.at[a] for a in range(block.gold.n)]))
            if block.n and not any([block.alpha[m] > 0 for m in range(block.n)]):
                raise DataError("the saved dual solution is damaged: a block has no weight.")
        self.adopting = True

    def taken_over(self):
        """The solution that `take_over` took has been brought into line."""
        self.adopting = False


cdef class BlockPass(Update):
    """Base of the passes over the blocks. Each is an update rule that `trainer` and `run` use instead of the model's own rule.

    Parameters
    ----------
    dual : DualBlocks
    """

    when = "always"

    def __init__(self, DualBlocks dual):
        self.dual = dual

    def searches(self, loss_weight):
        return "none", 0.0

    cdef Block *block_of(self, Trial trial) noexcept nogil:
        """The example's block, with a completion of a partial gold output; NULL without memory."""
        cdef Block *block = &self.dual.blocks[trial.x.index]
        if trial.outputs.partial_gold and block.gold.n < 0 and assign(&block.gold, trial.gold_code.at, trial.gold_code.n) < 0:
            self.no_memory()
            return NULL
        return block

    cdef Block *opened(self, Trial trial, Encoded *gold) noexcept nogil:
        """The same with at least one structure, and the gold structure in use; NULL without memory."""
        cdef Block *block = self.block_of(trial)
        if block == NULL:
            return NULL
        gold[0] = trial.gold_code
        if block.gold.n >= 0:
            gold.at, gold.n = block.gold.at, block.gold.n
        if block.n == 0:
            if append(block, gold.at, gold.n, self.total(trial), 0) < 0:
                self.no_memory()
                return NULL
            block.measured = True
        return block

    cdef double total(self, Trial trial) noexcept nogil:
        """The sum of the block's coefficients."""
        return self.dual.C * trial.weight

    cdef int no_memory(self) noexcept nogil:
        with gil:
            self.error = MemoryError()
        return -1

    cdef int count(self, Trial trial, const int *y, Py_ssize_t n) noexcept nogil:
        """How often each atom occurs in y, into trial.c."""
        cdef Py_ssize_t a
        for a in range(trial.x.n_atoms):
            trial.c[a] = 0
        return trial.outputs.count_c(trial.x, y, n, 1.0, trial.c)

    cdef int score(self, Trial trial, const int *y, Py_ssize_t n, double *total) noexcept nogil:
        """w . Phi(x, y) from the atom scores; trial.c is the scratch space."""
        cdef Py_ssize_t a
        if self.count(trial, y, n) < 0:
            return -1
        total[0] = 0
        for a in range(trial.x.n_atoms):
            total[0] += trial.c[a] * trial.s[a]
        return 0

    cdef int add(self, Trial trial, const int *y, Py_ssize_t n, double factor) noexcept nogil:
        """sum += factor * counts: whole counts first, so that an atom that occurs often is rounded once."""
        cdef Py_ssize_t a
        if self.count(trial, y, n) < 0:
            return -1
        for a in range(trial.x.n_atoms):
            self.dual.sum[a] += factor * trial.c[a]
        return 0

    cdef int clear_sum(self, Py_ssize_t n_atoms) noexcept nogil:
        """sum = 0; -1 without memory."""
        cdef Py_ssize_t a
        if n_atoms > self.dual.sum.shape[0] and self.grow_sum(n_atoms) < 0:
            return -1
        for a in range(n_atoms):
            self.dual.sum[a] = 0
        return 0

    cdef int grow_sum(self, Py_ssize_t n_atoms) noexcept with gil:
        try:
            self.dual.sum = np.zeros(2 * n_atoms)
        except MemoryError as error:
            self.error = error
            return -1
        return 0


# ---- block passes ----
# Passes over the dual blocks without any search: w(a) written anew, gold outputs completed, vectors written down and swept.


cdef class Rebuild(BlockPass):
    """Writes w(a) into weights that were set to zero, which rids them of rounding.

    A solution that was taken over from another training is brought into line first: coefficients add up to C weight, losses are this fit's.
    """

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Encoded gold
        cdef Block *block = self.opened(trial, &gold)
        cdef Py_ssize_t m
        if block == NULL or self.dual.adopting and self.adopt(trial, block) < 0:
            return -1
        if block.n == 1 and equal(&block.codes[0], gold.at, gold.n):
            return 0
        if self.clear_sum(trial.x.n_atoms) < 0 or self.add(trial, gold.at, gold.n, self.total(trial)) < 0:
            return -1
        for m in range(block.n):
            if self.add(trial, block.codes[m].at, block.codes[m].n, -block.alpha[m]) < 0:
                return -1
        memcpy(trial.c, &self.dual.sum[0], trial.x.n_atoms * sizeof(double))
        return 1

    cdef int adopt(self, Trial trial, Block *block) noexcept nogil:
        cdef Py_ssize_t m
        cdef double total = self.total(trial), held = 0
        cdef int same
        for m in range(block.n):
            held += block.alpha[m]
        for m in range(block.n):
            block.alpha[m] *= total / held
            same = trial.outputs.agrees_c(trial.x, trial.given_code.at, trial.given_code.n, block.codes[m].at, block.codes[m].n)
            if same < 0:
                return -1
            block.loss[m] = 0
            if not same:
                block.loss[m] = self.dual.loss.value_c(trial.x, trial.given_code.at, trial.given_code.n, block.codes[m].at,
                                                       block.codes[m].n)
                if block.loss[m] < 0:
                    return -1
                block.loss[m] *= self.dual.margin
        return 0


cdef class Complete(BlockPass):
    """Moves nothing, and completes partial gold outputs with the weights at hand; `DualBlocks.adopt_completions` takes them over.

    Attributes
    ----------
    gain : float
        By how much C times the sum of the completions' scores grows.
    """

    cdef readonly double gain

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Block *block = self.block_of(trial)
        cdef double now = 0, better = 0
        if block == NULL:
            return -1
        free(block.completion.at)
        block.completion.at, block.completion.n = NULL, -1
        if equal(&block.gold, trial.gold_code.at, trial.gold_code.n):
            return 0
        if self.score(trial, block.gold.at, block.gold.n, &now) < 0 \
                or self.score(trial, trial.gold_code.at, trial.gold_code.n, &better) < 0:
            return -1
        if better > now:
            self.gain += self.total(trial) * (better - now)
            if assign(&block.completion, trial.gold_code.at, trial.gold_code.n) < 0:
                return self.no_memory()
        return 0


cdef class WriteVectors(BlockPass):
    """Moves nothing, and stores the vectors Phi(x, gold) - Phi(x, y) of blocks with several structures, for `sweep`.

    Parameters
    ----------
    dual : DualBlocks
    features : Features
        As the loop calls them.

    Attributes
    ----------
    fits : bool
        Whether there are such structures, and few enough to sweep. Without that no pass may be made.
    """

    cdef readonly bint fits
    cdef Features features
    cdef double[:, ::1] vectors
    cdef int64_t[::1] offsets                   # where each block's vectors begin

    def __init__(self, DualBlocks dual, Features features):
        cdef Py_ssize_t i
        BlockPass.__init__(self, dual)
        sizes = np.array([dual.blocks[i].n if dual.blocks[i].n > 1 else 0 for i in range(dual.n_examples)], dtype=np.int64)
        n = int(sizes.sum())
        self.fits = n > 0 and can_sweep(n, features.n_weights)
        self.features, self.offsets = features, np.append(0, np.cumsum(sizes))
        self.vectors = np.zeros((n, features.n_weights)) if self.fits else None

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Encoded gold
        cdef Block *block = self.opened(trial, &gold)
        cdef Py_ssize_t m, row = self.offsets[trial.x.index]
        cdef Parameter p
        if block == NULL:
            return -1
        if self.offsets[trial.x.index + 1] - row != block.n:
            return 0
        for m in range(block.n):
            p = written_out(self.features, &self.vectors[row + m, 0])
            if trial.outputs.difference_c(trial.x, gold.at, gold.n, block.codes[m].at, block.codes[m].n, trial.c) < 0:
                return -1
            if self.features.add_c(&p, trial.x, trial.c, 1.0, 0.0) < 0:
                return -1
        return 0

    def sweep(self, w, enough):
        """New coefficients by `sweep_blocks` from the weights w(a), for `exchange`."""
        cdef Py_ssize_t i, m
        alpha, loss = np.empty(self.vectors.shape[0]), np.empty(self.vectors.shape[0])
        for i in range(self.dual.n_examples):
            for m in range(self.offsets[i + 1] - self.offsets[i]):
                alpha[self.offsets[i] + m], loss[self.offsets[i] + m] = self.dual.blocks[i].alpha[m], self.dual.blocks[i].loss[m]
        sweep_blocks(alpha, loss, self.vectors, self.offsets, np.array(w, dtype=float), enough)
        return alpha

    def exchange(self, double[::1] alpha):
        """Gives the blocks these coefficients, and returns those that they replace."""
        cdef Py_ssize_t i, m, row
        cdef double[::1] before = np.empty(alpha.shape[0])
        for i in range(self.dual.n_examples):
            row = self.offsets[i]
            for m in range(self.offsets[i + 1] - row):
                before[row + m], self.dual.blocks[i].alpha[m] = self.dual.blocks[i].alpha[m], alpha[row + m]
        return np.asarray(before)


# ---- frank wolfe ----
# Structural support vector machines, solved in the dual one example at a time: Frank-Wolfe steps as an update rule in atom space.
#
# A visit adds the structure of the loss-augmented search to the example's block (see `dual_blocks`). It maximises D over the block to
# rounding. Its pairwise steps need only the squared distances ||Phi(x, y) - Phi(x, z)||^2. So features are computed only for a new
# structure, and w changes once. A visit costs the search and O(atoms) per structure of the block. A new structure adds a norm per
# structure of the block.


cdef class SearchedPass(BlockPass):
    """Base of the passes with a loss-augmented search; the loop's loss weight must be the margin."""

    cdef double[::1] value, before              # of the block's structures: scores or h, and coefficients before a step

    def __cinit__(self, *args, **kwargs):
        self.value, self.before = np.zeros(4), np.zeros(4)

    def searches(self, loss_weight):
        return "augmented", loss_weight

    cdef int grow(self, Py_ssize_t n) noexcept with gil:
        try:
            self.value, self.before = np.zeros(2 * n), np.zeros(2 * n)
        except MemoryError as error:
            self.error = error
            return -1
        return 0

    cdef int scores(self, Trial trial, Block *block, Encoded gold, double *gold_score, double *largest) noexcept nogil:
        """Scores of the block's structures into `value`, of the gold structure, and the largest h, which is that of y."""
        cdef Py_ssize_t m
        if block.n + 1 > self.value.shape[0] and self.grow(block.n + 1) < 0:
            return -1
        if self.score(trial, gold.at, gold.n, gold_score) < 0 or self.score(trial, trial.y_code.at, trial.y_code.n, largest) < 0:
            return -1
        largest[0] += self.dual.margin * trial.loss - gold_score[0]
        for m in range(block.n):
            if self.score(trial, block.codes[m].at, block.codes[m].n, &self.value[m]) < 0:
                return -1
        return 0


cdef class BlockFrankWolfe(SearchedPass):
    """Block-coordinate Frank-Wolfe steps with line search, within a block over all its structures (pairwise).

    Parameters
    ----------
    C : float, default 1.0
        Weight of the sum of losses over the examples. In the convention lambda / 2 ||w||^2 + mean loss it is 1 / (lambda n).
    margin : float, default 1.0
        The loss counts `margin` times.

    Attributes
    ----------
    dual : DualBlocks
    estimate : float
        The sum of the gaps that the blocks had before their steps, in the pass under way.
    """

    options_used = ("C", "margin")

    cdef public double estimate

    def __init__(self, double C=1.0, double margin=1.0):
        SearchedPass.__init__(self, DualBlocks(C, margin))

    def start(self, parts, context):
        self.dual.start(parts)
        self.estimate = 0

    def state(self):
        return {**self.dual.state(), "estimate": np.array(self.estimate)}

    def restore(self, state):
        self.estimate = read_array(state, "estimate", np.float64) if "estimate" in state else 0      # files of older versions have none
        self.dual.restore(state)

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Encoded gold
        cdef Block *block = self.opened(trial, &gold)
        cdef double gold_score = 0, largest = 0
        cdef Py_ssize_t m
        if block == NULL or self.scores(trial, block, gold, &gold_score, &largest) < 0:
            return -1
        for m in range(block.n):
            self.value[m] = block.loss[m] + self.value[m] - gold_score
            self.estimate += block.alpha[m] * (largest - self.value[m])
        return self.move(trial, block, largest)

    cdef int move(self, Trial trial, Block *block, double largest) noexcept nogil:
        """Improves the block and writes by how much w moves; 0: not at all."""
        cdef Py_ssize_t m, place = position(block, trial.y_code.at, trial.y_code.n)
        cdef bint moved = False
        if make_distances(block) < 0:
            return self.no_memory()
        if not block.measured:
            for m in range(block.n):
                if self.measure(trial, block, m) < 0:
                    return -1
            block.measured = True
        if place < 0:
            if append(block, trial.y_code.at, trial.y_code.n, 0, self.dual.margin * trial.loss) < 0:
                return self.no_memory()
            self.value[block.n - 1] = largest
            if self.measure(trial, block, block.n - 1) < 0:
                remove(block, block.n - 1)
                return -1
        if self.clear_sum(trial.x.n_atoms) < 0:
            return -1
        memcpy(&self.before[0], block.alpha, block.n * sizeof(double))
        pairwise(block.alpha, &self.value[0], block.distance, block.room, block.n)
        for m in range(block.n):
            if block.alpha[m] != self.before[m]:
                moved = True
                if self.add(trial, block.codes[m].at, block.codes[m].n, self.before[m] - block.alpha[m]) < 0:
                    memcpy(block.alpha, &self.before[0], block.n * sizeof(double))
                    return -1
        memcpy(trial.c, &self.dual.sum[0], trial.x.n_atoms * sizeof(double))
        for m in range(block.n - 1, -1, -1):
            if block.alpha[m] == 0:
                remove(block, m)
        return moved

    cdef int measure(self, Trial trial, Block *block, Py_ssize_t m) noexcept nogil:
        """Squared distances of structure m from those before it."""
        cdef Py_ssize_t i
        cdef double square
        for i in range(m):
            if interrupted(16 * trial.x.n_atoms):
                return -1
            if trial.outputs.difference_c(trial.x, block.codes[m].at, block.codes[m].n, block.codes[i].at, block.codes[i].n, trial.c) < 0:
                return -1
            square = trial.norm_c()
            if square < 0:
                return -1
            if square - square != 0:
                with gil:
                    self.error = DataError(f"a squared norm of example {trial.x.index} is {square}, too large for floating point; "
                                           f"scale the features.")
                return -1
            block.distance[m * block.room + i] = block.distance[i * block.room + m] = square
        block.distance[m * block.room + m] = 0
        return 0


cdef class Measure(SearchedPass):
    """Moves nothing, and adds up the numbers of a certificate.

    Attributes
    ----------
    hinge, losses, square : float
        C sum of weight max h; a . loss; ||w(a)||^2.
    """

    cdef readonly double hinge, losses, square

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Encoded gold
        cdef Block *block = self.opened(trial, &gold)
        cdef double gold_score = 0, largest = 0
        cdef Py_ssize_t m
        if block == NULL or self.scores(trial, block, gold, &gold_score, &largest) < 0:
            return -1
        for m in range(block.n):
            self.square -= block.alpha[m] * (self.value[m] - gold_score)
            self.losses += block.alpha[m] * block.loss[m]
        self.hinge += self.total(trial) * largest
        return 0
