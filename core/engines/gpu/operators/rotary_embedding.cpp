// RotaryEmbedding of ONNX and com.microsoft: the host checks the positions of each run, the device turns each
// element with its partner.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/engines/gpu/lowering.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope::gpu::rotary_embedding {

constexpr std::int64_t max_exact = 0x1000000;  // integers that float32 has

// A position for each of the sequence's `steps`, or the first one.
HostMap checked_positions(const Node& node, std::int64_t rows, std::int64_t steps) {
  return [rows, steps, label = node_label(node)](const Tensor& from) -> Result<Tensor> {
    DRIFTSCOPE_TRY(Tensor made, Tensor::make(DType::float32, from.shape(), "position_ids"));
    const std::int64_t after = from.rank() == 1 ? steps - 1 : 0;
    for (std::size_t i = 0; i < from.values<std::int64_t>().size(); ++i) {
      const std::int64_t position = from.values<std::int64_t>()[i];
      if (position < 0 || position >= rows - after)
        return bad_input(
            fmt::format("{}: position_ids: element {} is {}, the caches have {} rows for {} positions", label,
                        i, position, rows, after + 1));
      made.mutable_values<float>()[i] = static_cast<float>(position);
    }
    return made;
  };
}

Result<bool> lower(GpuLowering& lowering, const Node& node) {
  const bool own = node.domain.empty();
  const std::size_t caches = own ? 1 : 2;
  const std::size_t positions = own ? 3 : 1;
  const ValueId x = node.inputs[0];
  for (const ValueId id : {x, node.inputs[caches], node.inputs[caches + 1], node.outputs[0]})
    if (!lowering.is_float(id)) return false;
  DRIFTSCOPE_TRY(const std::int64_t heads, int_attribute(node, "num_heads", 0));
  DRIFTSCOPE_TRY(const std::int64_t rotary, int_attribute(node, "rotary_embedding_dim", 0));
  DRIFTSCOPE_TRY(const bool interleaved, flag_attribute(node, "interleaved", false));
  const Shape shape = lowering.shape(x);
  const Shape cache = lowering.shape(node.inputs[caches]);
  const std::int64_t half = cache.back();
  const bool heads_first = shape.size() == 4;
  const std::int64_t steps = shape[heads_first ? 2 : 1];
  std::int64_t size = shape.back();
  if (!heads_first) size = own || rotary > 0 ? size / heads : 2 * half;
  // Which of all positions of the batch a head belongs to, and the row of the caches for it.
  const std::string step = heads_first
                               ? fmt::format("(head / {0} * {1} + head % {1})", shape[1] * steps, steps)
                               : fmt::format("(head / {})", shape[2] / size);
  std::vector<BufferId> reads;
  DRIFTSCOPE_TRY(reads.emplace_back(), lowering.read(x, {}));
  for (std::size_t i = caches; i < caches + 2; ++i) {
    DRIFTSCOPE_TRY(reads.emplace_back(), lowering.read(node.inputs[i], {}));
  }
  std::string row = step;
  if (lowering.has_input(node, positions)) {
    const ValueId id = node.inputs[positions];
    const auto given = lowering.value(id).static_shape();
    if (!given || cache[0] > max_exact) return false;
    row = given->size() == 1 ? fmt::format("i32(in3_value(0)) + {} % {}", step, steps)
                             : fmt::format("i32(in3_value({}))", step);
    DRIFTSCOPE_TRY(reads.emplace_back(),
                   lowering.read_mapped(id, {}, checked_positions(node, cache[0], steps)));
  }
  return lowering.emit_elements("rotary",
                                {{"PLACE", std::string("e")},
                                 {"SIZE", size},
                                 {"HALF", half},
                                 {"STEP", interleaved ? 1 : half},
                                 {"PAIR", interleaved ? std::string("i / 2") : fmt::format("i % {}", half)},
                                 {"CACHE_ROW", row}},
                                std::move(reads), lowering.write(node.outputs[0], {}), element_count(shape));
}

void add_to(GpuOperatorTable& table) {
  table.add("RotaryEmbedding", lower);
  table.add("com.microsoft.RotaryEmbedding", lower);
}

}  // namespace driftscope::gpu::rotary_embedding
