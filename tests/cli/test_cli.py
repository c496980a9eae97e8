"""The command line, through `main` and as a process."""

import csv
import io
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from plain import Engine

from structperc import Option
from structperc.cli.settings import read_value
from structperc.metrics import measures

from .lines import one_line

LEVELS = ["low", "middle", "high"]


@pytest.fixture
def fitted(data, run):
    code, _, err = run("fit", "cusum", "train.csv", "--target", "level", "--model", "my.model", "--set", "epochs=5")
    assert (code, err) == (0, "")
    return Engine.load("my.model")


# ---- fit ----


def test_fit_trains_the_engine_that_python_would_train(data, run):
    given = ["epochs=7", "update=pa1", "C=0.1", "average=yes", "shuffle=true", "random_state=3"]
    code, out, err = run("fit", "cusum", "train.csv", "--target", "level", "--model", "my.model",
                         *(text for pair in given for text in ("--set", pair)))
    same = Engine("cusum", epochs=7, update="pa1", C=0.1, average=True, shuffle=True, random_state=3)
    same.fit(data.drop(columns="level")[:60], data["level"][:60])
    loaded = Engine.load("my.model")
    assert (code, err) == (0, "")
    assert np.array_equal(loaded.coef_, same.coef_) and loaded.mistakes_ == same.mistakes_
    assert loaded.feature_names_in_.tolist() == ["age", "bmi", "blood pressure"] and loaded.classes_.tolist() == [1, 2, 3]
    assert "rows      60" in out and "3: age, bmi, blood pressure" in out and "1 < 2 < 3" in out
    assert f"{len(same.mistakes_)} of at most 7, {same.status_}" in out and f"{same.mistakes_[-1] / 60:.1%} of the examples" in out
    frequent, n = data["level"][:60].mode()[0], data["level"][:60].value_counts().max()
    assert f"  constant  always predicting {frequent} is wrong on {1 - n / 60:.1%} of the examples\n" in out
    assert "structperc evaluate my.model" in out


@pytest.mark.parametrize("problem", ["cusum", "prank", "multiclass"])
def test_every_problem_is_trained_measured_and_drawn(data, run, problem):
    assert run("fit", problem, "train.csv", "--target", "level", "--model", "my.model", "--set", "epochs=3")[0] == 0
    assert run("evaluate", "my.model", "test.csv", "--target", "level")[0] == 0
    assert run("plot", "my.model", "--output", "my.png")[0] == 0
    assert Path("my.png").read_bytes().startswith(b"\x89PNG")


def test_the_commands_that_fit_recommends_work(data, run):
    for problem in ("cusum", "multiclass"):
        out = run("fit", problem, "train.csv", "--target", "level", "--model", "a.model")[1]
        lines = [line.strip() for line in out.splitlines()]
        evaluate = next(line for line in lines if line.startswith("structperc evaluate")).replace("OTHER_DATA", "test.csv")
        plot = next(line for line in lines if line.startswith("structperc plot"))
        assert run(*evaluate.split()[1:])[0] == 0 and run(*plot.split()[1:])[0] == 0
        assert Path("a.png").exists()
        better = next(line for line in lines if "--set" in line).split(": add ")[1]
        assert run("fit", problem, "train.csv", "--target", "level", "--model", "a.model", *better.split())[0] == 0


@pytest.mark.parametrize("command", ["fit cusum train.csv --target level --model -", "plot a.model --output -"])
def test_no_file_is_named_as_standard_output(data, run, command):
    run("fit", "cusum", "train.csv", "--target", "level", "--model", "a.model")
    code, _, err = run(*command.split())
    assert code == 2 and "'-' cannot be written: only predict takes - for standard output; choose another path" in err
    assert not Path("-").exists()


def test_no_command_is_recommended_that_reads_a_pipe_again(data, run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("train.csv").read_bytes())))
    code, out, _ = run("fit", "cusum", "-", "--target", "level", "--model", "a.model")
    plot = next(line.strip() for line in out.splitlines() if "structperc plot" in line)
    assert code == 0 and run(*plot.split()[1:])[0] == 0


