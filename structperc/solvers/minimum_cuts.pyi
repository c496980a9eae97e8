# Written by tests/typing/stubs.py from the compiled module.
from typing import Any

class CutGraph:
    def __init__(self, n_nodes: Any, edges: Any) -> None: ...
    def solve(self, terminals: Any, forward: Any, backward: Any) -> Any: ...
    n_nodes: Any
    n_edges: Any
    edges: Any

MOST: int

def min_cut(terminals: Any, edges: Any, capacities: Any, backward: Any = ...) -> Any: ...
