"""Files of columns: what is read, what is written back, and what is wrong with a file."""

import bz2
import gzip
import io
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structperc import files
from structperc.errors import DataError, OptionError
from structperc.files.conll import write_columns

CHUNKS = """\
He PRP B-NP
reckons VBZ B-VP

-DOCSTART- -X- O
Yes UH O
"""
SENTENCES = [[("He", "PRP", "B-NP"), ("reckons", "VBZ", "B-VP")], [("-DOCSTART-", "-X-", "O"), ("Yes", "UH", "O")]]
CONLLU = """\
# newdoc
# text = Cannot see 1 000
1-2\tCannot\t_\t_\t_\t_\t_\t_\t_\t_
1\tCan\tcan\tAUX\tMD\t_\t3\taux\t_\t_
# a comment within
2\tnot\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tsee\tsee\tVERB\tVB\t_\t0\troot\t_\t_
3.1\tsee\tsee\tVERB\tVB\t_\t_\t_\t_\t_
4\t1 000\t1000\tNUM\tCD\t_\t3\tobj\t_\t_

1\t#\t#\tSYM\t#\t_\t0\troot\t_\t_
"""
WORDS = [[("Can", "AUX"), ("not", "PART"), ("see", "VERB"), ("1 000", "NUM")], [("#", "SYM")]]


def cells_of(path, columns=None, format="conll"):
    return files.read(path, format=format, columns=columns).X


@pytest.fixture
def saved(tmp_path):
    """Writes a text to a file, and gives its path."""

    def saved(text, name="data.txt"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / name

    return saved


@pytest.mark.parametrize("text", [
    CHUNKS,
    CHUNKS.rstrip("\n"),                                # no end of the last line
    CHUNKS.replace("\n", "\r\n"),
    "\n \n" + CHUNKS.replace("\n\n", "\n\n \t\n\n") + "\n\n",       # more blank lines
    CHUNKS.replace(" ", "   ").replace("He", "  He") + "  ",
    CHUNKS.replace(" ", "\t"),
    "\ufeff" + CHUNKS,
])  # fmt: skip
def test_sentences_of_tokens_of_cells(saved, text):
    assert cells_of(saved(text)) == SENTENCES


def test_only_spaces_and_tabs_part_cells(saved):
    assert cells_of(saved("1\u00a0000 N\u2028\n")) == [[("1\u00a0000", "N\u2028")]]
    assert cells_of(saved("New York\tNNP\nis VBZ\n")) == [[("New York", "NNP"), ("is", "VBZ")]]


def test_named_columns_are_chosen_and_others_left_out(saved):
    path = saved(CHUNKS)
    assert cells_of(path, ["word", "pos", "chunk"]) == SENTENCES
    assert cells_of(path, ["word", "-", "chunk"])[0] == [("He", "B-NP"), ("reckons", "B-VP")]
    assert cells_of(path, ["_", "pos", "_"])[0] == [("PRP",), ("VBZ",)]


def test_conllu_has_comments_multiword_tokens_and_empty_nodes(saved):
    path = saved(CONLLU)
    assert [[token[0] for token in sentence] for sentence in cells_of(path, format="conllu")] == [["1", "2", "3", "4"], ["1"]]
    assert cells_of(path, ["form", "upos"], format="conllu") == WORDS
    assert cells_of(path, ["-", "form", "-", "upos", *"-" * 6], format="conllu") == WORDS
    assert cells_of(path, ["upos", "form"], format="conllu")[1] == [("SYM", "#")]


def test_the_target_is_y_and_no_part_of_X(saved):
    part = files.read(saved(CHUNKS), format="conll", columns=["word", "_", "chunk"], target="chunk")
    assert part.X[0] == [("He",), ("reckons",)] and part.y == [["B-NP", "B-VP"], ["O", "O"]]
    part = files.read(saved(CONLLU, "a.CONLLU"), columns=["form"], target=["head", "deprel"])
    assert part.X[1] == [("#",)] and part.y[1] == [("0", "root")]
    assert files.read(saved(CONLLU, "a.CONLLU"), columns="form", target="lemma").y[1] == ["#"]
    assert files.read(saved("a _\n", "a.conll"), columns=["x", "y"], target="y").y == [[None]]
    for how, message in (({"target": "chunk"}, "name these too, such as columns="),
                         ({"columns": ["a", "b", "c"], "target": "d"}, "a, b, c"),
                         ({"columns": ["_", "_", "c"], "target": "c"}, "no column of .* is left to learn from")):
        with pytest.raises(OptionError, match=message):
            files.read(saved(CHUNKS), format="conll", **how)


def test_lines_that_begin_with_a_hash_are_tokens_elsewhere(saved):
    assert cells_of(saved("# $\n5 CD\n")) == [[("#", "$"), ("5", "CD")]]


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)])
def test_compressed_files(saved, suffix, compress):
    content = compress(CHUNKS.encode())
    assert cells_of(saved(content, f"data{suffix}")) == SENTENCES
    for broken in (content[:-10], b"no " + content):
        with pytest.raises(DataError, match=rf"broken{suffix} is damaged or no {suffix} file"):
            cells_of(saved(broken, f"broken{suffix}"))


# ---- errors ----


