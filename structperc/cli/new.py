"""`structperc new NAME --kind KIND`: a complete plugin package around something small that works, to be changed part by part.

Packages are written from the folder templates. Their files are ordinary sources with the placeholders @name@, @module@ and @what@.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path

from structperc.basics.errors import OptionError
from structperc.fitting import plugins as registry

TEMPLATES = Path(__file__).with_name("templates")
KINDS = ("problem", "loss", "update", "weights", "features", "reader", "cython")


def new(name, folder=".", kind="problem") -> Path:
    """Writes a plugin package of this kind into a new folder, and returns that. It can be installed and passes its test."""
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise OptionError(f"{name!r} cannot name a plugin; expected lower-case letters and digits, with hyphens between words, "
                          f"such as 'disjoint-intervals'.")
    if kind not in KINDS:
        raise OptionError(f"kind={kind!r}; expected one of {', '.join(KINDS)}.")
    if name in registry.discover(refresh=True):
        raise OptionError(f"there is a plugin {name!r} installed already; choose another name.")
    module, path = f"structperc_{name.replace('-', '_')}", Path(folder) / f"structperc-{name}"
    if importlib.util.find_spec(module) is not None:
        raise OptionError(f"the package would be the module {module}, and one of this name can be imported already; choose another name.")
    if path.exists():
        raise OptionError(f"{str(path)!r} exists already; choose another name or folder, or remove it.")
    files = files_of(kind, name, module)
    try:
        path.mkdir(parents=True)
        for file, text in files.items():
            (path / file).write_text(text, encoding="utf-8")
    except BaseException as error:
        shutil.rmtree(path, ignore_errors=True)             # half a package would make the next try fail
        if not isinstance(error, OSError):
            raise
        raise OptionError(f"{str(path)!r} cannot be written: {error.strerror or error}; choose a writable folder.") from None
    return path


def files_of(kind, name, module) -> dict:
    """The files of a new package, their texts by name: those of its kind, and those that all kinds share."""
    shared = [path for path in TEMPLATES.iterdir() if path.is_file()]
    texts = {path.name.removesuffix(".txt"): path.read_text(encoding="utf-8") for path in (*shared, *(TEMPLATES / kind).iterdir())}
    source = "module.pyx" if "module.pyx" in texts else "module.py"
    what = texts[source].split('"""')[1].split("\n")[0].removeprefix("@name@: ").rstrip(".") + "."
    names = {source: source.replace("module", module), "test.py": f"test_{module}.py"}
    return {names.get(file, file): text.replace("@what@", what).replace("@name@", name).replace("@module@", module)
            for file, text in texts.items()}
