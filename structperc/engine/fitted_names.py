"""The fitted attributes of bundled problems, for type checkers, which then find misspelt names; those of other plugins: `getattr`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:

    class FittedNames:
        """Base of what has fitted attributes."""

        C_: ClassVar[Any]
        classes_: ClassVar[Any]
        coef_: ClassVar[Any]
        covariance_: ClassVar[Any]
        cumulative_loss_: ClassVar[Any]
        dual_coef_: ClassVar[Any]
        dual_objective_: ClassVar[Any]
        end_scores_: ClassVar[Any]
        errors_: ClassVar[Any]
        feature_names_in_: ClassVar[Any]
        free_thresholds_: ClassVar[Any]
        gamma_: ClassVar[Any]
        gap_: ClassVar[Any]
        gaps_: ClassVar[Any]
        history_: ClassVar[Any]
        intercept_: ClassVar[Any]
        length_scores_: ClassVar[Any]
        log_likelihood_: ClassVar[Any]
        margins_: ClassVar[Any]
        max_lengths_: ClassVar[Any]
        mistakes_: ClassVar[list[int]]
        model_: ClassVar[Any]
        n_features_in_: ClassVar[int]
        n_lifted_: ClassVar[int]
        n_support_: ClassVar[int]
        objective_: ClassVar[Any]
        objectives_: ClassVar[Any]
        online_predictions_: ClassVar[Any]
        pair_scores_: ClassVar[Any]
        parts_: ClassVar[Any]
        pocket_costs_: ClassVar[Any]
        rho_: ClassVar[Any]
        robust_covariance_: ClassVar[Any]
        robust_standard_errors_: ClassVar[Any]
        spread_: ClassVar[float]
        standard_errors_: ClassVar[Any]
        start_scores_: ClassVar[Any]
        status_: ClassVar[str]
        stump_directions_: ClassVar[Any]
        stump_features_: ClassVar[Any]
        stump_thresholds_: ClassVar[Any]
        support_: ClassVar[Any]
        support_vectors_: ClassVar[Any]
        temperature_: ClassVar[float]
        thresholds_: ClassVar[Any]
        transition_scores_: ClassVar[Any]
        votes_: ClassVar[Any]

else:               # they are looked up at run time
    FittedNames = object
