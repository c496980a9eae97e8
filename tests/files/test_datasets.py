"""Data sets are read from their folder, or downloaded once. Files with other checksums are not kept."""

import gzip
import hashlib
import http.server
import io
import os
import sys
import threading
import zipfile
from pathlib import Path

import attrs
import numpy as np
import pytest
from structperc_parsing.heads import find_circle, find_crossing

from structperc.errors import DataError, MissingData, MissingExtra, OptionError, StructPercError
from structperc.files.datasets import (
    PARTITIONED,
    SOURCES,
    archived,
    data_home,
    fetch,
    load_conll2000,
    load_fables,
    load_letor_ohsumed,
    load_numbers,
    load_partitions,
    load_ud_english_ewt,
    locate,
    sources,
)
from structperc.metrics import tag_scheme

CHUNKED = b"He PRP B-NP\nreckons VBZ B-VP\n\nRockwell NNP B-NP\n\n"
CONLLU = "\n".join([
    "# text = I don't",
    *("\t".join([number, form, form, tag, *"______"]) for number, form, tag in
      [("1", "I", "PRON"), ("2-3", "don't", "_"), ("2", "do", "AUX"), ("3", "n't", "PART"), ("3.1", "know", "VERB")]),
    "", "",
]).encode()


# ---- a server with small files, and sources with their checksums ----


