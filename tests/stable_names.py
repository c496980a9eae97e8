"""What docs/api.md calls stable, as text: names with their parameters and defaults, hooks, commands with their flags, the model file.

    python tests/stable_names.py        # writes tests/stable.txt
"""

import functools
import importlib
import inspect
import re
from pathlib import Path

from structperc.basics.signatures import class_signature
from structperc.cli.parser import build
from structperc.engine.model_file.saving import FORMAT_NUMBER
from structperc.fitting import hookspecs

PAGE, LIST = Path(__file__).parents[1] / "docs/api.md", Path(__file__).parent / "stable.txt"


def stable_modules() -> dict:
    """{module: the names in it that are provisional} of the table below "Stable"."""
    table = PAGE.read_text(encoding="utf-8").partition("### Stable\n")[2].partition("### Provisional\n")[0]
    rows = re.findall(r"^\| `([\w.]+)` \| (.*) \|$", table, re.MULTILINE)
    return {module: set(re.findall(r"`(\w+)`", text.partition("Provisional:")[2])) for module, text in rows}


def lines():
    names = {f"{module}.{name}": getattr(importlib.import_module(module), name) for module, provisional in stable_modules().items()
             for name in sorted(set(importlib.import_module(module).__all__) - provisional)}
    classes = {value: members(value) for value in names.values() if inspect.isclass(value)}
    for name, value in names.items():
        yield name + signature_text(value)
        if value in classes:            # without what a stable base has too
            inherited = {member for base in value.__mro__[1:] for member in classes.get(base, ())}
            yield from (f"{name}.{member}" for member in classes[value] if member not in inherited)
    yield from sorted(f"hook {name}{signature_text(value)}" for name, value in vars(hookspecs).items() if name.startswith("structperc_"))
    for name, command in sorted(build().commands.items()):
        for action in command._actions:
            flags, default = "|".join(action.option_strings) or action.dest, f" = {action.default!r}" if action.option_strings else ""
            if "--help" not in flags:
                yield f"command {name} {flags}{' (needed)' if action.required else ''}{default}"
    yield f"model file: format {FORMAT_NUMBER}"


def members(cls) -> list:
    """The methods and attributes of a class that structperc has written."""
    own = {name: value for base in reversed(cls.__mro__) for name, value in vars(base).items() if not name.startswith("_")
           and base.__module__.startswith("structperc")}
    return [name + cached_text(value) for name, value in sorted(own.items())]


def signature_text(value) -> str:
    """The parameters of what can be called, with defaults and without annotations."""
    value = getattr(value, "__func__", value)
    if inspect.isclass(value):
        signature = class_signature(value)
    elif callable(value):
        signature = inspect.signature(value)
    else:
        return ""
    empty = inspect.Parameter.empty
    return str(signature.replace(parameters=[one.replace(annotation=empty) for one in signature.parameters.values()],
                                 return_annotation=empty))


cached_text = functools.cache(signature_text)       # of methods that several classes inherit


if __name__ == "__main__":
    LIST.write_text("\n".join(lines()) + "\n", encoding="utf-8")
