"""Annotated documents in the formats of other tools: CoNLL, brat, Label Studio and BookNLP."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from gapstack.data import Span
from gapstack.data.clusters import Cluster
from gapstack.data.example import GENDER_BY_FORM, Gender
from gapstack.errors import printable
from gapstack.running_text.annotation_tables import PARAGRAPH_ENDS
from gapstack.running_text.entities import AnnotatedPerson, Annotation
from gapstack.running_text.windows import sentences

_GENDERS = {
    Gender.MASCULINE: "he/him/his",
    Gender.FEMININE: "she/her",
    Gender.NEUTRAL: "they/them/their",
}
"""BookNLP's names of genders."""


def conll_2012(document: Annotation) -> Iterator[str]:
    """CoNLL-2012: document, part, index of the word, word, mentions."""
    name = _conll_name(document.id)
    yield f"#begin document ({name}); part 000\n"
    for sentence in _bracketed(document.text, document.clusters):
        for place, (word, opened, whole, closed) in enumerate(sentence):
            cells = [f"({number}" for number in opened] + [f"({number})" for number in whole]
            cells += [f"{number})" for number in closed]
            token = printable(document.text[slice(*word)])
            yield "\t".join([name, "0", str(place), token, "|".join(cells) or "-"]) + "\n"
        yield "\n"
    yield "#end document\n"


def conllu(document: Annotation) -> Iterator[str]:
    """CoNLL-U with mentions as ``Entity=`` of the last column, as in CorefUD and GUM; no parse."""
    yield f"# newdoc id = {printable(document.id)}\n# global.Entity = eid-etype-head-other\n"
    text = document.text
    for number, sentence in enumerate(_bracketed(text, document.clusters), start=1):
        start, end = sentence[0][0].start, sentence[-1][0].end
        yield f"# sent_id = {printable(document.id)}-{number}\n"
        yield f"# text = {printable(' '.join(text[start:end].split()))}\n"
        for place, (word, opened, whole, closed) in enumerate(sentence, start=1):
            entity = "".join(f"(e{one + 1}-person-1-" for one in opened)
            entity += "".join(f"(e{one + 1}-person-1-)" for one in whole)
            entity += "".join(f"e{one + 1})" for one in closed)
            more = [f"Entity={entity}"] if entity else []
            if place < len(sentence) and sentence[place][0].start == word.end:
                more.append("SpaceAfter=No")
            token = printable(text[slice(*word)])
            yield "\t".join([str(place), token, *["_"] * 7, "|".join(more) or "_"]) + "\n"
        yield "\n"


def brat(document: Annotation) -> Iterator[str]:
    """Stand-off of brat: mentions as ``Person``, each linked to the one before by ``Coref``."""
    text_bounds, relations = count(1), count(1)
    for person in document.people:
        before = ""
        for mention in person.mentions:
            name = f"T{next(text_bounds)}"
            # a mention over a line break is one range per line
            ranges, at = list[str](), mention.start
            lines = document.text[slice(*mention)].split("\n")
            for line in lines:
                if line.strip():
                    ranges.append(f"{at} {at + len(line)}")
                at += len(line) + 1
            words = " ".join(line for line in lines if line.strip())
            yield f"{name}\tPerson {';'.join(ranges)}\t{words}\n"
            if before:
                yield f"R{next(relations)}\tCoref Arg1:{name} Arg2:{before}\n"
            before = name


def label_studio(document: Annotation) -> Iterator[str]:
    """A task of Label Studio with predictions: regions labelled ``Person`` or ``Pronoun``, and links as relations."""
    regions: list[dict[str, Any]] = []
    ids: dict[Span, str] = {}
    for person in document.people:
        pronouns = set(person.pronouns)
        for mention in person.mentions:
            ids[mention] = f"m{mention.start}-{mention.end}"
            value = {
                "start": mention.start,
                "end": mention.end,
                "text": document.text[slice(*mention)],
                "labels": ["Pronoun" if mention in pronouns else "Person"],
            }
            region = {"id": ids[mention], "from_name": "label", "to_name": "text", "type": "labels"}
            regions.append({**region, "value": value})
    for pronoun, name in document.antecedents.items():
        relation = {"type": "relation", "from_id": ids[pronoun], "to_id": ids[name], "direction": "right"}
        regions.append({**relation, "labels": ["refers to"]})
    data = {"id": document.id, "text": document.text}
    task = {"data": data, "predictions": [{"model_version": "gapstack", "result": regions}]}
    yield json.dumps(task, ensure_ascii=False)


