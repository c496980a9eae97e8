# Numbers of symbols, each known for as long as something holds it.
from libc.stdint cimport int64_t


cdef class SymbolTable:
    cdef dict numbers                   # by symbol
    cdef list symbols                   # by number; None: unused
    cdef int64_t[::1] n_holders         # by number
    cdef list unused

    cdef int hold(self, symbol) except -1
    cdef int let_go(self, int number) except -1
    cdef int add(self, symbol) except -1
    cdef int further(self) except -1
