"""The campaign: that it finds what is broken, and a short, seeded part of each of its parts."""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scripts.campaign import children, damage, tries
from scripts.campaign.children import Ended
from scripts.campaign.fuzz import BATCH, Fuzz
from scripts.campaign.parts import PARTS
from scripts.campaign.tries import Outcome, Part, Skip, carry_out, table

CAMPAIGN = Path(__file__).resolve().parents[2] / "scripts" / "campaign"


@pytest.fixture(scope="module")
def short() -> dict[str, dict[str, Any]]:
    """What came of the short campaign, by part, carried out in a process as a user would."""
    command = [sys.executable, str(CAMPAIGN), "--short", "--json"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=280)
    assert done.stdout, done.stderr
    return {part["part"]: part for part in json.loads(done.stdout)["parts"]}


@pytest.mark.slow
@pytest.mark.parametrize("part", [name for name, part in PARTS.items() if part.short])
def test_nothing_of_the_short_campaign_fails(short, part):
    if short[part]["skipped"]:
        pytest.skip(short[part]["skipped"])
    assert not short[part]["failures"]
    assert short[part]["tried"] >= PARTS[part].short


class Toy(Part):
    """A part whose attempts end as its table says."""

    name, short, usual, full = "toy", 5, 5, 5

    def attempt(self, number: int, rng: Random) -> Iterator[Outcome]:
        """The fourth try fails, the second breaks off."""
        (self.folder(number) / "draw").write_text(str(rng.random()))
        if number == 1:
            raise RuntimeError("not foreseen")
        yield Outcome("a try", "it lied" if number == 3 else "")


