#!/usr/bin/env python3
"""tools/docs on small trees of its own, with a git history where one is needed."""
import contextlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
import descriptions  # noqa: E402
import machine  # noqa: E402
import making  # noqa: E402
import report  # noqa: E402
import stamps  # noqa: E402
from inventory import Inventory  # noqa: E402

STAMP = stamps.Stamp("generated", "speed/table", "abc1234", "2026-01-02", "2 × CPU", "0123456789ab",
                     "tools/docs --make speed")
SPEED = 'command = "true"\ntakes = "1 s"\ncode = ["core/fast"]\n[blocks]\ntable = "docs/speed.md"\n'
BY_HAND = 'by_hand = "count"\ntakes = "1 s"\npackages = ["ort"]\n[blocks]\ntable = "docs/speed.md"\n'


def document(body="| a |", stamp=STAMP):
    return f"# Speed\n\n{stamp.text()}\n{body}\n<!-- end of {stamp.name} -->\n\nMore.\n"


class Stamps(unittest.TestCase):
    def test_a_block_is_read_as_it_was_written(self):
        (block,) = stamps.blocks_of(document(), "docs/speed.md")
        self.assertEqual((block.stamp, block.body, block.place), (STAMP, "| a |", "docs/speed.md:3"))

    def test_a_new_body_leaves_the_rest_as_it_is(self):
        text = document() + document("| b |", stamps.dataclasses.replace(STAMP, name="speed/other"))
        block = stamps.blocks_of(text, "x.md")[0]
        new = stamps.dataclasses.replace(STAMP, commit="fedcba9")
        self.assertEqual(stamps.replaced(text, block, new, "| c |\n| d |\n"),
                         text.replace(STAMP.text(), new.text()).replace("| a |", "| c |\n| d |"))

    def test_a_measured_block_has_no_end(self):
        stamp = stamps.Stamp("measured", "speed/table", "abc1234", "2026-01-02", "unknown")
        (block,) = stamps.blocks_of(f"{stamp.text()}\n| a |\n", "x.md")
        self.assertEqual(block.stamp, stamp)

    def test_what_cannot_be_read_is_an_error_with_its_line(self):
        sound = document()
        for text, message in (
                (sound.replace("abc1234\"", "abc1234"), "docs/a.md:3: is no stamp"),
                (sound.replace("generated:", "generated"), "docs/a.md:3: is no stamp"),
                (sound.replace(' date="2026-01-02"', ""), "has commit, date, machine, digest, by; found commit"),
                (sound.replace("end of speed/table", "end of speed"), "docs/a.md:3: speed/table has no end"),
                ("<!-- end of speed/table -->\n", "docs/a.md:1: the end of speed/table, which does not")):
            with self.assertRaises(stamps.StampError) as caught:
                stamps.blocks_of(text, "docs/a.md")
            self.assertIn(message, str(caught.exception))

    def test_the_digest_is_also_of_the_pictures(self):
        with tempfile.TemporaryDirectory() as folder:
            page, picture = pathlib.Path(folder) / "a.md", pathlib.Path(folder) / "a.png"
            picture.write_bytes(b"1")
            before = stamps.digest_of("![a](a.png)", page)
            picture.write_bytes(b"2")
            self.assertNotEqual(stamps.digest_of("![a](a.png)", page), before)


class Tree(unittest.TestCase):
    """A tree with one document, one description and, where git() was called, a history."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "clone"
        self.write("core/fast/a.cpp", "int a = 1;\n")
        self.write("core/other/b.cpp", "int b = 1;\n")
        self.write("package.json", '{"devDependencies": {"ort": "1.0"}}')
        self.write("tools/docs.d/speed.toml", SPEED)

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def read(self, name):
        return (self.root / name).read_text()

    def git(self, *arguments, where=None):
        environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        command = ["git", "-C", where or self.root, "-c", "user.name=a", "-c", "user.email=a@a", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()

    def commit(self, subject="change"):
        self.git("add", "-A")
        self.git("commit", "-qm", subject)
        return self.git("rev-parse", "--short", "HEAD")

    def stamped(self, commit, body="| a |", kind="generated"):
        """The document with a stamp of this commit."""
        digest = stamps.digest_of(body, self.root / "docs/speed.md")
        stamp = stamps.dataclasses.replace(STAMP, commit=commit, digest=digest, kind=kind)
        self.write("docs/speed.md", document(body, stamp) if kind == "generated" else f"{stamp.text()}\n{body}\n")

    def history(self, toml=SPEED, kind="generated"):
        """A first commit, which the stamp names."""
        self.write("tools/docs.d/speed.toml", toml)
        self.git("init", "-q", "-b", "main", ".")
        first = self.commit("first")
        self.stamped(first, kind=kind)
        self.commit("the document")
        return first

    def check(self, strict=False, root=None):
        """Exit code, and what was printed."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = report.check(Inventory(root or self.root), strict)
        return code, out.getvalue()


