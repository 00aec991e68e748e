"""Pronouns of whole documents that no model here was trained on: how often the right person is found, and how fast.

The documents are GICoref's, texts about trans and non-binary people. The model of running text was trained on LitBank
and GUM, so these do not test it. For each pronoun whose gold cluster has a name, it is counted whether the name or
noun that was chosen is of that cluster (by its head word); "nobody here" is wrong then. Words per second are measured
by the clock and, for busy machines, by the CPU time of all cores.

``--names`` measures the parser's detector of names instead. A detected name is right if a gold mention of a person has
its head; clusters are persons by their pronouns and titles.

    python benchmarks/any_text.py [--model models/gapstack-small]
    python benchmarks/any_text.py --names
"""

import argparse
import time
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gapstack.data import Span
from gapstack.data.cells import read_text
from gapstack.data.example import GAP_FORMS, GENDER_BY_FORM, PLURAL, Gender
from gapstack.data.extra.conll import ConllDocument, parse
from gapstack.data.extra.mined import ClusteredDocument
from gapstack.data.page_files import gold_page
from gapstack.data.sources import file_of
from gapstack.language.mining import GoldNames
from gapstack.language.parses import parses
from gapstack.members.people import names
from gapstack.running_text.any_text_resolver import AnyTextResolver, Text
from gapstack.runs.text_resolvers import text_resolver

FORMS = {
    "he, him, his, she, her": GAP_FORMS,
    "they": PLURAL,
    "neopronouns": {form for form, gender in GENDER_BY_FORM.items() if gender is Gender.NEUTRAL} - PLURAL,
}


@dataclass
class GoldDocument:
    """A document with its gold clusters."""

    document: ConllDocument

    @cached_property
    def page(self):
        """Text and gold mentions."""
        return gold_page(self.document, "gicoref")

    @property
    def text(self) -> str:
        """The whole text."""
        return self.page.paragraphs[0]

    @cached_property
    def source(self) -> ClusteredDocument:
        """Clusters with their names."""
        return ClusteredDocument(self.document)

    @cached_property
    def tree(self):
        """Parse of the whole text."""
        return parses([self.text])[0]

    @cached_property
    def gold(self) -> GoldNames:
        """Gold clusters by the heads of their mentions."""
        return GoldNames(self.page.gold, self.tree)

    @cached_property
    def named(self) -> set[str]:
        """Clusters that have a name."""
        return {key for key, cluster in self.source.clusters.items() if cluster.names}


def documents() -> list[GoldDocument]:
    """All documents of GICoref."""
    path = file_of("gicoref-map", "coref.combo.conll")
    return [GoldDocument(one) for one in parse(read_text(path), path, 2, 0)]


def measure(resolver: AnyTextResolver, found: list[GoldDocument], forms: Collection[str]) -> str:
    """Share of pronouns with the right person, and speed."""
    started = np.array([time.perf_counter(), time.process_time()])
    answered = list(resolver.stream(Text(one.text, tuple(forms)) for one in found))
    passed = np.array([time.perf_counter(), time.process_time()]) - started
    counted = right = 0
    for one, answers in zip(found, answered, strict=True):
        clusters = dict(one.page.gold.mentions)
        for answer in answers:
            cluster = clusters.get(answer.pronoun)
            if cluster not in one.named:
                continue
            counted += 1
            best = answer.antecedent
            right += best is not None and one.gold.cluster_of(best.span) == cluster
    words = sum(len(one.text.split()) for one in found)
    by_clock, by_cpu = words / passed
    speed = f"{by_clock:,.0f} words per second, {by_cpu:,.0f} per CPU second"
    return f"{counted:,} pronouns, {right / counted:.1%} right; {speed}"


def measure_names(found: list[GoldDocument]) -> str:
    """Recall and precision of the detected names of persons."""
    gold_names = recalled = all_detected = right = 0
    for one in found:
        _, places = one.document.text_of(range(len(one.document.tokens)))
        persons = {key for key, cluster in one.source.clusters.items() if cluster.is_person}
        detected = names(one.tree)
        gold = [
            Span(places[name.start].start, places[name.end - 1].end)
            for key in persons
            for name in one.source.clusters[key].names
        ]
        gold_names += len(gold)
        recalled += sum(any(name.overlaps(other) for other in detected) for name in gold)
        all_detected += len(detected)
        right += sum(one.gold.cluster_of(name) in persons for name in detected)
    return (
        f"{gold_names:,} gold names of persons, {recalled / gold_names:.1%} detected; "
        f"{all_detected:,} detected names, {right / all_detected:.1%} of persons"
    )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--model", help="saved member or stack, or a run (default: the model of running text)"
    )
    parser.add_argument("--names", action="store_true", help="measure the detector of names")
    args = parser.parse_args()
    found = documents()
    if args.names:
        print(measure_names(found))
        return
    resolver = text_resolver(args.model)
    for group, forms in FORMS.items():
        print(f"{group}: {measure(resolver, found, forms)}", flush=True)


if __name__ == "__main__":
    main()
