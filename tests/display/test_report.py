import numpy as np
import pytest

from gapstack.data import Corpus, Example, Label
from gapstack.display import gap_report, scores_table
from gapstack.display.report import scorecard
from gapstack.evaluation import degenerate_scores, score, score_decisions


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    answers = [("he", Label.A), ("his", Label.NEITHER), ("she", Label.A), ("her", Label.B)]
    return Corpus(
        (
            Example.from_text(f"{word} Ann Bob", word, "Ann", "Bob", id=f"r{i}", label=label)
            for i, (word, label) in enumerate(answers)
        ),
        name="four",
    )


def test_comparison_has_all_columns_in_order_and_extra_after(corpus) -> None:
    scores = score(corpus, np.ones((4, 3)))
    made = scores_table(
        {"out-of-fold": [("best", scores)], "held-out": [("prior", scores)]},
        extra={"best": {"seconds": 1.25}},
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


def test_official_scorecard_is_printed_to_the_letter(corpus) -> None:
    decided = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], dtype=bool)
    scores = score_decisions(corpus, decided)
    assert scorecard(scores.gap) == (
        "Overall recall: 66.7 precision: 50.0 f1: 57.1\n\t\ttp 2\tfp 2\n\t\tfn 1\ttn 3\n"
        "Masculine recall: 100.0 precision: 50.0 f1: 66.7\n\t\ttp 1\tfp 1\n\t\tfn 0\ttn 2\n"
        "Feminine recall: 50.0 precision: 50.0 f1: 50.0\n\t\ttp 1\tfp 1\n\t\tfn 1\ttn 1\n"
        "Bias (F/M): 0.75\n"
    )
    report = gap_report("sys", scores)
    assert report.startswith(
        "four: 4 rows, official labels\n\n" + scorecard(scores.gap) + "\nWarning: 1 of 4 rows"
    )


def test_neutral_pronouns_have_lines_of_their_own(corpus) -> None:
    they = corpus.map(
        lambda e: Example.from_text("they Ann Bob", "they", "Ann", "Bob", id=e.id, label=e.label)
    )
    card = scorecard(score(they, np.ones((4, 3))).gap)
    assert "\nNeutral recall: 66.7 precision: 50.0 f1: 57.1\n" in card
    assert "\nFeminine recall: 0.0 precision: 0.0 f1: 0.0\n" in card


def test_notes_are_printed_on_one_line_each(corpus) -> None:
    report = gap_report("sys", score(corpus, np.ones((4, 3))), notes=["1 id (a\x1b[2J) is absent"])
    assert "Note: 1 id (a\\x1b[2J) is absent.\n" in report
