// Declarations of WGSL as GLSL has them.
#include "core/device/respell.hpp"

#include <doctest/doctest.h>

#include "core/device/shader_source.hpp"

namespace driftscope::test::respell_test {
namespace {

TEST_CASE("Respelled_Declarations_HaveTheTypeInFront") {
  CHECK(*gpu::respelled("  let x: f32 = in0_value(e) * 2.0;") == "  f32 x = in0_value(e) * 2.0;");
  CHECK(*gpu::respelled("for (var k: i32 = 0; k < 8; k++) {") == "for (i32 k = 0; k < 8; k++) {");
  CHECK(*gpu::respelled("{ let a: T = b; var c : vec4f = d; }") == "{ T a = b; vec4f c = d; }");
}

TEST_CASE("Respelled_Functions_HaveTheTypesInFront") {
  CHECK(*gpu::respelled("fn weight(k4: i32, unit: i32) -> vec4f {") == "vec4f weight(i32 k4, i32 unit) {");
  CHECK(*gpu::respelled("fn nan() -> f32 {") == "f32 nan() {");
}

TEST_CASE("Respelled_EverythingElse_Stays") {
  for (const char* line : {"", "  sum += a.x * b[3];", "// let it be: a fn(x)", "outlet: variable fnord",
                           "return select(-1, x, y >= 0); // var x"})
    CHECK(*gpu::respelled(line) == line);
}

TEST_CASE("Respelled_DeclarationsWithoutAType_AreRefused") {
  for (const char* line :
       {"let x = 1;", "var x;", "fn f(x) -> f32 {", "fn f(x: f32) {", "let", "fn f(a: T b: T) -> T {"})
    CHECK_MESSAGE(!gpu::respelled(line), line);
}

TEST_CASE("ShaderSource_WgslInAGlslProgram_IsRespelled") {
  const std::map<std::string_view, std::string_view> files = {
      {"gl/main.glsl", "int let;\n#include \"gpu/${FILE}.wgsl\"\n"},
      {"wg/main.wgsl", "#include \"gpu/${FILE}.wgsl\"\n"},
      {"gpu/f.wgsl", "#include \"g.wgsl\"\nlet x: i32 = ${N};\n"},
      {"gpu/g.wgsl", "var y: T = z;\n"},
      {"gpu/wrong.wgsl", "\nlet x = 1;\n"}};
  const gpu::ShaderValues values = {{"FILE", std::string("f")}, {"N", 3}};
  CHECK(*gpu::shader_source(files, "gl/main.glsl", values) == "int let;\nT y = z;\ni32 x = 3;\n");
  CHECK(*gpu::shader_source(files, "wg/main.wgsl", values) == "var y: T = z;\nlet x: i32 = 3;\n");
  const auto wrong = gpu::shader_source(files, "gl/main.glsl", {{"FILE", std::string("wrong")}});
  REQUIRE(!wrong.ok());
  CHECK(wrong.error().message.find("gpu/wrong.wgsl:2") != std::string::npos);
}

}  // namespace
}  // namespace driftscope::test::respell_test
