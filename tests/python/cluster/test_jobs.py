"""Jobs of every outcome on a cluster where nothing dies."""
import json
import os
import time
from pathlib import Path

from cluster_support import ROOT, ClusterTest, Link, sha256, until

PROGRAM = os.environ["DRIFTSCOPE"]
LENET5 = ROOT / "assets" / "models" / "lenet5.onnx"


class JobsTest(ClusterTest):
    def test_comparisons_on_two_workers(self):
        _, link = self.cluster(2, 3, program=PROGRAM)
        numbers = [link.submit("compare", "models/lenet5.onnx", "--right", "pc/fast", "--times", "0", "--input",
                               f"seed:{seed}", "--json", "result.json",
                               files={"models/lenet5.onnx": LENET5}) for seed in range(6)]
        answers = link.answers(numbers)
        self.assert_all_done(answers, numbers)
        self.assertEqual({answer["exit"] for answer in answers.values()}, {0})
        self.assertEqual({answer["where"].split(":")[1] for answer in answers.values()}, {"//127.0.0.2", "//127.0.0.3"})
        for number in numbers:
            document = json.loads(Path(answers[number]["result"]).read_text())
            self.assertEqual(document["format"], "driftscope-compare-1")
        self.assertEqual(link.close(), 0)
        for last in (2, 3):
            self.assertEqual(list((self.folder / f"cache{last}" / "jobs").iterdir()), [])

    def test_outcomes(self):
        _, link = self.cluster(2)
        data = self.folder / "data"
        data.write_bytes(os.urandom(3 << 20))
        content = data.read_bytes()
        fail, quick = link.submit("fail"), link.submit("quick")
        sent = link.submit("count", str(self.held), "sent", "a/b", files={"a/b": data})
        nothing = link.submit("quick", result="other.json")
        long = link.submit("hold", str(self.held), "long", seconds=1)
        answers = link.answers([fail, quick, sent, nothing, long])
        self.assertEqual((answers[fail]["exit"], answers[fail]["result"]), (3, None))
        self.assertIn("this went wrong", answers[fail]["errors"])
        self.assertEqual(Path(answers[sent]["result"]).read_bytes(), content)
        self.assertEqual((answers[nothing]["exit"], answers[nothing]["result"]), (0, None))
        self.assertEqual(answers[long]["kind"], "limit")
        self.assertIn("did not end within 1 s", answers[long]["why"])
        self.assertTrue(answers[long]["where"].startswith("tcp://127.0.0.2:"))
        self.assert_gone(self.running())

        # What a worker has is not asked for again, so that the file may be another by now; elsewhere that is an error.
        about = {"a/b": {"path": str(data), "sha256": sha256(content), "bytes": len(content)}}
        data.write_bytes(b"changed")
        again = link.count
        link.count += 1
        line = {"do": "submit", "key": sha256(b"again"), "arguments": ["count", str(self.held), "again", "a/b"],
                "files": about, "result": "result.json", "seconds": 60}
        link.send(id=again, **line)
        self.assertEqual(Path(link.answers([again])[again]["result"]).read_bytes(), content)
        about["a/b"]["sha256"] = sha256(b"something else")
        link.send(id=again + 1, **{**line, "key": sha256(b"changed")})
        answer = link.answers([again + 1])[again + 1]
        self.assertEqual(answer["kind"], "bad_input")
        self.assertIn("changed while jobs with it were waiting", answer["why"])
        self.assertEqual(link.close(), 0)

    def test_hostile_names_are_refused(self):
        _, link = self.cluster(2)
        data = self.folder / "data"
        data.write_bytes(b"x")
        names = ["../up", "/etc/up", "a/../../up", "a//b", "a\0b", "", "result.json", "./a", "\ud800"]
        numbers = [link.submit("quick", files={name: data}) for name in names]
        numbers += [link.submit("quick", result=name) for name in ("../up.json", "/up.json")]
        answers = link.answers(numbers)
        self.assertEqual({answers[number]["kind"] for number in numbers}, {"bad_input"})
        self.assertEqual({answers[number]["where"] for number in numbers}, {None})  # here already

    def test_jobs_of_one_key_are_one_run(self):
        _, link = self.cluster(2)
        other = Link(self, self.address)
        other.ready(1)
        data = self.folder / "data"
        data.write_bytes(b"x")
        block = link.submit("hold", str(self.held), "block")
        until(self.running, "the first job")
        key = sha256(b"one")
        numbers = [link.submit("count", str(self.held), "one", "data", files={"data": data}, key=key) for _ in range(3)]
        beside = other.submit("count", str(self.held), "one", "data", files={"data": data}, key=key)
        different = link.submit("quick", key=key)
        self.assertIn("the same key", link.answers([different])[different]["why"])
        time.sleep(1)  # for the scheduler to have both
        self.go()
        self.assert_all_done(link.answers([block, *numbers]), numbers)
        self.assert_all_done(other.answers([beside]), [beside])
        self.assertEqual((self.held / "one.runs").read_text().count("\n"), 1)

    def test_another_build(self):
        _, link = self.cluster(2, options=("--build", "0.2.1 1dee943.54ce6dd5"))
        answer = link.answers([link.submit("quick")])[0]
        self.assertEqual(answer["kind"], "missing")
        for part in (answer["where"], "version 0.2.0", "expected 0.2.1 1dee943.54ce6dd5", "127.0.0.2"):
            self.assertIn(part, answer["why"])

    def test_the_same_build(self):
        digits = sha256(Path(__file__).with_name("program").read_bytes())[:8]
        _, link = self.cluster(2, options=("--build", f"0.2.0 v0.1-5-g1dee943-dirty.{digits}"))
        self.assertEqual(link.answers([link.submit("quick")])[0]["say"], "done")

    def test_worker_without_the_package(self):
        _, link = self.cluster(2, package=None)
        answer = link.answers([link.submit("quick")])[0]
        self.assertEqual(answer["kind"], "missing")
        self.assertIn("the package driftscope is not installed", answer["why"])
        self.assertTrue(answer["where"].startswith("tcp://127.0.0.2:"))

    def test_worker_with_an_older_package(self):
        older = self.folder / "older" / "driftscope"
        older.mkdir(parents=True)
        (older / "__init__.py").write_text("")
        _, link = self.cluster(2, package=str(older.parent))
        answer = link.answers([link.submit("quick")])[0]
        self.assertEqual(answer["kind"], "missing")
        self.assertIn("of the same version", answer["why"])

    def test_worker_without_the_program(self):
        _, link = self.cluster(2, program="/nowhere/driftscope")
        answer = link.answers([link.submit("quick")])[0]
        self.assertEqual(answer["kind"], "missing")
        self.assertIn("/nowhere/driftscope", answer["why"])

    def test_many_small_jobs(self):
        """A figure for people; whether it is good is no matter of this test."""
        _, link = self.cluster(2)
        for lasts in ((2,), (2, 3)):
            if 3 in lasts:
                self.worker(3)
                link.ready(2)
            begun = time.monotonic()
            numbers = [link.submit("quick") for _ in range(500)]
            self.assert_all_done(link.answers(numbers, 600), numbers)
            print(f"{len(lasts)} workers: {500 * 60 / (time.monotonic() - begun):.0f} jobs a minute")
        where = {answer["where"] for answer in link.answered().values()}
        self.assertEqual(len(where), 2)
