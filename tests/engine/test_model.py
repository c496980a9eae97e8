"""What a model is asked reads X once, and builds the averaged weights once."""

import numpy as np
import pytest
from plain import Engine

from structperc import metrics
from structperc.callbacks import HeldOutLoss
from structperc.components import PrimalWeights, Reader


class CountingReader(Reader):
    """Counts how often data are read."""

    seen = 0

    def read(self, X, offsets=None):
        type(self).seen += 1
        return super().read(X, offsets)


class CountingWeights(PrimalWeights):
    """Counts how often a mean is asked for."""

    means = 0

    def averaged(self):
        type(self).means += 1
        return super().averaged()


def data(n=40):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 3))
    return X, np.digitize(X[:, 0], [-0.5, 0.5]) + 1


@pytest.fixture
def counted():
    CountingReader.seen = CountingWeights.means = 0
    X, y = data()
    engine = Engine("cusum", epochs=2, plugins=[CountingReader(), CountingWeights(average=True)]).fit(X, y)
    CountingReader.seen = CountingWeights.means = 0
    return engine, X, y


@pytest.mark.parametrize("ask", [
    lambda e, X, y: e.predict(X), lambda e, X, y: e.predict(X, k=2), lambda e, X, y: e.margins(X), lambda e, X, y: e.atom_scores(X),
    lambda e, X, y: e.predict_marginals(X), lambda e, X, y: e.explain(X[0]), lambda e, X, y: metrics.losses(e, X, y),
    lambda e, X, y: metrics.measures(e, X, y), lambda e, X, y: metrics.measures(e, X, y, groups=np.arange(40)),
    lambda e, X, y: HeldOutLoss(X, y).structperc_epoch_end(e, Record()),
])
def test_x_is_read_once(counted, ask):
    engine, X, y = counted
    ask(engine, X, y)
    assert CountingReader.seen == 1


class Record:
    epoch = 1


def test_one_mean_predicts(counted):
    engine, X, _ = counted
    engine.predict(X)
    assert CountingWeights.means == 1


def test_a_model_answers_for_rows_that_it_has_read(counted):
    engine, X, y = counted
    rows = engine.read(X)
    model = engine.model_
    assert np.array_equal(model.predict(rows), engine.predict(X)) and np.array_equal(model.margins(rows), engine.margins(X))
    assert np.array_equal(model.atom_scores(rows), engine.atom_scores(X))
    found = metrics.measures_of(model, rows, y, model.predict(rows))
    assert found == metrics.measures(engine, X, y)
    assert np.array_equal(metrics.losses_of(model, rows, y, model.predict(rows)), metrics.losses(engine, X, y))
