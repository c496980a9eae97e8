"""How good predictions are: measures of ranks, classes, labels of tokens and rankings, and the ones that suit an engine."""

from structperc.metrics.clusters import (
    Agreement,
    adjusted_rand_index,
    b_cubed_scores,
    ceaf_scores,
    cluster_measures,
    pairwise_scores,
)
from structperc.metrics.comparisons import Comparison, Measured, compare
from structperc.metrics.constants import Constant, best_constant, best_constant_of
from structperc.metrics.engines import losses, losses_of, measures, measures_of
from structperc.metrics.intervals import (
    interval_absolute_error,
    interval_codes,
    interval_coverage,
    interval_distances,
    interval_measures,
    mean_interval_width,
)
from structperc.metrics.labels import (
    accuracy,
    accuracy_within_one,
    codes,
    confusion_matrix,
    macro_f1,
    macro_mean_absolute_error,
    mean_absolute_error,
    ordered_labels,
    quadratic_weighted_kappa,
    rank_measures,
)
from structperc.metrics.phrases import are_phrase_tags, phrase_f1, phrase_scores, phrases, tag_scheme, tags
from structperc.metrics.ranking import document_places, mean_average_precision, ndcg_at_k, pair_accuracy, precision_at_k
from structperc.metrics.tokens import sentences, token_measures, unseen_labels

__all__ = [
    "Agreement", "Comparison", "Constant", "Measured", "accuracy", "accuracy_within_one", "adjusted_rand_index", "are_phrase_tags",
    "b_cubed_scores", "best_constant", "best_constant_of", "ceaf_scores", "cluster_measures", "codes", "compare", "confusion_matrix",
    "document_places", "interval_absolute_error", "interval_codes", "interval_coverage", "interval_distances", "interval_measures",
    "losses", "losses_of", "macro_f1", "macro_mean_absolute_error", "mean_absolute_error", "mean_average_precision", "mean_interval_width",
    "measures", "measures_of", "ndcg_at_k", "ordered_labels", "pair_accuracy", "pairwise_scores", "phrase_f1", "phrase_scores", "phrases",
    "precision_at_k", "quadratic_weighted_kappa", "rank_measures", "sentences", "tag_scheme", "tags", "token_measures", "unseen_labels",
]  # fmt: skip
