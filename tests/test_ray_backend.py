"""A Ray cluster of two workers, one of which is killed in the middle, gives the bytes of one process."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from gapstack.data.gap_data import load_gap
from gapstack.data.sources import data_in

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="looks processes up in /proc"),
]


ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
    "RAY_raylet_start_wait_time_s": "240",
    "RAY_worker_niceness": "0",
}


class Cluster(NamedTuple):
    address: str
    process: subprocess.Popen

    def working(self) -> list[int]:
        """Workers that are executing a task."""
        return [pid for pid in _processes() if _title(pid) == b"ray::_call" and self._has(pid)]

    def _has(self, pid: int) -> bool:
        while pid > 1 and pid != self.process.pid:
            pid = _parent(pid)
        return pid == self.process.pid

    def kill_a_worker(self, job: subprocess.Popen, has_begun) -> None:
        wait_until(lambda: has_begun() and self.working(), job)
        os.kill(self.working()[0], signal.SIGKILL)


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _title(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().strip(b"\0 ")
    except OSError:
        return b""


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Cluster:
    """A cluster with two cores on this machine."""
    pytest.importorskip("ray", reason="Ray is not installed (pip install -c constraints.txt '.[ray]')")
    folder = Path("/tmp") / f"ray-{os.getpid()}"  # sockets need a short path
    port = 20_000 + os.getpid() % 10_000
    log = (tmp_path_factory.mktemp("ray") / "log").open("w")
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", "--num-cpus=2"),
            *(f"--port={port}", f"--temp-dir={folder}", "--include-dashboard=false", "--disable-usage-stats"),
        ],
        stdout=log,
        stderr=subprocess.STDOUT,
        env=os.environ | ENVIRONMENT,
    )
    wait_until(lambda: "Ray runtime started" in Path(log.name).read_text(), process)
    yield Cluster(f"127.0.0.1:{port}", process)
    process.terminate()
    process.wait(60)
    shutil.rmtree(folder, ignore_errors=True)


def wait_until(condition, process: subprocess.Popen, seconds: float = 900) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        if process.poll() is not None:
            pytest.fail(f"the process ended: {process.stderr and process.stderr.read()}")
        time.sleep(0.05)


def command(home: Path, *arguments: str, **environment: str) -> subprocess.Popen:
    home.mkdir(exist_ok=True)
    places = {"GAPSTACK_HOME": str(home), "GAPSTACK_CACHE": str(home / "cache")}
    return subprocess.Popen(
        [sys.executable, "-m", "gapstack", *arguments],
        env=os.environ | ENVIRONMENT | places | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen) -> str:
    _, notes = process.communicate(timeout=900)
    assert process.returncode == 0, notes
    return notes


ON_RAY = ["--executor", "ray", "--workers", "2"]


def test_quickstart(cluster, tmp_path):
    run = ["run", "quickstart", "--data", "sample"]
    finish(command(tmp_path / "one", *run))
    job = command(tmp_path / "two", *run, *ON_RAY, RAY_ADDRESS=cluster.address)
    fits = tmp_path / "two" / "models" / "quickstart-sample" / "members"
    cluster.kill_a_worker(job, lambda: list(fits.glob("*/*/job.json")))
    assert "worker was lost" in finish(job)
    one, two = (tmp_path / name / "submissions" / "quickstart-sample.csv" for name in ("one", "two"))
    assert two.read_bytes() == one.read_bytes()


def test_texts(cluster, tmp_path):
    with data_in("sample"):
        data = load_gap()
    texts = [example.text for split in data.splits.values() for example in split]
    rows = [{"id": f"{number}", "text": text} for number, text in enumerate(texts)]  # of four batches
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    annotate = ["annotate", str(tmp_path / "texts.jsonl"), "--output"]
    finish(command(tmp_path, *annotate, str(tmp_path / "one.jsonl")))
    job = command(tmp_path, *annotate, str(tmp_path / "two.jsonl"), *ON_RAY, RAY_ADDRESS=cluster.address)
    cluster.kill_a_worker(job, lambda: list((tmp_path / "two.jsonl.partial").glob("*.chunk")))
    assert "worker was lost" in finish(job)
    assert (tmp_path / "two.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()
