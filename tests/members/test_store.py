"""A saved member comes back as it was, or is refused by the file that is damaged."""

import random

import numpy as np
import pytest

from gapstack.audit import target_of
from gapstack.errors import DamageError, DataError
from gapstack.files import discard
from gapstack.members import create
from gapstack.members.parts import boosters
from gapstack.members.store import load, save
from tests.damage import DAMAGES, apply_damage, files_below


@pytest.fixture(scope="module")
def member(sample_train):
    return create("surface", rounds=2, bags=2).fit(sample_train)


@pytest.fixture
def saved(member, tmp_path):
    save(member, "surface", tmp_path / "saved")
    return tmp_path / "saved"


def test_it_answers_as_before(saved, member, sample_test):
    np.testing.assert_array_equal(load(saved).predict_proba(sample_test), member.predict_proba(sample_test))


@pytest.mark.parametrize("kind", DAMAGES)
def test_every_damage_is_seen_before_anything_is_read_of_it(saved, kind, monkeypatch):
    monkeypatch.setattr(boosters.lightgbm, "Booster", lambda **_: pytest.fail("LightGBM was given it"))
    names = files_below(saved)
    assert {name.suffix for name in names} == {".json", ".safetensors", ".txt"}
    for seed, name in enumerate(names):
        content = (saved / name).read_bytes()
        apply_damage(saved / name, kind, random.Random(seed))
        for read in (load, lambda folder: target_of(str(folder), ["winogender"])):
            with pytest.raises(DamageError, match=f"{name}: .*Fit this member and save it again"):
                read(saved)
        discard(saved / name)
        (saved / name).write_bytes(content)


def test_a_folder_without_a_member_is_no_damaged_one(tmp_path):
    with pytest.raises(DataError, match="no saved member here") as caught:
        load(tmp_path)
    assert not isinstance(caught.value, DamageError)
