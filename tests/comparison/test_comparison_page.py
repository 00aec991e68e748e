"""The page in a real browser: it works offline, sorts, filters, draws, fits a phone and shows text as text."""

import csv
import io
import json
import re
from dataclasses import replace

import pytest

from gapstack.comparison import measure
from gapstack.comparison.comparison_page import page, page_data
from gapstack.data import Corpus
from gapstack.files import write_text

HOSTILE = "</script><script>window.owned = 1</script><img src=x onerror='window.owned = 1'>&amp;"


def show(tab, part):
    """Open a part of the page by its address."""
    tab.evaluate("part => { location.hash = part }", part)
    tab.locator(f"#tab-{part.partition('?')[0]}[aria-selected=true]").wait_for()


def hostile(example):
    """A row whose text, id and page try to get out, a letter outside of the basic plane before its spans."""
    before = f"\U0001f600 {HOSTILE} "
    move = len(before)
    spans = {
        name: type(span)(span.start + move, span.end + move)
        for name, span in (("pronoun", example.pronoun), ("a", example.a), ("b", example.b))
    }
    return replace(
        example, id=f"bad{HOSTILE}", text=before + example.text, url="javascript:window.owned=1", **spans
    )


@pytest.fixture(scope="module")
def attacked(made, sample_test):
    """The comparison of the same answers, the first row and a member's name hostile."""
    rows = Corpus([hostile(sample_test[0]), *sample_test[1:]], name=f"rows {HOSTILE}")
    entries = [replace(made.entries[0], name=HOSTILE, warnings=(HOSTILE,)), *made.entries[1:]]
    return measure([rows], entries, replicates=200, seed=1)


