"""Who does the jobs of a run: this process, several on this machine, or a Ray cluster.

Jobs are independent, and each leaves its result in the run folder whole or not at all. So a worker that is lost
costs the job it was doing, which another one does again, and the results do not depend on who did what.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from gapstack.errors import MemberError
from gapstack.runs.folder import RunFolder
from gapstack.runs.jobs import Job

Executor = Callable[[Sequence[Job], RunFolder, Callable[[Job], None]], None]
"""Does all jobs and tells of each that is done."""

EXECUTORS = ("local", "ray")
MOST_LOSSES = 3
"""Workers that may be lost over one job before the run gives up: something in the job kills them."""


def create_executor(kind: str = "local", workers: int = 1) -> Executor:
    """Make an executor.

    Parameters
    ----------
    kind : str
        ``local`` or ``ray``. With ``RAY_ADDRESS`` set, Ray's jobs go to that cluster, which must see the run
        folder, the cache and the data at the same paths; else a cluster of this machine is started.
    workers : int
        Jobs to do at once. Processes share the processor cores out evenly.

    Raises
    ------
    MemberError
        If there is no such kind, ``workers`` is below 1, or Ray is not installed.
    """
    if kind not in EXECUTORS:
        raise MemberError(f"no executor is called {kind!r}; there are: {', '.join(EXECUTORS)}")
    if workers < 1:
        raise MemberError(f"at least one worker must do the jobs; asked for {workers}")
    if kind == "ray":
        _ray()
        return lambda jobs, folder, tell: _on_ray(jobs, folder, tell, workers)
    if workers == 1:
        return _here
    return lambda jobs, folder, tell: _in_processes(jobs, folder, tell, workers)


def _here(jobs: Sequence[Job], folder: RunFolder, tell: Callable[[Job], None]) -> None:
    for job in jobs:
        job.run(folder)
        tell(job)


def _in_processes(jobs: Sequence[Job], folder: RunFolder, tell: Callable[[Job], None], workers: int) -> None:
    """A pool that loses a process is broken as a whole: what is not done goes to a new one."""
    open_jobs, losses = list(jobs), 0
    while open_jobs:
        pool = ProcessPoolExecutor(
            min(workers, len(open_jobs)),
            get_context("spawn"),  # torch's threads do not survive a fork
            initializer=_share_cores,
            initargs=(workers,),
        )
        before = len(open_jobs)
        try:
            futures = {pool.submit(job.run, folder): job for job in open_jobs}
            for future in as_completed(futures):
                future.result()
                open_jobs.remove(futures[future])
                tell(futures[future])
        except BrokenProcessPool:
            for job in [
                job for job in open_jobs if job.is_done(folder)
            ]:  # done, but nobody was left to say so
                open_jobs.remove(job)
                tell(job)
            losses = 1 if len(open_jobs) < before else losses + 1
            if losses >= MOST_LOSSES:
                raise MemberError(
                    f"worker processes died {losses} times over {open_jobs[0].name} (killed for memory?); finished "
                    "folds are kept. Run again with fewer workers"
                ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _share_cores(workers: int) -> None:
    import torch

    torch.set_num_threads(max(1, len(os.sched_getaffinity(0)) // workers))


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise MemberError("Ray is not installed; run: pip install 'gapstack[ray]'") from None
    return ray


def _on_ray(jobs: Sequence[Job], folder: RunFolder, tell: Callable[[Job], None], workers: int) -> None:
    ray = _ray()
    mine = not ray.is_initialized()
    if mine:
        address = os.environ.get("RAY_ADDRESS")
        # Ray's workers give way to everything else by default: beside any other work they would starve
        os.environ.setdefault("RAY_worker_niceness", "0")
        ray.init(
            **({"address": address} if address else {"num_cpus": workers, "include_dashboard": False}),
            log_to_driver=False,
            logging_level="ERROR",
        )
    try:
        run = ray.remote(max_retries=MOST_LOSSES, num_cpus=1)(_run_on_ray)
        waiting = {run.remote(job, folder.root, workers): job for job in jobs}
        while waiting:
            finished, _ = ray.wait(list(waiting))
            for reference in finished:
                job = waiting.pop(reference)
                try:
                    ray.get(reference)
                except ray.exceptions.WorkerCrashedError:
                    raise MemberError(
                        f"Ray's workers died again and again over {job.name} (killed for memory?); finished folds are "
                        "kept. Run again with fewer workers"
                    ) from None
                except ray.exceptions.RayTaskError as error:
                    raise (error.cause or error) from error
                tell(job)
    finally:
        if mine:
            ray.shutdown()


def _run_on_ray(job: Job, root: Path, workers: int) -> None:
    _share_cores(workers)
    folder = RunFolder(root)
    if not job.is_done(folder):  # a worker may be lost after its job is done and before it says so
        job.run(folder)
