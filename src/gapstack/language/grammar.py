"""Dependency parses as arrays: grammatical roles, clauses, distances and c-command.

Labels of Universal Dependencies and of ClearNLP (spaCy's English pipelines) map to one set of roles and to UD's tree
shape, in which a preposition depends on its noun. So path lengths agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gapstack.data import Span
from gapstack.types import Ints32

if TYPE_CHECKING:
    from spacy.tokens import Doc


class Role(IntEnum):
    """Grammatical role of a token."""

    OTHER = 0
    SUBJECT = 1
    OBJECT = 2
    DATIVE = 3
    OBLIQUE = 4
    POSSESSIVE = 5
    ROOT = 6
    CONJUNCT = 7
    APPOSITION = 8
    NAME = 9
    CLAUSE = 10
    RELATIVE = 11
    OPEN_CLAUSE = 12
    CASE = 13
    PREDICATE = 14
    PUNCTUATION = 15
    PARATAXIS = 16


class PartOfSpeech(IntEnum):
    """Parts of speech that the cues distinguish."""

    OTHER = 0
    PROPER_NOUN = 1
    NOUN = 2
    PRONOUN = 3
    VERB = 4


# Looked up by the full label, then by its part before the colon.
_ROLES: dict[str, Role] = {
    label: role
    for role, labels in {
        Role.SUBJECT: "nsubj nsubjpass",
        Role.OBJECT: "obj dobj",
        Role.DATIVE: "iobj dative",
        Role.OBLIQUE: "obl nmod pobj",
        Role.POSSESSIVE: "nmod:poss poss",
        Role.ROOT: "root",
        Role.CONJUNCT: "conj",
        Role.APPOSITION: "appos",
        Role.NAME: "flat compound nn nmod:desc",
        Role.CLAUSE: "ccomp advcl acl csubj csubjpass pcomp",
        Role.PARATAXIS: "parataxis",
        Role.RELATIVE: "acl:relcl relcl advcl:relcl",
        Role.OPEN_CLAUSE: "xcomp",
        Role.CASE: "case prep agent",
        Role.PREDICATE: "attr acomp oprd",
        Role.PUNCTUATION: "punct",
    }.items()
    for label in labels.split()
}
_POS = {
    "PROPN": PartOfSpeech.PROPER_NOUN,
    "NOUN": PartOfSpeech.NOUN,
    "PRON": PartOfSpeech.PRONOUN,
    "VERB": PartOfSpeech.VERB,
    "AUX": PartOfSpeech.VERB,
}
# Theta-prominence: the order of roles is that of Lappin and Leass 1994, the weights are those of the Fill the GAP team.
_WEIGHTS = {Role.SUBJECT: 1.0, Role.OBJECT: 0.8, Role.DATIVE: 0.6, Role.OBLIQUE: 0.4, Role.POSSESSIVE: 0.3}
_THETA = np.array([_WEIGHTS.get(role, 0.1) for role in Role])
_IS_CLAUSE = np.isin(
    np.arange(len(Role)), (Role.ROOT, Role.CLAUSE, Role.RELATIVE, Role.OPEN_CLAUSE, Role.PARATAXIS)
)
# Tokens in these roles have their head's function in the sentence.
_IS_TRANSPARENT = np.isin(np.arange(len(Role)), (Role.CONJUNCT, Role.APPOSITION, Role.NAME))


def role_of(label: str) -> Role:
    """Role of a lower-case dependency label of either scheme."""
    return _ROLES.get(label) or _ROLES.get(label.partition(":")[0]) or Role.OTHER


@dataclass(eq=False)
class Parse:
    """The parse of one text as arrays over its n tokens."""

    text: str
    spans: Ints32
    """Half-open character range of each token, (n, 2)."""
    heads: Ints32
    """Index of each token's head, (n,); a root is its own head."""
    roles: NDArray[np.int8]
    """:class:`Role` of each token, (n,)."""
    pos: NDArray[np.int8]
    """:class:`PartOfSpeech` of each token, (n,)."""
    sentence: Ints32
    """Index of each token's sentence, (n,)."""
    persons: Ints32
    """Half-open token ranges of the k PERSON entities, (k, 2)."""

    def __len__(self) -> int:
        return len(self.heads)

    def tokens_in(self, span: Span) -> range:
        """Indices of the tokens that overlap ``span``; may be empty."""
        first = int(np.searchsorted(self.spans[:, 1], span[0], side="right"))
        last = int(np.searchsorted(self.spans[:, 0], span[1], side="left"))
        return range(first, max(first, last))

    def characters(self, tokens: range) -> Span:
        """Characters from the first of some adjacent tokens to the last."""
        return Span(int(self.spans[tokens.start, 0]), int(self.spans[tokens.stop - 1, 1]))

    def words(self, token: int) -> str:
        """Text of a token."""
        start, end = self._span_list[token]
        return self.text[start:end]

    # lists, since walks over single tokens compare list elements ten times as fast as array elements

    @cached_property
    def head_list(self) -> list[int]:
        """:attr:`heads` as a list."""
        return list(self.heads.tolist())

    @cached_property
    def role_list(self) -> list[int]:
        """:attr:`roles` as a list."""
        return list(self.roles.tolist())

    @cached_property
    def _span_list(self) -> list[list[int]]:
        return list(self.spans.tolist())

    @cached_property
    def children(self) -> list[list[int]]:
        """Dependents of each token in the order of the text; a root is not its own dependent."""
        children: list[list[int]] = [[] for _ in self.head_list]
        for token, head in enumerate(self.head_list):
            if head != token:
                children[head].append(token)
        return children

    def head_of(self, tokens: range) -> int:
        """Head token of ``tokens``, -1 if empty: proper nouns first, then the one nearest to its root."""
        heads, roles = self.head_list, self.role_list
        candidates = [i for i in tokens if heads[i] == i or heads[i] not in tokens]
        if len(candidates) < 2:
            return candidates[0] if candidates else -1
        proper, depth, marks = PartOfSpeech.PROPER_NOUN, self.depth, (Role.PUNCTUATION, Role.CASE)
        return min(candidates, key=lambda i: (roles[i] in marks, self.pos[i] != proper, depth[i], i))

    @cached_property
    def depth(self) -> Ints32:
        """Number of edges between each token and its root, (n,)."""
        depth = np.zeros(len(self), dtype=np.int32)
        at = np.arange(len(self), dtype=np.int32)
        while (moving := self.heads[at] != at).any():
            depth += moving
            at = self.heads[at]
        return depth

    @cached_property
    def steps(self) -> Ints32:
        """Edges from each token to its root, (n,), as the GAP paper's parser counts: two to a prepositional noun."""
        marked = np.zeros(len(self), dtype=bool)
        marked[self.heads[self.roles == Role.CASE]] = True
        lengths = 1 + (marked & (self.roles == Role.OBLIQUE)).astype(np.int32)
        lengths[self.heads == np.arange(len(self))] = 0
        return np.asarray(self.ancestors @ lengths, dtype=np.int32)

    @cached_property
    def functions(self) -> NDArray[np.int8]:
        """Function of each token (n,): its role, or its head's within coordinations, appositions and names."""
        at = np.arange(len(self), dtype=np.int32)
        for _ in range(int(self.depth.max(initial=0))):
            at = np.where(_IS_TRANSPARENT[self.roles[at]], self.heads[at], at)
        return self.roles[at]

    @cached_property
    def clause(self) -> Ints32:
        """Head of each token's clause (n,): a predicate; in main clauses the root."""
        heads_clause = _IS_CLAUSE[self.roles] | (self.heads == np.arange(len(self)))
        # the second predicate of a coordination heads its own clause
        heads_clause |= (self.roles == Role.CONJUNCT) & heads_clause[self.heads]
        clause = np.arange(len(self), dtype=np.int32)
        for _ in range(int(self.depth.max(initial=0))):
            clause = np.where(heads_clause[clause], clause, self.heads[clause])
        return clause

    @cached_property
    def _clauses(self) -> NDArray[np.bool_]:
        """True where the second token heads a clause that the first is in, its own or one above, (n, n)."""
        return np.asarray(self.ancestors & (self.clause == np.arange(len(self))))

    @cached_property
    def clause_depth(self) -> Ints32:
        """Number of clauses above each token's own, (n,)."""
        return np.asarray(self._clauses.sum(axis=1, dtype=np.int32) - 1)

    @cached_property
    def ancestors(self) -> NDArray[np.bool_]:
        """True where the second token is the first or its ancestor, (n, n)."""
        rows = at = np.arange(len(self), dtype=np.int32)
        ancestors = np.zeros((len(self), len(self)), dtype=bool)
        for _ in range(int(self.depth.max(initial=0)) + 1):
            ancestors[rows, at] = True
            at = self.heads[at]
        return ancestors

    def distances(self, token: int, sentence_cost: float) -> NDArray[np.float64]:
        """Edges (:attr:`steps`) from ``token`` to every token (n,); roots of sentences are ``sentence_cost`` apart."""
        common = self.ancestors & self.ancestors[token]
        shared = common.any(axis=1)
        # the lowest common ancestor is the deepest of the common ones
        meeting = np.where(common, self.steps, 0).max(axis=1)
        # two trees in one sentence are as far apart as two neighbouring sentences
        crossed = np.where(shared, 0, np.maximum(np.abs(self.sentence - self.sentence[token]), 1))
        return np.asarray(self.steps + self.steps[token] - 2.0 * meeting + sentence_cost * crossed)

    def clause_distances(self, token: int) -> Ints32:
        """Clause boundaries on the path from ``token`` to every token (n,); a sentence boundary counts as one."""
        # clauses above both tokens are not crossed
        shared = self._clauses.astype(np.int32) @ self._clauses[token].astype(np.int32)
        crossed = self.clause_depth + self.clause_depth[token] + 2 - 2 * shared
        sentences = np.maximum(np.abs(self.sentence - self.sentence[token]) - 1, 0)
        return np.asarray(np.where(shared == 0, crossed - 1 + sentences, crossed), dtype=np.int32)

    def commands(self, token: int) -> NDArray[np.bool_]:
        """Tokens that ``token`` c-commands, (n,): its head's descendants except its own and more prominent sisters'."""
        head = self.heads[token]
        if head == token:
            return np.zeros(len(self), dtype=bool)
        commanded = self.ancestors[:, head] & ~self.ancestors[:, token]
        commanded[head] = False
        for sister in np.flatnonzero((self.heads == head) & (self.theta > self.theta[token])):
            commanded &= ~self.ancestors[:, sister]
        return commanded

    @cached_property
    def theta(self) -> NDArray[np.float64]:
        """Theta-prominence of each token's function, (n,)."""
        return _THETA[self.functions]


