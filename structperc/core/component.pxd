# The base class of all parts. Methods ending in _c run without the GIL and return -1 after storing an exception in `error`.

cdef extern from "abi.h":           # a fingerprint of all classes: see structperc/engine/builds.py
    pass


cdef class Component:
    cdef public object error
    cdef tuple _arguments
    cdef object _adapter                # see bound
