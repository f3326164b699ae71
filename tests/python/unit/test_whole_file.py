"""Files whole or not at all: what killed programs left, errors, and what others are writing now."""
import unittest

from support import FolderTest

from driftscope.whole_file import whole_file


class WholeFileTest(FolderTest):
    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def test_what_a_killed_program_left_is_removed_and_nothing_else(self):
        for name in (".t.driftscope-aB3xyZ", ".t.driftscope-aB3xy", "t.driftscope-aB3xyZ"):
            (self.folder / name).write_text("half")
        with whole_file(self.folder / "new") as file:
            file.write(b"text")
        self.assertEqual(self.names(), [".t.driftscope-aB3xy", "new", "t.driftscope-aB3xyZ"])

    def test_a_file_that_is_being_written_is_left_to_its_writer(self):
        path = self.folder / ("n" * 255)
        with whole_file(path) as slow:
            with whole_file(path) as fast:
                fast.write(b"fast")
            self.assertEqual(path.read_bytes(), b"fast")
            slow.write(b"slow one")
        self.assertEqual(path.read_bytes(), b"slow one")
        self.assertEqual(self.names(), [path.name])

    def test_an_error_leaves_the_older_file_and_names_it(self):
        path = self.folder / "t"
        path.write_bytes(b"old")
        with self.assertRaises(ValueError), whole_file(path) as file:
            file.write(b"new")
            raise ValueError
        self.assertEqual((self.names(), path.read_bytes()), (["t"], b"old"))
        with self.assertRaises(OSError) as caught, whole_file(self.folder / "absent" / "t"):
            pass
        self.assertEqual(caught.exception.filename, str(self.folder / "absent" / "t"))


if __name__ == "__main__":
    unittest.main()
