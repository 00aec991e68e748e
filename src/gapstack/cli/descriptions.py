"""Members and their settings in words, and recipe members as TOML."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from gapstack.errors import MemberError
from gapstack.members import MEMBERS, published
from gapstack.runs.recipe import Part
from gapstack.settings import describe, settings_of

# :class:`~gapstack.members.member.Member` is called Member, :data:`a.b.BLOCKS` a.b.BLOCKS
_ROLE = re.compile(r":\w+:`(?:~[\w.]*\.)?([^`]+)`")


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
    words = descriptions_of(kind)
    defaults = {one.name: one.default for one in inspect.signature(kind).parameters.values()}
    settings = {
        key: {
            "expected": describe(setting),
            "default": defaults[key],
            **({"published": paper[key]} if key in paper else {}),
            "description": words.get(key, ""),
        }
        for key, setting in settings_of(MEMBERS[name]).items()
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


def descriptions_of(kind: type) -> dict[str, str]:
    """One-line descriptions of parameters by name, from the numpydoc of a class and its bases."""
    descriptions: dict[str, str] = {}
    for owner in reversed(kind.__mro__):
        for name, words in _parameters(vars(owner).get("__doc__") or ""):
            if not words.startswith("See ") or name not in descriptions:  # "See the base class"
                descriptions[name] = words
    return {name: _ROLE.sub(r"\1", words).replace("``", "") for name, words in descriptions.items()}


def _parameters(docstring: str) -> Iterator[tuple[str, str]]:
    lines = inspect.cleandoc(docstring).splitlines()
    if "Parameters" not in lines:
        return
    names: list[str] = []
    words: list[str] = []
    for line in [*lines[lines.index("Parameters") + 2 :], "end"]:
        if line.startswith(" ") or not line:
            words.append(line.strip())
            continue
        for name in names:
            yield name, " ".join(filter(None, words))
        if line.startswith("---") or line == "end":
            return
        names, words = [name.strip() for name in line.partition(" : ")[0].split(",")], []


def part_text(part: Part) -> str:
    """TOML of a member, ready to be pasted into a recipe; settings that are not set are left out."""
    lines = ["[[members]]", f"name = {_toml(part.name)}"]
    if part.label != part.name:
        lines.append(f"label = {_toml(part.label)}")
    lines += ["", "[members.settings]"]
    lines += [f"{key} = {_toml(value)}" for key, value in part.settings.items() if value is not None]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """A value as TOML, which writes all but tables as JSON does."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
