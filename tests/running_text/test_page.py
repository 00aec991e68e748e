"""Annotated documents as a page: what is written, and what a reader can do with it in a browser."""

import json
import re

import pytest

from gapstack.data import Span
from gapstack.data.example import occurrences
from gapstack.running_text.annotate import write_annotations
from gapstack.running_text.entities import AnnotatedPerson, Annotation

TEXT = "Ann left.\n\nShe met Miss Bo\nand he slept; \U0001f600 it rained on her."
FILES = ("first & <last>", "second")


@pytest.fixture
def page(tmp_path):
    """Two documents: She is Ann, he is Bo, and her is not sure."""
    ann, she, bo, he, her = (occurrences(TEXT, word)[0] for word in ["Ann", "She", "Bo", "he", "her"])
    people = (AnnotatedPerson("Ann", (ann,), (she,)), AnnotatedPerson("Miss Bo", (bo,), (he,)))
    links = {(she, ann): 0.9, (he, bo): 0.8, (he, ann): 0.1, (her, bo): 0.2, (her, ann): 0.3}
    references, antecedents = {she: 0.9, he: 0.9, her: 0.55}, {she: ann, he: bo}
    documents = [Annotation(name, TEXT, people, links, references, antecedents) for name in FILES]
    write_annotations(documents, tmp_path / "out.html")
    return tmp_path / "out.html"


def test_a_page_has_a_legend_and_joined_lines(page):
    written = page.read_text(encoding="utf-8")
    assert written.count("<b>Miss Bo</b>") == len(FILES)
    plain = re.sub(r" (class|style|tabindex|role|data-\w+)=\"[^\"]*\"", "", written)
    assert (
        "<p><mark>Ann</mark> left.</p>\n<p><mark>She<sub>Ann 90%</sub></mark> met Miss <mark>Bo</mark>\nand"
        in plain
    )
    assert "<mark>her<sub>nobody here 45%</sub></mark>." in plain
    assert "<h2>first &amp; &lt;last&gt;</h2>" in written


def test_a_page_escapes_the_text(alphabet, tmp_path):
    annotation = Annotation.of(alphabet.ask("Kate <b> told Mary & Ann that she left."), '"><b>')
    write_annotations([annotation], tmp_path / "out.html")
    written = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "</mark> &lt;b&gt; told" in written
    assert 'data-document="&quot;&gt;&lt;b&gt;"' in written


def test_candidates_that_are_one_person_share_a_line(tmp_path):
    she, one, other = Span(14, 17), Span(0, 3), Span(8, 11)
    people = (AnnotatedPerson("Ann", (one, other), (she,)),)
    annotation = Annotation(
        "x", "Ann met Ann's. She", people, {(she, one): 0.5, (she, other): 0.25}, {she: 0.75}, {she: one}
    )
    write_annotations([annotation], tmp_path / "out.html")
    assert 'data-links="0:75% -:25%"' in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_a_mention_within_another_is_marked_in_it_and_single_nouns_are_not_listed(tmp_path, browser):
    text = "His aunt saw a nurse. She left."
    his, aunt, nurse, she = Span(0, 3), Span(0, 8), Span(13, 20), Span(22, 25)
    people = (
        AnnotatedPerson("His aunt", (aunt,), (she,), named=False),
        AnnotatedPerson("a nurse", (nurse,), (), named=False),
    )
    links = {(she, aunt): 0.6, (she, nurse): 0.1}
    annotation = Annotation("x", text, people, links, {his: 0.8, she: 0.9}, {she: aunt})
    write_annotations([annotation], tmp_path / "out.html")
    with browser(tmp_path / "out.html") as tab:
        outer = tab.locator("section mark").first
        assert outer.locator("mark").all_inner_texts() == ["Hissomebody else 80%"]
        assert tab.locator("li:visible b").all_inner_texts() == ["His aunt"]
        tab.locator("mark.pronoun").last.click()
        card = tab.locator("#card")
        assert card.locator("div").inner_text() == "somebody else\n20%"
        card.get_by_role("button", name="a nurse").click()
        assert tab.locator("li:visible b").all_inner_texts() == ["His aunt", "a nurse"]
        assert tab.locator("summary").inner_text() == "People: 2"
        assert tab.wrong == []


def highlighted(tab):
    return tab.locator("mark.on").evaluate_all("marks => marks.map(m => m.firstChild.data)")


def test_a_person_is_highlighted_in_a_document(page, browser):
    with browser(page) as tab:
        first = tab.locator("section").first
        first.get_by_role("button", name="Ann names").press("Enter")
        assert highlighted(tab) == ["Ann", "She"]
        first.locator("mark", has_text="Bo").first.click()
        assert "Bo" in highlighted(tab)
        assert tab.locator("[aria-pressed=true]").count() == 1
        first.get_by_role("button", name="Miss Bo names").click()
        assert highlighted(tab) == []
        assert tab.asked == [page.as_uri()]
        assert tab.wrong == []


