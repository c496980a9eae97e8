"""The fuzzer reaches every public solver and measure, every problem, and finds what a promise forbids."""

import random

import pytest
from fuzz import kinds
from fuzz.promises import BrokenPromise, attempt
from fuzz.targets import functions, streams, targets

from structperc import metrics, solvers
from structperc.fitting import plugins as registry

PROBLEMS = {plugin.name for plugin in registry.installed() if plugin.distribution == "structperc" and not plugin.problem}


@pytest.mark.parametrize(("module", "calls"), [(solvers, functions.SOLVERS), (metrics, functions.METRICS)], ids=["solvers", "metrics"])
def test_every_public_function_is_called(module, calls):
    assert {name.split()[0] for name in calls} == set(module.__all__)


@pytest.mark.parametrize(("module", "calls"), [(solvers, functions.SOLVERS), (metrics, functions.METRICS)], ids=["solvers", "metrics"])
def test_every_call_is_accepted_before_its_arguments_are_spoilt(module, calls):
    for name, made in calls.items():
        call, make = made if isinstance(made, tuple) else (getattr(module, name), made)
        accepted = [attempt(call, **make(random.Random(seed)))[0] for seed in range(12)]
        assert any(accepted), name


def test_every_bundled_problem_is_trained():
    assert {kind.options["problem"] for kind in kinds.kinds().values()} >= PROBLEMS


def test_equal_answers_are_told_from_others():
    assert functions.equal([1, [2.0, "a"]], [1.0, [2, "a"]]) and functions.equal([float("nan")], [float("nan")])
    assert not functions.equal([1.0], [1.1]) and not functions.equal([1, 2], [1])


def test_parts_that_differ_from_their_file_break_a_promise(tmp_path, monkeypatch):
    class Whole:
        X, y = [[1.0]], None

    monkeypatch.setattr(streams.files, "read", lambda path: Whole)
    monkeypatch.setattr(streams.files, "stream", lambda path, rows: refused())
    with pytest.raises(BrokenPromise, match="at once: taken; in parts: "):
        streams.same_tables(random.Random(0), tmp_path, {}, 1)


def refused():
    from structperc.errors import DataError

    raise DataError("a part is refused.")


@pytest.mark.parametrize("name", ["same", "streams"])
def test_targets_repeat_an_execution(name):
    drawn = [targets()[name].run, targets()[name].run]
    outcomes = []
    for run in drawn:
        try:
            outcomes.append(run(random.Random("again")))
        except Exception as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]
