"""Options, shell completion, streams and output shared by commands.

``-`` as a file name: standard input is copied to a temporary file, standard output is written when a command ends. Code
that reads files twice or writes them atomically thus works with streams too.
"""

from __future__ import annotations

import inspect
import json
import logging
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from rich.console import Console
from typer import BadParameter, Context, Option, Typer
from typer.core import TyperCommand, TyperGroup

from gapstack.cli.overwriting import refuse_overwriting
from gapstack.errors import DataError, DataNotFoundError, counted, printable
from gapstack.files import is_device, no_such_file, require_writable
from gapstack.progress import print_note
from gapstack.registry import unknown

if TYPE_CHECKING:
    from gapstack.data.cells import Quarantine
    from gapstack.display.render import Table
    from gapstack.display.report import Report

Function = TypeVar("Function", bound=Callable[..., Any])
stdout = Console(highlight=False, soft_wrap=True)


def _word(hint: Any) -> str:
    """The word for an option's value: ``N``, ``X``, ``NAME``, or the choices of a Literal."""
    if get_origin(hint) is Literal:
        return "|".join(get_args(hint))
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    return _word(kinds[0]) if kinds else {int: "N", float: "X"}.get(hint, "NAME")


class _Words:
    """Mixin of commands whose help shows values in words (``--folds N``) instead of by Python's types."""

    def get_params(self: Any, ctx: Any) -> list[Any]:
        """Return all parameters, ``--help`` among them."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        hints = get_type_hints(self.callback) if self.callback else {}
        for param in params:
            if param.param_type_name == "argument":
                param.metavar = param.metavar or param.name.upper()
                param.display_type_rich = lambda ctx: ""  # their name says it
            elif param.metavar is None:
                param.metavar = "" if param.is_flag else _word(hints[param.name])
        return params


class Command(_Words, TyperCommand):
    """A command with help in words, which never overwrites its inputs."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command, unless an output is an input."""
        names = outputs_of(self.callback)
        paths: dict[bool, list[Path]] = {True: [], False: []}
        for name, given in ctx.params.items():
            for value in given if isinstance(given, list | tuple) else [given]:
                if isinstance(value, str | Path) and not is_stream(Path(value)):  # any text may name an input
                    paths[name in names].append(Path(value))
        if names:
            refuse_overwriting(paths[True], list(filter(_exists, paths[False])))
        return super().invoke(ctx)


def outputs_of(function: Any) -> set[str]:
    """Names of a command's parameters that are an :func:`output_file` or :func:`output_folder`."""
    parameters = inspect.signature(function).parameters.items()
    return {
        name
        for name, one in parameters
        if getattr(one.default, "parser", None) in (output_file, output_folder)
    }


def _exists(path: Path) -> bool:
    with suppress(OSError, ValueError):  # a text that cannot be a name
        return path.exists()
    return False


class Group(_Words, TyperGroup):
    """A group of commands with help in words."""


def command(app: Typer, *examples: str) -> Callable[[Function], Function]:
    """Register a function ``some_name_command`` as the command ``some-name``, whose help ends with the examples."""

    def register(function: Function) -> Function:
        name = function.__name__.removesuffix("_command").replace("_", "-")
        epilog = "\n".join(["Examples:", *(f"  {example}" for example in examples)])
        return app.command(name, cls=Command, epilog=epilog)(function)

    return register


def completion(where: str) -> Callable[[str], list[str]]:
    """Shell completion of names: ``where`` is the ``module:name`` of a registry, or of a function that lists them."""

    def complete(incomplete: str) -> list[str]:
        names = resolve_name(where)
        return [name for name in (names() if callable(names) else names) if name.startswith(incomplete)]

    return complete


def complete_run(incomplete: str) -> list[str]:
    """Shell completion of local runs, and of ``RUN:MEMBER`` once the run is typed."""
    from gapstack.runs.folder import DEFAULT, STACK, home, run_names

    run, colon, _ = incomplete.partition(":")
    labels = sorted(path.name for path in (home() / "models" / run / "members").glob("*"))
    names = [f"{run}:{label}" for label in (*labels, STACK)] if colon else [DEFAULT, *run_names()]
    return [name for name in names if name.startswith(incomplete)]


def complete_members(context: Context, incomplete: str) -> list[str]:
    """Shell completion of the members of the recipe that is typed, of which several are separated by commas."""
    from gapstack.runs.recipe import Recipe

    before, comma, last = incomplete.rpartition(",")
    labels = [part.label for part in Recipe.load(context.params.get("recipe") or "quickstart").members]
    return [f"{before}{comma}{label}" for label in labels if label.startswith(last)]


