"""Commands of the command line called from tests, and a recipe that needs nothing."""

from typer.testing import CliRunner

from gapstack.cli import app

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
    """Run a command that must succeed and give what it printed."""
    result = CliRunner().invoke(app, [*map(str, arguments)], input=stdin, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout
