# What type checkers see of the compiled base class of `Engine`.
from typing import Any

import numpy as np
from typing_extensions import Self

class EngineCore:
    model: Any
    trained: Any
    run: Any
    turn: Any
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        offsets: Any = ...,
        lengths: Any = ...,
        groups: Any = ...,
        allowed: Any = ...,
        sample_weight: Any = ...,
        costs: Any = ...,
        record_predictions: bool = ...,
        history: bool = ...,
        resume: bool = ...,
    ) -> Self: ...
    def partial_fit(
        self,
        X: Any,
        y: Any,
        *,
        offsets: Any = ...,
        lengths: Any = ...,
        groups: Any = ...,
        allowed: Any = ...,
        sample_weight: Any = ...,
        costs: Any = ...,
        classes: Any = ...,
        record_predictions: bool = ...,
        history: bool = ...,
    ) -> Self: ...
    def predict(
        self,
        X: Any,
        *,
        offsets: Any = ...,
        lengths: Any = ...,
        groups: Any = ...,
        allowed: Any = ...,
        k: int | None = ...,
    ) -> np.ndarray: ...
