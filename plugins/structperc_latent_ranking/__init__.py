"""Latent ranking: which k documents of a query to show, learned from what each document is worth; a latent perceptron or SVM."""

import numbers

import numpy as np

from structperc import Option, hookimpl
from structperc.components import RowFeatures
from structperc.errors import OptionError, UnusedOption, shortened
from structperc.plugin_tools import LATENT_PERCEPTRON, YU_JOACHIMS
from structperc_latent_ranking.outputs import RankingOutputs, need_queries
from structperc_latent_ranking.solver import KINDS, AdditiveRankingLoss, RankingLoss, TopDocuments

also_called = ("ranking", "rankings", "ranker", "ltr", "learning-to-rank")
citation = f"{LATENT_PERCEPTRON}\n\n{YU_JOACHIMS}"

options = {
    "k": Option(10, help="documents that are shown of each query"),
    "relevant": Option(1, types=(float,), help="a document of this or a higher relevance is relevant"),
    "gains": Option((), help="what documents of relevance 0, 1, 2, ... are worth; empty: 0 or 1 by relevant, for ndcg 2^relevance - 1"),
}
# Held-out queries of OHSUMED, whose features lie between 0 and 1: loss_weight from 5 to 20 predicted best.
recommended = {"update": "latent", "loss_weight": 5.0, "epochs": 30, "scale": False}
paper = {"update": "latent", "loss_weight": 1.0}        # rule (6): y* and h* maximise (5), the score and the loss
losses = KINDS
ORDERED = ("ndcg", "average-precision")
MOST_RELEVANT = 30              # of ndcg without gains


class DocumentFeatures(RowFeatures):
    """x_j for document j."""

    def check_rows(self, rows):
        need_queries(rows)
        super().check_rows(rows)


@hookimpl
def structperc_outputs(context):
    k, relevant, gains = whole_k(context.options["k"]), context.options["relevant"], context.options["gains"]
    if not isinstance(relevant, numbers.Real) or isinstance(relevant, bool) or not np.isfinite(relevant):
        raise OptionError(f"relevant={shortened(relevant)}; expected a number.")
    gains = None if gains is None or len(gains) == 0 else gains
    if gains is not None and context.loss == "average-precision":
        raise UnusedOption("gains has no effect with loss='average-precision', for which documents are relevant or not; set relevant.",
                           "gains")
    if context.loss == "ndcg" and gains is None:
        gains = 2.0 ** np.arange(MOST_RELEVANT + 1) - 1
    return RankingOutputs(k, float(relevant), gains, context.loss in ORDERED)


@hookimpl
def structperc_features(context):
    return DocumentFeatures(context.n_features)


@hookimpl
def structperc_argmax(context):
    return TopDocuments(whole_k(context.options["k"]))


@hookimpl
def structperc_loss(context):
    if context.loss not in KINDS:
        return None
    kind = AdditiveRankingLoss if context.loss in ("precision", "recall") else RankingLoss
    return kind(context.loss, context.options["k"])


def whole_k(k):
    if not isinstance(k, numbers.Integral) or isinstance(k, bool) or not 1 <= k < 2**31:
        raise OptionError(f"k={shortened(k)}; expected how many documents are shown, a whole number from 1.")
    return int(k)


check_options = {"k": 2}


def sample(random, n_examples):
    """Queries of six documents."""
    return [random.normal(size=(6, 3)) for _ in range(n_examples)]


def observe(random, answers):
    """Relevances: 1 for the documents shown, and for some others."""
    grades = (random.random((len(answers), 6)) < 0.2).astype(int)
    for row, answer in zip(grades, answers, strict=True):
        row[list(answer)] = 1
    return list(grades)
