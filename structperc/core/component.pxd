# The base class of all parts. Methods ending in _c run without the GIL and return -1 after storing an exception in `error`.


cdef class Component:
    cdef public object error
    cdef tuple _arguments
    cdef object _adapter                # see bound
