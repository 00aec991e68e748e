"""Word-level attributes of a row and of its two names, for the surface features; no parser.

:class:`SurfaceRow` has the attributes of the row, :class:`SurfaceCandidate` those of one name. Roles are guessed from
neighbouring words: crude compared with a parse, but cheap, and with different errors.
"""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate, takewhile

from gapstack.data import Example, Gender, Span
from gapstack.data.person_words import AMBIGUOUS, GENDER_BY_FORM
from gapstack.language import word_classes as classes
from gapstack.language.words import PageTitle, Words, distinctive_tokens, page_title, tokens, words


def looks_like_verb(word: str) -> bool:
    """True if a lower-case word could be a finite verb: in a word list, or ending in -ed or third-person -s."""
    if word in classes.AUXILIARIES:
        return True
    if word in classes.FUNCTION or not word.isalpha() or not word.islower():
        return False
    third_person = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word in classes.VERBS or word.endswith("ed") or third_person


class SurfaceRow:
    """One example with its words and page title."""

    def __init__(self, example: Example):
        self.example = example
        self.words: Words = words(example.text)
        self.title: PageTitle | None = page_title(example.url)
        self.at: int = self.words.word_index(example.pronoun)[0]
        self.own_sentence = self.sentence(self.at)
        self.form = example.pronoun_text.lower()
        self.a = SurfaceCandidate(self, example.a)
        self.b = SurfaceCandidate(self, example.b)

    def lower(self, i: int) -> str:
        """Word ``i`` in lower case; "" outside the text."""
        return self.words.lower[i] if 0 <= i < len(self.words) else ""

    def string(self, i: int) -> str:
        """Word ``i``; "" outside the text."""
        return self.words.strings[i] if 0 <= i < len(self.words) else ""

    def sentence(self, i: int) -> range:
        """Words of the sentence of word ``i``."""
        return self.words.sentences[self.words.sentence_of[i]]

    def count(self, places: range, word_class: frozenset[str]) -> int:
        """Number of words of a class in a range of words."""
        return sum(word in word_class for word in self.words.lower[places.start : places.stop])

    def count_verbs(self, places: range) -> int:
        """Number of verb-like words in a range of words."""
        return sum(looks_like_verb(self.words.strings[i]) for i in places)

    @cached_property
    def role(self) -> str:
        """Guessed role of the pronoun: subject, object or owner."""
        following = self.lower(self.at + 1)
        noun_like = following[:1].isalpha() and following not in classes.FUNCTION | classes.AUXILIARIES
        if self.form in classes.POSSESSIVES or (self.form in AMBIGUOUS and noun_like):
            return "owner"
        return "subject" if self.form in classes.NOMINATIVES else "object"

    @cached_property
    def genders(self) -> dict[int, Gender]:
        """Gender of every other pronoun in the text, by word."""
        genders = {i: GENDER_BY_FORM[w] for i, w in enumerate(self.words.lower) if w in GENDER_BY_FORM}
        genders.pop(self.at, None)
        return genders

    @cached_property
    def same_gender(self) -> list[int]:
        """Words of the other pronouns of the same gender."""
        return [i for i, gender in self.genders.items() if gender == self.example.gender]

    @cached_property
    def clause_start(self) -> int:
        """The word or mark before the pronoun's clause; the word before the sentence if there is none."""
        at = self.at - 1
        while at >= self.own_sentence[0] and self.lower(at) not in classes.BOUNDARIES:
            at -= 1
        return at

    @cached_property
    def name_words(self) -> list[int]:
        """Capitalised words except pronouns, in order; ``*`` may stand for a lost capital ("*lvaro")."""
        return [
            i
            for i, (word, low) in enumerate(zip(self.words.strings, self.words.lower, strict=True))
            if (word[0].isupper() or (word[0] == "*" and word.strip("*"))) and low not in GENDER_BY_FORM
        ]

    @cached_property
    def names(self) -> list[range]:
        """Names of the text: runs of capitalised words, except lone words that open a sentence ("Dumped", "Later")."""
        openers = {sentence[0] for sentence in self.words.sentences}
        name_words = set(self.name_words)
        runs: list[range] = []
        for start in self.name_words:
            word = self.lower(start)
            if (runs and start in runs[-1]) or word in classes.FUNCTION:
                continue
            end = start + 1
            while self._continues_name(end, name_words, openers):
                end += 1
            is_word = word in classes.OPENERS or word.endswith(("ing", "ed", "ly"))
            if not (start in openers and end == start + 1 and is_word):
                runs.append(range(start, end))
        return runs

    def _continues_name(self, i: int, name_words: set[int], openers: set[int]) -> bool:
        while self.lower(i) in classes.NAME_PARTICLES:
            i += 1
        is_initial_stop = self.string(i) == "." and len(self.string(i - 1)) == 1 and i + 1 not in openers
        return i in name_words or is_initial_stop

    @cached_property
    def other_names(self) -> list[range]:
        """Names that share no word with A or B."""
        name_tokens = {*self.a.tokens, *self.b.tokens}
        return [run for run in self.names if name_tokens.isdisjoint(self.tokens(run))]

    def tokens(self, run: range) -> list[str]:
        """Folded tokens of a run of words."""
        return [token for i in run for token in tokens(self.string(i))]

    @cached_property
    def is_quoted(self) -> list[bool]:
        """True for words inside double quotes."""
        return [n % 2 == 1 for n in accumulate(word in classes.QUOTES for word in self.words.strings)]


