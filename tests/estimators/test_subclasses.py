"""Subclasses of every estimator and of Engine, as scikit-learn teaches: an own constructor names, narrows, adds and computes parameters."""

import inspect
import io
import pickle

import numpy as np
import pytest
from plain import Engine
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import structperc
from structperc import estimators
from structperc.errors import OptionError
from structperc.estimators import SVOR, CuSumRank, OrdinalConformal, PRank, ScoreCard, StructuredEstimator
from structperc.fitting.option import Options

MAKES = [getattr(estimators, name) for name in estimators.__all__ if name[0].isupper() and name != "StructureSet"]
X = np.random.default_rng(0).normal(size=(40, 2))
Y = np.digitize(X[:, 0], [-0.5, 0.5])


def needed(make) -> dict:
    """The arguments without which an estimator cannot be made."""
    return {name: PRank() for name, one in inspect.signature(make).parameters.items() if one.default is one.empty}


def an_option(make) -> str:
    """An optional parameter."""
    names = [name for name, one in inspect.signature(make).parameters.items() if one.default is not one.empty and name != "measure"]
    return next((name for name in ("C", "coverage", "random_state", "k", "classes") if name in names), names[0])


def shown(model) -> dict:
    """The parameters as texts, for estimators have no equality."""
    return {name: repr(value) for name, value in model.get_params().items()}


def written(make, head, passed, kept=""):
    """A subclass in this module with a constructor of this form."""
    space = {"Base": make}
    exec(f"class Mine(Base):\n    def __init__({head}):\n        super().__init__({passed}){kept}\n", space)
    return space["Mine"]


@pytest.mark.parametrize("make", MAKES)
def test_a_subclass_has_the_parameters_of_its_own_constructor(make):
    name, inner = an_option(make), needed(make)
    required = "".join(f"{one}, " for one in inner)
    base = make(**inner).get_params(deep=False)
    narrow = written(make, f"self, {required}{name}=7", "".join(f"{one}={one}, " for one in (*inner, name)))
    further = written(make, f"self, {name}=7, **options", f"{name}={name}, **options")
    starred = written(make, "self, *unnamed, depth=2, **options", "*unnamed, **options", "; self.depth = depth")
    demanding = written(make, "self, depth, **options", "**options", "; self.depth = depth")
    computed = written(make, "self, depth=2, **options", f"{name}=10 * depth, **options", "; self.depth = depth")
    for cls, own, names in (
        (narrow, {}, {*inner, name}), (further, {}, base.keys()), (starred, {}, {*base, "depth"}),
        (demanding, {"depth": 3}, {*base, "depth"}), (computed, {}, {*base, "depth"} - {name}),
    ):
        model = cls(**inner, **own)
        assert model.get_params(deep=False).keys() == names and set(cls._get_param_names()) >= names
        assert list(inspect.signature(cls.__init__).parameters)[1:] == list(inspect.signature(cls).parameters)
        changed = {"depth": 5} if "depth" in names else {name: 8}
        again = clone(model).set_params(**changed)
        ((key, value),) = changed.items()
        assert type(again) is cls and shown(again) == {**shown(model), key: repr(value)} == shown(clone(again))
        assert f"{key}={value}" in repr(again) and all(getattr(again, one) == base[one] for one in base.keys() - {*inner, name})
    assert narrow(**inner).get_params()[name] == further(**inner).get_params()[name] == 7
    assert repr(narrow(**inner)).replace("estimator=PRank()", "") == "Mine()" == repr(further(**inner)).replace("estimator=PRank()", "")
    assert getattr(computed(**inner, depth=4), name) == 40 and getattr(computed(**inner).set_params(depth=6), name) == 60
    with pytest.raises(OptionError, match="Mine has no parameter 'dept'. Did you mean 'depth'"):
        demanding(**inner, dept=3)


@pytest.mark.parametrize("make", [make for make in MAKES if issubclass(make, Options)])
def test_a_subclass_declares_parameters_by_fields(make):
    name, inner = an_option(make), needed(make)
    cls = type("Mine", (make,), {"__annotations__": {"strength": "float", name: "int"}, "strength": 2.0, name: 7, "__module__": __name__})
    model = cls(**inner, strength=3.0)
    assert getattr(model, name) == 7 and model.strength == 3.0 and "strength=3.0" in repr(model)
    assert clone(model).set_params(strength=4.0).strength == 4.0
    assert inspect.signature(cls).parameters["strength"].kind.name == "KEYWORD_ONLY"
    below = written(cls, "self, depth=1, **options", "**options", "; self.depth = depth")
    assert getattr(below(**inner), name) == 7 and below(**inner, strength=5.0).strength == 5.0


@pytest.mark.parametrize("make", MAKES)
def test_a_subclass_that_cannot_work_says_what_to_write(make):
    name = an_option(make)
    with pytest.raises(OptionError, match=rf"Mine sets {name}=7, which its constructor replaces with a default; write "):
        type("Mine", (make,), {name: 7})
    with pytest.raises(OptionError, match=r"has \*unnamed, whose values have no names. Write \*\*options beside it"):
        written(make, "self, *unnamed, depth=2", "*unnamed")
    with pytest.raises(OptionError, match=r"accepts depth only without its name; leave out the /"):
        written(make, "self, depth, /, **options", "**options")
    with pytest.raises(OptionError, match=r"has the parameter depth, but sets no attribute of this name. Write self.depth = depth"):
        written(make, "self, depth=2, **options", "**options")(**needed(make))
    doubled = written(make, f"self, {name}=7, **options", f"{name}={name}, **options", f"; self.{name} = 2 * {name}")(**needed(make))
    with pytest.raises(OptionError, match=f"was passed {name}=14 and keeps 28. Write self.{name} = {name} in it"):
        clone(doubled)
    narrow = written(make, f"self, {name}=7", "".join(f"{one}={one!r}, " for one in needed(make)) + f"{name}={name}")
    if issubclass(make, Options):
        with pytest.raises(OptionError, match=rf"write def __init__\(self, \*, {name}=9, \*\*options\): super\(\).__init__"):
            type("Below", (narrow,), {"__annotations__": {name: "int"}, name: 9})
        with pytest.raises(OptionError, match=r"write \*\*options in the constructor of Mine, and pass these on"):
            type("Below", (narrow,), {"__annotations__": {"strength": "float"}, "strength": 9.0})


