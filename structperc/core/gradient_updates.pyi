# Written by tests/typing/stubs.py from the compiled module.
from typing import Any

import structperc.core.updates

class HingeUpdate(structperc.core.updates.Update):
    def __init__(self, margin: Any = ...) -> None: ...
    def searches(self, loss_weight: Any) -> Any: ...
    def check(self, context: Any, parts: Any) -> Any: ...
    margin: Any
    needs: Any
    options_used: Any
    citation: str

class LogLossUpdate(structperc.core.updates.ScheduledUpdate):
    def __init__(self, step_size: Any = ..., decays: Any = ..., sized: Any = ...) -> None: ...
    def check(self, context: Any, parts: Any) -> Any: ...
    sized: Any
    when: str
    needs: Any
    citation: str

class LogisticUpdate(structperc.core.updates.ScheduledUpdate):
    def __init__(self, step_size: Any = ..., decays: Any = ...) -> None: ...
    def check(self, context: Any, parts: Any) -> Any: ...
    def check_order(self, context: Any, parts: Any) -> Any: ...
    when: str
    citation: str

class DirectUpdate(structperc.core.updates.ScheduledUpdate):
    def __init__(self, variant: str = ..., step_size: Any = ..., decays: Any = ..., width: Any = ...) -> None: ...
    def searches(self, loss_weight: Any) -> Any: ...
    def fingerprint(self) -> Any: ...
    variant: Any
    width: Any
    when: str
    needs: Any
    options_used: Any
    citation: str

LAFFERTY: str

RATLIFF: str

MCALLESTER: str

RENNIE: str

LOGISTIC_STEP: Any

def refuse_loss_weight(context: Any, rule: Any) -> Any: ...

def refuse_fixed_sizes(context: Any, parts: Any) -> Any: ...

def has_signs(outputs: Any) -> Any: ...
