"""The text that a command is given: an argument, the file that it names, or standard input."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gapstack.cli import common
from gapstack.errors import DataError

if TYPE_CHECKING:
    from gapstack.data.documents import RawDocument

_FILE_NAME = re.compile(r"\S+\.[a-z]\w{0,4}|[.~]{0,2}/\S+|[^\n.?!]{1,80}\.(?:txt|md|html?|docx?|pdf)")


def documents_of(text: str, **options: Any) -> list[RawDocument]:
    """The text as a document, or the documents of the file that it names."""
    from gapstack.data.conversations import transcript_turns
    from gapstack.data.documents import RawDocument, read_documents
    from gapstack.data.encodings import decode_any

    if text == "-":
        text = decode_any(sys.stdin.buffer.read(), "standard input", options.get("encoding"))
    elif is_file(text):
        common.log_note(f"reading {text}")
        return list(read_documents(Path(text), **options))
    elif not text.isascii():  # bytes of an argument that are not UTF-8 are surrogates
        text = decode_any(os.fsencode(text), "the text")
    return [RawDocument("text", text, turns=transcript_turns(text))]


def refuse_missing(text: str) -> None:
    """Raise DataError for a folder, and for what looks like a file name and is none."""
    with suppress(OSError):  # too long for a name
        if text and Path(text).is_dir():
            raise DataError(
                f"{text} is a folder",
                expected="a text, or the name of a text file",
                remedy="Use gap annotate FOLDER --output FILE",
            )
    if _FILE_NAME.fullmatch(text) and not is_file(text):
        raise DataError(f"no such file: {text}", expected="a text, or the name of a text file")


def is_file(text: str) -> bool:
    """True if the text is the name of a file."""
    with suppress(OSError):  # too long for a name
        return Path(text).is_file()
    return False


def prompted() -> Iterator[RawDocument]:
    """Lines of the user, until the end of the input."""
    from gapstack.data.documents import RawDocument
    from gapstack.data.encodings import decode_any

    prompting = sys.stdin.isatty()
    if prompting:
        common.log_note("A text on one line, or an empty line to end.")
    while True:
        if prompting:
            sys.stderr.write("> ")
            sys.stderr.flush()
        blob = sys.stdin.buffer.readline()
        if not blob or (prompting and not blob.strip()):
            return
        try:
            line = decode_any(blob, "standard input")
        except DataError as problem:
            common.log_note(str(problem))  # the next line may be better
            continue
        if line.strip():
            yield RawDocument("text", line.rstrip("\r\n"))
