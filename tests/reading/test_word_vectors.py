"""Word vectors from a file: models equal those of tokens that hold the vectors, and keep what predictions need."""

import gzip
import re

import numpy as np
import pytest
from plain import Engine

from structperc import Engine as Recommended
from structperc.errors import DataError, DataWarning, OptionError
from structperc.estimators import SequenceTagger
from structperc.files import read_vectors
from structperc.streams import Slices, fit_stream

WORDS = [f"w{i}" for i in range(24)]
KIND = {word: i % 3 for i, word in enumerate(WORDS)}
VECTORS = {word: [float(kind == KIND[word]) + i / 64 for kind in range(3)] for i, word in enumerate(WORDS[:20])}


def sentences(words, seed):
    random = np.random.default_rng(seed)
    X = [[(str(word), "tag") for word in random.choice(words, 5)] for _ in range(12)]
    return X, [["ABC"[KIND[word]] for word, _ in sentence] for sentence in X]


@pytest.fixture
def path(tmp_path):
    text = "".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in VECTORS.items())
    (tmp_path / "vectors.txt").write_text(text)
    return str(tmp_path / "vectors.txt")


def with_vectors(X):
    """The same tokens as lists of a name and a vector, where there is one."""
    return [[[f"U:{word}", *([np.float32(VECTORS[word])] if word in VECTORS else [])] for word, _ in sentence] for sentence in X]


@pytest.mark.parametrize("options", [{}, {"n_hashed": 64}, {"n_shards": 2}, {"min_count": 2}], ids=str)
def test_models_are_those_of_tokens_that_hold_the_vectors(path, options):
    X, y = sentences(WORDS, 0)
    other = Engine("sequence", epochs=3, random_state=0, **options).fit(with_vectors(X), y)
    found = Engine("sequence", epochs=3, random_state=0, template="U:%x[0,0]", vectors=path, **options).fit(X, y)
    assert np.array_equal(found.coef_, other.coef_) and found.mistakes_ == other.mistakes_
    assert found.predict(X).tolist() == other.predict(with_vectors(X)).tolist()


def test_words_that_training_has_not_seen_are_known_by_their_vectors_and_the_file_is_not_needed_again(path, tmp_path):
    X, y = sentences(WORDS[:12], 1)
    new, labels = sentences(WORDS[12:20], 2)
    new = [[(word.upper(), tag) for word, tag in sentence] for sentence in new]        # the file has no capitals
    plain = SequenceTagger(columns=["word", "tag"], random_state=0).fit(X, y)
    model = SequenceTagger(columns=["word", "tag"], vectors=path, random_state=0).fit(X, y)
    assert model.score(new, labels) > 0.9 > plain.score(new, labels)
    named = SequenceTagger(columns=["tag", "word"], vectors=path, vector_column="word", random_state=0)
    turned = named.fit([[(tag, word) for word, tag in one] for one in X], y)
    assert turned.score([[(tag, word) for word, tag in one] for one in new], labels) > 0.9
    model.save(tmp_path / "m")
    (tmp_path / "vectors.txt").unlink()
    assert list(Recommended.load(tmp_path / "m").predict(new)) == model.predict(new)


def test_commands_keep_the_vectors_in_the_model(path, tmp_path, run):
    X, y = sentences(WORDS[:12], 1)
    new, labels = sentences(WORDS[12:20], 2)
    for name, one, tags in (("train", X, y), ("test", new, labels)):
        (tmp_path / name).write_text("\n".join("".join(f"{word} {label}\n" for (word, _), label in zip(*pair, strict=True))
                                               for pair in zip(one, tags, strict=True)))
    (tmp_path / "t").write_text("U:%x[0,word]")
    columns = ("--columns", "word,label", "--template", tmp_path / "t")
    whole = ("fit", "sequence", tmp_path / "train", *columns, "--vectors", path, "--model", tmp_path / "m")
    for more in ((), ("--stream", "--rows", "5")):
        assert run(*whole, *more)[0] == 0
        (tmp_path / "vectors.txt").rename(tmp_path / "away")
        code, out, err = run("evaluate", tmp_path / "m", tmp_path / "test")
        (tmp_path / "away").rename(path)
        assert (code, err) == (0, "") and float(re.search(r"accuracy\s+([\d.]+)", out)[1]) > 0.8
    code, _, err = run("fit", "segments", tmp_path / "train", *columns, "--vectors", path, "--model", tmp_path / "m")
    assert code == 2 and "segments has no option for word vectors; sequence has" in err
    code, _, err = run(*whole, "--set", "vectors=x")
    assert code == 2 and "vectors is set with --vectors" in err
    assert run(*whole[:-1], path)[0] == 2, "the model would replace its own vectors"


