"""Every public class has a signature, also compiled ones."""

import importlib
import inspect

import pytest
from test_layout import PUBLIC

from structperc.components import Argmax, Component, LabelOutputs, PassiveAggressiveUpdate, Rows, SumFeatures
from structperc.core.signatures import parameters


def public_classes():
    for name in sorted(PUBLIC):
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


@pytest.mark.parametrize(("text", "shown"), [
    ("", "()"), ("self, a", "(self, a)"),
    ("Py_ssize_t n, double[::1] s, *, str name='a, b'", "(n: 'int', s: 'double[::1]', *, name: 'str' = 'a, b')"),
    ("int *y, **options", "(*y: 'int', **options)"), ("x=(1, [2, 3]), limit=INFINITY", "(x=(1, [2, 3]), limit=Ellipsis)"),
])
def test_declarations_of_c_are_read(text, shown):
    assert str(inspect.Signature([*parameters(text)])) == shown
