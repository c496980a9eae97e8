"""Features of arcs between vectors: a weight for each pair of coordinates of head and dependent."""

from __future__ import annotations

import numpy as np

from structperc.components import Features
from structperc.errors import DataError

BINS = np.array([0, 1, 2, 3, 4, 5, 5, 6, 6, 6, 6, 7])       # of distances, as `ArcFeatures` has them


class BiaffineFeatures(Features):
    """phi of arc (h, m): the products z_h z_m' of both words' coordinates, one matrix for each direction, and [distance, direction].

    z is a word's vector with a 1 and a 0 behind it. That of the root has a single 1 in the last place. So an arc to the right scores

        s(h, m) = x_h' W x_m + a . x_h + b . x_m + c + weight of the distance

    with other weights to the left. See Dozat and Manning 2017, Deep biaffine attention for neural dependency parsing, ICLR, here without
    the net. A label of an arc from the head scores a_k . z_h + b_k . z_m. Atoms: see atoms.pxd. O(n d^2 + n^2 d) for n words of d
    coordinates.
    """
    # n_columns: int. Coordinates, d.
    # n_labels: int. Given the heads; 0: none.

    def __init__(self, n_columns, n_labels):
        super().__init__()
        self.n_columns, self.n_labels, self.width = n_columns, n_labels, n_columns + 2
        self.sizes = (2 * self.width**2, 2 * (BINS.max() + 1), 4 * n_labels * self.width)
        self.shape(int(sum(self.sizes)))

    def parts(self, w):
        """The weights of pairs (direction, head, dependent), distances (direction, bin) and labels (label, direction, side, coordinate)."""
        pairs, distances, labels = np.split(np.asarray(w), np.cumsum(self.sizes)[:2])
        return (pairs.reshape(2, self.width, self.width), distances.reshape(2, -1), labels.reshape(self.n_labels, 2, 2, self.width))

    def check_rows(self, rows):
        if rows.objects or rows.sparse:
            raise DataError("X has no vectors. tokens='vectors' expects a list of dense matrices, one for each sentence, with a row of "
                            "numbers for each token.")
        if rows.n_features != self.n_columns:
            raise DataError(f"tokens of X have {rows.n_features} coordinates; expected {self.n_columns}.")

    def n_atoms(self, x):
        return (x.n_rows + 1) ** 2 + x.n_rows * self.n_labels

    def scores(self, w, x):
        n, first_stage = x.n_rows, self.first_stage_of(x)
        pairs, distances, labels = self.parts(w)
        z, scores, of_labels = self.extended(x), np.zeros((n + 1, n + 1)), np.zeros((n, self.n_labels))
        if first_stage is not None:
            heads = np.where(first_stage < 0, -1 - first_stage, first_stage)
            of_labels = self.of_labels(labels, z, heads)
        if first_stage is not None and n and first_stage[0] < 0:            # the tree is settled
            scores[heads, np.arange(1, n + 1)] = 1
        else:
            right = np.triu(np.ones((n + 1, n + 1), dtype=bool))
            scores = np.where(right, z @ pairs[1] @ z.T, z @ pairs[0] @ z.T) + distances[right.astype(int), bins(n)]
            scores[:, 0] = 0
            np.fill_diagonal(scores, 0)
        return np.concatenate([scores.ravel(), of_labels.ravel()])

    def add(self, w, x, c):
        n, first_stage, c = x.n_rows, self.first_stage_of(x), np.asarray(c)
        pairs, distances, labels = self.parts(w)
        z, of_arcs = self.extended(x), c[:(n + 1) ** 2].reshape(n + 1, n + 1).copy()
        of_arcs[:, 0] = 0
        for direction, part in enumerate((np.tril(of_arcs, -1), np.triu(of_arcs, 1))):
            pairs[direction] += z.T @ part @ z
            np.add.at(distances[direction], bins(n), part)
        if first_stage is not None and self.n_labels:
            heads = np.where(first_stage < 0, -1 - first_stage, first_stage)
            of_labels = c[(n + 1) ** 2:].reshape(n, self.n_labels)
            for direction in (0, 1):
                there = (np.arange(1, n + 1) > heads) == direction
                labels[:, direction, 0] += of_labels[there].T @ z[heads[there]]
                labels[:, direction, 1] += of_labels[there].T @ z[1:][there]

    def of_labels(self, labels, z, heads):
        """The scores of the words' labels, given their heads."""
        right = (np.arange(1, len(z)) > heads).astype(int)
        sides = labels[:, right]                                # (label, word, side, coordinate)
        return np.einsum("kmd,md->mk", sides[:, :, 0], z[heads]) + np.einsum("kmd,md->mk", sides[:, :, 1], z[1:])

    def first_stage_of(self, x):
        values = x.source.first_stage
        return None if values is None else values[x.first_row:x.first_row + x.n_rows]

    def extended(self, x):
        """z of the root and of all words."""
        z = np.zeros((x.n_rows + 1, self.width))
        z[0, -1] = 1
        z[1:, :-2], z[1:, -2] = x.rows, 1
        return z

    def column_of(self, indices):
        """A weight belongs to a pair of coordinates, and to no single column."""
        return np.full(len(np.asarray(indices)), -1)


def bins(n):
    """The bin of the distance of each arc."""
    place = np.arange(n + 1)
    return BINS[np.minimum(np.abs(place[:, None] - place), len(BINS) - 1)]
