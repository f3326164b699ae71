#include "core/base/text.hpp"

#include <doctest/doctest.h>

namespace driftscope::test::text_test {
using namespace std::string_literals;

TEST_CASE("ValidUtf8_AcceptsEveryLengthOfSequence") {
  CHECK(valid_utf8(""));
  CHECK(valid_utf8("plain"));
  CHECK(valid_utf8("é ☃ 𝛼 \xed\x9f\xbf \xee\x80\x80 \xf4\x8f\xbf\xbf"));
  CHECK(valid_utf8("\0"s));
}

TEST_CASE("ValidUtf8_RefusesWhatTable37Excludes") {
  CHECK_FALSE(valid_utf8("\x80"));              // a continuation byte alone
  CHECK_FALSE(valid_utf8("\xc3"));              // cut short
  CHECK_FALSE(valid_utf8("\xc0\xaf"));          // overlong
  CHECK_FALSE(valid_utf8("\xe0\x9f\xbf"));      // overlong
  CHECK_FALSE(valid_utf8("\xed\xa0\x80"));      // a surrogate
  CHECK_FALSE(valid_utf8("\xf0\x8f\xbf\xbf"));  // overlong
  CHECK_FALSE(valid_utf8("\xf4\x90\x80\x80"));  // beyond U+10FFFF
  CHECK_FALSE(valid_utf8("\xff"));
  CHECK_FALSE(valid_utf8("\xe2\x98x"));
}

TEST_CASE("Printable_RefusesWhatATerminalWouldObey") {
  CHECK(printable("conv1/é ☃"));
  CHECK_FALSE(printable("\x1b[31m"));
  CHECK_FALSE(printable("a\n"));
  CHECK_FALSE(printable("\x7f"));
  CHECK_FALSE(
      printable("\xc2\x9b"
                "31m"));  // CSI as one character
  CHECK(printable("\xc2\xa0"));
  CHECK_FALSE(printable("\xff"));
}

TEST_CASE("InQuotes_EscapesAndCuts") {
  CHECK(in_quotes("conv1") == "'conv1'");
  CHECK(in_quotes("a\nb\x7f\xff") == "'a\\x0ab\\x7f\\xff'");
  CHECK(in_quotes("é") == "'é'");
  CHECK(in_quotes("\xc2\x9b") == "'\\xc2\\x9b'");
  CHECK(in_quotes("abcdef", 4) == "'abcd…'");
  CHECK(in_quotes("abcdef", 6) == "'abcdef'");
  CHECK(in_quotes("abé", 3) == "'ab…'");  // never cuts within a character
}

TEST_CASE("HarmlessJson_WhatATerminalOrALogObeys_IsEscaped") {
  CHECK(harmless_json("{\n\t\"a\": \"é ✓\"}\n") == "{\n\t\"a\": \"é ✓\"}\n");
  CHECK(harmless_json("[\"\x7f\xc2\x9b\xd8\x9c\xe2\x80\xae\"]") == "[\"\\u007f\\u009b\\u061c\\u202e\"]");
  CHECK(harmless_json("[\"##[add-path]\"]") == "[\"\\u0023#[add-path]\"]");
}

TEST_CASE("WhiteSpace_IsThatOfUnicode") {
  for (const char* white : {" ", "\t", "\xc2\x85", "\xc2\xa0", "\xe1\x9a\x80", "\xe2\x80\x8a", "\xe2\x80\xa8",
                            "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"}) {
    CAPTURE(std::string(white));
    CHECK(white_space(white, 0) == std::string_view(white).size());
  }
  for (const char* other : {"a", "é", "\xe2\x80\x8b", "\xff"}) CHECK(white_space(other, 0) == 0);
}

TEST_CASE("Harmless_WhatATerminalObeys_IsText") {
  CHECK(harmless("line\n\tnext é ✓") == "line\n\tnext é ✓");
  CHECK(harmless("\x1b[31mred\x07\r") == "\\x1b[31mred\\x07\\x0d");
  CHECK(harmless("\xc2\x9b"
                 "31m") == "\\xc2\\x9b31m");  // CSI as one C1 character
  CHECK(harmless("\xff") == "\\xff");         // no UTF-8
  CHECK(harmless("a\xe2\x80\xae"
                 "b") == "a\\xe2\\x80\\xaeb");  // right-to-left override
  CHECK(harmless("\xd8\x9c") == "\\xd8\\x9c");  // Arabic letter mark
  CHECK(harmless("\xe2\x81\xa6") == "\\xe2\\x81\\xa6");
  CHECK(harmless("\xe2\x80\x93") == "\xe2\x80\x93");  // an en dash
}

}  // namespace driftscope::test::text_test
