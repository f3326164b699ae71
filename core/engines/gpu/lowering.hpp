// The lowering of GPU engines: values live in the device's objects, steps are dispatches of programs made of
// the files of shaders/. Operators are written once, against this interface; an engine implements it with
// kernels of its language and says what it cannot do. Clients: operators/, the lowering of each GPU engine.
// It knows no shading language.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/device/shader_source.hpp"
#include "core/engines/gpu/gather.hpp"
#include "core/engines/gpu/kernels.hpp"

namespace driftscope::gpu {

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
  /// Integers of 8 bits, of known shape without a size of 0: the device holds them as float32.
  [[nodiscard]] bool is_byte(ValueId id) const;
  /// What lies on the device as float32: floats, and integers that a dispatch made. Those of 32 bits are
  /// only made where none can exceed 2^24.
  [[nodiscard]] bool is_number(ValueId id) const;
  /// Whether the device could hold it so.
  [[nodiscard]] bool can_be_number(ValueId id) const;
  /// A float value, or a bool as 0.0 and 1.0.
  [[nodiscard]] Result<BufferId> read_number(ValueId id, Layout layout);

  /// A constant, padded with zeros to a multiple of four.
  [[nodiscard]] Result<BufferId> keep_padded(std::span<const float> values);

  // ---- what an engine cannot do

  /// Whether a shader may loop so often for each element; drivers end what takes too long.
  [[nodiscard]] virtual bool may_loop(std::int64_t /*times*/) const { return true; }
  /// For each four elements.
  [[nodiscard]] bool may_loop_per_texel(std::int64_t times) const { return may_loop((times + 3) / 4); }
  /// To be asked before a result is begun that emit_lanes makes.
  [[nodiscard]] virtual bool lanes_fit(const Lanes& /*lanes*/) const { return true; }
  /// Values that one shader can read.
  [[nodiscard]] virtual std::size_t max_inputs() const = 0;
  /// Of how many channels a convolution of each by itself is computed at once.
  [[nodiscard]] virtual std::int64_t depthwise_unit() const = 0;
  /// Whether a product can add a value to its result.
  [[nodiscard]] virtual bool adds_sum(bool /*windows*/, std::int64_t /*columns*/) const { return true; }

  // ---- what it computes. False: the node goes to strict.

  /// One element of `write` per call of shaders/gpu/`name`.wgsl, which gets `values`, and the buffers as in0,
  /// in1, …; those it reads in fours are named by TEXELS0, TEXELS1, …
  [[nodiscard]] Result<bool> emit_elements(std::string_view name, ShaderValues values,
                                           std::vector<BufferId> reads, BufferId write, std::int64_t count) {
    return emit_values(name, std::move(values), std::move(reads), write, count, true);
  }
  /// Four elements per call, of `count` in all.
  [[nodiscard]] Result<bool> emit_texels(std::string_view name, ShaderValues values,
                                         std::vector<BufferId> reads, BufferId write, std::int64_t count) {
    return emit_values(name, std::move(values), std::move(reads), write, count, false);
  }
  /// In the order of the target. `offset`: of the source's first element. `fill`: for what is outside.
  [[nodiscard]] Result<bool> emit_gather(BufferId source, BufferId target,
                                         const std::vector<GatherAxis>& axes, std::int64_t offset = 0,
                                         float fill = 0.0f);
  [[nodiscard]] virtual Result<bool> emit_concat(const std::vector<Piece>& pieces, std::int64_t outer,
                                                 std::int64_t inner, BufferId target) = 0;
  [[nodiscard]] virtual Result<bool> emit_elementwise(const Elementwise& function,
                                                      std::vector<BufferId> reads, BufferId write) = 0;
  [[nodiscard]] virtual Result<bool> emit_product(Product product) = 0;
  /// A · B + bias in new memory, of a product with constants; its columns are a multiple of four.
  [[nodiscard]] Result<BufferId> emit_constant_product(Product product);
  /// Each channel by itself, channels last, for so many pixels of the result; `weights`: a row of channels
  /// for each tap.
  [[nodiscard]] virtual Result<bool> emit_depthwise(const ConvParts& parts, const Clamp& clamp,
                                                    std::int64_t pixels, BufferId in, BufferId weights,
                                                    BufferId out) = 0;
  /// A function of whole lanes, "softmax" or "normalize". `reads` begins with what the lanes consist of.
  [[nodiscard]] virtual Result<bool> emit_lanes(std::string_view name, ShaderValues values,
                                                const Lanes& lanes, std::vector<BufferId> reads,
                                                BufferId write) = 0;
  [[nodiscard]] virtual Result<bool> emit_reduction(const Reduction& reduction, const Lanes& lanes,
                                                    BufferId in, BufferId out) = 0;

 protected:
  using GraphLowering::emit;
  /// One dispatch of the program that `file` and `values` make; `reads` and then `writes` are its bindings.
  [[nodiscard]] Status emit(std::string_view file, const ShaderValues& values, std::vector<BufferId> reads,
                            std::vector<BufferId> writes, std::array<std::uint32_t, 3> groups);
  [[nodiscard]] virtual Result<bool> emit_values(std::string_view name, ShaderValues values,
                                                 std::vector<BufferId> reads, BufferId write,
                                                 std::int64_t count, bool elements) = 0;
  /// For rows of four times `row_texels` elements.
  [[nodiscard]] virtual BufferId scratch_rows(std::int64_t rows, std::int64_t row_texels);

  [[nodiscard]] Result<bool> lower_node(const Node& node) final;
  [[nodiscard]] Status emit_conversion(const Conversion& conversion) final;
  [[nodiscard]] DType held_as(DType dtype) const final;
  [[nodiscard]] std::int64_t memory_size(const Buffer& buffer) const override;
  [[nodiscard]] MemoryRules memory_rules(Space space) const override;

 private:
  [[nodiscard]] Status rearrange(const Conversion& conversion);

  Device& device_;
  const Node* node_ = nullptr;  // that is being lowered
  bool rearranging_ = false;    // while a conversion is emitted
  std::optional<bool> for_cpu_;
  std::map<ProgramId, std::shared_ptr<const std::string>> codes_;
};

/// can_be_number, of the lowering of a GPU engine.
[[nodiscard]] bool can_hold(const GraphLowering& lowering, ValueId id);

}  // namespace driftscope::gpu
