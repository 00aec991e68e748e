"""Model cards: Markdown with the Hub's metadata in front."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gapstack.comparison.results import PartScores
from gapstack.evaluation import METRICS
from gapstack.runs.recipe import Recipe

_METRICS = ("logloss", "f1_overall", "f1_masculine", "f1_feminine", "bias")
_CARD = """---
license: apache-2.0
language: en
library_name: gapstack
tags: [coreference-resolution, gender-bias, gap]
---

# {title}

{about} Given a text, a pronoun and two names, it says how probable A, B and NEITHER are.

```python
import gapstack

gapstack.load("{repository}").ask("Kate told Mary that she should leave.")
```

{facts}

{scores}It knows he, him, his, she and her, and English. A bias suite can show that it is biased, never that it is not:
`gap audit {repository}`.
"""


def member_card(repository: str, record: Mapping[str, Any]) -> str:
    """Card of a saved member, from its record."""
    facts = {
        "Settings": f"`{json.dumps(record['parameters'], sort_keys=True)}`",
        "Reads": _listed(record["reads"].values()),
        "Never to be scored on": _listed(record["not_for"]),
    }
    return _card(repository, f"A fitted member of gapstack, `{record['name']}`.", facts)


def run_card(
    repository: str, recipe: Recipe, versions: Mapping[str, str], parts: Sequence[PartScores]
) -> str:
    """Card of a finished run: what it was fitted on, and its scores."""
    not_for = {name for names in recipe.contaminated_by().values() for name in names}
    facts = {
        "Members": _listed(f"`{part.label}`" for part in recipe.members),
        "Trained on": f"{recipe.trained_on}, {recipe.labels} labels, {recipe.folds} folds",
        "Never to be scored on": _listed(sorted(not_for)),
        "Fitted with": _listed(f"{name} {version}" for name, version in versions.items()),
    }
    about = f"A run of gapstack, recipe `{recipe.name}`{f': {recipe.title}' if recipe.title else ''}."
    return _card(repository, about, facts, "".join(_table(part) + "\n\n" for part in parts))


def _card(repository: str, about: str, facts: Mapping[str, str], scores: str = "") -> str:
    lines = "\n".join(f"- {name}: {words}." for name, words in facts.items() if words)
    title = repository.rpartition("/")[2]
    return _CARD.format(title=title, repository=repository, about=about, facts=lines, scores=scores)


def _listed(names: Any) -> str:
    return ", ".join(names)


def _table(part: PartScores) -> str:
    metrics = [METRICS[name] for name in _METRICS]
    heading = f"{part.name}: {part.corpus.name}, {len(part.corpus):,} rows, {part.corpus.label_set} labels"
    rows = [
        [heading, *(metric.title for metric in metrics)],
        ["---"] * (1 + len(metrics)),
        *(
            [f"`{label}`", *(_cell(scores.value(name), METRICS[name].decimals) for name in _METRICS)]
            for label, scores in part.systems.items()
        ),
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(value: float | None, decimals: int) -> str:
    return "-" if value is None else f"{value:.{decimals}f}"
