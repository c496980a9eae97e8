from structperc.core.loop cimport PassResult
from structperc.engine.model cimport Model


cdef class TrainingRun:
    cdef readonly Model model
    cdef readonly object context, online, history, before, observers, gold, weights, active, expected, weighed, rows, engine, costs
    cdef public Py_ssize_t epoch
    cdef public bint stop_requested, resumed
    cdef public object checkpoints      # those of this run, see `structperc.engine.checkpoints`; None: none are written
    cdef double began

    cpdef order(self)
    cpdef PassResult run(self, order=*, rule=*, double loss_weight=*)
    cdef int visit(self, PassResult passed, order, rule, double loss_weight, online) except -1
    cdef int visit_each(self, PassResult passed, order, rule, double loss_weight, predictions) except -1
    cdef int visit_stretches(self, PassResult passed, order, rule, double loss_weight, predictions) except -1
    cdef record(self, PassResult passed, order, predictions, list interrupts)
