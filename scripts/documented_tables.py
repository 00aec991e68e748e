"""Write the tables that documents quote from commands: ``python scripts/documented_tables.py [DOCUMENT ...]``.

In a document, a table stands between ``<!-- table: COMMAND | TITLE -->`` and ``<!-- end of table -->``. The command
runs with ``--output`` in a temporary folder; the first table of its report whose title begins with TITLE is written.
"""

import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gapstack.files import write_text

DOCUMENTS = Path(__file__).resolve().parents[1] / "docs"
_TABLE = re.compile(r"(<!-- table: (.+?) \| (.+?) -->\n).*?(<!-- end of table -->)", re.DOTALL)


class DocumentedTable(NamedTuple):
    """A table of a document: the command that prints it, the beginning of its title, and its lines."""

    command: str
    title: str
    lines: str


def documented(document: Path) -> Iterator[DocumentedTable]:
    """The generated tables of a document."""
    for match in _TABLE.finditer(document.read_text(encoding="utf-8")):
        yield DocumentedTable(match[2], match[3], match[0].removeprefix(match[1]).removesuffix(match[4]))


@cache
def report(command: str) -> str:
    """The Markdown report of ``gap ...``."""
    _, *arguments = shlex.split(command)
    with tempfile.TemporaryDirectory() as folder:
        run = [sys.executable, "-m", "gapstack", *arguments, "--output", folder]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
        (written,) = Path(folder).glob("*.md")
        return written.read_text(encoding="utf-8")


def table_of(markdown: str, title: str) -> str:
    """Lines of the first table with this beginning of a title; a section's heading is a row."""
    start = markdown.index(f"**{title}")
    lines: list[str] = []
    heading = ""
    for line in markdown[start:].partition("\n\n**")[0].splitlines()[1:]:
        if line.endswith(":") and "|" not in line:
            heading = line[:-1]
        elif line.startswith("|") and line not in lines[:2]:
            if heading and len(lines) > 1:
                lines.append(f"| *{heading}* |" + " |" * (line.count(" | ")))
                heading = ""
            lines.append(line)
    return "\n".join(lines) + "\n"


def rewrite(document: Path, report_of: Callable[[str], str] = report) -> None:
    """Replace the tables of a document by those that their commands print."""

    def replaced(match: re.Match[str]) -> str:
        return f"{match[1]}{table_of(report_of(match[2]), match[3])}{match[4]}"

    write_text(document, _TABLE.sub(replaced, document.read_text(encoding="utf-8")))


def main(documents: Iterable[str]) -> None:
    """Rewrite the named documents, by default all."""
    for document in map(Path, documents) if documents else sorted(DOCUMENTS.rglob("*.md")):
        if any(documented(document)):
            rewrite(document)
            print(document)


if __name__ == "__main__":
    main(sys.argv[1:])
