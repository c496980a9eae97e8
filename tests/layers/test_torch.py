"""Tests of the layers for PyTorch: equal to batches of numpy, gradients by gradcheck, masks, float types, what cannot be."""

import copy
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install structperc[torch]")

from structperc import Problem  # noqa: E402
from structperc.errors import DataError, OptionError, PluginError, UnusedOption  # noqa: E402
from structperc.torch import Chain, CusumHead, StructuredLoss, Trees  # noqa: E402

LABELS = ["B", "I", "O"]
MASK = torch.tensor([[True, True, True, False], [True, True, False, False]])
TAGS = torch.tensor([[0, 1, 2, 0], [2, 2, 0, 0]])


def chain(loss="log-loss", **options):
    torch.manual_seed(0)
    layer = Chain(LABELS, loss=loss, **options).double()
    for table in layer.parameters():
        torch.nn.init.normal_(table)
    return layer, torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True)


def flat_of(layer, emissions, lengths):
    """Flat scores of sentences, written out."""
    tables = [layer.transitions.reshape(-1), layer.start, layer.end]
    return torch.cat([torch.cat([one[:n].reshape(-1), *tables]) for one, n in zip(emissions, lengths, strict=True)])


# ---- losses of any problem ----


@pytest.mark.parametrize("loss", ["perceptron", "hinge", "log-loss", "softmax-margin", "sparsemap", "logistic"])
def test_a_loss_of_any_problem_has_the_gradient_of_its_values(loss):
    torch.manual_seed(1)
    problem = Problem("sequence", classes=LABELS)
    batch = problem.batch(lengths=[3, 2], y=[["B", "I", "O"], ["O", "O"]])
    scores = torch.randn(int(batch.offsets[-1]), dtype=torch.float64, requires_grad=True)

    assert torch.autograd.gradcheck(lambda s: StructuredLoss(problem, loss)(s, batch), (scores,), atol=1e-4)
    assert StructuredLoss(problem, loss)(scores, batch).tolist() == batch.loss(scores.detach().numpy(), loss)[0].tolist()


def test_costs_of_decisions_are_predicted():
    arcs = np.array([[0, 1], [1, 2], [0, 2]])
    problem = Problem("path")
    batch = problem.batch([arcs, arcs], costs=[[1.0, 1.0, 3.0], [1.0, 1.0, 1.0]])
    predicted = torch.tensor([[2.0, 2.0, 1.0], [1.0, 1.0, 1.0]], requires_grad=True)
    values = StructuredLoss(problem, "spo+")(-predicted, batch)
    values.mean().backward()

    assert values.tolist() == [7.0, 0.0]
    assert predicted.grad.tolist() == [[1.0, 1.0, -1.0], [0.0, 0.0, 0.0]]


def test_each_call_of_perturbed_draws_further_noise():
    problem = Problem("multiclass", classes=["a", "b"])
    batch, s = problem.batch(y=["a", "b"]), torch.zeros(2, 2)
    loss, again = (StructuredLoss(problem, "perturbed", random_state=3, n_draws=2) for _ in range(2))
    first = loss(s, batch).tolist()

    assert first == again(s, batch).tolist()
    assert loss(s, batch).tolist() != first


@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_every_float_type_is_solved_in_float64(kind):
    problem = Problem("cusum", classes=[1, 2, 3])
    batch = problem.batch(y=[3, 1])
    scores = torch.tensor([[0.5, -0.25], [1.0, 0.0]], dtype=kind, requires_grad=True)
    values = StructuredLoss(problem)(scores, batch)
    values.sum().backward()

    assert values.dtype == (kind if kind == torch.float64 else torch.float32)
    assert scores.grad.dtype == kind
    assert values.double().tolist() == pytest.approx(batch.loss(scores.detach().double().numpy())[0], rel=1e-6)


def test_scores_without_order_in_memory_and_weights_of_examples_are_used():
    problem = Problem("cusum", classes=[1, 2, 3])
    batch = problem.batch(y=[3, 1, 2])
    wide = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    weights = torch.tensor([1.0, 0.0, 2.0], dtype=torch.float64)
    (StructuredLoss(problem)(wide.T, batch) * weights).sum().backward()
    _, gradient = batch.loss(wide.detach().numpy().T)

    assert np.allclose(wide.grad.numpy().T, gradient * weights.numpy()[:, None])