@pytest.mark.parametrize(("problem", "options"), [("cusum", []), ("multiclass", ["update=pa1", "C=0.01"]), ("prank", ["pocket=true"])])
def test_advice_about_noise_is_accepted_and_ends(data, run, problem, options):
    noisy = data.assign(level=np.random.default_rng(0).permutation(data["level"]))
    noisy.to_csv("noise.csv", index=False)
    given, advice = [text for option in options for text in ("--set", option)], ["--set", "epochs=1"]
    for _ in range(6):
        code, out, err = run("fit", problem, "noise.csv", "--target", "level", "--model", "a.model", *given, *advice)
        assert (code, err) == (0, "")
        added = [line.split(": add ")[1].split() for line in out.splitlines() if ": add --set" in line]
        if not added:
            break
        advice = merged(advice, added[0])
    assert "mistakes have levelled off: the rest is noise" in out and "epochs=" not in out.split("next")[1]


def merged(advice, added):
    """Settings, later ones instead of earlier ones of the same name."""
    settings = dict(text.split("=") for text in [*advice[1::2], *added[1::2]])
    return [text for name, value in settings.items() for text in ("--set", f"{name}={value}")]


def test_no_advice_to_average_weights_that_ignore_it(data, run, install):
    install("last", """
        from structperc import hookimpl
        from structperc.components import PrimalWeights
        class Last(PrimalWeights):
            pass
        @hookimpl
        def structperc_weights(context):
            return Last()
    """)
    arguments = ("fit", "cusum", "train.csv", "--target", "level", "--model", "a.model", "--plugin", "last", "--set", "epochs=1")
    code, out, err = run(*arguments)
    assert (code, err) == (0, "") and "mistakes may still fall: add --set epochs=20 --set shuffle=true\n" in out
    assert "average=True has no effect" in run(*arguments, "--set", "average=true")[2]


def test_columns_of_unlike_scale_are_noticed(data, run):
    data.assign(age=data["age"] * 1e4).to_csv("wide.csv", index=False)
    fit = "fit", "cusum", "wide.csv", "--target", "level", "--model", "a.model"
    assert "times the smallest: add --set scale=true" in run(*fit)[1]
    code, out, err = run(*fit, "--set", "scale=true")
    assert code == 0 and err == "" and "scale" not in out
    assert "scale" not in run("fit", "cusum", "train.csv", "--target", "level", "--model", "a.model")[1]


def test_quiet_prints_nothing(data, run):
    assert run("fit", "prank", "train.csv", "--target", "level", "--model", "a.model", "--quiet") == (0, "", "")
    pairs = "fit", "latent-ranking", "train.csv", "--target", "level", "--group", "age", "--model", "a.model", "--set", "k=100"
    assert "Nothing can be learned" in run(*pairs)[2]
    assert run(*pairs, "--quiet") == (0, "", "")


def test_named_levels_take_their_order_from_classes(data, run):
    arguments = ("fit", "cusum", "words.csv", "--target", "level", "--model", "w.model")
    code, out, err = run(*arguments)
    assert code == 2 and "rank order is unknown" in err and "--classes A,B,C" in err and one_line(err)
    code, out, err = run(*arguments, "--classes", "low,middle,high", "--set", "epochs=5")
    assert code == 0 and "low < middle < high" in out
    run("fit", "cusum", "train.csv", "--target", "level", "--model", "n.model", "--set", "epochs=5")
    assert np.array_equal(Engine.load("w.model").coef_, Engine.load("n.model").coef_)


def test_labels_that_look_like_numbers_are_text_where_the_classes_are(folder, run):
    Path("train.csv").write_text("a,y\n1,1\n2,2\n3,3+\n")
    Path("test.csv").write_text("a,y\n1,1\n2,2\n")
    assert run("fit", "cusum", "train.csv", "--target", "y", "--model", "m", "--classes", "1,2,3+", "--set", "epochs=50")[0] == 0
    code, out, _ = run("evaluate", "m", "test.csv", "--target", "y")
    assert code == 0 and ["accuracy", "1.0000"] in [line.split()[:2] for line in out.splitlines()]


def test_a_class_that_is_not_named_is_refused(data, run):
    code, _, err = run("fit", "cusum", "words.csv", "--target", "level", "--model", "w.model", "--classes", "low,high")
    assert code == 2 and "'middle', which is not one of the labels" in err and not Path("w.model").exists()


