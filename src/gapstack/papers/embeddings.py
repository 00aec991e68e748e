"""Gender bias of word vectors before and after debiasing: :func:`audit_embeddings`, and its report."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from gapstack.audits.audit_report import CAUTION
from gapstack.data.sources import paper
from gapstack.display.render import Cell, Column, Section, Table
from gapstack.display.report import Report
from gapstack.encoding.word_vectors import Vectors
from gapstack.errors import DataError, MismatchError, printable
from gapstack.papers import embedding_measures as by_paper
from gapstack.papers.debiasers import DEBIASERS, Coverage
from gapstack.papers.embedding_measures import EmbeddingMeasure
from gapstack.papers.word_lists import Lists

_log = logging.getLogger(__name__)

ORIGINAL = "as given"  # heading of the space before debiasing
_MISSING_SHOWN = 12

PAPER = "dawkins2021"
_PAPER_SPACES = {"GloVe": ORIGINAL, "Hard-GloVe": "hard", "GN-GloVe": "gn_glove"}
_PAPER_SPACES |= {"RAN-GloVe": "ran", "INLP-GloVe": "inlp"}
_TABLE3 = "kmeans v_measure linear_svm rbf_svm gipe gipe_sowinobias proximity_sowinobias"
_PAPER_TABLES = {
    "table2_single_attribute_weat": ("latent", "latent_p", "definitional", "definitional_p"),
    "table3": tuple(_TABLE3.split()),
}
"""Measures in the columns of the paper's tables, in order."""


EMBEDDING_MEASURES: Mapping[str, Callable[[Vectors, Lists, int], EmbeddingMeasure]] = {
    "direct_bias": by_paper.direct_bias,
    "weat6": partial(by_paper.weat_test, "6", "men's names rather than women's go with career"),
    "weat7": partial(by_paper.weat_test, "7", "mathematics rather than arts goes with men"),
    "weat8": partial(by_paper.weat_test, "8", "science rather than arts goes with men"),
    "single_weat": by_paper.single_weat_test,
    "clustering": by_paper.clustering,
    "recoverability": by_paper.recoverability,
    "gipe": by_paper.gipe,
    "sembias": by_paper.sembias,
}
"""Measures by name, in the order of the report."""


@dataclass(frozen=True)
class EmbeddingAudit:
    """Results of an audit of word vectors."""

    name: str
    words: int
    dimensions: int
    seed: int
    spaces: Mapping[str, str]  # descriptions by heading
    figures: Mapping[str, Mapping[str, float]]
    measures: Mapping[str, EmbeddingMeasure]  # those that the vocabulary covers
    refused: Mapping[str, str]  # error messages of the others

    @property
    def coverage(self) -> tuple[Coverage, ...]:
        """Coverage of all word lists, each once."""
        return tuple(dict.fromkeys(part for measure in self.measures.values() for part in measure.coverage))


def audit_embeddings(
    vectors: Vectors,
    lists: Lists,
    debiasers: Sequence[str] = (),
    *,
    debiased: Mapping[str, Vectors] | None = None,
    seed: int = 0,
) -> EmbeddingAudit:
    """Measure a space before debiasing and after each of ``debiasers``, and other spaces with the same words."""
    chosen = {name: DEBIASERS[name] for name in debiasers}
    measures: dict[str, EmbeddingMeasure] = {}
    refused: dict[str, str] = {}
    for name, create in EMBEDDING_MEASURES.items():
        try:
            measures[name] = create(vectors, lists, seed)
        except DataError as problem:
            refused[name] = str(problem)
    if not measures:
        raise DataError(f"no measure is possible. {'. '.join(refused.values())}")
    for name, space in (debiased or {}).items():
        if space.words != vectors.words:
            raise MismatchError(
                f"{space.name} ({name}) has other words than {vectors.name}; use vectors of the same words"
            )
    spaces: dict[str, str] = {}
    figures: dict[str, Mapping[str, float]] = {}

    def measure(heading: str, space: Vectors) -> None:
        _log.info(heading)
        spaces[heading] = space.name
        figures[heading] = {k: v for each in measures.values() for k, v in each.measure(space).items()}

    measure(ORIGINAL, vectors)
    for name, debias in chosen.items():
        measure(name, debias(vectors, lists))
    for name, space in (debiased or {}).items():
        measure(name, space)
    size = (len(vectors), vectors.matrix.shape[1])
    return EmbeddingAudit(vectors.name, *size, seed, spaces, figures, measures, refused)


def published_spaces() -> dict[str, dict[str, float]]:
    """Figures of Dawkins 2021, tables 2 and 3, by space and measure."""
    tables = paper(PAPER)
    return {
        space: {
            measure: float(figure)
            for table, measures in _PAPER_TABLES.items()
            for measure, figure in zip(measures, tables[table][space], strict=True)
        }
        for space in _PAPER_SPACES
    }


def embeddings_table(found: EmbeddingAudit) -> Table:
    """A row for each measure and a column for each space, followed by the paper's space with the same debiaser."""
    theirs = {_PAPER_SPACES[space]: figures for space, figures in published_spaces().items()}
    figures: dict[str, Mapping[str, float]] = {}
    for space, ours in found.figures.items():
        figures[space] = ours
        if space in theirs:
            figures[f"{space} (paper)"] = theirs[space]

    def cells(column: Column) -> dict[str, Cell]:
        return {space: column.show(row[column.key]) for space, row in figures.items() if column.key in row}

    columns = [Column(name, "paper" if name not in found.figures else name) for name in figures]
    sections = [
        Section(f"{group.title} ({group.paper})", [(column.title, cells(column)) for column in group.columns])
        for group in found.measures.values()
    ]
    return Table(
        columns,
        sections,
        title=f"Gender in {printable(found.name)}: {found.words:,} words, {found.dimensions} dimensions",
        caption="paper: Dawkins 2021, tables 2 and 3, of GloVe with 300 dimensions debiased as in the column before.",
        name_title="measure",
    )


def embeddings_report(found: EmbeddingAudit, *, details: bool = False) -> Report:
    """The table and the coverage of word lists; ``details`` lists every missing word, as the JSON does."""
    notes = [f"{heading}: {name}." for heading, name in found.spaces.items()]
    for coverage in found.coverage:
        missing = coverage.missing if details else coverage.missing[:_MISSING_SHOWN]
        more = len(coverage.missing) - len(missing)
        listing = f"; missing: {', '.join(missing)}" if missing else ""
        rest = f" and {more:,} more (--details lists them)" if more else ""
        notes.append(f"{coverage}{listing}{rest}.")
    notes += [f"{name}: {group.note}." for name, group in found.measures.items() if group.note]
    notes += [f"Not measured: {name}: {reason}." for name, reason in found.refused.items()]
    notes += [f"Seed {found.seed}. All vectors are compared at length 1.", CAUTION]
    measures = {
        name: {
            "title": group.title,
            "paper": group.paper,
            "note": group.note,
            "columns": {column.key: column.title for column in group.columns},
        }
        for name, group in found.measures.items()
    }
    coverage_data = [
        {"list": c.name, "wanted": c.size, "share": c.share, "missing": c.missing} for c in found.coverage
    ]
    data = {
        "vectors": found.name,
        "words": found.words,
        "dimensions": found.dimensions,
        "seed": found.seed,
        "spaces": found.spaces,
        "figures": found.figures,
        "published": published_spaces(),
        "measures": measures,
        "coverage": coverage_data,
        "refused": found.refused,
        "caution": CAUTION,
    }
    return Report("embeddings", [embeddings_table(found)], list(map(printable, notes)), data)
