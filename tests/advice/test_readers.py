"""Advice about columns of texts that an author's reader reads: the options of the plugin "table" do not help, and commands pass numbers."""

import numpy as np
import pandas as pd
import pytest

from structperc import Engine
from structperc.components import Reader
from structperc.errors import DataError, OptionError

TEXTS, LABELS = ["a b c", "a longer text", "oaks and elms", "b c"], ["short", "long", "long", "short"]
FRAME = pd.DataFrame({"word": TEXTS})
PACKAGE = """
import numpy as np
from structperc import hookimpl
from structperc.components import BlockFeatures, ClassOutputs, LargestArgmax, Reader

class Lengths(Reader):
    def read(self, X, offsets=None):
        return super().read(np.array([[len(x), len(x.split())] for x in X], float))

@hookimpl
def structperc_reader(context):
    return Lengths()

@hookimpl
def structperc_outputs(context):
    return ClassOutputs()

@hookimpl
def structperc_features(context):
    return BlockFeatures(context.n_labels, context.n_features)

@hookimpl
def structperc_argmax(context):
    return LargestArgmax(context.n_labels)
"""


class OfFrames(Reader):
    def read(self, X, offsets=None):
        return super().read(np.array([[len(x)] for x in X["word"]], float), offsets)


class Squares(Reader):
    takes_tables = True

    def read(self, X, offsets=None):
        return super().read([[value * value for value in row] for row in X], offsets)


class Untouched(Reader):
    """What it reads are still texts."""

    def read(self, X, offsets=None):
        return super().read(pd.DataFrame({"word": list(X)}), offsets)


@pytest.mark.parametrize(("flags", "advice"), [
    ([], "Lengths.read gets columns of numbers from commands. Train it in Python"),
    (["--stream"], "Lengths.read gets columns of numbers from commands. Train it in Python"),
    (["--drop", "word"], "Leave out 'table' and its options"), (["--one-hot", "word"], "Leave out 'table' and its options")])
def test_commands_send_texts_of_a_reader_to_python(flags, advice, install, run, tmp_path):
    install("lengths", PACKAGE)
    data = tmp_path / "words.csv"
    data.write_text("word,y\n" + "".join(f"{text},{label}\n" for text, label in zip(TEXTS, LABELS, strict=True)))

    code, _, said = run("fit", "lengths", data, "--target", "y", "--model", tmp_path / "m", *flags)

    assert code == 2 and advice in said and "Pass --" not in said
    assert Engine("lengths", epochs=2, random_state=0).fit(TEXTS, LABELS).predict(TEXTS).tolist() == LABELS


def test_a_reader_gets_a_frame_of_texts_as_users_pass_it():
    engine = Engine("multiclass", plugins=[OfFrames()], epochs=2, random_state=0).fit(FRAME, LABELS)

    assert engine.predict(FRAME).tolist() == LABELS


def test_a_reader_of_tables_gets_what_the_plugin_table_makes():
    engine = Engine("multiclass", plugins=["table", Squares()], one_hot=["word"], epochs=2, random_state=0).fit(FRAME, LABELS)

    assert engine.predict(FRAME).tolist() == LABELS


def test_options_of_tables_are_refused_before_a_reader_that_takes_none():
    with pytest.raises(OptionError, match="OfFrames.read gets X as users pass it.*Leave out 'table'.*takes_tables = True"):
        Engine("multiclass", plugins=["table", OfFrames()], one_hot=["word"]).fit(FRAME, LABELS)


def test_texts_that_a_reader_leaves_are_to_be_mended_by_hand():
    with pytest.raises(DataError, match="'word': 4 texts") as caught:
        Engine("multiclass", plugins=[Untouched()]).fit(TEXTS, LABELS)

    assert "plugins=" not in str(caught.value) and "drop=" not in str(caught.value)
