"""Annotated documents as a web page: for each a legend of its people, and its text with coloured mentions.

Documents are written one by one between :data:`HEAD` and :data:`FOOT`, so a page may be larger than the memory. Its
script, in the foot, highlights people, shows the candidates of a pronoun, and lets the reader correct links.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import unescape as html_unescape
from importlib import resources
from operator import itemgetter

from gapstack.data import Span, html
from gapstack.running_text.answer import NOBODY, OTHER, SURE
from gapstack.running_text.entities import AnnotatedPerson, Annotation
from gapstack.running_text.rewrite import short_names

_FILES = resources.files(__name__)
HEAD = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="gapstack">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<title>gapstack annotate</title>
<style>
{(_FILES / "page.css").read_text(encoding="utf-8")}</style>
</head>
<body>
<header>
<h1>People and pronouns</h1>
<p>Each person has a colour. A <mark class="unsure">dashed</mark> pronoun is not sure: no person of the text reaches
{SURE:.0%}.</p>
<p class="scripted">Choose a person in a legend, or a name in a text, to highlight the person. Point at a pronoun to
see its candidates; click it, or press Enter on it, to correct it.</p>
</header>
<main>
"""
FOOT = f"""</main>
<footer hidden><output></output> <button type="button">Download corrections</button></footer>
<script>
{(resources.files("gapstack.display") / "theme.js").read_text(encoding="utf-8")}</script>
<script>
{(_FILES / "page.js").read_text(encoding="utf-8")}</script>
</body>
</html>
"""
_LEAST_OTHER = 0.01
"""Probability of somebody else that is shown; links with lower ones are dropped too."""
_PARAGRAPHS = re.compile(r"\n[^\S\n]*\n\s*")
_CHAPTER = re.compile(
    r"(?:(?:chapter|volume|book|part|letter|act|scene|canto|stave)\s+\S{1,20}|prologue|epilogue|preface|introduction"
    r"|[IVXLC]{1,8}\.?)(?:[.:]?\s.{0,60})?",
    re.IGNORECASE,
)
_PART = 60
"""Paragraphs of a part of a text without chapters; the browser lays out the parts that are seen."""
_LONGEST_LABEL = 24
_HUES = tuple(range(0, 360, 24))
_NEAR = 6
"""Mentions before one whose people should have other colours."""


def section(one: Annotation) -> Iterator[str]:
    """A document: heading, legend and text, whose lines are joined to paragraphs."""
    yield f'<section data-document="{html.escape(one.id)}">\n<h2>{html.escape(one.id)}</h2>\n'
    hues = _hues(one.people)
    labels = _labels(one)
    person = {name: number for number, entity in enumerate(one.people) for name in entity.names}
    shares: dict[Span, dict[int, float]] = {pronoun: {} for pronoun in one.references}
    for (pronoun, name), probability in one.links.items():
        known = shares[pronoun].get(person[name], 0.0)
        shares[pronoun][person[name]] = known + probability
    marks = {name: (_name(number, hues, one.people[number]), "") for name, number in person.items()}
    for mention, found in shares.items():
        antecedent = one.antecedents.get(mention)
        own = None if antecedent is None else person[antecedent]
        attributes, note = _pronoun(own, found, 1 - one.references[mention], labels, hues)
        marks[mention] = f'{attributes} data-at="{mention.start}"', f"<sub>{html.escape(note)}</sub>"
    chapters, parts = _parts("".join(_marked(one.text, marks)).strip())
    yield from _legend(one.people, hues, chapters)
    yield f'<div class="text">\n{parts}</div>\n</section>\n'


def _parts(marked: str) -> tuple[list[tuple[int, str]], str]:
    """Numbers and titles of chapters, and the marked text in parts of paragraphs, one a chapter."""
    chapters: list[tuple[int, str]] = []
    parts: list[list[str]] = [[]]
    for paragraph in _PARAGRAPHS.split(marked):
        title = " ".join(re.sub(r"<[^>]*>", "", paragraph).split())
        if _CHAPTER.fullmatch(html_unescape(title)):
            parts.append([f"<h3>{paragraph}</h3>"])
            chapters.append((len(parts) - 1, html_unescape(title)))
        else:
            if len(parts[-1]) >= _PART and not chapters:
                parts.append([])
            parts[-1].append(f"<p>{paragraph}</p>")
    joined = [
        f'<div class="part" data-part="{number}">\n' + "\n".join(part) + "\n</div>\n"
        for number, part in enumerate(parts)
        if part
    ]
    return chapters, "".join(joined)


def _labels(one: Annotation) -> list[str]:
    """What stands behind the pronouns of each person: a short name of the text that is nobody else's."""
    known = {name: (person.full_name, person.named) for person in one.people for name in person.names}
    short = short_names(one.text, known)
    labels = [short.get(person.full_name, person.full_name) for person in one.people]
    return [
        label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}\u2026" for label in labels
    ]


