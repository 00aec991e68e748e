"""A parent that is killed takes its workers along: those of a run, those that parse, and those of Ray."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from gapstack.processes import in_processes, in_threads

BUSY = """
import sys
from dataclasses import dataclass
from pathlib import Path
from time import sleep


@dataclass(frozen=True)
class Endless:
    place: Path

    def __call__(self, number):
        import os
        (self.place / str(os.getpid())).touch()
        sleep(600)


if __name__ == "__main__":
    from gapstack.runs.executors import create_executor

    list(create_executor(sys.argv[2], 2)(Endless(Path(sys.argv[1])), range(2)))
"""
PARSING = """
import os, sys
from pathlib import Path
from time import sleep

import spacy
from gapstack.text import parses

class Slow:
    def __init__(self, nlp, name): pass
    def __call__(self, doc):
        (Path(sys.argv[1]) / str(os.getpid())).touch()
        # workers come to the end of a shard, and then wait for work that nobody sends
        sleep(0.01)
        return doc

spacy.Language.factory("slow", func=Slow)
parses._WORTH_A_PROCESS = 2

class Pipeline:
    fingerprint = "slow"

    def load(self):
        nlp = spacy.blank("en")
        nlp.add_pipe("slow")
        return nlp

parses.os.cpu_count = lambda: 2
parses._fill(Path(sys.argv[1]) / "cache", Pipeline(), ["Ann left ."] * 200_000)
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="looks processes up in /proc")
@pytest.mark.parametrize("kind", ["local", "parsing", "ray"])
def test_a_killed_parent_takes_its_workers_along(kind, tmp_path):
    if kind == "ray":
        pytest.importorskip("ray", reason="Ray is not installed (pip install 'gapstack[ray]')")
    script, seen = tmp_path / "busy.py", tmp_path / "seen"
    script.write_text(PARSING if kind == "parsing" else BUSY)
    seen.mkdir()
    # Ray's workers must find the script's classes
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    parent = subprocess.Popen(
        [sys.executable, script, seen, kind], env=os.environ | {"PYTHONPATH": paths}, cwd=tmp_path
    )

    def workers() -> list[int]:
        return [int(path.name) for path in seen.iterdir() if path.name.isdigit()]

    try:
        wait_until(lambda: len(workers()) == 2, 90)
        assert parent.poll() is None
        assert all(map(alive, workers()))
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    try:
        wait_until(lambda: not any(map(alive, workers())), 30)
    finally:
        for pid in filter(alive, workers()):
            os.kill(pid, signal.SIGKILL)


def wait_until(condition, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.1)


def test_threads_are_as_many_as_allowed_and_answer_in_order(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    together = threading.Barrier(3, timeout=20)

    def wait(number: int) -> int:
        together.wait()  # breaks unless three wait
        return number * number

    assert in_threads(wait, range(6)) == [0, 1, 4, 9, 16, 25]
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda number: 1 // number, [1, 0])


def test_processes_do_all_items_and_a_lost_one_is_an_error():
    done = set(in_processes(_process, range(20), 2))
    assert {number for _, number in done} == set(range(20))
    assert os.getpid() not in {pid for pid, _ in done}
    assert list(in_processes(_process, range(3), 1)) == [(os.getpid(), number) for number in range(3)]
    with pytest.raises(BrokenProcessPool):
        list(in_processes(os._exit, range(1, 5), 2))


def _process(number: int) -> tuple[int, int]:
    return os.getpid(), number
