"""Models of CRFsuite with spoiled bytes and header numbers, read as engines."""

import functools
import struct
import tempfile
from pathlib import Path

from fuzz.mutators import spoil_bytes
from fuzz.promises import attempt, expect
from structperc.crfsuite import read_crfsuite

MODEL = Path(__file__).parents[2] / "files/crfsuite/words.crfsuite"
NUMBERS = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


@functools.cache
def content() -> bytes:
    return MODEL.read_bytes()


def damaged_crfsuite(random) -> bool:
    """A damaged model raises an error, or predicts one label for each token."""
    found = bytearray(content())
    starts = (0, *struct.unpack_from("<3I", found, 28))
    for _ in range(random.randrange(3)):
        at = random.choice(starts) + 4 * random.randrange(12)
        struct.pack_into("<I", found, at, random.choice((*NUMBERS, random.randrange(len(found)))))
    if random.random() < 0.5:
        found = spoil_bytes(random, bytes(found))
    path = Path(tempfile.gettempdir(), "spoiled.crfsuite")
    path.write_bytes(found)
    loaded, engine = attempt(read_crfsuite, path)
    if loaded:
        tags = engine.predict([[{"word": "the", "len": 2.0}, ["word:dog"]], []])
        expect(list(map(len, tags)) == [2, 0], "a label for each token")
    return loaded
