"""CRFsuite's own data files at the command line: trained on, filled in, measured, in parts and with models of CRFsuite."""

import gzip
import json
import shutil
from pathlib import Path

import pytest

from structperc import Engine, files

WORDS = Path(__file__).parents[1] / "files/crfsuite/words.crfsuite"
TEXT = "\ufeffB-X\tw=a\tlen:2\n\nO\tw=\\:\tw=\\\\:0.5\t\n  \nO\tw=b\nB-X\tw=a\r\n\n\n"
FIT = ("fit", "sequence", "train", "--format", "crfsuite", "--model", "m", "--set", "epochs=20")


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("train").write_bytes(TEXT.encode() * 1)
    part = files.read("train", format="crfsuite")
    return part.X, part.y


def test_fit_and_predict_keep_every_byte_but_the_labels(run, data):
    X, y = data
    assert y == [["B-X"], ["O"], ["O", "B-X"]] and X[1] == [{"w=:": 1.0, "w=\\": 0.5}]
    code, out, err = run(*FIT)
    assert (code, err) == (0, "") and "3 sentences, 4 tokens" in out and "structperc evaluate m OTHER_DATA --format crfsuite" in out
    engine = Engine.load("m")
    assert engine.predict(X).tolist() == y
    blank = TEXT.replace("B-X", "?").replace("O\t", "?\t")
    Path("new").write_bytes(blank.encode())
    for told in ((), ("--format", "crfsuite")):             # the model knows the format of its data
        assert run("predict", "m", "new", "--output", "out", *told) == (0, "", "")
        assert Path("out").read_bytes() == TEXT.encode()
    code, out, err = run("evaluate", "m", "train", "--json")
    assert code == 0 and json.loads(out)["measures"]["phrase F1"] == 1.0
    assert run("explain", "m", "train", "--row", "3")[0] == 0


@pytest.mark.parametrize("more", [(), ("--stream", "--rows", "1"), ("--stream", "--set", "n_hashed=64", "--classes", "B-X,O")])
def test_parts_and_compressed_files(run, data, more):
    Path("train.gz").write_bytes(gzip.compress(Path("train").read_bytes()))
    assert run("fit", "sequence", "train.gz", *FIT[3:], "--set", "shuffle=false", *more)[0] == 0
    assert Engine.load("m").predict(data[0]).tolist() == data[1]


def test_a_model_of_crfsuite_reads_them_too(run, data):
    shutil.copy(WORDS, "words.crfsuite")
    assert run("import-crfsuite", "words.crfsuite", "-o", "m")[0] == 0
    assert run("predict", "m", "train", "--output", "out")[0] == 0
    assert [line.partition(b"\t")[2] for line in Path("out").read_bytes().split(b"\n")] == [
        line.partition(b"\t")[2] for line in Path("train").read_bytes().split(b"\n")]


@pytest.mark.parametrize(("arguments", "message"), [
    ((*FIT, "--target", "y"), "train is read as crfsuite, for which --target means nothing"),
    ((*FIT, "--columns", "a,b"), "for which --columns means nothing"),
    ((*FIT, "--group", "a"), "for which --group means nothing"),
    (("fit", "cusum", *FIT[2:]), "cusum does not learn from these; sequence does"),
    (("fit", "parsing", *FIT[2:]), "parsing does not learn from these; sequence does"),
    (("fit", "sequence", "train", "--target", "y", "--model", "m"), "Or pass --format crfsuite for a data file of CRFsuite"),
    (("fit", "sequence", "bad", *FIT[3:]), "bad, line 2: the attribute 'w:x' has no finite number behind its colon"),
    (("fit", "sequence", "empty", *FIT[3:]), "empty has no items"),
])  # fmt: skip
def test_what_does_not_fit_is_named(run, data, arguments, message):
    Path("bad").write_text("A\tw\nB\tw:x\n")
    Path("empty").write_text("\n\n")
    code, out, err = run(*arguments)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1