class TestWhatFails:
    def test_every_try_is_made_and_each_failure_says_how_to_repeat_it(self, tmp_path):
        report = carry_out(Toy(tmp_path, 4), tries=5)
        assert report.rows() == [("a try", 4, 1), ("an attempt", 1, 1)]
        printed = table([report])
        assert "FAILED toy, a try: it lied\n       python scripts/campaign toy --seed 4 --only 3" in printed
        assert "RuntimeError: not foreseen" in printed

    def test_the_same_attempt_draws_the_same(self, tmp_path):
        for name, only in (("all", None), ("alone", 3)):
            (tmp_path / name).mkdir()
            carry_out(Toy(tmp_path / name, 4), tries=5, only=only, jobs=2)
        draws = [(tmp_path / name / "000003" / "draw").read_text() for name in ("all", "alone")]
        assert draws[0] == draws[1]
        assert tries.generator("toy", 5, 3).random() != float(draws[0])

    def test_a_worker_that_dies_is_a_failure(self, tmp_path, monkeypatch):
        monkeypatch.setattr(Toy, "attempt", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        assert [one.what for one in carry_out(Toy(tmp_path, 1), tries=5).failures] == [
            "a worker of the campaign"
        ]

    def test_a_part_that_cannot_be_prepared_is_a_failure_and_one_that_may_be_skipped_is_none(
        self, tmp_path, monkeypatch
    ):
        for error, failures in ((ValueError("no"), 1), (Skip("no root here"), 0)):
            monkeypatch.setattr(Toy, "prepare", lambda _, error=error: (_ for _ in ()).throw(error))
            assert len(carry_out(Toy(tmp_path, 1), tries=5).failures) == failures

    @pytest.mark.parametrize(("problem", "status"), [("it lied", 1), ("", 0)])
    def test_the_exit_status_tells_whether_anything_failed(
        self, tmp_path, monkeypatch, capsys, problem, status
    ):
        monkeypatch.setattr(Toy, "attempt", lambda *_: iter([Outcome("a try", problem)]))
        monkeypatch.setattr(children, "warm", lambda: None)
        monkeypatch.setitem(PARTS, "toy", Toy)
        monkeypatch.setattr(
            sys, "argv", ["campaign", "toy", "--count", "1", "--json", "--place", str(tmp_path)]
        )
        with pytest.raises(SystemExit) as end:
            runpy.run_path(str(CAMPAIGN), run_name="__main__")
        assert end.value.code == status
        assert json.loads(capsys.readouterr().out)["parts"][0]["failed"] == status
        assert not list(tmp_path.iterdir())


@dataclass(frozen=True)
class Reader:
    """A reader as tests/fuzz.py has them."""

    read: Any
    valid: bytes = b"valid"
    suffix: str = ".txt"


def _fails_at(problem: Any) -> Any:
    def read(path: Path) -> None:
        if path.read_bytes() == repr(tries.generator("broken", 1, BATCH + 7).random()).encode():
            problem()

    return read


def _raises(error: Exception) -> Any:
    def problem() -> None:
        raise error

    return problem


class TestFuzz:
    @pytest.mark.parametrize(
        ("problem", "expected"),
        [
            (_raises(KeyError("text")), "KeyError"),
            (lambda: bytes(8 << 30), "MemoryError"),
            (lambda: os._exit(7), "ended with 7"),
            (lambda: sum(iter(int, 1)), "took more than 0.2 s"),
        ],
        ids=["another error", "memory", "a crash", "time"],
    )
    def test_a_broken_reader_is_reported_with_the_mutation(self, tmp_path, monkeypatch, problem, expected):
        monkeypatch.setattr("scripts.campaign.fuzz.SECONDS", 0.2)
        part = Fuzz(tmp_path, 1)
        part.readers = {"sound": Reader(Path.read_bytes), "broken": Reader(_fails_at(problem))}
        part.mutate = lambda data, rng: repr(rng.random()).encode()
        report = carry_out(part, tries=2 * BATCH)
        (failure,) = report.failures
        assert failure.what == "broken"
        assert "mutation 7: " in failure.problem
        assert expected in failure.problem
        assert report.rows() == [("broken", BATCH, 1), ("sound", BATCH, 0)]

    def test_a_refusal_must_be_printable(self, tmp_path):
        from gapstack.errors import DataError
        from scripts.campaign.fuzz import judge

        assert judge(_raises(DataError("no such id: row-1")).__call__, tmp_path) != ""

        class RawError(DataError):
            def __str__(self):
                return self.problem

        refused = {text: judge(lambda _, text=text: _raises(RawError(text))(), tmp_path) for text in "a\x1b"}
        assert refused["a"] == ""
        assert "control characters" in refused["\x1b"]


@pytest.mark.parametrize(
    ("status", "err", "expected"),
    [
        (2, "working\ngap: no such file\n", ""),
        (2, "gap: one\ngap: two\n", "not one line"),
        (2, "gap: one\nand more\n", "not one line"),
        (2, "gap: red \x1b[31m\n", "control characters"),
        (1, "gap: no such file\n", "exit status 1"),
        (1, "Traceback (most recent call last):\nKeyError: 'x'\n", "traceback: KeyError"),
        (-6, "Aborted", "died of signal 6"),
    ],
)
def test_a_refusal_is_one_line_and_exit_status_2(status, err, expected):
    problem = Ended(status, "", err, 0.0, 0).problem
    assert (expected in problem) if expected else not problem


class TestDamage:
    @pytest.mark.parametrize("kind", damage.KINDS)
    def test_every_kind_damages(self, tmp_path, kind):
        content = b"".join(b"line %d\n" % number for number in range(40))
        (tmp_path / "other").write_bytes(b"another\n")
        for seed in range(20):
            path = tmp_path / f"{seed}.txt"
            path.write_bytes(content)
            damage.apply(path, kind, Random(seed), tmp_path / "other")
            assert not path.is_file() or path.read_bytes() != content

    def test_the_sibling_of_a_fold_s_file_is_another_fold_s(self, tmp_path):
        for fold in range(3):
            (tmp_path / f"fold-{fold}" / "member").mkdir(parents=True)
            (tmp_path / f"fold-{fold}" / "member" / "state.json").write_text("{}")
        found = damage.sibling(tmp_path / "fold-0" / "member" / "state.json")
        assert found == tmp_path / "fold-1" / "member" / "state.json"


def test_a_process_dies_at_the_change_of_a_file_that_it_was_given(tmp_path):
    def work() -> None:
        children.die_at(3, tmp_path / "files")
        (tmp_path / "files").mkdir()
        for number in range(5):
            (tmp_path / "files" / f"{number}").write_text("")

    ended = children.start(work, tmp_path / "streams").wait()
    assert ended.status == -signal.SIGKILL
    assert [path.name for path in (tmp_path / "files").iterdir()] == ["0"]
