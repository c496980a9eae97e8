"""Tests of failures in the dual store: a failed call changes nothing, an interrupted one leaves a usable model, damaged files fail."""

import copy
import io
import itertools
import pickle
import signal
import sys
import threading

import numpy as np
import pytest
from plain import Engine
from reference.model_files import array_of, with_arrays
from scipy.sparse import csr_array
from subsets import Subsets

from structperc import hookimpl
from structperc.components import OnlineTrainer, Rows, Trainer
from structperc.errors import DataError, ModelFormatError, PluginError

RANKS = [1, 2, 3, 4]
WORDS = ["abc", "acb", "bca", "abd", "cab", "bac", "dab", "cba"]


def data(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(1, 5, n)


def engine(problem="cusum", **options):
    return Engine(problem, **{"plugins": ["dual-kernel"], "kernel": "rbf", "gamma": 0.5, "classes": RANKS, "random_state": 0, **options})


def state(trained):
    """All state that training changes, as bytes."""
    model = trained.model
    found = {name: np.asarray(value).tobytes() for name, value in model.parts.weights.state().items()}
    return {**found, "random": str(model.context.random.bit_generator.state), "record": (list(model.mistakes), model.loss, model.status)}


class Failing:
    """An RBF kernel between two matrices that calls another function from its `at`-th call on."""

    def __init__(self):
        self.at, self.calls = None, 0

    def arm(self, at, does):
        self.at, self.does, self.calls = at, does, 0

    def __call__(self, A, B):
        self.calls += 1
        if self.at is not None and self.calls >= self.at:
            return self.does(A, B)
        A, B = (M.toarray() if hasattr(M, "toarray") else M for M in (A, B))
        return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=-1))


def raises(A, B):
    raise ZeroDivisionError("no kernel")


def interrupts(A, B):
    raise KeyboardInterrupt


WRONG = {"raises": raises, "nan": lambda A, B: np.full((A.shape[0], B.shape[0]), np.nan),
         "infinite": lambda A, B: np.full((A.shape[0], B.shape[0]), np.inf), "flat": lambda A, B: np.zeros(A.shape[0] * B.shape[0]),
         "transposed": lambda A, B: np.zeros((B.shape[0], A.shape[0] + 1)), "words": lambda A, B: np.full((A.shape[0], B.shape[0]), "x"),
         "complex": lambda A, B: np.zeros((A.shape[0], B.shape[0]), dtype=complex), "none": lambda A, B: None}
VARIANTS = [{}, {"update": "pa"}, {"update": "exact-pa1"}, {"update": "pa1", "average": True, "decay": 0.9},
            *({"update": "pa1", "budget": 7, "removal": removal} for removal in ("oldest", "random", "least")),
            {"budget": 3, "removal": "random", "shuffle": True, "average": True}]


# ---- failures ----


@pytest.mark.parametrize(("number", "variant"), list(enumerate(VARIANTS)))
@pytest.mark.parametrize("wrong", WRONG)
def test_a_kernel_that_fails_at_any_call_takes_back_the_chunk(wrong, number, variant):
    X, y = data()
    failures = 0
    for sparse, at in zip(itertools.cycle([False, True]), [1, 9, 30] if number % 2 else [2, 5, 14], strict=False):
        kernel = Failing()
        Z = csr_array(X) if sparse else X
        one, other = (engine(**variant, kernel=kernel, gamma="scale").partial_fit(Z[:20], y[:20]) for _ in range(2))
        kernel.arm(at, WRONG[wrong])
        before = state(one)
        try:
            one.partial_fit(Z[20:40], y[20:40])
        except (PluginError, DataError, ZeroDivisionError, TypeError):
            failures += 1
            assert state(one) == before
            kernel.at = None
            one.partial_fit(Z[20:40], y[20:40])
        kernel.at = None
        assert state(one) == state(other.partial_fit(Z[20:40], y[20:40]))
    assert failures > 1


