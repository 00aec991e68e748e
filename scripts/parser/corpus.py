"""From the treebank's files to spaCy's ``.spacy`` files, by way of ``spacy convert``."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import spacy
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from .quirks import snippet_copy
from .treebank import Sentence, group_sizes, open_text, prepared, read_conllu

TREEBANK = Path("treebank")


def spacy_command(*arguments: str, threads: int = 1) -> None:
    """Run one of spaCy's own commands in this interpreter's environment; raises `CalledProcessError` if it fails."""
    import os

    env = {**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONHASHSEED": "0"}
    subprocess.run([sys.executable, "-m", "spacy", *arguments], check=True, env=env)


def convert(sentences: Sequence[Sentence], work: Path, name: str, n_sents: int = 1) -> Path:
    """``spacy convert`` on prepared sentences. Skipped when its output is there already."""
    source, target = work / f"{name}.conllu", work / f"{name}.spacy"
    if not target.exists():
        source.write_text("\n\n".join(prepared(s) for s in sentences) + "\n\n", encoding="utf8")
        spacy_command("convert", str(source), str(work), "--converter", "conllu", "--n-sents", str(n_sents))
    return target


def load_docs(path: Path, vocab: Vocab | None = None) -> list[Doc]:
    """All documents of a ``.spacy`` file; give the pipeline's ``vocab`` where they are to be compared with its own."""
    return list(DocBin().from_disk(path).get_docs(vocab or spacy.blank("en").vocab))


def save_docs(docs: Sequence[Doc], path: Path) -> None:
    """Write a ``.spacy`` file whole or not at all, so that a killed run leaves no half file behind."""
    part = path.with_suffix(".part")
    DocBin(docs=docs).to_disk(part)
    part.replace(path)


def grouped(docs: Sequence[Doc], sizes: Sequence[int]) -> list[Doc]:
    """Join one-sentence documents into texts of the given sizes, a blank between sentences."""
    if sum(sizes) != len(docs):
        raise ValueError(f"sizes add up to {sum(sizes)} sentences, but there are {len(docs)}")
    out, at = [], 0
    for size in sizes:
        joined = docs[at] if size == 1 else Doc.from_docs(list(docs[at : at + size]), ensure_whitespace=True)
        if joined is not None:
            out.append(joined)
        at += size
    return out


def gold_corpus(data: Path, work: Path, seed: int, copies: int = 2, most: int = 8) -> None:
    """Write ``train/gold.spacy`` and the development files.

    Training texts come in ``copies`` plain copies, each grouped differently, and one more in GAP's spelling.
    ``dev.spacy`` is a plain ``spacy convert`` of the development file in texts of five sentences, as the shared file
    counts them, with GUM's names; ``dev_merged.spacy`` is the same with ``--merge-subtokens``.
    """
    work.mkdir(parents=True, exist_ok=True)
    (work / "train").mkdir(exist_ok=True)
    splits: dict[str, list[Sentence]] = {}
    for split in ("train", "dev"):
        path = data / TREEBANK / f"ud_english_{split}.conllu.xz"
        splits[split] = list(read_conllu(open_text(path)))
    target = work / "train" / "gold.spacy"
    if not target.exists():
        rng = random.Random(seed)
        texts: list[Doc] = []
        for name, gum in (("ewt", False), ("gum", True)):
            sentences = [s for s in splits["train"] if s.is_gum == gum]
            docs = load_docs(convert(sentences, work, f"train_{name}"))
            for copy in range(copies + 1):
                joined = grouped(docs, group_sizes(sentences, most, rng))
                texts += joined if copy < copies else [snippet_copy(d, rng) for d in joined]
        save_docs(texts, target)
    convert([s for s in splits["dev"] if s.is_gum], work, "dev_gum", n_sents=5)
    raw = work / "dev.conllu"
    if not (work / "dev.spacy").exists():
        raw.write_text("".join(open_text(data / TREEBANK / "ud_english_dev.conllu.xz")), encoding="utf8")
        spacy_command(
            "convert", str(raw), str(work), "--converter", "conllu", "--n-sents", "5", "--merge-subtokens"
        )
        (work / "dev.spacy").replace(work / "dev_merged.spacy")
        spacy_command("convert", str(raw), str(work), "--converter", "conllu", "--n-sents", "5")
