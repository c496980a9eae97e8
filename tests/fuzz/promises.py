"""Promises of the library for any call with hostile arguments, as functions that targets call."""

import numpy as np

from structperc.errors import StructPercError


class Hostility(Exception):
    """Raised by hostile objects. A library may let it pass."""


class BrokenPromise(Exception):
    """Raised if an execution breaks a promise of the library."""


REFUSALS = (StructPercError, Hostility)


def attempt(call, *arguments, also=(), **keywords):
    """Returns (True, the result) of a call, or (False, the error) if an expected error is raised. Other exceptions fail the execution."""
    try:
        return True, call(*arguments, **keywords)
    except (*REFUSALS, *also) as error:
        if isinstance(error, StructPercError) and not str(error).strip():
            raise BrokenPromise(f"a {type(error).__name__} without a sentence") from error
        return False, error


def expect(kept, promise):
    """Raises BrokenPromise unless a promise was kept."""
    if not kept:
        raise BrokenPromise(promise)


def plain(value):
    """Predictions as nested lists, for comparison by ==."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


# The calls that read an engine, by name. Their arguments are the engine, X, and the division of rows into examples.
READING = {
    "predict": lambda engine, X, **told: engine.predict(X, **told),
    "k best": lambda engine, X, **told: engine.predict(X, k=2, **told),
    "scored k best": lambda engine, X, **told: engine.predict_k_best(X, 2, **told),
    "proba": lambda engine, X, **told: engine.predict_proba(X, **told),
    "log probability": lambda engine, X, **told: engine.log_probability(X, engine.predict(X, **told), **told),
    "gaps": lambda engine, X, **told: engine.optimality_gaps(X, **told),
    "label scores": lambda engine, X, **told: engine.label_scores(X, **{name: value for name, value in told.items() if name != "allowed"}),
    "margins": lambda engine, X, **told: engine.margins(X, **told),
    "marginals": lambda engine, X, **told: engine.predict_marginals(X, **told),
    "max marginals": lambda engine, X, **told: engine.predict_marginals(X, kind="max", **told),
    "atom scores": lambda engine, X, **told: engine.atom_scores(X, **told),
    "explain": lambda engine, X, **told: engine.explain(X),
    "HTML": lambda engine, X, **told: engine._repr_html_(),
    "card": lambda engine, X, **told: str(engine.card()),
}
