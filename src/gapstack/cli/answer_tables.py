"""Answers about a text on a terminal: the text with its pronouns and names in colour, and bars."""

from __future__ import annotations

from rich.text import Text

from gapstack.anytext.answer import NOBODY, Answer, Answers
from gapstack.errors import printable

_STYLES = {"pronoun": "bold magenta", "name": "cyan"}
_WIDTH = 20  # of a bar of probability 1
_LONGEST = 2000
"""Characters of a text that is shown before its answers; of a longer one each answer shows its surroundings."""
_AROUND = 40


def answers_text(answers: Answers) -> Text:
    """The text, unless it is long, and for each pronoun its candidates with bars and nobody; or why there are none."""
    if not answers:
        return Text(f"{answers.remark}\n", style="dim")
    short = len(answers.text) <= _LONGEST
    parts = [_marked(answers), Text("\n")] if short else []
    for answer in answers:
        parts += [_headline(answers.text, answer, short), *_bars(answer)]
    return Text("").join(parts)


def _marked(answers: Answers) -> Text:
    shown, at = Text(), 0
    for (start, end), kind, _ in answers.marks():
        shown.append(_lines(answers.text[at:start])).append(
            _lines(answers.text[start:end]), style=_STYLES[kind]
        )
        at = end
    return shown.append(_lines(answers.text[at:])).append("\n")


def _headline(text: str, answer: Answer, short: bool) -> Text:
    start, end = answer.pronoun
    line = Text()
    if short:
        line.append(printable(answer.form), style=_STYLES["pronoun"]).append(f" at {start}", style="dim")
    else:
        line.append(printable(f"{start}: ...{text[max(0, start - _AROUND) : start]}"), style="dim")
        line.append(printable(answer.form), style=_STYLES["pronoun"])
        line.append(printable(f"{text[end : end + _AROUND]}..."), style="dim")
    for note in answer.notes:
        line.append(f"  ({printable(note)})", style="yellow")
    return line.append("\n")


def _bars(answer: Answer) -> list[Text]:
    names = [(printable(name), share) for name, share in answer.shares]
    width = max(len(name) for name, _ in names)
    lines = []
    for name, share in names:
        line = Text(f"  {name:{width}} {share:6.1%} ", style="dim" if name == NOBODY else "")
        lines.append(line.append("\u2588" * round(share * _WIDTH), style="green").append("\n"))
    return lines


def _lines(text: str) -> str:
    """As :func:`printable`, line breaks kept."""
    return "\n".join(map(printable, text.split("\n")))
