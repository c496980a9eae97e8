"""PRank's step of one threshold, O(K)."""
from structperc.core.updates cimport Trial, Update
from structperc.errors import ConflictingOption


cdef class SingleUpdate(Update):
    """Moves the violated threshold next to the prediction alone: b_y down if y < gold, b_{y-1} up if y > gold, and u by x or -x.

    Thresholds that are whole numbers stay in order: the prediction lies strictly below the threshold that falls, and not below the one
    that rises.
    """

    threshold_order = "equal steps"
    options_used = ()

    def check(self, context, parts):
        if context.loss_weight:
            raise ConflictingOption(f"prank with variant='single' and loss_weight={context.loss_weight}: its step is defined by the "
                                    f"prediction alone; use variant='structured'.", "variant")

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Py_ssize_t k
        cdef int gold = trial.gold_code.at[0], y = trial.y_code.at[0]
        for k in range(trial.x.n_atoms):
            trial.c[k] = 0
        trial.c[y - 1 if y < gold else y - 2] = trial.weight if y < gold else -trial.weight
        return 1
