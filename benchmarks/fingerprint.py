"""The hash of the code that a measurement depends on: a function with all that it names in the scripts, and the sources of the library."""

import ast
import copy
import functools
import hashlib
import inspect
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIBRARY = [ROOT / "structperc", ROOT / "plugins"]
UNMEASURED = "testing"                  # a folder that no measurement depends on
SOURCES = {".py", ".pyx", ".pxd", ".pxi", ".h"}
COMMENT = re.compile(r"^\s*#(?! distutils| cython).*\n", re.MULTILINE)


@functools.cache
def of(function):
    """A hash of the function, of what it names in scripts of its folder, and of the library. Comments and docstrings do not count."""
    return of_name(Path(inspect.getfile(function)), function.__name__)


def of_name(script, name):
    """The same of a name that a script binds."""
    statements = {}
    follow(script, name, statements)
    texts = [text for _, found in sorted(statements.items()) for text in found]
    return hashlib.sha256("\n".join([library(), *texts]).encode()).hexdigest()[:16]


@functools.cache
def library():
    total = hashlib.sha256()
    for path in sorted(path for folder in LIBRARY for path in folder.rglob("*") if path.suffix in SOURCES):
        name = path.relative_to(ROOT)
        if UNMEASURED not in name.parts:
            total.update(f"{name}\n{without_prose(path)}".encode())
    return total.hexdigest()


def without_prose(path):
    """A source file without comments and, if it is Python, docstrings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return text if path.suffix == ".h" else COMMENT.sub("", text)
    return unparsed(ast.parse(text))


def unparsed(tree):
    """The code of a tree, which loses its docstrings."""
    for node in (tree, *statements(tree)):
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                node.body = [one for one in node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    return ast.unparse(tree)


def statements(node) -> list:
    """All statements inside a node: a fraction of the nodes of `ast.walk`."""
    found = [child for part in ("body", "orelse", "finalbody", "handlers", "cases") for child in getattr(node, part, ())]
    return found + [inner for child in found for inner in statements(child)]


@functools.cache
def bindings(script):
    """The names that a script binds outside of functions, each to its statements."""
    found = {}
    for statement in ast.parse(script.read_text(encoding="utf-8")).body:
        for name in bound(statement):
            found.setdefault(name, []).append(statement)
    return found


def bound(statement):
    match statement:
        case ast.Import() | ast.ImportFrom():
            return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
        case ast.FunctionDef() | ast.ClassDef():
            return {statement.name}
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def follow(script, name, statements):
    """Adds the texts of the statements that bind a name, and of all that these name: further statements, and files of the folder."""
    if (script.name, name) in statements:
        return
    texts = statements[script.name, name] = []
    for statement in bindings(script).get(name, ()):
        texts.append(unparsed(copy.deepcopy(statement)))
        for node in ast.walk(statement):
            match node:
                case ast.Name(id=other):
                    follow(script, other, statements)
                case ast.ImportFrom(module=module) if module and (other := script.with_name(f"{module}.py")).is_file():
                    for alias in node.names:
                        if name in (alias.asname, alias.name):
                            follow(other, alias.name, statements)
                case ast.Attribute(value=ast.Name(id=module), attr=attribute) if (other := script.with_name(f"{module}.py")).is_file():
                    follow(other, attribute, statements)
                case ast.Constant(value=str(file)) if file.endswith((".c", ".py")) and (other := script.with_name(file)).is_file():
                    texts.append(other.read_text(encoding="utf-8"))
