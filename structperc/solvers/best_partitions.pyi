# Written by tests/typing/stubs.py from the compiled module.
from typing import Any

def best_partition(scores: Any) -> Any: ...
