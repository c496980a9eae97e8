"""One rule for all pages: when ours is better than another mean, even with it, or worse."""

import math

import numpy as np

BETTER, EVEN, WORSE, CONSTANT, NOT_RUN = VERDICTS = ("better", "even", "worse", "constant", "not run")
FEWEST = 3                  # runs for a standard error
RULE = ("Even: the means differ by at most two standard errors of the difference, plus half a published digit. "
        "If a published standard error is not known, ours counts for it. Constant: one rank for every row, "
        "or not worse and no better than that. "
        f"Not run: fewer than {FEWEST} runs.")


def mean(values):
    return float(np.mean(values))


def standard_error(values):
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else math.nan


def of(less, error, rounding=0.0):
    """The verdict on a difference, positive if ours is better, with its standard error."""
    if math.isnan(less) or math.isnan(error):
        return NOT_RUN
    if abs(less) <= 2 * error + rounding + 1e-12:
        return EVEN
    return BETTER if less > 0 else WORSE


def beside_published(ours, error, theirs, digits, their_error=None, constant=False, larger_is_better=False):
    """Of a mean beside a published one with so many decimals."""
    if constant:
        return CONSTANT
    less = ours - theirs if larger_is_better else theirs - ours
    return of(less, math.hypot(error, error if their_error is None else their_error), 0.5 * 10.0**-digits)


def of_runs(values, theirs, digits, of_constant=()):
    """Of the errors of several runs beside a published mean error. `of_constant`: the errors of one rank for every row in these runs."""
    if len(values) < FEWEST:
        return NOT_RUN
    verdict = beside_published(mean(values), standard_error(values), theirs, digits)
    return CONSTANT if verdict != WORSE and len(of_constant) and mean(values) >= mean(of_constant) - 1e-12 else verdict


def of_pairs(less):
    """Of differences run by run, positive where ours is better."""
    return of(mean(less), standard_error(less))
