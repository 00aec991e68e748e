import numpy as np
import pytest

from gapstack.corpus.writers import write_submission
from gapstack.errors import DataNotFoundError
from gapstack.scoring import submit_check

GOOD = "ID,A,B,NEITHER\nrow-0,0.8,0.1,0.1\nrow-1,0.1,0.8,0.1\nrow-2,0.2,0.2,0.6\n"


@pytest.fixture(scope="module")
def rows(make_corpus):
    return make_corpus([0, 1, 2], ["he", "she", "her"]).unlabelled()


@pytest.mark.parametrize(
    ("text", "fatal", "said"),
    [
        (GOOD, False, []),
        (GOOD.rstrip("\n"), False, []),
        (GOOD.replace("row-0", '"row-0"'), False, []),
        (GOOD.replace("0.8,0.1,0.1", "1,0,0"), False, ["no chance at all"]),
        (GOOD.replace("0.8,0.1,0.1", "8,1,1"), False, ["1 rows do not sum to 1"]),
        (GOOD.replace("row-0", "x").replace("row-1", "row-0").replace("x", "row-1"), False, ["order"]),
        (GOOD.replace("ID,A,B", "id,a,b"), True, ["expected exactly 'ID,A,B,NEITHER'"]),
        (GOOD.replace("ID,A,B", "ID,B,A"), True, ["the header has 'B'"]),
        (GOOD.replace(",NEITHER", ""), True, ["the header has nothing"]),
        (GOOD.split("\n", 1)[1], True, ["the header has 'row-0'"]),
        (GOOD.replace(",", "\t"), True, ["cells are separated by tabs"]),
        ("\ufeff" + GOOD, True, ["byte-order mark"]),
        ("", True, ["is empty"]),
        (
            GOOD.replace("row-2", "row-1"),
            True,
            ["line 4, column ID: id 'row-1' occurs again", "1 id of made is not in the file (row-2)"],
        ),
        (
            GOOD.replace("row-2", "row-9"),
            True,
            ["not in the file (row-2)", "not in made (row-9)"],
        ),
        (GOOD.replace("0.6", "nan"), True, ["line 4, column NEITHER: 'nan' is not finite"]),
        (GOOD.replace("0.6", "-0.6"), True, ["line 4, column NEITHER: -0.6 is negative"]),
        (GOOD.replace("0.6", "much"), True, ["line 4, column NEITHER: 'much' is no number"]),
        (GOOD.replace("0.6", ""), True, ["line 4, column NEITHER: '' is no number"]),
        (GOOD.replace("0.2,0.2,0.6", "0,0,0"), True, ["line 4, column A: all three are 0"]),
        (GOOD.replace(",0.6", ""), True, ["line 4, column NEITHER: the row ends after 3 cells"]),
        (GOOD.replace("0.", "x"), True, ["line 2", "line 3", "line 4"]),
    ],
)
def test_kaggle_would_take_it_or_it_is_said_why_not(rows, tmp_path, text, fatal, said) -> None:
    path = tmp_path / "submission.csv"
    path.write_text(text, encoding="utf-8", newline="\n")
    problems = submit_check(path, rows)
    assert [problem.fatal for problem in problems] == [fatal] * len(said)
    for problem, words in zip(problems, said, strict=True):
        assert words in str(problem)


def test_many_bad_rows_are_counted_not_listed(make_corpus, tmp_path) -> None:
    corpus = make_corpus([0] * 100, ["he"] * 100)
    path = tmp_path / "submission.csv"
    path.write_text("ID,A,B,NEITHER\n" + "".join(f"{one},a,1,1\n" for one in corpus.ids), encoding="utf-8")
    problems = submit_check(path, corpus)
    assert len(problems) <= 6
    assert any("100" in str(problem) or "95" in str(problem) for problem in problems)


def test_what_gapstack_writes_kaggle_takes(rows, tmp_path) -> None:
    path = tmp_path / "submission.csv"
    probabilities = np.random.default_rng(0).dirichlet([1, 1, 1], 3)
    write_submission(path, rows.ids, probabilities)
    assert submit_check(path, rows) == []


def test_no_file_is_an_error_of_its_own(rows, tmp_path) -> None:
    with pytest.raises(DataNotFoundError):
        submit_check(tmp_path / "none.csv", rows)
