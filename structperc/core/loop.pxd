# The online loop, and what one pass of it counts.
from libc.stdint cimport int64_t
from structperc.core.argmax cimport Argmax
from structperc.core.features cimport Features
from structperc.core.losses cimport Loss
from structperc.core.outputs cimport Outputs
from structperc.core.rows cimport Example, Rows
from structperc.core.structures cimport Structures
from structperc.core.updates cimport Trial, Update
from structperc.core.weights cimport Weights


cdef class PassResult:
    cdef public Py_ssize_t visited, mistakes, updates
    cdef public double loss


cdef class Workspace:
    cdef Example x                      # through which the examples are seen
    cdef double[::1] buffer
    cdef double *scores

    cdef int provide(self, Py_ssize_t n_scores) except -1


cdef struct Data
cdef struct Visit


cdef class Loop:
    cdef Weights weights, store         # as the loop calls it, and the one that counts
    cdef Features features
    cdef Outputs outputs
    cdef Argmax argmax
    cdef Loss loss
    cdef Update update
    cdef Trial trial
    cdef Example x, next_x, far_x
    cdef double loss_weight             # in the augmented search
    cdef Rows rows                      # of this pass
    cdef tuple rule                     # of this pass, and the option loss_weight
    cdef bint compiled, acts_always, predicts, augments, needs_marginals        # as the rule asks
    cdef bint predicts_first            # before the augmented search; else after it, unless it returned the gold output
    cdef bint keeps                     # whether the predictions of this pass are kept
    cdef bint by_label                  # whether outputs agree if their integers are equal
    cdef bint counts                    # whether visits are counted without a call
    cdef readonly bint ready            # whether there is room for the atoms of some data set
    cdef Py_ssize_t most_atoms, n_predicted, ahead
    cdef Py_ssize_t label_atoms         # of every label, where examples may differ in their atoms; -1: none
    cdef double[::1] scores, augmented
    cdef int[::1] predicted, searched, completed
    cdef object parts
    cdef tuple answers                  # of the store that predicted last: itself, as the loop calls it, whether no part is in Python
    cdef Workspace spare                     # of the prediction that ended last; None while another one uses it

    cdef Workspace idle_workspace(self)
    cdef Py_ssize_t workspace(self, Py_ssize_t n_atoms) except -1
    cdef int provide(self, Py_ssize_t n_atoms) except -1
    cpdef run(self, PassResult passed, Rows rows, Structures gold, order=*, sample_weight=*, list online=*)
    cdef void bind(self, Rows rows)
    cdef Py_ssize_t visit(self, const Data *data, PassResult passed, Py_ssize_t start, Py_ssize_t stop) noexcept nogil
    cpdef predict(self, Rows rows, batch=*, store=*)
    cdef predicted_codes(self, Rows rows, batch, store, int *labels)
    cdef Weights answering(self, store, bint *compiled)
