"""Likelihood ratios of a model of ordered labels: refits without some columns."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.special import chdtrc

from structperc.engine.engine import Engine
from structperc.errors import DataWarning
from structperc.inference.tables import Likelihood, Term

CLOSE = 1e-4            # of log-likelihoods, relative


def likelihood_of(engine):
    """The log-likelihood of a trained engine at its maximum; None: the model has none, or a penalty."""
    return None if engine.plugin_options.get("penalty", 0) else getattr(engine, "log_likelihood_", None)


def ratio_tests(engine, X, y, weights, tested, dependence, levels):
    """`p_ratio`, `terms` and `fit` of `Effects`: p values by refits without each tested column, tests of text columns, the likelihood."""
    log_likelihood, columns = float(engine.log_likelihood_), dependence.columns

    def without(some):
        others = columns[~np.isin(columns, some)]
        return fitted(engine, X[:, others] if len(others) else np.zeros((X.shape[0], 1)), y, weights)

    def p_of(statistic, degrees):
        return float(chdtrc(degrees, max(statistic, 0.0)))

    check_training_data(log_likelihood, float(without([]).log_likelihood_))
    p_ratio, terms = np.full(X.shape[1], np.nan), []
    for j in tested.tolist():
        p_ratio[j] = p_of(2 * (log_likelihood - float(without([j]).log_likelihood_)), 1)
    for group in levels:
        degrees = int(np.isin(columns, group.columns).sum())
        if degrees > 1:
            ratio = 2 * (log_likelihood - float(without(group.columns).log_likelihood_))
            terms.append(Term(group.name, ratio, degrees, p_of(ratio, degrees)))
    null = without(columns)
    n_thresholds = len(np.unique(null.thresholds_))
    n_examples = float(X.shape[0] if weights is None else weights.sum())
    fit = Likelihood(log_likelihood, float(null.log_likelihood_), len(columns) + n_thresholds, n_thresholds, n_examples)
    return {"p_ratio": p_ratio, "terms": terms, "fit": fit}


def check_training_data(own, of_data) -> None:
    """Warns if the log-likelihood of a model is not the largest one of these data."""
    if abs(own - of_data) > CLOSE * (1 + abs(of_data)):
        warnings.warn(f"the model has the log-likelihood {own:.3f}, and the largest one of X, y and sample_weight is {of_data:.3f}. So "
                      f"they are not what the model was trained with, and intervals and p values mean nothing. Pass these, also the "
                      f"weights.", DataWarning, stacklevel=4)


def fitted(engine, X, y, weights):
    """An engine with the likelihood of another one, trained on some columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                 # the fit of the model has given them
        return Engine(engine.problem, trainer=engine.trainer, scale=True, classes=engine.classes_).fit(X, y, sample_weight=weights)
