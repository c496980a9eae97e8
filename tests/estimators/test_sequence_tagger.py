"""SequenceTagger adds scikit-learn's interface to the engine's sequences: forms of data, constraints, scores, reasons and folds."""

import enum
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from plain import Engine
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_predict, cross_val_score, cross_validate
from sklearn.utils import get_tags

from structperc.callbacks import EarlyStopping
from structperc.errors import DataError, NotFittedError, OptionError
from structperc.estimators import SequenceTagger
from structperc.metrics import phrase_scores

LABELS = ["B", "I", "O"]


def made(**options):
    return SequenceTagger(random_state=0, **options)


# ---- data ----


def lengths_of(X):
    return [len(block) for block in X]


def forms(X):
    """The same sentences in every numeric form: (X, further arguments of fit)."""
    lengths = lengths_of(X)
    groups = np.repeat([f"s{i}" for i in range(len(X))], lengths)
    return {
        "arrays": (X, {}),
        "sparse": ([sparse.csr_array(block) for block in X], {}),
        "float32": ([block.astype(np.float32) for block in X], {}),
        "lengths": (np.concatenate(X), {"lengths": lengths}),
        "groups": (np.concatenate(X), {"groups": groups}),
        "sparse-lengths": (sparse.csr_matrix(np.concatenate(X)), {"lengths": np.array(lengths)}),
        "sparse-groups": (sparse.csr_array(np.concatenate(X)), {"groups": groups.tolist()}),
    }


def flat(y):
    return list(itertools.chain.from_iterable(y))


# ---- parameters ----


def test_repr_and_clone():
    model = SequenceTagger(epochs=3, forbidden_transitions="iob2", plugins=[])
    assert repr(SequenceTagger()) == "SequenceTagger()"
    assert repr(model) == "SequenceTagger(epochs=3, forbidden_transitions='iob2', plugins=[])"
    again = clone(model)
    assert again is not model and again.get_params() == model.get_params() and again.plugins is model.plugins


def test_clones_are_untrained(corpus):
    model = made().fit(*corpus)
    assert not hasattr(clone(model), "engine_") and hasattr(model, "engine_")


def test_an_option_is_given_in_one_place():
    with pytest.raises(OptionError, match="plugin_options names 'start', which is a parameter of SequenceTagger; set it there"):
        SequenceTagger(plugin_options={"start": False}).fit([[["a"]]], [["x"]])


# ---- training equals the engine's ----


@pytest.mark.parametrize("update", ["perceptron", "pa", "pa1", "pa2"])
def test_it_learns_exactly_what_the_engine_learns(update, noisy):
    X, y = noisy
    model = made(update=update, epochs=4).fit(X, y)
    engine = Engine("sequence", preset="recommended", update=update, epochs=4, random_state=0).fit(X, y)
    assert np.array_equal(model.coef_, engine.coef_) and np.array_equal(model.transition_scores_, engine.transition_scores_)
    assert model.predict(X) == list(engine.predict(X))
    assert model.mistakes_ == engine.mistakes_ and model.n_iter_ == 4 and model.status_ == "max_epochs"
    assert model.n_features_in_ == 4 and model.classes_.tolist() == LABELS


def test_what_is_learned_has_the_documented_shapes(noisy):
    model = made().fit(*noisy)
    assert model.coef_.shape == (3, 4) and model.intercept_.shape == (3,)
    assert model.transition_scores_.shape == (3, 3) and model.start_scores_.shape == model.end_scores_.shape == (3,)
    bare = made(start=False, end=False, fit_intercept=False).fit(*noisy)
    assert bare.coef_.shape == (3, 4)
    assert not np.array_equal(bare.coef_, model.coef_)


def test_separable_sentences_are_learned(corpus):
    X, y = corpus
    model = made(epochs=50).fit(X, y)
    assert model.status_ == "converged" and model.n_iter_ < 50
    assert model.predict(X) == y and model.score(X, y) == 1.0
    words = "she sees the big dog ."
    assert model.predict([[{"word": word} for word in words.split()]]) == [["B", "O", "B", "I", "I", "O"]]


def test_transitions_tell_what_tokens_cannot():
    X = [[["x"], ["x"], ["x"], ["x"]], [["x"], ["x"]]]
    y = [["a", "b", "a", "b"], ["a", "b"]]
    model = made().fit(X, y)
    assert model.predict([[["x"]] * 6]) == [["a", "b"] * 3]
    assert model.transition_scores_[0, 1] > model.transition_scores_[0, 0]


