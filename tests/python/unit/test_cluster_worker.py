"""What a worker of the cluster does with a job, without Dask: the files' cache, the program and its end, the result."""
import fcntl
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from unittest import mock

from support import ROOT, FolderTest

from driftscope.cluster import execution
from driftscope.cluster.execution import execute
from driftscope.cluster.file_cache import FileCache, NotThatFile
from driftscope.cluster.results import write_result

SCRIPT = 'test "$1" = --version && echo "driftscope 0.2.0" && exit\n'


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def is_running(number):
    try:
        with open(f"/proc/{number}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class FileCacheTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.cache = FileCache(self.folder / "cache", most=100)

    def put(self, content):
        self.cache.put(sha256(content), content)
        return sha256(content), len(content)

    def test_files_are_kept_and_linked(self):
        file = self.put(b"content")
        self.assertTrue(self.cache.has(*file))
        self.assertFalse(self.cache.has(file[0], 8))
        file = self.put(b"content")
        self.assertTrue(self.cache.link(*file, self.folder / "link"))
        self.assertEqual((self.folder / "link").read_bytes(), b"content")
        self.assertFalse(self.cache.link(sha256(b"other"), 5, self.folder / "other"))
        self.assertEqual(os.stat(self.cache.folder).st_mode & 0o777, 0o700)

    def test_another_content_is_refused(self):
        with self.assertRaisesRegex(NotThatFile, sha256(b"other")):
            self.cache.put(sha256(b"content"), b"other")
        self.assertEqual(list(self.cache.files.iterdir()), [])

    def test_what_a_program_changed_is_thrown_away(self):
        file = self.put(b"content")
        self.cache.link(*file, self.folder / "link")
        (self.folder / "link").write_bytes(b"changed")  # of the same size, through the link
        self.assertFalse(self.cache.has(*file))
        self.assertFalse((self.cache.files / file[0]).exists())

    def test_the_least_recently_used_go(self):
        first, second = self.put(b"a" * 40), self.put(b"b" * 40)
        self.cache.link(*first, self.folder / "link")
        self.assertTrue(self.cache.has(*first))
        third = self.put(b"c" * 40)
        self.assertEqual([self.cache.has(*one) for one in (first, second, third)], [True, False, True])
        fourth = self.put(b"d" * 100)
        self.assertEqual([self.cache.has(*one) for one in (first, third, fourth)], [False, False, True])
        self.assertEqual((self.folder / "link").read_bytes(), b"a" * 40)  # a job that runs keeps its files

    def test_several_processes(self):
        code = ("import sys, hashlib; sys.path.insert(0, sys.argv[1])\n"
                "from driftscope.cluster.file_cache import FileCache\n"
                "cache = FileCache(sys.argv[2], most=50_000)\n"
                "for i in range(200):\n"
                "    content = str(i % 20).encode() * 2500\n"
                "    cache.put(hashlib.sha256(content).hexdigest(), content)\n")
        running = [subprocess.Popen([sys.executable, "-c", code, str(ROOT / "python"), str(self.cache.folder)])
                   for _ in range(3)]
        self.assertEqual([one.wait(120) for one in running], [0, 0, 0])
        kept = list(self.cache.files.iterdir())
        self.assertLessEqual(sum(one.stat().st_size for one in kept), 50_000)
        for one in kept:
            self.assertEqual(sha256(one.read_bytes()), one.name)

    def test_folder_that_others_may_write(self):
        folder = self.folder / "open"
        folder.mkdir()
        folder.chmod(0o777)
        with self.assertRaisesRegex(PermissionError, "of this user alone"):
            FileCache(folder)

    def test_what_was_left_is_removed(self):
        left, used, new = self.cache.new_job(), self.cache.new_job(), self.cache.new_job()
        (self.cache.files / "new-1").write_bytes(b"half")
        for one in (left, used, self.cache.files / "new-1"):
            os.utime(one, (1, 1))
        handle = os.open(used, os.O_RDONLY)
        self.addCleanup(os.close, handle)
        fcntl.flock(handle, fcntl.LOCK_SH)
        FileCache(self.cache.folder)
        self.assertEqual([one.exists() for one in (left, used, new)], [False, True, True])
        self.assertEqual(list(self.cache.files.iterdir()), [])

    def test_results_are_whole(self):
        path = write_result(self.folder, "f" * 64, b"one")
        write_result(self.folder, "f" * 64, b"two")
        self.assertEqual(Path(path).read_bytes(), b"two")
        self.assertEqual([one.name for one in self.folder.glob("*f*")], ["f" * 64 + ".json"])


class ExecutionTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.cache = FileCache(self.folder / "cache")

    def execute(self, script, files=None, unwanted=lambda: False, contents=None, **more):
        """FILES: contents by name."""
        os.environ["DRIFTSCOPE"] = str(self.script(SCRIPT + script))
        files = files or {}
        work = {"arguments": ["run"], "result": "out/result.json", "seconds": 60,
                "files": {name: [sha256(content), len(content)] for name, content in files.items()}, **more}
        given = {sha256(content): content for content in files.values()} if contents is None else contents
        outcome = execute(work, "", given, lambda: self.cache, unwanted)
        self.assertEqual(list(self.cache.jobs.iterdir()), [])
        return outcome

    def test_files_result_and_errors(self):
        outcome = self.execute('cat a/b c >out/result.json; pwd >&2; echo noise; exit 1', {"a/b": b"1", "c": b"2"})
        self.assertEqual((outcome["exit"], outcome["result"]), (1, b"12"))
        self.assertIn("cache/jobs/job-", outcome["errors"])

    def test_files_that_are_missing(self):
        files = {"a": b"1", "b": b"2"}
        self.assertEqual(self.execute("", files, contents={}), {"needs": sorted(map(sha256, files.values()))})
        self.assertEqual(self.execute("", files, contents={sha256(b"1"): b"1"}), {"needs": [sha256(b"2")]})
        self.assertEqual(self.execute("true", {"a": b"1"}, contents={})["exit"], 0)  # kept

    def test_content_of_another_hash(self):
        outcome = self.execute("", {"a": b"1"}, contents={sha256(b"1"): b"2"})
        self.assertEqual(outcome["failed"][0], "internal")

    def test_names(self):
        for name in ("../a", "/a", "a/../../b", "a\0b"):
            self.assertEqual(self.execute("", {name: b"1"})["failed"][0], "bad_input")
            self.assertEqual(self.execute("", result=name)["failed"][0], "bad_input")

    def test_results_that_are_none(self):
        self.assertIsNone(self.execute("exit 3")["result"])
        self.assertEqual(self.execute("mkdir out/result.json")["failed"][0], "io")
        self.assertEqual(self.execute("ln -s /etc/passwd out/result.json")["failed"][0], "io")
        self.assertEqual(self.execute("mkfifo out/result.json")["failed"][0], "io")
        with mock.patch.object(execution, "LARGEST_RESULT", 3):
            self.assertEqual(self.execute("echo long >out/result.json")["failed"][0], "limit")

    def test_the_end_of_long_errors(self):
        outcome = self.execute("yes 'a line' | head -c 1000000 >&2; echo last >&2")
        self.assertTrue(outcome["errors"].endswith("last\n"))
        self.assertEqual(len(outcome["errors"]), 4000)

    def test_program_that_a_signal_ends(self):
        self.assertEqual(self.execute("kill -9 $$")["exit"], -signal.SIGKILL)

    def test_files_beyond_the_limit(self):
        self.cache.most = 3
        kind, why = self.execute("", {"a": b"1234"})["failed"]
        self.assertEqual(kind, "limit")
        self.assertIn("DRIFTSCOPE_CLUSTER_CACHE_MIB", why)

    def test_programs_that_cannot_be_run(self):
        self.assertEqual(self.execute("", arguments=["x" * 200_000])["failed"][0], "limit")

    def pids(self, name="pids"):
        path = self.folder / name
        return [int(one) for one in path.read_text().split()] if path.exists() else []

    STUBBORN = """trap '' TERM
setsid sh -c 'trap "" TERM; echo $$ >>"$0"; while :; do sleep 1; done' FOLDER/pids &
echo $$ >>FOLDER/pids
while :; do sleep 1; done
"""

    def assert_gone(self):
        self.assertEqual(len(self.pids()), 2)
        for one in self.pids():
            until(lambda one=one: not is_running(one))

    def test_time_is_over(self):
        kind, why = self.execute(self.STUBBORN.replace("FOLDER", str(self.folder)), seconds=1.5)["failed"]
        self.assertEqual(kind, "limit")
        self.assertIn("did not end within 1.5 s", why)
        self.assert_gone()

    def test_nobody_waits(self):
        outcome = self.execute(self.STUBBORN.replace("FOLDER", str(self.folder)),
                               unwanted=lambda: len(self.pids()) == 2)
        self.assertIn("again", outcome)
        self.assert_gone()

    def test_program_may_clean_up(self):
        folder = str(self.folder)
        self.execute(f"trap 'echo bye >{folder}/bye; exit' TERM; echo $$ >{folder}/pids; while :; do sleep 0.1; done",
                     unwanted=lambda: self.pids())
        self.assertEqual((self.folder / "bye").read_text(), "bye\n")

    def test_what_stays_behind_is_ended(self):
        folder = str(self.folder)
        self.execute(f"setsid sh -c 'echo $$ >{folder}/pids; sleep 1000' &"
                     f" while [ ! -s {folder}/pids ]; do sleep 0.1; done")
        for one in self.pids():
            until(lambda one=one: not is_running(one))

    def test_killed_keeper(self):
        def kill():
            until(self.pids)
            with open(f"/proc/{self.pids()[0]}/stat", encoding="ascii") as file:
                os.kill(int(file.read().split()[3]), signal.SIGKILL)
        thread = threading.Thread(target=kill)
        thread.start()
        kind, why = self.execute(f"echo $$ >{self.folder}/pids; while :; do sleep 1; done")["failed"]
        thread.join()
        self.assertEqual(kind, "internal")
        self.assertIn("guards the job was killed", why)
        until(lambda: not is_running(self.pids()[0]))