class Strong(CuSumRank):
    """With a parameter of its own that sets C, and another default."""

    def __init__(self, strength, *, epochs=4, **options):
        super().__init__(C=1 / strength, epochs=epochs, update="pa1", **options)
        self.strength = strength


class Few(SVOR):
    """A narrow one."""

    def __init__(self, C=0.5):
        super().__init__("implicit", C=C, kernel="linear")


class Wide(OrdinalConformal):
    """Its own order of parameters."""

    def __init__(self, coverage=0.8, *unnamed, note=None, **options):
        super().__init__(*unnamed, coverage=coverage, **options)
        self.note = note


class Sure(ScoreCard):
    """Only digits."""

    def __init__(self, digits=2):
        super().__init__(PRank(random_state=0), digits=digits, random_state=0)


class Tagged(StructuredEstimator):
    """The parameters are fields, one of them an option of the problem, one of nobody else."""

    problem: str = "sequence"
    start: bool = True
    share: float = 0.5


class Other(CuSumRank):
    """A field declares the type of an attribute that the constructor sets."""

    depth: int

    def __init__(self, depth=2, **options):
        super().__init__(**options)
        self.depth = depth


@pytest.mark.parametrize("model", [Strong(2.0, random_state=0), Few(0.25), Wide(0.7, CuSumRank(random_state=0), random_state=0, note="a"),
                                   Sure(3), Other(random_state=0), Strong(np.float64(2.0), random_state=0)])
def test_a_subclass_trains_and_comes_back_from_files(model):
    model.fit(X, Y)
    file = io.BytesIO()
    model.save(file)
    for again in (type(model).load(io.BytesIO(file.getvalue())), pickle.loads(pickle.dumps(model))):
        assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys() and type(again) is type(model)
        assert repr(again) == repr(model).replace("np.float64(2.0)", "2.0") or repr(again) == repr(model)
        assert again.predict(X).tolist() == model.predict(X).tolist() == clone(model).fit(X, Y).predict(X).tolist()


def test_a_parameter_that_no_file_can_hold_is_refused_when_saved():
    model = Other(depth=len, random_state=0).fit(X, Y)
    with pytest.raises(OptionError, match=r"a model file cannot hold depth=<built-in function len> of Other; pickle it"):
        model.save(io.BytesIO())


def test_fields_that_the_problem_has_are_passed_to_it():
    sentences, labels = [[["the"], ["cat"]], [["a"], ["dog"]]], [["D", "N"], ["D", "N"]]
    model = Tagged(random_state=0).fit(sentences, labels)
    assert hasattr(model, "start_scores_") and model.share == 0.5
    assert not hasattr(Tagged(start=False).fit(sentences, labels), "start_scores_")


def test_a_search_sets_what_a_constructor_computes():
    search = GridSearchCV(Strong(1.0, random_state=0), {"strength": [2.0, 4.0], "epochs": [1]}, cv=2).fit(X, Y)
    best = search.best_estimator_
    assert best.C == 1 / best.strength and best.engine_.C == best.C and best.engine_.epochs == 1


class Mine(Engine):
    """An engine of one problem."""

    def __init__(self, epochs=5):
        super().__init__("cusum", epochs=epochs, random_state=0)


class More(Engine):
    """One with a parameter of its own."""

    def __init__(self, depth, problem="cusum", *, epochs=5, **options):
        super().__init__(problem, epochs=epochs, **options)
        self.depth = depth


@pytest.mark.parametrize(("engine", "shown"), [
    (Mine(), "Mine()"), (Mine(3), "Mine(epochs=3)"), (More(2, shuffle=True), "More(shuffle=True, depth=2)"),
    (More([1], "prank", variant="original"), "More(problem='prank', variant='original', depth=[1])"),
])
def test_a_subclass_of_the_engine_writes_a_constructor(engine, shown):
    assert repr(engine) == shown and "self" not in inspect.signature(type(engine)).parameters
    assert ("margin" in inspect.signature(type(engine)).parameters) == isinstance(engine, More)
    engine.fit(X, Y)
    file = io.BytesIO()
    engine.save(file)
    for again in (type(engine).load(io.BytesIO(file.getvalue())), pickle.loads(pickle.dumps(engine)), engine._like()):
        assert getattr(again, "depth", None) == getattr(engine, "depth", None) and type(again) is type(engine)
    assert type(engine).load(io.BytesIO(file.getvalue())).predict(X).tolist() == engine.predict(X).tolist()
    again = Engine.load(io.BytesIO(file.getvalue()))
    assert again.epochs == engine.epochs


@pytest.mark.parametrize("make", [*MAKES, structperc.Engine])
def test_few_own_classes_are_above_an_estimator(make):
    own = [base.__name__ for base in make.__mro__[1:] if base.__module__.partition(".")[0].startswith("structperc")]
    assert len(own) <= 12, own