# ---- forms of data ----


@pytest.mark.parametrize("form", forms([np.eye(2)]))
def test_every_form_of_numbers_gives_the_same_model(form, noisy):
    X, y = noisy
    options = {"average": False, "scale": False}
    plain = made(**options).fit(X, y)
    given, further = forms(X)[form]
    model = made(**options).fit(given, y, **further)
    assert np.array_equal(model.coef_, plain.coef_) and np.array_equal(model.transition_scores_, plain.transition_scores_)
    flatly = made(**options).fit(given, flat(y), **further)
    assert np.array_equal(flatly.coef_, plain.coef_)
    found = model.predict(given, **further)
    if further:
        assert found.dtype == model.classes_.dtype and found.tolist() == flat(plain.predict(X))
        assert model.predict_marginals(given, **further).shape == (len(flat(y)), 3)
    else:
        assert found == plain.predict(X)
    assert model.predict(given, **further, k=2) == plain.predict(X, k=2)
    np.testing.assert_allclose(model.margins(given, **further), plain.margins(X))
    np.testing.assert_allclose(np.concatenate(model.predict_marginals(X)), np.concatenate(plain.predict_marginals(X)))
    assert model.score(given, y, **further) == model.score(given, flat(y), **further) == plain.score(X, y)


def test_lengths_may_stand_third(noisy):
    X, y = noisy
    rows, lengths = np.concatenate(X), lengths_of(X)
    model = made().fit(rows, flat(y), lengths)
    assert model.predict(rows, lengths).tolist() == flat(made().fit(X, y).predict(X))
    assert model.score(rows, flat(y), lengths) == model.score(X, y)


def test_labels_of_rows_keep_their_kind(noisy):
    X, y = noisy
    rows, lengths = np.concatenate(X), lengths_of(X)
    numbers = made().fit(rows, [LABELS.index(label) * 10 for label in flat(y)], lengths)
    assert numbers.predict(rows, lengths).dtype.kind == "i"
    assert set(numbers.predict(rows, lengths).tolist()) <= {0, 10, 20}
    mixed = made(classes=np.array(["B", "I", 2], dtype=object)).fit(rows, [2 if label == "O" else label for label in flat(y)], lengths)
    found = mixed.predict(rows, lengths)
    assert found.dtype == object and set(found.tolist()) == {"B", "I", 2}


def as_columns(X):
    """The dicts as CSR matrices, and the column of each feature's name."""
    columns, blocks = {}, []
    for sentence in X:
        entries = [(t, f"{name}:{value}" if isinstance(value, str) else name, 1.0 if isinstance(value, str) else float(value))
                   for t, token in enumerate(sentence) for name, value in token.items()]
        rows, names, values = zip(*entries, strict=True)
        blocks.append((values, (rows, [columns.setdefault(name, len(columns)) for name in names]), len(sentence)))
    return [sparse.csr_matrix((values, at), shape=(size, len(columns))) for values, at, size in blocks], columns


def test_dicts_are_their_columns(corpus):
    X, y = corpus
    blocks, columns = as_columns(X)
    from_dicts, from_columns = made(average=False).fit(X, y), made(average=False).fit(blocks, y)
    assert from_dicts.n_features_in_ == from_columns.n_features_in_ == len(columns)
    assert from_dicts.predict(X) == from_columns.predict(blocks) and from_dicts.mistakes_ == from_columns.mistakes_
    assert np.array_equal(from_dicts.transition_scores_, from_columns.transition_scores_)
    for label, weights in zip(LABELS, from_columns.coef_, strict=True):
        expected = {name: weights[j] for name, j in columns.items() if weights[j]}
        assert dict(from_dicts.top_features(label, n=len(columns))) == expected


def test_strings_are_features_of_value_one():
    as_dicts = [[{"the": 1}, {"cat": 1, "noun": 1}], [{"cat": 1, "noun": 1}, {"runs": True}]]
    as_lists = [[["the"], ["cat", "noun"]], [["cat", "noun"], ["runs"]]]
    as_sets = [[set(token) for token in sentence] for sentence in as_lists]
    y = [["D", "N"], ["N", "V"]]
    models = [made().fit(X, y) for X in (as_dicts, as_lists, as_sets)]
    for model in models[1:]:
        assert dict(model.top_features("N")) == dict(models[0].top_features("N"))
        assert model.predict(as_lists) == models[0].predict(as_dicts) == y


