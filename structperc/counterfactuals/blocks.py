"""One example as numbers that may change: the scores of its atoms are linear in them, which is checked."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array

from structperc.basics.errors import PluginError
from structperc.fitting import answers

ROUNDING = 1e-6             # of scores, relative to the largest one; that of float32 rows is LESS_EXACT
LESS_EXACT = 1e-4


class Block:
    """The rows of one example, and what the model makes of other values in them."""
    # model: Model. Whose outputs are not conditional.
    # rows: Rows. As the reader has read them: dense rows of numbers.

    def __init__(self, model, rows):
        self.model, self.rows = model, rows
        self.values = np.array(rows.X, dtype=float)
        self.prepared = model.prepared(rows)
        self.example = model.example(self.prepared, 0)
        self.rounding = LESS_EXACT if rows.X.dtype == np.float32 else ROUNDING

    def stored(self, values):
        """The values as rows of the example's type hold them."""
        return values.astype(self.rows.X.dtype)

    def read(self, values):
        """Rows with these values, as the weights see them."""
        X = np.ascontiguousarray(self.stored(values).reshape(self.values.shape))
        return self.model.prepared(self.rows.like(X, self.rows.offsets, 0, self.rows.n_rows))

    def scores(self, values) -> np.ndarray:
        """The scores of the atoms."""
        return np.asarray(self.model.atom_scores(self.read(values))[0], dtype=float)

    def best(self, values):
        """The best structure of these values, and the scores."""
        scores = self.scores(values)
        return answers.best(self.model.parts, scores, self.example), scores

    def predicted(self, values):
        """What `predict` returns for these values, as outputs encode it."""
        rows = self.read(values)
        answers = self.model.predict(rows)
        return self.model.parts.outputs.encode_answers(answers, rows)[0]

    def slopes(self, places, spread):
        """The derivatives of the scores by the values at these places, CSC (n_atoms, n_places); `PluginError` if they are not linear."""
        base = self.values.ravel().copy()
        base[places] = 0
        at_base, atoms, values = self.scores(base), [], []
        for place, step in zip(places.tolist(), spread.tolist(), strict=True):
            base[place] = step
            rise = self.scores(base) - at_base
            atoms.append(np.flatnonzero(rise))
            values.append(rise[atoms[-1]] / self.stored(np.array(step)).astype(float))
            base[place] = 0
        ends = np.cumsum([0, *map(len, atoms)])
        matrix = csc_array((np.concatenate([[], *values]), np.concatenate([np.array([], dtype=np.int64), *atoms]), ends),
                          shape=(len(at_base), len(places)))
        signs = np.where(np.random.default_rng(0).random(len(places)) < 0.5, -1.0, 1.0)
        for values in (self.values.ravel()[places], self.values.ravel()[places] + signs * spread):
            base[places] = values
            expected, scores = at_base + matrix @ self.stored(values).astype(float), self.scores(base)
            size = 1 + np.abs(scores).max(initial=0) + np.abs(at_base).max(initial=0) + (abs(matrix) @ np.abs(values)).max(initial=0)
            if np.abs(scores - expected).max(initial=0) > self.rounding * size:
                features, weights = (type(part).__name__ for part in (self.model.parts.features, self.model.parts.weights))
                raise PluginError(f"a counterfactual needs scores that are linear in the columns. Those of {features} with {weights} "
                                  f"are not; train without a kernel and without features made of several columns.")
        return matrix
