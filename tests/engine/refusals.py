"""What a failed call leaves: the same bits, and an engine that trains on."""

import copy
from contextlib import contextmanager

import numpy as np
import pytest

from structperc.errors import DataError


def state(engine):
    """Everything that training set, to the bit."""
    weights = {name: np.asarray(values).tobytes() for name, values in engine.parts_.weights.state().items()}
    online = engine.online_predictions_.tolist() if hasattr(engine, "online_predictions_") else None
    return weights, engine.mistakes_, engine.cumulative_loss_, engine.status_, engine.classes_.tolist(), engine.n_features_in_, online


@contextmanager
def refused(engine, X, y, match, kind=DataError):
    """The block raises an error and leaves no trace. The engine has the same bits, and trains on like a twin without the call."""
    twin, before = copy.deepcopy(engine), state(engine)
    with pytest.raises(kind, match=match):
        yield
    assert state(engine) == before
    assert engine.predict(X).tolist() == twin.predict(X).tolist()
    for again in (engine, twin):
        again.partial_fit(X, y)
    assert state(engine) == state(twin)
