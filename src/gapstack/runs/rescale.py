"""Recipes on another encoder than their members were made for: settings are adapted to its depth.

Layers that are read or frozen move to the same relative depth. Rates and epochs of phases that train an encoder of
another depth are replaced by the member's defaults, which suit small encoders; those of heads on a frozen one stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gapstack.encoding.encoders import EMBEDDED, encoder_size, is_embedded, load_encoder
from gapstack.ensemble import STACKERS
from gapstack.errors import MemberError
from gapstack.files import fingerprint
from gapstack.members import MEMBERS
from gapstack.members.part import Part
from gapstack.runs.recipe import Recipe
from gapstack.settings import settings_of

SMALL_LR = 1e-4
"""Rate of a small encoder's layers in a first stage, for which members have no default."""

_READ = ("layer", "layers", "attention_layers")
_PACE = {"epochs", "batch_size", "encoder_lr", "head_lr", "schedule", "patience", "evaluate_every"}
_PLANS = ("training", "first")


def on_encoder(recipe: Recipe, encoder: str | None) -> tuple[Recipe, list[str]]:
    """Return a recipe on ``encoder`` (None: the embedded one), and lines that list differences from the paper.

    There are none if no member named an encoder; otherwise the encoder's name is added to the recipe's. Members that
    differed in their encoder alone become one, whose weight in a weighted mean is the sum of theirs.

    Raises
    ------
    DataNotFoundError
        If there is no such encoder.
    MemberError
        If its configuration does not say how deep it is.
    """
    load_encoder(encoder)
    size = encoder_size(encoder)
    if size is None:
        raise MemberError(f"the configuration of encoder {encoder} does not say how many layers it has")
    parts, changed = [], Counter[str]()
    replaced: set[str] = set()
    for part in recipe.members:
        old = part.settings.get("encoder")
        if "encoder" not in settings_of(MEMBERS[part.name]):
            parts.append(part)
            continue
        settings, label = {**part.settings, "encoder": encoder}, part.label
        if old is not None and old != encoder:
            before = encoder_size(old)
            replaced.add(Path(old).name)
            label = label.removesuffix(f"_{Path(old).name}").replace(f"_{Path(old).name}_", "_")
            if before is not None and before.layers != size.layers:
                settings, what = _rescaled(settings, before.layers, size.layers)
                changed.update(what)
        parts.append(Part(part.name, label, settings))
    if not replaced:
        return replace(recipe, members=tuple(parts)), []
    distinct, groups = _without_copies(parts)
    stackers = tuple(_with_summed_weights(part, groups) for part in recipe.stackers)
    name = EMBEDDED if is_embedded(encoder) else Path(str(encoder)).name
    lines = [
        f"No longer the paper's: {name} ({size.layers} layers, {size.parameters / 1e6:.0f} million parameters) in "
        f"place of {', '.join(sorted(replaced))}",
        *(f"{what} ({times} of {len(parts)} members)" for what, times in changed.items()),
    ]
    if len(distinct) < len(parts):
        lines.append(
            f"{len(distinct)} members of {len(parts)}: those that differed in their encoder alone are one"
        )
    scaled = replace(
        recipe,
        name=f"{recipe.name}-{name}",
        title=f"{recipe.title}, on {name}",
        members=distinct,
        stackers=stackers,
    )
    return scaled, lines


def _rescaled(settings: Mapping[str, Any], depth: int, layers: int) -> tuple[dict[str, Any], list[str]]:
    """Adapt settings from an encoder with ``depth`` layers to one with ``layers``; also describes the changes."""
    scaled, changed = dict(settings), []
    for key in _READ:
        value = settings.get(key)
        if isinstance(value, int | list) and not (key == "layers" and isinstance(value, int)):
            scaled[key] = at_same_depth(value, depth, layers)
            changed.append(f"{key} {value} of {depth} layers: now {scaled[key]} of {layers}")
    for key in _PLANS:
        if settings.get(key):
            phases = settings[key] if isinstance(settings[key], list) else [settings[key]]
            each = [_phase(phase, depth, layers, first=key == "first") for phase in phases]
            scaled[key] = each if isinstance(settings[key], list) else each[0]
            if scaled[key] != settings[key]:
                changed.append(
                    "rates, epochs, early stopping and frozen layers: now those for small encoders"
                )
    return scaled, list(dict.fromkeys(changed))


def at_same_depth(value: int | Sequence[int], depth: int, layers: int) -> Any:
    """Map a layer, or several without repetition, to the same relative depth; -1 is the last, 0 the embeddings."""
    if isinstance(value, int):
        return round((value if value >= 0 else depth + 1 + value) / depth * layers)
    return list(dict.fromkeys(at_same_depth(one, depth, layers) for one in value))


def _phase(plan: Mapping[str, Any], depth: int, layers: int, *, first: bool) -> dict[str, Any]:
    """Adapt one phase of training; only phases that train the encoder change."""
    if "encoder_lr" not in plan:
        return dict(plan)
    phase = dict(plan) if first else {key: value for key, value in plan.items() if key not in _PACE}
    if first:
        phase["encoder_lr"] = SMALL_LR
    if plan.get("frozen"):
        phase["frozen"] = _frozen(plan["frozen"], depth, layers)
    else:
        phase.pop("frozen", None)  # by default small encoders' embeddings are frozen
    return phase


def _frozen(parts: Sequence[int | str], depth: int, layers: int) -> list[int | str]:
    """Adapt frozen parts so that the trained layers keep their relative depth."""
    names = [part for part in parts if isinstance(part, str)]
    numbers = {part for part in parts if isinstance(part, int)}
    trained = [number for number in range(1, depth + 1) if number not in numbers]
    if len(trained) == depth:
        return [*parts]
    frozen = [number for number in range(1, layers + 1) if round(number / layers * depth) not in trained]
    if len(frozen) == layers:  # a single trained layer between two of these
        frozen = [number for number in frozen if number not in at_same_depth(trained, depth, layers)]
    return [*([0] if 0 in numbers else []), *frozen, *names]


def _without_copies(parts: Sequence[Part]) -> tuple[tuple[Part, ...], list[list[int]]]:
    """Distinct members, and for each the numbers of all that equal it."""
    groups: dict[str, list[int]] = {}
    for number, part in enumerate(parts):
        groups.setdefault(fingerprint(part.name, part.settings), []).append(number)
    return tuple(parts[numbers[0]] for numbers in groups.values()), list(groups.values())


def _with_summed_weights(part: Part, groups: Sequence[Sequence[int]]) -> Part:
    weights = part.settings.get("weights")
    if "weights" not in settings_of(STACKERS[part.name]) or (not weights and len({*map(len, groups)}) == 1):
        return part
    weights = weights or [1] * sum(map(len, groups))
    return replace(
        part, settings={**part.settings, "weights": [sum(weights[n] for n in group) for group in groups]}
    )
