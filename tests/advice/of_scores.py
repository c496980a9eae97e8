"""Messages of problems on given scores and of layers for PyTorch."""

import numpy as np
import pytest

from advice.followed import messages_of
from structperc import Engine, Problem
from structperc.components import Loss


class OnlyMeasured(Loss):
    """A loss of labellings without bound, and no sum over atoms."""

    def value(self, gold, y, x=None):
        return float(gold != y)


def chains(y, criterion, **options):
    """A loss of a batch of one sentence of two tokens."""
    batch = Problem("sequence", classes=["a", "b"], **options).batch(lengths=[2], y=[y])
    return batch.loss(np.zeros(batch.offsets[-1]), criterion)


def matched(loss):
    return Problem("matching").batch([np.array([[0, 0], [1, 1]])], [[0]]).loss(np.zeros(2), loss)


def layers():
    """torch and its layers; the test is skipped without torch."""
    torch = pytest.importorskip("torch")
    from structperc import torch as own

    return torch, own


def chain(call):
    torch, own = layers()
    return call(own.Chain(["a", "b"]), torch.zeros(1, 2, 2), torch.zeros(1, 2, dtype=torch.int64))


def transformed(layer, x, tags):
    torch, _ = layers()
    return torch.func.grad(lambda x: layer(x, tags=tags).sum())(x)


def differentiated(layer, x, tags):
    torch, _ = layers()
    x.requires_grad_()
    layer(x, tags=tags).sum().backward()
    return torch.autograd.grad(layer(x, tags=tags).sum(), x)


def head(call, directions):
    torch, own = layers()
    return call(own.CusumHead(2, 3, directions), torch.zeros(1, 2), torch.zeros(1, dtype=torch.int64))


def trees(call):
    torch, own = layers()
    return call(own.Trees(), torch.zeros(1, 3, 3), torch.tensor([[2, 0]]))


def saved_net(folder, hidden):
    """A net of 4 hidden units, saved and loaded into a module with others."""
    torch, own = layers()

    def net(hidden):
        return own.Net(torch.nn.Sequential(torch.nn.Linear(2, hidden), torch.nn.Linear(hidden, 2)))

    Engine("multiclass", plugins=[net(4)], update="log-loss").fit(np.eye(2), ["a", "b"]).save(folder / "net.model")
    return Engine.load(folder / "net.model", plugins=[net(hidden)])


MESSAGES = [
    *messages_of("structperc/problems/losses.py",
        ("finds none; use 'hinge', 'perturbed' or 'sparsemap'", lambda _: matched("log-loss"), lambda _: matched("hinge"),
         lambda _: matched("perturbed"), lambda _: matched("sparsemap")),
        ("to the scores, but it is no sum over atoms", lambda _: chains(["a", "b"], "softmax-margin", loss="zero-one"),
         lambda _: chains(["a", "b"], "log-loss", loss="zero-one"), lambda _: chains(["a", "b"], "softmax-margin", loss="hamming")),
        ("cannot add to scores; use 'perceptron' or 'perturbed'", lambda _: chains(["a", "b"], "hinge", plugins=[OnlyMeasured()]),
         lambda _: chains(["a", "b"], "perceptron", plugins=[OnlyMeasured()]),
         lambda _: chains(["a", "b"], "perturbed", plugins=[OnlyMeasured()]), lambda _: chains(["a", "b"], "hinge", loss="hamming")),
        ("needs the right and the wrong atoms of partial gold outputs", lambda _: chains(["a", None], "logistic"),
         lambda _: chains(["a", None], "hinge")),
        ("is one of ordered labels, but the outputs are", lambda _: chains(["a", "b"], "cumulative-logit"),
         lambda _: chains(["a", "b"], "log-loss"), lambda _: chains(["a", "b"], "hinge")),
    ),
    *messages_of("structperc/torch/chain.py",
        ("tags are missing; give the right label of each token", lambda _: chain(lambda layer, x, tags: layer(x)),
         lambda _: chain(lambda layer, x, tags: layer(x, tags=tags)), lambda _: chain(lambda layer, x, tags: layer.decode(x))),
    ),
    *messages_of("structperc/torch/heads.py",
        ("units with their own directions have no thresholds",
         lambda _: head(lambda layer, x, y: type(layer).thresholds.fget(layer), "own"),
         lambda _: head(lambda layer, x, y: layer.thresholds, "shared")),
        ("needs scores that fall; set directions='shared'", lambda _: head(lambda layer, x, y: layer.loss(x, y, "cumulative-logit"), "own"),
         lambda _: head(lambda layer, x, y: layer.loss(x, y, "cumulative-logit"), "shared")),
        ("directions has no probabilities; use 'log-loss'",
         lambda _: head(lambda layer, x, y: layer.probabilities(x, "cumulative-logit"), "own"),
         lambda _: head(lambda layer, x, y: layer.probabilities(x, "log-loss"), "own"),
         lambda _: head(lambda layer, x, y: layer.probabilities(x, "cumulative-logit"), "shared")),
    ),
    *messages_of("structperc/torch/structured.py",
        ("do not work inside of torch.func", lambda _: chain(transformed), lambda _: chain(differentiated)),
    ),
    *messages_of("structperc/torch/trees.py",
        ("heads are missing; give the head of each word", lambda _: trees(lambda layer, arcs, heads: layer(arcs)),
         lambda _: trees(lambda layer, arcs, heads: layer(arcs, heads=heads)),
         lambda _: trees(lambda layer, arcs, heads: layer.decode(arcs))),
    ),
    *messages_of("structperc/torch/net.py",
        ("Pass a module of the same form", lambda folder: saved_net(folder, 3), lambda folder: saved_net(folder, 4)),
    ),
]
