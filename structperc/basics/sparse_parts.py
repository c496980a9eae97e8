"""Whether the parts of a sparse matrix fit together: scipy's conversions and products read and write wherever these parts say."""

import sys

import numpy as np

from structperc.basics.errors import DataError, DataTypeError


def is_sparse(X) -> bool:
    sparse = sys.modules.get("scipy.sparse")        # a sparse matrix cannot exist before this module does
    return sparse is not None and sparse.issparse(X)


def refuse_damaged(X, name="X") -> None:
    """Raises an error for a sparse matrix whose parts do not fit together; `name` is what messages call it."""
    if X.format == "coo":
        parts = ("row", "col") if X.ndim == 2 else [f"coords[{axis}]" for axis in range(X.ndim)]
        lines = (*["example"] * (X.ndim - 2), "row", "column")[-X.ndim:]
        for part, at, size, across in zip(parts, X.coords, X.shape, lines, strict=True):
            check_part(f"{name}.{part}", at)
            if len(at) != X.data.size:
                raise DataError(f"{name}.{part} is damaged: it has {len(at)} entries for the {X.data.size} values of {name}.data.")
            check_within(name, part, at, size, across=across)
        check_part(f"{name}.data", X.data, "fiubcO")
    elif X.format in ("csr", "csc", "bsr"):
        lines, across = X.shape[::-1] if X.format == "csc" else X.shape
        flat = X.data
        if X.format == "bsr":
            if flat.ndim != 3 or not flat.shape[1] or not flat.shape[2]:
                raise DataError(f"{name}.data has shape {flat.shape}; that of a BSR matrix has blocks of rows and columns.")
            lines, across, flat = lines // flat.shape[1], across // flat.shape[2], flat[:, 0, 0]
        for part, values, kinds in (("indptr", X.indptr, "iu"), ("indices", X.indices, "iu"), ("data", flat, "fiubcO")):
            check_part(f"{name}.{part}", values, kinds)
        whole = len(X.indptr) == lines + 1 and X.indptr[0] == 0 and not (X.indptr[1:] < X.indptr[:-1]).any()
        if not whole or X.indptr[-1] > min(len(X.indices), len(flat)):
            raise DataError(f"{name}.indptr is damaged: for {lines} {'columns' if X.format == 'csc' else 'rows'} it must have {lines + 1} "
                            f"entries, begin at 0, never fall and end within {name}.indices and {name}.data.")
        if len(X.indices) != len(flat):
            raise DataError(f"{name}.indices is damaged: it has {len(X.indices)} entries for the {len(flat)} values of {name}.data.")
        check_within(name, "indices", X.indices, across, X.indptr, "row" if X.format == "csc" else "column")
    elif X.format == "dia":
        check_part(f"{name}.offsets", X.offsets)
        if X.data.ndim != 2 or len(X.data) != len(X.offsets):
            raise DataError(f"{name}.data has shape {X.data.shape}; that of a DIA matrix has a row for each of its "
                            f"{len(X.offsets)} offsets.")


def check_part(name, part, kinds="iu") -> None:
    """Raises an error for a part of a sparse matrix that is not flat, or of another type."""
    if part.ndim != 1:
        raise DataError(f"{name} has {part.ndim} dimensions; those of a sparse matrix are flat.")
    if part.dtype.kind not in kinds:
        raise DataTypeError(f"{name} is of type {part.dtype}; expected {'whole numbers' if kinds == 'iu' else 'numbers'}.")


def check_within(name, part, at, size, starts=None, across="column") -> None:
    """Raises an error for a place outside a sparse matrix."""
    if len(at) and not (0 <= at.min() and at.max() < size):
        i = int(np.flatnonzero((at < 0) | (at >= size))[0])
        line = "" if starts is None else f" ({'column' if across == 'row' else 'row'} {int(np.searchsorted(starts, i, side='right')) - 1})"
        raise DataError(f"{name}.{part}[{i}]{line} is {at[i]}, outside the {size} {across}s of {name}.")


def to_csr(X, name="X"):
    """The CSR matrix of a sparse one, once its parts have been checked: the same object if it is one without unused entries."""
    refuse_damaged(X, name)
    if X.format == "csr" and len(X.indices) > X.indptr[-1]:
        n = X.indptr[-1]                # SciPy chooses columns of all entries, used or not, and has room for those in use
        return type(X)((X.data[:n], X.indices[:n], X.indptr), shape=X.shape)
    try:
        return X.tocsr()
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        raise DataError(f"{name} is a damaged sparse matrix of format {X.format!r} ({error}).") from None


def float_csr(X, name):
    """A CSR array of float64, a copy whose parts have been checked."""
    from scipy.sparse import csr_array

    csr = to_csr(X, name)
    try:
        data = csr.data.astype(np.float64)
    except (TypeError, ValueError):
        raise DataTypeError(f"{name}.data is of type {csr.data.dtype}; expected numbers.") from None
    return csr_array((data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)), shape=csr.shape)
