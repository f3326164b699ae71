"""Which mutants tools/mutate makes of a source, and which of them a seed has."""
import pathlib
import tempfile
import unittest

import tree
from mutation import choice, equivalents
from mutation.changes import sites

SOURCE = """#include <algorithm>
// a < b
int clamp(std::vector<int> v, int limit) {
  if (v.size() < 3 && !v.empty()) return 0;
  return std::min(limit + 1, 0x10);
}
"""


def changes(source):
    return {(site.text, choice_) for site in sites(source) for choice_ in site.choices}


class Changes(unittest.TestCase):
    def test_each_token_of_code_and_no_other(self):
        self.assertEqual([site.text for site in sites(SOURCE)], ["<", "3", "&&", "!", "0", "min", "+", "1", "0x10"])

    def test_comparisons_move_by_one_and_turn_round(self):
        self.assertLessEqual({("<", "<="), ("<", ">"), (">=", ">"), ("==", "!=")}, changes("a < b; c >= d; e == f;"))

    def test_integers_by_one_and_to_zero(self):
        self.assertEqual(changes("f(3, 1u, 0, 0x0F);"),
                         {("3", "0"), ("3", "2"), ("3", "4"), ("1u", "0u"), ("1u", "2u"), ("0", "1"),
                          ("0x0F", "0"), ("0x0F", "0xe"), ("0x0F", "0x10")})

    def test_a_name_is_a_function_only_where_it_is_called(self):
        self.assertEqual(changes("const int min = std::max<int>(a, b);"), {("max", "min")})

    def test_types_pointers_and_references_stay(self):
        self.assertEqual(changes("template <class T> T& f(const std::map<K, V*>& m, T&& t, U* u);"), set())

    def test_a_missing_negation(self):
        self.assertEqual(changes("return !done;"), {("!", "")})


class Choice(unittest.TestCase):
    def mutants(self, source=SOURCE, seed=1):
        return sorted(choice.mutants_of("core/a.cpp", source, seed), key=lambda mutant: mutant.rank)

    def test_the_same_seed_chooses_the_same(self):
        self.assertEqual(self.mutants(), self.mutants())
        self.assertNotEqual([mutant.line_after for mutant in self.mutants()], [mutant.line_after for mutant in self.mutants(seed=2)])

    def test_an_edit_elsewhere_changes_nothing(self):
        edited = SOURCE.replace("int clamp", "int other = 7;\n\n    int clamp")
        keys = [mutant.key for mutant in self.mutants(edited) if "other" not in mutant.line_before]
        self.assertEqual(keys, [mutant.key for mutant in self.mutants()])

    def test_equal_lines_have_ranks_of_their_own(self):
        ranks = [mutant.rank for mutant in self.mutants("a(1);\na(1);\n  a(1);\n")]
        self.assertEqual(len(set(ranks)), 3)

    def test_one_token_is_replaced(self):
        for mutant in self.mutants():
            changed = mutant.apply(SOURCE)
            lines = [(before, after) for before, after in zip(SOURCE.splitlines(), changed.splitlines(), strict=True) if before != after]
            self.assertEqual(lines, [(SOURCE.splitlines()[mutant.line - 1], lines[0][1])])
            self.assertEqual((lines[0][0].strip(), lines[0][1].strip()), (mutant.line_before, mutant.line_after))

    def test_a_file_that_has_changed_is_not_mutated(self):
        with self.assertRaisesRegex(ValueError, "has changed"):
            self.mutants()[0].apply("")

    def test_globs_and_folders(self):
        files = ["core/base/simd/a.cpp", "core/gui/imgui/b.cpp", "core/gui/imguide.cpp", "native/os/c.cpp"]
        self.assertEqual(choice.matching(files, ["*/simd/*", "core/gui/imgui"]), files[:2])


class EquivalentMutants(unittest.TestCase):
    LIST = """# how
core/a.cpp:4
- v.reserve(1);
+ v.reserve(2);
  A hint
  of the capacity.

core/a.cpp
- if (x)
+ if (!x)
  Both ways end the same.
"""

    def test_an_entry_is_what_a_survivor_prints(self):
        mutant = next(iter(choice.mutants_of("core/a.cpp", "  v.reserve(1);\n", 3)))
        text = mutant.diff() + "  A hint.\n"
        self.assertEqual(equivalents.Equivalents(equivalents.read(text, "list")).reason(mutant), "A hint.")

    def test_all_entries_are_read(self):
        entries = equivalents.read(self.LIST, "list")
        self.assertEqual([(entry.file, entry.reason, entry.number) for entry in entries],
                         [("core/a.cpp", "A hint of the capacity.", 2), ("core/a.cpp", "Both ways end the same.", 8)])

    def test_an_entry_without_a_reason_is_an_error(self):
        with self.assertRaisesRegex(equivalents.BadList, "list:1: expected"):
            equivalents.read("core/a.cpp\n- a\n+ b\n", "list")

    def test_an_entry_whose_line_has_gone_is_told(self):
        listed = equivalents.Equivalents(equivalents.read(self.LIST, "list"))
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "core").mkdir()
            (root / "core/a.cpp").write_text("  v.reserve(1);\n", encoding="utf-8")
            self.assertEqual([entry.line_before for entry in listed.stale(root)], ["if (x)"])

    def test_the_list_is_about_lines_that_exist(self):
        path = tree.ROOT / "tests/mutate/equivalent.txt"
        listed = equivalents.Equivalents(equivalents.read(path.read_text(encoding="utf-8"), path.name))
        self.assertEqual(list(listed.stale(tree.ROOT)), [])


if __name__ == "__main__":
    unittest.main()
