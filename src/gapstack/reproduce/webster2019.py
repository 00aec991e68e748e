"""The shared task's systems (Webster et al. 2019), published figures beside ours: ``gap reproduce webster2019``.

Tables 2 and 3 of the overview are read from the data set ``papers``, and so are the GAP paper's baselines; figures of
the teams' own papers are notes (``team_papers.json``). Most are not comparable: other encoders, splits and labels,
often whole ensembles. Each is therefore shown with its conditions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from gapstack.corpus.papers import paper, papers_note
from gapstack.encoding.encoders import EMBEDDED
from gapstack.members import MEMBERS, create
from gapstack.report.render import Cell, Column, Section, Table
from gapstack.reproduce.beside_paper import Tables
from gapstack.runs import Result, Run
from gapstack.scoring import score

NOTES: dict[str, Any] = json.loads(
    (resources.files("gapstack.reproduce") / "team_papers.json").read_text(encoding="utf-8")
)
"""Figures of the teams' own papers by member, with their conditions; the team of each member."""

RECIPE = "families"
"""The recipe of our figures."""

SCORED_HERE = "their probabilities, scored here"
"""Source of figures that were computed here from a team's published probabilities."""

_BASELINES = {
    "parallelism": "Parallelism",
    "url": "Parallelism+URL",
    "transformer_multi": "Transformer-Multi",
}
_BASELINE_TABLES = {
    "table10_test": "GAP test, names not given",
    "table7_development_gold_two_mention": "GAP development",
}

OURS: Mapping[str, tuple[str | None, str | None, tuple[str, ...]]] = {
    "probert": ("single", None, ()),
    "grep": ("single", None, ("syntax", "URL")),
    "msnet": ("single", "linear", ()),
    "span_head": ("one layer", "linear", ("syntax", "URL")),
    "siamese": (None, "siamese", ("syntax", "NER", "URL")),
    "pair_product": ("single", "linear", ()),
    "frozen_mlp": (None, "linear", ("syntax", "NER", "URL")),
    "anonymised": (None, "linear", ("URL",)),
    "question_answering": ("single", None, ()),
    "multiple_choice": ("single", None, ()),
    "sequence": ("single", None, ()),
    "kernel_svm": (None, "SVM", ()),
    "bidaf": (None, "BIDAF", ()),
    "masked_lm": ("single", None, ()),
    "rgcn": (None, "R-GCN", ("syntax",)),
}
"""Table 3's columns for our members as :data:`RECIPE` sets them: fine-tuning, crossing, resources.

``single``: one encoder is fine-tuned, ``one layer``: one layer of it, None: it is frozen. ``coref`` is none of ours by
default: clusters of a resolver are a setting of ``grep``.
"""

METRICS = ("logloss", "f1_masculine", "f1_feminine", "f1_overall", "bias")
_COLUMNS = (
    Column("encoder", "encoder"),
    Column("cross_validated", "logloss CV"),
    Column("logloss", "logloss"),
    Column("f1_masculine", "F1 M", 1),
    Column("f1_feminine", "F1 F", 1),
    Column("f1_overall", "F1 O", 1),
    Column("bias", "bias"),
    Column("seconds", "seconds", 0),
    Column("parameters", "learned"),
)


_TABLE3 = (
    Column("rank", "rank"),
    Column("stage2", "stage 2", 5),
    Column("size", "team"),
    Column("affiliation", "affiliation"),
    Column("region", "region"),
    Column("tuning", "fine-tuning"),
    Column("crossing", "feature crossing"),
    Column("resources", "resources"),
)


@dataclass(frozen=True)
class System:
    """A member of the run, or its stack.

    ``name`` is the member's in the registry, "" for the stack; ``reported`` are records of published figures as
    :data:`NOTES` has them, none where no figure is published; ``out_of_fold`` and ``held_out`` hold our
    :data:`METRICS`.
    """

    label: str
    name: str
    paper: str
    encoder: str | None
    reported: tuple[dict[str, Any], ...]
    out_of_fold: dict[str, float | None]
    held_out: dict[str, float | None]
    seconds: float | None
    parameters: int
    contaminated_by: tuple[str, ...]


