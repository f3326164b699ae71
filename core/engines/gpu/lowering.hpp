// The lowering of GPU engines: values live in the device's objects, steps are dispatches of programs made of
// the files of shaders/. Clients: the lowering of each GPU engine. It knows no shading language.
#pragma once

#include <string>

#include "core/device/shader_source.hpp"
#include "core/engines/gpu/steps.hpp"

namespace driftscope::gpu {

/// A shader as it was dispatched, for who wants to read it.
struct UsedShader {
  NodeId node = no_node;  ///< of the graph that is lowered
  std::string label;
  std::string code;
  std::vector<std::string> bindings;  ///< "0: read x, 1x3x8x8 float32"
  std::array<std::uint32_t, 3> groups = {};
};

class GpuLowering : public GraphLowering {
 public:
  GpuLowering(Graph& graph, std::vector<NodeId> producers, LoweringOptions options, Fallback& fallback,
              Device& device)
      : GraphLowering(graph, std::move(producers), options, fallback, Space::device), device_(device) {}

  [[nodiscard]] const DeviceFacts& facts() const { return device_.facts(); }

  using GraphLowering::emit;
  /// One dispatch of the program that `file` and `values` make; `reads` and then `writes` are its bindings.
  [[nodiscard]] Status emit(std::string_view file, const ShaderValues& values, std::vector<BufferId> reads,
                            std::vector<BufferId> writes, std::array<std::uint32_t, 3> groups);

  [[nodiscard]] std::vector<UsedShader> take_shaders() { return std::move(shaders_); }
  void keep_shaders(bool keep) { keep_shaders_ = keep; }

 protected:
  /// Between the layouts of the device.
  [[nodiscard]] virtual Status emit_rearrangement(const Conversion& conversion) = 0;
  /// Whether the engine has an operator for the node and takes it.
  [[nodiscard]] virtual Result<bool> lower_on_device(const Node& node) = 0;

  [[nodiscard]] Result<bool> lower_node(const Node& node) final;
  [[nodiscard]] Status emit_conversion(const Conversion& conversion) final;
  [[nodiscard]] std::int64_t memory_size(const Buffer& buffer) const override;
  [[nodiscard]] MemoryRules memory_rules(Space space) const override;

 private:
  Device& device_;
  const Node* node_ = nullptr;  // that is being lowered
  bool keep_shaders_ = false;
  std::vector<UsedShader> shaders_;
};

}  // namespace driftscope::gpu
