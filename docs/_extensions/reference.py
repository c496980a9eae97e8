"""Pages of the reference, from the table of docs/api.md: one for each listed module, with every public name on it."""

import importlib
import inspect
import re
import types
from pathlib import Path

API = Path(__file__).parents[1] / "api.md"


def listed(title):
    """The modules in the first column of a section's table, in order."""
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", API.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[1]
    return re.findall(r"^\| `([\w.]+)` \|", section, re.MULTILINE)


def public_names(module):
    """What the names in `__all__` stand for; without it those that the module itself defines, without an underscore. No modules."""
    names = getattr(module, "__all__", None) or [
        name for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__]
    return {name: getattr(module, name) for name in names if not inspect.ismodule(getattr(module, name))}


class Reference:
    """The public names of each listed module, and where each has its entry: there, or in a listed module below it.

    Names of `structperc` itself have an entry there, and perhaps another one."""

    def __init__(self):
        self.names = {name: public_names(importlib.import_module(name)) for name in listed("Python")}
        self.classes = {value for names in self.names.values() for value in names.values() if inspect.isclass(value)}

    def home(self, module, name):
        below = (other for other in self.names if other.startswith(f"{module}.") and module != "structperc")
        return next((other for other in below if self.names[other].get(name) is self.names[module][name]), module)

    def page(self, module):
        """What the module is for, its functions and classes with their first sentences, then all names in full."""
        homes = {name: self.home(module, name) for name in self.names[module]}
        shown = (f"   ~{home}.{name}" for name, home in homes.items() if directive(self.names[module][name]) != "autodata")
        lines = [module, "=" * len(module), "", f".. automodule:: {module}", "   :no-members:", "", ".. currentmodule:: None", "",
                 ".. autosummary::", "   :nosignatures:", "", *shown, "", f".. currentmodule:: {module}", ""]
        for name, value in self.names[module].items():
            if homes[name] == module:
                lines += [f".. {directive(value)}:: {name}", *self.options(value), ""]
        return "\n".join(lines)

    def targets(self):
        """The entry that each text stands for: a module, a full name, or a name with a capital that has one entry."""
        full = {f"{module}.{name}": f"{self.home(module, name)}.{name}" for module, names in self.names.items() for name in names}
        short = {}
        for name, entry in full.items():
            short.setdefault(name.rpartition(".")[2], set()).add(entry)
        return {**{name: name for name in self.names}, **full,
                **{name: min(entries) for name, entries in short.items() if len(entries) == 1 and name[0].isupper() and "_" not in name}}

    def options(self, value):
        """Members of base classes are shown where these are private; not those of other libraries or with an entry of their own."""
        if not inspect.isclass(value):
            return []
        shown = ["   :show-inheritance:"] if any(base in self.classes for base in value.__bases__) else []
        others = [base.__name__ for base in value.__mro__[1:] if base in self.classes or not base.__module__.startswith("structperc")]
        return [*shown, f"   :inherited-members: {', '.join(others)}"]


def directive(value):
    if inspect.isclass(value):
        return "autoexception" if issubclass(value, BaseException) else "autoclass"
    return "autofunction" if inspect.isroutine(value) or type(value).__name__ == "cython_function_or_method" else "autodata"


def write(app):
    """Writes the pages that have changed, and removes those of modules that are no longer listed."""
    folder = Path(app.srcdir) / "docs/reference"
    folder.mkdir(exist_ok=True)
    app.reference = Reference()
    pages = {folder / f"{module}.rst": app.reference.page(module) for module in app.reference.names}
    for path, text in pages.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in set(folder.glob("*.rst")) - set(pages):
        path.unlink()


def skip(app, what, name, member, skipped, options):
    """Leaves out what scikit-learn alone documents, such as requests for metadata."""
    return True if str(getattr(member, "__module__", "")).startswith("sklearn.") else None


def bases(app, name, kind, options, shown):
    """Shows those base classes that have an entry of their own."""
    shown[:] = [base for base in shown if base in app.reference.classes]


def signature(app, what, name, value, options, arguments, returned):
    """Leaves the types of C out of the arguments of compiled functions."""
    if arguments and not isinstance(value, types.FunctionType | types.MethodType):
        return re.sub(r"\b[\w.]+(?:\[[^\]]*\])? (?=\w+ *[,=)])", "", arguments), None
    return None


def setup(app):
    app.connect("builder-inited", write)
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-bases", bases)
    app.connect("autodoc-process-signature", signature, priority=400)     # before numpydoc
    return {"parallel_read_safe": True}
