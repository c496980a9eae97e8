"""Tests of networks as weights, of tree layers, and of contributions of inputs."""

import copy
import itertools
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install structperc[torch]")

from structperc import Engine, Problem  # noqa: E402
from structperc.errors import DataError, OptionError, StructPercError  # noqa: E402
from structperc.estimators import StructureConformal  # noqa: E402
from structperc.torch import Chain, CusumHead, Net, StructuredLoss, Trees, integrated_gradients  # noqa: E402


def network(n_in, n_out, hidden=8, seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(n_in, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, n_out)).double()


def sentences(n, seed=0):
    """Tags that no linear model knows: whether both columns have the same sign."""
    random = np.random.default_rng(seed)
    X = [random.normal(size=(random.integers(2, 6), 2)) for _ in range(n)]
    return X, [["same" if a * b > 0 else "other" for a, b in x] for x in X]


def tagger(update="log-loss", **options):
    return Engine("sequence", start=True, end=True, update=update, random_state=0, plugins=[Net(network(2, 2))], **{"epochs": 4, **options})


def share(engine, X, y):
    """The share of right tags."""
    return np.mean([a == b for own, right in zip(engine.predict(X), y, strict=True) for a, b in zip(own, right, strict=True)])


# ---- networks as weights ----


@pytest.mark.parametrize("update", ["perceptron", "pa1", "log-loss"])
def test_rules_train_a_network(update):
    X, y = sentences(60)
    linear = Engine("sequence", update=update, epochs=4, random_state=0).fit(X, y)

    assert share(tagger(update).fit(X, y), X, y) > share(linear, X, y) + 0.1


def test_the_step_of_a_rule_is_a_gradient_of_the_network():
    module = network(2, 2)
    engine = Engine("multiclass", classes=["a", "b"], update="log-loss", step_size=1.0, preset="paper", epochs=1, random_state=0,
                    plugins=[Net(module, optimizer=lambda parameters: torch.optim.SGD(parameters, lr=1.0))]).fit([[1.0, 2.0]], ["b"])
    by_hand = copy.deepcopy(module)
    loss = torch.nn.functional.cross_entropy(by_hand(torch.tensor([[1.0, 2.0]], dtype=torch.float64)), torch.tensor([1]))
    loss.backward()
    with torch.no_grad():
        for one in by_hand.parameters():
            one -= one.grad

    assert engine.label_scores([[1.0, 2.0]])[0] == pytest.approx(by_hand(torch.tensor([1.0, 2.0], dtype=torch.float64)).tolist())


def test_a_network_has_what_weights_have(tmp_path):
    X, y = sentences(40)
    engine = tagger().fit(X, y)
    engine.save(tmp_path / "net.model")
    loaded = Engine.load(tmp_path / "net.model", plugins=[Net(network(2, 2, seed=1))])

    assert loaded.predict(X).tolist() == engine.predict(X).tolist()
    assert [ranked[0][1] for ranked in loaded.predict_k_best(X, 2)] == [ranked[0][1] for ranked in engine.predict_k_best(X, 2)]
    assert np.allclose(engine.predict_marginals(X[:1])[0].sum(axis=1), 1)
    assert engine.margins(X).min() >= 0
    sets = StructureConformal(engine, coverage=0.8).calibrate(*sentences(60, seed=1))
    assert len(sets.predict(X[:2])) == 2
    for one in (engine, loaded):
        one.partial_fit(X[:5], y[:5])
    assert loaded.predict(X).tolist() == engine.predict(X).tolist()


@pytest.mark.parametrize("tensor", [lambda x: torch.from_numpy(x).requires_grad_(), lambda x: torch.from_numpy(x).bfloat16()])
def test_tensors_that_numpy_cannot_read_are_one_sentence(tensor):
    X, y = sentences(3)
    engine = tagger(epochs=1).fit(X, y)
    for call in (engine.predict, lambda rows: engine.fit(rows, y)):
        with pytest.raises(DataError, match=r"numpy cannot read an example of X: .* Pass an array of numpy"):
            call([tensor(x) for x in X])
    with pytest.raises(StructPercError, match="cannot (be )?read"):
        Engine("multiclass").fit(tensor(X[0]), y[0])
    with pytest.raises(DataError, match="numpy cannot read y"):
        Engine("multiclass").fit(X[0], tensor(X[0][:, 0]))


def test_a_fit_begins_with_the_modules_own_weights():
    X, y = sentences(10)
    engine = tagger()
    first = engine.fit(X, y).predict_marginals(X)[0]

    assert np.array_equal(engine.fit(X, y).predict_marginals(X)[0], first)


