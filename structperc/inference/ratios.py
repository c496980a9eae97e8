"""Likelihood ratios of a model of ordered labels: refits without some columns."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.stats import chi2

from structperc.engine.engine import Engine
from structperc.inference.tables import Likelihood, Term


def likelihood_of(engine):
    """The log-likelihood at its maximum; None: the model has none, or a penalty.

    Parameters
    ----------
    engine : Engine
        Trained.

    Returns
    -------
    float or None

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.inference.ratios import likelihood_of
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [1.5]], [1, 2, 1, 2, 2]
    >>> round(float(likelihood_of(Engine("prank", trainer="cumulative-logit").fit(X, y))), 2), likelihood_of(Engine("prank").fit(X, y))
    (-2.92, None)
    """
    return None if engine.plugin_options.get("penalty", 0) else getattr(engine, "log_likelihood_", None)


def ratio_tests(engine, X, y, weights, tested, dependence, levels):
    """p values by refits without each column, a test of each text column, and the likelihood of the model.

    Parameters
    ----------
    engine : Engine
        Trained, with a likelihood.
    X : array or CSR array of shape (n_examples, n_features)
        The columns that the model has.
    y : sequence
    weights : array of shape (n_examples,), or None
    tested : int array
        The columns that get a p value.
    dependence : Dependence
        Of the columns of X.
    levels : list of OneHot

    Returns
    -------
    dict
        `p_ratio`, `terms` and `fit` of `Effects`.
    """
    log_likelihood, columns = float(engine.log_likelihood_), dependence.columns

    def without(some):
        others = columns[~np.isin(columns, some)]
        return fitted(engine, X[:, others] if len(others) else np.zeros((X.shape[0], 1)), y, weights)

    def p_of(statistic, degrees):
        return float(chi2.sf(max(statistic, 0.0), degrees))

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


def fitted(engine, X, y, weights):
    """An engine with the likelihood of another one, trained on some columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                 # the fit of the model has given them
        return Engine(engine.problem, trainer=engine.trainer, scale=True, classes=engine.classes_).fit(X, y, sample_weight=weights)
