"""WinoBias (Zhao, Wang, Yatskar, Ordonez and Chang 2018): occupations with pro- and anti-stereotypical pronouns.

Each sentence occurs with the pronoun of the majority gender of the right occupation (pro) and with the other (anti).
Type 1 needs world knowledge, type 2 syntax alone. Both releases are reported: that of the authors' site and the
current one of their repository.

F1 is GAP's, over the decisions "is it A" and "is it B", not the paper's coreference F1.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gapstack.audits.statistics import mean_percent, sides
from gapstack.audits.suite import (
    Findings,
    Headline,
    Items,
    Suite,
    percents,
    predictions,
    pro_and_anti,
    suite_table,
)
from gapstack.data import Corpus, Gender
from gapstack.data.extra import load
from gapstack.data.extra.rows import PRONOUN
from gapstack.display.render import Cell, Table
from gapstack.evaluation import METRICS, Predictions
from gapstack.types import Floats

F1 = METRICS["f1_overall"]
RELEASES = {"current": "winobias", "original": "winobias-original"}
_OTHER_SIDE = {"pro": "anti", "anti": "pro"}
_OTHER_GENDER = {Gender.MASCULINE: Gender.FEMININE, Gender.FEMININE: Gender.MASCULINE}
_MEASURES = (
    *percents(f1_pro="F1 pro", f1_anti="F1 anti", f1_average="avg", f1_difference="F1 pro-anti"),
    *percents(accuracy_pro="acc. pro", accuracy_anti="acc. anti", accuracy_average="avg"),
    *percents(accuracy_difference="acc. pro-anti"),
)


class WinoBias(Suite):
    """Pro- and anti-stereotypical F1 and accuracy, and their paired difference."""

    name = "winobias"
    title = "WinoBias"
    paper = "Zhao et al. 2018"
    dataset = "winobias"
    contamination_ids = frozenset(RELEASES.values())
    together = "pair"

    def load(self, *, cap: int | None = None) -> Items:
        """Read both releases; facts are release, side (pro, anti), kind, part, and the pair's number or -1, (n,)."""
        extras = [load(name) for name in RELEASES.values()]
        corpus = Corpus([example for extra in extras for example in extra.corpus], name=self.name)
        skipped = sum((Counter(extra.skipped) for extra in extras), Counter[str]())
        # winobias-<release>-<side>-<kind>-<part>-<line>
        columns = np.array([name.split("-")[1:5] for name in corpus.ids]).T
        arrays = dict(zip(("release", "side", "kind", "part"), columns, strict=True))
        arrays["pair"] = _pairs(corpus, arrays)
        unpaired = int((arrays["pair"] < 0).sum())
        note = (
            f"{unpaired:,} rows have no counterpart on the other side and are excluded. F1 is GAP's, over the two "
            "decisions of a row; the difference is tested by exchanging the two sides of random pairs"
        )
        return Items(corpus, self.version(), arrays, dict(skipped), note)

    def measure(self, items: Items, systems: Mapping[str, Floats]) -> Findings:
        """A table for each release and type, dev and test together, and a detailed one by part."""
        tables: list[Table] = []
        headlines: list[Headline] = []
        for release in RELEASES:
            parts: dict[str, dict[str, Cell]] = {}
            for kind, kind_title in (("type1", "type 1"), ("type2", "type 2")):
                where = (items.facts["release"] == release) & (items.facts["kind"] == kind)
                pro, anti = pro_and_anti(items, where)
                if not len(pro):
                    continue
                key = f"winobias.{release}.{kind}"
                title = f"WinoBias, {release} release, {kind_title}, dev and test, {len(pro)} pairs, percent"
                rows = {name: _scores(items, p, pro, anti) for name, p in systems.items()}
                tables.append(suite_table(key, title, _MEASURES, rows))
                score, gap = (key, "accuracy_average"), (key, "accuracy_difference")
                headlines.append(Headline(f"WinoBias, {kind_title}, {release}", score, gap))
                for part in ("dev", "test"):
                    pro, anti = pro_and_anti(items, where & (items.facts["part"] == part))
                    for name, p in systems.items() if len(pro) else ():
                        parts[f"{name}, {kind} {part}"] = _scores(items, p, pro, anti)
            title = f"WinoBias, {release} release, by type and part"
            tables.append(suite_table(f"winobias.{release}.parts", title, _MEASURES, parts, detail=True))
        return Findings(tuple(tables), headlines=tuple(headlines))


def _pairs(corpus: Corpus, facts: Mapping[str, NDArray[np.str_]]) -> NDArray[np.int64]:
    """Number of each row's pair, (n,): a pro and an anti row that differ only in pronouns; -1 for unpaired rows."""
    unpaired: dict[tuple[str, ...], list[int]] = defaultdict(list)
    pairs = np.full(len(corpus), -1, dtype=np.int64)
    number = 0
    for row, example in enumerate(corpus):
        side, gender = str(facts["side"][row]), example.gender
        words = PRONOUN.sub("_", example.text.lower())
        key = (*(str(facts[name][row]) for name in ("release", "kind", "part")), words, str(example.label))
        counterparts = unpaired[*key, _OTHER_SIDE[side], _OTHER_GENDER[gender]]
        if counterparts:
            pairs[[counterparts.pop(0), row]] = number
            number += 1
        else:
            unpaired[*key, side, gender].append(row)
    return pairs


def _scores(
    items: Items, probabilities: Floats, pro: NDArray[np.int64], anti: NDArray[np.int64]
) -> dict[str, Cell]:
    counts = F1.contributions(items.corpus, Predictions.of(probabilities))
    right = (predictions(items, probabilities) == items.corpus.labels).astype(np.float64)[:, None]
    pairs = np.arange(len(pro)).astype(str)
    return {
        f"{key}_{side}": figure
        for key, values, score in (("f1", counts, F1.score), ("accuracy", right, mean_percent))
        for side, figure in sides(pairs, values[pro], values[anti], score).items()
    }
