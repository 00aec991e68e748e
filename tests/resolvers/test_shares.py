import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gapstack.data import Corpus, Example, Label, Span
from gapstack.resolvers import shares
from gapstack.running_text.answer import Answer, Answers, Candidate
from gapstack.running_text.any_text_resolver import Text

TEXT = "Kate Winslet's mother met Beth when she sang"
MOTHER, KATE, BETH, SHE = Span(0, 21), Span(0, 12), Span(26, 30), Span(36, 39)


def candidate(probability: float, *mentions: Span) -> Candidate:
    return Candidate(mentions[0], "", probability, mentions, "")


class NearestWord:
    """A resolver that gives a capitalised word more the nearer it is before the pronoun, and nobody a fifth."""

    identity = "nearest word"
    model = SimpleNamespace(identity="nearest word 1")

    def stream(self, texts: Iterable) -> Iterator[Answers]:
        for text in texts:
            answers = [self.answer(text.text, *match.span()) for match in self.found(text)]
            yield Answers(text.text, answers, ())

    @staticmethod
    def found(text) -> Iterator[re.Match[str]]:
        return re.finditer(rf"(?i)\b({'|'.join(text.pronouns)})\b", text.text)

    @staticmethod
    def answer(text: str, start: int, end: int) -> Answer:
        words = [Span(*match.span()) for match in re.finditer(r"\b[A-Z]\w+", text)]
        near = np.array([1 / (1 + abs(start - span.start)) for span in words])
        given = 0.8 * near / near.sum()
        candidates = tuple(candidate(share, span) for share, span in zip(given.tolist(), words, strict=True))
        return Answer(Span(start, end), text[start:end], candidates, 1 - given.sum())


def example(text: str = TEXT, a: Span = KATE, b: Span = BETH, pronoun: Span = SHE, **more) -> Example:
    return Example("row", text, pronoun=pronoun, a=a, b=b, **more)


@pytest.mark.parametrize(
    ("candidates", "nobody", "expected"),
    [
        ([(0.6, KATE), (0.3, BETH)], 0.1, [0.6, 0.3, 0.1, 0.0]),
        # the mother is not Kate Winslet, although her mention has the name
        ([(0.7, MOTHER), (0.2, KATE)], 0.1, [0.2, 0.0, 0.1, 0.7]),
        ([(0.7, MOTHER), (0.2, BETH)], 0.1, [0.7, 0.2, 0.1, 0.0]),
        ([(0.5, Span(0, 4))], 0.2, [0.5, 0.0, 0.2, 0.3]),
        ([(0.8, KATE, BETH)], 0.2, [0.4, 0.4, 0.2, 0.0]),
        ([], 1.0, [0.0, 0.0, 1.0, 0.0]),
    ],
)
def test_a_name_has_the_probability_of_the_candidate_that_covers_it_best(candidates, nobody, expected):
    answer = Answer(SHE, "she", tuple(candidate(*one) for one in candidates), nobody)
    np.testing.assert_allclose(shares.of_answers(example(), Answers(TEXT, [answer], ())), expected, atol=1e-6)


def test_a_pronoun_without_an_answer_has_no_shares():
    elsewhere = Answer(Span(40, 44), "sang", (candidate(1.0, KATE),), 0.0)
    assert not shares.of_answers(example(), Answers(TEXT, [elsewhere], ())).any()


@pytest.fixture
def resolver(monkeypatch):
    """The toy resolver in the place of the real one; counts the texts that it reads."""
    read: list[str] = []

    class Counted(NearestWord):
        def stream(self, texts):
            for text in texts:
                read.append(text.text)
                yield from super().stream([text])

    monkeypatch.setattr(shares, "text_resolver", Counted)
    return read


def rows(count: int, label: Label) -> Corpus:
    texts = [f"Ann met Beth {'often ' * number}when she sang" for number in range(count)]
    examples = [
        Example(
            f"r{number}",
            text,
            pronoun=Span(text.index("she"), text.index("she") + 3),
            a=Span(0, 3),
            b=Span(8, 12),
            label=label,
        )
        for number, text in enumerate(texts)
    ]
    return Corpus(examples, name="rows")


def test_each_text_is_read_once_for_a_model(resolver):
    corpus = rows(6, Label.B)
    first = shares.shares(corpus)
    assert len(resolver) == 6
    np.testing.assert_array_equal(shares.shares(corpus[2:]), first[2:])
    assert len(resolver) == 6
    assert first.sum(axis=1) == pytest.approx(1, abs=2e-3)
    assert (first[:, 1] > first[:, 0]).all()


def test_the_pairs_of_a_text_are_read_once(resolver):
    words = [Span(*match.span()) for match in re.finditer(r"[A-Z]\w+", TEXT)]
    pairs = Corpus(
        replace(example(a=a, b=b), id=f"{a.start} {b.start}") for a, b in itertools.permutations(words, 2)
    )
    found = shares.shares(pairs)
    assert resolver == [TEXT]
    alone = [shares.of_answers(pair, next(NearestWord().stream([Text(TEXT, ("she",))]))) for pair in pairs]
    np.testing.assert_allclose(found, alone, atol=1e-3)


def test_recorded_answers_are_read_if_they_are_of_the_model(resolver, tmp_path, monkeypatch):
    monkeypatch.setattr(shares, "RECORDED", tmp_path / "recorded.safetensors")
    corpus = rows(4, Label.B)
    shares.record(corpus)
    expected = shares.shares(corpus)
    for identity, texts in (("nearest word 1", 0), ("nearest word 2", 4)):
        monkeypatch.setenv("GAPSTACK_CACHE", str(tmp_path / identity))
        monkeypatch.setattr(NearestWord, "model", SimpleNamespace(identity=identity))
        resolver.clear()
        np.testing.assert_array_equal(shares.shares(corpus), expected)
        assert len(resolver) == texts
