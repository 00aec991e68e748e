"""The overview's findings (Webster et al. 2019) as measured ablations: ``gap reproduce webster2019 --ablations``.

Each finding is a recipe whose members differ in one setting and in the seed: Wang's pooling by attention against the
mean of pieces, the encoder layer by layer (Yang et al., Abzaliev), and Abzaliev's gender feature. What is compared is
the logloss out of fold on GAP's training splits; test is not looked at. SEAT and WEAT (Bao and Qiao) need no run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.audit.seat import SentenceAudit, audit_sentences
from gapstack.audit.statistics import paired
from gapstack.corpus import Corpus
from gapstack.corpus.papers import paper
from gapstack.corpus.sources import find
from gapstack.corpus.word_lists import read_lists
from gapstack.errors import MismatchError
from gapstack.report.render import Cell, Column, Section, Table
from gapstack.report.seat import sentences_json, sentences_table
from gapstack.reproduce.beside_paper import Tables
from gapstack.runs import Recipe, Run
from gapstack.scoring import Difference, example_losses, score
from gapstack.types import Floats
from gapstack.vectors.static_vectors import read_vectors

_WORD2VEC = "w2v_gnews_weat348.txt"
"""Word2vec's vectors of the words of WEAT, in the data set ``vectors``."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A recipe, what is varied, the team of the finding, and against which arm each arm is tested."""

    recipe: str
    title: str
    team: str
    against: Mapping[str, str]


FINDINGS = (
    Finding(
        "pooling_ablation", "Attention pooling against mean pooling (Wang)", "Wang", {"attention": "mean"}
    ),
    Finding(
        "layer_ablation",
        "Layer by layer, the encoder frozen (Yang et al., Abzaliev); 0: the embeddings",
        "Yang et al.",
        {f"layer {layer}": "layer 6" for layer in range(6)},
    ),
    Finding(
        "gender_ablation",
        "The pronoun's gender as a feature (Abzaliev)",
        "Abzaliev",
        {"vectors and gender": "vectors", "features and gender": "features"},
    ),
)
RECIPES = tuple(finding.recipe for finding in FINDINGS)

_COLUMNS = (
    Column("seeds", "seeds"),
    Column("logloss", "logloss", 4),
    Column("spread", "sd of seeds", 4),
    Column("f1", "F1", 1),
    Column("difference", "difference [95%]"),
    Column("p", "p"),
    Column("range", "by seed"),
    Column("against", "to"),
)


@dataclass(frozen=True)
class Arm:
    """Members of a run that differ in their seed alone.

    ``losses`` (seeds, n) are each row's out of fold, ``f1`` (seeds,) the overall F1 in percent.
    """

    losses: Floats
    f1: Floats

    @property
    def logloss(self) -> Floats:
        """Logloss of each seed, (seeds,)."""
        means: Floats = self.losses.mean(axis=1)
        return means


@dataclass(frozen=True)
class Ablation:
    """A finding, measured: its arms, and the difference of each to the one that it is tested against."""

    finding: Finding
    recipe: Recipe
    rows: str
    arms: Mapping[str, Arm]
    differences: Mapping[str, Difference]


@dataclass(frozen=True)
class Report(Tables):
    """All findings; ``sentences`` is None where the word lists are not at hand."""

    NAME = "webster2019_ablations"

    ablations: tuple[Ablation, ...]
    sentences: SentenceAudit | None
    published: Mapping[str, str]

    @property
    def tables(self) -> tuple[Table, ...]:
        """A table for each finding."""
        tables = [_table(ablation, self.published) for ablation in self.ablations]
        return (*tables, sentences_table(self.sentences)) if self.sentences else tuple(tables)

    def json(self) -> dict[str, Any]:
        """Unrounded figures, for ``json.dumps``."""
        return {
            "paper": dict(self.published),
            "ablations": {
                one.recipe.name: {
                    "rows": one.rows,
                    "arms": {
                        name: {
                            "logloss": arm.logloss.tolist(),
                            "f1_overall": arm.f1.tolist(),
                            "against": one.finding.against.get(name),
                            "difference": one.differences[name]._asdict()
                            if name in one.differences
                            else None,
                        }
                        for name, arm in one.arms.items()
                    },
                }
                for one in self.ablations
            },
            "sentences": sentences_json(self.sentences) if self.sentences else None,
        }


