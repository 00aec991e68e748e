"""A sealed record is read as it was written, or the file that is wrong is named."""

import json
import random

import pytest

from gapstack.errors import DamageError
from gapstack.records import read_sealed, seal
from tests.damage import DAMAGES, apply_damage


@pytest.fixture
def sealed(tmp_path):
    """A record that vouches for two files, one of them in a folder."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "b.bin").write_bytes(bytes(100))
    (tmp_path / "a.txt").write_text("some text")
    seal(tmp_path / "record.json", {"seconds": 12.5, "name": "é", 3: (1, 2)}, with_files=True)
    return tmp_path / "record.json"


def test_what_was_written_is_read(sealed):
    record = read_sealed(sealed)
    assert {key: record[key] for key in ("seconds", "name", "3")} == {
        "seconds": 12.5,
        "name": "é",
        "3": [1, 2],
    }
    assert set(record["files"]) == {"a.txt", "inner/b.bin"}


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.parametrize("name", ["record.json", "a.txt", "inner/b.bin"])
def test_every_damage_is_seen_and_its_file_named(sealed, name, kind):
    apply_damage(sealed.parent / name, kind, random.Random(0))
    with pytest.raises(DamageError, match=rf"{name}.*Repair it"):
        read_sealed(sealed, remedy="Repair it")


@pytest.mark.parametrize(
    ("check", "sees"), [((), False), (["a.txt"], False), (["inner"], True), (["inner/b.bin"], True)]
)
def test_only_what_is_needed_is_checked(sealed, check, sees):
    (sealed.parent / "inner" / "b.bin").write_bytes(b"other")
    if sees:
        with pytest.raises(DamageError):
            read_sealed(sealed, check)
    else:
        read_sealed(sealed, check)


def test_a_changed_digit_of_the_record_itself_is_seen_and_a_changed_space_does_no_harm(sealed):
    text = sealed.read_text()
    sealed.write_text(text.replace("12.5", "12.6"))
    with pytest.raises(DamageError, match="changed since it was written"):
        read_sealed(sealed)
    sealed.write_text(json.dumps(json.loads(text), sort_keys=True))
    assert read_sealed(sealed)["seconds"] == 12.5


@pytest.mark.parametrize("text", ["[]", "3", "null", "{}", '{"digest": "", "files": 3}', "[" * 100_000])
def test_json_that_is_no_record_is_damage(sealed, text):
    sealed.write_text(text)
    with pytest.raises(DamageError):
        read_sealed(sealed)
