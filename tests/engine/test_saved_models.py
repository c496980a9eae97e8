"""Models that each version wrote load, and predict what they did."""

import pytest
from saved_models import FOLDER, RELEASE, every_kind, models_in, saved, shown

from structperc.errors import StructPercError

KINDS = every_kind()
WRITE = "Before the first release, and for each one, run: python tests/saved_models.py"
KEEP = "Models of a release must load: give the new form the next FORMAT_NUMBER (structperc/engine/model_file), and read both."


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.zip")), ids=lambda path: path.stem)
def test_models_of_each_version_load_and_predict_what_they_did(path):
    for name, content, answers in models_in(path):
        try:
            engine = KINDS[name].load(content)
        except StructPercError as error:
            pytest.fail(f"{path.name}, {name}: {error} {KEEP} {WRITE}")
        assert shown(KINDS[name], engine) == answers, f"{path.name}, {name}: other predictions. {KEEP} {WRITE}"


def test_this_version_has_a_model_of_each_kind_in_the_form_that_it_writes():
    path = FOLDER / f"{RELEASE}.zip"
    assert path.exists(), f"no models of version {RELEASE}. {WRITE}"
    models = {name: content for name, content, _ in models_in(path)}
    assert models.keys() == KINDS.keys(), WRITE
    changed = [name for name, content in models.items() if saved(KINDS[name].load(content)) != content]
    assert not changed, f"the format has changed, as for {', '.join(changed)}. {KEEP} {WRITE}"