def test_a_template_reads_columns():
    template = "U0:%x[0,0]\nU1:%x[-1,0]\nU2:%x[0,word]/%x[0,tag]\nB\n"
    X = [[("the", "DT"), ("cat", "NN"), ("runs", "VB")], [("she", "PR"), ("runs", "VB")]]
    y = [["B", "I", "O"], ["B", "O"]]
    model = made(template=template, columns=["word", "tag"]).fit(X, y)
    assert model.predict(X) == y
    names = [name for name, _ in model.top_features("I", n=100)]
    assert "U0:cat" in names and "U2:cat/NN" in names


def test_rare_features_are_left_out(corpus):
    X, y = corpus
    words = [token["word"] for sentence in X for token in sentence]
    rarest = min(map(words.count, set(words)))
    model = made(min_count=rarest + 1).fit([[[token["word"]] for token in sentence] for sentence in X], y)
    assert model.n_features_in_ == sum(words.count(word) > rarest for word in set(words))


def test_sentences_may_be_empty(noisy):
    X, y = noisy
    nothing = np.zeros((0, 4))
    model = made().fit([nothing, *X], [[], *y])
    assert model.predict([X[0], nothing, X[1]]) == [*model.predict(X[:1]), [], *model.predict(X[1:2])]
    assert model.predict([nothing, X[0]], k=2)[0] == [[]]
    assert [marginals.shape for marginals in model.predict_marginals([nothing, X[0]])] == [(0, 3), (len(X[0]), 3)]
    assert model.predict(X[0], lengths=[0, len(X[0]), 0]).tolist() == model.predict(X[:1])[0]


def test_a_matrix_does_not_say_where_sentences_begin(noisy):
    X, y = noisy
    rows = np.concatenate(X)
    model = made().fit(rows, flat(y), lengths=[1] * len(rows))
    for ask in (lambda: made().fit(rows, flat(y)), lambda: model.partial_fit(rows, flat(y)), lambda: model.predict(rows.tolist()),
                lambda: model.predict_marginals(rows), lambda: model.margins(sparse.csr_matrix(rows)), lambda: model.score(rows, flat(y))):
        with pytest.raises(DataError, match=r"its rows have no sentences: pass lengths=\[...\] or groups"):
            ask()


def test_data_frames_of_sentences(corpus):
    """A column of lists, as pandas groups the tokens of a table by sentence."""
    X, y = corpus
    frame = pd.DataFrame({"tokens": X, "tags": y}, index=range(5, 5 + len(X)))
    model = made().fit(frame.tokens, frame.tags)
    assert model.predict(frame.tokens) == made().fit(X, y).predict(X)
    assert model.score(frame.tokens, frame.tags) == model.score(X, y)


@pytest.mark.parametrize("X", [[[[1, 2], [3, 4]], [[5, 6]]], [iter([["a"], ["b"]]), iter([["a"]])]], ids=["numbers", "generators"])
def test_sentences_that_are_no_lists_of_tokens_are_refused(X):
    with pytest.raises(DataError, match=r"X is a list of objects that are no sentences. Pass an array \(tokens, features\) for each"):
        made().fit(X, [["B", "I"], ["O"]])


# ---- constraints ----


def follows_iob2(labels):
    return all(after != "I" or before in ("B", "I") for before, after in itertools.pairwise([None, *labels]))


def iob2_sentences(noisy):
    """The noisy sentences with B instead of I, if the I is first or follows an O."""
    X, y = noisy
    mended = []
    for labels in y:
        out = []
        for label in labels:
            out.append("B" if label == "I" and (not out or out[-1] == "O") else label)
        mended.append(out)
    return X, mended


@pytest.mark.parametrize("forbidden", ["iob2", [("O", "I"), (None, "I")]])
def test_forbidden_transitions_never_occur(forbidden, noisy):
    X, y = iob2_sentences(noisy)
    free = made(scale=False).fit(X, y)
    assert not all(map(follows_iob2, free.predict(X)))
    model = made(scale=False, forbidden_transitions=forbidden).fit(X, y)
    assert all(map(follows_iob2, model.predict(X)))
    assert all(follows_iob2(labels) for outputs in model.predict(X, k=30) for labels in outputs)
    for marginals in model.predict_marginals(X):
        assert marginals[0, LABELS.index("I")] == 0


