# Written by tests/typing/stubs.py from the compiled module.
from typing import Any

class ArborescenceCertificate(tuple):
    heads: Any
    total: Any
    sets: Any
    prices: Any
    root_price: Any
    bound: Any
    def violation(self, scores: Any) -> Any: ...

def arborescence_certificate(scores: Any, one_root: Any = ...) -> Any: ...
