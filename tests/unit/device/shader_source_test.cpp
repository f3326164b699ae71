// The preprocessor of shaders: includes, conditions, loops, values, and what it says of mistakes.
#include "core/device/shader_source.hpp"

#include <doctest/doctest.h>

#include "core/base/rng.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::shader_source_test {
namespace {

using Files = std::map<std::string_view, std::string_view>;

std::string made(std::string_view text, const gpu::ShaderValues& values = {}) {
  const auto source = gpu::shader_source(Files{{"f/a", text}, {"f/b", "b ${N}\n"}}, "f/a", values);
  REQUIRE_MESSAGE(source.ok(), source.error().message);
  return *source;
}

std::string rejected(std::string_view text, const gpu::ShaderValues& values = {}) {
  const auto source = gpu::shader_source(Files{{"f/a", text}, {"f/b", ""}}, "f/a", values);
  REQUIRE(!source.ok());
  return source.error().message;
}

TEST_CASE("ShaderSource_Values_AreExpressionsOrTexts") {
  CHECK(made("${N}+${ N * (2 + 3) / 4 }+${T};", {{"N", 3}, {"T", std::string("x[i]")}}) == "3+3+x[i];\n");
  CHECK(made("${-N % 2}${!N}${N == 3 && 1 < 2}${7 - 2 - 1}", {{"N", 3}}) == "-1014\n");
}

TEST_CASE("ShaderSource_Operators_BindAsInC") {
  CHECK(made("${1 || 0 && 0}") == "1\n");
  CHECK(made("${1 && 2 == 2} ${1 && 2 != 1}") == "1 1\n");
  CHECK(made("${5 == 1 < 2} ${1 == 3 > 2} ${5 == 2 <= 2} ${1 == 2 >= 2} ${5 != 1 < 2}") == "0 1 0 1 1\n");
  CHECK(made("${2 < 1 + 2} ${2 < 4 - 1}") == "1 1\n");
  CHECK(made("${1 + 2 * 3} ${1 + 4 / 2} ${2 + 4 % 3}") == "7 3 3\n");
  CHECK(made("${7 - 2 + 1} ${8 / 2 * 3} ${8 % 5 * 2}") == "6 12 6\n");
}

TEST_CASE("ShaderSource_Conditions_TakeTheFirstThatHolds") {
  const char* text = "#if N == 1\none\n#elif N == 2\ntwo\n#if 1\ninner\n#endif\n#else\nmany\n#endif\nend\n";
  CHECK(made(text, {{"N", 1}}) == "one\nend\n");
  CHECK(made(text, {{"N", 2}}) == "two\ninner\nend\n");
  CHECK(made(text, {{"N", 9}}) == "many\nend\n");
}

TEST_CASE("ShaderSource_Loops_RepeatTheirLines") {
  CHECK(made("#for I in 0..N\na${I}\n#for J in I..2\nb${I}${J}\n#end\n#end\n", {{"N", 2}}) ==
        "a0\nb00\nb01\na1\nb11\n");
  CHECK(made("#for I in 0..0\nx\n#end\n") == "");
}

TEST_CASE("ShaderSource_Includes_ComeOnceFromTheSameFolder") {
  CHECK(made("#include \"b\"\n#include \"b\"\nc\n", {{"N", 4}}) == "b 4\nc\n");
}

TEST_CASE("ShaderSource_NamesWithANumber_AreThoseOfALoop") {
  CHECK(made("#for I in 0..2\n${T[I]} ${N[I + 1] + 1}\n#end\n",
             {{"T0", std::string("a")}, {"T1", std::string("b")}, {"N1", 4}, {"N2", 5}}) == "a 5\nb 6\n");
  CHECK(made("#if N[M[0]] == 7\nyes\n#endif\n", {{"M0", 3}, {"N3", 7}}) == "yes\n");
  CHECK(rejected("${T[0}").find("cannot be evaluated") != std::string::npos);
  CHECK(rejected("${T[]}").find("cannot be evaluated") != std::string::npos);
}

TEST_CASE("ShaderSource_UnknownDirectives_AreTheLanguages") {
  CHECK(made("#version 300 es\n#define X 1\n") == "#version 300 es\n#define X 1\n");
}

TEST_CASE("ShaderSource_Mistakes_NameFileAndLine") {
  CHECK(rejected("x\n${M}\n").find("f/a:2: 'M' cannot be evaluated") != std::string::npos);
  CHECK(rejected("#include \"c\"\n").find("f/a:1: there is no shader f/c") != std::string::npos);
  CHECK(rejected("a\n#if 1\nb\n").find("f/a:2: #if without #endif") != std::string::npos);
  CHECK(rejected("#for I in 0..2\n").find("#for without #end") != std::string::npos);
  CHECK(rejected("#for I in 0..2\n#end\n#end\n").find("f/a:3: #end has no opening directive") !=
        std::string::npos);
  CHECK(rejected("#for N in 0..2\n#end\n", {{"N", 1}}).find("N is defined already") != std::string::npos);
  CHECK(rejected("${1 / 0}").find("cannot be evaluated") != std::string::npos);
  CHECK(rejected("${N").find("${ without }") != std::string::npos);
  CHECK(rejected("${9223372036854775807 + 1}").find("cannot be evaluated") != std::string::npos);
  CHECK(rejected("#for I in 0..999999999\nx\n#end\n").find("too long") != std::string::npos);
  CHECK(rejected("${" + std::string(5000, '(') + "1}").find("cannot be evaluated") != std::string::npos);
}

// Whatever the text, it ends with a source or with an error.
TEST_CASE("ShaderSource_RandomTexts_EndWithSourceOrError") {
  const std::uint64_t seed = test_seed(5);
  SEED_INFO(seed);
  Rng rng(seed);
  const char* pieces[] = {"#if ",       "#elif ",
                          "#else\n",    "#endif\n",
                          "#for I in ", "#end\n",
                          "..",         "${",
                          "}",          "N",
                          "I",          "3",
                          "[I",         "]",
                          "(",          ")",
                          "+",          "\n",
                          "\n",         "x",
                          " ",          "#include \"b\"\n"};
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::uint64_t i = rng.below(24); i > 0; --i) text += pieces[rng.below(std::size(pieces))];
    (void)gpu::shader_source(Files{{"f/a", text}, {"f/b", "b\n"}}, "f/a", {{"N", 2}});
  }
}

TEST_CASE("ShaderFiles_OfThisBuild_AreThere") {
  CHECK(gpu::shader_files().contains("webgpu/product_tiled.wgsl"));
}

}  // namespace
}  // namespace driftscope::test::shader_source_test