@dataclass(frozen=True)
class Report(Tables):
    """Every system of a run, with its published figures, and what the overview says of the teams."""

    NAME = "webster2019"

    systems: tuple[System, ...]
    overview: Mapping[str, Any]
    title: str
    note: str

    @property
    def tables(self) -> tuple[Table, ...]:
        """Our figures beside the papers', and tables 2 and 3 of the overview beside our members."""
        return self._scores(), self._teams()

    def _scores(self) -> Table:
        """A line for each member as measured here, then one for each published figure."""
        rows = [row for system in self.systems for row in _rows(system)]
        caption = f"{self.note}. " if self.note else ""
        return Table(
            _COLUMNS,
            [Section("", rows)],
            title=self.title,
            caption=(
                f"{caption}Lines with a figure's author are what the papers report, and on what; their labels are "
                "the official ones, or not told, unless a name stands there; those of stage 2 are not public. "
                "* a note, from the team's own paper, README, poster, notebook or probabilities, as are F1 and bias "
                "on stage 2. Seconds: "
                "views and all folds; learned: numbers that one fold's fit learned and keeps as arrays. "
                + papers_note("webster2018", "webster2019")
            ).strip(),
            name_title="member",
        )

    def _teams(self) -> Table:
        names = list(dict.fromkeys(system.name for system in self.systems))
        sections = []
        teams = self.overview.get("systems", {})
        by_team: dict[str, list[str]] = {team: [] for team in (*teams, *NOTES["stage2"])}
        for name in names:
            if name in OURS:
                by_team[NOTES["teams"][name]].append(name)
        for team, members in by_team.items():
            rows: list[tuple[str, Mapping[str, Cell]]] = []
            if team in teams:
                rank, stage2, size, affiliation, region, *facts = teams[team]
                team_cells = {"rank": rank, "stage2": stage2, "size": size}
                rows.append(
                    (team, team_cells | {"affiliation": affiliation, "region": region} | _facts(facts))
                )
            rows += [(f"- our {name}", _facts(OURS[name])) for name in members]
            if rows:
                sections.append(Section("", rows))
        conflict = self.overview.get("conflict", "")
        return Table(
            _TABLE3,
            sections,
            title="Tables 2 and 3 of the overview: the teams' systems, and our members after them",
            caption=(
                "Team: its size. Fine-tuning of the teams: of a single model or of an ensemble; of ours: of the one "
                "encoder, of one layer, or - where it is frozen. Ours are single models, set as in the recipe "
                f"{RECIPE}." + (f" The overview's {conflict}." if conflict else "")
            ),
            name_title="system",
        )

    def json(self) -> dict[str, Any]:
        """Unrounded figures, for ``json.dumps``."""
        return {
            "title": self.title,
            "paper": dict(self.overview),
            "notes": NOTES["provenance"],
            "note": self.note,
            "systems": [
                {
                    **{"member": one.label, "paper": one.paper, "encoder": one.encoder},
                    "team": NOTES["teams"].get(one.name),
                    "columns": _facts(OURS[one.name]) if one.name in OURS else None,
                    "reported": list(one.reported),
                    "measured": {
                        "out_of_fold": one.out_of_fold,
                        "held_out": one.held_out,
                        "seconds": one.seconds,
                        "parameters": one.parameters,
                        "not_for": list(one.contaminated_by),
                    },
                }
                for one in self.systems
            ],
        }


def report(run: Run, data: Path | None = None) -> Report:
    """Compare all members of a run of :data:`RECIPE` with their published figures."""
    lines = reported(data)
    systems = [
        _system(
            run,
            result,
            part.name,
            MEMBERS.entry(part.name).paper,
            lines.get(part.name, []),
            _encoder(part.name, part.settings),
        )
        for part, result in zip(run.recipe.members, run.members, strict=True)
    ]
    if run.stack:
        systems.append(_system(run, run.stack, "", "all of these, stacked", [], None))
    title = (
        f"Published systems, measured here: logloss CV out of fold on {run.train.name} ({len(run.train)} rows), "
        f"all else on {run.test.name} ({len(run.test)} rows), {run.test.label_set} labels"
    )
    return Report(tuple(systems), paper("webster2019", data), title, run.stack_note)


