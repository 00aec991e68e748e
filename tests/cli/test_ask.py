"""gap ask and gap annotate as a user meets them."""

import json
import re

import pytest
from typer.testing import CliRunner

from gapstack.cli import app
from gapstack.cli.common import spare_imports
from gapstack.errors import DataError
from gapstack.resolvers.clusters import read_clusters
from gapstack.runs import predictors
from gapstack.text import parses
from tests.anytext.conftest import model  # noqa: F401 - a fixture
from tests.commands import gap, refused

KATE = "Kate told Mary that she should leave."


@pytest.fixture(autouse=True)
def _shipped(model, monkeypatch):  # noqa: F811
    monkeypatch.setattr(predictors, "shipped_model", lambda: model)


def ask(content: bytes, *arguments: str) -> str:
    result = CliRunner().invoke(app, ["ask", *arguments], input=content, catch_exceptions=False)
    return result.stdout


def test_a_sentence_is_answered():
    printed = gap("ask", KATE)
    text, _, headline, *shares = printed.splitlines()
    assert text == "Kate told Mary that [she] should leave."
    assert re.fullmatch("she at 20: (Kate|Mary|nobody here|not sure .*)", headline)
    assert {line.split()[0] for line in shares} == {"Kate", "Mary", "nobody", "somebody"}
    assert sum(float(line.split("%")[0].split()[-1]) for line in shares) == pytest.approx(100, abs=0.2)


def test_reasons_are_printed_on_request():
    assert "subject" not in gap("ask", f"Mary left. {KATE}")
    assert "subject of this sentence" in gap("ask", f"Mary left. {KATE}", "--why")


def test_names_follow_their_option_and_json_has_the_spans():
    record = json.loads(
        gap("ask", "Kate and Ann told Mary that she left.", "--json", "--names", "Kate", "Mary")
    )
    (answer,) = record["answers"]
    assert {one["name"] for one in answer["candidates"]} == {"Kate", "Mary"}
    assert {"full_name", "reasons"} < answer["candidates"][0].keys()
    assert answer["sure"] in (True, False)
    assert answer["pronoun"] == {"text": "she", "start": 28, "end": 31}


def test_standard_input_is_one_text():
    assert "She at 16" in ask(b"Kate met Mary.\n\nShe left.", "-")
    with pytest.raises(DataError, match="standard input, line 2: byte 0xFF is not UTF-8"):
        ask(b"Kate\nmet \xff", "-")


def test_a_file_is_read(tmp_path):
    (tmp_path / "some text.txt").write_text(KATE, encoding="utf-8")
    assert "she at 20" in gap("ask", tmp_path / "some text.txt")
    (tmp_path / "two.jsonl").write_text(f'{{"text": "{KATE}"}}\n' * 2, encoding="utf-8")
    assert gap("ask", tmp_path / "two.jsonl").count("she at 20") == 2
    for name in ("chapter.txt", tmp_path / "none"):
        assert f"no such file: {name}" in refused("ask", name)


def test_without_a_text_each_line_is_one_and_a_bad_one_ends_nothing():
    printed = ask(f"Bo left.\n{KATE}\n".encode(), "--pronoun", "she", "--names", "Kate", "--names", "Mary")
    assert "she at 20" in printed


def test_terminal_controls_of_a_text_are_written_out():
    printed = gap("ask", "Kate \x1b[31m met Mary\u202e. She left.")
    assert "\x1b" not in printed
    assert "\\x1b" in printed


def test_what_cannot_be_asked_is_one_line():
    assert "there are 2 texts; expected one" in refused("ask", "Kate told", "Mary")
    assert "gap annotate" in refused("ask", "she " * 60_000)
    assert "expected one of its pronouns: she" in refused("ask", KATE, "--pronoun", "he")


def test_documents_are_annotated(tmp_path):
    (tmp_path / "one.txt").write_text(KATE, encoding="utf-8")
    gap("annotate", tmp_path / "one.txt", "-o", tmp_path / "out.jsonl")
    (document,) = read_clusters(tmp_path / "out.jsonl").documents
    assert [KATE[slice(*mention)] for mention in document.clusters[0]][-1] == "she"
    again = (tmp_path / "out.jsonl").read_bytes()
    gap("annotate", tmp_path / "one.txt", "-o", tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == again
    assert "unknown suffix" in refused("annotate", tmp_path / "one.txt", "-o", tmp_path / "out.txt")
    assert "both input and output" in refused(
        "annotate", tmp_path / "out.jsonl", "-o", tmp_path / "out.jsonl"
    )


def test_imports_are_spared_unless_what_is_stored_may_name_a_parser(tmp_path, monkeypatch):
    spared = []
    monkeypatch.setattr(parses, "spare_imports", spared.append)
    for name, parser in (("own", None), ("foreign", "en_core_web_trf")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "member.json").write_text(json.dumps({"settings": [{"parser": parser}]}))
        spare_imports(str(tmp_path / name))
    spare_imports("owner/not-fetched-yet")
    assert spared == [None]
    spare_imports(None, "mine")
    assert spared == [None, "mine"]
