"""Processes that work for another one and must not outlive it."""

from __future__ import annotations

import os
from functools import cache
from multiprocessing import connection, parent_process
from threading import Thread


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
