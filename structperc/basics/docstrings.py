"""Docstrings completed at import: a class documents a parameter of several methods once, in its `fit`."""

import inspect
import re

HEAD = "Parameters\n----------\n"
SECTION = re.compile(r"^[A-Z]\w*(?: \w+)?\n-{3,}$", re.MULTILINE)
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)( : .*)?\n?((?:^(?:    .*)?\n?)*)", re.MULTILINE)


def describe_methods(cls) -> None:
    """Completes the docstrings of a class's own public methods by the parameters of its `fit`."""
    known = entries(parts_of(getattr(getattr(cls, "fit", None), "__doc__", None))[1])
    for name in vars(cls) if known else ():
        method = getattr(cls, name, None)
        if name[:1] != "_" and name != "fit" and inspect.isfunction(method) and method.__doc__:
            method.__doc__ = completed(method, known)


def completed(function, known) -> str:
    """The docstring of a function, with entries for parameters that only `fit` describes: what they are, "as in fit"."""
    text, written, rest = parts_of(function.__doc__)
    own, lines = entries(written), []
    for name, parameter in inspect.signature(function).parameters.items():
        name = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "") + name
        if name in own:
            lines += [own[name][0]] if own[name][0] not in lines else []
        elif name in known:
            lines.append(f"{name}{known[name][1]}\n    As in `fit`.")
    return "\n\n".join(filter(None, (text, HEAD + "\n".join(lines) if lines else "", rest)))


def parts_of(doc) -> tuple[str, str, str]:
    """A docstring before its parameters, these, and what follows."""
    doc = inspect.cleandoc(doc or "")
    heads = [*SECTION.finditer(doc)]
    start = heads[0].start() if heads else len(doc)
    own = bool(heads) and heads[0][0].startswith("Parameters\n")
    end = heads[1].start() if own and heads[1:] else len(doc) if own else start
    return doc[:start].rstrip(), doc[heads[0].end():end].strip() if own else "", doc[end:]


def entries(section) -> dict[str, tuple[str, str]]:
    """The text of the entry of each parameter in a section, and its type."""
    return {name: (entry[0].rstrip(), entry[2] or "") for entry in ENTRY.finditer(section) for name in entry[1].split(", ")}
