"""What a user knows about people is read strictly."""

import pytest

from gapstack.data import Gender
from gapstack.errors import DataError
from gapstack.running_text.characters import KnownCharacter, known_characters, read_people

GOOD = (
    '[[people]]\nname = "Gabriel Oak"\naliases = ["Gabe"]\npronouns = "she/her"\n\n[[people]]\nname = "Bo"\n'
)


def test_people_are_read(tmp_path):
    (tmp_path / "people.toml").write_bytes(GOOD.replace("\n", "\r\n").encode("utf-8-sig"))
    gabriel, bo = read_people(tmp_path / "people.toml")
    assert gabriel == KnownCharacter("Gabriel Oak", ("Gabe",), ("she", "her"))
    assert gabriel.genders == {Gender.FEMININE}
    assert (bo.names, bo.genders) == (("Bo",), frozenset())
    assert known_characters({"Bo": "they, he"}) == (KnownCharacter("Bo", (), ("they", "he")),)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[[people", "not valid TOML"),
        ('Gabriel = "she"', r"\[\[people\]\]"),
        ("[[people]]\nname = 3", "person 1: name is 3"),
        ('[[people]]\nname = " "', "person 1: a name is empty"),
        ('[[people]]\nname = "A"\npronouns = "hex"', "unknown pronoun 'hex'"),
        ('[[people]]\nname = "A"\nalias = ["B"]', "unknown key 'alias'.*aliases"),
        ('[[people]]\nname = "A"\naliases = "B"', "aliases are"),
        ('[[people]]\nname = "A"\n[[people]]\nname = "B"\naliases = ["a"]', "a name of two people"),
        ('[[people]]\nname = "A"\n[[people]]\nname = "A"', "a name of two people"),
    ],
)
def test_what_is_wrong_is_one_error(content, problem, tmp_path):
    (tmp_path / "people.toml").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=f"people.toml.*{problem}"):
        read_people(tmp_path / "people.toml")
