"""The tables of Dawkins 2021, published figures next to ours: ``gap reproduce dawkins2021``.

Tables 2 and 3 measure word vectors; the table of ``gap audit-embeddings`` shows them next to ours. Tables 1, 4 and 5
are about a coreference system over the vectors, trained with and without gender-swapped copies, on WinoBias and
SoWinoBias; our figures are those of the members of :data:`RECIPE`, each trained with several seeds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gapstack.audits import SUITES, sowinobias
from gapstack.audits.statistics import mean_percent, over_seeds
from gapstack.audits.suite import Items, pro_and_anti
from gapstack.audits.winobias import F1
from gapstack.data import Corpus
from gapstack.data.sources import paper
from gapstack.display.render import Cell, Column, Section, SectionRows, Table
from gapstack.display.report import Report
from gapstack.encoding.word_vectors import read_vectors
from gapstack.errors import DamageError
from gapstack.evaluation import Interval, Predictions, score
from gapstack.files import CACHE, cache_root, discard, fingerprint, require_writable
from gapstack.members import create
from gapstack.members.identity import identity_of
from gapstack.members.member import Member
from gapstack.members.part import Part
from gapstack.members.saved import is_saved, load, save
from gapstack.papers import train_glove
from gapstack.papers.embeddings import audit_embeddings, embeddings_table
from gapstack.papers.word_lists import read_lists
from gapstack.progress import progress
from gapstack.runs.recipe import Recipe
from gapstack.types import Floats

PAPER = "dawkins2021"
RECIPE = Path(__file__).with_name("sowinobias.toml")
"""Recipe of our figures in tables 1, 4 and 5; ``vectors`` are keys of :func:`train_glove.spaces`."""
SEEDS = (0, 1, 2)
_DEBIASED = {"hard": "glove_hard", "ran": "glove_ran", "inlp": "glove_inlp", "gn_glove": "gn_glove_neutral"}
_SPACES = {"glove": "GloVe", "hard": "Hard-GloVe", "gn": "GN-GloVe", "ran": "RAN-GloVe", "inlp": "INLP-GloVe"}
ARMS = {
    f"{label}{suffix}": f"{space}{copies}"
    for label, space in _SPACES.items()
    for suffix, copies in (("", ""), ("_swap", " + swapped copies"))
}
"""Rows of tables 1 and 4 by the recipe's labels."""
STATIC_ARMS = {f"static_{label}": space for label, space in _SPACES.items() if label != "inlp"}
"""Rows of table 5, whose system has no contextual vectors, by the recipe's labels."""


class DawkinsArm(NamedTuple):
    """Figures of one arm, means over seeds: F1 on GAP test, and scores by suite or part of it."""

    f1: float
    sides: Mapping[str, Mapping[str, Interval]]


def reproduce(recipe: Recipe, train: Corpus, test: Corpus) -> Report:
    """Train vectors, train and audit a recipe's members with each of :data:`SEEDS`, and audit the vectors.

    Raises DataNotFoundError if there are no texts to train vectors on.
    """
    files = train_glove.spaces()
    members = [
        replace(part, settings={**part.settings, "vectors": str(files[part.settings["vectors"]])})
        for part in recipe.members
    ]
    arms = train_arms(replace(recipe, members=tuple(members)), train, test)
    lists = read_lists()
    debiased = {name: read_vectors(files[space], limit=None) for name, space in _DEBIASED.items()}
    audited = audit_embeddings(read_vectors(files["glove"], limit=None), lists, debiased=debiased)
    notes = (
        f"Ours: means over {len(SEEDS)} seeds; fitted on {train.name} ({len(train):,} rows, {train.label_set} labels) "
        f"and on DPR's training part, F1 on {test.name}. Brackets: 95%, seeds and sentences resampled, those of "
        "SoWinoBias about the same two occupations together.",
        "The paper trains on OntoNotes, its GloVe has 300 dimensions and billions of words, and its contextual vectors "
        "are ELMo's. Our contextual vectors are the frozen encoder's, and GloVe and GN-GloVe are trained on "
        "GAP development and validation and whatever there is of stage 2, LitBank and the treebank.",
        f"Words covered: {'; '.join(map(str, audited.coverage))}.",
    )
    return Report(PAPER, (*downstream_tables(arms), embeddings_table(audited)), notes)


def train_arms(recipe: Recipe, train: Corpus, test: Corpus) -> dict[str, DawkinsArm]:
    """Fit every member with every seed; returns figures by label, on the suites as the audit samples them."""
    items = {name: SUITES[name].load(cap=SUITES[name].cap) for name in ("winobias", "sowinobias")}
    arms: dict[str, DawkinsArm] = {}
    with progress("trainings", len(SEEDS) * len(recipe.members)) as ticker:
        for part in recipe.members:
            f1, answers = [], []
            for seed in SEEDS:
                member = _fitted(part, seed, train)
                f1.append(score(test, member.predict_proba(test)).f1_overall or 0.0)
                answers.append({n: member.predict_proba(s.corpus.unlabelled()) for n, s in items.items()})
                ticker.advance(note=f"{part.label}, seed {seed}")
            arms[part.label] = DawkinsArm(float(np.mean(f1)), _sides(items, answers))
    return arms


