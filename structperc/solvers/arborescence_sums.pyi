# Written by tests/typing/stubs.py from the compiled module.
from typing import Any

def arborescence_marginals(scores: Any, one_root: Any = ...) -> Any: ...
