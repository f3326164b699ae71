#include "tests/unit/support/gpu_variants.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <set>

#include "core/base/rng.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/engines/gpu/session.hpp"
#include "core/engines/webgl/lowering.hpp"
#include "core/engines/webgpu/lowering.hpp"
#include "core/lowering/simplify.hpp"
#include "core/platform/platform.hpp"
#include "tests/unit/support/gpu_nodes.hpp"

namespace driftscope::test {
namespace {

// Keeps what it should compile.
class PlanningDevice final : public gpu::Device {
 public:
  explicit PlanningDevice(ShaderVariants& variants) : variants_(variants) {
    facts_.layers = 4;
    facts_.max_groups = 65'535;
    facts_.max_object_bytes = std::int64_t{1} << 31;
  }
  Result<bool> ready() override { return true; }
  bool lost() const override { return false; }
  void give_up() override {}
  const gpu::DeviceFacts& facts() const override { return facts_; }
  Result<gpu::ObjectId> make_object(gpu::ObjectSize, std::string_view) override { return nothing(); }
  void release_object(gpu::ObjectId) override {}
  Status write(gpu::ObjectId, std::span<const std::byte>, std::int64_t) override { return nothing(); }
  gpu::ProgramId make_program(std::string_view label, std::string_view code) override {
    std::string structure;
    for (const char c : code)
      if (c < '0' || c > '9')
        structure += c;
      else if (structure.empty() || structure.back() != '#')
        structure += '#';
    const auto file = label.substr(label.rfind('(') + 1);
    if (structures_.insert(std::move(structure)).second)
      variants_.all.push_back({std::string(file.substr(0, file.rfind(')'))), std::string(code)});
    return ++last_;
  }
  gpu::ProgramCounts program_counts() const override { return {}; }
  Result<gpu::RecordingId> record(std::vector<gpu::Command>, bool) override { return nothing(); }
  void release_recording(gpu::RecordingId) override {}
  Status submit(gpu::RecordingId) override { return nothing(); }
  Result<std::optional<gpu::Finished>> finished(gpu::RecordingId) override { return nothing(); }
  Status read(gpu::RecordingId, std::int64_t, std::span<std::byte>) override { return nothing(); }
  std::int64_t memory() const override { return 0; }

 private:
  static Error nothing() { return internal_error("a device that only plans"); }

  ShaderVariants& variants_;
  gpu::DeviceFacts facts_;
  std::set<std::string> structures_;
  gpu::ProgramId last_ = 0;
};

// Whether strict runs none of it.
bool plan(const std::shared_ptr<const Graph>& graph, bool fuse,
          const std::function<Result<lowering::Plan>(Graph&, const std::vector<NodeId>&,
                                                     lowering::LoweringOptions, lowering::Fallback&)>& run) {
  auto simd = choose_simd(0);
  REQUIRE(simd.ok());
  gpu::Resources resources(*std::move(simd), 1);
  std::vector<NodeId> producers;
  for (const Value& value : graph->values) producers.push_back(value.producer);
  resources.graph = lowering::simplified(graph, fuse, resources.fallback.threads());
  const auto made = run(*resources.graph, producers, {.fuse = fuse}, resources.fallback);
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  return made->on_fallback.empty();
}

bool plan_all(const std::shared_ptr<const Graph>& graph, gpu::Api api, gpu::Device& device,
              std::uint64_t tile) {
  bool taken = true;
  for (const bool fuse : {false, true}) {
    if (api == gpu::Api::webgl) {
      taken = plan(graph, fuse,
                   [&](Graph& on, const auto& producers, auto options, auto& fallback) {
                     return webgl::Lowering(on, producers, options, fallback, device).run();
                   }) &&
              taken;
      continue;
    }
    for (const bool for_cpu : {false, true})
      taken = plan(graph, fuse,
                   [&](Graph& on, const auto& producers, auto options, auto& fallback) {
                     webgpu::Lowering lowering(on, producers, options, fallback, device);
                     lowering.choose_for_cpu(for_cpu);
                     lowering.choose_tile(webgpu::large_tiles[tile]);
                     return lowering.run();
                   }) &&
              taken;
  }
  return taken;
}

}  // namespace

ShaderVariants shader_variants(gpu::Api api, int quiet) {
  ShaderVariants variants;
  PlanningDevice device(variants);
  for (const auto& [op, lower] : gpu_operators().all()) {
    Rng rng(7);
    int& taken = variants.nodes[op];
    for (int since = 0; since < quiet; ++since) {
      const std::size_t before = variants.all.size();
      const auto graph = random_gpu_graph(op, rng);
      if (graph != nullptr && plan_all(graph, api, device, rng.below(webgpu::large_tiles.size()))) ++taken;
      if (variants.all.size() > before) since = 0;
    }
  }
  return variants;
}

}  // namespace driftscope::test
