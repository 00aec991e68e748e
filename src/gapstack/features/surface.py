"""Surface features from words, capitals, punctuation and the page title, without any model.

Two tables with one line per feature: ``CANDIDATE`` for each name, ``SHARED`` for the row. Distances count words unless
stated otherwise; "between" means between the name and the pronoun; undefined values (no URL, no mention before the
pronoun) are NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import log1p, nan

import numpy as np
from numpy.typing import NDArray

from gapstack.cache import remembered
from gapstack.data import Corpus, Example, Gender
from gapstack.data.example import GENDER_BY_FORM
from gapstack.features.blocks import Features
from gapstack.features.candidate import SurfaceCandidate, SurfaceRow, looks_like_verb
from gapstack.text import page_title as page
from gapstack.text import word_classes as classes

_ROLES = ("subject", "object", "owner", "oblique", "other")
_FORMS = ("he", "she", "him", "her", "his", "hers", "himself", "herself")


def _kind(word: str) -> int:
    """Index of the kind of a neighbouring word: :data:`KINDS` of function words, then none, verb, word, mark."""
    for number, kind in enumerate(classes.KINDS.values()):
        if word in kind:
            return number
    rest = ("", "verb", "word", "mark")
    other = "" if not word else "verb" if looks_like_verb(word) else "word" if word[0].isalpha() else "mark"
    return len(classes.KINDS) + rest.index(other)


def _form(r: SurfaceRow) -> int:
    return _FORMS.index(r.form) if r.form in _FORMS else len(_FORMS)


# Functions of a candidate.


def _names_between(c: SurfaceCandidate) -> int:
    return sum(run[0] in c.between for run in c.row.other_names)


def _same_between(c: SurfaceCandidate) -> int:
    return sum(i in c.between for i in c.row.same_gender)


def _since_mention(c: SurfaceCandidate) -> float:
    return nan if c.latest is None else log1p(c.row.at - c.latest)


def _is_latest_named(c: SurfaceCandidate) -> bool:
    others = [*c.rival.all_mentions, *(i for run in c.row.other_names for i in run)]
    return c.latest is not None and not any(c.latest < i < c.row.at for i in others)


def _subject_mentions(c: SurfaceCandidate) -> int:
    return sum(looks_like_verb(c.row.string(i + 1)) for i in c.all_mentions)


def _opens_text_sentence(c: SurfaceCandidate) -> bool:
    first = c.all_mentions[0]
    return first == c.row.sentence(first)[0]


def _is_part_of_longer(c: SurfaceCandidate) -> bool:
    runs = (run for run in c.row.names if len(run) > len(c.at) and c.at[0] not in run)
    return any(set(c.tokens) <= set(c.row.tokens(run)) for run in runs)


def _title_tokens(c: SurfaceCandidate) -> tuple[str, ...]:
    return page.distinctive_tokens(c.row.title.title) if c.row.title else ()


def _title_share(c: SurfaceCandidate) -> float:
    title = _title_tokens(c)
    return sum(_has(c.tokens, token) for token in title) / len(title) if title else nan


def _title_end(c: SurfaceCandidate, end: int) -> float:
    title = _title_tokens(c)
    return page.same_token(title[end], c.tokens[end]) if title and c.tokens else nan


def _title_conflict(c: SurfaceCandidate) -> float:
    title = _title_tokens(c)
    of_name = [_has(title, token) for token in c.tokens]
    of_title = [_has(c.tokens, token) for token in title]
    return any(of_name) and not all(of_name) and not all(of_title) if title else nan


def _has(tokens: tuple[str, ...], token: str) -> bool:
    return any(page.same_token(token, other) for other in tokens)


def _with_title(c: SurfaceCandidate, compare: Callable[[str, str], float]) -> float:
    return compare(c.text, c.row.title.title) if c.row.title else nan


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
    gender, start, end = c.row.example.gender, c.at[0], c.at[-1]
    near = [*c.words_before[:3], c.row.lower(start)]
    if c.before == ".":  # "Mrs. Berg"
        near.append(c.row.lower(start - 2))
    if c.after == ",":  # "Ann Berg, his wife,"
        near += [c.row.lower(i) for i in range(end + 2, end + 5)]
    balance = sum((word in classes.FEMALE) - (word in classes.MALE) for word in near)
    sign = {Gender.FEMININE: 1, Gender.MASCULINE: -1, Gender.NEUTRAL: 0}[gender]
    return sign * ((balance > 0) - (balance < 0))


def _owner_agrees(c: SurfaceCandidate) -> int:
    owners = [GENDER_BY_FORM.get(w) for w in c.words_before if w in classes.POSSESSIVES or w == "her"]
    return 0 if not owners else 1 if owners[0] == c.row.example.gender else -1


def _is_owned_by_pronoun(c: SurfaceCandidate) -> bool:
    return not c.is_before and len(c.between) < len(c.words_before)


def _chain(c: SurfaceCandidate, *, after: bool) -> int:
    return sum(i in c.sentence and (i > c.at[-1]) == after for i in c.row.same_gender)


CANDIDATE: dict[str, tuple[str, Callable[[SurfaceCandidate], float]]] = {
    # position
    "before": ("precedes the pronoun", lambda c: c.is_before),
    "words": ("words to the pronoun", lambda c: len(c.between)),
    "chars": ("characters to the pronoun, logarithm", lambda c: log1p(c.char_distance)),
    "sentences": ("sentences to the pronoun, negative if the name comes later", lambda c: c.sentences),
    "same_sentence": ("in the pronoun's sentence", lambda c: c.sentences == 0),
    "text_place": ("position in the text, from 0 to 1", lambda c: c.at[0] / len(c.row.words)),
    "sentence_place": ("words from the start of its sentence", lambda c: c.at[0] - c.sentence[0]),
    "opens_sentence": ("first word of its sentence", lambda c: c.at[0] == c.sentence[0]),
    "first_name": ("no other name before it in its sentence", lambda c: c.is_first_name),
    "sentence_length": ("words of its sentence", lambda c: len(c.sentence)),
    # words between name and pronoun
    "commas": ("commas between", lambda c: c.count(classes.COMMAS)),
    "semicolons": ("semicolons, colons and dashes between", lambda c: c.count(classes.SEMICOLONS)),
    "parentheses": ("parentheses between", lambda c: c.count(classes.PARENTHESES)),
    "quotes": ("double quotes between", lambda c: c.count(classes.QUOTES)),
    "coordinators": ("and, or, but between", lambda c: c.count(classes.COORDINATORS)),
    "subordinators": ("when, while, because between", lambda c: c.count(classes.SUBORDINATORS)),
    "relatives": ("who, whose, which, that between", lambda c: c.count(classes.RELATIVES)),
    "reporting": ("verbs of saying and thinking between", lambda c: c.count(classes.REPORTING)),
    "verbs": ("verb-like words between", lambda c: sum(looks_like_verb(c.row.string(i)) for i in c.between)),
    "names": ("other capitalised names between", _names_between),
    "rank": ("names between, the rival included", lambda c: _names_between(c) + (c.rival.at[0] in c.between)),
    "same_gender": ("pronouns of the pronoun's gender between", _same_between),
    "other_gender": (
        "pronouns of another gender between",
        lambda c: sum(i in c.between for i in c.row.genders) - _same_between(c),
    ),
    # frequency of the name
    "mentions": ("words elsewhere that repeat a word of it", lambda c: len(c.mentions)),
    "mentions_before": ("such words before the pronoun", lambda c: sum(i < c.row.at for i in c.mentions)),
    "mentions_near": (
        "such words in its sentence",
        lambda c: sum(i in c.row.own_sentence for i in c.mentions),
    ),
    "since_mention": ("words from its latest mention to the pronoun, logarithm", _since_mention),
    "latest_named": ("no other name between its latest mention and the pronoun", _is_latest_named),
    "named_earlier": ("mentioned earlier", lambda c: c.all_mentions[0] < c.at[0]),
    "subject_mentions": ("mentions that a verb follows", _subject_mentions),
    "opens_early": ("its first mention opens a sentence", _opens_text_sentence),
    "exact_count": ("times the exact name occurs", lambda c: c.row.example.text.count(c.text)),
    # the page
    "title_shared": ("words shared with the title", lambda c: _with_title(c, page.shared_tokens)),
    "title_same": ("equal to the title", lambda c: _with_title(c, page.same_name)),
    "title_share": ("share of the title's words that it has", _title_share),
    "title_first": ("its first word is the title's first", lambda c: _title_end(c, 0)),
    "title_last": ("its last word is the title's last", lambda c: _title_end(c, -1)),
    "title_conflict": (
        "shares a word with the title and both have others: likely a relative",
        _title_conflict,
    ),
    # the name itself
    "name_words": ("words of the name", lambda c: len(c.at)),
    "name_chars": ("characters of the name", lambda c: len(c.text)),
    "has_first_name": ("more than one distinctive word: first name and surname", lambda c: len(c.tokens) > 1),
    "longer_elsewhere": ("part of a longer name elsewhere", _is_part_of_longer),
    "longer_here": ("follows another capitalised word", lambda c: c.follows_name),
    # neighbouring words
    "role": ("guessed role, as numbered in the code", lambda c: _ROLES.index(c.role)),
    "same_role": ("guessed role equals the pronoun's", lambda c: c.role == c.row.role),
    "kind_before": ("kind of the word before it", lambda c: _kind(c.before)),
    "kind_after": ("kind of the word after it", lambda c: _kind(c.after)),
    "verb_follows": ("a verb follows", lambda c: c.verb_follows),
    "verb_before": ("a verb-like word precedes", lambda c: looks_like_verb(c.before)),
    "preposition": ("a preposition precedes", lambda c: c.before in classes.PREPOSITIONS),
    "of": ("'of' precedes", lambda c: c.before == "of"),
    "by": ("'by' precedes", lambda c: c.before == "by"),
    "subordinated": ("a subordinator precedes", lambda c: c.before in classes.SUBORDINATORS),
    "owner": ("the possessive follows", lambda c: c.is_owner),
    "comma_before": ("a comma precedes", lambda c: c.before == ","),
    "comma_after": ("a comma follows", lambda c: c.after == ","),
    "stop_after": ("a full stop or semicolon follows", lambda c: c.after in (".", "", ";")),
    "bracket_after": ("a parenthesis follows", lambda c: c.after == "("),
    "dated": ("years or 'born' follow in parentheses", _is_dated),
    "who_after": ("a relative pronoun follows", _who_follows),
    "coordinated": ("a coordinator is adjacent", lambda c: c.is_coordinated),
    "bracketed": ("inside parentheses", _is_bracketed),
    "quoted": ("inside double quotes", lambda c: c.row.is_quoted[c.at[0]]),
    "relation": (
        "kin, friend or colleague precedes",
        lambda c: not classes.RELATIONS.isdisjoint(c.words_before),
    ),
    "gender_word": ("an adjacent word agrees (1) or disagrees (-1) with the pronoun's gender", _gender_word),
    "owner_agrees": ("a pronoun that owns it agrees (1) or disagrees (-1) in gender", _owner_agrees),
    "owned_by_pronoun": ("owned by the pronoun: 'her friend Ann'", _is_owned_by_pronoun),
    "chain_before": ("same-gender pronouns before it in its sentence", lambda c: _chain(c, after=False)),
    "chain_after": ("same-gender pronouns after it in its sentence", lambda c: _chain(c, after=True)),
}


# Functions of the row.


def _between(r: SurfaceRow) -> range:
    first, second = sorted((r.a, r.b), key=lambda c: c.span)
    return range(first.at[-1] + 1, second.at[0])


def _count_between(r: SurfaceRow, word_class: frozenset[str]) -> int:
    return sum(r.words.lower[i] in word_class for i in _between(r))


def _opens_chain(r: SurfaceRow) -> bool:
    return min([*r.same_gender, r.at]) < min(r.a.at[0], r.b.at[0])


def _title_elsewhere(r: SurfaceRow) -> float:
    if r.title is None:
        return nan
    rest = tuple(set(page.distinctive_tokens(r.title.title)) - {*r.a.tokens, *r.b.tokens})
    return sum(_has(rest, token) for run in r.names for token in r.tokens(run))


def _title_like_person(r: SurfaceRow) -> float:
    if r.title is None:
        return nan
    parts = r.title.title.split()
    plain = all(part[0].isupper() or part in classes.NAME_PARTICLES - {"of", "the"} for part in parts)
    return 2 <= len(parts) <= 4 and plain and "The" not in parts


SHARED: dict[str, tuple[str, Callable[[SurfaceRow], float]]] = {
    # the pronoun
    "feminine": ("a feminine pronoun", lambda r: r.example.gender is Gender.FEMININE),
    "form": ("its form, as numbered in the code", _form),
    "pronoun_role": ("its guessed role, as numbered in the code", lambda r: _ROLES.index(r.role)),
    "capital": ("capitalised", lambda r: r.example.pronoun_text[0].isupper()),
    "place": ("its position in the text, from 0 to 1", lambda r: r.at / len(r.words)),
    "sentence": ("number of its sentence", lambda r: r.words.sentence_of[r.at]),
    "place_in_sentence": ("words before it in its sentence", lambda r: r.at - r.own_sentence[0]),
    "to_sentence_end": ("words after it in its sentence", lambda r: r.own_sentence[-1] - r.at),
    "pronoun_quoted": ("inside double quotes", lambda r: r.is_quoted[r.at]),
    "clause_opener": ("kind of the word that opens its clause", lambda r: _kind(r.lower(r.clause_start))),
    "pronoun_before": ("kind of the word before it", lambda r: _kind(r.lower(r.at - 1))),
    "pronoun_after": ("kind of the word after it", lambda r: _kind(r.lower(r.at + 1))),
    "pronoun_after_2": ("kind of the second word after it", lambda r: _kind(r.lower(r.at + 2))),
    "owns_relation": (
        "kin, friend or colleague follows",
        lambda r: any(r.lower(r.at + step) in classes.RELATIONS for step in (1, 2)),
    ),
    "names_ahead": (
        "names before it in its sentence",
        lambda r: sum(r.own_sentence[0] <= run[0] < r.at for run in r.names),
    ),
    # other pronouns
    "same_total": ("other pronouns of its gender", lambda r: len(r.same_gender)),
    "same_before": ("those before it", lambda r: sum(i < r.at for i in r.same_gender)),
    "same_near": ("those in its sentence", lambda r: sum(i in r.own_sentence for i in r.same_gender)),
    "other_total": ("pronouns of another gender", lambda r: len(r.genders) - len(r.same_gender)),
    "text_opens_same": ("one of its gender opens the text", lambda r: any(i < 3 for i in r.same_gender)),
    "chain_first": ("one of its gender precedes both names", _opens_chain),
    # the text
    "text_words": ("words of the text", lambda r: len(r.words)),
    "text_sentences": ("sentences of the text", lambda r: len(r.words.sentences)),
    "other_names": ("names in the text other than A and B", lambda r: len(r.other_names)),
    "other_names_before": ("those before the pronoun", lambda r: sum(run[0] < r.at for run in r.other_names)),
    # between the two names
    "ab_words": ("words between A and B", lambda r: len(_between(r))),
    "ab_sentences": ("sentences between A and B", lambda r: abs(r.a.sentences - r.b.sentences)),
    "ab_commas": ("commas between A and B", lambda r: _count_between(r, classes.COMMAS)),
    "ab_coordinators": ("and, or, but between A and B", lambda r: _count_between(r, classes.COORDINATORS)),
    "ab_subordinators": ("when, while between A and B", lambda r: _count_between(r, classes.SUBORDINATORS)),
    "ab_verbs": ("verbs between A and B", lambda r: sum(looks_like_verb(r.string(i)) for i in _between(r))),
    "ab_shared": ("words that A and B share", lambda r: len({*r.a.tokens} & {*r.b.tokens})),
    # the page
    "title_elsewhere": ("words of other names that repeat the title", _title_elsewhere),
    "title_person": ("the title looks like a person's name", _title_like_person),
    "title_words": ("words of the title", lambda r: len(page.tokens(r.title.title)) if r.title else nan),
    "title_qualified": ("the title has a qualifier", lambda r: bool(r.title.qualifier) if r.title else nan),
    "title_list": ("the page is a list", lambda r: r.title.title.startswith("List of") if r.title else nan),
}


@remembered(32768)
def _values(example: Example) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    row = SurfaceRow(example)
    candidates = [[float(feature(c)) for _, feature in CANDIDATE.values()] for c in (row.a, row.b)]
    return np.array(candidates), np.array([float(feature(row)) for _, feature in SHARED.values()])


def surface_features(corpus: Corpus) -> Features:
    """Compute both tables for every row (cached)."""
    values = [_values(replace(example, label=None)) for example in corpus]
    return Features(
        candidate_names=tuple(CANDIDATE),
        shared_names=tuple(SHARED),
        candidates=np.array([c for c, _ in values], dtype=np.float64).reshape(-1, 2, len(CANDIDATE)),
        shared=np.array([s for _, s in values], dtype=np.float64).reshape(-1, len(SHARED)),
    )
