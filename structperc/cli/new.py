"""`structperc new NAME`: a complete plugin package around a small problem that works, to be changed part by part."""

from __future__ import annotations

import re
from pathlib import Path

from structperc.core.errors import OptionError
from structperc.engine import plugins as registry

PYPROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "structperc-{name}"
version = "0.1.0"
description = "{name}: a plugin for structperc"
readme = "README.md"
requires-python = ">=3.10"
dependencies = ["structperc", "numpy"]

[project.entry-points.structperc]
{name} = "{module}"

[tool.setuptools]
py-modules = ["{module}"]
"""

MODULE = '''\
"""{name}: choose the rows of largest score, as many as the option `size` says.

Change the four hooks one by one; `structperc check {name}` compares each with a slow, readable twin.
"""

from itertools import combinations

import numpy as np

from structperc import Option, hookimpl
from structperc.components import Argmax, Outputs, RowFeatures
from structperc.errors import PluginError

options = {{"size": Option(2, help="how many rows to choose")}}


class ChosenRows(Outputs):
    """Y(x): the sets of `size` rows of the example (all rows, if it has fewer), as tuples of row numbers."""

    def __init__(self, size):
        self.size = size

    def check_structure(self, x, y):
        super().check_structure(x, y)
        if len(y) != min(self.size, x.n_rows):
            raise PluginError(f"the choice {{y}} of example {{x.index}} has {{len(y)}} rows; expected {{min(self.size, x.n_rows)}}.")

    def enumerate(self, x):
        return combinations(range(x.n_rows), min(self.size, x.n_rows))


class LargestScores(Argmax):
    """The rows of largest score; at a tie the earlier row."""

    def __init__(self, size):
        self.size = size

    def argmax(self, scores, x):
        return np.argsort(-scores, kind="stable")[:self.size]


@hookimpl
def structperc_outputs(context):
    return ChosenRows(context.options["size"])


@hookimpl
def structperc_features(context):
    return RowFeatures(context.n_features)


@hookimpl
def structperc_argmax(context):
    return LargestScores(context.options["size"])


def sample(random, n_examples):
    """Small examples for the battery: blocks of up to six rows with three features."""
    return [random.normal(size=(n, 3)) for n in random.integers(1, 7, n_examples)]
'''

TEST = '''\
import numpy as np

from structperc import Engine
from structperc.testing import check_problem


def test_the_battery():
    check_problem("{name}")


def test_learns_to_choose_the_rows_with_the_largest_first_column():
    random = np.random.default_rng(0)
    X = [random.normal(size=(5, 3)) for _ in range(200)]
    y = [np.argsort(-block[:, 0])[:2] for block in X]
    engine = Engine("{name}", epochs=20, average=True).fit(X[:150], y[:150])
    right = [set(guess) == set(truth) for guess, truth in zip(engine.predict(X[150:]), y[150:], strict=True)]
    assert np.mean(right) > 0.9
'''

README = """\
# structperc-{name}

A plugin for structperc that chooses the rows of largest score.

    pip install -e .
    structperc check {name}
    python -m pytest

| hot spot | hook in `{module}.py` | now |
|---|---|---|
| Y(x) | `structperc_outputs` | sets of `size` rows |
| features | `structperc_features` | a row of X per atom |
| argmax | `structperc_argmax` | the largest scores |
| sample | `sample` (no hook) | small examples for `structperc check` |

`structperc_loss`, `structperc_update` and `structperc_weights` can be answered too; without them structperc's own are used.
"""


def new(name, folder=".") -> Path:
    """Writes a plugin package that can be installed and passes its test.

    Parameters
    ----------
    name : str
        What users will write: Engine(name). Lower-case letters and digits, hyphens between words.
    folder : path, default "."
        Where the package's own folder, `structperc-NAME`, is made.

    Returns
    -------
    Path
        That folder.

    Raises
    ------
    OptionError
        The name cannot be used or is taken, or the folder exists or cannot be written.
    """
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise OptionError(f"{name!r} cannot name a plugin; expected lower-case letters and digits, with hyphens between words, "
                          f"such as 'disjoint-intervals'.")
    if name in registry.discover(refresh=True):
        raise OptionError(f"there is a plugin {name!r} installed already; choose another name.")
    module, path = f"structperc_{name.replace('-', '_')}", Path(folder) / f"structperc-{name}"
    if path.exists():
        raise OptionError(f"{str(path)!r} exists already; choose another name or folder, or remove it.")
    files = {"pyproject.toml": PYPROJECT, f"{module}.py": MODULE, f"test_{module}.py": TEST, "README.md": README}
    try:
        path.mkdir(parents=True)
        for file, template in files.items():
            (path / file).write_text(template.format(name=name, module=module), encoding="utf-8")
    except OSError as error:
        raise OptionError(f"{str(path)!r} cannot be written: {error.strerror or error}; choose a writable folder.") from None
    return path
