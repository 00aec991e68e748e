"""The overview's findings (Webster et al. 2019) as measured ablations: ``gap reproduce webster2019 --ablations``.

Each finding is a recipe whose members differ in one setting (the arms) and in the seed. Arms are compared by logloss
out of fold on GAP's training splits, never on test. SEAT and WEAT (Bao and Qiao) need no run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gapstack.audits.statistics import REPLICATES
from gapstack.data.sources import find, paper
from gapstack.display.render import Cell, Column, Section, Table
from gapstack.display.report import Report
from gapstack.encoding.word_vectors import read_vectors
from gapstack.evaluation import Difference, example_losses, paired, score
from gapstack.evaluation.metrics import mean_score
from gapstack.papers.associations import audit_sentences, sentences_report
from gapstack.papers.word_lists import read_lists
from gapstack.runs.recipe import Recipe
from gapstack.runs.stored_results import Run
from gapstack.types import Floats

_WORD2VEC = "w2v_gnews_weat348.txt"
"""File of word2vec's vectors for the words of WEAT, in the data set ``vectors``."""


class Finding(NamedTuple):
    """A recipe, a title, the team that reported the finding, and the arm that each arm is compared with."""

    recipe: str
    title: str
    team: str
    against: Mapping[str, str]


FINDINGS = (
    Finding(
        "pooling_ablation",
        "Attention pooling against mean pooling (Wang)",
        "Wang",
        {"pooling_attention": "pooling_mean"},
    ),
    Finding(
        "layer_ablation",
        "Layer by layer, the encoder frozen (Yang et al., Abzaliev); 0: the embeddings",
        "Yang et al.",
        {f"layer_{layer}": "layer_6" for layer in range(6)},
    ),
    Finding(
        "gender_ablation",
        "The pronoun's gender as a feature (Abzaliev)",
        "Abzaliev",
        {f"{name}_and_gender": name for name in ("vectors", "features")},
    ),
    Finding(
        "neither_ablation",
        "Added rows whose answer is NEITHER (Attree, Bao and Qiao)",
        "Attree",
        {"added": "given"},
    ),
    Finding(
        "substitution_ablation",
        "Names replaced by common ones (Liu, Lois et al.): in training, in prediction, or both",
        "Liu",
        dict.fromkeys(("training", "prediction", "both"), "neither"),
    ),
    Finding("ensemble_ablation", "Mean of three networks against one", "", {"stack": "one"}),
    Finding("tuning_ablation", "Fine-tuning against features, one head (MSnet)", "", {"tuned": "features"}),
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
class Ablation:
    """A finding, measured: logloss and F1 (seeds,) by arm, and differences between arms."""

    finding: Finding
    recipe: Recipe
    rows: str
    logloss: Mapping[str, Floats]
    f1: Mapping[str, Floats]
    differences: Mapping[str, Difference]  # of each arm from the arm that it is compared with


def report(runs: Sequence[Run], encoder: str | None = None) -> Report:
    """Compare the arms of finished runs of :data:`RECIPES`, in order, and run the encoder's association tests."""
    ablations = [measure(finding, run) for finding, run in zip(FINDINGS, runs, strict=True)]
    seat = sentences(encoder)
    published: Mapping[str, str] = paper("webster2019")["findings"]
    tables = [*(_table(each, published.get(each.finding.team)) for each in ablations), *seat.tables]

    def arm(ablation: Ablation, name: str) -> dict[str, Any]:
        return {
            "logloss": ablation.logloss[name],
            "f1_overall": ablation.f1[name],
            "against": ablation.finding.against.get(name),
            "difference": ablation.differences.get(name),
        }

    figures = {
        "paper": published,
        "ablations": {
            each.recipe.name: {"rows": each.rows, "arms": {name: arm(each, name) for name in each.logloss}}
            for each in ablations
        },
        "sentences": seat.data,
    }
    return Report("webster2019_ablations", tables, data=figures)


def sentences(encoder: str | None = None) -> Report:
    """SEAT of an encoder, and WEAT of its input embeddings and of word2vec."""
    lists, folder = read_lists(), find("vectors")
    sources: list[str | Path] = [folder / _WORD2VEC] if folder and (folder / _WORD2VEC).is_file() else []
    sources.append(f"encoder:{encoder}" if encoder else "encoder")
    spaces = [read_vectors(source, keep=lists.every_word) for source in sources]
    return sentences_report(audit_sentences(lists, encoder, spaces))


def measure(finding: Finding, run: Run) -> Ablation:
    """Compare the arms of a finding's run: its stack, and members labelled by their arm and seed (``layer_4_0``)."""
    losses: dict[str, list[Floats]] = {}
    f1: dict[str, list[float]] = {}
    for result in (*run.members, *([run.stack] if run.stack else [])):
        arm = result.label.rpartition("_")[0] or result.label
        losses.setdefault(arm, []).append(example_losses(run.train.labels, result.out_of_fold))
        f1.setdefault(arm, []).append(score(run.train, result.out_of_fold).f1_overall or 0.0)
    means = {name: np.mean(each, axis=0)[:, None] for name, each in losses.items()}
    differences = {
        name: paired(run.train.groups, means[name], means[other], mean_score, replicates=REPLICATES)
        for name, other in finding.against.items()
    }
    logloss = {name: np.mean(each, axis=1) for name, each in losses.items()}
    rows = f"{run.train.name} ({len(run.train)} rows), {run.train.label_set} labels"
    overall = {name: np.array(each) for name, each in f1.items()}
    return Ablation(finding, run.recipe, rows, logloss, overall, differences)


def _table(ablation: Ablation, published: str | None) -> Table:
    rows: list[tuple[str, dict[str, Cell]]] = []
    for name, logloss in ablation.logloss.items():
        cells: dict[str, Cell] = {"seeds": len(logloss), "logloss": float(logloss.mean())}
        cells["f1"] = float(ablation.f1[name].mean())
        if len(logloss) > 1:
            cells["spread"] = float(logloss.std(ddof=1))
        if name in ablation.differences:
            change, other = ablation.differences[name], ablation.finding.against[name]
            by_seed = logloss - ablation.logloss[other]
            cells |= {
                "difference": f"{change.value:+.4f} [{change.low:+.4f}, {change.high:+.4f}]",
                "p": "<0.001" if change.p < 0.001 else f"{change.p:.3f}",
                "range": f"{by_seed.min():+.4f} to {by_seed.max():+.4f}",
                "against": other,
            }
        rows.append((name, cells))
    caption = (
        f"Logloss out of fold on {ablation.rows}, {ablation.recipe.folds} folds, seed {ablation.recipe.seed}: mean "
        "over the seeds "
        "of the members. Differences are of the seeds' mean losses, pages resampled, p two-sided by permutation; "
        f"by seed: least and greatest. Run: {ablation.recipe.name}."
    )
    if published:
        caption += f" The overview, of {ablation.finding.team}: {published}."
    return Table(_COLUMNS, [Section("", rows)], ablation.finding.title, caption, "arm")
