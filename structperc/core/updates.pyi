# Written by tests/typing/stubs.py from the compiled module.
from typing import Any

import structperc.core.component

class Trial:
    def bind(self, x: Any, weights: Any, outputs: Any, argmax: Any, losses: Any, room: int, most_integers: int) -> None: ...
    def difference(self) -> Any: ...
    def signs(self) -> Any: ...
    def norm(self, c: Any) -> Any: ...
    def marginals(self) -> Any: ...
    def search(self, scale: float) -> Any: ...
    def inner(self, a: int, b: int) -> Any: ...
    scores: Any
    gold: Any
    given_gold: Any
    y: Any
    x: Any
    loss: Any
    weight: Any
    n_visited: Any

class Update(structperc.core.component.Component):
    def hardly_weighs(self, low: Any, high: Any, square: Any) -> Any: ...
    def step(self, trial: Trial) -> Any: ...
    when: str
    search: str
    loss_weight: Any
    needs: Any
    sets_loss: bool
    takes_weights: bool
    threshold_order: str

class PerceptronUpdate(Update):
    threshold_order: str
    options_used: Any
    citation: str

class PassiveAggressiveUpdate(Update):
    def __init__(self, variant: str = ..., margin: float = ..., C: Any = ...) -> None: ...
    def fingerprint(self) -> Any: ...
    def hardly_weighs(self, low: Any, high: Any, square: Any) -> Any: ...
    takes_weights: Any
    options_used: Any
    C: Any
    citation: str

class ScheduledUpdate(Update):
    def __init__(self, step_size: Any = ..., decays: Any = ...) -> None: ...
    def fingerprint(self) -> Any: ...
    step_size: Any
    decays: Any
    options_used: Any

class LatentUpdate(ScheduledUpdate):
    citation: str

COLLINS: str

CRAMMER: str

VARIANTS: Any

FAR: int

HARDLY: float

def positive(name: Any, value: Any) -> Any: ...