def test_weights_leave_rows_out(data, run):
    weight = np.arange(60) % 2
    data[:60].assign(weight=weight).to_csv("weighted.csv", index=False)
    out = run("fit", "cusum", "weighted.csv", "--target", "level", "--model", "w.model", "--weight", "weight")[1]
    same = Engine("cusum").fit(data.drop(columns="level")[:60], data["level"][:60], sample_weight=weight)
    assert "60, 30 of them with weight" in out
    assert np.array_equal(Engine.load("w.model").coef_, same.coef_)


def test_svmlight_from_training_to_prediction(data, run):
    assert run("fit", "multiclass", "data.svm", "--model", "s.model", "--set", "epochs=3")[0] == 0
    assert Engine.load("s.model").n_features_in_ == 4      # columns 0..3, as the file calls them
    code, out, _ = run("evaluate", "s.model", "data.svm")
    assert code == 0 and "accuracy" in out and "macro F1" in out
    assert len(run("predict", "s.model", "data.svm")[1].split()) == 91
    Path("renamed").write_text(Path("data.svm").read_text())
    assert run("predict", "s.model", "renamed", "--format", "svmlight")[1] == run("predict", "s.model", "data.svm")[1]


def test_other_separators(data, run):
    for separator, name in ((";", ";"), ("\t", "tab")):
        data[:60].to_csv("other.csv", index=False, sep=separator)
        run("fit", "cusum", "train.csv", "--target", "level", "--model", "a.model")
        assert run("fit", "cusum", "other.csv", "--target", "level", "--model", "b.model", "--separator", name)[0] == 0
        assert np.array_equal(Engine.load("a.model").coef_, Engine.load("b.model").coef_)


def test_a_noted_decimal_mark_gives_way_to_a_separator_that_is_passed(data, run):
    data[:60].to_csv("other.csv", index=False, sep=";", decimal=",")
    assert run("fit", "cusum", "other.csv", "--target", "level", "--model", "c.model", "--separator", ";", "--decimal", ",")[0] == 0
    code, _, err = run("predict", "c.model", "test.csv")
    assert code == 2 and "(structperc: --separator ',')" in err
    assert run("predict", "c.model", "test.csv", "--separator", ",")[1] == run("predict", "c.model", "test.csv", "--separator", ",",
                                                                               "--decimal", ".")[1] != ""


def test_progress_is_drawn_where_asked_for_and_leaves_no_trace_in_the_model(data, run):
    code, _, err = run("fit", "cusum", "train.csv", "--target", "level", "--model", "p.model", "--set", "epochs=3", "--progress")
    assert code == 0 and [line.split(":")[0] for line in err.splitlines()] == [f"epoch {k} of 3" for k in (1, 2, 3)]
    assert run("evaluate", "p.model", "test.csv", "--target", "level")[0] == 0


def test_a_log_gets_a_line_for_every_tenth(data, run):
    arguments = ("fit", "cusum", "train.csv", "--target", "level", "--model", "p.model", "--set", "epochs=50")
    _, _, err = run(*arguments, "--set", "update=pa1", "--progress")
    assert [line.split(":")[0] for line in err.splitlines()] == [f"epoch {k} of 50" for k in (1, *range(5, 51, 5))]
    assert run(*arguments)[2] == ""


def test_a_terminal_has_a_bar_and_lines_without_tqdm(data, run, monkeypatch):
    arguments = ("fit", "cusum", "train.csv", "--target", "level", "--model", "p.model", "--set", "epochs=3", "--progress")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert "0/3" in run(*arguments)[2]
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    code, _, err = run(*arguments)
    assert code == 0 and "without tqdm, which structperc[cli] installs" in err and "epoch 3 of 3" in err


SUBSETS = '''
    """Subsets: the rows that score above 0."""
    import numpy as np
    from structperc import hookimpl
    from structperc.components import Argmax, Outputs, RowFeatures
    class AboveZero(Argmax):
        def argmax(self, scores, x):
            return np.flatnonzero(np.asarray(scores) > 0)
    @hookimpl
    def structperc_outputs(context):
        return Outputs()
    @hookimpl
    def structperc_features(context):
        return RowFeatures(context.n_features)
    @hookimpl
    def structperc_argmax(context):
        return AboveZero()
'''