def archive(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            opened.writestr(f"conll2000/{name}.txt", content)
    return buffer.getvalue()


@pytest.fixture
def server(monkeypatch):
    """A local server instead of the real one. It sends `files[path]`, and records the requested paths in `asked`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.lstrip("/")
            self.server.asked.append(path)
            content = self.server.files.get(path)
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *arguments):
            """Quiet."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.files, running.asked = {}, []
        thread = threading.Thread(target=running.serve_forever, args=[0.01])
        thread.start()
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        monkeypatch.setattr(fetch, "BASE_URL", f"http://127.0.0.1:{running.server_port}")
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def small(monkeypatch):
    """Sources with the checksums of small files."""
    for name, content in {"conll2000": CHUNKED, "ud_english_ewt": CONLLU}.items():
        files = tuple(attrs.evolve(file, sha256=hashlib.sha256(content).hexdigest()) for file in SOURCES[name].files)
        monkeypatch.setitem(SOURCES, name, attrs.evolve(SOURCES[name], files=files))


def fill(home, name, content, compressed=True):
    folder = home / SOURCES[name].folder
    folder.mkdir()
    for file in SOURCES[name].files:
        if compressed:
            (folder / f"{file.name}.gz").write_bytes(gzip.compress(content))
        else:
            (folder / file.name).write_bytes(content)


def everything_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


# ---- folders ----


def test_the_environment_names_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("STRUCTPERC_DATA", str(tmp_path))
    assert data_home() == tmp_path
    monkeypatch.setenv("STRUCTPERC_DATA", "~/data")
    assert data_home() == Path.home() / "data"


@pytest.mark.parametrize("platform, variable, below", [("linux", "XDG_CACHE_HOME", ".cache"), ("win32", "LOCALAPPDATA", "AppData/Local"),
                                                       ("darwin", None, "Library/Caches")])
@pytest.mark.parametrize("unset", ["absent", "empty"])
def test_else_it_is_the_users_cache(monkeypatch, tmp_path, platform, variable, below, unset):
    if unset == "absent":
        monkeypatch.delenv("STRUCTPERC_DATA", raising=False)
    else:
        monkeypatch.setenv("STRUCTPERC_DATA", "")
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.delenv(variable or "XDG_CACHE_HOME", raising=False)
    assert data_home() == Path.home() / below / "structperc"
    if variable:
        monkeypatch.setenv(variable, str(tmp_path))
        assert data_home() == tmp_path / "structperc"


# ---- files that exist ----


@pytest.mark.parametrize("compressed", [True, False])
def test_files_that_are_there_are_read(tmp_path, compressed, server):
    fill(tmp_path, "conll2000", CHUNKED, compressed)
    fill(tmp_path, "ud_english_ewt", CONLLU, compressed)

    chunked = load_conll2000(home=tmp_path)
    assert chunked.name == "CoNLL-2000"
    assert chunked.columns == ("word", "pos", "chunk")
    assert chunked.train == chunked.test == [[("He", "PRP", "B-NP"), ("reckons", "VBZ", "B-VP")], [("Rockwell", "NNP", "B-NP")]]
    assert chunked.dev == []

    tagged = load_ud_english_ewt(home=tmp_path)
    assert tagged.name == "UD English EWT"
    assert tagged.columns == ("form", "upos")
    assert tagged.train == tagged.dev == tagged.test == [[("I", "PRON"), ("do", "AUX"), ("n't", "PART")]]
    assert server.asked == []


def test_the_environment_is_asked_when_no_folder_is_given(tmp_path, monkeypatch):
    fill(tmp_path, "conll2000", CHUNKED)
    monkeypatch.setenv("STRUCTPERC_DATA", str(tmp_path))
    assert locate("conll2000", download=False) == [tmp_path / "conll2000" / "train.txt.gz", tmp_path / "conll2000" / "test.txt.gz"]


def test_reading_files_that_are_there_needs_no_requests(tmp_path, monkeypatch):
    fill(tmp_path, "conll2000", CHUNKED)
    monkeypatch.setitem(sys.modules, "requests", None)
    found = load_conll2000(home=tmp_path)
    assert len(found.train) == 2
    assert repr(found).endswith("train=<2 sentences>, dev=<0 sentences>, test=<2 sentences>)")


def test_a_file_with_too_few_columns(tmp_path):
    fill(tmp_path, "conll2000", b"He PRP\n\n", compressed=False)
    with pytest.raises(DataError, match=r"train\.txt has 2 cells .*word, pos, chunk"):
        load_conll2000(home=tmp_path)


def test_nothing_is_fetched_against_the_users_will(tmp_path, server):
    with pytest.raises(MissingData) as caught:
        load_conll2000(download=False, home=tmp_path)
    assert isinstance(caught.value, StructPercError) and isinstance(caught.value, OSError)
    for said in ("CoNLL-2000", str(tmp_path / "conll2000"), "train.txt.gz", "test.txt.gz", "STRUCTPERC_DATA", "download=False"):
        assert said in str(caught.value)
    assert server.asked == [] and everything_in(tmp_path) == []


@pytest.mark.parametrize("compressed", [True, False])
def test_a_table_of_numbers(tmp_path, compressed, server):
    fill(tmp_path, "parkinsons", b"subject#,age,PPE\n1,72,0.25\n2,58,3.38e-005", compressed)

    table = load_numbers("parkinsons", home=tmp_path)
    assert table.name == "Parkinsons telemonitoring"
    assert table.columns == ("subject#", "age", "PPE")
    assert table.values.tolist() == [[1, 72, 0.25], [2, 58, 3.38e-5]]
    assert table.column("age").tolist() == [72, 58]
    assert table.without("subject#", "PPE").tolist() == [[72], [58]]
    assert server.asked == []


@pytest.mark.parametrize("content, said", [
    (b"length,rings\n0.4,many\n", "is no table of numbers"), (b"length,rings\n0.4,1,2\n", "has 3 numbers in a row and 2 columns"),
    (b"length,rings\n0.4,1\n0.5\n", "is no table of numbers"), (b"length,rings\n", "has no rows"), (b"", "has no rows"),
])
def test_what_is_no_table_of_numbers(tmp_path, content, said):
    fill(tmp_path, "abalone", content, compressed=False)
    with pytest.raises(DataError, match=rf"abalone\.csv {said}.*remove it"):
        load_numbers("abalone", home=tmp_path)


def test_a_damaged_table(tmp_path):
    fill(tmp_path, "abalone", b"length,rings\n0.4,1\n" * 50)
    path = tmp_path / "chu_ghahramani" / "abalone.csv.gz"
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(DataError, match=r"abalone\.csv\.gz is no table of numbers"):
        load_numbers("abalone", home=tmp_path)


def members(name, bins=(5, 10)):
    return sorted(PARTITIONED[name].member(part, b, k) for part in ("train", "test") for b in bins for k in range(1, 21))


def numbered(member):
    """Two rows that identify a file. Features show the partition and whether it is training data. The first rank is the number of bins."""
    number = member.rpartition(".")[2]
    bins = member.partition("bins")[0]
    return f"{number}.00000 {float('train' in member)} {bins}\n{number}.00000 0.5 1\n".encode()


@pytest.mark.parametrize("bins", [5, 10])
@pytest.mark.parametrize("compressed", [True, False])
def test_partitions_come_in_their_order(tmp_path, compressed, bins, server):
    fill(tmp_path, "diabetes_partitions", archived(*map(numbered, members("diabetes")), names=members("diabetes")), compressed)

    partitions = load_partitions("diabetes", bins, home=tmp_path)
    assert len(partitions) == 20
    for number, one in enumerate(partitions, 1):
        assert one.X.tolist() == [[number, 1], [number, 0.5]]
        assert one.X_test.tolist() == [[number, 0], [number, 0.5]]
        assert one.y.tolist() == one.y_test.tolist() == [bins, 1]
        assert one.X.flags.c_contiguous and one.y.dtype == np.int64
    assert server.asked == []


@pytest.mark.parametrize("content, said", [
    (b"0.5 6\n", "5bins/wpbc_train_5.1 does not hold .* ranks 1..5"), (b"0.5 0\n", "ranks 1..5"), (b"0.5 1.5\n", "ranks 1..5"),
    (b"0.5 nan\n", "ranks 1..5"), (b"3\n", "does not hold features"), (b"", "does not hold features"), (b"0.5,3\n", "could not convert"),
    (b"0.5 3\n3\n", "number of columns"),
])
def test_what_is_no_partition(tmp_path, content, said):
    fill(tmp_path, "wisconsin_partitions", archived(*[content] * 40, names=members("wisconsin", [5])))
    with pytest.raises(DataError, match=rf"wisconsin_partitions\.tar\.gz is not the archive that it should be: .*{said}.*remove it"):
        load_partitions("wisconsin", home=tmp_path)


def test_a_partition_that_is_not_in_the_archive(tmp_path):
    fill(tmp_path, "wisconsin_partitions", archived(*[b"1 1\n"] * 39, names=members("wisconsin", [5])[:-1]))
    with pytest.raises(DataError, match="wpbc_train_5.9"):
        load_partitions("wisconsin", home=tmp_path)


def test_a_damaged_archive(tmp_path):
    fill(tmp_path, "abalone_partitions", archived(*map(numbered, members("abalone")), names=members("abalone")))
    path = tmp_path / "chu_ghahramani" / "abalone_partitions.tar.gz"
    whole = path.read_bytes()
    for content in (whole[:-12], whole[:40], b"", b"a page instead of an archive"):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"abalone_partitions\.tar\.gz is not the archive that it should be"):
            load_partitions("abalone", home=tmp_path)


