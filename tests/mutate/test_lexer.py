"""The lexer of tools/mutate: what is code, and what only looks like it."""
import unittest

import tree
from mutation.lexer import integer, tokens


def texts(source, **wanted):
    return [token.text for token in tokens(source) if all(getattr(token, name) == value for name, value in wanted.items())]


class Tokens(unittest.TestCase):
    def test_comments_are_no_tokens(self):
        self.assertEqual(texts("a // b < c\n/* d\n && e */ f"), ["a", "f"])

    def test_a_comment_goes_on_after_a_backslash(self):
        self.assertEqual(texts("a // b \\\n c < d\ne"), ["a", "e"])

    def test_a_text_with_what_looks_like_a_comment(self):
        self.assertEqual(texts('f("// \\" /*", 1)', kind="text"), ['"// \\" /*"'])

    def test_a_raw_text_ends_at_its_own_delimiter(self):
        raw = 'R"sh(a ")" < b // )s" )sh"'
        self.assertEqual(texts(f"x = {raw};"), ["x", "=", raw, ";"])

    def test_texts_with_prefixes_and_suffixes(self):
        self.assertEqual(texts('u8"a" L"b" "c"sv', kind="text"), ['u8"a"', 'L"b"', '"c"sv'])

    def test_characters_beside_separators_of_digits(self):
        self.assertEqual(texts("'\\'' 50'000'000 '<'"), ["'\\''", "50'000'000", "'<'"])
        self.assertEqual(texts("50'000'000", kind="number"), ["50'000'000"])

    def test_numbers_are_whole(self):
        self.assertEqual(texts("1.5e-3f 0x1p-2 .5 7u 1e9"), ["1.5e-3f", "0x1p-2", ".5", "7u", "1e9"])

    def test_preprocessor_lines_are_no_tokens(self):
        self.assertEqual(texts("#include <vector>\n  # define X(a) \\\n  (a < 1)\nint y;"), ["int", "y", ";"])

    def test_a_preprocessor_line_in_a_comment_is_none(self):
        self.assertEqual(texts("/*\n#if */ a\n"), ["a"])

    def test_long_punctuators_are_whole(self):
        self.assertEqual(texts("a <<= b->c <=> d ... e::f ->* g"),
                         ["a", "<<=", "b", "->", "c", "<=>", "d", "...", "e", "::", "f", "->*", "g"])

    def test_spaces_tell_an_operator_from_brackets(self):
        spaced = texts("std::vector<int> a = b < c && d; T&& e; f(-1, g - 1); const T* h = i * j;", kind="punctuator", spaced=True)
        self.assertEqual(spaced, ["=", "<", "&&", "-", "=", "*"])

    def test_the_end_of_a_line_is_a_space(self):
        self.assertIn("&&", texts("a &&\n  b", spaced=True))

    def test_attributes_asserts_and_names_of_operators_stay(self):
        source = "[[gnu::aligned(16)]] int a[[[maybe_unused]] 1]; static_assert(sizeof(a) == 8); bool operator < (B); b == 2;"
        self.assertEqual([text for text in texts(source, mutable=True) if text in ("16", "8", "==", "<", "2")], ["==", "2"])

    def test_what_is_no_token_is_named_with_its_line(self):
        with self.assertRaisesRegex(ValueError, "line 2"):
            tokens('a\n"b')

    def test_positions_are_those_of_the_source(self):
        source = 'a = R"(\n)" /* b */ + 0x1F;\n#if 1\n c'
        for token in tokens(source):
            self.assertEqual(source[token.begin : token.end], token.text)


class Integers(unittest.TestCase):
    def test_values_in_all_bases(self):
        self.assertEqual([integer(text) for text in ("10", "0x1F", "0b101", "017", "1'000ull", "0")],
                         [(10, 10, ""), (31, 16, ""), (5, 2, ""), (15, 8, ""), (1000, 10, "ull"), (0, 10, "")])

    def test_others_are_none(self):
        for text in ("1.5", "1e3", "30ms", "1.f", "0x1p3"):
            self.assertIsNone(integer(text), text)


class TheTree(unittest.TestCase):
    def test_every_source_is_read_to_its_end(self):
        files = [path for folder in ("core", "native") for path in (tree.ROOT / folder).rglob("*.[ch]pp")]
        self.assertGreater(len(files), 500)
        for path in files:
            tokens(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
