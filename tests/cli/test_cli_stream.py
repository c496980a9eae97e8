"""`structperc fit --stream`: the same model with memory for one part of the data."""

import gzip
import io
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from plain import Engine

import structperc
from structperc import files
from structperc.cli import streaming
from structperc.files import csv_tables

N = 1200
ROWS = [11, 70, 1000]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def frame():
    random = np.random.default_rng(3)
    X = random.normal(size=(N, 3)).round(3)
    X[random.random(X.shape) < 0.2] = 0
    level = 1 + np.digitize(X @ [1.0, -2.0, 0.5] + 0.5 * random.normal(size=N), [-1.0, 1.0])
    level[:1100] = np.minimum(level[:1100], 2)              # a label that the first parts do not show
    made = pd.DataFrame(X, columns=["age", "bmi", "blood pressure"])
    return made.assign(level=level, weight=random.integers(0, 3, N), day=np.sort(random.integers(0, 200, N)))


def write(name):
    """A file of each format, with the flags that it needs."""
    data = frame()
    numbers = data.drop(columns=["weight", "day"])
    if name == "svm":
        with open("data.svm", "w") as file:
            for row in data.itertuples(index=False):
                file.write(f"{row.level} qid:{row.day} " + " ".join(f"{j}:{row[j - 1]}" for j in (1, 2, 3) if row[j - 1]) + "\n\n")
            file.write("3 qid:999 9:1\n")                    # a feature that the other parts do not have
        return ["data.svm"]
    if name == "parquet":
        pytest.importorskip("pyarrow")
        numbers.to_parquet("data.parquet", index=False)
        return ["data.parquet", "--target", "level"]
    if name == "arrow":
        pytest.importorskip("pyarrow")
        numbers.to_feather("data.arrow", chunksize=333)
        return ["data.arrow", "--target", "level"]
    if name == "words":
        data.assign(level=np.array(["low", "2", "high"])[data["level"] - 1]).to_csv("words.csv", index=False)
        return ["words.csv", "--target", "level", "--classes", "low,2,high"]
    if name == "gz":
        numbers.to_csv("data.csv.gz", index=False)
        return ["data.csv.gz", "--target", "level"]
    if name == "weights":
        data.to_csv("weights.csv", index=False)
        return ["weights.csv", "--target", "level", "--weight", "weight"]
    if name == "fractions":
        numbers.assign(level=numbers["level"] / 2).to_csv("fractions.csv", index=False)
        return ["fractions.csv", "--target", "level"]
    numbers.to_csv("data.csv", index=False)
    return ["data.csv", "--target", "level"]


def write_tokens():
    random = np.random.default_rng(4)
    with open("data.txt", "w") as file:
        for k in range(300):
            for w in random.integers(0, 40 + k, random.integers(1, 8)):
                file.write(f"w{w} p{w % 5} {'OBI'[w % 3] if k < 290 else 'X'}\n")
            file.write("\n")
    return ["data.txt", "--columns", "word,pos,tag"]


def compare(run, problem, flags, settings, rows):
    """The models of a fit without and with --stream."""
    given = [text for setting in settings for text in ("--set", setting)]
    code, out, err = run("fit", problem, *flags, *given, "--model", "whole")
    assert (code, err) == (0, "")
    code, streamed, err = run("fit", problem, *flags, *given, "--model", "parts", "--stream", "--rows", rows)
    assert (code, err) == (0, "")
    assert streamed.replace("parts", "whole") == out
    whole, parts = Engine.load("whole"), Engine.load("parts")
    assert np.array_equal(whole.coef_, parts.coef_) and whole.mistakes_ == parts.mistakes_ and whole.status_ == parts.status_
    if problem != "latent-ranking":
        assert whole.classes_.tolist() == parts.classes_.tolist() and whole.classes_.dtype.kind == parts.classes_.dtype.kind
    assert whole.cumulative_loss_ == parts.cumulative_loss_ and whole.n_features_in_ == parts.n_features_in_
    for name in ("thresholds_", "intercept_", "feature_names_in_"):
        assert np.array_equal(getattr(whole, name, None), getattr(parts, name, None))
    return whole, parts