@pytest.mark.parametrize("arguments, said", [
    (("iris",), "name='iris'; expected one of diabetes, pyrimidines"), (("diabetes", 7), "bins=7; expected 5 or 10"),
    (("diabetes", "5"), "bins='5'; expected 5 or 10"),
])
def test_partitions_that_are_not_there(tmp_path, arguments, said):
    with pytest.raises(OptionError, match=said):
        load_partitions(*arguments, home=tmp_path)


# ---- files that are downloaded ----


def test_fetched_once_checked_and_kept(tmp_path, server, small, capfd):
    server.files[sources.CONLL2000_ZIP] = archive(train=CHUNKED, test=CHUNKED)
    home = tmp_path / "not" / "there"

    first = load_conll2000(home=home)
    assert first.test == [[("He", "PRP", "B-NP"), ("reckons", "VBZ", "B-VP")], [("Rockwell", "NNP", "B-NP")]]
    assert everything_in(home) == ["conll2000", "conll2000/test.txt.gz", "conll2000/train.txt.gz"]
    assert gzip.decompress((home / "conll2000" / "train.txt.gz").read_bytes()) == CHUNKED
    assert load_conll2000(home=home) == first
    assert server.asked == [sources.CONLL2000_ZIP]      # one archive for both files, and only once
    assert capfd.readouterr() == ("", "")


