"""The folder of a model of running text: where the shipped one is, its files, what it was trained on, its encoder.

Running text reads all of it, members the encoder alone: the lower part of a base-size encoder, fine-tuned on
coreference without GAP's labels.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

NAME = "gapstack-text"
"""Name of the shipped model, and of its encoder."""
CONTAMINATED_BY = ("dpr-train", "knowref-train", "litbank", "gum", "winogrande")
"""Data that the model was trained on. GAP, stage 2 and the audit suites are not among them."""
ENCODER, ARRAYS, TOKENIZER, LEXICON = "encoder.onnx", "model.safetensors", "tokenizer.json", "lexicon.json"
# of channels that are multiplied without rounding; the matrix has them too
_SPLIT = (".kept", ".channels", ".exact")


def shipped() -> Path:
    """Folder of the model in the package, or in a checkout's ``models``."""
    package = Path(__file__).resolve().parent
    places = (package / NAME, package.parents[1] / "models" / NAME)
    return next((place for place in places if is_text_model(place)), places[-1])


def is_text_model(folder: Path) -> bool:
    """True for a folder with a model of running text."""
    return (folder / ENCODER).is_file()


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
