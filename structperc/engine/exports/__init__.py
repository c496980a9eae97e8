"""Trained models as programs and data of other languages: one file, without structperc.

A format is a module here with a function `written(model, name)`, which gives the content of the file for a `LinearLabels`.
"""

from __future__ import annotations

import keyword
import re
from importlib import import_module
from pathlib import Path

from structperc.core.errors import OptionError
from structperc.engine.exports.linear import LinearLabels, linear_labels
from structperc.engine.writing import replace_file

__all__ = ["ENDINGS", "FORMATS", "LinearLabels", "export", "linear_labels"]

FORMATS = {"numpy": "numpy_module", "c": "c_source", "js": "javascript", "onnx": "onnx_graph", "safetensors": "safetensors"}
ENDINGS = {".py": "numpy", ".c": "c", ".js": "js", ".onnx": "onnx", ".safetensors": "safetensors"}
RESERVED = {"auto", "char", "const", "double", "enum", "extern", "float", "inline", "int", "long", "register", "short", "signed", "static",
            "struct", "switch", "typedef", "union", "unsigned", "void", "volatile"}


def export(engine, path, to) -> None:
    """Writes a model as a file of another language; see `Engine.export`."""
    if to not in FORMATS:
        raise OptionError(f"to={to!r}; expected {', '.join(map(repr, FORMATS))}.")
    model = linear_labels(engine)
    content = import_module(f"{__name__}.{FORMATS[to]}").written(model, identifier(Path(path).stem))
    replace_file(path, lambda file: file.write(content))


def identifier(text) -> str:
    """A name that C, JavaScript and Python take."""
    name = re.sub(r"\W", "_", text, flags=re.ASCII)
    return f"_{name}" if not name or name[0].isdigit() or keyword.iskeyword(name) or name in RESERVED else name