def test_files_without_an_archive(tmp_path, server, small):
    for file in SOURCES["ud_english_ewt"].files:
        server.files[file.path] = CONLLU
    assert load_ud_english_ewt(home=tmp_path).dev == [[("I", "PRON"), ("do", "AUX"), ("n't", "PART")]]
    assert len(everything_in(tmp_path)) == 4


def test_only_what_is_missing_is_fetched(tmp_path, server, small):
    fill(tmp_path, "ud_english_ewt", CONLLU, compressed=False)
    wanted = SOURCES["ud_english_ewt"].files[1]
    (tmp_path / "ud_english_ewt" / wanted.name).unlink()
    server.files[wanted.path] = CONLLU
    load_ud_english_ewt(home=tmp_path)
    assert server.asked == [wanted.path]


ARFF = b"% Rows\r\n@relation x\r\n@attribute Sex {M, F, I}\r\n@data\r\nM,0.5,15\r\nI,0.25,7\r\nF,1,9\r\n"
MADE = {
    "california": ([ARFF], [sources.CALIFORNIA_COLUMNS + b"\nM,0.5,15\nI,0.25,7\nF,1,9\n"]),
    "abalone": ([ARFF], [sources.ABALONE_COLUMNS + b"\n1,0,0,0.5,15\n0,0,1,0.25,7\n0,1,0,1,9\n"]),
    "parkinsons": ([b"age,PPE\n72,0.25"], [b"age,PPE\n72,0.25\n"]),
    "lightgbm_lambdarank": ([b"0 2:0.1\n3 1:0.5 4:1\n1 3:0.2\n", b"2\n1\n", b"2 1:0.3\n", b"1\n"],
                            [b"0 qid:1 2:0.1\n3 qid:1 1:0.5 4:1\n1 qid:2 3:0.2\n", b"2 qid:202 1:0.3\n"]),
    "machinecpu_partitions": ([*map(numbered, members("machinecpu"))],
                              [archived(*map(numbered, members("machinecpu")), names=members("machinecpu"))]),
}


def serve(server, name, contents):
    paths = [path for file in SOURCES[name].files for path in (file.path, *file.beside)]
    server.files.update(zip(paths, contents, strict=True))
    return paths


@pytest.mark.parametrize("name", MADE)
def test_what_is_fetched_is_brought_into_form(tmp_path, server, monkeypatch, name):
    fetched, kept = MADE[name]
    paths = serve(server, name, fetched)
    files = tuple(attrs.evolve(file, sha256=hashlib.sha256(content).hexdigest())
                  for file, content in zip(SOURCES[name].files, kept, strict=True))
    monkeypatch.setitem(SOURCES, name, attrs.evolve(SOURCES[name], files=files))

    assert [gzip.decompress(path.read_bytes()) for path in locate(name, home=tmp_path)] == kept
    assert server.asked == paths


@pytest.mark.parametrize("name, fetched", [
    ("california", [b"a page instead of a table"]), ("lightgbm_lambdarank", [b"0 2:0.1\n", b"2\n", b"2 1:0.3\n", b"1\n"]),
    ("lightgbm_lambdarank", [b"0 2:0.1\n", b"one\n", b"2 1:0.3\n", b"1\n"]),
])
def test_what_cannot_be_brought_into_form_leaves_nothing_behind(tmp_path, server, name, fetched):
    paths = serve(server, name, fetched)
    with pytest.raises(MissingData, match=f"could not be fetched from {fetch.BASE_URL}/{paths[0]}"):
        locate(name, home=tmp_path)
    assert everything_in(tmp_path) == []


WHOLE = archive(train=CHUNKED, test=CHUNKED)


@pytest.mark.parametrize("content", [archive(train=CHUNKED, test=b"something else\n"), archive(train=CHUNKED), WHOLE[:-30], b"", None],
                         ids=["another", "missing", "cut", "empty", "none"])
def test_what_is_wrong_leaves_nothing_behind(tmp_path, server, small, content):
    server.files[sources.CONLL2000_ZIP] = content
    home = tmp_path / "home"
    with pytest.raises(MissingData) as caught:
        load_conll2000(home=home)
    for said in (fetch.BASE_URL, str(home / "conll2000"), "train.txt.gz", "STRUCTPERC_DATA"):
        assert said in str(caught.value)
    assert not home.exists()


