"""Duality gaps: what was measured of an optimiser, and the loop of epochs and certificates around block-coordinate ascent.

The objective P(w) is minimised through its dual D(a). At any w(a) the gap P(w(a)) - D(a) bounds how far P is above its optimum.
"""

from __future__ import annotations

import attrs
import numpy as np

from structperc.core.errors import DataError

EPOCHS_PER_CERTIFICATE = 10     # at most
SWEEP_GAP_SHARE = 0.05          # the share of the gap that a sweep over the structures found so far may leave
FINER_TOLERANCE = 100.0         # how many times smaller the gap may get for the sake of a goal


@attrs.frozen
class Certificate:
    """P(w) at some weights, and by how much at most it is above the optimum.

    Attributes
    ----------
    objective : float
        P(w).
    gap : float
        The duality gap, at least 0.
    """

    objective: float
    gap: float

    @property
    def dual(self) -> float:
        return self.objective - self.gap


def certified(objective, gap) -> Certificate:
    """The certificate, or the refusal of an objective or a gap that overflowed."""
    if not np.isfinite(objective) or not np.isfinite(gap):
        raise too_large()
    return Certificate(float(objective), float(max(gap, 0.0)))


def too_large() -> DataError:
    """The refusal of numbers that overflow."""
    return DataError("scores or weights overflow although X is finite; the features, C or sample weights are too large for floating point. "
                     "Scale the features, for instance to unit variance.")


class Measurements:
    """The certificates of one optimisation.

    Parameters
    ----------
    tolerance : float
        The gap is small when it is at most this share of the objective.

    Attributes
    ----------
    certificate : Certificate or None
        That of the weights at hand; None: the weights have moved since they were measured.
    objectives, gaps : list of float
        The values measured so far.
    """

    def __init__(self, tolerance: float):
        self.tolerance, self.certificate = tolerance, None
        self.objectives, self.gaps = [], []

    def take(self, certificate: Certificate) -> None:
        """Records the certificate of the weights at hand."""
        self.certificate = certificate
        self.objectives.append(certificate.objective)
        self.gaps.append(certificate.gap)

    def forget(self) -> None:
        """The weights are about to move."""
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
    """Block-coordinate ascent until the gap is small. A subclass gives `epoch` and `measure`.

    Parameters
    ----------
    measured : Measurements
        Receives the certificates.
    most_epochs : int

    Attributes
    ----------
    n_epochs : int
        Epochs made so far.
    stop_requested : bool
        Whether to end after this epoch.
    enough : float or None
        The gap at which the epochs under way end; None: the weights have just been measured. Whoever sets it before `improve`, and
        `n_epochs`, goes on with epochs that were cut short.
    """

    epochs_per_certificate = EPOCHS_PER_CERTIFICATE
    stop_requested = False
    enough = None

    def __init__(self, measured: Measurements, most_epochs: int):
        self.measured, self.most_epochs, self.n_epochs = measured, most_epochs, 0

    def epoch(self) -> float:
        """Improves every block once; returns the gap before, which may be an estimate."""
        raise NotImplementedError

    def measure(self) -> Certificate:
        """The certificate of the weights at hand."""
        raise NotImplementedError

    @property
    def ended(self) -> bool:
        return self.n_epochs >= self.most_epochs or self.stop_requested

    def improve(self, goal=np.inf) -> bool:
        """Makes epochs until the gap is small, a stop is requested or none are left; returns whether the gap is small.

        Parameters
        ----------
        goal : float
            An objective that shall not be exceeded. Where it is, the gap may get `FINER_TOLERANCE` times smaller.
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
