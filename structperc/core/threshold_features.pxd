# One direction for all ranks, with a threshold for every boundary between two: phi(z, k) = (z, -e_k).
#
# Sizes: 10..1000 features, 4 thresholds. Cost: one dot product, then O(thresholds).
from structperc.core.features cimport Features


cdef class ThresholdFeatures(Features):
    cdef readonly Py_ssize_t n_thresholds, n_features
    cdef object problem
    cdef readonly double step_size              # of every step so far; 0: unknown yet
