# Written by tests/typing/stubs.py from the compiled module.
from typing import Any

class Schedule:
    def __init__(self, value: Any = ..., option: Any = ..., rule: Any = ..., after: Any = ...) -> None: ...
    def fingerprint(self) -> Any: ...
    def asked(self, t: Any) -> Any: ...
    def at(self, t: int) -> Any: ...
    start: Any
    after: Any
    rule: Any
    error: Any

REAL: Any

NAMES: Any

EXPECTED: str

def number_of(text: Any) -> Any: ...
