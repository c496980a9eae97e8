# A bank whose slots are the entries of a list.
from structperc_dual_kernel.bank cimport Bank


cdef class ListBank(Bank):
    cdef readonly list held                 # what `taken` makes of rows of X
