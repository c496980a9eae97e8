"""Writes a model file of each kind, and what it predicts, to tests/engine/models/RELEASE.zip: later versions must load them.

    python tests/saved_models.py

Run it for each release, and before the first one after each change of the format.
"""

import io
import json
import zipfile
from pathlib import Path

import attrs
import numpy as np
from fuzz.kinds import kinds

from structperc.estimators import (
    AdaBoostOR,
    BinaryReduction,
    OrdinalConformal,
    ORStump,
    PRank,
    RankerClassifier,
    RankingSVM,
    ScoreCard,
    StructuredClassifier,
    load,
)
from structperc.version import __version__

FOLDER = Path(__file__).parent / "engine/models"
RELEASE = __version__.partition(".dev")[0]            # whose files those of its main are until then


@attrs.frozen
class KeptEstimator:
    """An estimator whose file notes more than an engine has."""

    estimator: object
    X: object = attrs.field(factory=lambda: np.random.default_rng(5).integers(-8, 9, (60, 3)) / 4)
    y: object = None
    told: dict = attrs.field(factory=dict)
    fitting: dict = attrs.field(factory=dict)

    def fit(self):
        return self.estimator.fit(self.X, 1 + np.digitize(self.X @ [1, -1, 0.5], [-1, 1]) if self.y is None else self.y, **self.fitting)

    def load(self, content):
        return load(io.BytesIO(content))


def every_kind() -> dict:
    """Kinds of engines, and of estimators with notes of their own, by name."""
    queries = {"groups": np.repeat(range(10), 6)}
    made = {"conformal": KeptEstimator(OrdinalConformal(PRank(random_state=0), random_state=0)),
            "card": KeptEstimator(ScoreCard(PRank(random_state=0))),
            "stump": KeptEstimator(ORStump()), "boosted": KeptEstimator(AdaBoostOR(n_estimators=3)),
            "reduction": KeptEstimator(BinaryReduction(StructuredClassifier(random_state=0))),
            "ranker as classifier": KeptEstimator(RankerClassifier(PRank(random_state=0)), y=np.arange(60) % 2),
            "pairs": KeptEstimator(RankingSVM(), fitting=queries)}
    return kinds() | {f"estimator {name}": kind for name, kind in made.items()}


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
    trained = {name: (kind, kind.fit()) for name, kind in every_kind().items()}
    contents = {f"{name}.model": saved(engine) for name, (_, engine) in trained.items()}
    contents["predictions.json"] = json.dumps({name: shown(kind, engine) for name, (kind, engine) in trained.items()}).encode()
    with zipfile.ZipFile(FOLDER / f"{RELEASE}.zip", "w") as file:
        for name, content in contents.items():
            file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 9)         # without a date


if __name__ == "__main__":
    main()
