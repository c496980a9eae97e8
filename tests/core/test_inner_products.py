"""Inner products and updates: every instruction set has the bits of the numpy twin, for every layout and size."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from reference.layouts import LAYOUTS, stored
from reference.summation import rows_of, running

from structperc.components import Rows
from structperc.core import column_sums as inner_products
from structperc.core.joined import Joined

pytestmark = pytest.mark.blas

SETS = inner_products.instruction_sets()


JOINED = {"csr32+dense64": ("csr32-int32", "dense64"), "csr64+dense32": ("csr64-int64", "dense32")}     # the last two thirds are dense
ALL = (*LAYOUTS, *JOINED)


def example(rng, d, layout):
    """A row with a few zeros, as an example for the kernels and as a row of the twin."""
    x = rng.normal(size=(1, d)) * 10.0 ** rng.integers(-3, 4, d)
    x[rng.random((1, d)) < 0.3] = 0
    X = Joined(*map(stored, np.split(x, [d // 3], axis=1), JOINED[layout])) if layout in JOINED else stored(x, layout)
    return Rows(X).example(0), rows_of(X)[0]


def cases(layout):
    """(kernel example, twin, random w of shape (blocks, d)) for d = 0..70; every number of blocks 1..9 in turn."""
    rng = np.random.default_rng(ALL.index(layout))
    for d in range(71):
        x, twin = example(rng, d, layout)
        for blocks in range(1, 10) if d in (0, 1, 7, 8, 9, 16, 31) else [1 + d % 9, 1 + (d + 4) % 9]:
            yield x, twin, rng.normal(size=(blocks, d)), rng


def test_the_set_in_use_is_one_of_them():
    assert SETS[0] == "baseline"
    assert len(set(SETS)) == len(SETS)


def test_an_unknown_set_is_named():
    x, _ = example(np.random.default_rng(0), 3, "dense64")
    with pytest.raises(ValueError, match="'mmx' is not available here.*baseline"):
        inner_products.dots("mmx", x, np.zeros((1, 3)))


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("layout", ALL)
def test_dots(layout, name):
    for x, twin, w, _ in cases(layout):
        np.testing.assert_array_equal(inner_products.dots(name, x, w), twin.dots(w))


@pytest.mark.parametrize("feature_major", [False, True])
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_dots_of_many_rows(layout, name, feature_major):
    """Products of several rows have the bits of single rows, for any number of rows and blocks."""
    rng = np.random.default_rng(LAYOUTS.index(layout))
    for blocks in (1, 2, 3, 4, 5, 8, 11):
        for n in (1, 3, 4, 5, 9):
            d = int(rng.integers(1, 40))
            rows = Rows(stored(np.where(rng.random((n, d)) < 0.3, 0, rng.normal(size=(n, d))), layout))
            w = rng.normal(size=(d, blocks) if feature_major else (blocks, d))
            alone = np.array([inner_products.dots(name, rows.example(i), w, feature_major) for i in range(n)])
            for first in (0, n // 2):
                np.testing.assert_array_equal(inner_products.dots_of_rows(name, rows, w, first, feature_major), alone[first:])


TRAINED = """
import hashlib
import numpy as np
from structperc import Engine
from structperc.core.inner_products import chosen

random = np.random.default_rng(0)
for d in (3, 50, 600):
    X = random.normal(size=(40, d))
    y = np.digitize(X[:, 0], [-1, 0, 1, 2])
    for name in ("cusum", "prank"):
        engine = Engine(name, epochs=3, random_state=0).fit(X, y)
        print(hashlib.sha256(engine.coef_.tobytes() + engine.atom_scores(X).tobytes() + engine.predict(X).tobytes()).hexdigest())