def test_required_transitions_never_fail():
    random = np.random.default_rng(1)
    X = [random.integers(-3, 4, size=(6, 3)).astype(float) for _ in range(10)]
    y = [list("BIOBIO")] * 5 + [list("OBIOBI")] * 5
    model = made(required_transitions=[("B", "I")]).fit(X, y)
    for labels in flat(model.predict(X, k=10)):
        assert all(after == "I" for before, after in itertools.pairwise(labels) if before == "B")


def test_a_right_answer_that_is_forbidden_is_named(noisy):
    X, y = iob2_sentences(noisy)
    y = [list(labels) for labels in y]
    y[7] = ["I"] * len(y[7])
    with pytest.raises(DataError, match=r"y\[7\]|sentence 7"):
        made(forbidden_transitions="iob2").fit(X, y)


def test_allowed_labels_are_kept_to(noisy):
    X, y = noisy
    model = made().fit(X, y)
    allowed = [None if i % 3 == 0 else [{"B", "O"} if t % 2 else None for t in range(len(block))] for i, block in enumerate(X)]
    found = model.predict(X, allowed=allowed)
    for i, labels in enumerate(found):
        assert all(i % 3 == 0 or t % 2 == 0 or label != "I" for t, label in enumerate(labels))
    assert found[::3] == model.predict(X)[::3] and found != model.predict(X)
    right = [[[label] for label in labels] for labels in y]
    assert model.predict(X, allowed=right) == y and model.score(X, y, allowed=right) == 1.0
    assert model.score(X, y, allowed=right) > model.score(X, y)
    assert np.isinf(model.margins(X, allowed=right)).all()


def test_allowed_labels_matter_to_fit(noisy):
    X, y = noisy
    right = [[[label] for label in labels] for labels in y]
    assert made().fit(X, y, allowed=right).mistakes_ == [0]
    assert made().fit(X, y, allowed=[None] * len(X)).mistakes_ == made().fit(X, y).mistakes_
    some = [[{label, "B"} for label in labels] for labels in y]
    assert 0 < made().fit(X, y, allowed=some).mistakes_[0] < made().fit(X, y).mistakes_[0]


def test_a_sentence_without_possible_labels_is_named(noisy):
    X, y = iob2_sentences(noisy)
    model = made(forbidden_transitions="iob2").fit(X, y)
    before = model.predict(X)
    allowed = [None] * len(X)
    allowed[4] = [["I"]] + [None] * (len(X[4]) - 1)
    for method in (model.predict, model.predict_marginals, model.margins):
        with pytest.raises(DataError, match=r"sentence 4|X\[4\]"):
            method(X, allowed=allowed)
    assert model.predict(X) == before


# ---- labels ----


@pytest.mark.parametrize("labels", [("B", "I", "O"), (b"B", b"I", b"O"), (2, 5, 9), (0.5, 1.0, 2.0)])
def test_any_labels_that_can_be_compared(labels, noisy):
    X, y = noisy
    chosen = [[labels[LABELS.index(label)] for label in one] for one in y]
    model = made().fit(X, chosen)
    assert model.classes_.tolist() == list(labels)
    assert model.predict(X) == [[labels[LABELS.index(label)] for label in one] for one in made().fit(X, y).predict(X)]


def test_labels_without_an_order_are_named(noisy):
    class Tag(enum.Enum):
        BEGIN, INSIDE, OUT = range(3)

    X, y = noisy
    tags = [[list(Tag)[LABELS.index(label)] for label in one] for one in y]
    with pytest.raises(DataError, match=r"y holds labels of the type Tag, which have no order; name them in order with classes="):
        made().fit(X, tags)
    with pytest.raises(DataError, match="classes has the label <Tag.BEGIN: 0> of type Tag, which a model file cannot store"):
        made(classes=list(Tag)).fit(X, tags)
    with pytest.raises(DataError, match="classes is the text 'BIO'; expected the labels in order, such as a list"):
        made(classes="BIO").fit(X, y)


def test_the_order_of_labels_can_be_given(noisy):
    X, y = noisy
    model = made(classes=["O", "I", "B"]).fit(X, y)
    assert model.classes_.tolist() == ["O", "I", "B"] and made().fit(X, y).classes_.tolist() == LABELS


def test_a_label_that_was_never_named_is_an_error_that_says_where(noisy):
    X, y = noisy
    at = next(i for i, block in enumerate(X) if len(block) > 2)
    strange = [list(labels) for labels in y]
    strange[at][2] = "Z"
    for model in (made(classes=LABELS), made().fit(X, y)):
        with pytest.raises(DataError, match=rf"y\[{at}\]\[2\] is 'Z', which is not one of the labels"):
            model.partial_fit(X, strange)


