"""Bibliographies of what is in use."""

from __future__ import annotations

import re

from structperc.fitting import plugins as registry
from structperc.fitting.assembly import options_alone

KEY = re.compile(r"@\w+\s*\{\s*([^,\s]+)")


def bibliography(cited) -> str:
    """The BibTeX entries in `citation` of plugins and components; of several entries with one key the first."""
    entries = {}
    for text in (one.citation for one in cited):
        for entry in re.split(r"\n(?=@)", (text or "").strip()):
            if entry:
                key = KEY.match(entry)
                entries.setdefault(entry if key is None else key[1], entry.strip())
    return "\n\n".join(entries.values())


def parts_in_use(engine) -> list:
    """The parts of an engine that training uses. Before `fit` these are the trainer and the update, which hooks return without data."""
    if engine.model is not None:
        parts = dict(engine.model.parts.items())
    else:
        context = options_alone(engine)
        parts = {kind: registry.ask_hook(engine.manager, f"structperc_{kind}", context) for kind in ("trainer", "update")}
    if parts["trainer"] is not None and not parts["trainer"].online:
        del parts["update"]             # the trainer makes steps of its own
    return [part for part in parts.values() if part is not None]