@pytest.fixture
def talks(folder, install):
    """Ten days of talks; those worth more than nothing are attended."""
    install("subsets", SUBSETS)
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(40, 2)).round(2), columns=["length", "worth"])
    frame = frame.assign(day=np.sort(random.permutation(np.arange(40) % 10)), attended=(frame["worth"] > 0).astype(int))
    frame.to_csv("talks.csv", index=False)
    return frame


def test_structures_over_groups_of_rows(talks, run):
    files = ("--target", "attended", "--group", "day")
    code, out, err = run("fit", "subsets", "talks.csv", *files, "--model", "plan.model", "--set", "epochs=200")
    assert (code, err) == (0, "") and "40 in 10 examples" in out and "2: length, worth" in out
    assert "evaluate plan.model OTHER_DATA\n" in out           # the model keeps the target and the group
    assert run("predict", "plan.model", "talks.csv", "--group", "day") == run("predict", "plan.model", "talks.csv")
    code, out, err = run("predict", "plan.model", "talks.csv")
    assert (code, err) == (0, "") and out.split()[1:] == [str(mark) for mark in talks["attended"]]
    assert run("evaluate", "plan.model", "talks.csv")[1].splitlines()[1:] == ["  mean loss (hamming)  0.0000"]
    talks.assign(attended=1 - talks["attended"]).to_csv("wrong.csv", index=False)
    assert run("evaluate", "plan.model", "wrong.csv", *files)[1].splitlines()[1:] == ["  mean loss (hamming)  4.0000"]


def test_groups_of_svmlight_queries(talks, run):
    with open("talks.svm", "w") as file:
        for row in talks.itertuples():
            file.write(f"{row.attended} qid:{row.day} 1:{row.length} 2:{row.worth}\n")
    assert run("fit", "subsets", "talks.svm", "--group", "qid", "--model", "plan.model", "--set", "epochs=200")[0] == 0
    assert run("predict", "plan.model", "talks.svm", "--group", "qid")[1].split()[1:] == [str(mark) for mark in talks["attended"]]
    assert "whose only groups are those of 'qid'" in run("predict", "plan.model", "talks.svm", "--group", "day")[2]


@pytest.mark.parametrize(("change", "arguments", "message"), [
    ({}, [], "expected a collection of atom numbers"),
    ({"attended": 2}, ["--group", "day"], "the target has 2. With groups"),
    ({"day": [1, 2] * 20}, ["--group", "day"], "the rows with 'day' '1' are not all together"),
    ({}, ["--group", "dya"], "no column 'dya'; its columns are"),
    ({}, ["--group", "day", "--weight", "length"], "leave one of them out"),
])  # fmt: skip
def test_broken_groups_are_answered(talks, run, change, arguments, message):
    talks.assign(**change).to_csv("talks.csv", index=False)
    code, _, err = run("fit", "subsets", "talks.csv", "--target", "attended", "--model", "plan.model", *arguments)
    assert code == 2 and message in err and one_line(err)


# ---- kernels ----


@pytest.mark.parametrize("settings", [["kernel=rbf"], ["kernel=rbf", "gamma=0.7"], ["kernel=laplacian", "gamma=1"],
                                      ["kernel=rbf", "gamma=auto", "budget=20", "removal=least"]], ids=str)
def test_a_plugin_of_kernels_is_named_and_set_like_any_other(data, run, settings):
    given = [*settings, "epochs=3", "average=true"]
    code, out, err = run("fit", "cusum", "train.csv", "--target", "level", "--model", "my.model", "--plugin", "dual-kernel",
                         *(text for pair in given for text in ("--set", pair)))
    options = {key: read_value(key, text, Option(None)) for key, text in (pair.split("=") for pair in given)}
    same = Engine("cusum", plugins=["dual-kernel"], **options).fit(data.drop(columns="level")[:60], data["level"][:60])
    loaded = Engine.load("my.model")
    assert (code, err) == (0, "") and f"{same.n_support_} rows, of which the weights are a sum" in out
    assert np.array_equal(loaded.dual_coef_, same.dual_coef_) and loaded.plugin_options == same.plugin_options
    code, out, err = run("evaluate", "my.model", "test.csv", "--target", "level")
    assert (code, err) == (0, "") and "accuracy" in out
    assert run("predict", "my.model", "test.csv")[0] == 0
    for flags in ([], ["--data", "test.csv", "--target", "level"]):
        assert run("plot", "my.model", *flags, "--output", "my.png")[0] == 0
    assert "dual-kernel  (part, structperc" in run("plugins")[1]


