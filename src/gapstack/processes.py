"""Threads, processes and executors, none of which outlive the process that started them; and precision.

An executor calls a function for each of many items, in this process or in the workers of a joblib backend. Tasks are
independent and store their results atomically, so results do not depend on the executor.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, count
from logging.handlers import QueueHandler
from multiprocessing import current_process, get_context
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from threadpoolctl import threadpool_limits

from gapstack.errors import MemberError
from gapstack.progress import silence
from gapstack.registry import import_extra, unknown

if TYPE_CHECKING:
    import torch

Item = TypeVar("Item")
Result = TypeVar("Result")
Executor = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[tuple[Any, Any]]]
"""Calls a function for each item, in this process or others; yields items with results when they are done."""
BACKENDS = ("loky", "ray", "dask")
"""joblib's backends by name: processes of this machine, or the workers of a Ray or Dask cluster."""
FORK_ROWS = 600
"""Fewer rows take less time than starting processes."""
_MAX_LOSSES = 2  # workers that may be lost while an item is running, before it is given up
_LOG = logging.getLogger("gapstack")


def thread_count() -> int:
    """Number of threads of this process: ``OMP_NUM_THREADS``, by default the cores that it may use."""
    from joblib import cpu_count

    return int(os.environ.get("OMP_NUM_THREADS") or cpu_count())