def empty_parse(text: str) -> Parse:
    """Return a parse without tokens, for cues that need no parse."""
    ints, bytes_ = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int8)
    pairs = np.zeros((0, 2), dtype=np.int32)
    return Parse(text, pairs, ints, bytes_, bytes_, ints, pairs)


def parse_of(doc: Doc, text: str | None = None) -> Parse:
    """Convert a spaCy document of either label scheme; pass ``text`` if it is known, since rebuilding it is slow."""
    from spacy.attrs import DEP, HEAD, IDX, LENGTH, POS, SENT_START

    columns = doc.to_array([IDX, LENGTH, HEAD, DEP, POS, SENT_START]).reshape(-1, 6)
    offsets, strings, tokens = columns.view(np.int64), doc.vocab.strings, np.arange(len(doc))
    labels, label_of = np.unique(columns[:, 3], return_inverse=True)
    names = [strings[int(label)].lower() for label in labels]
    classes, class_of = np.unique(columns[:, 4], return_inverse=True)
    pos = [_POS.get(strings[int(key)], PartOfSpeech.OTHER) for key in classes]
    heads = (tokens + offsets[:, 2]).astype(np.int32)
    roles = np.array([role_of(name) for name in names], dtype=np.int8)[label_of]
    roles[heads == tokens] = Role.ROOT
    is_noun = np.array([name == "pobj" for name in names], dtype=bool)[label_of]
    _reattach_prepositions(heads, roles, np.flatnonzero(is_noun))
    persons = [(e.start, e.end) for e in doc.ents if e.label_ in ("PERSON", "PER")]
    return Parse(
        text=doc.text if text is None else text,
        spans=np.stack([offsets[:, 0], offsets[:, 0] + offsets[:, 1]], axis=1).astype(np.int32),
        heads=heads,
        roles=roles,
        pos=np.array(pos, dtype=np.int8)[class_of],
        sentence=np.cumsum((offsets[:, 5] == 1) & (tokens > 0), dtype=np.int32),
        persons=np.array(persons, dtype=np.int32).reshape(-1, 2),
    )


def _reattach_prepositions(heads: Ints32, roles: NDArray[np.int8], nouns: NDArray[np.intp]) -> None:
    """Turn ClearNLP's verb -> preposition -> noun into UD's verb -> noun -> preposition, in place."""
    for noun in nouns:
        preposition = heads[noun]
        if heads[preposition] == preposition or roles[preposition] not in (Role.CASE, Role.DATIVE):
            continue
        # "gave it to her": the preposition's label marks the noun as the recipient
        roles[noun] = Role.DATIVE if roles[preposition] == Role.DATIVE else Role.OBLIQUE
        heads[noun], heads[preposition] = heads[preposition], noun
        roles[preposition] = Role.CASE
