// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/engines/gpu/operator_table.hpp"

namespace driftscope::gpu {

Status GpuLowering::emit(std::string_view file, const ShaderValues& values, std::vector<BufferId> reads,
                         std::vector<BufferId> writes, std::array<std::uint32_t, 3> groups) {
  DRIFTSCOPE_TRY(const std::string code, shader_source(file, values));
  // A frame is named after what it frames.
  if (const auto framed = values.find("SHADER"); framed != values.end())
    if (const auto* name = std::get_if<std::string>(&framed->second)) file = *name;
  const std::string label =
      node_ == nullptr ? std::string(file) : fmt::format("{} ({})", node_label(*node_), file);
  std::vector<DispatchStep::Bound> bound;
  for (const BufferId id : reads) bound.push_back({id, false});
  for (const BufferId id : writes) bound.push_back({id, true});
  const ProgramId program = device_.make_program(label, code);
  auto& kept = codes_[program];
  if (kept == nullptr) kept = std::make_shared<const std::string>(code);
  emit({.step = std::make_unique<DispatchStep>(
            program, std::move(bound), groups,
            DispatchStep::Source{.file = std::string(file), .code = kept, .rearranges = rearranging_}),
        .reads = std::move(reads),
        .writes = std::move(writes)});
  return {};
}

LowerOperator GpuOperatorTable::find(const Node& node) const {
  const auto found =
      node.domain.empty() ? table_.find(node.op_type) : table_.find(node.domain + "." + node.op_type);
  return found == table_.end() ? nullptr : found->second;
}

Result<bool> GpuLowering::lower_node(const Node& node) {
  node_ = &node;
  const LowerOperator lower_operator = gpu_operators().find(node);
  Result<bool> taken = lower_operator == nullptr ? Result<bool>(false) : lower_operator(*this, node);
  node_ = nullptr;
  return taken;
}

Status GpuLowering::emit_conversion(const Conversion& conversion) {
  if (conversion.from.space == conversion.to.space) {
    if (conversion.from.space == Space::device) {
      rearranging_ = true;
      const Status emitted = rearrange(conversion);
      rearranging_ = false;
      return emitted;
    }
    return internal_error("a GPU engine keeps its layouts on the device");
  }
  emit({.step = std::make_unique<TransferStep>(conversion),
        .reads = {conversion.source},
        .writes = {conversion.target}});
  return {};
}

// In the order of the target.
Status GpuLowering::rearrange(const Conversion& conversion) {
  const bool to_channels_last = conversion.from.plain();
  const Blocks blocks =
      blocks_of(conversion.shape, to_channels_last ? conversion.to.layout : conversion.from.layout);
  const GatherAxis batch{.size = blocks.batch, .stride = blocks.channels * blocks.spatial};
  const GatherAxis pixels{.size = blocks.spatial, .stride = to_channels_last ? 1 : blocks.channels};
  const GatherAxis channels{.size = blocks.channels, .stride = to_channels_last ? blocks.spatial : 1};
  const std::vector<GatherAxis> axes = to_channels_last ? std::vector<GatherAxis>{batch, pixels, channels}
                                                        : std::vector<GatherAxis>{batch, channels, pixels};
  DRIFTSCOPE_TRY(const bool done, emit_gather(conversion.source, conversion.target, axes));
  return done ? Status() : internal_error("a layout was not changed");
}

Result<bool> GpuLowering::emit_gather(BufferId source, BufferId target, const std::vector<GatherAxis>& axes,
                                      std::int64_t offset, float fill) {
  std::int64_t count = 1;
  for (const GatherAxis& axis : axes) count *= axis.size;
  const GatherText text = gather_text(axes, offset, fill);
  return emit_values("move",
                     {{"COORDINATES", text.coordinates},
                      {"LIMITED", text.within.empty() ? 0 : 1},
                      {"WITHIN", text.within},
                      {"FILL", text.fill},
                      {"MOVED", text.moved}},
                     {source}, target, count, !text.texels);
}

Result<BufferId> GpuLowering::emit_constant_product(Product product) {
  const BufferId y = product.y = scratch_rows(product.m, product.n / 4);
  DRIFTSCOPE_TRY(const bool done, emit_product(std::move(product)));
  return done ? Result<BufferId>(y) : internal_error("a product with constants was not taken");
}

Result<BufferId> GpuLowering::keep_padded(std::span<const float> values) {
  DRIFTSCOPE_TRY(Tensor padded,
                 Tensor::make(DType::float32, {(std::ssize(values) + 3) / 4 * 4}, "a constant"));
  std::ranges::copy(values, padded.mutable_values<float>().begin());
  return keep(std::move(padded));
}

BufferId GpuLowering::scratch_rows(std::int64_t rows, std::int64_t row_texels) {
  return scratch(static_cast<std::size_t>(rows * row_texels) * 16);
}

bool GpuLowering::is_bool(ValueId id) const {
  const auto size = value(id).static_shape();
  return value(id).dtype == DType::boolean && size && element_count(*size) > 0;
}

bool GpuLowering::is_byte(ValueId id) const {
  const DType dtype = value(id).dtype;
  const auto size = value(id).static_shape();
  return (dtype == DType::int8 || dtype == DType::uint8) && size && element_count(*size) > 0;
}

bool GpuLowering::can_be_number(ValueId id) const {
  const auto size = value(id).static_shape();
  return held_as(value(id).dtype) == DType::float32 && size && element_count(*size) > 0;
}

bool GpuLowering::is_number(ValueId id) const { return is_float(id) || (can_be_number(id) && made_here(id)); }

bool can_hold(const GraphLowering& lowering, ValueId id) {
  return static_cast<const GpuLowering&>(lowering).can_be_number(id);
}

// Devices compute in float32 alone; smaller integers and their sums are exact there.
DType GpuLowering::held_as(DType dtype) const {
  const bool integer = dtype == DType::int8 || dtype == DType::uint8 || dtype == DType::int32;
  return integer ? DType::float32 : dtype;
}

Result<BufferId> GpuLowering::read_number(ValueId id, Layout layout) {
  if (!is_bool(id)) return read(id, layout);
  return read_mapped(id, layout, [](const Tensor& from) -> Result<Tensor> {
    DRIFTSCOPE_TRY(Tensor made, Tensor::make(DType::float32, from.shape(), "a condition"));
    std::ranges::transform(from.bytes(), made.mutable_values<float>().begin(),
                           [](std::byte truth) { return truth == std::byte{} ? 0.0f : 1.0f; });
    return made;
  });
}

// Shaders read four float32 at once.
std::int64_t GpuLowering::memory_size(const Buffer& buffer) const {
  const std::int64_t bytes = GraphLowering::memory_size(buffer);
  return buffer.space == Space::device ? (std::max<std::int64_t>(bytes, 1) + 15) / 16 * 16 : bytes;
}

MemoryRules GpuLowering::memory_rules(Space space) const {
  MemoryRules rules;
  rules.whole_objects = rules.kinds_are_bytes = space == Space::device;
  return rules;
}

}  // namespace driftscope::gpu
