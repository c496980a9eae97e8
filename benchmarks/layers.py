"""Layers for PyTorch and batches beside their solvers, pytorch-crf, torch-struct, PyEPO and log det by autograd: CPU milliseconds.

    python benchmarks/layers.py          # needs torch; pytorch-crf, torch-struct and PyEPO if they are there
"""

import argparse
import functools
import importlib.util
import resource
import time

import decision_peers
import job
import numpy as np
import torch
from measuring import single_thread, table

from structperc import Problem
from structperc.solvers.integer_programs import ILP
from structperc.solvers.matchings import max_matching
from structperc.solvers.paths import best_path, grid_graph
from structperc.torch import Chain, StructuredLoss, Trees

N_LABELS, N_TOKENS, N_SENTENCES, N_WORDS = 22, 24, 32, 25
TORCH_STRUCT = importlib.util.find_spec("torch_struct") is not None


class Empty(torch.autograd.Function):
    """Takes what a chain layer takes and computes nothing: what PyTorch itself costs."""

    @staticmethod
    def forward(ctx, *tensors):
        ctx.save_for_backward(*tensors)
        return torch.zeros(N_SENTENCES)

    @staticmethod
    def backward(ctx, upstream):
        return tuple(map(torch.zeros_like, ctx.saved_tensors))


def milliseconds(call, rounds, repeats=20):
    """The best of some means."""
    call()
    best = np.inf
    for _ in range(rounds):
        began = time.process_time()
        for _ in range(repeats):
            call()
        best = min(best, (time.process_time() - began) / repeats)
    return 1e3 * best


def chains():
    labels, shape = list(range(N_LABELS)), (N_SENTENCES, N_TOKENS)
    emissions = torch.randn(*shape, N_LABELS, requires_grad=True)
    mask, tags = torch.ones(shape, dtype=torch.bool), torch.randint(0, N_LABELS, shape)
    batch = Problem("sequence", classes=labels, start=True, end=True).batch(lengths=[N_TOKENS] * N_SENTENCES, y=tags.tolist())
    flat = np.random.default_rng(0).normal(size=batch.offsets[-1])
    yield "chain: marginals of a batch", lambda: batch.marginals(flat)
    yield "chain: best outputs of a batch", lambda: batch._best(flat, 1)
    for loss in ("log-loss", "hinge"):
        yield f"chain: {loss} of a batch", lambda loss=loss: batch.loss(flat, loss)
        layer = Chain(labels, loss=loss)
        yield f"Chain: {loss}, forward and backward", lambda layer=layer: layer(emissions, mask, tags).mean().backward()
    yield "Chain: decode", lambda: layer.decode(emissions, mask)
    yield ("an empty autograd function of the same tensors, forward and backward",
           lambda: Empty.apply(emissions.flatten(0, 1), layer.transitions, layer.start, layer.end).mean().backward())
    if TORCH_STRUCT:
        import torch_struct

        def by_struct():
            pairs = layer.transitions.T + emissions[:, 1:, :, None]
            pairs = torch.cat([pairs[:, :1] + (emissions[:, :1] + layer.start)[:, :, None], pairs[:, 1:]], dim=1)
            pairs = torch.cat([pairs[:, :-1], pairs[:, -1:] + layer.end[:, None]], dim=1)
            torch_struct.LinearChainCRF(pairs).partition.mean().backward()

        yield "torch-struct: log Z of chains without gold, forward and backward", by_struct
    try:
        from torchcrf import CRF
    except ImportError:
        return
    rival = CRF(N_LABELS, batch_first=True)
    yield "pytorch-crf: forward and backward", lambda: (-rival(emissions, tags, mask)).backward()
    yield "pytorch-crf: decode", lambda: rival.decode(emissions, mask)


