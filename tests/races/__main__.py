"""`make races`: shards in threads under helgrind, which reports accesses to memory that no lock orders."""

import numpy as np
from plain import Engine


def main():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3))
    y = np.digitize(X @ [1.0, 2.0, 3.0], [-1, 1]) + 1
    for problem in ("cusum", "multiclass"):
        Engine(problem, n_shards=4, n_jobs=4, epochs=3).fit(X, y)


if __name__ == "__main__":
    main()
