"""Annotated documents as files, written one by one: the exchange format of clusters, CoNLL columns, or a page."""

from __future__ import annotations

import gzip
import lzma
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from gapstack import __version__
from gapstack.anytext.entities import Annotation
from gapstack.anytext.windows import sentences
from gapstack.data import html
from gapstack.errors import DataError, Place, printable
from gapstack.files import atomic_path

RESOLVER = "gapstack"
_HEAD = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>gapstack annotate</title>
<meta name="viewport" content="width=device-width">
<style>:root{color-scheme:light dark}
body{font:1rem/1.8 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere;
color:light-dark(#1a2230,#e4e8ee);background:light-dark(#fff,#14181f)}
mark{--h:var(--hue,0) var(--full,65%);--c:light-dark(hsl(var(--h) 42%),hsl(var(--h) 68%));
color:inherit;padding:1px 3px;border-radius:4px;
background:color-mix(in srgb,var(--c) 20%,transparent);box-shadow:inset 0 -2px var(--c);print-color-adjust:exact}
sub{font-size:.7em;vertical-align:baseline;margin-left:4px;white-space:nowrap}</style>
"""
_PARAGRAPHS = re.compile(r"\n[^\S\n]*\n\s*")
_HUE_STEP = 137.5
"""Degrees between the hues of consecutive people: the golden angle, so that neighbours differ."""


@dataclass
class Counts:
    """Numbers of documents, pronouns and linked pronouns written."""

    documents: int = 0
    pronouns: int = 0
    linked: int = 0


def write_annotations(annotations: Iterable[Annotation], output: Path) -> Counts:
    """Write annotations atomically in the format of the file's suffix; DataError if it is unknown."""
    kind = kind_of(output)
    counts = Counts()
    with atomic_path(output) as temporary, _opened(temporary) as stream:
        stream.write(_HEAD if kind is _page else "")
        for one in annotations:
            for part in kind(one):
                stream.write(part)
            counts.documents += 1
            counts.pronouns += len(one.references)
            counts.linked += len(one.antecedents)
    return counts


def kind_of(output: Path) -> Callable[[Annotation], Iterator[str]]:
    """Writer of one document for this file name; DataError for an unknown suffix."""
    suffixes = [suffix for suffix in output.suffixes if suffix not in (".gz", ".xz")]
    kind = _KINDS.get(suffixes[-1] if suffixes else "")
    if kind is None:
        raise DataError(
            "unknown suffix",
            place=Place(output),
            expected=", ".join(_KINDS) + ", or those with .gz or .xz",
        )
    return kind


def _opened(path: Path) -> AbstractContextManager[IO[str]]:
    if path.suffix == ".gz":
        import io

        # no time stamp, so that equal annotations give equal bytes
        return io.TextIOWrapper(
            gzip.GzipFile(filename="", fileobj=path.open("wb"), mode="wb", mtime=0), "utf-8"
        )
    if path.suffix == ".xz":
        return lzma.open(path, "wt", encoding="utf-8")
    return path.open("w", encoding="utf-8", newline="\n")


def _line(one: Annotation) -> Iterator[str]:
    yield one.document.line(RESOLVER, __version__)


def _columns(one: Annotation) -> Iterator[str]:
    """CoNLL-2012: document, part, index of the word, word, mentions."""
    name = "_".join(printable(one.id).split()).lstrip("#") or "document"
    opening: dict[int, list[tuple[int, int]]] = {}
    for number, cluster in enumerate(one.clusters):
        for start, end in cluster:
            opening.setdefault(start, []).append((end, number))
    starts = sorted(opening)
    yield f"#begin document ({name}); part 000\n"
    at = 0
    open_mentions: list[tuple[int, int]] = []
    for sentence in sentences(one.text):
        for place, word in enumerate(sentence):
            cells = []
            while at < len(starts) and starts[at] < word.end:
                for end, number in sorted(opening[starts[at]], reverse=True):
                    cells.append(f"({number})" if end <= word.end else f"({number}")
                    if end > word.end:
                        open_mentions.append((end, number))
                at += 1
            closing = [
                mention
                for mention in open_mentions
                if mention[0] <= word.end and f"({mention[1]}" not in cells
            ]
            cells += [f"{number})" for _, number in reversed(closing)]
            open_mentions = [mention for mention in open_mentions if mention not in closing]
            token = printable(one.text[slice(*word)])
            yield "\t".join([name, "0", str(place), token, "|".join(cells) or "-"]) + "\n"
        yield "\n"
    yield "#end document\n"


def _page(one: Annotation) -> Iterator[str]:
    """Mentions in one colour per person, each pronoun with its person; lines of a paragraph are joined."""
    person = {mention: number for number, cluster in enumerate(one.clusters) for mention in cluster}
    parts, at = [], 0
    for mention in sorted({*person, *one.references}):
        note = ""
        if mention in one.references:
            name = one.antecedents.get(mention)
            says = (
                f"nobody here {1 - one.references[mention]:.0%}"
                if name is None
                else f"{' '.join(one.text[slice(*name)].split())} {one.links[mention, name]:.0%}"
            )
            note = f"<sub>{html.escape(says)}</sub>"
        style = f"--hue:{person[mention] * _HUE_STEP % 360:.0f}" if mention in person else "--full:0%"
        start, end = max(at, mention.start), mention.end
        if start >= end:
            continue  # within another mention
        words = html.escape(one.text[start:end])
        parts += [html.escape(one.text[at:start]), f'<mark style="{style}">{words}{note}</mark>']
        at = end
    text = _PARAGRAPHS.sub("</p>\n<p>", "".join([*parts, html.escape(one.text[at:])]).strip())
    yield f"<h2>{html.escape(one.id)}</h2>\n<p>{text}</p>\n"


_KINDS: dict[str, Callable[[Annotation], Iterator[str]]] = {
    ".jsonl": _line,
    ".conll": _columns,
    ".html": _page,
}