@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("variant", VARIANTS)
def test_rows_that_fail_take_back_the_chunk(variant, sparse, kernel):
    """The chunk has NaN in a row, rows whose powers overflow, or unknown labels."""
    X, y = data()
    layout = csr_array if sparse else np.array
    options = {"kernel": kernel, "gamma": 0.5 if kernel != "linear" else "scale"}
    one, other = (engine(**variant, **options).partial_fit(layout(X[:30]), y[:30]) for _ in range(2))
    before = state(one)
    for number, label in ((np.nan, 1), (np.inf, 1), (0.0, 7), *([(1e250, 1)] if kernel == "polynomial" else [])):
        Z, labels = X[30:].copy(), y[30:].copy()
        Z[25], labels[25] = number, label
        with pytest.raises(DataError):
            one.partial_fit(layout(Z), labels)
        assert state(one) == before
    assert state(one.partial_fit(layout(X[30:]), y[30:])) == state(other.partial_fit(layout(X[30:]), y[30:]))
    assert (one.predict(layout(X)) == other.predict(layout(X))).all()


def test_a_failed_chunk_takes_back_what_decay_multiplied_out():
    X, y = data()
    one = engine(average=True, decay=0.9).partial_fit(X[:30], y[:30])
    before = state(one)
    with pytest.raises(DataError, match="overflow"):
        one.partial_fit(X[30:], y[30:], sample_weight=[1.0] * 20 + [1e308] * 10)
    assert state(one) == before


def test_a_norm_that_is_not_finite_is_an_error():
    """Only K(x, x) is wrong, so only the norm of a step reveals it."""
    X, y = data()
    for value, update in itertools.product([np.nan, np.inf], ["pa", "exact-pa"]):
        def kernel(A, B, value=value):
            return np.where((A[:, None] == B[None]).all(axis=-1), value, 1.0)

        with pytest.raises(DataError, match="norm"):
            engine(update=update, kernel=kernel, gamma="scale").fit(X, y)


@pytest.mark.parametrize("kernel", ["linear", "rbf", Failing()])
def test_a_failed_fit_leaves_the_engine_as_it_was(kernel):
    X, y = data()
    options = {"gamma": "scale"} if kernel != "rbf" else {}
    one = engine(kernel=kernel, **options)
    with pytest.raises(DataError):
        one.fit(np.full((3, 3), np.nan), [1, 2, 3])
    assert one.model is None
    before = state(one.fit(X, y))
    with pytest.raises(DataError):
        one.fit(np.full((3, 3), np.nan), [1, 2, 3])
    assert state(one) == before


def test_precomputed_values_need_a_column_for_each_row():
    X, y = data()
    K = X @ X.T
    one = Engine("cusum", plugins=["dual-kernel"], kernel="precomputed", classes=RANKS).partial_fit(K[:40], y[:40])
    before = state(one)
    with pytest.raises(DataError, match="column"):
        one.partial_fit(K[:30], y[:30])
    assert state(one) == before
    linear = Engine("cusum", plugins=["dual-kernel"], classes=RANKS).partial_fit(X[:40], y[:40])
    np.testing.assert_allclose(one.partial_fit(K[40:], y[40:]).atom_scores(K), linear.partial_fit(X[40:], y[40:]).atom_scores(X), atol=1e-9)
    with pytest.raises(DataError, match="column"):
        Engine("cusum", plugins=["dual-kernel"], kernel="precomputed").fit(K[:, :50], y)


# ---- Ctrl-C ----


@pytest.mark.parametrize("variant", [{}, {"update": "pa"}, *VARIANTS[4:7]])
def test_ctrl_c_at_any_call_of_a_kernel_leaves_a_finished_step(variant):
    X, y = data()
    kernel = Failing()
    begin, steps = engine(**variant, kernel=kernel, gamma="scale").partial_fit(X[:20], y[:20]), []
    for i in range(20, 45):
        steps.append(begin.parts_.weights.state()["coefficients"].tobytes())
        begin.partial_fit(X[i:i + 1], y[i:i + 1])
    steps.append(begin.parts_.weights.state()["coefficients"].tobytes())
    kernel.arm(None, None)
    engine(**variant, kernel=kernel, gamma="scale").partial_fit(X[:20], y[:20]).partial_fit(X[20:45], y[20:45])
    n_calls = kernel.calls
    for at in range(1, n_calls, 7):
        kernel.arm(None, None)
        one = engine(**variant, kernel=kernel, gamma="scale").partial_fit(X[:20], y[:20])
        kernel.arm(at, interrupts)
        try:
            one.partial_fit(X[20:45], y[20:45])
        except KeyboardInterrupt:
            assert one.status_ == ("interrupted" if one.parts_.weights.n_visited > 20 else "max_epochs")
        kernel.at = None
        assert one.parts_.weights.state()["coefficients"].tobytes() in steps or variant.get("budget")
        assert one.n_support_ <= variant.get("budget", 45)
        one.predict(X)
        one.partial_fit(X, y).fit(X, y)


