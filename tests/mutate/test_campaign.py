"""How many mutants tools/mutate tries, what it remembers, and what it asks of the build and of the test programs."""
import pathlib
import subprocess
import tempfile
import unittest

import tree
from mutation import choice, doctest_program, equivalents, order, reach, snapshot, storage, summary
from mutation.build import dependencies, relinked
from mutation.campaign import Campaign
from mutation.trial import EQUIVALENT, KILLED, NOT_COMPILED, SURVIVED, Verdict

LINES = "".join(f"f{number}(1);\n" for number in range(9))


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


class WhatIsTried(InFolder):
    def campaign(self, count, listed="", again=False):
        self.write("core/a.cpp", LINES)
        self.mutants = choice.chosen(self.root, ["core/a.cpp"], 1)
        entries = equivalents.Equivalents(equivalents.read(listed, "list"))
        return Campaign(self.mutants, count, self.root, storage.Results(self.root / "results.jsonl"), entries, again)

    def try_all(self, campaign, results):
        tried = []
        while (mutant := campaign.next_untried(0)) is not None:
            tried.append(mutant)
            campaign.settle(mutant, Verdict(results[len(tried) - 1]))
        return tried

    def test_in_the_order_of_ranks(self):
        self.assertEqual(self.try_all(self.campaign(2), [KILLED, SURVIVED]), self.mutants[:2])

    def test_what_does_not_compile_is_replaced(self):
        campaign = self.campaign(2)
        self.assertEqual(self.try_all(campaign, [KILLED, NOT_COMPILED, EQUIVALENT, SURVIVED]), self.mutants[:4])
        self.assertEqual(summary.share(summary.count(campaign.settled)), 0.5)

    def test_no_more_run_than_may_be_needed(self):
        campaign = self.campaign(2)
        self.assertIsNotNone(campaign.next_untried(0))
        self.assertIsNotNone(campaign.next_untried(1))
        self.assertIsNone(campaign.next_untried(2))

    def test_results_are_remembered(self):
        self.try_all(self.campaign(2), [KILLED, SURVIVED])
        self.assertEqual(self.try_all(self.campaign(3), [KILLED]), self.mutants[2:3])

    def test_survivors_are_tried_again_on_demand(self):
        self.try_all(self.campaign(2), [KILLED, SURVIVED])
        self.assertEqual(self.campaign(2).survivors(), self.mutants[1:2])
        self.assertEqual(self.try_all(self.campaign(2, again=True), [KILLED]), self.mutants[1:2])
        self.assertEqual(self.campaign(2).survivors(), [])

    def test_a_result_is_about_one_text_of_the_source(self):
        self.try_all(self.campaign(1), [KILLED])
        campaign = self.campaign(1)
        self.write("core/a.cpp", LINES + "// more\n")
        self.assertEqual(self.try_all(campaign, [KILLED]), self.mutants[:1])

    def test_an_equivalent_of_the_list_is_not_tried(self):
        self.campaign(1)
        campaign = self.campaign(1, listed=self.mutants[0].diff() + "  why\n")
        self.assertEqual(self.try_all(campaign, [KILLED]), self.mutants[1:2])

    def test_half_a_line_of_results_is_passed_over(self):
        self.try_all(self.campaign(2), [KILLED, KILLED])
        path = self.root / "results.jsonl"
        path.write_text(path.read_text(encoding="utf-8")[:-20], encoding="utf-8")
        self.assertEqual(self.try_all(self.campaign(2), [KILLED]), self.mutants[1:2])
        self.assertEqual(self.try_all(self.campaign(2), []), [])


class Snapshot(InFolder):
    def test_equals_the_tree_and_keeps_times(self):
        root, copy = self.root / "tree", self.root / "copy"
        for name in ("a.cpp", "folder/b.cpp"):
            self.write(f"tree/{name}", name)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        self.assertEqual(snapshot.take(root, copy), 2)
        time = (copy / "a.cpp").stat().st_mtime_ns
        (root / "a.cpp").touch()
        (root / "folder/b.cpp").unlink()
        self.write("tree/c.cpp", "c")
        self.write("copy/old.cpp", "")
        self.write("copy/build/own.txt", "")
        self.assertEqual(snapshot.take(root, copy), 3)
        self.assertEqual(sorted(path.name for path in copy.rglob("*.cpp")), ["a.cpp", "c.cpp"])
        self.assertTrue((copy / "build/own.txt").exists())
        self.assertEqual((copy / "a.cpp").stat().st_mtime_ns, time)
        self.assertEqual((root / "a.cpp").read_text(encoding="utf-8"), "a.cpp")