def scaled_dot(A, B):
    return 2.0 * (A @ B.T)


def test_a_model_that_needs_a_function_says_how_to_load_it(data, run):
    X, y = data.drop(columns="level"), data["level"]
    Engine("cusum", plugins=["dual-kernel"], kernel=scaled_dot).fit(X, y).save("my.model")
    code, out, err = run("evaluate", "my.model", "test.csv", "--target", "level")
    assert code == 2 and out == "" and "Engine.load(path, kernel=scaled_dot)" in err and one_line(err)


# ---- what may go wrong ----


@pytest.mark.parametrize(("arguments", "message"), [
    (["fit", "cusm", "train.csv"], "no plugin 'cusm'. Did you mean 'cusum'?"),
    (["fit", "cusum", "train.csv", "--plugin", "dual"], "no plugin 'dual'"),
    (["fit", "cusum", "absent.csv"], "absent.csv: No such file or directory."),
    (["fit", "cusum", "."], "directory"),
    (["fit", "cusum", "train.csv", "--target", "levle"], "no column 'levle'"),
    (["fit", "cusum", "train.csv", "--weight", "w"], "no column 'w'"),
    (["fit", "cusum", "train.csv", "--set", "epoch=3"], "no option 'epoch'. Did you mean 'epochs'?"),
    (["fit", "prank", "train.csv", "--set", "varant=original"], "no option 'varant'. Did you mean 'variant'?"),
    (["fit", "prank", "train.csv", "--set", "variant=originl"], "variant='originl'; expected one of 'structured', 'original'"),
    (["fit", "cusum", "train.csv", "--set", "variant=original"], "no option 'variant'"),
    (["fit", "cusum", "train.csv", "--set", "kernel=rbf"], "no option 'kernel'. It comes with --plugin dual-kernel."),
    (["fit", "cusum", "train.csv", "--plugin", "dual-kernel", "--set", "kernel=rbv"], "kernel='rbv'. Expected one of 'linear'"),
    (["fit", "cusum", "train.csv", "--plugin", "dual-kernel", "--set", "kernel=rbf", "--set", "gamma=wide"], "gamma='wide'"),
    (["fit", "cusum", "train.csv", "--set", "epochs=many"], "--set epochs=many: expected a whole number"),
    (["fit", "cusum", "train.csv", "--set", "epochs=0"], "epochs=0; expected a whole number, at least 1"),
    (["fit", "cusum", "train.csv", "--set", "average=maybe"], "--set average=maybe: expected true or false"),
    (["fit", "cusum", "train.csv", "--set", "margin"], "--set margin: expected key=value"),
    (["fit", "cusum", "train.csv", "--set", "classes=1,2"], "classes is set with --classes"),
    (["fit", "cusum", "train.csv", "--set", "update=pa3"], "update='pa3' is unknown"),
    (["fit", "cusum", "train.csv", "--classes", "1,,2"], "empty label"),
    (["fit", "cusum", "train.csv", "--separator", "ab"], "expected one character"),
    (["fit", "cusum", "data.svm"], "read as svmlight, for which --target means nothing"),
    (["fit", "cusum", "train.csv", "--format", "svmlight", "--target", ""], "for which --target means nothing"),
    (["fit", "cusum", "train.csv", "--model", "no/such/folder/m"], "cannot be written: there is no folder"),
    (["fit", "cusum", "train.csv", "--model", "."], "cannot be written: it is a folder"),
])  # fmt: skip
def test_wrong_usage_is_one_sentence_and_exit_code_2(data, run, arguments, message):
    defaults = {"--target": "level", "--model": "m.model"}
    extra = [text for flag, value in defaults.items() if flag not in arguments for text in (flag, value)]
    code, out, err = run(*arguments, *extra)
    assert (code, out) == (2, "") and message in err and err.startswith("structperc fit: ") and one_line(err)
    assert not Path("m.model").exists()


