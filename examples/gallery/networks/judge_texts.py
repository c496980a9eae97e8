"""
Can a small head on frozen embeddings judge my texts?
=====================================================

You train a small model on top of fixed embeddings (reward model, preference learning). Judges either give marks from 1 to 5, or compare
two texts, from "a is much better" to the reverse. Both are ordered labels. A head for marks is a ranker on embeddings. A head for
comparisons is a ranker on differences of embeddings, and its direction scores single texts. The texts are 550 paragraphs of Python's
manual. The judge is synthetic: a readability formula (Flesch) with slips.
"""

import re
from pydoc_data.topics import topics

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structperc.estimators import PRank

paragraphs = [" ".join(part.split()) for topic in topics.values() for part in topic.split("\n\n") if part[:1].isalpha()]
texts = sorted({part for part in paragraphs if 12 <= len(part.split()) <= 150})
random = np.random.default_rng(0)
texts = [texts[i] for i in random.permutation(len(texts))[:550]]


def readability(text):
    """Flesch's formula: short sentences and short words are easy to read."""
    words = re.findall(r"[a-z]+", text.lower())
    syllables = sum(max(1, len(re.findall(r"[aeiouy]+", word))) for word in words)
    return 206.8 - 1.015 * len(words) / max(1, len(re.findall(r"[.?!:](?=\s|$)", text))) - 84.6 * syllables / len(words)


quality = np.array([readability(text) for text in texts])
quality = (quality - quality.mean()) / quality.std()
embedding = make_pipeline(TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 3), sublinear_tf=True), TruncatedSVD(40, random_state=0))
E = StandardScaler().fit_transform(embedding.fit_transform(texts))

# %%
# Ten judges give marks and comparisons, each with slips. 400 texts may be judged, 150 are new. How well does each head order the
# new ones? A regression on marks is a rival, and so is a head that gets only "better" or "worse".

sizes, found = [50, 100, 200, 400, 800], {}
for judge in range(10):
    random = np.random.default_rng(judge)
    judged = random.permutation(400)
    marks = np.digitize(quality[judged] + 0.4 * random.normal(size=400), [-0.85, -0.25, 0.25, 0.85]) + 1
    first, second = random.integers(0, 400, (2, 800))
    gap = quality[first] - quality[second] + 0.4 * random.normal(size=800)
    grades = np.digitize(gap, [-1.2, -0.3, 0.3, 1.2])           # much worse, slightly worse, about equal, slightly better, much better
    for k, n in enumerate(sizes):
        heads = {"pairs in five grades, PRank": PRank(random_state=0).fit((E[first] - E[second])[:n], grades[:n]),
                 "pairs, better or worse, PRank": PRank(random_state=0).fit((E[first] - E[second])[:n], gap[:n] > 0)}
        if n <= 400:
            heads |= {"marks, PRank": PRank(random_state=0).fit(E[judged[:n]], marks[:n]),
                      "marks, ridge regression": RidgeCV(np.logspace(-1, 4, 11)).fit(E[judged[:n]], marks[:n])}
        for name, head in heads.items():
            agreement = spearmanr(E[400:] @ np.ravel(head.coef_), quality[400:])[0]
            found.setdefault(name, np.full((len(sizes), 10), np.nan))[k, judge] = agreement
found = {name: agreement.mean(axis=1) for name, agreement in found.items()}
for name, agreement in found.items():
    print(f"{name:30}", *(f"{n} judgements: {value:.3f}" for n, value in zip(sizes, agreement, strict=True)), sep="   ")

# %%
# "Slightly" and "much" are worth asking for: a comparison in five grades has more information than one in two. Marks cost no more
# here, because the synthetic judge uses the scale evenly; people often do not.

figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
looks = zip(found.items(), ("#0072B2", "#D55E00", "#009E73", "#CC79A7"), ("o-", "s--", "^-", "v:"), strict=True)
for (name, agreement), colour, look in looks:
    ax.plot(sizes, agreement, look, color=colour, label=name)
ax.set(xscale="log", xticks=sizes, xticklabels=sizes, ylim=(0, 1), xlabel="judgements", ylabel="agreement with the true order (Spearman)")
ax.minorticks_off()
ax.legend(title="the judge gives", loc="lower right")
plt.show()

# %%
# **What to try next.** Judges who disagree give intervals: :doc:`../grades/interval_labels`. How sure a mark is:
# :doc:`../trust/conformal_grades`. A head keeps learning from a stream of judgements with ``partial_fit``.
