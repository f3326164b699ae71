"""The jobs that are outstanding, each a task of the cluster, and one answer for each. Client: __main__.

Dask is the queue. A job is first handed over without its files; a worker that lacks some says which, and the job is
handed over again with them as data. Jobs of one key are one task, here and, by its name, for all that use the cluster.
"""
import asyncio
import hashlib
import json
from concurrent.futures import CancelledError

from distributed import KilledWorker

from .lines import WrongLine
from .names import why_bad_names
from .results import write_result
from .sent_files import Changed, SentFiles

MOST_ATTEMPTS = 30
# What a worker evaluates. A function of ours would have to be installed where the scheduler runs, too, which reads the
# function of every task; and a worker without the package could not even say so.
CALL = ("__import__('driftscope.cluster.job', fromlist=['job']).run_job(work, build, contents)"
        " if __import__('importlib.util', fromlist=['util']).find_spec('driftscope') else"
        " {'failed': ['missing', 'the package driftscope is not installed for ' + __import__('sys').executable],"
        " 'where': __import__('distributed').get_worker().address}")


class Failed(Exception):
    def __init__(self, kind, why, where=None):
        super().__init__(why)
        self.kind, self.where = kind, where


class Lost(Exception):
    """The connection was, so whatever was handed over."""


class _Work:
    """A task of the cluster, and the jobs that wait for it."""

    def __init__(self, job, build):
        self.job, self.ids, self.task, self.count = job, {job.id}, None, 0
        self.asked = job.work()
        digest = hashlib.sha256(json.dumps([self.asked, build], sort_keys=True).encode()).hexdigest()
        self.name = f"{job.key}-{digest[:16]}"


