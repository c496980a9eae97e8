"""Whether two engines have the same model."""

import numpy as np
import pytest


def weights(engine):
    return np.concatenate([np.ravel(getattr(engine, name)) for name in ("coef_", "intercept_", "thresholds_") if hasattr(engine, name)])


def assert_same_model(one, other):
    assert np.array_equal(weights(one), weights(other))
    assert one.mistakes_ == other.mistakes_
    assert one.cumulative_loss_ == pytest.approx(other.cumulative_loss_, rel=1e-12)