class Descriptions(Tree):
    def assert_refused(self, toml, message):
        self.write("tools/docs.d/speed.toml", toml)
        with self.assertRaises(descriptions.DescriptionError) as caught:
            Inventory(self.root)
        self.assertIn(message, str(caught.exception))

    def test_what_cannot_be_used_is_an_error(self):
        self.assert_refused(SPEED.replace("takes", "lasts"), "tools/docs.d/speed.toml: lasts is unknown; expected one of")
        self.assert_refused(SPEED.replace('["core/fast"]', '"core/fast"'), "code is 'core/fast', expected a list")
        self.assert_refused('by_hand = "count"\n' + SPEED, "either command or by_hand")
        self.assert_refused(SPEED.replace("code", "#"), "must say when it is stale")
        self.assert_refused(SPEED.replace("table =", "#"), "[blocks] is missing")
        self.assert_refused(SPEED + "!", "tools/docs.d/speed.toml: ")

    def test_code_that_was_moved_is_an_error(self):
        self.assert_refused(SPEED.replace("core/fast", "core/gone"), "core/gone, which does not exist: has it")

    def assert_error(self, message):
        code, text = self.check()
        self.assertEqual(code, 1, text)
        self.assertIn(message, text)

    def test_a_missing_stamp(self):
        self.write("docs/speed.md", "# Speed\n")
        self.assert_error("error: docs/speed.md: speed/table has no stamp here")

    def test_a_stamp_in_another_document(self):
        self.write("README.md", document())
        self.assert_error("error: docs/speed.md: speed/table has no stamp here, as tools/docs.d/speed.toml says; "
                          "it is at README.md:3")

    def test_a_stamp_that_nothing_describes(self):
        self.write("docs/speed.md", document() + document(stamp=stamps.dataclasses.replace(STAMP, name="pace/table")))
        self.assert_error("pace/table is unknown; expected table under [blocks] of tools/docs.d/pace.toml")

    def test_a_stamp_twice(self):
        self.write("docs/speed.md", document() + document())
        self.assert_error("docs/speed.md:10: speed/table is also at docs/speed.md:3")

    def test_generated_where_it_is_measured(self):
        self.write("tools/docs.d/speed.toml", BY_HAND)
        self.write("docs/speed.md", document())
        self.assert_error("speed/table is generated, expected measured")

    def test_a_stamp_that_cannot_be_read(self):
        self.write("docs/speed.md", document().replace(' machine="2 × CPU"', ""))
        self.assert_error("docs/speed.md:3: speed/table: a generated block has")


