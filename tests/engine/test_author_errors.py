"""Exceptions and wrong return values of an author's code: a note or a message names the author's method, never an adapter."""

import numpy as np
import pytest
from plain import Engine
from subsets import Subsets

from structperc import hookimpl
from structperc.components import (
    Argmax,
    HammingLoss,
    Loss,
    OnlineTrainer,
    Outputs,
    PerceptronUpdate,
    PrefixArgmax,
    PrimalWeights,
    Reader,
    RowFeatures,
)
from structperc.errors import DataError, PluginError
from structperc.pictures import Display
from structperc.plugin_tools import refuse_weights

X, Y = [np.ones((2, 2)), np.array([[1.0, 2.0], [-1.0, 0.5]])], [[0], [1]]


def failing(base, method):
    """A class whose method raises KeyError(3) in example 1."""

    def raising(self, *arguments):
        x = next(a.x if hasattr(a, "loss") else a for a in arguments if hasattr(a, "n_atoms") or hasattr(a, "loss"))
        if x.index == 1:
            raise KeyError(3)
        return getattr(base, method)(self, *arguments)

    return type("Mine", (base,), {method: raising})


class Positive(Argmax):
    def argmax(self, scores, x):
        return np.flatnonzero(scores > 0)


@pytest.mark.parametrize(
    ("base", "method"), [(Positive, "argmax"), (Outputs, "count"), (HammingLoss, "augment"), (PerceptronUpdate, "step")]
)
def test_an_own_exception_comes_with_a_note(base, method):
    with pytest.raises(KeyError) as caught:
        Engine(Subsets(), plugins=[failing(base, method)()], loss_weight=1.0, epochs=2).fit(X, Y)

    assert caught.value.args == (3,)
    assert caught.value.__notes__ == [f"in Mine.{method}, example 1"]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_augment_adds_must_be_finite(value):
    class Endless(HammingLoss):
        def augment(self, gold, scores, scale, x=None):
            return np.where(np.arange(len(scores)) == 1, value, scores)

    with pytest.raises(PluginError, match=f"Endless.augment returned {value} for atom 1 of example 0; expected finite numbers"):
        Engine(Subsets(), plugins=[Endless()], loss_weight=1.0).fit(X, Y)


def test_floats_are_no_structure():
    class Floats(PrefixArgmax):
        def argmax(self, scores, x):
            return float(super().argmax(scores, x))

    class Halves(Argmax):
        def argmax(self, scores, x):
            return np.array([0.0])

    with pytest.raises(PluginError, match="1.0 for example 0 is not a label; expected an int"):
        Engine("cusum", plugins=[Floats(3)]).fit([[1.0], [2.0], [3.0]], [1, 2, 3])
    with pytest.raises(PluginError, match=r"array\(\[0.\]\) for example 0 is not a structure; expected a collection of ints"):
        Engine(Subsets(), plugins=[Halves()]).fit(X, Y)


def test_a_loss_sees_the_outputs_as_their_author_wrote_them():
    class Named(Outputs):
        M = 7

        def count(self, x, y):
            return super().count(x, y)

    class Asking(Loss):
        def value(self, gold, y, x):
            return self.outputs.M

    engine = Engine(Subsets(), plugins=[Named(), Asking()]).fit(X, Y)
    assert engine.parts_.loss.outputs is engine.parts_.outputs and engine.cumulative_loss_ % 7 == 0 < engine.cumulative_loss_


def test_a_start_without_the_base_class_is_said():
    class Deaf(HammingLoss):
        def start(self, parts, context):
            pass

    with pytest.raises(PluginError, match=r"Deaf does not know the outputs yet.* begins with super\(\).start\(parts, context\)"):
        Engine(Subsets(), plugins=[Deaf()]).fit(X, Y)


def rule(**attributes):
    return type("Rule", (PerceptronUpdate,), attributes)()


def store(name):
    return type("Store", (PrimalWeights,), {"attributes": lambda self, weights: {name: lambda: 1.0}})()


@pytest.mark.parametrize(("part", "sentence"), [
    (rule(needs={"marginal"}),
     "Rule.needs names 'marginal'; expected a set of 'marginals', 'search'. Did you mean 'marginals'"),
    (rule(needs="search"), "Rule.needs = 'search'; expected a set of 'marginals', 'search', not a text"),
    (rule(options_used=("margn",)),
     "Rule.options_used names 'margn'; expected a tuple of options of the engine and its plugins. Did you mean "
                                    "'margin'"),
    (rule(options_used="margin"), "Rule.options_used = 'margin'; expected a tuple of options of the engine and its plugins, not a text"),
    (rule(check=lambda self, context, parts: "the rule does not fit"),
     "Rule.check returned 'the rule does not fit'; expected None. Raise an error"),
    (store("mean"), "Store.attributes names 'mean'; expected names that end in one underscore, such as 'mean_'"),
    (store("_mean_"), "Store.attributes names '_mean_'; expected names that end in one underscore, such as 'mean_'"),
    (store("mistakes_"), "Store.attributes names 'mistakes_', which is an attribute of the engine itself; choose another name"),
])  # fmt: skip
def test_a_declaration_that_means_nothing_is_refused(part, sentence):
    with pytest.raises(PluginError, match=sentence):
        Engine("cusum", plugins=[part]).fit([[0.0], [1.0]], [1, 2])


