"""Bounds of the weights of one feature map: what the map's option `bounds` is read as, and the projection of one weight."""
import numpy as np

from structperc.core.errors import PluginError, shortened


cdef class Bounds:
    """low <= w <= high for a table of weights.

    Parameters
    ----------
    bounds : pair
        Lowest and largest weights: numbers or arrays that broadcast to the table, -inf and inf where there is none. 0 lies between them:
        training begins there, and decay leads there.
    shape : tuple of int
        Of the weights; all axes but the last become rows of the table.
    """

    def __init__(self, bounds, shape):
        *_, width = shape
        try:
            low, high = bounds
            low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
            self.low, self.high = (np.broadcast_to(side, shape).reshape(-1, width) for side in (low, high))
        except (TypeError, ValueError, OverflowError):
            raise PluginError(f"bounds={shortened(bounds)}; expected (lowest, largest), numbers or arrays that broadcast to the shape "
                              f"{shape} of the weights.") from None
        if not ((low <= 0).all() and (high >= 0).all()):
            raise PluginError(f"bounds={shortened(bounds)}; expected lowest weights up to 0 and largest weights from 0, since training "
                              f"begins at 0.")
