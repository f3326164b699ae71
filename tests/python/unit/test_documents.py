"""The types of the program's documents, which are generated from their schemas."""
import typing
import unittest

import support  # noqa: F401

from driftscope import documents


class DocumentsTest(unittest.TestCase):
    def test_every_type_names_others_that_exist(self):
        classes = [made for made in vars(documents).values() if typing.is_typeddict(made) and made is not typing.TypedDict]
        self.assertGreater(len(classes), 30)
        for made in classes:
            self.assertTrue(typing.get_type_hints(made, vars(documents)), made.__name__)

    def test_keys_that_may_be_absent_are_optional(self):
        self.assertIn("verdict", documents.VerifiedLayer.__required_keys__)
        self.assertIn("max_abs", documents.VerifiedLayer.__required_keys__)
        self.assertIn("findings", documents.VerifiedLayer.__optional_keys__)
        self.assertIn("from", documents.BisectStep.__required_keys__)
        self.assertEqual(documents.CompareDocument.__annotations__["left"].__forward_arg__, "ComparedTarget")


if __name__ == "__main__":
    unittest.main()
