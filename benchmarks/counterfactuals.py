"""How often, how fast and by how few columns nearest counterfactuals are proved: python benchmarks/counterfactuals.py [patients] [others]

Ranks: five classes of total UPDRS from the voice measures of Parkinson's telemonitoring (Tsanas et al. 2010). The model is `prank` with
update="logistic". Age, sex and day are fixed. Values stay within those of the data, and the rank is to be one lower. Sentences: parts of
speech of UD English EWT from vectors, 8 numbers of a word and of each neighbour. The tag of one token is to go, by its own row or by all,
within ten seconds. Seconds are those of the processor. Matchings: 6 to 6 with 4 numbers a pair. One pair is to go.

With the path of a Python that has dice-ml, the same patients are given to DiCE: python benchmarks/counterfactuals.py 1000 200 PYTHON
"""

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

import structperc
from structperc import Engine
from structperc.counterfactuals import Wanted
from structperc.files.datasets import load_numbers, load_ud_english_ewt
from structperc.solvers import max_matching

FIXED = (0, 1, 2)           # age, sex, day
RIVAL = 50                  # patients that the rival gets
WIDTH = 8                   # numbers of a word
HEAD = ("| what | norm | asked | already | proved nearest | proved none | open | median distance | columns changed, mean | median s | "
        "longest s |")


def patients(n):
    """A trained ranker, its training rows, and others."""
    table = load_numbers("parkinsons")
    X = table.without("subject#", "motor_UPDRS", "total_UPDRS")
    score = table.column("total_UPDRS")
    y = np.digitize(score, np.quantile(score, [0.2, 0.4, 0.6, 0.8])) + 1
    order = np.random.default_rng(0).permutation(len(X))
    train, rest = order[n:], order[:n]
    engine = Engine("prank", update="logistic", step_size="inverse_sqrt(0.1)", epochs=20, average=True, scale=True, shuffle=True,
                    random_state=0)
    return engine.fit(X[train], y[train]), X, X[rest]


def vectors(sentences):
    """Vectors of words by the words that stand beside them, and 0 for rare ones."""
    counts = Counter(word for words in sentences for word in words)
    known = {word: i for i, word in enumerate(word for word, n in counts.items() if n >= 5)}
    beside = Counter((known[a], known[b]) for words in sentences for a, b in zip(words, words[1:], strict=False)
                     if a in known and b in known)
    places, times = np.array(list(beside)), np.log1p(np.array(list(beside.values()), dtype=float))
    table = sparse.csr_array((times, places.T), shape=(len(known), len(known)))
    left, strength, right = svds(sparse.hstack([table, table.T]).tocsr(), k=WIDTH, v0=np.ones(len(known)))
    left *= np.sqrt(strength)
    return lambda word: left[known[word]] if word in known else np.zeros(WIDTH)


def sentences(n):
    """A trained tagger over vectors, and sentences that it has not seen."""
    corpus = load_ud_english_ewt()
    train, new = corpus.train, corpus.test
    spelled = [[word.lower() for word, _ in tokens] for tokens in train]
    vector = vectors(spelled)

    def rows(words):
        here = np.array([vector(word) for word in words])
        nothing = np.zeros((1, WIDTH))
        return np.hstack([np.vstack([nothing, here[:-1]]), here, np.vstack([here[1:], nothing])])

    chosen = [i for i in np.random.default_rng(0).permutation(len(train)) if len(train[i]) > 4][:3000]
    engine = Engine("sequence", epochs=5, average=True, scale=False, shuffle=True, random_state=0)
    engine.fit([rows(spelled[i]) for i in chosen], [[tag for _, tag in train[i]] for i in chosen])
    kept = [tokens for tokens in new if 5 <= len(tokens) <= 25]
    return engine, [rows([word.lower() for word, _ in tokens]) for tokens in kept[:n]]


def matchings(n):
    random, taste = np.random.default_rng(0), np.array([2.0, -1.0, 0.5, 1.0])
    X = [random.normal(size=(6, 6, 4)) for _ in range(200 + n)]
    y = [list(enumerate(max_matching(x @ taste + random.normal(size=(6, 6)), True).tolist())) for x in X]
    engine = Engine("matching", perfect=True, epochs=5, average=True, scale=False, shuffle=True, random_state=0)
    pairs = np.indices((6, 6)).reshape(2, -1).T
    return engine.fit(X[:200], y[:200]), [np.column_stack([pairs, x.reshape(36, -1)]) for x in X[200:]]


