"""Source of the package that reads otherwise, for tests of what a result is known by."""

import pytest

from gapstack import code
from gapstack.members.inputs import code_fingerprint


def edited(monkeypatch: pytest.MonkeyPatch, module: str, more: str = "\nCHANGED = 1\n") -> None:
    """Let a module of the package read as if ``more`` stood at its end; what is remembered of members is dropped."""
    source = code._source
    monkeypatch.setattr(code, "_source", lambda name: source(name) + (more if name == module else ""))
    code_fingerprint.cache_clear()
