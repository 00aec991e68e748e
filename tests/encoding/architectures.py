"""Tiny random encoders of 24 architectures, with tokenizers trained on the sample, and a trial of every member on each.

    python -m tests.encoding.architectures > docs/lab/architectures.md

prints the page of the matrix.
"""

import os
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import sentencepiece
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM, PreTrainedTokenizerFast

from gapstack.data import Corpus, gap_data
from gapstack.encoding.encoders import quiet
from gapstack.errors import MemberError
from gapstack.members import create, saved
from gapstack.members.name_substitution import COMMON_NAMES
from gapstack.runs.encoder_check import members_with_encoder, quick_settings, trial_rows

MARKS = {"unk": "[UNK]", "pad": "[PAD]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
ROBERTA = {
    "bos": "<s>",
    "pad": "<pad>",
    "eos": "</s>",
    "unk": "<unk>",
    "cls": "<s>",
    "sep": "</s>",
    "mask": "<mask>",
}
T5 = {"pad": "<pad>", "eos": "</s>", "unk": "<unk>"}
GPT = {"eos": "<|endoftext|>", "unk": "<|endoftext|>"}
LLAMA = {"bos": "<s>", "eos": "</s>", "unk": "<unk>"}
XLNET = {"unk": "<unk>", "cls": "<cls>", "sep": "<sep>", "pad": "<pad>", "mask": "<mask>"}
AROUND = {
    "bert": ("{cls} $A {sep}", "{cls} $A {sep} $B {sep}"),
    "roberta": ("{cls} $A {sep}", "{cls} $A {sep} {sep} $B {sep}"),
    "t5": ("$A {eos}", "$A {eos} $B {eos}"),
    "llama": ("{bos} $A", "{bos} $A {bos} $B"),
    "xlnet": ("$A {sep} {cls}", "$A {sep} $B {sep} {cls}"),
}
"""Special pieces around one text and around two."""
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
GROUPED = SIZES | {"num_key_value_heads": 2, "head_dim": 8}


@dataclass(frozen=True)
class Architecture:
    """Type of model, its tokenizer (algorithm, special pieces, their places) and its configuration."""

    model_type: str
    algorithm: str
    marks: dict[str, str]
    around: str = ""
    config: dict[str, Any] = field(default_factory=dict)
    masked_lm: bool = False
    """Saved with its masked-LM head."""
    spread: str = "initializer_range"


def sizes(**changes: Any) -> dict[str, Any]:
    return SIZES | {"max_position_embeddings": 512, "initializer_range": 0.3} | changes


def words(model_type: str, masked_lm: bool = True, **changes: Any) -> Architecture:
    return Architecture(model_type, "words", MARKS, "bert", sizes(**changes), masked_lm)


def bytes_(model_type: str, around: str, marks: dict[str, str], **changes: Any) -> Architecture:
    return Architecture(model_type, "bytes", marks, around, sizes(**changes))


def unigram(model_type: str, around: str, marks: dict[str, str], **changes: Any) -> Architecture:
    return Architecture(model_type, "unigram", marks, around, sizes(**changes))


RELATIVE = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False}
T5_SIZES = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "initializer_factor": 1.0}
BART = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 1, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48}
BART |= {
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "init_std": 0.3,
    "max_position_embeddings": 512,
}
ARCHITECTURES: dict[str, Architecture] = {
    "BERT": words("bert"),
    "SpanBERT": words("bert", masked_lm=False, type_vocab_size=1),
    "ELECTRA": words("electra", masked_lm=False, embedding_size=16),
    "DistilBERT": Architecture(
        "distilbert",
        "words",
        MARKS,
        "bert",
        {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48, "initializer_range": 0.3},
        True,
    ),
    "MPNet": bytes_("mpnet", "roberta", ROBERTA, max_position_embeddings=514),
    "ConvBERT": words("convbert", masked_lm=False, embedding_size=32, head_ratio=2),
    "RoBERTa": bytes_("roberta", "roberta", ROBERTA, max_position_embeddings=514),
    "Longformer": bytes_(
        "longformer", "roberta", ROBERTA, max_position_embeddings=514, attention_window=[16, 16]
    ),
    "XLM-R": unigram("xlm-roberta", "roberta", ROBERTA, max_position_embeddings=514),
    "CamemBERT": unigram("camembert", "roberta", ROBERTA, max_position_embeddings=514),
    "BigBird": unigram(
        "big_bird", "bert", MARKS, attention_type="block_sparse", block_size=8, num_random_blocks=1
    ),
    "ALBERT": unigram("albert", "bert", MARKS, embedding_size=16),
    "DeBERTa": bytes_("deberta", "bert", MARKS, **RELATIVE),
    "DeBERTa-v3": unigram(
        "deberta-v2",
        "bert",
        MARKS,
        type_vocab_size=0,
        position_buckets=16,
        share_att_key=True,
        norm_rel_ebd="layer_norm",
        **RELATIVE,
    ),
    "ModernBERT": bytes_("modernbert", "bert", MARKS, local_attention=16, global_attn_every_n_layers=2),
    "EuroBERT": bytes_("eurobert", "bert", MARKS, num_key_value_heads=4),
    "XLNet": Architecture(
        "xlnet",
        "unigram",
        XLNET,
        "xlnet",
        {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48, "initializer_range": 0.3},
    ),
    "T5": Architecture("t5", "unigram", T5, "t5", T5_SIZES),
    "mT5": Architecture("mt5", "unigram", T5, "t5", T5_SIZES | {"feed_forward_proj": "gated-gelu"}),
    "BART": Architecture("bart", "bytes", ROBERTA, "roberta", BART),
    "GPT-2": Architecture(
        "gpt2",
        "bytes",
        GPT,
        "",
        {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 1024, "initializer_range": 0.3},
    ),
    "Llama": bytes_("llama", "llama", LLAMA, **GROUPED | {"max_position_embeddings": 2048}),
    "Qwen3": bytes_("qwen3", "", GPT, **GROUPED | {"max_position_embeddings": 2048, "head_dim": 16}),
    "Gemma": unigram(
        "gemma2", "llama", LLAMA, **GROUPED | {"max_position_embeddings": 2048, "sliding_window": 16}
    ),
}


