"""Counts of the code base: rooms, contracts, options, lines and modules, with a column for each checkout.

    python tests/counts.py [CHECKOUT ...]

Nothing is imported or compiled: the counts come from the sources.
"""

import ast
import functools
import re
import statistics
import sys
import tokenize
from collections import defaultdict
from pathlib import Path

from layout import arrows_between, between_rooms, circles, floors, room_of, sources, statements

# The base classes of parts that a plugin overrides, and their files.
BASES = {
    "Reader": "structperc/reading/readers.py",
    "Weights": "structperc/core/weights.pyx",
    "Outputs": "structperc/core/outputs.pyx",
    "Features": "structperc/core/features.pyx",
    "Argmax": "structperc/core/argmax.pyx",
    "Loss": "structperc/core/losses.pyx",
    "Update": "structperc/core/updates.pyx",
    "Trainer": "structperc/fitting/trainers.py",
}
COMPONENT = "structperc/core/component.pyx"
METHOD = re.compile(r"    (?:c?p?def |async def )(?:[\w.\[\]:, *]+? )?\*?(\w+)\(")
FIELDS = re.compile(r"    cdef (public |readonly )?(bint |[\w.]+(?:\[[^\]]*\])? )([\w, *]+)$")
ATTRIBUTE = re.compile(r"    (\w+)(?:: [^=]+)? = ")
VAGUE = ("found", "known", "taken", "given", "named", "shown", "weighed")
PROSE = re.compile(r'(?s:""".*?""")|^\s*#.*', re.MULTILINE)
NUMPYDOC = re.compile(r"^ *([\w, ]+) : ", re.MULTILINE)


class Contract:
    """The names of one base class: `methods`, `compiled` methods, which end in _c, and `flags`, which are read but not called.

    Names with a leading underscore do not count. If only compiled code sees a field, it counts as a flag only if it is a bool.
    """

    def __init__(self, checkout, name, path):
        self.methods, self.compiled, self.flags = set(), set(), set()
        for file in (checkout / path, (checkout / path).with_suffix(".pxd")):
            if file.exists():
                self.read(body_of(file.read_text(encoding="utf-8"), name))

    def read(self, lines):
        above = ""
        for line in lines:
            method, fields, attribute = METHOD.match(line), FIELDS.match(line.split("#")[0].rstrip()), ATTRIBUTE.match(line)
            if method and not method[1].startswith("_"):
                kind = self.flags if "@property" in above else self.compiled if method[1].endswith("_c") else self.methods
                if not line.startswith("    cdef ") or method[1].endswith("_c"):
                    kind.add(method[1])
            elif fields and (fields[1] or fields[2].strip() == "bint"):
                self.flags |= {field.strip(" *") for field in fields[3].split(",")}
            elif attribute and not attribute[1].startswith("_"):
                self.flags.add(attribute[1])
            above = line
        self.flags -= self.methods


def body_of(text, name) -> list:
    """The lines of one class, without its docstrings."""
    text = re.sub(r'"""(?s:.*?)"""', "", text)
    match = re.search(rf"^(?:cdef )?class {name}\b.*\n((?:    .*\n|\s*\n)+)", text, re.MULTILINE)
    return match[1].splitlines() if match else []


def lines_by_kind(paths) -> dict:
    """The numbers of source lines that are code, imports, docstrings, comments and blank."""
    kinds = dict.fromkeys(("code", "imports", "docstrings", "comments", "blank"), 0)
    for path in paths:
        inside = None                               # the text that ends a statement or docstring of several lines, and its kind
        for line in path.read_text(encoding="utf-8").splitlines():
            text = line.strip()
            if inside:
                kind = inside[1]
                inside = None if inside[0] in text else inside
            elif not text:
                kind = "blank"
            elif text.startswith(('"""', 'r"""')):
                kind = "docstrings"
                inside = None if text.count('"""') > 1 else ('"""', kind)
            elif text.startswith(("//", "/*", "* ") if path.suffix == ".h" else "#"):
                kind = "comments"
            elif re.match(r"(?:from|import|cimport)\s|#include", text):
                kind = "imports"
                inside = (")", kind) if "(" in text and ")" not in text else None
            else:
                kind = "code"
            kinds[kind] += 1
    return kinds


def option_places(checkout) -> dict:
    """The places of each engine option in the classes of its group and in their subclasses, which would repeat it.

    Places are declarations, parameters of constructors, assignments to attributes and entries of the docstring. Options of other classes
    may have the same names and do not count: `C` of RankingSVM weighs pairs.
    """
    table = ast.parse((checkout / "structperc/fitting/options.py").read_text(encoding="utf-8"))
    texts = [path.read_text(encoding="utf-8") for folder in ("structperc", "plugins") for path in sorted((checkout / folder).rglob("*.py"))]
    classes = [node for text in texts if "class " in text for node in statements(ast.parse(text)) if isinstance(node, ast.ClassDef)]
    lines, declared = functools.cache(lines_by_name), {node.name: declared_options(node) for node in groups_in(table)}
    places = {}
    for option in declared_options(table):
        groups = {name for name, options in declared.items() if option in options}
        owners = groups | {"Engine", "FitContext", "EngineEstimator"}
        while more := {node.name for node in classes if {base.id for base in node.bases if isinstance(base, ast.Name)} & owners} - owners:
            owners |= more
        places[option] = [f"{node.name}:{line}" for node in classes if node.name in owners for line in lines(node).get(option, ())]
        places[option] += [] if groups else ["ENGINE_OPTIONS"]
    return places


