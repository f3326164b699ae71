"""Tables as text, as HTML, in pandas."""
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import support  # noqa: F401

from driftscope import CompareTable, Table, VerifyTable
from driftscope.notebook import in_notebook

LAYER = {"node": "conv<1>", "op": "Conv", "output": "c", "shape": [1, 6, 28, 28], "verdict": "fault", "budget_used": 1.8e308,
         "max_abs": 0.25, "max_ulp": 3.0}


class TablesTest(unittest.TestCase):
    def test_text_is_aligned(self):
        text = str(Table("t", [{"a": "x", "n": 1.5}, {"a": "long", "n": None}], ("a", "n"), "note"))
        self.assertEqual(text.splitlines(), ["t", "a       n", "─────────", "x     1.5", "long", "note"])

    def test_empty(self):
        self.assertIn("a  b", str(Table("t", [], ("a", "b"))))
        self.assertEqual(len(Table("t", [], ("a",))), 0)

    def test_html_is_escaped_and_coloured(self):
        table = VerifyTable({"verdict": "fault", "first_fault": "conv<1>", "target": "pc/x", "layers": [LAYER]}, "a.st")
        html = table._repr_html_()
        self.assertIn("conv&lt;1&gt;", html)
        self.assertNotIn("conv<1>", html)
        self.assertIn("<b style=\"color:#c0392b\">fault</b>", html)
        self.assertIn("∞", str(table))
        self.assertIn("1x6x28x28", str(table))
        self.assertEqual(table.layer("c"), LAYER)
        with self.assertRaisesRegex(KeyError, "no layer 'd'"):
            table.layer("d")

    def test_long_tables_say_what_a_notebook_leaves_out(self):
        html = Table("t", [{"a": i} for i in range(450)], ("a",))._repr_html_()
        self.assertIn("50 more rows", html)

    def test_compare(self):
        side = {"target": "pc/fast", "first_divergence": "conv<1>", "layers": [{"node": "conv<1>", "output": "c", "max_abs": 1.0}],
                "verify": {"verdict": "fault", "layers": [LAYER]}}
        table = CompareTable({"left": {"target": "pc/strict"}, "right": [side], "headline": "h"})
        self.assertEqual((table.verdicts, table.first_divergence), ({"pc/fast": "fault"}, {"pc/fast": "conv<1>"}))
        self.assertEqual(table[0]["verdict"], "fault")

    def test_a_report_is_shown_and_linked(self):
        side = {"target": "pc/fast", "layers": []}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "a&b.html")
            page = ('<style>p{color:red}</style><section aria-labelledby="drift"><h2>Drift</h2><figure><svg class="chart"></svg>'
                    "</figure><figure>two</figure></section>")
            path.write_text(page, encoding="utf-8")
            html = CompareTable({"left": {"target": "pc/strict"}, "right": [side]}, path)._repr_html_()
            self.assertIn("&lt;style&gt;p{color:red}&lt;/style&gt;", html)
            self.assertIn("&lt;svg class=&quot;chart&quot;&gt;", html)
            self.assertNotIn("two", html)
            self.assertIn("a&amp;b.html", html)
            path.write_text("<p>no chart</p>", encoding="utf-8")
            self.assertNotIn("iframe", CompareTable({"left": {"target": "pc/strict"}, "right": [side]}, path)._repr_html_())
        self.assertNotIn("href", CompareTable({"left": {"target": "pc/strict"}, "right": [side]})._repr_html_())

    def test_a_notebook_is_known_by_its_kernel(self):
        shell = mock.Mock(spec=["kernel"])
        for found, expected in ((shell, True), (mock.Mock(spec=[]), False), (None, False)):
            with mock.patch.dict(sys.modules, {"IPython": mock.Mock(get_ipython=lambda found=found: found)}):
                self.assertEqual(in_notebook(), expected)
        with mock.patch.dict(sys.modules, {"IPython": None}):
            self.assertFalse(in_notebook())

    def test_pandas_is_asked_for_when_needed(self):
        with mock.patch.dict(sys.modules, {"pandas": None}), self.assertRaisesRegex(ImportError, "pip install pandas"):
            Table("t", [], ("a",)).to_pandas()


if __name__ == "__main__":
    unittest.main()
