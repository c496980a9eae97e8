"""Models of CRFsuite as engines.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

import attrs
import numpy as np

from structperc.basics.errors import DataError, ModelFormatError, PluginError
from structperc.core.rows import Rows
from structperc.engine.engine import Engine
from structperc.files.crfsuite import read_model
from structperc.fitting.assembly import ask, install_model, options_alone
from structperc.fitting.options import generator

__all__ = ["read_crfsuite"]

AT_ONCE = 1 << 20           # weights that are taken over together


def read_crfsuite(path, **options) -> Engine:
    """Read a CRFsuite model file as an engine of the problem "sequence", which predicts the same tags.

    Tokens are dicts or lists of attributes, as in python-crfsuite and sklearn-crfsuite. Unknown attributes are ignored, also in
    `partial_fit`, which trains the model further; `fit` begins anew. Probabilities are those of CRFsuite if its training made some
    (lbfgs, l2sgd). Ties: the first label in the file's order. Cost: about 2 us for each attribute.
    Returns `Engine`. `classes_` are the labels in the file's order.
    Raises `ModelFormatError` for files that are no models of chains, damaged ones, and names that are not UTF-8 text.
    Raises `PluginError` if an engine with these options cannot use the weights, for example one with a kernel.
    Raises `OSError` if the file cannot be read.

    Parameters
    ----------
    path : path
        A file that `crfsuite learn -m`, `pycrfsuite.Trainer.train` or `sklearn_crfsuite.CRF(model_filename=...)` wrote.
    **options
        Options of the engine for later training, such as `update` or `random_state`. `classes` and `fit_intercept` are the file's.

    References
    ----------
    N. Okazaki: CRFsuite: a fast implementation of conditional random fields (CRFs). http://www.chokkan.org/software/crfsuite, 2007.

    Examples
    --------
    >>> from structperc.crfsuite import read_crfsuite
    >>> tagger = read_crfsuite("chunks.crfsuite")                                       # doctest: +SKIP
    >>> tagger.predict([[{"word": "the"}, {"word": "dog"}]]).tolist()                   # doctest: +SKIP
    [['B-NP', 'I-NP']]
    """
    crf = read_model(path)
    engine = Engine("sequence", fit_intercept=False, classes=crf.labels, **options)
    context = options_alone(engine, generator(engine.random_state))
    reader = ask(engine, "reader", context)
    try:
        reader.learn([[[name] for name in crf.attributes]])
        context = attrs.evolve(context, n_features=len(crf.attributes), sparse=True)
        install_model(engine, context, engine.classes, {}, {"status": "max_epochs"}, reader)
    except DataError as error:
        raise ModelFormatError(f"{str(path)!r} makes no tagger: {error}") from None
    take_over(engine.model, crf)
    return engine


def take_over(model, crf) -> None:
    """Steps from zero weights to those of the file, by sentences of which each token has one attribute."""
    from scipy.sparse import csr_array

    L, n = len(crf.labels), len(crf.attributes)
    states = crf.states[np.argsort(crf.states["source"], kind="stable")]
    pairs = np.zeros((L, L))
    np.add.at(pairs, (crf.transitions["source"], crf.transitions["destination"]), crf.transitions["weight"])
    for first in range(0, n, max(1, AT_ONCE // L)):
        last = min(first + max(1, AT_ONCE // L), n)
        size = last - first
        units = csr_array((np.ones(size), np.arange(first, last, dtype=np.int32), np.arange(size + 1)), shape=(size, n))
        rows = model.prepared(Rows(units, np.array([0, size])))
        own = states[slice(*np.searchsorted(states["source"], [first, last]))]
        tokens = np.zeros((size, L))
        np.add.at(tokens, (own["source"] - first, own["destination"]), own["weight"])
        x = model.example(rows, 0)
        step = np.zeros(x.n_atoms)
        step[:tokens.size] = tokens.ravel()
        if first == 0:
            step[tokens.size:tokens.size + L * L] = pairs.ravel()
        model.parts.weights.update(x, step)
        reached, between, *_ = model.parts.argmax.chain_of(model.atom_scores(rows)[0], x)
        if not (np.array_equal(reached, tokens) and np.array_equal(between[np.isfinite(between)], pairs[np.isfinite(between)])):
            raise PluginError(f"{type(model.parts.weights).__name__} cannot take over the weights of a file; leave out the "
                              f"options that choose this store of weights.")
