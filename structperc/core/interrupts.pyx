# distutils: extra_compile_args = GLUE
"""Work that Ctrl-C must not leave half done.

Compiled code meets Ctrl-C inside the Python functions that it calls, and nowhere else.
"""
cdef enum:
    MOST_INTERRUPTS = 100


def completed(list interrupts, function, *arguments):
    """The result of a function that may be called again from its beginning. Ctrl-C during the call starts it anew.

    Parameters
    ----------
    interrupts : list
        Receives each KeyboardInterrupt; the caller raises the first of them once its work is done. The hundredth gets through, so that a
        function that never ends can be ended.
    function, *arguments
    """
    while True:
        try:
            return function(*arguments)
        except KeyboardInterrupt as interrupt:
            interrupts.append(interrupt)
            if len(interrupts) >= MOST_INTERRUPTS:
                raise
