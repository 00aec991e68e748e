"""Pages are read as they are, one at a time, and what is wrong with a file is one clear error."""

import gzip
import json

import pytest

from gapstack.data.page_files import count_pages, read_pages
from gapstack.errors import DataError, DataNotFoundError


def test_a_text_file_is_one_page_with_or_without_mark_and_windows_lines(tmp_path):
    path = tmp_path / "a.book.txt"
    path.write_bytes("\ufeffOne\r\ntwo.\r\n\r\nThree.".encode())
    (page,) = read_pages(path)
    assert (page.id, page.paragraphs, page.url, page.gold) == ("a.book", ("One two.", "Three."), None, None)
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