def measured(name, norm, ask, examples):
    """A row of the table, and what was found."""
    found, seconds = [], []
    for x in examples:
        begun = time.process_time()
        found.append(ask(x))
        seconds.append(time.process_time() - begun)
    status = Counter(one.status for one in found)
    known = [one for one in found if one.changes]
    shares = [f"{status[word] / len(found):.1%}" for word in ("already", "nearest", "none", "open")]
    cells = [name, norm, len(found), *shares, f"{np.median([one.distance for one in known]):.2f}",
             f"{np.mean([len(one.changes) for one in known]):.1f}", f"{np.median(seconds):.3f}", f"{max(seconds):.2f}"]
    print("|", " | ".join(map(str, cells)), "|", flush=True)
    return found, seconds


def rival(python, engine, X, new, found, seconds):
    """The same patients by DiCE, in a Python of its own."""
    task = {"coef": engine.coef_.tolist(), "thresholds": engine.thresholds_.tolist(), "X": X[::5].tolist(), "new": new[:RIVAL].tolist(),
            "wanted": [int(lower(k)) for k in engine.predict(new[:RIVAL])], "fixed": FIXED, "low": X.min(axis=0).tolist(),
            "high": X.max(axis=0).tolist(), "spread": X.std(axis=0).tolist()}
    require_identity(engine, X)
    said = subprocess.run([python, Path(__file__).with_name("counterfactual_rival.py")], input=json.dumps(task), text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    print("\n| patients beside DiCE | valid | median distance | times the least distance, median | columns changed, mean | median s |")
    print("|---|---|---|---|---|---|")
    ours = [one for one in found[:RIVAL]]
    least = np.array([one.distance for one in ours])
    rows = {"structperc, l1": (least, [len(one.changes) for one in ours], seconds[:RIVAL])}
    for line in said.splitlines():
        if line.startswith("{"):
            given = json.loads(line)
            rows[given["name"]] = tuple(np.array(given[key], dtype=float) for key in ("distance", "changed", "seconds"))
    for name, (distance, changed, spent) in rows.items():
        valid = np.isfinite(distance)
        both = valid & np.isfinite(least)
        print(f"| {name} | {valid.mean():.0%} | {np.median(distance[valid]):.2f} | {np.median(distance[both] / least[both]):.2f} | "
              f"{np.mean(np.array(changed)[valid]):.1f} | {np.median(spent):.3f} |")


def require_identity(engine, X):
    """The other Python computes scores from `coef_` and `thresholds_`: they must be the model's, in the units of X."""
    if not np.allclose((X @ engine.coef_)[:, None] - engine.thresholds_, engine.atom_scores(X)):
        raise AssertionError("X @ coef_ - thresholds_ are not the model's scores")


def lower(rank):
    """One rank lower; of the lowest, one higher."""
    return rank - 1 if rank > 1 else 2


def main(n_patients=1000, n_others=200, python=None):
    print(HEAD)
    print("|---" * 11 + "|")
    engine, X, new = patients(n_patients)
    bounds = {j: (low, high) for j, (low, high) in enumerate(zip(X.min(axis=0), X.max(axis=0), strict=True))}
    for norm in ("l1", "l2"):
        found, seconds = measured("patients, one rank lower", norm, lambda x, norm=norm: structperc.counterfactual(
            engine, x, int(lower(engine.predict([x])[0])), fixed=FIXED, bounds=bounds, norm=norm), new)
        if norm == "l1":
            beside = found, seconds
    measured("patients, at most rank 2", "l1", lambda x: structperc.counterfactual(
        engine, x, Wanted(at_most=2), fixed=FIXED, bounds=bounds), new)
    random = np.random.default_rng(0)
    tagger, rows = sentences(n_others)

    def other_tag(x, own):
        at = int(random.integers(len(x)))
        tag = tagger.predict([x])[0][at]
        return structperc.counterfactual(tagger, x, Wanted(not_chosen=f"token {at}: {tag}"), rows=[at] if own else None,
                                         time_limit=10.0)

    measured("sentences, a tag goes, by its own row", "l1", lambda x: other_tag(x, True), rows)
    measured("sentences, a tag goes, by all rows", "l1", lambda x: other_tag(x, False), rows)
    matcher, pairs = matchings(n_others)

    def other_pair(x, norm):
        left, right = sorted(matched(matcher, x))[int(random.integers(6))]
        return structperc.counterfactual(matcher, x, Wanted(not_chosen=f"{left:g} with {right:g}"), norm=norm)

    for norm in ("l1", "l2"):
        measured("matchings, a pair goes", norm, lambda x, norm=norm: other_pair(x, norm), pairs)
    if python is not None:
        rival(python, engine, X, new, *beside)


def matched(matcher, x):
    """The pairs of a predicted matching, in any form."""
    answer = matcher.predict([x])[0]
    return [tuple(x[k, :2]) for k in answer]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:4])