def test_what_a_loss_cannot_do_is_one_sentence():
    problem = Problem("matching")
    batch = problem.batch([np.array([[0, 0], [1, 1]])], [[0]])
    with pytest.raises(PluginError, match="finds none; use 'hinge', 'perturbed' or 'sparsemap'"):
        StructuredLoss(problem)(torch.zeros(2), batch)
    with pytest.raises(DataError, match="atom 1 of example 0 has the score nan"):
        StructuredLoss(problem, "hinge")(torch.tensor([0.0, torch.nan]), batch)
    with pytest.raises(OptionError, match="Did you mean 'hinge'"):
        StructuredLoss(problem, "hing")
    with pytest.raises(UnusedOption, match="margin"):
        StructuredLoss(problem, "perceptron", margin=2.0)
    with pytest.raises(DataError, match="expected a tensor of floats"):
        StructuredLoss(problem, "hinge")(torch.zeros(2, dtype=torch.int64), batch)
    with pytest.raises(DataError, match=r"expected a structperc.Problem"):
        StructuredLoss("matching")
    s = torch.zeros(2, requires_grad=True)
    value = StructuredLoss(problem, "hinge")(s, batch).sum()
    gradient, = torch.autograd.grad(value, s, create_graph=True)
    with pytest.raises(PluginError, match="have first derivatives only"):
        gradient.sum().backward()


# ---- chains ----


@pytest.mark.parametrize("loss", ["log-loss", "hinge", "sparsemap"])
def test_a_chain_is_its_problem_over_flat_scores(loss):
    layer, emissions = chain(loss)
    batch = layer.problem.batch(lengths=[3, 2], y=[["B", "I", "O"], ["O", "O"]])
    values = layer(emissions, MASK, TAGS)
    written = StructuredLoss(layer.problem, loss)(flat_of(layer, emissions, [3, 2]), batch)
    weights = torch.tensor([1.0, 3.0], dtype=torch.float64)
    own = torch.autograd.grad((values * weights).sum(), [emissions, *layer.parameters()])
    other = torch.autograd.grad((written * weights).sum(), [emissions, *layer.parameters()])

    assert values.tolist() == written.tolist()
    assert all(torch.allclose(a, b, atol=1e-12, rtol=0) for a, b in zip(own, other, strict=True))
    assert torch.autograd.gradcheck(lambda e, *_: layer(e, MASK, TAGS), (emissions, *layer.parameters()), atol=1e-4)


def test_padded_and_ragged_sentences_are_the_same():
    layer, emissions = chain()
    ragged = [emissions[0, :3], emissions[1, :2]]
    tags = [[0, 1, 2], [2, 2]]

    assert layer(ragged, tags=tags).tolist() == layer(emissions, MASK, TAGS).tolist()
    assert layer.decode(ragged) == layer.decode(emissions, MASK)
    assert layer.k_best(ragged, k=3) == layer.k_best(emissions, MASK, 3)
    assert torch.equal(layer.marginals(ragged), layer.marginals(emissions, MASK)[:, :3])


def test_what_a_chain_remembers_of_one_batch_does_not_change_the_next():
    layer, emissions = chain()
    others = [(MASK, TAGS), (MASK, 2 - TAGS), (MASK.flip(0), TAGS), (None, TAGS), (MASK[:1], TAGS[:1]), (MASK, TAGS)]
    for mask, tags in others:
        fresh = copy.deepcopy(layer)
        some = emissions[:len(tags)]

        assert layer(some, mask, tags).tolist() == fresh(some, mask, tags).tolist()
        assert layer.decode(some, mask) == fresh.decode(some, mask)


def test_ignored_tags_leave_their_tokens_out():
    layer, emissions = chain()
    tags = TAGS.clone()
    tags[0, 1] = tags[1, 1] = -100
    words = MASK & (tags != -100)

    assert layer(emissions, MASK, tags).tolist() == layer(emissions, words, TAGS).tolist()
    assert layer(emissions, None, torch.where(MASK, tags, -100)).tolist() == layer(emissions, words, TAGS).tolist()
    assert [len(labels) for labels in layer.decode(emissions, words)] == [2, 1]


def test_probabilities_of_a_chain_agree():
    layer, emissions = chain()
    marginals = layer.marginals(emissions, MASK)

    assert torch.allclose(layer.log_probability(emissions, MASK, TAGS), -layer(emissions, MASK, TAGS))
    assert torch.allclose(marginals.sum(2), MASK.double())
    ranked = layer.k_best(emissions, MASK, 2)
    assert [one[0][0] for one in ranked] == layer.decode(emissions, MASK)


def test_a_chain_keeps_its_constraints_and_loses_no_gradient():
    layer, emissions = chain(constraints="iob2")
    high = emissions.detach().clone()
    high[..., 1] += 20

    assert all(labels[0] == "B" for labels in layer.decode(high, MASK))
    with pytest.raises(DataError, match="which may not begin|which"):
        layer(emissions, MASK, torch.ones_like(TAGS))


