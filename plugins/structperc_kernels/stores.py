"""The kernel of a weight store."""

from __future__ import annotations

import functools


@functools.singledispatch
def empty_kernel_rows(weights, rows):
    """Empty `KernelRows` of the kernel that a weight store uses, with parameters from these rows.

    The package of a store with a kernel registers a function of its class: `empty_kernel_rows.register(Store, function)`.
    Returns `KernelRows` or None. None: the store uses no kernel.

    Parameters
    ----------
    weights : Weights
    rows : Rows

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import PrimalWeights, Rows
    >>> from structperc_kernels import empty_kernel_rows
    >>> empty_kernel_rows(PrimalWeights(), Rows(np.eye(2))) is None
    True
    """
    return None
