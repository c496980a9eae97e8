"""Dependency trees over arc scores of a network, such as biaffine ones: losses, the exact best tree, k best, marginals."""

from __future__ import annotations

import numpy as np

from structperc.basics.errors import DataError, shortened
from structperc.extras import require
from structperc.problems.problem import Problem
from structperc.torch.structured import StructuredLoss, as_array, as_numpy

torch = require("torch", "structperc.torch", "torch")


class Trees(torch.nn.Module):
    """A tree layer over scores of arcs (B, T + 1, T + 1): entry [b, h, m] is the score of head h of word m, and 0 is the root.

    It has no parameters. Scores of arcs into the root, and from a word to itself, are not used. Train with "log-loss". The hinge loss from
    a random start settles where all scores are near 0.

    Parameters
    ----------
    projective : bool, default False
        Whether arcs may not cross.
    loss : str, default "log-loss"
        A loss of `Batch.loss`.
    threads : int, default 1
    **parameters
        Of the loss, such as margin=0.5.

    Examples
    --------
    >>> import torch
    >>> from structperc.torch import Trees
    >>> layer = Trees()
    >>> arcs = torch.zeros(1, 3, 3)
    >>> arcs[0, 0, 2] = arcs[0, 2, 1] = 1.0
    >>> layer.decode(arcs)
    [[2, 0]]
    >>> layer(arcs, heads=torch.tensor([[2, 0]])).shape
    torch.Size([1])
    """

    def __init__(self, projective=False, loss="log-loss", *, threads=1, **parameters):
        super().__init__()
        self.problem, self.threads = Problem("parsing", projective=projective), threads
        self.criterion = StructuredLoss(self.problem, loss, threads=threads, **parameters)

    def forward(self, arcs, mask=None, heads=None):
        """The loss of each sentence. Returns a tensor of shape (B,).

        Parameters
        ----------
        arcs : tensor of shape (B, T + 1, T + 1)
        mask : bool tensor of shape (B, T), optional
            The words that count, the first ones of each sentence. Default: all.
        heads : int tensor of shape (B, T)
            The head of each word, from 1; 0 is the root.
        """
        flat, lengths = self._flat(arcs, mask)
        return self.criterion(flat, self._gold(lengths, arcs.shape[1] - 1, heads))

    def _gold(self, lengths, width, heads):
        """A batch with the trees of a table of heads."""
        if heads is None:
            raise DataError("heads are missing; give the head of each word, or call decode.")
        table = as_array(heads, "heads")
        if table.shape != (len(lengths), width):
            raise DataError(f"heads have the shape {table.shape}; expected {(len(lengths), width)}, a head for each word.")
        begins = np.append(0, np.cumsum(lengths))
        keep = np.arange(table.shape[1]) < lengths[:, None]
        wrong = keep & ((table < 0) | (table > lengths[:, None]))
        if wrong.any():
            i, t = np.argwhere(wrong)[0]
            raise DataError(f"heads[{i}][{t}] is {table[i, t]}; expected a number from 0 (the root) to {lengths[i]}, the last word of "
                            f"sentence {i}.")
        return self.problem._coded(begins, table[keep].astype(np.intc), lambda _: np.append(0, np.cumsum((lengths + 1) ** 2)))

    def decode(self, arcs, mask=None) -> list:
        """The heads of the best tree of each sentence. Returns a list of list of int.

        Parameters
        ----------
        arcs, mask
            As of `forward`.
        """
        batch, flat, _ = self._batch(arcs, mask)
        return [list(map(int, tree)) for tree in batch.argmax(flat, threads=self.threads)]

    def k_best(self, arcs, mask=None, k=2) -> list:
        """The k best trees of each sentence with their scores, best first. Returns a list of list of (list, float).

        Parameters
        ----------
        arcs, mask
            As of `forward`.
        k : int, default 2
        """
        batch, flat, _ = self._batch(arcs, mask)
        return [[(list(map(int, tree)), score) for tree, score in ranked] for ranked in batch.k_best(flat, k)]

    def marginals(self, arcs, mask=None):
        """The probability of each arc, 0 outside of the sentence. Returns a tensor of the shape of `arcs`.

        Parameters
        ----------
        arcs, mask
            As of `forward`.
        """
        batch, flat, lengths = self._batch(arcs, mask)
        table = torch.zeros(arcs.numel(), dtype=torch.float64)
        table[torch.from_numpy(places(lengths, arcs.shape[1]))] = torch.from_numpy(batch.marginals(flat, threads=self.threads))
        return table.reshape(arcs.shape).to(arcs)

    def log_probability(self, arcs, mask, heads):
        """log P of the tree of each sentence, without a graph. Returns a tensor of shape (B,).

        Parameters
        ----------
        arcs, mask, heads
            As of `forward`.
        """
        with torch.no_grad():
            flat, lengths = self._flat(arcs, mask)
            values, _ = self._gold(lengths, arcs.shape[1] - 1, heads).loss(as_numpy(flat), "log-loss", threads=self.threads)
        return -torch.from_numpy(values).to(arcs.device, torch.promote_types(arcs.dtype, torch.float32))

    def _batch(self, arcs, mask):
        """A batch without gold, its flat scores, and how many words sentences have."""
        with torch.no_grad():
            flat, lengths = self._flat(arcs, mask)
            return self.problem.batch(lengths=lengths), as_numpy(flat), lengths

    def _flat(self, arcs, mask):
        """The scores of all arcs of words that count, with their graph, and how many words sentences have."""
        if not isinstance(arcs, torch.Tensor) or arcs.ndim != 3 or arcs.shape[1] != arcs.shape[2] or not arcs.shape[1]:
            raise DataError(f"arcs are {shortened(arcs)}; expected a tensor (sentences, words + 1, words + 1) of scores [head, word].")
        shape = (arcs.shape[0], arcs.shape[1] - 1)
        keep = np.ones(shape, dtype=bool) if mask is None else as_array(mask, "mask").astype(bool)
        if keep.shape != shape:
            raise DataError(f"mask has the shape {keep.shape}, and arcs have {tuple(arcs.shape)}; expected {shape}.")
        lengths = keep.sum(axis=1)
        if not np.array_equal(keep, np.arange(shape[1]) < lengths[:, None]):
            raise DataError("mask leaves out a word before one that counts; expected the first words of each sentence, since heads count "
                            "them.")
        flat = arcs.reshape(-1)
        return flat if keep.all() else flat.index_select(0, torch.from_numpy(places(lengths, arcs.shape[1])).to(arcs.device)), lengths


def places(lengths, width):
    """Where a padded table of arcs (B, width, width) has those of each sentence."""
    side = [np.arange(n + 1) for n in lengths]
    each = [(i * width * width + own[:, None] * width + own).ravel() for i, own in enumerate(side)]
    return np.concatenate(each) if each else np.zeros(0, dtype=np.int64)


__all__ = ["Trees"]
