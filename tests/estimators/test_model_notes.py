"""The notes of a model file choose no code: classes come from declared entry points, and hostile notes raise errors."""

import io
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from fuzz.targets.model_files import as_npy, summed, zipped
from numpy.lib import format as npy

from structperc.errors import ModelFormatError
from structperc.estimators import OrdinalConformal, PRank, ScoreCard, SequenceTagger, StructureConformal, load

X, Y = np.arange(24.0).reshape(12, 2), [1] * 4 + [2] * 4 + [3] * 4
SENTENCES, TAGS = [[["a"], ["b"]], [["b"], ["a"]]] * 8, [["x", "y"], ["y", "x"]] * 8


def dumped(model) -> bytes:
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()


def rewritten(content, change) -> io.BytesIO:
    """A model file whose note is changed, with valid sums."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    header = json.loads(npy.read_array(io.BytesIO(parts["header.npy"])).tobytes())
    change(header["notes"]["estimator"])
    parts["header.npy"] = as_npy(np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))
    return io.BytesIO(zipped(summed(parts).items()))


@pytest.fixture(scope="module")
def acme(tmp_path_factory):
    """An installed package with a plugin and a declared estimator of another module. Some of its modules print when they are imported."""
    site = tmp_path_factory.mktemp("acme")
    package, information = site / "acme_tags", site / "acme_tags-1.0.dist-info"
    package.mkdir()
    information.mkdir()
    (package / "__init__.py").write_text("from structperc import hookimpl\n\n@hookimpl\ndef structperc_loss(context):\n    return None\n")
    for module in ("__main__", "tool"):
        (package / f"{module}.py").write_text("import sys\nprint('ran', __name__)\nsys.exit(0)\n")
    (package / "inner.py").write_text("from structperc.estimators import PRank\n\nclass Acme(PRank):\n    pass\n")
    (package / "estimators.py").write_text("from acme_tags.inner import Acme\n")
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-tags\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[structperc]\nacme-tags = acme_tags\n\n[structperc.estimators]\n"
                                                  "Acme = acme_tags.estimators:Acme\nBroken = acme_tags.missing:Broken\n")
    return site


def run(site, code, *arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_only_declared_classes_are_imported(acme, tmp_path):
    content = dumped(PRank(epochs=2).fit(X, Y))
    names = ["acme_tags.__main__:Main", "acme_tags.tool:Tool", "acme_tags.tool:Acme", "acme_tags:structperc_loss", "acme_tags.missing:X",
             "json.tool:main", "os:system", "structperc.__main__:main", "structperc_parsing.drawing:draw_tree",
             "structperc.estimators:load",
             "structperc.estimators:StructureSet", "structperc.estimators:lookup.addresses", "acme_tags.missing:Broken", ":", ""]
    for number, name in enumerate(names):
        path = tmp_path / f"{number}.model"
        path.write_bytes(rewritten(content, lambda note, name=name: note.update({"class": name})).getvalue())
    said = run(acme, """
import sys
from structperc.errors import ModelFormatError
from structperc.estimators import load
for path in sys.argv[1:]:
    try:
        load(path)
    except ModelFormatError as error:
        assert "Engine.load" in str(error), error
    else:
        raise SystemExit(f"{path} loads")
print([name for name in sys.modules if name.startswith(("acme_tags.", "json.tool", "structperc_parsing.drawing", "structperc.__main__"))])
""", *(tmp_path / f"{number}.model" for number in range(len(names))))
    assert said == "['acme_tags.inner', 'acme_tags.estimators']\n" or said == "['acme_tags.estimators', 'acme_tags.inner']\n"


def test_a_declared_class_comes_back_wherever_its_package_defines_it(acme, tmp_path):
    said = run(acme, """
import inspect, sys
import structperc.estimators
from structperc.estimators import Acme, load
model = Acme(epochs=3).fit([[0.0], [1.0]], [1, 2])
model.save(sys.argv[1])
print(type(load(sys.argv[1])) is Acme, load(sys.argv[1]), "Broken" in dict(inspect.getmembers(structperc.estimators)))
try:
    structperc.estimators.Broken
except AttributeError as error:
    print(error)
""", tmp_path / "acme.model")
    assert said == ("True Acme(epochs=3) False\nthe estimator 'Broken' of the distribution acme-tags 1.0 is at acme_tags.missing:Broken, "
                    "which cannot be imported (ModuleNotFoundError: No module named 'acme_tags.missing').\n")


def test_a_class_that_nobody_declares_is_read_by_the_class_itself():
    class Mine(PRank):
        pass

    content = dumped(Mine(epochs=2).fit(X, Y))
    with pytest.raises(ModelFormatError, match="No installed plugin has this class; read the file with that class"):
        load(io.BytesIO(content))
    assert type(Mine.load(io.BytesIO(content))) is Mine


# ---- what training has measured ----


MODELS = {
    "card": lambda: ScoreCard(PRank(epochs=2)).fit(X, Y),
    "ordinal": lambda: OrdinalConformal(PRank(epochs=2), random_state=0).fit(X, Y),
    "sets": lambda: StructureConformal(SequenceTagger(epochs=2), coverage=0.5, random_state=0).fit(SENTENCES, TAGS),
}


@pytest.fixture(scope="module")
def contents():
    return {name: dumped(make()) for name, make in MODELS.items()}


def card(**entries):
    return lambda note: note["fitted"]["card"].update(entries)


def fitted(**entries):
    return lambda note: note["fitted"].update(entries)


def parameters(**entries):
    return lambda note: note["parameters"].update(entries)


@pytest.mark.parametrize(("name", "change"), [
    ("sets", lambda note: note["fitted"]["of_atoms"].__setitem__(0, [])),
    ("sets", lambda note: note["fitted"]["of_atoms"].__setitem__(0, ["nan"])),
    ("sets", lambda note: note["fitted"].update(weights=[10**400] * len(note["fitted"]["weights"]))),
    ("sets", lambda note: note["fitted"].update(weights=[0] * len(note["fitted"]["weights"]))),
    ("sets", fitted(quantiles=[-5, -5])), ("sets", fitted(quantiles=["nan", 1])), ("sets", fitted(quantiles=[1])),
    ("sets", parameters(coverage=7)), ("sets", parameters(scale="os")), ("sets", parameters(estimators=3)),
    ("ordinal", parameters(coverage=7)), ("ordinal", fitted(quantile=[-1])), ("ordinal", fitted(distances=["nan"])),
    ("card", parameters(bins=-1)), ("card", card(table=[{}])), ("card", card(table=[])), ("card", card(cutoffs=[2**63, 2**63])),
    ("card", card(classes=[[1], [2], [3]])), ("card", card(classes=[1, 1, 2])), ("card", card(n_features="2")),
    ("card", card(feature_names=[[], {}])), ("card", fitted(scale=[0.0, 1.0])), ("card", fitted(scale=[1.0])),
    ("card", lambda note: note["fitted"]["card"]["columns"][0].update(edges=["nan"] * 4)),
    ("card", lambda note: note["fitted"]["card"]["columns"][0].update(points=[1, "2"])),
    ("card", lambda note: note["fitted"]["card"]["table"][0].update(rows="many")),
])
def test_hostile_notes_are_refused(contents, name, change):
    with pytest.raises(ModelFormatError, match="that this version cannot make"):
        load(rewritten(contents[name], change))


def test_the_files_themselves_load(contents):
    for content in contents.values():
        load(rewritten(content, lambda note: None))
