"""The coreference cues of Webster et al. 2018, section 4.3, as one sieve.

Each cue is a sequence of passes. A pass gives every candidate name a distance, which is infinite if the pass rules the
name out. The nearest name wins; ties go to the next pass; a pass that rules out every name is skipped:

=================== ==================================================================================
token distance      fewest words between
topical entity      nearest name with the most frequent word of all names; then token distance
syntactic distance  shortest dependency path, names that grammar excludes left out; then token distance
parallelism         closest name in the pronoun's own function (subject or object); then syntactic distance
url                 syntactically closest name that shares a word with the page title; then parallelism
=================== ==================================================================================

:class:`Definition` says which names topical entity counts words of, and what "closest" means in parallelism.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gapstack.cache import Memory, row_key
from gapstack.data import Corpus, Example, Span
from gapstack.errors import MemberError
from gapstack.language.grammar import Role, empty_parse
from gapstack.language.parses import parser_key, parses
from gapstack.language.scenes import DEFAULT, Candidates, Scene, Setting, person_spans, scene
from gapstack.language.words import fold, page_title, same_token, tokens, words
from gapstack.types import Floats

# Length in edges of the step between the roots of consecutive sentences; syntactic distance is insensitive to it.
SENTENCE_COST = 1.0


class Cue(StrEnum):
    """The cues, by their names in the members table."""

    TOKEN_DISTANCE = "token_distance"
    TOPICAL_ENTITY = "topical_entity"
    SYNTACTIC_DISTANCE = "syntactic_distance"
    PARALLELISM = "parallelism"
    URL = "url"


Closeness = Literal["token", "syntactic"]
"""How the closest of several parallel names is chosen: by the words between, as in the paper, or by dependency path."""
Counted = Literal["detected", "candidates"]
"""Names whose words topical entity counts: all PERSON names, or only the candidates, as in the paper."""


@dataclass(frozen=True, slots=True)
class Definition:
    """Choices within parallelism (URL backs off to it) and topical entity; :data:`PAPER` is Webster et al. 2018."""

    closeness: Closeness = "syntactic"
    counted: Counted = "candidates"


OURS = Definition()
PAPER = Definition("token")


@dataclass(frozen=True, slots=True)
class Measures:
    """Inputs of the passes for the k candidate names of one example, (k,) each."""

    token: Floats
    """Words between name and pronoun."""
    syntactic: Floats
    """Edges between their heads, infinite without a parse."""
    barred: NDArray[np.bool_]
    """True for names that grammar excludes (:class:`~gapstack.language.scenes.Barrier`)."""
    parallel: NDArray[np.bool_]
    """True for names with the pronoun's grammatical function."""
    topical: NDArray[np.bool_]
    """True for names with the most frequent word of the detected names."""
    repeated: NDArray[np.bool_]
    """True for names with the most frequent word of the k names."""
    titled: NDArray[np.bool_]
    """True for names that share a word with the title."""
    hits: NDArray[np.bool_]
    """True if choosing the name counts as choosing A, and B, (k, 2)."""


@dataclass(frozen=True, slots=True)
class CueDecisions:
    """Decisions of a cue for n examples."""

    answers: NDArray[np.bool_]
    """True if A, and B, is the pronoun's antecedent, (n, 2). A detected name may count as both."""
    levels: NDArray[np.int64]
    """Index of the deciding pass, (n,); -1 without candidates."""
    margins: Floats
    """Distance of the runner-up in that pass minus the winner's, (n,); infinite if the pass left one name only."""


def topical(example: Example, spans: Sequence[Span], counted: Sequence[Span]) -> NDArray[np.bool_]:
    """True for names with the most frequent word of the names ``counted``, (k,)."""
    counts = Counter(token for span in counted for token in set(tokens(example.words(span))))
    frequent = {token for token, count in counts.items() if count == max(counts.values())}
    return np.array([not frequent.isdisjoint(tokens(example.words(span))) for span in spans], dtype=bool)


def titled(example: Example, spans: Sequence[Span]) -> NDArray[np.bool_]:
    """True for names that share a word with the page title, (k,); words are split at blanks, as in the paper."""
    page = page_title(example.url)
    title = [fold(word) for word in page.title.split()] if page else []
    names = [[fold(word) for word in example.words(span).split()] for span in spans]
    return np.array([any(same_token(a, b) for a in name for b in title) for name in names], dtype=bool)


