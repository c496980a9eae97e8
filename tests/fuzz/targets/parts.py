"""Public methods of parts with arguments of other examples, other engines and other sizes: no call ends the interpreter."""

from __future__ import annotations

import inspect

import numpy as np

from fuzz import hostile, kinds
from fuzz.promises import REFUSALS
from structperc import components
from structperc.components import Component, Example, Rows, Structures, Trial

BARE = (TypeError, ValueError, IndexError, AttributeError, KeyError, OverflowError, ZeroDivisionError, StopIteration, NotImplementedError)
LEFT_OUT = {"clone", "raised"}         # make nothing of an argument
SIZES = (0, 1, 2, 3, 5, 10**5)


def made(random):
    """A part without a fit, of a drawn class of `structperc.components`."""
    kind = random.choice([kind for kind in vars(components).values() if inspect.isclass(kind) and issubclass(kind, Component)])
    wanted = len([p for p in inspect.signature(kind).parameters.values() if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD])
    return kind(*(random.choice((1, 2, 3, 7, 1000)) for _ in range(wanted)))


def drawn(random):
    """A part, and examples near it."""
    trained = random.choice(kinds.trained())
    trained.reset()
    rows = trained.engine.read(trained.kind.X, **trained.kind.told)
    parts = [part for _, part in trained.engine.parts_.items()]
    return random.choice(parts), [rows.example(random.randrange(rows.n_examples)) for _ in range(2)], parts


def argument(random, name, examples, parts):
    """A value for a parameter: often what its name asks for, with another size or of another example."""
    n = random.choice(SIZES)
    few = np.array([random.randrange(-2, 6) for _ in range(random.choice(SIZES[:-1]))], dtype=np.intc)
    x = random.choice([*examples, Rows(np.ones((2, random.choice((1, 2, 3, 9))))).example(0), Example(), None])
    if x is not None and random.random() < 0.1:
        x.n_atoms = random.choice((0, 1, 10**6, -1))
    pool = {
        "x": x, "z": x, "example": x, "gold": random.choice([1, 2, 40, 10**8, tuple(few.tolist()), few]),
        "y": random.choice([1, 2, 40, 10**8, -1, tuple(few.tolist()), few]),
        "rows": random.choice([examples[0].source, Rows(np.ones((3, 2)), np.array([0, 3]))]),
        "loss": next((part for part in parts if isinstance(part, components.Loss)), None), "parts": random.choice(parts),
        "trial": Trial(), "k": random.choice((0, 1, 2, 50)), "scale": random.choice((0.0, 1.0, -2.0, float("nan"))),
        "structures": Structures.ragged([few.tolist()]), "features": next((p for p in parts if isinstance(p, components.Features)), None),
    }
    if name in pool and random.random() < 0.85:
        return pool[name]
    if random.random() < 0.8:
        layout = next((part.layout for part in parts if isinstance(part, components.Features)), None)
        sizes = [n, *(filter(None, (layout.n_weights, layout.atoms_per_example)) if layout else ())]
        return np.full(random.choice([size for size in sizes if size < 10**7]), random.choice((0.0, 1.0, -1.0)))
    return random.choice([*pool.values(), *hostile.NUMBERS[:12], "a", [], {}])


def hostile_calls(random) -> bool:
    """One call of a method of a part. Whatever comes of it, the process goes on."""
    part, examples, parts = drawn(random)
    try:
        part = made(random) if random.random() < 0.3 else part
    except (*REFUSALS, *BARE):
        return False
    target = random.choice([part, part, part, *examples, examples[0].source])
    names = [name for name in dir(type(target)) if name[0] != "_" and name not in LEFT_OUT]
    called = False
    for _ in range(3):
        try:
            method = getattr(target, random.choice(names))
            if callable(method):
                wanted = [name for name, p in inspect.signature(method).parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
                method(*(argument(random, name, examples, parts) for name in wanted))
            called = True
        except (*REFUSALS, *BARE, MemoryError):
            pass
    return called
