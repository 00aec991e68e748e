"""What equal treatment of both genders costs: remedies at the stack of a finished run, out of fold and held out.

Each remedy is fitted on the run's stored base predictions: calibration by gender, feminine rows that weigh more in the
stacker's fit, weights of the members that depend on the gender or on the row, and the stack's predictions averaged
over gender-swapped copies. Out-of-fold figures are nested: no prediction comes from a stacker or calibrator that was
fitted on its fold. The last line chooses out of fold, so that the held-out figures are one last look.

    python scripts/price_of_fairness.py quickstart
    python scripts/price_of_fairness.py models/quickstart --twins url --twins surface

With --twins the fits of these members predict the gender-swapped copies; other members keep their predictions for the
original. --twins all is exact, and takes as long as predicting all rows of the run once more.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from sklearn.base import clone

from gapstack.corpus import Corpus, Folds, Gender
from gapstack.corpus.augment import Variant, average, variants
from gapstack.ensemble import Stacker, create_calibrator, create_stacker
from gapstack.ensemble.fitted_stacker import FittedStacker
from gapstack.ensemble.stacker import EVIDENCE
from gapstack.errors import DataError
from gapstack.features.blocks import Features, features
from gapstack.members.store import load
from gapstack.progress import progress
from gapstack.registry import unknown
from gapstack.report.render import Cell, Column, Section, Table
from gapstack.runs.answers import HELD_OUT, OUT_OF_FOLD, run_answers, run_corpora
from gapstack.runs.corpora import corpora
from gapstack.runs.folder import STACK, RunFolder
from gapstack.runs.identity import refuse_changed_members
from gapstack.runs.recipe import Recipe, require_run
from gapstack.scoring import score
from gapstack.scoring.intervals import Bootstrap, bootstrap, contributions
from gapstack.types import BasePredictions, Bools, Probabilities

AS_IT_IS = "the run's stack"
HEAVIER = (1.5, 2.0, 3.0)
"""Weights of feminine rows in the stacker's fit."""
_COLUMNS = (
    Column("logloss", "logloss", 4, "low"),
    Column("change", "change"),
    Column("masculine", "F1 M", 1, "high"),
    Column("feminine", "F1 F", 1, "high"),
    Column("bias", "bias", 3),
    Column("bias_change", "its change"),
    Column("ece", "ECE", 3, "low"),
    Column("ece_masculine", "ECE M", 3, "low"),
    Column("ece_feminine", "ECE F", 3, "low"),
)


@dataclass(frozen=True)
class Copy:
    """The rows of a run as they are, or with the genders swapped, and the members' predictions for them.

    ``out_of_fold`` is (n, m, 3) for the training rows; ``by_fold`` has each fold's (n, m, 3) for the held-out rows.
    """

    train: Corpus
    test: Corpus
    out_of_fold: BasePredictions
    by_fold: Sequence[BasePredictions]


@dataclass(frozen=True)
class System:
    """A stacker with its calibrator, as fitted without each fold (``outer``) and on all training rows."""

    outer: Sequence[FittedStacker]
    whole: FittedStacker


Answers = dict[str, Probabilities]
"""Probabilities (n, 3) by part of the run: out of fold, and held out."""


