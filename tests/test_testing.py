"""Tests of `check_problem`: every bundled plugin passes, and plugins with one fault each fail."""

import numpy as np
import pytest
from faulty_parts import (
    BROKEN,
    Answers,
    Backwards,
    CostsOneWhenRight,
    DoublingEverySecond,
    Narrow,
    NarrowLast,
    NotLinear,
    OffByOne,
    RankIntervals,
    Subsets,
    WeighedHamming,
    Words,
)
from plain import Engine
from reference.parses import Parses

import structperc
from structperc import hookimpl
from structperc.components import (
    AbsoluteLoss,
    Loss,
    PrefixArgmax,
    RankOutputs,
    Trainer,
)
from structperc.errors import PluginError, UnusedOption
from structperc.fitting import plugins as registry
from structperc.testing import CHECKS, DualWeights, check_problem

BUNDLED = sorted(p.name for p in registry.installed() if p.distribution == "structperc")
NAMES = [check.__name__ for check in CHECKS]

# ---- plugins that pass ----


OWN_TRAINER = dict.fromkeys(["separable_set_is_learned", "average_is_the_mean", "dense_equals_csr", "primal_equals_dual"],
                            "a trainer of its own drives the examples")
NOT_LISTED = "Outputs.enumerate does not list Y(x), or lists more than 4096 structures"
LEFT_OUT = {        # checks that do not apply to a bundled plugin, with the reason; all others pass
    "adaboost-or": OWN_TRAINER, "batch": OWN_TRAINER, "large-margin": OWN_TRAINER,
    "clusters": {"dense_equals_csr": "X is a list of objects"},
    "decision-rules": {"separable_set_is_learned": "no bound is known for update='perturbed', loss_weight=0.0 and decay=0.0"},
    "decisions": dict.fromkeys(["argmax_maximises", "augmented_argmax_maximises", "further_answers_agree", "losses_of_scores_agree",
                                "separable_set_is_learned"], NOT_LISTED),
    "dual-kernel": dict.fromkeys(["average_is_the_mean", "primal_equals_dual"], "the weights are no vector"),
    "interval-pa": {"separable_set_is_learned": "gold outputs are partial"},
    "latent-ranking": {"separable_set_is_learned": "gold outputs are partial"},
}  # fmt: skip


@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_plugin_passes(name):
    report = check_problem(name)

    assert [check for check, _ in report] == NAMES
    assert {check: outcome for check, outcome in report if outcome != "passed"} == {
        check: f"not applicable: {reason}" for check, reason in LEFT_OUT.get(name, {}).items()}


@pytest.mark.parametrize("name", ["cusum", "multiclass"])
@pytest.mark.parametrize(
    "options",
    [
        {"update": "pa", "average": True},
        {"update": "pa1", "C": 0.1, "loss_weight": 1.0},
        {"update": "pa2", "shuffle": True, "random_state": 3},
        {"loss_weight": 0.5, "margin": 1.0, "fit_intercept": False},
        {"loss": "zero-one", "classes": ["low", "middle", "high"]},
        {"decay": 0.01},
        {"loss": "squared", "loss_weight": 1.0},
    ],
    ids=str,
)
def test_options_pass_too(name, options):
    report = dict(check_problem(name, **options))

    left_out = {"separable_set_is_learned"} | ({"sample_weights_act"} if options.get("update") == "pa" else set())
    expected = set(NAMES) - left_out
    assert {name for name, outcome in report.items() if outcome == "passed"} >= expected


def test_prank_with_the_original_update_passes():
    assert dict(check_problem("prank", variant="original", checks=NAMES[:12])) == dict.fromkeys(NAMES[:12], "passed")


@pytest.mark.parametrize("options", [
    {"start": False, "end": False},
    {"start": False, "forbidden_transitions": [("a", "b"), ("c", "c"), (None, "c")]},
    {"end": False, "required_transitions": [("a", "b"), ("c", "c")]},
    {"classes": ["O", "B-X", "I-X"], "forbidden_transitions": "iob2", "fit_intercept": False},
    {"update": "pa", "average": True, "loss": [[0, 1, 2], [3, 0, 1], [0.5, 1, 0]]},
    {"loss_weight": 1.0, "classes": ["a", "b"]},
], ids=str)
def test_sequences_pass(options):
    report = dict(check_problem("sequence", **options))

    if options.get("update") == "pa":
        assert report.pop("sample_weights_act") == "not applicable: these weights raise an error"
    assert set(report) >= set(NAMES) - {"sample_weights_act"} and set(report.values()) == {"passed"}


