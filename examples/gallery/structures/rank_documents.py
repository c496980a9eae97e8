"""
Which of these belong to my query, best first?
==============================================

A query is a sentence of Python's manual, the documents are thirty paragraphs of it (learning to rank). A paragraph is relevant if it
is on the same topic. A search engine has many signs that a document fits: shared words, rare shared words, shared meaning, length. A
ranker learns the weight of each sign from queries with known relevance. :class:`~structperc.estimators.LatentRanker` learns from the
set of documents to show, :class:`~structperc.estimators.RankingSVM` from pairs of documents. You rank candidates and products in the
same way: a row of signs for each pair of query and document, and the query that it belongs to.
"""

from pydoc_data.topics import topics

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler, normalize

from structperc.estimators import LatentRanker, RankingSVM
from structperc.metrics import mean_average_precision, ndcg_at_k, precision_at_k

texts, about, random = [], [], np.random.default_rng(0)
for number, topic in enumerate(topics.values()):
    for part in topic.split("\n\n"):
        if part[:1].isalpha() and len(part.split()) >= 15:
            texts.append(" ".join(part.split()))
            about.append(number)
about = np.array(about)

# %%
# Signs of a pair: five similarities of query and document, and the length of the document. Queries are first sentences of paragraphs.

asked = [text.split(". ")[0] for text in texts]
signs = {}
for name, options in {"words": {}, "words but common ones": {"stop_words": "english"}, "pairs of words": {"ngram_range": (2, 2)},
                      "bits of words": {"analyzer": "char_wb", "ngram_range": (3, 5)}}.items():
    counted = TfidfVectorizer(sublinear_tf=True, **options).fit(texts)
    signs[name] = (counted.transform(asked) @ counted.transform(texts).T).toarray()
    if name == "words":
        meaning = TruncatedSVD(50, random_state=0).fit(counted.transform(texts))
        of_queries, of_texts = (meaning.transform(counted.transform(part)) for part in (asked, texts))
        signs["meaning"] = normalize(of_queries) @ normalize(of_texts).T
signs["length"] = np.tile(np.log([len(text) for text in texts]), (len(texts), 1))
table = np.dstack(list(signs.values()))


def queries(n, own):
    """Signs of n queries and thirty documents each, relevance, the queries' numbers."""
    chosen = random.choice(np.flatnonzero(own), n, replace=False)
    X, y = [], []
    for query in chosen:
        same, other = np.flatnonzero(about == about[query]), np.flatnonzero((about != about[query]) & own)
        same = same[same != query]
        shown = np.append(random.permutation(same)[:5], random.choice(other, 30 - min(5, len(same)), replace=False))
        shown = random.permutation(shown)
        X.append(table[query, shown])
        y.append(about[shown] == about[query])
    return np.concatenate(X), np.concatenate(y).astype(int), np.repeat(np.arange(n), 30)


# %%
# Half of the topics are for training, the others are new. Nothing is tuned.

own = np.isin(about, random.permutation(about.max() + 1)[:about.max() // 2])
(X, y, groups), (X_test, y_test, groups_test) = queries(200, own), queries(200, ~own)
scaler = StandardScaler().fit(X)
Z, Z_test = scaler.transform(X), scaler.transform(X_test)
ranker = RankingSVM().fit(Z, y, groups=groups)
scores = {
    **{f"only {name}": X_test[:, column] for column, name in enumerate(signs) if name != "length"},
    "logistic regression": LogisticRegression().fit(Z, y).decision_function(Z_test),
    "LatentRanker": LatentRanker(random_state=0).fit(Z, y, groups=groups).predict(Z_test),
    "RankingSVM": ranker.predict(Z_test),
}
found = {name: (precision_at_k(y_test, given, k=3, groups=groups_test), ndcg_at_k(y_test, given, groups=groups_test),
                mean_average_precision(y_test, given, groups=groups_test)) for name, given in scores.items()}
for name, (precision, ndcg, average) in found.items():
    print(f"{name:28} precision@3 {precision:.3f}   NDCG@10 {ndcg:.3f}   average precision {average:.3f}")

# %%
# Together the signs are a little better than the best single one: most of them have the same information. The weights show which ones
# matter. A document that shares only common words is not relevant.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
for row, ((*_, average), colour) in enumerate(zip(found.values(), ["0.5"] * 5 + ["#D55E00", "#56B4E9", "#0072B2"], strict=True)):
    left.plot(average, row, "o", color=colour, markersize=9)
left.set(yticks=range(len(found)), yticklabels=list(found), xlabel="average precision, new topics (right is better)")
left.grid(axis="x", color="0.9")
left.invert_yaxis()
right.barh(list(signs), ranker.coef_.ravel(), color="#0072B2")
right.axvline(0, color="black", linewidth=0.8)
right.set(xlabel="weight of a sign, in its standard deviations", title="What RankingSVM has learned")
right.invert_yaxis()
plt.show()

# %%
# **What to try next.** For non-linear relevance use landmarks, leaves of trees (:class:`~structperc.estimators.LeafFeatures`) or a
# kernel. :doc:`/docs/guide/rankings` has grades such as 0, 1, 2 and losses like ``"ndcg"``.
