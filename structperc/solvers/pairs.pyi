# Written by tests/typing/stubs.py from the compiled module.
from typing import Any

def short_pairs(scores: Any, levels: Any, order: Any, offsets: Any, margin: Any = ...) -> Any: ...
