"""Results do not depend on the executor; a lost worker is an error, and a killed parent ends its workers."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from gapstack import progress
from gapstack.encoding import frozen
from gapstack.errors import ExtraError, MemberError
from gapstack.processes import (
    BACKENDS,
    FORK_ROWS,
    create_executor,
    fastest_dtype,
    fork_count,
    in_processes,
    in_threads,
    thread_count,
)
from gapstack.runs.recipe import Part, Recipe
from gapstack.runs.runner import run
from gapstack.training.devices import compute_dtype

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
    from gapstack.processes import create_executor, in_processes

    endless = Endless(Path(sys.argv[1]))
    if sys.argv[2] == "forked":
        list(in_processes(endless, range(2), 2))
    list(create_executor(2)(endless, range(2)))
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="looks processes up in /proc")
@pytest.mark.parametrize("kind", ["spawned", "forked"])
def test_a_killed_parent_takes_its_workers_along(kind, tmp_path):
    script, seen = tmp_path / "busy.py", tmp_path / "seen"
    script.write_text(BUSY)
    seen.mkdir()
    parent = subprocess.Popen([sys.executable, script, seen, kind], cwd=tmp_path)

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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks")
def test_forks_share_memory_and_have_one_thread_each(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    large = list(range(100))

    def seen(number: int) -> tuple[int, int, int]:
        return large[number], thread_count(), torch.get_num_threads()

    assert fork_count(9, FORK_ROWS) == 3
    assert fork_count(2, FORK_ROWS) == 2
    assert fork_count(9, FORK_ROWS - 1) == 1
    assert sorted(in_processes(seen, range(9), 3)) == [(number, 1, 1) for number in range(9)]
    assert thread_count() == 3
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    assert fork_count(9, FORK_ROWS) == 1


def _process(number: int) -> tuple[int, int]:
    return os.getpid(), number


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_workers(
    sample_train, sample_test, tiny_encoder_folder, tmp_path, monkeypatch
):
    settings = {"max_pieces": 96, "training": {"epochs": 1, "precision": "float32"}}
    probert = Part("probert", "probert", {"encoder": str(tiny_encoder_folder)} | settings)
    recipe = Recipe("tiny", (Part("prior", "prior"), probert), folds=3)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    alone = run(recipe, sample_train[:36], sample_test[:8], root=tmp_path / "alone")
    other = run(recipe, sample_train[:36], sample_test[:8], root=tmp_path / "two", workers=2)
    for one, two in zip(alone.members, other.members, strict=True):
        np.testing.assert_allclose(two.out_of_fold, one.out_of_fold, atol=1e-6)
        np.testing.assert_allclose(two.test, one.test, atol=1e-6)


def work(folder: Path, number: int) -> None:
    """Note the threads of the worker; number 1 logs, 2 fails and 3 kills its process."""
    logging.getLogger("gapstack.training").debug("not relayed")
    if number:
        logging.getLogger("gapstack.training").info("task %d", number)
    if number == 2:
        raise ValueError("no such task")
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    threads = f"{os.environ.get('OMP_NUM_THREADS')} {torch.get_num_threads()} {progress.console.quiet}"
    (folder / str(number)).write_text(threads)


@pytest.mark.slow
def test_workers_share_threads_and_their_log_and_errors_reach_this_process(tmp_path, monkeypatch, caplog):
    caplog.set_level("INFO", "gapstack")
    monkeypatch.setenv("OMP_NUM_THREADS", "6")
    execute = create_executor(2)
    read = []
    stream = execute(partial(work, tmp_path), (read.append(n) or n for n in [0, 1, *[0] * 40]))
    first = next(stream)
    assert len(read) < 20, "items are read a few ahead of the workers"
    assert {number for number, _ in (first, *stream)} == {0, 1}
    assert caplog.messages == ["task 1"]
    assert (tmp_path / "0").read_text() == "3 3 True"
    with pytest.raises(ValueError, match="no such task"):
        list(execute(partial(work, tmp_path), [2]))
    with pytest.raises(MemberError, match=r"worker died 2 times over 3 .*finished work is kept"):
        list(execute(partial(work, tmp_path), [3]))


def fail_once(folder: Path, number: int) -> int:
    """Kill the process at the first call with number 3; all others return."""
    (folder / f"{number} {time.monotonic_ns()}").touch()
    if number == 3 and len(list(folder.glob("3 *"))) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_a_lost_worker_was_doing_is_repeated_and_finished_items_are_not(backend, tmp_path):
    if backend != "loky":
        pytest.importorskip(
            {"ray": "ray", "dask": "distributed"}[backend], reason=f"{backend} is not installed"
        )
    execute = create_executor(2, backend)
    seen = []
    for number, square in execute(partial(fail_once, tmp_path), range(8)):
        seen.append(number)
        assert square == number * number
    assert sorted(seen) == list(range(8))


@pytest.mark.parametrize(("workers", "backend"), [(2, "spark"), (1, "ray")])
def test_impossible_executors_are_refused(workers, backend):
    with pytest.raises(MemberError, match=backend):
        create_executor(workers, backend)


def test_a_backend_that_is_not_installed_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ExtraError, match=r"\[ray\]"):
        create_executor(2, "ray")


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("in_hardware", [False, True])
def test_frozen_encoders_and_training_compute_in_bfloat16_only_where_the_device_has_it(
    device, in_hardware, monkeypatch
):
    # emulation alone does not count
    monkeypatch.setattr(
        torch.cuda, "is_bf16_supported", lambda including_emulation=True: including_emulation or in_hardware
    )
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: in_hardware)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
    monkeypatch.setattr(frozen, "_device", lambda: torch.device(device))
    expected = torch.bfloat16 if in_hardware else torch.float32
    assert fastest_dtype(torch.device(device)) == frozen.computes_in() == expected
    assert compute_dtype("auto", torch.device(device)) == expected
    assert compute_dtype("bf16", torch.device(device)) == torch.bfloat16
    assert compute_dtype("float32", torch.device(device)) == torch.float32
    assert fastest_dtype(torch.device("meta")) == torch.float32, "an unknown device"
