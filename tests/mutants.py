"""Do the tests detect a fault? Changes one operator, number or constant of a Python module at a time and runs the tests that concern it.

    python tests/mutants.py [--count 100] [--seed 0] [--jobs 2] [FILE ...]

The sample is drawn from all mutants of structperc and the bundled plugins, or of the named files. The same seed draws the same sample.
A mutant is killed if a test fails that passes without it. Survivors show gaps in the tests, or changes without any effect. The checkout
is not changed: each mutant is in a folder of links.
"""

import argparse
import ast
import copy
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from layout import arrows_between, sources

from structperc.basics.cores import available_cores

ROOT = Path(__file__).parents[1]
MOST_FILES = 8              # test files that are run against a mutant
SECONDS = 300               # per test file; a longer run kills the mutant
OPERATORS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot,
    ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.And: ast.Or, ast.Or: ast.And, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "argmin": "argmax", "argmax": "argmin", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor",
         "rint": "floor", "zeros": "ones", "ones": "zeros"}


class Mutant:
    """One change: the file, the line, the code before and after, and the whole source with the change."""

    def __init__(self, path, node, changed, source):
        self.path, self.line = path, node.lineno
        lines = source.splitlines(keepends=True)
        start, end = (sum(len(line.encode()) for line in lines[:row - 1]) + column for row, column in
                      ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)))
        text = source.encode()
        self.before, self.after = ast.unparse(node), ast.unparse(changed)
        enclosed = f"({self.after})" if isinstance(changed, (ast.BinOp, ast.BoolOp, ast.Compare, ast.UnaryOp)) else self.after
        self.source = (text[:start] + enclosed.encode() + text[end:]).decode()

    def __str__(self):
        return f"{self.path.as_posix()}:{self.line}  {self.before}  ->  {self.after}"


def mutants_of(path, root) -> list:
    """All mutants of one module, in the order of its nodes."""
    source = (root / path).read_text(encoding="utf-8")
    return [Mutant(path, node, changed, source) for node in changeable(ast.parse(source)) for changed in changes(node)]


