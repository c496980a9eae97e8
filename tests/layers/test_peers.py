"""Layers beside other libraries' own: pytorch-crf, torch-struct, PyEPO, and log det by autograd. Each is skipped where it is absent."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install structperc[torch]")

from structperc import Problem  # noqa: E402
from structperc.solvers.integer_programs import ILP  # noqa: E402
from structperc.solvers.paths import best_path  # noqa: E402
from structperc.torch import Chain, StructuredLoss, Trees  # noqa: E402

LENGTHS, N_LABELS = [4, 1, 3], 5


@pytest.fixture
def struct(monkeypatch):
    """torch-struct, whose distributions lack what PyTorch checks by default."""
    monkeypatch.setattr(torch.distributions.Distribution, "_validate_args", False)
    return peer("torch_struct", "torch-struct")


def peer(module, package):
    return pytest.importorskip(module, reason=f"{package} is not installed")


def gradients(value, *tensors):
    return torch.autograd.grad(value, tensors)


def worst(ours, theirs):
    """The largest difference of two lists of tensors."""
    return max(float((a - b).detach().abs().max()) for a, b in zip(ours, theirs, strict=True))


@pytest.fixture
def chain():
    """A layer with drawn tables, emissions, mask and tags of sentences of several lengths, one of a single token."""
    torch.manual_seed(0)
    layer = Chain(list(range(N_LABELS))).double()
    with torch.no_grad():
        for table in (layer.transitions, layer.start, layer.end):
            table.normal_()
    emissions = torch.randn(len(LENGTHS), max(LENGTHS), N_LABELS, dtype=torch.float64, requires_grad=True)
    mask = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    return layer, emissions, mask, torch.randint(0, N_LABELS, mask.shape)


def test_chains_are_those_of_pytorch_crf(chain):
    layer, emissions, mask, tags = chain
    theirs = peer("torchcrf", "pytorch-crf").CRF(N_LABELS, batch_first=True).double()
    tables = theirs.transitions, theirs.start_transitions, theirs.end_transitions
    with torch.no_grad():
        for own, other in zip((layer.transitions, layer.start, layer.end), tables, strict=True):
            other.copy_(own)
    ours, expected = layer(emissions, mask, tags), -theirs(emissions, tags, mask, reduction="none")

    assert worst([ours], [expected]) < 1e-13
    assert worst(gradients(ours.sum(), emissions, layer.transitions, layer.start, layer.end),
                 gradients(expected.sum(), emissions, *tables)) < 1e-13
    assert layer.decode(emissions, mask) == theirs.decode(emissions, mask)


def test_chains_are_those_of_torch_struct(chain, struct):
    layer, emissions, mask, tags = chain
    for i, n in enumerate(LENGTHS):
        if n == 1:
            continue                # it has potentials of pairs only
        own = emissions[i, :n]
        potentials = layer.transitions.T + own[1:, :, None]              # [t, next, previous]
        first = own[0] + layer.start
        potentials = torch.cat([(potentials[0] + first)[None], potentials[1:]]) if n > 1 else potentials
        potentials = torch.cat([potentials[:-1], (potentials[-1] + layer.end[:, None])[None]])
        theirs = struct.LinearChainCRF(potentials[None], lengths=torch.tensor([n]))
        y = tags[i, :n]
        score = (own[torch.arange(n), y].sum() + layer.transitions[y[:-1], y[1:]].sum() + layer.start[y[0]] + layer.end[y[-1]])
        assert worst([layer([own], tags=[y])], [(theirs.partition - score)]) < 1e-12
        pairs = theirs.marginals[0]
        assert worst([layer.marginals([own])[0, 1:]], [pairs.sum(2)]) < 1e-12
        assert worst([layer.marginals([own])[0, 0]], [pairs[0].sum(0)]) < 1e-12


@pytest.fixture
def arcs():
    torch.manual_seed(1)
    return torch.randn(2, 6, 6, dtype=torch.float64, requires_grad=True), torch.tensor([[2, 0, 2, 3, 3], [0, 1, 1, 2, 4]])


def scores_of(arcs, heads):
    """The score of each tree."""
    words = torch.arange(heads.shape[1])
    return torch.stack([own[head, words + 1].sum() for own, head in zip(arcs, heads, strict=True)])


def test_trees_are_those_of_log_det(arcs):
    table, heads = arcs
    weights = table.exp() * (1 - torch.eye(table.shape[1], dtype=table.dtype))
    laplacian = torch.diag_embed(weights[:, 1:, 1:].sum(1)) - weights[:, 1:, 1:]
    laplacian = torch.cat([weights[:, :1, 1:], laplacian[:, 1:]], dim=1)            # one root: the first row has its arcs
    expected = torch.linalg.slogdet(laplacian)[1] - scores_of(table, heads)
    ours = Trees()(table, heads=heads)

    assert worst([ours], [expected]) < 1e-13 and worst(gradients(ours.sum(), table), gradients(expected.sum(), table)) < 1e-13


def test_trees_are_nearly_those_of_torch_struct(arcs, struct):
    table, heads = arcs
    n = heads.shape[1]
    words = table[:, 1:, 1:].clone()
    words[:, torch.arange(n), torch.arange(n)] = table[:, 0, 1:]                    # the diagonal has the arcs from the root
    theirs = struct.NonProjectiveDependencyCRF(words, torch.tensor([n, n]), multiroot=False)

    assert 0 < worst([Trees()(table, heads=heads)], [theirs.partition - scores_of(table, heads)]) < 1e-3, "it adds 1e-5 to each arc"
    projective = struct.DependencyCRF(words, torch.tensor([n, n]), multiroot=False)
    layer, plain = Trees(projective=True), torch.tensor([[2, 0, 2, 3, 3], [0, 1, 1, 3, 4]])
    assert worst([layer(table, heads=plain)], [projective.partition - scores_of(table, plain)]) < 1e-9


GRID = np.array([[0, 1], [0, 2], [1, 3], [2, 3], [1, 2], [3, 4], [2, 4]])
KNAPSACK = ILP([[3.0, 5, 4, 6, 3, 7], [6, 3, 4, 5, 7, 3]], [12.0, 14])


def indicators(chosen, n):
    values = np.zeros(n)
    values[np.asarray(chosen, dtype=int)] = 1
    return values


@pytest.mark.parametrize("kind", ["path", "knapsack"])
def test_spo_plus_is_that_of_pyepo(kind):
    peer("pyepo", "PyEPO")
    from pyepo.func import SPOPlus
    from pyepo.model.opt import optModel

    n, batch_size, sign = (len(GRID), 4, 1) if kind == "path" else (6, 4, -1)        # a knapsack has gains: costs below 0
    random = np.random.default_rng(0)
    costs, predicted = (sign * random.uniform(1, 5, size=(batch_size, n)) for _ in range(2))

    def best(c):
        return indicators(best_path(*GRID.T, -c, 0, 4)[0] if kind == "path" else np.flatnonzero(KNAPSACK.solve(-c).v), n)

    class Model(optModel):
        def _getModel(self):
            return None, list(range(n))

        def setObj(self, c):
            self.c = np.asarray(c, dtype=float)

        def solve(self):
            found = best(self.c)
            return found, float(self.c @ found)

    p, q = (torch.tensor(predicted, requires_grad=True) for _ in range(2))
    w = torch.tensor(np.array([best(c) for c in costs]))
    z = (torch.tensor(costs) * w).sum(1, keepdim=True)
    theirs = SPOPlus(Model(), reduction="sum")(p, torch.tensor(costs), w, z)
    theirs.backward()
    if kind == "path":
        problem = Problem("path")
        batch = problem.batch([GRID] * batch_size, costs=costs)
    else:
        problem = Problem("ilp", constraints=KNAPSACK)
        batch = problem.batch([np.arange(n)[:, None]] * batch_size, costs=costs)
    ours = StructuredLoss(problem, "spo+")(-q, batch).sum()
    ours.backward()

    assert float(ours.detach()) == pytest.approx(float(theirs.detach()), rel=1e-12) and worst([q.grad], [p.grad]) < 1e-12