def _fitted(part: Part, seed: int, train: Corpus) -> Member:
    """The member with this seed, fitted on ``train`` or loaded from the cache."""
    member = create(part.name, **{**part.settings, "seed": seed})
    key = fingerprint(identity_of(member), train.fingerprint, train.label_fingerprint)
    folder = cache_root() / "fitted" / f"{part.label}-{key}"
    if is_saved(folder):
        try:
            return load(folder)
        except DamageError:
            discard(folder)
    require_writable(folder, CACHE)
    save(member.fit(train), part.name, folder)
    return member


def _sides(
    items: Mapping[str, Items], answers: Sequence[Mapping[str, Floats]]
) -> dict[str, Mapping[str, Interval]]:
    """Pro, anti, average and difference on each suite and part, over the predictions of all seeds."""
    figures: dict[str, Mapping[str, Interval]] = {}
    suite = items["winobias"]
    decided = [Predictions.of(by_suite["winobias"]) for by_suite in answers]
    counts = np.stack([F1.contributions(suite.corpus, each) for each in decided])
    for kind in ("type1", "type2"):
        where = (suite.facts["release"] == "current") & (suite.facts["kind"] == kind)
        pro, anti = pro_and_anti(suite, where)
        pairs = np.arange(len(pro)).astype(str)
        figures[kind] = over_seeds(pairs, counts[:, pro], counts[:, anti], F1.score)
    suite = items["sowinobias"]
    right = np.stack([sowinobias.correct(suite, by_suite["sowinobias"]) for by_suite in answers])
    polarity = suite.facts["polarity"]
    for part in ("all", "positive", "negative"):
        pro, anti = pro_and_anti(suite, (polarity == part) | (part == "all"))
        groups = suite.facts["occupations"][pro]
        figures[part] = over_seeds(groups, right[:, pro], right[:, anti], mean_percent)
    return figures


class _Downstream(NamedTuple):
    """A table of the coreference systems: published key, labels of its rows, headings of its parts, and sides."""

    key: str
    title: str
    caption: str
    names: Mapping[str, str]
    parts: Mapping[str, str]
    sides: Sequence[str] = ("pro", "anti", "average", "difference")
    f1: bool = True


_DOWNSTREAM = (
    _Downstream(
        "table1",
        "Table 1: coreference over contextual vectors, left as they are, and static vectors as named",
        "F1: ours GAP test, the paper's OntoNotes. WB: WinoBias, current release, ours GAP's F1 over the decisions on "
        "both names. SWB: SoWinoBias, accuracy in percent.",
        ARMS,
        {"type1": "WB F1", "all": "SWB acc.", "type2": "WB type 2 F1"},
    ),
    _Downstream(
        "table4_by_polarity",
        "Table 4: SoWinoBias by polarity of the adjective",
        "Accuracy in percent.",
        ARMS,
        {"positive": "positive", "negative": "negative"},
        ("pro", "anti", "difference"),
        f1=False,
    ),
    _Downstream(
        "table5_end_to_end_lee2017",
        "Table 5: coreference over static vectors alone",
        "As table 1; the paper's system is Lee et al. 2017.",
        STATIC_ARMS,
        {"type1": "WB F1", "type2": "type 2 F1"},
    ),
)


def downstream_tables(arms: Mapping[str, DawkinsArm]) -> tuple[Table, ...]:
    """Tables 1, 4 and 5."""
    figures = paper(PAPER)
    tables = []
    for one in _DOWNSTREAM:
        columns = [Column("f1", "F1", 1)] if one.f1 else []
        for part, heading in one.parts.items():
            titles = {"pro": f"{heading} pro", "difference": "pro-anti"}
            columns += [Column(f"{part}_{side}", titles.get(side, side), 1) for side in one.sides]
        ours: list[tuple[str, dict[str, Cell]]] = []
        for label, arm in arms.items():
            if label in one.names:
                cells: dict[str, Cell] = {"f1": arm.f1}
                for part, side in product(one.parts, one.sides):
                    figure = arm.sides[part][side]
                    cells[f"{part}_{side}"] = figure if side == "difference" else figure.value
                ours.append((one.names[label], cells))
        theirs: SectionRows = [
            (system, dict(zip((column.key for column in columns), map(float, row), strict=False)))
            for system, row in figures[one.key].items()
            if system.partition(" ")[0].partition(",")[0] in _SPACES.values()
        ]
        sections = [Section("ours", ours), Section("the paper", theirs)]
        caption = f"{one.caption} The paper's differences are absolute."
        tables.append(Table(columns, sections, one.title, caption, "static vectors"))
    return tuple(tables)
