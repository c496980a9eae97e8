"""What the checks are given: a plugin lined up with others, and examples for it."""

from __future__ import annotations

import copy
from functools import cached_property

import attrs
import numpy as np

from structperc.basics.errors import DataError, PluginError, StructPercError
from structperc.basics.rows_of_numbers import count_rows, to_dense
from structperc.core.component import adapted
from structperc.core.features import is_constrained
from structperc.core.outputs import as_structure, decode_many, listed_structures
from structperc.core.rows import Rows
from structperc.engine.engine import REQUIRED, Engine
from structperc.fitting import plugins as registry
from structperc.fitting.assembly import new_model
from structperc.reading import matrices

LABELS = (1, 2, 3, 4)           # of label problems that are given no classes
EXAMPLES = 24
MOST_STRUCTURES = 4096          # of one example; brute force looks at each


@attrs.frozen(eq=False)
class Data:
    """Examples and, once they are known, their gold outputs as the user passes them."""

    X: object
    offsets: object = None
    y: object = None

    def take(self, indices) -> Data:
        """The examples with these numbers, copied."""
        indices = np.asarray(indices, dtype=np.intp)
        y = self.y
        if y is not None:
            y = y[indices] if isinstance(y, np.ndarray) else [y[i] for i in indices]
        if isinstance(self.X, list):
            return Data([self.X[i] for i in indices], None, y)
        if self.offsets is None:
            return Data(self.X[indices], None, y)
        rows = np.concatenate([np.arange(self.offsets[i], self.offsets[i + 1]) for i in indices])
        return Data(self.X[rows], np.append(0, np.cumsum(np.diff(self.offsets)[indices])), y)


