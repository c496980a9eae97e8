"""Training on parts: the bits of a fit at once, shuffling, reading ahead, and what may go wrong."""

import threading

import numpy as np
import pytest
from plain import Engine
from scipy import sparse

from structperc import hookimpl
from structperc.callbacks import History
from structperc.errors import DataError, OptionError
from structperc.estimators import CuSumRank
from structperc.files.tables import Table
from structperc.streams import Slices, fit_stream

N = 700
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(N, 4))
Y = 1 + np.digitize(X @ [1.0, -2.0, 0.5, 0.0] + 0.5 * RANDOM.normal(size=N), [-1.0, 1.0])
WEIGHTS = RANDOM.integers(0, 3, N).astype(float)
OPTIONS = {"classes": [1, 2, 3], "epochs": 3, "average": True}


def same(engine, other):
    return np.array_equal(engine.coef_, other.coef_) and engine.mistakes_ == other.mistakes_ and engine.status_ == other.status_


@pytest.mark.parametrize("rows", [1, 64, 10_000])
@pytest.mark.parametrize("ahead", [True, False])
def test_parts_in_order_have_the_bits_of_a_fit_at_once(rows, ahead, tmp_path):
    whole = Engine("cusum", **OPTIONS).fit(X, Y)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert same(fit_stream(Engine("cusum", **OPTIONS), Slices(mapped, Y, rows=rows), ahead=ahead), whole)
    if rows == 64:
        cuts = [slice(first, first + rows) for first in range(0, N, rows)]
        for parts in ([(X[cut], Y[cut]) for cut in cuts], lambda: ((X[cut], Y[cut]) for cut in cuts),
                      [Table(X[cut], Y[cut]) for cut in cuts], [{"X": X[cut], "y": Y[cut].tolist()} for cut in cuts]):
            assert same(fit_stream(Engine("cusum", **OPTIONS), parts, ahead=ahead), whole)
        one = OPTIONS | {"epochs": 1}
        assert same(fit_stream(Engine("cusum", **one), iter([(X[cut], Y[cut]) for cut in cuts])), Engine("cusum", **one).fit(X, Y))


def test_weights_sparse_rows_and_lists():
    whole = Engine("cusum", **OPTIONS).fit(X, Y, sample_weight=WEIGHTS)
    assert same(fit_stream(Engine("cusum", **OPTIONS), Slices(X, Y, rows=3, sample_weight=WEIGHTS)), whole)     # some parts weigh nothing
    rows = sparse.csr_matrix(np.where(np.abs(X) > 1, X, 0))
    whole = Engine("cusum", **OPTIONS).fit(rows, Y)
    for form in ("csr", "csc", "coo", "bsr", "lil", "dok"):
        assert same(fit_stream(Engine("cusum", **OPTIONS), Slices(rows.asformat(form), Y.tolist(), rows=50)), whole)
    assert Slices(sparse.eye_array(5, format="dia"), [1, 2, 1, 2, 1], rows=2)[1]["X"].toarray().tolist() == np.eye(5)[2:4].tolist()
    words = [[f"w{i % 7}", f"w{i % 3}"] for i in range(60)]
    tags = [["a" if word in ("w0", "w5") else "b" for word in sentence] for sentence in words]
    named = {"classes": ["a", "b"], "n_hashed": 64, "epochs": 4}
    tagger = fit_stream(Engine("sequence", **named), Slices([[[w] for w in one] for one in words], tags, rows=7))
    assert same(tagger, Engine("sequence", **named).fit([[[w] for w in one] for one in words], tags))


def test_empty_parts_are_skipped():
    X, y = np.arange(12.0).reshape(6, 2) - 5, [1, 1, 1, 2, 2, 2]
    empty, parts = (X[:0], []), [(X[:4], y[:4]), (X[4:], y[4:])]
    expected = fit_stream(Engine("cusum", classes=[1, 2], epochs=3), parts)
    for found in ([empty, *parts], [parts[0], empty, parts[1]], [*parts, empty], [{"X": X[:0], "y": np.zeros(0)}, *parts]):
        np.testing.assert_array_equal(fit_stream(Engine("cusum", classes=[1, 2], epochs=3), found).coef_, expected.coef_)
    with pytest.raises(DataError, match="nothing to learn from"):
        fit_stream(Engine("cusum", classes=[1, 2]), [empty, empty])
    for unequal in ((X, []), (X[:0], y)):
        with pytest.raises(DataError):
            fit_stream(Engine("cusum", classes=[1, 2]), [parts[0], unequal])