@pytest.mark.parametrize("call", [
    lambda engine, X: engine.explain(X[0]), lambda engine, X: engine.counterfactual(X[0]), lambda engine, X: engine.export("net.c"),
    lambda engine, X: engine.coef_,
])  # fmt: skip
def test_what_a_network_cannot_do_is_refused(call):
    X, y = sentences(5)
    engine = tagger(epochs=1).fit(X, y)
    with pytest.raises((StructPercError, AttributeError)) as raised:
        call(engine, X)
    assert 20 < len(str(raised.value)) < 400


@pytest.mark.parametrize(("call", "kind", "sentence"), [
    (lambda X, y, file: Net("mlp"), DataError, "expected a torch.nn.Module"),
    (lambda X, y, file: Net(torch.nn.ReLU()), OptionError, "no parameters"),
    (lambda X, y, file: Engine("multiclass", plugins=[Net(network(2, 3))]).fit(np.eye(2), ["a", "b"]), DataError,
     "returns 3 scores for the 1 rows"),
    (lambda X, y, file: Engine.load(file, plugins=[Net(network(2, 2, hidden=3))]), StructPercError, "a module of the same form"),
    (lambda X, y, file: tagger(average=True).fit(X, y), StructPercError, "average"),
])  # fmt: skip
def test_networks_that_do_not_fit_are_one_sentence(tmp_path, call, kind, sentence):
    X, y = sentences(5)
    tagger(epochs=1).fit(X, y).save(tmp_path / "net.model")
    with pytest.raises(kind, match=sentence):
        call(X, y, tmp_path / "net.model")


def test_columns_on_one_scale_give_one_answer_at_every_door():
    X, y = sentences(40)
    X = [x * [1, 10] + [0, 20] for x in X]
    engine = tagger().fit(X, y)
    best = [ranked[0] for ranked in engine.predict_k_best(X, 2)]

    assert engine.predict(X).tolist() == [labels for labels, _ in best]
    batch = Problem("sequence", classes=list(engine.classes_), start=True, end=True).batch(lengths=[len(x) for x in X])
    assert batch.argmax(np.concatenate(engine.atom_scores(X))).tolist() == engine.predict(X).tolist()


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_networks_of_half_precision_are_trained_in_float32(tmp_path, kind):
    X, y = sentences(20)
    half = network(2, 2).to(kind)
    engine = Engine("sequence", update="log-loss", epochs=2, random_state=0, plugins=[Net(half)]).fit(X, y)
    whole = Engine("sequence", update="log-loss", epochs=2, random_state=0, plugins=[Net(half.float())]).fit(X, y)
    engine.save(tmp_path / "half.model")
    loaded = Engine.load(tmp_path / "half.model", plugins=[Net(network(2, 2, seed=1).to(kind))])

    assert engine.parts_.weights.module[0].weight.dtype == torch.float32
    assert [bytes(one) for one in engine.atom_scores(X)] == [bytes(one) for one in whole.atom_scores(X)]
    assert [bytes(one) for one in engine.atom_scores(X)] == [bytes(one) for one in loaded.atom_scores(X)]


# ---- one file of a network and its problem ----


LEVELS = ["low", "middle", "high"]


def rows_and_levels(n=24):
    X = np.random.default_rng(0).normal(size=(n, 2)) * [1, 10] + [0, 5]
    return X, np.array(LEVELS)[np.digitize(X[:, 0] * (X[:, 1] - 5), [-3, 3])]