complete_recipe = completion("gapstack.runs.recipe_files:available")


def choice_option(help: str, where: str, *names: str, default: Any = None) -> Any:
    """An option for names that the shell completes by :func:`completion`."""
    return Option(default, *names, help=help, autocompletion=completion(where))


def _search_first(context: Context, name: str | None) -> str | None:
    """Search the folder first while the command runs."""
    if name:
        if name != "sample" and not Path(name).expanduser().is_dir():
            raise DataNotFoundError(f"the data folder {name} does not exist; name a folder, or sample")
        from gapstack.data.sources import data_in

        context.with_resource(data_in(name))
    return name


def _label_set(name: str) -> str:
    from gapstack.data.labels import LABEL_SETS

    if name not in LABEL_SETS:
        raise BadParameter(str(unknown("label set", name, LABEL_SETS)))
    return name


# Both are checked before a command imports what it needs.
DataOption = Annotated[
    str | None,
    Option(
        metavar="FOLDER",
        callback=_search_first,
        help="Folder with the GAP files, or 'sample' for the embedded sample. Default: search.",
    ),
]
LabelsOption = Annotated[
    str | None,
    Option(
        parser=_label_set,
        metavar="NAME",
        help="Label set: official, liu, kaggle, attree, majority.",
        autocompletion=completion("gapstack.data.labels:LABEL_SETS"),
    ),
]
JsonOption = Annotated[bool, Option("--json", help="Print JSON instead of a table.")]
EncoderOption = Annotated[str | None, Option(help="Folder or hub name. Default: MiniLM.")]
ParserOption = Annotated[str | None, Option(help="spaCy pipeline. Default: en_gapstack.")]
LimitOption = Annotated[int | None, Option(min=1, help="Only the first rows, for a quick trial.")]
OnErrorOption = Annotated[
    Literal["stop", "quarantine"], Option("--on-error", help="Stop at a bad row, or set bad rows aside.")
]
WorkersOption = Annotated[int, Option(min=1, help="Tasks at once; on one machine they share its cores.")]
ExecutorOption = Annotated[
    Literal["loky", "ray", "dask"],
    Option(help="Where several workers are: processes of this machine, or a Ray or Dask cluster."),
]


class _TerminalHandler(logging.Handler):
    """Shows the library's log like the commands' own notes."""

    def emit(self, record: logging.LogRecord) -> None:
        log_note(("Warning: " if record.levelno >= logging.WARNING else "") + record.getMessage())


@contextmanager
def shown_log() -> Iterator[None]:
    """Show the log of the library, from INFO on, on standard error while the block runs."""
    logger, handler = logging.getLogger("gapstack"), _TerminalHandler()
    level, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False  # some libraries install a handler of their own at the root
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate


_INPUT, _OUTPUT = "standard-input", "standard-output"
_folders: list[Path] = []  # the folder of the running command's streams, innermost last


@contextmanager
def standard_streams() -> Iterator[None]:
    """Let ``-`` mean standard input and output while the block runs."""
    with tempfile.TemporaryDirectory(prefix="gapstack-") as folder:
        _folders.append(Path(folder))
        try:
            yield
        finally:
            output = _folders.pop() / _OUTPUT
            if output.exists():  # the command did not fail before
                sys.stdout.flush()
                sys.stdout.buffer.write(output.read_bytes())


_ARGUMENT = re.compile(r"\b([a-z_]+)=([A-Z]+|True)\b")  # "data=FOLDER", as errors name arguments of functions
_OPTIONS = {"corpus": "gold"}  # where an option has another name than the argument


def as_options(message: str) -> str:
    """An error message with the command's options in place of arguments: ``--data FOLDER`` of "data=FOLDER"."""

    def option(argument: re.Match[str]) -> str:
        name = f"--{_OPTIONS.get(argument[1], argument[1]).replace('_', '-')}"
        return name if argument[2] == "True" else f"{name} {argument[2]}"

    return _ARGUMENT.sub(option, message)


def input_file(name: str) -> Path:
    """Path of an input file, ``-`` for standard input; DataNotFoundError if it is missing."""
    if name != "-":
        if not Path(name).exists():
            raise no_such_file(Path(name))
        return Path(name)
    path = _folders[-1] / _INPUT
    if not path.exists():
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def input_place(name: str) -> Path:
    """Path of an input file or folder, or a pattern of files; ``-`` for standard input."""
    return Path(name) if set("*?[") & set(name) else input_file(name)


