"""Docstrings of public names have the sections of numpydoc, and list parameters in the order of the signature."""

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}$", re.MULTILINE)
ENTRY = re.compile(r"^(\*{0,2}[A-Za-z]\w*(?:, \*{0,2}\w+)*)(?: : .*)?$", re.MULTILINE)


def is_function(value):
    return callable(value) and (inspect.isroutine(value) or type(value).__name__ == "cython_function_or_method")


def reference_pages():
    """The module that writes the pages of the reference from the public list."""
    spec = importlib.util.spec_from_file_location("reference_pages", ROOT / "docs/_extensions/reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def public():
    """{full name: value} of all public functions and classes, and of the methods that public classes introduce."""
    values, reference = {}, reference_pages().Reference()
    for module, names in reference.names.items():
        for name, value in names.items():
            if reference.home(module, name) != module or not (inspect.isclass(value) or is_function(value)):
                continue
            values[f"{module}.{name}"] = value
            for member, method in vars(value).items() if inspect.isclass(value) else ():
                method = getattr(method, "__func__", method)
                introduced = not any(member in vars(base) for base in value.__mro__[1:])
                if not member.startswith("_") and is_function(method) and introduced:
                    values[f"{module}.{name}.{member}"] = method
    return values


def sections(doc):
    """{title: text} of the sections of a docstring."""
    parts = SECTION.split(inspect.cleandoc(doc or ""))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def signature(value):
    """The parameters that users pass, without annotations; those of a compiled class are in the first line of its docstring."""
    try:
        parameters = [*inspect.signature(value).parameters.values()]
    except ValueError:
        line = re.match(rf"{value.__name__}\((.*)\)$", (value.__doc__ or "").partition("\n")[0])
        names = re.findall(r"(\*{0,2}\w+)(?: *=[^,]*)?(?:,|$)", line[1]) if line else []
        return [name for name in names if name not in ("self", "*")]
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [stars.get(parameter.kind, "") + parameter.name for parameter in parameters if parameter.name not in ("self", "cls")]


def documented(text):
    return [name for line in ENTRY.findall(text) for name in line.split(", ")]


def returns_nothing(value):
    annotations = getattr(value, "__annotations__", {})
    return annotations.get("return", "unknown") in (None, "None")


def lacking(value):
    """The sections that a public name should have and has not."""
    has, wanted = sections(value.__doc__), []
    if signature(value) not in ([], ["*args"]) and not (inspect.isclass(value) and "Attributes" in has):
        wanted.append("Parameters")
    if is_function(value) and not returns_nothing(value) and "Yields" not in has:
        wanted.append("Returns")
    if inspect.isclass(value) and not issubclass(value, BaseException) or is_function(value) and "." not in value.__qualname__:
        wanted.append("Examples")
    return [title for title in wanted if title not in has]


PUBLIC = public()


@pytest.mark.parametrize("name", [name for name, value in PUBLIC.items() if "Parameters" in sections(value.__doc__)])
def test_parameters_are_documented_in_the_order_of_the_signature(name):
    value = PUBLIC[name]
    declared, listed = signature(value), documented(sections(value.__doc__)["Parameters"])

    assert listed in (declared, [parameter for parameter in declared if not parameter.startswith("**")])


def test_docstrings_have_their_sections():
    assert {name: titles for name, value in PUBLIC.items() if (titles := lacking(value))} == {}


def test_a_missing_section_and_a_wrong_order_are_noticed():
    def swapped(a, b):
        """Adds.

        Parameters
        ----------
        b, a : int
        """

    assert lacking(swapped) == ["Returns"]
    assert documented(sections(swapped.__doc__)["Parameters"]) == ["b", "a"] != signature(swapped) == ["a", "b"]
