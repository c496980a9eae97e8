"""Bibliographies of what is in use."""

from __future__ import annotations

import re

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
