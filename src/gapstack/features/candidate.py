"""A row as the surface features see it: words around the pronoun, two names to choose from, no parser.

:class:`Row` holds what both names share and :class:`Candidate` one name's side of it. Roles are guessed from the
neighbouring words: crude beside a parse, but free, and wrong in ways of their own.
"""

from __future__ import annotations

from functools import cached_property

from gapstack.corpus import Example, Gender, Span
from gapstack.corpus.pronouns import GENDER_BY_FORM
from gapstack.text import word_classes as classes
from gapstack.text.page_title import PageTitle, page_title, telling_tokens, tokens
from gapstack.text.words import Words, words


def looks_like_verb(word: str) -> bool:
    """Whether a lower-case word could be a finite verb: listed, or in -ed, or in -s of the third person."""
    if word in classes.AUXILIARIES:
        return True
    if word in classes.FUNCTION or not word.isalpha() or not word.islower():
        return False
    third_person = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word in classes.VERBS or word.endswith("ed") or third_person


def looks_like_name(word: str) -> bool:
    """Whether a word is capitalised, an asterisk standing for a lost capital ("*lvaro")."""
    return word[0].isupper() or (word[0] == "*" and word.strip("*") != "")


def is_lone_opener(word: str) -> bool:
    """Whether a lone capitalised word at the head of a sentence is likely no name ("Dumped", "Later")."""
    return word in classes.OPENERS or word.endswith(("ing", "ed", "ly"))


class Row:
    """One example with its words, its page title and the guesses that need both."""

    def __init__(self, example: Example):
        self.example = example
        self.words: Words = words(example.text)
        self.title: PageTitle | None = page_title(example.url)
        self.at: int = self.words.word_index(example.pronoun)[0]
        self.a = Candidate(self, example.a)
        self.b = Candidate(self, example.b)

    def lower(self, i: int) -> str:
        """Word ``i`` in lower case; the empty string outside the text."""
        return self.words.lower[i] if 0 <= i < len(self.words) else ""

    def string(self, i: int) -> str:
        """Word ``i``; the empty string outside the text."""
        return self.words.strings[i] if 0 <= i < len(self.words) else ""

    def sentence(self, i: int) -> range:
        """The words of the sentence that word ``i`` is in."""
        return self.words.sentences[self.words.sentence_of[i]]

    @cached_property
    def own_sentence(self) -> range:
        """The words of the pronoun's sentence."""
        return self.sentence(self.at)

    @cached_property
    def form(self) -> str:
        """The pronoun in lower case."""
        return self.example.pronoun_text.lower()

    @cached_property
    def role(self) -> str:
        """Guessed role of the pronoun: subject, object or owner ("her" owns what could be owned)."""
        following = self.lower(self.at + 1)
        owns = following[:1].isalpha() and following not in classes.FUNCTION | classes.AUXILIARIES
        if self.form in classes.POSSESSIVES or (self.form == "her" and owns):
            return "owner"
        return "subject" if self.form in classes.NOMINATIVES else "object"

    @cached_property
    def genders(self) -> dict[int, Gender]:
        """Gender of every pronoun in the text but the one asked about, by word."""
        found = {i: GENDER_BY_FORM[w] for i, w in enumerate(self.words.lower) if w in GENDER_BY_FORM}
        found.pop(self.at, None)
        return found

    @cached_property
    def same_gender(self) -> list[int]:
        """Words that are other pronouns of the same gender."""
        return [i for i, gender in self.genders.items() if gender == self.example.gender]

    @cached_property
    def clause_start(self) -> int:
        """The word or mark that opens the pronoun's clause; the word before the sentence if none does."""
        at = self.at - 1
        while at >= self.own_sentence[0] and self.lower(at) not in classes.BOUNDARIES:
            at -= 1
        return at

    @cached_property
    def name_words(self) -> list[int]:
        """Capitalised words that are no pronouns, in order."""
        both = zip(self.words.strings, self.words.lower, strict=True)
        return [
            i for i, (word, low) in enumerate(both) if looks_like_name(word) and low not in GENDER_BY_FORM
        ]

    @cached_property
    def names(self) -> list[range]:
        """Runs of capitalised words that do not merely open a sentence: the names of the text."""
        openers = {sentence[0] for sentence in self.words.sentences}
        named = set(self.name_words)
        runs: list[range] = []
        for start in self.name_words:
            if (runs and start in runs[-1]) or self.lower(start) in classes.FUNCTION:
                continue
            end = start + 1
            while self._continues_name(end, named, openers):
                end += 1
            if not (start in openers and end == start + 1 and is_lone_opener(self.lower(start))):
                runs.append(range(start, end))
        return runs

    def _continues_name(self, i: int, named: set[int], openers: set[int]) -> bool:
        while self.lower(i) in classes.NAME_PARTICLES:
            i += 1
        is_initial_stop = self.string(i) == "." and len(self.string(i - 1)) == 1 and i + 1 not in openers
        return i in named or is_initial_stop

    @cached_property
    def other_names(self) -> list[range]:
        """Names that share no word with A or B."""
        known = {*self.a.tokens, *self.b.tokens}
        return [run for run in self.names if known.isdisjoint(self.tokens(run))]

    def tokens(self, run: range) -> list[str]:
        """Folded tokens of a run of words."""
        return [token for i in run for token in tokens(self.string(i))]

    @cached_property
    def is_quoted(self) -> list[bool]:
        """Whether each word stands inside double quotes."""
        inside, found = False, []
        for word in self.words.strings:
            inside ^= word in classes.QUOTES
            found.append(inside)
        return found


