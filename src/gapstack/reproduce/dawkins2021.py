"""The tables of Dawkins 2021, published figures beside ours: ``gap reproduce dawkins2021``.

Tables 2 and 3 measure word vectors; tables 1, 4 and 5 a coreference system over them, trained with and without
gender-swapped copies, on WinoBias and SoWinoBias. Our figures are of the vectors :data:`SPACES` and of the members of
:data:`RECIPE`, each trained with several seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gapstack.audit import SUITES, sowinobias, winobias
from gapstack.audit.embeddings import ORIGINAL, EmbeddingAudit, audit_embeddings
from gapstack.audit.statistics import Sides, mean_percent, over_seeds
from gapstack.audit.suite import Items
from gapstack.corpus import Corpus
from gapstack.corpus.papers import paper, papers_note
from gapstack.corpus.word_lists import read_lists
from gapstack.errors import DamageError, DataError
from gapstack.files import cache_root, discard, fingerprint
from gapstack.members import Member, create
from gapstack.members.inputs import identity_of
from gapstack.members.part import Part
from gapstack.members.store import is_saved, load, save
from gapstack.progress import progress
from gapstack.report.embeddings import DEBIASED, TABLES, published
from gapstack.report.render import Cell, Column, Section, Table
from gapstack.reproduce.beside_paper import ComputedTables
from gapstack.runs import Recipe
from gapstack.scoring import Interval, score
from gapstack.types import Floats
from gapstack.vectors.debias import DEBIASERS
from gapstack.vectors.static_vectors import read_vectors

PAPER = "dawkins2021"
RECIPE = "sowinobias"
"""The recipe of our figures in tables 1, 4 and 5."""
SEEDS = (0, 1, 2)
SPACES = ("glove", "gn_glove")
"""The vectors of our figures in tables 2 and 3: as they are and debiased; and the one trained without gender."""
_COPIES = " + swapped copies"
_SPACES = {"glove": "GloVe", "hard": "Hard-GloVe", "gn": "GN-GloVe", "ran": "RAN-GloVe", "inlp": "INLP-GloVe"}
ARMS = {
    f"{label}{suffix}": f"{space}{copies}"
    for label, space in _SPACES.items()
    for suffix, copies in (("", ""), ("_swap", _COPIES))
}
"""Rows of tables 1 and 4 by the recipe's labels."""
STATIC_ARMS = {f"static_{label}": space for label, space in _SPACES.items() if label != "inlp"}
"""Rows of table 5, whose system has no contextual vectors, by the recipe's labels."""
_SIDES = ("pro", "anti", "average", "difference")
_POLARITIES = ("positive", "negative")


class Arm(NamedTuple):
    """Figures of one arm over all seeds: F1 on GAP test, and by suite or part of it."""

    f1: float
    sides: Mapping[str, Sides]


class Report(ComputedTables):
    """The paper's five tables."""

    NAME = TITLE = PAPER


def reproduce(recipe: Recipe, train: Corpus, test: Corpus, data: Path | None = None) -> Report:
    """Train and audit the members of a recipe with each of :data:`SEEDS`, audit the vectors, and make the tables.

    Fitted members are kept in the cache, so that a killed call goes on where it was.

    Parameters
    ----------
    recipe : Recipe
        :data:`RECIPE`, perhaps with another encoder.
    train, test : Corpus
        Rows of GAP: all members are fitted on all of ``train``; F1 is that on ``test``.
    data : Path, optional
        Folder to search first for the suites and the word lists.

    Raises
    ------
    DataNotFoundError
        If the data of a suite are missing.
    DataError
        If a member was trained on them.
    """
    arms = _arms(recipe, train, test, data)
    notes = (
        f"Ours: means over {len(SEEDS)} seeds; fitted on {train.name} ({len(train):,} rows, {train.label_set} labels) "
        f"and on DPR's training part, F1 on {test.name}. Brackets: 95%, seeds and sentences resampled, those of "
        "SoWinoBias about the same two occupations together.",
        "The paper trains on OntoNotes, its GloVe has 300 dimensions and billions of words, and its contextual vectors "
        "are ELMo's. Our contextual vectors are the frozen encoder's, and GloVe and GN-GloVe are trained on "
        "the texts at hand.",
    )
    return Report((*downstream_tables(arms), *vector_tables(audit_spaces(data))), notes)


