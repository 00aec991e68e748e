"""The audit of a space of word vectors as one table: measures down, the space and its debiased forms across."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from gapstack.audit import CAUTION
from gapstack.audit.embeddings import EmbeddingAudit
from gapstack.errors import printable
from gapstack.files import write_json, write_text
from gapstack.report.audit import show
from gapstack.report.render import WIDTH, Column, Section, Table

PUBLISHED: Mapping[str, Mapping[str, float]] = json.loads(
    (resources.files("gapstack.report") / "embeddings_published.json").read_text(encoding="utf-8")
)
"""Figures of Dawkins 2021, tables 2 and 3, by column and measure. They were not verified against the
paper, and the tables' other cells and table 5 are missing: compare before you quote."""

_PUBLISHED_NOTE = (
    "Columns (paper, unchecked): Dawkins 2021, tables 2 and 3, GloVe of 300 dimensions; nobody has compared these "
    "figures with the paper yet, and its other cells and its table 5 are not held here. Spaces are not the same."
)
_MISSING_SHOWN = 12


def embeddings_table(found: EmbeddingAudit) -> Table:
    """One row for each measure, one column for each space, the published figures beside ours."""
    spaces = {**found.figures, **PUBLISHED}
    sections = [
        Section(
            f"{group.title} ({group.paper})",
            [
                (
                    measure.title,
                    {
                        space: None
                        if figures.get(measure.key) is None
                        else show(float(figures[measure.key]), measure.decimals)
                        for space, figures in spaces.items()
                    },
                )
                for measure in group.measures
            ],
        )
        for group in found.measures.values()
    ]
    return Table(
        [Column(space, space.replace(" (paper, unchecked)", " (paper)")) for space in spaces],
        sections,
        title=f"Gender in {printable(found.name)}: {found.words:,} words, {found.dimensions} dimensions",
        caption=_PUBLISHED_NOTE,
        name_title="measure",
    )


def embeddings_text(found: EmbeddingAudit, *, details: bool = False) -> str:
    """The table and the coverage of word lists; ``details`` lists every missing word."""
    lines = [f"{heading}: {name}." for heading, name in found.spaces.items()]
    for coverage in found.coverage:
        missing = coverage.missing if details else coverage.missing[:_MISSING_SHOWN]
        more = len(coverage.missing) - len(missing)
        listing = f"; missing: {', '.join(missing)}" if missing else ""
        lines.append(
            f"{coverage}{listing}" + (f" and {more:,} more (--details lists them)" if more else "") + "."
        )
    lines += [f"{name}: {group.note}." for name, group in found.measures.items() if group.note]
    lines += [f"Not measured: {name}: {reason}." for name, reason in found.refused.items()]
    lines += [f"Seed {found.seed}. All vectors are compared at length 1.", CAUTION]
    wrapped = [line for text in lines for line in textwrap.wrap(printable(text), WIDTH)]
    return embeddings_table(found).text() + "\n" + "\n".join(wrapped) + "\n"


def embeddings_json(found: EmbeddingAudit) -> dict[str, Any]:
    """Unrounded figures and everything missing, for ``json.dumps``."""
    return {
        "vectors": found.name,
        "words": found.words,
        "dimensions": found.dimensions,
        "seed": found.seed,
        "spaces": dict(found.spaces),
        "figures": {space: dict(figures) for space, figures in found.figures.items()},
        "published": {space: dict(figures) for space, figures in PUBLISHED.items()},
        "yardsticks": {
            name: {
                "title": group.title,
                "paper": group.paper,
                "note": group.note,
                "measures": {measure.key: measure.title for measure in group.measures},
            }
            for name, group in found.measures.items()
        },
        "coverage": [
            {"list": c.name, "wanted": c.size, "share": c.share, "missing": list(c.missing)}
            for c in found.coverage
        ],
        "refused": dict(found.refused),
        "caution": CAUTION,
    }


def write_embeddings(found: EmbeddingAudit, folder: Path) -> list[Path]:
    """Write ``embeddings.txt`` (with every missing word) and ``embeddings.json`` to ``folder``; give their paths."""
    paths = [Path(folder) / "embeddings.txt", Path(folder) / "embeddings.json"]
    write_text(paths[0], embeddings_text(found, details=True))
    write_json(paths[1], embeddings_json(found))
    return paths
