"""Any text: who its pronouns refer to, printed with its people in colour and the candidates as bars."""

from __future__ import annotations

import json
import sys
import webbrowser
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.cells import cell_len, set_cell_size
from rich.text import Text
from typer import Argument, Option

from gapstack.cli import common
from gapstack.cli.text_argument import documents_of, is_file, prompted, refuse_missing
from gapstack.errors import DataError, GapstackError, counted, printable
from gapstack.files import write_text
from gapstack.progress import waiting

if TYPE_CHECKING:
    from gapstack.data import Span
    from gapstack.running_text.answer import Answer, Answers
    from gapstack.running_text.characters import KnownCharacter

app = typer.Typer()

LONGEST = 200_000  # characters of a text, a few minutes' work
_LONGEST_SHOWN = 2000  # characters of a text that is printed before its answers
_AROUND = 40  # characters that are printed around a pronoun of a longer one
_BAR_WIDTH = 20  # of probability 1
_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")  # of people, in the order of the text

ModelOption = Annotated[
    str | None,
    Option(
        "--model",
        autocompletion=common.complete_run,
        help="A saved member or stack, a run, or owner/name on the Hub, which compares the nearest names in pairs. "
        "Default: the bundled model of running text.",
    ),
]


EncodingOption = Annotated[
    str | None, Option(metavar="NAME", help="Encoding of text files, such as cp1252. Default: detect it.")
]
LicenceOption = Annotated[
    bool, Option("--keep-licence", help="Keep the licence and contents of Project Gutenberg's books.")
]
FirstPersonOption = Annotated[bool, Option("--first-person", help="Resolve I and you too, in conversations.")]
PeopleOption = Annotated[
    Path | None,
    Option(
        metavar="FILE",
        parser=common.input_file,
        help="TOML with the people you know: a table \\[\\[people]] each, with name, aliases and pronouns. "
        "Parts of names are recognised.",
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
    people: PeopleOption = None,
    first_person: FirstPersonOption = False,
    encoding: EncodingOption = None,
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
    if text is not None:
        refuse_missing(text)
    common.spare_imports(model, parser)  # before what follows imports them
    documents = prompted() if text is None else documents_of(text, encoding=encoding)
    from gapstack.runs.text_resolvers import text_resolver

    options: dict[str, Any] = {"pronoun": pronoun, "names": [*(names or ()), *more]}
    options |= {"people": _known(people), "first_person": first_person}
    resolver = text_resolver(model, parser)
    for document in documents:
        try:
            _refuse_long(document.text)
            answers = resolver.ask(document.text, url=url or document.url, turns=document.turns, **options)
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


@common.command(
    app,
    'gap rewrite "Dr. Marsh met Paul. She published her paper." --brackets',
    "gap rewrite letter.txt --short --output rewritten.txt",
)
def rewrite_command(
    text: str = Argument(
        metavar="TEXT", help="The text, or a file with it; - reads standard input.", show_default=False
    ),
    probability: float = Option(
        0.8, min=0, max=1, metavar="X", help="Leave pronouns whose person is less probable."
    ),
    short: bool = Option(False, "--short", help="The full name only the first time, then a shorter one."),
    brackets: bool = Option(False, "--brackets", help="Keep the pronouns: She [Dr. Marsh]."),
    output: Path | None = common.output_option("File to write. Default: standard output.", "--output", "-o"),
    people: PeopleOption = None,
    encoding: EncodingOption = None,
    keep_licence: LicenceOption = False,
    model: ModelOption = None,
    parser: common.ParserOption = None,
    as_json: bool = Option(False, "--json", help="JSON lines with the offsets of both texts."),
) -> None:
    """Replace the pronouns of a text by the names of the people that they refer to; all else is unchanged."""
    refuse_missing(text)
    common.spare_imports(model, parser)  # before what follows imports them
    documents = documents_of(text, encoding=encoding, keep_licence=keep_licence)
    if len(documents) > 1 and not as_json:
        raise DataError(
            f"{text} has {len(documents):,} texts", expected="one text", remedy="Use --json for one a line"
        )
    from gapstack.running_text.any_text_resolver import Text as Resolved
    from gapstack.runs.text_resolvers import text_resolver

    resolver = text_resolver(model, parser)
    written = []
    known = _known(people)
    answered = resolver.stream(
        Resolved(document.text, url=document.url, people=known, turns=document.turns)
        for document in documents
    )
    for document, answers in zip(documents, answered, strict=True):
        rewritten = answers.rewritten(probability, short=short, brackets=brackets, parser=parser)
        record = {"id": document.id, **rewritten.to_dict()}
        written.append(json.dumps(record, ensure_ascii=False) + "\n" if as_json else rewritten.text)
        common.log_note(f"replaced {len(rewritten.replacements):,} of {counted(len(answers), 'pronoun')}")
    if output is not None:
        write_text(output, "".join(written))
    elif sys.stdout.isatty():
        print(_lines("".join(written)), end="" if as_json else "\n")
    else:  # exactly the characters of a file
        is_argument = text != "-" and not is_file(text)
        sys.stdout.write("".join(written) + ("\n" if is_argument and not as_json else ""))


def _refuse_long(text: str) -> None:
    if len(text) > LONGEST:
        problem, remedy = f"the text has {len(text):,} characters", "Use gap annotate FILE --output FILE"
        raise DataError(
            problem, expected=f"at most {LONGEST:,}", remedy=f"{remedy}, which can be interrupted"
        )


def _known(people: Path | None) -> tuple[KnownCharacter, ...]:
    """The people of a file, if there is one."""
    from gapstack.running_text.characters import read_people

    return () if people is None else read_people(people)


def _shown(answers: Answers, *, why: bool) -> Text:
    """The marked text, unless it is long, and each pronoun's candidates, with reasons if ``why``."""
    from gapstack.running_text.answer import NOBODY, OTHER

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
    from gapstack.running_text.answer import NOBODY, SURE

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
    return "\n".join(map(printable, text.replace("\r\n", "\n").split("\n")))


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
    from gapstack.running_text.demo import DemoServer
    from gapstack.runs.text_resolvers import text_resolver

    resolver = text_resolver(model, parser)

    def ask(text: str, goes_on: Callable[[], bool]) -> Answers | None:
        _refuse_long(text)
        return resolver.ask_while(text, goes_on)

    server = DemoServer(ask, model or "default, the bundled model", port)
    with suppress(KeyboardInterrupt), server:
        common.log_note("Ctrl-C ends it")
        print(server.address, flush=True)
        if browser:  # some browsers of terminals come back when they are closed
            Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
        with waiting():
            server.serve_forever()


@common.command(
    app,
    "gap annotate chapter.txt --output chapter.html",
    "gap annotate pages.jsonl --output clusters.jsonl --workers 2",
    "gap annotate book.txt -o book.csv -o book.people.csv -o book.graphml",
)
def annotate_command(
    files: list[Path] = Argument(
        ...,
        metavar="FILES",
        parser=common.input_place,
        help="Texts, HTML or Markdown pages (one document each), .jsonl, .json or .csv with many; folders, patterns.",
    ),
    outputs: list[Path] = common.output_option(
        "File to write, of the format of its name: clusters (.jsonl), a page (.html), pronouns (.csv, .parquet), "
        "people (.people.csv), people who occur together (.pairs.csv, .graphml), .conll, .conllu, brat (.ann), "
        "Label Studio (.labelstudio.json), BookNLP (.tokens, .entities, .book). Repeat it for several.",
        "--output",
        "-o",
        default=...,
    ),
    neutral: bool = Option(False, "--neutral", help="Also resolve they (as one person) and neopronouns."),
    people: PeopleOption = None,
    first_person: FirstPersonOption = False,
    encoding: EncodingOption = None,
    keep_licence: LicenceOption = False,
    on_error: Literal["stop", "skip"] = Option(
        "stop", "--on-error", help="Stop at a file that cannot be read, or go on; the exit status is then 1."
    ),
    model: ModelOption = None,
    parser: common.ParserOption = None,
    workers: common.WorkersOption = 1,
    executor: common.ExecutorOption = "loky",
) -> None:
    """Link the pronouns of whole documents to the people that they refer to.

    Finished work is kept next to the output: a killed command resumes.
    """
    from gapstack.data.documents import DocumentFiles, find_text_files
    from gapstack.running_text.annotate import annotating, check, write_annotations

    found = find_text_files(files)
    made = {output.resolve() for output in outputs}
    paths = [path for path in found if path.resolve() not in made]  # a folder may have earlier results
    documents = DocumentFiles(paths, encoding, keep_licence, on_error == "skip", found)
    known = _known(people)
    check(documents, outputs, first_person=first_person)
    from gapstack.runs.text_resolvers import text_resolver  # slow

    with annotating(
        documents,
        outputs[0],
        partial(text_resolver, model, parser),
        neutral=neutral,
        people=known,
        first_person=first_person,
        workers=workers,
        executor=executor,
    ) as annotations:
        counts = write_annotations(annotations, *outputs)
    for path, problem in documents.failed.items():
        common.log_note(f"skipped {path}: {common.as_options(str(problem))}")
    pronouns, number = counted(counts.pronouns, "pronoun"), counted(counts.documents, "document")
    written = ", ".join(map(str, outputs))
    common.log_note(
        f"wrote {written}: {pronouns} in {number} of {counted(len(paths) - len(documents.failed), 'file')}, "
        f"{counts.linked:,} linked to a person"
        + (f"; skipped {counted(len(documents.failed), 'file')}" if documents.failed else "")
    )
    if documents.failed:
        raise typer.Exit(1)
