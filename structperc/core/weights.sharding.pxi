# What a store goes back to, and how copies of it are trained in shards and merged.

cdef class PrimalSnapshot:
    """What steps on these rows can touch. `touched`: the rows of weights; None: all of them."""

    cdef PrimalWeights weights
    cdef Averaging averaging
    cdef Py_ssize_t n_used
    cdef readonly object touched
    cdef object where, values, positions

    def __init__(self, PrimalWeights weights, rows):
        cdef Py_ssize_t n = weights.rows.n_used() * weights.p.pitch
        few = weights.averaging.decay == 0 and not overrides(weights, "update")
        self.weights, self.averaging, self.n_used = weights, weights.averaging, weights.rows.n_used()
        self.touched = weights.touched_rows(rows) if few else None
        if self.touched is not None:
            self.where = weights.rows.where(self.touched)
            self.values = weights._table()[self.where]
            return
        self.positions = weights.rows.copied()
        if weights.saved is None or weights.saved.shape[0] < n:
            weights.saved = np.empty(n)
        memcpy(&weights.saved[0], &weights.buffer[0], n * sizeof(double))

    def revert(self):
        cdef PrimalWeights weights = self.weights
        weights._table()[self.n_used:] = 0
        weights.rows.put_back(self.n_used, self.positions, None if self.touched is None else self.touched[self.where == 0])
        if self.touched is None:
            memcpy(&weights.buffer[0], &weights.saved[0], weights.rows.n_used() * weights.p.pitch * sizeof(double))
        else:
            weights._table()[self.where] = self.values
        weights.averaging = self.averaging
        weights._final = weights._mean = None

    def is_finite(self):
        if self.touched is None:
            return self.weights.is_finite()
        return bool(np.isfinite(self.weights._table()[self.weights.rows.where(self.touched)]).all())


class Sharding:
    """How copies of a store are trained separately, each on its shard of the examples, and merged: w' = w + sum_i mu_i (w_i - w).

    The mean over the visited examples counts the vectors of all shards. Only rows of weights that changed are compared and added.
    """
    # weights: PrimalWeights. A copy, for `pull` and `delta`, or the store that all copies pull from, for `merge` and `apply`.

    def __init__(self, weights):
        self.weights = weights

    def pull(self, store, rows=None) -> None:
        """Copies weights and visit count from another store, before the updates of a shard. `rows` have changed since the last pull."""
        # The store has made no step but by `apply`. Several copies may pull from it at the same time.
        cdef PrimalWeights own = self.weights, base = store
        rows = own.rows.used(base.rows) if rows is None else rows
        copy_rows(own._whole_table(), own.rows.claimed(rows), base._whole_table(), base.rows.where(rows), own.features.row_width,
                  own.p.average)
        own.averaging.scale, own.averaging.scale_sum, own.averaging.n_visited = 1, 0, base.averaging.n_visited
        if own.averaging.decay == 0:            # decay changes all rows
            own.rows.watch(&own.p)
        own._final = own._mean = None

    def delta(self, store, dtype=float):
        """The changes since `pull(store)`: `rows`, their `steps` (n_rows, width), with averaging their `sums`, and `n_visited`."""
        cdef PrimalWeights own = self.weights, base = store
        cdef Averaging *a = &own.averaging
        cdef Py_ssize_t n_visited = a.n_visited - base.averaging.n_visited, width = own.features.row_width, n
        rows = own.rows.changed(base.rows)
        steps, changed = np.empty((len(rows), width), dtype), np.empty(len(rows), dtype=np.int64)
        sums = np.empty((len(rows), width if a.average else 0), dtype)
        n = changed_rows(own._whole_table(), base._whole_table(), own.rows.where(rows), base.rows.where(rows), a.scale, a.scale_sum,
                         n_visited, own.p.average, steps, sums, changed)
        return {"rows": rows[changed[:n]], "steps": steps[:n], "sums": sums[:n], "n_visited": n_visited}

    def merge(self, deltas, shares):
        """The changes of all shards together, in the form of `delta`. Shares None: sums of at most twice the mean of movers."""
        cdef PrimalWeights own = self.weights
        cdef Py_ssize_t n = sum(len(one["rows"]) for one in deltas), width = own.features.row_width
        steps, rows = np.zeros((n, width), deltas[0]["steps"].dtype), np.empty(n, dtype=np.int64)
        sums = np.zeros((n, width if own.averaging.average else 0))
        factors = np.ones(len(deltas)) if shares is None else np.array(shares, dtype=float)
        n = merged([(one["rows"], one["steps"], one["sums"]) for one in deltas], factors, shares is None, steps, sums, rows)
        return {"rows": rows[:n], "steps": steps[:n], "sums": sums[:n], "n_visited": sum(one["n_visited"] for one in deltas)}

    def apply(self, delta) -> None:
        """Adds a result of `merge` to the weights."""
        cdef PrimalWeights own = self.weights
        cdef Averaging *a = &own.averaging
        cdef double scale_sum = a.scale_sum + delta["n_visited"]
        add_rows(own._whole_table(), own.rows.claimed(delta["rows"]), delta["steps"], delta["sums"], own.p.average, scale_sum)
        a.scale_sum, a.n_visited = scale_sum, a.n_visited + delta["n_visited"]
        if own.constrained and own.features.project_c(&own.p, None, 1, scale_sum) < 0:         # mixtures leave K by rounding
            reraise(own)
        own._final = own._mean = None
