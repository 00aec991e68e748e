"""Training and export of the model of running text, with a tiny random encoder and invented texts."""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from transformers import MPNetConfig, MPNetModel

from gapstack.data import Label
from gapstack.data.example import GENDER_BY_FORM, Example, Gender
from gapstack.text_model_files import shipped

SCRIPTS = Path(__file__).resolve().parents[2] / "models" / "running_text"
sys.path.insert(0, str(SCRIPTS))  # scripts that import each other by name

import export  # noqa: E402
import train  # noqa: E402
from invented import InventedTexts  # noqa: E402
from network import Network, trained_weights  # noqa: E402

WINDOWS = [np.array([0, *range(40, 90), 2]), np.array([0, 55, 61, 7, 2])]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> str:
    """A folder with a random encoder of three layers and the vocabulary of the shipped tokenizer."""
    torch.manual_seed(0)
    config = MPNetConfig(
        vocab_size=30527,
        hidden_size=24,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=48,
        attention_probs_dropout_prob=0.0,
        hidden_dropout_prob=0.0,
    )
    folder = tmp_path_factory.mktemp("encoder")
    MPNetModel(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def texts() -> InventedTexts:
    return InventedTexts()


def genders(document) -> dict[str, set[Gender]]:
    """Genders of the pronouns of each person who is not the writer."""
    found: dict[str, set[Gender]] = {}
    for span, person in document.mentions.items():
        gender = GENDER_BY_FORM.get(document.form(span))
        if gender is not None:
            found.setdefault(person, set()).add(gender)
    return found


@pytest.mark.parametrize("seed", range(100))
def test_invented_texts_are_annotated_as_they_read(texts, seed):
    document = texts.make(np.random.default_rng(seed))
    assert not set("[]{}") & set(document.text)
    assert all(0 <= span.start < span.end <= len(document.text) for span in document.mentions)
    for span in document.mentions:
        around = document.text[span.start - 1 : span.start] + document.text[span.end : span.end + 1]
        assert not any(letter.isalnum() for letter in around)
    assert all(len(of_person) == 1 for of_person in genders(document).values())
    inner_last = sorted(document.mentions, key=lambda span: (span.start, -span.end))
    assert all(other.end <= one.end for one, other in pairwise(inner_last) if one.overlaps(other))


def test_states_of_frozen_layers_are_those_of_the_encoder(encoder):
    """However many layers are frozen and whatever is in the batch."""
    states = [Network(encoder, 3, frozen).eval().states(WINDOWS) for frozen in (0, 2)]
    alone = Network(encoder, 3, 2).eval().states(WINDOWS[1:])
    for one, other in zip(*states, strict=True):
        torch.testing.assert_close(one, other, atol=5e-3, rtol=0)
    torch.testing.assert_close(alone[0], states[1][1], atol=1e-4, rtol=0)


def test_exported_model_has_the_states_and_weights_of_the_network(encoder, tmp_path):
    network = Network(encoder, 3, 2).eval()
    expected = network.states(WINDOWS)[0].detach().numpy()
    words = network.encoder.embeddings.word_embeddings.weight.detach()[WINDOWS[0]].numpy()
    weights = {name: value.clone() for name, value in network.state_dict().items()}
    export.export(network, [torch.from_numpy(window) for window in WINDOWS], tmp_path)

    session = onnxruntime.InferenceSession(str(tmp_path / "encoder.onnx"))
    states = session.run(None, {"inputs": words})[0][1:-1]
    similar = (states * expected).sum(1) / np.linalg.norm(states, axis=1) / np.linalg.norm(expected, axis=1)
    assert similar.min() > 0.98
    for name, value in trained_weights(tmp_path).items():
        step = float(value.abs().max()) / 60  # of rounding to 7 bits
        torch.testing.assert_close(value, weights[name], atol=step, rtol=0)


def test_training_learns_and_resumes(encoder, tmp_path, monkeypatch, texts, capsys):
    monkeypatch.setattr(train, "ENCODER", encoder)
    monkeypatch.setattr(train, "LAYERS", 3)
    monkeypatch.setattr(train, "_ROWS", 2)
    documents = [texts.make(np.random.default_rng(seed)) for seed in range(3)]
    monkeypatch.setattr(train, "read_documents", lambda lexicon: documents)
    row = Example.from_text("Ann thanked Beth because she had helped.", "she", "Ann", "Beth", label=Label.B)
    monkeypatch.setattr(train, "read_rows", lambda sources: [row, row])
    folder = shipped()
    arguments = ["--tokenizer", folder / "tokenizer.json", "--lexicon", folder, "--work", tmp_path]
    monkeypatch.setattr(sys, "argv", ["train.py", *map(str, arguments), "--frozen", "2", "--epochs", "8"])
    train.main()
    state = torch.load(tmp_path / "state.pt", weights_only=True)
    assert state["step"] == 30
    assert "30 steps" in capsys.readouterr().out
    train.main()  # finished, so nothing changes
    again = torch.load(tmp_path / "state.pt", weights_only=True)
    assert all(torch.equal(value, again["average"][name]) for name, value in state["average"].items())
    start = Network(encoder, 3, 2).state_dict()
    frozen = "encoder.encoder.layer.1.output.dense.weight"
    trained = "encoder.encoder.layer.2.output.dense.weight"
    assert torch.equal(state["network"][frozen], start[frozen])
    assert not torch.equal(state["network"][trained], start[trained])
