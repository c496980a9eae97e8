"""Labels, levels and missing words of files stay what they are, at every door."""

import json

import numpy as np
import pandas as pd
import pytest

from structperc import Engine, files
from structperc.cli import main
from structperc.components import TableReader
from structperc.errors import DataError
from structperc.files.tables import parse_classes

KEPT = [("007", "7"), ("1E5", "100000"), ("0.10", "0.1"), ("+1", "1"), ("1.0", "1"), (str(2**64), "1"),
        (str(2**60 + 1), "0.5"), ("01", "02")]
NUMBERS = [(["1", "2"], [1, 2]), (["-1", "0"], [-1, 0]), (["0.5", "2"], [0.5, 2.0]), ([str(2**60), str(2**60 + 1)], [2**60, 2**60 + 1])]


def written(tmp_path, labels, name="data.csv"):
    path = tmp_path / name
    pd.DataFrame({"a": np.arange(len(labels)) % 5, "y": labels}).to_csv(path, index=False)
    return str(path)


@pytest.mark.parametrize("pair", KEPT)
def test_texts_that_change_as_numbers_stay_text(tmp_path, pair, monkeypatch):
    path = written(tmp_path, [*pair] * 6)
    assert files.read(path, target="y").y.tolist() == [*pair] * 6 and parse_classes(",".join(pair)) == [*pair]
    monkeypatch.chdir(tmp_path)
    for flags in ([], ["--classes", ",".join(pair)], ["--stream", "--rows", "5"]):
        assert main(["fit", "multiclass", path, "--target", "y", "--model", "m", "--quiet", *flags]) == 0
        assert sorted(Engine.load("m").classes_.tolist()) == sorted(pair)
        assert main(["predict", "m", path, "--output", "p.csv"]) == 0
        assert set(pd.read_csv("p.csv", dtype=str)["prediction"]) <= set(pair)


@pytest.mark.parametrize(("labels", "expected"), NUMBERS)
def test_numbers_as_programs_write_them_are_numbers(tmp_path, labels, expected):
    assert files.read(written(tmp_path, labels), target="y").y.tolist() == expected


def test_the_user_may_say_either(tmp_path, capsys):
    path = written(tmp_path, ["01", "2"] * 5)
    assert files.read(path, target="y", text_labels=False).y.tolist() == [1, 2] * 5
    assert files.read(written(tmp_path, ["1", "2"]), target="y", text_labels=True).y.tolist() == ["1", "2"]
    path = written(tmp_path, ["01", "2"] * 5)
    for flag, labels in (("numbers", [1, 2]), ("text", ["01", "2"])):
        code = main(["fit", "multiclass", path, "--target", "y", "--model", str(tmp_path / "m"), "--labels", flag, "--json"])
        assert code == 0 and json.loads(capsys.readouterr().out)["labels"] == labels


def test_ranks_written_otherwise_say_how_to_read_them(tmp_path, capsys):
    path = written(tmp_path, ["01", "02"] * 5)
    command = ["fit", "prank", path, "--target", "y", "--model", str(tmp_path / "m")]
    assert main(command) == 2 and "--labels numbers" in capsys.readouterr().err
    assert main([*command, "--labels", "numbers"]) == 0


def test_parts_are_of_one_kind_or_name_the_label(tmp_path):
    path = written(tmp_path, ["1", "2", "3", "007"])
    with pytest.raises(DataError, match=r"line 5: the label '007' is no number as programs write it.* text_labels to True"):
        list(files.stream(path, target="y", rows=2))
    assert [part.y.tolist() for part in files.stream(path, target="y", rows=2, text_labels=True)] == [["1", "2"], ["3", "007"]]
    assert [part.y.tolist() for part in files.stream(path, target="y", rows=2, text_labels=False)] == [[1, 2], [3, 7]]
    path = written(tmp_path, ["007", "2", "3", "4"])
    assert [part.y.tolist() for part in files.stream(path, target="y", rows=2)] == [["007", "2"], ["3", "4"]]


class TestMissingWords:
    def test_na_is_no_label_unless_it_is_named(self, tmp_path, capsys):
        path = written(tmp_path, ["DE", "NA", "FR"] * 4)
        with pytest.raises(DataError, match=r"line 3: the label in column 'y' is 'NA'.* set missing=\{'y': \[\]\}"):
            files.read(path, target="y")
        assert files.read(path, target="y", missing={"y": []}).y.tolist() == ["DE", "NA", "FR"] * 4
        command = ["fit", "multiclass", path, "--target", "y", "--model", str(tmp_path / "m"), "--quiet"]
        assert main(command) == 2 and "--missing 'y='" in capsys.readouterr().err
        for flags in (["--missing", "y="], ["--classes", "DE,FR,NA"]):
            for stream in ([], ["--stream", "--rows", "5"]):
                assert main([*command, *flags, *stream]) == 0
                assert main(["evaluate", str(tmp_path / "m"), path]) == 0

    @pytest.mark.parametrize("mark", ["?", ".", "-", "n/a", "#N/A", "<NA>", "missing"])
    def test_marks_among_numbers_are_missing_by_an_option(self, tmp_path, mark):
        table = pd.DataFrame({"a": [*map(str, range(30)), *[mark] * 5], "y": [1, 2, 3, 1, 2] * 7})
        with pytest.raises(DataError) as error:
            TableReader().learn(table[["a"]])
        assert f"Pass missing=[{mark!r}], fill='median'" in str(error.value)
        rows = TableReader(missing=[mark], fill="median").learn(table[["a"]])
        assert rows.X[-5:].tolist() == [[14.5]] * 5
        table.to_csv(tmp_path / "d.csv", index=False)
        command = ["fit", "cusum", str(tmp_path / "d.csv"), "--target", "y", "--model", str(tmp_path / "m"), "--quiet"]
        assert main([*command, "--missing", mark, "--fill", "median"]) == 0
        assert main(["evaluate", str(tmp_path / "m"), str(tmp_path / "d.csv")]) == 0

    def test_one_rule_for_levels(self):
        countries = pd.DataFrame({"c": ["DE", "NA", "FR", ""]})
        with pytest.raises(DataError, match=r"2 empty cells \('NA'\).*if the words have a meaning, missing=\{'c': \[\]\}"):
            TableReader(one_hot=["c"]).learn(countries)
        assert TableReader(one_hot=["c"], fill="most-frequent").learn(countries).feature_names == ("c=DE", "c=FR")
        for options in ({"one_hot": ["c"], "missing": {"c": []}}, {"one_hot": {"c": ["DE", "FR", "NA"]}}):
            assert TableReader(**options, fill="most-frequent").learn(countries).feature_names == ("c=DE", "c=FR", "c=NA")


