"""The problem segments: what is learned from segments and tags, open parts, losses, limits of length, saved models, the command line."""

import numpy as np
import pytest
from plain import Engine
from structperc_segments.measures import segment_measures

from structperc.cli import main
from structperc.errors import DataError, OptionError, PluginError
from structperc.metrics import losses, measures, phrases, tags
from structperc.testing import check_problem

WORDS = {"D": ["the", "a"], "A": ["big", "old", "red"], "N": ["cat", "dog", "house"], "V": ["sees", "likes", "has"], "X": [",", "and"]}


def corpus(n, seed=0):
    """Sentences of noun phrases (a determiner, adjectives, a noun), verbs and other words; segments and features of tokens."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words, segments = [], []
        for kind in random.choice(["NP", "VP", "X"], size=random.integers(1, 6)):
            pattern = {"NP": "D" * random.integers(0, 2) + "A" * random.integers(0, 3) + "N", "VP": "V", "X": "X"}[kind]
            if kind != "X":
                segments.append((len(words), len(words) + len(pattern), str(kind)))
            words += [str(random.choice(WORDS[letter])) for letter in pattern]
        X.append([[f"w={word}"] for word in words])
        y.append(segments)
    return X, y


X, Y = corpus(160)
TRAIN, TEST = slice(120), slice(120, None)


def fitted(y=Y, **options):
    return Engine("segments", epochs=8, average=True, **options).fit(X[TRAIN], y[TRAIN])


def test_the_battery_with_a_loss_and_places_of_tags():
    report = check_problem("segments", loss="segments", loss_weight=1.0, update="pa1", outside=False, places="iob2")
    assert {name for name, outcome in report if outcome != "passed"} <= {"separable_set_is_learned"}


@pytest.mark.parametrize("loss", ["hamming", "segments", "zero-one"])
@pytest.mark.parametrize("outside", [True, False])
def test_the_search_with_a_loss_is_exact(loss, outside):
    report = check_problem("segments", loss=loss, outside=outside, update="pa", loss_weight=1.0,
                           checks=["augmented_argmax_maximises", "loss_is_zero_at_gold"])
    assert {outcome for _, outcome in report} == {"passed"}


@pytest.mark.parametrize("options", [{}, {"update": "pa1", "C": 0.1, "loss_weight": 1.0, "loss": "segments"},
                                     {"n_hashed": 4096}], ids=str)
def test_segments_are_learned(options):
    engine = fitted(**options)
    found = engine.predict(X[TEST])
    assert segment_measures(Y[TEST], found)["segment F1"] > 0.97
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        segment_measures(Y[TEST], found[1:])
    assert measures(engine, X[TEST], Y[TEST])["segment F1"] == segment_measures(Y[TEST], found)["segment F1"]
    assert engine.max_lengths_ == {"O": 1, "NP": 4, "VP": 1} and engine.classes_.tolist() == ["NP", "VP"]
    assert engine.transition_scores_.shape == (3, 3) and engine.length_scores_.shape == (3, 12)


@pytest.mark.parametrize("scheme", ["iob1", "iob2", "iobes", "bilou"])
def test_tags_are_answered_in_the_scheme_they_came_in(scheme):
    y = [tags(segments, len(x), scheme) for segments, x in zip(Y, X, strict=True)]
    engine = fitted(y)
    found = engine.predict(X[TEST])
    assert list(map(phrases, found)) == list(fitted().predict(X[TEST]))
    assert all(tags(phrases(labels), len(labels), scheme) == labels for labels in found)
    assert measures(engine, X[TEST], y[TEST])["phrase F1"] > 0.97


def test_a_segment_is_no_longer_than_any_before():
    engine = fitted(max_length=4)
    long = [[[f"w={word}"] for word in ["the", *["big"] * 9, "dog"]]]
    assert max(stop - start for start, stop, _ in engine.predict(long)[0]) <= 4
    engine = fitted()
    engine.partial_fit(long, [[(0, 11, "NP")]])
    assert engine.max_lengths_["NP"] == 11
    with pytest.raises(DataError, match=r"y\[1\] has a segment of 3 tokens with the label 'NP', longer than max_length=2"):
        Engine("segments", max_length=2).fit([[["a"]] * 3] * 2, [[(0, 2, "NP"), (2, 3, "VP")], [(0, 3, "NP")]])


def test_every_token_belongs_to_a_segment_where_none_is_outside():
    letters = [[[f"c={c}", f"n={d}"] for c, d in zip(word, word[1:] + ".", strict=True)] for word in ["abab", "aab", "abb"]]
    engine = Engine("segments", outside=False, epochs=5).fit(letters, [[(0, 2, "w"), (2, 4, "w")], [(0, 1, "w"), (1, 3, "w")],
                                                                       [(0, 2, "w"), (2, 3, "w")]])
    assert engine.predict([letters[0]])[0] == [(0, 2, "w"), (2, 4, "w")]
    with pytest.raises(DataError, match=r"y\[1\] leaves out token 1; with outside=False every token belongs to a segment"):
        Engine("segments", outside=False).fit(letters[:2], [[(0, 4, "w")], [(0, 1, "w"), (2, 3, "w")]])


def hidden(y, share=0.5, seed=3):
    """Open parts instead of some segments, or of the tokens around."""
    random = np.random.default_rng(seed)
    return [[(start, stop, None if random.random() < share else label) for start, stop, label in segments] for segments in y]


@pytest.mark.parametrize("update", ["perceptron", "pa1", "latent"])
def test_open_parts_are_completed(update):
    options = {"update": update, **({"C": 0.1} if update == "pa1" else {})}
    missed = fitted([[segment for segment in segments if segment[2]] for segments in hidden(Y)], **options)
    scores = [segment_measures(Y[TEST], engine.predict(X[TEST]))["segment F1"] for engine in (missed, fitted(hidden(Y), **options))]
    assert scores[1] > max(scores[0] + 0.1, 0.85)
    open_tags = [[tag if t % 3 else None for t, tag in enumerate(tags(segments, len(x)))] for segments, x in zip(Y, X, strict=True)]
    assert segment_measures(Y[TEST], map(phrases, fitted(open_tags, **options).predict(X[TEST])))["segment F1"] > 0.85


def test_open_parts_are_not_measured():
    names = "segment precision", "segment recall", "segment F1", "whole sentences right"
    assert segment_measures([[(0, 1, "A"), (1, 3, None)]], [[(0, 1, "A"), (1, 2, "B")]]) == dict.fromkeys(names, 1)
    half = segment_measures([[(0, 1, "A"), (1, 3, float("nan"))], [(0, 2, None)]], [[(0, 1, "A"), (2, 4, "B")], [(0, 2, "A")]])
    assert half == dict(zip(names, (1 / 2, 1, 2 / 3, 0), strict=True))      # 2 to 4 goes beyond the open part
    assert segment_measures([[], [(0, 2, None)]], [[], [(0, 2, "A")]]) == dict(zip(names, (0, 0, 0, 1), strict=True))
    engine = Engine("segments", epochs=1, max_length=4).fit(X[:9], Y[:9])
    x, y = zip(*((x, y) for x, y in zip(X[TEST], hidden(Y[TEST]), strict=True) if any(label for *_, label in y)), strict=True)
    off = losses(engine, x, y)                  # 0 of predictions that agree with what is known
    assert 0 < np.count_nonzero(off) < len(off) and measures(engine, x, y)["whole sentences right"] == np.mean(off == 0)


@pytest.mark.parametrize("options", [{}, {"outside": False, "places": "iob2"}], ids=str)
def test_completions_and_losses_of_open_parts_are_those_of_all_divisions(options):
    random = np.random.default_rng(0)
    x = [random.normal(size=(n, 2)) for n in (1, 3, 4, 4)]
    whole = [[(t, t + 1, "AB"[t % 2]) for t in range(len(rows))] for rows in x]
    some_open = [[(0, 1, None)], *whole[1:]]                # outputs that have seen none take only whole divisions
    engine = Engine("segments", max_length=3, epochs=1, **options).fit(x, some_open)
    parts, rows = engine.parts_, engine.model_.read(x)
    for _ in range(40):
        example = rows.example(int(random.integers(len(x))))
        example.n_atoms = parts.features.n_atoms(example)
        every = list(parts.outputs.enumerate(example))
        gold = np.array(every[random.integers(len(every))])
        gold = tuple(np.where(random.random(len(gold)) < 0.5, np.where(gold & 1, random.choice([-1, -2], len(gold)), -1), gold).tolist())
        s = random.integers(-2, 3, example.n_atoms).astype(float)
        totals = np.array([parts.outputs.count(example, y) @ s for y in every])
        agreeing = np.array([parts.outputs.agrees(gold, y, example) for y in every])
        losses = np.array([parts.loss.value(gold, y, example) for y in every])
        assert agreeing.any() and ((losses == 0) == agreeing).all()
        completed = parts.outputs.complete(gold, s.copy(), example)
        assert agreeing[every.index(completed)] and totals[every.index(completed)] == totals[agreeing].max()
        found = parts.argmax.argmax_augmented(s.copy(), example, gold, parts.loss, 0.5)
        assert (totals + losses / 2)[every.index(found)] == (totals + losses / 2).max()


def test_losses_of_whole_segments_are_not_for_open_parts():
    with pytest.raises(PluginError, match="loss='segments' counts whole segments, but some gold outputs leave tokens open"):
        fitted(hidden(Y), loss="segments")


def test_a_known_beginning_may_go_on_in_an_open_part():
    x, engine = [[["w=a"], ["w=b"], ["w=c"]]] * 2, Engine("segments", max_length=3, classes=["A", "B"], places="iobes", epochs=1)
    outputs = engine.fit(x, [["B-A", "E-A", "O"], ["S-B", "O", "O"]]).parts_.outputs
    example = engine.model_.read(x).example(0)
    example.n_atoms = engine.parts_.features.n_atoms(example)
    for labels, possible in ((["B-A", None, "O"], {(3, 2, 1), (3, 1, 1), (3, 3, 1), (3, 5, 1)}), ([None, "I-A", "O"], {(3, 2, 1)}),
                             (["S-B", None, "O"], {(5, 1, 1), (5, 3, 1), (5, 5, 1)}),
                             ([None, "B-A", "O"], {(1, 3, 1), (3, 3, 1), (5, 3, 1)})):
        gold = outputs.encode([labels], engine.model_.read(x[:1]))[0]
        assert {y for y in outputs.enumerate(example) if outputs.agrees(gold, y, example)} == possible


def test_a_saved_model_answers_the_same(tmp_path):
    for y in (Y, [tags(segments, len(x), "iobes") for segments, x in zip(Y, X, strict=True)]):
        engine = fitted(y)
        engine.save(tmp_path / "model")
        again = Engine.load(tmp_path / "model")
        assert list(again.predict(X[TEST])) == list(engine.predict(X[TEST])) and again.max_lengths_ == engine.max_lengths_


def test_marginals_k_best_margins_and_explanations():
    engine = fitted()
    shares = engine.predict_marginals(X[:5])
    assert all(p.shape == (len(x), 3) and np.allclose(p.sum(axis=1), 1) for p, x in zip(shares, X, strict=False))
    assert all(found[0] == best for found, best in zip(engine.predict(X[:5], k=3), engine.predict(X[:5]), strict=True))
    assert engine.margins(X[:5]).min() > 0
    shown = str(engine.explain(X[0], against=[]))
    assert "begins NP" in shown and "is all of VP" in shown


# ---- features of segments ----


def repeated(sentence, start, stop):
    """Whether all tokens of a segment are the same, and how many there are."""
    tokens = [str(token) for token in sentence[start:stop]]
    return {"same": len(set(tokens)) == 1, "tokens": len(tokens)}


def runs(n, seed=0):
    """Letters, and the runs of a letter that occurs at least twice in a row."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        lengths = random.integers(1, 4, random.integers(1, 5))
        letters = np.cumsum(random.integers(1, 4, len(lengths))) % 5
        X.append([[f"c={letter}"] for letter in np.repeat(letters, lengths)])
        stops = np.cumsum(lengths)
        y.append([(int(b - a), int(b), "run") for a, b in zip(lengths, stops, strict=True) if a > 1])
    return X, y


