import json

import numpy as np
import pytest

from gapstack.corpus import Corpus, Example, Label, Span
from gapstack.report import gap_record, gap_report, scores_table
from gapstack.scoring import degenerate_scores, score, score_decisions


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    answers = [("he", Label.A), ("his", Label.NEITHER), ("she", Label.A), ("her", Label.B)]
    spans = {"pronoun": Span(0, 1), "a": Span(2, 3), "b": Span(4, 5)}
    return Corpus(
        (
            Example(f"r{i}", f"{word} Ann Bob", **{**spans, "pronoun": Span(0, len(word))}, label=label)
            for i, (word, label) in enumerate(answers)
        ),
        name="four",
    )


def test_comparison_has_all_columns_in_order_and_extra_after(corpus) -> None:
    scores = score(corpus, np.ones((4, 3)))
    made = scores_table(
        {"out-of-fold": [("prior", scores, {"seconds": 1.25})], "held-out": [("prior", scores)]}
    )
    assert made.text().split("\n")[0].split() == (
        ["member", "logloss", "F1", "M", "F1", "F", "F1", "O", "bias", "acc", "seconds"]
    )
    first, second = made.json()["sections"]
    assert first["rows"][0]["logloss"] == pytest.approx(np.log(3))
    assert (first["rows"][0]["seconds"], second["rows"][0]["seconds"]) == (1.25, None)


def test_degenerate_rows_end_their_section_and_never_win(corpus) -> None:
    scores = score(corpus, [[1, 2, 1], [1, 1, 2], [1, 2, 1], [1, 2, 1]])
    made = scores_table({"s": [("x", scores), ("y", scores)]}, degenerate={"s": degenerate_scores(corpus)})
    names = [row["name"] for row in made.json()["sections"][0]["rows"]]
    assert names[:2] == ["x", "y"]
    assert names[2:] == list(degenerate_scores(corpus))
    both = next(line for line in made.markdown().split("\n") if "both TRUE" in line)
    assert "**" not in both


def test_official_lines_are_printed_to_the_letter(corpus) -> None:
    decided = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], dtype=bool)
    lines = gap_report("sys", score_decisions(corpus, decided)).split("\n")
    assert lines[0] == "four: 4 rows, official labels"
    assert [" ".join(line.split()) for line in lines[2:6]] == [
        "Overall recall: 66.7 precision: 50.0 f1: 57.1 tp: 2 fp: 2 fn: 1 tn: 3",
        "Masculine recall: 100.0 precision: 50.0 f1: 66.7 tp: 1 fp: 1 fn: 0 tn: 2",
        "Feminine recall: 50.0 precision: 50.0 f1: 50.0 tp: 1 fp: 1 fn: 1 tn: 1",
        "Bias (F/M) 0.75",
    ]
    assert lines[6].startswith("Warning: 1 of 4 rows are TRUE for both names")


def test_bias_without_value_is_a_dash(corpus) -> None:
    report = gap_report("sys", score_decisions(corpus, np.zeros((4, 2), dtype=bool)))
    assert "Bias (F/M) -\n" in report
    assert "Warning" not in report


def test_everything_fits_in_100_columns(corpus) -> None:
    scores = degenerate_scores(corpus)
    name = "a rather long name of a member that somebody gave a whole sentence to"
    made = scores_table({"s": [(name, scores["always A"], {"seconds": 12345.6})]}, degenerate={"s": scores})
    assert max(map(len, made.text().split("\n"))) <= 100
    assert max(map(len, gap_report(name, scores["always A"], scores).split("\n"))) <= 100


def test_notes_are_printed_on_one_line_each(corpus) -> None:
    report = gap_report("sys", score(corpus, np.ones((4, 3))), notes=["1 id (a\x1b[2J) is absent"])
    assert "Note: 1 id (a\\x1b[2J) is absent.\n" in report


def test_json_has_everything_unrounded(corpus) -> None:
    rows = degenerate_scores(corpus)
    record = json.loads(json.dumps(gap_record("sys", rows["both TRUE"], rows, ["a note"])))
    assert record["name"] == "sys"
    assert record["logloss"] is None
    assert record["double_true"] == record["n"] == 4
    assert record["gap"]["overall"]["f1"] == pytest.approx(600 / 11)
    assert list(record["degenerate"]) == list(rows)
    assert record["notes"] == ["a note"]
