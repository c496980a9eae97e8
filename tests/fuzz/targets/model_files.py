"""Model files: damaged bytes, mixed members, crafted arrays and headers. They have new checksums, so that later checks are reached."""

import functools
import hashlib
import io
import json
import zipfile

import numpy as np
from numpy.lib import format as npy

from fuzz import hostile, kinds
from fuzz.mutators import spoil, spoil_array, spoil_bytes
from fuzz.promises import READING, attempt, expect, plain

SUMS = "SHA256SUMS"


@functools.cache
def members(one):
    """The members of a trained engine's file: their names, and their bytes as npy files."""
    with zipfile.ZipFile(io.BytesIO(one.content)) as file:
        return {info.filename: file.read(info) for info in file.infolist()}


@functools.cache
def header(one):
    return json.loads(npy.read_array(io.BytesIO(members(one)["header.npy"])).tobytes().decode())


def zipped(parts, compression=zipfile.ZIP_STORED) -> bytes:
    """A zip file of (name, bytes), in which names may repeat."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in parts:
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=compression)
    return file.getvalue()


def summed(parts) -> dict:
    """The members with valid checksums, if they have checksums."""
    if SUMS not in parts:
        return parts
    sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in parts.items() if name != SUMS)
    return {**parts, SUMS: sums.encode()}


def as_npy(array) -> bytes:
    file = io.BytesIO()
    npy.write_array(file, np.asanyarray(array), allow_pickle=True)
    return file.getvalue()


def load(one, content):
    """The engine of a file, or None if loading raises an error."""
    loaded, engine = attempt(one.kind.load, content)
    return engine if loaded else None


def same_answers(one, engine):
    kind = one.kind
    return plain(engine.predict(kind.X, **kind.told)) == plain(one.answers)


def damaged(random):
    """A file with changed bytes raises an error, or the engine predicts as before."""
    one = kinds.pick(random)
    splice = kinds.pick(random).content if random.random() < 0.2 else b""
    engine = load(one, spoil_bytes(random, one.content, splice))
    if engine is not None:
        expect(same_answers(one, engine), "a damaged file loads and predicts otherwise")
    return engine is not None


def mixed(random):
    """Members dropped, doubled, renamed, swapped, deflated or copied from other models, with valid checksums of zip."""
    one = kinds.pick(random)
    parts = list(members(one).items())
    other = list(members(kinds.pick(random)).items())
    for _ in range(random.choice((1, 1, 2))):
        i, j = random.randrange(len(parts)), random.randrange(len(other))
        act = random.randrange(7)
        if act == 0 and len(parts) > 1:
            del parts[i]
        elif act == 1:
            parts.append(random.choice((parts[i], other[j], ("junk.npy", as_npy(np.zeros(1000))), ("../../x", b"x"), ("x/", b""))))
        elif act == 2:
            parts[i] = random.choice((other[j][0], "x.npy", "weights..npy", ".npy", "header", "a" * 300)), parts[i][1]
        elif act == 3:
            parts[i] = parts[i][0], other[j][1]
        elif act == 4:
            k = random.randrange(len(parts))
            parts[i], parts[k] = (parts[i][0], parts[k][1]), (parts[k][0], parts[i][1])
        elif act == 5:
            same = [content for name, content in other if name == parts[i][0]]
            parts[i] = parts[i][0], (same or [parts[i][1]])[0]
        else:
            parts[i] = parts[i][0], spoil_bytes(random, parts[i][1])
    engine = load(one, zipped(parts, random.choice((zipfile.ZIP_STORED,) * 4 + (zipfile.ZIP_DEFLATED,))))
    if engine is not None:
        if sealed(one):
            expect(same_answers(one, engine), "a file of mixed members loads and predicts otherwise")
        used(random, one, engine)
    return engine is not None


def sealed(one) -> bool:
    """Whether files contain a digest of all members."""
    return SUMS in members(one)


def crafted(random, one, parts):
    """Whether a crafted file loads. If it does, calls of the engine may raise only expected errors."""
    engine = load(one, zipped(summed(parts).items()))
    if engine is not None:
        used(random, one, engine)
    return engine is not None


def used(random, one, engine):
    """Uses an engine of a crafted file. The calls may raise only expected errors."""
    kind = one.kind
    attempt(READING[random.choice(list(READING))], engine, kind.X, **kind.told)
    attempt(engine.predict, kind.X, **kind.told)
    attempt(engine.explain, kind.first)
    if kind.online:
        attempt(engine.partial_fit, kind.X, kind.y, **kind.told, **kind.fitting)
    if random.random() < 0.2:
        saved, content = attempt(kinds.dumped, engine)
        if saved and kind.online:
            attempt(kind.load, content)


def crafted_arrays(random):
    """Arrays with other values, types, shapes, orders and npy headers, under valid checksums."""
    one = kinds.pick(random)
    parts = dict(members(one))
    for name in random.sample(sorted(set(parts) - {"header.npy", SUMS}), k=random.choice((1, 1, 2))):
        if random.random() < 0.2:
            parts[name] = spoil_bytes(random, parts[name])
        elif random.random() < 0.1:
            parts[name] = lying_npy(random, parts[name])
        else:
            parts[name] = as_npy(spoil_array(random, npy.read_array(io.BytesIO(parts[name]))))
    return crafted(random, one, parts)


def lying_npy(random, content):
    """An array whose header has another shape or type."""
    array = npy.read_array(io.BytesIO(content))
    file = io.BytesIO()
    shape = random.choice(((2**40,), (2**62, 4), (0, 2**62), (-1,), (3,) * 40, (), (len(content),)))
    descr = random.choice((array.dtype.str, "<f8", "|O", "<U1000000000", "|V0", "<i8"))
    npy.write_array_header_2_0(file, {"descr": descr, "fortran_order": random.random() < 0.5, "shape": shape})
    return file.getvalue() + array.tobytes()


def crafted_header(random):
    """A header with hostile values, with missing keys or with repeated keys, under valid checksums."""
    one = kinds.pick(random)
    parts = dict(members(one))
    tree = header(one)
    for _ in range(random.choice((1, 1, 2, 3))):
        tree = spoil(random, tree, lambda random: random.choice(hostile.JSON))
    text = json.dumps(tree, ensure_ascii=random.random() < 0.5)
    if random.random() < 0.05:
        text = random.choice((text.replace(":", ":" + "[" * 20000, 1), text[:-1] + "," + text[1:], text * 2, "[" * 100000, "1" * 5000))
    parts["header.npy"] = as_npy(np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8))
    return crafted(random, one, parts)

