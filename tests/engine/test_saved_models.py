"""Models that each version wrote load, and predict what they did."""

import pytest
from fuzz.kinds import Kind
from saved_models import FOLDER, RELEASE, every_kind, models_in, saved, shown

import structperc.estimators
from structperc.errors import StructPercError
from structperc.estimators.keeping import SavedEstimator
from structperc.fitting import plugins as registry

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


def test_every_installed_plugin_and_every_estimator_with_save_is_of_a_kind():
    """So no kind that `save` writes is without a kept file."""
    options = [kind.options for kind in KINDS.values() if isinstance(kind, Kind)]
    used = {name for each in options for name in (each["problem"], *each.get("plugins", ())) if isinstance(name, str)}
    assert {plugin.name for plugin in registry.installed() if plugin.distribution == "structperc"} <= used
    classes = {name: getattr(structperc.estimators, name) for name in set(structperc.estimators.__all__) - {"load"}}
    assert {name for name, cls in classes.items() if issubclass(cls, SavedEstimator)} == {
        name.removeprefix("estimator ") for name, kind in KINDS.items() if not isinstance(kind, Kind)}


def test_this_version_has_a_model_of_each_kind_in_the_form_that_it_writes():
    path = FOLDER / f"{RELEASE}.zip"
    assert path.exists(), f"no models of version {RELEASE}. {WRITE}"
    models = {name: content for name, content, _ in models_in(path)}
    assert models.keys() == KINDS.keys(), WRITE
    changed = [name for name, content in models.items() if saved(KINDS[name].load(content)) != content]
    assert not changed, f"the format has changed, as for {', '.join(changed)}. {KEEP} {WRITE}"
