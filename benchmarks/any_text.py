"""Pronouns of novels, of the web's genres and of texts about trans and non-binary people: is the right name linked.

Whole documents of LitBank (nothing here was trained on them), GUM (those that the parser was not trained on, unless
``--seen``) and GICoref (nor on these). For each pronoun whose gold cluster has a name anywhere in the document, it is
counted whether the name that was chosen is of that cluster (by its head word); "nobody here" is wrong then. Nearest is
the nearest detected name, which is token distance; parallelism is the GAP paper's cue; both under the same windows,
names and coupling. Words a second are of one process's own time.

``--resolver`` adds what ``models/coreference`` trains, under which documents are those that it held out (of GUM
the parser has then seen most): the name nearest to the pronoun in the cluster that it has it in, of those detected in
the whole document.

``--names`` measures the detector instead. A detected name is right if a gold mention of a person has its head. Whether
a mention is a person's, GUM says; elsewhere its cluster's pronouns and titles do, and others are counted apart.

    python benchmarks/any_text.py MODEL [--data ../shared/data] [--corpora litbank gum gicoref] [--words 120 240]
    python benchmarks/any_text.py MODEL --names [--seen]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import gapstack
from gapstack.anytext.answer import Answer
from gapstack.anytext.people import names
from gapstack.anytext.pronoun_resolver import PLURAL, PronounResolver, Text
from gapstack.anytext.windows import SEEN, WORDS, windows
from gapstack.data import Span
from gapstack.data.cells import read_text
from gapstack.data.example import GENDER_BY_FORM, Gender
from gapstack.data.extra.conll import CORPORA, ConllDocument, parse, read_corpus
from gapstack.data.extra.mined import Source
from gapstack.data.page_files import Page, gold_page
from gapstack.data.sources import file_of, require
from gapstack.resolvers.live import ADAPTERS
from gapstack.text.mining import GoldNames
from gapstack.text.parses import head_span, parses

MODELS = Path(__file__).resolve().parents[1] / "models"
sys.path += [str(MODELS / "parser"), str(MODELS / "coreference")]  # spaCy projects: scripts, not packages

from convert import open_text, read_conllu  # noqa: E402
from documents import split  # noqa: E402

GICOREF = "gicoref"
FORMS = {
    "he, him, his, she, her": SEEN,
    "they": PLURAL,
    "neopronouns": {form for form, gender in GENDER_BY_FORM.items() if gender is Gender.NEUTRAL} - PLURAL,
}
"""Groups of forms; the first is all that LitBank and GUM are measured by, whose *they* are mostly plural."""
RESOLVER_SEED = 0
"""Of the resolver's parts: the default of its script."""
Choice = Callable[[Answer], Span | None]


def chosen(answer: Answer) -> Span | None:
    """The name that the model links the pronoun to."""
    return answer.antecedent.span if answer.antecedent else None


def forced(answer: Answer) -> Span | None:
    """The most probable name, even where nobody is more probable."""
    return answer.candidates[0].span if answer.candidates else None


def nearest(answer: Answer) -> Span | None:
    """The nearest name before the pronoun, or else the first after it."""
    return nearest_of([candidate.span for candidate in answer.candidates], answer.pronoun)


def nearest_of(spans: Collection[Span], pronoun: Span) -> Span | None:
    """The last of the spans before a pronoun, or else the first after it."""
    before = [span for span in spans if span.end <= pronoun.start]
    return max(before, default=min(spans, default=None))


SYSTEMS: dict[str, Choice] = {"linked": chosen, "linked, nobody left out": forced, "nearest": nearest}


@dataclass
class Reading:
    """A document, its text and its gold clusters."""

    document: ConllDocument
    page: Page

    @property
    def text(self) -> str:
        """Its only paragraph."""
        return self.page.paragraphs[0]

    @cached_property
    def source(self) -> Source:
        """Its clusters, with their names."""
        return Source(self.document)

    @cached_property
    def gold(self) -> GoldNames:
        """Gold clusters of detected names."""
        assert self.page.gold
        return GoldNames(self.page.gold, self.tree)

    @cached_property
    def tree(self):
        """Parse of the whole text."""
        return parses([self.text])[0]

    @cached_property
    def clusters(self) -> dict[Span, str]:
        """Gold clusters of mentions."""
        assert self.page.gold
        return dict(self.page.gold.mentions)

    @cached_property
    def named(self) -> set[str]:
        """Clusters that have a name."""
        return {key for key, cluster in self.source.clusters.items() if cluster.names}


def documents(corpus: str, data: Path | None, *, seen: bool, resolver: bool) -> list[Reading]:
    """Those of a corpus to measure; see the module."""
    if corpus == GICOREF:
        path = file_of("gicoref-map", "coref.combo.conll", data)
        every = list(parse(read_text(path), path, 2, 0))
    else:
        every = list(read_corpus(corpus, data))
    if resolver and corpus in CORPORA:
        every = split(every, RESOLVER_SEED)["held out"]
    elif corpus == "gum":
        unseen = of_parser_development(data)
        every = [one for one in every if (one.name in unseen) is not seen]
    return [Reading(one, gold_page(one, corpus)) for one in every]


def of_parser_development(data: Path | None) -> set[str]:
    """GUM's documents in the parser's development treebank."""
    path = require("treebank", data) / "ud_english_dev.conllu.xz"
    return {sentence.doc_id for sentence in read_conllu(open_text(path)) if sentence.is_gum}


