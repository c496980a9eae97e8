"""Layers for PyTorch and batches beside their solvers, pytorch-crf and log det by autograd: CPU milliseconds of a batch, one thread.

    python benchmarks/layers.py          # needs torch; pytorch-crf if it is there
"""

import os
import resource
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from structperc import Problem
from structperc.solvers.matchings import max_matching
from structperc.solvers.paths import best_path, grid_graph
from structperc.torch import Chain, StructuredLoss, Trees

N_LABELS, N_TOKENS, N_SENTENCES, N_WORDS = 22, 24, 32, 25


def milliseconds(call, repeats=20):
    """The best of five means."""
    call()
    best = np.inf
    for _ in range(5):
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
    yield "log det by autograd, without gold", by_log_det


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
    yield f"{name}: solver alone", solve
    yield f"{name}: best outputs of a batch", lambda: batch._best(flat, 1)
    yield f"{name}: hinge of a batch", lambda: batch.loss(flat, "hinge")
    yield f"{name}: perceptron, forward and backward", lambda: layer(tensor, batch).mean().backward()


def growth(steps=1000):
    """How many megabytes so many steps add."""
    layer, emissions = Chain(list(range(5))), torch.randn(4, 6, 5, requires_grad=True)
    tags = torch.zeros(4, 6, dtype=torch.int64)
    for i in range(2 * steps):
        if i == steps:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        layer(emissions, tags=tags).sum().backward()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print("| what | ms |\n|---|---|")
    for name, call in (*chains(), *trees(), *matchings(5, 64), *matchings(20, 32), *paths(5, 32), *paths(12, 32)):
        print(f"| {name} | {milliseconds(call):.3f} |", flush=True)
    print(f"| memory that 1,000 steps add | {growth():.1f} MB |")


if __name__ == "__main__":
    main()