def test_a_csv_file_needs_a_target(data, run):
    code, _, err = run("fit", "cusum", "train.csv", "--model", "m.model")
    assert code == 2 and "needs --target" in err and "'blood pressure', 'level'" in err


@pytest.mark.parametrize(("content", "message"), [
    ("", "broken.csv is empty"),
    ("a,level\n1,2\n3\n", "line 3 has 1 cells, but the header has 2"),
    ("a,level\n1,2\nnan,3\n", "line 3: column 'a' is nan"),
    ("a,colour,level\n1,2,1\n3,red,2\n", "line 3: column 'colour' is 'red', not a number"),
    ("a,level\n1,2\n3,2\n", "y holds only 2 (1 class); at least two labels"),
])  # fmt: skip
def test_broken_data_is_one_sentence_and_exit_code_2(folder, run, content, message):
    Path("broken.csv").write_text(content)
    code, _, err = run("fit", "cusum", "broken.csv", "--target", "level", "--model", "m.model")
    assert code == 2 and message in err and one_line(err)


@pytest.mark.parametrize("arguments", [[], ["train"], ["fit"], ["fit", "cusum", "a.csv", "--model", "m", "--quiet", "--progress"],
                                       ["plot", "m"], ["plugins", "--yaml"]])
def test_what_cannot_be_parsed_is_one_line(folder, run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "") and one_line(err) and "--help" in err


def test_traceback_shows_where(data, run):
    code, _, err = run("fit", "cusm", "train.csv", "--target", "level", "--model", "m.model", "--traceback")
    assert code == 2 and "Traceback" in err and err.splitlines()[-1].startswith("structperc fit: there is no plugin")


def test_errors_of_a_plugin_are_named(data, run, install):
    install("careless", """
        from structperc import hookimpl
        @hookimpl
        def structperc_epoch_end(engine, record):
            raise ValueError("careless\\nplugin")
    """)
    code, _, err = run("fit", "cusum", "train.csv", "--target", "level", "--model", "m.model", "--plugin", "careless")
    assert code == 2 and "ValueError: careless plugin (--traceback shows where)" in err and one_line(err)


@pytest.mark.parametrize("command", [["predict"], ["evaluate", "--target", "level"], ["plot", "--output", "a.png"]])
@pytest.mark.parametrize(("content", "message"), [(b"hello", "is not a structperc model"), (b"PK\x03\x04 cut", "is damaged or truncated"),
                                                  (None, "cannot be read: No such file")])
def test_foreign_model_files_are_refused(data, run, command, content, message):
    if content is not None:
        Path("foreign").write_bytes(content)
    files = ["foreign"] if command[0] == "plot" else ["foreign", "test.csv"]
    code, out, err = run(command[0], *files, *command[1:])
    assert (code, out) == (2, "") and message in err and one_line(err)


@pytest.mark.parametrize("command", [["predict", "my.model", "test.csv", "--output"], ["plot", "my.model", "--output"]])
def test_outputs_that_cannot_be_written_are_refused(fitted, run, command):
    assert "there is no folder" in run(*command, "no/such/file.png")[2]
    assert "it is a folder" in run(*command, ".")[2]


# ---- Ctrl-C ----

INTERRUPTING = """
    from structperc import hookimpl
    @hookimpl
    def structperc_epoch_end(engine, record):
        if record.epoch == 3:
            raise KeyboardInterrupt
"""


def test_an_interrupted_fit_keeps_what_was_learned(data, run, install):
    install("interrupting", INTERRUPTING)
    arguments = ("fit", "cusum", "train.csv", "--target", "level", "--model", "i.model", "--plugin", "interrupting")
    code, out, err = run(*arguments, "--set", "epochs=9")
    assert (code, out) == (130, "")
    assert err == "structperc fit: interrupted in epoch 3; the model trained so far is saved in i.model.\n"
    model = Engine.load("i.model")
    same = Engine("cusum", epochs=3).fit(data.drop(columns="level")[:60], data["level"][:60])
    assert model.status_ == "interrupted" and np.array_equal(model.coef_, same.coef_)


