"""Which bank the options ask for."""

from __future__ import annotations

import numbers

from structperc.core.errors import OptionError
from structperc_dual_kernel.given_banks import CallableBank, ColumnBank
from structperc_dual_kernel.object_bank import ObjectBank
from structperc_dual_kernel.object_kernels import ObjectKernel
from structperc_dual_kernel.strings import SubsequenceKernel
from structperc_dual_kernel.trees import SubsetTreeKernel
from structperc_dual_kernel.vector_banks import KERNELS as VECTOR_KERNELS
from structperc_dual_kernel.vector_banks import DenseBank, SparseBank

OWN = {                     # which kernels each option is for; the others must keep its default
    "gamma": ("polynomial", "rbf", "laplacian"),
    "degree": ("polynomial",),
    "coef0": ("polynomial",),
    "shift": ("perceptron", "stump"),
    "kernel_decay": ("subset-tree", "subsequence"),
    "length": ("subsequence",),
    "normalise": ("subset-tree", "subsequence"),
    "rows": VECTOR_KERNELS,
}
KERNELS = (*VECTOR_KERNELS, "precomputed", "subset-tree", "subsequence")


def bank_for(task, defaults):
    """An empty bank for this task; refuses options that it would ignore."""
    given = task.options
    kernel = given["kernel"]
    if not (callable(kernel) or isinstance(kernel, str) and kernel in KERNELS):
        raise OptionError(f"kernel={kernel!r}; expected one of {', '.join(map(repr, KERNELS))}, a function of two matrices (of two "
                          f"objects, where X is a list of objects), or an ObjectKernel.")
    for name, kernels in OWN.items():
        if given[name] != defaults[name] and kernel not in kernels:
            raise OptionError(f"{name}={given[name]!r} has no effect with kernel={kernel!r}; it is for {', '.join(kernels)}.")
    if kernel == "precomputed":
        return ColumnBank()
    if kernel in VECTOR_KERNELS:
        kind = SparseBank if task.sparse else DenseBank
        return kind(kernel, given["gamma"], given["degree"], given["coef0"], given["shift"], given["rows"])
    if isinstance(kernel, str):
        decay = {} if given["kernel_decay"] is None else {"decay": given["kernel_decay"]}
        if kernel == "subset-tree":
            return ObjectBank(SubsetTreeKernel(normalise=given["normalise"], **decay))
        return ObjectBank(SubsequenceKernel(given["length"], normalise=given["normalise"], **decay))
    return ObjectBank(kernel) if task.objects or isinstance(kernel, ObjectKernel) else CallableBank(kernel)


def most_rows(budget) -> int:
    """The budget as a number; 0: none."""
    if budget is None:
        return 0
    if not isinstance(budget, numbers.Integral) or isinstance(budget, bool) or budget < 1:
        raise OptionError(f"budget={budget!r}; expected a whole number, at least 1, or None.")
    return int(budget)


def megabytes(size) -> int:
    """A size in MB as bytes."""
    if not isinstance(size, numbers.Real) or isinstance(size, bool) or not 0 <= size < float("inf"):
        raise OptionError(f"cache_size={size!r}; expected a number of MB, at least 0.")
    return int(size * 1e6)
