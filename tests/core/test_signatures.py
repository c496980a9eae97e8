"""Every public class has a signature, also compiled ones."""

import importlib.util
import inspect

import pytest
from test_layout import NEEDED, PUBLIC

from structperc.basics.signatures import class_signature, parameters
from structperc.components import Argmax, Component, LabelOutputs, PassiveAggressiveUpdate, Rows, SumFeatures


def public_classes():
    for name in sorted(PUBLIC):
        if importlib.util.find_spec(NEEDED.get(name, "structperc")) is None:
            continue
        module = importlib.import_module(name)
        for key in getattr(module, "__all__", None) or dir(module):
            kind = getattr(module, key)
            if isinstance(kind, type) and key[:1] != "_" and kind.__module__.startswith("structperc"):
                yield kind


def test_every_public_class_has_a_signature():
    without = []
    for kind in public_classes():
        try:
            inspect.signature(kind)
        except ValueError:
            without.append(kind.__name__)
    assert without == []


def test_signatures_of_compiled_classes_are_those_of_their_constructors():
    assert str(inspect.signature(PassiveAggressiveUpdate)) == "(variant: 'str' = 'pa', margin: 'float' = 1.0, C=1.0)"
    assert str(inspect.signature(Rows)) == "(X, offsets=None, feature_names=None)"
    assert str(inspect.signature(SumFeatures)) == "(*parts)"
    assert str(inspect.signature(LabelOutputs)) == str(inspect.signature(Component)) == "()"
    with pytest.raises(TypeError):
        inspect.signature(Rows).bind()


def test_a_constructor_in_python_goes_before_the_compiled_one():
    class Mine(Argmax):
        def __init__(self, limit, *, fast=False):
            self.limit = limit

    class Further(Mine):
        pass

    for kind in (Mine, Further):
        assert str(inspect.signature(kind)) == "(limit, *, fast=False)"
    assert inspect.signature(Mine(3).k_best).parameters["k"].name == "k"


def test_signatures_of_subclasses_rest_on_no_release_of_python():
    """Before 3.11.4 inspect prefers an inherited `__new__` to `__init__`: where both are Python code, the class must say its own."""
    silent = []
    for kind in public_classes():
        code = {name for name in ("__new__", "__init__") if inspect.isfunction(inspect.getattr_static(kind, name)) or
                isinstance(inspect.getattr_static(kind, name), staticmethod)}
        if len(code) == 2 and not isinstance(getattr(kind, "__signature__", None), inspect.Signature):
            silent.append(kind.__name__)
        elif code and not hasattr(kind, "_fields") and not kind.__flags__ & 1 << 20:        # abstract classes are called by nobody
            assert str(class_signature(kind)) == str(inspect.signature(kind)), kind
            assert str(class_signature(type("Mine", (kind,), {}))) == str(inspect.signature(kind)), kind
    assert silent == []


def test_the_nearest_constructor_counts():
    class Base:
        def __new__(cls, *unnamed, **parameters):
            return super().__new__(cls)

    class Mine(Base):
        def __init__(self, size, *, fast=False):
            self.size = size

    class Again(Mine):
        def __new__(cls, size=3, **parameters):
            return super().__new__(cls, size)

    assert [str(class_signature(kind)) for kind in (Base, Mine, type("Late", (Mine,), {}), Again)] == [
        "(*unnamed, **parameters)", "(size, *, fast=False)", "(size, *, fast=False)", "(size=3, **parameters)"]


@pytest.mark.parametrize(("text", "shown"), [
    ("", "()"), ("self, a", "(self, a)"),
    ("Py_ssize_t n, double[::1] s, *, str name='a, b'", "(n: 'int', s: 'double[::1]', *, name: 'str' = 'a, b')"),
    ("int *y, **options", "(*y: 'int', **options)"), ("x=(1, [2, 3]), limit=INFINITY", "(x=(1, [2, 3]), limit=Ellipsis)"),
])
def test_declarations_of_c_are_read(text, shown):
    assert str(inspect.Signature([*parameters(text)])) == shown
