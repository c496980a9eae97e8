"""The container of model files: a zip of arrays in numpy's format, stored as they are, with a SHA-256 of each.

Members are `header.npy`, the header's JSON text as bytes, and `NAME.npy` for each array. The last is `SHA256SUMS`, as the program sha256sum
writes and checks it.
"""

from __future__ import annotations

import hashlib
import io
import math
import re
import struct
import zipfile
import zlib

import numpy as np

from structperc.basics.errors import ModelFormatError

SUMS = "SHA256SUMS"
MAGIC = b"\x93NUMPY"
NEEDED, UTF8, NO_DATE, READABLE = 45, 0x800, (0, 33), 0o600 << 16       # version 4.5 has sizes of 64 bits; 1980-01-01
LOCAL, ENTRY = struct.Struct("<4s5H3L2H"), struct.Struct("<4s6H3L5H2L")
SIZES, PLACE = struct.Struct("<2H2Q"), struct.Struct("<2H3Q")
END64, LOCATOR, END = struct.Struct("<4sQ2H2L4Q"), struct.Struct("<4sLQL"), struct.Struct("<4s4H2LH")
PIECE = 1 << 18                         # bytes that are read together
LONGEST = 1 << 12                       # bytes before the values of an array
DESCRIBED = re.compile(rb"\{'descr': '([<|][biufUSMm]\d{1,9}(?:\[\w+\])?)', 'fortran_order': False, 'shape': \(([\d, ]*)\), \}\s*")
SUM = re.compile(r"([0-9a-f]{64})  (.+)")


def write(file, header: bytes, arrays: dict) -> None:
    """Writes a header and arrays, not copied, to a file opened for bytes, front to back. Equal content makes equal files."""
    # Without `zipfile.ZipFile`: a Ctrl-C that falls into its `__del__` is lost, and its `close` raises an error instead of one.
    sums, listed, at = [], [], 0
    for name, array in {"header": np.frombuffer(header, dtype=np.uint8), **arrays}.items():
        head, array = io.BytesIO(), portable(array)
        np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(array))
        content = [head.getvalue(), memoryview(array.reshape(-1).view(np.uint8))]
        sums.append(f"{sha256(content)}  {name}.npy\n")
        at += write_member(file, f"{name}.npy", content, at, listed)
    at += write_member(file, SUMS, ["".join(sums).encode()], at, listed)
    table = b"".join(listed)
    file.write(table)
    file.write(END64.pack(b"PK\6\6", END64.size - 12, NEEDED, NEEDED, 0, 0, len(listed), len(listed), len(table), at))
    file.write(LOCATOR.pack(b"PK\6\7", 0, at + len(table), 1))
    file.write(END.pack(b"PK\5\6", 0, 0, *[0xFFFF] * 2, *[0xFFFFFFFF] * 2, 0))


def write_member(file, name, content, at, listed) -> int:
    """Writes a member that begins at a place of the file, and adds its entry to the final list. Returns its length."""
    name, size, crc = name.encode(), sum(map(len, content)), 0
    for piece in pieces(content):
        crc = zlib.crc32(piece, crc)
    common = NEEDED, UTF8, 0, *NO_DATE, crc, 0xFFFFFFFF, 0xFFFFFFFF, len(name)          # the sizes follow in the extra field
    sizes, place = SIZES.pack(1, SIZES.size - 4, size, size), PLACE.pack(1, PLACE.size - 4, size, size, at)
    file.write(LOCAL.pack(b"PK\3\4", *common, len(sizes)) + name + sizes)
    for piece in pieces(content):
        file.write(piece)
    listed.append(ENTRY.pack(b"PK\1\2", NEEDED, *common, len(place), 0, 0, 0, READABLE, 0xFFFFFFFF) + name + place)
    return LOCAL.size + len(name) + len(sizes) + size


def pieces(content):
    """Bytes and views of bytes, a moderate number at a time."""
    return (part[start:start + PIECE] for part in content for start in range(0, len(part), PIECE))


def sha256(content) -> str:
    digest = hashlib.sha256()
    for piece in pieces(content):
        digest.update(piece)
    return digest.hexdigest()


def portable(array):
    """The array in the order of C and with the low bytes first; itself where it is."""
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


class Directory(zipfile.ZipFile):
    """The list of a zip's members. Its file stays open, and nothing runs in Python when it goes: there a Ctrl-C would be lost."""

    __del__ = object.__hash__


