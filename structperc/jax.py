"""The losses of any problem for JAX, under `jit` and `grad`.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

import numpy as np

from structperc.basics.errors import DataError, PluginError, shortened
from structperc.extras import require
from structperc.problems.losses import parameters_of
from structperc.problems.problem import Problem

jax = require("jax", "structperc.jax", "jax")


def structured_loss(problem, loss="log-loss", *, threads=1, **parameters):
    """A loss of `structperc.Problem` as a function for JAX.

    The solver runs on the CPU in float64, outside of compiled programs. Under `jit` a batch is a constant: a program is compiled for each.
    Raises `OptionError` if the loss or a parameter is unknown.

    Parameters
    ----------
    problem : Problem
    loss : str, default "log-loss"
        A loss of `Batch.loss`.
    threads : int, default 1
    **parameters
        Of the loss, such as margin=0.5. "perturbed" needs random_state, a number: each call has the same noise.

    Returns
    -------
    function of scores and a batch
        Scores have the shape (n_atoms,) or (n_examples, n_atoms). It returns the loss of each example, in the type of the scores.

    Examples
    --------
    >>> import jax
    >>> from structperc import Problem
    >>> from structperc.jax import structured_loss
    >>> problem = Problem("multiclass", classes=["a", "b"])
    >>> batch, loss = problem.batch(y=["b"]), structured_loss(problem)
    >>> jax.grad(lambda s: loss(s, batch).sum())(jax.numpy.zeros((1, 2))).tolist()
    [[0.5, -0.5]]
    """
    if not isinstance(problem, Problem):
        raise DataError(f"problem is {shortened(problem)}; expected a structperc.Problem, such as Problem('sequence', classes=[...]).")
    values = parameters_of(loss, parameters)
    if loss == "perturbed" and values["random_state"] is None:
        raise DataError("loss='perturbed' draws noise, and functions of JAX return the same for the same scores; give random_state=0.")

    def losses(scores, batch):
        """The loss of each example."""
        scores = jax.numpy.asarray(scores)
        if not jax.numpy.issubdtype(scores.dtype, jax.numpy.floating):
            raise DataError(f"scores have the type {scores.dtype}; expected floats.")
        kind = scores.dtype

        def solved(flat):
            value, gradient = batch.loss(np.asarray(flat, dtype=np.float64), loss, threads=threads, **parameters)
            return value.astype(kind), gradient.astype(kind)

        shapes = jax.ShapeDtypeStruct((len(batch),), kind), jax.ShapeDtypeStruct(scores.shape, kind)
        return differentiable(solved, shapes, np.diff(batch.offsets))(scores)

    return losses


def differentiable(solved, shapes, sizes):
    """Values of examples with `sizes` atoms, whose gradient the solver returns with them."""
    def call(scores):
        return jax.pure_callback(solved, shapes, scores, vmap_method="sequential")

    @jax.custom_vjp
    def both(scores):
        return call(scores)

    def refuse(_, upstream):
        raise PluginError("losses of structperc.jax have first derivatives only, and this is a second one. Leave out the second grad.")

    both.defvjp(lambda scores: (call(scores), None), refuse)

    @jax.custom_vjp
    def values(scores):
        return call(scores)[0]

    def backward(gradient, upstream):
        each = jax.numpy.repeat(upstream, sizes, total_repeat_length=int(sizes.sum()))
        return (gradient * each.reshape(gradient.shape),)

    values.defvjp(both, backward)
    return values


__all__ = ["structured_loss"]