@pytest.mark.parametrize("options", [{"update": "pa1", "C": 0.1, "loss_weight": 1.0}, {"update": "pa2", "decay": 0.01}], ids=str)
def test_sequences_pass_where_no_bound_is_known(options):
    report = dict(check_problem("sequence", **options))

    assert report.pop("separable_set_is_learned").startswith("not applicable: no bound is known")
    assert set(report.values()) == {"passed"}


@pytest.mark.parametrize("seed", range(5))
def test_structures_pass(seed):
    assert dict(check_problem(Subsets(), random_state=seed)) == dict.fromkeys(NAMES, "passed")


@pytest.mark.parametrize(
    "options", [{"update": "pa"}, {"update": "pa1", "loss_weight": 1.0, "average": True}, {"loss": "zero-one"}], ids=str
)
def test_structures_pass_with_other_updates_and_losses(options):
    report = dict(check_problem(Subsets(), **options))

    assert report["compiled_equals_python"] == report["primal_equals_dual"] == "passed"


def test_objects_pass():
    report = dict(check_problem(Words()))

    assert report.pop("dense_equals_csr") == "not applicable: X is a list of objects"
    assert set(report.values()) == {"passed"}


def test_partial_gold_outputs_pass():
    report = dict(check_problem(RankIntervals()))

    assert report.pop("separable_set_is_learned") == "not applicable: gold outputs are partial"
    assert set(report.values()) == {"passed"}


def test_answers_may_be_nested():
    report = dict(check_problem(Parses()))

    assert report.pop("dense_equals_csr") == "not applicable: X is a list of objects"
    assert set(report.values()) == {"passed"}


@pytest.mark.parametrize("problem", ["cusum", Subsets()], ids=["cusum", "subsets"])
def test_a_store_of_float32_passes(problem):
    report = dict(check_problem(problem, plugins=[Narrow()]))

    assert report["average_is_the_mean"] == report["primal_equals_dual"] == "passed"


def test_a_store_that_does_not_average_passes():
    report = dict(check_problem("cusum", plugins=[NarrowLast()]))

    assert report["average_is_the_mean"] == ("not applicable: average=True has no effect with the NarrowLast object in plugins; leave it "
                                              "at False.")
    assert report["primal_equals_dual"] == report["saving_keeps_everything"] == "passed"


def test_the_report_prints_as_a_table():
    lines = str(check_problem("cusum", checks=["argmax_maximises", "features_add_up"])).splitlines()

    assert [line.split() for line in lines] == [["argmax_maximises", "passed"], ["features_add_up", "passed"]]


# ---- checks that do not apply ----


class Approximate(PrefixArgmax):
    exact = False


class Unlisted(RankOutputs):
    def enumerate(self, x):
        return None


class OwnTrainer(Trainer):
    def train(self, run):
        run.run()
        return "max_epochs"


