"""The shell of a page: one file that works offline.

All data are escaped, or JSON that the script inserts as text, never as markup; a content security policy keeps the page
from loading anything.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from gapstack.corpus import Span

_HERE = "gapstack.report.web"


def render(package: str, data: dict[str, Any], scripts: Sequence[str] = (), **context: Any) -> str:
    """Render a page as HTML.

    Parameters
    ----------
    package : str
        Holds ``page.html.j2``, which extends ``shell.html.j2``, ``page.css``, and the scripts.
    data : dict
        Available to the scripts as ``data``.
    scripts : sequence of str
        Files of the package, run in this order after the shell's.
    **context
        Variables of the template; ``title`` is the page's.
    """
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=ChoiceLoader([PackageLoader(package, "."), PackageLoader(_HERE, ".")]),
    )
    return environment.get_template("page.html.j2").render(
        style=_file(_HERE, "shell.css") + _file(package, "page.css"),
        scripts=[_file(_HERE, "shell.js"), *(_file(package, name) for name in scripts)],
        data=_embedded(data),
        **context,
    )


def utf16(text: str, span: Span) -> list[int]:
    """A span in UTF-16 units: JavaScript counts letters outside of the basic plane twice."""
    return [len(text[:end].encode("utf-16-le", "surrogatepass")) // 2 for end in span]


def _embedded(data: dict[str, Any]) -> str:
    """JSON that may stand inside a script element: nothing in it can end the element or open a comment."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _file(package: str, name: str) -> str:
    return (resources.files(package) / name).read_text(encoding="utf-8")
