"""The folder of a model of running text: where the shipped one is, its files, and what it was trained on."""

from pathlib import Path

NAME = "gapstack-text"
"""Name of the shipped model, and of its encoder."""
CONTAMINATED_BY = ("dpr-train", "knowref-train", "litbank", "gum", "winogrande")
"""Data that the model was trained on. GAP, stage 2 and the audit suites are not among them."""
ENCODER, ARRAYS, TOKENIZER, LEXICON = "encoder.onnx", "model.safetensors", "tokenizer.json", "lexicon.json"


def shipped() -> Path:
    """Folder of the model in the package, or in a checkout's ``models``."""
    package = Path(__file__).resolve().parents[1]
    places = (package / NAME, package.parents[1] / "models" / NAME)
    return next((place for place in places if is_text_model(place)), places[-1])


def is_text_model(folder: Path) -> bool:
    """True for a folder with a model of running text."""
    return (folder / ENCODER).is_file()