class FinishedRun:
    """A finished run with a stack: its rows, folds and base predictions.

    Parameters
    ----------
    folder : RunFolder
    data : str, optional
        Where to look for GAP first, or ``sample``.

    Raises
    ------
    DataError
        If the run has no stack, is not finished, or is damaged.
    MismatchError
        If the data are not those of the run.
    """

    def __init__(self, folder: RunFolder, data: str | None = None):
        self.folder, self.recipe = folder, Recipe.of_run(folder)
        if not self.recipe.stacked:
            raise DataError(f"run {folder.root.name} has no stack", expected="a run of members and stackers")
        self.scored = run_corpora(folder, data)
        # with the labels that the run learned from; their rows are those that were just checked
        _, train, test = corpora(self.recipe, data)
        self.folds = Folds.load(folder.root / "folds.json", train)
        self.labels = [part.label for part in self.recipe.members]
        predictions = run_answers(folder, train).members
        by_fold = [folder.base_predictions(self.labels, fold, test.ids) for fold in range(self.folds.k)]
        out_of_fold = np.stack([predictions[label] for label in self.labels], axis=1)
        self.rows = Copy(train, test, out_of_fold, by_fold)
        self.stack: Answers = {
            OUT_OF_FOLD: predictions[STACK],
            HELD_OUT: run_answers(folder, test, [STACK]).members[STACK],
        }

    @cached_property
    def evidence(self) -> Features:
        """Hand-made features of the training rows."""
        return features(self.rows.train, EVIDENCE)

    def chosen(self) -> tuple[Stacker, str]:
        """The stacker that the run chose, and the name of its calibrator."""
        record = self.folder.stack() or {}
        return create_stacker(record["stacker"], **record["settings"]), record["calibration"]

    def system(self, stacker: Stacker, calibrator: str = "none") -> System:
        """Fit a stacker, and a calibrator on its cross-validated predictions, without each fold and on all rows."""
        folds = self.folds.assignment
        outer = [self._fitted(stacker, calibrator, folds != fold) for fold in range(self.folds.k)]
        return System(outer, self._fitted(stacker, calibrator, folds >= 0))

    def _fitted(self, stacker: Stacker, calibrator: str, rows: Bools) -> FittedStacker:
        train, folds = self.rows.train, self.folds.assignment
        inner = np.empty((len(train), 3))
        if calibrator != "none":
            for fold in np.unique(folds[rows]):
                held = folds == fold
                evidence = self.evidence.take(held) if stacker.READS_EVIDENCE else None
                fit = self._fit(stacker, rows & ~held)
                inner[held] = fit.predict_proba(self.rows.out_of_fold[held], evidence)
        step = create_calibrator(calibrator)
        step.fit(inner[rows], train.labels[rows], train.genders[rows])
        return FittedStacker(self._fit(stacker, rows), step)

    def _fit(self, stacker: Stacker, rows: Bools) -> Stacker:
        evidence = self.evidence.take(rows) if stacker.READS_EVIDENCE else None
        fresh: Stacker = clone(stacker)
        return fresh.fit(self.rows.out_of_fold[rows], self.rows.train.labels[rows], evidence)

    def answers(self, system: System, rows: Copy) -> Answers:
        """Predict one copy of the run's rows: training rows by the fit without their fold."""
        out_of_fold = np.empty((len(rows.train), 3))
        for fold, fitted in enumerate(system.outer):
            held = self.folds.split(fold)[1]
            out_of_fold[held] = fitted.predict_proba([rows.out_of_fold[held]], rows.train.take(held))
        return {OUT_OF_FOLD: out_of_fold, HELD_OUT: system.whole.predict_proba(rows.by_fold, rows.test)}

    def swapped(self, labels: Collection[str]) -> tuple[Copy, Mapping[str, list[Variant]]]:
        """The gender-swapped copy, predicted by the stored fits of ``labels``; and both copies, by part.

        Raises
        ------
        UnknownNameError
            If the run has no such member.
        MismatchError
            If a member would not predict as it did.
        """
        for label in labels:
            if label not in self.labels:
                raise unknown(f"member of run {self.folder.root.name}", label, self.labels)
        refuse_changed_members(self.folder, self.recipe, labels, self.folds.k)
        names = ("original", "swap_gender")
        both = {
            OUT_OF_FOLD: variants(self.rows.train.unlabelled(), names),
            HELD_OUT: variants(self.rows.test.unlabelled(), names),
        }
        (_, train), (_, test) = both[OUT_OF_FOLD], both[HELD_OUT]
        out_of_fold = self.rows.out_of_fold.copy()
        by_fold = [table.copy() for table in self.rows.by_fold]
        changed = np.flatnonzero(test.changed)
        with progress("gender-swapped copies", len(labels) * self.folds.k) as bar:
            for label, fold in product(labels, range(self.folds.k)):
                column = self.labels.index(label)
                member = load(self.folder.fold(label, fold) / "member")
                held = np.flatnonzero(train.changed & (self.folds.assignment == fold))
                out_of_fold[held, column] = member.predict_proba(train.corpus.take(held))
                by_fold[fold][changed, column] = member.predict_proba(test.corpus.take(changed))
                bar.advance(note=label)
        return Copy(train.corpus, test.corpus, out_of_fold, by_fold), both


