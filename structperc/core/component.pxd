# The base class of all parts. Methods ending in _c run without the GIL and return -1 after storing an exception in `error`.

cdef extern from "abi.h":           # a fingerprint of all classes: see structperc/fitting/builds.py
    pass


cdef class Component:
    cdef object error                   # that a method ending in _c has stored
    cdef tuple _arguments
    cdef object _adapter                # see `adapted`
    cdef Component _target              # of an adapter: the author's own object
    cdef object _features               # of outputs, solver and loss: the map of their fit, which knows how many atoms an example has
