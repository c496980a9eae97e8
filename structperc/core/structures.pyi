# Written by tests/typing/stubs.py from the compiled module.
from typing import Any

class Structures:
    def __init__(self, values: Any, offsets: Any = ...) -> None: ...
    @classmethod
    def ragged(cls, structures: Any) -> Any: ...
    values: Any
    offsets: Any

def encode_nested(code_of: dict[Any, Any], sentences: Any, codes: Any, offsets: Any) -> Any: ...
