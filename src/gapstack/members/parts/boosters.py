"""LightGBM models from text, which is checked first: the library aborts the process over a truncated model."""

from __future__ import annotations

import re

import lightgbm

from gapstack.errors import DamageError

_SIZES = re.compile(rb"^tree_sizes=([\d ]*)\n\n", re.MULTILINE)


def restore_booster(text: str) -> lightgbm.Booster:
    """Make a booster of the text of ``model_to_string``.

    Raises
    ------
    DamageError
        If the text is truncated or its trees do not have the sizes in its header.
    """
    content = text.encode("utf-8", "surrogatepass")
    head = _SIZES.search(content)
    at = head.end() if head else -1
    for number, size in enumerate(head[1].split() if head else ()):
        at = at + int(size) if content.startswith(b"Tree=%d\n" % number, at) else len(content)
    if (
        head is None
        or not content.startswith(b"end of trees\n", at)
        or b"\nend of parameters\n" not in content
    ):
        raise DamageError(
            f"a LightGBM model of {len(content):,} bytes that is not whole",
            expected="all trees that its head counts, up to 'end of parameters'",
            remedy="Fit this member or stack again",
        )
    return lightgbm.Booster(model_str=text)
