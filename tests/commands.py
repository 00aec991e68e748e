"""Commands of the command line called from tests, and a recipe that needs nothing."""

from typer.testing import CliRunner

from gapstack.cli import app
from gapstack.errors import GapstackError

RECIPE = """
name = "tiny"
title = "Two that need nothing"
folds = 3
[[members]]
name = "prior"
[[members]]
name = "random"
[[stackers]]
name = "logistic"
"""


def gap(*arguments: object, stdin: bytes = b"") -> str:
    """Run a command that must succeed and return what it printed."""
    result = CliRunner().invoke(app, [*map(str, arguments)], input=stdin, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments: object) -> str:
    """Run a command that must end with an error of ours, and return its message."""
    error = CliRunner().invoke(app, [*map(str, arguments)]).exception
    assert isinstance(error, GapstackError), error
    return str(error)