def _arms(recipe: Recipe, train: Corpus, test: Corpus, data: Path | None) -> dict[str, Arm]:
    items = suites(data)
    f1: dict[str, list[float]] = {part.label: [] for part in recipe.members}
    answers: dict[str, list[Mapping[str, Floats]]] = {part.label: [] for part in recipe.members}
    with progress("trainings", len(SEEDS) * len(recipe.members)) as ticker:
        for seed in SEEDS:
            for part in recipe.members:
                member = _fitted(part, seed, train)
                f1[part.label].append(score(test, member.predict_proba(test)).f1_overall)
                answers[part.label].append(_answers(member, items))
                ticker.advance(note=f"{part.label}, seed {seed}")
    return {label: Arm(float(np.mean(f1[label])), _sides(items, answers[label])) for label in f1}


def suites(data: Path | None = None) -> dict[str, Items]:
    """Rows of WinoBias's current release, and of SoWinoBias as the audit samples them.

    Raises DataNotFoundError if the data of one are missing.
    """
    items = {name: SUITES[name].load(data, cap=SUITES[name].cap) for name in ("winobias", "sowinobias")}
    every = items["winobias"]
    rows = np.flatnonzero(every.facts["release"] == "current")
    facts = {name: fact[rows] for name, fact in every.facts.items()}
    return items | {"winobias": replace(every, corpus=every.corpus.take(rows), facts=facts)}


def _answers(member: Member, items: Mapping[str, Items]) -> dict[str, Floats]:
    """Probabilities by suite; DataError if the member was trained on rows of one."""
    for name in items:
        if SUITES[name].contamination_ids & set(member.contaminated_by):
            raise DataError(
                f"a member was trained on rows of {name}", expected="a member that never saw them"
            )
    return {name: member.predict_proba(suite.corpus.unlabelled()) for name, suite in items.items()}


def _fitted(part: Part, seed: int, train: Corpus) -> Member:
    """The member with this seed, fitted on ``train`` or read back."""
    member = create(part.name, **{**part.settings, "seed": seed})
    key = fingerprint(identity_of(member), train.fingerprint, train.label_fingerprint)
    folder = cache_root() / "fitted" / f"{part.label}-{key}"
    if is_saved(folder):
        try:
            return load(folder)
        except DamageError:
            discard(folder)
    save(member.fit(train), part.name, folder)
    return member


def _sides(items: Mapping[str, Items], answers: Sequence[Mapping[str, Floats]]) -> dict[str, Sides]:
    """Pro, anti, average and difference of the suites and of their parts, over the answers of all seeds."""
    figures: dict[str, Sides] = {}
    suite = items["winobias"]
    counts = np.stack([winobias.f1_counts(suite, found["winobias"]) for found in answers])
    for kind in ("type1", "type2"):
        pro, anti = winobias.sides(suite, suite.facts["kind"] == kind)
        figures[kind] = over_seeds(counts[:, pro], counts[:, anti], winobias.f1)
    suite = items["sowinobias"]
    right = np.stack([sowinobias.correct(suite, found["sowinobias"]) for found in answers])
    polarity = suite.facts["polarity"]
    for part in ("all", *_POLARITIES):
        pro, anti = sowinobias.sides(suite, (polarity == part) | (part == "all"))
        groups = suite.facts["occupations"][pro]
        figures[part] = over_seeds(right[:, pro], right[:, anti], mean_percent, groups=groups)
    return figures


def downstream_tables(arms: Mapping[str, Arm]) -> tuple[Table, ...]:
    """Tables 1, 4 and 5."""
    figures = paper(PAPER)
    note = papers_note(PAPER) or "The paper's differences are absolute."
    both = {"type1": "WB F1", "all": "SWB acc."}
    table1 = Table(
        [Column("f1", "F1", 1), *_columns(both, _SIDES)],
        _sections(arms, ARMS, figures.get("table1", {}), both, _SIDES, f1=True),
        "Table 1: coreference over contextual vectors, left as they are, and static vectors as named",
        "F1: ours GAP test, the paper's OntoNotes. WB: WinoBias, type 1 of the current release, ours GAP's F1 over the "
        f"decisions on both names. SWB: SoWinoBias, accuracy in percent. {note}",
        "static vectors",
    )
    polarities = {"positive": "positive", "negative": "negative"}
    shown = ("pro", "anti", "difference")
    table4 = Table(
        list(_columns(polarities, shown)),
        _sections(arms, ARMS, figures.get("table4_by_polarity", {}), polarities, shown),
        "Table 4: SoWinoBias by polarity of the adjective",
        f"Accuracy in percent. {note}",
        "static vectors",
    )
    types = {"type1": "WB F1", "type2": "type 2 F1"}
    table5 = Table(
        [Column("f1", "F1", 1), *_columns(types, _SIDES)],
        _sections(arms, STATIC_ARMS, figures.get("table5_end_to_end_lee2017", {}), types, _SIDES, f1=True),
        "Table 5: coreference over static vectors alone",
        f"As table 1; the paper's system is Lee et al. 2017. {note}",
        "static vectors",
    )
    return table1, table4, table5