def test_no_damage_to_an_archive_goes_unnoticed(tmp_path, server, small):
    noticed = 0
    for at in range(0, len(WHOLE), 3):
        server.files[sources.CONLL2000_ZIP] = WHOLE[:at] + bytes([WHOLE[at] ^ 255]) + WHOLE[at + 1:]
        home = tmp_path / str(at)
        try:
            assert len(load_conll2000(home=home).train) == 2        # the byte has no meaning, such as one of a date
        except MissingData:
            assert not home.exists()
            noticed += 1
    assert noticed > 50


def test_a_wrong_checksum_says_both(tmp_path, server, small):
    for file in SOURCES["ud_english_ewt"].files:
        server.files[file.path] = CONLLU
    changed = CONLLU.replace(b"PRON", b"NOUN")
    server.files[SOURCES["ud_english_ewt"].files[2].path] = changed
    with pytest.raises(MissingData, match="en_ewt-ud-test.conllu has the SHA-256 checksum") as caught:
        load_ud_english_ewt(home=tmp_path)
    for content in (CONLLU, changed):
        assert hashlib.sha256(content).hexdigest() in str(caught.value)
    assert everything_in(tmp_path) == []


def test_a_server_that_does_not_answer(tmp_path, server):
    port = server.server_port
    server.shutdown()
    server.server_close()
    with pytest.raises(MissingData, match=f"could not be fetched from http://127.0.0.1:{port}.*Put train.txt.gz, test.txt.gz there"):
        load_conll2000(home=tmp_path)
    assert everything_in(tmp_path) == []


def test_a_folder_that_cannot_be_written(tmp_path, server, small):
    server.files[sources.CONLL2000_ZIP] = archive(train=CHUNKED, test=CHUNKED)
    (tmp_path / "home").write_text("a file where the folder should be")
    with pytest.raises(MissingData, match="was fetched but could not be written there"):
        load_conll2000(home=tmp_path / "home")
    assert everything_in(tmp_path) == ["home"]


def test_without_requests_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "requests", None)
    with pytest.raises(MissingExtra, match=r"CoNLL-2000 is not in .*; fetching it needs requests; install structperc\[data\]"):
        load_conll2000(home=tmp_path)


# ---- the real files, if they exist ----


def real(name):
    """The paths of a data set. If it is missing, the test is skipped: tests download nothing."""
    if not os.environ.get("STRUCTPERC_DATA"):
        pytest.skip("STRUCTPERC_DATA names no folder with data sets")
    try:
        return locate(name, download=False)
    except MissingData as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", SOURCES)
def test_checksums_are_those_of_the_real_files(name):
    for path, file in zip(real(name), SOURCES[name].files, strict=True):
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        assert hashlib.sha256(content).hexdigest() == file.sha256


def size(sentences):
    return len(sentences), sum(map(len, sentences))


def test_folds_of_queries(tmp_path):
    """Three fifths for training, one for validation, one for testing. Columns count from 1 in the files."""
    folder = tmp_path / "letor3_ohsumed"
    folder.mkdir()
    for part in range(1, 6):
        lines = [f"{document % 3} qid:{10 * part + query} {part}:0.5 45:{query} #docid = 7\n"
                 for query in range(2) for document in range(part)]
        folder.joinpath(f"S{part}.txt").write_text("".join(lines))
    folds = load_letor_ohsumed(home=tmp_path)
    assert len(folds) == 5
    for first, fold in enumerate(folds):
        numbers = [(first + i) % 5 + 1 for i in range(5)]
        assert fold.train.lengths.tolist() == [n for n in numbers[:3] for _ in range(2)]
        for part, own in ((fold.validation, numbers[3]), (fold.test, numbers[4])):
            assert part.lengths.tolist() == [own, own] and part.y.tolist() == [d % 3 for d in range(own)] * 2
            assert part.X.shape == (2 * own, 45) and (part.X[:, own - 1] == 0.5).all() and part.X[:, 44].tolist() == [0] * own + [1] * own