def test_a_chain_is_an_engine_over_emissions(tmp_path):
    layer, emissions = chain(constraints="iob2")
    X = [emissions[0, :3].detach().numpy(), emissions[1, :2].detach().numpy()]
    engine = layer.engine()
    engine.save(tmp_path / "chain.model")

    assert engine.predict(X).tolist() == layer.decode(emissions, MASK) == type(engine).load(tmp_path / "chain.model").predict(X).tolist()
    assert engine.margins(X) == pytest.approx([one[0][1] - one[1][1] for one in layer.k_best(emissions, MASK, 2)])


@pytest.mark.parametrize(("heads", "sentence"), [([[2, 3, 0]], r"heads\[0\]\[1\] is 3; expected a number from 0 \(the root\) to 2"),
                                                ([[2, 1, 9]], "no tree of sentence 0: the words 1 -> 2 -> 1"),
                                                ([[0, 0, 9]], "both have the head 0"), ([[-1, 0, 9]], r"heads\[0\]\[0\] is -1")])
def test_heads_that_are_no_tree_are_one_sentence(heads, sentence):
    with pytest.raises(DataError, match=sentence):
        Trees()(torch.zeros(1, 4, 4), torch.tensor([[1, 1, 0]]), torch.tensor(heads))


def test_transforms_of_functions_are_refused_in_a_sentence():
    layer, emissions = chain()
    problem = Problem("cusum", classes=[1, 2, 3])
    batch, loss = problem.batch(y=[3, 1]), StructuredLoss(problem)
    for call in (lambda: torch.func.grad(lambda e: layer(e, MASK, TAGS).sum())(emissions.detach()),
                 lambda: torch.func.grad(lambda s: loss(s, batch).sum())(torch.zeros(2, 2)),
                 lambda: torch.func.vmap(lambda e: layer(e[None], MASK[:1], TAGS[:1]))(emissions.detach())):
        with pytest.raises(PluginError, match="do not work inside of torch.func"):
            call()


def test_empty_sentences_and_batches_have_no_loss():
    layer, emissions = chain()
    none = torch.zeros_like(MASK)

    assert layer(emissions, none, TAGS).tolist() == [0.0, 0.0]
    assert layer.decode(emissions, none) == [[], []]
    assert layer(emissions[:0], MASK[:0], TAGS[:0]).shape == (0,) and layer.decode([]) == []


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda layer, e: layer(e, MASK), "tags are missing"),
    (lambda layer, e: layer(e, MASK, TAGS + 7), r"tags\[0\]\[0\] is 7; expected a number from 0 to 2"),
    (lambda layer, e: layer(e, MASK[:, :2], TAGS), r"mask has the shape \(2, 2\)"),
    (lambda layer, e: layer(e, MASK, TAGS[:1]), r"tags have the shape \(1, 4\)"),
    (lambda layer, e: layer(e, MASK, TAGS.double()), "tags has the type float64"),
    (lambda layer, e: layer(e[..., :2], MASK, TAGS), "emissions have 2 scores for each token; expected 3"),
    (lambda layer, e: layer(e[0], MASK, TAGS), "expected a tensor"),
    (lambda layer, e: layer([e[0]], MASK, TAGS), "which need no mask"),
    (lambda layer, e: layer([e[0]], tags=[[0]]), r"tags\[0\] has 1 tags, but sentence 0 has 4 tokens"),
    (lambda layer, e: layer.decode(e * torch.nan, MASK), "has the score nan"),
    (lambda layer, e: layer(torch.where(torch.arange(3) == 1, torch.nan, e), MASK, TAGS), "atom 1 of example 0 has the score nan"),
    (lambda layer, e: layer.decode([e[0].detach().numpy()]), r"emissions\[0\] is"),
    (lambda layer, e: layer.decode([e[0], e[1][:, :2]]), r"emissions\[1\] is"),
    (lambda layer, e: layer.decode([e[0, 0]]), r"emissions\[0\] is"),
])  # fmt: skip
def test_what_a_chain_cannot_read_is_one_sentence(call, sentence):
    with pytest.raises(DataError, match=sentence):
        call(*chain())