@attrs.define(eq=False, slots=False)
class Case:
    """A line of plugins, engine options and examples; `parts` are the components that an engine would use."""

    problem: object
    plugins: tuple
    options: dict
    random: np.random.Generator
    data: Data
    observe: object = None
    checked: object = None              # the plugin that is checked, loaded
    pristine: Data = attrs.field(init=False)
    enumerated: dict = attrs.field(init=False, factory=dict)       # id of an example -> the example, and Y(x) or None

    def __attrs_post_init__(self):
        self.pristine = copy.deepcopy(self.data)

    def engine(self, *further, **changes) -> Engine:
        """A new engine, with further plugins and changed options."""
        return Engine(self.problem, plugins=(*self.plugins, *further), **{"preset": "paper", **self.options, **changes})

    def fit(self, *further, data=None, **changes) -> Engine:
        data = self.taught if data is None else data
        return self.engine(*further, **changes).fit(data.X, data.y, offsets=data.offsets, record_predictions=True)

    @cached_property
    def asked(self) -> Engine:
        """An engine whose plugins were asked for their parts, with nothing learned."""
        engine = self.engine()
        self.parts = new_model(engine, self.data.X, self.data.offsets, None)[0].parts
        return engine

    @cached_property
    def parts(self):
        return self.asked and self.__dict__["parts"]         # an engine that was asked has set them

    @cached_property
    def tolerance(self) -> float:
        """How far sums of the same steps may differ, relative to the largest: more for weights of fewer digits."""
        vector = self.parts.weights.vector()
        return 1e-9 if vector is None or np.asarray(vector).dtype.itemsize >= 8 else 1e-5

    @cached_property
    def no_average(self) -> str:
        """Why these parts do not support average=True. Empty if they do."""
        try:
            new_model(self.engine(average=True), self.data.X, self.data.offsets, None)
        except StructPercError as error:
            return str(error)
        return ""

    @property
    def averages(self) -> tuple:
        """The values of `average` that these parts accept."""
        return (False,) if self.no_average else (False, True)

    @property
    def described(self) -> str:
        """The parts that are tested, by their authors' names."""
        return ", ".join(f"{kind} {type(part).__name__}" for kind, part in self.parts.items())

    @cached_property
    def outputs(self):
        return adapted(self.parts.outputs)

    @cached_property
    def features(self):
        return adapted(self.parts.features)

    @cached_property
    def loss(self):
        return adapted(self.parts.loss)

    @cached_property
    def examples(self) -> list:
        return self.examples_of(self.data)

    def examples_of(self, data) -> list:
        rows = self.rows_of(data)
        examples = [rows.example(i) for i in range(rows.n_examples)]
        for x in examples:
            x.n_atoms = self.parts.features.n_atoms(x)
        return examples

    def rows_of(self, data) -> Rows:
        """The examples as the reader reads them and a model prepares them: each column of a sparse row once."""
        rows = self.parts.reader.read(data.X, data.offsets)
        return rows if rows.objects else rows.summed()

    def answer(self, scores, x):
        """What the argmax finds, checked as the loop would check it."""
        outputs = self.parts.outputs
        y = as_structure(outputs, self.parts.argmax.argmax(scores, x), x)
        outputs.check_structure(x, y)
        return y

    def structures(self, x):
        """All of Y(x), or None where they are not listed or too many. They are listed once for all checks."""
        if id(x) not in self.enumerated:
            listed = listed_structures(self.parts.outputs, x, MOST_STRUCTURES + 1)
            self.enumerated[id(x)] = x, None if listed is None or len(listed) > MOST_STRUCTURES else listed
        return self.enumerated[id(x)][1]

    def some_structures(self, x) -> list:
        """At most a dozen of Y(x), found by the argmax where Y(x) is not listed."""
        listed = self.structures(x)
        if listed is None:
            return list({self.answer(self.scores(x, self.random.standard_normal), x): None for _ in range(12)})
        return [listed[i] for i in sorted(self.random.permutation(len(listed))[:12])]

    def counts(self, x, structures) -> np.ndarray:
        """How often each atom occurs in each structure, (n_structures, n_atoms)."""
        return np.array([self.parts.outputs.count(x, y) for y in structures], dtype=float).reshape(len(structures), x.n_atoms)

    def golds(self, x) -> list:
        """Encoded gold outputs of an example to measure losses from."""
        outputs = self.parts.outputs
        if not outputs.partial_gold:
            return self.some_structures(x)
        return [outputs.encode(self.taught.y, self.rows_of(self.taught))[x.index]]

    def projected(self, w, x=None) -> np.ndarray:
        """The nearest weights that the feature map allows; `x` as in `Features.project`."""
        w = np.array(w, dtype=float)
        self.features.project(w, x)
        return w

    def allows(self, w) -> bool:
        """Whether the feature map allows these weights, but for rounding."""
        return close(self.projected(w), w)

    def weights(self, draw) -> np.ndarray:
        """Weights from draw(n), the nearest that the feature map allows."""
        return self.projected(draw(self.features.n_weights))

    def scores(self, x, draw) -> np.ndarray:
        """Atom scores from draw(n); where the feature map allows only some weights, those of such weights: a solver sees no others."""
        if is_constrained(self.parts.features):
            return self.features.scores(self.weights(draw), x)
        return np.array(draw(x.n_atoms), dtype=float)

    def teacher(self) -> np.ndarray:
        """Random weights."""
        return self.weights(self.random.standard_normal)

    def answers(self, teacher, examples, noise=0.0) -> list:
        """The predictions of a teacher's weights, with noise in their atom scores. They are a mean of two, as allowed weights may be."""
        return [self.answer((self.features.scores(teacher, x) + noise * self.scores(x, self.random.standard_normal)) / (1 + noise), x)
                for x in examples]

    def teach(self, data, answers) -> Data:
        """The examples with these structures as gold outputs."""
        y = decode_many(self.parts.outputs, answers, self.rows_of(data), self.parts.features)
        return attrs.evolve(data, y=y if self.observe is None else self.observe(self.random, y))

    @cached_property
    def taught(self) -> Data:
        """The examples with gold outputs that need not be separable."""
        return self.teach(self.data, self.answers(self.teacher(), self.examples, noise=1.0))


def close(a, b, tolerance=1e-9) -> bool:
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=tolerance, atol=tolerance * (1 + np.abs(b).max(initial=0)))


