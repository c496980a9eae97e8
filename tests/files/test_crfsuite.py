"""Models of CRFsuite predict as in CRFsuite. Other files raise an error."""

import copy
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Engine

from structperc import files
from structperc.crfsuite import read_crfsuite
from structperc.errors import DataError, ModelFormatError, OptionError, PluginError
from structperc.files.crfsuite import parsed

FOLDER = Path(__file__).with_name("crfsuite")
MODEL = FOLDER / "words.crfsuite"               # written by python-crfsuite 0.9.12, lbfgs
CONTENT = MODEL.read_bytes()
ANSWERS = json.loads(FOLDER.joinpath("words.json").read_text(encoding="utf-8"))        # its tags and marginals
X = [sentence["tokens"] for sentence in ANSWERS["sentences"]]
TAGS = [sentence["tags"] for sentence in ANSWERS["sentences"]]


@pytest.fixture
def tagger():
    return read_crfsuite(MODEL)


def test_tags_and_marginals_are_those_of_crfsuite(tagger):
    assert tagger.classes_.tolist() == ANSWERS["labels"]
    assert tagger.predict(X).tolist() == TAGS
    for found, sentence in zip(tagger.predict_marginals(X), ANSWERS["sentences"], strict=True):
        assert np.allclose(found, sentence["marginals"], rtol=0, atol=1e-12)


def test_it_is_saved_explained_and_copied(tagger, tmp_path):
    tagger.save(tmp_path / "words.model")
    assert Engine.load(tmp_path / "words.model").predict(X).tolist() == TAGS
    assert copy.deepcopy(tagger).predict(X).tolist() == TAGS
    assert "word:the" in str(tagger.explain([{"word": "the"}]))


@pytest.mark.parametrize("options", [{}, {"average": True}, {"update": "log-loss", "step_size": 0.1}, {"update": "pa1", "C": 0.1}])
def test_training_goes_on_from_its_weights(options):
    tagger = read_crfsuite(MODEL, **options)
    before = tagger.coef_
    tagger.partial_fit(X[:1], TAGS[:1])
    assert options.get("update") == "log-loss" or options.get("update") == "pa1" or np.array_equal(tagger.coef_, before)
    y = [["Adv"] * len(sentence) for sentence in X]
    for _ in range(20):
        tagger.partial_fit(X, y)
    assert sum(a == b for a, b in zip(tagger.predict(X).tolist(), y, strict=True)) > len(y) / 2


def test_the_command_writes_a_model(run, tmp_path):
    assert run("import-crfsuite", MODEL, "-o", tmp_path / "words.model") == (0, "", "")
    assert Engine.load(tmp_path / "words.model").predict(X).tolist() == TAGS
    code, _, err = run("import-crfsuite", FOLDER / "words.json", "-o", tmp_path / "no.model")
    assert code == 2 and "begins with" in err and "expected lCRF" in err and not (tmp_path / "no.model").exists()
    code, _, err = run("import-crfsuite", tmp_path / "none", "-o", tmp_path / "no.model")
    assert code == 2 and "cannot be read" in err


def changed(at, number):
    return CONTENT[:at] + struct.pack("<I", number) + CONTENT[at + 4:]


FEATURES, LABELS, ATTRIBUTES = struct.unpack_from("<3I", CONTENT, 28)
LINKS = LABELS + struct.unpack_from("<I", CONTENT, LABELS + 20)[0]
FIRST = LABELS + struct.unpack_from("<I", CONTENT, LINKS)[0]