class Building(unittest.TestCase):
    def test_an_object_of_an_archive_goes_before_all_others(self):
        words = ["c++", "-O0", "main.o", "test.o", "-o", "program", "libcore.a", "-lz"]
        self.assertEqual(relinked(words, {"core/a.o": "/w/0.o", "test.o": "/w/1.o"}, "/w/program"),
                         ["c++", "-O0", "-Wl,-z,muldefs", "/w/0.o", "main.o", "/w/1.o", "-o", "/w/program", "libcore.a", "-lz"])

    def test_dependencies_of_objects(self):
        text = "a.o: #deps 2, deps mtime 1 (VALID)\n    ../a.cpp\n    ../a.hpp\n\nb.o: #deps 1, deps mtime 1 (VALID)\n    ../b.cpp\n"
        self.assertEqual(dependencies(text), {"a.o": ["../a.cpp", "../a.hpp"], "b.o": ["../b.cpp"]})


class Reach(unittest.TestCase):
    TEXT = """a_test.o:
a_case T 0
sum U
x_inline W 0 9

b_test.o:
b_case T 0
print U
x_inline W 0 9

sum.o:
sum T 0
table U
x_inline W 0 9

print.o:
print T 0
printf U

table.o:
table D 0
"""

    def test_objects_that_need_another_through_others(self):
        direct = reach.neighbours(*reach.symbols(self.TEXT))
        self.assertEqual(reach.reaching("table.o", direct), {"table.o", "sum.o", "a_test.o"})
        self.assertEqual(reach.reaching("print.o", direct), {"print.o", "b_test.o"})

    def test_what_headers_define_connects_nothing(self):
        direct = reach.neighbours(*reach.symbols(self.TEXT))
        self.assertEqual(direct["a_test.o"], {"sum.o"})


class Doctest(unittest.TestCase):
    def test_the_cases_of_a_report(self):
        report = """<doctest><TestSuite>
          <TestCase name="Sum, of none" filename="/t/tests/unit/base/sum_test.cpp" line="3">
            <OverallResultsAsserts successes="1" failures="0" test_case_success="true" duration="0.5"/></TestCase>
          <TestCase name="b" filename="/t/tests/unit/b.cpp" line="3" skipped="true"/>
          <TestCase name="c" filename="../t/tests/unit/b.cpp" line="9">
            <OverallResultsAsserts successes="0" failures="1" test_case_success="false" duration="1"/></TestCase>
          </TestSuite></doctest>"""
        self.assertEqual(doctest_program.cases_of_report(report, "/t", "/build"),
                         [doctest_program.Case("Sum, of none", "tests/unit/base/sum_test.cpp", 0.5, True),
                          doctest_program.Case("c", "tests/unit/b.cpp", 1.0, False)])

    def test_commas_in_names_do_not_separate(self):
        self.assertIn("--test-case-exclude=Sum\\, of none,c", doctest_program.arguments(without=["Sum, of none", "c"]))

    def test_the_case_that_failed(self):
        output = "====\ntests/unit/a.cpp:3:\nTEST SUITE: s\nTEST CASE:  Sum, of none\n\na.cpp:5: ERROR: CHECK( 1 == 2 )\nTEST CASE:  b\n"
        self.assertEqual(doctest_program.failed_case(output), "Sum, of none")
        self.assertIsNone(doctest_program.failed_case("Killed"))


class Order(unittest.TestCase):
    def test_tests_of_the_file_then_of_its_layer_then_all_others(self):
        includes = {"tests/unit/report/text_test.cpp": '#include "core/graph/order.hpp"'}
        tests = ["tests/unit/base/a_test.cpp", "tests/unit/graph/build_test.cpp", "tests/unit/graph/order_cycle_test.cpp",
                 "tests/unit/report/text_test.cpp"]
        self.assertEqual(order.stages("core/graph/order.cpp", tests, lambda file: includes.get(file, "")),
                         [tests[2:], tests[1:2], tests[:1]])

    def test_slow_ones_come_last_unless_they_are_about_the_file(self):
        tests = ["tests/unit/graph/order_test.cpp", "tests/unit/graph/a_test.cpp", "tests/unit/graph/b_test.cpp", "tests/unit/c.cpp"]
        self.assertEqual(order.stages("core/graph/order.cpp", tests, lambda file: "", slow=tests[:2]),
                         [tests[:1], tests[2:3], tests[3:], tests[1:2]])


if __name__ == "__main__":
    unittest.main()
