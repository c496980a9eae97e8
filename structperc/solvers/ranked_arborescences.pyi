# Written by tests/typing/stubs.py from the compiled module.
from typing import Any

class Cells:
    ...

def k_best_arborescences(scores: Any, k: Any, one_root: Any = ...) -> Any: ...
