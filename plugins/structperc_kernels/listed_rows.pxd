# The public name of what kernel_rows.pxd declares.
from structperc_kernels.kernel_rows cimport ListedKernelRows
