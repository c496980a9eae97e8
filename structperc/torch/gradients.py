"""Contributions of a network's inputs to the difference of two outputs' scores."""

from __future__ import annotations

import numpy as np

from structperc.basics.arguments import whole_number
from structperc.basics.errors import DataError, OptionError, shortened
from structperc.extras import require

torch = require("torch", "structperc.torch", "torch")


def integrated_gradients(scores, x, counts, *, baseline=None, n_steps=50):
    """Divide the difference of scores between an output and a rival among the entries of an input. Returns a tensor of the shape of x.

    The difference is D(x) = scores(x) . counts, where `counts` are those of the output less those of the rival, as `Batch.counts` returns
    them. Contributions add up to D(x) - D(baseline), up to the error of the integral. For a linear network they are exact.

    Parameters
    ----------
    scores : function of a tensor
        Returns the flat scores of atoms.
    x : tensor of floats
    counts : array-like of shape (n_atoms,)
    baseline : tensor of the shape of x, optional
        Where nothing contributes. Default: zeros.
    n_steps : int, default 50
        Points on the straight way from the baseline to x. More are more exact.

    References
    ----------
    M. Sundararajan, A. Taly and Q. Yan: Axiomatic attribution for deep networks. ICML 2017.

    Examples
    --------
    >>> import torch
    >>> from structperc.torch import integrated_gradients
    >>> weights = torch.tensor([[1.0, 2.0], [0.0, -1.0]])
    >>> integrated_gradients(lambda x: weights @ x, torch.tensor([3.0, 1.0]), [1, -1]).round(decimals=3).tolist()
    [3.0, 3.0]
    """
    n_steps = whole_number(n_steps, "n_steps", 1, error=OptionError)
    if not isinstance(x, torch.Tensor) or not x.is_floating_point():
        raise DataError(f"x is {shortened(x)}; expected a tensor of floats.")
    start = torch.zeros_like(x) if baseline is None else baseline
    if start.shape != x.shape:
        raise DataError(f"baseline has the shape {tuple(start.shape)}; expected that of x, {tuple(x.shape)}.")
    weights = torch.as_tensor(np.asarray(counts, dtype=np.float64)).to(x)
    nodes, shares = np.polynomial.legendre.leggauss(n_steps)
    mean = torch.zeros_like(x)
    for node, share in zip((nodes + 1) / 2, shares / 2, strict=True):
        point = (start + float(node) * (x - start)).detach().requires_grad_()
        values = scores(point).reshape(-1)
        if values.shape != weights.shape:
            raise DataError(f"scores returned {values.numel()} scores, but counts has {weights.numel()}; expected one for each atom.")
        mean += float(share) * torch.autograd.grad((values * weights).sum(), point)[0]
    return mean * (x - start).detach()


__all__ = ["integrated_gradients"]
