# May import basics.
"""Solvers without an engine: the best structures of scores, the k best, marginals, proofs of optimality, and optimisers.

Provisional: it may change in any minor version.

The first use of a name imports its module: `from structperc.solvers import max_arborescence` loads no solver of integer programs.

Examples
--------
>>> from structperc.solvers import max_matching
>>> max_matching([[5, 4], [4, 1]], perfect=True).tolist()
[1, 0]
"""

from structperc.later import names_of

MODULES = {
    "arborescences": ("arborescence_certificate", "arborescence_marginals", "k_best_arborescences", "max_arborescence"),
    "clusters": ("cluster_pairs", "max_clusters"),
    "integer_programs": ("ILP", "solve_ilp"),
    "intervals": ("best_intervals", "interval_marginals", "k_best_intervals"),
    "latent_trees": ("max_latent_trees",),
    "matchings": ("k_best_matchings", "match_pairs", "matching_prices", "max_matching"),
    "minimum_cuts": ("CutGraph", "Forest", "min_cut"),
    "pairwise_models": ("PairwiseModel", "best_labelling", "forest_marginals", "grid_edges"),
    "paths": ("best_path", "cheapest_path", "grid_graph", "k_best_paths", "path_marginals"),
    "projective": ("projective_marginals", "projective_tree"),
    "ranked_projective": ("k_best_projective",),
    "segments": ("best_segments", "k_best_segments", "segment_marginals", "segment_max_marginals", "segment_scores"),
    "sparse_arborescences": ("max_sparse_arborescence",),
}
__all__, __getattr__, __dir__ = names_of(__name__, MODULES)