def test_features_of_segments_say_what_those_of_tokens_cannot(tmp_path):
    x, y = runs(200)
    options = {"max_length": 3, "epochs": 10, "average": True}
    plain, engine = (Engine("segments", **options, **more).fit(x[:150], y[:150]) for more in ({}, {"segment_features": repeated}))
    f1 = [segment_measures(y[150:], found.predict(x[150:]))["segment F1"] for found in (plain, engine)]
    assert f1[1] == 1 and f1[0] < 0.7
    assert "same" in str(engine.explain(x[0], against=[])) and engine.predict(x[150:], k=2)[0][0] == engine.predict(x[150:])[0]
    engine.save(tmp_path / "model")
    again = Engine.load(tmp_path / "model", segment_features=repeated)
    assert list(again.predict(x)) == list(engine.predict(x))
    with pytest.raises(OptionError, match="segment_features describe every segment that there may be. Set max_length"):
        Engine("segments", segment_features=repeated).fit(x, y)
    with pytest.raises(OptionError, match="segment_features='POS'; expected a function"):
        Engine("segments", segment_features="POS", max_length=2).fit(x, y)


@pytest.mark.parametrize("options", [{"max_length": 2}, {"max_length": 3, "places": "iob2", "outside": False}], ids=str)
def test_all_parts_agree_on_segments_with_features(options):
    checks = ["argmax_maximises", "features_add_up", "agreeing_is_counting_the_same", "decoding_is_undone", "augmented_argmax_maximises",
              "further_answers_agree", "predictions_follow_from_scores"]
    report = check_problem("segments", segment_features=repeated, loss_weight=1.0, checks=checks, **options)
    assert {outcome for _, outcome in report} == {"passed"}


