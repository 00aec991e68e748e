"""A saved member comes back as it was, or is refused by the file that is damaged."""

import json

import numpy as np
import pytest

from gapstack.errors import DamageError, DataError, MemberError
from gapstack.members import create
from gapstack.members.learned_state import read_state
from gapstack.members.saved import load, save, saved_record
from gapstack.records import read_sealed, seal


@pytest.fixture(scope="module")
def member(sample_train):
    return create("surface", rounds=2, bags=2).fit(sample_train)


@pytest.fixture
def saved(member, tmp_path):
    save(member, "surface", tmp_path / "saved")
    return tmp_path / "saved"


def test_a_folder_without_a_member_is_no_damaged_one(tmp_path):
    with pytest.raises(DataError, match="no saved member here") as caught:
        load(tmp_path)
    assert not isinstance(caught.value, DamageError)


def resealed(folder, name, change):
    """Change a file as the author of a shared folder can: the checksums fit."""
    record = json.loads((folder / name).read_text())
    change(record)
    (folder / name).write_text(json.dumps(record))
    seal(folder / "member.json", json.loads((folder / "member.json").read_text()), with_files=True)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        *(("state.json", lambda record, key=key: record.pop(key)) for key in ("texts", "values")),
        ("state.json", lambda record: record.update(texts=["../../secret"])),
        *(
            ("member.json", lambda record, key=key: record.pop(key))
            for key in ("name", "parameters", "reads")
        ),
        ("member.json", lambda record: record.update(parameters={"rounds": "x"})),
    ],
)
def test_a_folder_with_valid_checksums_and_invalid_contents_is_refused_in_one_line(saved, name, change):
    resealed(saved, name, change)
    with pytest.raises((DataError, MemberError)) as refused:
        load(saved)
    assert "\n" not in str(refused.value)


def test_a_folder_of_an_earlier_version_is_read_with_a_warning(saved, member, sample_train, caplog):
    def earlier(record):
        del record["contaminated_by"]
        record["not_for"] = ["gap-test"]
        record["versions"]["gapstack"] = "0.0.1"

    resealed(saved, "member.json", earlier)
    restored = load(saved)
    assert "gapstack 0.0.1" in caplog.text
    assert restored.contaminated_by == ("gap-test",)
    assert np.array_equal(restored.predict_proba(sample_train), member.predict_proba(sample_train))


def test_settings_of_an_earlier_version_have_the_names_of_today(saved):
    forms = {"forms": 3, "answer_forms": 4}
    parts = [
        {"name": "tuned_spans", "label": "spans", "settings": {"first": None, **forms}},
        {"name": "surface", "label": "surface", "settings": {"rounds": 2}},
    ]
    resealed(saved, "member.json", lambda record: record.update(name="stack", parameters={"members": parts}))
    spans, surface = saved_record(saved)["parameters"]["members"]
    assert spans["settings"] == {"pretraining": None, "name_variants": 3, "prediction_variants": 4}
    assert surface["settings"] == {"rounds": 2}


def test_learned_arrays_that_are_missing_are_refused(sample_train, tmp_path):
    save(create("prior").fit(sample_train), "prior", tmp_path)
    state = read_state(tmp_path)
    state.arrays.clear()
    with pytest.raises(DamageError, match="does not fit"):
        create("prior").restore(state)


@pytest.mark.parametrize("name", ["../outside", "/etc/hostname", "a/../../outside"])
def test_a_record_that_lists_a_file_outside_its_folder_is_refused(tmp_path, name):
    seal(tmp_path / "folder" / "record.json", {})
    record = json.loads((tmp_path / "folder" / "record.json").read_text())
    record["files"] = {name: "0"}
    (tmp_path / "folder" / "record.json").write_text(json.dumps(record))
    with pytest.raises(DamageError, match="outside"):
        read_sealed(tmp_path / "folder" / "record.json")


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_probabilities_that_are_not_finite_are_never_returned(value, sample_train):
    member = create("prior").fit(sample_train)
    member._predict_proba = lambda corpus: np.full((len(corpus), 3), value)
    with pytest.raises(MemberError, match="not finite"):
        member.predict_proba(sample_train)
