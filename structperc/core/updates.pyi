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
    def inner(self, a: Any, b: Any) -> Any: ...
    scores: Any
    gold: Any
    given_gold: Any
    y: Any
    x: Any
    loss: Any
    weight: Any
    n_visited: Any

class Update(structperc.core.component.Component):
    def searches(self, loss_weight: Any) -> Any: ...
    def check_order(self, context: Any, parts: Any) -> None: ...
    def step(self, trial: Trial) -> Any: ...
    when: str
    needs: Any

class PerceptronUpdate(Update):
    def check_order(self, context: Any, parts: Any) -> Any: ...
    options_used: Any
    citation: str

class PassiveAggressiveUpdate(Update):
    def __init__(self, variant: str = ..., margin: float = ..., C: Any = ...) -> None: ...
    def check(self, context: Any, parts: Any) -> Any: ...
    def fingerprint(self) -> Any: ...
    options_used: Any
    C: Any
    citation: str

class ScheduledUpdate(Update):
    def __init__(self, step_size: Any = ..., decays: bool = ...) -> None: ...
    def fingerprint(self) -> Any: ...
    step_size: Any
    decays: Any
    options_used: Any

class LatentUpdate(ScheduledUpdate):
    citation: str

COLLINS: str

LATENT_PERCEPTRON: str

CRAMMER: str

VARIANTS: Any

FAR: int

HARDLY: float

def searches_of(update: Update, loss_weight: Any) -> Any: ...

def rule_of(context: Any, parts: Any) -> Any: ...

def refuse_weights(context: Any, parts: Any) -> None: ...

def check_whole_steps(context: Any, parts: Any) -> None: ...

def hardly_weighs(update: Update, low: Any, high: Any, square: Any) -> Any: ...

def positive(name: Any, value: Any) -> Any: ...
