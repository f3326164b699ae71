// Every shader that the plans of the GPU engines can ask for compiles: GLSL on OpenGL ES in every run, WGSL
// on Dawn with tools/test --long. Where a driver is missing it says so and passes. With
// DRIFTSCOPE_SHADERS=FOLDER the sources are written there, for browsers (tests/e2e/shaders).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/native/device/gpu_support.hpp"
#include "tests/unit/support/gpu_variants.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::shader_variants_test {
namespace {

constexpr int quiet = 25;

void check_variants(gpu::Api api) {
  if (sanitized || !gpu_is_there(api)) return;  // thousands of plans
  const auto variants = shader_variants(api, quiet).all;
  CHECK(variants.size() > 500);  // as in tests/e2e/shaders
  auto device = gpu::open_device(api);
  REQUIRE(device.ok());
  for (const ShaderVariant& variant : variants) {
    (void)(*device)->make_program(variant.file, variant.code);
    for (bool compiled = false; !compiled;) {
      const auto ready = (*device)->ready();
      compiled = !ready.ok() || *ready;
      if (ready.ok()) continue;
      FAIL_CHECK(ready.error().message, "\n", variant.code);
      device = gpu::open_device(api);  // the one before is lost
      REQUIRE(device.ok());
    }
  }
  MESSAGE(variants.size(), " shaders compile");
}

// Skipped by default: SwiftShader takes minutes for a thousand pipelines. The long tier runs it
// (tests/suites.cmake).
TEST_CASE("Gpu_EveryWgslVariant_Compiles" * doctest::skip()) { check_variants(gpu::Api::webgpu); }
TEST_CASE("Gpu_EveryGlslVariant_Compiles") { check_variants(gpu::Api::webgl); }

// Skipped by default: no check, but what tests/e2e/shaders calls to have the sources written.
TEST_CASE("Gpu_Variants_AreWrittenForBrowsers" * doctest::skip()) {
  const char* const folder = std::getenv("DRIFTSCOPE_SHADERS");
  if (folder == nullptr) return;
  for (const gpu::Api api : {gpu::Api::webgpu, gpu::Api::webgl}) {
    nlohmann::json all = nlohmann::json::array();
    for (const ShaderVariant& one : shader_variants(api, quiet).all)
      all.push_back({{"file", one.file}, {"code", one.code}});
    std::ofstream file(fmt::format("{}/{}.json", folder, api == gpu::Api::webgpu ? "webgpu" : "webgl"));
    file << all;
    CHECK(file.good());
  }
}

}  // namespace
}  // namespace driftscope::test::shader_variants_test
