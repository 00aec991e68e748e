"""Every command and all Python code of every document run, in an empty folder with the files that they name.

GAP is a part of the embedded sample, so that a run takes seconds. What needs a network, an account or hours is listed
below, and only parsed (``test_links.py``). How-tos that change the package are followed by ``test_how_to.py``.
"""

import json
import lzma
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from gapstack.data import Corpus, gap_data, sources
from gapstack.data.gap_files import read_gap, write_gap, write_submission
from tests.docs import shell
from tests.docs.test_links import DOCUMENTS, ROOT, adds_to_the_package, text

BLOCK = re.compile(
    r"(?:^Create `(?P<create>[\w.]+)`:\n\n)?^```(?P<language>\w+)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
NOT_RUN = {
    r"git (clone|checkout)|cd |\./run\.sh|pip |python -m (pytest|spacy)": "installs, or is the test suite itself",
    r"gap demo": "serves until it is stopped; tests/running_text starts it",
    r"gap (push|submit) |.*--model owner/name|.*--log ": "needs an account, or a package",
    r".*(bert-large|path/to/folder)|gap run attree2019( --encoder minilm)?$": "needs other encoders, or hours",
    r".*gap run families": "takes hours",
    r".*gap run strong": "needs an encoder of the Hub",
    r"gap resolve fastcoref|gap (mine|audit) .*(--corpus|--fresh)": "needs a resolver, a corpus or a server",
    r".*localhost:8000": "needs a server",
}
SMALLER = {
    "gap run ": " --folds 3",
    "gap tune ": " --trials 2",
    "gap audit quickstart": " --limit 60",
    "gap audit default": " --limit 60",
}
"""Options that are added to commands, the last one being in force; with them, a run takes seconds."""


def blocks(path: Path) -> list[re.Match[str]]:
    return list(BLOCK.finditer(text(path)))


PAGES = [
    path
    for path in DOCUMENTS
    if not adds_to_the_package(path) and any(one["language"] in ("bash", "python") for one in blocks(path))
]


def commands(path: Path) -> str:
    """The shell commands of a page that are run, one a line."""
    code = "".join(block["code"] for block in blocks(path) if block["language"] == "bash")
    lines = [line.partition(" #")[0].strip() for line in code.splitlines()]
    lines = [line for line in lines if line and not any(re.match(known, line) for known in NOT_RUN)]
    return "\n".join(
        line + "".join(more for start, more in SMALLER.items() if line.startswith(start)) for line in lines
    )


def run(script: str, folder: Path, cache: Path) -> None:
    variables = {
        "PYTHONPATH": str(ROOT / "src"),
        "GAP_DATA": str(folder / "data"),
        "GAPSTACK_HOME": str(folder),
        "GAPSTACK_CACHE": str(cache),
        "GAPSTACK_OFFLINE": "1",
    }
    shell.run(script, folder, variables)


@pytest.fixture(scope="session")
def shared(tmp_path_factory, worker_id) -> Path:
    """A folder that all workers of pytest-xdist share."""
    own = tmp_path_factory.getbasetemp()
    return own if worker_id == "master" else own.parent


@pytest.fixture(scope="session")
def prepared(tmp_path_factory, shared) -> Path:
    """The folder of :func:`prepare`; the first worker makes it."""
    folder = shared / "documents"
    with FileLock(shared / "documents.lock"):
        if not folder.exists():
            new = tmp_path_factory.mktemp("new")
            prepare(new, shared / "cache")
            new.rename(folder)
    return folder


def prepare(folder: Path, cache: Path) -> None:
    """Write a small GAP, small suites, a finished run, and the files that documents name."""
    (folder / "data" / "gap").mkdir(parents=True)
    (folder / "data" / "resolvers").mkdir()
    shorten_suites(folder / "data")
    sample = gap_data.sample()
    parts = {
        "development": sample["train"][:60],
        "validation": sample["train"][60:100],
        "test": sample["test"][:40],
    }
    for split, rows in parts.items():
        numbers = count(5001)  # ids that no list corrects
        named = Corpus(replace(row, id=f"{split}-{next(numbers)}") for row in rows)
        write_gap(folder / "data" / "gap" / f"gap-{split}.tsv", named)
        write_gap(folder / f"gap-{split}.tsv", named)
        # recorded output of these rows, not of those that a machine may have
        clusters = folder / "data" / "resolvers" / f"neuralcoref_hf_{split}.jsonl.xz"
        clusters.write_bytes(lzma.compress(no_clusters(named.ids).encode()))
    write_gap(folder / "mine.tsv", sample["train"])
    write_gap(folder / "new.tsv", sample["test"][:20])
    for name in ("more", "rows", "test_stage_2"):
        write_gap(folder / f"{name}.tsv", sample["test"][20:40].unlabelled())
    predictions = {
        **dict.fromkeys(("one.csv", "two.csv", "three.csv"), "gap-test.tsv"),
        **dict.fromkeys(("dev_one.csv", "dev_two.csv"), "gap-development.tsv"),
        "submission.csv": "test_stage_2.tsv",
        "answers/winogender.csv": "rows/winogender.tsv",
    }
    run("gap audit-rows rows\nmkdir answers", folder, cache)
    random = np.random.default_rng(0)
    for name, rows in predictions.items():
        ids = read_gap(folder / rows).ids
        write_submission(folder / name, ids, random.dirichlet([1, 1, 1], len(ids)))
    (folder / "resolver.jsonl").write_text(
        no_clusters(read_gap(folder / "rows/winogender.tsv").ids), encoding="utf-8"
    )
    (folder / "letter.txt").write_text("Kate met Paul. He was late.\n", encoding="utf-8")
    (folder / "book.txt").write_text("\n\n".join(sample["train"].texts[:5]), encoding="utf-8")
    pages = [
        {"id": row.id, "text": row.text, "url": f"http://a.org/{row.id}"} for row in sample["train"][:20]
    ]
    (folder / "pages.jsonl").write_text("".join(f"{json.dumps(page)}\n" for page in pages), encoding="utf-8")
    lists = [path.read_text(encoding="utf-8") for path in sources.require("wordlists").glob("*.*")]
    words = sorted(set(re.findall(r"[A-Za-z]+", " ".join(lists))))
    vectors = [f"{word} {' '.join(map(str, random.normal(size=8)))}\n" for word in words]
    (folder / "vectors.txt").write_text(f"{len(vectors)} 8\n{''.join(vectors)}", encoding="utf-8")
    run("gap run quickstart --folds 3\ngap resolve gapstack resolved.jsonl --split test", folder, cache)
    (folder / "models" / "en_gapstack").symlink_to(ROOT / "models" / "en_gapstack")


def no_clusters(ids: Sequence[str]) -> str:
    """Output of a resolver that links nothing."""
    documents = ({"id": row, "clusters": [], "resolver": "none", "version": "1"} for row in ids)
    return "".join(f"{json.dumps(one)}\n" for one in documents)


def shorten_suites(data: Path) -> None:
    """Write the beginnings of WinoBias and of SoWinoBias's word lists, which would take minutes."""
    embedded = sources.embedded_folder()
    for path in (embedded / "winobias").rglob("*_stereotyped_*"):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        short = data / path.relative_to(embedded)
        short.parent.mkdir(parents=True, exist_ok=True)
        short.write_text("".join(lines[:10]), encoding="utf-8")
    shutil.copytree(embedded / "wordlists", data / "wordlists")
    vocabulary = data / "wordlists" / "sowinobias_vocab.json"
    words = json.loads(vocabulary.read_text(encoding="utf-8"))
    vocabulary.write_text(json.dumps({name: known[:4] for name, known in words.items()}), encoding="utf-8")


@pytest.fixture
def folder(prepared, tmp_path) -> Path:
    return Path(shutil.copytree(prepared, tmp_path / "here", symlinks=True))


@pytest.mark.documents
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_and_code_run(path, folder, shared):
    for block in blocks(path):
        if block["create"]:
            (folder / block["create"]).write_text(block["code"], encoding="utf-8")
    code = "".join(block["code"] for block in blocks(path) if block["language"] == "python")
    (folder / "code.py").write_text(code, encoding="utf-8")
    run(f"{commands(path)}\npython code.py", folder, shared / "cache")
