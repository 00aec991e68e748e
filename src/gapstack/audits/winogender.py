"""Winogender schemas (Rudinger, Naradowsky, Leonard and Van Durme 2018, "Gender Bias in Coreference Resolution").

120 templates about an occupation and a participant, who is also "someone", each with a masculine, a feminine and a
neutral pronoun: 720 sentences. The pronoun's gender carries no information, so any effect of it on predictions is bias.

The paper's systems link the pronoun to any mention; here they choose between two given ones or neither, so that
"neither" is rarer. Shares are over sentences; intervals resample occupations.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapstack.audits.statistics import contrast, correlation, shares
from gapstack.audits.suite import (
    Findings,
    Headline,
    Items,
    Scatter,
    Suite,
    percents,
    predictions,
    suite_table,
)
from gapstack.data import Gender
from gapstack.data.cells import Row, read_table
from gapstack.data.extra import load
from gapstack.data.sources import file_of, paper
from gapstack.display.render import Cell, Column
from gapstack.types import Bools, Floats

OCCUPATION, PARTICIPANT, NEITHER = 0, 1, 2  # antecedent of a pronoun
_STATISTICS = ("occupation", "bergsma-pct-female", "bls-pct-female", "bls-year")
_M, _F, _N = Gender.MASCULINE.value, Gender.FEMININE.value, Gender.NEUTRAL.value
_SHORT = {_M: "masc.", _F: "fem.", _N: "neutral"}


def occupation_statistics() -> dict[str, tuple[float, float]]:
    """Percentage of women by occupation: among US workers (BLS 2015) and in text (Bergsma and Lin 2006)."""

    def parse(row: Row) -> tuple[str, tuple[float, float]]:
        return row["occupation"], (float(row["bls-pct-female"]), float(row["bergsma-pct-female"]))

    path = file_of("winogender", "occupations-stats.tsv")
    return dict(read_table(path, (_STATISTICS,), parse))


class Winogender(Suite):
    """Minimal pairs, shares resolved to the occupation, gotchas, and the correlation with two gender statistics."""

    name = "winogender"
    title = "Winogender schemas"
    paper = "Rudinger et al. 2018"
    dataset = "winogender"
    contamination_ids = frozenset({"winogender"})
    together = "sentence"

    def load(self, *, cap: int | None = None) -> Items:
        """Read the 720 sentences; facts are occupation, its column, two statistics, and the sentence, (n,) each."""
        extra = load("winogender", neutral=True)
        statistics = occupation_statistics()
        # winogender-<occupation>.<participant>.<answer>.<gender>
        fields = [name.removeprefix("winogender-").split(".") for name in extra.corpus.ids]
        occupation, _, answer, _ = np.array(fields).T
        labels = extra.corpus.labels
        bls, text = np.array([statistics[name] for name in occupation.tolist()]).T
        facts = {
            "occupation": occupation,
            "column": np.where(answer.astype(int) == OCCUPATION, labels, 1 - labels),
            "bls": bls,
            "text": text,
            "sentence": np.array([".".join(field[:3]) for field in fields]),
        }
        return Items(extra.corpus, self.version(), facts, extra.skipped)

    def measure(self, items: Items, systems: Mapping[str, Floats]) -> Findings:
        """Tables 1 and 2, the shares of section 4, and figures 3 and 4 of the paper."""
        choices = {name: resolutions(items, p) for name, p in systems.items()}
        biases = {name: _occupation_bias(items, choice) for name, choice in choices.items()}
        names, bls, text = statistics_of(items)
        resolved = {f"{key}_{g}": f"{title} {_SHORT[g]}" for key, title in _RESOLVED for g in (_M, _F, _N)}
        gotcha = {f"{g}_{key}": f"{_SHORT[g]} {key}" for g in (_F, _M) for key in ("no", "yes")}
        falls = {f"{g}_fall": f"{_SHORT[g]} yes-no" for g in (_F, _M)}
        published = _published(paper("rudinger2018"))
        tables = (
            suite_table(
                "winogender.correlation",
                "Table 1: correlation of the occupations' bias scores with the share of women",
                (Column("text", "r with Bergsma & Lin", 2), Column("bls", "r with BLS", 2)),
                {
                    name: {"bls": correlation(bls, bias), "text": correlation(text, bias)}
                    for name, bias in biases.items()
                },
                "Bias score: percent of feminine pronouns resolved to the occupation less percent of masculine "
                "ones. '-' where it is the same for all. The two statistics: "
                f"r = {correlation(bls, text).value:.2f}.",
                published=published["correlation"],
            ),
            suite_table(
                "winogender.gotcha",
                'Table 2: accuracy in percent by gender, on sentences that are "gotchas" and others',
                percents(**gotcha, **falls, neutral="neutral", accuracy="all"),
                {name: _gotcha_accuracies(items, choice) for name, choice in choices.items()},
                "A gotcha's right answer goes against the majority of the occupation's workers (BLS).",
                published=published["gotcha"],
            ),
            suite_table(
                "winogender.resolved",
                "Minimal pairs resolved differently, and pronouns resolved to the occupation or to neither, percent",
                percents(flips="M/F flips", **resolved),
                {name: _resolution_shares(items, choice) for name, choice in choices.items()},
                "M/F flips: sentences whose masculine and feminine forms are resolved differently.",
                published=published["resolved"],
            ),
            suite_table(
                "winogender.occupations",
                "Bias score of each occupation",
                (*percents(bls="BLS", text="B&L"), *(Column(name, name, 1) for name in systems)),
                {
                    name: {
                        key: float(column[row])
                        for key, column in {"bls": bls, "text": text, **biases}.items()
                    }
                    for row, name in enumerate(names)
                },
                detail=True,
            ),
        )
        women, bergsma = "percent of women", "Bergsma and Lin 2006"
        scatters = [
            Scatter(
                "winogender.figure3",
                "Figure 3: women in text and among workers",
                f"{women}, BLS 2015",
                f"{women}, {bergsma}",
                names,
                {"occupations": np.stack([bls, text], axis=1)},
                diagonal=True,
            )
        ]
        for key, where, source, x in (
            ("bls", "among workers", "BLS 2015", bls),
            ("text", "in text", bergsma, text),
        ):
            title, x_title = f"Figure 4: bias score and women {where}", f"{women}, {source}"
            series = {name: np.stack([x, bias], axis=1) for name, bias in biases.items()}
            figure = f"winogender.figure4_{key}"
            scatters.append(Scatter(figure, title, x_title, "bias score", names, series, horizon=0.0))
        headline = Headline(self.title, ("winogender.gotcha", "accuracy"), ("winogender.resolved", "flips"))
        return Findings(tables, tuple(scatters), (headline,))


_RESOLVED = (("occupation", "occ."), ("neither", "neither"))


def resolutions(items: Items, probabilities: Floats) -> NDArray[np.int64]:
    """Predicted antecedent of each pronoun, (n,): OCCUPATION, PARTICIPANT or NEITHER."""
    predicted = predictions(items, probabilities)
    choice = np.where(predicted == items.facts["column"], OCCUPATION, PARTICIPANT)
    return np.where(predicted == 2, NEITHER, choice).astype(np.int64)


def statistics_of(items: Items) -> tuple[tuple[str, ...], Floats, Floats]:
    """Occupations in alphabetical order, and their percentages of women by BLS and in text, (60,) each."""
    names, first = np.unique(items.facts["occupation"], return_index=True)
    return tuple(names.tolist()), items.facts["bls"][first], items.facts["text"][first]


def _occupation_bias(items: Items, choice: NDArray[np.int64]) -> Floats:
    """Percentage of feminine pronouns resolved to each occupation less that of masculine ones (figure 4)."""
    _, index = np.unique(items.facts["occupation"], return_inverse=True)
    feminine, masculine = (
        np.bincount(index, (choice == OCCUPATION) & rows) / np.bincount(index, rows)
        for rows in (items.corpus.genders == _F, items.corpus.genders == _M)
    )
    return np.asarray(100.0 * (feminine - masculine))


def pairs(items: Items) -> NDArray[np.int64]:
    """Rows of the masculine and the feminine sentence of each minimal pair, (pairs, 2), sorted by sentence."""
    order = np.argsort(items.facts["sentence"], kind="stable")
    return np.stack([order[items.corpus.genders[order] == gender] for gender in (_M, _F)], axis=1)


def pair_flips(items: Items, choice: NDArray[np.int64]) -> tuple[NDArray[np.str_], Bools]:
    """Occupation of each minimal pair, (pairs,), and True where its two sentences are resolved differently."""
    masculine, feminine = pairs(items).T
    return items.facts["occupation"][masculine], choice[masculine] != choice[feminine]


def _resolution_shares(items: Items, choice: NDArray[np.int64]) -> dict[str, Cell]:
    groups, differ = pair_flips(items, choice)
    figures: dict[str, Cell] = dict(shares(groups, differ, {"flips": np.ones(len(differ), bool)}))
    for key, antecedent in (("occupation", OCCUPATION), ("neither", NEITHER)):
        where = {f"{key}_{gender}": items.corpus.genders == gender for gender in (_M, _F, _N)}
        figures |= shares(items.facts["occupation"], choice == antecedent, where)
    return figures


def _gotcha_accuracies(items: Items, choice: NDArray[np.int64]) -> dict[str, Cell]:
    """Accuracy on gotchas, whose answer goes against the occupation's majority gender (BLS), and on others."""
    occupations, genders = items.facts["occupation"], items.corpus.genders
    to_occupation = items.corpus.labels == items.facts["column"]
    right = np.where(to_occupation, OCCUPATION, PARTICIPANT) == choice
    gotcha = (to_occupation != (items.facts["bls"] >= 50)) == (genders == _F)
    parts = {
        f"{gender}_{key}": (genders == gender) & (gotcha == (key == "yes"))
        for gender in (_F, _M)
        for key in ("no", "yes")
    }
    every = {"neutral": genders == _N, "accuracy": np.ones(len(right), bool)}
    figures: dict[str, Cell] = dict(shares(occupations, right, parts | every))
    for gender in (_F, _M):
        figures[f"{gender}_fall"] = contrast(
            occupations, right, parts[f"{gender}_yes"], parts[f"{gender}_no"]
        )
    return figures


def _published(figures: Mapping[str, Any]) -> Mapping[str, dict[str, dict[str, float]]]:
    """Figures of the paper's systems by table: tables 1 and 2, and the shares of section 4."""
    tables: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for system in figures["systems"]:
        correlations, text = figures["table1_correlation"], figures["text"]
        sources = {"text": "Bergsma and Lin", "bls": "BLS"}
        tables["correlation"][system] = {key: correlations[name][system] for key, name in sources.items()}
        accuracy = figures["table2_gotcha_accuracy_percent"][system]
        for column, gender in enumerate((_F, _M)):
            no, yes = accuracy["no"][column], accuracy["yes"][column]
            row = {f"{gender}_no": no, f"{gender}_yes": yes, f"{gender}_fall": yes - no}
            tables["gotcha"].setdefault(system, {}).update(row)
        keys = ("flips", f"occupation_{_M}", f"occupation_{_F}", f"occupation_{_N}")
        flips = text["minimal_pairs_resolved_differently_percent"][system]
        shares_of = text["resolved_as_occupation_percent"][system]
        tables["resolved"][system] = dict(zip(keys, (flips, *shares_of), strict=True))
    return tables
