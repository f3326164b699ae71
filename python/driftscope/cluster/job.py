"""What Dask calls on a worker: run_job. Client: controller, by name (CALL); the package must be installed there."""
from functools import lru_cache

from distributed import get_worker

from .execution import execute
from .file_cache import FileCache


@lru_cache(maxsize=1)
def _cache():
    return FileCache()


def _is_unwanted(worker, key):
    """Dask does not interrupt a task: one that was cancelled, or whose client is gone, has to look."""
    task = worker.state.tasks.get(key)
    return task is None or task.state in ("cancelled", "released", "forgotten") or worker.status.name in (
        "closing", "closed", "failed", "stopping", "stopped")


def run_job(work, build, contents):
    worker = get_worker()
    key = worker.get_current_task()
    outcome = execute(work, build, contents, _cache, lambda: _is_unwanted(worker, key))
    return {**outcome, "where": worker.address}
