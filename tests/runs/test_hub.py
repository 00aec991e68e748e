"""Sharing through the Hub, with its client replaced where it would reach the network."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import numpy as np
import pytest
import yaml
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.utils import filter_repo_objects

from gapstack.errors import DamageError, DataError, DataNotFoundError, RemoteError
from gapstack.members import create
from gapstack.runs.folder import push
from gapstack.runs.predictors import load
from tests.commands import gap


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A folder that stands for the Hub: what is uploaded lies in OWNER/NAME there, and is downloaded from there."""
    root = tmp_path / "hub"

    class Api:
        def create_repo(self, repo_id, *, private, exist_ok):
            (root / repo_id).mkdir(parents=True, exist_ok=exist_ok)

        def upload_folder(self, *, repo_id, folder_path, ignore_patterns, delete_patterns, commit_message):
            assert delete_patterns == "*"
            shutil.rmtree(root / repo_id)
            below = [path.relative_to(folder_path) for path in folder_path.rglob("*") if path.is_file()]
            for name in filter_repo_objects(map(str, below), ignore_patterns=ignore_patterns):
                (root / repo_id / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(folder_path / name, root / repo_id / name)
            return SimpleNamespace(commit_url=f"https://hub/{repo_id}/commit/1")

        def upload_file(self, *, path_or_fileobj, path_in_repo, repo_id, commit_message):
            (root / repo_id / path_in_repo).write_bytes(path_or_fileobj)
            return SimpleNamespace(commit_url=f"https://hub/{repo_id}/commit/2")

    def snapshot_download(repo_id, *, revision, local_files_only):
        if not (root / repo_id).is_dir() or revision not in (None, "main"):
            raise OSError("404")
        return str(root / repo_id)

    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: "token")
    return root


def metadata(card: Path) -> dict:
    return yaml.safe_load(card.read_text(encoding="utf-8").split("---")[1])


def test_a_member_comes_back_from_the_hub_as_it_was(hub, tmp_path, sample_train, sample_test):
    member = create("surface", rounds=5).fit(sample_train)
    member.save(tmp_path / "mine")
    assert gap("push", tmp_path / "mine", "me/mine") == "https://hub/me/mine/commit/2\n"
    card = hub / "me/mine/README.md"
    assert metadata(card)["library_name"] == "gapstack"
    assert "`surface`" in card.read_text()
    for name in ("me/mine", "me/mine@main"):
        np.testing.assert_array_equal(
            load(name).predict_proba(sample_test), member.predict_proba(sample_test)
        )
    with pytest.raises(DataNotFoundError, match="repository of this name"):
        load("me/mine@v2")
    (hub / "me/mine/arrays.safetensors").write_bytes(b"")
    with pytest.raises(DamageError, match=r"arrays\.safetensors"):
        load("me/mine")


def test_a_run_comes_back_from_the_hub_with_its_scores_and_without_unfinished_work(
    hub, finished, copy, tmp_path, monkeypatch
):
    monkeypatch.setenv("GAPSTACK_HOME", str(tmp_path))
    copy.unfinished("prior", 0).mkdir(parents=True)
    (copy.unfinished("prior", 0) / "checkpoint.safetensors").touch()
    (copy.root / ".lock").touch()
    gap("push", "tiny-sample", "me/tiny")
    text = (hub / "me/tiny/README.md").read_text()
    assert "| stack | " in text
    assert f"{len(finished.test)} rows" in text
    assert not [*(hub / "me/tiny").rglob("unfinished"), *(hub / "me/tiny").glob(".lock")]
    for name, result in (("me/tiny", finished.stack), ("me/tiny:prior", finished.members[0])):
        np.testing.assert_allclose(load(name).predict_proba(finished.test), result.test)
    with pytest.raises(DataError, match="expected the run"):
        gap("push", "tiny-sample:prior", "me/prior")


def test_what_the_hub_refuses_is_one_error(hub, tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()

    def refused(*_, **__):
        raise HfHubHTTPError("403 Forbidden", response=SimpleNamespace(headers={}, request=None))

    monkeypatch.setattr(huggingface_hub.HfApi, "create_repo", refused)
    with pytest.raises(RemoteError, match=r"me/mine .*403 Forbidden"):
        push(tmp_path / "mine", "me/mine", "")
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: None)
    with pytest.raises(RemoteError, match="no token for the Hub"):
        push(tmp_path / "mine", "me/mine", "")
