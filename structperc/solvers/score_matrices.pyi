# Written by tests/typing/stubs.py from the compiled module.
from typing import Any

class ScoreMatrices:
    def __init__(self, scores: Any, name: str = ...) -> None: ...
    def hold_stack(self, stack: Any) -> Any: ...
    n_matrices: Any
    most_words: Any
    single: Any
    name: Any

def hint(matrix: Any) -> Any: ...
