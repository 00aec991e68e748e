"""Text of files in any encoding."""

from __future__ import annotations

import codecs
import logging
from functools import lru_cache
from pathlib import Path

from gapstack.errors import DataError, Place

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is its first half
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LIKELY = ("cp1252", "mac_roman")
"""Encodings of English texts, preferred to others that fit as well, such as cp1250."""
_BINARY = {
    b"PK\x03\x04": "a zip archive, such as .docx, .odt or .epub",
    b"%PDF": "a PDF file",
    b"\xd0\xcf\x11\xe0": "an old Word file",
    b"{\\rtf": "an RTF file",
}
_LOGGER = logging.getLogger(__name__)


def decode_any(blob: bytes, path: Path | str, encoding: str | None = None) -> str:
    """Decode text in the given encoding, else by its byte-order mark, else as UTF-8, else as detected.

    The log says which encoding was detected. DataError for a file that is not text, or not in the given encoding.
    """
    for magic, kind in _BINARY.items():
        if blob.startswith(magic):
            raise DataError(
                f"is {kind}", place=Place(path), expected="text", remedy="Save it as plain text or HTML"
            )
    if encoding is not None:
        return _decode_as(blob, path, encoding)
    for mark, name in _MARKS:
        if blob.startswith(mark):
            return _decode_as(blob, path, name)
    unmarked = _utf_16(blob)
    try:
        if unmarked is None:
            return blob.decode("utf-8")
        text, name = _decode_as(blob, path, unmarked), unmarked
    except UnicodeDecodeError as problem:
        text, name = _detected(blob, path, problem)
    note_once(f"{path}: not UTF-8, read as {name} (--encoding NAME forces another)")
    return text


def _utf_16(blob: bytes) -> str | None:
    """UTF-16 without a byte-order mark, by the zeros of its first two letters; it would be valid UTF-8."""
    if blob[:4:2] == b"\0\0":
        return "utf-16-be"
    return "utf-16-le" if blob[1:4:2] == b"\0\0" else None


def _decode_as(blob: bytes, path: Path | str, encoding: str) -> str:
    try:
        return blob.decode(encoding).removeprefix("\ufeff")
    except LookupError:
        raise DataError(
            f"unknown encoding {encoding!r}", expected="a name such as utf-8, cp1252 or utf-16"
        ) from None
    except UnicodeDecodeError as problem:
        at = f"byte 0x{blob[problem.start]:02X} is not {encoding}"
        line = blob[: problem.start].count(b"\n") + 1
        raise DataError(at, place=Place(path, line), expected=f"text in {encoding}") from None


def _detected(blob: bytes, path: Path | str, problem: UnicodeDecodeError) -> tuple[str, str]:
    from charset_normalizer import CharsetMatch, from_bytes  # slow to import

    def order(match: CharsetMatch) -> tuple[float, float]:
        return match.chaos, -match.coherence

    best = from_bytes(blob).best()
    if best is None:
        raise DataError(
            f"byte 0x{blob[problem.start]:02X} is not UTF-8, and no other encoding fits",
            place=Place(path, blob[: problem.start].count(b"\n") + 1),
            expected="text",
            remedy="Name the encoding with encoding=NAME",
        )
    likely = [match for name in _LIKELY if (match := from_bytes(blob, cp_isolation=[name]).best())]
    best = min([*likely, best], key=order)
    return blob.decode(best.encoding).removeprefix("\ufeff"), best.encoding


@lru_cache(maxsize=1024)
def note_once(line: str) -> None:
    """Log a line for the user once, although files are read twice."""
    _LOGGER.info(line)
