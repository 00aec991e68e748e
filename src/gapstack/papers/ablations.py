"""The overview's findings (Webster et al. 2019) as measured ablations: ``gap reproduce webster2019 --ablations``.

Each finding is a recipe whose members differ in one setting and in the seed: Wang's attention pooling against mean
pooling, the encoder layer by layer (Yang et al., Abzaliev), and Abzaliev's gender feature. Arms are compared by logloss
out of fold on GAP's training splits, never on test. SEAT and WEAT (Bao and Qiao) need no run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gapstack.audits.seat import SentenceAudit, audit_sentences, sentences_json, sentences_table
from gapstack.audits.statistics import REPLICATES
from gapstack.data.sources import find, paper
from gapstack.data.word_lists import read_lists
from gapstack.display.render import Cell, Column, Section, Table
from gapstack.encoding.static_vectors import read_vectors
from gapstack.errors import MismatchError
from gapstack.evaluation import Difference, example_losses, paired, score
from gapstack.papers.report import PaperReport
from gapstack.runs import Recipe, Run
from gapstack.types import Floats

_WORD2VEC = "w2v_gnews_weat348.txt"
"""Word2vec's vectors of the words of WEAT, in the data set ``vectors``."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A recipe, what is varied, the team of the finding, and the arm that each arm is compared with."""

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
class AblationArm:
    """Members of a run that differ in their seed alone.

    ``losses`` (seeds, n) are each row's out of fold, ``logloss`` (seeds,) their means, ``f1`` (seeds,) the overall F1
    in percent.
    """

    losses: Floats
    logloss: Floats
    f1: Floats


@dataclass(frozen=True)
class Ablation:
    """A finding, measured: its arms, and the difference of each to the one that it is compared with."""

    finding: Finding
    recipe: Recipe
    rows: str
    arms: Mapping[str, AblationArm]
    differences: Mapping[str, Difference]


def report(runs: Sequence[Run], encoder: str | None = None, data: Path | None = None) -> PaperReport:
    """Compare the arms of finished runs of :data:`RECIPES`, and test the encoder's sentences.

    Raises MismatchError if a run is of another recipe, or lacks an arm.
    """
    ablations = [measure(run) for run in runs]
    seat = sentences(encoder, data)
    published: Mapping[str, str] = paper("webster2019", data).get("findings", {})
    tables = [_table(one, published.get(one.finding.team)) for one in ablations]
    tables += [sentences_table(seat)] if seat else []
    figures = {
        "paper": dict(published),
        "ablations": {
            one.recipe.name: {
                "rows": one.rows,
                "arms": {
                    name: {
                        "logloss": arm.logloss.tolist(),
                        "f1_overall": arm.f1.tolist(),
                        "against": one.finding.against.get(name),
                        "difference": one.differences[name]._asdict() if name in one.differences else None,
                    }
                    for name, arm in one.arms.items()
                },
            }
            for one in ablations
        },
        "sentences": sentences_json(seat) if seat else None,
    }
    return PaperReport("webster2019_ablations", tuple(tables), figures)


def sentences(encoder: str | None = None, data: Path | None = None) -> SentenceAudit | None:
    """SEAT of an encoder, and WEAT of its input embeddings and of word2vec; None without the word lists."""
    if find("wordlists", data) is None:
        return None
    lists, folder = read_lists(data), find("vectors", data)
    sources: list[str | Path] = [folder / _WORD2VEC] if folder and (folder / _WORD2VEC).is_file() else []
    sources.append(f"encoder:{encoder}" if encoder else "encoder")
    spaces = [read_vectors(source, keep=lists.every_word) for source in sources]
    return audit_sentences(lists, encoder, spaces)


def measure(run: Run) -> Ablation:
    """Compare the arms of a run, whose members are labelled by their arm and seed: ``mean, seed 0``."""
    finding = {finding.recipe: finding for finding in FINDINGS}.get(run.recipe.name)
    if finding is None:
        raise MismatchError(f"run {run.recipe.name} is not one of {', '.join(RECIPES)}")
    by_arm: dict[str, list[tuple[Floats, float]]] = {}
    for result in run.members:
        losses = example_losses(run.train.labels, result.out_of_fold)
        f1 = float(score(run.train, result.out_of_fold).value("f1_overall") or 0.0)
        by_arm.setdefault(result.label.partition(", seed")[0], []).append((losses, f1))
    arms: dict[str, AblationArm] = {}
    for name, seeds in by_arm.items():
        table = np.stack([losses for losses, _ in seeds])
        arms[name] = AblationArm(table, table.mean(axis=1), np.array([f1 for _, f1 in seeds]))
    missing = {*finding.against, *finding.against.values()} - set(arms)
    if missing:
        raise MismatchError(f"run {run.recipe.name} has no member {', '.join(sorted(missing))}, seed ...")
    means = {name: arm.losses.mean(axis=0)[:, None] for name, arm in arms.items()}
    differences = {
        name: paired(run.train.groups, means[name], means[other], _mean, replicates=REPLICATES)
        for name, other in finding.against.items()
    }
    rows = f"{run.train.name} ({len(run.train)} rows), {run.train.label_set} labels"
    return Ablation(finding, run.recipe, rows, arms, differences)


def _mean(sums: Floats) -> Floats:
    return sums[..., 1] / sums[..., 0]


def _table(one: Ablation, published: str | None) -> Table:
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
    return Table(
        _COLUMNS,
        [Section("", rows)],
        title=one.finding.title,
        caption=(
            f"Logloss out of fold on {one.rows}, {one.recipe.folds} folds, seed {one.recipe.seed}: mean over the seeds "
            "of the members. Differences are of the seeds' mean losses, pages resampled, p two-sided by permutation; "
            f"by seed: least and greatest. Run: {one.recipe.name}."
            + (f" The overview, of {one.finding.team}: {published}." if published else "")
        ),
        name_title="arm",
    )
