"""The command line, ``gap``."""

import contextlib
import errno
import io
import os
import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path

import typer

from gapstack.cli import ask, audit, catalogue, data_sets, papers, runs, score, services
from gapstack.cli.common import Group, as_options, shown_log, standard_streams
from gapstack.errors import GapstackError, without_extra
from gapstack.files import CACHE, FULL_DISK, cache_root
from gapstack.processes import raise_gc_threshold
from gapstack.progress import logged_lines, print_note

_OS_ERROR = re.compile(r"\(os error (\d+)\)")
_FREE_SPACE = "; finished work is kept: free some space and repeat the command"
_REMEDIES = dict.fromkeys(FULL_DISK, _FREE_SPACE) | {
    errno.EMFILE: "; raise the limit (ulimit -n) or use fewer workers"
}

app = typer.Typer(
    cls=Group,
    help="Who is she? Resolve gendered pronouns; train, compare and audit systems that do.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"gapstack {version_of('gapstack')}")
        raise typer.Exit


@app.callback()
def _start(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", help="Print the version.", callback=_print_version, is_eager=True
    ),
) -> None:
    context.with_resource(shown_log())
    context.with_resource(standard_streams())
    context.with_resource(logged_lines())


for group, modules in {
    "Ask about any text": (ask,),
    "Run and predict": (runs, catalogue, services),
    "Score and compare": (score,),
    "Audit": (audit,),
    "Data": (data_sets,),
    "Papers": (papers,),
}.items():
    for module in modules:
        for command in module.app.registered_commands:
            command.rich_help_panel = group
        app.add_typer(module.app)
app.add_typer(catalogue.encoders_app, name="encoders", rich_help_panel="Run and predict")
app.add_typer(data_sets.data_app, name="data", rich_help_panel="Data")


def main() -> None:
    """Run the command line; user and system errors become one line and exit status 2 (unless ``GAPSTACK_DEBUG``)."""
    raise_gc_threshold()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # escape what a terminal cannot show
    try:
        try:
            app(standalone_mode=True)
        finally:
            sys.stdout.flush()  # a full disk is an error here, not when the interpreter ends
    except SystemExit as end:
        if end.code == 130:  # typer's status for Ctrl-C
            note = "gap: interrupted; finished work is kept, repeat the command to resume"
            print(note, file=sys.stderr)
        raise
    except BrokenPipeError:
        _silence()
        raise SystemExit(1) from None  # as typer does: the reader of the pipe is gone
    except Exception as error:
        line = _line(error)
        if line is None or os.environ.get("GAPSTACK_DEBUG", "") not in {"", "0"}:
            raise
        print_note(f"gap: {line}")
        _silence()
        raise SystemExit(2) from None


def _line(error: Exception) -> str | None:
    """One-line description of an error; None for a bug."""
    match error:
        case GapstackError():
            return as_options(str(error))
        case ModuleNotFoundError():
            missing = without_extra(error)
            return None if missing is None else str(missing)
        case MemoryError():
            return "out of memory; finished work is kept. Use fewer rows or workers"
        case RecursionError():
            return "the input nests too deeply"
        case OSError():
            # the second name is the final one: files are written to a temporary name first
            name = error.filename2 or error.filename
            reason = error.strerror or str(error) or type(error).__name__
            remedy = _REMEDIES.get(error.errno or 0, "")
            return (f"{name}: " if name else "") + reason + remedy + _variable_of(str(name or ""))
    # libraries in Rust (safetensors) wrap system errors
    refused = _OS_ERROR.search(str(error))
    return refused and _line(OSError(int(refused[1]), os.strerror(int(refused[1]))))


def _variable_of(name: str) -> str:
    """What moves a path that gapstack chose by itself."""
    from gapstack.runs.folder import home  # slow

    for variable, folder in ((CACHE, cache_root(scratch=False)), ("GAPSTACK_HOME", home())):
        if Path(name).is_relative_to(folder):
            return f"; {variable} sets another folder than {folder}"
    return ""


def _silence() -> None:
    """Redirect standard output to nowhere, since flushing it at exit would fail again."""
    with contextlib.suppress(OSError, ValueError):  # a stream without a file, as in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
