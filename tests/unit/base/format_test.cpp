#include "core/base/format.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/base/base64.hpp"

namespace driftscope::test::format_test {

TEST_CASE("FormatNs_PicksUnitAndThreeDigits") {
  CHECK(format_ns(0) == "–");
  CHECK(format_ns(940) == "0.94 µs");
  CHECK(format_ns(31'400) == "31.4 µs");
  CHECK(format_ns(1'240'000) == "1.24 ms");
  CHECK(format_ns(2'100'000'000) == "2.10 s");
}

TEST_CASE("FormatBytes_PicksUnit") {
  CHECK(format_bytes(712) == "712 B");
  CHECK(format_bytes(18'816) == "18.8 kB");
  CHECK(format_bytes(1'234'567'890) == "1.23 GB");
}

TEST_CASE("FormatNumber_NamesWhatIsNoNumber") {
  CHECK(format_number(0.0) == "0");
  CHECK(format_number(1.1920929e-07) == "1.19e-07");
  CHECK(format_number(-INFINITY) == "-inf");
  CHECK(format_number(NAN) == "nan");
}

TEST_CASE("WithoutFolders_LeavesTheNamesOfFilesAndWhateverIsNoPath") {
  CHECK(without_folders("idx:/data/x/digits.idx3-ubyte,/data/x/labels.idx1#121") ==
        "idx:digits.idx3-ubyte,labels.idx1#121");
  CHECK(without_folders("input=../pictures/cat.png") == "input=cat.png");
  CHECK(without_folders("/data/test_data_set_0/") == "test_data_set_0/");
  CHECK(without_folders("seed:42") == "seed:42");
  CHECK(without_folders("sample 121 of handwritten digits, labelled 8") ==
        "sample 121 of handwritten digits, labelled 8");
  CHECK(without_folders("").empty());
  CHECK(without_folders("/:/") == "/:/");
}

TEST_CASE("Elide_KeepsBothEndsAndCountsCodePoints") {
  CHECK(elide("short", 10) == "short");
  CHECK(elide("a_very_long_layer_name", 11) == "a_ver…_name");
  CHECK(display_width(elide("µµµµµµµµµµµµ", 5)) == 5);
  CHECK(elide("µµµµµµ", 3) == "µ…µ");
}

TEST_CASE("HtmlEscape_LeavesNoMarkup") {
  CHECK(html_escape("<img src=x onerror='a&b'>\"") == "&lt;img src=x onerror=&#39;a&amp;b&#39;&gt;&quot;");
}

TEST_CASE("Base64_MatchesRfc4648Vectors") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foobar") == "Zm9vYmFy");
}

}  // namespace driftscope::test::format_test