@pytest.mark.parametrize(("name", "rows"), [
    *(("csv", rows) for rows in [7, *ROWS[1:]]),
    ("svm", 11), ("parquet", 70), ("arrow", 11), ("gz", 70), ("words", 1000), ("weights", 11), ("fractions", 70),
])
def test_a_model_learned_in_parts_is_the_model_learned_at_once(run, name, rows):
    compare(run, "cusum", write(name), ["epochs=2", "average=true"], rows)


@pytest.mark.parametrize(("problem", "settings"), [
    ("prank", ["epochs=3"]), ("multiclass", ["update=pa1", "C=0.1"]), ("interval-pa", ["update=exact-pa1", "C=0.1", "epochs=2"]),
    ("cusum", ["decay=0.001", "update=latent", "step_size=inverse(1.0)", "epochs=2"]), ("multiclass", ["epochs=1000", "average=true"]),
])  # fmt: skip
def test_also_of_other_problems_and_rules(run, problem, settings):
    if "epochs=1000" in settings:       # one that converges
        pd.DataFrame({"a": [-2.0, -1, 1, 2] * 5, "y": ["n", "n", "p", "p"] * 5}).to_csv("easy.csv", index=False)
        whole, parts = compare(run, problem, ["easy.csv", "--target", "y"], settings, 3)
        assert parts.status_ == "converged" and len(parts.mistakes_) < 1000
    else:
        compare(run, problem, write("csv"), settings, 100)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("settings", [["n_hashed=4096"], []])
def test_templates_make_the_same_features_of_parts(run, settings, rows):
    whole, parts = compare(run, "sequence", write_tokens(), [*settings, "epochs=2", "average=true"], rows)
    assert [whole.feature_name(j) for j in range(50)] == [parts.feature_name(j) for j in range(50)]
    expected = run("predict", "whole", "data.txt")[1]
    assert run("predict", "parts", "data.txt")[1] == expected


def test_examples_are_shuffled_within_parts(run):
    flags, data = write("csv"), frame()
    settings = [text for one in ("shuffle=true", "random_state=5", "epochs=2") for text in ("--set", one)]
    assert run("fit", "cusum", *flags, *settings, "--model", "m", "--stream", "--rows", "500")[0] == 0
    columns, twin = ["age", "bmi", "blood pressure"], Engine("cusum", classes=[1, 2, 3], shuffle=True, random_state=5)
    for part in [slice(0, 500), slice(500, 1000), slice(1000, N)] * 2:
        twin.partial_fit(data[columns].iloc[part], data["level"].iloc[part])
    assert np.array_equal(Engine.load("m").coef_, twin.coef_)
    in_order = Engine("cusum", epochs=2).fit(data[columns], data["level"])
    assert not np.array_equal(in_order.coef_, twin.coef_)


def test_conllu_is_streamed(run):
    line = "{}\t{}\t_\t{}\t_\t_\t0\troot\t_\t_\n"
    Path("data.conllu").write_text("".join("# text\n" + "".join(line.format(i + 1, w, w.upper()) for i, w in enumerate(words)) + "\n"
                                           for words in (["a", "b"], ["c"], ["d", "a", "e"])))
    compare(run, "sequence", ["data.conllu", "--target", "upos"], ["epochs=2"], 1)


@pytest.mark.parametrize("rows", ROWS[1:])
def test_groups_stay_whole(run, rows):
    write("svm")
    data = frame().assign(level=lambda data: (data["level"] > 1).astype(int))
    data.drop(columns="weight").to_csv("groups.csv", index=False)
    whole, _ = compare(run, "latent-ranking", ["groups.csv", "--target", "level", "--group", "day"], ["k=2", "epochs=2"], rows)
    assert whole.n_features_in_ == 3
    compare(run, "latent-ranking", ["data.svm", "--group", "qid"], ["k=2", "epochs=2", "relevant=2"], rows)


