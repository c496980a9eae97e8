"""Structures of an author's own in the target column of a file: fit, evaluate, predict and help."""

import numpy as np
import pytest

SOURCE = """
'''Bits and orders, for tests.'''
import itertools

import numpy as np

from structperc import hookimpl
from structperc.components import Argmax, Outputs, RowFeatures
from structperc.errors import PluginError


class Bits(Outputs):
    def check_structure(self, x, y):
        if len(y) != x.n_rows or not set(y) <= {0, 1}:
            raise PluginError(f"{y} has no bit for each row.")

    def count(self, x, y):
        return np.array(y, dtype=float)

    def read_cells(self, cells):
        '''One cell, such as 0110, in the first row of the group; the others are empty.'''
        return [int(bit) for bit in str(cells[0]).strip("b")]

    def write_cells(self, bits, n_rows):
        return ["b" + "".join(map(str, bits)), *[""] * (n_rows - 1)]


class Positive(Argmax):
    def argmax(self, scores, x):
        return tuple(int(score > 0) for score in scores)


@hookimpl
def structperc_outputs(context):
    return Bits()


@hookimpl
def structperc_features(context):
    return RowFeatures(context.n_features)


@hookimpl
def structperc_argmax(context):
    return Positive()
"""


@pytest.fixture
def data(tmp_path, install):
    install("bits", SOURCE)
    random, lines = np.random.default_rng(0), ["day,a,b,bits"]
    for day in range(40):
        block = random.normal(size=(3, 2)).round(2)
        bits = "b" + "".join(str(int(row[0] > 0)) for row in block)
        lines += [f"d{day},{a},{b},{bits if t == 0 else '-'}" for t, (a, b) in enumerate(block)]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_every_command_reads_and_writes_the_form(data, run, tmp_path):
    model, output = tmp_path / "m", tmp_path / "out.csv"
    assert run("fit", "bits", data, "--group", "day", "--target", "bits", "--model", model)[0] == 0

    code, out, _ = run("evaluate", model, data, "--group", "day", "--target", "bits")
    assert code == 0 and out
    assert run("predict", model, data, "--group", "day", "--drop", "bits", "--output", output)[0] in (0, 2)
    assert run("predict", model, data, "--group", "day", "--output", output)[0] == 0
    cells = [line.split(",")[-1] for line in output.read_text().splitlines()[1:]]
    assert len(cells) == 120 and all(cell.startswith("b") == (i % 3 == 0) for i, cell in enumerate(cells))


def test_help_shows_the_form(data, run):
    assert "target of a file: One cell, such as 0110, in the first row of the group" in " ".join(run("help", "bits")[1].split())


def test_a_cell_that_cannot_be_read_is_named(data, run, tmp_path):
    data.write_text(data.read_text().replace("d3,", "d3x,", 1).replace(",b", ",x", 1))
    code, _, error = run("fit", "bits", data, "--group", "day", "--target", "bits", "--model", tmp_path / "m")

    assert code == 2 and "Bits.read_cells cannot read the target" in error
