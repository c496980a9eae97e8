"""Test cases from scikit-learn's checks: all checks for the first estimator of a class, `OF_COMPUTATION` for further ones."""

import pytest
import sklearn
from sklearn.utils.estimator_checks import estimator_checks_generator

BEFORE_1_8 = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8)
needs_1_8 = pytest.mark.skipif(BEFORE_1_8, reason="scikit-learn before 1.8 lacks it: pipelines hand groups to no score")
APART = "check_array_api_input"     # needs an environment variable that is read when scipy is imported
OF_COMPUTATION = (
    "check_classifiers_train", "check_classifiers_regression_target", "check_classifiers_one_label_sample_weights", "check_dict_unchanged",
    "check_estimator_sparse_matrix", "check_estimators_pickle", "check_fit_check_is_fitted", "check_fit_idempotent",
    "check_methods_sample_order_invariance", "check_methods_subset_invariance", "check_readonly_memmap_input",
    "check_sample_weight_equivalence_on_dense_data",
)  # fmt: skip


def name_of(check):
    while hasattr(check, "func"):
        check = check.func
    return check.__name__


def checks_of(estimator):
    """(name, estimator, check) of each check that scikit-learn generates for an estimator."""
    return [(name_of(check), given, check) for given, check in estimator_checks_generator(estimator)]


def scikit_learns_checks(*estimators, failing=None):
    """Yields test cases (estimator, check). If a class came before, only the checks in `OF_COMPUTATION` are used.

    `failing` maps names of checks that must fail to reasons. It may also be a function that returns this dict for an estimator.
    If a reason is a list, the check may pass as well.
    """
    seen = set()
    for estimator in estimators:
        reasons = (failing(estimator) if callable(failing) else failing) or {}
        for name, given, check in checks_of(estimator):
            if name == APART or type(estimator) in seen and name not in OF_COMPUTATION:
                continue
            reason = reasons.get(name)
            marks = [pytest.mark.xfail(reason=str(reason), strict=isinstance(reason, str))] if reason else []
            yield pytest.param(given, check, marks=marks, id=f"{estimator!r}-{name}")
        seen.add(type(estimator))
