"""PRank's original update, O(K)."""
from structperc.core.updates cimport Trial, Update
from structperc.errors import ConflictingOption


cdef class OriginalUpdate(Update):
    """Crammer and Singer's step: every threshold with (f - b_k) y_k <= 0 moves, also those that only tie.

    It differs from the structured step exactly when a threshold below both ranks ties with f.
    """

    threshold_order = "equal steps"
    options_used = ()

    def check(self, context, parts):
        if context.loss_weight:
            raise ConflictingOption(f"prank with variant='original' and loss_weight={context.loss_weight}: its step is defined by the "
                                    f"prediction alone; use variant='structured'.", "variant")

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
