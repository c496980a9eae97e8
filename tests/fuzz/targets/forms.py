"""Harmless forms of X: the predictions are the same for all forms of the same numbers."""

import numpy as np
import pandas
import scipy.sparse as sp

from fuzz import kinds
from fuzz.promises import expect, plain


def strided(X):
    wide = np.zeros((2 * X.shape[0], 2 * X.shape[1]))
    wide[::2, ::2] = X
    return wide[::2, ::2]


def misaligned(X):
    raw = np.zeros(X.nbytes + 1, dtype=np.uint8)
    found = np.frombuffer(raw.data, dtype=X.dtype, count=X.size, offset=1).reshape(X.shape)
    found[...] = X
    return found


def read_only(X):
    found = X.copy()
    found.flags.writeable = False
    return found


def duplicated(X):
    """CSR with every entry as the sum of two, and unsorted columns."""
    coo = sp.coo_array(X)
    row, col, data = (np.concatenate([part, part]) for part in (coo.coords[0], coo.coords[1], coo.data / 2))
    order = np.lexsort((-col, row))
    starts = np.searchsorted(row[order], np.arange(X.shape[0] + 1))
    return sp.csr_array((data[order], col[order], starts), shape=X.shape)


def wide_indices(X):
    found = sp.csr_array(X)
    found.indices, found.indptr = found.indices.astype(np.int64), found.indptr.astype(np.int64)
    return found


def with_zeros(X):
    full = np.ones(X.shape)
    found = sp.csr_array(full)
    found.data = X.reshape(-1).copy()
    return found


class Holder:
    def __init__(self, X):
        self.X = X

    def __array__(self, dtype=None, copy=None):
        return self.X if dtype is None else self.X.astype(dtype)


DENSE = (
    lambda X: X.tolist(), lambda X: tuple(map(tuple, X.tolist())), np.asfortranarray, strided, misaligned, read_only, Holder,
    lambda X: X.astype(">f8"), lambda X: X.astype("f4"), lambda X: X.astype("g"), lambda X: X.astype(object),
    lambda X: X[::-1].copy()[::-1],
    lambda X: np.asarray(X).view(type("Kept", (np.ndarray,), {})), pandas.DataFrame, lambda X: [list(row) for row in X],
    lambda X: np.ma.masked_array(X), lambda X: np.lib.stride_tricks.as_strided(X),
    lambda X: pandas.DataFrame(X).astype(object), lambda X: np.concatenate([X, X])[:len(X)], lambda X: memoryview(np.ascontiguousarray(X)),
)  # fmt: skip
SPARSE = (
    sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_array, sp.dok_array, sp.bsr_array, duplicated, wide_indices, with_zeros,
    lambda X: sp.csr_array(X.astype("f4")), lambda X: sp.csr_array(X).astype("g"),
    lambda X: sp.vstack([sp.csr_array(X)] * 2).tocsr()[:len(X)],
)  # fmt: skip


def equal_forms(random):
    """The results of an engine for its own rows in a random form equal those for plain arrays."""
    one = kinds.pick(random, lambda kind: kind.any_form and not isinstance(kind.X, list))
    kind = one.kind
    stored_sparse = sp.issparse(kind.X)
    X = kind.X.toarray() if stored_sparse else np.asarray(kind.X, dtype=float)
    form = random.choice(SPARSE if stored_sparse and random.random() < 0.7 else (*DENSE, *SPARSE))
    given = form(np.ascontiguousarray(X))
    calls = {"predict": one.engine.predict, "atom scores": one.engine.atom_scores}
    name = random.choice(list(calls))
    plainly = plain_answers(one, name)
    found = plain(calls[name](given, **kind.told))
    if name == "predict":
        expect(found == plainly, f"{getattr(form, '__name__', form)} is predicted otherwise")
    else:
        expect(np.allclose(flat(found), flat(plainly), rtol=1e-6, atol=1e-9), f"{getattr(form, '__name__', form)} is scored otherwise")
    return True


def flat(tree):
    return [number for row in tree for number in (flat(row) if isinstance(row, list) else [row])]


def plain_answers(one, name):
    known = one.__dict__.setdefault("known", {})
    if name not in known:
        known[name] = plain(getattr(one.engine, name.replace(" ", "_"))(one.kind.X, **one.kind.told))
    return known[name]
