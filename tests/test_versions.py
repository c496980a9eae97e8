"""What a version promises: stable names stay, deprecated ones go in time, news has fragments, and one file has the number."""

import ast
import re
from difflib import unified_diff
from pathlib import Path

import pytest
import stable_names
from layout import sources
from sklearn.base import BaseEstimator, clone

from structperc.basics.deprecation import deprecated
from structperc.version import __version__

ROOT = Path(__file__).parents[1]
WHAT_TO_DO = """What docs/api.md calls stable has changed. For a new name, or if the change is meant:
1. a name or parameter that goes stays for one minor version, with @deprecated(since, gone_in, instead) of structperc.basics.deprecation;
2. add a fragment to changes/ (CONTRIBUTING.md has the form);
3. run: python tests/stable_names.py"""


def test_stable_names_parameters_and_defaults_are_those_of_the_list():
    listed = stable_names.LIST.read_text().splitlines()
    changes = [line for line in unified_diff(listed, list(stable_names.lines()), n=0, lineterm="") if line[0] in "+-"][2:]

    assert not changes, "\n".join([WHAT_TO_DO, *changes])


@pytest.mark.parametrize("tier", ["Stable", "Provisional"])
def test_the_docstring_of_each_public_module_names_the_tier_of_the_page(tier):
    table = re.search(rf"^### {tier}\n(.*?)^##", stable_names.PAGE.read_text(), re.MULTILINE | re.DOTALL)[1]
    modules = re.findall(r"^\| `([\w.]+)` \|", table, re.MULTILINE)
    assert "structperc.solvers" in modules or "structperc.errors" in modules
    for module in modules:
        source, = (path for folder in (ROOT, ROOT / "plugins") for form in (".py", ".pyx", "/__init__.py")
                   if (path := folder / (module.replace(".", "/") + form)).exists())
        _, second = re.search(r'"""(.*?)"""', source.read_text(), re.DOTALL)[1].split("\n\n")[:2]
        assert second.startswith(f"{tier}: "), f"{source}: the second paragraph of the docstring begins with {tier}, as docs/api.md has it"


def number(version) -> tuple:
    """(major, minor) of a version."""
    return tuple(map(int, re.match(r"(\d+)\.(\d+)", version).groups()))


def deprecations(text):
    """(since, gone_in) of each use of `deprecated` in a source."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "deprecated":
            yield tuple(argument.value for argument in node.args[:2])


def overdue(text, version) -> list:
    return [f"{gone_in}, the end of what is deprecated since {since}, has come or is too soon" for since, gone_in in deprecations(text)
            if number(gone_in) <= max(number(version), number(since))]


def test_what_is_deprecated_goes_in_its_version():
    paths = [path for group in sources(ROOT).values() for path in group if path.suffix == ".py" and "deprecated(" in path.read_text()]
    assert {str(path): late for path in paths if (late := overdue(path.read_text(), __version__))} == {}

    example = '@deprecated("0.2", "0.4", "call g")\ndef f(): pass\n@deprecated("0.3", "0.3", "call h", parameter="a")\ndef g(a): pass\n'
    assert [len(overdue(example, version)) for version in ("0.2.0", "0.3.7", "0.4.0.dev0", "1.0.0")] == [1, 1, 2, 2]


def test_what_is_deprecated_warns_its_users_and_nobody_else():
    @deprecated("0.2", "0.4", "call total")
    def add_up(numbers):
        return sum(numbers)

    @deprecated("0.2", "0.4", "leave it out", parameter="start")
    def total(numbers, start=0):
        return sum(numbers, start)

    with pytest.warns(FutureWarning, match=r"add_up is deprecated since version 0\.2 and will be gone in 0\.4: call total\.") as caught:
        assert add_up([1, 2]) == 3
    assert caught[0].filename == __file__
    for wrong in (lambda: total([1], 2), lambda: total([1], start=2)):
        with pytest.warns(FutureWarning, match="'start' of .*total is deprecated"):
            assert wrong() == 3
    class Model(BaseEstimator):
        @deprecated("0.2", "0.4", "leave it out", parameter="start")
        def __init__(self, start=0):
            self.start = start

    with pytest.warns(FutureWarning, match="'start' of .*__init__ is deprecated"):
        Model(start=2)
    clone(Model())                                  # passes all parameters; a warning would be an error here
    assert total([1, 2]) == 3


def test_every_fragment_of_news_is_of_a_kind_and_is_a_sentence():
    kinds = re.findall(r'^\[\[tool.towncrier.type\]\]\ndirectory = "(\w+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    for path in (ROOT / "changes").iterdir():
        if path.name != ".template.md":
            assert re.fullmatch(rf"\+[\w-]+\.({'|'.join(kinds)})\.md", path.name), f"{path}: expected +WORDS.KIND.md, KIND one of {kinds}"
            assert path.read_text().rstrip().endswith((".", "`")), path
