# distutils: extra_compile_args = GLUE
"""How a step size falls in the course of training. A named schedule costs a nanosecond, a function of the user's the GIL and 0.1 us."""
import numpy as np

from libc.math cimport sqrt
from structperc.core.errors import DataError, OptionError, UnusedOption, shortened

NAMES = ("constant", "inverse", "inverse-sqrt")

cdef enum:
    CONSTANT
    INVERSE
    INVERSE_SQRT
    FUNCTION


cdef class Schedule:
    """A factor r(t) for the t-th example that is visited, t = 1, 2, ... over all epochs and chunks.

    Parameters
    ----------
    rule : {"constant", "inverse", "inverse-sqrt"} or function(t) -> float
        1, 1 / t, 1 / sqrt(t), or one's own, which must answer with a finite number from 0.
    option : str
        What messages call it.

    Raises
    ------
    OptionError
        For anything else.

    Examples
    --------
    >>> from structperc.core.schedules import Schedule
    >>> Schedule("inverse-sqrt").at(4), Schedule(lambda t: 0.5 ** (t // 100)).at(250)
    (0.5, 0.25)
    """

    def __init__(self, rule="constant", option="schedule"):
        if not callable(rule) and not (isinstance(rule, str) and rule in NAMES):
            raise OptionError(f"{option}={shortened(rule)}; expected {', '.join(map(repr, NAMES))} or a function of the number of the "
                              f"example.")
        self.rule = rule
        self.kind = FUNCTION if callable(rule) else NAMES.index(rule)

    cdef double at_c(self, Py_ssize_t t) noexcept nogil:
        """r(t); negative after storing an error."""
        if self.kind == CONSTANT:
            return 1
        if self.kind == INVERSE:
            return 1.0 / t
        if self.kind == INVERSE_SQRT:
            return 1 / sqrt(<double> t)
        return self.asked_c(t)

    cdef double asked_c(self, Py_ssize_t t) noexcept with gil:
        """The user's r(t). Apart, since a function that names an exception takes the GIL at each return."""
        try:
            return self.asked(t)
        except BaseException as error:
            self.error = error
            return -1

    cdef double left_c(self, double decay, Py_ssize_t t) noexcept nogil:
        """What a decay leaves of the weights, 1 - decay * r(t); negative after storing an error."""
        cdef double share = self.at_c(t)
        if share > 1:
            with gil:
                self.error = DataError(f"the schedule {self.rule!r} of the decay answers {share} for example {t}; expected at most 1.")
            return -1
        return 1 - decay * share if share >= 0 else -1

    def check_decay(self, decay):
        """Refuses a schedule for a decay that is 0."""
        if decay == 0 and self.rule != "constant":
            raise UnusedOption(f"decay_schedule={self.rule!r} has no effect with decay=0; set a decay, or leave it out.", "decay_schedule")

    def probe(self):
        """See `Component.probe`; None where the schedule has a name."""
        return np.array([self.at(t) for t in (1, 2, 10, 1000)]) if self.kind == FUNCTION else None

    def asked(self, t):
        value = self.rule(t)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = -1.0
        if not 0 <= number < float("inf"):
            raise DataError(f"the schedule {self.rule!r} answers {shortened(value)} for example {t}; expected a finite number from 0.")
        return number

    cdef object taken_error(self):
        error, self.error = self.error, None
        return error

    def at(self, Py_ssize_t t):
        """r(t)"""
        cdef double value = self.at_c(t)
        error = self.taken_error()
        if error is not None:
            raise error
        return value
