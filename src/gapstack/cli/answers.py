"""Answers in a terminal: the text with its people in colour, and the candidates of each pronoun as bars."""

from collections.abc import Mapping

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from gapstack.anytext.answer import NOBODY, OTHER, SURE, Answer, Answers
from gapstack.cli import common
from gapstack.data import Span
from gapstack.errors import printable

_LONGEST_SHOWN = 2000
"""Characters of a text that is printed before its answers; for a longer one each answer shows its surroundings."""
_AROUND = 40
_BAR_WIDTH = 20  # of probability 1
_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")  # of people, in the order of the text


def show(answers: Answers, *, why: bool = False) -> Text:
    """Return the marked text, unless it is long, and each pronoun's candidates, with reasons if ``why``."""
    if not answers:
        return Text(f"{answers.remark}\n", style="dim")
    styles = {mention: _COLOURS[number % len(_COLOURS)] for mention, number in answers.people.items()}
    short, shown = len(answers.text) <= _LONGEST_SHOWN, Text()
    if short:
        shown.append(_marked(answers, styles)).append("\n\n")
    for answer in answers:
        shown.append(_headline(answers.text, answer, styles, short=short))
        width = max(cell_len(printable(name)) for name, _ in answer.shares)
        rows = [(one.probability, one.full_name, styles[one.span], one.reasons) for one in answer.candidates]
        rows.append((answer.nobody, NOBODY, "dim", ()))
        if answer.other:
            rows.append((answer.other, OTHER, "dim", ()))
        for share, name, style, reasons in sorted(rows, key=lambda row: -row[0]):
            line = f"  {set_cell_size(printable(name), width)} {share:6.1%} "
            shown.append(line, style="dim" if name in (NOBODY, OTHER) else "")
            shown.append("\u2588" * round(share * _BAR_WIDTH), style=style).append("\n")
            if why and reasons:
                shown.append(f"    {printable('; '.join(reasons))}\n", style="dim")
    return shown


def _marked(answers: Answers, styles: Mapping[Span, str]) -> Text:
    """The text; names in their person's colour, pronouns underlined in that of their antecedent, or in brackets."""
    text, shown, at = answers.text, Text(), 0
    antecedents = {answer.pronoun: answer.antecedent for answer in answers if answer.sure}
    for span, kind, _ in answers.marks():
        words, style = _lines(text[slice(*span)]), styles.get(span, "")
        if kind == "pronoun":
            best = antecedents.get(span)
            style = f"bold underline {styles[best.span] if best else ''}"
            words = words if common.stdout.is_terminal else f"[{words}]"
        shown.append(_lines(text[at : span.start])).append(words, style=style)
        at = span.end
    return shown.append(_lines(text[at:]))


def _headline(text: str, answer: Answer, styles: Mapping[Span, str], *, short: bool) -> Text:
    """The pronoun, where it is, and its antecedent if that is sure; then the notes."""
    (start, end), best = answer.pronoun, answer.antecedent
    shown = Text()
    if not short:
        shown.append(printable(f"{start}: ...{text[max(0, start - _AROUND) : start]}"), style="dim")
    shown.append(printable(answer.form), style="bold underline")
    shown.append(f" at {start}" if short else printable(f"{text[end : end + _AROUND]}..."), style="dim")
    if not answer.sure:
        shown.append(f": not sure (no answer has {SURE:.0%})", style="yellow")
    else:
        style = f"bold {styles[best.span]}" if best else "bold"
        shown.append(": ").append(printable(best.full_name if best else NOBODY), style=style)
    for note in answer.notes:
        shown.append(f"  ({printable(note)})", style="yellow")
    return shown.append("\n")


def _lines(text: str) -> str:
    """As :func:`printable`, line breaks kept."""
    return "\n".join(map(printable, text.split("\n")))
