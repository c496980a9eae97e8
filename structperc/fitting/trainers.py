"""Trainers: who drives the passes over the examples. The online trainer makes one epoch after another."""

from __future__ import annotations

from contextlib import contextmanager

import attrs
import numpy as np

from structperc.basics.arguments import limit
from structperc.basics.errors import OptionError, PluginError
from structperc.basics.saved_state import read_array
from structperc.core.component import Component, argument
from structperc.core.updates import searches_of
from structperc.fitting.options import n_threads
from structperc.fitting.scaling import warn_of_scales

MCDONALD = """@inproceedings{mcdonald2010distributed,
  title = {Distributed Training Strategies for the Structured Perceptron},
  author = {McDonald, Ryan and Hall, Keith and Mann, Gideon},
  booktitle = {Human Language Technologies: The 2010 Annual Conference of the North American Chapter of the ACL},
  pages = {456--464},
  year = {2010}
}"""
CONVERGED = "converged"
STALLED = "stalled"
MAX_EPOCHS = "max_epochs"
EARLY_STOPPED = "early_stopped"
LEVELLED_OFF = "levelled_off"
UNTIL_LEVEL, BOUNDED_SUM = "until-level", "bounded-sum"
ONLINE = ("online", UNTIL_LEVEL, BOUNDED_SUM)               # names of trainers that make passes of online steps
PATIENCE = 3                # epochs without a lower loss behind which training has levelled off
INTERRUPTED = "interrupted"


@attrs.frozen
class EpochRecord:
    """One epoch, as observers are told of it at its end.

    Attributes
    ----------
    epoch, epochs : int
        The number of the epoch from 1, and the most epochs that were asked for.
    examples, mistakes, updates : int
        Examples visited, predicted wrongly and stepped on, as `structperc.core.loop.PassResult` counts them.
    loss : float
        Sum of the losses of the predictions of this epoch.
    seconds : float

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.callbacks import History
    >>> history = History()
    >>> _ = Engine("cusum", epochs=2, plugins=[history], preset="paper").fit([[0.0], [1.0]], [1, 2])
    >>> history.records[-1].epoch, history.records[-1].mistakes
    (2, 1)
    """

    epoch: int
    epochs: int
    examples: int
    mistakes: int
    updates: int
    loss: float
    seconds: float


class Trainer(Component):
    """Base of trainers, which drive the passes over the examples of a fit.

    A plugin lists names in its attribute `trainers`, and returns a trainer for them from `structperc_trainer`. Users choose one by
    `Engine(..., trainer="NAME")`.

    Attributes
    ----------
    online : bool
        Whether it makes online steps. Then partial_fit may go on with a pass of them, and their mean has a meaning. A trainer that
        solves one problem over all examples sets False, and partial_fit raises an error unless it overrides `check_chunks`.
    log_odds : bool
        Whether the direction of ordered labels that it trains is one of log odds, which have a unit. By default False.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.components import Trainer
    >>> class TwoPasses(Trainer):
    ...     def train(self, run):
    ...         for _ in range(2):
    ...             run.begin_epoch()
    ...             run.end_epoch(run.run(run.order()))
    ...         return "max_epochs"
    >>> engine = Engine("cusum", trainer=TwoPasses, preset="paper").fit([[0.0], [1.0]], [1, 2])
    >>> engine.status_, engine.mistakes_
    ('max_epochs', [1, 1])
    """

    online = True
    log_odds = False

    def train(self, run):
        """Train by passes of the `TrainingRun`.

        Parameters
        ----------
        run : TrainingRun
            The training: its order, its passes and its record.

        Returns
        -------
        str
            Why training ended, shown as `status_`: "converged", "stalled", "max_epochs", "levelled_off", "early_stopped", or another
            word.
        """
        raise self.missing("train")

    def learning_curve(self, engine):
        """Numbers, one for each epoch, that fall while further epochs help. Returns a list of float. By default the mistakes.

        Parameters
        ----------
        engine : Engine
            A fitted one.
        """
        return engine.mistakes_

    def check_chunks(self, parts) -> None:
        """Raise an error for partial_fit if online passes cannot continue what `train` makes.

        Parameters
        ----------
        parts : Parts
            All parts of the model.

        Raises
        ------
        PluginError
        """
        if not self.online:
            raise PluginError(f"partial_fit learns from chunk after chunk, but {type(self).__name__} solves one problem over all examples; "
                              f"call fit with all of them.")

    def check_answers(self) -> None:
        """Raise an error for predictions if the trained model has none that can be trusted.

        Raises
        ------
        StructPercError
        """

    def check_order(self, context, parts) -> None:
        """Raise an error if training may disorder ordered thresholds; by default asks `Update.check_order`.

        Parameters
        ----------
        context : FitContext
        parts : object with the parts as attributes
        """
        parts.update.check_order(context, parts)

    def check_scales(self, model, rows) -> None:
        """Warn of columns of very different size. Override it if the units of columns do not change predictions.

        Parameters
        ----------
        model : Model
        rows : Rows
        """
        warn_of_scales(model, rows)


