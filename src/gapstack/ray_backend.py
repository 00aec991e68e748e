"""joblib's backend for Ray clusters.

Ray's own (``ray.util.joblib``) gives tasks to workers at random instead of to idle ones, and returns nothing before
all are done.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

import ray
from joblib import register_parallel_backend
from joblib.parallel import ParallelBackendBase

_VARIABLES = {
    # by default Ray's workers have the lowest priority, and tasks that exceed the memory are repeated forever
    "RAY_worker_niceness": "0",
    "RAY_task_oom_retries": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # tasks without GPUs keep their environment, as in Ray's next version
}
_LOSSES = (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError, ray.exceptions.NodeDiedError)


@contextmanager
def ray_cluster(workers: int, cores: int) -> Iterator[int]:
    """Connect to ``RAY_ADDRESS``, or start Ray here with ``cores``, for a block; yield the cores of each worker."""
    for name, value in _VARIABLES.items():
        os.environ.setdefault(name, value)
    address = os.environ.get("RAY_ADDRESS")
    here: dict[str, Any] = {"num_cpus": max(workers, cores), "include_dashboard": False}
    ray.init(**({"address": address} if address else here), log_to_driver=False, logging_level="ERROR")
    try:
        largest = max(node["Resources"].get("CPU", 1) for node in ray.nodes() if node["Alive"])
        yield max(1, int(min(ray.cluster_resources().get("CPU", 1) / workers, largest)))
    finally:
        ray.shutdown()


class RayBackend(ParallelBackendBase):
    """Tasks of Ray, each with ``threads`` cores of one machine and an equal share of the cluster's GPUs.

    BrokenProcessPool stands for a lost worker, as in joblib's default backend.
    """

    supports_retrieve_callback = True
    supports_return_generator = True

    def __init__(self, threads: int = 1, **options: Any):
        super().__init__(**options)
        self.threads = threads
        self._running: set[Any] = set()

    def effective_n_jobs(self, n_jobs: int) -> int:
        """Return ``n_jobs``, for -1 the number of workers that fit into the cluster."""
        return n_jobs if n_jobs > 0 else max(1, int(ray.cluster_resources()["CPU"] / self.threads))

    def configure(self, n_jobs: int = 1, parallel: Any = None, **options: Any) -> int:
        """Define the task, and return the number of workers."""
        jobs, self.parallel = self.effective_n_jobs(n_jobs), parallel
        gpus = min(1.0, ray.cluster_resources().get("GPU", 0) / jobs)
        self._task = ray.remote(max_retries=0, num_cpus=self.threads, num_gpus=gpus)(_call)
        return jobs

    def submit(self, func: Callable[[], Any], callback: Callable[[Any], None] | None = None) -> Future[Any]:
        """Start a task."""
        reference = self._task.remote(func)
        self._running.add(reference)
        future: Future[Any] = reference.future()
        future.add_done_callback(lambda _: self._running.discard(reference))
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def retrieve_result_callback(self, out: Future[Any]) -> Any:
        """Return a task's result, or raise its error."""
        try:
            return out.result()
        except _LOSSES as error:
            raise BrokenProcessPool(str(error)) from error
        except ray.exceptions.RayTaskError as error:
            raise (error.cause or error) from error

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """End all running tasks."""
        for reference in list(self._running):
            ray.cancel(reference, force=True)


def _call(function: Callable[[], Any]) -> Any:
    return function()


register_parallel_backend("ray", RayBackend)
