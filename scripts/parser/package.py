"""Put the trained parts together, measure the result, and write its model card."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.strings import StringStore
from spacy.tokens import Doc

from .corpus import load_docs, spacy_command
from .lemmas import lemma_tables

META = {
    "lang": "en",
    "name": "gapstack",
    "version": "0.1.0",
    "description": "English tagger, morphologiser, parser, lemmatiser and person names, trained on UD English EWT and "
    "GUM and on machine-parsed Wikipedia snippets",
    "author": "the gapstack authors",
    "license": "CC BY-SA 4.0",
    "sources": [
        {"name": "UD English EWT", "license": "CC BY-SA 4.0", "author": "Universal Dependencies"},
        {
            "name": "GUM, open genres",
            "license": "CC BY 4.0 (annotations)",
            "author": "Amir Zeldes and others",
        },
        {
            "name": "Wikipedia snippets (Kaggle gendered-pronoun-resolution, stage 2), parsed by machine",
            "license": "CC BY-SA (texts)",
            "author": "Wikipedia",
        },
    ],
}


def assemble(parser: Path, ner: Path, lemma_docs: Sequence[Doc], output: Path) -> Language:
    """Join parser, names and lemmatiser to one pipeline and write it to ``output`` in one go."""
    nlp = spacy.load(parser)
    nlp.add_pipe("ner", source=spacy.load(ner, vocab=nlp.vocab))
    lemmatizer = nlp.add_pipe("lemmatizer", config={"mode": "rule"})
    lemmatizer.initialize(lookups=lemma_tables(lemma_docs))
    # the training set-up names functions that a user of the pipeline does not have
    nlp.config["initialize"] = {**nlp.config["initialize"], "before_init": None}
    nlp.config["paths"] = {"train": None, "dev": None}
    nlp.meta.update(META)
    nlp.meta["performance"] = {}
    part = output.with_name(output.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    nlp.to_disk(part)
    needed_strings(nlp).to_disk(part / "vocab" / "strings.json")
    shutil.rmtree(output, ignore_errors=True)
    part.rename(output)
    return spacy.load(output)


def needed_strings(nlp: Language) -> StringStore:
    """The language's own strings and the labels: all that a loaded pipeline cannot make from the text at hand.

    Training leaves every word of its corpora in the store, a tenth of the pipeline's size.
    """
    keep = set(spacy.blank("en").vocab.strings)
    for _, component in nlp.pipeline:
        for label in getattr(component, "labels", ()):
            # a morphologiser's label is all features of a word, and each is a string of its own
            keep |= {label, *label.split("|"), *re.split(r"[|=]", label)}
        keep |= set(getattr(component, "cfg", {}).get("labels_morph", {}).values())
    return StringStore(sorted(keep))


def spacy_scores(model: Path, corpus: Path, report: Path) -> dict[str, Any]:
    """What ``spacy evaluate`` says of a packaged pipeline."""
    spacy_command("evaluate", str(model), str(corpus), "--output", str(report))
    return json.loads(report.read_text())


def words_per_second(
    model: Path, texts: Sequence[str], processes: int, least: int = 60_000
) -> dict[str, float]:
    """Words (tokens) a second through ``nlp.pipe`` over at least ``least`` words.

    ``wall`` is by the clock, and so depends on what else the machine does; ``free`` is by the processor time of all
    processes, what as many free cores would do.
    """
    nlp = spacy.load(model)
    texts = list(texts)
    many = texts * (1 + least // max(1, sum(len(nlp.make_doc(t)) for t in texts)))
    began, before = time.perf_counter(), os.times()
    words = sum(len(doc) for doc in nlp.pipe(many, n_process=processes))
    wall, after = time.perf_counter() - began, os.times()
    busy = sum(after[:4]) - sum(before[:4])
    return {"wall": words / wall, "free": processes * words / busy}


def gap_texts(path: Path) -> list[dict[str, str]]:
    """The rows of a GAP file."""
    with path.open(encoding="utf8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def name_coverage(nlp: Language, rows: Sequence[dict[str, str]]) -> dict[str, float]:
    """Share of GAP's A and B names that a predicted PERSON overlaps, and that one matches exactly. No label is read."""
    overlap = exact = 0
    for row, doc in zip(rows, nlp.pipe(row["Text"] for row in rows), strict=True):
        people = [(e.start_char, e.end_char) for e in doc.ents if e.label_ == "PERSON"]
        for which in "AB":
            start = int(row[f"{which}-offset"])
            end = start + len(row[which])
            overlap += any(a < end and b > start for a, b in people)
            exact += (start, end) in people
    return {"overlap": overlap / (2 * len(rows)), "exact": exact / (2 * len(rows))}


