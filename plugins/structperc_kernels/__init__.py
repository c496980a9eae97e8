"""Kernels between rows of numbers, trees, strings and objects, for any package. Each base class has a .pxd to `cimport`.

Provisional: it may change in any minor version.

`KernelRows` stores rows and compares them with others. It has subclasses for rows of numbers (dense or sparse), objects, your own function,
and values computed beforehand. `ObjectKernel` is the base of kernels between two objects. A plugin whose options name a kernel makes its
`KernelRows` by `kernel_rows_for`.
"""

from structperc.plugin_tools import names_of

MODULES = {
    "kernel_options": ("KERNELS", "KERNEL_OPTIONS", "USED_BY", "kernel_rows_for"),
    "kernel_rows": (
        "CallableKernelRows", "ComparedKernelRows", "KernelObjects", "KernelRows", "ListedKernelRows", "PrecomputedKernelRows",
        "Queries",
    ),
    "object_kernels": ("Encoded", "ObjectKernel", "SubsequenceKernel", "SubsetTreeKernel"),
    "stores": ("empty_kernel_rows",),
    "vector_rows": ("DenseKernelRows", "SparseKernelRows", "VectorKernelRows"),
}
__all__, __getattr__, __dir__ = names_of(__name__, MODULES)