@pytest.mark.parametrize(("problem", "n_out", "options"), [
    ("multiclass", 3, {}), ("cusum", 2, {}), ("cusum", 2, {"fit_intercept": False}), ("prank", 1, {"update": "perceptron"}),
    ("prank", 2, {"update": "perceptron"}),
])  # fmt: skip
@pytest.mark.parametrize("kind", [torch.float64, torch.float32])
@pytest.mark.filterwarnings("ignore")
def test_one_file_has_the_network_the_labels_and_their_probabilities(tmp_path, problem, n_out, options, kind):
    pytest.importorskip("onnx", reason="onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    X, y = rows_and_levels()
    engine = Engine(problem, plugins=[Net(network(2, n_out).to(kind))], **{
        "classes": LEVELS, "update": "log-loss", "epochs": 2, "random_state": 0, **options}).fit(X, y)
    for to in ("onnx", "onnx-float32"):
        engine.export(tmp_path / "grade.onnx", to)
        session = runtime.InferenceSession(tmp_path / "grade.onnx", providers=["CPUExecutionProvider"])
        label, scores, probabilities = session.run(None, {"X": X.astype(np.float64 if to == "onnx" else np.float32)})
        near = 1e-9 if to == "onnx" and kind == torch.float64 else 1e-4
        assert np.abs(scores - engine.label_scores(X)).max() < near
        assert np.abs(probabilities - engine.predict_proba(X)).max() < near
        assert (label == engine.predict(X)).all() and session.run(None, {"X": X[:1].astype(session_type(session))})[0] == label[:1]


def session_type(session):
    return np.float64 if "double" in session.get_inputs()[0].type else np.float32


@pytest.mark.parametrize("options", [{}, {"start": True, "end": True, "forbidden_transitions": [["same", "other"]]}])
@pytest.mark.filterwarnings("ignore")
def test_one_file_has_the_network_and_the_chain(tmp_path, options):
    pytest.importorskip("onnx", reason="onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    X, y = sentences(30)
    X = [x * [1, 10] + [0, 20] for x in X]
    y = [sorted(labels) for labels in y]
    engine = Engine("sequence", classes=["same", "other"], update="log-loss", epochs=2, random_state=0, plugins=[Net(network(2, 2))],
                    **options).fit(X, y)
    engine.export(tmp_path / "tags.onnx")
    session = runtime.InferenceSession(tmp_path / "tags.onnx", providers=["CPUExecutionProvider"])

    assert [list(session.run(None, {"X": x})[0]) for x in X] == engine.predict(X).tolist()
    with pytest.raises(StructPercError, match="to='js' holds linear scores, and a network computes those of this model"):
        engine.export(tmp_path / "tags.js")


class AcrossRows(torch.nn.Linear):
    """Scores of a row that depend on the other rows."""

    def forward(self, rows):
        return super().forward(rows - rows.mean(0))


def test_a_file_that_could_not_repeat_the_model_is_not_written(tmp_path):
    X, y = rows_and_levels()
    engine = Engine("multiclass", update="perceptron", epochs=1, plugins=[Net(AcrossRows(2, 3))]).fit(X, y)
    with pytest.raises(StructPercError, match="scores rows of a table otherwise than one by one"):
        engine.export(tmp_path / "grade.onnx")
    assert not (tmp_path / "grade.onnx").exists()


# ---- trees ----


def all_trees(n):
    for heads in itertools.product(range(n + 1), repeat=n):
        if heads.count(0) == 1 and all(reaches_root(heads, m) for m in range(1, n + 1)):
            yield list(heads)


def reaches_root(heads, word):
    for _ in heads:
        word = heads[word - 1]
        if word == 0:
            return True
    return False


def test_trees_are_those_of_an_enumeration():
    torch.manual_seed(0)
    arcs = torch.randn(1, 4, 4, dtype=torch.float64, requires_grad=True)
    trees, table = list(all_trees(3)), arcs[0].detach().numpy()
    scores = np.array([sum(table[h, m + 1] for m, h in enumerate(heads)) for heads in trees])
    order, layer = np.argsort(-scores), Trees()

    assert layer.decode(arcs) == [trees[order[0]]]
    assert layer.log_probability(arcs, None, torch.tensor([trees[4]])).tolist() == pytest.approx([scores[4] - np.log(np.exp(scores).sum())])
    assert [heads for heads, _ in layer.k_best(arcs, k=3)[0]] == [trees[i] for i in order[:3]]
    assert layer(arcs, heads=[trees[1]]).item() == pytest.approx(np.log(np.exp(scores).sum()) - scores[1])
    assert layer.marginals(arcs)[0, 0, 1].item() == pytest.approx(np.exp(scores)[[heads[0] == 0 for heads in trees]].sum()
                                                                  / np.exp(scores).sum())
    assert torch.autograd.gradcheck(lambda s: layer(s, heads=[trees[1]]), (arcs,))


def test_padded_sentences_are_cut():
    torch.manual_seed(1)
    arcs, layer = torch.randn(2, 5, 5), Trees(projective=True)
    mask, heads = torch.tensor([[True] * 4, [True, True, False, False]]), torch.tensor([[2, 0, 2, 3], [0, 1, 9, 9]])

    assert layer(arcs, mask, heads)[1].item() == pytest.approx(layer(arcs[1:, :3, :3], heads=heads[1:, :2]).item())
    assert layer.decode(arcs, mask)[1] == layer.decode(arcs[1:, :3, :3])[0]
    assert layer.marginals(arcs, mask)[1, :, 3:].abs().sum() == 0


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda layer, s: layer(s), "heads are missing"), (lambda layer, s: layer.decode(s[0]), "expected a tensor"),
    (lambda layer, s: layer.decode(s, torch.tensor([[False, True]])), "leaves out a word before one that counts"),
    (lambda layer, s: layer.decode(s, torch.ones(1, 3)), r"type float32|shape \(1, 3\)"),
    (lambda layer, s: layer(s, heads=[[2, 0], [0]]), "heads is .*expected a table"),
    (lambda layer, s: layer(s, heads=torch.zeros(1, 3, dtype=torch.int64)), r"heads have the shape \(1, 3\)"),
    (lambda layer, s: layer(s, heads=torch.tensor([[2, 1]])), "0|root|cycle|tree"),
    (lambda layer, s: layer.decode(s * torch.nan), "has the score nan"),
])  # fmt: skip
def test_what_a_tree_layer_cannot_read_is_one_sentence(call, sentence):
    with pytest.raises(StructPercError, match=sentence):
        call(Trees(), torch.zeros(1, 3, 3))