class Candidate:
    """One of the two names, seen from its own side."""

    def __init__(self, row: Row, span: Span):
        self.row, self.span = row, span
        at = row.words.word_index(span)
        # a mention of white space alone has no word; the next one stands for it
        self.at: range = at or range(min(at.start, len(row.words) - 1), min(at.start + 1, len(row.words)))

    @cached_property
    def rival(self) -> Candidate:
        """The other name."""
        return self.row.b if self is self.row.a else self.row.a

    @cached_property
    def text(self) -> str:
        """The name as written."""
        return self.row.example.words(self.span)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """Folded tokens of the name that can identify somebody."""
        return telling_tokens(self.text)

    @cached_property
    def is_before(self) -> bool:
        """Whether the name precedes the pronoun."""
        return self.at[0] < self.row.at

    @cached_property
    def between(self) -> range:
        """The words strictly between the name and the pronoun."""
        return range(self.at[-1] + 1, self.row.at) if self.is_before else range(self.row.at + 1, self.at[0])

    def count(self, wanted: frozenset[str]) -> int:
        """How many words between the name and the pronoun are ``wanted``."""
        return sum(self.row.words.lower[i] in wanted for i in self.between)

    @cached_property
    def sentence(self) -> range:
        """Words of the name's sentence."""
        return self.row.sentence(self.at[0])

    @cached_property
    def sentences(self) -> int:
        """Sentences from the name to the pronoun, negative where the name comes later."""
        of = self.row.words.sentence_of
        return of[self.row.at] - of[self.at[0]]

    @cached_property
    def before(self) -> str:
        """The word before the name, in lower case."""
        return self.row.lower(self.at[0] - 1)

    @cached_property
    def after(self) -> str:
        """The word after the name and its possessive, in lower case."""
        return self.row.lower(self.at[-1] + (2 if self.is_owner else 1))

    @cached_property
    def words_before(self) -> list[str]:
        """Up to four words before the name in its sentence, back to a mark of punctuation, nearest first."""
        found: list[str] = []
        for i in range(self.at[0] - 1, max(self.sentence[0], self.at[0] - 4) - 1, -1):
            word = self.row.lower(i)
            if not (word[0].isalnum() or word in classes.POSSESSIVE_MARKS):
                break
            found.append(word)
        return found

    @cached_property
    def is_owner(self) -> bool:
        """Whether the name is followed by the possessive."""
        end = self.at[-1]
        if self.row.lower(end + 1) in classes.POSSESSIVE_MARKS:
            return True
        plural_like = self.text.endswith("s") and self.row.lower(end + 1) == "'"
        return plural_like and self.row.lower(end + 2).isalpha()

    @cached_property
    def verb_follows(self) -> bool:
        """Whether a verb follows, past an adverb or an insertion between commas, dashes or parentheses."""
        if self.is_owner:
            return False
        row, i, stop = self.row, self.at[-1] + 1, self.sentence[-1]
        closing = {",": ",", "(": ")", "--": "--"}.get(row.lower(i))
        if closing:
            end = next((j for j in range(i + 1, min(stop, i + 20)) if row.lower(j) == closing), None)
            if end is None:
                return False
            i = end + 1
        while i <= stop and (row.lower(i).endswith("ly") or row.lower(i) in classes.ADVERBS):
            i += 1
        return i <= stop and looks_like_verb(row.string(i))

    @cached_property
    def role(self) -> str:
        """Guessed role: subject, object, owner, oblique (after a preposition) or other."""
        if self.is_owner:
            return "owner"
        if self.before in classes.PREPOSITIONS:
            return "oblique"
        if self.verb_follows:
            return "subject"
        return "object" if looks_like_verb(self.before) else "other"

    @cached_property
    def mentions(self) -> list[int]:
        """Capitalised words elsewhere in the text that repeat a word of the name."""
        return [
            i
            for i in self.row.name_words
            if i not in self.at and not set(self.tokens).isdisjoint(tokens(self.row.string(i)))
        ]

    @cached_property
    def all_mentions(self) -> list[int]:
        """The words of the name and those that repeat one, in order."""
        return sorted([*self.at, *self.mentions])

    @cached_property
    def latest(self) -> int | None:
        """The last word before the pronoun that names this candidate, or None."""
        return max((i for i in self.all_mentions if i < self.row.at), default=None)

    @cached_property
    def char_distance(self) -> int:
        """Characters strictly between the name and the pronoun."""
        pronoun = self.row.example.pronoun
        return max(0, pronoun.start - self.span.end if self.is_before else self.span.start - pronoun.end)

    @cached_property
    def is_first_name(self) -> bool:
        """Whether no other name stands before it in its sentence."""
        return not any(self.sentence[0] <= run[0] < self.at[0] for run in self.row.names)

    @cached_property
    def follows_name(self) -> bool:
        """Whether the word before it is capitalised and no mere opener of the sentence."""
        before = self.row.string(self.at[0] - 1)
        return before[:1].isupper() and before.lower() not in classes.OPENERS

    @cached_property
    def is_coordinated(self) -> bool:
        """Whether a coordinator stands on either side."""
        return self.before in classes.COORDINATORS or self.after in classes.COORDINATORS
