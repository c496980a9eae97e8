# The public name of what vector_rows.pxd declares.
from structperc_kernels.vector_rows cimport (
    SP_LAPLACIAN, SP_LINEAR, SP_PERCEPTRON, SP_POLYNOMIAL, SP_RBF, SP_STUMP, best_tiles, named_tiles, sp_kernel, sp_panel, sp_slots,
    sp_tiles
)