def test_a_name_without_meaning_is_refused_before_the_option_that_is_not_used():
    with pytest.raises(PluginError, match="Rule.options_used names 'margn'; .* Did you mean 'margin'"):
        Engine("cusum", plugins=[rule(options_used=("margn",))], margin=2.0).fit([[0.0], [1.0]], [1, 2])


def test_sentences_about_a_rule_name_the_rule_in_use():
    whole = rule(check=lambda self, context, parts: refuse_weights(context, parts))
    with pytest.raises(DataError, match=r"sample_weight\[0\] is 0.5: Rule has no slack to weigh"):
        Engine("cusum", plugins=[whole]).fit([[0.0], [1.0]], [1, 2], sample_weight=[0.5, 1.0])


# ---- methods that are called once ----


class Bare(Exception):
    pass


def broken(base, method):
    """A class whose method raises an exception without a message."""

    def raising(self, *arguments, **named):
        raise Bare

    return type("Mine", (base,), {method: raising})


def once(base, method):
    hooks = {Reader: "reader", Outputs: "outputs", RowFeatures: "features", OnlineTrainer: "trainer"}
    kind = broken(base, method)
    if base is Display:
        shown, base = kind, Outputs
        kind = type("Displayed", (Outputs,), {"display": lambda self: shown(self)})
    arguments = (2,) if base is RowFeatures else ()
    return kind(*arguments) if base not in hooks else type("P", (), {
        f"structperc_{hooks[base]}": hookimpl(lambda self, context: kind(*arguments))})()


@pytest.mark.parametrize(
    ("base", "method"),
    [
        (Reader, "read"), (Reader, "learn"), (Outputs, "find_labels"), (Outputs, "start"), (Outputs, "encode"), (Outputs, "check"),
        (Outputs, "admissible"), (Outputs, "second_stage"), (RowFeatures, "start"), (RowFeatures, "check_rows"), (RowFeatures, "max_atoms"),
        (OnlineTrainer, "train"), (OnlineTrainer, "check"), (PerceptronUpdate, "check"), (HammingLoss, "start"),
        (Outputs, "attributes"),
    ],
)
def test_a_method_that_is_called_once_is_named_too(base, method):
    with pytest.raises(Bare) as caught:
        Engine(Subsets(), plugins=[once(base, method)]).fit(X, Y)

    assert caught.value.__notes__ == [f"in Mine.{method}"]


@pytest.mark.parametrize(
    ("base", "method", "call"),
    [
        (Outputs, "state", lambda engine: engine.__reduce__()),
        (PerceptronUpdate, "state", lambda engine: engine.__reduce__()),
        (Display, "atom_names", lambda engine: engine.explain(X[0], against=(0,))),
        (RowFeatures, "column_of", lambda engine: engine.explain(X[0], against=(0,))),
        (Outputs, "display", lambda engine: engine.explain(X[0], against=(0,))),
        (Display, "picture", lambda engine: engine.explain(X[0], against=(0,))),
        (OnlineTrainer, "check_answers", lambda engine: engine.predict(X)),
    ],
)
def test_a_method_of_a_trained_part_is_named_too(base, method, call):
    part = with_restore(base) if method == "state" else once(base, method)
    engine = Engine(Subsets(), plugins=[part]).fit(X, Y)
    with pytest.raises(Bare) as caught:
        call(engine)

    note = caught.value.__notes__
    assert note in ([f"in Mine.{method}"], [f"in Mine.{method}, example 0"])


def with_restore(base):
    kind = type("Mine", (broken(base, "state"),), {"restore": lambda self, state: None, "__module__": __name__})
    if base is Outputs:
        return type("P", (), {"structperc_outputs": hookimpl(lambda self, context: kind())})()
    return kind()


def test_an_observer_is_named():
    class Watcher:
        @hookimpl
        def structperc_epoch_end(self, engine, record):
            raise Bare

    with pytest.raises(Bare) as caught:
        Engine(Subsets(), plugins=[Watcher()]).fit(X, Y)

    assert caught.value.__notes__ == ["in Watcher.structperc_epoch_end"]


def test_the_innermost_part_is_named_once():
    class Visits(OnlineTrainer):
        def train(self, run):
            return super().train(run)

    with pytest.raises(KeyError) as caught:
        Engine(Subsets(), plugins=[Visits(), failing(PerceptronUpdate, "step")()], epochs=2).fit(X, Y)

    assert caught.value.__notes__ == ["in Mine.step, example 1"]


def test_needs_that_are_set_after_the_first_fit_are_checked_too():
    class Rule(PerceptronUpdate):
        def start(self, parts, context):
            super().start(parts, context)
            self.needs = wanted

    wanted = frozenset()
    Engine("multiclass", plugins=[Rule()]).fit([[0.0], [1.0]], [1, 2])
    wanted = {"marginal"}
    with pytest.raises(PluginError, match="Rule.needs names 'marginal'; .* Did you mean 'marginals'"):
        Engine("multiclass", plugins=[Rule()]).fit([[0.0], [1.0]], [1, 2])
