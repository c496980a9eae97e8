"""Settings and fixtures that tests share; hypothesis draws the same examples every time and has no clock.

`make test ARGS="--hypothesis-profile thorough"` draws others, and many more.
"""

import gc
import os
import shutil
import signal
import sysconfig
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis.strategies import none

from structperc.cli import main
from structperc.engine.checkpoints import files as checkpoint_files
from structperc.fitting import plugins as registry

settings.register_profile("reproducible", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("reproducible")
signal.signal(signal.SIGINT, signal.default_int_handler)        # a shell that runs pytest in the background has it ignored


@pytest.hookimpl(hookwrapper=True)
def pytest_collection():
    """The 500,000 objects that collecting makes stay to the end: Python looks for no garbage among them."""
    gc.disable()
    yield
    given(none())(lambda _: None)()     # hypothesis asks who refers to NumPy's generator, and frozen objects are not asked
    gc.freeze()
    gc.set_threshold(10_000, 10, 100)
    gc.enable()


@pytest.fixture(scope="session")
def compiler():
    """Skips where what a test compiles cannot be compiled."""
    command = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(command) is None:
        pytest.skip(f"there is no C compiler {command!r}")


@pytest.fixture
def run(capsys):
    """Calls the command line and returns (exit code, standard output, standard error)."""

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a plugin module as a distribution of its own would."""

    def install(name, source):
        site = tmp_path / "site"
        info = site / f"acme_{name}-1.2.dist-info"
        info.mkdir(parents=True)
        (site / f"acme_{name}.py").write_text(textwrap.dedent(source))
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme-{name}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(f"[structperc]\n{name} = acme_{name}\n")
        monkeypatch.syspath_prepend(str(site))
        registry.discover(refresh=True)

    yield install
    monkeypatch.undo()
    registry.discover(refresh=True)


@pytest.fixture
def copies(monkeypatch, path):
    """Copies of each checkpoint as it is written: what a kill right behind would leave; the module has the fixture `path`."""
    made, replace = [], checkpoint_files.replace_file

    def copying(target, write):
        replace(target, write)
        made.append(f"{path}.{len(made)}")
        shutil.copy(target, made[-1])

    monkeypatch.setattr(checkpoint_files, "replace_file", copying)
    monkeypatch.setattr(os, "fsync", lambda handle: None)           # thousands of them
    return made
