"""Docstrings of public names have numpydoc's sections, with parameters in order. Those of private functions have one line."""

import importlib.util
import inspect
import re
from itertools import takewhile
from pathlib import Path

from layout import sources
from loading import module_at, reference

from structperc.engine.explanation import Explanation
from structperc.engine.model_card import ModelCard
from structperc.estimators.structured import ProblemEstimator
from structperc.fitting.context import FitContext
from structperc.fitting.run import TrainingRun

ROOT = Path(__file__).parents[1]
SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}$", re.MULTILINE)
HEAD = re.compile(r"( *)((?:cdef )?class|c?p?def|async def)\b.*?(\w+)(?=[(:])")
VAGUE = re.compile(r"\b(?:Any|object|ndarray|dict|(?:list|tuple)(?!\[\w+\]))\b")
ENTRY = re.compile(r"^(\*{0,2}[A-Za-z]\w*(?:, \*{0,2}\w+)*)(?: : .*)?$", re.MULTILINE)


def is_function(value):
    return callable(value) and (inspect.isroutine(value) or type(value).__name__ == "cython_function_or_method")


def public():
    """{full name: value} of all public functions and classes, and of the methods that public classes introduce."""
    values, made = {}, reference()
    for module, names in made.names.items():
        for name, value in names.items():
            if made.home(module, name) != module or not (inspect.isclass(value) or is_function(value)):
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


def result_is_annotated(value):
    """Whether the annotation describes the result, as `float` or `list[str]` does: an array has a shape, a dict has keys."""
    annotation = getattr(value, "__annotations__", {}).get("return", "Any")
    return VAGUE.search(str(annotation)) is None


def result_is_told(value):
    """Whether the text before the sections has the result: "Returns a list of int", "shape (n,)", "Whether ..."."""
    text = SECTION.split(value.__doc__ or "")[0]
    return re.search(r"\b[Rr]eturns?\b|\bshape \(|^\W*Whether\b|lists of \(output", text, re.MULTILINE) is not None


def lacking(value):
    """The sections that a public name should have and has not."""
    has, wanted = sections(value.__doc__), []
    if signature(value) not in ([], ["*args"]) and not (inspect.isclass(value) and "Attributes" in has):
        wanted.append("Parameters")
    if is_function(value) and not result_is_annotated(value) and not result_is_told(value) and "Yields" not in has:
        wanted.append("Returns")
    if inspect.isclass(value) and not issubclass(value, BaseException) or is_function(value) and "." not in value.__qualname__:
        wanted.append("Examples")
    return [title for title in wanted if title not in has]


PUBLIC = public()


def test_parameters_are_documented_in_the_order_of_the_signature():
    texts = {name: sections(value.__doc__).get("Parameters") for name, value in PUBLIC.items()}
    orders = {name: (signature(PUBLIC[name]), documented(text)) for name, text in texts.items() if text is not None}

    assert len(orders) > 500
    assert {name: order for name, order in orders.items()
            if order[1] not in (order[0], [one for one in order[0] if not one.startswith("**")])} == {}


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


def test_methods_leave_the_parameters_of_fit_to_it():
    class Tagger(ProblemEstimator):
        """Tags."""

        def fit(self, X, y, *, sides: int = 2):
            """Trains.

            Parameters
            ----------
            X : list of sentences
            y, sides
                Tags, and on how many sides to look.
            """

        def count(self, X, k, sides=2, **other) -> int:
            """How many outputs are above a score.

            Parameters
            ----------
            k : float
                The score.
            **other
                Nothing.

            Notes
            -----
            O(n).
            """

        def size(self, y) -> int:
            """Number of tags."""

    assert documented(sections(Tagger.count.__doc__)["Parameters"]) == signature(Tagger.count)
    assert "X : list of sentences\n    As in `fit`.\nk : float\n    The score.\nsides\n    As in `fit`." in Tagger.count.__doc__
    assert list(sections(Tagger.count.__doc__)) == ["Parameters", "Notes"]
    assert inspect.cleandoc(Tagger.size.__doc__) == "Number of tags.\n\nParameters\n----------\ny\n    As in `fit`."


def docstrings(text):
    """(full name, whether it is a function, lines) of each docstring of a class or function, in Python or Cython."""
    heads, lines = [], iter(re.sub("'''(?s:.*?)'''", "", text).splitlines())         # without templates of exported modules
    for line in lines:
        start = line.lstrip()
        if not start or start[0] in "#)]}@":
            continue
        depth, head = len(line) - len(start), HEAD.match(line)
        heads = [one for one in heads if one[0] < depth]
        if head:
            heads.append((depth, head[3], "class" not in head[2]))
        elif start.startswith(('"""', 'r"""')):
            number = 1 if start.count('"""') == 2 else 2 + sum(1 for _ in takewhile(lambda one: '"""' not in one, lines))
            if heads:
                yield ".".join(name for _, name, _ in heads), heads[-1][2], number


def heads_of(text):
    """The full names of the classes and functions that a .pxd file declares."""
    heads = []
    for head in filter(None, map(HEAD.match, text.splitlines())):
        heads = [one for one in heads if one[0] < len(head[1])] + [(len(head[1]), head[3])]
        yield ".".join(name for _, name in heads)


def listed_names():
    """(module, full name) of what docs/api.md lists, the members of classes included, also those of private bases."""
    pages = module_at("docs/_extensions/reference.py")
    values = [value for names in pages.Reference().names.values() for value in names.values()]
    values += [FitContext, TrainingRun, Explanation, ModelCard]         # whose methods and attributes are public, as those of results
    paths = {module: path for module in pages.listed("Cython") for folder in ("", "plugins/")
             if (path := ROOT / f"{folder}{module.replace('.', '/')}.pxd").exists()}
    names = {(module, name) for module, path in paths.items() for name in heads_of(path.read_text(encoding="utf-8"))}
    for value in values:
        if not inspect.isclass(value):
            names.add((getattr(value, "__module__", ""), getattr(value, "__qualname__", "")))
            continue
        for base in value.__mro__:
            members = {member: getattr(one, "__func__", getattr(one, "fget", one)) for member, one in vars(base).items()}
            functions = [inspect.unwrap(one) for one in members.values() if inspect.isfunction(one)]
            names |= {(one.__module__, one.__qualname__) for one in functions}          # of another module too
            modules = {base.__module__, *(getattr(one, "__module__", None) for one in members.values())}
            names |= {(module, f"{base.__qualname__}.{one}") for module in modules for one in members if not re.match("_[^_]", one)}
    return names


def test_private_functions_have_one_line_of_docstring():
    listed = listed_names()
    needs = module_at("docs/_extensions/reference.py").NEEDS
    unseen = tuple(module for module, library in needs.items() if importlib.util.find_spec(library) is None)
    several = [f"{path.relative_to(ROOT)}: {name} has {number} lines" for module, paths in sources(ROOT).items() for path in paths
               for name, is_function, number in docstrings(path.read_text(encoding="utf-8"))
               if is_function and number > 1 and path.suffix == ".py" and not module.startswith(unseen) and (module, name) not in listed]

    assert not several, "\n".join(("docs/api.md lists none of these. Write one line; reasons and sources are comments.", *several))


def test_docstrings_of_python_and_cython_are_counted():
    one = 'cdef class A(B):\n    """One."""\n\n    cdef int f(\n        self, x\n    ) except -1:\n'
    text = one + '        """Two.\n\n        More.\n        """\ndef g(x: int):\n    return x\n"""No head."""\n'

    assert list(docstrings(text)) == [("A", False, 1), ("A.f", True, 4)]
