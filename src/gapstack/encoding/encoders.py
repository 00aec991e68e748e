"""Pre-trained encoders: configuration, tokenizer and weights, loaded without code of their own.

Of an encoder-decoder the encoder alone is used. A causal model, whose pieces do not see what follows them, reads each
text twice, and its second copy counts (:func:`gapstack.encoding.frozen.read_states`).
"""

import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any

from gapstack.encoding.encoder_files import (
    EMBEDDED,
    contaminated_by,
    embedded_folder,
    folder_of,
    is_available,
    is_embedded,
)
from gapstack.errors import DataError, MemberError, Place, first_line
from gapstack.files import read_bytes, tree_digest
from gapstack.settings import Reads

# These families number positions from padding_idx + 1 and lose that many.
_OFFSET_POSITIONS = {
    *("roberta", "xlm-roberta", "camembert", "mpnet", "longformer"),
    *("roberta-prelayernorm", "xlm-roberta-xl", "data2vec-text", "xmod"),
}
_DEFAULT_LIMIT = 512
# Longest input of models that read texts twice: their own limits reach hundreds of thousands of pieces
_CAUSAL_LIMIT = 2048
# encoder.layer.3 (BERT), transformer.layer.3 (DistilBERT), layers.3 (ModernBERT), h.3 (GPT-2), block.3 (T5),
# albert_layer_groups.0 (ALBERT)
_LAYER = re.compile(r"(?:^|[._])(?:layers?|layer_groups|h|blocks?)\.(\d+)\.")


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers' bars and load reports, which concern heads that are left out."""
    from transformers.utils import logging

    level, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bar:
            logging.enable_progress_bar()


@contextmanager
def _loading(name: str, what: str) -> Iterator[None]:
    """Silence transformers, and make its errors one MemberError."""
    import torch  # half the time and space of an installation, which rules and trees do without

    try:
        with quiet():
            yield
    except (torch.OutOfMemoryError, MemoryError, MemberError):
        raise
    except Exception as problem:  # transformers raises everything from KeyError to bare Exception
        raise MemberError(
            f"the {what} of encoder {name} cannot be loaded ({first_line(problem)}); "
            "check that its files are complete and that this version of transformers knows its type"
        ) from problem


@dataclass(frozen=True, slots=True)
class EncoderSize:
    """Layers of an encoder, all its parameters, those that each piece is multiplied with, and its width."""

    layers: int
    parameters: int
    per_piece: int
    """Parameters of the layers, shared ones as often as they are used."""
    width: int


