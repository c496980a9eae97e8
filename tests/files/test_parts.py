"""Files with a fault in any line, read whole and in parts of few rows: the tables are equal, or the errors are."""

import numpy as np
import pandas as pd
import pytest

from structperc import files
from structperc.errors import DataError

ROWS = (None, 1, 2, 3)
WORD = "\t_" * 8
TEXTS = {   # lines of a file, and lines to insert at each place
    "svmlight": ([f"{i} {i}:0.5 {i + 1}:2" for i in range(5)],
                 ["1 2:nan", "x 1:2", "1 20:3", "1 2:3 junk", "", "# c", "1", "1 1:2\r"]),
    "queries": ([f"{i} qid:{i // 2} {i}:0.5" for i in range(5)],
                ["1 1:2", "1 qid:0 1:2", "1 qid:9 2:x", "", "# qid:1", "1 qid:9 1:1"]),
    "conll": ("He PRP\nsaw VBD\n\nYes UH\n\nGo VB".split("\n"), ["x", "x y z", "", "\t", "x\ty", "x\t", "# c", "x y\r"]),
    "conllu": (["# one", f"1\ta{WORD}", f"2\tb{WORD}", "", f"1-2\tx{WORD}", f"1\tc{WORD}", f"2\td{WORD}", f"2.1\te{WORD}", "",
                f"1\tf{WORD}"],
               ["x", "", "# c", f"a\tb{WORD}", f"3\tx{WORD}\ty", f"1\t{WORD}", f"1-\tx{WORD}", f"-1\tx{WORD}"]),
}  # fmt: skip


def read_text(kind, path, rows):
    if kind.startswith("conll"):
        parts = list(files.stream(path, format=kind, rows=rows))
        return [pair for part in parts for pair in zip(part.sentences, part.texts, strict=True)]
    parts = list(files.stream(path, format="svmlight", n_features=9, group="qid" if kind == "queries" else None, rows=rows))
    return [(*x, y) for part in parts for x, y in zip(part.X.toarray().tolist(), part.y.tolist(), strict=True)]


def outcome(read, *arguments):
    """The tables, or the error message. The message is cut before words that depend on the size of a part."""
    try:
        return read(*arguments)
    except DataError as error:
        return str(error).partition(" after example ")[0].partition(" (")[0].partition("'qid'")[0]


@pytest.mark.parametrize("kind", TEXTS)
def test_text_with_any_line_at_any_place(kind, tmp_path):
    lines, others = TEXTS[kind]
    path, refused = tmp_path / "data", 0
    for at in range(len(lines) + 1):
        for other in others:
            path.write_text("\n".join([*lines[:at], other, *lines[at:]]) + "\n", newline="")
            whole, *found = (outcome(read_text, kind, path, rows) for rows in ROWS)
            assert all(one == whole for one in found), (at, other)
            refused += isinstance(whole, str)
    assert 0 < refused < len(others) * (len(lines) + 1)


@pytest.mark.parametrize("format", ["arrow", "parquet"])
def test_tables_with_a_fault_in_any_row(format, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "data"
    frame = pd.DataFrame({"a": np.arange(7.0), "b": [str(i) for i in range(7)], "w": np.ones(7), "y": list("mnmnmnm")})

    def read(rows):
        parts = list(files.stream(path, format=format, target="y", weight="w", features=["a", "b"], rows=rows))
        return [(*x, w, y) for part in parts for x, w, y in zip(part.X.to_numpy().tolist(), part.weights, part.y.tolist(), strict=True)]

    for row in range(7):
        for name, value in {"a": np.nan, "b": "x", "w": np.inf, "y": None}.items():
            odd = frame.copy()
            odd.loc[row, name] = value
            if format == "arrow":
                odd.to_feather(path, chunksize=3)
            else:
                odd.to_parquet(path, index=False, row_group_size=3)
            for rows in ROWS:
                with pytest.raises(DataError, match=f"data, row {row + 1}: column '{name}' is "):
                    read(rows)
