"""Everyday texts: messages, e-mails, news, biographies, tales. How often each pronoun's person is right.

``everyday.txt`` has 165 short texts written for this benchmark before any system answered them; nothing is trained on
them. The first line of each is its kind. ``[Kate Hill:k]`` is a mention of person k, ``{she:k}`` a pronoun that refers
to k, ``{they:k+m}`` to k and m together, and ``{he:}`` to nobody in the text. Every third text is kept for a test.

The answer for a pronoun is right if the mention that it shows is one of the person's (the marked mention that it
overlaps most), or if it shows nobody where the text has nobody. A group is right if its name has all members.

    python benchmarks/everyday.py [--test] [--errors] [--model default]
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from gapstack.data import Span
from gapstack.data.conversations import transcript_turns
from gapstack.running_text.answer import Answer
from gapstack.running_text.any_text_resolver import Text
from gapstack.runs.text_resolvers import text_resolver

TEXTS = Path(__file__).with_suffix(".txt")
_SURE = 0.8
_MARK = re.compile(r"(?P<open>[\[{])|:(?P<people>[\w+]*)(?P<close>[\]}])")


@dataclass
class EverydayText:
    """A text with the persons of its mentions, and those that each pronoun refers to (none for nobody)."""

    kind: str
    text: str = ""
    mentions: dict[Span, str] = field(default_factory=dict)
    pronouns: dict[Span, set[str]] = field(default_factory=dict)

    @classmethod
    def parse(cls, kind: str, marked: str) -> EverydayText:
        """Read marked text."""
        result, starts, at = cls(kind), [], 0
        for mark in _MARK.finditer(marked):
            result.text += marked[at : mark.start()]
            at = mark.end()
            if mark["open"]:
                starts.append(len(result.text))
                continue
            span = Span(starts.pop(), len(result.text))
            if mark["close"] == "]":
                result.mentions[span] = mark["people"]
            else:
                result.pronouns[span] = set(filter(None, mark["people"].split("+")))
        result.text += marked[at:]
        return result

    def is_right(self, gold: set[str], answer: Answer) -> bool:
        """True if an answer shows the gold persons."""
        best = answer.antecedent
        if best is None or not gold:
            return best is None and not gold
        if len(gold) > 1:
            shown = {person for span, person in self.mentions.items() if self._is_in(span, best.full_name)}
            return gold <= shown
        overlaps = {span: _overlap(span, best.span) for span in self.mentions}
        nearest = max(overlaps, key=lambda span: overlaps[span])
        return overlaps[nearest] > 0 and self.mentions[nearest] in gold

    def _is_in(self, span: Span, name: str) -> bool:
        return self.text[slice(*span)].removesuffix("'s") in name


def _overlap(one: Span, other: Span) -> float:
    """Characters that two spans share, of all that they cover."""
    shared = max(0, min(one.end, other.end) - max(one.start, other.start))
    return shared / (max(one.end, other.end) - min(one.start, other.start))


def read() -> Iterator[EverydayText]:
    """All texts."""
    for block in TEXTS.read_text(encoding="utf-8").strip().split("\n\n"):
        kind, _, marked = block.partition("\n")
        yield EverydayText.parse(kind, marked)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--test", action="store_true", help="the third of the texts that is kept for a test")
    parser.add_argument("--errors", action="store_true", help="print the wrong answers")
    parser.add_argument(
        "--model", help="saved member or stack, or a run (default: the model of running text)"
    )
    args = parser.parse_args()
    texts = [text for number, text in enumerate(read()) if (number % 3 == 2) == args.test]
    asked = (Text(text.text, turns=transcript_turns(text.text)) for text in texts)
    rows = []
    for text, answers in zip(texts, text_resolver(args.model).stream(asked), strict=True):
        of_pronoun = {answer.pronoun: answer for answer in answers}
        for span, gold in text.pronouns.items():
            answer = of_pronoun[span]
            best = answer.antecedent
            right = text.is_right(gold, answer)
            rows.append(
                {
                    "kind": text.kind,
                    "right": right,
                    "probability": best.probability if best else answer.nobody,
                }
            )
            if args.errors and not right:
                names = [text.text[slice(*at)] for at, person in text.mentions.items() if person in gold]
                print(f"{text.text}\n    {answer}, not {' / '.join(names) or 'nobody'}\n")
    found = pd.DataFrame(rows)
    sure = found[found["probability"] > _SURE]
    table = found.groupby("kind")["right"].agg(pronouns="count", right="mean")
    table["above 0.8"] = sure.groupby("kind")["right"].mean()
    print(table.to_string(float_format="{:.2f}".format))
    print(
        f"{len(found)} pronouns in {len(texts)} texts, {found['right'].mean():.1%} right; "
        f"{len(sure)} above {_SURE}, {sure['right'].mean():.1%} of these right"
    )


if __name__ == "__main__":
    main()
