"""Rows of annotated documents: pronouns, people, and people who occur together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, combinations
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from gapstack.data import Span
from gapstack.data.paragraphs import PARAGRAPH_END
from gapstack.running_text.entities import Annotation
from gapstack.running_text.windows import sentences

PARAGRAPH_ENDS = re.compile(PARAGRAPH_END)
Record = dict[str, Any]


def pronoun_rows(document: Annotation) -> Iterator[Record]:
    """One row per pronoun: its place, the person that it refers to, and the probabilities."""
    person_of = {mention: number for number, person in enumerate(document.people) for mention in person.names}
    for pronoun, reference in sorted(document.references.items()):
        name = document.antecedents.get(pronoun)
        number = None if name is None else person_of[name]
        place = document.original(pronoun)
        name_place = None if name is None else document.original(name)
        yield {
            "text": document.id,
            "start": place.start,
            "end": place.end,
            "pronoun": document.text[slice(*pronoun)],
            "person": None if number is None else number + 1,
            "name": None if number is None else document.people[number].full_name,
            "name_start": name_place and name_place.start,
            "name_end": name_place and name_place.end,
            "probability": None if name is None else document.links[pronoun, name],
            "nobody": round(1 - reference, 4),
        }


def people_rows(document: Annotation) -> Iterator[Record]:
    """One row per person: names as written with their counts, numbers of mentions, and the first mention."""
    for number, person in enumerate(document.people, start=1):
        if not person.listed:
            continue
        words = Counter(document.words(name) for name in person.names)
        pronouns = Counter(document.words(pronoun).lower() for pronoun in person.pronouns)
        first = document.original(person.mentions[0])
        yield {
            "text": document.id,
            "person": number,
            "name": person.full_name,
            "named": person.named,
            "mentions": len(person.mentions),
            "names": len(person.names),
            "pronouns": len(person.pronouns),
            "first_start": first.start,
            "first_end": first.end,
            "written": "; ".join(f"{name} {count}" for name, count in words.most_common()),
            "pronoun_forms": "; ".join(f"{form} {count}" for form, count in pronouns.most_common()),
        }


def pair_rows(document: Annotation) -> Iterator[Record]:
    """One row per two people who are mentioned in one paragraph: numbers of shared paragraphs and sentences."""
    paragraphs = _pairs(document, _paragraphs(document.text))
    in_sentences = _pairs(
        document, (Span(words[0].start, words[-1].end) for words in sentences(document.text))
    )
    for (one, other), count in paragraphs.most_common():
        yield {
            "text": document.id,
            "person": one + 1,
            "name": document.people[one].full_name,
            "other_person": other + 1,
            "other_name": document.people[other].full_name,
            "paragraphs": count,
            "sentences": in_sentences[one, other],
        }


def graphml(document: Annotation) -> Iterator[str]:
    """The people as nodes and their shared paragraphs and sentences as weights of edges, in GraphML."""
    yield f'<graph id={quoteattr(document.id)} edgedefault="undirected">\n'
    for row in people_rows(document):
        name = quoteattr(f"{document.id}/{row['person']}")
        label, mentions = escape(row["name"]), row["mentions"]
        yield f'<node id={name}><data key="name">{label}</data><data key="mentions">{mentions}</data></node>\n'
    for row in pair_rows(document):
        source, target = (quoteattr(f"{document.id}/{row[key]}") for key in ("person", "other_person"))
        yield (
            f'<edge source={source} target={target}><data key="weight">{row["paragraphs"]}</data>'
            f'<data key="sentences">{row["sentences"]}</data></edge>\n'
        )
    yield "</graph>\n"


GRAPHML_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="name" for="node" attr.name="label" attr.type="string"/>
<key id="mentions" for="node" attr.name="mentions" attr.type="int"/>
<key id="weight" for="edge" attr.name="weight" attr.type="int"/>
<key id="sentences" for="edge" attr.name="sentences" attr.type="int"/>
"""

TABLES: Mapping[str, tuple[Callable[[Annotation], Iterator[Record]], str]] = {
    "": (pronoun_rows, "text start end pronoun person name name_start name_end probability nobody"),
    ".people": (
        people_rows,
        "text person name named mentions names pronouns first_start first_end written pronoun_forms",
    ),
    ".pairs": (pair_rows, "text person name other_person other_name paragraphs sentences"),
}
"""Makers of rows and their columns, by what stands before the suffix of a file."""


def _pairs(document: Annotation, stretches: Iterator[Span]) -> Counter[tuple[int, int]]:
    """Numbers of stretches in which two listed people are both mentioned."""
    mentions = sorted(
        (mention, number)
        for number, person in enumerate(document.people)
        if person.listed
        for mention in person.mentions
    )
    found = Counter[tuple[int, int]]()
    at = 0
    for stretch in stretches:
        people = set[int]()
        while at < len(mentions) and mentions[at][0].start < stretch.end:
            people.add(mentions[at][1])
            at += 1
        found.update(combinations(sorted(people), 2))
    return found


def _paragraphs(text: str) -> Iterator[Span]:
    start = 0
    for end in chain((match.end() for match in PARAGRAPH_ENDS.finditer(text)), [len(text)]):
        yield Span(start, end)
        start = end
