"""Data files of each format, spoiled as texts and as bytes, plain and compressed, read by the functions of structperc.files."""

import bz2
import functools
import gzip
import io
import lzma
import tempfile
from pathlib import Path
from random import Random

import numpy as np
import pandas
from scipy.sparse import issparse

from fuzz import corpus
from fuzz.mutators import spoil_bytes, spoil_text
from fuzz.promises import attempt, expect, plain
from structperc import files
from structperc.files import conll
from structperc.reading.named import NamedReader

COMPRESS = {"": bytes, ".gz": functools.partial(gzip.compress, mtime=0), ".bz2": bz2.compress, ".xz": lzma.compress}
SEPARATORS = {".csv": (",", ";"), ".svmlight": (" ", ":"), ".conll": (" ", "\t"), ".conllu": ("\t",), ".template": (",", "/", "[")}


def folder():
    """The folder of this process for files."""
    return Path(tempfile.gettempdir())


def prepare():
    """Reads every file once, because readers import libraries on first use."""
    columnar()
    for name, text in corpus.files().items():
        path = folder() / name
        path.write_text(text, encoding="utf-8")
        READERS[path.suffix](Random(0), path)


def spoiled(random, name) -> bytes:
    """A file of the corpus, spoiled as lines of cells, as bytes, or as both."""
    content = corpus.files()[name]
    act = random.random()
    if act < 0.8:
        content = spoil_text(random, content, SEPARATORS[Path(name).suffix])
    content = content.encode(random.choice(("utf-8",) * 12 + ("utf-8-sig", "utf-16", "latin-1")), "replace")
    return spoil_bytes(random, content) if act > 0.7 else content


def written(random, name) -> Path:
    """The path of a spoiled file, sometimes compressed and damaged again."""
    content, ending = spoiled(random, name), random.choice(("",) * 9 + (".gz", ".bz2", ".xz"))
    content = COMPRESS[ending](content)
    if ending and random.random() < 0.5:
        content = spoil_bytes(random, content)
    path = folder() / f"{name}{ending}"
    path.write_bytes(content)
    return path


def whole_and_parts(path, how, parts):
    """Reads a file at once and in parts. If both succeed, their rows are equal."""
    taken, table = attempt(files.read, path, also=(OSError,), **how)
    streamed, tables = attempt(lambda: list(files.stream(path, **how, **parts)), also=(OSError,))
    if taken and streamed:
        expect(np.array_equal(dense(table.X), np.concatenate([dense(part.X) for part in tables])), "parts hold other rows than the whole")
        if table.y is not None and {part.y.dtype for part in tables} == {table.y.dtype}:
            together = np.concatenate([part.y for part in tables])
            zero = 0.0 if table.y.dtype.kind == "f" else None         # pandas parses 0 as -0.0 beside -0
            whole, together = (y if zero is None else y + zero for y in (table.y, together))
            expect(repr(plain(whole)) == repr(plain(together)), "parts hold other answers than the whole")
    return taken


def dense(X):
    return X.toarray() if issparse(X) else np.asarray(X)


def read_table(random, path, **more):
    names = ("level", "a", "b", "low", "high", "height", "day", "weight", "shown", None)
    how = {"target": random.choice((*names, ("low", "high"), ("level", "height"))), "weight": random.choice((None, None, "weight", "a")),
           "group": random.choice((None, None, "day")), "features": random.choice((None, None, ["a"], ["height", "width"])),
           "text_labels": random.random() < 0.5, **more}
    return whole_and_parts(path, how, {"rows": random.choice((1, 2, 100))})


def read_separated(random, path):
    return read_table(random, path, separator=random.choice((",", ",", ",", ";", "\t", '"')))


def read_svmlight(random, path):
    how = {"n_features": random.choice((None, 4, 4, 2)), "group": random.choice((None, None, "qid"))}
    if how["n_features"] is None:
        return attempt(files.read, path, also=(OSError,), **how)[0]
    return whole_and_parts(path, how, {"rows": random.choice((1, 2, 100))})


def read_columns(random, path):
    format = "conllu" if path.name.startswith("tags") != (random.random() < 0.05) else "conll"
    names = random.choice((None, ["form", "upos"], ["form"], ["word", "_", "chunk"], ["a", "b", "c"], ["a", "a"], []))
    taken, found = attempt(files.read, path, format=format, columns=names, also=(OSError,))
    streamed, parts = attempt(lambda: list(files.stream(path, format=format, rows=random.choice((1, 2)))), also=(OSError,))
    if taken:
        expect(streamed and sum(part.n_tokens for part in parts) == found.n_tokens, "parts hold other tokens than the whole")
        with open(folder() / "out", "w", encoding="utf-8", errors="surrogateescape") as file:
            conll.write_columns(file, found.X, [["X"] * len(sentence) for sentence in found.X], random.choice((" ", "\t")))
    return taken


def read_template(random, path):
    columns, text = random.choice((None, ["word", "tag"])), path.read_bytes().decode("utf-8", random.choice(("replace", "surrogateescape")))
    sentences = [[("the", "D"), ("dog", "N")], [("é", "\ud800")], [("a",)]]
    return attempt(lambda: NamedReader(template=text, columns=columns).learn(sentences))[0]


READERS = {".csv": read_separated, ".parquet": read_table, ".arrow": read_table, ".svmlight": read_svmlight,
           ".conll": read_columns, ".conllu": read_columns, ".template": read_template}


def hostile_files(random):
    """One file of text, read at once and in parts."""
    path = written(random, random.choice(list(corpus.files())))
    suffix = next(suffix for suffix in path.suffixes if suffix in READERS)
    return READERS[suffix](random, path)


def hostile_columns(random):
    """One Arrow or Parquet file with changed bytes, read at once and in parts. Most files have one to five flipped bits."""
    if not columnar():
        return False
    name = random.choice(list(columnar()))
    content = bytearray(columnar()[name])
    if random.random() < 0.7:
        for _ in range(random.randrange(1, 6)):
            content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    else:
        content = spoil_bytes(random, bytes(content))
    path = folder() / f"columns{Path(name).suffix}"
    path.unlink(missing_ok=True)            # the previous file may be memory-mapped
    path.write_bytes(content)
    return READERS[path.suffix](random, path)


@functools.cache
def columnar() -> dict:
    """Arrow and Parquet files, by name. Empty if pyarrow is not installed."""
    try:
        from pyarrow import Table, ipc
        from pyarrow import parquet as format
    except ImportError:
        return {}
    table = Table.from_pandas(pandas.read_csv(corpus.FOLDER / "ranks.csv"))
    found = {}
    for rows in (2, 1000):
        file = io.BytesIO()
        format.write_table(table, file, row_group_size=rows)
        found[f"{rows}.parquet"] = file.getvalue()
        file = io.BytesIO()
        with ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=rows)
        found[f"{rows}.arrow"] = file.getvalue()
    return found
