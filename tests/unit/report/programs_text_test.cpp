#include <doctest/doctest.h>

#include "core/report/programs_text.hpp"

namespace driftscope::test::programs_text_test {
namespace {

NodePrograms two_shaders() {
  NodePrograms made;
  made.language = "WGSL";
  made.device = "a GPU";
  made.driver = "Dawn, Vulkan";
  made.nodes = {"Conv conv1", "Relu relu1"};
  made.programs.push_back({.file = "move.wgsl", .code = "fn move() {}", .groups = {1, 1, 1}, .bindings = {}});
  made.programs.push_back({.file = "product.wgsl",
                           .code = "fn main() {}\n",
                           .groups = {4, 2, 1},
                           .bindings = {{.what = "weights",
                                         .dtype = DType::float32,
                                         .shape = {6, 25},
                                         .bytes = 608,
                                         .layout = "",
                                         .written = false},
                                        {.what = "y",
                                         .dtype = DType::float32,
                                         .shape = {1, 6, 24, 24},
                                         .bytes = 13824,
                                         .layout = "channels last (6)",
                                         .written = true}}});
  return made;
}

TEST_CASE("ProgramsText_IsSourcesAndComments") {
  CHECK(programs_text(two_shaders(), "webgpu") ==
        "// Conv conv1 + Relu relu1: fused, they run as one\n"
        "// device: a GPU\n"
        "// driver: Dawn, Vulkan\n"
        "\n// shader 1 of 2: WGSL from move.wgsl, dispatched as 1 × 1 × 1 workgroups\n"
        "fn move() {}\n"
        "\n// shader 2 of 2: WGSL from product.wgsl, dispatched as 4 × 2 × 1 workgroups\n"
        "//   binding 0: weights, read, float32[6×25], 608 bytes\n"
        "//   binding 1: y, written, float32[1×6×24×24], 13824 bytes, channels last (6)\n"
        "fn main() {}\n");
}

TEST_CASE("ProgramsText_OfDraws_HasTexturesAndPixels") {
  NodePrograms made = two_shaders();
  made.draws = true;
  const std::string text = programs_text(made, "webgl");
  CHECK(text.find("drawn to 4 × 2 pixels\n") != std::string::npos);
  CHECK(text.find("//   texture 0: weights, read,") != std::string::npos);
}

TEST_CASE("ProgramsText_WithoutShaders_SaysWhy") {
  NodePrograms made = two_shaders();
  made.programs.clear();
  CHECK(programs_text(made, "webgpu").find("webgpu has no shader for it") != std::string::npos);
  made.on_strict = true;
  CHECK(programs_text(made, "webgpu").find("webgpu runs it on the kernels of strict") != std::string::npos);
}

}  // namespace
}  // namespace driftscope::test::programs_text_test