@pytest.mark.parametrize("rows", ROWS[:2])
def test_intervals_are_streamed(run, rows):
    level = frame()["level"].astype(str)
    frame().drop(columns=["level", "weight", "day"]).assign(least=level.where(level != "1", ""), most=level).to_csv("i.csv", index=False)
    compare(run, "interval-pa", ["i.csv", "--target", "least,most", "--classes", "1,2,3"], ["update=exact-pa1", "C=0.1"], rows)


# ---- standard input and pipes ----


def feed(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_standard_input_is_learned_from_in_one_pass(run, monkeypatch):
    flags = write("csv")[1:]
    feed(monkeypatch, Path("data.csv").read_bytes())
    assert run("fit", "cusum", "-", *flags, "--classes", "1,2,3", "--model", "piped", "--stream", "--rows", "50")[0] == 0
    run("fit", "cusum", "data.csv", *flags, "--model", "whole")
    assert np.array_equal(Engine.load("piped").coef_, Engine.load("whole").coef_)
    expected = run("predict", "whole", "data.csv")[1]
    feed(monkeypatch, Path("data.csv").read_bytes())
    assert run("predict", "whole", "-") == (0, expected, "")
    assert run("predict", "whole", "data.csv", "--output", "-") == (0, expected, "") and not Path("-").exists()
    feed(monkeypatch, Path("data.csv").read_bytes())
    assert run("fit", "cusum", "-", *flags, "--model", "piped", "--set", "epochs=3")[0] == 0       # held in memory


def test_pipes_are_learned_from_in_one_pass(run):
    flags = write_tokens()[1:]
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_bytes(Path("data.txt").read_bytes()))
    writer.start()
    settings = ("--set", "n_hashed=512", "--classes", "O,B,I,X")
    code, _, err = run("fit", "sequence", "pipe", "--format", "conll", *flags, *settings, "--model", "piped", "--stream")
    writer.join()
    assert (code, err) == (0, "")
    run("fit", "sequence", "data.txt", *flags, *settings, "--model", "whole")
    assert np.array_equal(Engine.load("piped").coef_, Engine.load("whole").coef_)


@pytest.mark.parametrize(("arguments", "message"), [
    (["--set", "epochs=2", "--classes", "1,2,3"], "epochs=2: standard input can be read only once; leave epochs out, or save"),
    ([], "--stream needs a pass over the data to find labels. But standard input can be read only once; name them with --classes"),
    (["--format", "svmlight"], "needs a pass over the data to find the number of features"),
    (["--format", "conll", "--columns", "a,b", "--classes", "x"], "with --classes A,B,C and --set n_hashed=1048576"),
])  # fmt: skip
def test_what_needs_a_second_reading_is_refused_before_the_first(run, monkeypatch, arguments, message):
    feed(monkeypatch, b"")
    problem = "sequence" if "conll" in arguments else "cusum"
    target = [] if "--format" in arguments else ["--target", "level"]
    code, out, err = run("fit", problem, "-", *target, *arguments, "--model", "m", "--stream")
    assert (code, out) == (2, "") and message in err and not Path("m").exists()


# ---- what may go wrong ----


def test_a_file_that_is_not_there_is_named_as_such(run, tmp_path):
    code, _, err = run("fit", "cusum", tmp_path / "none.csv", "--stream", "--target", "y", "--model", tmp_path / "made")
    assert code == 2 and "none.csv" in err and "No such file" in err



@pytest.mark.parametrize(("arguments", "message"), [
    (["--stream", "--rows", "0"], "'0' is no whole number from 1 on"),
    (["--stream", "--rows", "x"], "'x' is no whole number from 1 on"),
    (["--rows", "5"], "add --stream, or leave --rows out"),
    (["--stream", "--plugin", "batch", "--set", "trainer=bcfw"], "call fit with all of them"),
])  # fmt: skip
def test_wrong_usage_is_refused(run, arguments, message):
    code, out, err = run("fit", "cusum", *write("csv"), "--model", "m", *arguments)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1 and not Path("m").exists()


