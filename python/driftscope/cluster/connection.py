"""The connection to the scheduler: made, watched, made again. Client: controller.

Dask's client connects again by itself, but for half a minute only, and forgets its tasks: a new one is made here
until the patience ends, and who waits is told by the event `lost`.
"""
import asyncio
import contextlib
import time

from distributed import Client

LOOK_EVERY = 0.25
ASK_EVERY = 1  # seconds between questions for the workers
SAY_EVERY = 5
ENDING = 2


class Unreachable(Exception):
    """The scheduler was not reached in time."""


class Connection:
    def __init__(self, address, patience, say):
        self.address, self.patience, self.say = address, patience, say
        self.client, self.lost = None, asyncio.Event()
        self.there = asyncio.Event()
        self.workers = None

    async def _try(self, seconds):
        client = await asyncio.wait_for(
            Client(self.address, asynchronous=True, timeout=seconds, set_as_default=False, name="driftscope"),
            seconds + 1)
        self.client, self.lost = client, asyncio.Event()
        self.there.set()

    async def open(self, seconds):
        """Connects within SECONDS, or raises Unreachable with the reason."""
        end = time.monotonic() + seconds
        why = "no answer"
        while (left := end - time.monotonic()) > 0:
            try:
                return await self._try(min(left, 10))
            except (OSError, asyncio.TimeoutError) as error:
                why = str(error) or why
            await asyncio.sleep(min(0.5, max(0, end - time.monotonic())))
        raise Unreachable(why)

    def is_alive(self):
        comm = self.client.scheduler_comm if self.client else None
        return bool(comm and self.client.status == "running" and not comm.comm.closed())

    async def ready(self):
        """The client, as soon as there is a connection."""
        while not (self.client and not self.lost.is_set()):
            self.there.clear()
            await self.there.wait()
        return self.client

    async def count_workers(self):
        """(workers, threads), as far as the scheduler answers."""
        try:
            threads = await asyncio.wait_for(self.client.nthreads(), 10)
        except Exception:  # whatever Dask says where the connection is just being lost
            return self.workers or (0, 0)
        return len(threads), sum(threads.values())

    async def watch(self):
        """Says which workers there are; raises Unreachable once the scheduler was away for the patience."""
        asked = 0
        while True:
            if not self.is_alive():
                await self._find_again()
            if time.monotonic() - asked >= ASK_EVERY:
                await self._say_workers()
                asked = time.monotonic()
            await asyncio.sleep(LOOK_EVERY)

    async def _say_workers(self):
        found = await self.count_workers()
        if found != self.workers:
            self.workers = found
            self.say(say="workers", workers=found[0], threads=found[1])

    async def _find_again(self):
        begun = said = time.monotonic()
        self.lost.set()
        await self.close()
        why, last = f"the scheduler at {self.address} was lost; trying again", "no answer"
        self.say(say="waiting", why=why, seconds=0)
        while (gone := time.monotonic() - begun) < self.patience:
            try:
                await self._try(min(5, max(0.1, self.patience - gone)))
                return
            except Exception as error:  # also of another version, or with other certificates: until somebody mends it
                last = str(error) or last
                await asyncio.sleep(0.5)
            if time.monotonic() - said >= SAY_EVERY:
                said = time.monotonic()
                self.say(say="waiting", why=why, seconds=round(said - begun))
        raise Unreachable(f"it was lost, and did not come back within {self.patience:g} s ({last})")

    async def close(self):
        client, self.client = self.client, None
        if client:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(client.close(), ENDING)
