"""How pairwise answers become one distribution: alternatives measured on GAP with detected names, weights fitted.

A stack that was fitted on all of GAP, as ``scripts/build_small.py`` does, answers every row out of fold: names are
detected, all pairs of the nearest are asked of the fit that has not seen the row's page, and nothing of A and B is
used until the answer is scored. Page titles are not read, unless ``--pages``. A person counts as A or B when one of
the names is part of the other; logloss is of the three classes A, B and neither of them, F1 and bias are the official
scorer's.

The calibration error of links is over all candidates of a row: each is the antecedent with the probability that it was
given, or not. Where the label is NEITHER that is known of A and B alone. The calibration error of answers is of the
most probable of A, B and neither of them.

    python benchmarks/coupling.py models/gapstack-small [--pages] [--rows 2454]
    python benchmarks/coupling.py models/gapstack-small --test [--pages]  # one last look, at the weights in the code

The rows are those of development and validation, on which weights are fitted; with ``--test`` those of GAP test, and
nothing is fitted.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

import gapstack
from gapstack.antecedents.coupling import beyond_pairs, choice, couple, pair_utilities
from gapstack.antecedents.first_names import common_first_names
from gapstack.antecedents.people import names, people
from gapstack.antecedents.questions import Question, question
from gapstack.corpus import Corpus
from gapstack.corpus.folds import Folds
from gapstack.corpus.sources import SPLITS
from gapstack.ensemble.stack import _base_predictions
from gapstack.runs.fitted import FittedRun
from gapstack.scoring import score_decisions
from gapstack.scoring.metrics import ECE_BINS, expected_calibration_error
from gapstack.text.parses import parses
from gapstack.types import Bools, Floats, Labels, Probabilities

MEASURED = ("development", "validation")
FLOOR = 1e-3
"""Of a class's probability, before logloss."""


@dataclass
class Case:
    """A row with its question, the pairs' answers, and which candidates are A and B (k, 2)."""

    row: int
    form: str
    question: Question
    answers: Floats
    hits: Bools


HELD_OUT = -1
"""The fold of a row that no fit has seen."""


class Answering:
    """A fitted stack, or a finished run, that answers each row by the fits that have not seen its page.

    Attributes
    ----------
    rows : Corpus
        GAP.
    folds : (n,) int64
        The fold that held each row, or :data:`HELD_OUT`, which all fits together answer.
    """

    def __init__(self, name: str):
        predictor = gapstack.load(name)
        gap = gapstack.load_gap()
        self.rows = reduce(add, (gap.splits[split] for split in SPLITS))
        self._run = predictor if isinstance(predictor, FittedRun) else None
        if self._run is None:
            self._stack, self._fits = predictor.stacker_, predictor.fits_
            self.folds = predictor._assignment(self.rows).assignment
        else:
            run = self._run
            seen = reduce(add, (gap.splits[split] for split in run.recipe.train))
            self._stack = run._stack
            self._fits = [
                {label: run._member(label, fold) for label in run.members} for fold in range(run.folds)
            ]
            of_seen = Folds.load(run.folder.root / "folds.json", seen).assignment.tolist()
            fold_of = dict(zip(seen.ids, of_seen, strict=True))
            self.folds = np.array([fold_of.get(name, HELD_OUT) for name in self.rows.ids])

    def predict(self, fold: int, corpus: Corpus) -> Probabilities:
        """Answer rows by the fit without ``fold``."""
        if fold == HELD_OUT:
            return self._run.predict_proba(corpus)
        fits = self._fits[fold]
        for member in fits.values():
            member.prepare(corpus)
        return self._stack.predict_proba([_base_predictions(fits, corpus)], corpus)


