"""What a file is that is no trace, told by how it begins: a reader who knows can mend it."""

from __future__ import annotations

from typing import Final

_UNPACK: Final = "unpack it first"
_OTHER: Final = "leave it out"
_FETCH: Final = "fetch the file itself"

#: How files begin, what they are then, and what to do.
_SIGNS: Final = (
    (b"\x28\xb5\x2f\xfd", "is packed with Zstandard", f"{_UNPACK}, with zstd -d"),
    (b"\x04\x22\x4d\x18", "is packed with LZ4", f"{_UNPACK}, with lz4 -d"),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive", _UNPACK),
    (b"Rar!\x1a\x07", "is a RAR archive", _UNPACK),
    (b"\x1f\x9d", "is packed with compress", _UNPACK),
    (b"SQLite format 3", "is an SQLite database, as Nsight Systems exports", _OTHER),
    (b"PAR1", "is a Parquet file", _OTHER),
    (b"\x80", "is a Python pickle", _OTHER),
    (b"<!DOCTYPE html", "is a web page, perhaps of a sign-in", _FETCH),
    (b"<!doctype html", "is a web page, perhaps of a sign-in", _FETCH),
    (b"<html", "is a web page, perhaps of a sign-in", _FETCH),
    (b"<?xml", "is XML, perhaps a server's answer", _FETCH),
    (b"version https://git-lfs", "is a pointer of Git LFS", f"{_FETCH}, with git lfs pull"),
)


def why_other(first: bytes) -> tuple[str, str]:
    """Return what a file is that begins like this, and what to do; "" twice where nothing tells."""
    return next(
        ((what, remedy) for sign, what, remedy in _SIGNS if first.startswith(sign)), ("", "")
    )