class Staleness(Tree):
    def assert_stale(self, *messages):
        code, text = self.check()
        self.assertEqual(code, 0, text)
        for message in messages:
            self.assertIn(message, text)
        self.assertIn("1 of 1 ", text)
        self.assertEqual(self.check(strict=True)[0], 1)

    def assert_fresh(self, root=None):
        code, text = self.check(strict=True, root=root)
        self.assertEqual(code, 0, text)
        self.assertIn("0 of 1 ", text)
        return text

    def test_nothing_has_changed(self):
        self.history()
        self.assert_fresh()

    def test_the_code_has_changed(self):
        first = self.history()
        self.write("core/fast/a.cpp", "int a = 2;\n")
        self.commit()
        self.write("core/fast/c.cpp", "int c = 2;\n")
        self.commit()
        self.assert_stale(f"speed (docs/speed.md): 2 commits changed 3 lines of core/fast since {first} (2026-01-02)",
                          "tools/docs --make speed (1 s)")

    def test_other_code_has_changed(self):
        self.history()
        self.write("core/other/b.cpp", "int b = 2;\n")
        self.commit()
        self.assert_fresh()

    def test_a_comment_or_a_space_is_no_change(self):
        self.history()
        self.write("core/fast/a.cpp", "// Why.\n\nint  a = 1;\n")
        self.commit()
        self.assert_fresh()

    def test_a_change_that_was_taken_back_is_none(self):
        self.history()
        self.write("core/fast/a.cpp", "int a = 2;\n")
        self.commit()
        self.git("revert", "--no-edit", "HEAD")
        self.assert_fresh()

    def test_code_that_is_left_out(self):
        self.history(SPEED.replace('"core/fast"', '"core", ":!core/other"'))
        self.write("core/other/b.cpp", "int b = 2;\n")
        self.commit()
        self.assert_fresh()
        self.write("core/fast/a.cpp", "int a = 2;\n")
        self.commit()
        self.assert_stale("1 commit changed 2 lines of core since")

    def test_a_package_has_another_version(self):
        self.history(BY_HAND, kind="measured")
        self.assert_fresh()
        self.write("package.json", '{"devDependencies": {"ort": "1.1", "eslint": "9"}}')
        self.commit()
        self.assert_stale("ort was 1.0 and is 1.1", "count; then tools/docs --stamp speed (1 s)")

    def test_a_commit_that_the_history_does_not_have(self):
        self.history()
        self.stamped("abcdef0")
        self.assert_stale("its commit abcdef0 is not in the history")

    def test_a_shallow_clone_cannot_tell(self):
        first = self.history()
        self.write("core/fast/a.cpp", "int a = 2;\n")
        self.commit()
        clone = self.root.parent / "shallow"
        self.git("clone", "-q", "--depth=1", f"file://{self.root}", clone)
        self.assertIn(f"this shallow clone does not have its commit {first}", self.assert_fresh(clone))

    def test_a_folder_without_a_history_cannot_tell(self):
        self.history()
        shutil.rmtree(self.root / ".git")
        # A folder above may be a repository.
        with unittest.mock.patch.dict(os.environ, {"GIT_CEILING_DIRECTORIES": str(self.root.parent)}):
            self.assertIn("there is no git history", self.assert_fresh())

    def test_what_says_itself_whether_it_is_up_to_date(self):
        self.history(SPEED.replace('code = ["core/fast"]', 'check = "echo 1; echo stale; test -f here"'))
        self.assert_stale("speed (docs/speed.md): stale\n")
        self.write("here", "")
        self.assert_fresh()

    def test_a_table_that_was_changed_by_hand(self):
        self.history()
        self.write("docs/speed.md", self.read("docs/speed.md").replace("| a |", "| b |"))
        self.assert_stale("changed by hand at docs/speed.md:3")


