"""Fit the bundled model of rows of two names: recipe ``small``, on all rows of GAP, with a model card.

    python scripts/build_small.py                # writes models/gapstack-small
    python scripts/build_small.py --check        # fits again and compares with what is there, byte for byte

Development, validation and test are cross-validated together, and the stack's own out-of-fold predictions give the
card's figures, so no figure is of a row that was fitted on. Since GAP test is among the rows, the model must never be
scored on it; ``gap run small`` is the same recipe with test held out, and has the figures that may be compared.

The same data, code, libraries and kind of processor give the same bytes; set OMP_NUM_THREADS=1. Nothing random is
without a seed, and no file holds a time or a path.
"""

import argparse
import tempfile
from functools import reduce
from operator import add
from pathlib import Path

import gapstack
from gapstack.data import Corpus
from gapstack.data.gap_data import SPLITS
from gapstack.errors import DataError, Place
from gapstack.files import atomic_folder, sha256, write_text
from gapstack.members.member import Member
from gapstack.records import versions
from gapstack.runs.predictors import SHIPPED
from gapstack.runs.recipe import Recipe

ROOT = Path(__file__).resolve().parents[1]
MEGABYTES = 60
"""The model and the parser together have no more."""

_CARD = """# {name}

The model of rows of two names that `gapstack.load()` reads, and `gap ask` where the address of the page is given:
recipe `{recipe}`, a stack of {members}, pooled by the stacker `{stacker}` (calibration: {calibration}).
{folds} fits of each member, one without each fold of the rows; their answers are averaged.

- Fitted on: {rows:,} rows of GAP (`{digest}`), {labels} labels, all splits. **GAP test is among them: never score it
  there.**
- Out of fold on these rows, with both names given and page titles read: logloss {logloss:.4f}, F1 {f1:.1f} (masculine
  {f1_masculine:.1f}, feminine {f1_feminine:.1f}), bias {bias:.3f}.
- It knows he, him, his, she and her; other pronouns are answered as those are, and the answer says so.
- What to expect of any text, with names detected, is in `docs/any-text.md`.
- Fitted with: {versions}.
- Written by `scripts/build_small.py`, byte for byte again. No pickle: safetensors, LightGBM's text, JSON.

Licence: Apache-2.0. GAP is Apache-2.0, with texts from Wikipedia.
"""


def main(argv: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipe", default="small", help="a recipe's name or file")
    parser.add_argument("--output", type=Path, default=ROOT / "models" / SHIPPED)
    parser.add_argument("--check", action="store_true", help="compare with what is there instead of writing")
    args = parser.parse_args(argv)
    recipe = Recipe.load(args.recipe)
    if args.check:
        with tempfile.TemporaryDirectory() as folder:
            build(recipe, rows_of(recipe), Path(folder) / SHIPPED)
            compare(Path(folder) / SHIPPED, args.output)
        print(f"{args.output} is what comes out, byte for byte")
    else:
        build(recipe, rows_of(recipe), args.output)
        size = sum(path.stat().st_size for path in args.output.rglob("*") if path.is_file()) / 1e6
        print(f"wrote {args.output}, {size:.1f} MB; with the parser at most {MEGABYTES} MB are shipped")


def rows_of(recipe: Recipe) -> Corpus:
    """All rows of GAP with the recipe's labels; DataError where only the embedded sample is at hand."""
    gap = gapstack.load_gap(label_set=recipe.labels)
    if gap.is_sample:
        raise DataError("GAP was not found", expected="GAP", remedy="Name its folder with GAP_DATA")
    return reduce(add, (gap.splits[split] for split in SPLITS))


def build(recipe: Recipe, rows: Corpus, output: Path) -> None:
    """Fit the recipe's stack on all rows and write it with its card, whole or not at all."""
    stack = gapstack.create(
        "stack",
        members=[
            {"name": part.name, "label": part.label, "settings": part.settings} for part in recipe.members
        ],
        stackers=[
            {"name": part.name, "label": part.label, "settings": part.settings} for part in recipe.stackers
        ],
        calibrators=list(recipe.calibrators),
        folds=recipe.folds,
        seed=recipe.seed,
    ).fit(rows)
    with atomic_folder(output) as folder:
        gapstack.save(
            stack, folder / SHIPPED
        )  # its record vouches for what lies beside it, so the card comes after
        for path in (folder / SHIPPED).iterdir():
            path.rename(folder / path.name)
        (folder / SHIPPED).rmdir()
        write_text(folder / "README.md", card(recipe, rows, stack))


def card(recipe: Recipe, rows: Corpus, stack: Member) -> str:
    """The model card."""
    scores = gapstack.score(rows, stack.out_of_fold_)
    return _CARD.format(
        name=SHIPPED,
        recipe=recipe.name,
        members=", ".join(f"`{part.label}`" for part in recipe.members),
        stacker=stack.choice_.label,
        calibration=stack.calibration_,
        folds=len(stack.fits_),
        rows=len(rows),
        labels=recipe.labels,
        digest=rows.fingerprint,
        logloss=scores.logloss,
        f1=scores.f1_overall,
        f1_masculine=scores.f1_masculine,
        f1_feminine=scores.f1_feminine,
        bias=scores.bias,
        versions=", ".join(f"{name} {version}" for name, version in versions().items()),
    )


def compare(built: Path, there: Path) -> None:
    """Raise DataError for the first file in which two folders differ."""
    one, other = (
        {path.relative_to(folder).as_posix(): sha256(path) for path in folder.rglob("*") if path.is_file()}
        for folder in (built, there)
    )
    for name in sorted({**one, **other}):
        if one.get(name) != other.get(name):
            raise DataError(
                "is not what comes out now",
                place=Place(there / name),
                expected=f"SHA-256 {one.get(name, 'of nothing')}",
            )


if __name__ == "__main__":
    main()