TRUTH = {"bool": [True, False, True], "nullable": pd.array([True, False, True], "boolean"), "True": ["True", "False", "True"],
         "true": ["true", "FALSE", "TRUE"], "1": [1, 0, 1], "text of 1": ["1", "0", "1"], "1.0": [1.0, 0.0, 1.0]}


@pytest.mark.parametrize("trained", TRUTH)
def test_a_truth_value_has_one_name_at_every_door(trained, recwarn):
    reader = TableReader(one_hot=["s"])
    names = reader.learn(pd.DataFrame({"s": TRUTH[trained]})).feature_names
    assert names == (("s=0", "s=1") if "1" in trained else ("s=False", "s=True"))
    for cells in TRUTH.values():
        assert reader.read(pd.DataFrame({"s": cells})).X.tolist() == [[0, 1], [1, 0], [0, 1]]
    assert not recwarn.list


@pytest.mark.parametrize("name", ["parquet", "feather"])
def test_ordered_targets_of_typed_files_keep_their_order(tmp_path, name):
    pytest.importorskip("pyarrow")
    order = ["none", "mild", "severe"]
    table = pd.DataFrame({"a": np.arange(12.0), "s": pd.Categorical(["S", "M", "L"] * 4, ["S", "M", "L"], ordered=True),
                          "y": pd.Categorical(order * 4, order, ordered=True)})
    path = str(tmp_path / f"data.{name}")
    getattr(table, f"to_{name}")(path)
    whole = files.read(path, target="y")
    assert Engine("prank", random_state=0).fit(whole.X, whole.y).classes_.tolist() == order
    for flags in ([], ["--stream", "--rows", "5"]):
        assert main(["fit", "prank", path, "--target", "y", "--model", str(tmp_path / "m"), "--quiet", *flags]) == 0
        engine = Engine.load(tmp_path / "m")
        assert engine.classes_.tolist() == order and engine.parts_.reader.input_columns().codes[1].levels == ("S", "M", "L")
        assert main(["evaluate", str(tmp_path / "m"), path]) == 0


@pytest.mark.parametrize("values", [[3, 1, 2], [1.5, 0.5, 2.0], [True, False, True]])
def test_unordered_categories_of_numbers_are_numbers_in_every_format(tmp_path, values):
    pytest.importorskip("pyarrow")
    table = pd.DataFrame({"a": np.arange(12.0), "y": pd.Categorical(values * 4)})
    for name in ("csv", "parquet", "feather"):
        path = str(tmp_path / f"data.{name}")
        getattr(table, f"to_{name}")(path, **({"index": False} if name == "csv" else {}))
        whole, parts = files.read(path, target="y").y, [part.y for part in files.stream(path, target="y", rows=5)]
        assert whole.tolist() == values * 4 == np.concatenate(parts).tolist() and whole.dtype.kind == np.array(values).dtype.kind
        with files.open(path) as file:
            assert files.read(path, target="y", text_labels=True).y.dtype.kind == "U"
            file.set_labels(None, None)
            assert file.distinct(["y"]).tolist() == sorted(set(values))
    assert main(["fit", "cusum", str(tmp_path / "data.feather"), "--target", "y", "--model", str(tmp_path / "m"), "--quiet"]) == 0
    assert main(["evaluate", str(tmp_path / "m"), str(tmp_path / "data.parquet")]) == 0


def test_an_unordered_category_that_is_missing_is_no_label(tmp_path):
    pytest.importorskip("pyarrow")
    path = str(tmp_path / "data.feather")
    pd.DataFrame({"a": np.arange(3.0), "y": pd.Categorical([1, None, 2])}).to_feather(path)
    with pytest.raises(DataError, match="row 2: column 'y' is empty"):
        files.read(path, target="y")


def test_ordered_dictionaries_of_pyarrow_are_ranks():
    pyarrow = pytest.importorskip("pyarrow")
    order = ["none", "mild", "severe"]
    y = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 2] * 4, pyarrow.int8()), pyarrow.array(order), ordered=True)
    for labels in (y, pyarrow.chunked_array([y[:5], y[5:]])):
        assert Engine("prank", random_state=0).fit(np.arange(12.0)[:, None], labels).classes_.tolist() == order
