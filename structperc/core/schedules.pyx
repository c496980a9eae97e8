# distutils: extra_compile_args = GLUE
"""A number that may fall in the course of training. A named schedule costs a nanosecond, a function of the user's the GIL and 0.1 us."""
import numbers
import re

import numpy as np

from libc.math cimport sqrt
from structperc.basics.errors import DataError, OptionError, shortened
from structperc.basics.signatures import ClassSignature

REAL = (float, numbers.Real)        # float first, which needs no abstract class
NAMES = ("constant", "inverse", "inverse-sqrt")
WRITTEN = re.compile(r"(inverse|inverse[-_]sqrt)\(([^,]*)(?:,\s*(?:after=)?([^,]*))?\)")
EXPECTED = ("a number, inverse(number), inverse_sqrt(number), either with after=number, or a function of t, the number of the example "
            "visited")

cdef enum:
    CONSTANT
    INVERSE
    INVERSE_SQRT
    FUNCTION


cdef class Schedule:
    """A number for the t-th visited example, t = 1, 2, ... over all epochs and chunks.
    See also `structperc.schedules.inverse`, `structperc.schedules.inverse_sqrt` (the same as functions).

    Parameters
    ----------
    value : float, Schedule, function(t) -> float, or str, default 1.0
        A number is constant. A function must return a finite number from 0. Texts: "inverse(0.1)", "inverse-sqrt(0.1, 100)"; the second
        number is `after`.
    option : str, default "schedule"
        Name in error messages.
    rule : {"constant", "inverse", "inverse-sqrt"} or function(t) -> float, default "constant"
        Factor of the number: 1, 1 / u, or 1 / sqrt(u) with u = 1 + (t - 1) / after, or the function's value.
    after : float, default 1.0
        Number of examples after which the number begins to fall, larger than 0. Larger values keep it large for longer; try 100.

    Raises
    ------
    OptionError
        If a parameter has another type or is out of range.

    Examples
    --------
    >>> from structperc.components import Schedule
    >>> Schedule("inverse-sqrt(0.1)").at(4), Schedule(lambda t: 0.5 ** (t // 100)).at(250)
    (0.05, 0.25)
    """

    __signature__ = ClassSignature()

    def __init__(self, value=1.0, option="schedule", rule="constant", after=1.0):
        if isinstance(value, Schedule):
            value, rule, after = value.start, value.rule, value.after
        elif isinstance(value, str) and WRITTEN.fullmatch(value):
            rule, value, later = WRITTEN.fullmatch(value).groups()
            rule, value, after = rule.replace("_", "-"), number_of(value), 1.0 if later is None else number_of(later)
        elif callable(value):
            value, rule = 1.0, value
        if not isinstance(value, REAL) or isinstance(value, (bool, np.bool_)) or not 0 <= value < float("inf"):
            raise OptionError(f"{option}={shortened(value)}; expected {EXPECTED}.")
        if not callable(rule) and rule not in NAMES:
            raise OptionError(f"{option} falls by the rule {shortened(rule)}; expected {', '.join(map(repr, NAMES))} or a function.")
        if not isinstance(after, REAL) or isinstance(after, (bool, np.bool_)) or not 0 < after < float("inf"):
            raise OptionError(f"{option} begins to fall after={shortened(after)} examples; expected a number greater than 0.")
        self.start, self.rule, self.after = value, rule, after
        self.kind = FUNCTION if callable(rule) else NAMES.index(rule)

    cdef double at_c(self, Py_ssize_t t) noexcept nogil:
        """The number at t; negative after storing an error."""
        if self.kind == CONSTANT:
            return self.start
        if self.kind == INVERSE:
            return self.start * (1 / (1 + (t - 1) / self.after))
        if self.kind == INVERSE_SQRT:
            return self.start * (1 / sqrt(1 + (t - 1) / self.after))
        return self.start * self.asked_c(t)

    cdef double asked_c(self, Py_ssize_t t) noexcept with gil:
        """The user's r(t). Apart, since a function that names an exception takes the GIL at each return."""
        try:
            return self.asked(t)
        except BaseException as error:
            self.error = error
            return -1

    cdef double left_c(self, Py_ssize_t t) noexcept nogil:
        """What a decay leaves of the weights, 1 less the number at t; negative after storing an error."""
        cdef double decay = self.at_c(t)
        if decay >= 1:
            with gil:
                self.error = DataError(f"the schedule {shortened(self.rule)} of the decay returned {decay} for example {t}; "
                                       f"expected less than 1.")
            return -1
        return 1 - decay if decay >= 0 else -1

    def fingerprint(self):
        """A few values of a function, as in `Component.fingerprint`.
        Returns a float64 array of shape (4,) or None. The values for t = 1, 2, 10, 1000; None if the schedule is no function.
        """
        return np.array([self.asked(t) for t in (1, 2, 10, 1000)], dtype=float) if self.kind == FUNCTION else None

    def asked(self, t):
        """The user's function at the t-th visited example. Returns a float.
        Raises `DataError` if the function returns anything but a finite number from 0.

        Parameters
        ----------
        t : int
            From 1.
        """
        value = self.rule(t)
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = -1.0
        if not 0 <= number < float("inf"):
            raise DataError(f"the schedule {shortened(self.rule)} returned {shortened(value)} for example {t}; expected "
                            f"a finite number from 0.")
        return number

    cdef object taken_error(self):
        error, self.error = self.error, None
        return error

    def at(self, Py_ssize_t t):
        """The number for the t-th visited example. Returns a float.

        Parameters
        ----------
        t : int
            From 1.
        """
        cdef double value = self.at_c(t)
        error = self.taken_error()
        if error is not None:
            raise error
        return value

    def __float__(self):
        if self.kind != CONSTANT:
            raise OptionError(f"{self!r} falls with the examples visited, but this part needs one number; pass a number.")
        return self.start

    def __eq__(self, other):
        if not isinstance(other, Schedule):
            return NotImplemented
        return (self.start, self.rule, self.after) == (other.start, other.rule, other.after)

    def __hash__(self):
        return hash((self.start, self.rule, self.after))

    def __repr__(self):
        if self.kind == FUNCTION:
            return repr(self.rule) if self.start == 1 else f"{self.start} * {self.rule!r}"
        if self.kind == CONSTANT:
            return repr(self.start)
        return f"{self.rule.replace('-', '_')}({self.start!r}{'' if self.after == 1 else f', after={self.after!r}'})"

    def __reduce__(self):
        return Schedule, (self.start, "schedule", self.rule, self.after)


def number_of(text):
    try:
        return float(text)
    except ValueError:
        return text
