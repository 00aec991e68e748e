"""A member as a recipe's TOML has it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gapstack.runs.recipe import Part


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
