"""Faults of the ids of CoNLL-U: each is named by its line and the sent_id."""

import pytest

from structperc import files
from structperc.errors import DataError

REST = "\t_" * 9
GOOD = ["# sent_id = a", "1", "2", "", "# sent_id = b-2", "1-2", "1", "1.1", "1.2", "2", "3", "3.1", ""]


def text(ids):
    return "".join(f"{line}{'' if line.startswith('#') or not line else REST}\n" for line in ids)


@pytest.fixture
def saved(tmp_path):
    def saved(content):
        (tmp_path / "t.conllu").write_text(content)
        return tmp_path / "t.conllu"

    return saved


def test_ids_in_their_places(saved):
    assert [len(sentence) for sentence in files.read(saved(text(GOOD))).X] == [2, 3]
    for ids in (["0.1", "1"], ["1-1", "1"], ["1-2", "1", "2", "3-4", "3", "4"], ["# sent_id=x", "1", "# within", "2"]):
        assert len(files.read(saved(text(ids))).X) == 1


@pytest.mark.parametrize(("ids", "line", "message"), [
    (["1", "3"], 2, "the word with the id 3 is behind word 1; expected the id 2. A line is missing, or ids are wrong"),
    (["2", "3"], 1, "the word with the id 2 is at the beginning; expected the id 1"),
    (["1", "2", "1", "2"], 3, "the ids begin again with 1 behind 2; put a blank line between two sentences"),
    (["1", "2", "# sent_id = other", "1"], 4, "the ids begin again"),
    (["1", "1"], 2, "the ids begin again"),
    (["1", "2", "2"], 3, "the word with the id 2 is behind word 2; expected words in the order of their ids"),
    (["1", "3", "2"], 2, "expected the id 2"),
    (["0"], 1, "begins with '0'; expected an id of CoNLL-U"), (["01"], 1, "begins with '01'"), (["1", "１"], 2, "begins with '１'"),
    (["1", "-"], 2, "begins with '-'"), (["1" * 5000], 1, "begins with '1111"), (["1", "_"], 2, "begins with '_'"),
    (["2-1", "1", "2"], 1, "the range 2-1 ends before it begins"),
    (["1", "1-2", "2"], 2, "the range 1-2 is behind word 1; expected it before its first word, 1"),
    (["3-4", "1"], 1, "the range 3-4 is behind word 0"),
    (["1-3", "1", "2"], 1, "the range 1-3 goes beyond the last word of the sentence, 2"),
    (["1-3", "1", "2-3", "2", "3"], 3, "the range 2-3 overlaps with 1-3"), (["1-2", "1-2", "1", "2"], 2, "overlaps"),
    (["1", "2.1", "2"], 2, "the empty node 2.1 is behind word 1; expected 1.1"),
    (["1", "1.2"], 2, "expected 1.1"), (["1", "1.1", "1.1"], 3, "expected 1.2"), (["1", "0.1"], 2, "expected 1.1"),
    (["1-2"], 1, "the sentence has no word"), (["0.1"], 1, "the sentence has no word"),
])  # fmt: skip
def test_each_fault_is_named_by_its_line(saved, ids, line, message):
    before = text([*GOOD, "", "# sent_id = c 1"])
    path = saved(before + text(ids))
    for read in (lambda: files.read(path), lambda: list(files.stream(path, rows=1))):
        with pytest.raises(DataError) as error:
            read()
        assert f"t.conllu, line {before.count(chr(10)) + line} (sent_id c 1)" in str(error.value) and message in str(error.value)


def test_places_of_tokens(saved):
    file = files.read(saved("\ufeff# c\n\n" + text(GOOD)))
    assert file.place(0, 1).startswith("line 5 (sent_id a) of") and file.place(1).startswith("line 9 (sent_id b-2) of")
    *_, last = files.stream(file.path, rows=1)
    assert last.place(0, 2).startswith("line 13 (sent_id b-2) of")


def test_the_ending_of_the_name_decides(saved, tmp_path):
    path = saved(text(GOOD))
    (tmp_path / "t.txt").write_bytes(path.read_bytes())
    right = files.read(path, format="conllu").X
    assert files.read(path).sentences == files.read(path).X == right
    assert [one for part in files.stream(str(path), rows=1) for one in part.sentences] == right
    assert files.read(path, columns=["form"]).X == files.read(tmp_path / "t.txt", columns=["form"], format="conllu").X
    for wrong in (lambda: files.read(tmp_path / "t.txt", format="conll"), lambda: files.read(path, format="conll")):
        with pytest.raises(DataError, match="cells"):
            wrong()
