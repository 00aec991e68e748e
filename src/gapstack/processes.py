"""Threads, processes and executors, none of which outlive the process that started them; and precision.

An executor calls a function for each of many items, in this process or in several. Tasks are independent and
store their results atomically, so results do not depend on the executor.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import islice
from logging.handlers import QueueHandler
from multiprocessing import connection, get_context, parent_process
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from threadpoolctl import threadpool_limits

from gapstack.errors import MemberError
from gapstack.progress import console

if TYPE_CHECKING:
    import torch

Item = TypeVar("Item")
Result = TypeVar("Result")
Executor = Callable[[Callable[[Any], object], Iterable[Any]], Iterator[Any]]
"""Calls a function for each item, in this process or others, and yields each item once it is done, in any order."""
_LOG = logging.getLogger("gapstack")
_Task = Future[list[logging.LogRecord]]


def in_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Results of a function that releases the GIL, in ``OMP_NUM_THREADS`` threads (default: one per core)."""
    threads = int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)
    with threadpool_limits(1), ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))


def in_processes(
    function: Callable[[Item], Result], items: Iterable[Item], processes: int
) -> Iterator[Result]:
    """Yield results of a function for each item as they are ready; BrokenProcessPool if a process dies."""
    if processes == 1:
        yield from map(function, items)
        return
    pool = ProcessPoolExecutor(processes, initializer=_start_quiet_worker)
    try:
        for future in as_completed([pool.submit(function, item) for item in items]):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _start_quiet_worker() -> None:
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles interrupts


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
    """End this worker as soon as its parent ends, which its own open queue would never show it."""
    parent = parent_process()

    def follow(sentinel: int) -> None:
        connection.wait([sentinel])
        os._exit(1)

    if parent is not None:
        Thread(target=follow, args=(parent.sentinel,), name="die-with-parent", daemon=True).start()


def in_order(function: Callable[[Item], object], items: Iterable[Item]) -> Iterator[Item]:
    """The executor of this process."""
    for item in items:
        function(item)
        yield item


def create_executor(workers: int = 1) -> Executor:
    """Create an executor of as many tasks at once, which share the threads and the GPUs of this machine."""
    return in_order if workers == 1 else partial(_in_workers, workers=workers)


def _in_workers(function: Callable[[Any], object], items: Iterable[Any], *, workers: int) -> Iterator[Any]:
    import torch  # slow, and not needed by runs of rules and trees in this process

    threads = max(1, torch.get_num_threads() // workers)
    context = get_context("spawn")  # neither torch's threads nor CUDA survive a fork
    pool = ProcessPoolExecutor(workers, context, _start_worker, (threads, context.Value("i", 0)))
    submit = partial(pool.submit, partial(_work, function, _LOG.getEffectiveLevel()))
    try:
        yield from _finished(submit, items, workers)
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


def _finished(submit: Callable[[Any], _Task], items: Iterable[Any], workers: int) -> Iterator[Any]:
    """Submit items, a few ahead of the workers, and yield each one that is done."""
    coming, running = iter(items), dict[_Task, Any]()
    while True:
        running |= {submit(item): item for item in islice(coming, 2 * workers - len(running))}
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            try:
                records = future.result()
            except BrokenProcessPool as error:
                names = " or ".join(str(getattr(item, "name", item)) for item in running.values())
                raise MemberError(
                    f"a worker died over {names} (killed for memory?); finished work is kept. "
                    "Run again with fewer workers"
                ) from error
            for record in records:  # handlers are those of this process
                logging.getLogger(record.name).handle(record)
            yield running.pop(future)


def _work(function: Callable[[Any], object], level: int, item: Any) -> list[logging.LogRecord]:
    """Call the function in a worker and return what it logs."""
    lines: SimpleQueue[logging.LogRecord] = SimpleQueue()
    handler = QueueHandler(lines)
    _LOG.addHandler(handler)
    _LOG.setLevel(level)
    try:
        function(item)
    finally:
        _LOG.removeHandler(handler)
    return [lines.get() for _ in range(lines.qsize())]
