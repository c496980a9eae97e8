"""Writes a model file of each kind, and what it predicts, to tests/engine/models/RELEASE.zip: later versions must load them.

    python tests/saved_models.py

Run it for each release, and before the first one after each change of the format.
"""

import inspect
import io
import json
import zipfile
from pathlib import Path

import attrs
import numpy as np
import pandas as pd
from fitted_estimators import estimators, example, fitted
from fuzz.kinds import Kind, kinds, sampled

import structperc.estimators
from structperc.estimators import StructureSet, load
from structperc.version import __version__

FOLDER = Path(__file__).parent / "engine/models"
RELEASE = __version__.partition(".dev")[0]            # whose files those of its main are until then


@attrs.frozen
class KeptEstimator:
    """An estimator on its example of `fitted_estimators`."""

    name: str
    told: dict = attrs.field(factory=dict)

    @property
    def X(self):
        return example(self.name)[1]

    def fit(self):
        return fitted(self.name)[0]

    def load(self, content):
        parameters = example(self.name)[0]
        return load(io.BytesIO(content), **{name: value for name, value in parameters.items() if inspect.isfunction(value)})


def every_kind() -> dict:
    """Kinds of engines, and all estimators with `save`, by name."""
    saved = [name for name in estimators() if hasattr(getattr(structperc.estimators, name), "save")]
    visits = pd.DataFrame({"level": ["low", "high", None, "mid"] * 3, "sex": ["f", "m", "m"] * 4, "age": [40, None, 61, 17] * 3,
                           "visit": [f"2024-01-{day:02d}" for day in range(1, 13)]})
    read = {"ordinal": {"level": ["low", "mid", "high"]}, "one_hot": ["sex"], "date": ["visit"], "fill": "most-frequent"}
    path = sampled("path")
    return kinds() | {
        "table": Kind({"problem": "cusum", "plugins": ["table"], "missing_indicators": True, **read}, visits, [1, 2, 3, 1] * 3),
        "path perturbed": attrs.evolve(path, options=path.options | {"plugins": ["decision-rules"], "update": "perturbed"}),
    } | {f"estimator {name}": KeptEstimator(name) for name in saved}


def saved(engine) -> bytes:
    file = io.BytesIO()
    engine.save(file)
    return file.getvalue()


def shown(kind, engine) -> list:
    """The predictions for the kind's examples, as texts."""
    return [list(map(str, np.ravel(plain(answer)))) for answer in engine.predict(kind.X, **kind.told)]


def plain(answer):
    """What a set of structures holds, as one list; any other prediction."""
    return [str(answer.prediction), *answer.certain, *answer.possible] if isinstance(answer, StructureSet) else answer


def models_in(path):
    """(name of the kind, content of the model file, predictions) of each model of a version."""
    with zipfile.ZipFile(path) as file:
        for name, answers in json.loads(file.read("predictions.json")).items():
            yield name, file.read(f"{name}.model"), answers


def main():
    trained = {name: (kind, kind.fit()) for name, kind in every_kind().items()}
    contents = {f"{name}.model": saved(engine) for name, (_, engine) in trained.items()}
    contents["predictions.json"] = json.dumps({name: shown(kind, engine) for name, (kind, engine) in trained.items()}).encode()
    with zipfile.ZipFile(FOLDER / f"{RELEASE}.zip", "w") as file:
        for name, content in contents.items():
            file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 9)         # without a date


if __name__ == "__main__":
    main()
