"""Structural support vector machines, solved in the dual one example at a time: Frank-Wolfe steps as an update rule in atom space.

    min over w   P(w) = 1/2 ||w||^2 + C sum_i weight_i max over y of h_i(y),   h_i(y) = loss_i(y) + w . (Phi(x_i, y) - Phi(x_i, gold_i))
    max over a   D(a) = sum_i sum_y a_i(y) loss_i(y) - 1/2 ||w(a)||^2,         a_i >= 0, sum_y a_i(y) = C weight_i,
                 w(a) = sum_i sum_y a_i(y) (Phi(x_i, gold_i) - Phi(x_i, y))
    gap          P(w(a)) - D(a) = sum_i sum_y a_i(y) (max h_i - h_i(y)) >= 0

The coefficients a_i of one example are a block. A visit adds the structure that the loss-augmented search found to the block's
structures and maximises D over the block as good as exactly, by pairwise steps on squared distances ||Phi(x, y) - Phi(x, z)||^2
alone: features are asked only for those of a new structure, and w moves once.

Typical sizes: 10^2..10^6 blocks of 1 to 10 structures with a > 0; others are forgotten. A visit costs, beside the search, O(atoms) per
structure held, and for a new structure a norm per structure held. Memory: about 250 bytes per block; per structure its integers (4 bytes
each), 32 bytes, and 8 bytes per pair of its block.
"""
import numpy as np

from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy
from structperc_batch.block_memory cimport Block, append, assign, clear, equal, position, remove
from structperc.solvers.block_steps cimport pairwise
from structperc.solvers.block_steps import can_sweep, sweep_blocks
from structperc.core.features cimport Features, Parameter, written_out
from structperc.core.losses cimport Loss
from structperc.core.updates cimport Trial, Update
from structperc.core.errors import DataError

FRANK_WOLFE = """@inproceedings{lacoste2013block,
  author = {Simon Lacoste-Julien and Martin Jaggi and Mark Schmidt and Patrick Pletscher},
  title = {Block-Coordinate {Frank--Wolfe} Optimization for Structural {SVMs}},
  booktitle = {Proceedings of ICML},
  pages = {53--61},
  year = {2013}
}

@article{tsochantaridis2005large,
  author = {Ioannis Tsochantaridis and Thorsten Joachims and Thomas Hofmann and Yasemin Altun},
  title = {Large Margin Methods for Structured and Interdependent Output Variables},
  journal = {Journal of Machine Learning Research},
  volume = {6},
  pages = {1453--1484},
  year = {2005}
}"""

cdef enum:
    STEPPING = 0
    MEASURING = 1
    REBUILDING = 2
    COMPLETING = 3
    WRITING = 4

MODES = {"step": STEPPING, "measure": MEASURING, "rebuild": REBUILDING, "complete": COMPLETING, "write": WRITING}


