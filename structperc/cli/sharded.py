"""`structperc fit --dask`: training on Dask's workers, which read the files themselves."""

from __future__ import annotations

import logging
import os
import pickle
from contextlib import closing, contextmanager, suppress

import attrs

from structperc.cli.facts import Facts
from structperc.cli.files import answers, counted_in, outputs_of, parts, reader_of, refuse_intervals
from structperc.distributed import fit
from structperc.distributed.parts import parts_of
from structperc.errors import OptionError
from structperc.extras import require
from structperc.files import formats
from structperc.files.frames import NoRows
from structperc.files.opening import fingerprint, is_url, unchanged

LOCAL = "local:"


def sources_of(source, arguments) -> list:
    """The sources of the data: with --dask each file that DATA matches, else DATA."""
    if arguments.dask is None:
        return [source]
    return [attrs.evolve(source, path=path if is_url(path) else os.path.abspath(path)) for path in parts_of(source.path)]


def refuse(engine, sources, data) -> None:
    """Raises an error where --dask has too few files, or shards for them."""
    n = len(sources)
    if n < 2:
        raise OptionError(f"--dask trains on parts, a file each, and {data} is one file. Divide it, and name all parts by a pattern in "
                          f"quotes, such as 'parts/*.csv'. Or leave --dask out; --stream reads files larger than memory.")
    if not 2 <= engine.n_shards <= n:
        raise OptionError(f"--dask trains in shards, n_shards is {engine.n_shards}, and {data} has {n} files. Expected from 2 shards to as "
                          f"many as files, such as --set n_shards={n}.")


def learn(engine, sources, plugins, classes, resume, address, stream, text_labels=None, progress=None) -> Facts:
    """Trains an engine on files, a part each. Returns the facts of the first file, with the examples of all files."""
    # After Ctrl-C the engine keeps what it has learned. `address` is a scheduler's, or "local:N". If `stream`, each pass reads the files
    # anew. `progress` is as of `structperc.distributed.fit`.
    with connected(address) as client:
        options = {"text_labels": text_labels, "labels": classes or ()}
        if sources[0].has_features:
            options["n_features"] = max(client.gather(client.map(width, sources)))
        elif not sources[0].of_tokens:
            options["reader"] = reader_of(engine)
        reading = FileReader(engine, plugins, options, {source.path: fingerprint(source.path) for source in sources})
        fit(engine, sources, read=reading, client=client, stream=stream, resume=resume, progress=progress)
        facts = client.submit(reading.facts, sources, pure=False).result()
    return attrs.evolve(facts, examples=engine.parts_.weights.n_visited // len(engine.mistakes_), rows=None, answers=None)


@contextmanager
def connected(address):
    """A client of the workers that --dask names."""
    distributed = require("distributed", "--dask", "dask")
    if not address.startswith(LOCAL):
        with distributed.Client(address) as client:
            yield client
        return
    n = address.removeprefix(LOCAL)
    if not n.isdecimal() or int(n) < 1:
        raise OptionError(f"--dask {address!r}; expected local:N with a number of workers from 1 on, or the address of a scheduler.")
    quiet = {"silence_logs": logging.CRITICAL}         # a worker logs the traceback of an error that this process raises anyway
    with distributed.LocalCluster(n_workers=int(n), threads_per_worker=1, dashboard_address=None, **quiet) as cluster:
        with distributed.Client(cluster) as client:
            yield client


def width(source) -> int:
    """How many features a file of numbered features has."""
    with formats.open(source.path, format=source.format) as file:
        return file.survey()[1]


class FileReader:
    """Reads a file as arguments of `Engine.fit`, table after table, wherever it is called."""
    # engine: Engine. Not yet trained. Its outputs define the form of targets.
    # plugins: list of str
    # options: dict. How `structperc.cli.files.parts` reads.
    # contents: dict of str to str. The fingerprint of each file.

    def __init__(self, engine, plugins, options, contents):
        self.engine, self.plugins, self.options = pickle.loads(pickle.dumps(engine)), plugins, options      # it is to stay untrained
        self.contents = contents

    def __call__(self, source):
        with unchanged(source.path, self.contents[source.path]):
            for table in parts(source, self.plugins, **self.options):
                with counted_in(table, source.path):
                    if getattr(table.y, "ndim", 1) == 2:
                        refuse_intervals(table, outputs_of(self.engine), self.engine.problem)
                    yield attrs.evolve(table, y=answers(self.engine, table))

    def facts(self, sources) -> Facts:
        """Those of the first file with rows."""
        for source in sources:
            with suppress(NoRows), closing(parts(source, self.plugins, **self.options)) as tables:
                return Facts.of(next(tables))
