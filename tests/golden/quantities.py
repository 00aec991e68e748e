"""The quantities that are frozen: each function computes one, by the public API, a registry or the command line.

Private names are imported in the function that needs them, so that a rename changes one line.
"""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import gapstack
from gapstack.ensemble import CALIBRATORS, create_calibrator, create_stacker
from gapstack.runs.recipe import Recipe
from gapstack.runs.recipe_files import available
from tests.commands import gap
from tests.fixtures_comparison import base_predictions
from tests.golden.stored import sha, shortened, summary, without_prose
from tests.golden.texts import TEXTS

Probabilities = np.ndarray

NETWORKS = frozenset({"dense", "pool"})
"""Stackers that are networks in float32."""
QUICK_STACKERS: dict[str, dict[str, Any]] = {
    "mean": {"weights": [9, 1, 4], "of": "logits"},
    "dense": {"steps": 20, "seeds": 1},  # after 60, inputs that differ by 1e-7 change answers by 1e-3
    "pool": {"steps": 80, "seeds": 1},
    "evidence": {"rounds": 40},
}
"""Settings that differ from their defaults."""
STACKED = (
    "token_distance",
    "topical_entity",
    {"name": "surface", "settings": {"rounds": 10, "bags": 1, "min_leaf": 5}},
)
"""Members of stacks, none of which needs a parse or an encoder."""


_SPANS = {"seeds": 2, "epochs": 4}
_TREES = {"rounds": 40, "bags": 2}
ON_GAP: dict[str, tuple[dict[str, Any], bool]] = {
    **{name: ({}, False) for name in ("prior", "random", "token_distance", "topical_entity")},
    **{name: ({}, False) for name in ("syntactic_distance", "parallelism", "url")},
    "surface": (_TREES, False),
    "surface, cues": (
        {**_TREES, "blocks": ["surface", "cues", "fill_the_gap", "positions", "gender"]},
        False,
    ),
    "frozen_spans": (_SPANS, True),
    "transformer_single": ({}, True),
    "stack, rules": ({"members": ["token_distance", "parallelism", "url"], "stackers": ["simplex"]}, False),
    "stack, choosing": (
        {
            "members": ["parallelism", {"name": "surface", "settings": _TREES}, "transformer_single"],
            "stackers": ["simplex", "conditional", "logistic", "feature_weighted"],
            "calibrators": ["none", "temperature", "vector"],
            "folds": 3,
        },
        True,
    ),
}
"""Members on rows of GAP, over the embedded encoder: settings, and whether a network computes in float32."""


def answers(
    name: str, settings: dict[str, Any], train: gapstack.Corpus, held: gapstack.Corpus
) -> Probabilities:
    """Probabilities of one member."""
    return gapstack.create(name, **settings).fit(train).predict_proba(held)


def planted(labels: np.ndarray) -> np.ndarray:
    """Base predictions (n, 3, 3) of members that know the label more, and less, and not at all."""
    return np.stack(
        [base_predictions(labels, sharpness, seed) for seed, sharpness in enumerate((2.0, 1.0, 0.0))], 1
    )


def stacker_answers(kind: str, train: gapstack.Corpus, held: gapstack.Corpus) -> Probabilities:
    """Probabilities of a stacker over planted base predictions."""
    from gapstack.ensemble.stacker import EVIDENCE
    from gapstack.features import features

    stacker = create_stacker(kind, **QUICK_STACKERS.get(kind, {}))
    evidence = [features(rows, EVIDENCE) if stacker.READS_EVIDENCE else None for rows in (train, held)]
    stacker.fit(planted(train.labels), train.labels, evidence[0])
    return stacker.predict_proba(planted(held.labels), evidence[1])


def calibrator_answers(kind: str, train: gapstack.Corpus, held: gapstack.Corpus) -> Probabilities:
    """Probabilities of a calibrator of an overconfident member."""
    assert kind in CALIBRATORS
    calibrator = create_calibrator(kind).fit(planted(train.labels)[:, 0] ** 2, train.labels, train.genders)
    return calibrator.apply(planted(held.labels)[:, 0] ** 2, held.genders)


