"""The embedded sample, read with nothing but ``csv``: whatever the package's own reader does, these files hold."""

import csv
import re
from collections import Counter
from importlib.util import find_spec
from itertools import combinations, pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest

# Found without importing the package, so that a fault elsewhere in it cannot fail these checks.
FOLDER = Path(find_spec("gapstack").origin).parent / "corpus" / "sample"
HEADER = [
    "ID",
    "Text",
    "Pronoun",
    "Pronoun-offset",
    "A",
    "A-offset",
    "A-coref",
    "B",
    "B-offset",
    "B-coref",
    "URL",
]
SIZES = {"train": 160, "test": 88}
FEMININE, MASCULINE = {"she", "her"}, {"he", "his", "him"}
WIKIPEDIA = "http://en.wikipedia.org/wiki/"
# The pattern shares that Webster et al. (2018), section 3.1, and the label shares that GAP's files have.
PATTERN_SHARES = {"FinalPro": 0.75, "MedialPro": 0.12, "InitialPro": 0.13}
LABEL_SHARES = {"A": 0.44, "B": 0.46, "NEITHER": 0.10}


def path(part):
    return FOLDER / f"gap-sample-{part}.tsv"


def read(part):
    with path(part).open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE))


ROWS = {part: read(part) for part in SIZES}
ALL = [row for rows in ROWS.values() for row in rows]


def label(row):
    flags = (row["A-coref"], row["B-coref"])
    return {("TRUE", "FALSE"): "A", ("FALSE", "TRUE"): "B", ("FALSE", "FALSE"): "NEITHER"}[flags]


def gender(row):
    return "F" if row["Pronoun"].lower() in FEMININE else "M"


def span(row, column):
    start = int(row[f"{column}-offset"])
    return start, start + len(row[column])


def pattern(row):
    """Webster et al. (2018), section 3.1: where the pronoun stands among the two names."""
    pronoun, a, b = (span(row, column)[0] for column in ("Pronoun", "A", "B"))
    return "FinalPro" if pronoun > b else "MedialPro" if pronoun > a else "InitialPro"


def words(text):
    return set(re.findall(r"\w{3,}", text.lower()))


def title(row):
    return words(unquote(row["URL"].removeprefix(WIKIPEDIA)).replace("_", " "))


def sentences(text):
    text = re.sub(r"\b(?:[A-Z]|Dr|St|Mr|Mrs)\.", lambda match: match.group()[:-1], text)
    return len(re.findall(r"[.!?](?:['\")]|'')*(?=\s+[^a-z]|$)", text))


def shingles(text):
    tokens = re.findall(r"\w+", text.lower())
    return {tuple(tokens[i : i + 5]) for i in range(len(tokens) - 4)}


def assert_shares(counts, shares, tolerance):
    total = sum(counts.values())
    for key, share in shares.items():
        assert counts[key] / total == pytest.approx(share, abs=tolerance), (key, counts)


@pytest.mark.parametrize("part", SIZES)
def test_file_is_plain_utf8_tsv_with_the_gap_header(part):
    raw = path(part).read_bytes()
    assert not raw.startswith(b"\xef\xbb\xbf")
    assert b"\r" not in raw
    assert raw.endswith(b"\n")
    lines = raw.decode("utf-8").split("\n")[:-1]
    assert lines[0].split("\t") == HEADER
    assert {line.count("\t") for line in lines} == {10}
    assert [row["ID"] for row in ROWS[part]] == [f"sample-{part}-{i}" for i in range(1, SIZES[part] + 1)]


@pytest.mark.parametrize("row", ALL, ids=lambda row: row["ID"])
def test_every_offset_hits_its_mention_and_the_row_is_well_formed(row):
    spans = [span(row, column) for column in ("Pronoun", "A", "B")]
    for column, (start, end) in zip(("Pronoun", "A", "B"), spans, strict=True):
        assert row["Text"][start:end] == row[column]
        assert not row["Text"][start - 1 : start].isalnum()
        assert not row["Text"][end : end + 1].isalnum()
    ordered = sorted(spans)
    assert all(left[1] <= right[0] for left, right in pairwise(ordered)), "overlap"
    assert spans[1] < spans[2], "A must stand before B"
    assert row["A"] != row["B"]
    assert row["Pronoun"].lower() in FEMININE | MASCULINE
    assert label(row) in LABEL_SHARES
    assert row["URL"].startswith(WIKIPEDIA)
    assert len(row["URL"]) > len(WIKIPEDIA)
    assert row["URL"].isascii()


@pytest.mark.parametrize("row", ALL, ids=lambda row: row["ID"])
def test_every_text_is_two_to_four_sentences_of_forty_to_a_hundred_and_ten_words(row):
    text = row["Text"]
    assert 40 <= len(text.split()) <= 110
    assert 2 <= sentences(text) <= 4
    assert text == " ".join(text.split()), "stray white space"