def _columns(parts: Mapping[str, str], sides: Sequence[str]) -> Iterable[Column]:
    for part, title in parts.items():
        for side in sides:
            heading = {"pro": f"{title} pro", "difference": "pro-anti"}.get(side, side)
            yield Column(f"{part}_{side}", heading, 1)


def _sections(
    arms: Mapping[str, Arm],
    names: Mapping[str, str],
    theirs: Mapping[str, Sequence[float]],
    parts: Mapping[str, str],
    sides: Sequence[str],
    *,
    f1: bool = False,
) -> list[Section]:
    ours = [(names[label], _arm_cells(arm, parts, sides)) for label, arm in arms.items() if label in names]
    keys = [*(("f1",) if f1 else ()), *(f"{part}_{side}" for part in parts for side in sides)]
    rows = [
        (system, dict(zip(keys, map(float, row), strict=False)))
        for system, row in theirs.items()
        if system.partition(" ")[0].partition(",")[0] in _SPACES.values()
    ]
    return [Section("ours", ours), *([Section("the paper", rows)] if rows else [])]


def _arm_cells(arm: Arm, parts: Iterable[str], sides: Iterable[str]) -> dict[str, Cell]:
    cells: dict[str, Cell] = {"f1": arm.f1}
    for part in parts:
        for side in sides:
            figure: Interval = getattr(arm.sides[part], side)
            if side == "difference":
                cells[f"{part}_{side}"] = f"{figure.value:+.1f} [{figure.low:.1f}, {figure.high:.1f}]"
            else:
                cells[f"{part}_{side}"] = figure.value
    return cells


def audit_spaces(data: Path | None = None) -> EmbeddingAudit:
    """Audit :data:`SPACES`: GloVe, debiased by each method, and GN-GloVe without its gender component."""
    lists = read_lists(data)
    plain, trained = (read_vectors(name, limit=None) for name in SPACES)
    debiasers = [name for name in DEBIASED.values() if name and name != "gn_glove"]
    neutral = DEBIASERS["gn_glove"]().apply(trained, lists)
    return audit_embeddings(plain, lists, debiasers, beside={"gn_glove": neutral})


def vector_tables(found: EmbeddingAudit) -> tuple[Table, ...]:
    """Tables 2 and 3."""
    theirs = published()
    note = papers_note(PAPER) or "The paper's vectors have 300 dimensions."
    described = f"{found.name}: {found.words:,} words, {found.dimensions} dimensions, seed {found.seed}. "
    titles = {
        "table2_single_attribute_weat": "Table 2: single-attribute WEAT of the female-stereotyped adjectives",
        "table3": "Table 3: clustering and recoverability of the most biased words, percent, and GIPE",
    }
    measures = {m.key: m for group in found.measures.values() for m in group.measures}
    result = []
    for table, keys in TABLES.items():
        ours = [
            (space, found.figures[name or ORIGINAL])
            for space, name in DEBIASED.items()
            if (name or ORIGINAL) in found.figures
        ]
        sections = [
            Section(title, [(space, {key: figures.get(key) for key in keys}) for space, figures in rows])
            for title, rows in (("ours", ours), ("the paper", list(theirs.items())))
            if rows
        ]
        coverage = "; ".join(f"{c}" for c in found.coverage if "SoWinoBias" in c.name)
        result.append(
            Table(
                [
                    Column(key, _HEADINGS[key], measures[key].decimals if key in measures else 4)
                    for key in keys
                ],
                sections,
                titles[table],
                f"Ours: {described}Words covered: {coverage}. {note}",
                "vectors",
            )
        )
    return tuple(result)


_HEADINGS = {
    **{"latent": "latent", "latent_p": "p", "definitional": "definitional", "definitional_p": "p"},
    **{"kmeans": "k-means", "v_measure": "V-measure", "linear_svm": "linear SVM", "rbf_svm": "RBF SVM"},
    **{
        "gipe": "GIPE, all",
        "gipe_sowinobias": "GIPE, SoWinoBias",
        "proximity_sowinobias": "plain average there",
    },
}
