"""The command line on files of columns: labels for the tokens of sentences."""

import gzip
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from plain import Engine

from structperc import files, metrics
from structperc.reading.tokens import default_template

from .lines import one_line

TRAIN = """\
The DT B-NP
dog NN I-NP
barks VBZ B-VP
. . O

He PRP B-NP
sees VBZ B-VP
the DT B-NP
cat NN I-NP

Dogs NNS B-NP
bark VBP B-VP
. . O
"""
TEST = """\
The DT B-NP
cat NN I-NP
barks VBZ B-VP

He PRP B-NP
barks VBZ I-NP
"""
CONLLU = """\
# text = The dog barks
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tdog\tdog\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3-4\tbarks.\t_\t_\t_\t_\t_\t_\t_\t_
3\tbarks\tbark\tVERB\tVBZ\t_\t0\troot\t_\t_
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

# text = 1 000 cats
1\t1 000\t1000\tNUM\tCD\t_\t2\tnummod\t_\t_
2\tcats\tcat\tNOUN\tNNS\t_\t0\troot\t_\t_
"""
NAMED = ("train.txt", "--columns", "word,pos,chunk")
LEARN = ("--set", "epochs=20", "--set", "average=true")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A current folder with train.txt, test.txt and train.conllu."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("train.txt", TRAIN), ("test.txt", TEST), ("train.conllu", CONLLU)):
        Path(name).write_text(text)
    return tmp_path


@pytest.fixture
def fitted(run):
    code, _, err = run("fit", "sequence", *NAMED, "--model", "m", *LEARN)
    assert (code, err) == (0, "")
    return Engine.load("m")


def data(name, used, target):
    """X and y of a file: the columns `used` and the column `target`."""
    names = ["word", "pos", "chunk"]
    tokens = files.read(name, format="conll", columns=names).X
    return [[tuple(token[names.index(one)] for one in used) for token in sentence] for sentence in tokens], [
        [token[names.index(target)] for token in sentence] for sentence in tokens]


def predictions(out):
    """The last column of the output of predict, sentence by sentence."""
    return [[line.split()[-1] for line in block.splitlines()] for block in out.split("\n\n") if block]


# ---- fit ----


def test_fit_trains_the_engine_that_python_would_train(run):
    code, out, err = run("fit", "sequence", *NAMED, "--model", "m", "--set", "epochs=3",
                         "--set", "shuffle=true", "--set", "random_state=1", "--set", "update=pa1")
    same = Engine("sequence", epochs=3, shuffle=True, random_state=1, update="pa1", template=default_template(2), columns=["word", "pos"])
    same.fit(*data("train.txt", ["word", "pos"], "chunk"))
    loaded = Engine.load("m")
    assert (code, err) == (0, "")
    assert np.array_equal(loaded.coef_, same.coef_) and loaded.mistakes_ == same.mistakes_
    assert loaded.plugin_options["columns"] == ["word", "pos"] and loaded.plugin_options["template"] == default_template(2)
    assert loaded.classes_.tolist() == ["B-NP", "B-VP", "I-NP", "O"]
    assert "data      3 sentences, 11 tokens\n" in out and "B-NP, B-VP, I-NP, O" in out
    assert f"columns   word, pos; {same.n_features_in_} features by the default template\n" in out
    assert f"{same.mistakes_[-1] / 3:.1%} of the sentences" in out