@pytest.mark.parametrize(("text", "message"), [
    ("", "data.txt has no tokens. Expected one in each line"),
    ("\n\n", "has no tokens"),
    ("a N\nb V\n\nc\n", r"data.txt, line 4 has 1 cell \('c'\), but line 1 has 2; give every token as many"),
    ("\na N\nb V x\n", "line 3 has 3 cells .*, but line 2 has 2"),
    ("a\tN\nb\t\n", "data.txt, line 2: cell 2 is empty; write _"),
    (b"a N\nb\xff V\n", "data.txt, line 2 is no text in UTF-8"),
])  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(saved, text, message):
    with pytest.raises(DataError, match=message):
        cells_of(saved(text))


@pytest.mark.parametrize(("text", "message"), [
    (CHUNKS, r"line 1 has 3 cells \('He PRP B-NP'\); a token of CoNLL-U has 10, parted by tabs: id, form"),
    ("# only a comment\n", "has no tokens"),
    ("x" + "\t_" * 9, "line 1 begins with 'x'; expected an id of CoNLL-U"),
    ("1" + "\t_" * 9 + "\n1-b" + "\t_" * 9, "line 2 begins with '1-b'"),
    ("1" + "\t_" * 9 + "\n1-" + "\t_" * 9, "line 2 begins with '1-'"),
    ("-1" + "\t_" * 9, "line 1 begins with '-1'"),
])  # fmt: skip
def test_what_is_no_conllu_is_named_with_its_line(saved, text, message):
    with pytest.raises(DataError, match=message):
        cells_of(saved(text), format="conllu")


@pytest.mark.parametrize(("text", "names", "message"), [
    (CHUNKS, ["word", "chunk"], r"has 3 cells in each line \(the first token is 'He PRP B-NP'\), but 2 columns are named: word, chunk"),
    (CHUNKS, ["word", "pos", "word"], "two columns of .*data.txt are named 'word'"),
    (CHUNKS, ["-", "_", "-"], "expected names, and _ for those to leave out"),
    (CHUNKS, [], "named not at all"),
    (CHUNKS, ["word", "", "chunk"], "named 'word', '', 'chunk'; expected names"),
    (CHUNKS, ["word"], "but 1 column is named: word; name each one"),
    (CONLLU, ["form", "tag"], "2 columns are named: form, tag; .* choose some of those of CoNLL-U by name: id, form"),
    (CONLLU, ["form", "-", "upos"], "3 columns are named: form, -, upos"),
])  # fmt: skip
def test_names_that_do_not_match_are_answered(saved, text, names, message):
    with pytest.raises(DataError, match=message):
        cells_of(saved(text), names, format="conllu" if text is CONLLU else "conll")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        cells_of(tmp_path / "absent.txt")


# ---- writing ----


def test_tokens_come_back_with_one_more_column():
    file = io.StringIO()
    write_columns(file, SENTENCES, [["B-NP", "B-VP"], ["O", "O"]])
    assert file.getvalue() == "He PRP B-NP B-NP\nreckons VBZ B-VP B-VP\n\n-DOCSTART- -X- O O\nYes UH O O\n\n"


@given(st.lists(st.lists(st.tuples(st.text("aß#-. ", min_size=1).filter(str.strip), st.text("xy", min_size=1)), min_size=1), min_size=1))
def test_what_is_written_is_read_again(tmp_path_factory, sentences):
    path = tmp_path_factory.mktemp("columns") / "written.txt"
    with open(path, "w", encoding="utf-8") as file:
        write_columns(file, sentences, [[len(token) for token in sentence] for sentence in sentences], "\t")
    read = files.read(path, format="conll")
    assert read.sentences == [[(*token, "2") for token in sentence] for sentence in sentences] and read.separator == "\t"
    assert (read.width, read.n_tokens) == (3, sum(map(len, sentences)))


@pytest.mark.parametrize("added", [[["O", "O"]], [["O"], ["O", "O"]]])
def test_cells_that_do_not_match_the_tokens_are_refused(added):
    file = io.StringIO()
    with pytest.raises(DataError, match="2 sentences with 4 tokens were given, but .* give one cell for each token"):
        write_columns(file, SENTENCES, added)
    assert file.getvalue() == ""


# ---- part by part ----


@pytest.mark.parametrize("sentences", [1, 2, 100])
@pytest.mark.parametrize("format", ["conll", "conllu"])
def test_parts_are_the_file(saved, sentences, format):
    path = saved(((CONLLU if format == "conllu" else CHUNKS) + "\n") * 3)
    parts = list(files.stream(path, format=format, rows=sentences))
    assert [sentence for part in parts for sentence in part.sentences] == cells_of(path, format=format)
    firsts = [0]
    for part in parts[:-1]:
        firsts.append(firsts[-1] + len(part.sentences))
    assert [part.first for part in parts] == firsts and all(len(part.sentences) <= sentences for part in parts)


def test_an_error_in_a_later_part_names_the_line_of_the_file(saved):
    parts = files.stream(saved(CHUNKS + "\nodd\n"), format="conll", rows=1)
    assert next(parts).n_tokens == 2 and next(parts).n_tokens == 2
    with pytest.raises(DataError, match=r"data.txt, line 7 has 1 cell \('odd'\), but line 1 has 3"):
        next(parts)


def test_a_target_of_conllu_needs_no_names_of_columns(tmp_path):
    """X is the column form, as on the command line."""
    (tmp_path / "a.conllu").write_text("1\tdogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_\n\n")
    read = files.read(tmp_path / "a.conllu", target="upos")
    assert read.X == [[("dogs",), ("bark",)]] and read.y == [["NOUN", "VERB"]]
