"""Heads for ordered labels in plain PyTorch: they stay on their device, and compile."""

from __future__ import annotations

from structperc.basics.errors import DataError, OptionError, shortened
from structperc.extras import require
from structperc.torch.traps import PATIENCE, say

torch = require("torch", "structperc.torch", "torch")

LOSSES = ("hinge", "log-loss", "logistic", "cumulative-logit")
STARTED = 1 << 40         # thresholds have begun at the frequencies of levels
COSTS = ("absolute", "squared", "zero-one")


class CusumHead(torch.nn.Module):
    """Ordered labels by cusum units: n_levels - 1 scores, and the score of a level is the sum of those below it.

    Levels are numbers from 0. At a tie the lowest level wins.

    Parameters
    ----------
    n_features : int
        Columns of the input.
    n_levels : int
        At least 2.
    directions : {"own", "shared"}, default "own"
        "own": each unit has its own direction, as in CuSum Rank. "shared": one direction and rising thresholds. Start thresholds at
        the labels' frequencies (`start_thresholds`). Give them a larger learning rate (`parameter_groups`).

    Attributes
    ----------
    thresholds : tensor of shape (n_levels - 1,)
        Of shared directions, always rising.

    Examples
    --------
    >>> import torch
    >>> from structperc.torch import CusumHead
    >>> head = CusumHead(2, n_levels=3)
    >>> x, y = torch.zeros(4, 2), torch.tensor([0, 1, 2, 2])
    >>> head.loss(x, y, "hinge").shape, head.probabilities(x).shape
    (torch.Size([4]), torch.Size([4, 3]))
    """

    def __init__(self, n_features, n_levels, directions="own"):
        super().__init__()
        if isinstance(n_levels, bool) or not isinstance(n_levels, int) or n_levels < 2:
            raise OptionError(f"n_levels={shortened(n_levels)}; expected a whole number from 2.")
        if directions not in ("own", "shared"):
            raise OptionError(f"directions={shortened(directions)}; expected 'own' or 'shared'.")
        self.n_levels, self.directions = n_levels, directions
        self.linear = torch.nn.Linear(n_features, n_levels - 1 if directions == "own" else 1, bias=directions == "own")
        if directions == "shared":
            self.first = torch.nn.Parameter(torch.zeros(()))
            self.gaps = torch.nn.Parameter(torch.zeros(n_levels - 2))       # of thresholds, before softplus
            self.start_thresholds(torch.ones(n_levels))
            self.register_buffer("n_unstarted", torch.zeros((), dtype=torch.int64))      # losses in training before `start_thresholds`

    @property
    def thresholds(self):
        if self.directions == "own":
            raise AttributeError("units with their own directions have no thresholds; set directions='shared'")
        steps = torch.nn.functional.softplus(self.gaps).cumsum(0)
        return self.first + torch.nn.functional.pad(steps, (1, 0))

    def start_thresholds(self, counts) -> None:
        """Start shared thresholds at the log odds of the labels' frequencies, those of a model without features.

        Parameters
        ----------
        counts : tensor or sequence of shape (n_levels,)
            How often each level occurs.
        """
        counts = torch.as_tensor(counts, dtype=torch.float64) + 0.5
        if counts.shape != (self.n_levels,) or not bool((counts > 0).all()):
            raise DataError(f"counts are {shortened(counts.tolist())}; expected {self.n_levels} numbers from 0, one for each level.")
        below = counts.cumsum(0)[:-1] / counts.sum()
        wanted = torch.log(below) - torch.log1p(-below)
        with torch.no_grad():
            self.first.copy_(wanted[0])
            self.gaps.copy_(torch.log(torch.expm1(wanted.diff().clamp_min(1e-6))))
            if hasattr(self, "n_unstarted"):
                self.n_unstarted.fill_(STARTED)

    def parameter_groups(self, rate, of_thresholds=10.0) -> list:
        """The parameters for an optimizer, thresholds with a learning rate of their own. Returns a list of dict.

        Parameters
        ----------
        rate : float
            The learning rate of the other parameters.
        of_thresholds : float, default 10.0
            By which factor that of thresholds is larger.

        Examples
        --------
        >>> from structperc.torch import CusumHead
        >>> [group["lr"] for group in CusumHead(2, n_levels=3, directions="shared").parameter_groups(0.01)]
        [0.01, 0.1]
        """
        own = {"params": list(self.linear.parameters()), "lr": rate}
        return [own] if self.directions == "own" else [own, {"params": [self.first, self.gaps], "lr": rate * of_thresholds}]

    def _warn_of_thresholds(self) -> None:
        """A warning after so many losses whose thresholds began anywhere."""
        if self.n_unstarted < STARTED:
            self.n_unstarted += 1
            if self.n_unstarted == PATIENCE:
                say(f"{PATIENCE} losses were computed, but thresholds began where all levels are equally frequent. Such heads learn "
                    f"slowly. Call start_thresholds(counts), and give an optimizer parameter_groups(rate).")

    def _levels_of(self, y, s):
        """Right levels as int64, checked; compiled graphs have no checks."""
        if torch.compiler.is_compiling():
            return y.long()
        if not isinstance(y, torch.Tensor) or y.is_floating_point() or y.is_complex() or y.shape != s.shape[:1]:
            raise DataError(f"y is {shortened(y)}; expected a tensor of {len(s)} whole numbers, the level of each example.")
        if y.numel() and not 0 <= int(y.min()) <= int(y.max()) < self.n_levels:
            raise DataError(f"y has levels from {int(y.min())} to {int(y.max())}; expected numbers from 0 to {self.n_levels - 1}.")
        refuse_without_meaning(s)
        return y.long()

    def forward(self, x):
        """The scores of the units. Returns a tensor of shape (n, n_levels - 1).

        Parameters
        ----------
        x : tensor of shape (n, n_features)
        """
        return self.linear(x) if self.directions == "own" else self.linear(x) - self.thresholds

    def loss(self, x, y, loss="hinge", *, costs="absolute"):
        """The loss of each example. Returns a tensor of shape (n,).

        - "hinge": the structured hinge loss with these costs. `levels` then predicts for low costs.
        - "log-loss": -log P(y), where P is a softmax over the levels' scores.
        - "logistic": the sum of all units' logistic losses, the all-threshold loss.
        - "cumulative-logit": proportional odds, of shared directions.

        Parameters
        ----------
        x : tensor of shape (n, n_features)
        y : int tensor of shape (n,)
            Levels from 0.
        loss : str, default "hinge"
        costs : {"absolute", "squared", "zero-one"}, default "absolute"
            Of "hinge".
        """
        return self.loss_of(self(x), y, loss, costs=costs)

    def loss_of(self, s, y, loss="hinge", *, costs="absolute"):
        """The same of scores of the units. Returns a tensor of shape (n,).

        Parameters
        ----------
        s : tensor of shape (n, n_levels - 1)
        y : int tensor of shape (n,)
        loss, costs
            As of `loss`.
        """
        F = torch.nn.functional
        if loss not in LOSSES:
            raise OptionError(f"loss={shortened(loss)}; expected one of {', '.join(map(repr, LOSSES))}.")
        if costs not in COSTS:
            raise OptionError(f"costs={shortened(costs)}; expected one of {', '.join(map(repr, COSTS))}.")
        if s.shape[-1] != self.n_levels - 1:
            raise DataError(f"s has the shape {tuple(s.shape)}; expected {self.n_levels - 1} scores for each example, one for each unit.")
        y = self._levels_of(y, s)
        if self.directions == "shared" and self.training and not torch.compiler.is_compiling():
            self._warn_of_thresholds()
        scores, right = F.pad(s, (1, 0)).cumsum(-1), y[:, None]
        if loss == "log-loss":
            return F.cross_entropy(scores, y, reduction="none")
        if loss == "hinge":
            apart = (torch.arange(self.n_levels, device=y.device)[None] - right).abs().to(s.dtype)
            cost = {"absolute": apart, "squared": apart * apart, "zero-one": apart.clamp_max(1)}[costs]
            return (scores + cost).amax(1) - scores.gather(1, right)[:, 0]
        signs = torch.where(right > torch.arange(self.n_levels - 1, device=y.device), 1.0, -1.0).to(s.dtype)
        if loss == "logistic":
            return F.softplus(-signs * s).sum(1)
        if self.directions == "own":
            raise OptionError("loss='cumulative-logit' needs scores that fall; set directions='shared'.")
        lower, upper = (y > 0), (y < self.n_levels - 1)         # whether a unit below, or above, bounds the level
        a = s.gather(1, (right - 1).clamp_min(0))[:, 0]
        b = s.gather(1, right.clamp_max(self.n_levels - 2))[:, 0]
        gap = torch.where(lower & upper, a - b, torch.ones_like(a))
        middle = torch.where(lower & upper, -torch.log(-torch.expm1(-gap)), torch.zeros_like(a))
        return torch.where(lower, F.softplus(-a), torch.zeros_like(a)) + torch.where(upper, F.softplus(b), torch.zeros_like(b)) + middle

    def levels(self, x):
        """The best level of each example: that of the largest sum. Returns an int tensor of shape (n,).

        Parameters
        ----------
        x : tensor of shape (n, n_features)
        """
        s = self(x)
        refuse_without_meaning(s)
        return torch.nn.functional.pad(s, (1, 0)).cumsum(-1).argmax(-1)

    def probabilities(self, x, loss="log-loss"):
        """P of each level, by the model of the loss that the head was trained with. Returns a tensor of shape (n, n_levels).

        Parameters
        ----------
        x : tensor of shape (n, n_features)
        loss : {"log-loss", "cumulative-logit"}, default "log-loss"
            "log-loss": a softmax over the levels' scores. "cumulative-logit": P(y > k) is logistic in unit k, of shared directions.
        """
        s = self(x)
        refuse_without_meaning(s)
        if loss == "log-loss":
            return torch.nn.functional.pad(s, (1, 0)).cumsum(-1).softmax(-1)
        if loss != "cumulative-logit" or self.directions == "own":
            raise OptionError(f"loss={shortened(loss)} of {self.directions} directions has no probabilities; use 'log-loss', or shared "
                              f"directions with 'cumulative-logit'.")
        above = torch.nn.functional.pad(torch.nn.functional.pad(s.sigmoid(), (1, 0), value=1.0), (0, 1))
        return above[:, :-1] - above[:, 1:]


def refuse_without_meaning(s) -> None:
    """Raises an error for scores that are NaN or infinite, with the example; compiled graphs have no checks."""
    if torch.compiler.is_compiling() or bool(torch.isfinite(s).all()):
        return
    i = int(torch.isfinite(s).all(-1).logical_not().nonzero()[0, 0])
    raise DataError(f"example {i} has the scores {shortened(s[i].tolist())}; expected finite numbers. Look for NaN in the input, or for "
                    f"weights that have grown without bound.")


__all__ = ["CusumHead"]
