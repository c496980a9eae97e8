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
    """Block-coordinate Frank-Wolfe steps with line search, within a block over all its structures (pairwise)."""
    # C: float, default 1.0. Weight of the sum of losses over the examples. In the convention lambda / 2 ||w||^2 + mean loss it is 1 /
    # (lambda n).
    # margin: float, default 1.0. The loss counts `margin` times.
    # estimate: float. The sum of the gaps that the blocks had before their steps, in the pass under way.

    cdef public double estimate

    def __init__(self, double C=1.0, double margin=1.0):
        SearchedPass.__init__(self, DualBlocks(C, margin))

    def start(self, parts, context):
        self.dual.start(parts)
        self.estimate = 0

    def state(self):
        return {**self.dual.state(), "estimate": np.array(self.estimate)}

    def restore(self, state):
        estimate = read_array(state, "estimate", np.float64)
        self.dual.restore(state)
        self.estimate = estimate

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
    """Moves nothing, and adds up the numbers of a certificate."""
    # hinge, losses, square: float. C sum of weight max h; a . loss; ||w(a)||^2.

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
