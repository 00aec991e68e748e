"""Executors: tasks in this process, in several processes of this machine, or on a Ray cluster.

Tasks are independent and store their results atomically, so results do not depend on the executor.
"""

from __future__ import annotations

import logging
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import islice
from logging.handlers import QueueHandler
from multiprocessing import get_context
from queue import SimpleQueue
from typing import Any

from gapstack.ensemble.stack import Executor, in_order
from gapstack.errors import MemberError
from gapstack.processes import die_with_parent, raise_gc_threshold
from gapstack.progress import console
from gapstack.registry import Entry, Registry, import_extra

_log = logging.getLogger(__name__)
PYTHON_FOR_RAY = shlex.quote(sys.executable)
"""This Python; Ray puts it into a shell command."""
_RAY_VARIABLES = {
    # by default Ray's workers have the lowest priority, and tasks that exceed the memory are retried forever
    "RAY_worker_niceness": "0",
    "RAY_task_oom_retries": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
}
_Task = Future[list[logging.LogRecord]]


def create_executor(kind: str = "local", workers: int = 1) -> Executor:
    """Create an executor, ``local`` or ``ray``, for ``workers`` tasks at once, which share the threads and the GPUs.

    With ``RAY_ADDRESS`` set, tasks go to that cluster, which must see the run folder, the cache and the data at the
    same paths; otherwise Ray starts a cluster on this machine. Raises UnknownNameError if there is no executor of this
    name; MemberError if ``workers`` is below 1; ExtraError if Ray is not installed.
    """
    execute = EXECUTORS[kind]
    if workers < 1:
        raise MemberError(f"at least one worker is needed; found {workers}")
    if kind == "ray":
        import_extra("ray", "ray")
    elif workers == 1:
        return in_order
    return partial(execute, workers=workers)


def _in_processes(function: Callable[[Any], object], items: Iterable[Any], *, workers: int) -> Iterator[Any]:
    import torch  # slow, and not needed by runs of rules and trees in this process

    threads = max(1, torch.get_num_threads() // workers)
    context = get_context("spawn")  # neither torch's threads nor CUDA survive a fork
    pool = ProcessPoolExecutor(workers, context, _start_worker, (threads, context.Value("i", 0)))
    submit = partial(pool.submit, partial(_work, function, _log.getEffectiveLevel()))
    try:
        yield from _finished(submit, items, workers, BrokenProcessPool)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _start_worker(threads: int, started: Any) -> None:
    """Prepare a worker: its end, its threads and its GPU; only the parent shows progress bars."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    import torch

    die_with_parent()
    raise_gc_threshold()
    console.quiet = True
    torch.set_num_threads(threads)
    if torch.cuda.is_available():
        with started.get_lock():
            torch.cuda.set_device(started.value % torch.cuda.device_count())
            started.value += 1


def _finished(
    submit: Callable[[Any], _Task], items: Iterable[Any], workers: int, *lost: type[Exception]
) -> Iterator[Any]:
    """Submit items, a few ahead of the workers, and yield each one that is done."""
    coming, running = iter(items), dict[_Task, Any]()
    while True:
        running |= {submit(item): item for item in islice(coming, 2 * workers - len(running))}
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            try:
                records = future.result()
            except lost as error:
                names = " or ".join(str(getattr(item, "name", item)) for item in running.values())
                raise MemberError(
                    f"a worker died over {names} (killed for memory?); finished work is kept. "
                    "Run again with fewer workers"
                ) from error
            for record in records:  # handlers are those of this process
                logging.getLogger(record.name).handle(record)
            yield running.pop(future)


def _work(
    function: Callable[[Any], object], level: int, item: Any, threads: int = 0
) -> list[logging.LogRecord]:
    """Call the function in a worker and return what it logs; if it fails, log lines are notes of the error."""
    if threads:
        import torch

        torch.set_num_threads(threads)
    lines: SimpleQueue[logging.LogRecord] = SimpleQueue()
    logger, handler = logging.getLogger("gapstack"), QueueHandler(lines)
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        function(item)
    except Exception as error:
        for _ in range(lines.qsize()):
            error.add_note(lines.get().getMessage())
        raise
    finally:
        logger.removeHandler(handler)
    return [lines.get() for _ in range(lines.qsize())]


def _on_ray(function: Callable[[Any], object], items: Iterable[Any], *, workers: int) -> Iterator[Any]:
    import torch

    ray = import_extra("ray", "ray")
    own = not ray.is_initialized()
    if own:
        for name, value in _RAY_VARIABLES.items():
            os.environ.setdefault(name, value)
        options: dict[str, Any] = {
            "num_cpus": max(workers, torch.get_num_threads()),
            "include_dashboard": False,
            "runtime_env": {"py_executable": PYTHON_FOR_RAY},
        }
        if os.environ.get("RAY_ADDRESS"):
            options = {"address": os.environ["RAY_ADDRESS"]}
        ray.init(**options, log_to_driver=False, logging_level="ERROR")
    running: list[Any] = []
    try:
        # each worker gets cores of one node, and a share of the GPUs
        available = ray.cluster_resources()
        largest = max(node["Resources"].get("CPU", 1) for node in ray.nodes() if node["Alive"])
        threads = max(1, int(min(available.get("CPU", 1) / workers, largest)))
        gpus = min(1.0, available.get("GPU", 0) / workers)
        run = ray.remote(max_retries=0, num_cpus=threads, num_gpus=gpus)(_work)
        shared = ray.put(function)

        def submit(item: Any) -> _Task:
            running.append(run.remote(shared, _log.getEffectiveLevel(), item, threads))
            future: _Task = running[-1].future()
            return future

        lost = (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError)
        yield from _finished(submit, items, workers, *lost)
    except ray.exceptions.RayTaskError as error:
        raise (error.cause or error) from error
    finally:
        for reference in running:
            ray.cancel(reference, force=True)
        if own:
            ray.shutdown()


EXECUTORS: Registry[Callable[..., Iterator[Any]]] = Registry(
    "executor",
    {
        "local": Entry(_in_processes, "this process, or several on this machine"),
        "ray": Entry(_on_ray, "a Ray cluster", needs="the extra ray"),
    },
)
"""By name: functions of a function, items and the number of workers."""
