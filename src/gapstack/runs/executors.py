"""Executors of a run's jobs: this process, several on this machine, or a Ray cluster.

Jobs are independent and write their results atomically, so that a lost worker costs only its job, which is repeated,
and results do not depend on the executor. Workers end with the process that started them, even if it is killed, since
they do not hold the lock of its run. (Ray does so for a cluster that is started here.)
"""

from __future__ import annotations

import logging
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from logging.handlers import QueueHandler
from multiprocessing import get_context
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Protocol

from gapstack.errors import MemberError
from gapstack.processes import collect_rarely, die_with_parent
from gapstack.progress import console
from gapstack.registry import Entry, Registry
from gapstack.runs.folder import RunFolder

_log = logging.getLogger(__name__)


class Job(Protocol):
    """A piece of work: one member on one fold (:mod:`gapstack.runs.jobs`), or some windows of a text."""

    @property
    def name(self) -> str:
        """Name for display."""

    def is_done(self, folder: RunFolder) -> bool:
        """Whether ``folder`` holds its result."""

    def run(self, folder: RunFolder) -> None:
        """Execute it and write its result to ``folder`` atomically."""


class Shard(Job, Protocol):
    """A job of a stream that is too long to be held at once."""

    @property
    def key(self) -> str:
        """Hash of everything that decides its result."""

    @property
    def size(self) -> int:
        """How far it moves the stream on."""


Executor = Callable[[Sequence[Any], RunFolder, Callable[[Any], None]], None]
"""Executes all jobs and reports each that is done."""

MOST_LOSSES = 3
"""Workers lost over one job before the run gives up."""

_OF_RAY = {
    # by default Ray's workers have the lowest priority and starve beside other work
    "RAY_worker_niceness": "0",
    # by default Ray repeats tasks that exceed the node's memory for ever
    "RAY_task_oom_retries": str(MOST_LOSSES),
    "RAY_USAGE_STATS_ENABLED": "0",
}


def create_executor(kind: str = "local", workers: int = 1) -> Executor:
    """Make an executor.

    Parameters
    ----------
    kind : str
        ``local`` or ``ray``. With ``RAY_ADDRESS`` set, Ray's jobs go to that cluster, which must see the run
        folder, the cache and the data at the same paths; else a cluster of this machine is started.
    workers : int
        Jobs to execute at once. They share evenly the threads of this process (all cores, unless ``OMP_NUM_THREADS``
        is set), or a cluster's cores, and the GPUs. Each has a model, its optimiser and its views in memory.

    Raises
    ------
    UnknownNameError
        If there is no such kind.
    MemberError
        If ``workers`` is below 1, or Ray is not installed.
    """
    create = EXECUTORS[kind]
    if workers < 1:
        raise MemberError(f"at least one worker must do the jobs; asked for {workers}")
    return create(workers)


def execute_stream(
    shards: Iterable[Shard],
    folder: RunFolder,
    execute: Executor,
    at_once: int,
    advance: Callable[[float], None],
) -> list[str]:
    """Execute a stream of shards, but for those that are done; give the keys of all, in order.

    Parameters
    ----------
    shards : iterable of Shard
    folder : RunFolder
    execute : Executor
    at_once : int
        Shards that are handed out together; workers start anew for the next ones.
    advance : callable
        Told the size of what is done.
    """
    coming, keys = iter(shards), []
    while together := list(islice(coming, at_once)):
        keys += [shard.key for shard in together]
        waiting = [shard for shard in together if not shard.is_done(folder)]
        advance(sum(shard.size for shard in together) - sum(shard.size for shard in waiting))
        if waiting:
            execute(waiting, folder, lambda shard: advance(shard.size))
    return keys


def _of_this_machine(workers: int) -> Executor:
    if workers == 1:
        return _here
    return lambda jobs, folder, report: _in_processes(jobs, folder, report, workers)


def _of_ray(workers: int) -> Executor:
    _ray()
    return lambda jobs, folder, report: _on_ray(jobs, folder, report, workers)


EXECUTORS: Registry[Callable[[int], Executor]] = Registry(
    "executor",
    {
        "local": Entry(_of_this_machine, "this process, or several on this machine"),
        "ray": Entry(_of_ray, "a Ray cluster", needs="the extra ray"),
    },
)
"""By name: functions of the number of workers."""


def _here(jobs: Sequence[Job], folder: RunFolder, report: Callable[[Any], None]) -> None:
    for job in jobs:
        job.run(folder)
        report(job)


