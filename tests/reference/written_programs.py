"""The distance of a counterfactual by programs written out whole, over all structures."""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp, minimize


class Written:
    """An example with all structures, their counts, and scores and slopes by differences, without the tested module."""

    def __init__(self, engine, x, spreads=None):
        self.read = engine.model_.parts.reader.read_one(x, False, engine.model_.parts.features.layout.atoms_per_example is None)
        self.example = engine.model_.example(engine.model_.prepared(self.read), 0)
        outputs = engine.parts_.outputs
        self.structures = list(outputs.enumerate(self.example))
        self.counts = np.array([outputs.count(self.example, y) for y in self.structures])
        self.names = outputs.display().atom_names(self.example)
        self.n_keys = engine.model_.parts.reader.input_columns().n_keys
        self.engine, self.x = engine, np.array(x, dtype=float)
        self.at_x = self.scores(self.x)
        self.places = [place for place in np.ndindex(self.x.shape) if place[-1] >= self.n_keys]
        spreads = engine.model_.spreads if spreads is None else spreads
        self.sd = np.array([spreads[place[-1] - self.n_keys] for place in self.places])
        slopes = []
        for place in self.places:
            moved = self.x.copy()
            moved[place] += 1
            slopes.append(self.scores(moved) - self.at_x)
        self.slopes = self.counts @ np.array(slopes).T * self.sd            # of every structure, in standard deviations
        self.totals = self.counts @ self.at_x

    def scores(self, x):
        return np.asarray(self.engine.atom_scores([x] if x.ndim == 2 else x[None])[0])

    def decoded(self, k):
        return self.engine.parts_.outputs.decode(self.structures[k], self.example)

    def is_one_of(self, output, wanted):
        """Whether an output, in the format of `predict`, is one of these structures."""
        outputs = self.engine.parts_.outputs
        counts = outputs.count(self.example, outputs.encode_answers([output], self.read)[0])
        return (self.counts[wanted] == counts).all(axis=1).any()

    def nearest(self, wanted, norm="l1", lead=0.0, ends=np.inf, whole=False):
        """The distance over all wanted structures, each with all rivals in one program; inf if none can win.

        lead: of the wanted structure; ends: how far a value may fall or rise, shape () or (2, n); whole: which values are whole numbers.
        """
        best = np.inf
        for k in np.flatnonzero(wanted):
            slopes, gaps = self.slopes[k] - self.slopes[~wanted], self.totals[~wanted] - self.totals[k] + lead
            n = slopes.shape[1]
            unit = np.where(whole, self.sd, 1.0)
            found = milp(np.tile(1 / unit, 2), integrality=np.tile(np.broadcast_to(whole, n), 2),
                         bounds=Bounds(0, (np.broadcast_to(ends, (2, n))[::-1] * unit / self.sd).ravel()),
                         constraints=LinearConstraint(np.hstack([slopes / unit, -slopes / unit]), gaps))
            if norm == "l1" or found.x is None:
                best = min(best, np.inf if found.x is None else found.fun)
            else:
                rows = {"type": "ineq", "fun": lambda z, a=slopes, b=gaps: a @ z - b, "jac": lambda z, a=slopes: a}
                found = minimize(lambda z: z @ z, found.x[:n] - found.x[n:], jac=lambda z: 2 * z, method="SLSQP", constraints=rows,
                                 options={"ftol": 1e-14, "maxiter": 500})
                best = min(best, np.sqrt(found.fun))
        return best