def reported(data: Path | None = None) -> dict[str, list[dict[str, Any]]]:
    """Published figures by member, each with its conditions: the papers' that are at hand, and the notes.

    ``note`` is True for a figure of :data:`NOTES`.
    """
    lines: dict[str, list[dict[str, Any]]] = {}
    gap, teams = paper("webster2018", data), paper("webster2019", data).get("systems", {})
    for member, system in _BASELINES.items():
        for key, split in _BASELINE_TABLES.items():
            if system in gap.get(key, {}):
                lines.setdefault(member, []).append(_baseline(gap[key][system], split, key))
    for member, own in NOTES["systems"].items():
        lines.setdefault(member, []).extend(line | {"note": True} for line in own)
    for team, line in NOTES["stage2"].items():
        figures = {key: line[key] for key in ("f1_overall", "bias") if key in line}
        if team in teams:
            figures["logloss"] = teams[team][1]
        if figures:
            for member in line["members"]:
                lines.setdefault(member, []).append(
                    {"who": team, "models": line["models"], "split": "stage 2", "labels": None}
                    | {"encoder": line["encoder"], "source": "overview, table 2", "note": False, **figures}
                )
    return lines


def _baseline(figures: Sequence[float], split: str, table: str) -> dict[str, Any]:
    masculine, feminine, bias, overall = figures
    return {
        **{"who": "Webster et al. 2018", "models": "one model", "split": split, "labels": "official"},
        **{"encoder": None, "source": f"GAP paper, {table.partition('_')[0]}", "note": False},
        **{"f1_masculine": masculine, "f1_feminine": feminine, "f1_overall": overall, "bias": bias},
    }


def _facts(facts: Sequence[Any]) -> dict[str, Cell]:
    """Table 3's columns."""
    tuning, crossing, resources = facts
    return {"tuning": tuning, "crossing": crossing, "resources": ", ".join(resources) or None}


def _encoder(name: str, settings: dict[str, Any]) -> str | None:
    """Name of a member's encoder; None if it has none."""
    chosen = create(name, **settings).get_params()
    return (Path(chosen["encoder"]).name if chosen["encoder"] else EMBEDDED) if "encoder" in chosen else None


def _system(
    run: Run, result: Result, name: str, paper: str, lines: Sequence[dict[str, Any]], encoder: str | None
) -> System:
    trained, held = score(run.train, result.out_of_fold), score(run.test, result.test)
    return System(
        label=result.label,
        name=name,
        paper=paper,
        encoder=encoder,
        reported=tuple(lines),
        out_of_fold={key: trained.value(key) for key in METRICS},
        held_out={key: held.value(key) for key in METRICS},
        seconds=result.seconds,
        parameters=result.parameters,
        contaminated_by=result.contaminated_by,
    )


def _rows(system: System) -> list[tuple[str, dict[str, Cell]]]:
    mark = f" (not for {', '.join(system.contaminated_by)})" if system.contaminated_by else ""
    measured: dict[str, Cell] = {
        **system.held_out,
        "encoder": system.encoder,
        "cross_validated": system.out_of_fold["logloss"],
        "seconds": system.seconds,
        "parameters": f"{system.parameters:,}" if system.parameters else None,
    }
    lines: list[tuple[str, dict[str, Cell]]] = [
        (f"- {_of(line)}", {column.key: line.get(column.key) for column in _COLUMNS})
        for line in system.reported
    ]
    return [(f"{system.label}{mark}", measured), *(lines or [("- no published figure", {})])]


def _of(line: Mapping[str, Any]) -> str:
    """Conditions of a published figure: team, number of models, rows, and labels other than the official ones."""
    labels = f", labels of {line['labels']}" if line["labels"] not in (None, "official") else ""
    models = f", {line['models']}" if line["models"] != "one model" else ""
    return f"{line['who']}{models}{'*' if line['note'] else ''}: {line['split']}{labels}"
