"""Tests of saved models of the dual store: they load with rows and coefficients, and loading fails if parts do not fit together."""

import io
import json
import pickle

import numpy as np
import pytest
from plain import Engine
from reference.model_files import header_npy, members, npy, packed, read_npy, saved
from scipy.sparse import csr_array, issparse
from structperc_kernels.object_kernels import SubsequenceKernel

from structperc.errors import DataError, ModelFormatError, OptionError, PluginError, StructPercError

pytestmark = pytest.mark.blas

WORDS = ["abba", "baab", "abcab", "xyzx", "xxyz", "zyx", "yzzy", "größer", "", "a b"]
TREES = ["(S (A a) (B b))", "(S (A a) (C c))", "(S (D d) (E e))", "(S (D d) (F ö))", "(S x)"]


def numbers(n=50, d=3):
    return np.random.default_rng(0).normal(size=(n, d))


def dot(A, B):
    return A @ B.T


def common_letters(a, b):
    return float(len(set(a) & set(b)))


def near(a, b):
    return float(np.exp(-abs(a["size"] - b["size"])))


CASES = {
    "dense": ("cusum", numbers(), {"kernel": "rbf"}),
    "float32": ("multiclass", numbers().astype(np.float32), {"kernel": "polynomial", "degree": 2, "coef0": 1.0, "dtype": "float32"}),
    "sparse": ("prank", csr_array(np.round(numbers())), {"kernel": "laplacian", "gamma": 0.5}),
    "shifted": ("cusum", numbers(), {"kernel": "stump", "average": True}),
    "oldest": ("cusum", numbers(), {"kernel": "rbf", "budget": 7, "average": True}),
    "random": ("cusum", csr_array(numbers()), {"kernel": "rbf", "budget": 7, "removal": "random", "shuffle": True}),
    "least": ("multiclass", numbers(), {"kernel": "rbf", "budget": 7, "removal": "least", "update": "pa1"}),
    "precomputed": ("multiclass", dot(numbers(50, 60), numbers(120, 60)), {"kernel": "precomputed"}),
    "sentences": ("sequence", list(numbers(60).reshape(15, 4, 3)), {"kernel": "rbf", "average": True, "decay": 0.1}),
    "strings": ("multiclass", WORDS * 4, {"kernel": "subsequence", "length": 2}),
    "lists": ("cusum", [list(word) for word in WORDS] * 4, {"kernel": "subsequence", "length": 1, "kernel_decay": 0.9, "budget": 3}),
    "trees": ("multiclass", TREES * 6, {"kernel": "subset-tree", "kernel_decay": 0.2}),
    "function of rows": ("cusum", numbers(), {"kernel": dot}),
    "function of sparse rows": ("cusum", csr_array(np.round(numbers())), {"kernel": dot}),
    "function of strings": ("cusum", WORDS * 4, {"kernel": common_letters}),
}


def trained(case):
    """An engine after one pass, its data, and its arguments."""
    problem, X, options = CASES[case]
    random, n = np.random.default_rng(1), len(X) if isinstance(X, list) else X.shape[0]
    y = random.integers(1, 4, size=(n, 4)).tolist() if problem == "sequence" else random.integers(1, 4, size=n)
    return Engine(problem, plugins=["dual-kernel"], random_state=0, classes=[1, 2, 3], **options).partial_fit(X, y), X, y


def loaded(content, **functions):
    return Engine.load(io.BytesIO(content), **functions)


def functions_of(case):
    return {name: value for name, value in CASES[case][2].items() if callable(value)}


def as_list(rows):
    return rows.toarray().tolist() if issparse(rows) else [list(row) if isinstance(row, (tuple, np.ndarray)) else row for row in rows]


@pytest.mark.parametrize("again", [lambda engine, case: loaded(saved(engine), **functions_of(case)),
                                   lambda engine, case: pickle.loads(pickle.dumps(engine))], ids=["loaded", "pickled"])
@pytest.mark.parametrize("case", CASES)
def test_a_model_that_comes_back_predicts_and_learns_on_to_the_bit(case, again):
    engine, X, y = trained(case)
    assert engine.n_support_ > 0
    other = again(engine, case)
    for _ in range(3):
        assert np.array_equal(np.concatenate(other.atom_scores(X)), np.concatenate(engine.atom_scores(X)))
        assert other.predict(X).tolist() == engine.predict(X).tolist()
        assert other.support_.tolist() == engine.support_.tolist() and np.array_equal(other.dual_coef_, engine.dual_coef_)
        if case != "trees":                 # texts of trees come back as nested tuples
            assert as_list(other.support_vectors_) == as_list(engine.support_vectors_)
        if case == "precomputed":           # more rows would need more columns
            break
        engine.partial_fit(X, y)
        other.partial_fit(X, y)
        other = again(other, case)
    assert other.mistakes_ == engine.mistakes_ and other.plugin_options == engine.plugin_options


# ---- functions ----


def test_a_function_is_named_and_passed_again():
    engine, X, _ = trained("function of rows")
    content = saved(engine)
    with pytest.raises(PluginError, match=r"trained with the option kernel=dot, which a model file cannot hold; pass the same again: "
                                          r"Engine.load\(path, kernel=dot\)"):
        loaded(content)
    with pytest.raises(OptionError, match="holds all its options but kernel, so gamma cannot be passed again; leave it out"):
        loaded(content, kernel=dot, gamma=1.0)
    with pytest.raises(OptionError, match="holds all its options, so kernel cannot be passed again; leave it out"):
        loaded(saved(trained("dense")[0]), kernel=dot)
    with pytest.raises(PluginError, match="trained with the option kernel=dot, but kernel=common_letters was passed; pass the same again"):
        loaded(content, kernel=common_letters)
    assert np.array_equal(loaded(content, kernel=dot).atom_scores(X), engine.atom_scores(X))