@pytest.mark.parametrize("text, said", [
    ("1 1:0.5\n", "lacks qid:NUMBER on some lines"), ("1 qid:1 46:2\n", "has the feature 46"), ("", "has no examples"),
    ("?\n", "is no svmlight file"),
])
def test_what_is_no_fold_of_queries(tmp_path, text, said):
    folder = tmp_path / "letor3_ohsumed"
    folder.mkdir()
    for part in range(1, 6):
        folder.joinpath(f"S{part}.txt").write_text(text)
    with pytest.raises(DataError, match=said):
        load_letor_ohsumed(home=tmp_path)


def test_conll2000_is_whole():
    real("conll2000")
    data = load_conll2000(download=False)
    assert (size(data.train), size(data.dev), size(data.test)) == ((8936, 211727), (0, 0), (2012, 47377))
    assert len({tag for sentence in data.train for _, _, tag in sentence}) == 22
    assert data.train[0][:2] == [("Confidence", "NN", "B-NP"), ("in", "IN", "B-PP")]


def test_ud_english_ewt_is_whole():
    real("ud_english_ewt")
    data = load_ud_english_ewt(download=False)
    assert (size(data.train), size(data.dev), size(data.test)) == ((12544, 204577), (2001, 25147), (2077, 25094))
    assert len({tag for sentence in data.train for _, tag in sentence}) == 17
    assert data.dev[0][:2] == [("From", "ADP"), ("the", "DET")]


def test_letor_ohsumed_is_whole():
    real("letor3_ohsumed")
    folds = load_letor_ohsumed(download=False)
    assert [len(fold.test.lengths) for fold in folds] == [22, 21, 21, 21, 21]
    assert sum(np.bincount(fold.test.y) for fold in folds).tolist() == [11303, 2585, 2252]
    X = np.concatenate([fold.test.X for fold in folds])
    assert X.shape == (16140, 45) and (X.min(), X.max()) == (0, 1)
    assert np.flatnonzero(~X.any(axis=0)).tolist() == [4, 5, 6, 19, 20, 21, 34, 35, 36]


@pytest.mark.parametrize("name, shape, target, ends", [
    ("california", (20640, 9), "medianHouseValue", (14999, 500001)), ("abalone", (4177, 11), "rings", (1, 29)),
    ("parkinsons", (5875, 22), "total_UPDRS", (7, 54.992)),
])
def test_tables_of_numbers_are_whole(name, shape, target, ends):
    real(name)
    table = load_numbers(name, download=False)
    assert table.values.shape == shape and len(table.columns) == shape[1]
    assert (table.column(target).min(), table.column(target).max()) == ends
    assert np.isfinite(table.values).all()


@pytest.mark.parametrize("name, rows, features, ranks", [
    ("diabetes", (30, 13), 2, {5: [5, 6, 22, 8, 2], 10: [2, 3, 3, 3, 10, 12, 4, 2, 2, 2]}),
    ("wisconsin", (130, 64), 32, {5: [67, 41, 43, 24, 19], 10: [46, 21, 28, 13, 25, 18, 14, 10, 9, 10]}),
    ("abalone", (1000, 3177), 10, {5: [448, 3036, 557, 129, 7], 10: [17, 431, 1648, 1388, 432, 125, 100, 29, 4, 3]}),
])
def test_partitions_are_whole(name, rows, features, ranks):
    real(f"{name}_partitions")
    for bins, counts in ranks.items():
        partitions = load_partitions(name, bins, download=False)
        for one in partitions:
            assert (one.X.shape, one.X_test.shape) == ((rows[0], features), (rows[1], features))
            assert np.bincount(np.concatenate([one.y, one.y_test]))[1:].tolist() == counts
        assert len({one.X.tobytes() for one in partitions}) == 20


def test_the_fables_are_trees_and_phrases():
    fables = load_fables()
    for sentence in fables.train + fables.test:
        heads = [head for _, _, head, _, _ in sentence]
        assert heads.count(0) == 1 and find_circle(heads) == [] and find_crossing(heads) is None
        assert [label for _, _, head, label, _ in sentence if not head] == ["root"]
    assert tag_scheme([[chunk for *_, chunk in sentence] for sentence in fables.train]) == "iob2"
    assert (sum(map(len, fables.train)), sum(map(len, fables.test)), fables.dev) == (408, 222, [])