@pytest.mark.parametrize("removal", ["oldest", "random", "least"])
def test_ctrl_c_while_a_row_joins_leaves_a_finished_step(removal):
    def interrupts_once(A, B):
        kernel.at = None
        raise KeyboardInterrupt

    def learned(one):
        found = one.parts_.weights.state()
        return tuple(found[name].tobytes() for name in ("coefficients", "explicit", "numbers", "squares", "n_joined"))

    X, y = data()
    X, kernel = csr_array(X), Failing()
    options = {"update": "pa1", "decay": 0.99, "budget": 7, "removal": removal, "kernel": kernel, "gamma": "scale"}
    one, steps = engine(**options).partial_fit(X[:20], y[:20]), []
    for i in range(20, 30):
        steps.append(learned(one))
        one.partial_fit(X[i:i + 1], y[i:i + 1])
    steps.append(learned(one))
    kernel.arm(None, None)
    engine(**options).partial_fit(X[:20], y[:20]).partial_fit(X[20:30], y[20:30])
    for at in range(1, kernel.calls):
        kernel.arm(at, interrupts_once)
        one = engine(**options)
        try:
            one.partial_fit(X[:20], y[:20])
            one.partial_fit(X[20:30], y[20:30])
        except KeyboardInterrupt:
            if one.model is None or one.parts_.weights.n_visited <= 20:
                continue
        assert learned(one) in steps


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("options, objects", [({}, False), ({"budget": 20, "removal": "random"}, False), ({"update": "pa"}, False),
                                              ({"kernel": "subsequence", "gamma": "scale"}, True),
                                              ({"kernel": lambda a, b: float(a[0] == b[0]), "gamma": "scale"}, True)])
def test_ctrl_c_reaches_long_fits(options, objects, average):
    begun = threading.Event()

    class Begun:
        @hookimpl
        def structperc_epoch_end(self, engine, record):
            begun.set()

    def interrupt():
        begun.wait()
        signal.raise_signal(signal.SIGINT)

    X, y = data(200)
    X = WORDS * 25 if objects else X
    one = engine(epochs=10**9, average=average, **{**options, "plugins": ["dual-kernel", Begun()]})
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        one.fit(X, y)
    thread.join()
    assert one.status_ == "interrupted"
    answers = one.predict(X).tolist()
    assert one.parts_.weights.fit_rows is None and one.parts_.weights.ahead.cache is None
    if not callable(one.plugin_options["kernel"]):
        assert pickle.loads(pickle.dumps(copied(one, ["dual-kernel"]))).predict(X).tolist() == answers
    one.partial_fit(X, y)


def copied(trained, plugins):
    """The same model in an engine without observers."""
    file = io.BytesIO()
    trained.save(file)
    return Engine.load(io.BytesIO(file.getvalue()), [p for p in plugins if not isinstance(p, str)])


# ---- several calls ----


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("sparse", [False, True])
def test_calls_after_one_another(sparse, variant):
    """`fit` starts again and `partial_fit` continues. Neither reuses values of an earlier data set at the same address."""
    X, y = data()
    layout = csr_array if sparse else np.array
    one = engine(**variant, epochs=2).fit(layout(X[30:]), y[30:])
    one.predict(layout(X))
    fresh = engine(**variant, epochs=2).fit(layout(X[:30]), y[:30])
    assert state(one.fit(layout(X[:30]), y[:30])) == state(fresh)
    for i in range(30, 60):
        one.partial_fit(layout(X[i:i + 1]), y[i:i + 1])
        fresh.partial_fit(layout(X[i:i + 1] + 0), y[i:i + 1])
        fresh.predict(layout(X))
    assert state(one) == state(fresh)


def test_scores_are_those_of_the_rows_at_hand():
    """The test scores rows of several data sets in turn. They have equal row numbers, and may have the same address."""
    X, y = data()
    one = engine().partial_fit(X[:20], y[:20])
    weights = one.parts_.weights
    for i in range(20):
        Z = data(5, seed=i)[0]
        rows = Rows(Z)
        for j in (0, 1, 4, 0):
            np.testing.assert_allclose(weights.scores(rows.example(j)), one.atom_scores(Z[j:j + 1])[0], rtol=1e-12, atol=1e-12)
            assert weights.norm(rows.example(j), np.ones(3)) == pytest.approx(3 * 2)
        del rows, Z