@pytest.mark.parametrize(("y", "sentence"), [
    (5, "y is 5; expected a list of segments"),
    ([[]], "y has no segment, so there is nothing to learn"),
    ([[(0, 1, "A")], []], "y has the segments of 2 sentences but X has 1"),
    ([[(0, 1)]], r"y\[0\]\[0\] is \(0, 1\); expected \(start, stop, label\)"),
    ([[(0, 4, "A")]], r"y\[0\]\[0\] goes from 0 to 4; expected whole numbers, 0 <= start < stop <= 3"),
    ([[(1, 1, "A")]], "goes from 1 to 1"),
    ([[(0, 2, "A"), (1, 3, "A")]], r"y\[0\]\[1\] begins at token 1, but the one before it stops at 2"),
    ([[(0, 1, "O")]], "the label 'O' is that of tokens outside"),
    ([["B-A", "O"]], r"y\[0\] has 2 tags but sentence 0 of X has 3 tokens"),
    ([["B-A", "O", 3]], r"y\[0\] has 3 among its tags"),
    ([[(0, 1, ["A"])]], "can be no key of a dict"),
    ([[(0, 1, "A"), (1, 2, 3)]], "have no common order"),
])  # fmt: skip
def test_what_are_no_segments_is_said(y, sentence):
    with pytest.raises(DataError, match=sentence):
        Engine("segments").fit([[["a"], ["b"], ["c"]]], y)


