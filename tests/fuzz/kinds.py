"""Small trained engines of all kinds: each problem, rule, weight store, kernel and form of X at least once."""

from __future__ import annotations

import functools
import io

import attrs
import numpy as np
from plain import Engine
from scipy.sparse import csr_array, issparse
from structperc_dual_kernel.nystroem import NystroemReader

from fuzz.promises import Hostility, expect
from structperc.testing.case import make_case

RANDOM = np.random.default_rng(13)
N, D = 12, 3


def minimum(A, B):
    """A kernel that is a function."""
    A, B = (rows.toarray() if issparse(rows) else np.atleast_2d(rows) for rows in (A, B))
    try:
        return np.minimum(A[:, None, :], B[None, :, :]).clip(0).sum(-1)
    except TypeError as error:              # a kernel's own errors are the user's
        raise Hostility from error


@attrs.frozen
class Kind:
    """How an engine is made, trained and asked.

    Attributes
    ----------
    options : dict
        The engine's, the problem among them.
    X, y
    told : dict
        How rows make examples: lengths, groups or offsets; empty where each is one.
    fitting : dict
        What else `fit` is given.
    again : dict
        What `Engine.load` must be given again.
    any_form : bool, default True
        Whether X may be sparse, or rows in lists.
    """

    options: dict
    X: object
    y: object
    told: dict = attrs.field(factory=dict)
    fitting: dict = attrs.field(factory=dict)
    again: dict = attrs.field(factory=dict)
    any_form: bool = True

    def engine(self):
        return Engine(**{"random_state": 0, **self.options})

    def fit(self):
        return self.engine().fit(self.X, self.y, **self.told, **self.fitting)

    @property
    def first(self):
        """The first example."""
        if isinstance(self.X, list):
            return self.X[0]
        return self.X[:self.told["offsets"][1] if "offsets" in self.told else self.told.get("lengths", [1])[0]]

    @property
    def online(self):
        return "trainer" not in self.options

    def load(self, content):
        return Engine.load(io.BytesIO(content), **self.again)


@attrs.define(eq=False, slots=False)
class Trained:
    """An engine of one kind that executions share; who changes it calls `reset`."""

    name: str
    kind: Kind

    @functools.cached_property
    def content(self) -> bytes:
        return dumped(self.kind.fit())

    @functools.cached_property
    def engine(self):
        return self.kind.load(self.content)

    @functools.cached_property
    def answers(self):
        return self.engine.predict(self.kind.X, **self.kind.told).tolist()

    def reset(self):
        self.__dict__.pop("engine", None)


def dumped(engine) -> bytes:
    """What `save` writes."""
    file = io.BytesIO()
    engine.save(file)
    return file.getvalue()


def dense(n=N, d=D):
    return np.round(RANDOM.normal(size=(n, d)) * 16) / 16


def ranks(n=N, r=3):
    return RANDOM.permutation(np.arange(n) % r + 1)


def sparse(n=N, d=D):
    X = dense(n, d)
    X[RANDOM.random(X.shape) < 0.4] = 0
    return csr_array(X)


def intervals():
    low = ranks()
    return np.column_stack([low, np.minimum(low + RANDOM.integers(0, 2, N), 3)])


X, y, S = dense(), ranks(), sparse()
SENTENCES = [["the", "dog"], ["a", "cat", "barks"], ["dogs"], ["the", "cat", "a"]]
WORDS = [[[word, word[-2:]] for word in sentence] for sentence in SENTENCES]
TAGS = [["D", "N"], ["D", "N", "V"], ["N"], ["D", "N", "D"]]
TUPLES = [[(word, word[-1]) for word in sentence] for sentence in SENTENCES]
NAMED = [[{f"w={word}": 1.0, "n": float(len(word))} for word in sentence] for sentence in SENTENCES]
PHRASES = [["B-x", "I-x"], ["O", "B-x", "I-x"], ["O"], ["B-y", "O", "B-x"]]
LENGTHS = [3, 1, 4, 4]
TOKENS = [[1, 2, 1], [2], [1, 3, 1, 2], [2, 2, 1, 1]]
GRADES = [[0, 1, 0], [1], [0, 2, 0, 1], [1, 0, 0, 2]]
TREES = ["(S (A a) (B b))", "(S (A b) (B b))", "(S (A a))", "(B (A a) (A b))", "(S x)", "(A (B a))"]
STRINGS = ["abc", "abd", "bcd", "xyz", "xxy", "a"]
SIX = [1, 1, 2, 2, 3, 1]
GRAM = X @ X.T
KERNEL = {"plugins": ["dual-kernel"]}
BATCH = {"plugins": ["batch"], "C": 0.5, "epochs": 3}
SVOR = {"plugins": ["large-margin"], "trainer": "svor", "update": "exact-pa1", "epochs": 5}
CUSUM = {"problem": "cusum"}


