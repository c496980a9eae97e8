# A feature map that writes down the vectors of an example's atoms.
#
# Sizes: 1..1000 atoms, 10..10^6 weights. Cost: one call of `vectors` per visit, 2 us (sparse: 5 us) to read what it returns, and what the
# rows of a `RowFeatures` cost.
from structperc.core.features cimport Features
from structperc.core.row_features cimport RowFeatures
from structperc.core.rows cimport Example


cdef class VectorFeatures(Features):
    cdef RowFeatures map                # of the vectors, as if they were rows of X

    cdef Example written(self, Example x)