def printed_json(*arguments: object) -> Any:
    """What a command prints with ``--json``."""
    return json.loads(gap(*arguments, "--json"))


def recipes() -> dict[str, Any]:
    """Members of every recipe, by their labels, and a hash of all that it says."""
    return {
        one["name"]: {"members": [part["label"] for part in one["members"]], "all": sha(one)}
        for one in json.loads(json.dumps([asdict(Recipe.load(name)) for name in available()]))
    }


def comparison(folder: Path, gold: Path | None, *names: str) -> Any:
    """Scores, intervals, tests, slices and contributions of some submissions; long tables told by their columns."""
    rows = ("--gold", gold) if gold else ()
    found = printed_json("compare", *(folder / name for name in names), *rows, "--replicates", 1000)
    for member in found["members"]:
        member["source"] = Path(member["source"]).name
    return shortened(found)


def options() -> dict[str, Any]:
    """Arguments and options of every command, by its words."""
    import typer

    from gapstack.cli import app

    def walk(command: Any, words: str) -> dict[str, Any]:
        shown = [one for one in command.params if "completion" not in one.name]  # those depend on the shell
        found = {words: {name_of(one): described(one) for one in shown}}
        for name, inner in getattr(command, "commands", {}).items():
            found |= walk(inner, f"{words} {name}")
        return found

    def name_of(parameter: Any) -> str:
        option = parameter.opts[0].startswith("-")
        return parameter.opts[0] if option else parameter.metavar or parameter.name.upper()

    def described(parameter: Any) -> dict[str, Any]:
        names = [name for name in (*parameter.opts, *parameter.secondary_opts) if name.startswith("-")]
        return {
            "names": names,
            "flag": bool(getattr(parameter, "is_flag", False)),
            "required": parameter.required,
            "multiple": bool(getattr(parameter, "multiple", False)) or parameter.nargs != 1,
            "default": None if callable(parameter.default) else str(parameter.default),
        }

    return walk(typer.main.get_command(app), "gap")


def feature_block(name: str, corpus: gapstack.Corpus) -> dict[str, Any]:
    """Each column of a feature block: how many values there are, their sum, and so on."""
    from gapstack.features import BLOCKS

    found = BLOCKS[name](corpus)
    own = {
        f"{column} of {which}": summary(found.candidates[:, k, number])
        for number, column in enumerate(found.candidate_names)
        for k, which in enumerate("AB")
    }
    return own | {column: summary(found.shared[:, k]) for k, column in enumerate(found.shared_names)}


def word_pieces(corpus: gapstack.Corpus, encoder: str | None, longest: int | None) -> dict[str, Any]:
    """Hashes of pieces, their characters and those of the mentions; the first text's as they are."""
    from gapstack.encoding.encoders import load_encoder
    from gapstack.encoding.pieces import align

    found = align(corpus, load_encoder(encoder), longest)
    parts = {"ids": found.ids, "chars": found.chars, "bounds": found.bounds, "mentions": found.mentions}
    first = {
        "ids": found.ids[found.row(0)],
        "chars": found.chars[found.row(0)],
        "mentions": found.mentions[0],
    }
    return {"count": len(found.ids)} | {key: sha(part) for key, part in parts.items()} | {"first": first}


def row_record(row: gapstack.Example) -> list[Any]:
    """All that a row says, for hashes."""
    label = None if row.label is None else int(row.label)
    return [row.id, row.text, list(row.pronoun), list(row.a), list(row.b), row.url, label]