PARSED = [[("the", "D"), ("dog", "N"), ("barks", "V")], [("dogs", "N"), ("bark", "V")], [("a", "D"), ("cat", "N")]]
HEADS = [[2, 3, 0], [2, 0], [2, 0]]
ARCS = [[(2, "det"), (3, "subj"), (0, "root")], [(2, "subj"), (0, "root")], [(2, "det"), (0, "root")]]
FEW = {"n_hashed": 64}


def sampled(problem, any_form=True, **options):
    """A problem with the examples that its plugin gives to the test suite, learned from a teacher."""
    case = make_case(problem, (), options, 0)
    data = case.taught.take(range(8))
    given = {name: value for name, value in case.options.items() if callable(value)}            # no file holds them
    told = {} if data.offsets is None else {"offsets": data.offsets.tolist()}
    return Kind({"problem": problem, **case.options}, data.X, data.y, told, again=given, any_form=any_form)


def data_of(kind) -> tuple:
    return kind.X, kind.y, kind.told


def nystroem():
    return NystroemReader("rbf", 4, gamma=0.5)


def kinds() -> dict:
    """All kinds, by name."""
    return {
        "cusum": Kind(CUSUM, X, y),
        "cusum csr": Kind({**CUSUM, "average": True, "epochs": 2}, S, y),
        "cusum text": Kind({**CUSUM, "classes": ["low", "mid", "high"]}, X.astype("f4"), np.array(["low", "mid", "high"])[y - 1]),
        "cusum matrix": Kind({**CUSUM, "loss": [[0, 1, 5], [1, 0, 1], [2, 1, 0]], "loss_weight": 0.5}, X, y),
        "cusum costs": Kind({**CUSUM, "loss": "costs"}, X, y, fitting={"costs": np.abs(np.arange(3)[None] - y[:, None] + 1) * 1.0}),
        "cusum weighted": Kind({**CUSUM, "update": "pa1", "C": 0.1}, X, y, fitting={"sample_weight": np.arange(N) % 3 * 0.5}),
        "prank": Kind({"problem": "prank", "epochs": 2}, X, y),
        "prank original": Kind({"problem": "prank", "variant": "original"}, S, y),
        "prank exact": Kind({"problem": "prank", "update": "exact-pa1", "C": 0.1, "average": True}, X, y),
        "interval": Kind({"problem": "interval-pa", "update": "exact-pa"}, X, intervals()),
        "interval csr": Kind({"problem": "interval-pa", "update": "exact-pa2", "loss": "squared"}, S, intervals()),
        "multiclass": Kind({"problem": "multiclass", "update": "pa1", "average": True}, X, y),
        "multiclass csr": Kind({"problem": "multiclass", "decay": "inverse(0.1)", "average": True}, S, y),
        "multiclass latent": Kind({"problem": "multiclass", "update": "latent", "step_size": "inverse_sqrt(1.0)", "shuffle": True,
                                   "random_state": 1}, X, y),
        "sequence": Kind({"problem": "sequence", "start": True, "end": True}, X, TOKENS, {"lengths": LENGTHS}),
        "sequence names": Kind({"problem": "sequence", "average": True, "epochs": 2}, WORDS, TAGS),
        "sequence dicts": Kind({"problem": "sequence", "update": "pa1"}, NAMED, TAGS),
        "sequence hashed": Kind({"problem": "sequence", "n_hashed": 64, "average": True}, NAMED, TAGS),
        "sequence template": Kind({"problem": "sequence", "template": "U1:%x[0,0]\nU2:%x[-1,1]/%x[0,0]"}, TUPLES, TAGS),
        "sequence phrases": Kind({"problem": "sequence", "forbidden_transitions": "iob2", "epochs": 3}, WORDS, PHRASES),
        "ranking": Kind({"problem": "latent-ranking", "k": 2}, X, GRADES, {"lengths": LENGTHS}),
        "ranking ndcg": Kind({"problem": "latent-ranking", "k": 2, "loss": "ndcg", "update": "latent"}, S, GRADES, {"lengths": LENGTHS}),
        "ranking groups": Kind({"problem": "latent-ranking", "k": 1, "average": True}, X, [0, 1] * 6, {"groups": [1, 2, 3] * 4}),
        "cusum recommended": Kind({**CUSUM, "preset": "recommended"}, X, y),
        "multiclass calibrated": Kind({"problem": "multiclass", "update": "log-loss", "calibrate": True, "scale": True}, X, y),
        "prank level": Kind({"problem": "prank", "trainer": "until-level", "average": True, "calibrate": True, "epochs": 4}, X, y),
        "prank logit": Kind({"problem": "prank", "trainer": "cumulative-logit"}, X, y),
        "prank logistic": Kind({"problem": "prank", "update": "logistic"}, X, y),
        "interval logit": Kind({"problem": "interval-pa", "trainer": "cumulative-logit", "penalty": 0.1}, X, intervals()),
        "sequence adagrad": Kind({"problem": "sequence", "update": "adagrad-log-loss", "calibrate": True}, WORDS, TAGS),
        "graph shards": Kind({**sampled("graph").options, "n_shards": 2, "epochs": 2}, *data_of(sampled("graph"))),
        "batch": Kind({"problem": "multiclass", "trainer": "bcfw", **BATCH}, X, y),
        "batch cccp": Kind({"problem": "latent-ranking", "k": 2, "trainer": "cccp", **BATCH}, X, GRADES, {"lengths": LENGTHS}),
        "svor": Kind({"problem": "prank", **SVOR, "warm_start": True}, X, y),
        "svor margins": Kind({"problem": "prank", **SVOR, "method": "sum-of-margins"}, np.arange(12.0)[:, None], np.arange(12) // 4 + 1),
        "svor kernel": Kind({"problem": "prank", **SVOR, "plugins": ["dual-kernel", "large-margin"], "kernel": "rbf", "nu": 1.0}, X, y),
        "kernel rbf": Kind({**CUSUM, **KERNEL, "kernel": "rbf"}, X, y),
        "kernel budget": Kind({"problem": "multiclass", **KERNEL, "kernel": "polynomial", "degree": 2, "budget": 4}, S, y),
        "kernel perceptron": Kind({**CUSUM, **KERNEL, "kernel": "perceptron", "average": True}, X, y),
        "kernel stump": Kind({**CUSUM, **KERNEL, "kernel": "stump", "dtype": "float32"}, X, y),
        "kernel precomputed": Kind({**CUSUM, **KERNEL, "kernel": "precomputed"}, GRAM, y),
        "kernel trees": Kind({**CUSUM, **KERNEL, "kernel": "subset-tree", "budget": 3}, TREES, SIX),
        "kernel strings": Kind({**CUSUM, **KERNEL, "kernel": "subsequence", "length": 2, "budget": 3, "removal": "least"}, STRINGS, SIX),
        "kernel function": Kind({**CUSUM, **KERNEL, "kernel": minimum}, X, y, again={"kernel": minimum}),
        "kernel sequence": Kind({"problem": "sequence", **KERNEL, "kernel": "linear"}, X, TOKENS, {"lengths": LENGTHS}),
        "graph": sampled("graph"),
        "graph average": sampled("graph", average=True, epochs=2),
        "ilp": sampled("ilp"),
        "clusters": sampled("clusters"),
        "clusters trees": sampled("clusters", solver="trees"),
        "segments": sampled("segments"),
        "segments weighted": sampled("segments", loss="segments", loss_weight=1.0, update="pa1", outside=False, places="iob2"),
        "matching": sampled("matching"),
        "path": sampled("path"),
        "disjoint intervals": sampled("disjoint-intervals"),
        "decisions": sampled("decisions"),
        "parsing": sampled("parsing", any_form=False),
        "parsing words": Kind({"problem": "parsing", **FEW, "average": True, "epochs": 2}, PARSED, HEADS),
        "parsing joint": Kind({"problem": "parsing", **FEW, "classes": ["det", "subj", "root"], "labels": "joint"}, PARSED, ARCS),
        "boosting": Kind({"problem": "adaboost-or", "epochs": 4}, X, y, any_form=False),
        "nystroem": Kind({**CUSUM, "plugins": [nystroem()]}, X, y, again={"plugins": [nystroem()]}),
    }


@functools.cache
def trained() -> tuple:
    """All kinds, trained at their first use."""
    return tuple(Trained(name, kind) for name, kind in kinds().items())


def prepare():
    """Trains all kinds, before children are forked."""
    for one in trained():
        expect(len(one.answers) > 0, f"{one.name} does not predict")


def reset():
    """Has all engines loaded anew at their next use."""
    for one in trained():
        one.reset()


def pick(random, chosen=lambda kind: True) -> Trained:
    """One of the trained kinds."""
    return random.choice([one for one in trained() if chosen(one.kind)])
