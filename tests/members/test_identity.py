"""What decides a stored result, and what does not."""

import importlib
import inspect
import json
import logging
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import gapstack
from gapstack.data import Corpus, Label, sources
from gapstack.encoding import frozen
from gapstack.encoding.encoders import EncoderName
from gapstack.errors import MismatchError
from gapstack.members import MEMBERS, create
from gapstack.members.identity import changes, identity_of, inputs_of, key_of, refuse_changed
from gapstack.members.pairs_resolver import PairsResolver
from gapstack.members.saved import load, save
from gapstack.records import versions
from gapstack.registry import Entry
from tests.fixtures_encoder import build_tiny_encoder


def test_a_predictor_is_identified_by_what_it_learned(sample_train, sample_test, tmp_path):
    relabelled = Corpus([replace(row, label=Label.NEITHER) for row in sample_train])
    one, other = (create("prior").fit(rows) for rows in (sample_train, relabelled))
    assert changes(one.identity, other.identity) == ["learned"]
    assert PairsResolver(one).identity != PairsResolver(other).identity
    save(one, "prior", tmp_path / "saved")
    assert load(tmp_path / "saved").identity == one.identity


def test_every_file_of_an_encoder_counts(tmp_path):
    folder = build_tiny_encoder(tmp_path / "encoder")
    member = create("transformer_single", encoder=str(folder))
    before = identity_of(member)
    (folder / "added_tokens.json").write_text(json.dumps({"she": 5}))
    assert changes(before, identity_of(member)) == ["encoder"]


@pytest.mark.parametrize(("extra", "dataset"), [("winogrande", "winogrande"), ("wsc273", "wsc")])
def test_every_data_set_behind_an_extra_corpus_counts(extra, dataset, tmp_path, monkeypatch):
    for name in ("names", dataset):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("before")
    monkeypatch.setattr(sources, "require", lambda name: tmp_path / name)
    member = create("probert", extra=[extra])
    for name in ("names", dataset):
        before = inputs_of(member)
        (tmp_path / name / "file").write_text("after")
        assert changes(before, inputs_of(member)) == ["extra (training)"], name


PLUGIN = """
from gapstack.members import MEMBERS

class Mine(MEMBERS["prior"]):
    FACTOR = {factor}
"""


def plugin(folder, factor, version):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a_plugin.py").write_text(PLUGIN.format(factor=factor))
    sys.modules.pop("a_plugin", None)
    importlib.invalidate_caches()
    kind = importlib.import_module("a_plugin").Mine
    entry = Entry(f"{kind.__module__}:Mine", package=f"a-plugin {version}")
    MEMBERS.__dict__["_entries"] = {**MEMBERS._entries, "mine": entry}
    return identity_of(kind())


@pytest.mark.parametrize(
    ("folder", "factor", "version", "expected"),
    [("checkout", 1, "1.0", []), ("checkout", 2, "1.0", ["source"]), ("checkout", 1, "1.1", ["package"])],
)
def test_a_plugin_follows_its_own_source_and_version(
    tmp_path, monkeypatch, folder, factor, version, expected
):
    monkeypatch.syspath_prepend(tmp_path / folder)
    monkeypatch.setitem(MEMBERS.__dict__, "_entries", MEMBERS._entries)
    before = plugin(tmp_path / folder, 1, "1.0")
    assert changes(before, plugin(tmp_path / folder, factor, version)) == expected


def test_precision_is_recorded_where_an_encoder_computes(monkeypatch, tiny_encoder_folder):
    member = create("transformer_single", encoder=str(tiny_encoder_folder))
    found = []
    for dtype in ("torch.bfloat16", "torch.float32"):
        monkeypatch.setattr(frozen, "computes_in", lambda dtype=dtype: dtype)
        found.append(identity_of(member))
    assert [one["precision"] for one in found] == ["bfloat16", "float32"]
    assert key_of(found[0]) != key_of(found[1])
    assert "precision" not in identity_of(create("prior"))


@pytest.mark.parametrize("key", ["precision", "package", "source", "probert.source"])
def test_another_version_is_one_warning(key, caplog):
    stored = {"identity": {"settings": "1", key: "old"}, "versions": {"torch": "1.0"}}
    with caplog.at_level(logging.WARNING, "gapstack"):
        for _ in range(2):
            refuse_changed(f"run:{key}", stored, {"settings": "1", key: "new"})
    assert len(caplog.messages) == 1
    assert key in caplog.messages[0]
    assert "torch 1.0" in caplog.messages[0]


def test_other_data_settings_or_inputs_are_refused():
    for key in ("training rows", "settings", "encoder", "probert.parser", "folds"):
        with pytest.raises(MismatchError, match=key):
            refuse_changed("a run", {"identity": {key: "x 1"}, "versions": versions()}, {key: "x 2"})
    refuse_changed("a run", {"identity": {"encoder": "here 1"}}, {"encoder": "there 1"})
    refuse_changed("a run", {"identity": {"encoder": "x 1", "teacher": "x 1"}}, {"encoder": "x 1"})
    refuse_changed("a run", {"identity": {"teacher (training)": "x 1"}}, {"teacher (training)": "x 2"})


def test_only_the_source_of_a_members_own_classes_counts(tmp_path, monkeypatch):
    package = Path(gapstack.__path__[0])
    copied = shutil.copytree(package, tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    found = inspect.getfile
    monkeypatch.setattr(inspect, "getfile", lambda kind: str(copied / Path(found(kind)).relative_to(package)))
    before = identity_of(create("prior"))
    for file, expected in (("errors.py", []), ("data/html.py", []), ("members/baselines.py", ["source"])):
        with (copied / file).open("a") as stream:
            stream.write("# edited")
        assert changes(before, identity_of(create("prior"))) == expected


def test_what_a_setting_reads_is_said_by_its_type(monkeypatch, tiny_encoder_folder):
    class Plugin(MEMBERS["prior"]):
        model: str = "xgboost"
        encoder: str = "one-hot"
        reader: EncoderName = str(tiny_encoder_folder)

    monkeypatch.setitem(
        MEMBERS.__dict__, "_entries", {**MEMBERS._entries, "plugin": Entry(Plugin, package="a-plugin 1")}
    )
    member = Plugin()
    assert set(inputs_of(member)) == {"reader", "precision"}
    assert changes(identity_of(member), identity_of(Plugin(model="catboost"))) == ["settings"]


def test_the_same_contents_under_another_name_count_once(tmp_path, tiny_encoder_folder):
    copied = shutil.copytree(tiny_encoder_folder, tmp_path / "copy")
    here, there = (create("probert", encoder=str(folder)) for folder in (tiny_encoder_folder, copied))
    assert changes(identity_of(here), identity_of(there)) == []
