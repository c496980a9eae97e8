"""The perturbed maximiser as an update rule: imitation of decisions by a smooth convex loss that only needs the argmax."""

import numpy as np

from structperc.components import Schedule, Update
from structperc.plugin_tools import as_structure, read_array

BERTHET = """@inproceedings{berthet2020learning,
  author = {Quentin Berthet and Mathieu Blondel and Olivier Teboul and Marco Cuturi and Jean-Philippe Vert and Francis Bach},
  title = {Learning with Differentiable Perturbed Optimizers},
  booktitle = {Advances in Neural Information Processing Systems},
  volume = {33},
  year = {2020}
}"""


class PerturbedUpdate(Update):
    """w <- w + eta weight (Phi(x, gold) - mean over k of Phi(x, y_k)), y_k = argmax of the scores + sigma Z_k.

    Z_k is standard normal. In expectation the step is the negative gradient of the Fenchel-Young loss F(s) - s . gold, F(s) = E max over y
    of (s + sigma Z) . y. It is convex in the scores, and smooth. A visit costs `samples` searches more. The draws follow from the fit's
    generator and the number of the visit. So a run that continues from a file continues the draws.
    See also `DecisionCost` (the loss if the costs of training examples are known).

    Parameters
    ----------
    samples : int, default 10
        Number of perturbed searches in each step. Larger values make steps less noisy and slower; try 1 to 30.
    sigma : float, default 1.0
        Standard deviation of the noise, in units of the scores, above 0. Larger values make the loss smoother; try 0.1 to 10.
    step_size : float, Schedule or function, default 1.0
        eta = step_size for the t-th example visited; see `structperc.components.Schedule`. Larger values learn faster and follow noise;
        try 0.01 to 1.

    References
    ----------
    Q. Berthet, M. Blondel, O. Teboul, M. Cuturi, J.-P. Vert and F. Bach: Learning with differentiable perturbed
    optimizers. NeurIPS 33, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc import Engine
    >>> def cheapest(costs, x):
    ...     return [int(np.argmin(costs))]
    >>> days = list(np.random.default_rng(3).normal(size=(60, 4, 2)))
    >>> y = [cheapest(day @ [1.0, 0.5], None) for day in days]
    >>> engine = Engine("decisions", decide=cheapest, update="perturbed", sigma=0.3, step_size=0.1, epochs=5, random_state=0)
    >>> engine = engine.fit(days[:40], y[:40])
    >>> float(np.mean([v[chosen] for v, (chosen,) in zip(engine.predict(days[40:]), y[40:])]))
    1.0
    """

    when = "always"
    citation = BERTHET

    def __init__(self, samples=10, sigma=1.0, step_size=1.0):
        self.samples, self.sigma, self.step_size = samples, sigma, Schedule(step_size, "step_size")

    def start(self, parts, context):
        self.argmax, self.outputs = parts.argmax, parts.outputs
        self.seed = int(context.random.integers(2**63))

    def step(self, trial):
        x, scores = trial.x, trial.scores
        random = np.random.Generator(np.random.Philox(key=self.seed, counter=[0, 0, 0, trial.n_visited]))
        noise = random.normal(scale=self.sigma, size=(self.samples, len(scores)))
        counts = np.zeros(len(scores))
        for perturbed in scores + noise:
            counts += self.outputs.count(x, as_structure(self.outputs, self.argmax.argmax(perturbed, x), x))
        eta = self.step_size.at(trial.n_visited + 1) * trial.weight
        return eta * (self.outputs.count(x, trial.gold) - counts / self.samples)

    def fingerprint(self):
        return self.step_size.fingerprint()

    def state(self):
        return {"seed": np.array(self.seed, dtype=np.int64)}

    def restore(self, state):
        self.seed = int(read_array(state, "seed", np.int64, (), low=0))


__all__ = ["PerturbedUpdate"]
