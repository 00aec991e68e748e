"""Terminal tables: what is warned of stands in the table itself, and lines stay within a terminal."""

from dataclasses import replace

from gapstack.comparison import tables
from gapstack.display.render import WIDTH


def test_every_question_has_its_table_within_the_width(made):
    texts = [table.text() for table in tables(made)]
    joined = "\n".join(texts)
    for expected in (
        *("95% intervals", "against the best", "pairwise wins", "similarity of"),
        *("contribution of each", "slices: good", "likely label errors"),
    ):  # fmt: skip
        assert expected in joined
    assert max(map(len, joined.splitlines())) <= WIDTH


def test_warnings_stand_in_the_scores_by_number(made):
    shown = tables(made)[0].text()
    *_, line = (line for line in shown.splitlines() if " decided " in line)
    assert line.split()[-1] == "1"
    assert "[1] 1 rows are TRUE for both names" in " ".join(shown.split())


def test_what_was_not_measured_is_said_below_the_scores(made):
    shown = tables(replace(made, notes=("no counterfactuals: nobody asked",)))[0].text()
    assert "No counterfactuals: nobody asked." in " ".join(shown.split())


def test_every_member_has_its_verdict_against_the_best(made):
    (section,) = tables(made)[0].sections
    verdicts = {name.strip(): cells["verdict"] for name, cells in section.rows}
    assert verdicts == {
        "1 good": "the best", "2 middling": "worse", "3 poor": "worse", "4 decided": "cannot be told by F1 O"
    }  # fmt: skip


def test_wins_and_losses_are_those_of_the_tests(made):
    (wins,) = (table for table in tables(made) if table.sections[0].title == "pairwise wins")
    counts = {name.strip(): cells for name, cells in wins.sections[0].rows}
    assert (counts["1 good"]["logloss beats"], counts["1 good"]["logloss beaten"]) == (2, 0)
    assert (counts["3 poor"]["logloss beats"], counts["3 poor"]["logloss beaten"]) == (0, 2)


def test_a_terminal_lists_the_most_telling_of_many_members(made):
    whole, short = tables(made), tables(made, 2)
    assert len(short[0].sections[0].rows) == len(made.names), "scores are of all"
    (added,) = (table for table in short if "contribution of each member" in table.sections[0].title)
    (every,) = (table for table in whole if "contribution of each member" in table.sections[0].title)
    values = sorted((cells["shapley"] for _, cells in every.sections[0].rows), reverse=True)
    assert [cells["shapley"] for _, cells in added.sections[0].rows] == values[:2]
    note = f"2 of {len(values)} members: those with the largest shapley; --csv, --json and --html have all."
    assert added.caption.endswith(note) == (len(values) > 2)