class SurfaceCandidate:
    """One of the two names of a :class:`SurfaceRow`."""

    def __init__(self, row: SurfaceRow, span: Span):
        self.row, self.span, self.text = row, span, row.example.words(span)
        self.tokens = distinctive_tokens(self.text)
        at = row.words.word_index(span)
        # words of the name; a mention of white space alone has none and takes the next one
        self.at: range = at or range(min(at.start, len(row.words) - 1), min(at.start + 1, len(row.words)))
        first, last = self.at[0], self.at[-1]
        self.is_before = first < row.at
        # words strictly between the name and the pronoun
        self.between = range(last + 1, row.at) if self.is_before else range(row.at + 1, first)
        self.sentence = row.sentence(first)
        # from the name to the pronoun, negative if the name comes later
        self.sentences = row.words.sentence_of[row.at] - row.words.sentence_of[first]
        plural_owner = (
            self.text.endswith("s") and row.lower(last + 1) == "'" and row.lower(last + 2).isalpha()
        )
        self.is_owner = row.lower(last + 1) in classes.POSSESSIVE_MARKS or plural_owner
        # words before the name, and after the name and its possessive
        self.before, self.after = row.lower(first - 1), row.lower(last + 1 + self.is_owner)

    @property
    def rival(self) -> SurfaceCandidate:
        """The other name."""
        return self.row.b if self is self.row.a else self.row.a

    def count(self, word_class: frozenset[str]) -> int:
        """Number of words of a class between the name and the pronoun."""
        return self.row.count(self.between, word_class)

    @cached_property
    def words_before(self) -> list[str]:
        """Up to four words before the name in its sentence, back to a punctuation mark, nearest first."""
        nearest_first = self.row.words.lower[max(self.sentence[0], self.at[0] - 4) : self.at[0]][::-1]
        return list(takewhile(lambda w: w[0].isalnum() or w in classes.POSSESSIVE_MARKS, nearest_first))

    @cached_property
    def verb_follows(self) -> bool:
        """True if a verb follows, after any adverb or insertion between commas, dashes or parentheses."""
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
        """Capitalised words elsewhere in the text that repeat a token of the name."""
        own, row = set(self.tokens), self.row
        return [i for i in row.name_words if i not in self.at and not own.isdisjoint(tokens(row.string(i)))]

    @cached_property
    def all_mentions(self) -> list[int]:
        """Words of the name and its :attr:`mentions`, in order."""
        return sorted([*self.at, *self.mentions])

    @cached_property
    def latest(self) -> int | None:
        """The last of :attr:`all_mentions` before the pronoun, or None."""
        return max((i for i in self.all_mentions if i < self.row.at), default=None)