@pytest.mark.parametrize(("name", "flags"), [
    ("train.txt", ["--columns", "word,pos,chunk"]),
    ("train.txt", ["--columns", "word,_,chunk"]),
    ("train.txt", ["--columns=-,pos,chunk"]),
    ("train.txt", ["--columns", "word,pos,chunk", "--target", "pos"]),
    ("renamed", ["--columns", "word,pos,chunk", "--format", "conll"]),
    ("train.conll", ["--columns", "word,pos,chunk"]),
    ("train.txt.gz", ["--columns", "word,pos,chunk"]),
    ("train.conllu", ["--target", "upos"]),
    ("train.conllu", ["--columns", "form,xpos", "--target", "upos"]),
    ("train.conllu", ["--columns", "form,xpos,upos"]),
    ("train.conllu", ["--columns", "_,form,_,upos,_,_,_,_,_,_"]),
    ("conllu", ["--format", "conllu", "--target", "xpos"]),
])  # fmt: skip
def test_the_commands_that_fit_recommends_work(run, name, flags):
    if not Path(name).exists():
        text = CONLLU if "conllu" in name else TRAIN
        Path(name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    code, out, err = run("fit", "sequence", name, *flags, "--model", "m", *LEARN)
    assert (code, err) == (0, "")
    lines = [line.strip() for line in out.splitlines()]
    evaluate = next(line for line in lines if line.startswith("structperc evaluate"))
    code, out, err = run(*shlex.split(evaluate.replace("OTHER_DATA", name))[1:])
    assert (code, err) == (0, "") and "token accuracy" in out
    plot = next(line for line in lines if line.startswith("structperc plot"))
    if "--target" in flags:                             # the others recommend the same command
        assert run(*shlex.split(plot)[1:])[0] == 0 and Path("m.png").read_bytes().startswith(b"\x89PNG")
    assert plot == "structperc plot m --output m.png"


def test_no_names_are_recommended_where_none_are_needed(run):
    assert "evaluate m OTHER_DATA\n" in run("fit", "sequence", *NAMED, "--model", "m")[1]
    flags = ("--columns", "word,_,chunk")
    assert "evaluate m OTHER_DATA --columns word,_,chunk\n" in run("fit", "sequence", "train.txt", *flags, "--model", "m")[1]


def test_a_column_is_left_out_of_the_features(run):
    run("fit", "sequence", "train.txt", "--columns", "word,_,chunk", "--model", "m", "--set", "epochs=3")
    same = Engine("sequence", epochs=3, template=default_template(1), columns=["word"]).fit(*data("train.txt", ["word"], "chunk"))
    assert np.array_equal(Engine.load("m").coef_, same.coef_)


def test_the_target_may_stand_anywhere(run):
    run("fit", "sequence", *NAMED, "--target", "pos", "--model", "m", "--set", "epochs=3")
    same = Engine("sequence", epochs=3, template=default_template(2), columns=["word", "chunk"])
    same.fit(*data("train.txt", ["word", "chunk"], "pos"))
    assert np.array_equal(Engine.load("m").coef_, same.coef_)


def test_a_template_is_read_from_a_file(run):
    text = "# windows\nU1:%x[0,word]\nU2:%x[-1,1]/%x[0,pos]\n"
    Path("windows.txt").write_text(text)
    arguments = (*NAMED, "--template", "windows.txt", "--model", "m", "--set", "epochs=3")
    out = run("fit", "sequence", *arguments)[1]
    same = Engine("sequence", epochs=3, template=text, columns=["word", "pos"]).fit(*data("train.txt", ["word", "pos"], "chunk"))
    assert np.array_equal(Engine.load("m").coef_, same.coef_)
    assert f"{same.n_features_in_} features by the template windows.txt" in out


def test_in_conllu_the_form_is_learned_from_where_nothing_else_is_named(run):
    run("fit", "sequence", "train.conllu", "--target", "upos", "--model", "m", *LEARN)
    assert Engine.load("m").plugin_options["columns"] == ["form"]
    assert Engine.load("m").classes_.tolist() == ["DET", "NOUN", "NUM", "PUNCT", "VERB"]


def test_labels_are_text_also_where_they_look_like_numbers(run):
    Path("numbers.txt").write_text("a 1\nb 02\n\nb 02\n")
    assert run("fit", "sequence", "numbers.txt", "--columns", "word,y", "--classes", "02,1", "--model", "m", *LEARN)[0] == 0
    assert Engine.load("m").classes_.tolist() == ["02", "1"]
    assert predictions(run("predict", "m", "numbers.txt")[1]) == [["1", "02"], ["02"]]


@pytest.mark.parametrize("given", ["iob2", '[["O", "I-NP"], [null, "I-NP"], ["B-VP", "I-NP"]]'])
def test_transitions_are_forbidden_by_name_or_as_pairs(run, given):
    Path("train.txt").write_text("a O\nb I-NP\n\nb I-NP\na B-VP\nb I-NP\n\nc B-NP\n")
    arguments = ("fit", "sequence", "train.txt", "--columns", "word,chunk", "--model", "m", "--set", f"forbidden_transitions={given}")
    code, _, err = run(*arguments)
    assert code == 2 and "y[0][1] is 'I-NP'" in err
    Path("train.txt").write_text("a O\nb O\n\nb B-NP\na I-NP\n\nc B-VP\n")
    assert run(*arguments, *LEARN)[0] == 0
    answers = predictions(run("predict", "m", "train.txt")[1])
    assert not any(pair in {("O", "I-NP"), ("B-VP", "I-NP")} for labels in answers for pair in zip(["O", *labels], labels, strict=False))


def test_a_strangers_problem_with_these_options_is_fed_from_columns_too(run, install):
    install("tagger", '"""Tagger: the same by another name."""\nfrom structperc_sequence import *\n')
    for problem in ("tagger", "sequence"):
        assert run("fit", problem, *NAMED, "--model", problem)[0] == 0
    assert np.array_equal(Engine.load("tagger").coef_, Engine.load("sequence").coef_)
    assert "these do: parsing, segments, sequence, tagger." in run("fit", "cusum", *NAMED, "--model", "m")[2]


def test_an_option_that_only_shares_the_name_is_set_as_any_other(run, install):
    install("wide", """
from structperc import Option, hookimpl
from structperc.components import AbsoluteLoss
options = {"columns": Option(3)}
problem = "cusum"
seen = []
@hookimpl
def structperc_loss(context):
    seen.append(context.options["columns"])
    return AbsoluteLoss()
""")
    Path("train.csv").write_text("a,y\n1,1\n2,2\n")
    arguments = ("fit", "cusum", "--plugin", "wide", "--model", "m")
    assert run(*arguments, "train.csv", "--target", "y", "--set", "columns=5")[0] == 0
    assert set(sys.modules["acme_wide"].seen) == {5}
    assert "does not learn from files of columns" in run(*arguments, *NAMED)[2]


# ---- predict ----


@pytest.mark.parametrize("given", [TEST, TEST.replace(" B-NP", "").replace(" I-NP", "").replace(" B-VP", "")])
def test_predict_adds_a_column(fitted, run, given):
    Path("new.txt").write_text(given)
    expected = fitted.predict(data("test.txt", ["word", "pos"], "chunk")[0]).tolist()
    assert expected[0] == ["B-NP", "I-NP", "B-VP"]
    code, out, err = run("predict", "m", "new.txt")
    assert (code, err) == (0, "") and predictions(out) == expected
    assert [line.rpartition(" ")[0] for line in out.splitlines()] == given.splitlines()
    assert run("predict", "m", "new.txt", "--output", "out.txt") == (0, "", "") and Path("out.txt").read_text() == out


def test_columns_in_another_order_are_found_by_name(fitted, run):
    expected = predictions(run("predict", "m", "test.txt")[1])
    Path("odd.txt").write_text("\n".join(f"x {pos} {word}" if word else "" for word, pos in
                                         ((line.split() + [""] * 2)[:2] for line in TEST.splitlines())))
    code, out, err = run("predict", "m", "odd.txt", "--columns", "_,pos,word")
    assert (code, err) == (0, "") and predictions(out) == expected and out.startswith("x DT The B-NP\nx NN cat I-NP\n")


def test_tabs_stay_tabs(fitted, run):
    Path("tabs.txt").write_text("New York\tNNP\nbarks\tVBZ\n")
    assert [line.count("\t") for line in run("predict", "m", "tabs.txt")[1].splitlines()] == [2, 2]


@pytest.mark.parametrize("problem", ["sequence", "segments"])
@pytest.mark.parametrize("flags", [("--target", "upos"), ("--columns", "form,upos")])
def test_predict_fills_in_the_column_of_conllu_and_keeps_all_else(run, problem, flags):
    """Blank lines, comments, ends of lines and the byte order mark stay, byte for byte."""
    text = "\ufeff\r\n" + CONLLU.replace("\n\n", "\r\n \t\n\n").replace("2\tcats", "1.1\tx" + "\t_" * 8 + "\n# here too\n2\tcats")
    text += "\n\n# at the end\n\n# no end of the line"
    if problem == "segments":
        for tag, chunk in (("DET", "B-A"), ("NOUN", "I-A"), ("VERB", "O"), ("PUNCT", "O"), ("NUM", "B-A")):
            text = text.replace(f"\t{tag}\t", f"\t{chunk}\t")
    Path("own.conllu").write_bytes(text.encode())
    assert run("fit", problem, "own.conllu", *flags, "--model", "m", *LEARN)[0] == 0
    Path("bare.conllu").write_bytes(text.replace("\tDET\t", "\t_\t").replace("\tNOUN\t", "\tX\t").replace("\tI-A\t", "\t__\t").encode())
    for flags in ((), ("--target", "upos")):
        assert run("predict", "m", "bare.conllu", *flags, "--output", "out.conllu") == (0, "", "")
        assert Path("out.conllu").read_bytes() == text.encode()
    assert run("predict", "m", "bare.conllu")[1] == text
    assert run("predict", "m", "own.conllu", "--target", "xpos", "--output", "other.conllu")[0] == 0
    other, own = (files.read(name).X[0] for name in ("other.conllu", "own.conllu"))
    assert [token[4] for token in other] == [token[3] for token in own]
    code, out, err = run("predict", "m", "own.conllu", "--target", "tag")
    assert (code, out) == (2, "") and "has no column of 'tag', which the model predicts; name the one to fill in with --target" in err


def test_a_tagger_and_a_parser_join_in_a_pipe(run):
    assert run("fit", "sequence", "train.conllu", "--columns", "form", "--target", "upos", "--model", "tags", *LEARN)[0] == 0
    assert run("fit", "parsing", "train.conllu", "--columns", "form,upos", "--model", "trees", *LEARN)[0] == 0
    lines = [line.split("\t") for line in CONLLU.split("\n")]
    bare = ["\t".join([*cells[:3], "_", cells[4], "_", "_", "_", *cells[8:]] if cells[0].isdecimal() else cells) for cells in lines]
    Path("bare.conllu").write_text("\n".join(bare))
    assert run("predict", "tags", "bare.conllu", "--output", "tagged.conllu")[0] == 0
    assert run("predict", "trees", "tagged.conllu")[1] == CONLLU


@pytest.mark.parametrize("text", ["a  N   O\r\nb V O", "\n\n a\tN\tO\n \n\t\nb\tV\tO\n\n\n", "\ufeffa N O  \n"])
def test_files_of_columns_stay_byte_for_byte_too(fitted, run, text):
    Path("odd.txt").write_bytes(text.encode())
    assert run("predict", "m", "odd.txt", "--columns", "word,pos,chunk", "--output", "out.txt") == (0, "", "")
    written = Path("out.txt").read_bytes().decode()
    pairs = list(zip(text.split("\n"), written.split("\n"), strict=True))
    assert all(new.startswith(old.rstrip("\r")) and new.endswith("\r") == old.endswith("\r") for old, new in pairs)
    assert all((new != old) == bool(old.strip()) for old, new in pairs)
    names = ("--columns", "word,pos,_,chunk", "--target", "chunk")
    assert run("predict", "m", "out.txt", *names, "--output", "again.txt")[0] == 0
    assert Path("again.txt").read_bytes() == Path("out.txt").read_bytes()


def test_a_label_that_cannot_be_a_cell_raises_an_error(run):
    X, y = data("train.txt", ["word", "pos"], "chunk")
    y = [[label.replace("B-NP", "B NP") for label in labels] for labels in y]
    Engine("sequence", epochs=20, template=default_template(2), columns=["word", "pos"]).fit(X, y).save("m")
    code, out, err = run("predict", "m", "test.txt", "--output", "out.txt")
    assert code == 2 and "the label 'B NP' is no cell of a file whose cells are parted by spaces" in err and not Path("out.txt").exists()


# ---- evaluate ----


def test_evaluate_refuses_an_empty_target(fitted, run):
    code, out, err = run("evaluate", "m", "test.txt", "--target", "")
    assert (code, out) == (2, "") and "--target '': there is no such column" in err


def test_evaluate_prints_measures_and_phrases_of_each_type(fitted, run):
    code, out, err = run("evaluate", "m", "test.txt")
    X, y = data("test.txt", ["word", "pos"], "chunk")
    assert fitted.predict(X).tolist() == [["B-NP", "I-NP", "B-VP"], ["B-NP", "B-VP"]]
    # the last token is I-NP: the right phrases are NP 0-1, VP 2; NP 0-1. Predicted: NP 0-1, VP 2; NP 0, VP 1
    assert (code, err) == (0, "") and out == """\
m (sequence) on test.txt, 2 sentences, 5 tokens
                measure   model  constant B-NP
         token accuracy  0.8000         0.4000
  whole sentences right  0.5000         0.0000
       phrase precision  0.5000         0.0000
          phrase recall  0.6667         0.0000
              phrase F1  0.5714         0.0000
    mean loss (hamming)  0.5000         1.5000
  phrases  in data  predicted  right  precision  recall      F1
      all        3          4      2     0.5000  0.6667  0.5714
       NP        2          2      1     0.5000  0.5000  0.5000
       VP        1          2      1     0.5000  1.0000  0.6667
"""
    for name, value in metrics.measures(fitted, X, y).items():
        assert any(line.split()[:-1] == [*name.split(), f"{value:.4f}"] for line in out.splitlines())


def test_labels_that_are_no_tags_of_phrases_have_no_phrases(run):
    run("fit", "sequence", "train.conllu", "--target", "upos", "--model", "m", *LEARN)
    out = run("evaluate", "m", "train.conllu", "--target", "upos")[1]
    assert [line.split()[:2] for line in out.splitlines()[2:]] == [["token", "accuracy"], ["whole", "sentences"], ["mean", "loss"]]


def test_labels_that_training_did_not_have_count_as_wrong(fitted, run):
    Path("test.txt").write_text(TEST.replace("VBZ I-NP", "VBZ I-LST"))
    code, out, err = run("evaluate", "m", "test.txt")
    assert (code, err) == (0, "") and "token accuracy  0.8000" in out and "mean loss (" not in out
    assert "  the model does not know the labels I-LST (1 token); they count as wrong, and there is no mean loss\n" in out
    assert ["LST", "1", "0", "0", "0.0000", "0.0000", "0.0000"] in [line.split() for line in out.splitlines()]


def test_rows_of_numbers_in_groups_are_tokens_too(run):
    Path("rows.csv").write_text("a,b,sentence,label\n1,0,x,B-X\n-1,0,x,O\n1,0,y,B-X\n0,1,y,I-X\n-1,0,y,O\n")
    flags = ("--target", "label", "--group", "sentence")
    code, out, err = run("fit", "sequence", "rows.csv", *flags, "--model", "m", *LEARN)
    assert (code, err) == (0, "") and "5 in 2 examples" in out
    same = Engine("sequence", epochs=20, average=True).fit(
        np.array([[1.0, 0], [-1, 0], [1, 0], [0, 1], [-1, 0]]), ["B-X", "O", "B-X", "I-X", "O"], lengths=[2, 3])
    assert np.array_equal(Engine.load("m").coef_, same.coef_)
    assert run("predict", "m", "rows.csv", "--group", "sentence")[1].split() == ["prediction", "B-X", "O", "B-X", "I-X", "O"]
    code, out, err = run("evaluate", "m", "rows.csv", *flags)
    assert (code, err) == (0, "") and "token accuracy  1.0000        0.4000" in out and "right \\ predicted" not in out
    assert ["X", "2", "2", "2", "1.0000", "1.0000", "1.0000"] in [line.split() for line in out.splitlines()]


# ---- errors ----


@pytest.mark.parametrize(("arguments", "message"), [
    (["train.txt", "--format", "conll"],
     "needs --columns, a name for each of them, such as --columns word,pos,chunk; train.txt has 3 cells in each line (the first token is "),
    (["train.txt", "--template", "windows.txt"], "a file of columns needs --columns"),
    (["train.conllu"], "is CoNLL-U; name the column to predict with --target"),
    ([*NAMED[:2], "word,chunk"], "(the first token is 'The DT B-NP'), but 2 columns are named: word, chunk; name each one"),
    ([*NAMED, "--target", "chnk"],
     "--target 'chnk': there is no such column; --columns names word, pos, chunk. Did you mean 'chunk'?"),
    ([*NAMED[:2], "word,word,chunk"], "two columns of train.txt are named 'word'"),
    ([*NAMED[:2], "_,_,chunk"], "there is no column to learn from, only the target 'chunk'; name one at least with --columns"),
    ([*NAMED[:2], ""], "there is no column to learn from; name one at least"),
    (["train.txt"], "needs --target NAME, the column of right labels; train.txt has 'The DT B-NP'. If it has one token in each line"),
    ([*NAMED, "--target", ""], "--target '': there is no such column; --columns names word, pos, chunk."),
    (["train.txt", "--target", "chunk"], "has no column 'chunk'; its columns are 'The DT B-NP'. If it has one token in each line, name"),
    (["train.conllu", "--columns", "form,tag"], "choose some of those of CoNLL-U by name"),
    (["train.conllu", "--target", "form"], "there is no column to learn from, only the target 'form'"),
    (["train.conllu", "--target", "pos"], "--target 'pos': there is no such column; the columns of CoNLL-U are id, form"),
    (["train.conllu", "--target", "upso"], "Did you mean 'upos'?"),
    (["train.txt", "--format", "conllu", "--target", "upos"], "line 1 has 3 cells ('The DT B-NP'); a token of CoNLL-U has 10"),
    ([*NAMED, "--group", "word"], "train.txt is read as conll, for which --group means nothing; leave it out"),
    ([*NAMED, "--weight", "pos"], "for which --weight means nothing"),
    ([*NAMED, "--separator", "tab"], "for which --separator means nothing; leave it out, or pass --format csv."),
    ([*NAMED, "--format", "csv"], "read as csv, for which --columns means nothing; leave it out, or pass --format conll or conllu."),
    (["train.svm", "--template", "windows.txt", "--format", "svmlight"], "read as svmlight, for which --template means nothing"),
    ([*NAMED, "--template", "absent.txt"], "absent.txt: No such file or directory."),
    ([*NAMED, "--template", "train.conllu"], "the template"),
    ([*NAMED, "--template", "latin.txt"], "latin.txt is no template in UTF-8"),
    ([*NAMED, "--set", "template=x"], "template is set with --template"),
    ([*NAMED, "--set", "columns=x"], "columns is set with --columns"),
    ([*NAMED, "--classes", "B-NP,I-NP"], "which is not one of the labels"),
    (["ragged.txt", "--columns", "word,chunk"], "ragged.txt, line 2 has 1 cell ('b'), but line 1 has 2"),
    (["absent.txt", "--columns", "word,chunk"], "absent.txt: No such file or directory."),
])  # fmt: skip
def test_wrong_usage_is_one_sentence_and_exit_code_2(run, arguments, message):
    Path("ragged.txt").write_text("a O\nb\n")
    Path("latin.txt").write_bytes("U:%x[0,0]/é".encode("latin-1"))
    code, out, err = run("fit", "sequence", *arguments, "--model", "m")
    assert (code, out) == (2, "") and message in err and err.startswith("structperc fit: ") and one_line(err)
    assert not Path("m").exists()


@pytest.mark.parametrize(("command", "content", "arguments", "message"), [
    ("predict", "a b c d\n", [],
     "new.txt has 4 cells in each line (the first token is 'a b c d'), but the model reads the columns word, pos. One more column may "
     "have labels that it knows. Name all columns of the file with --columns"),
    ("predict", "The B-NP DT\n", [], "but the model reads the columns word, pos"),      # the last column has no label of the model
    ("predict", "a b\n", ["--columns", "word,tag"],
     "the model reads the column 'pos': there is no such column; the columns of new.txt are word, tag; --columns names them."),
    ("predict", CONLLU, ["--format", "conllu"], "the model reads the column 'word'"),
    ("predict", TEST, ["--format", "csv"], "new.txt is read as csv, but the model was trained on conll or conllu"),
    ("predict", TEST, ["--group", "word"], "for which --group means nothing"),
    ("evaluate", "a b\n", [], "new.txt has the columns word, pos; name the one with the right labels by --target."),
    ("evaluate", TEST, ["--target", "pos"], "--target 'pos': the model learned from this column to predict another; name the column of"),
    ("evaluate", "a b\n", ["--target", "chunk"], "--target 'chunk': there is no such column; the columns of new.txt are word, pos"),
    ("evaluate", TEST, ["--columns", "word,chunk,pos"], "'chunk' of new.txt begins with 'DT' and has no label that the model knows"),
    ("plot", TEST, [], "predicts no ranks; leave it out"),
])  # fmt: skip
def test_data_that_do_not_suit_the_model_are_refused(fitted, run, command, content, arguments, message):
    Path("new.txt").write_text(content)
    files = ["m", "--data", "new.txt", "--output", "m.png"] if command == "plot" else ["m", "new.txt"]
    code, out, err = run(command, *files, *arguments)
    assert (code, out) == (2, "") and message in err and err.startswith(f"structperc {command}: ") and one_line(err)


def test_models_of_tables_take_no_columns(run):
    Path("train.csv").write_text("a,y\n1,1\n2,2\n")
    assert run("fit", "cusum", "train.csv", "--target", "y", "--model", "m")[0] == 0
    code, _, err = run("predict", "m", "train.txt", "--columns", "a,b,c")
    assert code == 2 and "train.txt is read as conll, but the model was trained on csv or svmlight" in err and one_line(err)


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_models_of_named_features_take_no_files(command, run):
    X, y = data("train.txt", ["word", "pos"], "chunk")
    Engine("sequence").fit([[list(token) for token in sentence] for sentence in X], y).save("m")
    code, out, err = run(command, "m", "train.txt", "--columns", "word,pos,chunk")
    assert (code, out) == (2, "") and "the model was trained on tokens with named features. Data files of CRF" in err and one_line(err)


def test_a_model_that_knows_no_names_takes_those_that_are_given(run):
    X, y = data("train.txt", ["word", "pos"], "chunk")
    Engine("sequence", epochs=20, template=default_template(2)).fit(X, y).save("m")
    code, _, err = run("evaluate", "m", "test.txt")
    assert code == 2 and "does not know the names of its columns; name those of test.txt with --columns" in err
    named = ("--columns", "word,pos,chunk", "--target", "chunk")
    assert "token accuracy  0.8000" in run("evaluate", "m", "test.txt", *named)[1]


def test_help_describes_columns_and_templates(run):
    assert "--columns" in run("fit", "--help")[1] and "%x[-1,word]/%x[0,word]" in run("help", "templates")[1]
    out = run("help", "sequence")[1]
    assert "learns from files of columns: --template and --columns" in out
    assert "template=none" not in out and "forbidden_transitions=" in out
    assert "phrases" in run("help", "measures")[1] and "--columns" in run("help", "columns")[1]


# ---- tokens without labels ----


@pytest.mark.parametrize("further", [(), ("--stream", "--rows", "1")])
def test_nothing_is_no_label(run, further):
    """A cell _ in the column of the target is an unlabelled token, in CoNLL-U and in other files."""
    for name, text, flags in (("a.conllu", CONLLU.replace("\tNOUN", "\t_", 1), ("--target", "upos")),
                              ("a.txt", TRAIN.replace("I-NP", "_", 1), ("--columns", "word,pos,chunk"))):
        Path(name).write_text(text)
        assert run("fit", "sequence", name, *flags, "--model", "m", *LEARN, *further)[0] == 0
        engine = Engine.load("m")
        assert "_" not in engine.classes_
        code, out, err = run("evaluate", "m", name, *flags)
        assert (code, err) == (0, "") and "token accuracy  1.0000" in out
    Path("a.conllu").write_text("".join(f"{i}\tw" + "\t_" * 8 + "\n" for i in (1, 2)))
    code, out, err = run("fit", "sequence", "a.conllu", "--target", "upos", "--model", "n")
    assert code == 2 and "the column 'upos' of a.conllu has _ in every line. Name the column of right labels with --target." in err
    code, out, err = run("fit", "sequence", "a.conllu", "--target", "upos", "--model", "n", "--stream")
    assert code == 2 and one_line(err)
