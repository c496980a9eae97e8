# distutils: extra_compile_args = CALLS
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
from structperc.basics.signals cimport interrupted
from structperc.core.features cimport Features, Parameter, written_out
from structperc.core.updates cimport Encoded, Trial
from structperc.errors import DataError
from structperc.plugin_tools import adapted, read_array
from structperc.solvers.block_steps cimport pairwise
from structperc.solvers.block_steps import can_sweep, sweep_blocks


include "dual_blocks.memory.pxi"


MOST = 2**31 - 1        # integers that are saved


cdef class DualBlocks:
    """Which structures of each example have weight in the dual solution, and how much."""
    # C: float. Weight of the losses' sum over the examples.
    # margin: float. The loss counts `margin` times.

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
        """Begins with another training's dual solution, which may have other losses, C, sample weights or gold outputs."""
        # The next `Rebuild` pass brings the solution into line; then call `taken_over`.
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
    """Base of the passes over the blocks. Each is an update rule that `trainer` and `run` use instead of the model's own rule."""

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


include "dual_blocks.passes.pxi"
include "dual_blocks.frank_wolfe.pxi"
