"""The content of files as data of the cluster, for as long as jobs that wait need it. Client: controller.

Every worker keeps a file on its disk once it had it (file_cache), so the content is needed in the cluster only until
then. Data that was scattered is gone with the worker that held it: whoever notices forgets it and sends it again.
"""
import asyncio
import hashlib
import os

KEEP = 20  # seconds that content stays in the cluster after the last job that asked for it


class Changed(Exception):
    """A file here is not the one that its hash was taken of."""


def read_checked(file):
    try:
        with open(file.path, "rb") as source:
            size = os.fstat(source.fileno()).st_size
            content = source.read(file.bytes + 1) if size == file.bytes else b""
    except OSError as error:
        raise Changed(f"{file.path} cannot be read any more: {error}") from None
    if len(content) != file.bytes or hashlib.sha256(content).hexdigest() != file.sha256:
        raise Changed(f"{file.path} changed while jobs with it were waiting: its SHA-256 is not {file.sha256} of"
                      f" {file.bytes} bytes any more; leave files alone until the command has ended")
    return content


class _Sent:
    def __init__(self, client, future):
        self.client, self.future, self.users = client, future, 0


class SentFiles:
    def __init__(self):
        self.sent = {}
        self.reading = asyncio.Lock()  # one file at a time in memory
        self.counts = {}

    async def use(self, client, file):
        """The future of FILE's content; leave() ends the use."""
        async with self.reading:
            found = self.sent.get(file.sha256)
            if not found or found.client is not client or found.future.status != "finished":
                content = await asyncio.to_thread(read_checked, file)
                # Another name each time: the release of the former one may arrive later than this.
                count = self.counts[file.sha256] = self.counts.get(file.sha256, -1) + 1
                key = f"driftscope-file-{file.sha256}" + (f"-{count}" if count else "")
                try:
                    futures = await client.scatter({key: content}, hash=False, direct=False)
                except Exception as error:  # whatever Dask says where a worker dies meanwhile: the same again
                    raise OSError(f"{file.path} could not be sent: {error}") from None
                found = self.sent[file.sha256] = _Sent(client, futures[key])
            found.users += 1
            return found

    def leave(self, file, used, good):
        used.users -= 1
        if not good:
            self._drop(file, used)
        elif not used.users:
            asyncio.get_running_loop().call_later(KEEP, self._drop_unused, file, used)

    def _drop_unused(self, file, used):
        if not used.users:
            self._drop(file, used)

    def _drop(self, file, used):
        if self.sent.get(file.sha256) is used:
            del self.sent[file.sha256]