class Member:
    """An array of a model file, read when it is asked for."""
    # dtype, shape: As the file declares them; they fit the bytes that are there.

    def __init__(self, archive, info, checksum):
        self.archive, self.name, self.checksum, self.was_read = archive, info.filename, checksum, False
        self.begin = archive.begin_of(info)
        self.head = self.read_head()
        header = DESCRIBED.fullmatch(self.head[10 if self.head[6] == 1 else 12:])
        if header is None:
            raise archive.damaged(self.name, "is no array that a model file may hold")
        self.dtype = np.dtype(header[1].decode())
        self.shape = tuple(int(n) for n in header[2].decode().replace(" ", "").split(",") if n)
        size = info.file_size - len(self.head)
        if not self.dtype.itemsize or math.prod(self.shape) * self.dtype.itemsize != size:
            raise archive.damaged(self.name, f"declares {self.dtype} of shape {self.shape}, but has {size} bytes")

    def read_head(self) -> bytes:
        """The bytes before the values. The file is then at the values."""
        file = self.archive.file
        file.seek(self.begin)
        head = file.read(12)
        if head[:6] != MAGIC or head[6:8] not in (b"\x01\x00", b"\x02\x00"):
            raise self.archive.damaged(self.name, "is no array")
        length = 10 + int.from_bytes(head[8:10], "little") if head[6] == 1 else 12 + int.from_bytes(head[8:12], "little")
        head += file.read(length - 12) if 12 <= length <= LONGEST else b""
        if len(head) != length:
            raise self.archive.damaged(self.name, "describes itself in too many or too few bytes")
        return head

    def read(self, into=None):
        """The values, in a new array or in `into`, which has room for exactly these."""
        array = np.empty(self.shape, self.dtype) if into is None else into
        place, at = memoryview(array.reshape(-1).view(np.uint8)), 0
        digest = hashlib.sha256(self.read_head())
        while at < len(place) and (n := self.archive.file.readinto(place[at:at + PIECE])):
            digest.update(place[at:at + n])
            at += n
        if at < len(place) or self.checksum not in (None, digest.hexdigest()):
            raise self.archive.damaged(self.name, "has not the SHA-256 that the file records")
        if self.dtype == bool and at and max(place) > 1:
            raise self.archive.damaged(self.name, "holds truth values that are neither 0 nor 1")
        if self.dtype.kind == "U" and at and not are_characters(array.reshape(-1).view(np.uint32)):
            raise self.archive.damaged(self.name, "holds numbers that are no characters of Unicode")
        self.was_read = True
        return array


def are_characters(codes) -> bool:
    """Whether all are code points of Unicode, without halves of surrogate pairs."""
    return bool(((codes < 0xD800) | (codes > 0xDFFF) & (codes <= 0x10FFFF)).all())


class Archive:
    """A model file opened for reading."""
    # file: file opened for bytes, which can seek
    # shown: str. What messages call it.
    # arrays: dict of Member. The others by name.
    # has_sums: bool. Without them the header can be read, to say what the file is, and nothing else should be.

    def __init__(self, file, source):
        self.source, self.file = source, file
        self.length = file.seek(0, io.SEEK_END)
        listed = Directory(file).infolist()
        infos = {info.filename: info for info in listed}
        if len(infos) < len(listed):
            raise ModelFormatError(f"{source} holds members of one name twice; expected a file written by Engine.save.")
        for name, info in infos.items():
            if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size or info.flag_bits & 1:
                raise self.damaged(name, "is compressed or encrypted; the members of a model file are stored as they are")
            if name != SUMS and not name.endswith(".npy"):
                raise self.damaged(name, "is no member of a model file")
        if sum(info.file_size for info in infos.values()) > self.length:
            raise ModelFormatError(f"{source} declares members that are larger than the file; expected a file written by Engine.save.")
        if "header.npy" not in infos:
            raise ModelFormatError(f"{source} is a zip file without a structperc header; expected a file written by Engine.save.")
        self.has_sums = SUMS in infos
        sums = self.read_sums(infos.pop(SUMS), infos) if self.has_sums else {}
        self.arrays = {name.removesuffix(".npy"): Member(self, info, sums.get(name)) for name, info in infos.items()}
        self.header = self.arrays.pop("header")

    def read_sums(self, info, names) -> dict:
        self.file.seek(self.begin_of(info))
        lines = [SUM.fullmatch(line) for line in self.file.read(info.file_size).decode(errors="replace").splitlines()]
        if None in lines or len(lines) != len(names) or {line[2] for line in lines} != set(names):
            raise self.damaged(SUMS, "does not name each of the other members once")
        return {line[2]: line[1] for line in lines}

    def begin_of(self, info) -> int:
        """Where the content of a member begins."""
        self.file.seek(info.header_offset)
        head = self.file.read(30)
        n_name, n_extra = int.from_bytes(head[26:28], "little"), int.from_bytes(head[28:30], "little")
        begin = info.header_offset + 30 + n_name + n_extra
        if head[:4] != b"PK\3\4" or self.file.read(n_name) != info.orig_filename.encode() or begin + info.file_size > self.length:
            raise self.damaged(info.filename, "is not where the list of members has it")
        return begin

    def damaged(self, name, why) -> ModelFormatError:
        return ModelFormatError(f"{self.source} is damaged: its member {name!r} {why}; expected a file written by Engine.save.")

    def check_all_read(self):
        """Raises an error for a file with an array that nobody has asked for."""
        for member in self.arrays.values():
            if not member.was_read:
                raise self.damaged(member.name, "is not asked for by any part of this model, in its restore()")