def test_a_chain_learns_and_its_state_is_restored():
    torch.manual_seed(0)
    layer = Chain(["a", "b"])
    encoder = torch.nn.Linear(2, 2)
    x = torch.randn(20, 5, 2)
    tags = (x[..., 0] * x[..., 0].roll(1, 1) > 0).long()
    tags[:, 1:] = tags[:, :-1]
    optimizer = torch.optim.Adam([*encoder.parameters(), *layer.parameters()], lr=0.1)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        value = layer(encoder(x), tags=tags).mean()
        value.backward()
        optimizer.step()
        losses.append(float(value.detach()))
    again = Chain(["a", "b"])
    again.load_state_dict(layer.state_dict())

    assert losses[-1] < losses[0]
    assert again.decode(encoder(x)) == layer.decode(encoder(x))


def test_layers_are_copied_and_saved_whole(tmp_path):
    layer, emissions = chain(constraints="iob2")
    torch.save(layer, tmp_path / "layer.pt")

    for other in (copy.deepcopy(layer), torch.load(tmp_path / "layer.pt", weights_only=False)):
        assert other(emissions, MASK, TAGS[:, [0, 1, 0, 1]]).tolist() == layer(emissions, MASK, TAGS[:, [0, 1, 0, 1]]).tolist()


def test_examples_are_prepared_in_workers_that_are_forked():
    layer, emissions = chain()
    rows = emissions.detach()
    loader = torch.utils.data.DataLoader([0, 1], num_workers=1, multiprocessing_context="fork", collate_fn=lambda i: layer(
        rows[i], MASK[i], TAGS[i]).detach())

    assert [float(value) for value in loader] == layer(rows, MASK, TAGS).tolist()


class Prepared(torch.utils.data.Dataset):
    """Examples whose loss a worker computes."""

    def __init__(self, layer, emissions):
        self.layer, self.emissions = layer, emissions

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return self.layer(self.emissions[i:i + 1], MASK[i:i + 1], TAGS[i:i + 1]).detach()


def test_layers_go_to_workers_that_are_spawned():
    layer, emissions = chain()
    rows = emissions.detach()
    loader = torch.utils.data.DataLoader(Prepared(layer, rows), num_workers=1, multiprocessing_context="spawn")

    assert [float(value) for value in loader] == layer(rows, MASK, TAGS).tolist()


def test_gradients_of_mini_batches_add_up():
    layer, emissions = chain()
    layer(emissions, MASK, TAGS).sum().backward()
    whole = emissions.grad.clone(), layer.transitions.grad.clone()
    emissions.grad = layer.transitions.grad = None
    for i in range(2):
        layer(emissions[i:i + 1], MASK[i:i + 1], TAGS[i:i + 1]).sum().backward()

    assert torch.equal(emissions.grad, whole[0]) and torch.allclose(layer.transitions.grad, whole[1])


# ---- ordered labels ----


@pytest.mark.parametrize("directions", ["own", "shared"])
@pytest.mark.parametrize(("loss", "costs"), [("hinge", "absolute"), ("hinge", "squared"), ("hinge", "zero-one"), ("log-loss", "absolute"),
                                             ("logistic", "absolute"), ("cumulative-logit", "absolute")])
def test_a_head_has_the_losses_of_ranks(directions, loss, costs):
    torch.manual_seed(2)
    head = CusumHead(3, n_levels=4, directions=directions).double()
    x, y = torch.randn(9, 3, dtype=torch.float64), torch.tensor([0, 1, 2, 3, 0, 1, 2, 3, 1])
    if loss == "cumulative-logit" and directions == "own":
        with pytest.raises(OptionError, match="directions='shared'"):
            head.loss(x, y, loss)
        return
    problem = Problem("cusum", classes=[0, 1, 2, 3], loss=costs)
    batch = problem.batch(y=y.tolist())
    own = head.loss(x, y, loss, costs=costs)

    assert own.detach().numpy() == pytest.approx(batch.loss(head(x).detach().numpy(), loss)[0])
    assert head.levels(x).tolist() == batch.argmax(head(x).detach().numpy()).tolist()
    names = [name for name, _ in head.named_parameters()]
    assert torch.autograd.gradcheck(lambda *values: torch.func.functional_call(Losses(head), dict(zip(
        [f"head.{name}" for name in names], values, strict=True)), (x, y, loss, costs)), tuple(head.parameters()), atol=1e-4)


class Losses(torch.nn.Module):
    def __init__(self, head):
        super().__init__()
        self.head = head

    def forward(self, x, y, loss, costs):
        return self.head.loss(x, y, loss, costs=costs)


def test_thresholds_start_at_the_frequencies_of_the_levels():
    head = CusumHead(2, n_levels=3, directions="shared").double()
    head.start_thresholds([100, 300, 600])
    with torch.no_grad():
        head.linear.weight.zero_()

    assert head.probabilities(torch.zeros(1, 2, dtype=torch.float64), "cumulative-logit")[0].tolist() == pytest.approx([0.1, 0.3, 0.6],
                                                                                                                        abs=1e-3)
    assert (head.thresholds.diff() > 0).all()
    assert head.probabilities(torch.randn(4, 2, dtype=torch.float64)).sum(1).tolist() == pytest.approx([1, 1, 1, 1])


