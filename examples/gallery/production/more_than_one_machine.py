"""
Can I train on more than one machine, and what does it cost?
============================================================

Online training visits one example after the other. So several workers must train separately and mix their weights after each epoch
(distributed training). :func:`structperc.distributed.fit` does this on Dask's workers: each has a part of the data, and only weights
travel. Does the result depend on the workers? And what does training in parts cost? This page starts two workers on this machine, and
shows both on the digits of scikit-learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from structperc import Engine
from structperc.distributed import fit

X, y = load_digits(return_X_y=True)
X, order = X[:, X.std(axis=0) > 2] / 16, np.random.default_rng(0).permutation(len(y))
X_train, y_train, X_test, y_test = X[order[:1200]], y[order[:1200]], X[order[1200:]], y[order[1200:]]


def learned(shards, epochs, client=None):
    """Twelve parts of a hundred rows, divided among the shards."""
    parts = [(X_train[i:i + 100], y_train[i:i + 100]) for i in range(0, 1200, 100)]
    engine = Engine("multiclass", n_shards=shards, epochs=epochs, average=True, shuffle=True, random_state=0, classes=range(10))
    if shards == 1:
        return engine.fit(X_train, y_train)
    fit(engine, parts, client=client)
    return engine


# %%
# You get the same bits with two workers as without any. Only seed, parts and shards decide them.

with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster, Client(cluster) as client:
    on_workers = learned(2, 5, client)
here = learned(2, 5)
print(f"largest difference of a weight: {np.abs(on_workers.coef_ - here.coef_).max()}")

# %%
# More shards learn less in an epoch. A few more epochs make up for it, and each of them takes only a shard's share of the time.

epochs, shards = [1, 2, 3, 5, 8, 12], [1, 2, 4, 12]
errors = {n: [np.mean(learned(n, e).predict(X_test) != y_test) for e in epochs] for n in shards}
logistic = np.mean(LogisticRegression(max_iter=2000).fit(X_train, y_train).predict(X_test) != y_test)
for n, found in errors.items():
    print(f"{n:2} shards, wrong digits after {epochs} epochs:", *(f"{error:.1%}" for error in found))
print(f"logistic regression: {logistic:.1%}")

# %%
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for (n, found), colour, look in zip(errors.items(), ("black", "#0072B2", "#E69F00", "#D55E00"), ("o-", "s--", "^-.", "D:"), strict=True):
    ax.plot(epochs, 100 * np.array(found), look, color=colour, label=f"{n} shard{'s' * (n > 1)}")
ax.axhline(100 * logistic, color="0.6", linewidth=1, label="logistic regression")
ax.set(xlabel="epochs", ylabel="wrong digits, in percent of new ones", xticks=epochs, ylim=(0, None))
ax.legend()
plt.show()

# %%
# **What to try next.** ``Client("tcp://scheduler:8786")`` reaches other machines, files are read where workers are, and a
# checkpoint goes on after a crash: :doc:`/docs/more-than-one-machine`. On one machine ``Engine(..., n_shards=4)`` uses threads,
# without Dask.
