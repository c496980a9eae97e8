# Written by tests/typing/stubs.py from the compiled module.
from typing import Any

import structperc.core.updates

class ExactUpdate(structperc.core.updates.PassiveAggressiveUpdate):
    def __init__(self, variant: str = ..., margin: float = ..., C: Any = ...) -> None: ...
    def check(self, context: Any, parts: Any) -> Any: ...
    def check_order(self, context: Any, parts: Any) -> Any: ...
    when: str
    citation: str

VARIANTS: Any

EXACT: Any

MANWANI: str
