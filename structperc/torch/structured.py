"""The losses of any problem for autograd."""

from __future__ import annotations

import numpy as np

from structperc.basics.errors import DataError, PluginError, shortened
from structperc.extras import require
from structperc.problems.losses import kind_of, parameters_of
from structperc.problems.problem import Problem
from structperc.problems.shared import scaled
from structperc.torch.traps import Traps

torch = require("torch", "structperc.torch", "torch")


class ValueAndGradient(torch.autograd.Function):
    """Values of all examples. The solver returns their gradient with them, so the backward pass is a product."""

    @staticmethod
    def forward(ctx, scores, solve, offsets):
        values, ctx.gradient = solve(as_numpy(scores))
        ctx.offsets = offsets
        ctx.save_for_backward(scores)
        return torch.from_numpy(values).to(scores.device, torch.promote_types(scores.dtype, torch.float32))

    @staticmethod
    def backward(ctx, upstream):
        scores, = ctx.saved_tensors
        product = torch.from_numpy(scaled(ctx.gradient.reshape(-1), ctx.offsets, as_numpy(upstream))).reshape(scores.shape).to(scores)
        return first(product, scores, upstream), None, None


def first(gradient, *depends_on):
    """A gradient; where autograd records (create_graph=True), one whose own gradient raises an error."""
    return FirstDerivative.apply(gradient, *depends_on) if torch.is_grad_enabled() else gradient


class FirstDerivative(torch.autograd.Function):
    """A gradient that depends on further tensors, in a way that is not known."""

    @staticmethod
    def forward(ctx, gradient, *depends_on):
        return gradient.clone()

    @staticmethod
    def backward(ctx, upstream):
        raise PluginError("losses of structperc.torch have first derivatives only, and this is a second one. Leave out create_graph=True "
                          "or the penalty on gradients.")


def applied(function, *inputs):
    """The values of an autograd function."""
    try:
        return function.apply(*inputs)
    except RuntimeError as error:
        if "functorch" not in str(error):
            raise
        raise transformed() from None


def transformed():
    """The error of tensors that a function transform holds, whose numbers nobody else may read."""
    return PluginError("layers of structperc.torch do not work inside of torch.func.grad, vmap or jvp. Call backward(), or "
                       "torch.autograd.grad.")


def as_numpy(scores):
    """Scores as float64 on the CPU, without their graph."""
    return np.ascontiguousarray(as_floats(scores), dtype=np.float64)


def as_floats(scores):
    """Scores as float32 or float64 on the CPU, without their graph."""
    if not isinstance(scores, torch.Tensor) or not scores.is_floating_point():
        raise DataError(f"scores are {shortened(scores)}; expected a tensor of floats.")
    scores = scores.detach()
    if scores.dtype is not torch.float32 or not scores.is_cpu:
        scores = scores.to("cpu", torch.float64)
    return scores.contiguous().numpy()


def as_array(values, name):
    """Whole numbers or truth values of a tensor or a list."""
    try:
        array = values.detach().cpu().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)
    except RuntimeError:
        raise transformed() from None
    except ValueError:
        raise DataError(f"{name} is {shortened(values)}; expected a table, as many numbers in each row.") from None
    if array.size and array.dtype.kind not in "iub":
        raise DataError(f"{name} has the type {array.dtype}; expected whole numbers or truth values.")
    return array


class StructuredLoss(torch.nn.Module):
    """A loss of `structperc.Problem` for scores from a network.

    Value and gradient come from the forward pass, in float64 on the CPU. The gradient has the device and the type of the scores. A
    gradient of the gradient raises an error.

    With "perceptron", and with "hinge" on trees, a network may shrink its scores and learn nothing. This raises a warning.

    Parameters
    ----------
    problem : Problem
    loss : str, default "log-loss"
        A loss of `Batch.loss`.
    threads : int, default 1
    random_state : int, optional
        Of "perturbed": each call draws further noise.
    **parameters
        Of the loss, such as margin=0.5.

    Raises
    ------
    OptionError
        If the loss or a parameter is unknown.

    Examples
    --------
    >>> import torch
    >>> from structperc import Problem
    >>> from structperc.torch import StructuredLoss
    >>> problem = Problem("multiclass", classes=["a", "b"])
    >>> scores = torch.zeros(1, 2, requires_grad=True)
    >>> StructuredLoss(problem, "log-loss")(scores, problem.batch(y=["b"])).sum().backward()
    >>> scores.grad.tolist()
    [[0.5, -0.5]]
    """

    def __init__(self, problem, loss="log-loss", *, threads=1, random_state=None, **parameters):
        super().__init__()
        if not isinstance(problem, Problem):
            raise DataError(f"problem is {shortened(problem)}; expected a structperc.Problem, such as Problem('sequence', classes=[...]).")
        given = parameters if random_state is None else {**parameters, "random_state": random_state}
        parameters_of(loss, given)
        self.problem, self.loss, self.threads, self.parameters_of_loss, self.traps = problem, loss, threads, parameters, Traps(loss)
        if "random_state" in kind_of(loss).parameters:
            self.parameters_of_loss = {**parameters, "random_state": np.random.default_rng(random_state)}

    def extra_repr(self) -> str:
        """What PyTorch prints between the brackets."""
        return f"{self.problem!r}, {self.loss!r}"

    def forward(self, scores, batch):
        """The loss of each example. Returns a tensor of shape (n_examples,). Of the scores' type, but at least float32.

        Parameters
        ----------
        scores : tensor of shape (n_atoms,) or (n_examples, n_atoms)
            Of any device and float type.
        batch : Batch
            Of `problem`.
        """
        return applied(ValueAndGradient, scores, lambda s: self.solve(s, batch), batch.offsets)

    def solve(self, scores, batch):
        """Values and gradient by numpy, as `Batch.loss` returns them.

        Parameters
        ----------
        scores : float64 array
        batch : Batch

        Returns
        -------
        values, gradient : float64 array
        """
        values, gradient = batch.loss(scores, self.loss, threads=self.threads, **self.parameters_of_loss)
        self._watch(lambda: scores, values, batch)
        return values, gradient

    def _solve(self, scores, batch):
        """The same for `Scores`; the gradient is flat."""
        values, gradient = batch._loss(scores, self.loss, self.threads, self.parameters_of_loss)
        self._watch(scores.flat, values, batch)
        return values, gradient

    def _watch(self, scores, values, batch) -> None:
        if self.training:
            self.traps.see(scores, values, lambda: batch.loss(np.zeros_like(scores()), self.loss, threads=self.threads,
                                                              **self.parameters_of_loss)[0])


__all__ = ["StructuredLoss"]