def trees():
    width = N_WORDS + 1
    arcs, heads = torch.randn(N_SENTENCES, width, width, requires_grad=True), torch.arange(N_WORDS).repeat(N_SENTENCES, 1)
    batch = Problem("parsing").batch(lengths=[N_WORDS] * N_SENTENCES, y=heads.tolist())
    flat, layer = arcs.detach().numpy().astype(float).ravel(), Trees()

    def by_log_det():
        weights = arcs.double().exp() * (1 - torch.eye(width))
        laplacian = torch.diag_embed(weights[:, 1:, 1:].sum(1)) - weights[:, 1:, 1:]
        laplacian = torch.cat([weights[:, :1, 1:], laplacian[:, 1:]], dim=1)
        torch.linalg.slogdet(laplacian)[1].sum().backward()

    yield "trees: log-loss of a batch", lambda: batch.loss(flat)
    yield "Trees: log-loss, forward and backward", lambda: layer(arcs, heads=heads).mean().backward()
    yield "log det of a batch by autograd, without gold", by_log_det
    if TORCH_STRUCT:
        import torch_struct

        def by_struct():
            words = arcs[:, 1:, 1:] + torch.diag_embed(arcs[:, 0, 1:] - arcs[:, 1:, 1:].diagonal(dim1=1, dim2=2))
            torch_struct.NonProjectiveDependencyCRF(words, torch.full((N_SENTENCES,), N_WORDS), multiroot=False).partition.mean().backward()

        yield "torch-struct: log Z of trees without gold, forward and backward", by_struct


def matchings(n_items, n_examples):
    """Perfect matchings of tables, beside the solver called for each."""
    pairs = np.stack(np.indices((n_items, n_items)), axis=-1).reshape(-1, 2).astype(float)
    tables = np.random.default_rng(0).normal(size=(n_examples, n_items, n_items))
    gold, problem = [tuple(range(0, n_items**2, n_items + 1))] * n_examples, Problem("matching", perfect=True)
    yield from rows(f"{n_examples} matchings of {n_items} x {n_items}", problem, [pairs] * n_examples, gold, tables,
                    lambda: [max_matching(table, True) for table in tables])


def paths(side, n_examples):
    """Paths through grids, beside the solver called for each."""
    tails, heads = grid_graph(side, side)
    arcs, scores = np.stack([tails, heads], axis=1).astype(float), np.random.default_rng(0).normal(size=(n_examples, len(tails)))
    gold = [best_path(tails, heads, np.ones(len(tails)), 0, side**2 - 1)[0].tolist()] * n_examples
    yield from rows(f"{n_examples} paths through {side} x {side}", Problem("path"), [arcs] * n_examples, gold, scores,
                    lambda: [best_path(tails, heads, own, 0, side**2 - 1) for own in scores])


def rows(name, problem, X, gold, scores, solve):
    """The solver, a batch and its layer."""
    batch, flat, layer = problem.batch(X, gold), scores.ravel(), StructuredLoss(problem, "perceptron").eval()
    tensor = torch.from_numpy(flat).requires_grad_()
    yield f"{name}: the solver itself", solve
    yield f"{name}: best outputs of a batch", lambda: batch._best(flat, 1)
    yield f"{name}: hinge of a batch", lambda: batch.loss(flat, "hinge")
    yield f"{name}: perceptron, forward and backward", lambda: layer(tensor, batch).mean().backward()


def decisions(name, problem, X, n_examples, costs, solve):
    """SPO+ for predicted costs, beside PyEPO around the same solver; both have one value."""
    random = np.random.default_rng(1)
    predicted = costs + random.normal(size=costs.shape)
    batch, layer = problem.batch(X, costs=costs), StructuredLoss(problem, "spo+")
    own = torch.tensor(predicted, requires_grad=True)
    yield f"{name}: SPO+, forward and backward", lambda: layer(-own, batch).mean().backward()
    if decision_peers.version() is None:
        return
    from pyepo.func import SPOPlus

    theirs, true = torch.tensor(predicted, requires_grad=True), torch.tensor(costs)
    best = np.zeros(costs.shape)
    for row, c in zip(best, costs, strict=True):
        row[solve(c)] = 1
    w = torch.tensor(best)
    loss, z = SPOPlus(decision_peers.model_of(solve, costs.shape[1]), reduction="mean"), (true * w).sum(1, keepdim=True)
    apart = abs(float(layer(-own, batch).mean()) - float(loss(theirs, true, w, z)))
    if apart > 1e-9:
        raise AssertionError(f"{name}: the values of SPO+ differ by {apart}")
    yield f"{name}: PyEPO's SPO+ around the same solver", lambda: loss(theirs, true, w, z).backward()