def _hues(people: Sequence[AnnotatedPerson]) -> list[int]:
    """A hue for each person, unlike those of the people who are mentioned nearby; frequent people choose first."""
    mentions = sorted(
        (mention, number) for number, person in enumerate(people) for mention in person.mentions
    )
    near: list[Counter[int]] = [Counter() for _ in people]
    for at, (_, number) in enumerate(mentions):
        for _, other in mentions[max(0, at - _NEAR) : at]:
            if other != number:
                near[number][other] += 1
                near[other][number] += 1
    hues: dict[int, int] = {}
    used = Counter(dict.fromkeys(_HUES, 0))
    for number in sorted(range(len(people)), key=lambda number: -len(people[number].mentions)):
        taken = [(hues[other], times) for other, times in near[number].items() if other in hues]
        hue = min(
            _HUES, key=lambda hue: (sum(times * _closeness(hue, one) for one, times in taken), used[hue])
        )
        hues[number] = hue
        used[hue] += 1
    return [hues[number] for number in range(len(people))]


def _closeness(one: int, other: int) -> float:
    """1 for equal hues, 0 for those a quarter of the circle or more apart."""
    apart = abs(one - other) % 360
    return max(0.0, 1 - min(apart, 360 - apart) / 90)


def _marked(text: str, marks: Mapping[Span, tuple[str, str]]) -> Iterator[str]:
    """The text with its mentions marked, with attributes and a note; a mention within another is marked in it."""
    opened: list[tuple[int, str]] = []  # ends and notes
    at = 0
    for span in (*sorted(marks, key=lambda span: (span.start, -span.end)), Span(len(text), len(text))):
        while opened and opened[-1][0] <= span.start:
            end, note = opened.pop()
            yield f"{html.escape(text[at:end])}{note}</mark>"
            at = end
        yield html.escape(text[at : span.start])
        at = span.start
        if span in marks:
            attributes, note = marks[span]
            yield f"<mark {attributes}>"
            opened.append((min(span.end, opened[-1][0]) if opened else span.end, note))


def _legend(
    people: Sequence[AnnotatedPerson], hues: Sequence[int], chapters: Sequence[tuple[int, str]]
) -> Iterator[str]:
    """People with their numbers of names (or nouns, if they have no name) and pronouns, the most frequent first.

    Nouns that are only a pronoun's less probable candidates are hidden: the script needs their names and colours.
    """
    yield '<aside>\n<div class="tools scripted">\n'
    if chapters:
        options = "".join(
            f'<option value="{number}">{html.escape(title)}</option>' for number, title in chapters
        )
        first = '<option value="">Chapter \u2026</option>'
        yield f'<select class="chapters" aria-label="Chapter">{first}{options}</select>\n'
    yield (
        '<input class="search" type="search" placeholder="Search text and people" '
        'aria-label="Search text and people">\n'
        '<output class="found"></output>\n</div>\n<div class="timeline" hidden></div>\n'
    )
    if not people:
        yield "</aside>\n"
        return
    listed = sum(entity.listed for entity in people)
    yield f"<details open>\n<summary>People: {listed:,}</summary>\n<ul>\n"
    for number, entity in sorted(enumerate(people), key=lambda item: -len(item[1].mentions)):
        yield (
            f"<li{'' if entity.listed else ' hidden'}>"
            f'<button type="button" aria-pressed="false" {_attributes(number, hues)} data-at="{entity.names[0].start}">'
            f"<b>{html.escape(entity.full_name)}</b> <small>"
            f"{'names' if entity.named else 'nouns'} {len(entity.names)}, "
            f"pronouns <data>{len(entity.pronouns)}</data></small></button></li>\n"
        )
    yield "</ul>\n</details>\n</aside>\n"


def _pronoun(
    own: int | None, shares: Mapping[int, float], nobody: float, labels: Sequence[str], hues: Sequence[int]
) -> tuple[str, str]:
    """Attributes and note of a pronoun that refers to person ``own``, or nobody; ``data-links`` has all percentages."""
    other = 1 - nobody - sum(shares.values())
    if own is not None:
        name, best = labels[own], shares.get(own, 0.0)
    else:
        name, best = max((NOBODY, nobody), (OTHER, other), key=itemgetter(1))
    kind = "pronoun unsure" if best < SURE or name == OTHER else "pronoun"
    links = " ".join([*(f"{number}:{share:.0%}" for number, share in shares.items()), f"-:{nobody:.0%}"])
    links += f" +:{other:.0%}" if other >= _LEAST_OTHER else ""
    attributes = f'class="{kind}" tabindex="0" role="button" {_attributes(own, hues)} data-links="{links}"'
    return attributes, f"{name} {best:.0%}"


def _name(number: int, hues: Sequence[int], person: AnnotatedPerson) -> str:
    return _attributes(number, hues) + ("" if person.listed else ' class="unlisted"')


def _attributes(person: int | None, hues: Sequence[int]) -> str:
    if person is None:
        return 'style="--full:0%" data-person="-"'
    return f'style="--hue:{hues[person]}" data-person="{person}"'
