# Written by tests/typing/stubs.py from the compiled module.
from typing import Any

class Example:
    def __init__(self, source: Rows | None = ..., index: int = ...) -> None: ...
    def doubted(self) -> Any: ...
    n_rows: Any
    n_features: Any
    rows: Any
    sparse_rows: Any
    keys: Any
    blank: Any
    object: Any
    index: Any
    first_row: Any
    n_atoms: Any
    source: Any
    doubt: Any
    bound: Any

class Rows:
    def __init__(self, X: Any, offsets: Any = ..., feature_names: Any = ...) -> None: ...
    def restrict(self, allowed: Any) -> None: ...
    def condition(self, given: Any) -> None: ...
    def part(self, start: Any, stop: Any) -> Any: ...
    def like(self, X: Any, offsets: Any, first: Any, last: Any) -> Any: ...
    def stored_columns(self) -> Any: ...
    def example(self, index: int) -> Any: ...
    def summed(self) -> Any: ...
    def canonical(self) -> Any: ...
    def products(self, w: Any) -> Any: ...
    def sizes(self) -> Any: ...
    keys: Any
    sparse: Any
    objects: Any
    sparse_part: Any
    dense_part: Any
    n_examples: Any
    n_rows: Any
    n_features: Any
    feature_names: Any
    X: Any
    own: Any
    offsets: Any
    allowed: Any
    allowed_width: Any
    first_stage: Any

def in_place(X: Any) -> Rows: ...
