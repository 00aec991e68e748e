"""Any text: who its pronouns refer to, printed with its people in colour and the candidates as bars."""

from __future__ import annotations

import json
import re
import sys
import webbrowser
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.cells import cell_len, set_cell_size
from rich.text import Text
from typer import Argument, Option

from gapstack.cli import common
from gapstack.errors import DataError, GapstackError, counted, printable

if TYPE_CHECKING:
    from gapstack.anytext.answer import Answer, Answers
    from gapstack.data import Span

app = typer.Typer()

LONGEST = 200_000  # characters of a text, a few minutes' work
_LONGEST_SHOWN = 2000  # characters of a text that is printed before its answers
_AROUND = 40  # characters that are printed around a pronoun of a longer one
_BAR_WIDTH = 20  # of probability 1
_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")  # of people, in the order of the text
_FILE_NAME = re.compile(r"\S+\.[a-z]\w{0,4}|[.~]{0,2}/\S+")

ModelOption = Annotated[
    str | None,
    Option(
        "--model",
        autocompletion=common.complete_run,
        help="A saved member or stack, a run, or owner/name on the Hub, which compares the nearest names in pairs. "
        "Default: the model of running text that comes with gapstack.",
    ),
]


@common.command(
    app,
    'gap ask "Kate told Mary that she should leave."',
    "gap ask letter.txt --why",
    'gap ask "Kate called her." --pronoun her --names Kate Mary',
)
def ask_command(
    words: list[str] | None = Argument(
        None,
        metavar="TEXT",
        help="The text, or a file with it; - reads standard input. Default: prompt for texts.",
        show_default=False,
    ),
    pronoun: str | None = Option(None, help="The one pronoun to answer, such as she."),
    names: list[str] | None = Option(
        None, help="Names to choose among instead of detected people: --names Kate Mary."
    ),
    url: str | None = Option(None, help="Address of the text's page, whose title is read."),
    why: bool = Option(False, "--why", help="Print what speaks for and against each candidate."),
    model: ModelOption = None,
    parser: common.ParserOption = None,
    as_json: common.JsonOption = False,
) -> None:
    """Say who the pronouns of a text refer to, with what probability; "not sure" if none reaches 50%.

    Candidates are the people whom the text names or describes ("the old man"), anywhere in it.
    """
    text, more = (words[0], words[1:]) if words else (None, [])
    # click gives an option one value: further names arrive as further arguments
    if more and not names:
        raise DataError(
            f"there are {len(more) + 1} texts", expected="one", remedy="Put it into quotation marks"
        )
    if text is not None and _FILE_NAME.fullmatch(text) and not _is_file(text):
        raise DataError(f"no such file: {text}", expected="a text, or the name of a text file")
    common.spare_imports(model, parser)  # before what follows imports them
    texts = _prompted() if text is None else _texts(text)
    from gapstack.anytext.text_resolver import create_resolver

    options: dict[str, Any] = {"pronoun": pronoun, "names": [*(names or ()), *more], "url": url}
    resolver = create_resolver(model, parser)
    for one in texts:
        try:
            _refuse_long(one)
            answers = resolver.ask(one, **options)
        except GapstackError as problem:
            if text is not None:
                raise
            common.log_note(str(problem))  # the next line may be better
            continue
        if as_json:
            print(json.dumps(answers.to_dict(), ensure_ascii=not sys.stdout.isatty()))
        else:
            # a terminal breaks lines between words, files keep them
            common.stdout.print(_shown(answers, why=why), end="", soft_wrap=not common.stdout.is_terminal)


def _texts(text: str) -> Iterable[str]:
    """The text, or those of the file that it names."""
    from gapstack.data.cells import decode
    from gapstack.data.page_files import read_documents

    if text == "-":
        return [decode(sys.stdin.buffer.read(), "standard input")]
    if _is_file(text):
        common.log_note(f"reading {text}")
        return [document.text for document in read_documents(Path(text))]
    return [text]


def _is_file(text: str) -> bool:
    with suppress(OSError):  # too long for a name
        return Path(text).is_file()
    return False


def _refuse_long(text: str) -> None:
    if len(text) > LONGEST:
        problem, remedy = f"the text has {len(text):,} characters", "Use gap annotate FILE --output FILE"
        raise DataError(
            problem, expected=f"at most {LONGEST:,}", remedy=f"{remedy}, which can be interrupted"
        )


