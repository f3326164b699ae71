// The lowering of GPU engines: values live in the device's objects, steps are dispatches of programs made of
// the files of shaders/. Clients: the lowering of each GPU engine. It knows no shading language.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/device/shader_source.hpp"
#include "core/engines/gpu/gather.hpp"
#include "core/engines/gpu/steps.hpp"

namespace driftscope::gpu {

/// What is put side by side along an axis: `size` of the axis, each of `inner` elements in a row.
struct Piece {
  BufferId buffer = no_buffer;
  std::int64_t size = 0;
};

/// Element (k, n) of a constant matrix.
using MatrixElement = std::function<float(std::int64_t k, std::int64_t n)>;

class GpuLowering : public GraphLowering {
 public:
  GpuLowering(Graph& graph, std::vector<NodeId> producers, LoweringOptions options, Fallback& fallback,
              Device& device)
      : GraphLowering(graph, std::move(producers), options, fallback, Space::device), device_(device) {}

  [[nodiscard]] const DeviceFacts& facts() const { return device_.facts(); }
  /// Whether kernels are chosen for a device that computes on the CPU, whose barriers are expensive.
  [[nodiscard]] bool for_cpu() const { return for_cpu_.value_or(facts().software); }
  void choose_for_cpu(std::optional<bool> for_cpu) { for_cpu_ = for_cpu; }

  /// bool of known shape without a size of 0.
  [[nodiscard]] bool is_bool(ValueId id) const;
  /// A float value, or a bool as 0.0 and 1.0.
  [[nodiscard]] Result<BufferId> read_number(ValueId id, Layout layout);

  using GraphLowering::emit;
  /// One dispatch of the program that `file` and `values` make, behind `head`; `reads` and then `writes` are
  /// its bindings.
  [[nodiscard]] Status emit(std::string_view file, const ShaderValues& values, std::vector<BufferId> reads,
                            std::vector<BufferId> writes, std::array<std::uint32_t, 3> groups,
                            std::string_view head = {});

  /// Whether a shader may loop so often for each element; drivers end what takes too long.
  [[nodiscard]] virtual bool may_loop(std::int64_t /*times*/) const { return true; }
  /// One element of `write` per call of the shader `name` (a file of each engine's folder), which gets
  /// `values` and the buffers as in0, in1, ….
  [[nodiscard]] virtual Result<bool> emit_elements(std::string_view name, ShaderValues values,
                                                   std::vector<BufferId> reads, BufferId write,
                                                   std::int64_t count) = 0;
  /// `offset`: of the source's first element. `fill`: for what is outside.
  [[nodiscard]] virtual Result<bool> emit_gather(BufferId source, BufferId target,
                                                 const std::vector<GatherAxis>& axes, std::int64_t offset = 0,
                                                 float fill = 0.0f) = 0;
  [[nodiscard]] virtual Result<bool> emit_concat(const std::vector<Piece>& pieces, std::int64_t outer,
                                                 std::int64_t inner, BufferId target) = 0;
  /// A (rows x depth) · B (depth x columns) + bias, in new memory. `columns`: a multiple of four.
  [[nodiscard]] virtual Result<BufferId> emit_constant_product(BufferId a, std::int64_t rows,
                                                               std::int64_t depth, std::int64_t columns,
                                                               const MatrixElement& b,
                                                               std::span<const float> bias) = 0;

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
  bool rearranging_ = false;    // while a conversion is emitted
  std::optional<bool> for_cpu_;
  std::map<ProgramId, std::shared_ptr<const std::string>> codes_;
};

}  // namespace driftscope::gpu
