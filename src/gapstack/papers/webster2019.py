"""The shared task's systems (Webster et al. 2019), published figures next to ours: ``gap reproduce webster2019``.

Tables 1 to 3 of the overview and the GAP paper's baselines are read from the data set ``papers``; figures of the
teams' own papers are in ``team_papers.json``, each with its encoder, split and labels, since most are not comparable.
"""

import json
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from gapstack.data.sources import paper
from gapstack.display.render import Cell, Column, Section, Table
from gapstack.display.report import Report
from gapstack.encoding.encoder_files import EMBEDDED
from gapstack.evaluation import metrics_in, score
from gapstack.members import MEMBERS, create
from gapstack.runs.stored_results import Result, Run

NOTES: dict[str, Any] = json.loads(
    (resources.files("gapstack.papers") / "team_papers.json").read_text(encoding="utf-8")
)
"""Figures of the teams' own papers by member, with their conditions; the team of each member."""

RECIPE = "families"  # the recipe of our figures
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

``single``: one encoder is fine-tuned; ``one layer``: one layer of it; None: it is frozen. None of our members has
``coref`` by default: clusters of a resolver are a setting of ``grep``.
"""

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
    Column("f1_overall", "F1", 1),
    Column("bias", "bias", 2),
    Column("size", "team"),
    Column("affiliation", "affiliation"),
    Column("region", "region"),
    Column("tuning", "fine-tuning"),
    Column("crossing", "feature crossing"),
    Column("resources", "resources"),
)


def report(run: Run) -> Report:
    """Compare all members of a run of :data:`RECIPE` with their published figures."""
    lines, overview = reported(), paper("webster2019")
    names = [part.name for part in run.recipe.members]
    systems = []
    for part, result in zip(run.recipe.members, run.members, strict=True):
        chosen = create(part.name, **part.settings).get_params()
        known = {
            "paper": MEMBERS.entry(part.name).paper,
            "encoder": Path(chosen["encoder"] or EMBEDDED).name if "encoder" in chosen else None,
            "team": NOTES["teams"].get(part.name),
            "columns": _facts(OURS[part.name]) if part.name in OURS else None,
            "reported": lines.get(part.name, []),
        }
        systems.append({"member": result.label, **known, "measured": _measured(run, result)})
    if run.stack:
        known = dict.fromkeys(("encoder", "team", "columns")) | {
            "paper": "all of these, stacked",
            "reported": [],
        }
        systems.append({"member": run.stack.label, **known, "measured": _measured(run, run.stack)})
    title = (
        f"Published systems, measured here: logloss CV out of fold on {run.train.name} ({len(run.train)} rows), "
        f"all else on {run.test.name} ({len(run.test)} rows), {run.test.label_set} labels"
    )
    note = run.stack_note
    tables = (scores_table(systems, title, note), teams_table(names, overview))
    figures = {"title": title, "paper": overview, "notes": NOTES["provenance"], "note": note}
    figures["systems"] = systems
    return Report("webster2019", tables, data=figures)


def _measured(run: Run, result: Result) -> dict[str, Any]:
    trained, held = score(run.train, result.out_of_fold), score(run.test, result.test)
    return {
        "out_of_fold": {key: trained.value(key) for key in metrics_in("overview")},
        "held_out": {key: held.value(key) for key in metrics_in("overview")},
        "seconds": result.seconds,
        "parameters": result.parameters,
        "contaminated_by": list(result.contaminated_by),
    }


def scores_table(systems: Sequence[Mapping[str, Any]], title: str, note: str) -> Table:
    """A row for each member as measured here, followed by a row for each of its published figures."""
    rows: list[tuple[str, Mapping[str, Cell]]] = []
    for system in systems:
        measured = system["measured"]
        contaminated = ", ".join(measured["contaminated_by"])
        cells = {
            **measured["held_out"],
            "encoder": system["encoder"],
            "cross_validated": measured["out_of_fold"]["logloss"],
            "seconds": measured["seconds"],
            "parameters": f"{measured['parameters']:,}" if measured["parameters"] else None,
        }
        rows.append((system["member"] + (f" (not for {contaminated})" if contaminated else ""), cells))
        # a published figure with its conditions: team, models, rows, and labels other than the official ones
        for line in system["reported"]:
            labels = f", labels of {line['labels']}" if line["labels"] not in (None, "official") else ""
            models = f", {line['models']}" if line["models"] != "one model" else ""
            name = f"- {line['who']}{models}{'*' if line['note'] else ''}: {line['split']}{labels}"
            rows.append((name, {column.key: line.get(column.key) for column in _COLUMNS}))
        if not system["reported"]:
            rows.append(("- no published figure", {}))
    caption = (
        "Lines with a figure's author are what the papers report, and on what; their labels are the official ones, or "
        "unknown, unless a name is given; those of stage 2 are not used here. * a note, from the team's own paper, "
        "README, poster, notebook or probabilities, as are F1 and bias on stage 2. Seconds: features and all folds; "
        "learned: numbers that one fold's fit learned and keeps as arrays."
    )
    return Table(_COLUMNS, [Section("", rows)], title, f"{note}. {caption}" if note else caption, "member")


def teams_table(names: Sequence[str], overview: Mapping[str, Any]) -> Table:
    """Tables 1 to 3 of the overview, our members of these names below their teams."""
    sections = []
    for team, (*facts, tuning, crossing, used) in overview["systems"].items():
        cells = dict(zip(("rank", "stage2", "size", "affiliation", "region"), facts, strict=True))
        scores = {key: NOTES["stage2"][team].get(key) for key in ("f1_overall", "bias")}
        ours = [name for name in dict.fromkeys(names) if name in OURS and NOTES["teams"][name] == team]
        rows = [(team, cells | scores | _facts((tuning, crossing, used)))]
        sections.append(Section("", rows + [(f"- our {name}", _facts(OURS[name])) for name in ours]))
    return Table(
        _TABLE3,
        sections,
        "Tables 1 to 3 of the overview: the teams' systems, and our members after them",
        "Stage 2: logloss; F1 and bias are those of table 1, of the first three. Team: its size. Fine-tuning of the "
        "teams: of a single model or of an ensemble; of ours: of the one encoder, of one layer, or - where it is "
        f"frozen. Ours are single models, set as in the recipe {RECIPE}. The overview's {overview['conflict']}.",
        "system",
    )


def reported() -> dict[str, list[dict[str, Any]]]:
    """Published figures by member, each with its conditions; ``note`` is True for those of :data:`NOTES`."""
    lines: dict[str, list[dict[str, Any]]] = {}
    line: dict[str, Any]
    gap, teams = paper("webster2018"), paper("webster2019")["systems"]
    for member, system in _BASELINES.items():
        for key, split in _BASELINE_TABLES.items():
            if system in gap[key]:
                keys = ("f1_masculine", "f1_feminine", "bias", "f1_overall")
                line = {"who": "Webster et al. 2018", "models": "one model", "split": split}
                line |= {"labels": "official", "note": False, "encoder": None}
                line["source"] = f"GAP paper, {key.partition('_')[0]}"
                line |= zip(keys, gap[key][system], strict=True)
                lines.setdefault(member, []).append(line)
    for member, noted in NOTES["systems"].items():
        lines.setdefault(member, []).extend(line | {"note": True} for line in noted)
    for team, noted in NOTES["stage2"].items():
        figures = {key: noted[key] for key in ("f1_overall", "bias") if key in noted}
        figures["logloss"] = teams[team][1]
        for member in noted["members"]:
            line = {"who": team, "models": noted["models"], "split": "stage 2", "labels": None, "note": False}
            line |= {"encoder": noted["encoder"], "source": "overview, table 2", **figures}
            lines.setdefault(member, []).append(line)
    return lines


def _facts(facts: Sequence[Any]) -> dict[str, Cell]:
    """Table 3's columns."""
    tuning, crossing, resources = facts
    return {"tuning": tuning, "crossing": crossing, "resources": ", ".join(resources) or None}
