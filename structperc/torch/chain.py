"""A linear chain over an encoder: a conditional random field, with other losses, constraints, k best and marginals."""

from __future__ import annotations

import numpy as np

from structperc.basics.errors import DataError, shortened
from structperc.engine.engine import Engine
from structperc.extras import require
from structperc.problems.problem import Problem
from structperc.problems.shared import Shared, SharedScores, sentences
from structperc.torch.structured import StructuredLoss, applied, as_array, as_floats, as_numpy, first

torch = require("torch", "structperc.torch", "torch")

IGNORED = -100              # the tag that losses of PyTorch leave out


class Chain(torch.nn.Module):
    """A chain layer: scores of tokens from an encoder, scores of pairs of neighbouring labels as parameters.

    Padding never reaches the solver: masked tokens are left out, and their neighbours follow each other. So a mask of first sub-words makes
    a chain of words. Emissions are padded tensors (B, T, L) or lists of tensors (T_i, L), of any device and float type.

    Parameters
    ----------
    labels : sequence
        The L labels in order.
    constraints : str or list of pairs, optional
        As `forbidden_transitions` of the problem "sequence": "iob2" and other schemes, or pairs [a, b] where b never follows a.
    loss : str, default "log-loss"
        A loss of `Batch.loss`: "log-loss" is a conditional random field, "hinge" a structured SVM.
    threads : int, default 1
    **parameters
        Of the loss, such as margin=0.5.

    Attributes
    ----------
    transitions : parameter of shape (L, L)
        Entry [a, b] is the score of label b after label a.
    start, end : parameter of shape (L,)
        Scores of the first and the last label.

    Examples
    --------
    >>> import torch
    >>> from structperc.torch import Chain
    >>> layer = Chain(["B", "I", "O"], constraints="iob2")
    >>> emissions = torch.tensor([[[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]]])
    >>> layer.decode(emissions)
    [['B', 'I']]
    >>> layer(emissions, tags=torch.tensor([[0, 1]])).shape
    torch.Size([1])
    """

    def __init__(self, labels, constraints=None, loss="log-loss", *, threads=1, **parameters):
        super().__init__()
        options = {} if constraints is None else {"forbidden_transitions": constraints}
        self.labels, self.threads, self._options = list(labels), threads, options
        self._names = np.empty(len(self.labels), dtype=object)
        self._names[:] = self.labels
        self.problem = Problem("sequence", classes=self.labels, start=True, end=True, **options)
        self.problem.batch(lengths=[1])                 # raises errors of labels and constraints
        self.criterion = StructuredLoss(self.problem, loss, threads=threads, **parameters)
        self.transitions = torch.nn.Parameter(torch.zeros(len(self.labels), len(self.labels)))
        self.start, self.end = (torch.nn.Parameter(torch.zeros(len(self.labels))) for _ in range(2))

    def extra_repr(self) -> str:
        """What PyTorch prints between the brackets."""
        return f"{len(self.labels)} labels"

    def forward(self, emissions, mask=None, tags=None):
        """The loss of each sentence. Returns a tensor of shape (B,).

        Parameters
        ----------
        emissions : tensor of shape (B, T, L), or list of tensors (T_i, L)
        mask : bool tensor of shape (B, T), optional
            The tokens that count. Default: all.
        tags : int tensor of shape (B, T), or list of int sequences
            Numbers of right labels, from 0. Tokens of -100 are left out.
        """
        if tags is None:
            raise DataError("tags are missing; give the right label of each token, or call decode.")
        rows, _, begins, codes = self._tokens(emissions, mask, tags)
        batch = self.problem._coded(begins, codes, self._atoms)
        return applied(ChainValues, rows, *self._tables(), self._shared(begins), lambda scores: self.criterion._solve(scores, batch))

    def decode(self, emissions, mask=None) -> list:
        """The best labels of each sentence, those of its tokens in the mask. Returns a list of list.

        Parameters
        ----------
        emissions, mask
            As of `forward`.
        """
        batch, flat, *_ = self._prepared(emissions, mask)
        return batch.argmax(flat, threads=self.threads).tolist()

    def k_best(self, emissions, mask=None, k=2) -> list:
        """The k best labellings of each sentence with their scores, best first. Returns a list of list of (list, float).

        Parameters
        ----------
        emissions, mask
            As of `forward`.
        k : int, default 2
        """
        batch, flat, *_ = self._prepared(emissions, mask)
        return batch.k_best(flat, k)

    def marginals(self, emissions, mask=None):
        """The probability of each label of each token, 0 of tokens outside of the mask.
        Returns a tensor of shape (B, T, L). T is the most tokens of a sentence.

        Parameters
        ----------
        emissions, mask
            As of `forward`.
        """
        batch, flat, keep, begins = self._prepared(emissions, mask)
        expected = batch.marginals(flat, threads=self.threads)
        table = torch.zeros((*keep.shape, len(self.labels)), dtype=torch.float64)
        table[torch.from_numpy(keep)] = torch.from_numpy(self._shared(begins).parts(expected)[0])
        return table.to(self.transitions)

    def log_probability(self, emissions, mask, tags):
        """log P of given labels of each sentence, without a graph. Returns a tensor of shape (B,).

        Parameters
        ----------
        emissions, mask, tags
            As of `forward`.
        """
        with torch.no_grad():
            rows, _, begins, codes = self._tokens(emissions, mask, tags)
            batch = self.problem.batch(lengths=np.diff(begins))
            y = split(self._names[codes - 1], begins)
            values = batch.log_probability(self._flat(rows, begins), y, threads=self.threads)
        return torch.from_numpy(values).to(self.transitions)

    def engine(self):
        """The layer as an engine over emissions: to save, explain and export it, for sets with coverage and margins. Returns `Engine`.

        X is a list of arrays (T, L) of emissions. Weights of tokens are those of the identity.
        """
        L = len(self.labels)
        for name, table in self.named_parameters():
            if not bool((table < torch.inf).all()):
                raise DataError(f"{name} has NaN or inf; expected numbers. Look for a step that has overflowed.")
        engine = Engine("sequence", classes=self.labels, start=True, end=True, fit_intercept=False, scale=False, preset="paper",
                        **self._options)
        first = next(iter(self.problem.batch(lengths=[1]).argmax(np.zeros(L * L + 3 * L)).tolist()))
        engine.fit([np.zeros((1, L))], [first])
        engine.model_.parts.weights.assign(np.concatenate([np.eye(L).ravel(), *(as_numpy(table).ravel() for table in self._tables())]), 1)
        return engine

    # ---- from padded tensors to flat scores ----

    def _prepared(self, emissions, mask):
        """A batch, its flat scores, the mask, an array, and where the tokens of each sentence begin."""
        with torch.no_grad():
            rows, keep, begins, _ = self._tokens(emissions, mask, None)
            return self.problem.batch(lengths=np.diff(begins)), self._flat(rows, begins), keep, begins

    def _tokens(self, emissions, mask, tags):
        """Emissions (N, L) of the tokens that count, the mask (B, T), where each sentence begins, and labels from 1."""
        L = len(self.labels)
        if isinstance(emissions, (list, tuple)):
            table, keep, place = self._joined(emissions, mask)
        else:
            if not isinstance(emissions, torch.Tensor) or emissions.ndim != 3:
                raise DataError(f"emissions are {shortened(emissions)}; expected a tensor (sentences, tokens, labels) or a list.")
            shape = tuple(emissions.shape[:2])
            keep = np.ones(shape, dtype=bool) if mask is None else as_array(mask, "mask").astype(bool, order="C")
            if keep.shape != shape:
                raise DataError(f"mask has the shape {keep.shape}, and emissions have {tuple(emissions.shape)}; expected {shape}.")
            table, place = emissions, None
        if table.shape[-1] != L:
            raise DataError(f"emissions have {table.shape[-1]} scores for each token; expected {L}, one for each label.")
        tags = None if tags is None else self._tags(tags, keep).astype(np.int64, order="C", copy=False)
        begins, codes, wrong = sentences(keep.view(np.uint8), L, IGNORED, tags, self.problem._begins())
        if wrong >= 0:
            i, t = divmod(wrong, keep.shape[1])
            raise DataError(f"tags[{i}][{t}] is {tags[i, t]}; expected a number from 0 to {L - 1}, or {IGNORED} for a token that does not "
                            f"count.")
        if begins[-1] * L == table.numel():
            return table, keep, begins, codes
        places = np.flatnonzero(keep) if place is None else place[keep]
        rows = table.reshape(-1, L).index_select(0, torch.from_numpy(places).to(table.device))
        return rows, keep, begins, codes

    def _joined(self, emissions, mask):
        """All emissions of a list of sentences, a mask that counts each token, and the place of each."""
        if mask is not None:
            raise DataError("emissions are a list of sentences, which need no mask; leave it out.")
        for i, one in enumerate(emissions):
            if not isinstance(one, torch.Tensor) or one.ndim != 2 or one.shape[1] != len(self.labels):
                raise DataError(f"emissions[{i}] is {shortened(one)}; expected a tensor (tokens, {len(self.labels)}), a score for each "
                                f"label.")
        sizes = np.array([len(one) for one in emissions], dtype=np.int64)
        keep = np.arange(sizes.max(initial=0)) < sizes[:, None]
        place = np.zeros(keep.shape, dtype=np.int64)
        place[keep] = np.arange(sizes.sum())
        return torch.cat(list(emissions)) if len(emissions) else self.start.new_zeros((0, len(self.labels))), keep, place

    def _tags(self, tags, keep):
        """Tags as an array of the shape of the mask; a list has those of each sentence's tokens."""
        if isinstance(tags, (list, tuple)) and len(tags) == len(keep):
            table = np.full(keep.shape, IGNORED)
            for i, own in enumerate(tags):
                if not hasattr(own, "__len__"):
                    raise DataError(f"tags[{i}] is {shortened(own)}; expected the tags of sentence {i}.")
                if len(own) not in (keep.shape[1], keep[i].sum()):
                    raise DataError(f"tags[{i}] has {len(own)} tags, but sentence {i} has {keep[i].sum()} tokens; expected as many.")
                table[i, slice(len(own)) if len(own) == keep.shape[1] else keep[i]] = as_array(own, f"tags[{i}]")
            return table
        table = as_array(tags, "tags")
        if table.shape != keep.shape:
            raise DataError(f"tags have the shape {table.shape}; expected {keep.shape}, a tag for each token.")
        return table

    def _tables(self):
        """The scores that all sentences have."""
        return self.transitions, self.start, self.end

    def _atoms(self, begins):
        """Where the atoms of sentences begin whose tokens begin there."""
        L = len(self.labels)
        return begins * L + np.arange(len(begins)) * (L * (L + 2))

    def _shared(self, begins):
        """Where the flat scores have those of tokens, and the common ones."""
        return Shared(begins, len(self.labels), len(self.labels) * (len(self.labels) + 2))

    def _flat(self, rows, begins):
        """The flat scores of all sentences."""
        return SharedScores(self._shared(begins), as_floats(rows), [as_floats(table) for table in self._tables()]).flat()


