"""Threads, processes and precision; processes do not outlive the one that started them."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from multiprocessing import connection, parent_process
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


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
    pool = ProcessPoolExecutor(processes, initializer=_start_worker)
    try:
        for future in as_completed([pool.submit(function, item) for item in items]):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _start_worker() -> None:
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
    """End this process as soon as the one that started it ends; in a main process, do nothing.

    A worker that waits for work never notices a killed parent, since it holds the other end of its own queue open.
    """
    parent = parent_process()

    def follow(sentinel: int) -> None:
        connection.wait([sentinel])
        os._exit(1)

    if parent is not None:
        Thread(target=follow, args=(parent.sentinel,), name="die-with-parent", daemon=True).start()