@cache
def _texts() -> tuple[str, ...]:
    """Texts to train a tokenizer on, with every common name often enough to be one piece."""
    sample = gap_data.sample()
    names = [f"a {name}" for gender in COMMON_NAMES.values() for name in gender] * 60
    return (*sample["train"].texts, *sample["test"].texts, *names)


@cache
def _trained(algorithm: str, marks: tuple[str, ...]) -> str:
    """A tokenizer, as JSON."""
    special = list(dict.fromkeys(marks))
    if algorithm == "words":
        backend = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        backend.normalizer = normalizers.BertNormalizer(lowercase=False)
        backend.pre_tokenizer, backend.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
        trainer: Any = trainers.WordPieceTrainer(vocab_size=700, special_tokens=special)
    elif algorithm == "bytes":
        backend = Tokenizer(models.BPE())
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=800, special_tokens=special, initial_alphabet=alphabet)
    else:
        backend = Tokenizer(models.Unigram())
        backend.pre_tokenizer, backend.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
        unknown = next(mark for mark in special if "unk" in mark.lower())
        trainer = trainers.UnigramTrainer(vocab_size=700, special_tokens=special, unk_token=unknown)
    backend.train_from_iterator(_texts(), trainer)
    return backend.to_str()


def tokenizer(architecture: Architecture) -> PreTrainedTokenizerFast:
    """Its tokenizer, trained on the sample's texts."""
    marks = architecture.marks
    backend = Tokenizer.from_str(_trained(architecture.algorithm, tuple(marks.values())))
    if architecture.around:
        one, two = (shape.format(**marks) for shape in AROUND[architecture.around])
        special = [(mark, backend.token_to_id(mark)) for mark in dict.fromkeys(marks.values())]
        backend.post_processor = processors.TemplateProcessing(single=one, pair=two, special_tokens=special)
    named = {f"{kind}_token": mark for kind, mark in marks.items()}
    return PreTrainedTokenizerFast(tokenizer_object=backend, **named)


def build(architecture: Architecture, folder: Path) -> Path:
    """Write a tiny random encoder."""
    own = tokenizer(architecture)
    own.save_pretrained(folder)
    ids = {
        f"{kind}_token_id": getattr(own, f"{kind}_token_id", None)
        for kind in ("pad", "bos", "eos", "cls", "sep")
    }
    known = {key: value for key, value in ids.items() if value is not None} | {"decoder_start_token_id": 0}
    config = AutoConfig.for_model(architecture.model_type, **architecture.config | known, vocab_size=len(own))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        kind = AutoModelForMaskedLM if architecture.masked_lm else AutoModel
        kind.from_config(config).save_pretrained(folder)
    return folder


def published_deberta(folder: Path) -> Path:
    """Write DeBERTa-v3 in the files that its authors publish: pickled weights in float16, and a SentencePiece model."""
    folder.mkdir(parents=True)
    marks = {"pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3, "pad_piece": "[PAD]", "unk_piece": "[UNK]"}
    marks |= {"bos_piece": "[CLS]", "eos_piece": "[SEP]"}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(_texts()), model_prefix=str(folder / "spm"), vocab_size=600,
        minloglevel=2, **marks,
    )  # fmt: skip
    (folder / "spm.vocab").unlink()
    size = SIZES | {"type_vocab_size": 0, "position_buckets": 16, "share_att_key": True, "vocab_size": 640}
    config = AutoConfig.for_model("deberta-v2", **size, **RELATIVE, norm_rel_ebd="layer_norm")
    config.save_pretrained(folder)
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false, "vocab_type": "spm"}')
    with torch.random.fork_rng():
        torch.manual_seed(0)
        weights = AutoModel.from_config(config).half().state_dict()
    tensors = {f"deberta.{name}": tensor for name, tensor in weights.items()}
    torch.save(tensors, folder / "pytorch_model.bin")
    torch.save({"generator.weight": torch.zeros(2)}, folder / "pytorch_model.generator.bin")
    return folder


