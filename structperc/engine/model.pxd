from structperc.core.access cimport Access
from structperc.core.argmax cimport Argmax
from structperc.core.features cimport Features
from structperc.core.losses cimport Loss
from structperc.core.outputs cimport Outputs
from structperc.core.rows cimport Rows
from structperc.core.updates cimport Update
from structperc.core.weights cimport Weights


cdef class Parts:
    cdef public object reader, trainer
    cdef public Outputs outputs
    cdef public Features features
    cdef public Weights weights
    cdef public Loss loss
    cdef public Argmax argmax
    cdef public Update update


cdef class Model:
    cdef public object context, loop, status, scaling
    cdef public Parts parts
    cdef public dict options
    cdef public list mistakes, online, history
    cdef public tuple weighed
    cdef public double loss, temperature
    cdef public bint scales, weighted, streaming
    cdef readonly Access access
    cdef Py_ssize_t n_features          # as the context says
    cdef bint objects
    cdef bint by_chunks                 # whether the weights score chunks of examples in a way of their own (`Weights.batch_scores`)

    cdef int look_alike(self, Rows rows) except -1
    cpdef int make_room(self, Rows rows) except -1