def report(runs: Sequence[Run], encoder: str | None = None, data: Path | None = None) -> Report:
    """Compare the arms of finished runs of :data:`RECIPES`, and test the encoder's sentences.

    Raises
    ------
    MismatchError
        If a run is of another recipe, or lacks an arm.
    """
    findings = {finding.recipe: finding for finding in FINDINGS}
    ablations = tuple(_ablation(run, findings) for run in runs)
    return Report(ablations, sentences(encoder, data), paper("webster2019", data).get("findings", {}))


def sentences(encoder: str | None = None, data: Path | None = None) -> SentenceAudit | None:
    """SEAT of an encoder, and WEAT of its input embeddings and of word2vec; None without the word lists."""
    if find("wordlists", data) is None:
        return None
    lists, folder = read_lists(data), find("vectors", data)
    sources: list[str | Path] = [folder / _WORD2VEC] if folder and (folder / _WORD2VEC).is_file() else []
    sources.append(f"encoder:{encoder}" if encoder else "encoder")
    spaces = [read_vectors(source, keep=lists.every_word) for source in sources]
    return audit_sentences(lists, encoder, spaces)


def _ablation(run: Run, findings: Mapping[str, Finding]) -> Ablation:
    if run.recipe.name not in findings:
        raise MismatchError(f"run {run.recipe.name} is none of {', '.join(findings)}")
    finding = findings[run.recipe.name]
    arms = _arms(run)
    missing = ({*finding.against, *finding.against.values()}) - set(arms)
    if missing:
        raise MismatchError(f"run {run.recipe.name} has no member {', '.join(sorted(missing))}, seed ...")
    differences = {
        name: paired(
            arms[name].losses.mean(axis=0)[:, None],
            arms[other].losses.mean(axis=0)[:, None],
            lambda sums: sums[..., 1] / sums[..., 0],
            groups=run.train.groups,
        )
        for name, other in finding.against.items()
    }
    rows = f"{run.train.name} ({len(run.train)} rows), {run.train.label_set} labels"
    return Ablation(finding, run.recipe, rows, arms, differences)


def _arms(run: Run) -> dict[str, Arm]:
    """Arms by the labels of the recipe's members without their seed: ``mean, seed 0`` is of the arm ``mean``."""
    by_arm: dict[str, list[tuple[Floats, float]]] = {}
    for result in run.members:
        by_arm.setdefault(result.label.partition(", seed")[0], []).append(
            _measured(run.train, result.out_of_fold)
        )
    return {
        name: Arm(np.stack([losses for losses, _ in seeds]), np.array([f1 for _, f1 in seeds]))
        for name, seeds in by_arm.items()
    }


def _measured(corpus: Corpus, probabilities: Floats) -> tuple[Floats, float]:
    return example_losses(corpus.labels, probabilities), float(
        score(corpus, probabilities).value("f1_overall") or 0.0
    )


def _table(one: Ablation, published: Mapping[str, str]) -> Table:
    rows: list[tuple[str, dict[str, Cell]]] = []
    for name, arm in one.arms.items():
        cells: dict[str, Cell] = {"seeds": len(arm.logloss), "logloss": float(arm.logloss.mean())}
        cells["f1"] = float(arm.f1.mean())
        if len(arm.logloss) > 1:
            cells["spread"] = float(arm.logloss.std(ddof=1))
        if name in one.differences:
            found, other = one.differences[name], one.finding.against[name]
            by_seed = arm.logloss - one.arms[other].logloss
            cells |= {
                "difference": f"{found.value:+.4f} [{found.low:+.4f}, {found.high:+.4f}]",
                "p": "<0.001" if found.p < 0.001 else f"{found.p:.3f}",
                "range": f"{by_seed.min():+.4f} to {by_seed.max():+.4f}",
                "against": other,
            }
        rows.append((name, cells))
    said = published.get(one.finding.team)
    return Table(
        _COLUMNS,
        [Section("", rows)],
        title=one.finding.title,
        caption=(
            f"Logloss out of fold on {one.rows}, {one.recipe.folds} folds, seed {one.recipe.seed}: mean over the seeds "
            "of the members. Differences are of the seeds' mean losses, pages resampled, p two-sided by permutation; "
            f"by seed: least and greatest. Run: {one.recipe.name}."
            + (f" The overview, of {one.finding.team}: {said}." if said else "")
        ),
        name_title="arm",
    )
