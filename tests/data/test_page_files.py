"""Pages are read as they are, one at a time, and what is wrong with a file is one clear error."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.data.page_files import WRAPPED, count_pages, paragraphs, read_pages
from gapstack.errors import DataError, DataNotFoundError

LONG = "word " * 30 + "end."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\ntwo\n\nthree\n", ["one two", "three"]),  # wrapped lines
        (f"{LONG}\n{LONG}\n", [LONG, LONG]),  # a paragraph a line
        (f"Title\n{LONG}\nshort\n", ["Title", LONG, "short"]),
        ("a\tb\u00a0 c\r\nd", ["a b c d"]),
        (" \n\n", []),
    ],
)
def test_paragraphs_end_at_empty_lines_and_after_long_ones(text, expected):
    assert list(paragraphs(text)) == expected


@given(st.text(max_size=3 * WRAPPED))
def test_no_word_is_lost(text):
    found = list(paragraphs(text))
    assert " ".join(found).split() == text.split()
    assert not any(set("\t\r\n") & set(one) for one in found)


def test_what_is_too_long_to_parse_is_cut_where_a_sentence_ends():
    found = list(paragraphs("Ann met Bo. " * 4000))
    assert len(found) == 3
    assert all(one.startswith("Ann") and one.endswith("Bo.") for one in found)


def test_a_text_file_is_one_page_with_or_without_mark_and_windows_lines(tmp_path):
    path = tmp_path / "a.book.txt"
    path.write_bytes("\ufeffOne\r\ntwo.\r\n\r\nThree.".encode())
    (page,) = read_pages(path)
    assert (page.id, page.paragraphs, page.url, page.gold) == ("a", ("One two.", "Three."), None, None)
    assert count_pages(path) == 1


def lines(folder, *records, name="pages.jsonl"):
    path = folder / name
    blob = "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in records).encode()
    path.write_bytes(gzip.compress(blob) if name.endswith(".gz") else blob)
    return path


@pytest.mark.parametrize("name", ["pages.jsonl", "pages.jsonl.gz"])
def test_json_lines_are_pages_with_ids_titles_or_numbers(name, tmp_path):
    records = ({"id": 7, "url": "http://w/x", "text": "a"}, {"title": "T", "text": "b"}, {"text": "c"})
    path = lines(tmp_path, *records, name=name)
    found = [(page.id, page.url, page.paragraphs) for page in read_pages(path)]
    assert found == [("7", "http://w/x", ("a",)), ("T", None, ("b",)), ("pages-3", None, ("c",))]
    assert count_pages(path) == 3


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({"text": 3}, "line 2: text is 3"),
        ({"id": 1}, "line 2: has no 'text'"),
        ({"text": "x", "url": 5}, "line 2: url is 5"),
        ({"text": "x", "id": "a\tb"}, "line 2: .* tab"),
        ({"text": "x\0"}, "line 2: .* NUL"),
        ("[1]", "line 2: the value is"),
        ("{", "line 2: is not valid JSON"),
    ],
)
def test_broken_json_lines_are_refused_with_their_line(record, problem, tmp_path):
    path = lines(tmp_path, {"text": "good"}, record)
    pages = read_pages(path)
    assert next(pages).paragraphs == ("good",)  # one at a time
    with pytest.raises(DataError, match=problem):
        next(pages)


def test_broken_text_files_are_refused(tmp_path):
    path = tmp_path / "x.txt"
    for blob, problem in (
        (b"\n \n", "is empty"),
        (b"a\nb\0", "line 2: .*NUL"),
    ):
        path.write_bytes(blob)
        with pytest.raises(DataError, match=problem):
            read_pages(path)
    with pytest.raises(DataNotFoundError):
        read_pages(tmp_path / "none.txt")