@pytest.mark.parametrize(("call", "kind", "sentence"), [
    (lambda: CusumHead(2, 1), OptionError, "n_levels=1"), (lambda: CusumHead(2, 3, "both"), OptionError, "directions='both'"),
    (lambda: CusumHead(2, 3).loss(torch.zeros(1, 2), torch.tensor([3])), DataError, "levels from 3 to 3; expected numbers from 0 to 2"),
    (lambda: CusumHead(2, 3).loss(torch.zeros(1, 2), torch.tensor([0]), "crf"), OptionError, "loss='crf'"),
    (lambda: CusumHead(2, 3).loss(torch.zeros(1, 2), torch.tensor([0]), costs="x"), OptionError, "costs='x'"),
    *((lambda y=y, loss=loss: CusumHead(2, 3, "shared").loss(torch.zeros(2, 2), y, loss), DataError, "expected a tensor of 2 whole numbers")
      for y in (torch.tensor([0.5, 1.0]), torch.tensor([[0, 1]]), torch.tensor([0]), np.array([0, 1]))
      for loss in ("hinge", "logistic", "log-loss", "cumulative-logit")),
    *((lambda call=call: call(CusumHead(2, 3), torch.tensor([[0.0, 1.0], [torch.nan, 0.0]])), DataError, "example 1 has the scores")
      for call in (lambda head, x: head.levels(x), lambda head, x: head.probabilities(x),
                   lambda head, x: head.loss(x, torch.tensor([0, 1])))),
    (lambda: CusumHead(2, 3, "shared").start_thresholds([1, 2]), DataError, "expected 3 numbers"),
    (lambda: CusumHead(2, 3).probabilities(torch.zeros(1, 2), "hinge"), OptionError, "has no probabilities"),
])  # fmt: skip
def test_what_a_head_cannot_do_is_one_sentence(call, kind, sentence):
    with pytest.raises(kind, match=sentence):
        call()


def without_numbers():
    layer, _ = chain()
    with torch.no_grad():
        layer.transitions[0, 1] = torch.nan
    return layer.engine()


@pytest.mark.parametrize(("call", "sentence"), [
    (without_numbers, "transitions has NaN or inf"),
    (lambda: chain()[0](torch.zeros(2, 3, 3), tags=[None, [0, 1, 2]]), r"tags\[0\] is None; expected the tags of sentence 0"),
    (lambda: CusumHead(2, 3).loss_of(torch.zeros(2, 5), torch.tensor([0, 1])), r"s has the shape \(2, 5\); expected 2 scores"),
])  # fmt: skip
def test_what_has_no_meaning_is_one_sentence_at_further_doors(call, sentence):
    with pytest.raises(DataError, match=sentence):
        call()


# ---- the library without torch ----


def test_the_library_imports_no_torch():
    code = "import sys, structperc, structperc.torch; structperc.Engine, structperc.Problem; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONWARNINGS": "ignore"})


def test_the_code_of_the_guide_runs(tmp_path, monkeypatch):
    page = (Path(__file__).parents[2] / "docs/guide/scores.md").read_text()
    chain_block, export_block, service_block, tree_block, net_block, head_block, _ = re.findall(r"```py\n(.*?)```", page, re.DOTALL)
    names = {"torch": torch, "labels": LABELS, "encoder": torch.nn.Linear(5, 3), "loader": [(torch.randn(2, 4, 5), MASK, TAGS)]}
    exec(chain_block, names)
    assert names["engine"].predict([np.zeros((2, 3))]).shape == (1,)
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                 # of PyTorch, about its older exporter
        exec(export_block, names)
    sentence = torch.randn(1, 7, 5)
    exec(service_block, service := {"one_sentence": sentence.numpy()})
    assert [list(service["labels"])] == names["layer"].decode(names["encoder"](sentence))
    states = torch.randn(1, 3, 4)
    exec(tree_block, {"torch": torch, "heads_of": states, "words_of": states, "weight": torch.eye(4, requires_grad=True)})
    exec(net_block, {"module": torch.nn.Linear(2, 2), "X": [np.eye(2)], "y": [["a", "b"]]})
    names = {"torch": torch, "encoder": torch.nn.Linear(3, 64), "x": torch.randn(20, 3), "y": torch.arange(20) % 5}
    exec(head_block, names)
    assert names["head"].linear.weight.grad is not None