print(chosen(50), chosen(600))
"""


def trained_with(name):
    told = {**os.environ, "STRUCTPERC_INSTRUCTION_SET": name}
    done = subprocess.run([sys.executable, "-c", TRAINED], capture_output=True, text=True, env=told)
    return done.returncode, done.stdout.split("\n"), done.stderr


def test_the_environment_names_the_widest_set():
    """A model has the same bits with every set."""
    expected = None
    for name in SETS:
        status, (*digests, used, _), error = trained_with(name)
        assert status == 0, error
        assert used.split()[1] == name and used.split()[0] in SETS[:SETS.index(name) + 1]
        assert expected in (None, digests)
        expected = digests


def test_the_environment_names_no_set():
    status, _, error = trained_with("mmx")
    assert status != 0
    assert "the environment variable STRUCTPERC_INSTRUCTION_SET is 'mmx'; expected one of" in error


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("layout", ALL)
def test_dots_with_blocks_side_by_side(layout, name):
    """Weights as (feature, block): one running sum, also for dense rows if there is more than one block."""
    for x, twin, w, _ in cases(layout):
        order = running if len(w) > 1 else twin.add_up
        expected = twin.in_order(order).dots(w)
        np.testing.assert_array_equal(inner_products.dots(name, x, np.ascontiguousarray(w.T), True), expected)


@pytest.mark.parametrize("feature_major", [False, True])
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("layout", ALL)
def test_add(layout, name, feature_major):
    for x, twin, w, rng in cases(layout):
        c = rng.choice([0, 1, -1, 0.37, -2.1], len(w)).astype(float)
        expected = w.copy()
        for k, factor in enumerate(c):
            twin.add_to(expected[k], factor)
        changed = np.ascontiguousarray(w.T if feature_major else w)
        inner_products.add(name, x, changed, c, feature_major)
        np.testing.assert_array_equal(changed.T if feature_major else changed, expected)


MANY = [10, 11, 12, 13, 23, 24, 25, 47, 48, 49, 50, 63, 64, 65, 97, 128, 130, 200]      # blocks: whole passes, and every kind of remainder


@pytest.mark.parametrize("feature_major", [False, True])
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("layout", ALL)
def test_many_blocks(layout, name, feature_major):
    """A pass covers several registers of blocks. An update touches only the blocks that move, and tests 64 at a time."""
    rng = np.random.default_rng(ALL.index(layout))
    for blocks in MANY:
        x, twin = example(rng, int(rng.integers(1, 30)), layout)
        w = rng.normal(size=(blocks, x.n_features))
        order = running if feature_major else twin.add_up
        found = inner_products.dots(name, x, np.ascontiguousarray(w.T if feature_major else w), feature_major)
        np.testing.assert_array_equal(found, twin.in_order(order).dots(w))
        for moving in (0, 1, 2, blocks // 2, blocks):
            c = np.zeros(blocks)
            c[rng.permutation(blocks)[:moving]] = rng.normal(size=moving)
            expected = w.copy()
            for k in np.flatnonzero(c):
                twin.add_to(expected[k], c[k])
            changed = np.ascontiguousarray(w.T if feature_major else w)
            inner_products.add(name, x, changed, c, feature_major)
            np.testing.assert_array_equal(changed.T if feature_major else changed, expected)


@pytest.mark.parametrize("name", SETS)
def test_max_plus(name):
    """Tables of every width, with ties and forbidden entries. The width need not be a multiple of the register size."""
    rng = np.random.default_rng(3)
    for m in [*range(1, 70), 95, 96, 97, 128, 200, 333]:
        for n in (1, 2, 7, m):
            for whole in (True, False):
                a, e, t = (rng.integers(-2, 3, size).astype(float) if whole else rng.normal(size=size) for size in (n, n, (n, m)))
                t[rng.random(t.shape) < 0.2] = -np.inf
                a[rng.random(n) < 0.1] = -np.inf
                np.testing.assert_array_equal(inner_products.max_plus(name, a, e, t), ((a + e)[:, None] + t).max(axis=0))


@pytest.mark.parametrize("name", SETS)
def test_plus_times(name):
    """Tables of every width, summed in the order of the rows."""
    rng = np.random.default_rng(4)
    for m in [*range(1, 34), 47, 48, 49, 97, 200]:
        for n in (1, 2, 7, m):
            a, e, t = (rng.normal(size=size) for size in (n, n, (n, m)))
            expected = (a[0] * e[0]) * t[0]
            for i in range(1, n):
                expected = expected + (a[i] * e[i]) * t[i]
            np.testing.assert_array_equal(inner_products.plus_times(name, a, e, t), expected)


@pytest.mark.parametrize("name", SETS)
def test_max_plus_where_all_is_forbidden(name):
    for m in (1, 3, 4, 9, 64):
        assert (inner_products.max_plus(name, np.full(m, -np.inf), np.zeros(m), np.zeros((m, m))) == -np.inf).all()


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("layout", ALL)
def test_squared_norm(layout, name):
    for x, twin, _, _ in cases(layout):
        assert inner_products.squared_norm(name, x) == twin.squared_norm()


@pytest.mark.parametrize("layout", ALL)
def test_sums_are_right(layout):
    """The twin itself, against exactly rounded sums."""
    import math

    for x, twin, w, _ in cases(layout):
        products = w[:, twin.columns] * twin.values
        exact = [math.fsum(row) for row in products]
        size = abs(products).sum(axis=1)
        assert (abs(twin.dots(w) - exact) <= 1e-14 * size).all()
        assert x.n_features == w.shape[1]


@pytest.mark.parametrize("n", [4, 12, 128])
def test_digits_of_columns_have_the_same_bits_in_all_instruction_sets(n):
    """All sums are of whole numbers of units, so they are exact in any order."""
    random = np.random.default_rng(n)
    X, unit = random.normal(size=(n, 8)), 2.0 ** (21 * random.integers(-1, 1, size=8))
    other, rounder = np.round(random.normal(size=(n, 8)) * 2**18), 1.5 * 2**52 * unit
    digit = np.round(X / unit) * unit + 0.0             # no zero has a sign
    product = digit * other + 0.0
    carry = np.round(product / unit) * unit + 0.0
    for number in range(len(SETS)):
        left, its, sums, products = inner_products.plane_sums(number, X, other, rounder)
        expected = X - digit, digit, carry, product - carry
        assert [part.tobytes() for part in (left, its, *products)] == [part.tobytes() for part in expected]
        assert sums.tolist() == [[math.fsum(column) for column in part.T] for part in (digit, product)]


def test_sums_of_five_digits_are_exact_with_every_instruction_set():
    random = np.random.default_rng(0)
    X = random.normal(size=(37, 8)) * 10.0 ** -random.integers(0, 6, size=(37, 8))
    X[3] = 0
    units = np.repeat(2.0 ** (-21 * np.arange(5))[:, None], 8, axis=1)
    digits, rest = [], X
    for unit in units:
        digits.append(np.round(rest / unit) * unit)
        rest = rest - digits[-1]
    terms = digits + [digits[k] * digits[m] for k in range(5) for m in range(k + 1)]
    expected = [[math.fsum(column) for column in part.T] for part in terms]
    for number in range(len(SETS)):
        most, sums, complete = inner_products.sums_of_five(number, X, 1.5 * 2**52 * units)
        assert complete and most.tolist() == np.abs(X).max(axis=0).tolist() and sums.tolist() == expected
        assert not inner_products.sums_of_five(number, X * 2.0**-80, 1.5 * 2**52 * units)[2]
        for cell in (np.nan, np.inf, -np.inf):
            odd = X.copy()
            odd[20, 3] = cell
            assert np.isfinite(inner_products.sums_of_five(number, odd, 1.5 * 2**52 * units)[0]).tolist() == [c != 3 for c in range(8)]
