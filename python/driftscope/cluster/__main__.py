"""python -m driftscope.cluster ADDRESS --results FOLDER [--patience SECONDS] [--build TEXT]

Takes jobs as lines of JSON from standard input, has a Dask cluster run them, and answers on standard output (lines.py).
Exit codes: 0 the input ended; 1 a mistake here; 2 wrong use, or a wrong line; 3 Dask or the scheduler is
missing; 130, 143 a signal.
"""
import argparse
import asyncio
import json
import logging
import math
import os
import signal
import sys
import threading
import traceback

from .identity import why_no_build
from .lines import LONGEST_LINE, WrongLine, read

FIRST_PATIENCE = 30
ENDING = 2


class Ended(Exception):
    def __init__(self, status, why=""):
        super().__init__(why)
        self.status = status


def _arguments():
    def seconds(text):
        value = float(text)
        if not math.isfinite(value) or value < 0:
            raise ValueError
        return value

    parser = argparse.ArgumentParser(prog="python -m driftscope.cluster",
                                     description="Hands jobs over to a Dask cluster.")
    parser.add_argument("address", help="of the scheduler, as tcp://127.0.0.1:8786")
    parser.add_argument("--results", required=True, metavar="FOLDER", help="where results are written, as KEY.json")
    parser.add_argument("--patience", type=seconds, default=600, metavar="SECONDS",
                        help="how long a scheduler that was lost is waited for (default: 600)")
    parser.add_argument("--build", default="", metavar="TEXT",
                        help="version or build that the program of every worker must have")
    options = parser.parse_args()
    if not os.path.isdir(options.results):
        parser.error(f"--results {options.results}: no such folder")
    if options.build and why_no_build(options.build):
        parser.error(f"--build: {why_no_build(options.build)}")
    options.results = os.path.abspath(options.results)
    return options


def say(**line):
    text = json.dumps(line) + "\n"
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        os._exit(0)  # nobody reads: the program is gone, and the scheduler cancels what was ours


def _start_reading(loop, lines):
    """A thread, since standard input may be anything; the end of it is an empty line."""
    def read_lines():
        while True:
            text = sys.stdin.buffer.readline(LONGEST_LINE + 2)
            loop.call_soon_threadsafe(lines.put_nowait, text)
            if not text:
                return
    threading.Thread(target=read_lines, daemon=True).start()


async def _follow(lines, controller):
    number = 0
    while (text := await lines.get()).endswith(b"\n") or len(text) > LONGEST_LINE:  # else the program died in a line
        number += 1
        try:
            what, value = read(text)
            if what == "end":
                return
            (controller.submit if what == "submit" else controller.cancel)(value)
        except WrongLine as error:
            raise Ended(2, f"line {number} of the input: {error}") from None


def _how_to_start(address, why):
    return (f"the scheduler at {address} cannot be reached: {why}. Start one with 'dask scheduler', and workers with"
            " 'dask worker tcp://HOST:8786 --nthreads 1'; docs/cluster.md has more")


async def _work(options, stop):
    from .connection import Connection, Unreachable
    from .controller import Controller
    loop, lines = asyncio.get_running_loop(), asyncio.Queue()
    connection = Connection(options.address, options.patience, say)
    controller = Controller(connection, options.results, options.build, say)
    _start_reading(loop, lines)

    async def connect():
        try:
            await connection.open(FIRST_PATIENCE)
            connection.workers = await connection.count_workers()
            say(say="ready", workers=connection.workers[0], threads=connection.workers[1],
                scheduler=connection.client.scheduler.address)
            await connection.watch()
        except Unreachable as error:
            raise Ended(3, _how_to_start(options.address, error)) from None
        except (ImportError, TypeError) as error:  # versions that do not fit; TLS without certificates
            raise Ended(3, f"the scheduler at {options.address} cannot be used: {error}") from None
        except ValueError as error:
            raise Ended(2, f"{options.address!r} is no address of a scheduler: {error}; expected tcp://HOST:PORT"
                        ) from None

    try:
        await _first([connect(), _follow(lines, controller), stop.wait()])
    finally:
        await asyncio.wait([asyncio.ensure_future(_end(controller, connection))], timeout=ENDING)


async def _first(coroutines):
    """Until one ends; the others are cancelled."""
    tasks = [asyncio.ensure_future(one) for one in coroutines]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            if task.done():
                task.result()
    finally:
        for task in tasks:
            task.cancel()


async def _end(controller, connection):
    await controller.end()
    await connection.close()


async def _run(options):
    stop, signals = asyncio.Event(), []
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(
            number, lambda number=number: (signals.append(number), stop.set()))
    await _work(options, stop)
    if signals:
        raise Ended(128 + signals[0])


def _start():
    if sys.platform == "win32":
        raise Ended(3, "needs Linux or macOS")
    options = _arguments()
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise Ended(3, f"Dask is not installed for {sys.executable} ({error}): pip install 'driftscope[cluster]'"
                    ) from None
    logging.disable()  # its lines on lost connections say nothing that is not said here
    asyncio.run(_run(options))


def main():
    status = 0
    try:
        _start()
    except Ended as ended:
        status = ended.status
        if str(ended):
            print(f"driftscope.cluster: {ended}", file=sys.stderr)
    except KeyboardInterrupt:
        status = 130
    except Exception:
        traceback.print_exc()
        status = 1
    sys.stderr.flush()
    os._exit(status)  # Dask's threads, and the one that reads, are not waited for


if __name__ == "__main__":
    main()
