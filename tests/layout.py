"""The structure of the code, from its imports: rooms, floors, arrows and circles.

    python tests/layout.py [CHECKOUT]

A room is a folder or a file directly under structperc/, or a package under plugins/. An arrow is an import or cimport of another
room, anywhere in a file. A room's floor is one above the highest room that it imports.
"""

import ast
import functools
import re
import sys
from collections import defaultdict
from pathlib import Path

IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+(?:cimport|import)\s+(\([^)]*\)|[^\n#]+)|(?:cimport|import)\s+([\w., ]+))", re.MULTILINE)


class Imported:
    """One import: the module, the imported names, and whether it is a cimport."""

    def __init__(self, module, names, compiled):
        self.module, self.names, self.compiled = module, names, compiled


def statements(node):
    """All statements inside a node, those of functions included."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, part, ()):
            yield child
            yield from statements(child)


def during_import(node):
    """The nodes that run while a module is imported: no bodies of functions, nothing that only type checkers read."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from during_import(child)


def imports_of(path, nodes=statements) -> list:
    """All imports of a source file, those inside functions included; of Python sources those among `nodes` of the module."""
    return imports_in(path.read_text(encoding="utf-8"), path.suffix, nodes)


@functools.cache
def imports_in(text, suffix, nodes) -> list:
    if suffix == ".py":
        found = []
        for node in nodes(ast.parse(text)):
            if isinstance(node, ast.Import):
                found += [Imported(alias.name, (), False) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                found.append(Imported("." * node.level + (node.module or ""), tuple(alias.name for alias in node.names), False))
        return found
    text = re.sub(r'"""(?s:.*?)"""', "", text)
    found = []
    for match in IMPORT.finditer(text):
        compiled = "cimport" in match[0].split("#")[0]
        if match[1]:
            names = tuple(name.split(" as ")[0].strip() for name in match[2].strip("()").split(",") if name.strip())
            found.append(Imported(match[1], names, compiled))
        else:
            found += [Imported(name.split(" as ")[0].strip(), (), compiled) for name in match[3].split(",")]
    return found


def sources(root) -> dict:
    """The source files of structperc and its bundled plugins by module. A .pyx, its .pxd and its .pxi are one module."""
    found = defaultdict(list)
    for top in (root, root / "plugins"):
        for path in sorted(top.glob("structperc*/**/*")):
            if path.suffix in (".py", ".pyx", ".pxd", ".pxi") and "templates" not in path.relative_to(root).parts:
                *folders, file = path.relative_to(top).parts
                parts = [*folders, file.partition(".")[0]]
                found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)].append(path)
    return found


def room_of(module) -> str:
    package, *inside = module.split(".")
    return ".".join([package, *inside[:1]]) if package == "structperc" else package


def arrows_between(modules, nodes=statements) -> dict:
    """The modules of structperc and the plugins that each of them imports."""
    arrows = {}
    for module, paths in modules.items():
        reached = set()
        for given in (given for path in paths for given in imports_of(path, nodes)):
            inner = {f"{given.module}.{name}" for name in given.names} & set(modules)
            outer = {given.module} & set(modules) if not given.names or len(inner) < len(given.names) else set()
            reached |= inner | outer
        arrows[module] = reached - {module}
    return arrows


def waits_between(modules, entries) -> dict:
    """The modules that the import of each module may wait for while other threads wait for it.

    Python locks a module, and only then imports the packages around it. So each module waits for its imports. One that is imported from
    outside its package also waits for the package: `entries`, and what the modules of another package import.
    """
    waits = arrows_between(modules, during_import)
    outside = [(None, module) for module in entries] + [(module, other) for module, reached in waits.items() for other in reached]
    for module, other in outside:
        packages = {package for package in modules if other.startswith(f"{package}.") and not f"{module}.".startswith(f"{package}.")}
        waits[other] = waits[other] | packages
        if module is not None:
            waits[module] = waits[module] | packages
    return waits


def between_rooms(arrows) -> dict:
    rooms = {room_of(module): set() for module in arrows}
    for module, reached in arrows.items():
        rooms[room_of(module)] |= {room_of(other) for other in reached} - {room_of(module)}
    return rooms


def circles(arrows) -> list:
    """The sets of more than one node that import each other in a loop (Tarjan's strongly connected components)."""
    numbers, lowest, stack, found = {}, {}, [], []

    def visit(node):
        numbers[node] = lowest[node] = len(numbers)
        stack.append(node)
        for other in sorted(arrows[node]):
            if other not in numbers:
                visit(other)
                lowest[node] = min(lowest[node], lowest[other])
            elif other in stack:
                lowest[node] = min(lowest[node], numbers[other])
        if lowest[node] == numbers[node]:
            component = set(stack[stack.index(node):])
            del stack[stack.index(node):]
            if len(component) > 1:
                found.append(component)

    for node in sorted(arrows):
        if node not in numbers:
            visit(node)
    return found


def floors(arrows) -> dict:
    """The floor of each node, from 1. The nodes of a circle have the same floor."""
    circle_of = {node: min(circle) for circle in circles(arrows) for node in circle}
    name = {node: circle_of.get(node, node) for node in arrows}
    below = defaultdict(set)
    for node, reached in arrows.items():
        below[name[node]] |= {name[other] for other in reached} - {name[node]}
    heights = {}

    def height(node):
        if node not in heights:
            heights[node] = 1 + max(map(height, below[node]), default=0)
        return heights[node]

    return {node: height(name[node]) for node in arrows}


def main(root):
    modules = sources(root)
    if not modules:
        raise SystemExit(f"{root} holds no structperc/ and no plugins/structperc_*/; expected the folder of a checkout.")
    files = arrows_between(modules)
    rooms = between_rooms(files)
    standing = floors(rooms)
    inside = circles(files)
    lines = {module: sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths) for module, paths in modules.items()}
    for floor in range(max(standing.values()), 0, -1):
        print(f"floor {floor}: {', '.join(sorted(room for room in rooms if standing[room] == floor))}")
    print(f"rooms {len(rooms)}, floors {max(standing.values())}, arrows {sum(map(len, rooms.values()))}, "
          f"arrows that do not go down {sum(standing[other] >= standing[room] for room in rooms for other in rooms[room])}, "
          f"circles of rooms {len(circles(rooms))}, circles of files {len(inside)}")
    for circle in (*circles(rooms), *inside):
        print("circle:", ", ".join(sorted(circle)))
    print(f"{sum(lines.values())} lines in {len(lines)} modules; the longest: "
          + ", ".join(f"{module} {n}" for module, n in sorted(lines.items(), key=lambda item: -item[1])[:5]))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1])
