"""The corpora of a recipe."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from pathlib import Path

from gapstack.corpus import Corpus
from gapstack.corpus.cells import Quarantine
from gapstack.corpus.readers import read_gap
from gapstack.corpus.sources import HELD_OUT, STAGE2, GapData, load_gap, load_sample, relabel, stage2
from gapstack.runs.folder import SAMPLE
from gapstack.runs.recipe import Recipe


def gap_data(
    data: str | None = None, *, label_set: str = "official", quarantine: Quarantine | None = None
) -> GapData:
    """GAP as :func:`~gapstack.corpus.sources.load_gap` finds it, or the embedded sample for ``data="sample"``."""
    if data == "sample":
        return load_sample("The sample was asked for")
    return load_gap(Path(data) if data else None, label_set=label_set, quarantine=quarantine)


def corpora(
    recipe: Recipe, data: str | None = None, quarantine: Quarantine | None = None
) -> tuple[Recipe, Corpus, Corpus]:
    """Load the training and the held-out rows of a recipe; returns the recipe, and both.

    Parameters
    ----------
    recipe : Recipe
    data : str, optional
        Folder to look in first, or ``sample`` for the embedded sample, whose train and test parts then take
        the place of the recipe's splits (as they do where no GAP can be had); files that the recipe names stay. The
        recipe's name then ends in ``-sample``, so that runs on the sample and on GAP have different folders. A
        recipe of such a name always uses the sample.
    quarantine : Quarantine, optional
        Collects bad rows instead of raising.
    """
    folder = Path(data) if data and data != "sample" else None
    splits = {
        name: relabel(read_gap(Path(name), quarantine=quarantine), recipe.labels, folder)
        for name in (*recipe.train, *recipe.test)
        if name not in HELD_OUT
    }
    train, test = recipe.train, recipe.test
    if not splits.keys() >= {*train, *test}:
        place = "sample" if recipe.name.endswith(SAMPLE) else data
        gap = gap_data(place, label_set=recipe.labels, quarantine=quarantine)
        splits |= gap.splits
        if gap.is_sample:
            recipe = recipe.revised(name=recipe.name.removesuffix(SAMPLE) + SAMPLE)
            train, test = _of_sample(train, "train"), _of_sample(test, "test")
        elif STAGE2 in test:
            splits[STAGE2] = stage2(folder)
    rows = [reduce(add, (splits[name] for name in names)) for names in (train, test)]
    return recipe, rows[0], rows[1]


def _of_sample(names: Sequence[str], part: str) -> tuple[str, ...]:
    """The names with a part of the embedded sample in the place of splits."""
    return tuple(dict.fromkeys(part if name in HELD_OUT else name for name in names))
