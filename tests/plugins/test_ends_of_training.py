"""Tests of degenerate data: training ends with a correct status and finite measurements, or raises an error with a full message."""

import warnings

import numpy as np
import pytest
from plain import Engine
from structperc_large_margin.estimators import SVOR

from structperc.errors import DataError, OptionError
from structperc.estimators import RankingSVM

RANDOM = np.random.default_rng(0)
ROWS, RANKS = RANDOM.normal(size=(24, 3)), np.arange(24) % 3 + 1
SEPARATED = ROWS + 5.0 * RANKS[:, None]
TOLERANCE, MOST = 1e-3, 40
DATA = {
    "separated rows": (SEPARATED, RANKS), "ranks without a pattern": (ROWS[:, :1], RANKS), "constant columns": (np.ones((24, 3)), RANKS),
    "zeros": (np.zeros((24, 3)), RANKS), "duplicate rows": (np.tile(SEPARATED[:4], (6, 1)), RANKS),
    "fewer rows than columns": (RANDOM.normal(size=(3, 20)), RANKS[:3]), "one row": (ROWS[:1], RANKS[:1]),
    "columns of many scales": (ROWS * [1e-100, 1, 1e100], RANKS),
} | {f"rows times {scale:g}": (SEPARATED * scale, RANKS) for scale in (1e-320, 1e-160, 1e-70, 1e-20, 1e20, 1e70, 1e100, 1e150, 1e300)}
LARGEST = float(np.finfo(float).max)


def batch(problem, trainer, **options):
    return lambda C: Engine(problem, plugins=["batch"], trainer=trainer, C=C, epochs=MOST, tolerance=TOLERANCE, **options)


def svor(method, kernel):
    disordered = "pool" if method == "fixed-margin" else "refuse"
    return lambda C: SVOR(method, C=C, kernel=kernel, max_iter=MOST, tol=TOLERANCE, disordered=disordered)


def pairs(loss):
    return lambda C: RankingSVM(C=C, loss=loss, max_iter=MOST, tol=TOLERANCE)


def online(problem, **options):
    return lambda: Engine(problem, epochs=MOST, **options)


WITH_C = {
    "bcfw, one direction a rank": batch("cusum", "bcfw"), "bcfw, multiclass": batch("multiclass", "bcfw"),
    "cccp": batch("latent-ranking", "cccp", k=2), "pairs, hinge": pairs("hinge"), "pairs, squared hinge": pairs("squared_hinge"),
} | {f"{method}, {kernel}": svor(method, kernel) for kernel in ("linear", "rbf")
     for method in ("implicit", "explicit", "fixed-margin", "sum-of-margins")}
WITHOUT_C = {
    "cumulative sums": online("cusum"), "exact cumulative sums": online("cusum", update="exact-pa1"), "boosting": online("adaboost-or"),
    "pocket": online("prank", pocket=True), "screened pocket": online("prank", pocket="screened"),
    "ratchet": online("prank", pocket="runs"),
} | {f"nu={nu}, {kernel}": lambda nu=nu, kernel=kernel: SVOR(nu=nu, kernel=kernel, max_iter=MOST) for nu in (1e-6, 0.5)
     for kernel in ("linear", "rbf")}


def check_end(model, X, y):
    """Checks that training ends with a valid status and a correct gap, or raises a DataError or OptionError."""
    queries = isinstance(model, RankingSVM) or getattr(model, "problem", None) == "latent-ranking"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")      # about columns of different scales, and planes that meet
            model.fit(X, np.where(y == y.max(), 1, 0), lengths=[len(X)]) if queries else model.fit(X, y)
    except (DataError, OptionError) as error:
        assert str(error).endswith((".", "]")) and "expected finite numbers" not in str(error)
        return
    assert model.status_ in ("converged", "max_epochs", "stalled", "degenerate", "disordered")
    if hasattr(model, "gap_"):
        assert np.isfinite(model.objective_) and model.gap_ >= 0
        assert model.status_ != "converged" or model.gap_ <= (1 + 1e-6) * TOLERANCE * abs(model.objective_)


@pytest.mark.parametrize("C", [1e-300, 1.0, LARGEST])
@pytest.mark.parametrize("trainer", WITH_C)
def test_training_with_any_C_ends_on_degenerate_data(trainer, C):
    for X, y in DATA.values():
        check_end(WITH_C[trainer](C), X, y)


@pytest.mark.parametrize("trainer", WITHOUT_C)
def test_training_without_C_ends_on_degenerate_data(trainer):
    for X, y in DATA.values():
        check_end(WITHOUT_C[trainer](), X, y)


def test_latent_training_with_an_infinite_objective_is_refused():
    """Training used to run without end if the objective stayed infinite."""
    for trainer in ("bcfw, multiclass", "cccp"):
        model = WITH_C[trainer](LARGEST)
        queries = {"lengths": [len(SEPARATED)]} if trainer == "cccp" else {}
        with pytest.raises(DataError, match="overflow"):
            model.fit(SEPARATED, np.where(RANKS == 3, 1, 0), **queries)
