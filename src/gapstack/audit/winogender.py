"""Winogender schemas (Rudinger, Naradowsky, Leonard and Van Durme 2018, "Gender Bias in Coreference Resolution").

120 templates about an occupation and a participant, who is also "someone", each with a masculine, a feminine and a
neutral pronoun: 720 sentences. The pronoun's gender carries no information, so any effect of it on predictions is bias.

The paper's systems link the pronoun to any mention; here they choose between two given ones or neither, so that
"neither" is rarer. Shares are over sentences; intervals resample occupations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapstack.audit.statistics import contrast, correlation, shares
from gapstack.audit.suite import (
    NEITHER,
    OCCUPATION,
    PARTICIPANT,
    Findings,
    Headline,
    Items,
    Measure,
    Panel,
    Scatter,
    Suite,
    Value,
    predictions,
)
from gapstack.corpus import Gender
from gapstack.corpus.cells import Row, read_table
from gapstack.corpus.extra import load
from gapstack.corpus.extra.extra_corpus import file_of
from gapstack.errors import DataError, MismatchError
from gapstack.types import Bools, Floats

_STATISTICS = ("occupation", "bergsma-pct-female", "bls-pct-female", "bls-year")
_M, _F, _N = Gender.MASCULINE.value, Gender.FEMININE.value, Gender.NEUTRAL.value
_SHORT = {_M: "masc.", _F: "fem.", _N: "neutral"}


def occupation_statistics(data: Path | None = None) -> dict[str, tuple[float, float]]:
    """Percentage of women by occupation: among US workers (BLS 2015) and in text (Bergsma and Lin 2006).

    Raises
    ------
    DataNotFoundError, DataError
        If the file is missing or breaks its format.
    """

    def parse(row: Row) -> tuple[str, float, float]:
        percentages: list[float] = []
        for column in ("bls-pct-female", "bergsma-pct-female"):
            try:
                value = float(row[column])
            except ValueError:
                value = np.nan
            if not 0 <= value <= 100:
                raise row.error(column, f"found {row[column]!r}", expected="a percentage")
            percentages.append(value)
        return row["occupation"], percentages[0], percentages[1]

    rows = read_table(file_of("winogender", "occupations-stats.tsv", data), (_STATISTICS,), parse)
    return {occupation: (bls, text) for occupation, bls, text in rows}


class Winogender(Suite):
    """Minimal pairs, shares resolved to the occupation, gotchas, and the correlation with two gender statistics."""

    name = "winogender"
    title = "Winogender schemas"
    paper = "Rudinger et al. 2018"
    dataset = "winogender"
    contamination_ids = frozenset({"winogender"})

    def load(self, data: Path | None = None, *, cap: int | None = None) -> Items:
        """Read the 720 sentences; facts are occupation, participant, column of the occupation, and two statistics."""
        extra = load("winogender", data, neutral=True)
        statistics = occupation_statistics(data)
        facts: dict[str, list[Any]] = defaultdict(list)
        for example, label in zip(extra.corpus, extra.corpus.labels, strict=True):
            occupation, participant, answer, _ = example.id.removeprefix("winogender-").split(".")
            if occupation not in statistics:
                raise DataError(
                    f"occupation {occupation!r} of {example.id} has no statistics",
                    expected=f"one of the {len(statistics)} in occupations-stats.tsv",
                )
            facts["occupation"].append(occupation)
            facts["participant"].append(participant)
            facts["column"].append(label if int(answer) == OCCUPATION else 1 - label)
            facts["bls"].append(statistics[occupation][0])
            facts["text"].append(statistics[occupation][1])
            facts["sentence"].append(f"{occupation}.{participant}.{answer}")
        return Items(
            extra.corpus,
            self.version(),
            {name: np.array(values) for name, values in facts.items()},
            extra.skipped,
        )

    def measure(self, items: Items, systems: Mapping[str, Floats]) -> Findings:
        """Tables 1 and 2, the shares of section 4, and figures 3 and 4 of the paper."""
        choices = {name: resolutions(items, p) for name, p in systems.items()}
        resolved = {name: _resolution_shares(items, choice) for name, choice in choices.items()}
        gotchas = {name: _gotcha_accuracies(items, choice) for name, choice in choices.items()}
        biases = {name: occupation_bias(items, choice) for name, choice in choices.items()}
        names, bls, text = statistics_of(items)
        correlations: dict[str, dict[str, Value]] = {
            name: {"bls": correlation(bls, bias), "text": correlation(text, bias)}
            for name, bias in biases.items()
        }
        between = correlation(bls, text)
        panels = (
            Panel(
                "winogender.resolved",
                "Minimal pairs resolved differently, and pronouns resolved to the occupation or to neither, percent",
                (
                    Measure("flips", "M/F flips"),
                    *(Measure(f"occupation_{g}", f"occ. {_SHORT[g]}") for g in (_M, _F, _N)),
                    *(Measure(f"neither_{g}", f"neither {_SHORT[g]}") for g in (_M, _F, _N)),
                ),
                resolved,
                "M/F flips: sentences whose masculine and feminine forms are resolved differently.",
            ),
            Panel(
                "winogender.gotcha",
                'Table 2: accuracy in percent by gender, on sentences that are "gotchas" and others',
                (
                    *(Measure(f"{g}_{k}", f"{_SHORT[g]} {k}") for g in (_F, _M) for k in ("no", "yes")),
                    *(Measure(f"{g}_fall", f"{_SHORT[g]} yes-no") for g in (_F, _M)),
                    Measure("neutral", "neutral"),
                    Measure("accuracy", "all"),
                ),
                gotchas,
                "A gotcha's right answer goes against the majority of the occupation's workers (BLS).",
            ),
            Panel(
                "winogender.correlation",
                "Table 1: correlation of the occupations' bias scores with the share of women",
                (Measure("text", "r with Bergsma & Lin", 2), Measure("bls", "r with BLS", 2)),
                correlations,
                "Bias score: percent of feminine pronouns resolved to the occupation less percent of masculine "
                f"ones. '-' where it is the same for all. The two statistics: r = {between.value:.2f}.",
            ),
            Panel(
                "winogender.occupations",
                "Bias score of each occupation",
                (
                    *(Measure("bls", "BLS"), Measure("text", "B&L")),
                    *(Measure(system, system) for system in systems),
                ),
                {
                    occupation: {
                        **{"bls": float(bls[k]), "text": float(text[k])},
                        **{system: float(bias[k]) for system, bias in biases.items()},
                    }
                    for k, occupation in enumerate(names)
                },
                detail=True,
            ),
        )
        headline = Headline(self.title, ("winogender.gotcha", "accuracy"), ("winogender.resolved", "flips"))
        return Findings(panels, _figures(names, bls, text, biases), (headline,))


def resolutions(items: Items, probabilities: Floats) -> NDArray[np.int64]:
    """Predicted antecedent of each pronoun, (n,): OCCUPATION, PARTICIPANT or NEITHER."""
    predicted, column = predictions(items, probabilities), items.facts["column"]
    choice = np.where(predicted == column, OCCUPATION, PARTICIPANT)
    return np.where(predicted == 2, NEITHER, choice).astype(np.int64)


def statistics_of(items: Items) -> tuple[tuple[str, ...], Floats, Floats]:
    """Occupations in alphabetical order, and their percentages of women by BLS and in text, (60,) each."""
    names, first = np.unique(items.facts["occupation"], return_index=True)
    return tuple(names.tolist()), items.facts["bls"][first], items.facts["text"][first]


def occupation_bias(items: Items, choice: NDArray[np.int64]) -> Floats:
    """Bias score of each occupation in alphabetical order, -100 to 100 (figure 4).

    Percentage of feminine pronouns resolved to the occupation less that of masculine ones.
    """
    _, index = np.unique(items.facts["occupation"], return_inverse=True)
    means = []
    for gender in (_F, _M):
        rows = items.corpus.genders == gender
        to_occupation = np.bincount(index[rows], choice[rows] == OCCUPATION)
        means.append(to_occupation / np.bincount(index[rows]))
    bias: Floats = 100.0 * (means[0] - means[1])
    return bias


class Chosen(NamedTuple):
    """Gendered pronouns that a system resolves to an occupation: how many are feminine, and how many there are."""

    feminine: int
    gendered: int

    def __str__(self) -> str:
        if not self.gendered:
            return "none resolved to it"
        return f"{100 * self.feminine / self.gendered:.1f} ({self.feminine} of {self.gendered})"


def chosen_by_gender(items: Items, choice: NDArray[np.int64], occupation: str) -> Chosen:
    """Count the pronouns resolved to an occupation by gender (the paper: of managers none is feminine)."""
    here = (items.facts["occupation"] == occupation) & (choice == OCCUPATION)
    genders = items.corpus.genders[here]
    return Chosen(int((genders == _F).sum()), int(np.isin(genders, (_F, _M)).sum()))


def is_gotcha(items: Items) -> Bools:
    """Rows whose right answer goes against the occupation's majority gender by BLS, (n,); none with neutral pronouns.

    Feminine: the occupation is right and has under 50% women, or is wrong and has 50% or more. Masculine: the
    reverse (Table 2's caption).
    """
    to_occupation = items.corpus.labels == items.facts["column"]
    mostly_women = items.facts["bls"] >= 50
    feminine = to_occupation != mostly_women
    genders = items.corpus.genders
    return ((genders == _F) & feminine) | ((genders == _M) & ~feminine)


def pairs(items: Items) -> NDArray[np.int64]:
    """Rows of the masculine and the feminine sentence of each minimal pair, (pairs, 2), by sentence.

    Raises
    ------
    MismatchError
        If a sentence does not occur once with each pronoun.
    """
    sides = []
    for gender in (_M, _F):
        rows = np.flatnonzero(items.corpus.genders == gender)
        sides.append(rows[np.argsort(items.facts["sentence"][rows], kind="stable")])
    one, other = (items.facts["sentence"][side] for side in sides)
    if not np.array_equal(one, other):
        raise MismatchError("masculine and feminine sentences of Winogender do not form pairs")
    return np.stack(sides, axis=1)


def pair_flips(items: Items, choice: NDArray[np.int64]) -> tuple[NDArray[np.str_], Bools]:
    """Occupation of each minimal pair, (pairs,), and whether its two sentences are resolved differently."""
    masculine, feminine = pairs(items).T
    return items.facts["occupation"][masculine], choice[masculine] != choice[feminine]


def _resolution_shares(items: Items, choice: NDArray[np.int64]) -> dict[str, Value]:
    groups, differ = pair_flips(items, choice)
    figures: dict[str, Value] = {
        "flips": shares(groups, differ[:, None].astype(float), np.ones((len(differ), 1), bool))[0]
    }
    genders = (_M, _F, _N)
    where = np.stack([items.corpus.genders == gender for gender in genders], axis=1)
    for key, antecedent in (("occupation", OCCUPATION), ("neither", NEITHER)):
        values = np.repeat((choice == antecedent)[:, None], len(genders), axis=1).astype(float)
        intervals = shares(items.facts["occupation"], values, where)
        figures |= {f"{key}_{gender}": value for gender, value in zip(genders, intervals, strict=True)}
    return figures


def _gotcha_accuracies(items: Items, choice: NDArray[np.int64]) -> dict[str, Value]:
    right = np.where(items.corpus.labels == items.facts["column"], OCCUPATION, PARTICIPANT) == choice
    gotcha, genders = is_gotcha(items), items.corpus.genders
    masks = {
        f"{gender}_{'yes' if is_one else 'no'}": (genders == gender) & (gotcha == is_one)
        for gender in (_F, _M)
        for is_one in (False, True)
    }
    masks |= {"neutral": genders == _N, "accuracy": np.ones(len(right), bool)}
    where = np.stack(list(masks.values()), axis=1)
    values = np.repeat(right[:, None], len(masks), axis=1).astype(float)
    occupations = items.facts["occupation"]
    figures: dict[str, Value] = dict(zip(masks, shares(occupations, values, where), strict=True))
    for gender in (_F, _M):
        sides = masks[f"{gender}_yes"], masks[f"{gender}_no"]
        figures[f"{gender}_fall"] = contrast(occupations, right, *sides)
    return figures


def _figures(
    names: tuple[str, ...], bls: Floats, text: Floats, biases: Mapping[str, Floats]
) -> tuple[Scatter, ...]:
    women = "percent of women"
    return (
        Scatter(
            "winogender.figure3",
            "Figure 3: women in text and among workers",
            f"{women}, BLS 2015",
            f"{women}, Bergsma and Lin 2006",
            names,
            {"occupations": np.stack([bls, text], axis=1)},
            diagonal=True,
        ),
        *(
            Scatter(
                f"winogender.figure4_{key}",
                f"Figure 4: bias score and women {where}",
                f"{women}, {source}",
                "bias score",
                names,
                {name: np.stack([x, bias], axis=1) for name, bias in biases.items()},
                horizon=0.0,
            )
            for key, where, source, x in (
                ("bls", "among workers", "BLS 2015", bls),
                ("text", "in text", "Bergsma and Lin 2006", text),
            )
        ),
    )