@pytest.fixture(scope="module")
def opened(attacked, browser, tmp_path_factory):
    """The page in Chromium, and what went wrong in it."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_text(path, page(attacked))
    with browser(path) as tab:
        yield tab


def test_nothing_is_loaded_and_nothing_goes_wrong(opened):
    assert opened.wrong == []
    assert [url for url in opened.asked if not url.startswith("file:")] == []
    assert len(opened.asked) == 1


def test_the_answer_comes_first(opened, attacked):
    assert opened.locator("#tab-overview").get_attribute("aria-selected") == "true"
    rows = opened.locator("#overview table tbody tr")
    assert rows.count() == len(attacked.names)
    first = rows.first.inner_text()
    assert f"{attacked.main.points('logloss')[0]:.4f}" in first
    assert "best by logloss" in first
    assert rows.first.locator("svg.whisker line").count() == 2
    assert opened.locator(".findings li").count() >= 3
    assert not opened.locator("#examples").is_visible()


def test_hostile_text_is_shown_and_never_run(opened):
    assert opened.evaluate("window.owned") is None
    show(opened, "examples")
    opened.fill("#filters input[name=text]", "bad</script>")
    card = opened.locator("#list > li")
    assert card.count() == 1
    assert HOSTILE in card.locator("p.text").inner_text()
    assert card.locator(".head a").count() == 0, "only http links are links"
    opened.click("#filters button[type=reset]")


def test_spans_are_highlighted_where_they_are(opened, attacked):
    from playwright.sync_api import expect

    show(opened, "examples")
    # no waiting for a function: the page's policy forbids to evaluate strings in it
    expect(opened.locator("#list > li")).to_have_count(10)
    for place, example in enumerate(list(attacked.rows)[:10]):
        marks = opened.locator("#list > li").nth(place).locator("mark")
        found = {
            marks.nth(k).get_attribute("class"): marks.nth(k).evaluate("m => m.firstChild.data")
            for k in range(3)
        }
        assert found == {"pronoun": example.pronoun_text, "a": example.a_text, "b": example.b_text}


def test_tabs_work_by_keyboard_and_by_address(opened):
    opened.locator("#tab-overview").focus()
    opened.keyboard.press("ArrowRight")
    assert opened.locator("#differences").is_visible()
    assert opened.evaluate("document.activeElement.id") == "tab-differences"
    opened.keyboard.press("End")
    assert opened.locator("#tables").is_visible()
    assert not opened.locator("#differences").is_visible()
    opened.go_back()
    opened.locator("#differences").wait_for()
    show(opened, "overview")


def test_filters_find_the_rows_that_they_name(opened, attacked):
    show(opened, "examples")
    opened.select_option("#filters select[name=wrong]", label="poor")
    place = attacked.names.index("poor")
    wrong = int((~attacked.right[place]).sum())
    assert opened.inner_text("#count") == f"{wrong} of {len(attacked.rows)} rows"
    opened.evaluate("document.querySelector('#filters details').open = true")
    opened.select_option("#filters select[name='slice gender']", label="feminine")
    both = int((~attacked.right[place] & (attacked.rows.genders == "feminine")).sum())
    assert opened.inner_text("#count") == f"{both} of {len(attacked.rows)} rows"
    assert opened.evaluate("location.hash") == "#examples?wrong=poor&slice+gender=feminine"
    opened.click("#filters button[type=reset]")
    opened.select_option("#filters select[name=agreement]", "some")
    assert not opened.inner_text("#count").startswith(f"{len(attacked.rows)} of")
    opened.click("#filters button[type=reset]")
    after = "() => new Promise(done => setTimeout(() => done(location.hash)))"  # a form is empty only after its event
    assert opened.evaluate(after) == "#examples"


def test_two_members_are_compared_row_by_row(opened, attacked):
    from playwright.sync_api import expect

    show(opened, "differences")
    opened.select_option("#pair select[name=one]", label="middling")
    opened.select_option("#pair select[name=other]", label="poor")
    one, other = (attacked.right[attacked.names.index(name)] for name in ("middling", "poor"))
    counts = opened.locator("#pair-outcomes table").first.locator("td").all_inner_texts()
    expected = [one & other, one & ~other, ~one & other, ~one & ~other]
    assert counts == [str(int(rows.sum())) for rows in expected]
    assert "better" in opened.locator("#pair-outcomes table").nth(1).inner_text()
    opened.locator("#pair-outcomes a").nth(1).click()
    # an address is followed after the click
    expect(opened.locator("#count")).to_have_text(f"{int(expected[1].sum())} of {len(attacked.rows)} rows")
    show(opened, "overview")


def test_the_picker_hides_members_everywhere(opened, attacked):
    opened.click(".picker summary")
    opened.locator(".picker label", has_text="poor").locator("input").uncheck()
    opened.keyboard.press("Escape")
    assert opened.locator("#overview tbody tr:visible").count() == len(attacked.names) - 1
    show(opened, opened.evaluate("location.hash.slice(1)").replace("overview", "examples"))
    assert "poor" not in opened.locator("#list > li").first.locator(".answers .name").all_inner_texts()
    show(opened, "overview")
    assert opened.locator("#overview tbody tr:visible").count() == len(attacked.names)


def test_every_table_is_copied_as_csv(opened, attacked):
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened.locator("#overview .tablehead button").first.click()
    opened.locator("#overview .tablehead button", has_text="Copied").wait_for()
    head, *rows = csv.reader(io.StringIO(opened.evaluate("navigator.clipboard.readText()")))
    assert head[:4] == ["system", "logloss", "logloss low", "logloss high"]
    interval = attacked.main.interval(attacked.names[0], "logloss")
    assert [float(cell) for cell in rows[0][1:4]] == pytest.approx(list(interval))
    assert len(rows) == len(attacked.names)
    assert opened.locator(".tablehead button").count() == opened.locator(".tablehead").count()


def test_without_the_script_everything_is_visible(attacked, browser, tmp_path):
    write_text(tmp_path / "page.html", page(attacked))
    with browser(tmp_path / "page.html", java_script_enabled=False) as tab:
        assert all(tab.locator(f"#{part}").is_visible() for part in ("overview", "slices", "tables"))
        assert tab.locator("#tables").inner_text().count(HOSTILE) > 1


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible(attacked, browser, axe, tmp_path, scheme):
    write_text(tmp_path / "page.html", page(attacked))
    with browser(tmp_path / "page.html", bypass_csp=True, color_scheme=scheme) as tab:
        for part in ("overview", "differences", "plots", "slices", "examples", "tables"):
            show(tab, part)
            assert axe(tab) == []


def test_a_click_on_a_heading_sorts_by_number(opened):
    show(opened, "tables")
    table = opened.locator("#tables table.sortable").first
    heading = table.locator("thead th", has_text="acc")
    column = heading.evaluate("th => th.cellIndex")
    for expected in (1, -1):
        heading.locator("button").click()
        values = table.locator(f"tbody tr > :nth-child({column + 1})").evaluate_all(
            "all => all.map(c => Number(c.dataset.value))"
        )
        assert values == sorted(values, reverse=expected < 0)


def test_plots_are_drawn_and_show_their_numbers(opened, attacked):
    show(opened, "plots")
    figure = opened.locator("#plot-scores")
    figure.locator("svg").wait_for()
    assert figure.locator("circle").count() == 3, "decisions have no logloss"
    figure.locator("select").select_option(label="F1 O")
    assert figure.locator("circle").count() == 4
    figure.locator("circle").first.click()
    value = attacked.main.points("f1_overall")[0]
    assert f"{value:.4g}" in figure.locator("output").inner_text()
    for part, names in {
        "plots": ("reliability", "risk", "added"),
        "slices": ("gaps",),
        "differences": ("forest", "likeness", "wins"),
    }.items():
        show(opened, part)
        for name in names:
            opened.locator(f"#plot-{name}").scroll_into_view_if_needed()
            opened.locator(f"#plot-{name} svg").wait_for()
    assert opened.locator("#plot-wins rect[data-tip]").count() == 6, "logloss of the three that have one"
    assert opened.locator("#plot-forest circle").count() == 2


def test_arrow_keys_go_through_the_numbers_of_a_plot(opened):
    show(opened, "differences")
    opened.locator("#plot-forest svg").wait_for()
    opened.locator("#plot-forest .plot").focus()
    seen = []
    for key in ("ArrowRight", "ArrowDown", "Home"):
        opened.keyboard.press(key)
        seen.append(opened.inner_text("#plot-forest output"))
    assert seen[0] == seen[2] != seen[1]
    assert seen[0].startswith("2 ")


def test_on_paper_all_parts_are_printed_with_their_choices(attacked, browser, on_paper, tmp_path):
    write_text(tmp_path / "page.html", page(attacked))
    with browser(tmp_path / "page.html") as tab:
        assert on_paper(tab) == []
        assert all(tab.locator(f"#{part}").is_visible() for part in ("overview", "slices", "tables"))
        assert tab.locator("#slice-form select").is_visible()
        series = tab.locator("#plot-bias .controls label:visible").all_inner_texts()
        assert series == ["unweighted", "reweighted by difficulty"]
        assert not tab.locator("#filters label:visible").count()


def test_a_phone_shows_it_without_scrolling_sideways(opened):
    opened.set_viewport_size({"width": 390, "height": 844})
    for part in ("overview", "differences", "plots", "slices", "examples", "tables"):
        show(opened, part)
        opened.wait_for_timeout(100)
        assert opened.evaluate("document.documentElement.scrollWidth") <= 390, part
    opened.set_viewport_size({"width": 1200, "height": 900})


def test_json_in_the_page_is_the_data(made):
    text = page(made)
    (embedded,) = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>', text, flags=re.DOTALL
    )
    data = page_data(made)
    assert json.loads(embedded) == json.loads(json.dumps(data))
    assert [member["soft"] for member in data["members"]] == [True, True, True, False]
    assert not re.search(r'(src|href)="(?!#)', text), "nothing to load, no link but within the page"