FOLDER = re.compile(r"encoder /\S+")


def create_on(name: str, folder: Path) -> Any:
    """The member on an encoder's folder, with settings of a quick fit in float32."""
    settings = quick_settings(name) | {"encoder": str(folder)}
    if name == "static_vectors":
        settings["vectors"] = f"encoder:{settings.pop('encoder')}"
    if "training" in settings:
        settings["training"] |= {"precision": "float32"}
    return create(name, **settings)


def rows() -> tuple[Corpus, Corpus]:
    """Short rows to fit on, and to predict."""
    held = sorted(gap_data.sample()["test"], key=lambda row: len(row.text))[:3]
    return trial_rows(), Corpus(held)


def trial(name: str, folder: Path, new_cache: Callable[[], None]) -> str:
    """Fit and predict, and compare with a new cache, row by row, and after saving; "" or why the member refuses."""
    train, held = rows()
    member = create_on(name, folder)
    try:
        member.fit(train)
        answers = member.predict_proba(held)
    except MemberError as refusal:
        return str(refusal)
    assert np.isfinite(answers).all()
    np.testing.assert_allclose(answers.sum(axis=1), 1, rtol=0, atol=1e-12)
    with tempfile.TemporaryDirectory() as place:
        saved.save(member, name, Path(place) / "member")
        loaded = saved.load(Path(place) / "member")
        np.testing.assert_array_equal(loaded.predict_proba(held), answers)
    new_cache()
    alone = [loaded.predict_proba(held[row : row + 1]) for row in range(len(held))]
    np.testing.assert_allclose(np.concatenate(alone), answers, rtol=0, atol=2e-6)
    return ""


def trials(architecture: str) -> dict[str, str]:
    """The outcome of each member on an architecture, as :func:`trial` returns it."""

    def new_cache() -> None:
        os.environ["GAPSTACK_CACHE"] = tempfile.mkdtemp(dir=place)

    before = os.environ.get("GAPSTACK_CACHE")
    # in bfloat16 the last bit of a vector depends on the batch, and a head can amplify it beyond any strict tolerance
    in_float32 = patch("gapstack.encoding.frozen.fastest_dtype", return_value=torch.float32)
    try:
        with in_float32, tempfile.TemporaryDirectory() as place:
            folder = build(ARCHITECTURES[architecture], Path(place) / "encoder")
            outcomes = {}
            for name in members_with_encoder():
                new_cache()
                outcomes[name] = trial(name, folder, new_cache)
            return outcomes
    finally:
        os.environ.pop("GAPSTACK_CACHE") if before is None else os.environ.update(GAPSTACK_CACHE=before)


def page(outcomes: dict[str, dict[str, str]]) -> str:
    """The matrix in Markdown: a row for each architecture, and the reasons of refusals below it."""
    works = sum(not reason for own in outcomes.values() for reason in own.values())
    lines = [
        "# Encoders and members",
        "",
        f"{works} of {sum(map(len, outcomes.values()))} pairs of {len(outcomes)} architectures and "
        f"{len(members_with_encoder())} members work, and the others refuse with a reason "
        f"(`python -m tests.encoding.architectures`: tiny random encoders, the embedded sample, {date.today()}).",
        "",
        "A pair works if its predictions are the same from the cache, row by row, and after saving and loading.",
        "",
        "| Architecture | Members that work | Members that refuse |",
        "| --- | --- | --- |",
    ]
    reasons: dict[str, list[str]] = {}
    for architecture, own in outcomes.items():
        refusals = {name: reason for name, reason in own.items() if reason}
        for reason in dict.fromkeys(refusals.values()):
            names = [name for name, other in refusals.items() if other == reason]
            whom = "all members" if len(names) == len(own) else ", ".join(f"`{name}`" for name in names)
            reasons.setdefault(FOLDER.sub("the encoder", reason), []).append(f"{architecture}: {whom}")
        works_with = "all" if not refusals else f"{len(own) - len(refusals)} of {len(own)}"
        refused = (
            "all" if len(refusals) == len(own) else ", ".join(f"`{name}`" for name in refusals) or "none"
        )
        lines.append(f"| {architecture} | {works_with} | {refused} |")
    lines += ["", "## Reasons", ""]
    lines += [f"- {reason} ({'; '.join(where)})" for reason, where in reasons.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    with quiet():
        sys.stdout.write(page({name: trials(name) for name in ARCHITECTURES}))