def in_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Results of a function that releases the GIL, in ``OMP_NUM_THREADS`` threads (default: one per core)."""
    with threadpool_limits(1), ThreadPoolExecutor(thread_count()) as pool:
        return list(pool.map(function, items))


def fork_count(tasks: int, rows: int) -> int:
    """Number of forks of this process for tasks over ``rows`` rows, at most one per core; 1 if it should not fork.

    On a CPU, small products and Python's own work gain more from a process for each core than from threads. An
    accelerator cannot be used after a fork, and macOS's libraries do not survive one.
    """
    if rows < FORK_ROWS:
        return 1
    torch = sys.modules.get("torch")
    if sys.platform != "linux" or (torch and torch.accelerator.is_available()):
        return 1
    return max(1, min(tasks, thread_count()))


def in_processes(
    function: Callable[[Item], Result], items: Iterable[Item], processes: int
) -> Iterator[Result]:
    """Yield results of a function for each item as they are ready; BrokenProcessPool if a process dies.

    Each process has one thread. On Linux they are forks of this process and share what it has in memory, so only items
    and results are pickled.
    """
    if processes == 1:
        yield from map(function, items)
        return
    call, context = function, None
    if sys.platform == "linux":
        call, context = _Inherited(next(_numbers)), get_context("fork")
        _functions[call.number] = function
    pool = ProcessPoolExecutor(processes, context, _start_quiet_worker)
    try:
        for future in as_completed([pool.submit(call, item) for item in items]):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)
        if isinstance(call, _Inherited):
            del _functions[call.number]


_functions: dict[int, Callable[[Any], Any]] = {}  # of this process, which its forks inherit
_numbers = count()


@dataclass(frozen=True)
class _Inherited:
    """A function of the process that forked this one."""

    number: int

    def __call__(self, item: Any) -> Any:
        return _functions[self.number](item)


def _start_quiet_worker() -> None:
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent handles interrupts
    silence()
    os.environ["OMP_NUM_THREADS"] = "1"
    threadpool_limits(1)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)


def fastest_dtype(device: torch.device) -> torch.dtype:
    """bfloat16 if ``device`` multiplies it in hardware, else float32."""
    import torch

    if device.type == "cuda":
        has_bfloat16 = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        has_bfloat16 = device.type == "cpu" and (
            torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
        )
    return torch.bfloat16 if has_bfloat16 else torch.float32


def raise_gc_threshold() -> None:
    """Look for reference cycles less often; parses and features are many small objects without any."""
    gc.set_threshold(20_000)


def die_with_parent() -> None:
    """Exit when the parent dies; the inherited queue would keep the worker waiting forever."""
    parent = os.getppid()

    def follow() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    Thread(target=follow, name="die-with-parent", daemon=True).start()


def in_order(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
    """The executor of this process."""
    for item in items:
        yield item, function(item)


def create_executor(workers: int = 1, backend: str = "loky") -> Executor:
    """Create an executor of ``workers`` tasks at once, on one of :data:`BACKENDS`.

    One worker is this process. Workers of this machine share its threads and GPUs. ``RAY_ADDRESS`` and
    ``DASK_SCHEDULER_ADDRESS`` name a cluster, whose machines must see the same files at the same paths; without an
    address, Ray and Dask start one on this machine. When a worker is lost, what was running is repeated; MemberError
    if it is lost again. Raises UnknownNameError for an unknown backend, ExtraError if its package is not installed.
    """
    if backend not in BACKENDS:
        raise unknown("executor", backend, BACKENDS)
    if workers == 1:
        if backend != "loky":
            raise MemberError(
                f"one worker is this process; use --workers 2 or more with --executor {backend}"
            )
        return in_order
    if backend != "loky":
        import_extra({"ray": "ray", "dask": "distributed"}[backend], backend)
    return partial(_in_workers, workers=workers, backend=backend)


class _Done(NamedTuple):
    """Number of a task, what it returned and what it logged."""

    number: int
    result: Any
    log: list[logging.LogRecord]


class _Settings(NamedTuple):
    """What tasks need of the process that started them."""

    threads: int
    log_level: int
    folder: str
    environment: dict[str, str]


def _in_workers(
    function: Callable[[Any], Any], items: Iterable[Any], *, workers: int, backend: str
) -> Iterator[tuple[Any, Any]]:
    from joblib import Parallel, delayed

    running: dict[int, Any] = {}
    losses: Counter[int] = Counter()
    coming = enumerate(items)
    with _configured(backend, workers) as threads:
        environment = {
            name: value
            for name, value in os.environ.items()
            if name.startswith("GAP") and not name.endswith("KEY")
        }
        settings = _Settings(threads, _LOG.getEffectiveLevel(), str(Path.cwd()), environment)

        def tasks(again: dict[int, Any]) -> Iterator[Any]:
            for number, item in chain(again.items(), coming):
                running[number] = item
                yield delayed(_work)(function, number, item, settings)

        while True:
            # tasks are taken from the items a few ahead of the workers
            parallel = Parallel(workers, return_as="generator_unordered", batch_size=1)
            try:
                for done in parallel(tasks(dict(running))):
                    for record in done.log:  # handlers are those of this process
                        logging.getLogger(record.name).handle(record)
                    yield running.pop(done.number), done.result
                return
            except _loss_errors(backend) as error:
                losses.update(running.keys())
                lost = [item for number, item in running.items() if losses[number] >= _MAX_LOSSES]
                if lost:
                    names = " or ".join(str(getattr(item, "name", item)) for item in lost)
                    raise MemberError(
                        f"a worker died {_MAX_LOSSES} times over {names} (killed for memory?); finished work is "
                        "kept. Run again with fewer workers"
                    ) from error
                _LOG.warning("a worker was lost; what was running is repeated")


@contextmanager
def _configured(backend: str, workers: int) -> Iterator[int]:
    """Make a backend joblib's own while the block runs, and yield the number of threads of each worker."""
    from joblib import parallel_config
    from joblib.externals.loky import get_reusable_executor

    if backend == "loky":
        threads = max(1, thread_count() // workers)
        with parallel_config("loky", inner_max_num_threads=threads):
            try:
                yield threads
            finally:  # idle workers would keep memory and GPUs
                get_reusable_executor(max_workers=workers, reuse=True, kill_workers=True).shutdown()
    elif backend == "ray":
        from gapstack.ray_backend import ray_cluster

        with ray_cluster(workers, thread_count()) as threads, parallel_config("ray", threads=threads):
            yield threads
    else:
        distributed = import_extra("distributed", "dask")
        address = os.environ.get("DASK_SCHEDULER_ADDRESS")
        local = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
        with distributed.Client(address) if address else distributed.Client(**local) as client:
            threads = max(
                1, min(client.nthreads().values(), default=1) if address else thread_count() // workers
            )
            with parallel_config("dask"):
                yield threads


def _loss_errors(backend: str) -> tuple[type[Exception], ...]:
    """Exceptions that mean a lost worker."""
    if backend == "dask":
        return (import_extra("distributed", "dask").scheduler.KilledWorker,)
    return (BrokenExecutor,)


def _work(function: Callable[[Any], Any], number: int, item: Any, settings: _Settings) -> _Done:
    """Call the function in a worker."""
    _prepare_worker(settings.threads)
    os.environ.update(settings.environment)
    os.chdir(settings.folder)
    lines: SimpleQueue[logging.LogRecord] = SimpleQueue()
    handler = QueueHandler(lines)
    _LOG.addHandler(handler)
    _LOG.setLevel(settings.log_level)
    try:
        result = function(item)
    finally:
        _LOG.removeHandler(handler)
    return _Done(number, result, [lines.get() for _ in range(lines.qsize())])


@cache
def _prepare_worker(threads: int) -> None:
    """Set a worker's end, threads and GPU; only the parent shows progress bars."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    die_with_parent()
    raise_gc_threshold()
    silence()
    try:
        import torch
    except ModuleNotFoundError:  # texts are annotated without it
        return
    torch.set_num_threads(threads)
    place = current_process()._identity  # empty in Ray, which assigns GPUs itself
    if place and torch.cuda.is_available():
        torch.cuda.set_device((place[-1] - 1) % torch.cuda.device_count())