def remedies(run: FinishedRun, twins: Collection[str] = ()) -> dict[str, Answers]:
    """Probabilities of the run's stack and of each remedy; averaged over swapped copies if ``twins`` names members."""
    stacker, calibrator = run.chosen()
    by_name = {
        "calibrated": (stacker, "vector"),
        "calibrated by gender": (stacker, "by_gender"),
        "conditional logit": (create_stacker("conditional"), "none"),
        **{
            f"feminine rows x{weight:g}": (
                create_stacker("feature_weighted", features=[], feminine=weight),
                "none",
            )
            for weight in HEAVIER
        },
        "weights by gender": (create_stacker("feature_weighted", features=["feminine"]), "none"),
        "weights by the row": (create_stacker("feature_weighted"), "none"),
    }
    answers: dict[str, Answers] = {AS_IT_IS: run.stack}
    with progress("remedies", len(by_name)) as bar:
        for name, (kind, step) in by_name.items():
            answers[name] = run.answers(run.system(kind, step), run.rows)
            bar.advance(note=name)
    if twins:
        system = run.system(stacker, calibrator)
        copy, both = run.swapped(twins)
        original, swapped = run.answers(system, run.rows), run.answers(system, copy)
        answers["swapped copies averaged"] = {
            part: average(pair, [original[part], swapped[part]]) for part, pair in both.items()
        }
    return answers


def table(run: FinishedRun, answers: Mapping[str, Answers], replicates: int = 10_000) -> Table:
    """What each remedy changes, on every part of the run that has labels."""
    sections, chosen = [], ""
    for part in (OUT_OF_FOLD, HELD_OUT):
        rows = run.scored[part]
        if not rows.is_labelled:
            continue
        sums = {name: contributions(rows, each[part]) for name, each in answers.items()}
        resampled = bootstrap(rows.groups, sums, replicates=replicates)
        if part == OUT_OF_FOLD:
            chosen = fairest(resampled)
        cells = [(name, _cells(rows, each[part], name, resampled)) for name, each in answers.items()]
        sections.append(Section(f"{part}: {rows.name}, {len(rows):,} rows, {rows.label_set} labels", cells))
    return Table(
        _COLUMNS,
        sections,
        title=f"The price of fairness: remedies at the stack of {run.recipe.name}",
        caption=f"Bias is F1 F / F1 M, best near 1; its change has a 95% interval ({replicates:,} resamples of pages, "
        "paired). Change: of logloss. The calibration error of a thousand rows is some .02 by noise alone. Nearest to "
        f"bias 1 of all within a standard error of the least logloss, out of fold: {chosen}.",
        name_title="remedy",
    )


def _cells(rows: Corpus, probabilities: Probabilities, name: str, resampled: Bootstrap) -> dict[str, Cell]:
    scores = score(rows, probabilities)
    cells: dict[str, Cell] = {
        **{"logloss": scores.logloss, "masculine": scores.f1_masculine, "feminine": scores.f1_feminine},
        **{"bias": scores.bias, "ece": scores.ece},
    }
    for gender in (Gender.MASCULINE, Gender.FEMININE):
        own = np.flatnonzero(rows.genders == gender.value)
        cells[f"ece_{gender.value}"] = score(rows.take(own), probabilities[own]).ece
    if name != AS_IT_IS:
        bias = resampled.difference(name, AS_IT_IS, "bias")
        cells["change"] = f"{resampled.difference(name, AS_IT_IS, 'logloss').value:+.4f}"
        cells["bias_change"] = f"{bias.low:+.3f} {bias.high:+.3f}"
    return cells


def fairest(resampled: Bootstrap) -> str:
    """Name of the remedy with bias nearest to 1 among those within one standard error of the least logloss."""
    losses, samples = resampled.points["logloss"], resampled.samples["logloss"]
    best = int(losses.argmin())
    errors = (samples - samples[:, [best]]).std(axis=0)
    near = losses - losses[best] <= errors
    return resampled.members[int(np.where(near, np.abs(np.log(resampled.points["bias"])), np.inf).argmin())]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", help="a finished run: its folder, or its name in GAPSTACK_HOME")
    parser.add_argument("--data", help="folder to look for GAP in first, or sample")
    parser.add_argument(
        "--twins", action="append", default=[], help="member that predicts swapped copies; or all"
    )
    options = parser.parse_args()
    run = FinishedRun(require_run(options.run)[0], options.data)
    print(table(run, remedies(run, run.labels if options.twins == ["all"] else options.twins)).text())


if __name__ == "__main__":
    main()
