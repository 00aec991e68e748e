"""The audit's page has every figure, works in a browser and on a phone, and escapes hostile text."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from typer.testing import CliRunner

from gapstack.audits import SUITES, Audit, SuiteAudit
from gapstack.audits.audit_page import page, page_data
from gapstack.audits.audit_report import differs, headlines, record
from gapstack.audits.winogender import pair_flips, resolutions
from gapstack.cli import app
from gapstack.data.gap_files import write_submission
from gapstack.evaluation import Difference, Interval
from gapstack.files import write_text
from tests.audits import policies

HOSTILE = "</script><script>window.owned = 1</script><img src=x onerror='window.owned = 1'>&amp;"


def tables(page):
    """Tables by title, each a list of rows of texts."""
    found = {}
    for title, table in re.findall(r'aria-label="([^"]*)">\s*<table.*?>(.*?)</table>', page, re.DOTALL):
        rows = [re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL) for row in table.split("</tr>")[:-1]]
        texts = [[unescape(re.sub("<.*?>", "", cell)) for cell in row] for row in rows]
        found.setdefault(unescape(title), texts)
    return found


def audited(items, suite, systems, **more):
    answers = {name: policy(items) for name, policy in systems.items()}
    return SuiteAudit(suite, items, suite.measure(items, answers), answers, **more)


def made(covered, systems):
    refused = {"gap": ("distilled",)}
    rest = ({"bug": "nobody checked them"}, refused, ("swap_gender",), {"python": "3"})
    return Audit("the target", "a caveat", tuple(systems), covered, *rest)


@pytest.fixture(scope="module")
def winogender(gap_folder):
    return SUITES["winogender"].load()


@pytest.fixture(scope="module")
def found(gap_folder, winogender):
    """Two known systems on Winogender, one of them also on WSC273."""
    systems = {"fair": policies.always_occupation, "unfair": policies.always_male_occupation}
    wsc = SUITES["wsc273"]
    more = {"marked": ("fair",), "remark": "unfair has no file of answers"}
    covered = (
        audited(winogender, SUITES["winogender"], systems),
        audited(wsc.load(), wsc, {"fair": policies.oracle}, **more),
    )
    return made(covered, systems)


@pytest.fixture(scope="module")
def read(found):
    return tables(page(found))


def test_the_page_holds_every_figure_of_the_report(found, read):
    for covered in found.covered:
        for panel in covered.findings.tables:
            head, *rows = read[panel.title]
            assert head == ["system", *(measure.title for measure in panel.columns)]
            published = record(found)["suites"][covered.suite.name]["panels"][panel.key]["published"]
            assert [row[0] for row in rows] == [*panel.rows, *published]
    rows = read[found.covered[0].findings.tables[2].title]
    assert [row[1] for row in rows[1:3]] == ["0.0 [0.0, 0.0]", "100.0 [100.0, 100.0]"]
    assert ["NEURAL (paper)", "13"] in [row[:2] for row in rows]


def test_several_systems_are_ranked_the_fairest_first(read):
    head, first, second = read["Differences between the genders"]
    assert head[:3] == ["system", "clear differences", "Winogender schemas: M/F flips"]
    assert [first[0], first[2]] == ["fair", "0.0 [0.0, 0.0] at chance"]
    assert second == ["unfair", "0 of 1", "100.0 [100.0, 100.0] at chance", "-"]
    assert [row[0] for row in read["Scores"][1:]] == ["fair", "unfair"]


@pytest.mark.parametrize(
    ("policy", "verdict"),
    [
        ("oracle", "no clear difference"),
        ("stereotype", "below chance"),
        ("always_occupation", "at chance"),
        ("right_unless_feminine", "differs"),
    ],
)
def test_one_system_has_a_row_for_each_suite_and_a_verdict(winogender, policy, verdict):
    covered = audited(winogender, SUITES["winogender"], {"one": getattr(policies, policy)})
    head, row = tables(page(made((covered,), ["one"])))["In short"]
    assert head == ["suite", "verdict", "gender difference", "score"]
    assert row[:2] == ["Winogender schemas", verdict]


def test_an_audit_without_suites_says_so():
    assert "No suite was covered." in page(made((), ["one"]))
    assert page_data(made((), ["one"])) == {"systems": [], "pairs": []}


@pytest.mark.parametrize(
    ("value", "even", "expected"),
    [
        (Difference(3.0, 1.0, 5.0, 0.2), 0.0, False),
        (Difference(3.0, -1.0, 5.0, 0.01), 0.0, True),
        (Interval(0.9, 0.8, 0.99), 1.0, True),
        (Interval(0.9, 0.8, 1.01), 1.0, False),
        (Interval(np.nan, np.nan, np.nan), 0.0, None),
        (3.0, 0.0, None),
        (None, 0.0, None),
    ],
)
def test_a_difference_is_significant_by_its_test_or_else_its_interval(value, even, expected):
    assert differs(value, even) is expected


@pytest.mark.parametrize("name", list(SUITES))
def test_every_suite_has_a_headline_in_which_an_oracle_is_perfect(gap_folder, name):
    suite = SUITES[name]
    items = suite.load(cap=64 if suite.cap else None)
    if name == "gap":
        few = {fact: values[:200] for fact, values in items.facts.items()}
        items = replace(items, corpus=items.corpus[:200], facts=few)
    lines = list(headlines(made((audited(items, suite, {"one": policies.oracle}),), ["one"])))
    assert lines
    for line in lines:
        assert getattr(line.score, "value", line.score) == 100
        assert line.verdict != "differs"


@pytest.fixture(scope="module")
def opened(found, winogender, browser, tmp_path_factory):
    """The page in Chromium, with hostile names everywhere."""
    hostile = {HOSTILE: policies.always_male_occupation, "fair": policies.always_occupation}
    suite = found.covered[0].suite
    covered = audited(winogender, suite, hostile, marked=(HOSTILE,), remark=HOSTILE)
    attacked = replace(
        made((covered, found.covered[1]), hostile),
        target=HOSTILE,
        note=HOSTILE,
        not_covered={HOSTILE: HOSTILE},
    )
    path = tmp_path_factory.mktemp("page") / "audit.html"
    write_text(path, page(attacked))
    with browser(path) as tab:
        yield tab


def test_nothing_goes_wrong_offline_and_hostile_text_is_never_run(opened):
    assert opened.wrong == []
    assert len(opened.asked) == 1
    assert opened.evaluate("window.owned") is None
    assert HOSTILE in opened.inner_text("h1")
    assert HOSTILE in opened.locator("#headlines tbody").first.inner_text()
    assert HOSTILE in opened.locator(".findings").inner_text()


def test_pairs_that_a_system_resolves_differently_are_shown(opened, winogender):
    _, differ = pair_flips(winogender, resolutions(winogender, policies.always_male_occupation(winogender)))
    assert opened.inner_text("#count") == f"{differ.sum()} of 240 pairs"
    card = opened.locator("#list > li").first
    assert card.locator("mark.pronoun").count() == 2
    texts = card.locator(".to").all_inner_texts()
    assert texts[0] != texts[1]
    assert {text[0] for text in texts} == {"✓", "✗"}
    opened.select_option("#filters select[name=system]", label="fair")
    assert opened.inner_text("#count") == "0 of 240 pairs"
    opened.select_option("#filters select[name=which]", label="all")
    opened.fill("#filters input[name=text]", "firefighter")
    assert opened.inner_text("#count") == "4 of 240 pairs"
    assert opened.evaluate("location.hash") == "#headlines?system=fair&which=all&text=firefighter"


def test_a_phone_shows_it_without_scrolling_sideways(opened):
    opened.set_viewport_size({"width": 390, "height": 844})
    opened.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    for tab in opened.locator("nav .tabs a").all():
        tab.click()
        assert opened.evaluate("document.documentElement.scrollWidth") <= 390
    opened.set_viewport_size({"width": 1200, "height": 900})


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible(found, browser, axe, tmp_path, scheme):
    write_text(tmp_path / "audit.html", page(found))
    with browser(tmp_path / "audit.html", bypass_csp=True, color_scheme=scheme) as tab:
        for part in tab.locator("nav .tabs a").all():
            part.click()
            assert axe(tab) == []


def test_on_paper_nothing_is_cut(found, browser, on_paper, tmp_path):
    write_text(tmp_path / "audit.html", page(found))
    with browser(tmp_path / "audit.html") as tab:
        assert on_paper(tab) == []
        assert tab.locator("#filters select[name=which]").is_visible()


def test_the_command_writes_the_page_for_files_of_answers(gap_folder, tmp_path):
    items = SUITES["wsc273"].load()
    write_submission(tmp_path / "mine" / "wsc273.csv", items.corpus.ids, policies.oracle(items))
    asked = [str(tmp_path / "mine"), "--suite", "wsc273", "--html", str(tmp_path / "audit.html")]
    result = CliRunner().invoke(app, ["audit", *asked, "--data", str(gap_folder)])
    assert result.exit_code == 0, result.output
    read = tables((tmp_path / "audit.html").read_text(encoding="utf-8"))
    name, *_, score = read["In short"][1]
    assert (name, score) == ("Winograd schemas (WSC273)", "accuracy 100.0 [100.0, 100.0]")
