"""Joins parser, names and a rule lemmatiser learned from the treebank to one pipeline.

python package.py WORK_FOLDER OUTPUT_FOLDER
python package.py WORK_FOLDER OUTPUT_FOLDER --gap gap-development.tsv   # and the share of GAP's names it finds
"""

from __future__ import annotations

import csv
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import takewhile
from pathlib import Path

import spacy
import typer
from convert import load_docs
from spacy.language import Language
from spacy.lookups import Lookups
from spacy.strings import StringStore
from spacy.tokens import Doc

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
    if (output / "README.md").is_file():
        shutil.copy2(output / "README.md", part)
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


Tables = dict[str, dict[str, object]]


def suffix_rules(pairs: Counter[tuple[str, str]], context: int = 3, least: int = 4) -> list[tuple[str, str]]:
    """(old suffix, new suffix) with up to ``context`` letters of the stem, kept if right more often than not."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for (form, lemma), _ in pairs.items():
        stem = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(form, lemma, strict=False)))
        for more in range(context + 1):
            start = stem - more
            if start < 1 or len(form) - start > 7 or start == len(form):
                continue
            votes[form[start:]][lemma[start:]] += 1
    rules = []
    for old, news in votes.items():
        new, n = news.most_common(1)[0]
        if n >= least and 2 * n > sum(news.values()):
            rules.append((old, new))
    return sorted(rules, key=lambda r: (-len(r[0]), r))


def lemma_tables(docs: Iterable[Doc]) -> Lookups:
    """Lookups with ``lemma_rules``, ``lemma_exc`` and ``lemma_index`` for `spacy`'s lemmatiser in rule mode."""
    seen: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for doc in docs:
        for t in doc:
            if t.pos_ and t.lemma_ and t.lemma_ != "_":
                seen[t.pos_.lower()][t.lower_, t.lemma_] += 1
    rules: Tables = {}
    exceptions: Tables = {}
    index: Tables = {}
    for pos, pairs in sorted(seen.items()):
        if pos in {"propn", "x", "sym", "punct", "num", "intj"}:
            continue
        best: dict[str, Counter[str]] = defaultdict(Counter)
        for (form, lemma), n in pairs.items():
            best[form][lemma] += n
        chosen = {form: lemmas.most_common(1)[0][0] for form, lemmas in best.items()}
        # "I" is the one lemma with a capital
        known = {lemma for lemma in chosen.values() if lemma.islower() or lemma == "I"}
        inflected = {
            f: lemma for f, lemma in chosen.items() if f != lemma and f.isalpha() and lemma.islower()
        }
        open_class = pos in {"noun", "verb", "adj", "adv"}
        found = suffix_rules(Counter(inflected.items())) if open_class else []
        found.append(("", ""))  # what no other rule changes is at least put in lower case
        rules[pos] = list(found)  # type: ignore[assignment]
        index[pos] = sorted(known) if open_class else []  # type: ignore[assignment]
        exceptions[pos] = {f: [lemma] for f, lemma in chosen.items() if _apply(f, found, known) != lemma}
    lookups = Lookups()
    lookups.add_table("lemma_rules", rules)
    lookups.add_table("lemma_exc", exceptions)
    lookups.add_table("lemma_index", index)
    return lookups


def _apply(form: str, rules: list[tuple[str, str]], index: set[str]) -> str:
    """What spaCy's ``rule_lemmatize`` makes of a lower-case form when there are no exceptions."""
    in_index: list[str] = []
    others: list[str] = []
    for old, new in rules:
        if form.endswith(old):
            lemma = form[: len(form) - len(old)] + new
            if lemma in index:
                in_index.insert(0, lemma)
            elif lemma and not lemma.isalpha():
                in_index.append(lemma)
            elif lemma:
                others.append(lemma)
    return (in_index or others or [form])[0]


def main(work: Path, output: Path, gap: Path | None = None) -> None:
    """Write the pipeline to ``output``."""
    nlp = assemble(
        work / "final" / "model-best",
        work / "ner" / "model-best",
        load_docs(work / "train" / "gold.spacy"),
        output,
    )
    if gap:
        print(name_coverage(nlp, gap_texts(gap)))


if __name__ == "__main__":
    typer.run(main)