def decided():
    """Paths and knapsacks whose costs are predicted."""
    random, side, n = np.random.default_rng(2), 5, 32
    tails, heads = grid_graph(side, side)
    arcs = np.stack([tails, heads], axis=1).astype(float)
    yield from decisions(f"{n} paths through {side} x {side}", Problem("path"), [arcs] * n, n, random.uniform(1, 5, size=(n, len(tails))),
                         lambda c: best_path(tails, heads, -c, 0, side**2 - 1)[0])
    program = ILP(random.uniform(3, 7, size=(2, 16)), [20.0, 20.0])
    yield from decisions("8 knapsacks of 16", Problem("ilp", constraints=program), [np.arange(16.0)[:, None]] * 8, 8,
                         -random.uniform(1, 5, size=(8, 16)), lambda c: np.flatnonzero(program.solve(-c).v))


def growth(steps=1000):
    """How many megabytes so many steps add."""
    layer, emissions = Chain(list(range(5))), torch.randn(4, 6, 5, requires_grad=True)
    tags = torch.zeros(4, 6, dtype=torch.int64)
    for i in range(2 * steps):
        if i == steps:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        layer(emissions, tags=tags).sum().backward()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def measure(quick):
    torch.manual_seed(0)
    torch.distributions.Distribution.set_default_validate_args(False)           # torch-struct lacks what it checks
    found, rounds = {}, 1 if quick else 5
    for name, call in (*chains(), *trees(), *matchings(5, 64), *matchings(20, 32), *paths(5, 32), *paths(12, 32), *decided()):
        found[name] = milliseconds(call, rounds, 3 if quick or "knapsacks" in name or "torch-struct" in name else 20)
        print(f"{name}: {found[name]:.3f} ms", flush=True)
    return {"milliseconds": found, "memory": growth(100 if quick else 1000)}


RATIOS = [
    ("Chain, log loss, beside marginals", "Chain: log-loss, forward and backward", "chain: marginals of a batch", 1.5),
    ("Chain, hinge, beside the search", "Chain: hinge, forward and backward", "chain: best outputs of a batch", 3.0),
    ("Trees beside log det of a batch", "Trees: log-loss, forward and backward", "log det of a batch by autograd, without gold", 1.5),
    ("64 matchings of 5 x 5 beside the solver", "64 matchings of 5 x 5: perceptron, forward and backward",
     "64 matchings of 5 x 5: the solver itself", 1.5),
    ("32 matchings of 20 x 20 beside the solver", "32 matchings of 20 x 20: perceptron, forward and backward",
     "32 matchings of 20 x 20: the solver itself", 1.5),
    ("32 paths through 12 x 12 beside the solver", "32 paths through 12 x 12: perceptron, forward and backward",
     "32 paths through 12 x 12: the solver itself", 1.5),
    ("Chain beside pytorch-crf", "Chain: log-loss, forward and backward", "pytorch-crf: forward and backward", 1 / 8),
]


def report(raw):
    rows = [[name, f"{value:.3f}"] for name, value in raw["milliseconds"].items()]
    return "\n\n".join([
        f"CPU milliseconds of one batch, one thread: {N_SENTENCES} sentences of {N_TOKENS} tokens and {N_LABELS} labels, or of {N_WORDS} "
        f"words below trees. The best of five means. 1,000 steps of a chain layer add {raw['memory']:.1f} MB.",
        table(["what", "ms"], rows)])


def goals(raw):
    found = raw["milliseconds"]
    ratios = [(name, found[ours] / found[other], most) for name, ours, other, most in RATIOS if other in found]
    return [job.Goal(name, f"≤ {most:.3g}", f"{ratio:.2f}", ratio <= most) for name, ratio, most in ratios]


def draw(raw, folder):
    """None. The table has all figures."""


if __name__ == "__main__":
    single_thread()
    options = job.options(argparse.ArgumentParser(description="Layers beside their solvers"))
    torch.set_num_threads(1)
    job.carry_out(options, "layers", "Layers for PyTorch beside their solvers", functools.partial(measure, options.quick), report, goals,
                  draw)
