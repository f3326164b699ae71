"""Workers, schedulers and processes that die in the middle: nothing is lost, nothing is answered twice."""
import os
import signal
import sys
import time
from pathlib import Path

from cluster_support import ClusterTest, Link, until


class LossesTest(ClusterTest):
    def test_worker_killed_in_the_middle(self):
        _, link = self.cluster(2, 3)
        numbers = self.hold(link, 6)
        of_first = [process for process, cache in self.running().items() if cache == "cache2"]
        self.assertEqual(len(of_first), 1)
        self.workers[2].kill()
        self.assert_gone(of_first)
        link.next(lambda line: line["say"] == "workers" and line["workers"] == 1, "the loss")
        until(lambda: not list((self.folder / "cache2" / "jobs").iterdir()), "the folder's removal")
        self.go()
        answers = link.answers(numbers)
        self.assert_all_done(answers, numbers)
        self.assertEqual({answer["where"].split(":")[1] for answer in answers.values()}, {"//127.0.0.3"})
        self.assertEqual(link.close(), 0)
        self.assertEqual(set(link.answered()), set(numbers))

    def test_worker_with_the_files_killed(self):
        _, link = self.cluster(2)
        data = self.folder / "data"
        data.write_bytes(os.urandom(1 << 20))
        number = link.submit("hold", str(self.held), "job", files={"data": data})
        queued = [link.submit("count", str(self.held), f"after{index}", "data", files={"data": data})
                  for index in range(3)]
        first = until(self.running, "the job")
        self.workers[2].kill()
        self.assert_gone(first)
        link.next(lambda line: line["say"] == "workers" and line["workers"] == 0, "the loss")
        self.worker(3)
        until(lambda: "cache3" in self.running().values(), "the job on the other worker")
        self.go()
        answers = link.answers([number, *queued])
        self.assert_all_done(answers, [number, *queued])
        for one in queued:
            self.assertEqual(Path(answers[one]["result"]).read_bytes(), data.read_bytes())

    def test_scheduler_killed_and_started_again(self):
        scheduler, link = self.cluster(2, 3)
        data = self.folder / "data"
        data.write_bytes(b"content")
        before = [link.submit("count", str(self.held), f"before{index}", "data", files={"data": data})
                  for index in range(3)]
        self.assert_all_done(link.answers(before), before)
        numbers = self.hold(link, 5)
        held = self.running()
        scheduler.kill()
        scheduler.wait()
        line = link.next(lambda line: line["say"] == "waiting", "the loss")
        self.assertIn("was lost; trying again", line["why"])
        self.assert_gone(held)
        for worker in self.workers.values():
            worker.wait(60)  # Dask's own way: whoever runs workers starts them again
        self.scheduler()
        self.worker(2)
        self.worker(3)
        link.ready(2)
        self.go()
        after = link.submit("count", str(self.held), "after", "data", files={"data": data})
        answers = link.answers([*numbers, after])
        self.assert_all_done(answers, [*numbers, after])
        self.assertEqual(link.close(), 0)
        self.assertEqual(set(link.answered()), {*before, *numbers, after})
        for index in range(3):
            self.assertEqual((self.held / f"before{index}.runs").read_text(), "\n")

    def test_scheduler_that_stays_away(self):
        scheduler, link = self.cluster(2, options=("--patience", "3"))
        self.hold(link, 1)
        scheduler.kill()
        self.assertEqual(link.process.wait(60), 3)
        log = (self.folder / "link.log").read_text()
        self.assertIn("did not come back within 3 s", log)
        self.assertIn(self.address, log)
        self.assertNotIn("Traceback", log)

    def test_job_that_kills_its_workers(self):
        """Those that waited at the same workers, which Dask blames as well, are done in the end."""
        self.scheduler(DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
        self.worker(2, options=())
        link = Link(self, self.address)
        link.ready(1)
        number = link.submit("murder")
        others = [link.submit("quick") for _ in range(2)]
        answers = link.answers([number, *others])
        self.assertEqual(answers[number]["kind"], "internal")
        self.assertIn("workers ended while they ran this job, 1 of 1 times", answers[number]["why"])
        self.assertIn("127.0.0.2", answers[number]["why"])
        self.assert_all_done(answers, others)


class EndsTest(ClusterTest):
    def test_cancelled_job_is_gone(self):
        _, link = self.cluster(2)
        number = link.submit("stubborn", str(self.held), "job")
        until(lambda: len(self.running()) == 2, "the program and its child")
        waiting = link.submit("quick")
        cancelled = link.submit("quick")
        link.send(do="cancel", id=cancelled)
        link.send(do="cancel", id=number)
        link.send(do="cancel", id=12345)
        answers = link.answers([number, waiting, cancelled])
        self.assertEqual([answers[one].get("kind") for one in (number, waiting, cancelled)],
                         ["cancelled", None, "cancelled"])
        self.assert_gone(self.running())
        until(lambda: not list((self.folder / "cache2" / "jobs").iterdir()), "the folder's removal")
        self.assertEqual(link.close(), 0)
        self.assertEqual(len(link.answered()), 3)

    def test_job_whose_time_is_over_is_gone(self):
        _, link = self.cluster(2)
        number = link.submit("stubborn", str(self.held), "job", seconds=2)
        until(lambda: len(self.running()) == 2, "the program and its child")
        self.assertEqual(link.answers([number])[number]["kind"], "limit")
        self.assert_gone(self.running())

    def ended_by(self, end):
        """END(link) ends it; the programs that ran, and those that waited, must end too."""
        _, link = self.cluster(2)
        self.hold(link, 3)
        begun = time.monotonic()
        end(link)
        status = link.process.wait(60)
        print(f"ended after {time.monotonic() - begun:.1f} s")
        self.assert_gone(self.running())
        self.go()
        until(lambda: not list((self.folder / "cache2" / "jobs").iterdir()), "the folder's removal")
        # Those that waited were cancelled as well: the worker takes another's job at once.
        other = Link(self, self.address)
        other.ready(1)
        self.assertEqual(other.answers([other.submit("quick")])[0]["say"], "done")
        self.assertEqual(len(self.running()), 1)
        self.assertNotIn("Traceback", (self.folder / "link.log").read_text())
        return status

    def test_end_of_the_input(self):
        self.assertEqual(self.ended_by(lambda link: link.process.stdin.close()), 0)

    def test_line_that_says_end(self):
        self.assertEqual(self.ended_by(lambda link: link.send(do="end")), 0)

    def test_signals(self):
        self.assertEqual(self.ended_by(lambda link: link.process.send_signal(signal.SIGTERM)), 143)

    def test_interrupt(self):
        self.assertEqual(self.ended_by(lambda link: link.process.send_signal(signal.SIGINT)), 130)

    def test_killed_itself(self):
        self.assertEqual(self.ended_by(lambda link: link.process.kill()), -9)

    def test_wrong_line(self):
        self.assertEqual(self.ended_by(lambda link: link.send(do="dance")), 2)
        self.assertIn("line 4 of the input: expected 'do' to be", (self.folder / "link.log").read_text())

    def test_parent_killed(self):
        self.scheduler()
        self.worker(2)
        script = ("import subprocess, sys\n"
                  "child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)\n"
                  "for line in sys.stdin.buffer:\n    child.stdin.write(line); child.stdin.flush()\n")
        parent = Link(self, self.address, wrapper=(sys.executable, "-c", script))
        parent.ready(1)
        self.hold(parent, 2)
        child = int(Path(f"/proc/{parent.process.pid}/task/{parent.process.pid}/children").read_text().split()[0])
        parent.process.kill()
        self.assert_gone([child, *self.running()])

    def test_worker_ended_in_the_middle(self):
        """As systemd or a batch system does: the program must not stay behind."""
        _, link = self.cluster(2)
        self.hold(link, 1)
        self.workers[2].terminate()
        self.assert_gone(self.running())
        self.workers[2].wait(60)


class WithoutTest(ClusterTest):
    def test_no_scheduler(self):
        link = Link(self, self.address)
        self.assertEqual(link.process.wait(100), 3)
        log = (self.folder / "link.log").read_text()
        for part in (self.address, "dask scheduler", "dask worker"):
            self.assertIn(part, log)
        self.assertNotIn("Traceback", log)

    def test_input_ends_before_there_is_a_connection(self):
        link = Link(self, self.address)
        self.assertEqual(link.close(), 0)
        killed = Link(self, self.address)
        killed.process.stdin.write(b'{"do":"sub')  # by a program that was killed while it wrote
        self.assertEqual(killed.close(), 0)

    def test_no_address(self):
        for address in ("nonsense://x:1", "tcp://127.0.0.1:port"):
            link = Link(self, address)
            self.assertEqual(link.process.wait(100), 2, address)

    def test_workers_that_come_late(self):
        self.scheduler()
        link = Link(self, self.address)
        link.ready(0)
        number = link.submit("quick")
        self.worker(2)
        self.assert_all_done(link.answers([number]), [number])
