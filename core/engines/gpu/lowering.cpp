#include "core/engines/gpu/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/engines/gpu/operator_table.hpp"

namespace driftscope::gpu {

Status GpuLowering::emit(std::string_view file, const ShaderValues& values, std::vector<BufferId> reads,
                         std::vector<BufferId> writes, std::array<std::uint32_t, 3> groups,
                         std::string_view head) {
  DRIFTSCOPE_TRY(const std::string body, shader_source(file, values));
  const std::string code = fmt::format("{}{}", head, body);
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
  if (!node.domain.empty()) return nullptr;
  const auto found = table_.find(node.op_type);
  return found == table_.end() ? nullptr : found->second;
}

Result<bool> GpuLowering::lower_node(const Node& node) {
  node_ = &node;
  Result<bool> taken = lower_on_device(node);
  if (taken.ok() && !*taken)
    if (const LowerOperator shared = gpu_operators().find(node)) taken = shared(*this, node);
  node_ = nullptr;
  return taken;
}

Status GpuLowering::emit_conversion(const Conversion& conversion) {
  if (conversion.from.space == conversion.to.space) {
    if (conversion.from.space == Space::device) {
      rearranging_ = true;
      const Status emitted = emit_rearrangement(conversion);
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

bool GpuLowering::is_bool(ValueId id) const {
  const auto size = value(id).static_shape();
  return value(id).dtype == DType::boolean && size && element_count(*size) > 0;
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
