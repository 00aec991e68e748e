"""The tables of Webster et al. 2018, published figures beside ours: ``gap reproduce webster2018``.

Published figures are :func:`gapstack.corpus.papers.paper`'s. Members are fitted on GAP validation, as the paper does;
nothing is fitted or chosen on test.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from gapstack.corpus import Corpus, make_folds
from gapstack.corpus.papers import paper, papers_note
from gapstack.corpus.sources import GapData, find, load_gap
from gapstack.report.scatter import precision_recall_svg
from gapstack.reproduce import webster2018_tables as tables
from gapstack.reproduce.beside_paper import ComputedTables
from gapstack.reproduce.webster2018_agreement import (
    difficulty_table,
    read_red,
    red_table,
    red_template,
    statistics_table,
)
from gapstack.reproduce.webster2018_corpus import (
    annotation_table,
    diversity_table,
    ontonotes_table,
    patterns_table,
)
from gapstack.reproduce.webster2018_systems import Systems, fit_cues, read_resolvers
from gapstack.text.heads import heads_of
from gapstack.text.scenes import Candidates, Context, Setting

_DRAWN = ("Syntactic Distance", "Parallelism", "Transformer-Single", "Transformer-Multi")


class Report(ComputedTables):
    """The tables in the order of the paper, its figure 1, and Red pairs of table 11 to be annotated for table 12."""

    NAME = "webster2018"
    TITLE = "Webster, Recasens, Axelrod and Baldridge 2018, Mind the GAP (TACL 6)"


def reproduce(
    data: GapData | Path | None = None,
    encoder: str | None = None,
    parser: str | Path | None = None,
    *,
    resolvers: Path | None = None,
    red: Path | None = None,
    seed: int = 0,
) -> Report:
    """Compute the paper's tables, the statistics of its text and its figure 1; table 5 is reported alone.

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
    red : Path, optional
        Annotations of Red pairs for table 12: ``red.tsv`` of :meth:`Report.write`, filled in.
    seed : int
        Of the random baseline, of the trees, of the sample's validation part and of the Red pairs for annotation.

    Raises
    ------
    DataNotFoundError
        If there is no parser or encoder, or ``data`` names a folder that is not there.
    DataError
        If the file of annotations is not as it should be.
    """
    annotations = read_red(red) if red else None
    found = data if isinstance(data, GapData) else load_gap(data)
    splits = _splits(found, seed)
    place = data if isinstance(data, Path) else None
    folder = None if found.is_sample else resolvers or find("resolvers", place)
    fitted = [
        fit_cues(splits["validation"], candidates, encoder, parser, seed)
        for candidates in (Candidates.DETECTED, Candidates.GOLD_TWO_MENTION)
    ]

    def decide(split: str) -> Systems:
        corpus = splits[split]
        cues = {setting: decisions for one in fitted for setting, decisions in one.decide(corpus).items()}
        heads = heads_of(corpus, parser) if folder else None
        return Systems(corpus, read_resolvers(corpus, split, folder, heads), cues)

    development, test = decide("development"), decide("test")
    theirs = paper("webster2018", place)
    agreement = [(systems, systems.difficulty()) for systems in (development, test)]
    result = (
        patterns_table(splits, parser),
        diversity_table(splits, theirs),
        annotation_table(splits, theirs),
        tables.off_the_shelf(development, theirs),
        ontonotes_table(theirs),
        tables.cue_table(6, development, Candidates.DETECTED, theirs),
        tables.cue_table(7, development, Candidates.GOLD_TWO_MENTION, theirs),
        tables.head_table(
            fitted[0].single, {split: splits[split] for split in ("validation", "development")}, theirs
        ),
        tables.against_parallelism(development, theirs),
        tables.rates_table(development),
        tables.test_table(test, theirs),
        tables.rates_table(test),
        difficulty_table(agreement, theirs),
        red_table(theirs, annotations),
        statistics_table(agreement, theirs, parser),
    )
    missing = papers_note("webster2018", data=place)
    files = {
        "figure1.svg": _figure(development),
        "red.tsv": red_template(development.corpus, agreement[0][1], seed),
    }
    return Report(result, _notes(found, folder, splits, missing), files)


def _figure(at_hand: Systems) -> str:
    setting = Setting(Candidates.DETECTED, Context.SNIPPET)
    cues = at_hand.cues[setting]
    scores = at_hand.resolver_scores() | at_hand.scores({name: cues[name] for name in _DRAWN})
    title = f"Figure 1: precision and recall by gender, {setting}, {at_hand.corpus.name}"
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


def _notes(data: GapData, folder: Path | None, splits: Mapping[str, Corpus], missing: str) -> tuple[str, ...]:
    notes = [
        f"{Report.TITLE}.",
        *([missing] if missing else []),
        f"Data: {data.source}, {splits['test'].label_set} labels. The transformer cues are fitted on "
        f"{splits['validation'].name} ({len(splits['validation'])} rows).",
        "Figure 1 is drawn from the systems at hand, cues in snippet-context.",
    ]
    if folder is None:
        notes.append("No off-the-shelf resolver's decisions were found, so their rows are missing.")
    else:
        notes.append(
            "neuralcoref (spring 2019) was given only texts of up to 500 characters; on other rows it counts as FALSE "
            "for both names. e2e-coref's decisions are there for test only."
        )
    return tuple(notes)
