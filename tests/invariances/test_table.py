"""Scores of every problem under every transformation are equal, or differ for a declared reason."""

import random

import pytest

from invariances import exceptions
from invariances.cells import Cell, cells, problems, trained, values, variants
from invariances.table import disagreement
from invariances.transformations import TRANSFORMATIONS
from structperc import Option
from structperc.fitting import plugins as registry
from structperc.fitting.options import ENGINE_OPTIONS

PRESETS = values(ENGINE_OPTIONS["preset"])


@pytest.mark.parametrize("problem", problems())
def test_scores_are_equal_or_differ_for_a_declared_reason(problem):
    drawn = random.Random(problem)
    names = drawn.sample(sorted(TRANSFORMATIONS), 8)
    one = trained(Cell(problem, (), (("preset", drawn.choice(PRESETS)),)))
    if one is None:
        pytest.skip("its examples are no tables")
    assert not [found for name in names if (found := disagreement(one, name))]


def test_every_rule_is_needed_and_proved():
    used, left = set(), {rule.because: rule for rule in exceptions.RULES}
    for problem in ("prank", "parsing", "ilp", "adaboost-or", "latent-ranking", "clusters"):
        for preset in PRESETS:
            one = trained(Cell(problem, (), (("preset", preset),)), seed=3)
            for rule in list(left.values()):
                for name in rule.names:
                    if rule.because in left and rule.applies(one):
                        assert not disagreement(one, name, used)
                        left = {because: rule for because, rule in left.items() if because not in used}
    solver = trained(Cell("prank", ("large-margin",), (("preset", "paper"), ("method", "implicit"))))
    assert not disagreement(solver, "CSR", used)
    perfect = trained(Cell("matching", (), (("preset", "recommended"), ("perfect", True))))
    assert not disagreement(perfect, "columns shifted", used)
    single = trained(Cell("cusum", ("dual-kernel",), (("preset", "recommended"), ("dtype", "float32"))))
    assert not disagreement(single, "columns permuted", used)
    bare = trained(Cell("multiclass", (), (("preset", "recommended"), ("fit_intercept", False))))
    assert not disagreement(bare, "columns shifted", used)
    seldom = ("several solutions", "last bit")
    assert {rule.because for rule in exceptions.RULES if not any(words in rule.because for words in seldom)} == used


def test_every_variant_that_is_declared_is_a_cell(monkeypatch):
    class Declared:
        name = "declared-here"
        options = {"shape": Option("round", ("round", "square"))}
        trainers = ("trainer-here",)

    loaded = registry.all_loaded()
    plugin = registry.Plugin("declared-here", Declared())
    monkeypatch.setattr(registry, "all_loaded", lambda: [*loaded, plugin])
    assert {(("declared-here",), ("shape", "square")), (("declared-here",), ("trainer", "trainer-here"))} <= set(variants("prank"))
    assert len(cells()) == len(set(cells()))


def test_a_plugin_that_reads_the_place_of_a_row_disagrees():
    one = trained(Cell("prank", (), (("preset", "paper"),)))
    one.engine = one.fit(X=one.X[:, ::-1].copy())
    assert disagreement(one, "again")
