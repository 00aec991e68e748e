"""A tiny random BERT for tests: built in a moment, seeded, no network."""

import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest
import torch
from tokenizers import BertWordPieceTokenizer
from transformers import BertConfig, BertForMaskedLM, BertModel, PreTrainedTokenizerFast

from gapstack.encoding.encoders import Encoder, load_encoder

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
WORDS = (
    *("he", "she", "his", "her", "him", "hers", "the", "a", "and", "in", "of", "to", "was", "with", "after"),
    *("when", "who", "that", "on", "at", "for", "from", "by", "##ing", "##ed", "##er", "##son", "##ie"),
    *(".", ",", "'", '"', "-", "(", ")", ";", ":", "*", "`", "!", "?"),
)


def build_tiny_encoder(
    folder: Path, *, max_pieces: int = 512, seed: int = 0, layers: int = 2, words: Iterable[str] = ()
) -> Path:
    """Write an encoder of width 32 whose vocabulary spells every ASCII word, and has ``words`` whole."""
    letters = [*LETTERS, *(f"##{letter}" for letter in LETTERS)]
    vocabulary = list(dict.fromkeys([*SPECIAL, *letters, *WORDS, *words]))
    backend = BertWordPieceTokenizer({word: index for index, word in enumerate(vocabulary)}, lowercase=True)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend._tokenizer,
        model_max_length=max_pieces,
        **dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True)),
    )
    tokenizer.save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=max_pieces,
        initializer_range=0.3,  # larger than BERT's, or all the random outputs would be alike
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_encoder_folder(tmp_path_factory) -> Path:
    """Folder of the tiny encoder; its path is what ``encoder=`` takes."""
    return build_tiny_encoder(tmp_path_factory.mktemp("encoders") / "tiny")


@pytest.fixture(scope="session")
def tiny_encoder(tiny_encoder_folder) -> Encoder:
    """The tiny encoder, loaded."""
    return load_encoder(str(tiny_encoder_folder))


@pytest.fixture(scope="session")
def tiny_language_model_folder(tiny_encoder_folder, tmp_path_factory) -> Path:
    """Folder of a tiny encoder with a masked-LM head, all its weights random."""
    folder = shutil.copytree(tiny_encoder_folder, tmp_path_factory.mktemp("encoders") / "language_model")
    with torch.random.fork_rng():
        torch.manual_seed(1)
        BertForMaskedLM(BertConfig.from_pretrained(folder)).save_pretrained(folder)
    return folder
