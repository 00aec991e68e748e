"""Processes that work for another one and must not outlive it; threads, as many as a process may have."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
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
