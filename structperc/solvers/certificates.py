"""Duality gaps: what was measured of an optimiser, and the loop of epochs and certificates around block-coordinate ascent.

Provisional: it may change in any minor version.

The objective P(w) is minimised through its dual D(a). At any w(a) the gap P(w(a)) - D(a) bounds how far P is above its optimum.
"""

from __future__ import annotations

import attrs
import numpy as np

from structperc.basics.errors import DataError

EPOCHS_PER_CERTIFICATE = 10     # at most
SWEEP_GAP_SHARE = 0.05          # the share of the gap that a sweep over the structures found so far may leave
FINER_TOLERANCE = 100.0         # how many times smaller the gap may get for the sake of a goal


@attrs.frozen
class Certificate:
    """The objective P(w) at some weights, and an upper bound on its distance from the optimum.

    Attributes
    ----------
    objective : float
        P(w).
    gap : float
        The duality gap, at least 0.

    Examples
    --------
    >>> from structperc.solvers.certificates import Certificate
    >>> Certificate(objective=2.0, gap=0.1).gap
    0.1
    """

    objective: float
    gap: float

    @property
    def dual(self) -> float:
        return self.objective - self.gap


def certified(objective, gap) -> Certificate:
    """A `Certificate`; raises DataError if the objective or the gap overflowed.

    Parameters
    ----------
    objective : float
    gap : float

    Examples
    --------
    >>> from structperc.solvers.certificates import certified
    >>> certified(2.0, 0.1).objective
    2.0
    """
    if not np.isfinite(objective) or not np.isfinite(gap):
        raise too_large()
    return Certificate(float(objective), float(max(gap, 0.0)))


def too_large() -> DataError:
    """The error about numbers that overflow.

    Examples
    --------
    >>> from structperc.solvers.certificates import too_large
    >>> type(too_large()).__name__
    'DataError'
    """
    return DataError("scores or weights overflow although X is finite; the features, C or sample weights are too large for floating point. "
                     "Scale the features, for instance to unit variance.")


class Measurements:
    """The certificates of one optimisation.

    Parameters
    ----------
    tolerance : float
        The gap is small if it is at most this share of the objective. Smaller values are slower and more exact.

    Attributes
    ----------
    certificate : Certificate or None
        That of the current weights; None if they have moved since.
    objectives, gaps : list of float
        The values measured so far.

    Examples
    --------
    >>> from structperc.solvers.certificates import Certificate, Measurements
    >>> measured = Measurements(0.01)
    >>> measured.take(Certificate(10.0, 0.05))
    >>> measured.gaps, measured.certificate.gap
    ([0.05], 0.05)
    """

    def __init__(self, tolerance: float):
        self.tolerance, self.certificate = tolerance, None
        self.objectives, self.gaps = [], []

    def take(self, certificate: Certificate) -> None:
        """Record the certificate of the current weights.

        Parameters
        ----------
        certificate : Certificate
        """
        self.certificate = certificate
        self.objectives.append(certificate.objective)
        self.gaps.append(certificate.gap)

    def forget(self) -> None:
        """Drop the current certificate, because the weights are about to move."""
        self.certificate = None

    @property
    def close(self) -> bool:
        """Whether the gap is small."""
        return self.certificate is not None and self.certificate.gap <= self.tolerance * self.certificate.objective

    @property
    def objective(self) -> float:
        """P(w); NaN where it was not measured."""
        return self.certificate.objective if self.certificate else np.nan

    @property
    def gap(self) -> float:
        """The gap; inf where it was not measured."""
        return self.certificate.gap if self.certificate else np.inf


class BlockAscent:
    """Base class of block-coordinate ascent until the duality gap is small. Subclasses define `epoch` and `measure`.

    Parameters
    ----------
    measured : Measurements
        Where the certificates are recorded.
    most_epochs : int
        Largest number of epochs.

    Attributes
    ----------
    n_epochs : int
        Epochs made so far.
    stop_requested : bool
        Whether to end after this epoch.
    enough : float or None
        The gap at which the current epochs end; None directly after a measurement.
        To continue interrupted epochs, set it and `n_epochs` before `improve`.

    Examples
    --------
    >>> from structperc.solvers.certificates import BlockAscent, Measurements, certified
    >>> class Halving(BlockAscent):
    ...     w = 4.0
    ...     def epoch(self):
    ...         self.w /= 2
    ...         return 2 * self.w**2
    ...     def measure(self):
    ...         return certified(1 + self.w**2 / 2, self.w**2 / 2)
    >>> ascent = Halving(Measurements(0.01), most_epochs=100)
    >>> ascent.improve(), ascent.n_epochs, ascent.measured.gaps
    (True, 5, [8.0, 0.0078125])
    """

    epochs_per_certificate = EPOCHS_PER_CERTIFICATE
    stop_requested = False
    enough = None

    def __init__(self, measured: Measurements, most_epochs: int):
        self.measured, self.most_epochs, self.n_epochs = measured, most_epochs, 0

    def epoch(self) -> float:
        """Improve every block once. Returns a float. The gap before the epoch, which may be an estimate."""
        raise NotImplementedError

    def measure(self) -> Certificate:
        """Measure the current weights."""
        raise NotImplementedError

    @property
    def ended(self) -> bool:
        return self.n_epochs >= self.most_epochs or self.stop_requested

    def improve(self, goal=np.inf) -> bool:
        """Make epochs until the gap is small, a stop is requested or none are left. Returns whether the gap is small.

        Parameters
        ----------
        goal : float, default inf
            Objective to reach. While the objective is larger, the required gap is up to `FINER_TOLERANCE` times smaller.
        """
        if self.enough is None:
            self.measured.take(self.measure())
        while self.enough is not None or not self._reached(goal) and not self.ended:
            if self.enough is None:
                self.enough = self.measured.objective * self.measured.tolerance
                if self.measured.close:
                    self.enough /= FINER_TOLERANCE
                self.measured.forget()
            while self._stepped() > self.enough and self.n_epochs % self.epochs_per_certificate and not self.ended:
                pass
            self.enough = None
            self.measured.take(self.measure())
        return self.measured.close

    def _stepped(self) -> float:
        self.n_epochs += 1
        return self.epoch()

    def _reached(self, goal) -> bool:
        measured = self.measured
        return measured.close and (measured.objective <= goal or measured.gap * FINER_TOLERANCE <= measured.tolerance * measured.objective)