def test_strange_labels_and_limits_are_refused():
    engine = fitted()
    with pytest.raises(DataError, match=r"y\[0\] has the label 'PP', which is none of the labels 'NP', 'VP'; name all"):
        engine.partial_fit(X[:1], [[(0, 1, "PP")]])
    with pytest.raises(OptionError, match="max_length=0"):
        Engine("segments", max_length=0)


def test_the_command_line_learns_from_columns(tmp_path, capsys):
    path, model = tmp_path / "train.conll", tmp_path / "model"
    written = [zip([token[0] for token in x], tags(segments, len(x)), strict=True) for x, segments in zip(X, Y, strict=True)]
    path.write_text("\n".join("".join(f"{word} {tag}\n" for word, tag in sentence) for sentence in written))
    assert main(["fit", "segments", str(path), "--columns", "word,chunk", "--model", str(model), "--set", "epochs=8"]) in (0, None)
    assert main(["evaluate", str(model), str(path)]) in (0, None)
    shown = capsys.readouterr().out
    assert "phrase F1" in shown and "NP" in shown
    assert main(["fit", "segments", str(path), "--columns", "word,chunk", "--model", str(model), "--stream"]) in (0, None)
    assert main(["predict", str(model), str(path), "--output", str(tmp_path / "answers")]) in (0, None)
    assert "B-NP" in (tmp_path / "answers").read_text()


@pytest.mark.parametrize("label", [("a", "b"), frozenset("a"), complex(1), float("inf")], ids=["tuple", "set", "complex", "infinite"])
@pytest.mark.parametrize("named", [False, True])
def test_a_single_label_is_checked_as_several_are(label, named):
    with pytest.raises(DataError, match="classes"):
        Engine("segments", classes=[label] if named else None).fit([[["w"]]] * 2, [[(0, 1, label)]] * 2)
