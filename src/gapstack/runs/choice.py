"""Description of how a stack was chosen."""

from __future__ import annotations

from collections import Counter

from gapstack.ensemble import NestedStack


def describe_choice(nested: NestedStack) -> str:
    """Describe how the stacker was chosen: each kind with its best calibration."""
    best: dict[str, tuple[str, str]] = {}
    for kind, loss in nested.logloss.items():
        if kind[0] not in best or loss < nested.logloss[best[kind[0]]]:
            best[kind[0]] = kind
    losses = ", ".join(
        f"{_named(kind)} {nested.logloss[kind]:.4f}"
        + (f" (+-{nested.errors[kind]:.4f} to the best)" if nested.errors[kind] else "")
        for kind in best.values()
    )
    votes = Counter(map(_named, nested.choices))
    folds = ", ".join(f"{name} in {count}" for name, count in votes.items())
    chosen = _named((nested.name, nested.calibration))
    return (
        f"stack: {chosen}, the simplest within a standard error of the best (cross-validated logloss: {losses}; "
        f"outer folds chose {folds})"
    )


def _named(kind: tuple[str, str]) -> str:
    return kind[0] if kind[1] == "none" else f"{kind[0]} with {kind[1]} calibration"
