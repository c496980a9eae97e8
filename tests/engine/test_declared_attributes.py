"""Every declared attribute of a base class has the same effect, whether a class body or `__init__` sets it."""

import inspect
import re

import numpy as np
import pytest
from plain import Engine
from subsets import Subsets

from structperc import hookimpl
from structperc.components import (
    Argmax,
    BlockFeatures,
    ClassOutputs,
    Features,
    LargestArgmax,
    Loss,
    OnlineTrainer,
    Outputs,
    PerceptronUpdate,
    PrimalWeights,
    Reader,
    Trainer,
    Update,
    Weights,
    ZeroOneLoss,
)
from structperc.errors import PluginError

X = np.random.default_rng(0).normal(size=(30, 4))
Y = (X @ np.random.default_rng(1).normal(size=(4, 3))).argmax(axis=1)
BASES = {"reader": Reader, "outputs": Outputs, "features": Features, "weights": Weights, "loss": Loss, "argmax": Argmax,
         "update": Update, "trainer": Trainer}
MADE = {"reader": (Reader, ()), "outputs": (ClassOutputs, ()), "features": (BlockFeatures, (3, 4, True)), "weights": (PrimalWeights, ()),
        "loss": (ZeroOneLoss, ()), "argmax": (LargestArgmax, (3,)), "update": (PerceptronUpdate, ()), "trainer": (OnlineTrainer, ())}
VALUES = {"partial_gold": True, "default_loss": "zero-one", "when": "always", "largest": 1.0}
WORK = {"n_weights", "layout", "n_labels", "n_visited", "features", "outputs", "linear"}      # the bundled classes below compute these


def declared(base):
    """The names under the heading Attributes of a docstring, one or several in front of a colon."""
    text = re.split(r"\nAttributes\n-+\n", inspect.cleandoc(base.__doc__) + "\nAttributes\n---\n")[1]
    names = re.findall(r"^(\w[\w, ]*) : ", text, flags=re.MULTILINE)
    return [name for line in names for name in line.split(", ")]


ATTRIBUTES = [(kind, name) for kind, base in BASES.items() for name in declared(base) if name not in WORK]


def started(kind, made):
    """The part of this kind in an engine trained with `made()`."""
    hook = {f"structperc_{kind}": hookimpl(lambda self, context: made())}
    return getattr(Engine("multiclass", plugins=[type("P", (), hook)()]).fit(X, Y).parts_, kind)


def test_the_list_of_attributes_is_read():
    assert {("outputs", "partial_gold"), ("argmax", "exact"), ("trainer", "online")} <= set(ATTRIBUTES)
    assert {kind for kind, _ in ATTRIBUTES} == set(BASES) - {"reader", "features"}


@pytest.mark.parametrize(("kind", "name"), ATTRIBUTES)
def test_a_class_body_sets_what_the_constructor_sets(kind, name):
    base, arguments = MADE[kind]
    value = VALUES.get(name, getattr(base(*arguments), name))

    def assign(self, *given):
        base.__init__(self, *given)
        setattr(self, name, value)

    if name == "partial_gold":
        further = {"agrees": lambda self, gold, y, x: True, "complete": lambda self, gold, scores, x: int(np.argmax(scores)) + 1}
    else:
        further = {}
    by_body = type("Body", (base,), {name: value, **further})
    by_constructor = type("Constructor", (base,), {"__init__": assign, **further})
    try:
        parts = [started(kind, lambda made=made: made(*arguments)) for made in (by_body, by_constructor)]
    except (AttributeError, PluginError) as error:
        pytest.fail(f"{kind}.{name}: {error}")

    assert getattr(parts[0], name) == getattr(parts[1], name) == value
    field = next((vars(known)[name] for known in base.__mro__ if name in vars(known)), None)
    if type(field).__name__ == "getset_descriptor":
        assert field.__get__(parts[0]) == field.__get__(parts[1]) == value


@pytest.mark.parametrize("where", ["body", "constructor", "start"])
def test_partial_gold_is_completed_wherever_it_is_set(where):
    class Partial(Outputs):
        if where == "body":
            partial_gold = True

        def __init__(self):
            if where == "constructor":
                self.partial_gold = True

        def start(self, parts, context):
            super().start(parts, context)
            if where == "start":
                self.partial_gold = True

        def agrees(self, gold, y, x):
            return set(gold) <= set(y)

        def complete(self, gold, scores, x):
            return tuple(sorted({*gold, *np.flatnonzero(scores > 0).tolist()}))

    class Problem(Subsets):
        @hookimpl
        def structperc_outputs(self, context):
            return Partial()

    blocks, gold = [np.eye(2)] * 4, [[0], [0], [], [0]]
    engine = Engine(Problem(), loss="zero-one", epochs=2).fit(blocks, gold)

    assert engine.mistakes_ == [1, 0]
    with pytest.raises(PluginError, match="loss='hamming' compares two sets of atoms, but a gold output of Partial may leave some open"):
        Engine(Problem(), loss="hamming").fit(blocks, gold)


@pytest.mark.parametrize(
    ("kind", "name", "value", "sentence"),
    [
        ("features", "n_blocks", 7, r"Mine.n_blocks is set to 7; declare it by shape\(n_weights"),
        ("features", "atoms_per_example", 9, "Mine.atoms_per_example is set to 9; declare it by shape"),
        ("features", "row_width", 99, "Mine.row_width is set to 99; declare it by shape"),
        ("outputs", "n_labels", 9, "Mine.n_labels is set to 9; declare it by find_labels"),
        ("outputs", "code_width", 2, "Mine.code_width is set to 2; declare it by a base class"),
        ("outputs", "check_gold", None, r"Mine.check_gold is set to None; declare it by encode\(y, rows\) or admissible"),
        ("outputs", "picture", None, r"Mine.picture is set to None; declare it by display\(\)"),
        ("outputs", "conditional", "x", r"Mine.conditional is set to 'x'; declare it by second_stage\(\)"),
        ("features", "rows_per_example", 1, "Mine.rows_per_example is set to 1; declare it by shape"),
        ("features", "constrained", True, r"Mine.constrained is set to True; declare it by project\(w, x\)"),
        ("features", "absorbs_shift", True, "Mine.absorbs_shift is set to True; declare it by rescaled"),
        ("features", "sparse_vector", None, r"Mine.sparse_vector is set to None; declare it by vector\(x, c, sparse\)"),
        ("reader", "n_keys", 2, r"Mine.n_keys is set to 2; declare it by input_columns\(\)"),
        ("reader", "input_names", None, r"Mine.input_names is set to None; declare it by input_columns\(\)"),
    ],
)
def test_sizes_are_declared_by_a_call(kind, name, value, sentence):
    base, arguments = MADE[kind]
    with pytest.raises(PluginError, match=sentence):
        started(kind, lambda: type("Mine", (base,), {name: value})(*arguments))


@pytest.mark.parametrize(("kind", "name"), [("features", "constrained"), ("features", "n_blocks"), ("outputs", "ordered"),
                                            ("reader", "codes")])
def test_a_constructor_cannot_set_them_either(kind, name):
    base, arguments = {**MADE, "outputs": (Outputs, ())}[kind]

    class Mine(base):
        def __init__(self, *given):
            super().__init__(*given)
            setattr(self, name, 1)

    with pytest.raises(PluginError, match=f"Mine.{name} is set to 1"):
        started(kind, lambda: Mine(*arguments))
