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
    """Moves nothing, and completes partial gold outputs with the weights at hand; `DualBlocks.adopt_completions` takes them over."""
    # gain: float. By how much C times the sum of the completions' scores grows.

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
    """Moves nothing, and stores the vectors Phi(x, gold) - Phi(x, y) of blocks with several structures, for `sweep`."""
    # features: Features. As the loop calls them.
    # fits: bool. Whether there are such structures, and few enough to sweep. Without that no pass may be made.

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
