// An engine that computes nothing, to show what the lowering plans: Conv on a device with four channels to a
// texel, Relu in whatever layout it gets, MaxPool deferred, everything else by the fallback. Clients: tests.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "core/lowering/graph_lowering.hpp"

namespace driftscope::test {

class FakeStep final : public lowering::Step {
 public:
  explicit FakeStep(std::string given) : name(std::move(given)) {}
  Status bind(const lowering::Memory& /*memory*/) override { return {}; }
  Status run(lowering::Memory& /*memory*/) override { return {}; }
  std::string name;
};

/// Gives any node `outputs` tensors.
class FakeFallback final : public lowering::Fallback {
 public:
  struct Runner final : NodeRunner {
    explicit Runner(FakeFallback& owner) : of(owner) {}
    Result<std::vector<Tensor>> run(const Node& /*node*/, std::span<const Tensor* const> inputs) override {
      of.seen.assign(inputs.begin(), inputs.end());
      return std::vector<Tensor>(of.outputs);
    }
    FakeFallback& of;
  };
  Result<std::unique_ptr<NodeRunner>> prepare(const Graph& /*graph*/, const Node& node) override {
    prepared.push_back(node.op_type);
    return std::unique_ptr<NodeRunner>(std::make_unique<Runner>(*this));
  }
  std::size_t outputs = 1;
  std::vector<std::string> prepared;
  std::vector<const Tensor*> seen;
};

class FakeEngine final : public lowering::GraphLowering {
 public:
  FakeEngine(Graph& graph, std::vector<NodeId> producers, lowering::LoweringOptions options,
             lowering::Fallback& fallback, lowering::Space home)
      : GraphLowering(graph, std::move(producers), options, fallback, home), home_(home) {}

  bool whole_objects = false;
  bool kinds_are_bytes = false;

 private:
  using Layout = lowering::Layout;

  Result<bool> lower_node(const Node& node) override {
    const ValueId x = node.inputs[0];
    if (node.op_type == "Conv") {
      const lowering::Fusion fusion = with_activation(node);
      DRIFTSCOPE_TRY(const auto in, read(x, packed(shape(x))));
      DRIFTSCOPE_TRY(const auto weights,
                     read(node.inputs[1], lowering::channels_last(shape(node.inputs[1]))));
      step(fusion.clamp.none() ? "conv" : "conv+clamp", {in, weights},
           {write(fusion.output, packed(shape(fusion.output)))});
      absorb(fusion);
      return true;
    }
    if (node.op_type == "Relu") {
      const Layout layout = this->layout(x);
      DRIFTSCOPE_TRY(const auto in, read(x, layout));
      step("relu", {in}, {write(node.outputs[0], layout)});
      return true;
    }
    return node.op_type == "MaxPool" && defer(node);
  }

  Status emit_conversion(const lowering::Conversion& conversion) override {
    step(conversion.from.space == conversion.to.space   ? "convert"
         : conversion.to.space == lowering::Space::host ? "read back"
                                                        : "upload",
         {conversion.source}, {conversion.target});
    return {};
  }

  std::int64_t memory_size(const lowering::Buffer& buffer) const override {
    if (buffer.layout.packing == 0) return GraphLowering::memory_size(buffer);
    const lowering::Blocks blocks = blocks_of(buffer.shape, buffer.layout);
    return blocks.batch * blocks.spatial * ((blocks.channels + 3) / 4) * 16;
  }

  lowering::MemoryRules memory_rules(lowering::Space space) const override {
    if (space == lowering::Space::host) return {};
    return {.alignment = 256, .whole_objects = whole_objects, .kinds_are_bytes = kinds_are_bytes};
  }

  Layout packed(const Shape& shape) const {
    return home_ == lowering::Space::host ? Layout{} : Layout{.channels = shape[1], .packing = 4};
  }
  void step(std::string name, std::vector<lowering::BufferId> reads, std::vector<lowering::BufferId> writes) {
    emit({.step = std::make_unique<FakeStep>(std::move(name)),
          .reads = std::move(reads),
          .writes = std::move(writes)});
  }

  lowering::Space home_;
};

/// A line for each step, after the operator of its node: "Conv: conv 1 4 > 5".
inline std::string text_of(const lowering::Plan& plan, const Graph& graph) {
  std::string text;
  for (const lowering::PlannedNode& node : plan.nodes)
    for (std::size_t i = node.first_step; i < node.end_step; ++i) {
      const auto* fake = dynamic_cast<const FakeStep*>(plan.steps[i].step.get());
      text += fmt::format("{}: {} {} > {}\n", graph.nodes[node.node].op_type,
                          fake == nullptr ? "fallback" : fake->name, fmt::join(plan.steps[i].reads, " "),
                          fmt::join(plan.steps[i].writes, " "));
    }
  return text;
}

/// "device C3/4": space, channels last, packing.
inline std::string form_of(const lowering::Buffer& buffer) {
  std::string text = buffer.space == lowering::Space::host ? "host" : "device";
  if (buffer.layout.channels != 0) text += fmt::format(" C{}", buffer.layout.channels);
  if (buffer.layout.packing != 0) text += fmt::format("/{}", buffer.layout.packing);
  return text;
}

}  // namespace driftscope::test
