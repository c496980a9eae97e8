"""Compiled plugins and the structperc that they were compiled against.

A compiled part calls this library through tables of functions whose layout the .pxd files fix. It reads structs of C headers, and
calls their inline functions. setup.py writes a fingerprint of all these files to abi.h. `Component`'s own .pxd includes it: so every module
with a compiled part contains the fingerprint as text.
"""

from __future__ import annotations

import functools
import importlib.util
import mmap
import re
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from structperc.basics.errors import PluginError
from structperc.version import __version__

HEADER = Path(__file__).parents[1] / "include/abi.h"
FINGERPRINT = re.compile(rb"structperc-abi-[0-9a-f]{16}")


@functools.cache
def check_build(package: str) -> None:
    """Raises `PluginError` if a module of a package was compiled against another structperc; imports nothing, reads each file once."""
    for path in compiled_files(package):
        if path.stat().st_size:
            with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
                built = FINGERPRINT.findall(text)
            if built and built[0] != own_fingerprint():
                raise PluginError(f"{path.name} was compiled against another structperc than the installed {__version__}; compile it "
                                  f"again: pip install --force-reinstall --no-cache-dir --no-build-isolation, and its name or folder.")


@functools.cache
def own_fingerprint() -> bytes:
    return FINGERPRINT.search(HEADER.read_bytes())[0]


def compiled_files(package) -> list[Path]:
    """The compiled modules of a package, or of a module that is no package."""
    if package == "structperc":
        return []
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):               # __main__ has no spec
        spec = None
    if spec is None:
        return []
    folders = spec.submodule_search_locations
    paths = [Path(spec.origin or "")] if folders is None else [path for folder in folders for path in sorted(Path(folder).rglob("*"))]
    return [path for path in paths if path.name.endswith(tuple(EXTENSION_SUFFIXES)) and path.is_file()]
