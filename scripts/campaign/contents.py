"""Files and folders that runs read beside the corpus, tiny and seeded: another seed, other contents."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import shutil
from pathlib import Path
from random import Random

import gapstack
from scripts.campaign import children
from scripts.campaign.workplace import encoder as build_encoder
from scripts.campaign.workplace import succeeded

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(gapstack.__file__).resolve().parents[1]
"""Folder that holds the package."""
_SAMPLE = SOURCE / "gapstack" / "corpus" / "sample"
_TAUGHT = 48


def data_folder() -> Path | None:
    """The real data, if they are on this machine: ``GAP_DATA``, else ``../shared/data`` beside the repository."""
    folder = Path(os.environ.get("GAP_DATA") or ROOT.parent / "shared" / "data")
    return folder if folder.is_dir() else None


def encoder(path: Path, seed: int) -> None:
    """A random encoder."""
    shutil.rmtree(path, ignore_errors=True)
    build_encoder(path, seed)


def parser(path: Path, seed: int) -> None:
    """A spaCy pipeline that was taught one sentence, and by another seed another reading of it."""

    def work() -> None:
        import spacy
        from spacy.training import Example
        from thinc.api import fix_random_seed

        fix_random_seed(seed)
        nlp = spacy.blank("en")
        nlp.add_pipe("parser", config={"min_action_freq": 1})
        heads = ([1, 1, 1, 1], [0, 0, 0, 0])[seed % 2]
        relations = ["ROOT" if head == at else "obj" for at, head in enumerate(heads)]
        lesson = Example.from_dict(nlp.make_doc("She met Ann."), {"heads": heads, "deps": relations})
        optimiser = nlp.initialize(lambda: [lesson])
        for _ in range(10):
            nlp.update([lesson], sgd=optimiser)
        shutil.rmtree(path, ignore_errors=True)
        nlp.to_disk(path)

    succeeded(children.start(work, path.with_suffix(".streams")).wait(), f"building {path}")


def vectors(path: Path, seed: int) -> None:
    """Word vectors in GloVe's format of every word of the sample."""
    said = "".join(file.read_text(encoding="utf-8") for file in sorted(_SAMPLE.glob("*.tsv")))
    rng = Random(seed)
    lines = [
        " ".join([word, *(f"{rng.gauss(0, 1):.3f}" for _ in range(8))])
        for word in sorted({*re.findall(r"[a-z]+", said.lower())})
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def clusters(path: Path, seed: int) -> None:
    """A resolver's clusters in the exchange format: a random one of the two names, or none."""
    rng = Random(seed)
    with path.open("w", encoding="utf-8") as stream:
        for row in _sample_rows():
            spans = {
                name: (start := int(row[f"{name}-offset"]), start + len(row[name]))
                for name in ("Pronoun", "A", "B")
            }
            groups = [[sorted([spans["Pronoun"], spans[name]])] for name in "AB"]
            record = {
                **{"id": row["ID"], "resolver": "random", "version": "1"},
                "text_sha256": hashlib.sha256(row["Text"].encode("utf-8")).hexdigest(),
                "clusters": rng.choice([*groups, []]),
            }
            print(json.dumps(record), file=stream)


def teacher(path: Path, seed: int) -> None:
    """A submission for some rows of stage 2."""
    folder = data_folder()
    assert folder is not None
    (rows,) = list((folder / "gap_stage2").glob("test_stage_2.tsv*"))[:1]
    rng = Random(seed)
    with rows.open(encoding="utf-8") as stream:
        ids = [line.split("\t", 1)[0] for _, line in zip(range(_TAUGHT + 1), stream, strict=False)][1:]
    lines = [f"{row},{a:.3f},{(1 - a) / 2:.4f},{(1 - a) / 2:.4f}" for row in ids if (a := rng.random()) >= 0]
    path.write_text("\n".join(["ID,A,B,NEITHER", *lines]) + "\n", encoding="utf-8")


def _sample_rows() -> list[dict[str, str]]:
    found = []
    for file in sorted(_SAMPLE.glob("gap-sample-*.tsv")):
        with file.open(encoding="utf-8", newline="") as stream:
            found += list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    return found
