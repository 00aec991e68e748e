"""Annotated documents and rows that the model of running text learns from.

LitBank, GUM's open genres, FantasyCoref and Friends are read as texts with mentions of people and groups, each with the
name of its cluster. KnowRef, DPR and Winogrande are rows of two names and a pronoun. GAP, stage 2 and audit suites are
never read.
"""

from __future__ import annotations

import json
import lzma
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from gapstack.data import Span
from gapstack.data.example import GENDER_BY_FORM, Example, Gender
from gapstack.data.extra import load as load_extra
from gapstack.data.extra.conll import ConllDocument, parse, read_corpus
from gapstack.data.sources import file_of
from gapstack.language.parses import docs, text_key
from gapstack.running_text.lexicon import Lexicon
from gapstack.running_text.mentions import MentionKind, describe

_LITBANK_DEVELOPMENT = "6593 271 730 16357 2807 1023 1155 238 1661 711"
"""The first of the ten published folds (Bamman et al. 2020), by numbers of Project Gutenberg."""
_GUM_TEST = """
academic_discrimination academic_eegimaa bio_dvorak bio_jespersen court_insanity court_mitigation interview_hill
interview_libertarian news_nasa news_sensitive voyage_oakland voyage_vavau
"""
TALES_DEVELOPMENT = 5
"""The last tales are the development part."""
SINGULAR = frozenset(form for form, gender in GENDER_BY_FORM.items() if gender is not Gender.NEUTRAL)
"""Forms of he and she."""
_FORMS = "i me my mine myself you your yours yourself we us our ours ourselves who whom thou thee thy"
_PERSONAL = {*GENDER_BY_FORM, *_FORMS.split()}
_PERSON_KINDS = {"person", "animal", "organization"}
CORPORA = ("litbank", "gum", "fantasycoref", "friends")
ROWS = ("knowref-train", "dpr-train", "winogrande")
"""Sources of rows of two names."""


@dataclass
class AnnotatedDocument:
    """A text with mentions of people, each with its cluster; ``ignored`` mentions may be people or not."""

    name: str
    corpus: str
    text: str
    mentions: dict[Span, str]
    ignored: set[Span] = field(default_factory=set)
    development: bool = False

    def form(self, span: Span) -> str:
        """Words of a mention in lower case."""
        return self.text[slice(*span)].lower()


def read_documents(lexicon: Lexicon) -> list[AnnotatedDocument]:
    """All documents of the four corpora."""
    numbers, gum_test = set(_LITBANK_DEVELOPMENT.split()), set(_GUM_TEST.split())
    found = [
        _document(one, "litbank", lexicon, one.name.split("_")[0] in numbers)
        for one in read_corpus("litbank")
    ]
    found += [
        _document(one, "gum", lexicon, one.name.removeprefix("GUM_") in gum_test)
        for one in read_corpus("gum")
    ]
    tales = list(_fantasycoref("fantasycoref_gft_dev.conll.xz"))
    first = len(tales) - TALES_DEVELOPMENT
    found += [_document(one, "fantasycoref", lexicon, i >= first) for i, one in enumerate(tales)]
    # the long stories test another genre than the tales, so all are development
    found += [
        _document(one, "fantasycoref", lexicon, True) for one in _fantasycoref("fantasycoref_aft.conll.xz")
    ]
    return [*found, *_friends()]


def _fantasycoref(name: str) -> Iterator[ConllDocument]:
    path = file_of("corpora", name)
    lines = lzma.decompress(path.read_bytes()).decode().split("\n")
    # one of the files has spaces in place of tabs
    text = "\n".join(line if line.startswith("#") else "\t".join(line.split()) for line in lines)
    for document in parse(text, path, 12, 3):
        tokens = [
            {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")"}.get(token, token) for token in document.tokens
        ]
        yield ConllDocument(document.name, tokens, document.sentences, document.mentions)


