"""Functions that split model files and write them again with valid checksums, by zipfile and numpy only."""

import hashlib
import io
import json
import zipfile

import numpy as np

SUMS = "SHA256SUMS"


def saved(engine) -> bytes:
    """The model file of an engine or estimator."""
    file = io.BytesIO()
    engine.save(file)
    return file.getvalue()


def members(content) -> dict:
    """The bytes of each member except the checksums."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return {name: file.read(name) for name in file.namelist() if name != SUMS}


def packed(entries, method=zipfile.ZIP_STORED, sums=None) -> bytes:
    """A file of these members with their checksums, or with `sums`; `sums=b""` writes none.

    `entries` is a dict, or pairs of which some may repeat.
    """
    buffer, entries = io.BytesIO(), list(entries.items() if isinstance(entries, dict) else entries)
    if sums is None:
        sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in entries)
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in entries:
            file.writestr(zipfile.ZipInfo(name), content, method)
        if sums:
            file.writestr(zipfile.ZipInfo(SUMS), sums)
    return buffer.getvalue()


def npy(array) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def header_of(content) -> dict:
    return json.loads(read_npy(members(content)["header.npy"]).tobytes())


def read_npy(content):
    return np.load(io.BytesIO(content))


def header_npy(header) -> bytes:
    """The member of a header, which is an object or text."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return npy(np.frombuffer(text, dtype=np.uint8))


def edited(content, change) -> bytes:
    """The same file with another header; `change` edits the parsed header or returns a new one."""
    header = header_of(content)
    header = change(header) or header
    return packed({**members(content), "header.npy": header_npy(header)})


def with_arrays(content, **arrays) -> bytes:
    """The same file with other arrays, named with __ for a dot; None removes an array."""
    entries = members(content)
    for name, array in arrays.items():
        name = name.replace("__", ".") + ".npy"
        entries.pop(name) if array is None else entries.update({name: npy(array)})
    return packed(entries)


def array_of(content, name):
    return read_npy(members(content)[f"{name}.npy"])