class ChainValues(torch.autograd.Function):
    """Values of all sentences. Flat scores are made and their gradients summed here, so that autograd sees tokens and three tables."""

    @staticmethod
    def forward(ctx, *inputs):
        *tensors, ctx.shared, solve = inputs
        rows, *tables = tensors
        values, ctx.gradient = solve(SharedScores(ctx.shared, as_floats(rows), [as_floats(table) for table in tables]))
        ctx.save_for_backward(*tensors)
        return torch.from_numpy(values).to(rows.device, torch.promote_types(rows.dtype, torch.float32))

    @staticmethod
    def backward(ctx, upstream):
        inputs = ctx.saved_tensors
        narrow = all(one.dtype is torch.float32 for one in inputs)
        of_rows, common = ctx.shared.parts(ctx.gradient, as_numpy(upstream), narrow)
        gradients, at = [torch.from_numpy(of_rows.reshape(inputs[0].shape)).to(inputs[0])], 0
        for table in inputs[1:]:
            gradients.append(torch.from_numpy(common[at:at + table.numel()].reshape(table.shape)).to(table))
            at += table.numel()
        return *(first(gradient, *inputs, upstream) for gradient in gradients), None, None


def split(values, begins) -> list:
    """The values of each sentence, a list of lists."""
    return [values[a:b].tolist() for a, b in zip(begins[:-1], begins[1:], strict=True)]


__all__ = ["Chain"]