@dataclass(frozen=True)
class Encoder:
    """A pre-trained encoder in a folder; its parts are loaded on first use. ``fingerprint`` is the files' hash."""

    name: str
    folder: Path
    fingerprint: str

    @cached_property
    def config(self) -> Any:
        """The model's configuration of transformers; MemberError if it needs code of its own or more than text."""
        from transformers import CONFIG_MAPPING, AutoConfig

        path = self.folder / "config.json"
        try:
            # not strict JSON: transformers itself writes Infinity and numbers beyond 64 bits
            written = json.loads(read_bytes(path))
        except (ValueError, RecursionError):
            written = None
        if not isinstance(written, dict):
            raise DataError("is not a JSON object", place=Place(path), expected="the encoder's settings")
        if "auto_map" in written and written.get("model_type") not in CONFIG_MAPPING:
            raise MemberError(
                f"encoder {self.name} needs Python code from its own files, which gapstack never runs; choose one "
                "whose type transformers knows"
            )
        with _loading(self.name, "configuration"):
            config = AutoConfig.from_pretrained(self.folder, trust_remote_code=False)
        if config.model_type == "convbert":
            raise MemberError(
                f"encoder {self.name} (convbert) convolves over padding, so that predictions would depend on the "
                "batch; choose another encoder"
            )
        if not config.is_encoder_decoder and config.get_text_config() is not config:
            raise MemberError(
                f"encoder {self.name} ({config.model_type}) reads more than text; use a text model"
            )
        return config

    @cached_property
    def tokenizer(self) -> Any:
        """The fast tokenizer; MemberError if there is only a slow one, which has no character positions of pieces."""
        from transformers import AutoTokenizer

        _ = self.config  # refuses first what cannot be used
        with _loading(self.name, "tokenizer"):
            tokenizer = AutoTokenizer.from_pretrained(self.folder, trust_remote_code=False)
        if not tokenizer.is_fast:
            raise MemberError(
                f"encoder {self.name} has no fast tokenizer, so its pieces have no character positions; "
                "choose one that ships a tokenizer.json"
            )
        return tokenizer

    @cached_property
    def model(self) -> Any:
        """The encoder itself in evaluation mode, float32 on the CPU, without pooler or task head."""
        return self.fresh_model().eval()

    def fresh_model(self, **options: Any) -> Any:
        """Load a new copy of the model, in training mode; ``options`` go to ``from_pretrained``."""
        from transformers import AutoModel, AutoModelForTextEncoding

        config, loader = self.config, AutoModel
        if config.is_encoder_decoder and type(config) in AutoModelForTextEncoding._model_mapping:
            loader = AutoModelForTextEncoding
        with _loading(self.name, "model"):
            if "add_pooling_layer" in inspect.signature(loader._model_mapping[type(config)]).parameters:
                options["add_pooling_layer"] = False
            if config.model_type == "big_bird":
                # sparse attention is random and depends on the batch's length
                options["attention_type"] = "original_full"
            model = self.load_with(loader, **options)
            model = model.get_encoder() if config.is_encoder_decoder else model
        if "attention_mask" not in inspect.signature(model.forward).parameters:
            raise MemberError(
                f"encoder {self.name} ({config.model_type}) takes no attention mask, so that padding "
                "would change its answers; choose another encoder"
            )
        return model.train()

    def load_with(self, loader: Any, **options: Any) -> Any:
        """Load weights with a class of transformers, in float32 by default; MemberError if the files lack any."""
        with _loading(self.name, "model"):
            model, report = loader.from_pretrained(
                self.folder,
                **{"dtype": "float32", **options},
                use_safetensors=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
        missing = sorted(name for name in report["missing_keys"] if "pooler" not in name)
        if missing:
            raise MemberError(_missing_weights(self.name, missing, sorted(report["unexpected_keys"])))
        return model

    @property
    def is_causal(self) -> bool:
        """True if pieces do not see what follows them."""
        return is_causal(self.config)

    @property
    def hidden_size(self) -> int:
        """Width of every layer's output."""
        return self._number("hidden_size", "width")

    @property
    def num_layers(self) -> int:
        """Number of transformer layers; layer 0 is the embeddings' output, layer ``num_layers`` the last."""
        return self._number("num_hidden_layers", "number of layers")

    @property
    def num_heads(self) -> int:
        """Attention heads in each layer."""
        return self._number("num_attention_heads", "number of attention heads")

    def _number(self, key: str, what: str) -> int:
        value = getattr(self.config, key, None)
        if not isinstance(value, int):
            raise MemberError(
                f"the configuration of encoder {self.name} does not say its {what}; expected a whole number as {key} "
                "in config.json"
            )
        return value

    @cached_property
    def size(self) -> EncoderSize:
        """Layers and parameters."""
        with _loading(self.name, "model"):
            return _size(self.config)

    @cached_property
    def max_pieces(self) -> int:
        """Longest input in pieces, special pieces included; half of what a causal model reads."""
        longest = min(_positions(self.config), int(self.tokenizer.model_max_length))
        return min(longest, _CAUSAL_LIMIT) // 2 if self.is_causal else longest


def _missing_weights(name: str, missing: list[str], unexpected: list[str]) -> str:
    """Describe weights that the files lack, with the prefix under which they have them, if any."""
    first, remedy = missing[0], "get its files again"
    for other in unexpected:
        if other.endswith(f".{first}"):
            remedy = (
                f"they are there with the prefix {other.removesuffix(first)!r}: remove it from their names"
            )
        elif first.endswith(f".{other}"):
            remedy = f"they are there without the prefix {first.removesuffix(other)!r}: add it to their names"
    return (
        f"encoder {name} lacks {len(missing)} weights of its model, such as {', '.join(missing[:3])}, which would be "
        f"random; {remedy}"
    )


def _positions(config: Any) -> int:
    """Number of positions of an encoder with this configuration."""
    most = int(getattr(config, "max_position_embeddings", None) or 0)
    if most <= 0:  # XLNet has no limit
        return _DEFAULT_LIMIT
    return most - int(config.pad_token_id) - 1 if config.model_type in _OFFSET_POSITIONS else most


def load_encoder(name: str | None = None) -> Encoder:
    """Find an encoder: None or ``minilm`` (embedded), ``gapstack-text``, a folder, or the Hub's ``name[@revision]``."""
    if name is None or is_embedded(name):
        name, folder = EMBEDDED, embedded_folder()
    else:
        folder = folder_of(name)
    return _same(name, folder, tree_digest(folder, leave_out=(".pyc",)))


_same = lru_cache(maxsize=4)(Encoder)


def encoder_digest(name: str | None) -> str:
    """Return an encoder's name and fingerprint, for identities of results; raises as :func:`load_encoder`."""
    encoder = load_encoder(name)
    return f"{Path(encoder.name).name} {encoder.fingerprint}"


EncoderName = Annotated[str | None, Reads(encoder_digest, is_encoder=True, contaminates=contaminated_by)]
"""A setting for :func:`load_encoder`."""


_BERT = {"model_type": "bert", "vocab_size": 30_522}
_LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
KNOWN: Mapping[str, Mapping[str, Any]] = {
    "bert-base-uncased": _BERT,
    "bert-base-cased": _BERT | {"vocab_size": 28_996},
    "bert-large-uncased": _BERT | _LARGE,
    "bert-large-cased": _BERT | _LARGE | {"vocab_size": 28_996},
    "deberta-v3-large": _LARGE
    | {"model_type": "deberta-v2", "vocab_size": 128_100, "type_vocab_size": 0}
    | {"position_biased_input": False, "position_buckets": 256, "max_relative_positions": -1}
    | {"relative_attention": True, "share_att_key": True, "pos_att_type": ["p2c", "c2p"]}
    | {"norm_rel_ebd": "layer_norm"},
    "ModernBERT-large": {"model_type": "modernbert", "vocab_size": 50_368, "hidden_size": 1024}
    | {"intermediate_size": 2624, "num_hidden_layers": 28, "num_attention_heads": 16},
}
"""Configurations of encoders whose size is known before they are downloaded, as published."""


def encoder_size(name: str | None) -> EncoderSize | None:
    """Size of an encoder by name or folder; None if it is neither available offline nor known."""
    if is_available(name):
        return load_encoder(name).size
    return _known_size(str(name).partition("@")[0].rpartition("/")[2])


@cache
def _known_size(name: str) -> EncoderSize | None:
    from transformers import AutoConfig

    return _size(AutoConfig.for_model(**KNOWN[name])) if name in KNOWN else None


def _size(config: Any) -> EncoderSize:
    """Count the parameters of a model without weights."""
    import torch
    from transformers import AutoModel

    with torch.device("meta"):
        model = AutoModel.from_config(config, trust_remote_code=False)
    model = model.get_encoder() if config.is_encoder_decoder else model
    counts = {name: p.numel() for name, p in model.named_parameters() if "pooler" not in name}
    layers = layers_of(counts, config.num_hidden_layers)
    per_piece = sum(count * len(layers[name]) for name, count in counts.items() if layers[name] != (0,))
    return EncoderSize(config.num_hidden_layers, sum(counts.values()), per_piece, config.hidden_size)


def is_causal(config: Any) -> bool:
    """Return True for the configuration of a model whose pieces do not see what follows them."""
    from transformers.models.auto import modeling_auto as auto

    if config.is_encoder_decoder:
        return False
    if getattr(config, "is_decoder", False):
        return True
    only_decodes = (
        config.model_type in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
        and config.model_type not in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    )
    sees_all = (
        getattr(config, "attn_type", None) == "bi"  # XLNet
        or getattr(config, "use_bidirectional_attention", False)
        or getattr(config, "is_causal", True) is False
    )
    return only_decodes and not sees_all


def layers_of(names: Iterable[str], depth: int | None = None) -> dict[str, tuple[int, ...]]:
    """Layers that use each parameter of a model, by its name: 0 before the stack, 1 its first.

    What follows the stack is in the last layer. ``depth`` is the number of layers, which is more than those that have
    parameters of their own where layers share them (ALBERT).
    """
    names = list(names)
    matches = [_LAYER.search(name) for name in names]
    stacked = [index for index, match in enumerate(matches) if match]
    if not stacked:
        return dict.fromkeys(names, (0,))
    stored = max(int(match[1]) for match in matches if match) + 1
    depth = max(depth or stored, stored)
    # layer k of depth uses the parameters number k * own // depth
    users = [tuple(k + 1 for k in range(depth) if k * stored // depth == number) for number in range(stored)]
    return {
        name: users[int(match[1])] if match else (0,) if "embed" in name or index < stacked[0] else (depth,)
        for index, (name, match) in enumerate(zip(names, matches, strict=True))
    }