@pytest.mark.parametrize(("content", "message"), [
    (b"", r"begins with b''; expected lCRF"),
    (CONTENT[:30], "the header would end at byte 48 of 30"),
    (CONTENT[:-1], rf"truncated: it has {len(CONTENT) - 1} of {len(CONTENT)} bytes"),
    (changed(8, 0), "a model of type"),
    (changed(12, 101), "version 101"),
    (changed(20, 1 << 20), "1048576 labels; expected at most"),
    (changed(20, 2), "a feature has label 3; there are 2"),
    (changed(20, 9), "names 4 labels; expected 9"),
    (changed(20, 1 << 13), "names 4 labels; expected 8192"),
    (changed(20, (1 << 13) + 1), "8193 labels; expected at most 8192"),
    (changed(24, 3), "a feature has attribute"),
    (changed(28, len(CONTENT)), "the chunk of features would end at byte"),
    (changed(28, LABELS), "expected FEAT"),
    (changed(FEATURES + 8, 1 << 31), "of 2147483648 features does not fit"),
    (changed(FEATURES + 12, 7), "a feature is of kind 7"),
    (changed(FEATURES + 28, 0x7FF00000), "a feature has the weight"),
    (changed(32, ATTRIBUTES + 1), "should be a database of names"),
    (changed(LINKS, 1 << 30), "label 0 would end at byte"),
    (changed(FIRST, 1), "the name of label 0 has the number 1"),
    (changed(FIRST + 4, 1 << 20), "label 0 has the number 0 and 1048576 bytes"),
    (CONTENT.replace("word:größe".encode(), "word:größe".encode("latin-1") + b"\0\0"), "no UTF-8 text: attribute"),
    (CONTENT.replace(b"word:dog\0", b"word:cat\0"), "two of its attributes have one name"),
])  # fmt: skip
def test_what_is_no_model_is_refused_in_a_sentence(content, message, tmp_path):
    path = tmp_path / "bent.crfsuite"
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=message) as caught:
        read_crfsuite(path)
    assert str(caught.value).startswith(repr(str(path))) and str(caught.value).endswith(".")


@given(st.data())
def test_mutated_files_are_read_or_refused(data):
    content = bytearray(CONTENT)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content) - 1) | st.integers(0, 100) | st.integers(LABELS, LABELS + 30))
        content[at:at + 4] = data.draw(st.binary(min_size=4, max_size=4) | st.sampled_from([b"\0\0\0\0", b"\xff\xff\xff\xff"]))
    try:
        found = parsed(bytes(content[:data.draw(st.integers(0, len(content)) | st.just(len(content)))]))
    except ModelFormatError:
        return
    assert len(found.labels) == len(set(found.labels)) and len(found.attributes) == len(set(found.attributes))
    assert np.isfinite(found.states["weight"]).all() and (found.states["source"] < len(found.attributes)).all()


@pytest.mark.parametrize(("options", "error", "message"), [
    ({"update": "adagrad"}, PluginError, "AdaGradWeights cannot take over the weights of a file"),
    ({"plugins": ["dual-kernel"], "kernel": "rbf"}, PluginError, "cannot take over the weights of a file"),
    ({"epoch": 3}, OptionError, "epoch"),
])  # fmt: skip
def test_options_that_cannot_take_weights_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        read_crfsuite(MODEL, **options)


DATA = "B-NP\tw[0]=the\tpos:2.5\nI-NP\tw[0]=a\\:b\tw[0]=a\\:b:0.5\tc\\\\d:-1e3\n\n\n\\:\tplain\nO\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_data_files_are_read_with_their_weights_and_escapes(ending, tmp_path):
    path = tmp_path / "train"
    path.write_bytes("\ufeff".encode() + DATA.replace("\n", ending).encode())
    part = files.read(path, format="crfsuite")
    X, y = part.X, part.y
    assert X == [[{"w[0]=the": 1.0, "pos": 2.5}, {"w[0]=a:b": 1.5, "c\\d": -1000.0}], [{"plain": 1.0}, {}]]
    assert y == [["B-NP", "I-NP"], [":", "O"]]
    tagger = Engine("sequence", random_state=0, classes=["B-NP", "I-NP", ":", "O"]).fit(X * 3, y * 3)
    assert tagger.predict(X).tolist() == y


@pytest.mark.parametrize(("line", "message"), [
    ("\ta", "begins with a tab, so its label is empty"), ("O\ta:b", "the attribute 'a:b' has no finite number behind its colon"),
    ("O\ta:1:2", "behind its colon"), ("O\ta:nan", "behind its colon"), ("O\ta:", "behind its colon"),
])  # fmt: skip
def test_a_line_that_is_no_item_is_named(line, message, tmp_path):
    path = tmp_path / "train"
    path.write_text("O\tx\n\n" + line + "\n")
    with pytest.raises(DataError, match=f"train, line 3.*{message}"):
        files.read(path, format="crfsuite")
    path.write_bytes(b"\n\n")
    with pytest.raises(DataError, match="train has no items; expected LABEL, a tab, and attributes"):
        files.read(path, format="crfsuite")
    path.write_bytes(b"O\t\xff\n")
    with pytest.raises(DataError, match="train, line 1 is no text in UTF-8"):
        files.read(path, format="crfsuite")
