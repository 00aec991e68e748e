"""Pronouns of novels and of the web's genres: whether the name that they are linked to is the antecedent's.

Every tenth document of LitBank and of GUM, whole. For each he, him, his, she and her whose gold cluster has a name
anywhere in the document, it is counted whether the name that was chosen is of that cluster (by its head word); "nobody
here" is wrong then. Nearest is the nearest detected name; parallelism is the GAP paper's cue under the same windows,
names and coupling. Words are of one process's own time.

    python benchmarks/any_text.py MODEL [--data ../shared/data] [--documents 4]
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import gapstack
from gapstack.antecedents.answer import Answer
from gapstack.antecedents.pronoun_resolver import PronounResolver, Text
from gapstack.antecedents.windows import SEEN
from gapstack.corpus import Span
from gapstack.corpus.extra.conll import read_corpus
from gapstack.corpus.extra.mined import Source
from gapstack.corpus.page_files import Gold, Page, corpus_pages
from gapstack.text.mining import GoldNames
from gapstack.text.parses import parses

# every tenth document, as good as any: nothing here was trained on either corpus but the parser, on most of GUM
EVERY = 10


def chosen(answer: Answer) -> Span | None:
    """The name that the model links the pronoun to."""
    return answer.antecedent.span if answer.antecedent else None


def forced(answer: Answer) -> Span | None:
    """The most probable name, even where nobody is more probable."""
    return answer.candidates[0].span if answer.candidates else None


def nearest(answer: Answer) -> Span | None:
    """The nearest name before the pronoun, or else the first after it."""
    spans = [candidate.span for candidate in answer.candidates]
    before = [span for span in spans if span.end <= answer.pronoun.start]
    return max(before, default=min(spans, default=None))


SYSTEMS: dict[str, Callable[[Answer], Span | None]] = {
    "linked": chosen,
    "linked, nobody left out": forced,
    "nearest": nearest,
}


def measure(
    resolver: PronounResolver,
    pages: list[Page],
    named: list[set[str]],
    systems: dict[str, Callable[[Answer], Span | None]],
) -> None:
    """Print the share of right names by system."""
    right: Counter[str] = Counter()
    counted = within = 0
    started = time.process_time()
    answered = list(resolver.stream(Text(page.paragraphs[0], tuple(SEEN)) for page in pages))
    seconds = time.process_time() - started
    for page, names, answers in zip(pages, named, answered, strict=True):
        assert isinstance(page.gold, Gold)
        (tree,) = parses([page.paragraphs[0]])
        gold = GoldNames(page.gold, tree)
        clusters = dict(page.gold.mentions)
        for answer in answers:
            cluster = clusters.get(answer.pronoun)
            if cluster is None or cluster not in names:
                continue
            counted += 1
            near = [gold.cluster_of(mention) for one in answer.candidates for mention in one.mentions]
            within += cluster in near
            for name, system in systems.items():
                span = system(answer)
                right[name] += span is not None and gold.cluster_of(span) == cluster
    words = sum(len(page.paragraphs[0].split()) for page in pages)
    shares = ", ".join(f"{name} {100 * right[name] / counted:.1f}" for name in systems)
    print(
        f"{counted:,} pronouns of {len(pages)} documents: {shares}; a right name among the candidates of "
        f"{100 * within / counted:.1f}%; {words / seconds:,.0f} words a second",
        flush=True,
    )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--documents", type=int, default=10, help="of each corpus")
    args = parser.parse_args()
    cue = gapstack.create("parallelism").fit(gapstack.load_gap(args.data).splits["development"])
    resolvers = {
        "model": (PronounResolver(gapstack.load(args.model)), SYSTEMS),
        "parallelism": (PronounResolver(cue), {"linked, nobody left out": forced}),
    }
    for corpus in ("litbank", "gum"):
        pages = list(corpus_pages(corpus, args.data))[::EVERY][: args.documents]
        sources = [Source(document) for document in read_corpus(corpus, args.data)][::EVERY][: args.documents]
        named = [{key for key, one in source.clusters.items() if one.names} for source in sources]
        for name, (resolver, systems) in resolvers.items():
            print(f"{corpus}, {name}: ", end="")
            measure(resolver, pages, named, systems)


if __name__ == "__main__":
    main()
