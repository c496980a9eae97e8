"""Parts of a file against the whole file: nearly valid files, with cells that readers could misread at the start of a part."""

import functools
import io
from pathlib import Path

from fuzz.promises import attempt, expect, plain
from fuzz.targets.files import dense, folder
from structperc import files

NUMBERS = ("1", "2", "-0.5", "3e2")
ODD = (
    "\ufeff1", "\ufeff", "TRUE", "FALSE", "true", "inf", "-inf", "nan", "NA", "", "1e400", "1_0", " 1", "1 ", "0x1", "+1", '"1"', "1,5",
    "a", "None", "null", "9" * 30, "01", "1.0", "2020-01-01", "\u0663",
)  # fmt: skip
ENDS = ("\n", "\n", "\n", "\r\n", "\r")


def cells(random, n, odd):
    """n cells of a column. Some are odd, single or in runs."""
    found = [random.choice(NUMBERS) for _ in range(n)]
    for _ in range(random.choice((0, 1, 1, 2)) if odd else 0):
        cell, at = random.choice(ODD), random.randrange(n)
        end = random.choice((at + 1, at + 1, n))
        found[at:end] = [cell] * (end - at)
    return found


def same_tables(random, path, how, n):
    """Reading at once and in parts both raise an error, or both return the same rows and labels."""
    taken, table = attempt(files.read, path, **how)
    rows = random.choice((1, 1, 2, 3, max(n // 2, 1), n))
    streamed, tables = attempt(lambda: list(files.stream(path, **how, rows=rows)))
    expect(taken == streamed, f"at once: {'taken' if taken else table}; in parts: {'taken' if streamed else tables}")
    if taken:
        expect(cells_of(table.X) == [row for part in tables for row in cells_of(part.X)], "parts hold other rows than the whole")
        if {part.y.dtype.kind for part in tables} == {table.y.dtype.kind}:          # a part of a text column may have only numbers
            expect(repr(plain(table.y)) == repr([one for part in tables for one in plain(part.y)]), "parts hold other answers")
    return taken


def cells_of(X) -> list:
    """The rows of X as texts. Whole numbers become floats, because a part of a column may have no fractions."""
    return [repr([float(cell) if isinstance(cell, int) else cell for cell in row]) for row in plain(dense(X))]


def csv_parts(random):
    n = random.randrange(2, 9)
    columns = {"y": cells(random, n, random.random() < 0.5), "a": cells(random, n, random.random() < 0.6), "b": cells(random, n, False)}
    if random.random() < 0.3:
        columns["day"] = [str(i // 2) for i in range(n)]
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    if random.random() < 0.1:
        lines.insert(random.randrange(1, n), "")
    end = random.choice(ENDS)
    path = folder() / "parts.csv"
    path.write_bytes((random.choice(("", "", "", "\ufeff")) + end.join(lines) + random.choice(("", end))).encode())
    how = {"target": "y", "text_labels": random.random() < 0.5}
    if "day" in columns and random.random() < 0.7:
        how["group"] = "day"
    if random.random() < 0.2:
        how["as_text"] = ["a"]
    return same_tables(random, path, how, n)


def svmlight_parts(random):
    n = random.randrange(2, 9)
    grouped = random.random() < 0.3
    lines = []
    for i in range(n):
        value = random.choice((*NUMBERS, random.choice(ODD).strip() or "1")) if random.random() < 0.2 else random.choice(NUMBERS)
        lines.append(f"{random.choice((*NUMBERS, *NUMBERS, '1.0', '2.5'))} {f'qid:{i // 2} ' * grouped}1:{value} 3:1"
                     f"{random.choice(('', '', '', ' # said', ' #', '  '))}")
    if random.random() < 0.2:
        lines.insert(random.randrange(n), random.choice(("", "# a line", " ", "\ufeff")))
    end = random.choice(ENDS)
    path = folder() / "parts.svmlight"
    path.write_bytes((random.choice(("", "", "\ufeff")) + end.join(lines) + random.choice(("", end))).encode())
    return same_tables(random, path, {"n_features": 4, "group": "qid" if grouped else None}, n)


def conll_parts(random):
    """Sentences of columns: the parts have as many tokens as the file, for any number of sentences per part."""
    lines = []
    for _ in range(random.randrange(1, 6)):
        lines += [f"{random.choice(('the', 'dog', random.choice(ODD).strip() or 'x'))} {random.choice(('D', 'N', 'O'))}"
                  for _ in range(random.randrange(1, 4))]
        lines += random.choice(([""], [""], [" "], ["", ""], ["# said"], ["\ufeff"]))
    end = random.choice(ENDS)
    path = folder() / "parts.conll"
    path.write_bytes(end.join(lines).encode())
    taken, found = attempt(files.read, path, columns=["word", "tag"])
    streamed, parts = attempt(lambda: list(files.stream(path, rows=random.choice((1, 2, 3)))))
    if taken:           # names are given after a part is read
        expect(streamed and sum(part.n_tokens for part in parts) == found.n_tokens, "parts hold other tokens than the whole")
    return taken


@functools.cache
def tables() -> tuple:
    """Tables of pyarrow, or none if it is not installed."""
    try:
        import pyarrow
    except ImportError:
        return ()
    y = pyarrow.array(["a", "b", None, "a", "c", "b"])
    return (
        pyarrow.table({"y": y.fill_null("c"), "a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "b": [1, 2, 3, 4, 5, 6]}),
        pyarrow.table({"y": y, "a": [1.0] * 6}),
        pyarrow.table({"y": y.fill_null("c"), "a": [1.0, None, float("nan"), float("inf"), 1.0, 2.0]}),
        pyarrow.table({"y": y.fill_null("c").dictionary_encode(), "a": [True, False, True, True, True, True]}),
        pyarrow.table({"y": [1, 2, 1, 2, 3, 1], "a": ["1", "2", "x", "4", "5", "6"]}),
        pyarrow.table({"y": [1.0, 2.0, 1.5, 2.0, 3.0, 1.0], "a": pyarrow.array([2**60 + 1, 2, 3, 4, 5, 6])}),
    )


def columnar_parts(random):
    """The same table in row groups of any size."""
    from pyarrow import ipc
    from pyarrow import parquet as format

    table, size, file = random.choice(tables()), random.choice((1, 2, 3, 6)), io.BytesIO()
    if random.random() < 0.5:
        format.write_table(table, file, row_group_size=size)
        name = "parts.parquet"
    else:
        with ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=size)
        name = "parts.arrow"
    path = Path(folder(), name)
    path.unlink(missing_ok=True)
    path.write_bytes(file.getvalue())
    how = {"target": "y", "text_labels": random.random() < 0.3}
    if random.random() < 0.2:
        how["as_text"] = ["a"]
    return same_tables(random, path, how, len(table))


def parts(random):
    """One file of a random format."""
    return random.choice((csv_parts, csv_parts, svmlight_parts, conll_parts, *[columnar_parts] * bool(tables())))(random)
