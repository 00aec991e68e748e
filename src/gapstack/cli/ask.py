"""Any text: who its pronouns refer to."""

from __future__ import annotations

import json
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gapstack.cli.common import Executor, JsonOption, ParserOption, log_note, spare_imports, stdout
from gapstack.errors import DataError, GapstackError

if TYPE_CHECKING:
    from gapstack.anytext.answer import Answers

app = typer.Typer()

LONGEST = 200_000
"""Characters of a text, a few minutes' work."""

ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="A saved member or stack, a run, or owner/name on the Hub. Default: the model that comes with gapstack.",
    ),
]


@app.command("ask")
def ask_command(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEXT]",
            help="The text; - reads standard input. Without one texts are prompted for.",
            show_default=False,
        ),
    ] = None,
    pronoun: Annotated[str | None, typer.Option(help="The one pronoun to answer, such as she.")] = None,
    names: Annotated[
        list[str] | None,
        typer.Option(help="Names to choose among, instead of those that are detected: --names Kate Mary."),
    ] = None,
    url: Annotated[str | None, typer.Option(help="Address of the text's page, whose title is read.")] = None,
    model: ModelOption = None,
    parser: ParserOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say who the pronouns of a text refer to, with what probability.

    gap ask "Kate told Mary that she should leave."
    """
    spare_imports(model, parser)  # before what follows imports them
    from gapstack.anytext.pronoun_resolver import PronounResolver
    from gapstack.cli.answer_tables import answers_text
    from gapstack.data.cells import decode
    from gapstack.runs.predictors import load

    text, more = (words[0], words[1:]) if words else (None, [])
    # click gives an option one value: further names arrive as further arguments
    if more and not names:
        raise DataError(
            f"there are {len(more) + 1} texts", expected="one", remedy="Put it into quotation marks"
        )
    options: dict[str, Any] = {"pronoun": pronoun, "names": [*(names or ()), *more], "url": url}
    whole = decode(sys.stdin.buffer.read(), "standard input") if text == "-" else text
    resolver = PronounResolver(load(model, keep=True), parser)

    def print_line(one: str) -> None:
        _refuse_long(one)
        answers = resolver.ask(one, **options)
        if as_json:
            print(json.dumps(answers.to_dict(), ensure_ascii=not sys.stdout.isatty()))
        else:
            stdout.print(answers_text(answers), end="")

    if whole is not None:
        print_line(whole)
    else:
        for line in _prompted():
            try:
                print_line(line)
            except GapstackError as problem:  # of this line; the next may be better
                log_note(str(problem))


@app.command("demo")
def demo_command(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of this machine; 0 for any that is free.")
    ] = 8019,
    model: ModelOption = None,
    parser: ParserOption = None,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
) -> None:
    """Serve a page to type texts into, that colours their people and says who each pronoun refers to.

    The page is for this machine alone, and works offline. Ctrl-C ends it.
    """
    spare_imports(model, parser)  # before what follows imports them
    from gapstack.anytext.demo import DemoServer
    from gapstack.anytext.pronoun_resolver import PronounResolver
    from gapstack.runs.predictors import load

    resolver = PronounResolver(load(model, keep=True), parser)

    def ask(text: str) -> Answers:
        _refuse_long(text)
        return resolver.ask(text)

    server = DemoServer(ask, model or "the model that comes with gapstack", port)
    with suppress(KeyboardInterrupt), server:
        log_note("Ctrl-C ends it")
        print(server.address, flush=True)
        if browser:  # some browsers of terminals come back when they are closed
            Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
        server.serve_forever()


def _refuse_long(text: str) -> None:
    if len(text) > LONGEST:
        raise DataError(
            f"the text has {len(text):,} characters",
            expected=f"at most {LONGEST:,}",
            remedy="Put it into a file, and give that to gap annotate, which can be interrupted",
        )


def _prompted() -> Iterator[str]:
    """Lines of the user, until the end of the input."""
    prompting = sys.stdin.isatty()
    if prompting:
        log_note("A text on one line, or an empty line to end.")
    while True:
        if prompting:
            sys.stderr.write("> ")
            sys.stderr.flush()
        line = sys.stdin.readline()
        if not line or (prompting and not line.strip()):
            return
        if line.strip():
            yield line.rstrip("\n")


@app.command("annotate")
def annotate_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES",
            help="Plain text (a document a file), or .jsonl with text, id and url of one a line.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            show_default=False,
            help="Clusters to write: .jsonl (.gz, .xz too), CoNLL columns (.conll) or a page (.html).",
        ),
    ],
    neutral: Annotated[
        bool,
        typer.Option("--neutral", help="Also they and neopronouns; a plural they is taken for a person."),
    ] = False,
    model: ModelOption = None,
    parser: ParserOption = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes that work at once.")] = 1,
    executor: Annotated[Executor, typer.Option(help="Where they work.")] = Executor.LOCAL,
) -> None:
    """Link the pronouns of whole documents to the people that they refer to.

    Finished work is kept next to the output: a killed command resumes.
    """
    from gapstack.anytext.annotate import annotating
    from gapstack.anytext.annotation_files import kind_of, write_annotations

    kind_of(output)  # an unknown one is refused before hours of work
    if output.resolve() in {path.resolve() for path in files}:
        raise DataError(f"{output} is to be read and written", expected="another file for --output")
    with annotating(
        files, output, model, parser=parser, neutral=neutral, workers=workers, executor=executor.value
    ) as annotations:
        counts = write_annotations(annotations, output)
    where = "1 document" if counts.documents == 1 else f"{counts.documents:,} documents"
    log_note(f"wrote {output}: {counts.pronouns:,} pronouns in {where}, {counts.linked:,} linked to a name")
