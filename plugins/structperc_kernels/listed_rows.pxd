# Stored rows whose slots are the entries of a list.
from structperc_kernels.kernel_rows cimport KernelRows


cdef class ListedKernelRows(KernelRows):
    cdef readonly list held                 # what `taken` makes of rows of X
