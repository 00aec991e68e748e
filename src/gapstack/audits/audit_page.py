"""An audit as one self-contained web page: verdict and headlines first, then suites, pairs and the model card."""

from typing import Any

import numpy as np

from gapstack.audits.audit_report import CAUTION, MARK, Audit, headline_tables, headlines, verdict
from gapstack.audits.plots import regression_svg
from gapstack.audits.winogender import pairs
from gapstack.display.render import Column, Section, Table
from gapstack.display.web import render, utf16
from gapstack.evaluation.metrics import answers
from gapstack.runs.folder import STACK


def page(found: Audit) -> str:
    """The page of an audit, as HTML."""
    data = page_data(found)
    suites = [
        {
            "covered": covered,
            "id": f"suite-{covered.suite.name}",
            "licence": covered.suite.licence,
            "tables": [table for table in covered.findings.tables if not table.detail],
            "details": [table for table in covered.findings.tables if table.detail],
            "figures": [
                regression_svg(plot, name) for plot in covered.findings.scatters for name in plot.series
            ],
        }
        for covered in found.covered
    ]
    parts = [("headlines", "Overview"), *((f"suite-{c.suite.name}", c.suite.name) for c in found.covered)]
    refused = [(name, {"systems": ", ".join(each)}) for name, each in found.refused.items()]
    not_covered = [(name, {"reason": reason}) for name, reason in found.not_covered.items()]
    trained = Column("systems", "systems trained on data that share rows with it")
    return render(
        "gapstack.audits",
        data,
        ["page.js"],
        title=f"Bias audit of {found.target}",
        parts=[*parts, ("card", "Model card")],
        found=found,
        verdict=verdict(found),
        headlines=headline_tables(found),
        suites=suites,
        pairs=bool(data["pairs"]),
        refused=Table([trained], [Section("", refused)], name_title="suite"),
        not_covered=Table([Column("reason", "why")], [Section("", not_covered)], name_title="not covered"),
        links={line.headline.title: f"#suite-{line.suite}" for line in headlines(found)},
        mark=MARK,
        caution=CAUTION,
    )


def page_data(found: Audit) -> dict[str, Any]:
    """Data of the page's script: systems, the stack first, and the minimal pairs of Winogender."""
    covered = next((each for each in found.covered if each.suite.name == "winogender"), None)
    if covered is None:
        return {"systems": [], "pairs": []}
    items = covered.items
    systems = sorted(covered.answers, key=lambda name: name.removesuffix(MARK) != STACK)
    choices = np.array([answers(covered.answers[name]) for name in systems])

    def side(row: int) -> list[Any]:
        example = items.corpus[row]
        spans = (utf16(example.text, span) for span in (example.pronoun, example.a, example.b))
        return [example.text, *spans, choices[:, row].tolist()]

    def people(row: int) -> str:
        occupation, participant, _ = items.facts["sentence"][row].split(".")
        return f"{occupation}, {participant}"

    return {
        "systems": systems,
        "pairs": [
            [people(masculine), int(items.corpus.labels[masculine]), side(masculine), side(feminine)]
            for masculine, feminine in pairs(items).tolist()
        ],
    }
