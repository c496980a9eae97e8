from structperc.core.loop cimport PassResult
from structperc.core.rows cimport Rows
from structperc.core.structures cimport Structures
from structperc.fitting.model cimport Model


cdef class Progress:
    cdef public object cut

    cpdef double begin_epoch(self) except? -1
    cpdef finished_pass(self)
    cpdef tuple begin_pass(self, PassResult passed, order, predictions)
    cpdef Py_ssize_t next_stop(self, Py_ssize_t position) except -1
    cpdef write(self, PassResult passed, predictions)
    cpdef end_pass(self, PassResult passed, structures, examples)
    cpdef add_predictions(self, structures, examples)
    cpdef end_epoch(self, Py_ssize_t n_visited)
    cpdef end(self)


cdef class TrainingRun:
    cdef readonly Model model
    cdef readonly object context, before, observers, weights, active, expected, visit_totals, engine, costs
    cdef readonly list online, history
    cdef readonly Structures gold
    cdef readonly Rows rows
    cdef public Py_ssize_t epoch
    cdef public Py_ssize_t best_epoch
    cdef public bint stop_requested, resumed
    cdef public object kept             # the state of weights, see `keep_weights`
    cdef public Progress progress
    cdef object file_order              # what `order` returns where all examples are visited in file order; None: not asked yet
    cdef double began
    cdef bint under_way                 # whether an epoch has begun and not ended,
    cdef bint has_pass                  # and a pass belongs to it
    cdef bint weighted                  # whether sample weights were given,
    cdef bint by_visits                 # which say how often examples are visited

    cdef int begin(self, Model model, context, Rows rows, y, costs, list online, list history, before, observers, engine) except -1
    cpdef order(self)
    cdef next_order(self)
    cdef bint draws(self)
    cpdef PassResult run(self, order=*, rule=*, double loss_weight=*)
    cdef int visit(self, PassResult passed, order, rule, double loss_weight, online) except -1
    cdef int visit_each(self, PassResult passed, order, rule, double loss_weight, predictions) except -1
    cdef int visit_all(self, PassResult passed, order, rule, double loss_weight, predictions) except -1
    cdef int refuse_early(self, method) except -1
    cdef int refuse_open(self, now) except -1
    cdef record(self, PassResult passed, order, predictions, list interrupts)