def measure(output: Path, data: Path, work: Path) -> dict[str, Any]:
    """All figures of the model card."""
    scores: dict[str, Any] = {}
    for name, corpus in (("dev", "dev"), ("dev_merged", "dev_merged"), ("gum", "dev_gum")):
        scores[name] = spacy_scores(output, work / f"{corpus}.spacy", work / f"scores_{name}.json")
    rows = gap_texts(data / "gap" / "gap-development.tsv")
    scores["gap"] = name_coverage(spacy.load(output), rows)
    texts = [doc.text for doc in load_docs(work / "dev.spacy")]
    scores["speed"] = {f"{n}": words_per_second(output, texts, n) for n in (1, 2)}
    scores["bytes"] = sum(p.stat().st_size for p in output.rglob("*") if p.is_file())
    return scores


def model_card(
    scores: dict[str, Any], seconds: dict[str, float], command: str, seed: int, note: str = ""
) -> str:
    """The README of the packaged pipeline; ``note`` is a remark on this very run."""

    def line(title: str, key: str, gold: str) -> str:
        s = scores[gold]
        return f"| {title} | {100 * s[key]:.2f} |"

    dev = scores["dev"]
    speeds = "\n".join(
        f"| {n} process{'es' if n != '1' else ''} | {v['wall']:,.0f} | {v['free']:,.0f} |"
        for n, v in scores["speed"].items()
    )
    times = "\n".join(f"| {name} | {value:,.0f} |" for name, value in seconds.items())
    return f"""# en_gapstack

A small English spaCy pipeline: tagger (Penn tags), morphologiser (UD part of speech and features), dependency parser
(UD relations) with sentence boundaries, person names (`PERSON`), rule lemmatiser. Plain spaCy, no further packages:

```python
nlp = spacy.load("models/en_gapstack")
```

It is meant for Wikipedia biography snippets as GAP has them: `` `` `` and `''` for quotation marks, `*` for accented
letters, a missing blank behind a full stop now and then.

## Scores
`spacy evaluate` on the development treebank (`ud_english_dev`, 2,521 sentences in texts of five), on the pipeline's own
tokens:

| | per cent |
| --- | --- |
{line("UAS", "dep_uas", "dev")}
{line("LAS", "dep_las", "dev")}
{line("UAS, gold converted with `--merge-subtokens`", "dep_uas", "dev_merged")}
{line("LAS, gold converted with `--merge-subtokens`", "dep_las", "dev_merged")}
{line("sentence starts, F", "sents_f", "dev")}
{line("Penn tags", "tag_acc", "dev")}
{line("UD part of speech", "pos_acc", "dev")}
{line("UD features", "morph_acc", "dev")}
{line("lemmas", "lemma_acc", "dev")}
{line("tokens, F", "token_f", "dev")}
{line("PERSON precision (GUM part)", "ents_p", "gum")}
{line("PERSON recall (GUM part)", "ents_r", "gum")}
{line("PERSON F (GUM part)", "ents_f", "gum")}
| GAP development: A and B names that a PERSON overlaps | {100 * scores["gap"]["overlap"]:.2f} |
| GAP development: A and B names that a PERSON matches exactly | {100 * scores["gap"]["exact"]:.2f} |

LAS of the relations that the cues read: {
        ", ".join(
            f"`{r}` {100 * dev['dep_las_per_type'][r]['f']:.1f}"
            for r in ("nsubj", "nsubj:pass", "obj", "iobj", "obl", "nmod:poss", "conj", "appos", "ROOT")
            if r in dev["dep_las_per_type"]
        )
    }.

With `--merge-subtokens` *don't* is one gold token, and spaCy's two tokens for it can at best score one right and one
wrong; without it the gold has spaCy's two tokens, in the same text. Both are given.

Words a second of the whole pipeline in `nlp.pipe` on the development texts, on the two-core machine that trained it:

| | by the clock, beside other work | by processor time: on free cores |
| --- | --- | --- |
{speeds}

Size: {scores["bytes"] / 1e6:.1f} MB.

## Data and licences
- UD English EWT, CC BY-SA 4.0, and the open genres of GUM, annotations CC BY 4.0 (texts CC BY or CC BY-SA), as
  `treebank/ud_english_train.conllu.xz`.
- Kaggle's stage-2 snippets for GAP (Wikipedia text, CC BY-SA), without labels, parsed by a teacher trained on the same
  treebank: MiniLM (`all-MiniLM-L6-v2`, Apache-2.0) with a biaffine parser. Which two names each snippet marks is used
  as evidence that they are names; no coreference label was seen. No GAP text was used for training.
- Person names: GUM's `Entity=` marks of type person whose head is a singular proper noun, cut to the name itself (the
  head and what hangs on it by `flat` or `compound`); titles (*President* Bush) stay outside, and so do bare titles,
  nationalities and pronouns. EWT has no marks and is left out of the name training.

The weights are shared under CC BY-SA 4.0.

## Made by
```
{command}
```
Seed {seed}. {note}

Seconds, one thread a process and two processes at a time:

| stage | seconds |
| --- | --- |
{times}
"""
