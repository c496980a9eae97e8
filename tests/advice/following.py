"""A message is followed as its reader would: the remedy is taken out of its words and tried, at the door where it was shown."""

from __future__ import annotations

import ast
import re
import shlex
import warnings
from pathlib import Path

from structperc.errors import StructPercError

PASSED = re.compile(r"[Pp]ass ((?:\w+=(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\[[^\]]*\]|'[^']*'|[\w.]+)(?:, )?)+)")
SET = re.compile(r"[Ss]et (\w+=(?:'[^']*'|[\w.]+))")
FLAGS = re.compile(r"[Pp]ass (--[\w-]+(?:=(?:'[^']*'|[^\s;]+))?(?: "
                   r"(?:'[^']*'|(?!and\b|or\b)[^\s;]+))*(?: and --[\w-]+ (?:'[^']*'|[^\s;]+))*)")
MOST = 4                        # messages one after the other


def keywords(message) -> dict:
    """The arguments that a message of Python names."""
    found = PASSED.search(message) or SET.search(message)
    if found is None:
        return {}
    call = ast.parse(f"f({found[1].rstrip(', .')})", mode="eval").body
    return {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}


def flags(message) -> list[str]:
    """The flags that a message of the command line names."""
    found = FLAGS.search(message)
    return shlex.split(found[1].rstrip(".,").replace(" and --", " --")) if found else []


def follow(make, X, y):
    """Trains by `make(**arguments)` and takes each message's advice, until no message comes or it names no remedy.

    Returns
    -------
    tuple
        The trained model or None, the messages, and all arguments that they named.
    """
    arguments, messages = {}, []
    for _ in range(MOST):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                model, said = make(**arguments).fit(X, y), None
            except StructPercError as error:
                model, said = None, str(error)
        said = said or next((str(one.message) for one in caught if keywords(str(one.message))), None)
        if said is None:
            return model, messages, arguments
        messages.append(said)
        named = keywords(said)
        if not named or all(arguments.get(name) == value for name, value in named.items()):
            return None, messages, arguments
        arguments = joined(arguments, named)
    return None, messages, arguments


def joined(before, named) -> dict:
    """Arguments with further ones: entries of dicts and lists are added."""
    after = dict(before)
    for name, value in named.items():
        old = after.get(name)
        if isinstance(value, dict) and isinstance(old, dict):
            after[name] = joined(old, value)
        elif isinstance(value, list) and isinstance(old, list):
            after[name] = old + [one for one in value if one not in old]
        else:
            after[name] = value
    return after


def sentences(folder) -> list[tuple]:
    """All messages of errors and warnings in the source that name a remedy: module, line and their constant words."""
    remedy = re.compile(r"(?:^|[.;:,] |\bor )(?:Pass|pass|Use|use|Set|set|Call|call) ")
    found = []
    for path in sorted(Path(folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Raise, ast.Call)) and (isinstance(node, ast.Raise) or getattr(node.func, "attr", "") == "warn"):
                words = " ".join(part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str))
                if remedy.search(words):
                    found.append((path.relative_to(folder).as_posix(), node.lineno, words))
    return found