class Scaled:
    def __call__(self, A, B):
        return 2.0 * (A @ B.T)


def test_objects_that_can_be_called_are_named_with_their_options_where_they_show_them():
    X, y = WORDS * 2, [1, 2] * 10
    engine = Engine("multiclass", plugins=["dual-kernel"], kernel=SubsequenceKernel(length=1)).fit(X, y)
    assert np.array_equal(loaded(saved(engine), kernel=SubsequenceKernel(length=1)).atom_scores(X), engine.atom_scores(X))
    for other in (SubsequenceKernel(length=2), "subsequence", None):
        with pytest.raises(PluginError, match=r"trained with the option kernel=SubsequenceKernel\(length=1, .*; pass the same again"):
            loaded(saved(engine), kernel=other)
    assert np.array_equal(pickle.loads(pickle.dumps(engine)).atom_scores(X), engine.atom_scores(X))
    engine = Engine("cusum", plugins=["dual-kernel"], kernel=Scaled()).fit(numbers(20), y)
    assert loaded(saved(engine), kernel=Scaled()).predict(numbers()).tolist() == engine.predict(numbers()).tolist()


def test_objects_that_no_file_holds_are_refused_by_name():
    X, y = [{"size": i} for i in range(6)] * 2, [1, 1, 1, 2, 2, 2] * 2
    engine = Engine("multiclass", plugins=["dual-kernel"], kernel=near).fit(X, y)
    assert engine.predict(X).tolist() == y
    with pytest.raises(PluginError, match=r"objects such as \{'size': \d\} cannot be written to a model file"):
        engine.save(io.BytesIO())
    engine = Engine("multiclass", plugins=["dual-kernel"], kernel="subsequence", length=1).fit([[(1, 2)], [(3, 4)]], [1, 2])
    with pytest.raises(DataError, match=r"the symbol \(., .\) cannot be written to a model file"):
        engine.save(io.BytesIO())


# ---- damage ----


def edited(content, change):
    """The same file with other arrays; `change` receives a dict of the arrays, with the header parsed."""
    arrays = {name.removesuffix(".npy"): read_npy(entry) for name, entry in members(content).items()}
    arrays["header"] = json.loads(arrays["header"].tobytes())
    change(arrays)
    header = header_npy(arrays.pop("header"))
    return packed({"header.npy": header, **{f"{name}.npy": npy(array) for name, array in arrays.items()}})


DAMAGED = ["dense", "sparse", "least", "precomputed", "sentences", "strings", "trees", "function of rows",
           "function of sparse rows", "function of strings"]


@pytest.mark.parametrize("case", DAMAGED)
def test_missing_and_misshapen_arrays_are_refused(case):
    content = saved(trained(case)[0])
    with np.load(io.BytesIO(content)) as file:
        names = [name for name in file.files if name.startswith("weights.")]
        shapes = {name: file[name].shape for name in names}
    assert len(names) > 8
    for name in names:
        with pytest.raises(ModelFormatError, match="parts do not fit together"):
            loaded(edited(content, lambda arrays, name=name: arrays.pop(name)), **functions_of(case))
        for other in (np.zeros((2, 2, 2)), np.array(list("abc"))):
            if name in ("weights.explicit",) or shapes[name] != other.shape:
                with pytest.raises(ModelFormatError):
                    loaded(edited(content, lambda arrays, name=name, other=other: arrays.update({name: other})), **functions_of(case))


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_byte_is_noticed_or_does_not_matter(case):
    engine, X, _ = trained(case)
    content, expected, noticed = saved(engine), engine.predict(X).tolist(), 0
    for at in range(0, len(content), 211):
        damaged = bytearray(content)
        damaged[at] ^= 0xFF
        try:
            assert loaded(bytes(damaged), **functions_of(case)).predict(X).tolist() == expected
        except ModelFormatError:
            noticed += 1
    assert noticed > len(content) / 211 / 4
    for length in range(0, len(content), 1009):
        with pytest.raises(ModelFormatError, match="damaged or truncated|is not a structperc model"):
            loaded(content[:length], **functions_of(case))


@pytest.mark.parametrize("value", [None, -1, "x", [], {}, {"kernel": "dot", "length": "f"}, {"epochs": "f"}, [["kernel"]], 1.5], ids=str)
def test_impossible_functions_are_refused(value):
    content = edited(saved(trained("function of rows")[0]), lambda arrays: arrays["header"].update(functions=value))
    with pytest.raises(StructPercError) as raised:
        loaded(content, kernel=dot)
    assert len(str(raised.value)) > 30


def test_saved_rows_with_features_that_do_not_exist_are_refused():
    for case in ("sparse", "function of sparse rows"):
        content = saved(trained(case)[0])
        for feature in (-1, 3):
            with pytest.raises(ModelFormatError, match="parts do not fit together"):
                loaded(edited(content, lambda arrays, feature=feature: arrays["weights.kernel_rows.indices"].__setitem__(0, feature)),
                       **functions_of(case))


def test_columns_that_do_not_exist_are_refused():
    content = saved(trained("precomputed")[0])
    for number in (-1, 120):
        with pytest.raises(ModelFormatError, match="parts do not fit together"):
            loaded(edited(content, lambda arrays, number=number: arrays["weights.kernel_rows.columns"].__setitem__(0, number)))