def make_case(plugin, plugins, options, random_state) -> Case:
    """The plugin, lined up with the problem it needs, and examples: its own `sample`, or rows of numbers for label outputs."""
    checked = registry.load(plugin)
    problem, plugins = line_up(plugin, plugins)
    loaded = [registry.load(p) for p in (problem, *plugins)]

    def said(name):
        return next((value for value in (getattr(plugin, name) for plugin in reversed(loaded)) if value), None)

    options = {"random_state": random_state, **{k: v for plugin in loaded for k, v in (plugin.check_options or {}).items()}, **options}
    random, sample = np.random.default_rng(random_state), said("sample")
    if sample is not None:
        origin = next(plugin.origin for plugin in reversed(loaded) if plugin.sample)
        data = read_sample(called(sample, origin, random, EXAMPLES), origin)
        return with_labels(Case(problem, plugins, options, random, data, said("observe"), checked))
    X = np.round(random.normal(size=(EXAMPLES, 3)) * 16) / 16
    X[1], X[3] = X[0], 0
    case = Case(problem, plugins, {"classes": LABELS, **options}, random, Data(X), said("observe"), checked)
    try:
        new_model(case.engine(), X, None, None)
    except DataError as error:
        raise PluginError(f"no examples can be made up for {loaded[0].origin}: {error} "
                          f"Give it sample(random, n_examples), which returns (X, offsets), (X, labels) or a list of objects.") from error
    return case


def called(sample, origin, random, n):
    """What `sample` returned."""
    try:
        return sample(random, n)
    except StructPercError:
        raise
    except Exception as error:
        raise PluginError(f"sample of {origin} failed: {type(error).__name__}: {error}. Expected a function sample(random, n_examples)."
                          ) from error


def with_labels(case) -> Case:
    """The case with the labels of its sample, or made-up ones, as `classes`; unchanged if the problem has no labels."""
    if "classes" in case.options:
        return case
    y = case.data.y
    try:
        model = new_model(case.engine(), case.data.X, case.data.offsets, y)[0]
        if model.context.labels is not None:
            case.options["classes"] = model.context.labels.tolist()
    except DataError:
        case.options["classes"] = LABELS
        try:
            new_model(case.engine(), case.data.X, case.data.offsets, y)
        except StructPercError:
            del case.options["classes"]                 # no labels are the trouble
    except StructPercError:
        pass                                            # `described` reports what is wrong
    case.data = attrs.evolve(case.data, y=None)
    return case


def line_up(plugin, plugins):
    """The problem to check a plugin with, and the plugins after it."""
    loaded = registry.load(plugin)
    if all(hook in loaded.hooks for hook in REQUIRED):
        return plugin, plugins
    problem = loaded.problem
    if not loaded.hooks:
        raise PluginError(f"{loaded.origin} implements no hook of structperc; mark its functions by @structperc.hookimpl.")
    if problem is None:
        raise PluginError(f"{loaded.origin} implements {', '.join(loaded.hooks)}, but a whole problem implements {', '.join(REQUIRED)}. "
                          f"Name the problem it is for in its attribute `problem`, or call check_problem('cusum', plugins=[...]).")
    return problem, (plugin, *plugins)


def read_sample(sample, origin) -> Data:
    """What `sample` returned, without empty examples, numbers rounded to 2^-10 so that sums of any order agree in every bit."""
    X, *further = sample if isinstance(sample, tuple) else (sample,)
    if len(further) > 2:
        raise PluginError(f"sample of {origin} returned a tuple of {len(sample)}; expected X, (X, offsets), (X, labels) or "
                          f"(X, offsets, labels).")
    y = further.pop() if further and (len(further) == 2 or not are_offsets(further[0], X)) else None
    offsets = further[0] if further else None
    try:
        rows = matrices.read(X, offsets)
    except DataError as error:
        raise PluginError(f"the sample of {origin} cannot be read: {error}") from error
    if y is not None and len(y) != rows.n_examples:
        raise PluginError(f"the sample of {origin} has {len(y)} labels for {rows.n_examples} examples. A pair is (X, labels), or "
                          f"(X, offsets) with whole numbers from 0 to the number of rows.")
    if rows.objects:
        return Data(rows.X, None, y)
    dense = to_dense(rows.X)
    return Data(np.round(dense.astype(np.float64) * 1024) / 1024, rows.offsets, y).take(np.flatnonzero(rows.sizes()))


def are_offsets(values, X) -> bool:
    """Whether the second of a pair has the rows where examples begin, and is no list of labels."""
    if values is None:
        return True
    numbers = np.asarray(values)
    n = count_rows(X)
    return (numbers.ndim == 1 and numbers.dtype.kind in "iu" and len(numbers) > 1 and numbers[0] == 0 and numbers[-1] == n
            and bool((np.diff(numbers) >= 0).all()))
