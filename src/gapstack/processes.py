"""Processes that work for another one and must not outlive it; threads, as many as a process may have."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from functools import cache
from multiprocessing import connection, parent_process
from threading import Thread
from typing import TypeVar

from threadpoolctl import threadpool_limits

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Results of a function for each item, in order, by as many threads as this process may have.

    That is one for each core, unless ``OMP_NUM_THREADS`` says otherwise. It pays where the work is done without Python:
    where trees are grown and matrices multiplied.
    """
    # matrices are multiplied by each thread alone, lest they fight over the cores
    with (
        threadpool_limits(1),
        ThreadPoolExecutor(int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)) as pool,
    ):
        return list(pool.map(function, items))


def in_processes(
    function: Callable[[Item], Result], items: Iterable[Item], processes: int
) -> Iterator[Result]:
    """Results of a function for each item as they come, by so many processes, or by this one where that is one.

    Raises
    ------
    BrokenProcessPool
        If a process is lost.
    """
    if processes == 1:
        yield from map(function, items)
        return
    pool = ProcessPoolExecutor(processes, initializer=_begin)
    try:
        for future in as_completed([pool.submit(function, item) for item in items]):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def collect_rarely() -> None:
    """Look for reference cycles less often than Python does, in a process of our own.

    Parses and features are many small objects without any; looking for them took every sixth second of an answer.
    """
    gc.set_threshold(20_000)


def _begin() -> None:
    """Prepare a worker: an interrupt from the keyboard, which reaches all processes, is the parent's to handle."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@cache
def die_with_parent() -> None:
    """End this process as soon as the one that started it ends, however it ends; in a main process, do nothing.

    A killed parent cannot stop its workers, and a worker that waits for work never notices: it holds the other end of
    its own queue open. So a thread waits for the parent's sentinel, which the operating system closes.
    """
    parent = parent_process()
    if parent is not None:
        Thread(target=_follow, args=(parent.sentinel,), name="die-with-parent", daemon=True).start()


def _follow(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)  # no process is left to report to, and a half-written file has no name yet


# a forked child has none of its parent's threads
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=die_with_parent.cache_clear)
