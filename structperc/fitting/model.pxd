from structperc.core.argmax cimport Argmax
from structperc.core.column_sums cimport ColumnSums
from structperc.core.features cimport Features
from structperc.core.loop cimport Loop
from structperc.core.losses cimport Loss
from structperc.core.outputs cimport Outputs
from structperc.core.rows cimport Rows
from structperc.core.updates cimport Update
from structperc.core.weights cimport Weights
from structperc.fitting.locks cimport ReadWriteLock


cdef class Parts:
    cdef public object reader, trainer
    cdef public Outputs outputs
    cdef public Features features
    cdef public Weights weights
    cdef public Loss loss
    cdef public Argmax argmax
    cdef public Update update
    cdef readonly list learning         # parts whose state in Python steps may change, beside the weights
    cdef object as_started              # the result of `remembered` for each part


cdef class Model:
    cdef public object context, status, scaling
    cdef public Loop loop
    cdef public Parts parts
    cdef public dict options
    cdef public list mistakes, online, history
    cdef public tuple visit_totals
    cdef public double loss, temperature, spread
    cdef public bint scales, weighted, streaming, counts_rows
    cdef readonly ReadWriteLock lock
    cdef public ColumnSums column_sums  # of the rows of training; None: not kept
    cdef object linear                  # what `is_linear` returns; None: not yet known
    cdef Py_ssize_t n_features          # from the context
    cdef bint objects
    cdef bint by_chunks                 # whether the weights score chunks of examples in a way of their own (`Weights.batch_scores`)
    cdef readonly object second_stage   # of predictions, as the outputs say
    cdef bint shuffles, uses_costs      # as context and loss say
    cdef bint sharded                   # whether the trainer mixes shards
    cdef bint takes_matrices            # whether no part has anything to say to a matrix that is read in place

    cpdef Rows read(self, X, offsets=*, allowed=*)
    cpdef Rows read_in_any_order(self, X, offsets=*, allowed=*)
    cdef Rows own_rows(self, X, offsets)
    cdef Rows stored(self, Rows rows)
    cpdef predict(self, Rows rows)
    cdef predicted(self, Rows rows)
    cdef final(self, Rows rows)

    cdef int look_alike(self, Rows rows) except -1
    cpdef int make_room(self, Rows rows) except -1
    cpdef int add_rows(self, Rows rows, weights) except -1


cpdef Rows read_in_any_order(Model model, X, offsets, lengths, groups, allowed=*)
