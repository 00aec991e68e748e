"""gap ask and gap annotate as a user meets them."""

import json
import re

import pytest
from typer.testing import CliRunner

from gapstack.cli import app
from gapstack.cli.common import spare_imports
from gapstack.data.clusters import read_clusters
from gapstack.data.documents import find_text_files
from gapstack.errors import DataError
from gapstack.language import parses
from gapstack.runs import predictors
from tests.commands import gap, refused

KATE = "Kate told Mary that she should leave."


@pytest.fixture(autouse=True)
def _shipped(pairs_model, monkeypatch):
    monkeypatch.setattr(predictors, "shipped_model", lambda: pairs_model)


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
    assert "fits the gender" not in gap("ask", f"Mary left. {KATE}")
    assert "fits the gender" in gap("ask", f"Mary left. {KATE}", "--why")


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
    with pytest.raises(DataError, match="standard input, line 2: byte 0xFF is not utf-8"):
        ask(b"Kate\nmet \xff", "-", "--encoding", "utf-8")


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


def test_bytes_that_are_not_utf_8_are_read_as_in_a_file(tmp_path):
    assert "she at 20" in ask(f"Andr\u00e9 left.\n{KATE}\n".encode("cp1252"), "--pronoun", "she")
    argument = "Andr\u00e9 said she left.".encode("cp1252").decode("utf-8", "surrogateescape")
    gap("rewrite", argument, "--output", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text(encoding="utf-8").startswith("Andr\u00e9 said")


def test_turns_of_a_file_are_those_of_a_conversation(tmp_path):
    lines = [{"speaker": "anna", "text": "Hi, bo."}, {"speaker": "bo", "text": "I saw her."}]
    (tmp_path / "chat.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert "I at 19: bo" in gap("ask", tmp_path / "chat.jsonl", "--first-person")


def test_an_empty_text_has_no_pronouns():
    assert "none of the pronouns" in gap("ask", "")


def test_terminal_controls_of_a_text_are_written_out():
    printed = gap("ask", "Kate \x1b[31m met Mary\u202e. She left.")
    assert "\x1b" not in printed
    assert "\\x1b" in printed


def test_what_cannot_be_asked_is_one_line():
    assert "there are 2 texts; expected one" in refused("ask", "Kate told", "Mary")
    assert "gap annotate" in refused("ask", "she " * 60_000)
    assert "expected one of its pronouns: she" in refused("ask", KATE, "--pronoun", "he")


PAUL = "Kate met Paul.\r\nHe was late."


RESULTS = (
    ".csv",
    ".people.csv",
    ".pairs.csv",
    ".jsonl",
    ".html",
    ".labelstudio.json",
    ".graphml",
    ".conll",
    ".conllu",
)


def test_a_text_is_rewritten(tmp_path):
    assert gap("rewrite", PAUL, "--probability", 0).endswith("Paul was late.\n")
    assert "He [Paul] was" in gap("rewrite", PAUL, "--probability", 0, "--brackets")
    (tmp_path / "one.txt").write_bytes(PAUL.encode())
    gap("rewrite", tmp_path / "one.txt", "--probability", 1, "-o", tmp_path / "same.txt")
    assert (tmp_path / "same.txt").read_bytes() == PAUL.encode()
    gap("rewrite", tmp_path / "one.txt", "--probability", 0, "-o", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_bytes() == b"Kate met Paul.\r\nPaul was late."
    (tmp_path / "two.jsonl").write_text(f"{json.dumps({'text': PAUL})}\n" * 2, encoding="utf-8")
    assert "Use --json" in refused("rewrite", tmp_path / "two.jsonl")
    records = [json.loads(line) for line in gap("rewrite", tmp_path / "two.jsonl", "--json").splitlines()]
    assert [record["id"] for record in records] == ["two-1", "two-2"]


def test_a_text_with_crlf_prints_no_escaped_carriage_return():
    assert "\\r" not in gap("ask", PAUL)


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


def test_what_cannot_be_read_or_written_is_found_before_the_model_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr("gapstack.runs.text_resolvers.text_resolver", None)
    (tmp_path / "bad.jsonl").write_text('{"text": 3}\n')
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "good.txt").write_text("Kate met Paul. He smiled.")
    (tmp_path / "out.txt").write_text("precious")
    good = ["annotate", tmp_path / "good.txt", "-o"]
    out = tmp_path / "out.csv"
    assert "bad.jsonl, line 1: text is 3" in refused(*good, out, tmp_path / "bad.jsonl")
    assert "out.txt: is another text" in refused(*good, tmp_path / "out.ann")
    assert "one document a file" in refused(*good, tmp_path / "out.tokens", tmp_path / "out.txt")
    assert "known to say I" in refused(*good, out, "--first-person")
    for place, problem in {"folder.csv": "is a folder", "good.txt/out.csv": "no such folder"}.items():
        result = CliRunner().invoke(app, [*map(str, good), str(tmp_path / place)])
        shown = (result.output + str(result.exception)).replace("│", " ")
        assert problem in " ".join(shown.split())
    assert (tmp_path / "out.txt").read_text() == "precious"
    assert not list(tmp_path.glob("*.partial"))


def test_a_folder_is_annotated_and_a_bad_file_is_skipped(tmp_path):
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "one.txt").write_text(KATE, encoding="utf-8")
    (texts / "two.txt").write_bytes(b"")
    assert "is empty" in refused("annotate", texts, "-o", tmp_path / "out.csv")
    arguments = ["annotate", str(texts), "-o", str(tmp_path / "out.csv"), "--on-error", "skip"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1
    assert "two.txt" in result.stderr
    assert len((tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()) == 2


def test_results_within_the_folder_are_not_read_and_may_be_written_again(tmp_path):
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "one.txt").write_text(KATE, encoding="utf-8")
    outputs = [str(texts / f"all{suffix}") for suffix in RESULTS]
    arguments = [argument for output in outputs for argument in ("-o", output)]
    for _ in range(2):
        gap("annotate", texts, *arguments)
        assert len((texts / "all.csv").read_text(encoding="utf-8").splitlines()) == 2
    assert list(find_text_files([texts]).values()) == ["one"]
    for name in ("mine.csv", "mine.html", "mine.jsonl"):
        (texts / name).write_text('{"id": "a", "text": "resolver"}', encoding="utf-8")
        assert "is a file of the input" in refused("annotate", texts, "-o", texts / name)


def test_people_and_conversations(tmp_path):
    (tmp_path / "talk.txt").write_text("Anna: Hello, Bo.\nBo: I like you.", encoding="utf-8")
    (tmp_path / "people.toml").write_text('[[people]]\nname = "Bo"\npronouns = "she"', encoding="utf-8")
    options = ("--people", tmp_path / "people.toml", "--first-person")
    assert "I at 21: Bo" in gap("ask", tmp_path / "talk.txt", *options)
    gap("annotate", tmp_path / "talk.txt", "-o", tmp_path / "out.csv", *options)
    assert ",I,2,Bo," in (tmp_path / "out.csv").read_text(encoding="utf-8")


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