# ---- contributions of inputs ----


def test_contributions_add_up_to_the_difference():
    problem, module = Problem("sequence", classes=["a", "b"]), network(2, 2)
    batch = problem.batch(lengths=[3])
    x = torch.randn(3, 2, dtype=torch.float64)

    def scores(x):
        return torch.cat([module(x).reshape(-1), torch.zeros(int(batch.offsets[-1]) - 6, dtype=torch.float64)])

    (best, high), (rival, low) = batch.k_best(scores(x).detach().numpy(), 2)[0]
    counts = batch.counts([best]) - batch.counts([rival])
    parts = integrated_gradients(scores, x, counts, n_steps=400)
    at_zero = (scores(torch.zeros_like(x)) @ torch.from_numpy(counts)).item()

    assert float(parts.sum()) == pytest.approx(high - low - at_zero, abs=1e-2)
    with pytest.raises(DataError, match="expected one for each atom"):
        integrated_gradients(scores, x, counts[:-1])
    with pytest.raises(DataError, match="baseline has the shape"):
        integrated_gradients(scores, x, counts, baseline=x[:1])


# ---- warnings of what does not learn ----


def test_a_loss_that_a_network_makes_small_by_shrinking_is_warned_of():
    problem = Problem("multiclass", classes=["a", "b"])
    batch, s = problem.batch(y=["a", "b"]), torch.ones(2, 2)
    for loss in ("perceptron", "hinge", "log-loss"):
        criterion = StructuredLoss(problem, loss)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for i in range(110):
                criterion(s * 0.8**i, batch)
        assert [loss in str(one.message) and "'log-loss'" in str(one.message) for one in seen] == [True] * (loss != "log-loss")
    criterion = StructuredLoss(problem, "hinge").eval()
    for _ in range(110):
        criterion(s * 0, batch)


def test_thresholds_that_begin_anywhere_are_warned_of():
    x, y = torch.zeros(2, 2), torch.tensor([0, 2])
    head = CusumHead(2, n_levels=3, directions="shared")
    with pytest.warns(UserWarning, match=r"Call start_thresholds\(counts\)"):
        for _ in range(110):
            head.loss(x, y, "logistic")
    head.start_thresholds([1, 1, 1])
    again = CusumHead(2, n_levels=3, directions="shared")
    again.load_state_dict(head.state_dict())
    for _ in range(110):
        again.loss(x, y, "logistic")
    torch.optim.Adam(again.parameter_groups(0.01))


# ---- how networks are trained ----


@pytest.mark.filterwarnings("ignore")
def test_layers_work_under_autocast_and_accumulated_gradients_and_a_compiled_encoder():
    torch.manual_seed(0)
    layer, encoder, x, tags = Chain(["a", "b"]), torch.nn.Linear(3, 2), torch.randn(4, 5, 3), torch.randint(0, 2, (4, 5))
    whole = torch.autograd.grad(layer(encoder(x), tags=tags).sum(), encoder.weight)[0]
    for half in (slice(2), slice(2, 4)):
        layer(encoder(x[half]), tags=tags[half]).sum().backward()
    assert torch.allclose(encoder.weight.grad, whole, atol=1e-5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        values = layer(encoder(x), tags=tags)
    assert values.dtype == torch.float32 and torch.isfinite(torch.autograd.grad(values.sum(), encoder.weight)[0]).all()
    compiled = torch.compile(encoder, backend="eager")
    assert torch.allclose(torch.autograd.grad(layer(compiled(x), tags=tags).sum(), encoder.weight)[0], whole, atol=1e-5)


def test_batches_go_through_the_workers_of_a_loader():
    problem = Problem("sequence", classes=["a", "b"])
    batch = problem.batch(lengths=[1, 2, 1], y=[["a"], ["a", "b"], ["b"]])
    loader = torch.utils.data.DataLoader([0, 1, 2], batch_size=2, num_workers=1, multiprocessing_context="fork", collate_fn=batch.take)

    assert [one.gold.tolist() for one in loader] == [batch.take([0, 1]).gold.tolist(), batch.take([2]).gold.tolist()]