def test_a_stream_reads_the_vectors_once_and_looks_up_further_words(path):
    X, y = sentences(WORDS, 0)
    options = {"random_state": 0, "shuffle": False, "template": "U:%x[0,0]", "vectors": path, "n_hashed": 64, "classes": list("ABC")}
    streamed, whole = fit_stream(Engine("sequence", epochs=2, **options), Slices(X, y, rows=5)), Engine("sequence", epochs=2, **options)
    assert np.array_equal(streamed.coef_, whole.fit(X, y).coef_)


@pytest.mark.parametrize(("text", "size", "words"), [
    (b"2 3\na 1 2 3\nb 4 5 6\n", 3, "ab"), (b"\xef\xbb\xbfa 1 2\n", 2, "a"), (b"a\t1\t2\r\nb\t3\t4\r\n", 2, "ab"),
    (b"a 1 2 \nb 3 4 \n", 2, "ab"),
    (b"a 1 2\na 3 4\nb 5 6", 2, "ab"), (b"2 1\nA 1\nb 2\n", 1, "Ab"), ("\u00e9 1 2\n".encode(), 2, "\u00e9"),
])  # fmt: skip
def test_files_of_all_writers_are_read(text, size, words, tmp_path):
    (tmp_path / "v").write_bytes(text)
    with gzip.open(tmp_path / "v.gz", "wb") as file:
        file.write(text)
    for name in ("v", "v.gz"):
        vectors = read_vectors(tmp_path / name)
        assert (vectors.size, len(vectors), vectors.words.names()) == (size, len(words), list(words))
    assert vectors["b" if "b" in words else words].dtype == np.float32 and "zz" not in vectors
    assert ("B" in vectors) == ("b" in words and "A" not in words), "small letters where the file has no capitals"
    with pytest.raises(KeyError, match="zz"):
        vectors["zz"]


def test_a_phrase_of_several_words_has_the_last_numbers(tmp_path):
    (tmp_path / "v").write_text("a 1 2\n. . 3 4\n")
    assert read_vectors(tmp_path / "v")[". ."].tolist() == [3.0, 4.0]


@pytest.mark.parametrize(("text", "sentence"), [
    (b"", "has no words; expected a word and its coordinates"), (b"a 1 2\nb 3\n", "line 2 is 'b 3': expected a word and 2 coordinates"),
    (b"a 1 2\nb x 3\n", "line 2: a coordinate of 'b' is no number"), (b"a 1 nan\n", "line 1: a coordinate of 'a' is not finite"),
    (b"a 1\n\xff 2\n", "line 2 is no UTF-8 text"), (b"a\n", "line 1 is 'a': expected a word and its coordinates"),
])  # fmt: skip
def test_what_is_no_file_of_vectors_is_refused_with_its_line(text, sentence, tmp_path):
    (tmp_path / "v").write_bytes(text)
    with pytest.raises(DataError, match=sentence):
        read_vectors(tmp_path / "v")


def test_vectors_that_nothing_is_looked_up_in_are_refused_or_warned_of(path):
    X, y = sentences(WORDS, 0)
    with pytest.raises(OptionError, match="vectors are those of words in a column: name the columns"):
        SequenceTagger(vectors=path).fit([[["a"]]], [["A"]])
    with pytest.raises(OptionError, match="vector_column='lemma'; expected one of the columns word, tag"):
        SequenceTagger(vectors=path, columns=["word", "tag"], vector_column="lemma").fit(X, y)
    with pytest.raises(OptionError, match="vector_column='word' has no effect without vectors"):
        SequenceTagger(columns=["word", "tag"], vector_column="word").fit(X, y)
    with pytest.warns(DataWarning, match="none of the 60 tokens has a word vector"):
        SequenceTagger(vectors=path, columns=["word", "tag"], vector_column="tag").fit(X, y)
    with pytest.raises(FileNotFoundError):
        SequenceTagger(vectors=f"{path}.gz", columns=["word", "tag"]).fit(X, y)
