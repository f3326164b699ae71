// The shaders that plans can ask for: each operator of the table gives some, and they use every line of
// every file of shaders/.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/device/respell.hpp"
#include "core/device/shader_source.hpp"
#include "tests/unit/support/gpu_variants.hpp"

namespace driftscope::test::gpu_variants_test {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// Whether `line` is what the preprocessor may have made of `pattern`.
bool fits(std::string_view pattern, std::string_view line) {
  bool first = true;
  for (;;) {
    const auto hole = pattern.find("${");
    const std::string_view part = pattern.substr(0, hole);
    const auto at = hole == std::string_view::npos && line.ends_with(part) && !first
                        ? line.size() - part.size()
                        : line.find(part);
    if (at == std::string_view::npos || (first && at != 0)) return false;
    line.remove_prefix(at + part.size());
    if (hole == std::string_view::npos) return line.empty();
    pattern.remove_prefix(pattern.find('}', hole) + 1);
    first = false;
  }
}

std::set<std::string> lines_made(const ShaderVariants& variants) {
  std::set<std::string> made;
  for (const ShaderVariant& variant : variants.all)
    for (const std::string_view line : lines_of(variant.code)) made.emplace(line);
  return made;
}

bool is_directive(std::string_view line) {
  const auto begin = line.find_first_not_of(' ');
  if (begin == std::string_view::npos) return true;
  for (const char* word : {"#if", "#el", "#end", "#for", "#include"})
    if (line.substr(begin).starts_with(word)) return true;
  return line.starts_with("${");  // a text of several lines
}

bool is_made(const std::set<std::string>& lines, std::string_view pattern) {
  return std::ranges::any_of(lines, [&](std::string_view line) { return fits(pattern, line); });
}

// Thousands of plans.
TEST_CASE("GpuShaders_OfEachOperatorOfTheTable_AreAllThatThereIs" * doctest::test_suite("large")) {
  constexpr int quiet = 25;
  const ShaderVariants webgpu = shader_variants(gpu::Api::webgpu, quiet);
  const ShaderVariants webgl = shader_variants(gpu::Api::webgl, quiet);
  for (const ShaderVariants* of : {&webgpu, &webgl})
    for (const auto& [op, nodes] : of->nodes)
      CHECK_MESSAGE(nodes > 0, op, ": tests/unit/support/gpu_nodes.cpp has no node that runs on a GPU");

  const std::set<std::string> wgsl = lines_made(webgpu);
  const std::set<std::string> glsl = lines_made(webgl);
  for (const auto& [name, text] : gpu::shader_files()) {
    int number = 0;
    for (const std::string_view line : lines_of(text)) {
      ++number;
      if (is_directive(line)) continue;
      bool used = is_made(name.ends_with(".wgsl") ? wgsl : glsl, line);
      const auto respelled = gpu::respelled(line);
      if (!used && name.starts_with("gpu/") && respelled) used = is_made(glsl, *respelled);
      CHECK_MESSAGE(used, name, ":", number, " is in no shader that a plan asks for: ", line);
    }
  }
}

}  // namespace
}  // namespace driftscope::test::gpu_variants_test
