"""What settings may be: kinds, ranges, and what an error says."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.kinds import BlockName, ContextName, Count, Label, NotAll, Plan, Positive, Share
from gapstack.settings import SettingError, check, check_all, closest, expected, shown
from gapstack.training.plan import Schedule, TrainingPlan

KINDS = {
    "rounds": Count,
    "rate": Positive,
    "share": Share,
    "dropout": NotAll,
    "most": Count | None,
    "blocks": list[BlockName],
    "context": ContextName,
    "folder": str | None,
    "symmetric": bool,
    "training": Plan | list[Plan] | None,
    "names": dict[str, list[str]],
    "label": Label,
}
TAKEN = (
    *({"rounds": 1}, {"rate": 1}, {"rate": 0.5}, {"share": 0}, {"share": 1}, {"dropout": 0.0}),
    *(
        {"most": None},
        {"most": 3},
        {"blocks": []},
        {"blocks": ("surface", "cues")},
        {"context": "snippet-context"},
    ),
    *({"folder": "a/b"}, {"symmetric": False}, {"names": {"F": ["Ada"]}}, {"label": "probert v2 (é)"}),
    *({"training": None}, {"training": {}}, {"training": [{}, {"epochs": 2, "schedule": {"warmup": 0.1}}]}),
    *({"training": {"frozen": [0, "encoder"], "max_norm": None}},),
)
REFUSED = (
    ({"rounds": "abc"}, 'rounds: found "abc", expected a whole number, at least 1'),
    ({"rounds": -5}, "rounds: found -5, expected a whole number, at least 1"),
    ({"rounds": 1.0}, "rounds: found 1.0, expected a whole number, at least 1"),
    ({"rounds": True}, "rounds: found true, expected a whole number, at least 1"),
    ({"rounds": 2**40}, f"rounds: found {2**40}, expected a whole number, at least 1, at most 2147483647"),
    ({"rounds": None}, "rounds: found null, expected a whole number, at least 1"),
    ({"rate": 0}, "rate: found 0, expected a number, more than 0"),
    ({"rate": math.nan}, "rate: found nan, expected a number, more than 0"),
    ({"rate": math.inf}, "rate: found inf, expected a number, more than 0"),
    (
        {"rate": 10**400},
        f"rate: found {'1' + 56 * '0'}..., expected a number, more than 0, at most 2147483647",
    ),
    ({"share": 1.5}, "share: found 1.5, expected a number, at least 0, at most 1"),
    ({"dropout": 1}, "dropout: found 1, expected a number, at least 0, less than 1"),
    ({"most": 0}, "most: found 0, expected a whole number, at least 1, or none"),
    ({"blocks": 5}, "blocks: found 5, expected a list, each one of surface, cues, fill_the_gap, positions"),
    (
        {"blocks": "cues"},
        'blocks: found "cues", expected a list, each one of surface, cues, fill_the_gap, positions',
    ),
    (
        {"blocks": ["cues", "Surfac"]},
        'blocks.item 2: found "Surfac", expected one of surface, cues, fill_the_gap, positions; '
        "did you mean surface?",
    ),
    (
        {"context": "snippet_context"},
        'context: found "snippet_context", expected one of "snippet-context", "page-context"; '
        "did you mean snippet-context or page-context?",
    ),
    ({"folder": "a\0b"}, 'folder: found "a\\u0000b", expected text, or none'),
    ({"folder": "\ud800"}, 'folder: found "\\ud800", expected text, or none'),
    ({"symmetric": 1}, "symmetric: found 1, expected true or false"),
    ({"training": {"epoch": 1}}, "training.epoch: no such setting; did you mean epochs?"),
    ({"training": {"epochs": 0}}, "training.epochs: found 0, expected a whole number, at least 1"),
    (
        {"training": [{}, {"schedule": {"warmup": 1}}]},
        "training.item 2.schedule.warmup: found 1, expected a number, at least 0, less than 1",
    ),
    ({"names": {"F": [3]}}, "names.F.item 1: found 3, expected text"),
    ({"round": 3}, "round: no such setting; did you mean rounds?"),
    ({"\x1b[2J": 3}, '"\\u001b[2J": no such setting; there are: ' + ", ".join(KINDS)),
)


@pytest.mark.parametrize("values", TAKEN, ids=str)
def test_what_fits_is_taken(values):
    check_all(values, KINDS)


@pytest.mark.parametrize(("values", "message"), REFUSED, ids=[f"{b[0]!s:.60}" for b in REFUSED])
def test_what_does_not_fit_is_refused_with_path_value_and_range(values, message):
    with pytest.raises(SettingError) as refused:
        check_all(values, KINDS)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    "label", ["", ".hidden", "a/b", "a\\b", "..", "a:b", "x" * 101, "é" * 51, "a\nb", "a.", "a\0"]
)
def test_what_cannot_name_a_folder_everywhere_is_refused(label):
    with pytest.raises(SettingError, match="text that can name a folder"):
        check(label, Label)


def test_the_seed_of_a_training_is_the_member_s():
    with pytest.raises(SettingError, match=r"seed: no such setting; there are: epochs"):
        check({"seed": 3}, Plan)


def test_a_plan_s_schedule_may_be_made_already():
    assert TrainingPlan(schedule=Schedule(shape="cosine")).schedule.shape == "cosine"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.sampled_from(sorted(KINDS)),
)
def test_whatever_is_given_is_taken_or_refused_in_one_printable_line(value, name):
    said = ""
    try:
        check_all({name: value}, KINDS)
    except SettingError as refused:
        said = str(refused)
    assert len(said) < 1000
    assert said.isprintable()


def test_shown_values_are_short_and_harmless():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    for value in ("\x1b[2J", "a\nb", "x" * 5000, 10**5000, deep, {"a": object()}, {3: 4}):
        assert shown(value).isprintable()
        assert len(shown(value)) <= 60


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("quickstrat", ["quickstart", "fair"], "did you mean quickstart?"),
        ("URL", ["url", "prior"], "did you mean url?"),
        ("zzz", ["url", "prior"], "there are: url, prior"),
        (5, ["url"], "there are: url"),
        ("a", [], "there are: none"),
    ],
)
def test_the_closest_name_is_offered_else_all(name, known, said):
    assert closest(name, known) == said


def test_kinds_are_described_in_words():
    assert expected(Count | None) == "a whole number, at least 1, or none"
    assert expected(list[Share]) == "a list, each a number, at least 0, at most 1"
