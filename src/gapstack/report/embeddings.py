"""The audit of a space of word vectors as one table: measures down, the space and its debiased forms across."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gapstack.audit import CAUTION
from gapstack.audit.embeddings import ORIGINAL, EmbeddingAudit
from gapstack.corpus.papers import paper, papers_note
from gapstack.errors import printable
from gapstack.files import write_json, write_text
from gapstack.report.audit import show
from gapstack.report.render import WIDTH, Column, Section, Table, text_of

PAPER = "dawkins2021"
DEBIASED = {
    "GloVe": "",
    "Hard-GloVe": "hard",
    "GN-GloVe": "gn_glove",
    "RAN-GloVe": "ran",
    "INLP-GloVe": "inlp",
}
"""Debiaser of each of the paper's spaces."""
TABLES = {
    "table2_single_attribute_weat": ("latent", "latent_p", "definitional", "definitional_p"),
    "table3": (
        *("kmeans", "v_measure", "linear_svm", "rbf_svm"),
        *("gipe", "gipe_sowinobias", "proximity_sowinobias"),
    ),
}
"""Measures of the tables' columns, in their order."""
_MISSING_SHOWN = 12


def published() -> dict[str, dict[str, float]]:
    """Figures of Dawkins 2021, tables 2 and 3, by space and measure; empty where they are not at hand."""
    tables = paper(PAPER)
    return {
        space: {
            measure: float(figure)
            for table, measures in TABLES.items()
            for measure, figure in zip(measures, tables[table][space], strict=True)
        }
        for space in (DEBIASED if tables else ())
    }


def _interleaved(found: EmbeddingAudit) -> tuple[list[Column], dict[str, Mapping[str, float]]]:
    """Columns, each of our spaces followed by the paper's that was debiased alike, and the figures by their keys."""
    theirs = {DEBIASED[space] or ORIGINAL: figures for space, figures in published().items()}
    columns: list[Column] = []
    figures: dict[str, Mapping[str, float]] = {}
    for space, ours in found.figures.items():
        columns.append(Column(space, space))
        figures[space] = ours
        if space in theirs:
            columns.append(Column(f"{space} (paper)", "paper"))
            figures[f"{space} (paper)"] = theirs[space]
    return columns, figures


def embeddings_table(found: EmbeddingAudit) -> Table:
    """One row for each measure, one column for each space, the published figures beside ours."""
    columns, spaces = _interleaved(found)
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
        columns,
        sections,
        title=f"Gender in {printable(found.name)}: {found.words:,} words, {found.dimensions} dimensions",
        caption=papers_note(PAPER)
        or "paper: Dawkins 2021, tables 2 and 3, of GloVe with 300 dimensions debiased as in the column before.",
        name_title="measure",
    )


def embeddings_text(found: EmbeddingAudit, *, details: bool = False, width: int = WIDTH) -> str:
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
    return text_of([embeddings_table(found), "\n".join(map(printable, lines))], width)


def embeddings_json(found: EmbeddingAudit) -> dict[str, Any]:
    """Unrounded figures and everything missing, for ``json.dumps``."""
    return {
        "vectors": found.name,
        "words": found.words,
        "dimensions": found.dimensions,
        "seed": found.seed,
        "spaces": dict(found.spaces),
        "figures": {space: dict(figures) for space, figures in found.figures.items()},
        "published": published(),
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
