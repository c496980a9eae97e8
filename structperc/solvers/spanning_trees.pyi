# Written by tests/typing/stubs.py from the compiled module.
from typing import Any

def max_spanning_tree(edges: Any, scores: Any, n_nodes: Any, forest: Any = ...) -> Any: ...