@pytest.mark.parametrize(
    ("replacement", "reasons"),
    [
        (Approximate(4), {"argmax_maximises": "declares itself approximate", "separable_set_is_learned": "declares itself approximate"}),
        (Approximate(4), dict.fromkeys(["further_answers_agree", "losses_of_scores_agree"], "declares itself approximate")),
        (Unlisted(), {"argmax_maximises": "does not list Y(x)", "augmented_argmax_maximises": "does not list Y(x)"}),
        (Unlisted(), dict.fromkeys(["further_answers_agree", "losses_of_scores_agree"], "does not list Y(x)")),
        (OwnTrainer(), {"separable_set_is_learned": "a trainer of its own", "average_is_the_mean": "a trainer of its own"}),
        (DualWeights(), {"primal_equals_dual": "no vector", "average_is_the_mean": "no vector"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_does_not_apply_is_said(replacement, reasons):
    report = dict(check_problem("cusum", plugins=[replacement], checks=list(reasons)))

    for check, reason in reasons.items():
        assert report[check].startswith("not applicable: ") and reason in report[check]


def test_a_loss_that_is_only_measured_is_said_to_be():
    class Measured(Loss):
        def value(self, gold, y, x=None):
            return float(set(gold) != set(y))

    report = check_problem(Subsets(), plugins=[Measured()])

    assert dict(report)["augmented_argmax_maximises"] == "not applicable: Measured is only measured"


def test_more_structures_than_can_be_looked_at_do_not_apply():
    class Large(Subsets):
        def sample(self, random, n_examples):
            return [random.normal(size=(13, 2)) for _ in range(3)]

    report = check_problem(Large(), checks=["argmax_maximises"])

    assert "lists more than 4096 structures" in report[0][1]


# ---- faults ----


def test_what_is_broken_here_is_otherwise_right():
    assert check_problem("cusum", plugins=[Answers(4)], checks=["further_answers_agree"]) == [("further_answers_agree", "passed")]


@pytest.mark.parametrize(("check", "problem", "broken", "found"), BROKEN, ids=[f"{c}-{type(b or p).__name__}" for c, p, b, _ in BROKEN])
def test_broken_plugins_are_caught(check, problem, broken, found):
    with pytest.raises(AssertionError) as caught:
        check_problem(problem, plugins=[] if broken is None else [broken], checks=[check])

    assert found in str(caught.value)
    assert str(caught.value).startswith("plugin '") and f"fails {check}: " in str(caught.value)


def test_a_loss_that_no_search_can_use_is_only_measured():
    class Twice(Subsets):
        """The same sets, whose atoms count twice."""

        @hookimpl
        def structperc_outputs(self, context):
            class Counted(type(super().structperc_outputs(context))):
                def count(self, x, y):
                    return 2 * np.isin(np.arange(x.n_atoms), y)

            return Counted()

    for problem, loss, reason in ((Subsets(), WeighedHamming(), "WeighedHamming is only measured"),
                                  (Twice(), None, "HammingLoss is only measured: search with loss='hamming' needs distinct atoms")):
        report = check_problem(problem, plugins=[] if loss is None else [loss])
        assert dict(report)["augmented_argmax_maximises"].startswith(f"not applicable: {reason}")


def test_an_export_that_predicts_otherwise_is_caught(monkeypatch):
    def export(engine, path, to):
        path.write_text("def predict(X):\n    return [1] * len(X)\n")

    monkeypatch.setattr(structperc.Engine, "export", export)
    with pytest.raises(AssertionError, match="predict returns [234] for .*, but the exported module returns 1. Raise an error"):
        check_problem("cusum", checks=["export_predicts_the_same"])


def test_every_check_has_been_seen_to_fail():
    elsewhere = {"export_predicts_the_same", "cells_are_read_back"}         # above, and in test_borders_of_authors

    assert {check for check, *_ in BROKEN} == set(NAMES) - elsewhere


@pytest.mark.parametrize("broken", [OffByOne(4), NotLinear(3, 3), CostsOneWhenRight(), Backwards(), DoublingEverySecond()])
def test_the_whole_battery_stops_at_the_first_failure(broken):
    with pytest.raises(AssertionError, match="plugin 'cusum' .* fails "):
        check_problem("cusum", plugins=[broken])


# ---- plugins that cannot be checked ----


def test_a_single_hot_spot_needs_a_problem():
    with pytest.raises(PluginError, match="implements structperc_loss, but a whole problem implements .* attribute `problem`"):
        check_problem(AbsoluteLoss())


def test_a_single_hot_spot_can_name_its_problem():
    class Loss:
        problem = "cusum"

        @hookimpl
        def structperc_loss(self, context):
            return CostsOneWhenRight()

    with pytest.raises(AssertionError, match="plugin 'Loss' fails loss_is_zero_at_gold"):
        check_problem(Loss())


def test_structures_without_a_sample_are_refused():
    class NoSample(Subsets):
        sample = property()

    with pytest.raises(PluginError, match=r"no examples can be made up for plugin 'subsets': .* sample\(random, n_examples\)"):
        check_problem(NoSample())


def test_a_sample_that_is_no_data_is_refused():
    class Ragged(Subsets):
        def sample(self, random, n_examples):
            return [[1.0, 2.0], [3.0]], None

    with pytest.raises(PluginError, match="the sample of plugin 'subsets' cannot be read: X is ragged"):
        check_problem(Ragged())


def test_unknown_checks_and_plugins_are_refused():
    with pytest.raises(ValueError, match="there is no check 'argmax'; the checks are plugin_is_used"):
        check_problem("cusum", checks=["argmax"])
    with pytest.raises(PluginError, match="Did you mean 'cusum'"):
        check_problem("cusumm")


# ---- the explicit dual store ----


@pytest.mark.parametrize("average", [False, True])
def test_the_dual_store_scores_as_the_primal_one(average):
    random = np.random.default_rng(1)
    X, y = random.integers(-3, 4, size=(30, 2)).astype(float), random.integers(1, 4, 30)
    options = {"average": average, "epochs": 2, "classes": [1, 2, 3]}
    primal, dual = Engine("cusum", **options).fit(X, y), Engine("cusum", plugins=[DualWeights()], **options).fit(X, y)

    np.testing.assert_allclose(dual.atom_scores(X), primal.atom_scores(X), rtol=1e-12, atol=1e-12)


def test_the_dual_store_refuses_decay():
    with pytest.raises(UnusedOption, match="decay=0.1 has no effect with the DualWeights object"):
        Engine("cusum", decay=0.1, plugins=[DualWeights()]).fit([[0.0], [1.0]], [1, 2])
