"""Pages of the reference, from the table of docs/api.md: one for each listed module, and one for each of its classes."""

import contextlib
import importlib
import importlib.util
import inspect
import re
import types
from pathlib import Path

try:
    from sphinx.ext.autodoc.mock import mock
except ImportError:                     # tests of the public list run without Sphinx
    mock = None

API = Path(__file__).parents[1] / "api.md"

# Libraries that a whole module needs. Where one is missing, Sphinx puts mocks in its place; without Sphinx the module is left out.
NEEDS = {"structperc.jax": "jax", "structperc.torch": "torch"}

# Methods and attributes that a class page lists first, by use; all others follow.
USES = {
    "Train": ("fit", "partial_fit", "set_params", "get_params", "stop", "status_", "mistakes_", "history_", "n_iter_"),
    "Predict": ("predict", "predict_proba", "predict_log_proba", "predict_marginals", "predict_interval", "decision_function",
                "latent_score", "rank", "score", "margins", "label_scores", "optimality_gaps"),
    "Explain": ("explain", "card", "citation"),
    "Save and export": ("save", "load", "export"),
}
# Classes and functions that a module page lists first, by task; all others follow.
TASKS = {
    "Ordered labels": ("CuSumRank", "PRank", "IntervalPA", "SVOR", "OrdinalConformal", "ScoreCard"),
    "Sentences": ("SequenceTagger", "DependencyParser"),
    "Rankings": ("RankingSVM", "LatentRanker"),
    "Classes and other structures": ("StructuredClassifier", "StructuredEstimator"),
    "Problems": ("Outputs", "Features", "Argmax"),
    "Losses and update rules": ("Loss", "Update"),
    "Weights and training": ("Weights", "Trainer"),
}


def listed(title):
    """The modules in the first column of a section's table, in order."""
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", API.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[1]
    return re.findall(r"^\| `([\w.]+)` \|", section, re.MULTILINE)


def public_names(module):
    """The values of the names in `__all__`, or of the module's own names without an underscore. No modules."""
    names = getattr(module, "__all__", None) or [
        name for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__]
    return {name: getattr(module, name) for name in names if not inspect.ismodule(getattr(module, name))}


class Reference:
    """The public names of each listed module, and where each has its entry: there, or in a listed module below it or that defines it.

    Names of `structperc` itself have an entry there, and some have another one."""

    def __init__(self):
        missing = {module: library for module, library in NEEDS.items() if importlib.util.find_spec(library) is None}
        with mock([*missing.values()]) if mock else contextlib.nullcontext():
            self.names = {name: public_names(importlib.import_module(name)) for name in listed("Python") if mock or name not in missing}
        self.classes = {value for names in self.names.values() for value in names.values() if inspect.isclass(value)}

    def home(self, module, name):
        value = self.names[module][name]
        below = [other for other in self.names if other.startswith(f"{module}.") and module != "structperc"]
        own = getattr(value, "__module__", "")
        nearer = below if own.startswith("structperc.") else [own]                  # of an estimator of a plugin's package
        return next((other for other in nearer if self.names.get(other, {}).get(name) is value), module)

    def pages(self):
        """The text of each page, by its path below the folder of the reference."""
        for module, names in self.names.items():
            yield f"{module}.rst", self.page(module)
            for name, value in names.items():
                if directive(value) == "autoclass" and self.home(module, name) == module:
                    yield f"{module}/{name}.rst", self.class_page(module, name)

    def page(self, module):
        """What the module is for, all names with their first sentences, then functions, exceptions and data in full."""
        homes = {name: self.home(module, name) for name in self.names[module]}
        shown = {name: home for name, home in homes.items() if directive(self.names[module][name]) != "autodata"}
        classes = [name for name, home in homes.items() if home == module and directive(self.names[module][name]) == "autoclass"]
        lines = [module, "=" * len(module), "", f".. automodule:: {module}", "   :no-members:", "", ".. currentmodule:: None", ""]
        lines += summaries(shown, TASKS, lambda name: f"{shown[name]}.{name}") + [f".. currentmodule:: {module}", ""]
        for name, value in self.names[module].items():
            if homes[name] == module and name not in classes:
                lines += [f".. {directive(value)}:: {name}", *self.options(value), ""]
        if classes:
            lines += [".. toctree::", "   :hidden:", "", *(f"   {module}/{name}" for name in classes), ""]
        return "\n".join(lines)

    def class_page(self, module, name):
        """A class: its methods and attributes by use, then in full, and the pages of the gallery that use it."""
        value = self.names[module][name]
        members = [member for member in dir(value) if not member.startswith("_") and documented_here(getattr(value, member))]
        lines = [name, "=" * len(name), "", ".. currentmodule:: None", ""]
        if "fit" in members:
            lines += summaries(members, USES, lambda member: f"{module}.{name}.{member}")
        lines += [f".. currentmodule:: {module}", "", f".. autoclass:: {name}", *self.options(value), ""]
        return "\n".join([*lines, f".. minigallery:: {module}.{name}", "   :add-heading: Gallery", ""])

    def targets(self):
        """The entry of each text: a module, a full name, or a name with a capital that has one entry."""
        full = {f"{module}.{name}": f"{self.home(module, name)}.{name}" for module, names in self.names.items() for name in names}
        short = {}
        for name, entry in full.items():
            short.setdefault(name.rpartition(".")[2], set()).add(entry)
        return {**{name: name for name in self.names}, **full,
                **{name: min(entries) for name, entries in short.items() if len(entries) == 1 and name[0].isupper() and "_" not in name}}

    def options(self, value):
        """Shows members of private base classes; not those of other libraries, nor of classes with their own entry."""
        if not inspect.isclass(value):
            return []
        shown = ["   :show-inheritance:"] if any(base in self.classes for base in value.__bases__) else []
        others = [base.__name__ for base in value.__mro__[1:] if base in self.classes or not base.__module__.startswith("structperc")]
        return [*shown, f"   :inherited-members: {', '.join(others)}"]


def summaries(names, groups, full):
    """Tables of names with their first sentences, under the captions of the groups that have some."""
    rest = [name for name in names if not any(name in group for group in groups.values())]
    chosen = {caption: [name for name in group if name in names] for caption, group in groups.items()}
    filled = {caption: group for caption, group in {**chosen, "More": rest}.items() if group}
    lines = []
    for caption, group in filled.items():
        lines += [f".. rubric:: {caption}", ""] if len(filled) > 1 else []
        lines += [".. autosummary::", "   :nosignatures:", "", *(f"   ~{full(name)}" for name in group), ""]
    return lines


def documented_here(member) -> bool:
    return bool(getattr(member, "__doc__", None)) and not str(getattr(member, "__module__", "")).startswith("sklearn.")


def directive(value):
    if inspect.isclass(value):
        return "autoexception" if issubclass(value, BaseException) else "autoclass"
    return "autofunction" if inspect.isroutine(value) or type(value).__name__ == "cython_function_or_method" else "autodata"


def write(app):
    """Writes the pages that have changed, and removes those of modules that are no longer listed."""
    folder = Path(app.srcdir) / "docs/reference"
    app.reference = Reference()
    pages = {folder / path: text for path, text in app.reference.pages()}
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in set(folder.rglob("*.rst")) - set(pages):
        path.unlink()


def skip(app, what, name, member, skipped, options):
    """Leaves out what only scikit-learn documents, such as requests for metadata."""
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
