"""Writes a model file of each kind, and what it predicts, to tests/engine/models/RELEASE.zip: later versions must load them.

    python tests/saved_models.py

Run it for each release, and before the first one after each change of the format.
"""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
from fuzz.kinds import kinds

from structperc.version import __version__

FOLDER = Path(__file__).parent / "engine/models"
RELEASE = __version__.partition(".dev")[0]            # whose files those of its main are until then


def saved(engine) -> bytes:
    file = io.BytesIO()
    engine.save(file)
    return file.getvalue()


def shown(kind, engine) -> list:
    """The predictions for the kind's examples, as texts."""
    return [list(map(str, np.ravel(answer))) for answer in engine.predict(kind.X, **kind.told)]


def models_in(path):
    """(name of the kind, content of the model file, predictions) of each model of a version."""
    with zipfile.ZipFile(path) as file:
        for name, answers in json.loads(file.read("predictions.json")).items():
            yield name, file.read(f"{name}.model"), answers


def main():
    trained = {name: (kind, kind.fit()) for name, kind in kinds().items()}
    contents = {f"{name}.model": saved(engine) for name, (_, engine) in trained.items()}
    contents["predictions.json"] = json.dumps({name: shown(kind, engine) for name, (kind, engine) in trained.items()}).encode()
    with zipfile.ZipFile(FOLDER / f"{RELEASE}.zip", "w") as file:
        for name, content in contents.items():
            file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 9)         # without a date


if __name__ == "__main__":
    main()