def cases(answering: Answering, chosen: list[int], pages: bool) -> list[Case]:
    """Ask about all pairs of the rows' candidates."""
    found = []
    rows = answering.rows
    trees = parses([rows[row].text for row in chosen])
    for row, tree in zip(chosen, trees, strict=True):
        example = rows[row]
        mentions = [span for span in names(tree) if not span.overlaps(example.pronoun)]
        one = question(
            example.text,
            example.pronoun,
            people(example.text, mentions, common_first_names()),
            example.url if pages else None,
        )
        called = [[example.words(mention) for mention in person.mentions] for person in one.people]
        hits = [
            [any(part in name or name in part for part in words) for name in (example.a_text, example.b_text)]
            for words in called
        ]
        found.append(
            Case(row, example.pronoun_text, one, np.empty((0, 3)), np.array(hits, dtype=bool).reshape(-1, 2))
        )
    for fold in np.unique(answering.folds[chosen]).tolist():
        own = [case for case in found if answering.folds[case.row] == fold]
        corpus = Corpus(
            [replace(row, id=f"{case.row}-{row.id}") for case in own for row in case.question.rows]
        )
        if len(corpus):
            answers = answering.predict(fold, corpus)
            parts = np.split(answers, np.cumsum([len(case.question.rows) for case in own])[:-1])
            for case, part in zip(own, parts, strict=True):
                case.answers = part
    return found


def mean(case: Case) -> Floats:
    """Each class's mean share of the rows that show it."""
    k = len(case.question.people)
    sums, counts = np.zeros(k + 1), np.zeros(k + 1)
    for (i, j), shares in zip(case.question.pairs, case.answers, strict=True):
        places = [i, j, k]  # -1, a rival that is nobody, is the last place too
        np.add.at(sums, places, shares)
        np.add.at(counts, [i, j] if min(i, j) >= 0 else [max(i, j), k], 1)
        counts[k] += min(i, j) >= 0
    shares = np.divide(sums, counts, out=np.full(k + 1, FLOOR), where=counts > 0)
    return shares / shares.sum()


def names_first(pick: Callable[[Floats], float]) -> Callable[[Case], Floats]:
    """Couple the candidates alone (NEITHER left out), and take nobody's share from the rows' NEITHER."""

    def coupling(case: Case) -> Floats:
        k = len(case.question.people)
        if k < 2 or not len(case.answers):
            return mean(case)
        two = case.answers.copy()
        two[:, 2] = 0
        odds = pair_utilities(case.question, two)
        shares = np.exp(odds - odds.max())
        nobody = pick(case.answers[:, 2])
        return np.append(shares / shares.sum() * (1 - nobody), nobody)

    return coupling


def coupled(case: Case) -> Floats:
    """Nobody as an alternative of every row."""
    return choice(pair_utilities(case.question, case.answers))


ALTERNATIVES: dict[str, Callable[[Case], Floats]] = {
    "mean share": mean,
    "names coupled; nobody: mean NEITHER": names_first(np.mean),
    "names coupled; nobody: least NEITHER": names_first(np.min),
    "nobody coupled like a name": coupled,
}


def three(case: Case, shares: Floats) -> Floats:
    """Shares (k + 1,) as probabilities of A, B and neither of them."""
    a = shares[:-1][case.hits[:, 0]].sum()
    b = shares[:-1][case.hits[:, 1] & ~case.hits[:, 0]].sum()
    p = np.clip([a, b, 1 - a - b], FLOOR, None)
    return p / p.sum()


def report(name: str, found: list[Case], rows: Corpus, shares: list[Floats]) -> None:
    """Print one line of figures."""
    own = rows.take(case.row for case in found)
    p = np.array([three(case, one) for case, one in zip(found, shares, strict=True)])
    decided = np.array(
        [
            case.hits[one.argmax()] if one.argmax() < len(case.hits) else (False, False)
            for case, one in zip(found, shares, strict=True)
        ]
    )
    scores = score_decisions(own, decided)
    logloss = -np.log(p[np.arange(len(p)), own.labels]).mean()
    print(
        f"{name:42} logloss {logloss:.4f}  F1 {scores.f1_overall:.1f} (M {scores.f1_masculine:.1f}, "
        f"F {scores.f1_feminine:.1f}, bias {scores.bias:.3f})  calibration error: links "
        f"{calibration_error_of_links(found, own.labels, shares):.3f}, answers "
        f"{expected_calibration_error(own.labels, p):.3f}",
        flush=True,
    )