class Wandering(Trainer):
    """Visits examples in an irregular order and some of them twice, scores other rows in between, and adds steps itself."""

    options_used = OnlineTrainer.options_used

    def __init__(self, Z):
        self.Z = Z

    def train(self, run):
        run.begin_epoch()
        weights, rows = run.model.parts.weights, Rows(self.Z)
        for order in ([3, 3, 1, 0, 3], [5, 4, 3, 2, 1, 0], [7, 7, 7]):
            passed = run.run(np.array(order))
            x, z = run.rows.example(2), rows.example(2)
            for _ in range(700):
                weights.update(x, [1.0, 0.0, -1.0])
            weights.scores(z)
            weights.update(z, [0.0, 0.5, 0.0])
            weights.scores(x)
        run.end_epoch(passed)
        return OnlineTrainer().train(run)


@pytest.mark.parametrize("kernel", ["rbf", Failing()])
def test_trainers_may_visit_and_step_as_they_like(kernel):
    """Compares the dual store with the primal store on the rows of a square root of the Gram matrix."""
    X, y = data(16)
    values, vectors = np.linalg.eigh(Failing()(X, X))
    E = vectors * np.sqrt(np.maximum(values, 0))

    class Wander:
        @hookimpl
        def structperc_trainer(self, context):
            return Wandering((E if context.n_features == 16 else X)[::-1].copy())

    gamma = {"gamma": 0.5} if kernel == "rbf" else {"gamma": "scale"}
    dual = engine(kernel=kernel, **gamma, plugins=["dual-kernel", Wander()], epochs=3, average=True).fit(X, y)
    primal = Engine("cusum", classes=RANKS, plugins=[Wander()], epochs=3, average=True).fit(E, y)
    assert dual.mistakes_ == primal.mistakes_
    np.testing.assert_allclose(dual.atom_scores(X), primal.atom_scores(E), atol=1e-4)


# ---- threads ----


@pytest.mark.parametrize("variant", [{}, {"budget": 20, "removal": "random"}, {"update": "pa"}])
@pytest.mark.parametrize("sparse", [False, True])
def test_predictions_while_another_thread_trains(sparse, variant):
    X, y = data(300)
    X = csr_array(X) if sparse else X
    one = engine(**variant, epochs=200).partial_fit(X[:50], y[:50])
    expected = engine(**variant, epochs=1).partial_fit(X[:50], y[:50])
    for start in range(0, 300, 20):
        expected.partial_fit(X[start:start + 20], y[start:start + 20])
    thread = threading.Thread(target=lambda: [one.partial_fit(X[start:start + 20], y[start:start + 20]) for start in range(0, 300, 20)])
    thread.start()
    answers = []
    while thread.is_alive():
        answers.append(one.predict(X))
    thread.join()
    assert all(np.isin(answer, RANKS).all() for answer in answers)
    assert state(one) == state(expected)
    assert one.predict(X).tolist() == expected.predict(X).tolist()


def test_predictions_while_another_thread_takes_chunks_back():
    """Rows copied for a prediction stay in memory until it ends."""
    X, y = data(400)
    one = engine(kernel="polynomial").partial_fit(X[:100], y[:100])
    expected = one.predict(X).tolist()
    Z, failures, enough = np.vstack([X[100:], np.full((5, 3), 1e250)]), [], threading.Event()

    def fail():
        while not enough.is_set():
            try:
                one.partial_fit(Z, np.resize(y, len(Z)))
            except DataError as error:
                failures.append(error)

    interval = sys.getswitchinterval()
    thread = threading.Thread(target=fail)
    try:
        sys.setswitchinterval(1e-5)
        thread.start()
        for _ in range(1500):
            assert np.isin(one.predict(X[:5]), RANKS).all()
    finally:
        sys.setswitchinterval(interval)
        enough.set()
        thread.join()
    assert failures
    assert one.predict(X).tolist() == expected