def measure(
    resolver: PronounResolver, found: list[Reading], forms: Collection[str], systems: dict[str, Choice]
):
    """Print the share of right names by system."""
    right: Counter[str] = Counter()
    counted = within = 0
    started = time.process_time()
    answered = list(resolver.stream(Text(one.text, tuple(forms)) for one in found))
    seconds = time.process_time() - started
    for one, answers in zip(found, answered, strict=True):
        for answer in answers:
            cluster = one.clusters.get(answer.pronoun)
            if cluster not in one.named:
                continue
            counted += 1
            near = [one.gold.cluster_of(mention) for who in answer.candidates for mention in who.mentions]
            within += cluster in near
            for name, system in systems.items():
                span = system(answer)
                right[name] += span is not None and one.gold.cluster_of(span) == cluster
    words = sum(len(one.text.split()) for one in found)
    print(
        f"{shares(right, counted, systems)}; a right name among the candidates of {100 * within / counted:.1f}%; "
        f"{words / seconds:,.0f} words a second",
        flush=True,
    )


def shares(right: Counter[str], counted: int, systems: Iterable[str]) -> str:
    """Pronouns counted, and the share of each system's that is right."""
    return f"{counted:,} pronouns: " + ", ".join(
        f"{name} {100 * right[name] / counted:.1f}" for name in systems
    )


def measure_clusters(folder: Path, found: list[Reading], forms: Collection[str]) -> None:
    """Print the share of right names of F-coref: of those that its cluster has by their heads, the nearest."""
    predict = ADAPTERS["fastcoref"].loaded(folder)
    right: Counter[str] = Counter()
    counted = 0
    for one, output in zip(found, predict([one.text for one in found], [None] * len(found)), strict=True):
        people = {head_span(one.tree, name): name for name in names(one.tree)}
        for pronoun in (
            span for window in windows(one.text, forms) for span in map(window.origin, window.pronouns)
        ):
            cluster = one.clusters.get(pronoun)
            if cluster not in one.named:
                continue
            counted += 1
            own = next((own for own in output.clusters if pronoun in own), ()) if output else ()
            heads = people.keys() & {head_span(one.tree, mention) for mention in own}
            span = nearest_of([people[head] for head in heads], pronoun)
            right["linked"] += span is not None and one.gold.cluster_of(span) == cluster
    print(shares(right, counted, ["linked"]), flush=True)


def measure_names(found: list[Reading]) -> None:
    """Print recall and precision of the detected names of persons."""
    counts: Counter[str] = Counter()
    for one in found:
        _, places = one.document.text_of(range(len(one.document.tokens)))
        persons = {key for key, cluster in one.source.clusters.items() if cluster.is_person}
        kinds = any(mention.kind for mention in one.document.mentions)
        detected = names(one.tree)
        gold = [
            Span(places[name.start].start, places[name.end - 1].end)
            for key in persons
            for name in one.source.clusters[key].names
        ]
        counts["gold"] += len(gold)
        counts["overlap"] += sum(any(name.overlaps(other) for other in detected) for name in gold)
        counts["exact"] += len(set(gold) & set(detected))
        counts["detected"] += len(detected)
        clusters = [one.gold.cluster_of(name) for name in detected]
        counts["right"] += sum(cluster in persons for cluster in clusters)
        counts["no person"] += sum(
            cluster is None or (kinds and cluster not in persons) for cluster in clusters
        )
    print(
        f"{counts['gold']:,} gold names of persons: {share(counts, 'overlap', 'gold')} detected "
        f"({share(counts, 'exact', 'gold')} to the letter); {counts['detected']:,} detected names: "
        f"{share(counts, 'right', 'detected')} are of persons, {share(counts, 'no person', 'detected')} of nobody, "
        "the rest mentions of which gold does not tell",
        flush=True,
    )


def share(counts: Counter[str], part: str, whole: str) -> str:
    """One count as percent of another."""
    return f"{100 * counts[part] / counts[whole]:.1f}%"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--corpora", nargs="+", choices=(*CORPORA, GICOREF), default=[*CORPORA, GICOREF])
    parser.add_argument("--documents", type=int, help="of each corpus, the first so many")
    parser.add_argument("--words", type=int, nargs="+", default=[WORDS], help="of a window")
    parser.add_argument("--seen", action="store_true", help="GUM's other documents")
    parser.add_argument("--resolver", type=Path, help="folder of a trained F-coref")
    parser.add_argument("--names", action="store_true", help="measure the detector")
    args = parser.parse_args()
    model = gapstack.load(args.model)
    cue = gapstack.create("parallelism").fit(gapstack.load_gap(args.data).splits["development"])
    for corpus in args.corpora:
        found = documents(corpus, args.data, seen=args.seen, resolver=args.resolver is not None)
        found = found[: args.documents]
        words = sum(len(one.text.split()) for one in found)
        print(f"{corpus}: {len(found)} documents, {words:,} words", flush=True)
        if args.names:
            measure_names(found)
            continue
        groups = FORMS if corpus == GICOREF else dict([*FORMS.items()][:1])
        for group, forms in groups.items():
            for most in args.words:
                print(f"{group}, windows of {most} words, model: ", end="")
                measure(PronounResolver(model, words=most), found, forms, SYSTEMS)
                print(f"{group}, windows of {most} words, parallelism: ", end="")
                measure(PronounResolver(cue, words=most), found, forms, {"linked, nobody left out": forced})
            if args.resolver:
                print(f"{group}, F-coref: ", end="")
                measure_clusters(args.resolver, found, forms)


if __name__ == "__main__":
    main()
