# Written by tests/typing/stubs.py from the compiled module.
from typing import Any

import structperc.core.weights

class AdaGradWeights(structperc.core.weights.PrimalWeights):
    def __init__(self, average: bool = ..., decay: Any = ..., step_size: Any = ...) -> None: ...
    def allocate(self, features: Any) -> Any: ...
    def sharding(self) -> Any: ...
    def fingerprint(self) -> Any: ...
    def restore(self, state: Any) -> Any: ...
    squares: Any
    step_size: Any
    options_used: Any
    linear: bool
    citation: str

DUCHI: str
