// Gather: copies rows. The result of an embedding table already has the order of memory that convolutions
// over words use, so no conversion is needed.
#include <cstring>

#include "core/engines/fast/lowering.hpp"
#include "core/ops/shared/indices.hpp"

namespace driftscope::fast::gather {

// data as outer × size × inner bytes, out as outer × indices × inner.
struct Sizes {
  std::int64_t outer = 1;
  std::int64_t size = 1;
  std::int64_t inner = 1;
};

class GatherStep final : public Step {
 public:
  GatherStep(Sizes sizes, BufferId data, BufferId indices, DType index_type, std::int64_t count, BufferId out)
      : sizes_(sizes), data_(data), indices_(indices), index_type_(index_type), count_(count), out_(out) {}

  Status bind(const Memory& memory) override {
    from_ = memory.address(data_);
    places_ = memory.address(indices_);
    to_ = memory.address(out_);
    return {};
  }

  Status run(Memory& memory) override {
    for (std::int64_t i = 0; i < count_; ++i) {
      const std::int64_t place = place_of(i);
      if (place < 0 || place >= sizes_.size) return out_of_range(memory);
      for (std::int64_t o = 0; o < sizes_.outer; ++o)
        std::memcpy(to_ + (o * count_ + i) * sizes_.inner, from_ + (o * sizes_.size + place) * sizes_.inner,
                    static_cast<std::size_t>(sizes_.inner));
    }
    return {};
  }

 private:
  [[nodiscard]] std::int64_t place_of(std::int64_t i) const {
    const std::int64_t given = index_type_ == DType::int32
                                   ? reinterpret_cast<const std::int32_t*>(places_)[i]
                                   : reinterpret_cast<const std::int64_t*>(places_)[i];
    return given < 0 ? given + sizes_.size : given;
  }
  // The same message as the operator's.
  [[nodiscard]] Status out_of_range(const Memory& memory) const {
    DRIFTSCOPE_TRY(const Tensor indices, memory.tensor(indices_));
    const auto places = positions_of(indices, sizes_.size, 1, "indices");
    return places.ok() ? Status(internal_error("an index changed while it was read"))
                       : Status(places.error());
  }

  Sizes sizes_;
  BufferId data_;
  BufferId indices_;
  DType index_type_;
  std::int64_t count_;
  BufferId out_;
  const std::byte* from_ = nullptr;
  const std::byte* places_ = nullptr;
  std::byte* to_ = nullptr;
};

Result<bool> lower(Lowering& lowering, const Node& node) {
  const ValueId data = node.inputs[0];
  const ValueId indices = node.inputs[1];
  const Value& table = lowering.value(data);
  const DType index_type = lowering.value(indices).dtype;
  const auto shape = table.static_shape();
  const auto index_shape = lowering.value(indices).static_shape();
  const bool whole_bytes = bits_per_element(table.dtype) >= 8;
  if (!shape || !index_shape || !whole_bytes || element_count(*shape) == 0 ||
      !lowering.value(node.outputs[0]).static_shape() ||
      (index_type != DType::int32 && index_type != DType::int64))
    return false;
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", 0));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, shape->size()));
  Sizes sizes;
  for (std::size_t i = 0; i < axis; ++i) sizes.outer *= (*shape)[i];
  sizes.size = (*shape)[axis];
  sizes.inner = element_count(*shape) / (sizes.outer * sizes.size) * (bits_per_element(table.dtype) / 8);
  DRIFTSCOPE_TRY(const BufferId from, lowering.read(data, {}));
  DRIFTSCOPE_TRY(const BufferId places, lowering.read(indices, {}));
  const BufferId out = lowering.write(node.outputs[0], {});
  lowering.emit({.step = std::make_unique<GatherStep>(sizes, from, places, index_type,
                                                      element_count(*index_shape), out),
                 .reads = {from, places},
                 .writes = {out}});
  return true;
}

void add_to(FastOperatorTable& table) { table.add("Gather", lower); }

}  // namespace driftscope::fast::gather
