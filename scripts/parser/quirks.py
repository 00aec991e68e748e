"""Training texts that look like GAP's Wikipedia snippets: same tokens and trees, different spelling.

GAP writes quotation marks as `` `` `` and ``''``, an asterisk for every letter outside ASCII, dashes as two hyphens,
and sometimes loses the blank behind a full stop. A treebank has none of that, so a copy of it gets it here.
"""

from __future__ import annotations

import random

from spacy.tokens import Doc, Span

_FIXED = {"–": "--", "—": "--", "‘": "'", "’": "'", "…": "...", "“": "``", "”": "''"}  # noqa: RUF001


def snippet_words(words: list[str], rng: random.Random, accents: float = 0.01) -> list[str]:
    """The words as GAP would spell them; ``accents`` is the share of plain capitalised words given an asterisk.

    >>> snippet_words(['"', "Zoë", '"', "—"], random.Random(0), 0.0)
    ['``', 'Zo*', "''", '--']
    """
    out, open_quote = [], False
    for word in words:
        if word == '"':
            open_quote = not open_quote
            new = "``" if open_quote else "''"
        else:
            new = "".join(_FIXED.get(c, c if c.isascii() else "*") for c in word)
            if len(new) > 4 and new[0].isupper() and new.isalpha() and rng.random() < accents:
                at = rng.randrange(1, len(new))
                new = new[:at] + "*" + new[at + 1 :]
        out.append(new or word)
    return out


def snippet_copy(doc: Doc, rng: random.Random, glue: float = 0.02) -> Doc:
    """``doc`` respelled; with probability ``glue`` the full stop between two sentences loses its blank."""
    words = snippet_words([t.text for t in doc], rng)
    spaces = [bool(t.whitespace_) for t in doc]
    for token in doc[:-1] if len(doc) else []:
        after = token.nbor()
        if token.text == "." and after.is_sent_start and after.is_title and rng.random() < glue:
            spaces[token.i] = False
    has_entities = doc.has_annotation("ENT_IOB")
    copy = Doc(
        doc.vocab,
        words=words,
        spaces=spaces,
        tags=[t.tag_ for t in doc],
        pos=[t.pos_ for t in doc],
        morphs=[str(t.morph) for t in doc],
        lemmas=[t.lemma_ for t in doc],
        heads=[t.head.i for t in doc],
        deps=[t.dep_ for t in doc],
    )
    if has_entities:
        copy.ents = [Span(copy, e.start, e.end, label=e.label_) for e in doc.ents]
    return copy
