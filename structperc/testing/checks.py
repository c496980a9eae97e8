"""All checks in their order. Each returns None, or why it does not apply, and raises AssertionError with what it found."""

from __future__ import annotations

from structperc.fitting import plugins as registry
from structperc.testing.checks_of_parts import (
    agreeing_is_counting_the_same,
    answers_are_structures,
    argmax_maximises,
    augmented_argmax_maximises,
    cells_are_read_back,
    constraints_hold,
    decoding_is_undone,
    features_add_up,
    further_answers_agree,
    loss_is_zero_at_gold,
    losses_of_scores_agree,
)
from structperc.testing.checks_of_training import (
    average_is_the_mean,
    compiled_equals_python,
    dense_equals_csr,
    export_predicts_the_same,
    fits_are_alike,
    inputs_are_untouched,
    interrupting_keeps_what_was_learned,
    linear_kernel_equals_weights,
    predicting_changes_nothing,
    predictions_follow_from_scores,
    primal_equals_dual,
    sample_weights_act,
    saving_keeps_everything,
    separable_set_is_learned,
    units_are_the_maps_business,
)
from structperc.testing.comparing import require


def plugin_is_used(case):
    """At least one hook of the plugin returns a part. Else the other checks would test other plugins' parts."""
    hooks = {hook: method for hook, method, _ in case.checked.implementations.values() if hook in registry.COMPONENTS}
    if not hooks:
        return f"{case.checked.origin} is an observer, which has no part"
    engine = case.asked
    used = [hook for hook, method in hooks.items() if registry.wraps(method) or engine.answered.get(hook) is not None
            and engine.answered[hook].name == case.checked.name]
    asked = ", ".join(f"{name}={getattr(engine, name)!r}" for name in ("update", "loss", "trainer"))
    require(used, f"nothing of it was used: {', '.join(hooks)} returned None, or a later plugin was asked instead, with {asked}. Name its "
                  f"part: check_problem(..., update=...), or check_options = {{...}} in the plugin. The parts in use are {case.described}.")
    return None


CHECKS = (
    plugin_is_used, answers_are_structures, fits_are_alike, units_are_the_maps_business, argmax_maximises, features_add_up,
    constraints_hold, agreeing_is_counting_the_same, decoding_is_undone, cells_are_read_back, loss_is_zero_at_gold,
    augmented_argmax_maximises, further_answers_agree, losses_of_scores_agree, inputs_are_untouched, predicting_changes_nothing,
    predictions_follow_from_scores, separable_set_is_learned, average_is_the_mean, sample_weights_act, dense_equals_csr, primal_equals_dual,
    linear_kernel_equals_weights, compiled_equals_python, saving_keeps_everything, export_predicts_the_same,
    interrupting_keeps_what_was_learned,
)  # fmt: skip

__all__ = ["CHECKS", *(check.__name__ for check in CHECKS)]
