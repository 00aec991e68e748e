"""Jane Austen's Emma (157,000 words) read as one text, against chapter by chapter.

    python benchmarks/novel.py emma.txt.xz

The text is Project Gutenberg's, plain or compressed. Nobody has annotated it, but the names of its 23 main characters
tell who is meant. Printed are B-cubed of these names over the whole text (who is who by the clusters), and how often a
*he* or *she* gets the same character from the whole text as from its chapter alone, by ten chapters.
"""

import re
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

from gapstack.data.cells import read_text
from gapstack.data.example import GENDER_BY_FORM, Gender
from gapstack.running_text.answer import Answers
from gapstack.running_text.any_text_resolver import Text
from gapstack.running_text.links import Linker
from gapstack.running_text.text_resolver import TextResolver

CHARACTERS = """
Emma, Emma Woodhouse, Miss Woodhouse; Harriet, Harriet Smith, Miss Smith, Miss Harriet Smith; Mrs. Weston, Miss Taylor;
Jane, Jane Fairfax, Miss Fairfax, Miss Jane Fairfax; Mr. Elton; Mrs. Elton, Miss Hawkins, Augusta; Mr. Knightley;
Frank, Frank Churchill, Mr. Frank Churchill, Mr. Frank; John, John Knightley, Mr. John Knightley; Mr. Weston;
Mr. Woodhouse; Mr. Martin, Robert Martin; Miss Bates; Mrs. Bates; Mrs. Churchill; Isabella, Mrs. John Knightley;
Mr. Perry, Perry; Mrs. Goddard; Mr. Cole; Mrs. Cole; Mr. Dixon; Colonel Campbell; Mrs. Campbell
"""
CHARACTER = {
    name.strip().lower(): names.split(",")[0].strip()
    for names in CHARACTERS.split(";")
    for name in names.split(",")
}
_BEFORE_NAME = re.compile(r"^(my |the )?(poor |dear |dearest |little |sweet )*")


def character(words: str) -> str | None:
    """The character that words name, if any."""
    plain = " ".join(words.replace("_", " ").split()).lower()
    return CHARACTER.get(_BEFORE_NAME.sub("", plain))


def names_of(linker: Linker) -> list[tuple[str, int]]:
    """Character and entity of each name that is a character's."""
    memory = linker.memory
    return [
        (who, entity.number)
        for mention, entity in zip(memory.mentions, memory.entity, strict=True)
        if not mention.is_pronoun and (who := character(mention.text))
    ]


def b_cubed(names: list[tuple[str, int]]) -> tuple[float, float]:
    """Precision and recall of entities as characters."""
    both, characters, entities = Counter(names), Counter(a for a, _ in names), Counter(b for _, b in names)
    precision = sum(count**2 / entities[entity] for (_, entity), count in both.items()) / len(names)
    recall = sum(count**2 / characters[who] for (who, _), count in both.items()) / len(names)
    return precision, recall


def read(resolver: TextResolver, words: str) -> tuple[Text, list[Any]]:
    """A text and the values of its passages."""
    text = Text(words)
    return text, resolver.read([(text, window) for window in resolver.pieces(text)])


def pronouns(answers: Answers, offset: int = 0) -> dict[int, str | None]:
    """The character that is shown for each *he* and *she*, by its place in the novel."""
    return {
        offset + answer.pronoun.start: answer.antecedent and character(answer.antecedent.name)
        for answer in answers
        if GENDER_BY_FORM[answer.form.lower()] is not Gender.NEUTRAL
    }


def main() -> None:
    """Command line."""
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    novel, resolver = read_text(Path(sys.argv[1])), TextResolver()
    started = time.perf_counter()
    text, results = read(resolver, novel)
    whole = pronouns(resolver.link(text, results))
    print(f"{len(novel.split())} words in {time.perf_counter() - started:.0f} s")
    names = names_of(resolver.linked(text, results))
    precision, recall = b_cubed(names)
    print(f"{len(names)} names: B-cubed precision {precision:.3f}, recall {recall:.3f}, ", end="")
    print(f"F1 {2 * precision * recall / (precision + recall):.3f}")
    starts = [0, *(one.start() for one in re.finditer(r"^CHAPTER ", novel, re.M)), len(novel)]
    rows = []
    for number, (start, end) in enumerate(pairwise(starts)):
        alone = pronouns(resolver.link(*read(resolver, novel[start:end])), start)
        rows += [(number // 10 * 10, whole[at] == who) for at, who in alone.items() if who and whole.get(at)]
    table = pd.DataFrame(rows, columns=["from chapter", "same character"])
    print(table.groupby("from chapter").agg(["count", "mean"]).to_string(float_format="{:.3f}".format))
    print(f"all: {len(table)}, {table['same character'].mean():.3f}")


if __name__ == "__main__":
    main()
