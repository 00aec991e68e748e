"""The corpora that a recipe asks for."""

from __future__ import annotations

from functools import reduce
from operator import add
from pathlib import Path

from gapstack.corpus import Corpus
from gapstack.corpus.cells import Quarantine
from gapstack.corpus.sources import load_gap, load_sample
from gapstack.runs.folder import SAMPLE
from gapstack.runs.recipe import Recipe


def corpora(
    recipe: Recipe, data: str | None = None, quarantine: Quarantine | None = None
) -> tuple[Recipe, Corpus, Corpus]:
    """Load what a recipe trains on and what it holds out; give the recipe, and both.

    Parameters
    ----------
    recipe : Recipe
    data : str, optional
        Folder to look in first, or ``sample`` for the embedded sample, whose train and test parts then take
        the place of the recipe's splits (as they do where no GAP can be had). The recipe's name then ends in
        ``-sample``, so that a run on the sample never stands in the way of one on GAP. A recipe of that name is
        one of a run on the sample, and stays with it.
    quarantine : Quarantine, optional
        Takes bad rows so that the others can be read.
    """
    if data == "sample" or recipe.name.endswith(SAMPLE):
        found = load_sample("The sample was asked for")
    else:
        found = load_gap(Path(data) if data else None, label_set=recipe.labels, quarantine=quarantine)
    if found.is_sample:
        return recipe.revised(name=recipe.name.removesuffix(SAMPLE) + SAMPLE), found.train, found.test
    train, test = (reduce(add, (found.splits[s] for s in splits)) for splits in (recipe.train, recipe.test))
    return recipe, train, test
