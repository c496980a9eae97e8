# May import basics, reading.
"""Files of data: `read` whole, `stream` part by part, `open` for several passes; the ending of the name decides the format.

Provisional: it may change in any minor version.

Examples
--------
>>> from structperc import files
>>> table = files.read("visits.parquet", target="level")                                # doctest: +SKIP
>>> engine.fit(table.X, table.y)                                                        # doctest: +SKIP
"""

from structperc.later import names_of

MODULES = {"formats": ("open", "read", "stream"), "kept": ("Kept",), "vectors": ("read_vectors",)}
__all__, __getattr__, __dir__ = names_of(__name__, MODULES)