class OnlineTrainer(Trainer):
    """Passes over the examples, in file order or shuffled anew each epoch, until an epoch brings no update.

    After an epoch without update no later one could change the weights: training has converged, or stalled where mistakes are left.

    Parameters
    ----------
    patience : int, optional
        Training ends if the mean loss of predictions before the steps has not fallen for so many epochs. None: the loss ends nothing.

    Attributes
    ----------
    epoch : int
        Epochs made.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.components import OnlineTrainer
    >>> engine = Engine("cusum", trainer=OnlineTrainer(), epochs=9, preset="paper").fit([[0.0], [1.0]], [1, 2])
    >>> engine.status_
    'converged'
    """

    options_used = ("update", "loss_weight", "epochs", "shuffle", "weighting")

    epoch = lowest_epoch = 0
    lowest = np.inf

    def __init__(self, patience=None):
        self.patience = argument(self, "patience", patience, limit)

    def start(self, parts, context):
        self.epoch, self.lowest, self.lowest_epoch = 0, np.inf, 0

    def check(self, context, parts):
        search, _ = searches_of(parts.update, context.loss_weight)
        if search not in ("plain", "both", "margin"):
            raise PluginError(f"{type(parts.update).__name__} asks for the search {search!r}, but online training counts mistakes by the "
                              f"plain search. Return 'plain' from searches, or 'both' or 'margin' for the augmented one too.")

    def train(self, run):
        while run.epoch < run.context.epochs and not run.stop_requested and not self.is_level():
            run.begin_epoch()
            passed = self.visit_all(run)
            self.end_pass(run.epoch, passed.loss / max(passed.visited, 1))
            run.end_epoch(passed)
            if passed.updates == 0 and run.expected is None:        # else it may have left examples out
                return STALLED if passed.mistakes else CONVERGED
        return EARLY_STOPPED if run.stop_requested else LEVELLED_OFF if self.is_level() else MAX_EPOCHS

    def end_pass(self, epoch, loss) -> None:
        """Note a pass over all parts of a stream.

        Parameters
        ----------
        epoch : int
            Its number from 1.
        loss : float
            Mean loss of its predictions.
        """
        self.epoch = epoch
        if epoch == 1 or loss < self.lowest:
            self.lowest, self.lowest_epoch = loss, epoch

    def is_level(self) -> bool:
        """Whether the loss has levelled off, so that no further epoch is wanted."""
        return self.patience is not None and self.epoch - self.lowest_epoch >= self.patience

    def visit_all(self, run):
        """The passes of one epoch. Returns `PassResult`. Counts of the epoch.

        Parameters
        ----------
        run : TrainingRun
        """
        return run.run(run.order())

    def state(self):
        arrays = {"epoch": np.array(self.epoch, dtype=np.int64)}
        if self.patience is not None:
            arrays |= {"lowest": np.array(self.lowest, dtype=float), "lowest_epoch": np.array(self.lowest_epoch, dtype=np.int64)}
        return arrays

    def restore(self, state):
        epoch, lowest, lowest_epoch = read_array(state, "epoch", np.int64, low=0), self.lowest, self.lowest_epoch
        if "lowest" in state:
            lowest = read_array(state, "lowest", np.float64, finite=False)
            lowest_epoch = read_array(state, "lowest_epoch", np.int64, low=0)
        self.epoch, self.lowest, self.lowest_epoch = epoch, lowest, lowest_epoch


