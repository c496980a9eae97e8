"""Numbers that fall in the course of training: values of the options `C`, `step_size`, `decay` and `loss_weight`.

Provisional: it may change in any minor version.

t is the number of the example visited, 1, 2, ... over all epochs and chunks of a stream. A function of t is such a value too.
"""

from structperc.core.schedules import Schedule

__all__ = ["inverse", "inverse_sqrt"]


def inverse(start=1.0, after=1.0) -> Schedule:
    """The schedule start / (1 + (t - 1) / after); start / t if `after` is 1.
    Raises `OptionError` if `start` is negative, `after` is not positive, or either is not a finite number.
    See also `inverse_sqrt` (falls more slowly).

    Parameters
    ----------
    start : float, default 1.0
        The number for the first visited example, at least 0.
    after : float, default 1.0
        Number of examples after which it begins to fall, larger than 0. Larger values keep steps large for longer; try 100.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.schedules import inverse
    >>> Engine("cusum", update="pa1", C=inverse(0.5))
    Engine('cusum', update='pa1', C=inverse(0.5))
    """
    return Schedule(start, "inverse", "inverse", after)


def inverse_sqrt(start=1.0, after=1.0) -> Schedule:
    """The schedule start / sqrt(1 + (t - 1) / after); start / sqrt(t) if `after` is 1.
    Raises `OptionError` if `start` is negative, `after` is not positive, or either is not a finite number.
    See also `inverse` (falls faster).

    Parameters
    ----------
    start : float, default 1.0
        The number for the first visited example, at least 0.
    after : float, default 1.0
        Number of examples after which it begins to fall, larger than 0. Larger values keep steps large for longer; try 100.

    Examples
    --------
    >>> from structperc.schedules import inverse_sqrt
    >>> inverse_sqrt(0.1).at(4)
    0.05
    """
    return Schedule(start, "inverse_sqrt", "inverse-sqrt", after)
