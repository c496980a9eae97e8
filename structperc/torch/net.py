"""A network as the weights of any problem: rules of structperc train it, and model files hold it."""

from __future__ import annotations

import copy
import io
import warnings

import numpy as np

from structperc.basics.errors import DataError, OptionError, PluginError, shortened
from structperc.basics.rows_of_numbers import to_dense
from structperc.core.weights import Weights
from structperc.extras import require
from structperc.fitting.hookspecs import hookimpl

torch = require("torch", "structperc.torch", "torch")

MODULE, TABLE, OPTIMIZER = "module.", "table", "optimizer."
HALF = (torch.float16, torch.bfloat16)
OPERATORS = 17              # version of ONNX's operator set, which reductions of older graphs share


class Net:
    """A plugin: a network as the weights of an engine.

    The network reads the rows of an example, (T, n_features), and returns scores, such as (T, n_labels). These are the scores of its first
    atoms. Atoms that follow, such as transitions, have scores that all examples share, which are learned too.

    Any rule trains it: a step goes along the rule's coefficients of atoms. Passive-aggressive rules ask for the length of this gradient,
    which costs a second backward pass. Each fit begins with the weights that the module has. Predictions, k best, margins, marginals, sets
    with coverage and model files work as for other weights. `Engine.load` needs the plugin with a module of the same form.

    `Engine.export` writes one ONNX file with the network and the problem's argmax, for labels, chains and rankings.

    Parameters
    ----------
    module : torch.nn.Module
        It is copied. Parameters of float16 and bfloat16 become float32: small steps would be lost in them.
    optimizer : function of parameters, optional
        Returns an optimizer of PyTorch. Default: Adam with the learning rate 0.003.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> from structperc import Engine
    >>> from structperc.torch import Net
    >>> seed = torch.manual_seed(0)
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> module = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
    >>> engine = Engine("multiclass", plugins=[Net(module)], update="log-loss", epochs=20, random_state=0).fit(X, y)
    >>> bool((engine.predict(X) == y).mean() > 0.9)
    True
    """

    name = "net"

    def __init__(self, module, *, optimizer=None):
        if not isinstance(module, torch.nn.Module):
            raise DataError(f"module is {shortened(module)}; expected a torch.nn.Module.")
        if not any(True for _ in module.parameters()):
            raise OptionError("module has no parameters, so there is nothing to learn.")
        self.module, self.optimizer = module, optimizer

    @hookimpl
    def structperc_weights(self, context):
        """The weights of an engine. Returns `Weights`.

        Parameters
        ----------
        context : FitContext
        """
        return NetWeights(self.module, self.optimizer or adam)


def adam(parameters):
    """The optimizer by default."""
    return torch.optim.Adam(parameters, lr=0.003)