class Controller:
    def __init__(self, connection, results, build, say):
        self.connection, self.results, self.build, self.say = connection, results, build, say
        self.files = SentFiles()
        self.works, self.by_id, self.seen = {}, {}, set()
        self.alone = asyncio.Lock()

    def submit(self, job):
        if job.id in self.seen:
            raise WrongLine(f"expected another id than {job.id}, which was submitted before")
        self.seen.add(job.id)
        why = why_bad_names(job.files, job.result)
        if why:
            return self._fail(job.id, Failed("bad_input", why))
        work = self.works.get(job.key)
        if work and work.asked != job.work():
            return self._fail(job.id, Failed("bad_input", f"the job {min(work.ids)} has the same key and asks for"
                                                          " something else"))
        if work:
            work.ids.add(job.id)
        else:
            work = self.works[job.key] = _Work(job, self.build)
            work.task = asyncio.ensure_future(self._carry_out(work))
        self.by_id[job.id] = work

    def cancel(self, number):
        """One that is not outstanding (any more) is left alone: its answer may be on its way."""
        work = self.by_id.pop(number, None)
        if not work:
            return
        work.ids.discard(number)
        if not work.ids:
            self._forget(work)
            work.task.cancel()
        self._fail(number, Failed("cancelled", "it was cancelled"))

    async def end(self):
        tasks = [work.task for work in self.works.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _forget(self, work):
        if self.works.get(work.job.key) is work:
            del self.works[work.job.key]

    def _fail(self, number, failed):
        self.say(say="failed", id=number, kind=failed.kind, why=str(failed)[-8000:], where=failed.where)

    async def _carry_out(self, work):
        try:
            answer = await self._finish(work, await self._attempts(work))
        except Failed as failed:
            answer = failed
        except asyncio.CancelledError:
            raise
        except Exception as error:  # one job's trouble is not the others'
            answer = Failed("internal", f"{type(error).__name__}: {error}")
        self._forget(work)
        for number in sorted(work.ids):
            del self.by_id[number]
            if isinstance(answer, Failed):
                self._fail(number, answer)
            else:
                self.say(say="done", id=number, **answer)

    async def _finish(self, work, outcome):
        if "failed" in outcome:
            kind, why = outcome["failed"]
            raise Failed(kind, f"on the worker {outcome['where']}: {why}", outcome["where"])
        path = None
        if outcome["result"] is not None:
            try:
                path = await asyncio.to_thread(write_result, self.results, work.job.key, outcome["result"])
            except OSError as error:
                raise Failed("io", f"the result cannot be written to {self.results}: {error}") from None
        return {"exit": outcome["exit"], "result": path, "errors": outcome["errors"], "where": outcome["where"],
                "seconds": outcome["seconds"]}

    async def _attempts(self, work):
        """Dask blames every job that a worker had when it died, also those that had not begun: whichever this happened
        to is tried once more, one after the other."""
        try:
            return await self._attempt_often(work)
        except KilledWorker:
            pass
        async with self.alone:
            try:
                return await self._attempt_often(work)
            except KilledWorker as error:
                raise _killed(error) from None

    async def _attempt_often(self, work):
        """What the worker says in the end."""
        needs, end = [], work.count + MOST_ATTEMPTS
        while work.count < end:
            client = await self.connection.ready()
            try:
                outcome = await self._attempt(client, work, needs)
            except Lost:
                needs, end = [], end + 1
                continue
            finally:
                work.count += 1
            if outcome is None:
                await asyncio.sleep(min(2, 0.1 * 2 ** (MOST_ATTEMPTS - end + work.count)))
            elif "needs" in outcome:
                needs = outcome["needs"]
            elif "again" in outcome:
                needs = []
            else:
                return outcome
        raise Failed("internal", f"the cluster gave the job up {MOST_ATTEMPTS} times, though nobody cancelled it:"
                                 " workers die, or their caches are too small for the files"
                                 " (DRIFTSCOPE_CLUSTER_CACHE_MIB)")

    async def _attempt(self, client, work, needs):
        """None where the data or the task was lost: the same again."""
        by_hash = {file.sha256: file for file in work.job.files.values()}
        used, good = {}, False
        try:
            for sha256 in needs:
                used[sha256] = await self._until_lost(self.files.use(client, by_hash[sha256]))
            given = {"work": work.asked, "build": self.build,
                     "contents": {sha256: one.future for sha256, one in used.items()}}
            # A tuple: tasks of one group wait at the scheduler, and not at a worker that may be slow, or die.
            key = ("driftscope-job", f"{work.name}-{work.count}" + ("-files" if needs else ""))
            future = client.submit(eval, CALL, given, key=key, retries=0)
            try:
                outcome = await self._until_lost(future.result())
            finally:
                future.release()
            good = True
            return outcome
        except Changed as error:
            raise Failed("bad_input", str(error)) from None
        except ImportError as error:
            raise _not_installed(error) from None
        except (KilledWorker, Lost):
            raise
        except Exception as error:
            if not self.connection.is_alive() or client is not self.connection.client:
                raise Lost from None
            if isinstance(error, (CancelledError, asyncio.TimeoutError, OSError)):
                return None
            raise
        finally:
            for sha256, one in used.items():
                self.files.leave(by_hash[sha256], one, good)

    async def _until_lost(self, what):
        lost = asyncio.ensure_future(self.connection.lost.wait())
        task = asyncio.ensure_future(what)
        try:
            await asyncio.wait({task, lost}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise Lost
            return task.result()
        finally:
            lost.cancel()
            task.cancel()


def _killed(error):
    worker = getattr(error.last_worker, "address", None)
    times = getattr(error, "allowed_failures", 3) + 1
    return Failed("internal", f"workers ended while they ran this job, {times} of {times} times, also when it was tried"
                              f" once more, last {worker}; it may need more memory than there is (dask worker"
                              " --memory-limit, and the system's log)", worker)


def _not_installed(error):
    return Failed("missing", f"a worker's package driftscope cannot be loaded: {error}; install it there, of the same"
                             " version (pip install 'driftscope[cluster]')")
