"""Surface features from words, capitals, punctuation and the page title, without any model.

Two tables with one line per feature: ``CANDIDATE`` for each name, ``SHARED`` for the row. Distances count words unless
stated otherwise; "between" means between the name and the pronoun; undefined values (no URL, no mention before the
pronoun) are NaN. Kinds and roles are numbered as in the code.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from math import log1p, nan

import numpy as np

from gapstack.data import Corpus, Example, Gender
from gapstack.data.person_words import AMBIGUOUS, GENDER_BY_FORM, HE, SHE
from gapstack.features import Features, Values
from gapstack.features.candidate import SurfaceCandidate, SurfaceRow, looks_like_verb
from gapstack.language import word_classes as classes
from gapstack.language.words import distinctive_tokens, same_name, same_token, shared_tokens, tokens

_ROLES = ("subject", "object", "owner", "oblique", "other")
_FORMS = tuple(dict.fromkeys(chain.from_iterable(zip(HE, SHE, strict=True))))  # he, she, him, her, ...
_SIGN = {Gender.FEMININE: 1, Gender.MASCULINE: -1, Gender.NEUTRAL: 0}


def _kind(word: str) -> int:
    """Index of the kind of a neighbouring word: :data:`KINDS` of function words, then none, verb, word, mark."""
    for number, kind in enumerate(classes.KINDS.values()):
        if word in kind:
            return number
    rest = 0 if not word else 1 if looks_like_verb(word) else 2 if word[0].isalpha() else 3
    return len(classes.KINDS) + rest


def _has(tokens: tuple[str, ...], token: str) -> bool:
    return any(same_token(token, other) for other in tokens)


# Functions of a candidate.


def _names_between(c: SurfaceCandidate) -> int:
    return sum(run[0] in c.between for run in c.row.other_names)


def _is_latest_named(c: SurfaceCandidate) -> bool:
    others = [*c.rival.all_mentions, *(i for run in c.row.other_names for i in run)]
    return c.latest is not None and not any(c.latest < i < c.row.at for i in others)


def _is_part_of_longer(c: SurfaceCandidate) -> bool:
    runs = (run for run in c.row.names if len(run) > len(c.at) and c.at[0] not in run)
    return any(set(c.tokens) <= set(c.row.tokens(run)) for run in runs)


def _titled(
    compare: Callable[[SurfaceCandidate, tuple[str, ...]], float],
) -> Callable[[SurfaceCandidate], float]:
    """Apply ``compare`` to a candidate and the distinctive tokens of the title; NaN without any."""

    def feature(c: SurfaceCandidate) -> float:
        tokens = distinctive_tokens(c.row.title.title) if c.row.title else ()
        return compare(c, tokens) if tokens else nan

    return feature


def _title_conflict(c: SurfaceCandidate, title: tuple[str, ...]) -> bool:
    of_name, of_title = [_has(title, t) for t in c.tokens], [_has(c.tokens, t) for t in title]
    return any(of_name) and not all(of_name) and not all(of_title)


def _is_dated(c: SurfaceCandidate) -> bool:
    i = c.at[-1] + 1
    inside = c.row.words.lower[i + 1 : i + 4]
    return c.row.lower(i) == "(" and any(word[0].isdigit() or word == "born" for word in inside)


def _is_bracketed(c: SurfaceCandidate) -> bool:
    ahead = c.row.words.lower[c.sentence[0] : c.at[0]]
    return ahead.count("(") > ahead.count(")")


def _who_follows(c: SurfaceCandidate) -> bool:
    after_comma = c.row.lower(c.at[-1] + 2) if c.after == "," else ""
    return c.after in classes.RELATIVES or after_comma in classes.RELATIVES


def _gender_word(c: SurfaceCandidate) -> int:
    """Agreement with titles up to three words before the name, and with an apposition after it."""
    start, end = c.at[0], c.at[-1]
    near = [*c.words_before[:3], c.row.lower(start)]
    if c.before == ".":  # "Mrs. Berg"
        near.append(c.row.lower(start - 2))
    if c.after == ",":  # "Ann Berg, his wife,"
        near += [c.row.lower(i) for i in range(end + 2, end + 5)]
    balance = sum((word in classes.FEMALE) - (word in classes.MALE) for word in near)
    return _SIGN[c.row.example.gender] * ((balance > 0) - (balance < 0))


def _owner_agrees(c: SurfaceCandidate) -> int:
    owners = [GENDER_BY_FORM.get(w) for w in c.words_before if w in classes.POSSESSIVES | AMBIGUOUS]
    return 0 if not owners else 1 if owners[0] == c.row.example.gender else -1


def _follows_name(c: SurfaceCandidate) -> bool:
    before = c.row.string(c.at[0] - 1)
    return before[:1].isupper() and before.lower() not in classes.OPENERS


def _chars(c: SurfaceCandidate) -> float:
    pronoun = c.row.example.pronoun
    return log1p(max(0, pronoun.start - c.span.end if c.is_before else c.span.start - pronoun.end))


CANDIDATE: dict[str, Callable[[SurfaceCandidate], float]] = {
    # position
    "before": lambda c: c.is_before,
    "words": lambda c: len(c.between),
    "chars": _chars,  # logarithm
    "sentences": lambda c: c.sentences,  # to the pronoun, negative if the name comes later
    "same_sentence": lambda c: c.sentences == 0,
    "text_place": lambda c: c.at[0] / len(c.row.words),  # from 0 to 1
    "sentence_place": lambda c: c.at[0] - c.sentence[0],
    "opens_sentence": lambda c: c.at[0] == c.sentence[0],
    # the first name of its sentence
    "first_name": lambda c: not any(c.sentence[0] <= run[0] < c.at[0] for run in c.row.names),
    "sentence_length": lambda c: len(c.sentence),
    # words between name and pronoun
    "commas": lambda c: c.count(classes.COMMAS),
    "semicolons": lambda c: c.count(classes.SEMICOLONS),  # also colons and dashes
    "parentheses": lambda c: c.count(classes.PARENTHESES),
    "quotes": lambda c: c.count(classes.QUOTES),
    "coordinators": lambda c: c.count(classes.COORDINATORS),
    "subordinators": lambda c: c.count(classes.SUBORDINATORS),
    "relatives": lambda c: c.count(classes.RELATIVES),
    "reporting": lambda c: c.count(classes.REPORTING),
    "verbs": lambda c: c.row.count_verbs(c.between),
    "names": _names_between,
    "rank": lambda c: _names_between(c) + (c.rival.at[0] in c.between),
    "same_gender": lambda c: sum(i in c.between for i in c.row.same_gender),  # pronouns
    "other_gender": lambda c: sum(i in c.between and i not in c.row.same_gender for i in c.row.genders),
    # frequency of the name: words elsewhere that repeat a word of it
    "mentions": lambda c: len(c.mentions),
    "mentions_before": lambda c: sum(i < c.row.at for i in c.mentions),
    "mentions_near": lambda c: sum(i in c.row.own_sentence for i in c.mentions),
    "since_mention": lambda c: nan if c.latest is None else log1p(c.row.at - c.latest),
    "latest_named": _is_latest_named,  # no other name between its latest mention and the pronoun
    "named_earlier": lambda c: c.all_mentions[0] < c.at[0],
    "subject_mentions": lambda c: sum(looks_like_verb(c.row.string(i + 1)) for i in c.all_mentions),
    "opens_early": lambda c: c.all_mentions[0] == c.row.sentence(c.all_mentions[0])[0],
    "exact_count": lambda c: c.row.example.text.count(c.text),
    # the page
    "title_shared": lambda c: shared_tokens(c.text, c.row.title.title) if c.row.title else nan,
    "title_same": lambda c: same_name(c.text, c.row.title.title) if c.row.title else nan,
    "title_share": _titled(lambda c, title: sum(_has(c.tokens, token) for token in title) / len(title)),
    "title_first": _titled(lambda c, title: same_token(title[0], c.tokens[0]) if c.tokens else nan),
    "title_last": _titled(lambda c, title: same_token(title[-1], c.tokens[-1]) if c.tokens else nan),
    # shares a word with the title and both have others: a relative?
    "title_conflict": _titled(_title_conflict),
    # the name itself
    "name_words": lambda c: len(c.at),
    "name_chars": lambda c: len(c.text),
    "has_first_name": lambda c: len(c.tokens) > 1,
    "longer_elsewhere": _is_part_of_longer,  # of another name
    "longer_here": _follows_name,
    # neighbouring words
    "role": lambda c: _ROLES.index(c.role),
    "same_role": lambda c: c.role == c.row.role,
    "kind_before": lambda c: _kind(c.before),
    "kind_after": lambda c: _kind(c.after),
    "verb_follows": lambda c: c.verb_follows,
    "verb_before": lambda c: looks_like_verb(c.before),
    "preposition": lambda c: c.before in classes.PREPOSITIONS,
    "of": lambda c: c.before == "of",
    "by": lambda c: c.before == "by",
    "subordinated": lambda c: c.before in classes.SUBORDINATORS,
    "owner": lambda c: c.is_owner,
    "comma_before": lambda c: c.before == ",",
    "comma_after": lambda c: c.after == ",",
    "stop_after": lambda c: c.after in (".", "", ";"),
    "bracket_after": lambda c: c.after == "(",
    "dated": _is_dated,  # years or "born" follow in parentheses
    "who_after": _who_follows,
    "coordinated": lambda c: c.before in classes.COORDINATORS or c.after in classes.COORDINATORS,
    "bracketed": _is_bracketed,
    "quoted": lambda c: c.row.is_quoted[c.at[0]],
    "relation": lambda c: not classes.RELATIONS.isdisjoint(c.words_before),  # kin, friend or colleague
    "gender_word": _gender_word,
    "owner_agrees": _owner_agrees,  # in gender (1) or not (-1)
    # "her friend Ann"
    "owned_by_pronoun": lambda c: not c.is_before and len(c.between) < len(c.words_before),
    "chain_before": lambda c: sum(i in c.sentence and i < c.at[-1] for i in c.row.same_gender),
    "chain_after": lambda c: sum(i in c.sentence and i > c.at[-1] for i in c.row.same_gender),
}


# Functions of the row.


def _between(r: SurfaceRow) -> range:
    """Words between the two names."""
    first, second = sorted((r.a, r.b), key=lambda c: c.span)
    return range(first.at[-1] + 1, second.at[0])


def _title_elsewhere(r: SurfaceRow) -> float:
    """Words of other names that repeat the title."""
    if r.title is None:
        return nan
    rest = tuple(set(distinctive_tokens(r.title.title)) - {*r.a.tokens, *r.b.tokens})
    return sum(_has(rest, token) for run in r.names for token in r.tokens(run))


def _title_like_person(r: SurfaceRow) -> float:
    if r.title is None:
        return nan
    parts = r.title.title.split()
    plain = all(part[0].isupper() or part in classes.NAME_PARTICLES - {"of", "the"} for part in parts)
    return 2 <= len(parts) <= 4 and plain and "The" not in parts


SHARED: dict[str, Callable[[SurfaceRow], float]] = {
    # the pronoun
    "feminine": lambda r: r.example.gender is Gender.FEMININE,
    "form": lambda r: _FORMS.index(r.form) if r.form in _FORMS else len(_FORMS),
    "pronoun_role": lambda r: _ROLES.index(r.role),
    "capital": lambda r: r.example.pronoun_text[0].isupper(),
    "place": lambda r: r.at / len(r.words),  # in the text, from 0 to 1
    "sentence": lambda r: r.words.sentence_of[r.at],
    "place_in_sentence": lambda r: r.at - r.own_sentence[0],
    "to_sentence_end": lambda r: r.own_sentence[-1] - r.at,
    "pronoun_quoted": lambda r: r.is_quoted[r.at],
    "clause_opener": lambda r: _kind(r.lower(r.clause_start)),
    "pronoun_before": lambda r: _kind(r.lower(r.at - 1)),
    "pronoun_after": lambda r: _kind(r.lower(r.at + 1)),
    "pronoun_after_2": lambda r: _kind(r.lower(r.at + 2)),
    "owns_relation": lambda r: bool({r.lower(r.at + 1), r.lower(r.at + 2)} & classes.RELATIONS),
    "names_ahead": lambda r: sum(r.own_sentence[0] <= run[0] < r.at for run in r.names),
    # other pronouns
    "same_total": lambda r: len(r.same_gender),
    "same_before": lambda r: sum(i < r.at for i in r.same_gender),
    "same_near": lambda r: sum(i in r.own_sentence for i in r.same_gender),
    "other_total": lambda r: len(r.genders) - len(r.same_gender),
    "text_opens_same": lambda r: any(i < 3 for i in r.same_gender),
    "chain_first": lambda r: min([*r.same_gender, r.at]) < min(r.a.at[0], r.b.at[0]),  # precedes both names
    # the text
    "text_words": lambda r: len(r.words),
    "text_sentences": lambda r: len(r.words.sentences),
    "other_names": lambda r: len(r.other_names),
    "other_names_before": lambda r: sum(run[0] < r.at for run in r.other_names),
    # between the two names
    "ab_words": lambda r: len(_between(r)),
    "ab_sentences": lambda r: abs(r.a.sentences - r.b.sentences),
    "ab_commas": lambda r: r.count(_between(r), classes.COMMAS),
    "ab_coordinators": lambda r: r.count(_between(r), classes.COORDINATORS),
    "ab_subordinators": lambda r: r.count(_between(r), classes.SUBORDINATORS),
    "ab_verbs": lambda r: r.count_verbs(_between(r)),
    "ab_shared": lambda r: len({*r.a.tokens} & {*r.b.tokens}),  # words that A and B share
    # the page
    "title_elsewhere": _title_elsewhere,
    "title_person": _title_like_person,
    "title_words": lambda r: len(tokens(r.title.title)) if r.title else nan,
    "title_qualified": lambda r: bool(r.title.qualifier) if r.title else nan,
    "title_list": lambda r: r.title.title.startswith("List of") if r.title else nan,
}


@lru_cache(maxsize=32768)
def _values(example: Example) -> Values:
    row = SurfaceRow(example)
    candidates = [[float(feature(c)) for feature in CANDIDATE.values()] for c in (row.a, row.b)]
    return np.array(candidates), np.array([float(feature(row)) for feature in SHARED.values()])


def surface_features(corpus: Corpus) -> Features:
    """Compute both tables for every row (cached)."""
    values = [_values(replace(example, label=None)) for example in corpus]
    return Features.of_rows(CANDIDATE, SHARED, values)
