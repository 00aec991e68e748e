"""CoNLL-2012 columns (Pradhan et al. 2012, section 4): the fourth has the token, the last the mentions.

Documents are ``#begin document (ID); part 000``. Columns are separated by blanks or tabs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from gapstack.corpus.cells import read_lines
from gapstack.corpus.extra.conll import parse
from gapstack.corpus.extra.extra_corpus import decode
from gapstack.resolvers.output import Format, Output, Tokens

_TOKEN = 3


def recognises(lines: Sequence[bytes]) -> bool:
    """Whether the first line begins a document."""
    return lines[0].startswith(b"#begin document")


def read(path: Path) -> Iterator[Output]:
    """Read all documents; DataError as for other CoNLL files.

    A verb's arguments have columns of their own, so widths differ between sentences: only the first four columns and
    the last count.
    """
    lines = []
    for line in decode(b"\n".join(read_lines(path)), path).split("\n"):
        cells = line.split()
        comment = line.startswith("#") or len(cells) <= _TOKEN
        lines.append(line if comment else "\t".join([*cells[: _TOKEN + 1], cells[-1]]))
    for document in parse("\n".join(lines), path, _TOKEN + 2, _TOKEN):
        tokens = Tokens.of(document.tokens)
        entities: dict[str, list[tuple[int, int]]] = {}
        for mention in document.mentions:
            entities.setdefault(mention.cluster, []).append((mention.start, mention.end - 1))
        yield Output(document.name, tokens.text, tokens.clusters(entities.values()))


FORMAT = Format("conll2012", "conll2012", recognises, read)
