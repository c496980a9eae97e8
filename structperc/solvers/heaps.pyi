# Written by tests/typing/stubs.py from the compiled module.
from typing import Any

class KeyHeap:
    def __init__(self, n: int) -> None: ...
    size: Any
