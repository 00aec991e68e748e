"""The table of members, and the settings of each: for ``gap members``."""

from __future__ import annotations

import inspect
import json
from typing import Any

from gapstack.errors import MemberError
from gapstack.members import MEMBERS, published
from gapstack.settings import expected
from gapstack.signatures import described


def members_record() -> dict[str, dict[str, str]]:
    """All members with a line of description, paper and needs, for JSON."""
    return {name: _line(name) for name in MEMBERS}


def members_text() -> str:
    """All members, three lines each."""
    lines = [
        f"{name:20} {line['about'] or line['paper']}\n{'':20} {line['paper']}\n{'':20} needs {line['needs']}"
        for name, line in members_record().items()
    ]
    return "\n".join(lines)


def member_record(name: str) -> dict[str, Any]:
    """Settings of one member, each with its type and range in words, default, description and published value.

    Raises
    ------
    UnknownNameError
        If there is no such member.
    """
    kind = MEMBERS[name]
    try:
        paper = published(name)
    except MemberError:
        paper = {}
    words = described(kind)
    defaults = {one.name: one.default for one in inspect.signature(kind).parameters.values()}
    settings = {
        key: {
            "expected": expected(setting),
            "default": defaults[key],
            **({"published": paper[key]} if key in paper else {}),
            "description": words.get(key, ""),
        }
        for key, setting in MEMBERS.kinds(name).items()
    }
    return {"name": name, **_line(name), "settings": settings}


def member_text(name: str) -> str:
    """Settings of one member, two or three lines each."""
    record = member_record(name)
    lines = [f"{name}: {record['about']}", f"paper: {record['paper']}", f"needs: {record['needs']}", ""]
    for key, setting in record["settings"].items():
        published = f"   (published: {_plain(setting['published'])})" if "published" in setting else ""
        lines.append(f"{key} = {_plain(setting['default'])}{published}")
        lines.append(f"    {setting['expected']}")
        if setting["description"]:
            lines.append(f"    {setting['description']}")
    if any("published" in setting for setting in record["settings"].values()):
        lines += ["", f'All published settings in a recipe: name = "{name}", settings = "published"']
    return "\n".join(lines)


def _line(name: str) -> dict[str, str]:
    entry = MEMBERS.entry(name)
    return {"about": entry.about, "paper": entry.paper, "needs": entry.needs}


def _plain(value: Any) -> str:
    return "none" if value is None else json.dumps(value)
