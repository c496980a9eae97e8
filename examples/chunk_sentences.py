"""Finds the phrases of sentences (CoNLL-2000), says how sure it is and why; fetches the data once, 1.5 MB, if they are not there.

    pip install "structperc[data]"; python examples/chunk_sentences.py
"""

from structperc.estimators import SequenceTagger
from structperc.files.datasets import load_conll2000
from structperc.metrics import phrase_scores
from structperc.plugin_tools import default_template

data = load_conll2000()
(X, y), (X_test, y_test) = (
    ([[token[:2] for token in sentence] for sentence in part], [[token[2] for token in sentence] for sentence in part])
    for part in (data.train, data.test)
)
tagger = SequenceTagger(template=default_template(2), forbidden_transitions="iob2", random_state=0).fit(X, y)

scores = phrase_scores(y_test, tagger.predict(X_test))
print(f"{len(X)} sentences, {tagger.n_features_in_} features, {len(tagger.classes_)} labels; epochs with mistakes {tagger.mistakes_}")
print(f"phrases of {len(X_test)} new sentences: precision {scores.precision:.4f}, recall {scores.recall:.4f}, F1 {scores.f1:.4f}")

margins = tagger.margins(X_test)
right = [a == b for a, b in zip(tagger.predict(X_test), y_test, strict=True)]
order = margins.argsort()
for name, part in (("least", order[:200]), ("most", order[-200:])):
    print(f"of the 200 sentences it is {name} sure of, {sum(right[i] for i in part)} are all right")

doubtful = X_test[order[0]]
print("\nThe least sure of all, in two ways:", " ".join(word for word, _ in doubtful), sep="\n")
for labels in tagger.predict([doubtful], k=2)[0]:
    print(" ".join(labels))
print(tagger.explain(doubtful))
