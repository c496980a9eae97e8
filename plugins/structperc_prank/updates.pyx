"""PRank's own steps: the original one and that of one threshold, O(K) each."""
from structperc.core.updates cimport Trial, Update
from structperc.plugin_tools import check_whole_steps
from structperc.errors import ConflictingOption


# ---- original update ----
# PRank's original update, O(K).


cdef class OriginalUpdate(Update):
    """Crammer and Singer's step: every threshold with (f - b_k) y_k <= 0 moves, also those that only tie.

    It differs from the structured step exactly when a threshold below both ranks ties with f.
    """

    options_used = ()

    def check_order(self, context, parts):
        check_whole_steps(context, parts)

    def check(self, context, parts):
        if context.loss_weight:
            raise ConflictingOption(f"prank with variant='original' and loss_weight={context.loss_weight}: its step is defined only by "
                                    f"the prediction; use variant='structured'.", "variant")

    cdef int step_c(self, Trial trial) noexcept nogil:
        """c_k = weight * y_k where (f - b_k) y_k <= 0, with y_k = 1 for k < y and -1 for k >= y"""
        cdef Py_ssize_t k
        cdef int moved = 0
        for k in range(trial.x.n_atoms):
            if k < trial.gold_code.at[0] - 1:
                trial.c[k] = trial.weight if trial.s[k] <= 0 else 0
            else:
                trial.c[k] = -trial.weight if trial.s[k] >= 0 else 0
            moved |= trial.c[k] != 0
        return moved


# ---- single update ----
# PRank's step of one threshold, O(K).


cdef class SingleUpdate(Update):
    """Moves only the violated threshold next to the prediction: b_y down if y < gold, b_{y-1} up if y > gold, and u by x or -x.

    Thresholds that are whole numbers stay in order: the prediction lies strictly below the threshold that falls, and not below the one
    that rises.
    """

    options_used = ()

    def check_order(self, context, parts):
        check_whole_steps(context, parts)

    def check(self, context, parts):
        if context.loss_weight:
            raise ConflictingOption(f"prank with variant='single' and loss_weight={context.loss_weight}: its step is defined only by "
                                    f"the prediction; use variant='structured'.", "variant")

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Py_ssize_t k
        cdef int gold = trial.gold_code.at[0], y = trial.y_code.at[0]
        for k in range(trial.x.n_atoms):
            trial.c[k] = 0
        trial.c[y - 1 if y < gold else y - 2] = trial.weight if y < gold else -trial.weight
        return 1