def test_threads_that_predict_together():
    X, y = data(600)
    one = engine(epochs=2, average=True).fit(X, y)
    expected, found = engine(epochs=2, average=True).fit(X, y).predict(X).tolist(), []
    threads = [threading.Thread(target=lambda: found.append(one.predict(X).tolist())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_every_thread_is_told_that_the_kernel_failed():
    X, y = data(2000)
    kernel = Failing()
    one = engine(kernel=kernel, gamma="scale").fit(X, y)
    kernel.arm(1, raises)
    found = []

    def predict():
        try:
            found.append(one.predict(X))
        except (ZeroDivisionError, PluginError) as error:
            found.append(type(error))

    threads = [threading.Thread(target=predict) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ZeroDivisionError in found and set(found) <= {ZeroDivisionError, PluginError}


# ---- copies and files ----


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one)), lambda one: copied(one, [])])
@pytest.mark.parametrize("variant", [*VARIANTS, {"kernel": "laplacian", "dtype": "float32"}, {"kernel": "stump", "gamma": "scale"}])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_copy_in_the_middle_of_a_stream_continues_with_the_same_bits(sparse, variant, way):
    X, y = data()
    Z = csr_array(X) if sparse else X
    one = engine(**variant).partial_fit(Z[:30], y[:30])
    other = way(one)
    assert state(other) == state(one)
    for part in (slice(30, 31), slice(31, 60)):
        assert state(one.partial_fit(Z[part], y[part])) == state(other.partial_fit(Z[part], y[part]))
    assert other.atom_scores(Z).tobytes() == one.atom_scores(Z).tobytes()


def common(a, b):
    """The number of symbols that two strings have in common."""
    return float(len(set(a) & set(b)))


@pytest.mark.parametrize("kernel", ["subsequence", common])
@pytest.mark.parametrize("budget", [None, 4])
def test_models_of_objects_continue_with_the_same_bits(kernel, budget):
    y = [1, 2, 3, 4, 1, 2, 3, 4]
    one = engine("multiclass", kernel=kernel, gamma="scale", budget=budget, removal="random").partial_fit(WORDS, y)
    other = pickle.loads(pickle.dumps(one))
    assert state(other) == state(one)
    more = [word[::-1] + "e" for word in WORDS]
    assert state(one.partial_fit(more, y)) == state(other.partial_fit(more, y))


def model(kernel_rows):
    """A model with this kind of `kernel_rows`, its X and its y."""
    X, y = data(40)
    if kernel_rows == "strings":
        X, y = WORDS, [1, 2, 3, 4] * 2
        return engine("multiclass", kernel="subsequence", gamma="scale").fit(X, y), X, y
    X = {"dense": X, "sparse": csr_array(X), "precomputed": X @ X.T}[kernel_rows]
    options = {"dense": {"average": True}, "sparse": {"budget": 9, "removal": "least"},
               "precomputed": {"kernel": "precomputed", "gamma": "scale"}}
    return engine(**options[kernel_rows]).fit(X, y), X, y


def damages(array):
    """Replacements for an array; None removes it."""
    yield None
    yield np.zeros(0)
    yield array.astype(array.dtype)[..., None]
    yield np.zeros(array.shape, dtype="U3")
    if array.ndim and len(array):
        yield array[:-1]
        yield np.concatenate([array, array])
    if array.dtype.kind in "iu":
        for number in (-1, 2**31 - 1, 2**62):
            with np.errstate(all="ignore"):
                yield np.full_like(array, np.array(number).astype(array.dtype))
    if array.dtype.kind == "f":
        for number in (np.nan, np.inf, -1.0):
            yield np.full_like(array, number)


@pytest.mark.parametrize("kernel_rows", ["dense", "sparse", "precomputed", "strings"])
def test_damaged_files_are_errors_and_never_crashes(kernel_rows):
    """If a damaged file loads, the model predicts and continues, or raises the usual errors."""
    trained, X, y = model(kernel_rows)
    file = io.BytesIO()
    trained.save(file)
    arrays = dict(np.load(io.BytesIO(file.getvalue())))
    refused = 0
    for key in arrays:
        if not key.startswith("weights."):
            continue
        for damage in damages(arrays[key]):
            changed = {k: v for k, v in arrays.items() if k != key or damage is not None}
            if damage is not None:
                changed[key] = damage
            content = io.BytesIO()
            np.savez(content, **changed)
            try:
                loaded = Engine.load(io.BytesIO(content.getvalue()))
                with np.errstate(all="ignore"):
                    loaded.predict(X)
                    loaded.partial_fit(X, y).predict(X)
            except ModelFormatError:
                refused += 1
            except DataError as error:
                assert "finite" in str(error) or "overflow" in str(error) or "column" in str(error)
    assert refused > 40


