"""The coreference cues of Webster et al. 2018, section 4.3, as one sieve.

Each cue is a chain of passes. A pass gives every competing name a distance, infinite where it does not admit
the name; the single nearest name wins, names at the same distance go on to the next pass, and a pass that
admits none of them is skipped. So backing off is the same for every cue:

=================== ==================================================================================
token distance      fewest words between
topical entity      names that hold the most frequent word of all names; then token distance
syntactic distance  shortest dependency path, names behind a barrier left out; then token distance
parallelism         names in the pronoun's own function (subject or object); then syntactic distance
url                 names that share a word with the page title; then parallelism
=================== ==================================================================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus, Example, Span
from gapstack.views.grammar import Role, empty_parse
from gapstack.views.memory import Memory, row_key
from gapstack.views.page import fold, page_title, same_token, tokens
from gapstack.views.parses import parser_key, parses
from gapstack.views.scenes import Scene, Setting, scene
from gapstack.views.words import words

Floats = NDArray[np.float64]

# What a step from one sentence's root to the next one's costs on a dependency path, in edges. Overall F1 of
# syntactic distance on gap-development, gold-two-mention: 69.0 at 0, 69.1 at 0.5 and 1, 69.0 at 2, 68.6 at 4.
SENTENCE_COST = 1.0


class Cue(StrEnum):
    """The cues, by their names in the members table."""

    TOKEN_DISTANCE = "token_distance"
    TOPICAL_ENTITY = "topical_entity"
    SYNTACTIC_DISTANCE = "syntactic_distance"
    PARALLELISM = "parallelism"
    URL = "url"


@dataclass(frozen=True, slots=True)
class Measures:
    """What the passes look at, for each of the k names that compete in one example.

    Attributes
    ----------
    token, syntactic : (k,) float64
        Words between name and pronoun; edges between their heads. Infinite where there is no parse.
    barred, parallel, topical, titled : (k,) bool
        Behind a barrier; in the pronoun's function; holds the most frequent word; shares a word with the title.
    hits : (k, 2) bool
        Whether choosing the name counts as choosing A, and B.
    """

    token: Floats
    syntactic: Floats
    barred: NDArray[np.bool_]
    parallel: NDArray[np.bool_]
    topical: NDArray[np.bool_]
    titled: NDArray[np.bool_]
    hits: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What a cue says about n examples.

    Attributes
    ----------
    answers : (n, 2) bool
        Whether A, and B, is the pronoun's antecedent. In snippet-context the chosen name may stand for both.
    levels : (n,) int64
        Which pass of the chain decided, from 0; -1 where no name competes.
    margins : (n,) float64
        By how much the runner-up of that pass is farther, infinite where the pass admitted one name only.
    """

    answers: NDArray[np.bool_]
    levels: NDArray[np.int64]
    margins: Floats


def token_distances(example: Example, spans: Sequence[Span]) -> Floats:
    """Words between the pronoun and each of k names, as a (k,) array."""
    text = words(example.text)
    here = text.word_index(example.pronoun)
    there = [text.word_index(span) for span in spans]
    gaps = [max(name[0] - here[-1], here[0] - name[-1]) - 1 for name in there]
    return np.array(gaps, dtype=np.float64)


def topical(example: Example, spans: Sequence[Span]) -> NDArray[np.bool_]:
    """Which of k names hold the word that most of them hold, as a (k,) array."""
    names = [set(tokens(example.words(span))) for span in spans]
    counts = Counter(token for name in names for token in name)
    most = max(counts.values(), default=0)
    return np.array([any(counts[token] == most for token in name) for name in names], dtype=bool)


def titled(example: Example, spans: Sequence[Span]) -> NDArray[np.bool_]:
    """Which of k names share a word with the page title, as a (k,) array; none where there is no page.

    Words are what blanks part, as in the paper's "shares a token": particles and initials count, and a
    hyphenated name is one word. Case and accents are ignored.
    """
    page = page_title(example.url)
    title = page.title.split() if page else []
    return np.array(
        [
            any(same_token(fold(own), fold(word)) for own in example.words(span).split() for word in title)
            for span in spans
        ],
        dtype=bool,
    )


