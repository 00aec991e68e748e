"""CoNLL-U in, CoNLL-U out: what ``spacy convert`` needs and the treebank does not say.

Three things are added before conversion:

- person names as ``NE=`` tags, read off GUM's ``Entity=`` marks (see `person_names`);
- a file for each treebank, because spaCy decides per file whether entities are annotated, and EWT's missing ones must
  stay *missing*, not become "not a name";
- the tree in the shape of spaCy's tokens (multiword tokens such as *don't* stay two tokens, as spaCy splits them).
"""

from __future__ import annotations

import lzma
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

#: relations that tie the parts of one name together; titles hang on ``nmod:desc`` and so stay outside
NAME_RELATIONS = frozenset({"flat", "flat:name", "compound", "goeswith"})
#: titles that older annotation attaches as if they were part of the name, and capitalised roles that are no names
_TITLES = (
    "mr mr. mrs mrs. ms ms. miss dr dr. prof prof. professor president senator sen. rep. governor gov. judge justice "
    "king queen prince princess sir lady lord dame captain capt. general gen. colonel col. lieutenant lt. sgt. "
    "sergeant major pope bishop father sister brother uncle aunt mayor chancellor minister secretary saint st. "
    "emperor empress duke duchess count countess earl baron tsar protector commissioner petitioner respondent poet "
    "psalmist madam madame god american man mankind"
)
TITLES = frozenset(_TITLES.split())
_ENTITY = re.compile(r"\(([^()]+)(\))?|([^()]+)\)")


@dataclass
class Sentence:
    """One sentence: its ``rows`` of ten columns each, the document it is in, and whether a paragraph starts here."""

    rows: list[list[str]]
    doc_id: str
    new_paragraph: bool = False
    comments: list[str] = field(default_factory=list)

    @property
    def words(self) -> list[list[str]]:
        """The rows that are syntactic words (no multiword ranges, no empty nodes)."""
        return [row for row in self.rows if row[0].isdigit()]

    @property
    def is_gum(self) -> bool:
        """True where the document comes from GUM, the part with entity marks."""
        return self.doc_id.startswith("GUM_")


def open_text(path: Path) -> Iterable[str]:
    """Lines of a text file, xz-compressed or not."""
    if path.suffix == ".xz":
        return lzma.open(path, "rt", encoding="utf8")
    return path.open(encoding="utf8")


def read_conllu(lines: Iterable[str]) -> Iterator[Sentence]:
    """Sentences of a CoNLL-U stream, each knowing its document."""
    doc_id, paragraph = "", False
    rows: list[list[str]] = []
    comments: list[str] = []
    for raw in [*lines, ""]:
        line = raw.rstrip("\n")
        if line.startswith("#"):
            comments.append(line)
            if line.startswith("# newdoc"):
                doc_id, paragraph = line.partition("=")[2].strip(), True
            elif line.startswith("# newpar"):
                paragraph = True
        elif line:
            rows.append(line.split("\t"))
        elif rows:
            yield Sentence(rows, doc_id, paragraph, comments)
            rows, comments, paragraph = [], [], False


def entity_mentions(sentence: Sentence) -> list[tuple[str, int, int]]:
    """Mentions marked in ``Entity=``: (type, first word, last word), 0-based and inclusive."""
    mentions: list[tuple[str, int, int]] = []
    opened: dict[str, list[tuple[str, int]]] = {}
    for i, row in enumerate(sentence.words):
        mark = next((m[len("Entity=") :] for m in row[9].split("|") if m.startswith("Entity=")), "")
        for opening, closed, closing in _ENTITY.findall(mark):
            if opening:
                fields = opening.split("-")
                if len(fields) < 2:
                    continue
                if closed:
                    mentions.append((fields[1], i, i))
                else:
                    opened.setdefault(fields[0], []).append((fields[1], i))
            elif opened.get(closing.split("-")[0]):
                etype, start = opened[closing.split("-")[0]].pop()
                mentions.append((etype, start, i))
    return mentions


def person_names(sentence: Sentence) -> list[tuple[int, int]]:
    """Spans (half-open, in words) of person names.

    A name is a ``person`` mention whose syntactic head is a singular proper noun, cut down to the run of words around
    that head which hang on it by `NAME_RELATIONS`. So *the linguist Charles J. Fillmore* gives *Charles J. Fillmore*,
    *President Bush* gives *Bush*, and *Germans* gives nothing.
    """
    words = sentence.words
    heads = [int(row[6]) - 1 for row in words]
    names: set[tuple[int, int]] = set()
    for etype, start, end in entity_mentions(sentence):
        if etype != "person":
            continue
        head = next((i for i in range(start, end + 1) if not start <= heads[i] <= end), None)
        if head is None or words[head][3] != "PROPN" or words[head][4] == "NNPS":
            continue
        part = {head}
        grew = True
        while grew:
            more = {
                i
                for i in range(start, end + 1)
                if i not in part
                and heads[i] in part
                and words[i][7] in NAME_RELATIONS
                and (words[i][3] == "PROPN" or words[i][7].startswith("flat"))
            }
            part |= more
            grew = bool(more)
        first = last = head
        # a hyphen or a bracketless quote inside a name is punctuation, and the name goes on behind it
        joins = {i for i in range(start, end + 1) if words[i][1] in {"-", "'", '"'}}
        while first - 1 in part or (first - 1 in joins and first - 2 in part):
            first -= 1
        while last + 1 in part or (last + 1 in joins and last + 2 in part):
            last += 1
        while first < last and words[first][1].lower() in TITLES:
            first += 1
        if words[first][1].lower() not in TITLES and any(c.isalpha() for c in words[first][1]):
            names.add((first, last + 1))
    # a name inside another (``the [Bush] family`` inside ``[George Bush]``) loses to the longer one
    kept: list[tuple[int, int]] = []
    for span in sorted(names, key=lambda s: (s[0] - s[1], s)):
        if all(span[1] <= a or span[0] >= b for a, b in kept):
            kept.append(span)
    return sorted(kept)


def prepared(sentence: Sentence) -> str:
    """The sentence as CoNLL-U for ``spacy convert``: MISC keeps the spacing and gains ``NE=`` tags (GUM only)."""
    tags: dict[str, str] = {}
    if sentence.is_gum:
        words = sentence.words
        for start, end in person_names(sentence):
            for i in range(start, end):
                tags[words[i][0]] = "NE=B-PERSON" if i == start else "NE=I-PERSON"
    out = []
    for row in sentence.rows:
        if "." in row[0]:
            continue
        misc = [m for m in row[9].split("|") if m == "SpaceAfter=No"]
        if row[0] in tags:
            misc.append(tags[row[0]])
        # an underscore for a form marks a word that `goeswith` tore off and the text does not show
        out.append("\t".join([*row[:8], "_", "|".join(misc) or "_"]))
    return "\n".join(out)


def group_sizes(sentences: list[Sentence], most: int, rng: random.Random, longest: int = 220) -> list[int]:
    """How many consecutive sentences go into each training text.

    Texts never cross a document, are up to ``most`` sentences and about ``longest`` words long, and paragraph breaks
    inside them are joined by a blank, as Wikipedia snippets are.
    """
    sizes: list[int] = []
    want, length = 0, 0
    for i, sentence in enumerate(sentences):
        same_doc = i > 0 and sentence.doc_id == sentences[i - 1].doc_id
        n = len(sentence.words)
        if same_doc and sizes and sizes[-1] < want and length + n <= longest:
            sizes[-1] += 1
            length += n
        else:
            sizes.append(1)
            want, length = rng.randint(1, most), n
    return sizes