def _in_processes(
    jobs: Sequence[Job], folder: RunFolder, report: Callable[[Any], None], workers: int
) -> None:
    """A pool that loses a process is broken as a whole: unfinished jobs go to a new one."""
    import torch  # slow, and of no use to jobs done here by rules and trees

    open_jobs, losses = list(jobs), 0
    threads = max(1, torch.get_num_threads() // workers)
    context = get_context("spawn")  # neither torch's threads nor CUDA survive a fork
    while open_jobs:
        before, place = len(open_jobs), context.Value("i", 0)
        pool = ProcessPoolExecutor(min(workers, before), context, _begin, (threads, place))
        try:
            # processes start when jobs are submitted, and may be lost before the last one is
            with _environment(OMP_NUM_THREADS=str(threads)):
                futures = {
                    pool.submit(_work, job, folder, _log.getEffectiveLevel()): job for job in open_jobs
                }
            for future in as_completed(futures):
                _relay(future.result())
                open_jobs.remove(futures[future])
                report(futures[future])
        except BrokenProcessPool:
            # a worker may be lost after its job is done and before it reports
            for job in [job for job in open_jobs if job.is_done(folder)]:
                open_jobs.remove(job)
                report(job)
            losses = 1 if len(open_jobs) < before else losses + 1
            if losses >= MOST_LOSSES:
                raise _gave_up(open_jobs[:workers]) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Set variables for processes that start within the block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _begin(threads: int, place: Any) -> None:
    """Prepare a worker process: its end, its threads and its GPU; only the parent draws progress bars."""
    import torch

    die_with_parent()
    collect_rarely()
    console.quiet = True
    torch.set_num_threads(threads)
    if torch.cuda.is_available():
        with place.get_lock():
            torch.cuda.set_device(place.value % torch.cuda.device_count())
            place.value += 1


def _work(job: Job, folder: RunFolder, level: int) -> list[logging.LogRecord]:
    """Do a job in a worker and give what it logs, from ``level`` on: the handlers are those of the parent.

    If the job fails, its lines are notes of the error. Those of a worker that is lost come from the one that repeats
    the job.
    """
    lines: SimpleQueue[logging.LogRecord] = SimpleQueue()
    logger, handler = logging.getLogger("gapstack"), QueueHandler(lines)
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        job.run(folder)
    except Exception as error:
        for record in _drained(lines):
            error.add_note(record.getMessage())
        raise
    finally:
        logger.removeHandler(handler)
    return _drained(lines)


def _drained(lines: SimpleQueue[logging.LogRecord]) -> list[logging.LogRecord]:
    return [lines.get() for _ in range(lines.qsize())]


def _relay(records: Sequence[logging.LogRecord]) -> None:
    """Log in this process what a worker has logged."""
    for record in records:
        logging.getLogger(record.name).handle(record)


def _gave_up(jobs: Sequence[Job]) -> MemberError:
    return MemberError(
        f"workers died {MOST_LOSSES} times over {' or '.join(job.name for job in jobs)} (killed for memory?); "
        "finished folds are kept. Run again with fewer workers"
    )


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise MemberError("Ray is not installed; run: pip install 'gapstack[ray]'") from None
    return ray


def python_for_ray() -> str:
    """Path of this Python, quoted, since Ray puts it into a shell line."""
    return shlex.quote(sys.executable)


def _on_ray(jobs: Sequence[Job], folder: RunFolder, report: Callable[[Any], None], workers: int) -> None:
    import torch

    ray = _ray()
    mine = not ray.is_initialized()
    if mine:
        for name, value in _OF_RAY.items():
            os.environ.setdefault(name, value)
        address = os.environ.get("RAY_ADDRESS")
        here = {
            "num_cpus": max(workers, torch.get_num_threads()),
            "include_dashboard": False,
            "runtime_env": {"py_executable": python_for_ray()},
        }
        ray.init(**({"address": address} if address else here), log_to_driver=False, logging_level="ERROR")
    waiting: dict[Any, Job] = {}
    try:
        share = _share(ray, workers)
        run = ray.remote(max_retries=MOST_LOSSES - 1, **share)(_run_on_ray)
        coming = iter(jobs)
        while True:
            # no more than workers: each carries its corpora to the cluster's memory
            while len(waiting) < workers and (job := next(coming, None)) is not None:
                waiting[run.remote(job, folder.root, share["num_cpus"], _log.getEffectiveLevel())] = job
            if not waiting:
                break
            (reference, *_), _ = ray.wait(list(waiting))
            job = waiting.pop(reference)
            try:
                _relay(ray.get(reference))
            except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError):
                raise _gave_up([job]) from None
            except ray.exceptions.RayTaskError as error:
                raise (error.cause or error) from error
            report(job)
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)
        if mine:
            ray.shutdown()


def _share(ray: Any, workers: int) -> dict[str, Any]:
    """Resources of each worker: cores (of one node) and a share of the GPUs."""
    whole = ray.cluster_resources()
    largest = max(node["Resources"].get("CPU", 1) for node in ray.nodes() if node["Alive"])
    cores = max(1, int(min(whole.get("CPU", 1) / workers, largest)))
    gpus = min(1.0, whole.get("GPU", 0) / workers)
    return {"num_cpus": cores, **({"num_gpus": gpus} if gpus else {})}


def _run_on_ray(job: Job, root: Path, threads: int, level: int) -> list[logging.LogRecord]:
    import torch

    torch.set_num_threads(threads)
    folder = RunFolder(root)
    # as above
    return [] if job.is_done(folder) else _work(job, folder, level)