def groups_in(table) -> list:
    return [node for node in statements(table) if isinstance(node, ast.ClassDef)]


def lines_by_name(owner) -> dict:
    """The lines of a class that declare, assign or document a name that may be an option, by that name."""
    lines = defaultdict(list)
    for node in owner.body:
        if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
            lines[node.target.id].append(node.lineno)
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            for one in (*node.args.args, *node.args.kwonlyargs):
                lines[one.arg].append(one.lineno)
    for node in statements(owner):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Attribute) and getattr(target.value, "id", None) == "self":
                lines[target.attr].append(node.lineno)
    for name in {name for line in NUMPYDOC.findall(ast.get_docstring(owner) or "") for name in re.split(", *", line)}:
        lines[name].append(owner.lineno)
    return lines


def declared_options(tree) -> list:
    """The options in a file: fields given `option(...)`, or the keys of a table ENGINE_OPTIONS."""
    names = []
    for node in statements(tree):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        if isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "option":
            names.append(node.target.id)
        elif node.target.id == "ENGINE_OPTIONS" and isinstance(node.value, ast.Dict):
            names += [key.value for key in node.value.keys if isinstance(key, ast.Constant)]
    return names


def vague_names(paths) -> int:
    """How often a bare participle is used as a name."""
    return sum(token.type == tokenize.NAME and token.string in VAGUE for path in paths if path.suffix == ".py"
               and re.search(rf"\b({'|'.join(VAGUE)})\b", PROSE.sub("", path.read_text(encoding="utf-8"))) for token in tokens_of(path))


def tokens_of(path):
    with path.open("rb") as file:
        yield from tokenize.tokenize(file.readline)


def counts(checkout) -> dict:
    """All counts of one checkout by their names."""
    modules = sources(checkout)
    files = arrows_between(modules)
    rooms = between_rooms(files)
    heights = floors(rooms)
    paths = [path for group in modules.values() for path in group]
    headers = sorted(path for folder in ("structperc", "plugins") for path in (checkout / folder).rglob("*.h"))
    contracts = {name: Contract(checkout, name, path) for name, path in BASES.items()}
    shared = Contract(checkout, "Component", COMPONENT)
    rows = {
        "rooms": len(rooms),
        "floors of rooms": max(heights.values()),
        "arrows between rooms": sum(map(len, rooms.values())),
        "arrows that do not go down": sum(heights[other] >= heights[room] for room in rooms for other in rooms[room]),
        "circles": len(circles(rooms)) + len(circles(files)),
    }
    for room in ("basics", "core", "fitting", "engine", "reading", "solvers"):
        inside = {module: reached & {other for other in files if room_of(other) == f"structperc.{room}"}
                  for module, reached in files.items() if room_of(module) == f"structperc.{room}"}
        rows[f"{room}: files, floors, arrows"] = f"{len(inside)}, {max(floors(inside).values())}, {sum(map(len, inside.values()))}"
    rows["modules"] = len(modules)
    rows["extension modules"] = sum(path.suffix == ".pyx" for path in paths) + 1       # one more: the module that Cython's modules share
    rows["lines of .pyx and .pxi"] = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths
                                         if path.suffix in (".pyx", ".pxi"))
    rows["import names of a wheel"] = len({module.split(".")[0] for module in modules})
    for name, contract in contracts.items():
        rows[f"{name}: methods, flags, compiled"] = f"{len(contract.methods)}, {len(contract.flags)}, {len(contract.compiled)}"
    rows["Component: methods, flags"] = f"{len(shared.methods)}, {len(shared.flags)}"
    bases = (*contracts.values(), shared)
    rows["flags of the eight bases"] = sum(len(contract.flags) for contract in bases)
    said = shared.flags | shared.methods                    # names of every part: if a base overrides one, it adds no name
    rows["names of the eight bases"] = len(said) + sum(len((contract.flags | contract.methods) - said) for contract in contracts.values())
    places = option_places(checkout)
    rows["options of an engine"] = len(places)
    numbers = [len(where) for where in places.values()]
    rows["places that name an option: median, most"] = f"{statistics.median(numbers):g}, {max(numbers)}" if numbers else "-"
    for kind, number in lines_by_kind([*paths, *headers]).items():
        rows[f"lines: {kind}"] = number
    rows["participles as names, .py"] = vague_names(paths)
    rows["longest file"] = max(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)
    return rows


def main(checkouts):
    columns = [counts(checkout) for checkout in checkouts]
    for name in columns[-1]:
        print(f"{name:44}" + "".join(f"{column[name]!s:>16}" for column in columns))


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]] or [Path(__file__).parents[1]])