def _prompted() -> Iterator[str]:
    """Lines of the user, until the end of the input."""
    prompting = sys.stdin.isatty()
    if prompting:
        common.log_note("A text on one line, or an empty line to end.")
    while True:
        if prompting:
            sys.stderr.write("> ")
            sys.stderr.flush()
        line = sys.stdin.readline()
        if not line or (prompting and not line.strip()):
            return
        if line.strip():
            yield line.rstrip("\n")


def _shown(answers: Answers, *, why: bool) -> Text:
    """The marked text, unless it is long, and each pronoun's candidates, with reasons if ``why``."""
    from gapstack.anytext.answer import NOBODY, OTHER

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
    from gapstack.anytext.answer import NOBODY, SURE

    (start, end), best = answer.pronoun, answer.antecedent
    shown = Text()
    if not short:
        shown.append(printable(f"{start}: ...{text[max(0, start - _AROUND) : start]}"), style="dim")
    shown.append(printable(answer.form), style="bold underline")
    shown.append(f" at {start}" if short else printable(f"{text[end : end + _AROUND]}..."), style="dim")
    if not answer.sure:
        shown.append(f": not sure (no person of the text has {SURE:.0%})", style="yellow")
    else:
        style = f"bold {styles[best.span]}" if best else "bold"
        shown.append(": ").append(printable(best.full_name if best else NOBODY), style=style)
    for note in answer.notes:
        shown.append(f"  ({printable(note)})", style="yellow")
    return shown.append("\n")


def _lines(text: str) -> str:
    """As :func:`printable`, line breaks kept."""
    return "\n".join(map(printable, text.split("\n")))


@common.command(app, "gap demo --port 8020")
def demo_command(
    port: int = Option(8019, min=0, max=65535, help="Port of this machine; 0 for any that is free."),
    model: ModelOption = None,
    parser: common.ParserOption = None,
    browser: bool = Option(True, help="Open the page in the browser."),
) -> None:
    """Serve a page to type texts into, that colours their people and says who each pronoun refers to.

    The page is for this machine alone, and works offline. Ctrl-C ends it.
    """
    common.spare_imports(model, parser)  # before what follows imports them
    from gapstack.anytext.demo import DemoServer
    from gapstack.anytext.text_resolver import create_resolver

    resolver = create_resolver(model, parser)

    def ask(text: str) -> Answers:
        _refuse_long(text)
        return resolver.ask(text)

    server = DemoServer(ask, model or "default, the model that comes with gapstack", port)
    with suppress(KeyboardInterrupt), server:
        common.log_note("Ctrl-C ends it")
        print(server.address, flush=True)
        if browser:  # some browsers of terminals come back when they are closed
            Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
        server.serve_forever()


@common.command(
    app,
    "gap annotate chapter.txt --output chapter.html",
    "gap annotate pages.jsonl --output clusters.jsonl --workers 2",
)
def annotate_command(
    files: list[Path] = Argument(
        ...,
        metavar="FILES",
        parser=common.input_file,
        help="Plain text (a document a file), or .jsonl with text, id and url of one a line.",
    ),
    output: Path = common.output_option(
        "File to write: clusters as .jsonl (.gz, .xz too) or CoNLL columns (.conll), or a page (.html).",
        "--output",
        "-o",
        default=...,
    ),
    neutral: bool = Option(False, "--neutral", help="Also resolve they (as one person) and neopronouns."),
    model: ModelOption = None,
    parser: common.ParserOption = None,
    workers: int = Option(1, min=1, help="Processes that work at once."),
) -> None:
    """Link the pronouns of whole documents to the people that they refer to.

    Finished work is kept next to the output: a killed command resumes.
    """
    from gapstack.anytext.annotate import annotating, kind_of, write_annotations

    kind_of(output)  # an unknown one is refused before hours of work
    common.refuse_same_file(files, output)
    with annotating(files, output, model, parser=parser, neutral=neutral, workers=workers) as annotations:
        counts = write_annotations(annotations, output)
    pronouns, documents = counted(counts.pronouns, "pronoun"), counted(counts.documents, "document")
    common.log_note(f"wrote {output}: {pronouns} in {documents}, {counts.linked:,} linked to a person")
