"""Tables 1 to 3 of Webster et al. 2018, about the corpus, and table 5, which has published figures only."""

from collections import Counter
from collections.abc import Mapping
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from gapstack.data import Corpus, Example, Gender, Label, Span
from gapstack.data.gender import first_names, gender_of_name
from gapstack.display.render import Cell, Column, Section, Table
from gapstack.language.grammar import Parse
from gapstack.language.mining import Pattern, contexts, is_initial, pattern_of
from gapstack.language.parses import parses
from gapstack.language.words import page_title, shared_tokens

_ORDER = {
    Pattern.FINAL: "name, name, pronoun",
    Pattern.MEDIAL: "name, pronoun, name",
    Pattern.INITIAL: "pronoun, name, name",
}


def patterns_table(splits: Mapping[str, Corpus], parser: str | Path | None = None) -> Table:
    """Table 1: rows of each extraction pattern, and the share that meets the pattern's conditions by our parser."""
    corpus = reduce(add, splits.values())
    parsed = list(zip(corpus, parses(corpus, parser), strict=True))
    genders = first_names().genders
    rows: list[tuple[str, dict[str, Cell]]] = []
    for pattern in Pattern:
        matching = [(e, tree) for e, tree in parsed if pattern_of(e) == pattern]
        cells: dict[str, Cell] = {"order": _ORDER[pattern], "rows": len(matching)}
        cells |= {split: sum(pattern_of(e) == pattern for e in rows) for split, rows in splits.items()}
        if matching:
            count = len(matching)
            cells["sentences"] = 100 * sum(_in_its_sentences(e, tree) for e, tree in matching) / count
            cells["mined"] = 100 * sum(_is_mined(e, tree, genders) for e, tree in matching) / count
            if pattern is not Pattern.FINAL:
                pronouns = ((tree, tree.tokens_in(e.pronoun)) for e, tree in matching)
                initial = sum(len(tokens) > 0 and is_initial(tree, tokens[0]) for tree, tokens in pronouns)
                cells["initial"] = 100 * initial / count
        rows.append((pattern.value, cells))
    return Table(
        [
            Column("order", "order of mentions"),
            Column("rows", "rows"),
            *(Column(split, split) for split in splits),
            *(Column(key, f"{key.removesuffix('s')} %", 1) for key in ("sentences", "initial", "mined")),
        ],
        [Section("", rows)],
        "Table 1: extraction patterns, by the order of the mentions",
        "The paper's table has an example of each pattern and no counts. By our parses: sentence: the mentions "
        "are in the sentences that the pattern asks for; initial: the pronoun is in an initial clause or phrase; "
        "mined: gap mine finds the row, which needs both names detected and no name of the gender between.",
        "pattern",
    )


def diversity_table(splits: Mapping[str, Corpus], paper: Mapping[str, Any]) -> Table:
    """Table 2: diversity of the rows."""
    theirs = paper["table2_diversity"]
    parts = {**splits, "all": reduce(add, splits.values())}
    dimensions = {
        "gender masc:fem": ("gender masc:fem", _genders),
        "patterns": ("final:medial:initial", _patterns),
        "page entity": ("page entity true:false", _page_entity),
        "name A:name B": ("name A:name B", _names),
        "page coverage": ("page coverage", _coverage),
    }
    rows = [
        (name, {"paper": theirs.get(key)} | {part: ratio(corpus) for part, corpus in parts.items()})
        for name, (key, ratio) in dimensions.items()
    ]
    return Table(
        [Column(part, part) for part in ("paper", *parts)],
        [Section("", rows)],
        "Table 2: diversity of the corpus",
        "Patterns: final:medial:initial, in units of the mean of the last two. Page entity: true:false, whether A "
        "or B shares a word with the title in the row's URL. Page coverage: rows to a page and pronoun form that "
        "has any, on average and at most.",
        "dimension",
    )


