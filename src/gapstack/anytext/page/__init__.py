"""Annotated documents as a web page: for each a legend of its people, and its text with coloured mentions.

Documents are written one by one between :data:`HEAD` and :data:`FOOT`, so a page may be larger than the memory. Its
script, in the foot, highlights people, shows the candidates of a pronoun, and lets the reader correct links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from operator import itemgetter

from gapstack.anytext.answer import NOBODY, OTHER, SURE
from gapstack.anytext.entities import AnnotatedPerson, Annotation
from gapstack.data import Span, html

_FILES = resources.files(__name__)
HEAD = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
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
_HUE_STEP = 137.5
"""Degrees between the hues of consecutive people: the golden angle, so that neighbours differ."""


def section(one: Annotation) -> Iterator[str]:
    """A document: heading, legend and text, whose lines are joined to paragraphs."""
    yield f'<section data-document="{html.escape(one.id)}">\n<h2>{html.escape(one.id)}</h2>\n'
    yield from _legend(one.people)
    person = {name: number for number, entity in enumerate(one.people) for name in entity.names}
    shares: dict[Span, dict[int, float]] = {pronoun: {} for pronoun in one.references}
    for (pronoun, name), probability in one.links.items():
        known = shares[pronoun].get(person[name], 0.0)
        shares[pronoun][person[name]] = known + probability
    marks = {name: (_name(number, one.people[number]), "") for name, number in person.items()}
    for mention, found in shares.items():
        antecedent = one.antecedents.get(mention)
        own = None if antecedent is None else person[antecedent]
        attributes, note = _pronoun(own, found, 1 - one.references[mention], one.people)
        marks[mention] = f'{attributes} data-at="{mention.start}"', f"<sub>{html.escape(note)}</sub>"
    text = _PARAGRAPHS.sub("</p>\n<p>", "".join(_marked(one.text, marks)).strip())
    yield f'<div class="text">\n<p>{text}</p>\n</div>\n</section>\n'


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


def _legend(people: Sequence[AnnotatedPerson]) -> Iterator[str]:
    """People with their numbers of names (or nouns, if they have no name) and pronouns, the most frequent first.

    Nouns that are only a pronoun's less probable candidates are hidden: the script needs their names and colours.
    """
    if not people:
        return
    listed = sum(entity.listed for entity in people)
    yield f"<details open>\n<summary>People: {listed:,}</summary>\n<ul>\n"
    for number, entity in sorted(enumerate(people), key=lambda item: -len(item[1].mentions)):
        yield (
            f"<li{'' if entity.listed else ' hidden'}>"
            f'<button type="button" aria-pressed="false" {_attributes(number)} data-at="{entity.names[0].start}">'
            f"<b>{html.escape(entity.full_name)}</b> <small>"
            f"{'names' if entity.named else 'nouns'} {len(entity.names)}, "
            f"pronouns <data>{len(entity.pronouns)}</data></small></button></li>\n"
        )
    yield "</ul>\n</details>\n"


def _pronoun(
    own: int | None, shares: Mapping[int, float], nobody: float, people: Sequence[AnnotatedPerson]
) -> tuple[str, str]:
    """Attributes and note of a pronoun that refers to person ``own``, or nobody; ``data-links`` has all percentages."""
    other = 1 - nobody - sum(shares.values())
    if own is not None:
        name, best = people[own].full_name, shares.get(own, 0.0)
    else:
        name, best = max((NOBODY, nobody), (OTHER, other), key=itemgetter(1))
    kind = "pronoun unsure" if best < SURE or name == OTHER else "pronoun"
    links = " ".join([*(f"{number}:{share:.0%}" for number, share in shares.items()), f"-:{nobody:.0%}"])
    links += f" +:{other:.0%}" if other >= _LEAST_OTHER else ""
    attributes = f'class="{kind}" tabindex="0" role="button" {_attributes(own)} data-links="{links}"'
    return attributes, f"{name} {best:.0%}"


def _name(number: int, person: AnnotatedPerson) -> str:
    return _attributes(number) + ("" if person.listed else ' class="unlisted"')


def _attributes(person: int | None) -> str:
    if person is None:
        return 'style="--full:0%" data-person="-"'
    return f'style="--hue:{person * _HUE_STEP % 360:.0f}" data-person="{person}"'