def test_a_pronoun_is_capitalised_exactly_when_it_opens_a_sentence():
    for row in ALL:
        before = row["Text"][: span(row, "Pronoun")[0]]
        opens = not before or re.search(r"[.!?]['\")]*\s$", before) is not None
        assert row["Pronoun"][0].isupper() == opens, row["ID"]


@pytest.mark.parametrize("part", SIZES)
def test_genders_are_one_to_one_and_labels_have_gaps_shares_in_each_gender(part):
    genders = Counter(map(gender, ROWS[part]))
    assert genders["F"] == genders["M"] == SIZES[part] // 2
    for one in "FM":
        assert_shares(Counter(label(row) for row in ROWS[part] if gender(row) == one), LABEL_SHARES, 0.03)


@pytest.mark.parametrize("part", SIZES)
def test_the_three_extraction_patterns_of_gap_have_its_shares(part):
    assert_shares(Counter(map(pattern, ROWS[part])), PATTERN_SHARES, 0.02)


def test_every_pattern_has_both_answers_so_that_order_alone_decides_nothing():
    cells = Counter((pattern(row), label(row)) for row in ALL)
    assert all(cells[name, answer] >= 10 for name in PATTERN_SHARES for answer in "AB"), cells


def test_all_five_pronouns_occur_and_so_do_capitalised_ones():
    counts = Counter(row["Pronoun"].lower() for row in ALL)
    assert all(counts[pronoun] >= 10 for pronoun in FEMININE | MASCULINE), counts
    assert sum(row["Pronoun"][0].isupper() for row in ALL) >= 20


def test_page_titles_help_about_as_often_as_in_gap():
    named = [(row, bool(title(row) & words(row["A"])), bool(title(row) & words(row["B"]))) for row in ALL]
    person = [item for item in named if item[1] or item[2]]
    assert 0.5 <= len(person) / len(ALL) <= 0.7
    answered = [(a if label(row) == "A" else b) for row, a, b in person if label(row) != "NEITHER"]
    assert 0.7 <= sum(answered) / len(answered) <= 0.9


def test_many_pages_have_two_or_three_snippets_and_no_page_or_text_is_in_both_parts():
    pages = {part: Counter(row["URL"] for row in rows) for part, rows in ROWS.items()}
    assert not pages["train"].keys() & pages["test"].keys()
    shared = [count for counter in pages.values() for count in counter.values() if count > 1]
    assert len(shared) >= 20
    assert set(shared) <= {2, 3}
    assert len({row["Text"] for row in ALL}) == len(ALL)


def test_no_two_texts_are_near_duplicates():
    grams = [shingles(row["Text"]) for row in ALL]
    worst = max(len(x & y) / len(x | y) for x, y in combinations(grams, 2))
    assert worst < 0.2


def test_no_five_word_phrase_is_a_template():
    counts = Counter(gram for row in ALL for gram in shingles(row["Text"]))
    assert counts.most_common(1)[0][1] <= 3, counts.most_common(3)


def test_the_closest_name_the_first_name_and_the_more_frequent_name_are_all_poor_guesses():
    def often(row, column):
        return max(row["Text"].count(token) for token in row[column].split() if len(token) > 2)

    def distance(row, column):
        return abs(span(row, column)[0] - span(row, "Pronoun")[0])

    guesses = {
        "closest": lambda row: "A" if distance(row, "A") < distance(row, "B") else "B",
        "first": lambda row: "A",
        "frequent": lambda row: "A" if often(row, "A") >= often(row, "B") else "B",
    }
    for name, guess in guesses.items():
        share = sum(guess(row) == label(row) for row in ALL) / len(ALL)
        assert 0.35 <= share <= 0.6, (name, share)


QUIRKS = {
    "quotation marks as in GAP": lambda row: "``" in row["Text"] and "''" in row["Text"],
    "years in parentheses": lambda row: re.search(r"\(\d{4}--\d{4}\)", row["Text"]),
    "accented letters in a name": lambda row: any("\xc0" <= c <= "\xff" for c in row["A"] + row["B"]),
    "letters beyond Latin-1 in a name": lambda row: any(c > "\xff" for c in row["A"] + row["B"]),
    "hyphenated name": lambda row: re.search(r"\w-\w", row["A"] + " " + row["B"]),
    "initials in a name": lambda row: re.search(r"\b[A-Z]\. ", row["A"] + row["B"]),
    "possessive on a name": lambda row: any(row["Text"][span(row, c)[1] :].startswith("'s") for c in "AB"),
    "names that share a token": lambda row: words(row["A"]) & words(row["B"]),
    "percent-encoded page": lambda row: "%" in row["URL"],
}


@pytest.mark.parametrize("quirk", QUIRKS)
def test_wikipedias_quirks_occur(quirk):
    assert any(QUIRKS[quirk](row) for row in ALL)
