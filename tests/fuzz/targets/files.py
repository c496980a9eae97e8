"""Data files of each format, spoiled as texts and as bytes, plain and compressed, read by the functions of structperc.files."""

import bz2
import functools
import gzip
import lzma
import tempfile
from pathlib import Path
from random import Random

from structperc.reading.templates import Template

from fuzz import corpus
from fuzz.mutators import spoil_bytes, spoil_text
from fuzz.promises import attempt
from structperc.files import conll, csv_tables, svmlight

COMPRESS = {"": bytes, ".gz": functools.partial(gzip.compress, mtime=0), ".bz2": bz2.compress, ".xz": lzma.compress}
SEPARATORS = {".csv": (",", ";"), ".svmlight": (" ", ":"), ".conll": (" ", "\t"), ".conllu": ("\t",), ".template": (",", "/", "[")}


def folder():
    """The folder of this process for files."""
    return Path(tempfile.gettempdir())


def prepare():
    """Imports what readers import at their use."""
    for name, text in corpus.files().items():
        path = folder() / name
        path.write_text(text, encoding="utf-8")
        attempt(READERS[path.suffix], Random(0), path)


def spoiled(random, name) -> bytes:
    """A file of the corpus, spoiled as lines of cells, as bytes, or as both."""
    content = corpus.files()[name]
    act = random.random()
    if act < 0.8:
        content = spoil_text(random, content, SEPARATORS[Path(name).suffix])
    content = content.encode(random.choice(("utf-8",) * 12 + ("utf-8-sig", "utf-16", "latin-1")), "replace")
    return spoil_bytes(random, content) if act > 0.7 else content


def written(random, name) -> Path:
    """The path of a spoiled file, compressed and damaged then now and then."""
    content, ending = spoiled(random, name), random.choice(("",) * 9 + (".gz", ".bz2", ".xz"))
    content = COMPRESS[ending](content)
    if ending and random.random() < 0.5:
        content = spoil_bytes(random, content)
    path = folder() / f"{name}{ending}"
    path.write_bytes(content)
    return path


def read_csv(random, path):
    header = ("level", "a", "b", "low", "high", "height", "day", "weight", "shown", None)
    how = {"target": random.choice((*header, "low,high", ("low", "high"), ("level", "height"))),
           "weight": random.choice((None, None, "weight", "a")), "group": random.choice((None, None, "day")),
           "features": random.choice((None, None, ["a"], ["height", "width"])), "text_labels": random.random() < 0.5,
           "separator": random.choice((",", ",", ",", ";", "\t", '"'))}
    if random.random() < 0.4:
        return list(csv_tables.stream_csv(path, **how, rows=random.choice((1, 2, 7))))
    return csv_tables.read_csv(path, **how)


def read_svmlight(random, path):
    grouped, n_features = random.random() < 0.4, random.choice((None, None, 4, 2))
    act = random.random()
    if act < 0.2:
        return svmlight.survey(path)
    if act < 0.5:
        return list(svmlight.stream_svmlight(path, n_features=n_features, grouped=grouped, rows=random.choice((1, 3, 1 << 20))))
    return svmlight.read_svmlight(path, n_features=n_features, grouped=grouped)


def read_columns(random, path):
    conllu = path.name.startswith("tags") != (random.random() < 0.05)
    names = random.choice((None, ["form", "upos"], ["form"], ["word", "_", "chunk"], ["a", "b", "c"], ["a", "a"], []))
    if random.random() < 0.3:
        return list(conll.stream_file(path, conllu, random.choice((1, 2, 100))))
    found = conll.read_columns(path, names, conllu)
    with open(folder() / "out", "w", encoding="utf-8", errors="surrogateescape") as file:
        conll.write_columns(file, found, [["X"] * len(sentence) for sentence in found], random.choice((" ", "\t")))
    return found


def read_template(random, path):
    template = Template(path.read_bytes().decode("utf-8", random.choice(("replace", "surrogateescape"))), random.choice((None, ["word",
                                                                                                                                "tag"])))
    from structperc.reading.named import NamedReader

    return NamedReader(template=template.text, columns=template.columns).learn([[("the", "D"), ("dog", "N")], [("é", "\ud800")], [("a",)]])


READERS = {".csv": read_csv, ".svmlight": read_svmlight, ".conll": read_columns, ".conllu": read_columns, ".template": read_template}


def hostile_files(random):
    """One file, read once."""
    name = random.choice(list(corpus.files()))
    path = written(random, name)
    return attempt(READERS[Path(name).suffix], random, path, also=(OSError,))[0]
