"""Texts are read as people have them; offsets are those of the original."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.data.documents import DocumentFiles, find_text_files, read_documents
from gapstack.data.example import Span
from gapstack.data.markup import extract_book, extract_html, extract_markdown
from gapstack.errors import DataError, DataNotFoundError

SENORA = (
    "Se\u00f1ora Ru\u00edz \u2014 my aunt \u2014 met Zo\u00eb. \u201cHe\u2019s late\u201d, said \u00c9tienne."
)
ZOE = "Zoë met René at the café. \u201cHe\u2019s late\u201d, she said."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-32"])
def test_encodings_are_detected(encoding, tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(ZOE.encode(encoding))
    (document,) = read_documents(path)
    assert document.text == ZOE
    (forced,) = read_documents(path, encoding=encoding)
    assert forced.text == ZOE


@pytest.mark.parametrize("encoding", ["cp1252", "mac_roman", "utf-16-be"])
def test_letters_of_western_europe_are_not_taken_for_others(encoding, tmp_path):
    """In cp1250, which fits as well, the letters with a tilde are others."""
    path = tmp_path / "a.txt"
    path.write_bytes(SENORA.encode(encoding))
    (document,) = read_documents(path)
    assert document.text == SENORA


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_of_ascii_alone_needs_no_mark(encoding, tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("Ann left.".encode(encoding))
    (document,) = read_documents(path)
    assert document.text == "Ann left."


def test_a_wrong_encoding_is_one_error(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\n\xe9")
    for encoding, problem in (("utf-8", "line 2: byte 0xE9 is not utf-8"), ("none", "unknown encoding")):
        with pytest.raises(DataError, match=problem):
            read_documents(path, encoding=encoding)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.docx", b"PK\x03\x04...", "zip archive"),
        ("a.txt", b"%PDF-1.4", "PDF"),
        ("a.txt", b'["one", "two"]', "a.json"),
        ("a.txt", b'{"text": "one"}\n{"text": "two"}', "a.jsonl"),
        ("a.txt", b"id,text\n1,She left.", "a.csv"),
        ("a.csv", b"id,words\n1,She left.", "column 'text'"),
        ("a.csv", b"id,text\n1,a,b", "line 2: the row has 3 cells"),
        ("a.json", b'[{"words": "She left."}]', "has no 'text'"),
        ("a.html", b"<html><script>she</script></html>", "has no text"),
        ("a.jsonl", b'{"speaker": "Ann", "text": "a"}\n{"text": "b"}', "line 2: the speaker"),
    ],
)
def test_what_is_no_text_is_refused_with_the_remedy(name, content, problem, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=problem):
        list(read_documents(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'ID,Text\r\n1,"Ann left.\nShe ran."\r\n2,Bo\r\n'),
        ("a.csv", 'id;text\r\n1;"Ann left."\r\n2;Bo\r\n'),
        ("a.tsv", "id\ttext\n1\tAnn left.\n2\tBo\n"),
        ("a.json", json.dumps([{"id": 1, "text": "Ann left."}, {"id": "2", "text": "Bo"}])),
        ("a.jsonl", '{"id": 1, "text": "Ann left."}\n{"id": "2", "text": "Bo"}\n'),
        ("a.jsonl", '{"id": 0, "text": "Ann left."}\n{"id": 2, "text": "Bo"}\n'),
    ],
)
def test_many_texts_of_one_file(name, content, tmp_path):
    (tmp_path / name).write_text(content, encoding="utf-8", newline="")
    first, second = read_documents(tmp_path / name)
    assert first.id in ("0", "1")
    assert (second.id, second.text) == ("2", "Bo")
    assert first.text.startswith("Ann left.")


def test_an_array_of_strings_is_numbered(tmp_path):
    (tmp_path / "a.json").write_text('["one", "two"]', encoding="utf-8")
    assert [(one.id, one.text) for one in read_documents(tmp_path / "a.json")] == [
        ("a-1", "one"),
        ("a-2", "two"),
    ]


HTML = "<head><title>x</title></head><body><p>Ann &amp; Bo O&#39;Hara<br>le<b>f</b>t.</p><p>She &lt;ran&gt;</body>"


def test_text_of_html_has_the_offsets_of_the_page():
    extract = extract_html(HTML)
    assert extract.text.split() == ["Ann", "&", "Bo", "O'Hara", "left.", "She", "<ran>"]
    assert "\n\n" in extract.text.strip()
    for words, written in (("Ann", "Ann"), ("O'Hara", "O&#39;Hara"), ("left", "le<b>f</b>t"), ("&", "&amp;")):
        at = extract.text.index(words)
        assert HTML[slice(*extract.origin(Span(at, at + len(words))))] == written


def test_blocks_of_html_are_paragraphs_with_one_break_between_them():
    page = "<html>\n<body>\n<div>\n <h1>Ann</h1>\n\n <ul>\n <li>She <b>ran</b> <i>off</i>.</li>\n "
    page += "<li>Bo<br>\n left.<br><br>He hid."
    assert extract_html(page).text.split("\n\n") == ["Ann", "She ran off.", "Bo\nleft.", "He hid."]


def test_text_of_markdown_has_the_offsets_of_the_page():
    page = (
        "---\ntitle: x\n---\n# Ann\n\n"
        "> **She** saw [Bo Lee](http://b.c/she) and\n- _himself_.\n\n```\nshe = 1\n```\n"
    )
    extract = extract_markdown(page)
    assert extract.text.split() == ["Ann", "She", "saw", "Bo", "Lee", "and", "himself."]
    at = extract.text.index("Bo Lee")
    assert extract.origin(Span(at, at + 6)) == (page.index("Bo Lee"), page.index("Bo Lee") + 6)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("Ann left.[^1]\n\n[^1]: She met Bo.\n", "Ann left.\n\nShe met Bo.\n"),
        ("[Anna]: He left.\n[a]: http://b.c 'she'\n", "[Anna]: He left.\n\n"),
        ("---\r\ntitle: her\r\n---\r\nShe left.", "She left."),
    ],
)
def test_footnotes_are_text_and_definitions_of_links_are_not(page, text):
    assert extract_markdown(page).text == text


@pytest.mark.parametrize("head", ["<head><meta charset=utf-8><title>x</title>\n<body>", "<title>x</title>"])
def test_the_tags_of_a_head_may_be_missing(head):
    assert extract_html(f"<!doctype html><html>{head}<p>Ann left.<p>She ran.").text.split("\n\n") == [
        "Ann left.",
        "She ran.",
    ]


@given(st.text(alphabet="ab <>&;/p*_[]()#\n!-`\\\"'=", max_size=80))
def test_no_markup_is_too_odd(source):
    for extract in (extract_html(source), extract_markdown(source)):
        at = 0
        for number, letter in enumerate(extract.text):
            start, end = extract.origin(Span(number, number + 1))
            assert at <= start <= end <= len(source)
            assert end - start != 1 or letter == source[start] or letter == "\n"
            at = start


BOOK = (
    "The Project Gutenberg eBook of X\n\n*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\nX\n\nby Ann Lee\n\n\n"
    "CONTENTS\n\n Chapter I. She\n Chapter II. He\n\n\nCHAPTER I\n\nShe left.\n\n\nCHAPTER II\n\nHe left.\n\n"
    "*** END OF THE PROJECT GUTENBERG EBOOK X ***\nLicence of them.\n"
)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_licence_and_contents_of_a_book_are_left_out(ends, tmp_path):
    path, book = tmp_path / "x.txt", BOOK.replace("\n", ends)
    path.write_text(book, encoding="utf-8", newline="")
    (document,) = read_documents(path)
    assert document.text.split() == [
        "X",
        "by",
        "Ann",
        "Lee",
        *("CHAPTER", "I", "She", "left."),
        *("CHAPTER", "II", "He", "left."),
    ]
    at = document.text.index("He left")
    assert book[slice(*document.origin(Span(at, at + 7)))] == "He left"
    (whole,) = read_documents(path, keep_licence=True)
    assert whole.text == book
    assert extract_book("She left.") is None


def test_the_small_print_of_old_books_is_left_out():
    book = "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n\nShe left.\n\n"
    extract = extract_book(
        f"Mr. Hart gives it away.\n\n{book}End of the Project Gutenberg Etext of X\nHe left.\n"
    )
    assert extract is not None
    assert extract.text.strip() == "She left."


@pytest.mark.parametrize("key", ["conversation", "conversation_id"])
def test_turns_are_conversations_of_people(key, tmp_path):
    rows = [("x", "Ann", "Hi."), ("y", "Bo", "No."), ("x", "Cy", "I left.")]
    lines = [json.dumps({key: c, "speaker": s, "text": t}) for c, s, t in rows]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    first, second = read_documents(tmp_path / "a.jsonl")
    assert (first.id, first.text) == ("x", "Ann: Hi.\n\nCy: I left.")
    assert [first.text[slice(*turn.speech)] for turn in first.turns] == ["Hi.", "I left."]
    assert [first.text[slice(*turn.label)] for turn in first.turns] == ["Ann", "Cy"]
    assert second.text == "Bo: No."


@pytest.mark.parametrize(
    ("text", "speakers"),
    [
        ("Anna: Hello.\nBo Lee: I am\nAnna: Oh.", ["Anna", "Bo Lee", "Anna"]),
        ("Anna: Hello.\n\nBO: Hi there.\r\n", ["Anna", "BO"]),
        ("Élodie: Hello.\nЮля Ó: Hi there.", ["Élodie", "Юля Ó"]),
        ("[00:01:02] Anna: Hello.\n[00:01:05] Bo: Hi.", ["Anna", "Bo"]),
        ("[12/03/24, 10:15:02\u202fAM] Anna: Hi\n\u200e[12/03/24, 1:15:30\u202fPM] Bo: I", ["Anna", "Bo"]),
        ("12/03/2024, 10:15 - Anna: Hi\n12/03/2024, 10:16 - Bo Lee: I", ["Anna", "Bo Lee"]),
        ("Note: she left.\nNote: he left.", []),
        ("She said: no.\nHe said: yes.\nAnna: Hello.", []),
        ("Anna left.\nShe met Bo.\nAnna: Hello.\nBo: Oh.\nAll went home.\nIt rained.", []),
    ],
)
def test_transcripts_are_recognised(text, speakers, tmp_path):
    (tmp_path / "a.txt").write_text(text, encoding="utf-8", newline="")
    (document,) = read_documents(tmp_path / "a.txt")
    assert document.text == text
    assert [turn.speaker for turn in document.turns] == speakers


def test_folders_and_patterns_are_files_with_different_ids(tmp_path):
    for name in ("a.txt", "sub/a.txt", "sub/b.md", "c.png", ".d.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("She left.", encoding="utf-8")
    found = find_text_files([tmp_path])
    assert sorted(found.values()) == ["a", "sub/a", "sub/b"]
    assert [one.id for one in DocumentFiles(list(found), names=found)] == list(found.values())
    assert list(find_text_files([tmp_path / "*.txt"]).values()) == ["a"]
    assert list(find_text_files([tmp_path / "**/*.txt"]).values()) == [
        str(tmp_path / one) for one in ("a", "sub/a")
    ]
    for name in ("vol.1.txt", "vol.2.txt.gz", "a.html"):
        (tmp_path / name).touch()
    several = [tmp_path / name for name in ("vol.1.txt", "vol.2.txt.gz", "sub/a.txt", "a.txt", "a.html")]
    folder = tmp_path.as_posix()
    assert list(find_text_files(several).values()) == [
        *("vol.1", "vol.2", f"{folder}/sub/a", f"{folder}/a.txt", f"{folder}/a.html")
    ]
    for place in ("*.csv", "none.txt"):
        with pytest.raises(DataNotFoundError):
            find_text_files([tmp_path / place])


def test_a_bad_file_stops_or_is_skipped(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"")
    (tmp_path / "b.txt").write_text("She left.", encoding="utf-8")
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    with pytest.raises(DataError, match="is empty"):
        list(DocumentFiles(paths))
    files = DocumentFiles(paths, skip=True)
    assert [one.id for one in files] == ["b"]
    assert list(files.failed) == paths[:1]
    with pytest.raises(DataError, match="a document 'b' was read before"):
        list(DocumentFiles([paths[1], paths[1]]))


def test_an_id_that_occurs_twice_is_named_with_its_lines(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\n1,She left.\n2,He left.\n1,Ann left.\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"a.csv, line 4: a document '1' was read before, from .*line 2"):
        list(DocumentFiles([tmp_path / "a.csv"]))


@pytest.mark.parametrize("end", ["3,Eve left.\n", '3,"Eve left."\n'])
def test_a_quotation_mark_that_is_not_closed_takes_no_other_rows(end, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f'id,text\n0,"Ann ""A"" left."\n1,"She left.\n2,He left.\n{end}', encoding="utf-8")
    with pytest.raises(DataError, match="line 3: the row cannot be read"):
        list(read_documents(path))


def test_a_cell_may_be_a_novel(tmp_path):
    novel = "She left. " * 20_000
    (tmp_path / "a.csv").write_text(f'text\n"{novel}"\n', encoding="utf-8")
    (document,) = read_documents(tmp_path / "a.csv")
    assert document.text == novel


def test_blank_lines_between_json_lines_are_skipped(tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '\n{"text": "She left."}\n \n{"text": "He left."}\n\n', encoding="utf-8"
    )
    assert [one.id for one in read_documents(tmp_path / "a.jsonl")] == ["a-2", "a-4"]