@pytest.mark.parametrize("y", [None, [["B"]], [["B", "I"], ["O"]], "BI"])
def test_labels_must_fit_the_tokens(y):
    X = [np.eye(2), np.eye(2)]
    with pytest.raises(DataError, match="y"):
        made().fit(X, y)
    model = made().fit(X, [["B", "I"], ["O", "I"]])
    with pytest.raises(DataError, match="y"):
        model.score(X, y)


# ---- scores ----


def test_the_score_is_the_share_of_right_tokens(corpus):
    X, y = corpus
    model = made(epochs=50).fit(X, y)
    wrong = [list(labels) for labels in y]
    wrong[0] = ["O" if label != "O" else "B" for label in wrong[0]]
    tokens = len(flat(y))
    assert model.score(X, wrong) == pytest.approx(1 - len(y[0]) / tokens)
    weights = np.ones(len(X))
    weights[0] = 0
    assert model.score(X, wrong, sample_weight=weights) == 1.0
    weights[0] = 3
    assert model.score(X, wrong, sample_weight=weights) == pytest.approx((tokens - len(y[0])) / (tokens + 2 * len(y[0])))
    strange = [["never seen"] * len(y[0]), *y[1:]]
    assert model.score(X, strange) == model.score(X, wrong)
    with pytest.raises(DataError, match="y has none of the labels.*for instance 1"):
        model.score(X, [[1] * len(labels) for labels in y])
    with pytest.raises(DataError, match="y has none of the labels"):
        model.score(X, [[["B"]] * len(labels) for labels in y])
    with pytest.raises(DataError, match="X has no tokens, so there is nothing to score"):
        model.score([[], []], [[], []])
    with pytest.raises(DataError, match="all sample weights are 0"):
        model.score(X, y, sample_weight=np.zeros(len(X)))
    with pytest.raises(DataError, match=rf"y\[1\] has 1 labels but sentence 1 of X has {len(y[1])} tokens"):
        model.score(X, [y[0], ["B"], *y[2:]])
    with pytest.raises(DataError, match="y has 29 sentences but X has 30"):
        model.score(X, y[1:])


# ---- sample weights ----


def test_weight_zero_is_absence(noisy):
    X, y = noisy
    kept = [i for i in range(len(X)) if i % 3]
    weighted = made().fit(X, y, sample_weight=[float(i % 3 != 0) for i in range(len(X))])
    fewer = made().fit([X[i] for i in kept], [y[i] for i in kept])
    assert np.array_equal(weighted.coef_, fewer.coef_) and weighted.mistakes_ == fewer.mistakes_
    assert not np.array_equal(weighted.coef_, made().fit(X, y).coef_)


# ---- learning on ----


@pytest.mark.parametrize("average", [True, False])
def test_a_stream_brings_new_words_under_hashing(average, corpus):
    X, y = corpus
    model = made(n_hashed=64, shuffle=False, average=average)
    for start in range(0, 30, 10):
        assert model.partial_fit(X[start:start + 10], y[start:start + 10], classes=LABELS) is model
    whole = made(n_hashed=64, shuffle=False, average=average, epochs=1).fit(X, y)
    assert np.array_equal(model.coef_, whole.coef_) and model.mistakes_ == whole.mistakes_
    assert model.n_features_in_ == 64 and model.n_iter_ == 1
    new = [[{"word": "this"}, {"word": "mouse"}]]
    for _ in range(10):
        model.partial_fit(new, [["B", "I"]])
    assert model.predict(new) == [["B", "I"]]


def test_partial_fit_continues_a_fit(noisy):
    X, y = noisy
    model = made(epochs=2).fit(X, y)
    before = model.coef_.copy()
    model.partial_fit(X, y)
    engine = Engine("sequence", preset="recommended", epochs=2, random_state=0).fit(X, y).partial_fit(X, y)
    assert np.array_equal(model.coef_, engine.coef_) and not np.array_equal(model.coef_, before)


def test_partial_fit_takes_rows_and_lengths(noisy):
    X, y = noisy
    by_rows, by_blocks = made(), made()
    for start in (0, 20):
        part, labels = X[start:start + 20], y[start:start + 20]
        by_blocks.partial_fit(part, labels, classes=LABELS)
        by_rows.partial_fit(np.concatenate(part), flat(labels), lengths_of(part), classes=LABELS)
    assert np.array_equal(by_rows.coef_, by_blocks.coef_)


