"""Probabilities that the resolver of running text gives to the two names of each row.

It finds the people of a text itself and is not given the names. A name gets the probability of the candidate whose
mention covers it best; what other candidates have goes to "somebody else". Answers are stored by row and model.
``scripts/record_shares.py`` writes those for GAP to :data:`RECORDED`, which spares minutes of reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

from gapstack.cache import Ragged, content_key, fetch_arrays, row_key, store
from gapstack.data import Corpus, Example, Span
from gapstack.files import CACHE, atomic_path, cache_root, fingerprint, require_writable
from gapstack.running_text.answer import Answers, Candidate
from gapstack.running_text.any_text_resolver import Text
from gapstack.running_text.text_resolver import TextResolver
from gapstack.types import Floats, Floats32, Ints

A, B, NOBODY, OTHER = range(4)
"""Columns of :func:`shares`."""
RECORDED = Path(__file__).with_name("recorded_shares.safetensors")
"""Answers of one model, read where it is the installed one; a shard of the cache, with the model's identity."""
_MODEL = "model"  # key of that identity
_SUFFIX = ".safetensors"


@lru_cache(maxsize=1)
def text_resolver() -> TextResolver:
    """The resolver of running text with its default model."""
    return TextResolver()


def shares(corpus: Corpus) -> Floats:
    """Probabilities (n, 4) that each pronoun refers to A, B, nobody and somebody else; 0 where there is no answer."""
    if RECORDED.is_file() and _recorded_model() == text_resolver().model.identity:
        store(_folder(), RECORDED.read_bytes(), _SUFFIX)
    return _resolved(corpus)


def record(corpus: Corpus) -> None:
    """Write the answers of the installed model for a corpus to :data:`RECORDED`, without reading it."""
    keys = np.frombuffer(b"".join(_keys(corpus)), dtype=np.uint8).reshape(len(corpus), -1)
    values = _resolved(corpus).astype(np.float16).ravel()
    content = {"keys": keys, "shares": values, "sizes:shares": np.full(len(corpus), 4)}
    with atomic_path(RECORDED) as temporary:
        save_file(content, temporary, {_MODEL: text_resolver().model.identity})


def _folder() -> Path:
    """Folder of the cache with the answers of the installed model."""
    folder = cache_root() / "running_text" / fingerprint(text_resolver().identity)
    require_writable(folder, CACHE)
    return folder


def _resolved(corpus: Corpus) -> Floats:
    """Shares from the cache, or computed and stored."""
    resolver = text_resolver()

    def compute(rows: Ints, names: Sequence[str]) -> dict[str, Ragged]:
        examples = [corpus[int(row)] for row in rows]
        texts = [Text(one.text, (one.text[slice(*one.pronoun)].lower(),)) for one in examples]
        # rows of a text, such as its pairs of names, have one answer
        distinct = list(dict.fromkeys(texts))
        answers = dict(zip(distinct, resolver.stream(distinct), strict=True))
        values = [of_answers(example, answers[text]) for example, text in zip(examples, texts, strict=True)]
        return {"shares": Ragged(np.concatenate(values).astype(np.float16), np.full(len(rows), 4))}

    lengths = np.array([len(example.text) for example in corpus], dtype=np.int64)
    found = fetch_arrays(_folder(), _keys(corpus), ["shares"], compute, lengths, "Resolving texts")
    return found["shares"].values.reshape(-1, 4).astype(np.float64)


def _recorded_model() -> str:
    """Identity of the model whose answers are recorded."""
    with safe_open(RECORDED, framework="numpy") as recorded:
        return str(recorded.metadata()[_MODEL])


def _keys(corpus: Corpus) -> list[bytes]:
    return [content_key(fingerprint(row_key(example)).encode()) for example in corpus]


def of_answers(example: Example, answers: Answers) -> Floats32:
    """Shares (4,) of a row from the answers for its text; zeros if the pronoun has no answer."""
    row = np.zeros(4, dtype=np.float32)
    answer = next((one for one in answers if one.pronoun.overlaps(example.pronoun)), None)
    if answer is None:
        return row
    best = [_best(answer.candidates, span) for span in (example.a, example.b)]
    for column, candidate in enumerate(best):
        if candidate is not None:
            # a person that both names are mentions of
            row[column] = candidate.probability / (2 if best[0] is best[1] else 1)
    row[NOBODY] = answer.nobody
    row[OTHER] = max(0.0, 1 - row.sum())
    return row


def _best(candidates: Sequence[Candidate], span: Span) -> Candidate | None:
    """The candidate with the mention that covers ``span`` best; None if no mention overlaps it."""
    covers = [max((_similarity(m, span) for m in one.mentions), default=0.0) for one in candidates]
    best = max(covers, default=0.0)
    return candidates[covers.index(best)] if best else None


def _similarity(one: Span, other: Span) -> float:
    """Characters of both ranges as a share of those of either."""
    both = min(one.end, other.end) - max(one.start, other.start)
    return max(0, both) / (max(one.end, other.end) - min(one.start, other.start))