def measure(scene: Scene) -> Measures:
    """Measure one scene."""
    parse, pronoun, heads = scene.parse, scene.pronoun, scene.heads
    syntactic = np.full(len(heads), np.inf)
    parallel = np.zeros(len(heads), dtype=bool)
    if pronoun >= 0:
        there = heads >= 0
        syntactic[there] = parse.distances(pronoun, SENTENCE_COST)[heads[there]]
        function = parse.functions[pronoun]
        if function in (Role.SUBJECT, Role.OBJECT):
            parallel[there] = parse.functions[heads[there]] == function
    return Measures(
        token=token_distances(scene.example, scene.spans),
        syntactic=syntactic,
        barred=scene.barriers != 0,
        parallel=parallel,
        topical=topical(scene.example, scene.spans),
        titled=titled(scene.example, scene.spans),
        hits=scene.hits,
    )


def passes(cue: Cue, m: Measures) -> list[Floats]:
    """The chain of a cue: distances of the k names under each pass, infinite where a pass does not admit one."""
    free_token = np.where(m.barred, np.inf, m.token)
    free_syntactic = np.where(m.barred, np.inf, m.syntactic)
    token = [m.token]
    # where every name is behind a barrier the parse is not to be trusted, and plain closeness decides
    syntactic = [free_syntactic, free_token, m.token]
    parallelism = [np.where(m.parallel, free_syntactic, np.inf), *syntactic]
    return {
        Cue.TOKEN_DISTANCE: token,
        Cue.TOPICAL_ENTITY: [np.where(m.topical, m.token, np.inf), *token],
        Cue.SYNTACTIC_DISTANCE: syntactic,
        Cue.PARALLELISM: parallelism,
        Cue.URL: [np.where(m.titled, free_syntactic, np.inf), *parallelism],
    }[cue]


def sieve(chain: Sequence[Floats]) -> tuple[int, int, float]:
    """Let a chain decide: give the position of the winner, the deciding pass and its margin.

    (-1, -1, 0) where there is no name. Names that tie to the end are decided by their order in the text.
    """
    if not chain or not len(chain[0]):
        return -1, -1, 0.0
    alive = np.ones(len(chain[0]), dtype=bool)
    for level, distances in enumerate(chain):
        left = np.where(alive, distances, np.inf)
        nearest = left.min()
        if np.isinf(nearest):
            continue
        alive = left == nearest
        if alive.sum() == 1:
            winner = int(alive.argmax())
            left[winner] = np.inf
            return winner, level, float(left.min() - nearest)
    return int(alive.argmax()), len(chain) - 1, 0.0


def measures(
    corpus: Corpus,
    setting: Setting = Setting.GOLD_TWO_MENTION,
    parser: str | Path | None = None,
    *,
    parsed: bool = True,
) -> list[Measures]:
    """Measure every example of a corpus.

    ``parsed=False`` leaves the parser out, for cues that need none; then nothing is syntactically close or
    parallel, and no PERSON name is known.
    """
    pipeline = parser_key(parser) if parsed else None
    asked = [row_key(example, setting, pipeline) for example in corpus]

    def compute(rows: list[int]) -> Iterator[Measures]:
        texts = [corpus[row].text for row in rows]
        trees = parses(texts, parser) if parsed else map(empty_parse, texts)
        for row, tree in zip(rows, trees, strict=True):
            yield measure(scene(corpus[row], tree, setting))

    return _measured.fetch(asked, compute)


_measured: Memory[Measures] = Memory(100_000)  # about 60 MB


def needs_parses(cue: Cue, setting: str = Setting.GOLD_TWO_MENTION) -> bool:
    """Whether a cue looks at parses in this setting."""
    return setting == Setting.SNIPPET_CONTEXT or cue not in (Cue.TOKEN_DISTANCE, Cue.TOPICAL_ENTITY)


def decide(
    corpus: Corpus,
    cue: Cue,
    setting: Setting = Setting.GOLD_TWO_MENTION,
    parser: str | Path | None = None,
) -> Verdicts:
    """Give a cue's raw decisions on a corpus.

    Raises
    ------
    DataNotFoundError
        If the cue or the setting needs a parse and there is neither a stored one nor a parser.
    """
    cue, setting = Cue(cue), Setting(setting)
    parsed = needs_parses(cue, setting)
    answers = np.zeros((len(corpus), 2), dtype=bool)
    levels = np.full(len(corpus), -1, dtype=np.int64)
    margins = np.zeros(len(corpus))
    for row, found in enumerate(measures(corpus, setting, parser, parsed=parsed)):
        winner, levels[row], margins[row] = sieve(passes(cue, found))
        if winner >= 0:
            answers[row] = found.hits[winner]
    return Verdicts(answers, levels, margins)
