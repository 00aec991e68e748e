"""The cue members' probabilities: a wider margin is never a reason to doubt, and no side is preferred."""

from dataclasses import replace

import numpy as np
import pytest

from gapstack.data import Corpus, Label
from gapstack.errors import MemberError
from gapstack.language.cues import CueDecisions
from gapstack.members import baselines as module
from gapstack.members import create
from gapstack.members.baselines import Random
from tests.trees import corpus, example, tree

N = 400


def cue_decisions(choices, levels, margins):
    """CueDecisions that choose 0 A, 1 B, 2 neither name."""
    return CueDecisions(
        np.eye(3, dtype=bool)[choices][:, :2], np.asarray(levels), np.asarray(margins, dtype=float)
    )


@pytest.fixture
def rows() -> Corpus:
    doc = tree("Ann/p/nsubj/1 met/v/ROOT/1 Eve/p/obj/1|She/r/nsubj/1 left/v/ROOT/1")
    generator = np.random.default_rng(0)
    base = example(doc, "She", "Ann", "Eve")
    labels = generator.integers(0, 3, N)
    return corpus(*(replace(base, label=Label(int(label))) for label in labels))


@pytest.fixture
def member(monkeypatch, rows):
    """A URL member, and cue_decisions on ``rows`` that are right 4 times in 5 on level 0, at chance on level 2."""
    generator = np.random.default_rng(1)
    labels = rows.labels
    levels = generator.choice([0, 2], N)
    right = generator.random(N) < np.where(levels == 0, 0.8, 0.0)
    choices = np.where(right & (labels < 2), labels, generator.integers(0, 2, N))
    margins = generator.choice([0, 1, 2, 5, np.inf], N)
    said = cue_decisions(choices, levels, margins)
    monkeypatch.setattr(module, "decide", lambda corpus, *_: said)
    return create("url"), said


def answer(monkeypatch, fitted, rows, said):
    monkeypatch.setattr(module, "decide", lambda corpus, *_: said)
    return fitted.predict_proba(rows[: len(said.levels)])


def test_a_pass_that_is_right_more_often_is_trusted_more(monkeypatch, member, rows):
    fitted = member[0].fit(rows)
    p = answer(monkeypatch, fitted, rows, cue_decisions([0, 0], [0, 2], [2, 2]))
    assert p[0, 0] > 0.5
    assert p[0, 0] > p[1, 0] + 0.1


def test_the_chosen_name_gains_with_the_margin_and_neither_never_does(monkeypatch, member, rows):
    fitted = member[0].fit(rows)
    margins = [0, 0.5, 1, 3, 10, 100, np.inf]
    for level in (0, 1, 2):
        said = cue_decisions([0] * len(margins), [level] * len(margins), margins)
        p = answer(monkeypatch, fitted, rows, said)
        assert (np.diff(np.log(p[:, 0] / p[:, 1])) >= -1e-9).all()
        assert (np.diff(np.log(p[:, 2] / p[:, 0])) <= 1e-9).all()


def test_who_chooses_somebody_else_says_neither(monkeypatch, rows):
    labels = rows.labels
    said = cue_decisions(np.where(labels == 2, 2, labels), np.zeros(N, int), np.ones(N))
    monkeypatch.setattr(module, "decide", lambda corpus, *_: said)
    fitted = create("parallelism", candidates="detected").fit(rows)
    p = answer(monkeypatch, fitted, rows, cue_decisions([2, 0], [0, 0], [1, 1]))
    assert p[0, 2] > 0.9
    assert p[0, 0] == pytest.approx(p[0, 1])
    assert p[1, 0] > 0.9


@pytest.mark.parametrize(
    ("name", "settings", "complaint"),
    [
        ("token_distance", {"closeness": "token"}, "no such setting"),
        ("url", {"context": "snippet-context"}, "page's title"),
    ],
)
def test_a_setting_that_a_cue_has_not_is_refused(name, settings, complaint, rows):
    with pytest.raises(MemberError, match=complaint):
        create(name, **settings).fit(rows)


def test_confidence_is_the_drawn_share_of_what_names_get(sample):
    answers = Random(confidence=0.9).fit(sample).predict_proba(sample)
    neither = (np.count_nonzero(sample.labels == 2) + 1) / (len(sample) + 3)
    np.testing.assert_allclose(answers[:, 2], neither)
    np.testing.assert_allclose(answers[:, :2].max(axis=1), 0.9 * (1 - neither))