class Making(Tree):
    def make(self, *names):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = making.make(self.root, Inventory, names)
        return code, out.getvalue()

    def two_documents(self, command):
        self.history(f'command = """{command}"""\n' + SPEED.partition("\n")[2] + 'figure = "README.md"\n')
        self.write("README.md", document(stamp=stamps.dataclasses.replace(STAMP, name="speed/figure")))
        self.commit("README")

    def test_one_command_makes_blocks_of_two_documents(self):
        self.two_documents("echo fast >$OUT/table.md; echo 7 >$OUT/figure.md")
        self.assertEqual(self.make("speed")[0], 0)
        for name, body in (("docs/speed.md", "fast"), ("README.md", "7")):
            (block,) = stamps.blocks_of(self.read(name), name)
            self.assertEqual(block.body, f"{body}\n\n{making.caption(block.stamp)}")
            self.assertEqual(block.stamp.machine, machine.in_words(False))
            self.assertTrue(self.read(name).startswith("# Speed\n"))
            self.assertTrue(self.read(name).endswith("\n\nMore.\n"))
        self.assertEqual(self.check(strict=True)[0], 0)

    def test_two_blocks_of_a_document(self):
        self.two_documents("cd $OUT; echo fast >table.md; echo 7 >figure.md; printf '1\\n2\\n3\\n' >first.md")
        self.write("tools/docs.d/speed.toml", self.read("tools/docs.d/speed.toml") + 'first = "README.md"\n')
        first = document(stamp=stamps.dataclasses.replace(STAMP, name="speed/first"))
        self.write("README.md", first + self.read("README.md"))
        self.assertEqual(self.make("speed")[0], 0)
        blocks = stamps.blocks_of(self.read("README.md"), "README.md")
        self.assertEqual([block.body.partition("\n\n")[0] for block in blocks], ["1\n2\n3", "7"])

    def test_the_stamp_names_the_last_commit_of_the_code(self):
        first = self.history(SPEED.replace("true", "echo fast >$OUT/table.md"))
        self.make()
        once = self.read("docs/speed.md")
        self.assertIn(f'commit="{first}"', once)
        self.commit("made")
        self.make()
        self.assertEqual(self.read("docs/speed.md"), once)

    def test_where_a_package_changed_last_the_stamp_names_that(self):
        toml = SPEED.replace("true", "echo fast >$OUT/table.md")
        self.history(toml.replace("[blocks]", 'packages = ["ort"]\n[blocks]'))
        self.write("package.json", '{"devDependencies": {"ort": "1.1"}}')
        self.commit()
        self.make()
        self.assertEqual(self.check(strict=True)[0], 0)

    def test_of_parallel_branches_it_names_their_merge(self):
        self.history(SPEED.replace("true", "echo fast >$OUT/table.md"))
        self.git("checkout", "-qb", "beside")
        self.write("core/fast/c.cpp", "int c = 1;\n")
        self.commit()
        self.git("checkout", "-q", "main")
        self.write("core/fast/a.cpp", "int a = 2;\n")
        self.commit()
        self.git("merge", "-q", "--no-edit", "beside")
        self.make()
        self.assertIn(f'commit="{self.git("rev-parse", "--short", "HEAD")}"', self.read("docs/speed.md"))
        self.assertEqual(self.check(strict=True)[0], 0)

    def test_a_command_that_fails_leaves_the_documents(self):
        self.two_documents("echo fast >$OUT/table.md; false")
        before = self.read("docs/speed.md")
        code, text = self.make("speed")
        self.assertEqual((code, self.read("docs/speed.md")), (1, before))
        self.assertIn("ended with exit code 1; what it has so far is in build/docs/speed-", text)

    def test_a_command_that_makes_too_little_leaves_the_documents(self):
        self.two_documents("echo fast >$OUT/table.md")
        before = self.read("docs/speed.md")
        code, text = self.make("speed")
        self.assertEqual((code, self.read("docs/speed.md")), (1, before))
        self.assertIn("speed/figure: the command wrote no figure.md into $OUT", text)

    def test_code_that_is_not_committed_is_refused(self):
        self.history()
        self.write("core/fast/a.cpp", "int a = 2;\n")
        code, text = self.make("speed")
        self.assertEqual(code, 1)
        self.assertIn("core/fast/a.cpp differs from the last commit", text)

    def test_pictures_are_stamped(self):
        self.history(SPEED.replace("true", "echo 2 >docs/a.png"))
        self.write("docs/a.png", "1")
        first = stamps.digest_of("![a](a.png)", self.root / "docs/speed.md")
        self.stamped("abcdef0", "![a](a.png)")
        self.assertEqual(self.make("speed")[0], 0)
        (block,) = stamps.blocks_of(self.read("docs/speed.md"), "docs/speed.md")
        self.assertEqual(block.body, "![a](a.png)")
        self.assertNotEqual(block.stamp.digest, first)
        self.assertEqual(self.check(strict=True)[0], 0)

    def test_what_is_measured_by_hand_is_stamped(self):
        first = self.history(BY_HAND, kind="measured")
        self.stamped("abcdef0", kind="measured")
        self.assertEqual(self.make("speed")[0], 1)
        self.assertEqual(self.make()[0], 0)
        making.stamp_by_hand(Inventory(self.root), ["speed"], "a phone")
        self.assertIn(f'commit="{first}"', self.read("docs/speed.md"))
        self.assertIn('machine="a phone" -->\n| a |\n', self.read("docs/speed.md"))

    def test_an_unknown_name(self):
        self.history()
        with self.assertRaisesRegex(descriptions.DescriptionError, "pace is unknown; expected one of speed"):
            self.make("pace")


class Machine(unittest.TestCase):
    def test_processors_in_words(self):
        self.assertEqual(machine.processors("model name\t: AMD EPYC 7763 64-Core Processor\nflags\t\t: fpu avx2\n", 4),
                         "4 × AMD EPYC 7763 64-Core, AVX2")
        self.assertEqual(machine.processors("model name\t: Intel(R) Xeon(R) CPU @ 2.80GHz\nflags\t\t: avx2 avx512f\n", 2),
                         "2 × Intel Xeon, AVX-512")
        self.assertEqual(machine.processors("Features\t: fp asimd\n", 8), "8 × processor, NEON")


if __name__ == "__main__":
    unittest.main()
