"""The corpora of a recipe."""

from __future__ import annotations

from functools import reduce
from operator import add
from pathlib import Path

from gapstack.corpus import Corpus
from gapstack.corpus.cells import Quarantine
from gapstack.corpus.sources import STAGE2, load_gap, load_sample, stage2
from gapstack.runs.folder import SAMPLE
from gapstack.runs.recipe import Recipe


def corpora(
    recipe: Recipe, data: str | None = None, quarantine: Quarantine | None = None
) -> tuple[Recipe, Corpus, Corpus]:
    """Load the training and the held-out rows of a recipe; returns the recipe, and both.

    Parameters
    ----------
    recipe : Recipe
    data : str, optional
        Folder to look in first, or ``sample`` for the embedded sample, whose train and test parts then take
        the place of the recipe's splits (as they do where no GAP can be had). The recipe's name then ends in
        ``-sample``, so that runs on the sample and on GAP have different folders. A recipe of such a name always
        uses the sample.
    quarantine : Quarantine, optional
        Collects bad rows instead of raising.
    """
    if data == "sample" or recipe.name.endswith(SAMPLE):
        gap = load_sample("The sample was asked for")
    else:
        gap = load_gap(Path(data) if data else None, label_set=recipe.labels, quarantine=quarantine)
    if gap.is_sample:
        return recipe.revised(name=recipe.name.removesuffix(SAMPLE) + SAMPLE), gap.train, gap.test
    splits = {
        **gap.splits,
        **({STAGE2: stage2(Path(data) if data else None)} if STAGE2 in recipe.test else {}),
    }
    train, test = (reduce(add, (splits[name] for name in names)) for names in (recipe.train, recipe.test))
    return recipe, train, test
