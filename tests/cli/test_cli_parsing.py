"""The command line on treebanks: heads and labels are learned from CoNLL-U, and filled in."""

from pathlib import Path

import pytest
from plain import Engine

from structperc import files
from structperc.estimators import DependencyParser

TRAIN = """\
# sent_id = 1
# text = The dog doesn't bark
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t2:det\t_
2\tdog\tdog\tNOUN\tNN\t_\t5\tnsubj\t5:nsubj\t_
3-4\tdoesn't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
3\tdoes\tdo\tAUX\tVBZ\t_\t5\taux\t5:aux\t_
4\tn't\tnot\tPART\tRB\t_\t5\tadvmod\t5:advmod\t_
5\tbark\tbark\tVERB\tVB\t_\t0\troot\t0:root\t_

1\tCats\tcat\tNOUN\tNNS\t_\t2\tnsubj\t2:nsubj\t_
2\tsleep\tsleep\tVERB\tVBP\t_\t0\troot\t0:root\t_
2.1\tsleep\tsleep\tVERB\tVBP\t_\t_\t_\t0:root\tCopyOf=2
# a comment at the end

"""
CROSSING = TRAIN + """\
1\ta\t_\tX\tX\t_\t3\tdep\t_\t_
2\tb\t_\tX\tX\t_\t4\tdep\t_\t_
3\tc\t_\tX\tX\t_\t0\troot\t_\t_
4\td\t_\tX\tX\t_\t3\tdep\t_\t_

"""
SETTINGS = ("--set", "epochs=20", "--set", "loss_weight=1", "--set", "average=true", "--set", "n_hashed=65536")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A current folder with two treebanks."""
    monkeypatch.chdir(tmp_path)
    Path("train.conllu").write_text(TRAIN)
    Path("crossing.conllu").write_text(CROSSING)
    return tmp_path


def heads_taken_out(text):
    """The text with nothing in the columns of heads and labels of words."""
    lines = [line.split("\t") for line in text.split("\n")]
    return "\n".join("\t".join([*cells[:6], "_", "_", *cells[8:]] if len(cells) == 10 and cells[0].isdecimal() else cells)
                     for cells in lines)


def test_heads_and_labels_are_filled_in_and_all_other_lines_kept(run):
    status, out, _ = run("fit", "parsing", "train.conllu", "--model", "m", *SETTINGS)
    assert status == 0
    assert "2 sentences, 7 tokens" in out and "form, lemma, xpos, upos" in out
    Path("bare.conllu").write_text(heads_taken_out(TRAIN))
    assert run("predict", "m", "bare.conllu", "--output", "found.conllu")[0] == 0
    assert Path("found.conllu").read_text() == TRAIN
    status, out, _ = run("evaluate", "m", "train.conllu")
    assert status == 0
    assert all(f"{name:<19}  1.0000" in out for name in ("UAS", "LAS", "LAS with subtypes", "whole trees"))


def test_streams_learn_the_same(run):
    for name, further in (("whole", ()), ("parts", ("--stream", "--rows", "1"))):
        assert run("fit", "parsing", "train.conllu", "--model", name, "--set", "epochs=2", "--set", "n_hashed=4096", *further)[0] == 0
    X = files.read("train.conllu", columns=("form", "lemma", "xpos", "upos")).X
    whole, parts = (Engine.load(name) for name in ("whole", "parts"))
    assert whole.classes_.tolist() == parts.classes_.tolist() == ["advmod", "aux", "det", "nsubj", "root"]
    assert [s.tolist() for s in whole.atom_scores(X)] == [s.tolist() for s in parts.atom_scores(X)]


@pytest.mark.parametrize(("feats", "columns"), [("Number=Sing", ("form", "lemma", "xpos", "feats", "upos")),
                                                ("_", ("form", "lemma", "xpos", "upos"))])
@pytest.mark.parametrize("order", [1, 2])
def test_the_command_learns_what_the_estimator_learns_from_the_columns_that_the_file_fills(run, feats, columns, order):
    Path("train.conllu").write_text(TRAIN.replace("\tNN\t_", f"\tNN\t{feats}"))
    order_two = ("--set", "order=2", "--set", "projective=true") if order == 2 else ()
    assert run("fit", "parsing", "train.conllu", "--model", "m", "--set", "n_hashed=4096", "--set", "preset=recommended",
               *order_two)[0] == 0
    engine = Engine.load("m")
    X = files.read("train.conllu", columns=columns).X
    y = [[(int(head), label) for head, label in tree] for tree in files.read("train.conllu", columns=("head", "deprel")).X]
    options = {"n_hashed": 4096, "random_state": 0, "order": order, "projective": order == 2}
    named = DependencyParser(columns=columns, **options).fit(X, y)
    dicts = [[dict(zip(columns, token, strict=True)) for token in sentence] for sentence in X]
    unnamed = DependencyParser(**options).fit([[{**token, "misc": "_"} for token in sentence] for sentence in dicts], y)
    assert tuple(engine.plugin_options["columns"]) == columns
    assert [s.tolist() for s in engine.atom_scores(X)] == [s.tolist() for s in named.engine_.atom_scores(X)]
    assert [s.tolist() for s in engine.atom_scores(X)] == [s.tolist() for s in unnamed.engine_.atom_scores(dicts)]
    assert "%d[0,1]" in engine.plugin_options["template"]


def test_heads_alone_are_learned_and_filled_in(run):
    assert run("fit", "parsing", "train.conllu", "--columns", "form,upos", "--target", "head", "--model", "m", *SETTINGS)[0] == 0
    assert run("predict", "m", "train.conllu", "--output", "found.conllu")[0] == 0
    assert Path("found.conllu").read_text() == TRAIN
    out = run("evaluate", "m", "train.conllu")[1]
    assert "UAS" in out and "LAS" not in out


def test_columns_without_names_of_their_own(run):
    Path("train.txt").write_text("the D 2 det\ndog N 3 nsubj\nbarks V 0 root\n\ncats N 2 nsubj\nsleep V 0 root\n")
    named = ("train.txt", "--columns", "word,tag,head,deprel")
    assert run("fit", "parsing", *named, "--model", "m", *SETTINGS)[0] == 0
    assert Engine.load("m").plugin_options["target"] == ["head", "deprel"]
    assert "LAS" in run("evaluate", "m", *named)[1]
    assert run("fit", "parsing", "train.txt", "--columns", "word,tag,h,_", "--target", "h", "--model", "m", *SETTINGS)[0] == 0


def test_trees_with_crossing_arcs_are_refused_or_lifted(run):
    small = ("--set", "n_hashed=65536")
    projective = ("fit", "parsing", "crossing.conllu", "--model", "m", *small, "--set", "projective=true")
    status, _, message = run(*projective)
    assert status != 0
    assert "y[2] is no tree that can be learned from: the arc from" in message and "crosses" in message and "lift=True" in message
    assert run(*projective, "--set", "lift=true")[0] == 0
    assert Engine.load("m").n_lifted_ == 1
    assert run("fit", "parsing", "crossing.conllu", "--model", "m", *small)[0] == 0
    assert "lift=True makes trees projective" in run("fit", "parsing", "train.conllu", "--model", "m", *small, "--set", "lift=true")[2]


def test_the_target_is_set_by_its_flag(run):
    assert "target is set with --target" in run("fit", "parsing", "train.conllu", "--model", "m", "--set", "target=head")[2]


# ---- trees that are none ----


def changed(line, column, cell):
    """TRAIN with another cell in a line, counted from 0."""
    lines = TRAIN.split("\n")
    cells = lines[line].split("\t")
    lines[line] = "\t".join([*cells[:column], cell, *cells[column + 1:]])
    return "\n".join(lines)


@pytest.mark.parametrize(("line", "column", "cell", "message"), [
    (2, 6, "9", "has the head '9'; expected a whole number from 0 (the root) to 5. y[0][0] is in line 3 (sent_id 1) of"),
    (2, 6, "1", "the words 1 -> 1 head each other in a circle; correct it or leave the sentence out. y[0] is in line 3 (sent_id 1) of"),
    (2, 6, "0", "the words 1 and 5 both have the head 0, but one_root allows one"),
    (2, 6, "_", "y[0][0] has no head; a tree has one for each word. Fill it in, or leave the sentence out. y[0][0] is in line 3 (sent"),
    (2, 7, "_", "y[0][0] has no label; give each word of all sentences one, or learn only heads. y[0][0] is in line 3 (sent_id 1) of"),
    (10, 6, "2", "is in line 10 of broken.conllu"),
])  # fmt: skip
@pytest.mark.parametrize("further", [(), ("unknown",), ("--stream", "--rows", "1")])
def test_what_is_no_tree_is_named_by_its_line_at_fit_and_evaluate(run, line, column, cell, message, further):
    """Also where some relation is unknown to the model."""
    Path("broken.conllu").write_text(changed(line, column, cell))
    settings = (*SETTINGS[2:], *(further if len(further) > 1 else ()))
    code, out, err = run("fit", "parsing", "broken.conllu", "--model", "m", *settings)
    assert code == 2 and message in err
    if "--stream" not in further and "head '9'" not in message and column == 6 and cell != "_":
        Path("broken.conllu").write_text(changed(line, column, cell).replace("advmod", "strange" if further else "advmod"))
        assert run("fit", "parsing", "train.conllu", "--model", "m", *settings)[0] == 0
        code, out, err = run("evaluate", "m", "broken.conllu")
        assert code == 2 and message in err and out == ""


@pytest.mark.parametrize("columns", [(6,), (7,), (6, 7)])
def test_predict_fills_in_heads_and_labels_that_are_nothing(run, columns):
    text = "\n".join("\t".join("_" if j in columns else cell for j, cell in enumerate(line.split("\t"))) if line[:1].isdigit() else line
                     for line in TRAIN.split("\n"))
    Path("blank.conllu").write_text(text)
    assert run("fit", "parsing", "train.conllu", "--model", "m", *SETTINGS)[0] == 0
    assert run("predict", "m", "blank.conllu", "--output", "filled.conllu")[0] == 0
    assert run("predict", "m", "train.conllu", "--output", "again.conllu")[0] == 0
    assert Path("filled.conllu").read_bytes() == Path("again.conllu").read_bytes()


def test_crossing_arcs_are_right_trees_of_a_projective_model(run):
    assert run("fit", "parsing", "train.conllu", "--model", "m", "--set", "projective=true", *SETTINGS)[0] == 0
    code, out, err = run("evaluate", "m", "crossing.conllu")
    assert (code, err) == (0, "") and "UAS" in out