def augmented_rows(name: str, corpus: gapstack.Corpus) -> dict[str, Any]:
    """How many rows an augmentation changes, a hash of each, and the first changed text."""
    from gapstack.data.augment import variants

    (variant,) = variants(corpus, (name,))
    first = int(np.argmax(variant.changed))
    return {
        "changed": int(variant.changed.sum()),
        "columns": list(variant.columns),
        "first": row_record(variant.corpus[first]),
        "rows": " ".join(sha(row_record(row))[:4] for row in variant.corpus),
    }


def mined(corpus: gapstack.Corpus, folder: Path, *options: object) -> dict[str, Any]:
    """What ``gap mine`` says and writes, the texts of a corpus being its pages."""
    pages = folder / "pages.jsonl"
    records = [{"id": row.id, "url": f"http://w/wiki/{k}", "text": row.text} for k, row in enumerate(corpus)]
    pages.write_text("".join(json.dumps(one) + "\n" for one in records if "\n" not in one["text"]))
    said = printed_json("mine", pages, "-o", folder / "mined.tsv", *options)
    written = (folder / "mined.tsv").read_text(encoding="utf-8")
    return {"said": said, "rows": len(written.splitlines()) - 1, "file": sha(written)}


def decided_by_clusters(clusters: Path, corpus: gapstack.Corpus, folder: Path, match: str) -> dict[str, Any]:
    """What ``gap clusters-to-gap`` says and writes."""
    from gapstack.data import write_gap

    write_gap(folder / "gold.tsv", corpus)
    files = {"tsv": folder / "decided.tsv", "clusters": folder / "again.jsonl"}
    said = printed_json(
        *("clusters-to-gap", clusters, "--gold", folder / "gold.tsv", "--match", match),
        *("--output", files["tsv"], "--clusters", files["clusters"]),
    )
    return {"said": said} | {key: sha(path.read_text(encoding="utf-8")) for key, path in files.items()}


def answers_to_texts(texts: slice) -> list[Any]:
    """Answers of the shipped stack to some of the fifty texts, without notes and remarks, which are prose."""
    from gapstack.runs.predictors import shipped_model

    stdin = "".join(f"{text}\n" for text in TEXTS[texts]).encode()
    lines = gap("ask", "--json", "--model", shipped_model(), stdin=stdin).splitlines()
    return [without_prose(json.loads(line)) for line in lines]


def audited(suite: str, system: str, train: gapstack.Corpus, folder: Path) -> Any:
    """All numbers of one suite's audit of a saved member, or of a file of probabilities that depend on ids alone."""
    from gapstack.audits import SUITES
    from gapstack.data.gap_files import write_submission

    target = folder / "target"
    if system == "file":
        ids = SUITES[suite].load(cap=SUITES[suite].cap).corpus.ids
        values = np.array([list(hashlib.sha256(name.encode()).digest()[:3]) for name in ids]) + 1.0
        target.mkdir()
        write_submission(target / f"{suite}.csv", ids, values / values.sum(axis=1, keepdims=True))
    else:
        gapstack.create(system).fit(train).save(target)
    found = printed_json("audit", target, "--suite", suite)
    found.pop("versions", None)
    found["target"] = Path(found["target"]).name
    return shortened(without_prose(found))


def reproduced(paper: str, *options: object) -> Any:
    """The numbers of a paper's tables next to ours."""
    return shortened(without_prose(printed_json("reproduce", paper, *options)))


def cross_validated(name: str, settings: dict[str, Any], corpus: gapstack.Corpus) -> dict[str, Any]:
    """Folds of a corpus, and a member's out-of-fold probabilities and scores."""
    found = gapstack.cross_validate(gapstack.create(name, **settings), corpus)
    folds = [corpus.take(found.folds.split(fold)[1]).ids for fold in range(found.folds.k)]
    columns = found.probabilities.T
    return {
        "folds": sha(folds),
        "columns": [summary(one) for one in columns],
        "scores": found.scores.as_dict(),
    }


def parse(corpus: gapstack.Corpus) -> None:
    """Parse rows, for the cache."""
    from gapstack.language.parses import parses

    parses(corpus)