def test_shuffling_mixes_rows_and_the_order_of_slices_by_one_seed():
    def trained(parts, seed=3, **options):
        return fit_stream(Engine("cusum", shuffle=True, random_state=seed, **(OPTIONS | options)), parts)

    slices, seen = Slices(X, Y, rows=100), []
    first = trained(slices)
    assert same(first, trained(slices)) and not same(first, trained(slices, 4))

    class Watched(Slices):
        def __getitem__(self, i):
            seen.append(i)
            return super().__getitem__(i)

    trained(Watched(X, Y, rows=100))
    orders = [seen[i:i + 7] for i in (0, 7, 14)]
    assert all(sorted(order) == list(range(7)) for order in orders) and len(set(map(tuple, orders))) == 3
    in_order = trained(lambda: iter([(X[i:i + 100], Y[i:i + 100]) for i in range(0, N, 100)]), epochs=1)
    twin = Engine("cusum", shuffle=True, random_state=3, **OPTIONS)
    for i in range(0, N, 100):
        twin.partial_fit(X[i:i + 100], Y[i:i + 100])
    assert np.array_equal(in_order.coef_, twin.coef_)
    generator = np.random.default_rng(3)
    assert same(trained(slices, generator), first) and not same(trained(slices, generator), first)


def test_one_part_is_read_ahead_and_no_more():
    read, learned = [], []

    def parts():
        for i in range(0, N, 100):
            read.append((i, threading.current_thread() is threading.main_thread()))
            yield X[i:i + 100], Y[i:i + 100]

    def passed(epoch, n_examples):
        learned.append((epoch, n_examples))
        assert len(read) <= len(learned) + 1

    fit_stream(Engine("cusum", classes=[1, 2, 3], epochs=1), parts, passed=passed)
    assert learned == [(1, 100)] * 7 and not any(main for _, main in read)
    read.clear()
    fit_stream(Engine("cusum", classes=[1, 2, 3], epochs=1), parts, ahead=False)
    assert all(main for _, main in read)


def test_an_epoch_without_update_is_the_last():
    easy = np.repeat([[-1.0], [1.0]], 5, axis=0)
    engine = fit_stream(Engine("multiclass", classes=["n", "p"], epochs=50), Slices(easy, ["n"] * 5 + ["p"] * 5, rows=4))
    assert engine.status_ == "converged" and len(engine.mistakes_) < 50 and engine.mistakes_[-1] == 0


def test_errors_within_a_part_keep_what_earlier_parts_taught_and_close_the_source():
    closed = []

    def parts():
        try:
            yield X[:100], Y[:100]
            yield X[100:200], np.full(100, 9)
            yield X[200:], Y[200:]
        finally:
            closed.append(True)

    engine = Engine("cusum", classes=[1, 2, 3])
    with pytest.raises(DataError, match=r"y\[0\] is 9, which is not one of the labels"):
        fit_stream(engine, parts)
    assert closed and np.array_equal(engine.coef_, Engine("cusum", classes=[1, 2, 3]).partial_fit(X[:100], Y[:100]).coef_)

    def broken():
        yield X[:100], Y[:100]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        fit_stream(Engine("cusum", classes=[1, 2, 3]), broken)


@pytest.mark.parametrize("ahead", [True, False])
def test_ctrl_c_between_parts_keeps_whole_parts(ahead):
    def parts():
        yield X[:100], Y[:100]
        raise KeyboardInterrupt

    engine = Engine("cusum", classes=[1, 2, 3])
    with pytest.raises(KeyboardInterrupt):
        fit_stream(engine, parts, ahead=ahead)
    assert engine.status_ == "interrupted" and np.array_equal(engine.coef_, Engine("cusum").fit(X[:100], Y[:100]).coef_)


class Watching:
    name = "watching"

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        pass


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: fit_stream(Engine("cusum", epochs=2), iter([(X, Y)])), OptionError, "an iterator gives its parts only once; pass a function"),
    (lambda: fit_stream(Engine("cusum", plugins=[Watching()]), [(X, Y)]), OptionError, "plugin watching observes epochs over all data"),
    (lambda: fit_stream(Engine("cusum", plugins=[History()]), [(X, Y)]), OptionError, "A stream has none"),
    (lambda: fit_stream(Engine("cusum"), []), DataError, "there is no part to learn from"),
    (lambda: fit_stream(Engine("cusum"), Slices(X, Y, sample_weight=np.zeros(N))), DataError, "all sample weights are zero"),
    (lambda: fit_stream(Engine("cusum"), [X]), DataError, r"a part is ndarray .*; expected a pair \(X, y\), a dict"),
    (lambda: Slices(X, Y[1:]), DataError, "y has 699 entries, but X has 700 rows"),
    (lambda: Slices(X, Y, rows=0), DataError, "rows is 0; expected a whole number from 1 on"),
])  # fmt: skip
def test_wrong_usage_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(("model", "message"), [(CuSumRank(), "or call partial_fit of the estimator with each part"),
                                                (None, r"engine=None; expected an Engine, such as Engine\(problem\)\.")])
def test_a_stream_trains_an_engine(model, message):
    with pytest.raises(OptionError, match=message):
        fit_stream(model, [(X, Y)])
