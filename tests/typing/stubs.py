"""Writes stubs beside public compiled modules, from signatures embedded by Cython, and beside packages that list names.

    python tests/typing/stubs.py

Each build runs it, and so does `make lint`. The modules are those that Python imports.
"""

import ast
import importlib
import inspect
import re
from pathlib import Path

from structperc.basics.signatures import TYPES, ClassSignature, parameters

ROOT = Path(__file__).parents[2]
HEAD = "# Written by tests/typing/stubs.py from the compiled module.\nfrom typing import Any\n"
OTHER = {"str": "str", "list": "list[Any]", "dict": "dict[Any, Any]", "tuple": "tuple[Any, ...]"}
PARTS = """adagrad argmax component exact features gradient_updates losses outputs row_features rows schedules structures threshold_features
           updates vector_features weights loop""".split()
LISTS = ("structperc.counterfactuals", "structperc.distributed", "structperc.estimators", "structperc.files", "structperc.files.datasets",
         "structperc.metrics", "structperc.pictures", "structperc.problems", "structperc.solvers", "structperc.testing",
         "structperc_kernels")
SOLVERS = sorted(path.stem for path in (ROOT / "structperc/solvers").glob("*.pyx"))

MODULES = [*(f"structperc.core.{name}" for name in PARTS), *(f"structperc.solvers.{name}" for name in SOLVERS),
           "structperc.fitting.locks"]


class Stub:
    """The text of a module's stub; `imports` are the modules whose classes it names."""

    def __init__(self, name):
        self.module, self.imports, self.lines = importlib.import_module(name), set(), []
        self.classes = {}
        for kind in vars(self.module).values():
            if isinstance(kind, type) and kind.__module__.startswith("structperc."):
                self.classes[kind.__name__] = kind
        for key, value in vars(self.module).items():
            if key[:2] == "__" or getattr(value, "__module__", name) != name:
                continue
            if isinstance(value, type):
                self.add_class(value)
            elif is_compiled(value):
                self.lines += [f"def {key}{self.signature(value)}: ...", ""]
            elif isinstance(value, (bool, int, float, str)):
                self.lines += [f"{key}: {type(value).__name__}", ""]
            elif inspect.isfunction(value) or not inspect.ismodule(value) and not key.startswith("_") and key not in self.classes:
                self.lines += [f"{key}: Any", ""]

    def __str__(self):
        imports = "".join(f"import {name}\n" for name in sorted(self.imports - {self.module.__name__}))
        head = HEAD.replace("import Any", "import Any, NamedTuple") if "(NamedTuple):" in "\n".join(self.lines) else HEAD
        return head + (f"\n{imports}" if imports else "") + "\n" + "\n".join(self.lines).rstrip() + "\n"

    def add_class(self, kind):
        if hasattr(kind, "_fields"):
            bases, body = "NamedTuple", [f"{name}: Any" for name in kind._fields]
        else:
            bases, body = ", ".join(self.named(base) for base in kind.__bases__ if base is not object), self.constructor(kind)
        for key, value in vars(kind).items():
            if key.startswith("_") or key in getattr(kind, "_fields", ()):
                continue
            if isinstance(value, property):
                body += ["@property", f"def {key}(self) -> Any: ..."]
                continue
            if isinstance(value, (classmethod, staticmethod)):
                given = [*inspect.signature(value.__func__).parameters.values()]
                first = "cls" if isinstance(value, classmethod) else ""
                body += [f"@{type(value).__name__}", f"def {key}({first}{self.listed(given[bool(first):], bool(first))}) -> Any: ..."]
            elif is_compiled(value):
                body.append(f"def {key}{self.signature(value)}: ...")
            else:
                body.append(f"{key}: {type(value).__name__ if type(value) in (bool, str) else 'Any'}")
        self.lines += [f"class {kind.__name__}{f'({bases})' if bases else ''}:", *(f"    {line}" for line in body or ["..."]), ""]

    def constructor(self, kind):
        """The line of `__init__`, if the class has its own."""
        made = vars(kind).get("__init__")
        if made is None:
            return []
        signature = inspect.signature(made) if is_compiled(made) else ClassSignature().__get__(None, kind)
        given = [one for one in signature.parameters.values() if one.name != "self"]
        inherited = ClassSignature().__get__(None, kind.__base__)
        if not given and inherited is not None and not inherited.parameters:
            return ["def __init__(self, *args: Any, **kwargs: Any) -> None: ..."]          # what `__cinit__` passes to subclasses
        return [f"def __init__(self{self.listed(given)}) -> None: ..."]

    def named(self, kind):
        if kind.__module__ == self.module.__name__ or kind.__module__ == "builtins":
            return kind.__name__
        self.imports.add(kind.__module__)
        return f"{kind.__module__}.{kind.__name__}"

    def signature(self, function):
        """The parameters and the result, with the types that the first line of the docstring declares."""
        line, _, _ = (function.__doc__ or "").partition("\n")
        inside, _, result = line.partition("(")[2].rpartition(")")
        declared = list(parameters(inside)) if line.partition("(")[0].rpartition(".")[2] == function.__name__ else None
        given = declared if declared is not None else list(inspect.signature(function).parameters.values())
        first = "self" if given and given[0].name == "self" else ""
        return f"({first}{self.listed(given[bool(first):], bool(first))}) -> {self.typed(result.removeprefix(' -> ').strip())}"

    def listed(self, given, after=True):
        """Parameters as a stub declares them."""
        found, keywords = [], False
        for one in given:
            stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
            if one.kind is one.KEYWORD_ONLY and not keywords:
                found.append("*")
            keywords |= one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
            kind = self.typed("" if one.annotation is one.empty else one.annotation)
            kind = f"{kind} | None" if one.default is None and kind != "Any" else kind
            found.append(f"{stars}{one.name}: {kind}{' = ...' if one.default is not one.empty else ''}")
        return "".join(f", {text}" for text in found) if after else ", ".join(found)

    def typed(self, text):
        text = str(text).strip("'\"")
        if text in TYPES.values() or text == "None":
            return text
        if text in self.classes:
            return self.named(self.classes[text])
        return OTHER.get(text, "Any")


def is_compiled(value):
    return type(value).__name__ in ("cython_function_or_method", "builtin_function_or_method", "method_descriptor")


def listing(package):
    """The stub of a package that imports its modules when their names are first used."""
    names = [(f"{package}.{module}", name) for module, names in importlib.import_module(package).MODULES.items() for name in names]
    if package == "structperc.estimators":      # those of plugins' packages are looked up at run time
        names += entries(package)
    lines = [f"from {module} import {name} as {name}\n" for module, name in sorted(names)]
    return "# Written by tests/typing/stubs.py from the table of names.\n" + "".join(lines)


def entries(group):
    """The addresses of an entry point group in pyproject.toml: of a build, nothing is installed yet."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition(f'[project.entry-points."{group}"]\n')[2]
    return re.findall(r'^\w+ = "([\w.]+):(\w+)"$', text.partition("\n[")[0], re.MULTILINE)


def main():
    for name, text in [*((package, listing) for package in LISTS), *((module, Stub) for module in MODULES)]:
        path, text = Path(importlib.import_module(name).__file__), str(text(name))
        ast.parse(text)
        path = path.with_name(f"{path.name.partition('.')[0]}.pyi")
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