def test_repeated_keys_and_columns_that_do_not_exist_are_refused():
    X, y = data(40)
    for options, Z, key in (({}, X, "weights.keys"), ({"kernel": "precomputed", "gamma": "scale"}, X @ X.T, "weights.kernel_rows.columns")):
        file = io.BytesIO()
        engine(**options).fit(Z, y).save(file)
        array = array_of(file.getvalue(), key)
        array[1] = array[0] if key.endswith("keys") else 40
        with pytest.raises(ModelFormatError, match=key.rpartition(".")[-1]):
            Engine.load(io.BytesIO(with_arrays(file.getvalue(), **{key: array})))


# ---- arguments and layouts ----


def agree(problem, X, y, **given):
    """Compares the linear kernel with the primal store; returns the engine with the kernel."""
    where = {key: given.pop(key) for key in ("lengths", "groups", "offsets", "allowed") if key in given}
    learned = {key: given.pop(key) for key in ("sample_weight", "costs") if key in given}
    options = {"epochs": 3, **given}
    dual, primal = (Engine(problem, **options, **more).fit(X, y, **where, **learned) for more in ({"plugins": ["dual-kernel"]}, {}))
    assert dual.mistakes_ == primal.mistakes_
    assert list(map(str, dual.predict(X, **where))) == list(map(str, primal.predict(X, **where)))
    where.pop("allowed", None)
    for one, other in zip(dual.atom_scores(X, **where), primal.atom_scores(X, **where), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    return dual


def test_weights_and_costs_of_examples():
    X, y = data()
    rng = np.random.default_rng(1)
    weight = rng.choice([0.0, 0.5, 2.0], 60)
    for update in ("perceptron", "pa1", "exact-pa1"):
        agree("cusum", X, y, update=update, sample_weight=weight, classes=RANKS)
    dual = agree("multiclass", X, y, sample_weight=weight, classes=RANKS)
    assert weight[dual.support_].all()
    agree("multiclass", X, y, loss="costs", costs=(1 - np.eye(4)[y - 1]) * rng.random((60, 4)), update="pa1", classes=RANKS)
    agree("cusum", X, y, loss="squared", loss_weight=0.5, classes=RANKS)


def test_allowed_outputs_and_groups():
    X, y = data()
    sentences = y.reshape(-1, 3).tolist()
    allowed = [[sorted({1, label}) for label in sentence] for sentence in sentences]
    agree("sequence", X, sentences, lengths=[3] * 20, allowed=allowed, classes=RANKS)
    agree("sequence", X, sentences, groups=np.repeat(np.arange(20), 3), classes=RANKS, update="pa2")


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_examples_without_rows_and_examples_of_many(kernel):
    """Sentences without tokens, with one token, and with more tokens than one lookahead block."""
    X, y = data(900)
    lengths = [0, 300, 0, 1, 599, 0, 0]
    labels = [part.tolist() for part in np.split(y, np.cumsum(lengths)[:-1])]
    for update in ("perceptron", "pa1"):
        if kernel == "linear":
            agree("sequence", X, labels, lengths=lengths, classes=RANKS, update=update)
        one = engine("sequence", kernel=kernel, gamma=0.5 if kernel == "rbf" else "scale", update=update)
        one.fit(X, labels, lengths=lengths)
        assert [len(sentence) for sentence in one.predict(X, lengths=lengths)] == lengths
        one.fit(X, labels, lengths=lengths).partial_fit([X[:0], X[:0]], [[], []])
        assert [len(sentence) for sentence in one.predict([X[:0], X[:0]])] == [0, 0]


def test_a_stream_that_begins_without_rows():
    """Parameters that depend on data come from the first examples that have rows."""
    X, y = data()
    one, other = (engine("sequence", gamma="scale", update="pa") for _ in range(2))
    one.partial_fit([X[:0]], [[]]).partial_fit([X], [y.tolist()])
    other.partial_fit([X], [y.tolist()])
    assert one.gamma_ == other.gamma_
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [None, np.int32, np.int64])
def test_layouts_of_rows(index, dtype):
    """Slices of larger arrays and matrices, whose memory does not begin at the first row."""
    X, y = data(80)
    X[:, 1] = 0
    X[5] = 0
    X = X.astype(dtype)
    Z = X
    if index is not None:
        Z = csr_array(X)
        Z = csr_array((Z.data, Z.indices.astype(index), Z.indptr.astype(index)), shape=Z.shape)
    for update in ("perceptron", "pa1"):
        agree("cusum", Z[20:], y[20:], update=update, classes=RANKS)
    one = engine().fit(Z[20:], y[20:])
    other = engine().fit(X[20:].astype(float), y[20:])
    np.testing.assert_allclose(one.atom_scores(Z), other.atom_scores(X.astype(float)), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("problem", ["cusum", "prank", "multiclass"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "stump", "laplacian", "perceptron"])
def test_small_shapes(kernel, problem):
    """One column, one row, two classes, rows of zeros, and models without steps."""
    options = {"gamma": 0.5} if kernel in ("rbf", "laplacian") else {"gamma": "scale"}
    for X, y in (([[1.5]], [2]), ([[1.0], [-1.0]], [1, 2]), (np.zeros((5, 2)), [1, 2, 1, 2, 2]), (np.zeros((1, 1)), [1])):
        for update in ("perceptron", *(["pa1"] if problem != "prank" else ["exact-pa1"])):
            one = engine(problem, kernel=kernel, update=update, classes=[1, 2], **options).fit(X, y)
            assert one.n_support_ <= len(np.unique(X, axis=0))
            again = pickle.loads(pickle.dumps(one))
            assert again.atom_scores(X).tobytes() == one.atom_scores(X).tobytes()
            assert len(one.support_vectors_) == len(one.dual_coef_) == one.n_support_ == len(one.support_)
    stepless = engine(problem, kernel=kernel, classes=[1, 2], **options).fit([[1.0], [2.0]], [1, 1] if problem != "prank" else [2, 2])
    assert stepless.mistakes_ == [0] and stepless.n_support_ == 0
    assert stepless.support_vectors_.shape == (0, 1)
    assert not stepless.atom_scores([[3.0]]).any()
    assert pickle.loads(pickle.dumps(stepless)).partial_fit([[1.0]], [2 if problem != "prank" else 1]).n_support_ == 1


@pytest.mark.parametrize("budget", [None, 2])
def test_examples_of_many_rows_through_a_strangers_problem(budget):
    X, _ = data()
    lengths, y = [5] * 12, [[0, 3], [1], [2, 4], []] * 3
    one = Engine(Subsets(), plugins=["dual-kernel"], kernel="rbf", gamma=5.0, budget=budget, epochs=200).fit(X, y, lengths=lengths)
    assert one.n_support_ <= (budget or 60)
    if budget is None:
        assert one.status_ == "converged"
        assert [np.flatnonzero(scores > 0).tolist() for scores in one.atom_scores(X, lengths=lengths)] == y


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("decay", [1e-12, 0.5, 0.999999])
def test_decay_of_any_size_in_streams(decay, average):
    X, y = data(300)
    dual, primal = (Engine("cusum", classes=RANKS, decay=decay, average=average, **more) for more in ({"plugins": ["dual-kernel"]}, {}))
    for start in range(0, 300, 50):
        for one in (dual, primal):
            one.partial_fit(X[start:start + 50], y[start:start + 50])
        assert dual.mistakes_ == primal.mistakes_
        scores = primal.atom_scores(X)
        np.testing.assert_allclose(dual.atom_scores(X), scores, rtol=1e-9, atol=1e-9 * abs(scores).max())


def test_terms_count_the_atoms_themselves():
    X, y = np.eye(3), [["a", "b"], ["a"]]
    engine = Engine("sequence", plugins=["dual-kernel"], epochs=2).fit(X, y, lengths=[2, 1])
    weights, x = engine.parts_.weights, engine.read(X, offsets=[0, 2, 3]).example(0)
    c = np.arange(engine.parts_.features.n_atoms(x), dtype=float)
    before = weights.terms(x, c)
    x.n_atoms = 0               # anyone may set it
    assert all(np.array_equal(*pair) for pair in zip(weights.terms(x, c), before, strict=True))
    with pytest.raises(DataError, match=r"\(100000,\) coefficients for example 0; expected \(\d+,\), one per atom"):
        weights.terms(x, np.ones(100_000))
