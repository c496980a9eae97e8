"""Pages of the reference, from the table of docs/api.md: one for each listed module, and one for each of its classes."""

import contextlib
import fnmatch
import functools
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

LONGEST = 79            # characters of a class's parameters that stand beside its name

# Methods and properties of an estimator or an engine by use, in this order; all others follow.
USES = {
    "Train": ("fit", "partial_fit", "calibrate", "partial_calibrate", "stop"),
    "Predict": ("predict", "predict_*", "staged_predict", "transform", "rank", "decision_function", "latent_score", "threshold_scores",
                "atom_scores", "label_scores", "log_probability", "margins", "optimality_gaps", "loss", "score", "evaluate", "attachment"),
    "Explain": ("explain", "card", "top_*", "points", "citation"),
    "Save": ("save", "load", "export", "to_*", "from_*"),
}
# Classes and functions that a module page lists first, by task; all others follow.
TASKS = {
    "Ordered labels": ("CuSumRank", "PRank", "IntervalPA", "SVOR"),
    "Sentences": ("SequenceTagger", "SegmentTagger", "DependencyParser"),
    "Rankings": ("RankingSVM", "LatentRanker", "RankingScorer"),
    "Classes, pairs, graphs and decisions": ("StructuredClassifier", "PairMatcher", "PairClusterer", "GraphLabeler", "PathFinder",
                                             "DecisionMaker", "StructuredEstimator"),
    "Trees": ("AdaBoostOR", "ORStump", "BinaryReduction", "RankerClassifier", "LeafFeatures"),
    "Sets and points": ("OrdinalConformal", "StructureConformal", "StructureSet", "ScoreCard"),
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
        for caption, group in grouped(shown, TASKS, "").items():
            lines += [f".. rubric:: {caption}", ""] if caption else []
            lines += [".. autosummary::", "   :nosignatures:", "", *(f"   ~{shown[name]}.{name}" for name in group), ""]
        lines += [f".. currentmodule:: {module}", ""]
        for name, value in self.names[module].items():
            if homes[name] == module and name not in classes:
                lines += [f".. {directive(value)}:: {name}", ""]
        below = [f"{other.rpartition('.')[2]} <{other}>" for other in self.names if other.rpartition(".")[0] == module != "structperc"]
        if below or classes:
            below += [f"{module}/{name}" for name in classes]
            lines += [".. toctree::", "   :hidden:", "", *(f"   {entry}" for entry in below), ""]
        return "\n".join(lines)

    def class_page(self, module, name):
        """A class: what it is, an example, its parameters. Then its members by use, and the pages of the gallery that use it."""
        value = self.names[module][name]
        lines = [name, "=" * len(name), "", f".. currentmodule:: {module}", "", f".. autoclass:: {name}", "   :no-members:"]
        members = self.members(value)
        inherits = "fit" not in members and any(base in self.classes for base in value.__bases__)
        lines += ["   :show-inheritance:"] if inherits else []
        for caption, group in grouped(members, USES if "fit" in members else {}, "Methods and attributes").items():
            lines += ["", caption, "-" * len(caption), "", *(f".. {directive_of(value, member)}:: {name}.{member}" for member in group)]
        return "\n".join([*lines, "", f".. minigallery:: {module}.{name}", "   :add-heading: Gallery", "   :heading-level: -", ""])

    def members(self, value):
        """The public members of a class in the order of the source. One that is no estimator leaves those of its bases to their entries."""
        shown = [base for base in value.__mro__ if base.__module__.startswith("structperc")
                 and (base is value or base not in self.classes or hasattr(value, "fit"))]
        return [name for name in dict.fromkeys(name for base in shown for name in vars(base))
                if name[0] != "_" and documented_here(getattr(value, name))]

    def targets(self):
        """The entry of each text: a module, a full name, or a name with a capital that has one entry."""
        full = {f"{module}.{name}": f"{self.home(module, name)}.{name}" for module, names in self.names.items() for name in names}
        short = {}
        for name, entry in full.items():
            short.setdefault(name.rpartition(".")[2], set()).add(entry)
        return {**{name: name for name in self.names}, **full,
                **{name: min(entries) for name, entries in short.items() if len(entries) == 1 and name[0].isupper() and "_" not in name}}


def grouped(names, groups, alone) -> dict:
    """The names by the first group with a pattern that fits, in the order of its patterns. All others are "More", or `alone`."""
    left, found = list(names), {}
    for caption, patterns in groups.items():
        group = list(dict.fromkeys(name for pattern in patterns for name in fnmatch.filter(left, pattern)))
        left = [name for name in left if name not in group]
        found[caption] = group
    found = {caption: group for caption, group in found.items() if group}
    return {**found, **({"More" if found else alone: left} if left else {})}


def documented_here(member) -> bool:
    """Whether a member has a docstring of its own: values have that of their type."""
    text = getattr(member, "__doc__", None)
    return bool(text) and text is not type(member).__doc__ and not str(getattr(member, "__module__", "")).startswith("sklearn.")


def directive(value):
    if inspect.isclass(value):
        return "autoexception" if issubclass(value, BaseException) else "autoclass"
    return "autofunction" if inspect.isroutine(value) or type(value).__name__ == "cython_function_or_method" else "autodata"


def directive_of(value, member):
    """The directive of a member of a class."""
    if isinstance(inspect.getattr_static(value, member), property | functools.cached_property):
        return "autoproperty"
    return "automethod" if directive(getattr(value, member)) == "autofunction" else "autoattribute"


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
    """Leaves the types of C out of the arguments of compiled functions, and long lists of parameters to their table."""
    if what == "class" and len(arguments or "") > LONGEST:
        return "(...)", None
    if arguments and not isinstance(value, types.FunctionType | types.MethodType):
        return re.sub(r"\b[\w.]+(?:\[[^\]]*\])? (?=\w+ *[,=)])", "", arguments), None
    return None


def without_types(app, what, name, value, options, lines):
    """Leaves out the docstring of a value's type, which is about texts or numbers in general."""
    general = inspect.getdoc(type(value)) or ""
    if what in ("data", "attribute") and general and lines[:1] == general.splitlines()[:1]:
        lines.clear()


def setup(app):
    app.connect("builder-inited", write)
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-bases", bases)
    app.connect("autodoc-process-docstring", without_types, priority=400)
    app.connect("autodoc-process-signature", signature, priority=400)     # before numpydoc
    return {"parallel_read_safe": True}