def test_partial_fit_agrees_on_classes_and_parameters(noisy):
    model = made(epochs=3).partial_fit(*noisy, classes=LABELS)
    with pytest.raises(DataError, match=r"classes=\['B'\] is not the same as \['B', 'I', 'O'\], which the earlier calls named"):
        model.partial_fit(*noisy, classes=["B"])
    with pytest.raises(OptionError, match="epochs was 3 when training began and is 4 now"):
        model.set_params(epochs=4).partial_fit(*noisy)


# ---- state ----


def test_transitions_need_training():
    with pytest.raises(NotFittedError, match="This SequenceTagger.* is not fitted yet"):
        SequenceTagger().top_transitions()


@pytest.mark.parametrize("options", [{}, {"n_hashed": 64}, {"forbidden_transitions": "iob2"}])
def test_pickles_predict_and_learn_on(options, corpus):
    X, y = corpus
    model = made(epochs=2, shuffle=False, **options).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X) == model.predict(X) and again.status_ == model.status_ and repr(again) == repr(model)
    assert again.explain(X[0], token=1).atoms == model.explain(X[0], token=1).atoms
    assert np.array_equal(again.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_failed_fit_leaves_the_tagger_as_it_was(method, noisy):
    X, y = noisy
    model = made().fit(X, y)
    engine, before = model.engine_, model.coef_.copy()
    broken = [block.copy() for block in X]
    broken[9][0, 1] = np.nan
    strange = [*y[:-1], ["Z"] * len(y[-1])] if method == "partial_fit" else y[:-1]
    for data in ((broken, y), (X, strange), ([], [])):
        with pytest.raises(DataError):
            getattr(model, method)(*data)
        assert model.engine_ is engine and np.array_equal(model.coef_, before)


def test_tools_know_that_tags_are_needed_and_tokens_may_be_dicts():
    tags = get_tags(SequenceTagger())
    assert tags.target_tags.required and tags.input_tags.dict


def test_citations_name_the_methods_in_use(noisy):
    assert SequenceTagger().citation() == SequenceTagger().fit(*noisy).citation() != SequenceTagger(update="pa1").citation()
    assert "Discriminative Training Methods" in SequenceTagger().citation()


# ---- scikit-learn's tools ----


def test_cross_validation_of_lists(corpus, noisy):
    assert cross_val_score(made(), *corpus, cv=KFold(3, shuffle=True, random_state=0), error_score="raise").min() > 0.9
    X, y = noisy
    blocks = [sparse.csr_array(block) for block in X]               # sparse rows are not scaled
    assert not is_classifier(SequenceTagger())
    found = cross_validate(made(), blocks, y, cv=3, error_score="raise", return_estimator=True)
    train, test = next(KFold(3).split(blocks))
    by_hand = made(scale=False).fit([X[i] for i in train], [y[i] for i in train])
    assert np.allclose(found["estimator"][0].coef_, by_hand.coef_)
    assert found["test_score"][0] == pytest.approx(by_hand.score([X[i] for i in test], [y[i] for i in test]))


def test_grid_search_over_lists(noisy):
    search = GridSearchCV(made(epochs=2), [{"update": ["perceptron", "pa"]}, {"update": ["pa1"], "C": [0.01, 1.0]}],
                          cv=KFold(3), error_score="raise").fit(*noisy)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert len(set(search.cv_results_["mean_test_score"])) > 1
    assert len(search.predict(noisy[0])) == len(noisy[0])


def test_metadata_routing_passes_groups_on(noisy):
    X, y = noisy
    rows, labels = np.concatenate(X), np.array(flat(y))
    groups = np.repeat(np.arange(len(X)), lengths_of(X))
    with sklearn.config_context(enable_metadata_routing=True):
        model = clone(made(epochs=2).set_fit_request(groups=True).set_score_request(groups=True))
        scores = cross_val_score(model, rows, labels, cv=GroupKFold(3), params={"groups": groups}, error_score="raise")
    train, test = next(GroupKFold(3).split(rows, labels, groups))
    by_hand = made(epochs=2).fit(rows[train], labels[train], groups=groups[train])
    assert scores[0] == by_hand.score(rows[test], labels[test], groups=groups[test])
    with sklearn.config_context(enable_metadata_routing=True), pytest.raises(TypeError, match="Unexpected args: {'sample_weight'} in pred"):
        made().set_predict_request(sample_weight=True)


def test_tokens_of_a_sentence_may_stand_anywhere():
    """Sentences are in the order of their first rows, and tokens in row order. Labels and marginals follow the rows."""
    random = np.random.default_rng(5)
    rows, names = random.normal(size=(40, 3)), np.repeat(np.arange(10), 4)
    labels = np.where(rows[:, 0] > 0, "A", "B")
    allowed = np.ones((40, 2), dtype=bool)
    allowed[::7, 0] = labels[::7] == "A"
    first, rest = np.arange(0, 40, 4), np.setdiff1d(np.arange(40), np.arange(0, 40, 4))
    order = np.concatenate([first, rest[np.argsort(rest % 4, kind="stable")]])
    together = SequenceTagger(epochs=3, random_state=0).fit(rows, labels, groups=names, allowed=allowed)
    apart = SequenceTagger(epochs=3, random_state=0).fit(rows[order], labels[order], groups=names[order], allowed=allowed[order])
    np.testing.assert_array_equal(apart.coef_, together.coef_)
    for extra in ({}, {"allowed": allowed}):
        mixed = {name: value[order] for name, value in extra.items()}
        predicted = together.predict(rows, groups=names, **extra)
        np.testing.assert_array_equal(apart.predict(rows[order], groups=names[order], **mixed), predicted[order])
        marginals = together.predict_marginals(rows, groups=names, **extra)
        np.testing.assert_array_equal(apart.predict_marginals(rows[order], groups=names[order], **mixed), marginals[order])
    assert apart.score(rows[order], labels[order], groups=names[order]) == together.score(rows, labels, groups=names)
    assert apart.score(rows[order], labels[order], groups=names[order]) > 0.8


def test_sentences_of_any_length_are_predicted_in_folds():
    random = np.random.default_rng(0)
    X = [[{"w": f"{random.integers(5)}"} for _ in range(random.integers(1, 6))] for _ in range(20)]
    y = [["B-X" if token["w"] > "2" else "O" for token in sentence] for sentence in X]
    for Z, labels in ((X, y), ([sentence[:1] for sentence in X], [labels[:1] for labels in y])):
        found = cross_val_predict(SequenceTagger(random_state=0), Z, labels, cv=4)
        assert found.shape == (20,) and all(type(labels) is list for labels in found)
        assert list(map(len, found)) == list(map(len, Z)) and phrase_scores(labels, found).f1 > 0.7


@pytest.mark.parametrize("form", ["names", "vectors"])
def test_no_sentences_have_no_labels(form):
    X = [[["a"], ["b"]], [["b"]]] if form == "names" else [np.eye(2), np.eye(2)[1:]]
    model = SequenceTagger(random_state=0).fit(X, [["A", "B"], ["B"]])
    assert model.predict([]) == model.predict([], k=2) == model.predict_marginals([]) == []
    assert len(model.margins([])) == len(model.engine_.predict([])) == 0


@pytest.mark.parametrize("y", [["A", "", "B"], [["A", ""], ["B"]]])
def test_empty_text_is_no_label(y):
    with pytest.raises(DataError, match=r"^y\[(0\]\[)?1\] is '', which is no label; label that token, or write None .* name all labels"):
        Engine("sequence").fit([[["a"], ["b"]], [["b"]]], y)


@pytest.mark.parametrize(("scheme", "labels", "message"), [
    ("iobes", ["B-X", "I-X", "O"], r"y\[0\]\[2\] is 'O', which may not follow 'I-X' under the constraints; these labels look like 'iob2'"),
    ("iob2", ["I-X", "I-X", "B-X"], r"these labels look like 'iob1', so set forbidden_transitions='iob1', or write them by "
                                    r"structperc\.metrics: tags\(phrases\(labels\), len\(labels\), 'iob2'\)\.$"),
    ("iob2", ["B-X", "E-X", "S-X", "I-X"], r"the label 'E-X' does not belong to it.* These labels look like 'iobes'\.$"),
    ("iob2", ["I-X", "O", "B-X"], r"may not begin a sentence under the constraints; correct it or allow it\.$"),
])
def test_labels_of_another_scheme_are_told(scheme, labels, message):
    with pytest.raises((DataError, OptionError), match=message):
        SequenceTagger(forbidden_transitions=scheme).fit([[["a"]] * len(labels)], [labels])


@pytest.mark.parametrize("ask", ["predict", "predict_marginals", "margins"])
def test_an_untrained_tagger_says_so_whatever_X_is(ask):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(SequenceTagger(), ask)(np.zeros((4, 2)))


EQUALLY_LONG = {
    "words": (["w"], [["a", "b"], ["c", "d"]]),
    "lists": (None, [[["a"], ["b"]], [["c"], ["d"]]]),
    "dicts": (None, [[{"a": 1.0}, {"b": 1.0}], [{"c": 1.0}, {"d": 1.0}]]),
    "tuples": (["w", "p"], [[("a", "N"), ("b", "V")], [("c", "N"), ("d", "V")]]),
}


@pytest.mark.parametrize("dtype", [object, None])
@pytest.mark.parametrize("form", EQUALLY_LONG)
def test_arrays_of_sentences_of_equal_length(form, dtype):
    """numpy makes a table of them, of two or three dimensions."""
    columns, X = EQUALLY_LONG[form]
    table, y = np.array(X, dtype=dtype), [["N", "V"], ["N", "V"]]
    model = SequenceTagger(columns=columns, random_state=0).fit(X, y)
    assert model.predict(table) == model.predict(X) == y and len(model.predict_marginals(table)) == 2
    assert SequenceTagger(columns=columns, random_state=0).fit(table, np.array(y)).predict(X) == y
    engine = Engine("segments", columns=columns, random_state=0).fit(table, [[(0, 1, "A")], [(1, 2, "B")]])
    assert engine.predict(table).tolist() == engine.predict(X).tolist()


def test_a_matrix_of_objects_still_needs_lengths():
    with pytest.raises(DataError, match="X is one matrix, and its rows have no sentences"):
        SequenceTagger().fit(np.eye(4).astype(object), ["a", "b", "a", "b"])


def test_labels_that_are_all_missing_are_told_as_such():
    with pytest.raises(DataError, match="y is empty or has no label"):
        SequenceTagger().fit([[["a"], ["b"]]], [[None, None]])


@pytest.mark.parametrize("form", ["tokens", "flat labels", "lengths", "groups"])
def test_early_stopping_holds_out_sentences(form):
    random = np.random.default_rng(4)
    rows = [random.normal(size=(4, 3)) for _ in range(40)]
    X = [[{"a": float(a), "b": float(b), "c": float(c)} for a, b, c in one] for one in rows] if form in ("tokens", "flat labels") else rows
    y = [random.choice(["x", "y"], 4).tolist() for _ in X]
    held = random_places(40, 0.25)
    options = {"random_state": 0, "epochs": 60, "trainer": "online"}
    stopping = EarlyStopping([X[i] for i in held], [y[i] for i in held], 2)
    kept = [i for i in range(40) if i not in held]
    by_hand = SequenceTagger(plugins=[stopping], **options).fit([X[i] for i in kept], [y[i] for i in kept], sample_weight=np.full(30, 2.0))
    model, flat = SequenceTagger(n_iter_no_change=2, validation_fraction=0.25, **options), [label for labels in y for label in labels]
    given = {"tokens": (X, y), "flat labels": (X, flat)}.get(form, (np.concatenate(rows), flat))
    where = {"lengths": {"lengths": [4] * 40}, "groups": {"groups": np.arange(160) // 4}}.get(form, {})
    model.fit(*given, **where, sample_weight=np.full(40, 2.0))
    assert model.status_ == "early_stopped" and model.n_iter_ < 60
    assert model.coef_.tolist() == by_hand.coef_.tolist() and model.mistakes_ == by_hand.mistakes_


def random_places(n, share):
    return sorted(np.random.default_rng(0).permutation(n)[:int(np.ceil(share * n))].tolist())


def test_early_stopping_needs_sentences_that_can_be_held_out():
    X, y = [[["a"], ["b"]], [["b"], ["a"]]], [["x", "y"], ["y", "x"]]
    with pytest.raises(DataError, match="validation_fraction=0.9 of 2 sentences leaves nothing to learn from"):
        SequenceTagger(n_iter_no_change=2, validation_fraction=0.9).fit(X, y)
    with pytest.raises(DataError, match="y has the labels of 1 sentences but X has 2"):
        SequenceTagger(n_iter_no_change=2).fit(X, y[:1])
    with pytest.raises(OptionError, match="n_iter_no_change"):
        SequenceTagger(n_iter_no_change=0).fit(X, y)
    allowed = SequenceTagger(n_iter_no_change=1, validation_fraction=0.5, random_state=0).fit(X, y, allowed=[None, [["y"], ["x"]]])
    assert allowed.n_iter_ >= 1
