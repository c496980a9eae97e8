"""PRank's original update, O(K)."""
from structperc.core.components cimport Step, Update
from structperc.core.errors import PluginError


cdef class OriginalUpdate(Update):
    """Crammer and Singer's step: every threshold with (f - b_k) y_k <= 0 moves, also those that only tie.

    It differs from the structured step exactly when a threshold below both ranks ties with f.
    """

    integral = True
    norms = False
    uses = ()

    def check(self, task, parts, sample_weight=None):
        if task.augment:
            raise PluginError(f"prank with variant='original' and augment={task.augment}: its step is defined by the prediction alone; "
                              f"use variant='structured'.")

    cdef int step_c(self, Step step) noexcept nogil:
        """c_k = weight * y_k where (f - b_k) y_k <= 0, with y_k = 1 for k < y and -1 for k >= y"""
        cdef Py_ssize_t k
        cdef int moved = 0
        for k in range(step.n_atoms):
            if k < step.gold_code[0] - 1:
                step.c[k] = step.weight if step.s[k] <= 0 else 0
            else:
                step.c[k] = -step.weight if step.s[k] >= 0 else 0
            moved |= step.c[k] != 0
        return moved
