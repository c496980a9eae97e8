"""PyEPO's learners over the solver of a benchmark, where it is installed: SPO+ and the perturbed Fenchel-Young loss."""

import importlib.util
import itertools

import numpy as np
from measuring import installed

from structperc.components import amounts

NAME = "PyEPO"


def version():
    """None where it is absent."""
    return installed("pyepo") if importlib.util.find_spec("pyepo") else None


def model_of(decide, n):
    """PyEPO's model of n costs. `decide(costs)` returns the chosen variables."""
    from pyepo.model.opt import optModel

    class Model(optModel):
        def _getModel(self):
            return None, list(range(n))

        def setObj(self, c):
            self.c = np.asarray(c, dtype=float)

        def solve(self):
            v = amounts(decide(self.c), n)
            return v, float(self.c @ v)

    return Model()


def learners(X, costs, decide, seed, n_steps, perturbed):
    """Functions that train and then decide for new features, by learner; empty without PyEPO."""
    if version() is None:
        return {}
    import torch
    from pyepo.data.dataset import optDataset
    from pyepo.func import SPOPlus, perturbedFenchelYoung

    def fitted(loss_of, new):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        model = model_of(lambda c: decide(c, None), costs.shape[1])
        data = optDataset(model, X, costs)
        batches = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)
        linear, loss = torch.nn.Linear(X.shape[1], costs.shape[1]), loss_of(model)
        steps = torch.optim.Adam(linear.parameters(), lr=0.03)
        for x, c, w, z in itertools.islice(itertools.chain.from_iterable(itertools.repeat(batches)), n_steps):
            value = loss(linear(x), c, w, z) if isinstance(loss, SPOPlus) else loss(linear(x), w)
            steps.zero_grad()
            value.backward()
            steps.step()
        with torch.no_grad():
            predicted = linear(torch.as_tensor(new, dtype=torch.float32)).numpy().astype(float)
        return [decide(c, None) for c in predicted]

    def fenchel_young(model):
        return perturbedFenchelYoung(model, n_samples=perturbed["samples"], sigma=perturbed["sigma"], seed=seed)

    return {f"{NAME} SPO+": lambda new: fitted(SPOPlus, new), f"{NAME} perturbed": lambda new: fitted(fenchel_young, new)}
