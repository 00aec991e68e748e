"""The treebank as spaCy's training files, in texts of several sentences, one copy in GAP's spelling.

``spacy convert`` does the conversion. Before it, GUM's ``Entity=`` marks become ``NE=`` tags of person names. EWT has
none; its sentences go into a file of their own, so that their names stay *missing* instead of becoming "no name".

    python convert.py TREEBANK_FOLDER WORK_FOLDER
"""

from __future__ import annotations

import lzma
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import spacy
import typer
from spacy.cli.convert import convert as spacy_convert
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

#: relations that tie the parts of one name together; titles hang on ``nmod:desc`` and so stay outside
NAME_RELATIONS = frozenset({"flat", "flat:name", "compound", "goeswith"})
#: titles that older annotation attaches as if they were part of the name, and capitalised roles that are no names; not
#: the package's titles, of which Dean is a first name in the treebank: they would change the parser's data
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
    """A sentence: rows of ten columns, and the id of its document."""

    rows: list[list[str]]
    doc_id: str

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
    doc_id = ""
    rows: list[list[str]] = []
    for raw in [*lines, ""]:
        line = raw.rstrip("\n")
        if line.startswith("# newdoc"):
            doc_id = line.partition("=")[2].strip()
        elif line and not line.startswith("#"):
            rows.append(line.split("\t"))
        elif rows and not line:
            yield Sentence(rows, doc_id)
            rows = []


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
    return "\n".join(out) + "\n\n"


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


_FIXED = {"–": "--", "—": "--", "‘": "'", "’": "'", "…": "...", "“": "``", "”": "''"}  # noqa: RUF001


def snippet_words(words: list[str], rng: random.Random, accents: float = 0.01) -> list[str]:
    """The words as GAP would spell them; ``accents`` is the share of plain capitalised words given an asterisk.

    >>> snippet_words(['"', "Zoë", '"', "—"], random.Random(0), 0.0)
    ['``', 'Zo*', "''", '--']
    """
    out, open_quote = [], False
    for word in words:
        if word == '"':
            open_quote = not open_quote
            new = "``" if open_quote else "''"
        else:
            new = "".join(_FIXED.get(c, c if c.isascii() else "*") for c in word)
            if len(new) > 4 and new[0].isupper() and new.isalpha() and rng.random() < accents:
                at = rng.randrange(1, len(new))
                new = new[:at] + "*" + new[at + 1 :]
        out.append(new or word)
    return out


def snippet_copy(doc: Doc, rng: random.Random, glue: float = 0.02) -> Doc:
    """``doc`` respelled; with probability ``glue`` the full stop between two sentences loses its blank."""
    words = snippet_words([t.text for t in doc], rng)
    spaces = [bool(t.whitespace_) for t in doc]
    for token in doc[:-1] if len(doc) else []:
        after = token.nbor()
        if token.text == "." and after.is_sent_start and after.is_title and rng.random() < glue:
            spaces[token.i] = False
    has_entities = doc.has_annotation("ENT_IOB")
    copy = Doc(
        doc.vocab,
        words=words,
        spaces=spaces,
        tags=[t.tag_ for t in doc],
        pos=[t.pos_ for t in doc],
        morphs=[str(t.morph) for t in doc],
        lemmas=[t.lemma_ for t in doc],
        heads=[t.head.i for t in doc],
        deps=[t.dep_ for t in doc],
    )
    if has_entities:
        copy.ents = [Span(copy, e.start, e.end, label=e.label_) for e in doc.ents]
    return copy


def convert(lines: str, work: Path, name: str, n_sents: int = 1, *, merge_subtokens: bool = False) -> Path:
    """Run ``spacy convert`` on CoNLL-U text."""
    source = work / f"{name}.conllu"
    source.write_text(lines, encoding="utf8")
    spacy_convert(
        source,
        work,
        file_type="spacy",
        converter="conllu",
        n_sents=n_sents,
        merge_subtokens=merge_subtokens,
        silent=True,
    )
    return work / f"{name}.spacy"


def load_docs(path: Path, vocab: Vocab | None = None) -> list[Doc]:
    """All documents of a ``.spacy`` file."""
    return list(DocBin().from_disk(path).get_docs(vocab or spacy.blank("en").vocab))


def save_docs(docs: Sequence[Doc], path: Path) -> None:
    """Write a ``.spacy`` file atomically."""
    part = path.with_suffix(".part")
    DocBin(docs=docs).to_disk(part)
    part.replace(path)


def grouped(docs: Sequence[Doc], sizes: Sequence[int]) -> list[Doc]:
    """Join one-sentence documents into texts of the given sizes, separated by blanks."""
    starts = [sum(sizes[:number]) for number in range(len(sizes))]
    return [
        docs[start] if size == 1 else Doc.from_docs(list(docs[start : start + size]), ensure_whitespace=True)
        for start, size in zip(starts, sizes, strict=True)
    ]


def main(treebank: Path, work: Path, seed: int = 0, copies: int = 2, most: int = 8) -> None:
    """Write ``train/gold.spacy`` and the development files.

    Texts come in ``copies`` plain copies, each grouped differently, and one in GAP's spelling. ``dev.spacy`` is
    a plain ``spacy convert`` of the development file in texts of five sentences, ``dev_merged.spacy`` the same with
    ``--merge-subtokens``; ``dev_gum.spacy`` has GUM's names.
    """
    (work / "train").mkdir(parents=True, exist_ok=True)
    files = [treebank / f"ud_english_{split}.conllu.xz" for split in ("train", "dev")]
    train, dev = (list(read_conllu(open_text(file))) for file in files)
    rng = random.Random(seed)
    texts: list[Doc] = []
    for name, gum in (("ewt", False), ("gum", True)):
        sentences = [sentence for sentence in train if sentence.is_gum == gum]
        docs = load_docs(convert("".join(map(prepared, sentences)), work, f"train_{name}"))
        for copy in range(copies + 1):
            joined = grouped(docs, group_sizes(sentences, most, rng))
            texts += joined if copy < copies else [snippet_copy(doc, rng) for doc in joined]
    save_docs(texts, work / "train" / "gold.spacy")
    convert("".join(prepared(sentence) for sentence in dev if sentence.is_gum), work, "dev_gum", n_sents=5)
    raw = "".join(open_text(treebank / "ud_english_dev.conllu.xz"))
    convert(raw, work, "dev_merged", n_sents=5, merge_subtokens=True)
    convert(raw, work, "dev", n_sents=5)


if __name__ == "__main__":
    typer.run(main)