def measure(scene: Scene) -> Measures:
    """Measure the k names of one scene."""
    example, parse, pronoun, heads = scene.example, scene.parse, scene.pronoun, scene.heads
    text = words(example.text)
    at, *names = (text.word_index(span) for span in (example.pronoun, *scene.spans))
    syntactic = np.full(len(heads), np.inf)
    parallel = np.zeros(len(heads), dtype=bool)
    if pronoun >= 0:
        parsed = heads >= 0
        syntactic[parsed] = parse.distances(pronoun, SENTENCE_COST)[heads[parsed]]
        function = parse.functions[pronoun]
        if function in (Role.SUBJECT, Role.OBJECT):
            parallel[parsed] = parse.functions[heads[parsed]] == function
    return Measures(
        token=np.array([max(name[0] - at[-1], at[0] - name[-1]) - 1 for name in names], dtype=np.float64),
        syntactic=syntactic,
        barred=scene.barriers != 0,
        parallel=parallel,
        topical=topical(example, scene.spans, person_spans(example, parse)),
        repeated=topical(example, scene.spans, scene.spans),
        titled=titled(example, scene.spans),
        hits=scene.hits,
    )


def passes(cue: Cue, m: Measures, definition: Definition = OURS) -> list[Floats]:
    """Passes of a cue: distances (k,) of the names under each, infinite for names that the pass rules out."""
    free_token = np.where(m.barred, np.inf, m.token)
    free_syntactic = np.where(m.barred, np.inf, m.syntactic)
    token = [m.token]
    # if grammar excludes every name, the parse is unreliable and token distance decides
    syntactic = [free_syntactic, free_token, m.token]
    closest = free_token if definition.closeness == "token" else free_syntactic
    parallelism = [np.where(m.parallel, closest, np.inf), *syntactic]
    topical = m.topical if definition.counted == "detected" else m.repeated
    return {
        Cue.TOKEN_DISTANCE: token,
        Cue.TOPICAL_ENTITY: [np.where(topical, m.token, np.inf), *token],
        Cue.SYNTACTIC_DISTANCE: syntactic,
        Cue.PARALLELISM: parallelism,
        Cue.URL: [np.where(m.titled, free_syntactic, np.inf), *parallelism],
    }[cue]


def sieve(chain: Sequence[Floats]) -> tuple[int, int, float]:
    """Run passes in order and return the winner, the deciding pass and its margin; (-1, -1, 0) without names."""
    if not chain or not len(chain[0]):
        return -1, -1, 0.0
    tied = np.ones(len(chain[0]), dtype=bool)
    for level, distances in enumerate(chain):
        remaining = np.where(tied, distances, np.inf)
        nearest = remaining.min()
        if np.isinf(nearest):
            continue
        tied = remaining == nearest
        if tied.sum() == 1:
            winner = int(tied.argmax())
            remaining[winner] = np.inf
            return winner, level, float(remaining.min() - nearest)
    return int(tied.argmax()), len(chain) - 1, 0.0


_cache: Memory[Measures] = Memory(100_000)  # about 60 MB


def measures(
    corpus: Corpus,
    candidates: Candidates = "gold-two-mention",
    parser: str | Path | None = None,
    *,
    parsed: bool = True,
) -> list[Measures]:
    """Measure every example of a corpus; ``parsed=False`` skips the parser, for cues that need none."""
    pipeline = parser_key(parser) if parsed else None
    keys = [row_key(example, candidates, pipeline) for example in corpus]

    def compute(rows: list[int]) -> Iterator[Measures]:
        texts = [corpus[row].text for row in rows]
        trees = parses(texts, parser) if parsed else map(empty_parse, texts)
        for row, tree in zip(rows, trees, strict=True):
            yield measure(scene(corpus[row], tree, candidates))

    return _cache.fetch(keys, compute)


def needs_parses(cue: Cue, candidates: Candidates, definition: Definition = OURS) -> bool:
    """True if a cue needs parses."""
    if cue is Cue.TOPICAL_ENTITY and definition.counted == "detected":
        return True
    return candidates == "detected" or cue not in (Cue.TOKEN_DISTANCE, Cue.TOPICAL_ENTITY)


def decide(
    corpus: Corpus,
    cue: Cue,
    setting: Setting = DEFAULT,
    parser: str | Path | None = None,
    definition: Definition = OURS,
) -> CueDecisions:
    """Compute a cue's decisions for a corpus; MemberError if ``setting`` excludes the page title that the cue reads."""
    if cue is Cue.URL and setting.context == "snippet-context":
        raise MemberError(
            f"the cue {cue} reads the page's title, which {setting.context} excludes; "
            f"use page-context, or the cue {Cue.PARALLELISM}"
        )
    parsed = needs_parses(cue, setting.candidates, definition)
    answers = np.zeros((len(corpus), 2), dtype=bool)
    levels, margins = np.full(len(corpus), -1), np.zeros(len(corpus))
    for row, values in enumerate(measures(corpus, setting.candidates, parser, parsed=parsed)):
        winner, levels[row], margins[row] = sieve(passes(cue, values, definition))
        if winner >= 0:
            answers[row] = values.hits[winner]
    return CueDecisions(answers, levels, margins)