def test_an_interruption_before_training_writes_nothing(data, run, install):
    install("hasty", """
        from structperc import hookimpl
        @hookimpl
        def structperc_weights(context):
            raise KeyboardInterrupt
    """)
    code, _, err = run("fit", "cusum", "train.csv", "--target", "level", "--model", "i.model", "--plugin", "hasty")
    assert code == 130 and "before training began; no model was written" in err and not Path("i.model").exists()


LARGE_MARGIN = ("--target", "level", "--model", "my.model", "--plugin", "large-margin", "--set", "trainer=svor")


@pytest.mark.parametrize("method", ["implicit", "explicit", "fixed-margin", "sum-of-margins"])
def test_large_margins(data, run, method):
    further = ("--set", "C=0.2") if method == "sum-of-margins" else ()
    code, out, err = run("fit", "prank", "train.csv", *LARGE_MARGIN, "--set", f"method={method}", "--set", "epochs=1000", *further)
    assert (code, err) == (0, "") and ", converged" in out and "at most above the optimum" in out and "did not converge" not in out
    assert run("evaluate", "my.model", "test.csv", "--target", "level")[0] == 0
    assert run("plot", "my.model", "--data", "test.csv", "--target", "level", "--output", "my.png")[0] == 0
    code, out, _ = run("predict", "my.model", "test.csv")
    assert [int(line) for line in out.split()[1:]] == Engine.load("my.model").predict(data[60:].drop(columns="level")).tolist()


def test_large_margins_that_ended_early_or_without_answers(data, run):
    code, out, _ = run("fit", "prank", "train.csv", *LARGE_MARGIN, "--set", "C=100", "--set", "epochs=1")
    assert code == 0 and "it did not converge: add --set epochs=1000\n" in out
    pd.DataFrame({"x": range(5), "level": [1, 1, 2, 3, 3]}).to_csv("few.csv", index=False)
    code, out, _ = run("fit", "prank", "few.csv", *LARGE_MARGIN, "--set", "method=fixed-margin", "--set", "C=0.1", "--set", "epochs=100")
    assert code == 0 and ", disordered" in out and "no predictions: the best thresholds of the fixed margin are out of order" in out
    code, _, err = run("predict", "my.model", "few.csv")
    assert code == 2 and one_line(err) and "Use method='explicit'" in err
    code, _, err = run("fit", "prank", "train.csv", *LARGE_MARGIN, "--set", "update=exact-pa1", "--stream")
    assert code == 2 and "call fit first" in err


# ---- predict, evaluate, plot ----


def test_predict_writes_one_column(fitted, data, run):
    features = data.drop(columns="level")[60:]
    expected = [str(label) for label in fitted.predict(features)]
    code, out, err = run("predict", "my.model", "test.csv")
    assert (code, err) == (0, "") and out.split("\n") == ["prediction", *expected, ""]
    assert run("predict", "my.model", "test.csv", "--output", "answers.csv") == (0, "", "")
    with open("answers.csv", newline="") as file:
        assert [row["prediction"] for row in csv.DictReader(file)] == expected


def test_columns_are_found_by_name(fitted, data, run):
    expected = run("predict", "my.model", "test.csv")[1]
    data[60:].assign(note="text")[["note", "blood pressure", "age", "bmi"]].to_csv("shuffled.csv", index=False)
    assert run("predict", "my.model", "shuffled.csv")[1] == expected
    data[60:].drop(columns="bmi").to_csv("missing.csv", index=False)
    code, _, err = run("predict", "my.model", "missing.csv")
    assert code == 2 and "missing.csv has no column 'bmi'" in err


def test_a_model_without_names_takes_columns_in_order(data, run):
    engine = Engine("cusum").fit(data.drop(columns="level").to_numpy(), data["level"])
    engine.save("nameless.model")
    data.drop(columns="level").to_csv("features.csv", index=False)
    assert run("predict", "nameless.model", "features.csv")[1].split()[1:] == [str(y) for y in engine.predict(data.drop(columns="level"))]
    code, out, _ = run("evaluate", "nameless.model", "train.csv", "--target", "level")
    assert code == 0 and "60 rows" in out
    code, _, err = run("predict", "nameless.model", "train.csv")
    assert code == 2 and "X has 4 features, but this model was trained with 3" in err