def test_a_reader_corrects_links_by_keyboard_and_downloads_them(page, browser):
    with browser(page) as tab:
        she, he, her = (tab.locator("section").last.locator("mark.pronoun").nth(k) for k in range(3))
        assert [mark.evaluate("m => m.classList.contains('unsure')") for mark in (she, he, her)] == [
            False,
            False,
            True,
        ]
        her.focus()
        card = tab.locator("#card")
        assert card.locator("button").all_inner_texts() == ["nobody here\n45%", "Ann\n30%", "Miss Bo\n20%"]
        her.press("Enter")
        tab.keyboard.press("Tab")
        tab.keyboard.press("Enter")
        assert tab.evaluate("document.activeElement.textContent") == "herAnn"
        he.click()
        card.get_by_role("button", name="nobody").click()
        assert tab.locator("footer output").text_content() == "2 corrections"
        counts = tab.locator("section").last.locator("data").all_text_contents()
        assert counts == ["2", "0"]
        with tab.expect_download() as download:
            tab.get_by_role("button", name="Download").click()
        ann = {"name": "Ann", "start": 0}
        (first, second) = json.loads(download.value.path().read_text(encoding="utf-8"))["corrections"]
        start = TEXT.rindex("her")
        pronoun = {"text": "her", "start": start, "end": start + 3}
        assert first == {"document": "second", "pronoun": pronoun, "before": None, "after": ann}
        assert (second["before"]["name"], second["after"]) == ("Miss Bo", None)
        he.click()
        card.get_by_role("button", name="Miss Bo").click()
        her.click()
        card.get_by_role("combobox").select_option(label="Miss Bo")
        assert tab.locator("footer output").text_content() == "1 correction"
        assert tab.wrong == []


def test_arrow_keys_go_through_everybody_and_enter_takes_one(page, browser):
    with browser(page) as tab:
        he = tab.locator("section").last.locator("mark.pronoun").nth(1)
        he.press("Enter")
        everybody = tab.get_by_role("combobox")
        everybody.press("ArrowDown")
        everybody.press("ArrowDown")
        everybody.press("ArrowUp")
        assert tab.locator("footer output").text_content() == ""
        everybody.press("Enter")
        assert he.inner_text() == "heAnn"


def test_on_paper_the_page_is_light_and_complete(page, browser, on_paper):
    with browser(page) as tab:
        assert on_paper(tab) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_and_fits_a_phone(page, browser, axe, scheme):
    phone = {"width": 390, "height": 844}
    with browser(page, bypass_csp=True, color_scheme=scheme, viewport=phone) as tab:
        tab.locator("li button").first.click()
        tab.locator("mark.pronoun").last.click()
        assert axe(tab) == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.fixture
def novel(tmp_path):
    """Two chapters; She is Ann Lee, whom the text also calls Ann."""
    text = "CHAPTER I\n\nAnn Lee met Bo. She left Ann's hat.\n\nChapter 2. The hat\n\nBo slept & she ran.\n"
    ann, bo = (Span(11, 18), Span(36, 39)), occurrences(text, "Bo")
    shes = (*occurrences(text, "She"), *occurrences(text, "she"))
    people = (AnnotatedPerson("Ann Lee", ann, shes), AnnotatedPerson("Bo", tuple(bo), ()))
    links = dict.fromkeys(((she, ann[0]) for she in shes), 0.9)
    annotation = Annotation("x", text, people, links, dict.fromkeys(shes, 0.9), dict.fromkeys(shes, ann[0]))
    assert [text[slice(*span)] for span in ann] == ["Ann Lee", "Ann"]
    write_annotations([annotation], tmp_path / "out.html")
    return tmp_path / "out.html"


def test_labels_are_short_and_neighbours_have_other_colours(novel):
    written = novel.read_text(encoding="utf-8")
    assert written.count("<sub>Ann 90%</sub>") == 2
    hues = [int(hue) for hue in re.findall(r'aria-pressed="false" style="--hue:(\d+)', written)]
    apart = abs(hues[0] - hues[1]) % 360
    assert min(apart, 360 - apart) >= 90


def test_chapters_timeline_and_search_of_a_novel(novel, browser):
    with browser(novel) as tab:
        assert tab.locator(".chapters option").all_inner_texts()[1:] == ["CHAPTER I", "Chapter 2. The hat"]
        assert tab.locator("h3").count() == 2
        tab.get_by_role("button", name="Ann Lee").click()
        assert tab.locator(".timeline svg").get_attribute("aria-label").startswith("Ann Lee: 4 mentions")
        tab.fill(".search", "slept & she")
        tab.press(".search", "Enter")
        assert tab.locator(".found").inner_text() == "1 of 1 paragraph"
        tab.fill(".search", "bo")
        assert tab.locator("li:visible").count() == 1
        tab.fill(".search", "nowhere")
        assert tab.locator(".found").inner_text() == "nothing found"
        assert tab.locator("li:visible").count() == 2
        assert tab.wrong == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_novel_is_accessible_and_fits_a_phone(novel, browser, axe, scheme):
    phone = {"width": 390, "height": 844}
    with browser(novel, bypass_csp=True, color_scheme=scheme, viewport=phone) as tab:
        tab.get_by_role("button", name="Ann Lee").click()
        assert axe(tab) == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
