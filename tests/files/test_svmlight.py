"""Reading svmlight: what comes out, whole and part by part, and which line an error names."""

import codecs
import io
import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from structperc import files
from structperc.errors import DataError, MissingExtra
from structperc.files import svmlight
from structperc.files.opening import OPENERS


def survey(path):
    with files.open(path) as file:
        return file.survey()


class TestSvmlight:
    def test_columns_are_what_the_file_calls_them(self, write):
        table = files.read(write("3 1:0.5 4:2 # note\n\n1 2:-1\n", "data.svm"))
        assert isinstance(table.X, csr_matrix) and table.X.dtype == np.float64
        assert table.X.toarray().tolist() == [[0, 0.5, 0, 0, 2], [0, 0, -1, 0, 0]]
        assert table.y.tolist() == [3, 1] and table.y.dtype == np.int64

    def test_groups_are_the_queries(self, write):
        path = write("1 qid:7 1:1\n0 qid:7 1:2\n1 qid:3 2:1\n", "data.svm")
        assert files.read(path, group="qid").offsets.tolist() == [0, 2, 3]
        assert files.read(path).offsets is None
        with pytest.raises(DataError, match="lacks qid:NUMBER on some lines"):
            files.read(write("1 1:1\n", "plain.svm"), group="qid")

    def test_labels_that_are_no_whole_numbers_stay(self, write):
        assert files.read(write("1.5 1:1\n2 1:1\n", "data.svm")).y.tolist() == [1.5, 2.0]

    def test_training_and_test_files_agree_on_columns(self, write):
        train, test = files.read(write("1 1:1 3:5\n", "a.svm")), files.read(write("1 1:7\n", "b.svm"), n_features=4)
        assert test.X.shape[1] == train.X.shape[1] and test.X[0, 1] == 7

    @pytest.mark.parametrize(("content", "message"), [
        ("", "no examples"),
        ("low 1:1\n", "no svmlight file"),
        ("a,b,y\n1,2,3\n", "no svmlight file"),
        ("1 3:1 2:1\n", "no svmlight file"),
        ("1 1:1\n2 2:nan\n", "example 2: a value of feature 2 is nan"),
        ("1 1:1\nnan 2:1\n", "example 2: the target is nan"),
        ("1 9:1\n", "has the feature 9, but n_features=5, the number of columns of the training rows, allows features up to 4"),
    ])  # fmt: skip
    def test_broken_files_are_answered(self, write, content, message):
        path = write(content, "data.svm")
        with pytest.raises(DataError) as error:
            files.read(path, n_features=5)
        assert message in str(error.value) and str(path) in str(error.value)

    def test_without_scikit_learn_the_extra_is_named(self, write, monkeypatch):
        monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
        with pytest.raises(MissingExtra, match=r"needs scikit-learn; install structperc\[cli\]"):
            files.read(write("1 1:1\n", "data.svm"))

    @pytest.mark.parametrize("index", [2**31, 2**40, 2**62])
    def test_an_index_beyond_all_memory_is_refused(self, write, index):
        path = write(f"1 1:1\n2 {index}:1\n", "data.svm")
        with pytest.raises(DataError, match="data.svm has a feature or query beyond 2147483647"):
            files.read(path)
        with pytest.raises(DataError, match=f"has the feature {index}; expected at most 2147483647"):
            survey(path)

    def test_the_largest_index_of_libsvm_is_a_column(self, write):
        assert survey(write("1 1:1\n2 2147483647:1\n", "data.svm"))[1] == 2**31

    @pytest.mark.parametrize("line", [
        "1 -1:1", "1 99999999999999999999:1", "1 1:1 1:2", "1 0x1:1", "1 1:", "1 :1", "x", "1 1:1:1", "1,2 1:1",
        "1 qid:99999999999999999999",
    ])  # fmt: skip
    def test_hostile_lines(self, write, line):
        path = write(f"1 1:1\n{line}\n", "data.svm")
        with pytest.raises(DataError, match="data.svm"):
            files.read(path)

    @pytest.mark.parametrize("rows", [1, 2, 3, 100])
    def test_parts_are_the_file(self, write, rows):
        path = write("3 1:0.5 4:2 # note\n\n1 2:-1\n2 0:1\n# nothing\n", "data.svm")
        parts = list(files.stream(path, n_features=5, rows=rows))
        assert np.array_equal(np.vstack([part.X.toarray() for part in parts]), files.read(path).X.toarray())
        assert [label for part in parts for label in part.y] == [3, 1, 2] and parts[-1].first + len(parts[-1].y) == 3
        labels, n_features = survey(path)
        assert labels.tolist() == [1, 2, 3] and labels.dtype == np.int64 and n_features == 5


def test_a_long_query_is_looked_at_once(tmp_path, monkeypatch):
    lines = [f"1 qid:{7 if i < 2000 else 8} 1:{i}\n" for i in range(2100)]
    (tmp_path / "long.svm").write_text("".join(lines))
    looked_at, query_of = [], svmlight.query_of

    def counted(line):
        looked_at.append(line)
        return query_of(line)

    monkeypatch.setattr(svmlight, "query_of", counted)
    parts = list(files.stream(tmp_path / "long.svm", group="qid", rows=10))
    assert [part.lengths.tolist() for part in parts] == [[2000], [100]] and len(looked_at) <= 2 * len(lines)


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".xz"])
def test_a_byte_order_mark_is_read_over(tmp_path, ending):
    """In a file, in parts of it, in a survey, and on standard input, which cannot be read again."""
    text, path = codecs.BOM_UTF8 + b"1 qid:1 1:0.5\n2 qid:1 2:1\n", tmp_path / f"a.svm{ending}"
    with OPENERS.get(ending, open)(path, "wb") as file:
        file.write(text)
    assert files.read(path).y.tolist() == [1, 2] and survey(path)[0].tolist() == [1, 2]
    assert [part.y.tolist() for part in files.stream(path, n_features=3, rows=1)] == [[1], [2]]


@pytest.mark.parametrize("pipe", [io.BytesIO, lambda text: io.BufferedReader(io.BytesIO(text))])
def test_a_byte_order_mark_on_standard_input(monkeypatch, pipe):
    for text in (codecs.BOM_UTF8 + b"1 1:0.5\n2 2:1\n", b"1 1:0.5\n2 2:1\n"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(pipe(text)))
        assert files.read("-", format="svmlight").y.tolist() == [1, 2]


def test_ends_of_lines_of_old_macs_are_named(tmp_path):
    (tmp_path / "a.svm").write_bytes(b"1 1:0.5\r2 2:1\r")
    with pytest.raises(DataError, match=r"line 1 has a carriage return within it; save the file with ends of lines of Unix"):
        files.read(tmp_path / "a.svm")


def test_a_file_of_svmlight_by_another_ending_is_named(tmp_path):
    (tmp_path / "ranks.txt").write_text("2 qid:1 1:0.5 2:1 #docid = 7\n0 qid:1 1:0.25\n")
    with pytest.raises(DataError, match=r"It looks like svmlight: pass --format svmlight \(in Python, format='svmlight'\)\.$"):
        files.read(tmp_path / "ranks.txt", group="qid")
    assert files.read(tmp_path / "ranks.txt", group="qid", format="svmlight").y.tolist() == [2, 0]
