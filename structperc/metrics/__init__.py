# May import basics, core, pictures, reading.
"""Measures of predictions: of ranks, classes, labels of tokens and rankings, and those of an engine's problem.

Stable: names, parameters and defaults change only by the rules of versions.
"""

from structperc.later import names_of

MODULES = {
    "clusters": ("Agreement", "adjusted_rand_index", "b_cubed_scores", "ceaf_scores", "cluster_measures", "pairwise_scores"),
    "comparisons": ("Comparison", "Measured", "compare"),
    "constants": ("Constant", "best_constant", "best_constant_of"),
    "engines": ("losses", "losses_of", "measures", "measures_of"),
    "intervals": (
        "interval_absolute_error", "interval_codes", "interval_coverage", "interval_distances", "interval_measures",
        "mean_interval_width",
    ),
    "labels": (
        "accuracy", "accuracy_within_one", "codes", "confusion_matrix", "macro_f1", "macro_mean_absolute_error", "mean_absolute_error",
        "ordered_labels", "quadratic_weighted_kappa", "rank_measures",
    ),
    "tagged_phrases": ("are_phrase_tags", "phrase_f1", "phrase_scores", "phrases", "tag_scheme", "tags"),
    "ranking": ("document_places", "mean_average_precision", "ndcg_at_k", "pair_accuracy", "precision_at_k"),
    "tokens": ("sentences", "token_measures", "unseen_labels"),
}
__all__, __getattr__, __dir__ = names_of(__name__, MODULES)