def test_min_count_needs_all_data(run):
    code, _, err = run("fit", "sequence", *write_tokens(), "--model", "m", "--stream", "--rows", "9", "--set", "min_count=2")
    assert code == 2 and "min_count=2 counts the features of all data at once" in err


@pytest.mark.parametrize(("name", "content", "flags", "message"), [
    ("a.csv", "a,y\n" + "1,2\n2,1\n" * 30 + "red,1\n", ["--target", "y"], "a.csv, line 62: column 'a' is 'red', not a number"),
    ("a.csv", "a,y\n" + "1,2\n2,1\n" * 30 + "1\n", ["--target", "y"], "a.csv, line 62 has 1 cells, but the header has 2"),
    ("a.csv", "a,y\n" + "1,2\n2,1\n" * 30 + "1,1,1\n", ["--target", "y"], "a.csv, line 62 has 3 cells, but the header has 2"),
    ("a.csv", "a,y\n" + "1,2\n2,1\n" * 30 + "1,\n", ["--target", "y"], "a.csv, line 62: column 'y' is empty"),
    ("a.csv", "a,y\n" + "1,2\n2,1\n" * 30 + "1,7\n", ["--target", "y", "--classes", "1,2"],
     "y[0] is 7, which is not one of the labels"),
    ("a.csv", "a,y\n" + "1,2\n2,1\n" * 30 + "1,7\n", ["--target", "y", "--classes", "1,2"],
     "(Examples are counted here from the part of a.csv that begins after 60 rows.)"),
    ("a.csv", "a,y,g\n" + "1,2,0\n2,1,1\n" * 30, ["--target", "y", "--group", "g"], "the rows with 'g' '0' are not all together"),
    ("a.svm", "1 1:1\n2 2:1\n" * 30 + "1 1:nan\n", [], "a.svm, example 61: a value of feature 1 is nan"),
    ("a.svm", "1 1:1\n2 2:1\n" * 30 + "1 x:nan\n", [], "a.svm, line 61 ends with b'x:nan'; expected lines like"),
    ("a.svm", "1 1:1\n2 2147483648:1\n", [], "a.svm has the feature 2147483648; expected at most 2147483647"),
    ("a.svm", "# nothing\n\n", [], "a.svm"),
])  # fmt: skip
def test_errors_name_the_place_in_the_file(run, name, content, flags, message):
    Path(name).write_text(content)
    problem = "latent-ranking" if "--group" in flags else "cusum"
    code, out, err = run("fit", problem, name, *flags, "--model", "m", "--stream", "--rows", "6")
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1
    assert Path("m").exists() == ("is saved in m" in err) == (err.count("line 62") + err.count("60 examples") > 0)


def test_predict_works_in_parts_and_answers_in_the_order_of_the_file(run, monkeypatch):
    flags = write("csv")
    run("fit", "cusum", *flags, "--model", "m")
    expected = run("predict", "m", "data.csv")[1]
    for rows in ROWS:
        monkeypatch.setattr("structperc.cli.predicting.PART_ROWS", rows)
        assert run("predict", "m", "data.csv") == (0, expected, "") and expected.count("prediction") == 1
        assert run("predict", "m", "data.csv", "--output", "out.csv")[0] == 0 and Path("out.csv").read_text() == expected
    with open("data.csv", "a") as file:
        file.write("1,2,red,1\n")
    assert run("predict", "m", "data.csv", "--output", "out.csv")[0] == 2
    assert Path("out.csv").read_text() == expected and sorted(os.listdir()) == ["data.csv", "m", "out.csv"]


