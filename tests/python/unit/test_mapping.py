"""The mapping's file, editing it, and files that are wrong."""
import json
import unittest

from support import FolderTest

from driftscope import BadInput, Mapping
from driftscope.mapping import Link


class MappingTest(FolderTest):
    def mapping(self):
        return Mapping("keras", "ab" * 32, [Link("conv", "conv:0", (0, 3, 1, 2), "values", 1.234e-7),
                                            Link("flat", "flat:0", None, "name", 0.0)], {"drop": "why"}, ["shape:0"])

    def load(self, data):
        path = self.folder / "m.json"
        path.write_text(data if isinstance(data, str) else json.dumps(data))
        return Mapping.load(path)

    def test_saved_and_loaded(self):
        path = self.folder / "m.json"
        first = self.mapping().save(path)
        again = Mapping.load(path)
        self.assertEqual([link.__dict__ for link in again.links], [{**link.__dict__, "distance": float(f"{link.distance:.3g}")}
                                                                   for link in first.links])
        self.assertEqual((again.unmapped, again.missing, again.framework, again.model_sha256),
                         (first.unmapped, first.missing, first.framework, first.model_sha256))
        self.assertEqual(list(self.folder.iterdir()), [path])

    def test_editing(self):
        mapping = self.mapping().set("drop", "shape:0", [1, 0])
        self.assertEqual(mapping.links[-1], Link("drop", "shape:0", (1, 0), "hand"))
        self.assertEqual((mapping.unmapped, mapping.missing), ({}, []))
        mapping.set("conv", "flat:0")
        self.assertEqual([(link.layer, link.value) for link in mapping.links], [("drop", "shape:0"), ("conv", "flat:0")])
        mapping.drop("conv")
        self.assertEqual(mapping.missing, ["flat:0"])
        with self.assertRaisesRegex(BadInput, "no layer 'conv'; it has 'drop'"):
            mapping.drop("conv")

    def test_shown(self):
        text, html = str(self.mapping()), self.mapping()._repr_html_()
        for part in ("conv:0", "0 3 1 2", "as they lie", "not mapped: why", "not recorded", "2 values mapped, 1 not mapped"):
            self.assertIn(part, text)
            self.assertIn(part, html)

    def test_what_a_person_writes(self):
        mapping = self.load({"format": "driftscope-mapping-1", "values": [{"layer": "a", "value": "b"}]})
        self.assertEqual(mapping.links, [Link("a", "b")])

    def test_wrong_files_say_where(self):
        def entry(**more):
            return {"format": "driftscope-mapping-1", "values": [{"layer": "a", "value": "b", **more}]}
        cases = [("{", "m.json"), ("[]", "list"), ({"format": "x"}, "'x', expected"),
                 ({"format": "driftscope-mapping-1"}, "'values' must be a list"), (entry(axes=[0, 2]), "0 to 1"),
                 (entry(axes=[0, True]), "integers"), (entry(axes="01"), "must be a list"), (entry(value=3), "'value' must"),
                 (entry(distance="far"), "distance"), ({"format": "driftscope-mapping-1", "values": [3]}, r"values\[0\]"),
                 ({"format": "driftscope-mapping-1", "values": [{"layer": "a", "value": "b"}, {"layer": "c", "value": "b"}]},
                  "value 'b' occurs twice")]
        for data, message in cases:
            with self.subTest(data), self.assertRaisesRegex(BadInput, message):
                self.load(data)


if __name__ == "__main__":
    unittest.main()