def changeable(node):
    """All nodes but those of annotations, of docstrings and other bare texts, and inside f-strings."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns") or isinstance(value, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield from changeable(child)


def changes(node):
    """The replacements of a node."""
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            changed = copy.deepcopy(node)
            changed.ops[i] = OPERATORS[type(operator)]()
            yield changed
    elif isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in OPERATORS and not is_text(node):
        changed = copy.copy(node)
        changed.op = OPERATORS[type(node.op)]()
        yield changed
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
        name = node.id if isinstance(node, ast.Name) else node.attr
        if name in NAMES:
            changed = copy.copy(node)
            setattr(changed, "id" if isinstance(node, ast.Name) else "attr", NAMES[name])
            yield changed


def is_text(node) -> bool:
    """Whether a sum or a remainder has a text in it, and no number."""
    parts = ast.walk(node)
    return any(isinstance(part, ast.JoinedStr) or isinstance(part, ast.Constant) and isinstance(part.value, str) for part in parts)


def modules(root) -> list:
    """The paths of all Python modules of structperc and the bundled plugins."""
    return [path.relative_to(root) for top in ("structperc", "plugins") for path in sorted((root / top).rglob("*.py"))
            if "templates" not in path.parts]


# ---- the tests that concern a module ----


@cache
def words_of_tests(root) -> dict:
    return {path: set(re.findall(r"\w+", path.read_text(encoding="utf-8"))) for path in sorted((root / "tests").rglob("test_*.py"))}


@cache
def uses(root) -> Counter:
    """In how many files of tests each word occurs."""
    return Counter(word for words in words_of_tests(root).values() for word in words)


@cache
def arrows(root) -> dict:
    return arrows_between(sources(root))


def users(path, root) -> set:
    """The stems of the modules that import this one."""
    package = path if path.parts[0] == "structperc" else path.relative_to("plugins")
    module = ".".join(package.with_suffix("").parts).removesuffix(".__init__")
    return {other.rpartition(".")[2].removeprefix("structperc_") for other, imported in arrows(root).items() if module in imported}


@cache
def concerned(path, root) -> list:
    """The test files that are run against a mutant of this module.

    First the file of its name, then files of modules that import it, then files that use its rarest names.
    """
    tree = ast.parse((root / path).read_text(encoding="utf-8"))
    stem, package = path.parent.name if path.stem == "__init__" else path.stem, path.parent.name.removeprefix("structperc_")
    names = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))} | {stem, package, path.parent.name}
    tests = words_of_tests(root)
    worth = {name: max(uses(root)[name], 1) ** -2 for name in names}
    of_users = {f"test_{user}".rstrip("s") for user in users(path, root)}
    ranks = {test: sum(worth[name] for name in names & words) + (test.stem.rstrip("s") in of_users)
             + 10 * (test.stem.rstrip("s") == f"test_{stem}".rstrip("s")) for test, words in tests.items()}
    return [test for test in sorted(ranks, key=lambda test: (-ranks[test], test))[:MOST_FILES] if ranks[test] > 0]


# ---- runs ----


def links(mutant, root, folder) -> None:
    """Creates a folder of links, from which Python imports structperc with the mutant."""
    for top in (root / "structperc", *sorted((root / "plugins").glob("structperc*"))):
        for path in top.rglob("*"):
            place = folder / path.relative_to(root if top.parent == root else root / "plugins")
            place.parent.mkdir(parents=True, exist_ok=True)
            if path.is_file() and path.suffix != ".pyc":
                place.symlink_to(path)
    if mutant is not None:
        place = folder / (mutant.path if mutant.path.parts[0] == "structperc" else mutant.path.relative_to("plugins"))
        place.unlink()
        place.write_text(mutant.source, encoding="utf-8")


def passes(test, folder, root) -> bool:
    """Whether all tests of a file pass with structperc from this folder."""
    paths = [str(folder), str(root / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--rootdir", str(root), test]
    configuration = root / "pyproject.toml"
    if configuration.exists():
        command += ["-c", str(configuration)]
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode in (0, 5)                # 5: a file without a test


class Trial:
    """Runs mutants against the tests that concern them. A test file that fails without a mutant kills none."""

    def __init__(self, root, whole):
        self.root, self.whole, self.sound = root, whole, {}

    def is_sound(self, test):
        if test not in self.sound:
            self.sound[test] = passes(test, self.whole, self.root)
            if not self.sound[test]:
                print(f"NOT USED  {test.relative_to(self.root)} fails without a mutant, so it kills none", flush=True)
        return self.sound[test]

    def killer(self, mutant):
        """The test file that detects a mutant, or None."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            links(mutant, self.root, folder)
            for test in concerned(mutant.path, self.root):
                if not passes(test, folder, self.root) and self.is_sound(test):
                    return test
        return None


def main(arguments=None, root=ROOT):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=available_cores())
    parser.add_argument("files", nargs="*", type=Path)
    chosen = parser.parse_args(arguments)
    mutants = [mutant for path in chosen.files or modules(root) for mutant in mutants_of(path, root)]
    sample = random.Random(chosen.seed).sample(mutants, min(chosen.count, len(mutants)))
    survivors = []
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(chosen.jobs) as threads:
        links(None, root, Path(name))
        trial = Trial(root, Path(name))
        for mutant, killer in zip(sample, threads.map(trial.killer, sample), strict=True):
            if killer is None:
                survivors.append(mutant)
            print(f"SURVIVED  {mutant}" if killer is None else f"killed    {mutant}  by {killer.relative_to(root)}", flush=True)
    print(f"{len(sample) - len(survivors)} of {len(sample)} killed, of {len(mutants)} mutants; seed {chosen.seed}.")
    return survivors


if __name__ == "__main__":
    main()