def test_the_number_of_rows_in_memory_is_bounded(run, monkeypatch):
    flags, sizes = write("gz"), []
    fit = structperc.Engine.partial_fit

    def counted(engine, X, *arguments, **options):
        sizes.append(len(X))
        return fit(engine, X, *arguments, **options)

    monkeypatch.setattr(structperc.Engine, "partial_fit", counted)
    assert run("fit", "cusum", *flags, "--model", "m", "--stream", "--rows", "100")[0] == 0
    assert sizes == [100] * 12
    monkeypatch.setattr("structperc.files.frames.PART_CELLS", 40)       # wide rows: fewer of them
    assert run("fit", "cusum", *flags, "--model", "m", "--stream", "--rows", "100")[0] == 0 and max(sizes[12:]) == 10
    with gzip.open("data.svm.gz", "wt") as file:
        file.write("1 1:1\n2 2:1\n" * 50)
    monkeypatch.setattr("structperc.files.opening.PART_BYTES", 60)
    assert [len(table.y) for table in files.stream("data.svm.gz", rows=1000)] == [10] * 10
    assert len(list(files.stream("data.csv.gz", target="level", rows=1199))) == N // 10      # PART_CELLS is small


def test_progress_counts_examples(run):
    code, _, err = run("fit", "cusum", *write("csv"), "--model", "m", "--stream", "--rows", "100", "--progress")
    assert code == 0 and "examples" in err
    model, last = Engine.load("m"), err.splitlines()[-1]
    seen = f"epoch 1 of 1: 1200 of 1200 examples visited, {model.mistakes_[0] / N:.1%} mistaken, mean loss {model.cumulative_loss_ / N:.4g}"
    assert last.startswith(seen)


# ---- Ctrl-C ----


@pytest.mark.parametrize("between", [True, False])
def test_an_interrupted_stream_keeps_what_was_learned(run, monkeypatch, between):
    flags, seen = write("csv"), []
    read, facts = csv_tables.CsvFile.frames, streaming.Facts.of

    def frames(file, rows, columns, *further):
        for frame in read(file, rows, columns, *further):
            yield frame
            if between and "level" in columns and len(columns) > 1 and len(seen) == 3:
                raise KeyboardInterrupt

    def counted(table):
        seen.append(len(table.y))
        if not between and len(seen) == 4:
            raise KeyboardInterrupt
        return facts(table)

    monkeypatch.setattr(csv_tables.CsvFile, "frames", frames)
    monkeypatch.setattr(streaming.Facts, "of", counted)
    code, out, err = run("fit", "cusum", *flags, "--model", "m", "--stream", "--rows", "100", "--set", "epochs=2")
    assert (code, out) == (130, "") and err == "structperc fit: interrupted in epoch 1; the model trained so far is saved in m.\n"
    model, data = Engine.load("m"), frame()[:300]
    same = Engine("cusum", classes=[1, 2, 3]).fit(data[["age", "bmi", "blood pressure"]], data["level"])
    assert model.status_ == "interrupted" and np.array_equal(model.coef_, same.coef_)


def test_an_interrupted_survey_writes_nothing(run, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(streaming, "survey", interrupted)
    code, _, err = run("fit", "cusum", *write("csv"), "--model", "m", "--stream")
    assert code == 130 and "before training began; no model was written" in err and not Path("m").exists()


@pytest.mark.parametrize("cells", [["1"] * 30 + ["x"] * 30, ["x"] * 30 + ["1"] * 30])
def test_a_column_may_hold_numbers_in_one_part_and_texts_in_another(run, folder, cells):
    table = pd.DataFrame({"a": np.arange(60.0) % 7, "b": cells, "y": np.arange(60) % 7 // 3})
    table.to_csv("mixed.csv", index=False)
    table.drop(columns="b").to_csv("plain.csv", index=False)
    for name in ("mixed", "plain"):
        flags = ["--drop", "b"] if name == "mixed" else []
        assert run("fit", "prank", f"{name}.csv", "--target", "y", "--model", name, "--stream", "--rows", "30", *flags)[0] == 0
    assert np.array_equal(Engine.load("mixed").coef_, Engine.load("plain").coef_)
