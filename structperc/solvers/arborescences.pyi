# Written by tests/typing/stubs.py from the compiled module.
from typing import Any, NamedTuple

class ScoreMatrices:
    def __init__(self, scores: Any, name: str = ...) -> None: ...
    n_matrices: Any
    most_words: Any
    single: Any
    name: Any

class Cells:
    ...

LARGEST_SUM: float

def _hint(matrix: Any) -> Any: ...

def listed(words: Any) -> Any: ...

def max_arborescence(scores: Any, one_root: Any = ...) -> Any: ...

def k_best_arborescences(scores: Any, k: Any, one_root: Any = ...) -> Any: ...

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

def arborescence_marginals(scores: Any, one_root: Any = ...) -> Any: ...
