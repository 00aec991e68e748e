"""Headline figures that documents print agree with each other, with the code, and with runs that are stored.

What takes minutes is compared where somebody has run it: ``gap run base`` stores what the test of ``base`` reads.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import pytest

import gapstack
from gapstack.comparison.results import score_run
from gapstack.data.sources import paper
from gapstack.evaluation import score
from gapstack.runs.folder import STACK, RunFolder, home
from gapstack.runs.recipe import Recipe, corpora
from gapstack.runs.stored_results import HELD_OUT, OUT_OF_FOLD, stored_run
from tests.docs.test_links import ROOT, text

README, RESULTS, BASE = (
    ROOT / name for name in ("README.md", "docs/lab/results.md", "docs/lab/base-encoder.md")
)
NUMBER = re.compile(r"\d+\.\d+")
PARTS = {"out of fold": OUT_OF_FOLD, "held out": HELD_OUT}
UNPARSED = ("prior", "random", "running_text", "neuralcoref")
PARSED = ("token_distance", "topical_entity", "syntactic_distance", "parallelism", "url")


@cache
def readme() -> Mapping[str, list[str]]:
    """Logloss, F1 and bias that README prints for each recipe."""
    rows = [line.split("|") for line in text(README).splitlines() if re.match(r"\| \[?`gap run ", line)]
    found = {
        re.findall(r"gap run (\w+)", cells[1])[0]: [cell.strip() for cell in cells[2:5]] for cells in rows
    }
    assert {"quickstart", "base"} <= found.keys()
    return found


@cache
def leaderboard() -> Mapping[tuple[str, str], list[str]]:
    """Lines of the quickstart's leaderboard in the results: figures by part and system."""
    block = re.search(r"^member +logloss.*?^```$", text(RESULTS), re.MULTILINE | re.DOTALL)
    assert block
    found, part = {}, ""
    for line in block[0].splitlines():
        part = next((PARTS[name] for name in PARTS if line.startswith(f"{name}:")), part)
        if (cells := re.match(r"([a-z_]+) {2,}([\d. ]+)$", line)) and part:
            found[part, cells[1]] = cells[2].split()
    return found


def assert_printed(printed: Sequence[str], values: Sequence[float | None]) -> None:
    """Each figure is the value, rounded to its digits."""
    for figure, value in zip(printed, values, strict=True):
        digits = len(figure.partition(".")[2])
        assert float(figure) == pytest.approx(value, abs=0.5001 * 10**-digits), (printed, values)


def row(path, start: str) -> list[str]:
    """Numbers of the last table row that begins so, intervals left out."""
    *_, line = [line for line in text(path).splitlines() if line.startswith(start)]
    return NUMBER.findall(re.sub(r"\[[^\]]*\]", "", line.removeprefix(start)))


def test_documents_repeat_each_other():
    logloss, *_, f1, bias, _ = map(float, leaderboard()[HELD_OUT, STACK])
    assert_printed(readme()["quickstart"], [logloss, f1, bias])
    logloss, f1, *_, bias = row(RESULTS, "| Stack of the quickstart, GAP test |")
    assert [logloss, f1, bias] == readme()["quickstart"]
    _, _, logloss, f1, *_, bias = row(BASE, "| the stack `base` |")
    assert_printed(readme()["base"], [float(logloss), float(f1), float(bias)])
    _, _, logloss, f1, *_, bias = row(BASE, "| the stack `strong` (`pool`, nested) |")
    assert_printed(readme()["strong"], [float(logloss), float(f1), float(bias)])


def test_the_papers_baseline():
    *_, bias, f1 = paper("webster2018")["table10_test"]["Parallelism+URL"]
    assert [float(cell) for cell in row(README, "| Parallelism+URL, the best baseline")] == [f1, bias]


@pytest.mark.parametrize(
    "members", [UNPARSED, pytest.param(PARSED, marks=pytest.mark.slow)], ids=["unparsed", "parsed"]
)
def test_cheap_lines_of_the_leaderboard_are_what_the_code_computes(
    members, gap_folder, tmp_path, monkeypatch
):
    monkeypatch.setenv("GAP_DATA", str(gap_folder))
    recipe = replace(Recipe.load("quickstart").restricted(members), stackers=())  # stackers read parses
    run = gapstack.run(recipe, root=tmp_path)
    for part in score_run(run):
        for member in members:
            found = part.systems[member]
            values = [found.logloss, found.f1_masculine, found.f1_feminine, found.f1_overall, found.bias]
            assert_printed(leaderboard()[part.name, member], [*values, found.accuracy])


@pytest.mark.parametrize("name", readme())
def test_stored_runs_have_the_figures_that_documents_print(name, gap_folder, monkeypatch):
    monkeypatch.setenv("GAP_DATA", str(gap_folder))
    folder = RunFolder(home() / "models" / name)
    if not folder.exists or folder.stack() is None:
        pytest.skip(f"there is no finished run {name} in {home()}")
    _, train, test = corpora(Recipe.of_run(folder))
    found = score(test, stored_run(folder, STACK, (train, test)).stack.test)
    assert_printed(readme()[name], [found.logloss, found.f1_overall, found.bias])