def annotation_table(splits: Mapping[str, Corpus], paper: Mapping[str, Any]) -> Table:
    """Table 3: annotated and final rows by answer; ours are the final ones of the files."""
    theirs = paper["table3_annotation_raw_to_final"]
    labels = {"Name A": (Label.A,), "Name B": (Label.B,), "Neither": (Label.NEITHER,), "Total": tuple(Label)}
    parts = {"ours": reduce(add, splits.values()), **splits}
    rows: list[tuple[str, dict[str, Cell]]] = []
    for name in ("Name A", "Name B", "Neither", "Both", "Not sure", "Total"):
        cells: dict[str, Cell] = dict(zip(("raw", "final"), theirs.get(name, (None, None)), strict=True))
        for part, corpus in parts.items():
            cells[part] = sum(label in labels[name] for label in corpus.labels) if name in labels else None
        rows.append((name, cells))
    titles = {"raw": "paper raw", "final": "paper final", "ours": "ours"} | {split: split for split in splits}
    return Table(
        [Column(key, title) for key, title in titles.items()],
        [Section("", rows)],
        f"Table 3: rows by answer, {parts['ours'].label_set} labels",
        "The files hold final rows alone, whose answers are A, B or Neither.",
        "answer",
    )


def ontonotes_table(paper: Mapping[str, Any]) -> Table:
    """Table 5: the paper's off-the-shelf resolvers on the gendered pronouns of the OntoNotes test set."""
    figures = dict(paper["table5_off_the_shelf_ontonotes_test"])
    columns = figures.pop("columns")
    rows = [(name, dict(zip(columns, values, strict=True))) for name, values in figures.items()]
    return Table(
        [Column(column, f"paper {column}", 2 if column == "B" else 1) for column in columns],
        [Section("", rows)],
        "Table 5: off-the-shelf resolvers, OntoNotes test",
        "Published figures only: OntoNotes has its own licence, and these resolvers are not available.",
        "resolver",
    )


def _in_its_sentences(example: Example, tree: Parse) -> bool:
    """True if the mentions are in the sentences that the row's pattern requires."""
    tokens = [tree.tokens_in(span) for span in (example.pronoun, *sorted((example.a, example.b)))]
    if not all(tokens):
        return False
    pronoun, a, b = (int(tree.sentence[each[0]]) for each in tokens)
    match pattern_of(example):
        case Pattern.FINAL:
            return a == b and pronoun - b in (0, 1)
        case Pattern.MEDIAL:
            return a == pronoun - 1 and b == pronoun
        case Pattern.INITIAL:
            return a == b == pronoun


def _is_mined(example: Example, tree: Parse, genders: Mapping[str, Gender]) -> bool:
    """True if the extraction finds the pronoun, and names that share characters with the row's names."""

    def gender(span: Span) -> Gender | None:
        return gender_of_name(example.words(span), example.text[: span.start], genders)

    return any(
        context.pronoun == example.pronoun and context.a.overlaps(example.a) and context.b.overlaps(example.b)
        for context in contexts(tree, gender, len(tree))
    )


def _ratio(*counts: int) -> str:
    """Counts as a ratio, in units of the last one, or of the mean of the last two of three."""
    unit = sum(counts[1:]) / (len(counts) - 1)
    ratios = [f"{round(count / unit, 1):g}" for count in counts] if unit else map(str, counts)
    return ":".join(ratios)


def _genders(corpus: Corpus) -> str:
    genders = list(corpus.genders)
    return _ratio(genders.count(Gender.MASCULINE.value), genders.count(Gender.FEMININE.value))


def _patterns(corpus: Corpus) -> str:
    counts = Counter(map(pattern_of, corpus))
    return _ratio(*(counts[pattern] for pattern in Pattern))


def _page_entity(corpus: Corpus) -> str:
    known = [
        any(shared_tokens(name, title.title) for name in (example.a_text, example.b_text))
        for example in corpus
        if (title := page_title(example.url)) is not None
    ]
    return _ratio(sum(known), len(known) - sum(known)) if known else "-"


def _names(corpus: Corpus) -> str:
    return _ratio(int((corpus.labels == Label.A).sum()), int((corpus.labels == Label.B).sum()))


def _coverage(corpus: Corpus) -> str:
    cells = Counter((example.url, example.pronoun_text.lower()) for example in corpus if example.url)
    return f"{sum(cells.values()) / len(cells):.3g}, {max(cells.values())}" if cells else "-"