def booknlp_tokens(document: Annotation) -> Iterator[str]:
    """BookNLP's ``.tokens``: paragraph, sentence, words and bytes; the columns of the parser are ``_``."""
    columns = "paragraph_ID sentence_ID token_ID_within_sentence token_ID_within_document word lemma"
    columns += " byte_onset byte_offset POS_tag fine_POS_tag dependency_relation syntactic_head_ID event"
    yield "\t".join(columns.split()) + "\n"
    paragraph = token = byte = at = 0
    for number, sentence in enumerate(sentences(document.text)):
        for place, word in enumerate(sentence):
            between = document.text[at : word.start]
            paragraph += number > 0 and PARAGRAPH_ENDS.search(between) is not None
            onset = byte + len(between.encode("utf-8", "surrogatepass"))
            words = document.text[slice(*word)]
            byte = onset + len(words.encode("utf-8", "surrogatepass"))
            cells = [paragraph, number, place, token, printable(words), "_", onset, byte, *"_____"]
            yield "\t".join(map(str, cells)) + "\n"
            token, at = token + 1, word.end


def booknlp_entities(document: Annotation) -> Iterator[str]:
    """BookNLP's ``.entities``: one mention a line, with its first and last token."""
    yield "COREF\tstart_token\tend_token\tprop\tcat\ttext\n"
    words = [word for sentence in sentences(document.text) for word in sentence]
    mentions = sorted(
        (mention, number, person)
        for number, person in enumerate(document.people)
        if person.listed
        for mention in person.mentions
    )
    at = 0
    for mention, number, person in mentions:
        while at + 1 < len(words) and words[at].end <= mention.start:
            at += 1
        last = at
        while last + 1 < len(words) and words[last + 1].start < mention.end:
            last += 1
        words_of_it = document.words(mention)
        kind = "PRON" if mention in person.pronouns else "PROP" if _is_proper(words_of_it) else "NOM"
        cells = [number, at, last, kind, "PER", printable(words_of_it)]
        yield "\t".join(map(str, cells)) + "\n"


def _is_proper(mention: str) -> bool:
    """True for a name: "Miss Taylor", but not "Emma's sister" and "Her governess"."""
    return mention.rsplit(maxsplit=1)[-1][:1].isupper()


def booknlp_book(document: Annotation) -> Iterator[str]:
    """BookNLP's ``.book``: the characters with their counts, mentions and gender; without verbs, which need a parse."""
    characters = [
        _character(document, number, person) for number, person in enumerate(document.people) if person.listed
    ]
    characters.sort(key=lambda character: -character["count"])
    yield json.dumps({"characters": characters}, ensure_ascii=False) + "\n"


def _character(document: Annotation, number: int, person: AnnotatedPerson) -> dict[str, Any]:
    forms = Counter(document.words(pronoun).lower() for pronoun in person.pronouns)
    genders = Counter(
        {
            name: sum(times for form, times in forms.items() if GENDER_BY_FORM.get(form) is gender)
            for gender, name in _GENDERS.items()
        }
    )
    total = sum(genders.values())
    inference = {name: times / total for name, times in genders.items()} if total else {}
    names = Counter(map(document.words, person.names))
    kinds = {
        "proper": Counter({words: times for words, times in names.items() if _is_proper(words)}),
        "common": Counter({words: times for words, times in names.items() if not _is_proper(words)}),
        "pronoun": forms,
    }
    mentions = {
        kind: [{"c": times, "n": words} for words, times in counts.most_common()]
        for kind, counts in kinds.items()
    }
    most_common = genders.most_common(1)[0][0]
    gender = {"inference": inference, "argmax": most_common} if total else None
    return {"id": number, "g": gender, "count": len(person.mentions), "mentions": mentions}


Bracketed = tuple[Span, list[int], list[int], list[int]]
"""A word with the numbers of the clusters whose mentions begin, are, and end there."""


def _bracketed(text: str, clusters: Sequence[Cluster]) -> Iterator[list[Bracketed]]:
    """Words of each sentence with the mentions at them, the longest opened first and the innermost closed first."""
    opening: dict[int, list[tuple[int, int]]] = {}
    for number, cluster in enumerate(clusters):
        for start, end in cluster:
            opening.setdefault(start, []).append((end, number))
    starts = sorted(opening)
    at = 0
    open_mentions: list[tuple[int, int]] = []
    for sentence in sentences(text):
        bracketed: list[Bracketed] = []
        for word in sentence:
            opened, whole = list[tuple[int, int]](), list[int]()
            while at < len(starts) and starts[at] < word.end:
                for end, number in sorted(opening[starts[at]], reverse=True):
                    if end > word.end:
                        opened.append((end, number))
                    else:
                        whole.append(number)
                at += 1
            closed = [mention for mention in open_mentions if mention[0] <= word.end]
            open_mentions = [mention for mention in open_mentions if mention[0] > word.end] + opened
            ended = [number for _, number in reversed(closed)]
            bracketed.append((word, [number for _, number in opened], whole, ended))
        yield bracketed


def _conll_name(id: str) -> str:
    return "_".join(printable(id).split()).lstrip("#") or "document"
