# Written by tests/typing/stubs.py from the compiled module.
from typing import Any, NamedTuple

class ArborescenceCertificate(NamedTuple):
    heads: Any
    total: Any
    sets: Any
    prices: Any
    root_price: Any
    @property
    def bound(self) -> Any: ...
    def violation(self, scores: Any) -> Any: ...

def arborescence_certificate(scores: Any, one_root: Any = ...) -> Any: ...
