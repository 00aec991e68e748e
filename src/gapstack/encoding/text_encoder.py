"""The encoder of the model of running text, as an encoder for members.

It is the lower part of a base-size encoder, fine-tuned on coreference without GAP's labels, and comes with gapstack.
Its weights are stored rounded to 8 bits for onnxruntime; members read them as a folder of transformers.
"""

import shutil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gapstack.files import atomic_folder, write_json
from gapstack.running_text.model_files import ARRAYS, ENCODER, TOKENIZER

_CONFIG = {"model_type": "mpnet", "layer_norm_eps": 1e-5, "max_position_embeddings": 514}
"""The type of all-mpnet-base-v2, and its settings that are not transformers' defaults."""
_TOKENIZER_CONFIG = {"tokenizer_class": "MPNetTokenizer", "model_max_length": 512}
# of channels that are multiplied without rounding; the matrix has them too
_SPLIT = (".kept", ".channels", ".exact")


def encoder_weights(folder: Path) -> dict[str, NDArray[np.float32]]:
    """Weights of the encoder of a folder that ``models/running_text/export.py`` wrote, by transformers' names."""
    import onnx
    from onnx.numpy_helper import to_array
    from safetensors.numpy import load_file

    graph = onnx.load(folder / ENCODER).graph
    arrays = {one.name: to_array(one) for one in graph.initializer}
    weights = {}
    for name, values in arrays.items():
        matrix, is_rounded, _ = name.replace("dense.linear.", "dense.").partition("_Transposed_quantized")
        if is_rounded:
            scale, zero = (arrays[name.replace("quantized", part)] for part in ("scale", "zero_point"))
            weights[matrix] = ((values.astype(np.float32) - zero) * scale).T
        elif "_Transposed_" not in name and not name.endswith(_SPLIT):
            weights[matrix] = values
    stored = load_file(folder / ARRAYS)
    words = stored["embeddings"].astype(np.float32) * stored["scales"].astype(np.float32)[:, None]
    weights["encoder.embeddings.word_embeddings.weight"] = words
    return {name.removeprefix("encoder."): values for name, values in weights.items()}


def write_encoder(folder: Path, target: Path) -> None:
    """Write the encoder of a folder of the model of running text as transformers' files, in half precision."""
    from safetensors.numpy import save_file

    weights = encoder_weights(folder)
    layers = len({name.split(".")[2] for name in weights if name.startswith("encoder.layer.")})
    with atomic_folder(target) as temporary:
        write_json(temporary / "config.json", {**_CONFIG, "num_hidden_layers": layers})
        write_json(temporary / "tokenizer_config.json", _TOKENIZER_CONFIG)
        shutil.copy2(folder / TOKENIZER, temporary)
        halves = {name: np.ascontiguousarray(values, dtype=np.float16) for name, values in weights.items()}
        save_file(halves, temporary / "model.safetensors", {"format": "pt"})