def calibration_error_of_links(found: list[Case], labels: Labels, shares: list[Floats]) -> float:
    """Expected calibration error over all links whose truth is known."""
    known = [
        (share, label < 2 and hit[label])
        for case, label, of_case in zip(found, labels, shares, strict=True)
        for share, hit in zip(of_case, case.hits, strict=False)  # nobody's share is no link
        if label < 2 or hit.any()
    ]
    share, right = np.array(known, dtype=np.float64).T
    places = np.clip(np.ceil(share * ECE_BINS) - 1, 0, None).astype(int)
    return float(np.abs(np.bincount(places, share - right)).sum() / len(share))


def fitted(found: list[Case], labels: Labels, columns: list[int]) -> Floats:
    """Fit the weights of the coupled utility and of the columns beyond it, by maximum likelihood."""
    most = max(len(case.hits) for case in found)
    there = np.zeros((len(found), most), dtype=bool)
    table, hits = np.zeros((len(found), most, 1 + len(columns))), np.zeros((len(found), most, 2))
    for row, case in enumerate(found):
        k = len(case.hits)
        there[row, :k], table[row, :k], hits[row, :k] = True, design(case, columns), case.hits
    hits[..., 1] *= 1 - hits[..., 0]

    def loss(weights: Floats) -> float:
        logits = np.where(there, table @ weights, -np.inf)
        shares = np.exp(logits - np.logaddexp(0.0, logsumexp(logits, axis=1))[:, None])
        names = np.einsum("nk,nkc->nc", shares, hits)
        p = np.clip(np.column_stack([names, 1 - names.sum(axis=1)]), FLOOR, None)
        p /= p.sum(axis=1, keepdims=True)
        return float(-np.log(p[np.arange(len(p)), labels]).mean() + 1e-4 * (weights**2).sum())

    start = np.zeros(1 + len(columns))
    start[0] = 1.0
    weights: Floats = minimize(loss, start, method="L-BFGS-B").x
    return weights


def design(case: Case, columns: list[int]) -> Floats:
    """Columns of the conditional logit over the candidates, (k, 1 + columns)."""
    beyond = beyond_pairs(case.question, case.form)
    return np.column_stack([pair_utilities(case.question, case.answers), beyond[:, columns]])


def compare(found: list[Case], rows: Corpus, fit: bool) -> None:
    """Report every alternative, and the weights of the code; with ``fit`` weights that are fitted to these rows."""
    print(
        f"{len(found):,} rows, {np.mean([len(case.question.people) for case in found]):.1f} candidates, "
        f"{np.mean([len(case.answers) for case in found]):.1f} pairs a row"
    )
    for name, alternative in ALTERNATIVES.items():
        report(name, found, rows, [alternative(case) for case in found])
    shipped = [couple(case.question, case.answers, case.form) for case in found]
    report("conditional logit, weights of the code", found, rows, shipped)
    if not fit:
        return
    labels = rows.take(case.row for case in found).labels
    pages = np.unique(rows.groups[[case.row for case in found]], return_inverse=True)[1] % 3
    for name, columns in {
        "+ nobody": [0],
        "+ other gender": [0, 1],
        "+ same gender": [0, 1, 2],
        "+ mentions": [0, 1, 2, 3],
    }.items():
        shares: list[Floats] = [np.empty(0)] * len(found)
        for part in range(3):
            seen = np.flatnonzero(pages != part)
            weights = fitted([found[i] for i in seen], labels[seen], columns)
            for i in np.flatnonzero(pages == part):
                shares[i] = choice(design(found[i], columns) @ weights)
        every = ", ".join(f"{weight:.2f}" for weight in fitted(found, labels, columns))
        report(f"conditional logit: coupled {name}", found, rows, shares)
        print(f"{'':42} weights on all rows: {every}")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="a saved stack or a run")
    parser.add_argument("--test", action="store_true", help="measure GAP test")
    parser.add_argument(
        "--rows", type=int, default=2454, help="rows to measure, the first of a fixed shuffle"
    )
    parser.add_argument("--pages", action="store_true", help="read the titles of the rows' pages")
    args = parser.parse_args()
    answering = Answering(args.model)
    rows = answering.rows
    measured = [
        row for row, name in enumerate(rows.ids) if name.startswith(("test",) if args.test else MEASURED)
    ]
    chosen = sorted(np.random.default_rng(0).permutation(measured)[: args.rows].tolist())
    found = cases(answering, chosen, args.pages)
    compare(found, rows, fit=not args.test)


if __name__ == "__main__":
    main()