cdef class BlockFrankWolfe(Update):
    """Block-coordinate Frank-Wolfe steps with line search, within a block over all its structures (pairwise).

    A batch trainer drives it through the online loop with the loss in the search, pass after pass in one of five `mode`s:

    "step"      moves every block, and adds up in `estimate` the gaps that the blocks had before their steps
    "measure"   moves nothing, and adds up what the certificate is made of: `hinge`, `losses` and `square`
    "rebuild"   writes w(a) into weights that were set to zero, which rids them of rounding
    "complete"  moves nothing, and completes partial gold outputs with the weights at hand; `gain` is by how much sum C f(gold) grows
    "write"     moves nothing, and writes down the vectors of all structures for `sweep`, after `prepare`

    Parameters
    ----------
    C : float, default 1.0
        Weight of the losses' sum over the examples; in the convention lambda / 2 ||w||^2 + mean of n losses it is 1 / (lambda n).
    margin : float, default 1.0
        The loss counts `margin` times.

    Attributes
    ----------
    estimate, hinge, losses, square, gain : float
        Sums over the last pass: block gaps; C max h; a . loss; ||w(a)||^2.
    """

    when = "always"
    options_used = ("C", "margin")
    citation = FRANK_WOLFE

    cdef readonly double C, margin, estimate, hinge, losses, square, gain
    cdef readonly Py_ssize_t n_examples
    cdef int _mode
    cdef bint adopting
    cdef Block *blocks
    cdef Loss loss
    cdef Features features
    cdef double[::1] value, before              # of a block's structures
    cdef double[::1] sum                        # over atoms
    cdef double[:, ::1] vectors                 # Phi(x, gold) - Phi(x, y) of the structures of blocks that hold several
    cdef int64_t[::1] offsets                   # where each block's begin

    def __init__(self, double C=1.0, double margin=1.0):
        self.C, self.margin = C, margin

    def __cinit__(self, *args, **kwargs):
        self.blocks, self.n_examples = NULL, 0
        self.value, self.before, self.sum = (np.zeros(4) for _ in range(3))

    def __dealloc__(self):
        self.forget()

    cdef void forget(self) noexcept:
        cdef Py_ssize_t i
        for i in range(self.n_examples):
            clear(&self.blocks[i])
        free(self.blocks)
        self.blocks, self.n_examples = NULL, 0

    def begin(self, Py_ssize_t n_examples, Loss loss):
        """Makes a block for each example, all weight on its gold structure (w = 0); `loss` as the loop calls it."""
        cdef Py_ssize_t i
        self.forget()
        self.blocks = <Block *> calloc(max(n_examples, 1), sizeof(Block))
        if self.blocks == NULL:
            raise MemoryError
        self.n_examples, self.loss, self.adopting = n_examples, loss, False
        for i in range(n_examples):
            self.blocks[i].gold.n = self.blocks[i].found.n = -1

    @property
    def mode(self):
        return next(name for name, mode in MODES.items() if mode == self._mode)

    @mode.setter
    def mode(self, name):
        """The next pass is of this kind."""
        self._mode = MODES[name]
        self.estimate = self.hinge = self.losses = self.square = self.gain = 0

    def adopt(self):
        """Takes over the completions that the last pass in the mode "complete" found; what weight the old ones had goes with it."""
        cdef Py_ssize_t i, old, new
        cdef Block *block
        for i in range(self.n_examples):
            block = &self.blocks[i]
            if block.found.n < 0:
                continue
            if block.gold.n >= 0:
                old, new = position(block, block.gold.at, block.gold.n), position(block, block.found.at, block.found.n)
                if old >= 0 and new >= 0:
                    block.alpha[new] += block.alpha[old]
                    remove(block, old)
                elif old >= 0:
                    if assign(&block.codes[old], block.found.at, block.found.n) < 0:
                        raise MemoryError
                    block.measured = False
            free(block.gold.at)
            block.gold = block.found
            block.found.at, block.found.n = NULL, -1

    # ---- one block ----

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Block *block = &self.blocks[trial.x.index]
        cdef const int *gold = trial.gold_code.at
        cdef Py_ssize_t m, n_gold = trial.gold_code.n
        cdef double total = self.C * trial.weight, gold_score = 0, largest = 0, score = 0
        if self.outputs_are_partial(trial) and block.gold.n < 0 and assign(&block.gold, gold, n_gold) < 0:
            return self.no_memory()
        if self._mode == COMPLETING:
            return self.complete(trial, block, total)
        if block.gold.n >= 0:
            gold, n_gold = block.gold.at, block.gold.n
        if block.n == 0:
            if append(block, gold, n_gold, total, 0) < 0:
                return self.no_memory()
            block.measured = True
        if self._mode == WRITING:
            return self.write(trial, block, gold, n_gold)
        if self._mode == REBUILDING:
            return self.rebuild(trial, block, gold, n_gold, total)

        # values h of all structures that the block holds, and of the one that was found
        if block.n + 1 > self.value.shape[0]:
            with gil:
                self.value, self.before = np.zeros(2 * block.n + 2), np.zeros(2 * block.n + 2)
        if self.score(trial, gold, n_gold, &gold_score) < 0 or self.score(trial, trial.y_code.at, trial.y_code.n, &largest) < 0:
            return -1
        largest += self.margin * trial.loss - gold_score
        for m in range(block.n):
            if self.score(trial, block.codes[m].at, block.codes[m].n, &score) < 0:
                return -1
            self.value[m] = block.loss[m] + score - gold_score
            self.square -= block.alpha[m] * (score - gold_score)
            self.losses += block.alpha[m] * block.loss[m]
            self.estimate += block.alpha[m] * (largest - self.value[m])
        self.hinge += total * largest
        return 0 if self._mode == MEASURING else self.move(trial, block, largest)

    cdef bint outputs_are_partial(self, Trial trial) noexcept nogil:
        return trial.outputs.partial_gold

    cdef int no_memory(self) noexcept nogil:
        with gil:
            self.error = MemoryError()
        return -1

    cdef int score(self, Trial trial, const int *y, Py_ssize_t n, double *total) noexcept nogil:
        """w . Phi(x, y) from the atom scores; trial.c is the scratch space."""
        cdef Py_ssize_t a
        if self.count(trial, y, n) < 0:
            return -1
        total[0] = 0
        for a in range(trial.x.n_atoms):
            total[0] += trial.c[a] * trial.s[a]
        return 0

    cdef int count(self, Trial trial, const int *y, Py_ssize_t n) noexcept nogil:
        """How often each atom occurs in y, into trial.c."""
        cdef Py_ssize_t a
        for a in range(trial.x.n_atoms):
            trial.c[a] = 0
        return trial.outputs.count_c(trial.x, y, n, 1.0, trial.c)

    cdef int add(self, Trial trial, const int *y, Py_ssize_t n, double factor) noexcept nogil:
        """sum += factor * counts: whole counts first, so that an atom that occurs often is rounded once."""
        cdef Py_ssize_t a
        if self.count(trial, y, n) < 0:
            return -1
        for a in range(trial.x.n_atoms):
            self.sum[a] += factor * trial.c[a]
        return 0

    cdef void clear_sum(self, Py_ssize_t n_atoms) noexcept nogil:
        cdef Py_ssize_t a
        if n_atoms > self.sum.shape[0]:
            with gil:
                self.sum = np.zeros(2 * n_atoms)
        for a in range(n_atoms):
            self.sum[a] = 0

    cdef int measure(self, Trial trial, Block *block, Py_ssize_t m) noexcept nogil:
        """Squared distances of structure m from those before it."""
        cdef Py_ssize_t i
        cdef double square
        for i in range(m):
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

    cdef int move(self, Trial trial, Block *block, double largest) noexcept nogil:
        """Improves the block and writes by how much w moves; 0: not at all."""
        cdef Py_ssize_t m, found = position(block, trial.y_code.at, trial.y_code.n)
        cdef bint moved = False
        if not block.measured:
            for m in range(block.n):
                if self.measure(trial, block, m) < 0:
                    return -1
            block.measured = True
        if found < 0:
            if append(block, trial.y_code.at, trial.y_code.n, 0, self.margin * trial.loss) < 0:
                return self.no_memory()
            self.value[block.n - 1] = largest
            if self.measure(trial, block, block.n - 1) < 0:
                remove(block, block.n - 1)
                return -1
        memcpy(&self.before[0], block.alpha, block.n * sizeof(double))
        pairwise(block.alpha, &self.value[0], block.distance, block.room, block.n)
        self.clear_sum(trial.x.n_atoms)
        for m in range(block.n):
            if block.alpha[m] != self.before[m]:
                moved = True
                if self.add(trial, block.codes[m].at, block.codes[m].n, self.before[m] - block.alpha[m]) < 0:
                    memcpy(block.alpha, &self.before[0], block.n * sizeof(double))
                    return -1
        memcpy(trial.c, &self.sum[0], trial.x.n_atoms * sizeof(double))
        for m in range(block.n - 1, -1, -1):
            if block.alpha[m] == 0:
                remove(block, m)
        return moved

    cdef int rebuild(self, Trial trial, Block *block, const int *gold, Py_ssize_t n_gold, double total) noexcept nogil:
        """The block's part of w(a); what was taken over from other training is brought into line first."""
        cdef Py_ssize_t m
        cdef double held = 0
        cdef int same
        if self.adopting:
            for m in range(block.n):
                held += block.alpha[m]
            for m in range(block.n):
                block.alpha[m] *= total / held
                same = trial.outputs.agrees_c(trial.x, trial.given_code.at, trial.given_code.n, block.codes[m].at, block.codes[m].n)
                if same < 0:
                    return -1
                block.loss[m] = 0
                if not same:
                    block.loss[m] = self.loss.value_c(trial.x, trial.given_code.at, trial.given_code.n, block.codes[m].at, block.codes[m].n)
                    if block.loss[m] < 0:
                        return -1
                    block.loss[m] *= self.margin
        if block.n == 1 and equal(&block.codes[0], gold, n_gold):
            return 0
        self.clear_sum(trial.x.n_atoms)
        if self.add(trial, gold, n_gold, total) < 0:
            return -1
        for m in range(block.n):
            if self.add(trial, block.codes[m].at, block.codes[m].n, -block.alpha[m]) < 0:
                return -1
        memcpy(trial.c, &self.sum[0], trial.x.n_atoms * sizeof(double))
        return 1

    cdef int write(self, Trial trial, Block *block, const int *gold, Py_ssize_t n_gold) noexcept nogil:
        """The block's vectors."""
        cdef Py_ssize_t m, row = self.offsets[trial.x.index]
        cdef Parameter p
        if self.offsets[trial.x.index + 1] - row != block.n:
            return 0
        for m in range(block.n):
            p = written_out(self.features, &self.vectors[row + m, 0])
            if trial.outputs.difference_c(trial.x, gold, n_gold, block.codes[m].at, block.codes[m].n, trial.c) < 0:
                return -1
            if self.features.add_c(&p, trial.x, trial.c, 1.0, 0.0) < 0:
                with gil:
                    self.error, self.features.error = self.features.error, None
                return -1
        return 0

    cdef int complete(self, Trial trial, Block *block, double total) noexcept nogil:
        """Keeps the completion at hand if it scores more than the one in use."""
        cdef double now = 0, better = 0
        free(block.found.at)
        block.found.at, block.found.n = NULL, -1
        if equal(&block.gold, trial.gold_code.at, trial.gold_code.n):
            return 0
        if self.score(trial, block.gold.at, block.gold.n, &now) < 0 or self.score(trial, trial.gold_code.at, trial.gold_code.n, &better) < 0:
            return -1
        if better > now:
            self.gain += total * (better - now)
            if assign(&block.found, trial.gold_code.at, trial.gold_code.n) < 0:
                return self.no_memory()
        return 0

    # ---- all blocks together ----

    def prepare(self, Features features):
        """Makes room for the vectors of blocks that hold several structures; False where there are none, or too many to sweep."""
        cdef Py_ssize_t i
        sizes = np.array([self.blocks[i].n if self.blocks[i].n > 1 else 0 for i in range(self.n_examples)], dtype=np.int64)
        n = int(sizes.sum())
        if n == 0 or not can_sweep(n, features.n_weights):
            return False
        self.features = features
        self.offsets = np.append(0, np.cumsum(sizes))
        self.vectors = np.zeros((n, features.n_weights))
        return True

    def sweep(self, w, enough):
        """New coefficients by `sweep_blocks` from the weights w(a), for `exchange`."""
        cdef Py_ssize_t i, m
        alpha, loss = np.empty(self.vectors.shape[0]), np.empty(self.vectors.shape[0])
        for i in range(self.n_examples):
            for m in range(self.offsets[i + 1] - self.offsets[i]):
                alpha[self.offsets[i] + m], loss[self.offsets[i] + m] = self.blocks[i].alpha[m], self.blocks[i].loss[m]
        sweep_blocks(alpha, loss, self.vectors, self.offsets, np.array(w, dtype=float), enough)
        self.vectors = None
        return alpha

    def exchange(self, double[::1] alpha):
        """Takes these coefficients, and returns those that they replace."""
        cdef Py_ssize_t i, m, row
        cdef double[::1] before = np.empty(alpha.shape[0])
        for i in range(self.n_examples):
            row = self.offsets[i]
            for m in range(self.offsets[i + 1] - row):
                before[row + m], self.blocks[i].alpha[m] = self.blocks[i].alpha[m], alpha[row + m]
        return np.asarray(before)

    # ---- keeping the dual solution ----

    def state(self):
        """The dual solution: which structures have weight, and how much."""
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
        if not state:
            self.forget()
            return
        counts, sizes, gold_sizes = (np.asarray(state[name]).tolist() for name in ("counts", "sizes", "gold_sizes"))
        alpha, loss = (np.asarray(state[name], dtype=float).tolist() for name in ("alpha", "loss"))
        values, golds = (np.ascontiguousarray(state[name], dtype=np.intc) for name in ("structures", "golds"))
        fits = (len(gold_sizes) == len(counts) and sum(counts) == len(sizes) == len(alpha) == len(loss)
                and min(counts, default=0) >= 0 and min(sizes, default=0) >= 0 and sum(sizes) == len(values)
                and sum(max(n, 0) for n in gold_sizes) == len(golds))
        if not fits or not all(a >= 0 and a - a == 0 for a in alpha):
            raise DataError("the saved dual solution is damaged: its arrays do not fit together.")
        self.begin(len(counts), self.loss)
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
        """Begins with another training's dual solution, perhaps of other losses, C, sample weights or gold outputs.

        Parameters
        ----------
        state : dict
            What `state` gave there.
        check_structure : function of (example, structure)
            Raises unless the structure, a tuple, is one of that example's.
        """
        cdef Py_ssize_t i, m
        cdef Block *block
        loss, n_examples = self.loss, self.n_examples
        self.restore(state)
        if self.n_examples != n_examples:
            found = self.n_examples
            self.begin(n_examples, loss)
            raise DataError(f"there are {n_examples} examples, but the solution to continue from has {found}; "
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

    def adopted(self):
        """What was taken over has been brought into line by a pass in the mode "rebuild"."""
        self.adopting = False