class MixingTrainer(OnlineTrainer):
    """Iterative parameter mixing: each epoch trains on shards of the examples apart, and mixes the weights that they arrive at.

    Each shard begins with the weights w of the last round and ends with w_i. Then w <- w + sum_i mu_i (w_i - w), with mu_i its share of the
    examples visited. The mistakes, each times mu_i, have the perceptron's bound. So their number is at most the bound times the number of
    shards. If `bounded`, a weight moves by the sum of w_i - w. The sum is at most twice the mean over the shards that moved it. No bound is
    known then. The mean over examples counts every vector that a shard has visited. Same shards and seed have the same bits, whatever the
    threads. A chunk of `partial_fit` is one round.

    A shard holds weights and parts of its own: n_shards + 1 times the memory of the weights.

    Parameters
    ----------
    patience : int, optional
        As of `OnlineTrainer`.
    bounded : bool, default False
        Mix by the bounded sum.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.components import MixingTrainer
    >>> engine = Engine("cusum", n_shards=2, epochs=20, random_state=0, plugins=[MixingTrainer()])
    >>> engine.fit([[0.0], [1.0], [2.0], [3.0]], [1, 1, 2, 2]).predict([[0.0], [3.0]]).tolist()
    [1, 2]
    """
    # patience: int, optional. As of `OnlineTrainer`.
    # bounded: bool, default False. Mix by the bounded sum.

    options_used = (*OnlineTrainer.options_used, "n_shards")
    citation = MCDONALD

    def __init__(self, patience=None, bounded=False):
        super().__init__(patience)
        self.bounded = bounded

    def check(self, context, parts):
        super().check(context, parts)
        if parts.weights.sharding() is None:
            raise PluginError("n_shards above 1 mixes weights that shards have trained apart, which "
                              f"{type(parts.weights).__name__} does not know how to do. Set n_shards=1, and train in one process: call "
                              f"fit, or structperc.streams.fit_stream for parts.")

    def start(self, parts, context):
        super().start(parts, context)
        self.seed = 0

    def train(self, run):
        if not run.resumed:
            self.seed = int(run.context.random.integers(2**63))
        with self.sharing(run, self.seed):
            return super().train(run)

    def visit_chunk(self, run):
        """The one round of a chunk of a stream, whose examples are the shards'. Returns `PassResult`. Counts of the round.

        Parameters
        ----------
        run : TrainingRun
        """
        with self.sharing(run, int(run.context.random.integers(2**63))):
            return self.visit_all(run)

    @contextmanager
    def sharing(self, run, seed):
        """Within the block there are shards of the examples. Returns a context manager.

        Parameters
        ----------
        run : TrainingRun
        seed : int
            Of the orders of the shards.
        """
        if run.history is not None:
            raise OptionError(f"history=True keeps one visit after the other, and n_shards={run.context.n_shards} makes several at a time; "
                              f"leave one of them out.")
        self.shards = run.shards(run.context.n_shards, seed, n_threads(run.context.n_jobs))
        try:
            yield
        finally:
            self.shards.end()
            self.shards = None

    def visit_all(self, run):
        return run.mix(self.shards, self.bounded)

    def state(self):
        return {**super().state(), "seed": np.array(self.seed, dtype=np.int64)}

    def restore(self, state):
        seed = read_array(state, "seed", np.int64, low=0)
        super().restore(state)
        self.seed = seed
