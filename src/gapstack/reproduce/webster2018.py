"""The tables of Webster et al. 2018, published figures beside ours: ``gap reproduce webster2018``.

Published figures come from ``webster2018_paper.json``; unverified ones are null there and "-" in the tables.
Members are fitted on GAP validation, as the paper does; nothing is fitted or chosen on test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.corpus import Corpus, make_folds
from gapstack.corpus.sources import GapData, find, load_gap
from gapstack.errors import printable
from gapstack.files import write_json, write_text
from gapstack.report.render import Table
from gapstack.report.scatter import precision_recall_svg
from gapstack.reproduce import webster2018_tables as tables
from gapstack.reproduce.webster2018_systems import Systems, cue_decisions, fit_transformers, read_resolvers
from gapstack.reproduce.webster2018_tables import PAPER
from gapstack.text.scenes import Setting

_DRAWN = ("Syntactic distance", "Parallelism", "Parallelism+URL", "Transformer-Single", "Transformer-Multi")


@dataclass(frozen=True)
class Report:
    """The tables in the order of the paper, and its figure as SVG."""

    tables: tuple[Table, ...]
    figure: str
    notes: tuple[str, ...]

    def text(self) -> str:
        """Plain text, 100 columns."""
        return "\n".join([*(table.text() for table in self.tables), *map(printable, self.notes)]) + "\n"

    def markdown(self) -> str:
        """GitHub Markdown."""
        return (
            "\n".join([*(table.markdown() for table in self.tables), *(f"- {n}" for n in self.notes)]) + "\n"
        )

    def json(self) -> dict[str, Any]:
        """Unrounded figures, for ``json.dumps``."""
        return {"paper": PAPER["paper"], "tables": [t.json() for t in self.tables], "notes": list(self.notes)}

    def write(self, folder: Path) -> list[Path]:
        """Write ``webster2018.md``, ``webster2018.json`` and ``figure1.svg`` to ``folder``; give their paths."""
        paths = [Path(folder) / name for name in ("webster2018.md", "webster2018.json", "figure1.svg")]
        write_text(paths[0], self.markdown())
        write_json(paths[1], self.json())
        write_text(paths[2], self.figure)
        return paths


def reproduce(
    data: GapData | Path | None = None,
    encoder: str | None = None,
    parser: str | Path | None = None,
    *,
    resolvers: Path | None = None,
    seed: int = 0,
) -> Report:
    """Compute the paper's tables 4 and 6 to 11 and its figure 1.

    Parameters
    ----------
    data : GapData or Path, optional
        Loaded data, or the folder to search first. With the embedded sample a fifth of its training part is the
        validation split.
    encoder, parser : str, optional
        For the transformer cues and for the structural cues.
    resolvers : Path, optional
        Folder of off-the-shelf resolvers' decisions; by default the data set ``resolvers`` if the search finds it.
        Without it the rows of resolvers are missing.
    seed : int
        Of the random baseline, of the trees and of the sample's validation part.

    Raises
    ------
    DataNotFoundError
        If there is no parser or encoder, or ``data`` names a folder that is not there.
    """
    found = data if isinstance(data, GapData) else load_gap(data)
    splits = _splits(found, seed)
    folder = (
        None if found.is_sample else resolvers or find("resolvers", data if isinstance(data, Path) else None)
    )
    fitted = {s: fit_transformers(splits["validation"], s, encoder, parser, seed) for s in Setting}

    def decide(split: str) -> Systems:
        corpus = splits[split]
        cues = {s: cue_decisions(corpus, s, parser, seed) | fitted[s].decide(corpus) for s in Setting}
        return Systems(corpus, read_resolvers(corpus, split, folder), cues)

    development, test = decide("development"), decide("test")
    result = (
        tables.off_the_shelf(development),
        tables.cue_table("Table 6", development, Setting.SNIPPET_CONTEXT),
        tables.cue_table("Table 7", development, Setting.GOLD_TWO_MENTION),
        tables.head_table(fitted[Setting.GOLD_TWO_MENTION].single, splits["validation"]),
        tables.against_parallelism(development),
        tables.rates_table(development),
        tables.test_table(test),
        tables.rates_table(test),
        tables.difficulty_table(development, test),
    )
    return Report(result, _figure(development), _notes(found, folder, splits))


def _figure(at_hand: Systems) -> str:
    cues = at_hand.cues[Setting.GOLD_TWO_MENTION]
    scores = at_hand.resolver_scores() | at_hand.scores({name: cues[name] for name in _DRAWN})
    title = f"Figure 1: precision and recall by gender, {at_hand.corpus.name}"
    return precision_recall_svg({name: found.gap for name, found in scores.items()}, title)


def _splits(data: GapData, seed: int) -> dict[str, Corpus]:
    if {"development", "validation", "test"} <= data.splits.keys():
        return data.splits
    folds = make_folds(data.train, 5, seed=seed).assignment
    return {
        "development": data.train.take(np.flatnonzero(folds > 0)),
        "validation": data.train.take(np.flatnonzero(folds == 0)),
        "test": data.test,
    }


def _notes(data: GapData, folder: Path | None, splits: Mapping[str, Corpus]) -> tuple[str, ...]:
    notes = [
        f"{PAPER['paper']}. {PAPER['provenance']}",
        f"Data: {data.source}, {splits['test'].label_set} labels. The transformer cues are fitted on "
        f"{splits['validation'].name} ({len(splits['validation'])} rows).",
        "Figure 1 is drawn from our systems alone; what the paper's shows could not be checked against the paper.",
    ]
    if folder is None:
        notes.append("No off-the-shelf resolver's decisions were found, so their rows are missing.")
    else:
        notes.append(
            "neuralcoref (spring 2019) was given only texts of up to 500 characters; on other rows it counts as FALSE "
            "for both names. e2e-coref's decisions are there for test only."
        )
    return tuple(notes)
