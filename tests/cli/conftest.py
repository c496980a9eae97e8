"""The commands with the papers' plain algorithm, each step of which tests compute by hand; tests/engine/test_presets.py has the others."""

import pytest


@pytest.fixture
def run(run):
    """Calls the command line as the fixture of all tests does; `fit` starts from preset=paper."""

    def plain(*arguments):
        return run(*arguments[:1], *(["--set", "preset=paper"] if arguments[:1] == ("fit",) else []), *arguments[1:])

    return plain