def test_evaluate_prints_the_measures_and_the_confusion_matrix(fitted, data, run):
    code, out, err = run("evaluate", "my.model", "test.csv", "--target", "level")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "my.model (cusum) on test.csv, 30 rows"
    features, level = data.drop(columns="level")[60:], data["level"][60:]
    for name, value in measures(fitted, features, level).items():
        assert any(line.split()[:-1] == [*name.split(), f"{value:.4f}"] for line in lines)
    table = pd.crosstab(level, fitted.predict(features)).reindex(index=[1, 2, 3], columns=[1, 2, 3], fill_value=0)
    assert [line.split() for line in lines[-3:]] == [[str(k), *map(str, table.loc[k])] for k in (1, 2, 3)]
    assert lines[-4].split() == ["right", "\\", "predicted", "1", "2", "3"]


def test_evaluate_refuses_labels_that_the_model_does_not_know(fitted, data, run):
    data.assign(level=9).to_csv("other.csv", index=False)
    code, _, err = run("evaluate", "my.model", "other.csv", "--target", "level")
    assert code == 2 and "labels that the model does not know, 9 (90 rows); it knows 1, 2, 3" in err


def test_plot_draws_what_the_model_has(fitted, run):
    assert run("plot", "my.model", "--output", "two.png")[1] == "two.png shows my.model in 2 panels\n"
    assert run("plot", "my.model", "--data", "test.csv", "--target", "level", "--output", "three.pdf")[1].endswith("in 3 panels\n")
    assert Path("three.pdf").read_bytes().startswith(b"%PDF")


def test_plot_refuses_what_it_cannot_draw(fitted, data, run, monkeypatch):
    fitted.notes = {}
    fitted.save("my.model")
    assert "needs --target" in run("plot", "my.model", "--data", "test.csv", "--output", "a.png")[2]
    code, _, err = run("plot", "my.model", "--output", "a.bmp2")
    assert code == 2 and "bmp2" in err and one_line(err)
    run("fit", "multiclass", "train.csv", "--target", "level", "--model", "m.model")
    assert "predicts no ranks" in run("plot", "m.model", "--data", "test.csv", "--target", "level", "--output", "a.png")[2]
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, _, err = run("plot", "my.model", "--output", "a.png")
    assert code == 2 and "structperc plot needs matplotlib; install structperc[plot]" in err


# ---- as a process ----


def test_the_installed_script(data):
    script = Path(sysconfig.get_path("scripts")) / ("structperc.exe" if os.name == "nt" else "structperc")
    done = subprocess.run([script, "fit", "cusum", "absent.csv", "--target", "level", "--model", "m.model"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "structperc fit: absent.csv: No such file or directory. Did you mean 'test.csv'?\n"


def test_a_reader_that_has_seen_enough(data):
    pd.concat([data] * 400).to_csv("long.csv", index=False)
    Engine("cusum").fit(data.drop(columns="level"), data["level"]).save("m.model")
    process = subprocess.Popen([sys.executable, "-m", "structperc", "predict", "m.model", "long.csv"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "prediction\n"
    process.stdout.close()
    assert process.stderr.read() == "" and process.wait(timeout=60) == 0
    process.stderr.close()


# ---- rankings ----


@pytest.mark.parametrize("loss", ["precision", "ndcg", "average-precision"])
def test_rankings_have_no_thresholds_to_draw(folder, run, loss):
    """Also where the order of a list counts for the loss: its outputs are no ranks."""
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(40, 3)), columns=list("abc"))
    table["relevance"], table["query"] = (table["a"] > 0).astype(int), np.repeat(np.arange(8), 5)
    table.to_csv("queries.csv", index=False)
    flags = ("--target", "relevance", "--group", "query")
    code, out, err = run("fit", "latent-ranking", "queries.csv", *flags, "--model", "my.model", "--set", f"loss={loss}", "--set", "k=2")
    assert (code, err) == (0, "") and "structperc plot my.model --output my.png" in out
    assert run("plot", "my.model", "--output", "my.png")[0] == 0
    code, _, err = run("plot", "my.model", "--data", "queries.csv", *flags[:2], "--output", "my.png")
    assert code == 2 and "latent-ranking predicts no ranks" in err