def output_file(name: str) -> Path:
    """Path of a file to write, ``-`` for standard output; DataNotFoundError if its folder is missing.

    BadParameter if it cannot be written, before anything is computed.
    """
    if name == "-":
        return _folders[-1] / _OUTPUT
    path = Path(name)
    if path.is_dir():
        raise BadParameter(f"{name} is a folder; give a file")
    if is_device(path):
        raise BadParameter(f"{name} is a device or pipe; give a file, or - for standard output")
    _require_writable(path.parent, name)
    return path


def output_folder(name: str) -> Path:
    """Path of a folder to write files into, with the errors of :func:`output_file`."""
    path = Path(name)
    if path.exists() and not path.is_dir():
        raise BadParameter(f"{name} is a file; give a folder")
    _require_writable(path if path.is_dir() else path.parent, name)
    return path


def _require_writable(folder: Path, name: str) -> None:
    if not folder.is_dir():
        # not made silently, since it may be mistyped
        raise DataNotFoundError(f"no such folder: {folder}; make it, or correct {name}")
    try:
        require_writable(folder)
    except DataError as error:
        raise BadParameter(str(error)) from None  # a parser's ValueError loses its message


def input_option(help: str, *names: str, default: Any = None) -> Any:
    """An option that takes an :func:`input_file`, by default not required."""
    return Option(default, *names, metavar="FILE", help=help, parser=input_file)


def output_option(help: str, *names: str, default: Any = None) -> Any:
    """An option that takes an :func:`output_file`, by default not required."""
    return Option(default, *names, metavar="FILE", help=help, parser=output_file)


def output_folder_option(help: str) -> Any:
    """An option that takes an :func:`output_folder`, not required."""
    return Option(None, metavar="FOLDER", help=help, parser=output_folder)


def is_stream(path: Path | None) -> bool:
    """True if a path stands for standard input or output."""
    return path is not None and path.parent in _folders


def log_note(line: str) -> None:
    """Print a dim line on standard error, control characters escaped."""
    print_note(line, "dim")


def report_written(*paths: Path) -> None:
    """Report written files on standard error, except for standard output."""
    for path in paths:
        if not is_stream(path):
            log_note(f"wrote {path}")


def print_line(line: str) -> None:
    """Print a line on standard output, control characters escaped."""
    print(printable(line))


def print_json(record: Any) -> None:
    """Print indented JSON on standard output."""
    print(json.dumps(record, indent=2))


def print_result(
    as_json: bool, parts: Callable[[], Iterable[Table | str]], record: Callable[[], Any]
) -> None:
    """Print a record as JSON, or tables and paragraphs for people."""
    if as_json:
        print_json(record())
    else:
        from gapstack.display.render import print_parts

        print_parts(parts(), stdout)


def print_report(report: Report, as_json: bool, output: Path | None = None) -> None:
    """Print a report's tables and notes, or its JSON, and write it to a folder, if one is given."""
    print_result(as_json, lambda: report.parts, lambda: report.record)
    if output:
        report_written(*report.write(output))


def print_table(table: Table, as_json: bool) -> None:
    """Print a table for people, or its JSON."""
    print_result(as_json, lambda: [table], table.json)


@contextmanager
def quarantine_for(on_error: str) -> Iterator[Quarantine | None]:
    """Yield a collector of bad rows, or None if the first one is an error; warn about the rows set aside."""
    from gapstack.data.cells import Quarantine

    quarantine = Quarantine() if on_error == "quarantine" else None
    yield quarantine
    if quarantine is not None and quarantine.problems:
        files = ", ".join(map(str, quarantine.paths))
        log_note(
            f"Warning: set aside {counted(len(quarantine.problems), 'bad row')}, with reasons, in {files}"
        )


def spare_imports(model: str | None, parser: str | None = None) -> None:
    """Skip heavy optional imports, unless a parser is configured; call it before anything heavy is imported."""
    from gapstack.language import parses
    from gapstack.runs.folder import DEFAULT, find_run

    if model is not None and model != DEFAULT:
        run = find_run(model)
        records = list((run[0].root if run else Path(model)).glob("*.json"))
        if not records or any(b'"parser": "' in record.read_bytes() for record in records):
            return
    parses.spare_imports(parser)


def refuse_unknown_run(name: str) -> None:
    """Raise an error, before heavy imports, unless a path, run, language model or repository has this name."""
    if Path(name).exists():
        return
    from gapstack.runs.folder import DEFAULT, find_run, language_model, on_hub, run_names

    if name == DEFAULT or language_model(name) is not None or on_hub(name):
        return
    if find_run(name) is None:
        if Path(name).suffix:
            raise no_such_file(Path(name))
        raise unknown("run or folder", name, [DEFAULT, *run_names()])
    from gapstack.runs.recipe import require_run  # imports the classes of the run's members

    require_run(name)