class NetWeights(Weights):
    """Scores from a network, and a table of those that all examples share."""

    linear = False                      # a step goes through the network

    def __init__(self, module, make_optimizer):
        self.original, self.make_optimizer = module, make_optimizer

    def start(self, parts, context):
        """Begins with the module's own weights."""
        super().start(parts, context)
        self.module = copy.deepcopy(self.original).eval()
        if any(one.dtype in HALF for one in self.module.parameters()):
            self.module.float()
        first = next(self.module.parameters())
        self.like = first.detach().new_zeros(())
        self.table = None
        self.trained = list(self.module.parameters())
        self.optimizer = self.make_optimizer(self.trained)

    def forward(self, x):
        """The scores of all atoms."""
        rows = x.rows
        rows = np.asarray(to_dense(rows))
        of_rows = self.module(torch.from_numpy(np.array(rows, dtype=np.float64)).to(self.like)).reshape(-1)
        n_shared = x.n_atoms - of_rows.numel()
        if self.table is None and n_shared > 0:
            self.add_table(torch.zeros(n_shared, dtype=self.like.dtype, device=self.like.device))
        if n_shared != (0 if self.table is None else len(self.table)):
            raise DataError(f"the network returns {of_rows.numel()} scores for the {len(rows)} rows of example {x.index}, which has "
                            f"{x.n_atoms} atoms" + ("" if self.table is None else f", {len(self.table)} of them shared") +
                            ". Expected as many scores for each row, such as one for each label.")
        return of_rows if self.table is None else torch.cat([of_rows, self.table])

    def add_table(self, values) -> None:
        """Begins to learn shared scores."""
        self.table = torch.nn.Parameter(values)
        self.trained.append(self.table)
        self.optimizer.add_param_group({"params": [self.table]})

    def scores(self, x):
        """The scores of all atoms, in float64."""
        with torch.no_grad():
            return self.forward(x).to("cpu", torch.float64).numpy()

    def update(self, x, c) -> None:
        """A step of the optimizer: the gradient of the loss by the scores is -c."""
        self.module.train()
        try:
            self.optimizer.zero_grad()
            (self.forward(x) * self.tensor(c)).sum().neg().backward()
            self.optimizer.step()
        finally:
            self.module.eval()

    def norm(self, x, c):
        """The squared length of the gradient of c . s by all parameters."""
        parts = torch.autograd.grad((self.forward(x) * self.tensor(c)).sum(), self.trained, allow_unused=True)
        return float(sum((part * part).sum() for part in parts if part is not None))

    def tensor(self, c):
        """Coefficients of atoms in the network's type."""
        return torch.from_numpy(np.array(c, dtype=np.float64)).to(self.like)

    def network(self, shift, spread):
        """The module as exports ask for it; see `Weights.network`."""
        return Scored(self, shift, spread)

    def is_finite(self):
        """Whether no step has overflowed."""
        return all(bool(torch.isfinite(one).all()) for one in self.trained)

    def state(self):
        """All parameters, buffers and what the optimizer remembers, as arrays."""
        state = {MODULE + name: plain(value) for name, value in self.module.state_dict().items()}
        if self.table is not None:
            state[TABLE] = plain(self.table)
        for i, one in self.optimizer.state_dict()["state"].items():
            state |= {f"{OPTIMIZER}{i}.{name}": plain(torch.as_tensor(value)) for name, value in one.items() if value is not None}
        return state

    def restore(self, state) -> None:
        """The inverse of `state`, for a module of the same form."""
        own = self.module.state_dict()
        saved = {name[len(MODULE):]: value for name, value in state.items() if name.startswith(MODULE)}
        shapes = {name: tuple(np.shape(value)) for name, value in saved.items()}
        if shapes != {name: tuple(value.shape) for name, value in own.items()}:
            raise PluginError(f"the saved network has the parameters {shapes}, but the module of Net has "
                              f"{ {name: tuple(value.shape) for name, value in own.items()} }. Pass a module of the same form.")
        self.module.load_state_dict({name: tensor_of(value, own[name]) for name, value in saved.items()})
        if TABLE in state:
            values = tensor_of(state[TABLE], self.like)
            if self.table is None:
                self.add_table(values)
            else:
                with torch.no_grad():
                    self.table.copy_(values)
        memory = {}
        for name, value in state.items():
            if name.startswith(OPTIMIZER):
                i, key = name[len(OPTIMIZER):].split(".", 1)
                memory.setdefault(int(i), {})[key] = torch.from_numpy(np.array(value))
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": memory})


class Scored(torch.nn.Module):
    """A trained network on the CPU, from rows of float64 to the scores of their atoms in float64."""

    def __init__(self, weights, shift, spread):
        super().__init__()
        self.like, self.shared = weights.like.cpu(), plain(weights.like[None][:0] if weights.table is None else weights.table).astype(float)
        self.module = copy.deepcopy(weights.module).cpu().eval()
        self.register_buffer("shift", torch.from_numpy(np.array(shift, dtype=float)))
        self.register_buffer("spread", torch.from_numpy(np.array(spread, dtype=float)))

    def forward(self, X):
        """A row of scores for each row."""
        scores = self.module(((X - self.shift) / self.spread).to(self.like.dtype))
        return scores.reshape(-1, scores.shape[-1] if scores.ndim > 1 else 1).double()

    def columns(self, X):
        """The same of an array, without a graph."""
        with torch.no_grad():
            return self(torch.from_numpy(np.array(X, dtype=float))).numpy()

    def graph(self) -> bytes:
        """An ONNX model of `forward`."""
        require("onnx", "writing ONNX files", "onnx")
        file, rows = io.BytesIO(), torch.zeros(2, len(self.shift), dtype=torch.float64)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")             # of PyTorch, about this exporter, which needs no further library
            try:
                torch.onnx.export(self, (rows,), file, dynamo=False, opset_version=OPERATORS, input_names=["rows"],
                                  output_names=["scores"], dynamic_axes={"rows": {0: "n"}, "scores": {0: "n"}})
            except (RuntimeError, torch.onnx.errors.OnnxExporterError) as error:
                raise PluginError(f"PyTorch cannot write the network as ONNX: {shortened(str(error))} Use layers that torch.onnx.export "
                                  f"supports.") from None
        return file.getvalue()


def plain(value):
    """A tensor as an array of its own. numpy has no bfloat16."""
    value = value.detach().cpu()
    return np.array((value.float() if value.dtype == torch.bfloat16 else value).numpy())


def tensor_of(value, like):
    """An array as a tensor of the type and the device of another."""
    return torch.from_numpy(np.array(value)).to(like)


__all__ = ["Net"]
