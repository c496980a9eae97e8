"""The files that mutators start from: `corpus` holds them, small, by the name of their format."""

import functools
from pathlib import Path

FOLDER = Path(__file__).parent / "corpus"


@functools.cache
def files() -> dict:
    """Their texts, by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.iterdir())}
