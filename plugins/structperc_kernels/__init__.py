"""Kernels between rows of numbers, trees, strings and objects, for any package. Each base class has a .pxd to `cimport`.

`KernelRows` stores rows and compares them with others. It has subclasses for rows of numbers (dense or sparse), objects, your own function,
and values computed beforehand. `ObjectKernel` is the base of kernels between two objects. A plugin whose options name a kernel makes its
`KernelRows` by `kernel_rows_for`.
"""

from structperc_kernels.kernel_options import KERNEL_OPTIONS, KERNELS, USED_BY, kernel_rows_for
from structperc_kernels.kernel_rows import (
    CallableKernelRows,
    ComparedKernelRows,
    KernelObjects,
    KernelRows,
    ListedKernelRows,
    PrecomputedKernelRows,
    Queries,
)
from structperc_kernels.object_kernels import Encoded, ObjectKernel, SubsequenceKernel, SubsetTreeKernel
from structperc_kernels.stores import empty_kernel_rows
from structperc_kernels.vector_rows import DenseKernelRows, SparseKernelRows, VectorKernelRows

__all__ = [
    "KERNELS",
    "KERNEL_OPTIONS",
    "USED_BY",
    "CallableKernelRows",
    "ComparedKernelRows",
    "DenseKernelRows",
    "Encoded",
    "KernelObjects",
    "KernelRows",
    "ListedKernelRows",
    "ObjectKernel",
    "PrecomputedKernelRows",
    "Queries",
    "SparseKernelRows",
    "SubsequenceKernel",
    "SubsetTreeKernel",
    "VectorKernelRows",
    "empty_kernel_rows",
    "kernel_rows_for",
]