def _document(document: ConllDocument, corpus: str, lexicon: Lexicon, development: bool) -> AnnotatedDocument:
    """Text and mentions; clusters of things and places are left out, doubtful ones are ignored."""
    text, places = document.text_of(range(len(document.tokens)))
    clusters: dict[str, list[Span]] = defaultdict(list)
    kinds: dict[str, str] = {}
    for mention in document.mentions:
        span = mention.characters(places)
        for ending in ("'s", "\u2019s", "'", "\u2019"):  # mentions exclude the possessive ending
            if text[slice(*span)].endswith(ending) and span.end - span.start > len(ending):
                span = Span(span.start, span.end - len(ending))
                break
        clusters[mention.cluster].append(span)
        kinds[mention.cluster] = mention.kind
    mentions: dict[Span, str] = {}
    ignored: set[Span] = set()
    for cluster, spans in clusters.items():
        forms = {text[slice(*span)].lower() for span in spans}
        described = [describe(text, span, 0, 0, lexicon) for span in spans]
        nominal = [mention for mention in described if not mention.is_pronoun]
        share = np.mean([mention.person for mention in nominal]) if nominal else 0.0
        plural = any(mention.kind in (MentionKind.THEY, MentionKind.WE) for mention in described)
        personal = (
            bool(forms & SINGULAR) or bool(forms & _PERSONAL and (share > 0.3 or not nominal)) or plural
        )
        if corpus == "gum":
            is_person = kinds[cluster] in _PERSON_KINDS or personal
            is_doubtful = False
        else:
            names = [mention for mention in nominal if mention.is_name]
            # places have names too
            is_place = len(names) == len(nominal) and all(abs(mention.gender) < 0.3 for mention in names)
            is_person = personal or (share > 0.55 and not is_place)
            is_doubtful = share > 0.05 or corpus == "fantasycoref"
        for span in spans:
            if is_person:
                mentions[span] = cluster
            elif is_doubtful:
                ignored.add(span)
    return AnnotatedDocument(document.name, corpus, text, mentions, ignored - mentions.keys(), development)


def _friends() -> Iterator[AnnotatedDocument]:
    """A document for each scene: a line for each utterance, after its speaker's name."""
    record = json.loads(lzma.decompress(file_of("corpora", "friends_dev.json.xz").read_bytes()))
    found: list[tuple[AnnotatedDocument, list[tuple[int, int, str]]]] = []
    for number, episode in enumerate(record["episodes"]):
        for scene in episode["scenes"]:
            text, heads = "", list[tuple[int, int, str]]()
            for utterance in scene["utterances"]:
                speakers = utterance["speakers"]
                if text:
                    text += "\n\n"
                if speakers:
                    name = " and ".join(speakers)
                    heads.append((len(text), len(text) + len(name), "+".join(sorted(speakers))))
                    text += f"{name}: "
                for tokens, entities in zip(
                    utterance["tokens"], utterance["character_entities"], strict=True
                ):
                    document = ConllDocument("", list(tokens))
                    said, places = document.text_of(range(len(tokens)))
                    for start, end, *people in entities:
                        whole = Span(len(text) + places[start].start, len(text) + places[end - 1].end)
                        heads.append((*whole, "+".join(sorted(people))))
                    text += said + " "
            document_ = AnnotatedDocument(scene["scene_id"], "friends", text, {}, set(), number == 7)
            found.append((document_, heads))
    parsed = dict(docs([document.text for document, _ in found]))
    for document_, heads in found:
        doc = parsed[text_key(document_.text)]
        for start, end, people in heads:
            whole = doc.char_span(start, end, alignment_mode="expand")
            left = min((token.left_edge.idx for token in whole if token.pos_ == "NOUN"), default=start)
            between = document_.text[left:start]
            begin = (
                left if left < start and len(between) < 40 and not set(between) & set(",.!?:;\n") else start
            )
            if people.startswith("#"):  # general or other people
                document_.ignored.add(Span(begin, end))
            else:
                document_.mentions[Span(begin, end)] = people
        yield document_


def read_rows(sources: Iterable[str] = ROWS) -> list[Example]:
    """Rows of a pronoun and two names of which only the meaning tells who is who."""
    rows = chain.from_iterable(load_extra(source).corpus for source in sources)
    return [row for row in rows if row.label is not None]
